/* cmd_eval.c - cull eval: how well saved weights do on a set. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "train/run_parts.h"

enum { MOST_PATH = 1200 };

struct arguments {
    const char *checkpoint, *recipe, *set;
    bool        best, json;
    changes     change;
    char        folder[MOST_PATH], weights[MOST_PATH];
};

static const command self = {
    .name = "eval",
    .usage = "usage: cull eval CHECKPOINT [key=value ...] [--set test|validation|train]\n\n"
             "Classifies a set with saved weights and prints accuracy and mean loss. CHECKPOINT\n"
             "is a run's folder, of which the latest weights are taken (--best: the best), or a\n"
             ".safetensors file. The recipe is recipe.yaml of that folder, or --recipe;\n"
             "key=value changes it.\n\n",
    .missing = "no checkpoint is given",
    .give = "Give a run's folder or a .safetensors file.",
};

/* The weights of the highest step in the folder, as weights-STEP-HASH.safetensors; false: none. */
static bool find_newest(struct arguments *a)
{
    DIR                 *folder = opendir(a->folder);
    const struct dirent *entry = NULL;
    unsigned long long   newest = 0;

    while (folder && (entry = readdir(folder))) {
        const char        *digits = entry->d_name + strlen("weights-");
        char              *end = NULL;
        unsigned long long step = 0;

        if (strncmp(entry->d_name, "weights-", strlen("weights-")) != 0) continue;
        step = strtoull(digits, &end, 10);
        if (end == digits || *end != '-' || (a->weights[0] && step < newest)) continue;
        newest = step;
        (void)snprintf(a->weights, sizeof a->weights, "%.900s/%.255s", a->folder, entry->d_name);
    }
    if (folder) (void)closedir(folder);
    return a->weights[0] != '\0';
}

/* The weights that run.json names; while a run goes on, or after it was killed, those that are
 * there. */
static int find_weights(struct arguments *a)
{
    cull_run_record run = {0};
    const char     *name = a->best ? run.best_weights : run.weights;
    bool            goes_on = false;
    cull_status     status = cull_run_read(a->folder, &run);

    if (status != CULL_OK) return complain_status(status);
    goes_on = strcmp(run.status, "running") == 0;
    if (goes_on && a->best)
        return complain(END_FAILED, "Resume it, or leave out --best for its latest weights.",
                        "%s: the run has not ended, so its best weights are not known", a->folder);
    if (goes_on && find_newest(a)) return END_WELL;
    if (!name[0]) return complain_weights(a->folder, &run);
    (void)snprintf(a->weights, sizeof a->weights, "%.1000s/%s", a->folder, name);
    return END_WELL;
}

static int find_checkpoint(struct arguments *a)
{
    struct stat info = {0};
    const char *slash = strrchr(a->checkpoint, '/');

    if (stat(a->checkpoint, &info))
        return complain(END_FAILED, "Give a run's folder or a .safetensors file.",
                        "%s: there is no such file or folder", a->checkpoint);
    if (S_ISDIR(info.st_mode)) {
        (void)snprintf(a->folder, sizeof a->folder, "%.1000s", a->checkpoint);
        return find_weights(a);
    }
    if (a->best) return complain(END_USAGE, "Give the run's folder.", "--best is about a folder");
    (void)snprintf(a->weights, sizeof a->weights, "%.1000s", a->checkpoint);
    if (slash)
        (void)snprintf(a->folder, sizeof a->folder, "%.*s", (int)(slash - a->checkpoint),
                       a->checkpoint);
    else
        (void)snprintf(a->folder, sizeof a->folder, ".");
    return END_WELL;
}

static int say(const struct arguments *a, const cull_evaluation *e)
{
    if (a->json)
        return print_json(json_pack("{s:s, s:s, s:I, s:o, s:o, s:o}", "weights", a->weights, "set",
                                    a->set, "count", (json_int_t)e->count, "accuracy",
                                    json_number(e->accuracy), "loss", json_number(e->loss),
                                    "seconds", json_number(e->seconds)));
    (void)printf("%s accuracy %.2f %%, loss %.4f over %zu examples, %.1f s\n", a->set,
                 100 * e->accuracy, e->loss, e->count, e->seconds);
    return end_output(END_WELL);
}

static int evaluate(struct arguments *a)
{
    char            path[MOST_PATH + 16];
    cull_recipe    *recipe = NULL;
    cull_evaluation result = {0};
    cull_status     status = CULL_OK;
    int             end = find_checkpoint(a);

    if (end) return end;
    (void)snprintf(path, sizeof path, "%s/recipe.yaml", a->folder);
    status =
        cull_recipe_open(a->recipe ? a->recipe : path, a->change.option, a->change.count, &recipe);
    if (status == CULL_IO) return complain_last(END_FAILED, "Name the recipe with --recipe FILE.");
    if (status == CULL_OK) status = cull_evaluate(recipe, a->weights, a->set, &result);
    if (status == CULL_UNKNOWN_SET && strcmp(cull_last_subject(), a->set) == 0)
        end = complain_last(
            END_USAGE, "--set is test, train, or validation where data.validation splits one off.");
    else
        end = status == CULL_OK ? say(a, &result) : complain_run(status);
    cull_recipe_close(recipe);
    return end;
}

int cmd_eval(int argc, char **argv)
{
    struct arguments a = {.set = "test"};
    flag             flags[] = {
                    {"--set", FLAG_TEXT, "NAME", "test, validation or train (test)", &a.set, 0},
                    {"--best", FLAG_SWITCH, NULL, "the best weights of a run, not the latest", &a.best, 0},
                    {"--recipe", FLAG_TEXT, "FILE", "another recipe than the folder's", &a.recipe, 0},
                    {"--json", FLAG_SWITCH, NULL, "as one JSON object", &a.json, 0},
                    {.name = NULL}};
    int end = take_changed(&self, flags, argc, argv, &a.change, &a.checkpoint);

    if (end != GO_ON) return end;
    end = evaluate(&a);
    clear_changes(&a.change);
    return end;
}
