/* cmd_audit.c - cull audit: every example of a run's set, from easy to hard, and what was trained.
 */
#include <string.h>
#include <unistd.h>

#include "cull_lab.h"
#include "train/run_parts.h"

enum { MOST_PATH = 1200 };

struct arguments {
    const char *folder, *set;
    uint64_t    examples;
    bool        json;
    changes     change;
    char        weights[MOST_PATH], selection[MOST_PATH], out[MOST_PATH];
};

static const command self = {
    .name = "audit",
    .usage =
        "usage: cull audit RUN [key=value ...] [--set train|validation|test] [--examples N]\n\n"
        "Looks at every example of a set with the latest weights of a run's folder: how sure the\n"
        "network is of the true class, how many hard examples have a wrong label, and how often\n"
        "each was trained. RUN/audit.npz then holds the easiest and the hardest as pictures,\n"
        "which cull report draws, and the list of those never trained.\n\n",
    .missing = "no run is given",
    .give = "Give the folder of a run.",
};

static int find_files(struct arguments *a)
{
    cull_run_record run = {0};
    cull_status     status = cull_run_read(a->folder, &run);

    if (status != CULL_OK) return complain_status(status);
    if (!run.weights[0]) return complain_weights(a->folder, &run);
    (void)snprintf(a->weights, sizeof a->weights, "%.1000s/%s", a->folder, run.weights);
    (void)snprintf(a->out, sizeof a->out, "%.1000s/audit.npz", a->folder);
    (void)snprintf(a->selection, sizeof a->selection, "%.1000s/selection.npz", a->folder);
    if (strcmp(a->set, "train") != 0 || access(a->selection, R_OK) != 0) a->selection[0] = '\0';
    return END_WELL;
}

static int say_json(const struct arguments *a, const cull_audit_result *r)
{
    bool with = r->selected;

    return print_json(json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o*, s:o*, s:o*}", "set",
                                a->set, "count", (json_int_t)r->count, "accuracy",
                                json_number(r->accuracy), "loss", json_number(r->loss),
                                "confidence", json_numbers(r->confidence, CULL_AUDIT_POINTS),
                                "tenth", json_numbers(r->tenth, CULL_AUDIT_TENTHS), "wrong_hard",
                                json_number(r->wrong_hard.rate), "wrong", json_number(r->base.rate),
                                "never", with ? json_integer((json_int_t)r->never) : NULL, "most",
                                with ? json_integer((json_int_t)r->most) : NULL, "wrong_picks",
                                with ? json_number(r->wrong_picks.rate) : NULL));
}

static int say(const struct arguments *a, const cull_audit_result *r)
{
    if (a->json) return say_json(a, r);
    (void)printf("%s: %zu examples, accuracy %.2f %%, loss %.4f\nconfidence in the true class at",
                 a->set, r->count, 100 * r->accuracy, r->loss);
    for (size_t i = 10; i < CULL_AUDIT_POINTS - 1; i += 20)
        (void)printf("  %zu %%: %.3f", i, r->confidence[i]);
    (void)printf("\nclassified right by tenths of confidence, from low to high:");
    for (size_t i = 0; i < CULL_AUDIT_TENTHS; i++) (void)printf(" %.2f", r->tenth[i]);
    (void)printf("\n");
    if (r->base.hits > 0)
        (void)printf("wrong labels: %.1f %% of all, %.1f %% [%.1f, %.1f] of the hardest tenth\n",
                     100 * r->base.rate, 100 * r->wrong_hard.rate, 100 * r->wrong_hard.low,
                     100 * r->wrong_hard.high);
    if (r->selected)
        (void)printf("never trained: %zu examples; most often: %zu times\n", r->never, r->most);
    if (r->selected && r->base.hits > 0)
        (void)printf("wrong labels among all that was trained: %.1f %% [%.1f, %.1f]\n",
                     100 * r->wrong_picks.rate, 100 * r->wrong_picks.low,
                     100 * r->wrong_picks.high);
    (void)printf("pictures and lists: %s\n", a->out);
    return end_output(END_WELL);
}

static int audit(struct arguments *a)
{
    char               path[MOST_PATH];
    cull_recipe       *recipe = NULL;
    cull_audit_result  result = {0};
    cull_audit_options options = {0};
    int                end = find_files(a);

    if (end) return end;
    (void)snprintf(path, sizeof path, "%.1000s/recipe.yaml", a->folder);
    options = (cull_audit_options){.weights = a->weights,
                                   .set = a->set,
                                   .selection = a->selection[0] ? a->selection : NULL,
                                   .examples = (size_t)a->examples,
                                   .path = a->out};
    end = complain_run(cull_recipe_open(path, a->change.option, a->change.count, &recipe));
    if (!end) end = complain_run(cull_audit(recipe, &options, &result));
    if (!end) end = say(a, &result);
    cull_recipe_close(recipe);
    return end;
}

int cmd_audit(int argc, char **argv)
{
    struct arguments a = {.set = "train"};
    flag flags[] = {{"--set", FLAG_TEXT, "train|validation|test", "which set (train)", &a.set, 0},
                    {"--examples", FLAG_NUMBER, "N", "pictures of each kind (24)", &a.examples, 0},
                    {"--json", FLAG_SWITCH, NULL, "as one JSON object", &a.json, 0},
                    {.name = NULL}};
    int  end = take_changed(&self, flags, argc, argv, &a.change, &a.folder);

    if (end != GO_ON) return end;
    end = audit(&a);
    clear_changes(&a.change);
    return end;
}
