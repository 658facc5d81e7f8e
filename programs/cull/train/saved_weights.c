/* saved_weights.c - saved weights, and the recipe they were trained by. */
#include "train/saved_weights.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The weights of the highest step in the folder, as weights-STEP-HASH.safetensors; false: none. */
static bool find_newest(checkpoint *c)
{
    DIR                 *folder = opendir(c->folder);
    const struct dirent *entry = NULL;
    unsigned long long   newest = 0;

    while (folder && (entry = readdir(folder))) {
        const char        *digits = entry->d_name + strlen("weights-");
        char              *end = NULL;
        unsigned long long step = 0;

        if (strncmp(entry->d_name, "weights-", strlen("weights-")) != 0) continue;
        step = strtoull(digits, &end, 10);
        if (end == digits || *end != '-' || (c->weights[0] && step < newest)) continue;
        newest = step;
        (void)snprintf(c->weights, sizeof c->weights, "%.900s/%.255s", c->folder, entry->d_name);
    }
    if (folder) (void)closedir(folder);
    return c->weights[0] != '\0';
}

/* The weights that run.json names; while a run goes on, or after it was killed, those that are
 * there. */
static int find_weights(checkpoint *c, bool best)
{
    cull_run_record run = {0};
    const char     *name = best ? run.best_weights : run.weights;
    bool            goes_on = false;
    cull_status     status = cull_run_read(c->folder, &run);

    if (status != CULL_OK) return complain_status(status);
    goes_on = strcmp(run.status, "running") == 0;
    if (goes_on && best)
        return complain(END_FAILED, "Resume it, or leave out --best for its latest weights.",
                        "%s: the run has not ended, so its best weights are not known", c->folder);
    if (goes_on && find_newest(c)) return END_WELL;
    if (!name[0]) return complain_weights(c->folder, &run);
    (void)snprintf(c->weights, sizeof c->weights, "%.1000s/%s", c->folder, name);
    return END_WELL;
}

static int find_checkpoint(const char *given, bool best, checkpoint *c)
{
    struct stat info = {0};
    const char *slash = strrchr(given, '/');

    if (stat(given, &info))
        return complain(END_FAILED, "Give a run's folder or a .safetensors file.",
                        "%s: there is no such file or folder", given);
    if (S_ISDIR(info.st_mode)) {
        (void)snprintf(c->folder, sizeof c->folder, "%.1000s", given);
        return find_weights(c, best);
    }
    if (best) return complain(END_USAGE, "Give the run's folder.", "--best is about a folder");
    (void)snprintf(c->weights, sizeof c->weights, "%.1000s", given);
    if (slash)
        (void)snprintf(c->folder, sizeof c->folder, "%.*s", (int)(slash - given), given);
    else
        (void)snprintf(c->folder, sizeof c->folder, ".");
    return END_WELL;
}

int open_checkpoint(const char *given, const char *recipe, bool best, const changes *change,
                    checkpoint *c, cull_recipe **out)
{
    cull_status status = CULL_OK;
    char        path[MOST_CHECKPOINT + 16];
    int         end = find_checkpoint(given, best, c);

    if (end) return end;
    (void)snprintf(path, sizeof path, "%s/recipe.yaml", c->folder);
    status = cull_recipe_open(recipe ? recipe : path, change->option, change->count, out);
    if (status == CULL_IO) return complain_last(END_FAILED, "Name the recipe with --recipe FILE.");
    return status == CULL_OK ? END_WELL : complain_run(status);
}
