/* cmd_eval.c - cull eval: how well saved weights do on a set. */
#include <string.h>

#include "train/saved_weights.h"

struct arguments {
    const char *checkpoint, *recipe, *set;
    bool        best, json;
    changes     change;
    checkpoint  found;
};

static const command self = {
    .name = "eval",
    .usage = "usage: cull eval CHECKPOINT [key=value ...] [--set test|validation|train]\n\n"
             "Predicts a set with saved weights and prints accuracy (R², mAP: what the recipe's\n"
             "loss is measured by) and mean loss. CHECKPOINT is a run's folder, of which the\n"
             "latest weights are taken (--best: the best), or a .safetensors file. The recipe is\n"
             "recipe.yaml of that folder, or --recipe; key=value changes it, as in\n"
             "cull eval RUN data.test=DATA for examples that were not trained on.\n\n",
    .missing = "no checkpoint is given",
    .give = "Give a run's folder or a .safetensors file.",
};

static int say(const struct arguments *a, const cull_evaluation *e)
{
    if (a->json)
        return print_json(json_pack(
            "{s:s, s:s, s:I, s:s, s:o, s:o, s:o}", "weights", a->found.weights, "set", a->set,
            "count", (json_int_t)e->count, "metric", e->metric, e->metric, json_number(e->accuracy),
            "loss", json_number(e->loss), "seconds", json_number(e->seconds)));
    (void)printf("%s %s %.2f %%, loss %.4f over %zu examples, %.1f s\n", a->set,
                 cull_metric_name(e->metric), 100 * e->accuracy, e->loss, e->count, e->seconds);
    return end_output(END_WELL);
}

static int evaluate(struct arguments *a)
{
    cull_recipe    *recipe = NULL;
    cull_evaluation result = {0};
    cull_status     status = CULL_OK;
    int end = open_checkpoint(a->checkpoint, a->recipe, a->best, &a->change, &a->found, &recipe);

    if (end) return end;
    status = cull_evaluate(recipe, a->found.weights, a->set, &result);
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
                    {"--set", FLAG_TEXT, "test|validation|train", "which set (test)", &a.set, 0},
                    {"--best", FLAG_SWITCH, NULL, "the best weights of a run, not the latest", &a.best, 0},
                    {"--recipe", FLAG_TEXT, "FILE.yaml", "another recipe than the folder's", &a.recipe, 0},
                    {"--json", FLAG_SWITCH, NULL, "as one JSON object", &a.json, 0},
                    {.name = NULL}};
    int end = take_changed(&self, flags, argc, argv, &a.change, &a.checkpoint);

    if (end != GO_ON) return end;
    end = evaluate(&a);
    clear_changes(&a.change);
    return end;
}
