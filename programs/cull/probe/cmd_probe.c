/* cmd_probe.c - cull probe: how well the gradient of what strategies pick stands for all. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/probe_print.h"
#include "train/run_parts.h"

struct arguments {
    const char *recipe, *weights, *strategies, *keep, *out;
    uint64_t    batches;
    bool        picks, exact, json;
    changes     change;
};

static const command self = {
    .name = "probe",
    .usage =
        "usage: cull probe [RECIPE.yaml] [key=value ...] [--strategies STRATEGY,...] [--keep "
        "SHARE,...]\n\n"
        "At fixed weights, over the first minibatches of the recipe's run: every strategy picks\n"
        "at every share, and the true gradient of the picks (all parameters) is held against\n"
        "that of the batch and that of all the data: squared error, how often it is below\n"
        "random's (with its 95 % interval), cosine, share of equal signs; the error against the\n"
        "batch also as a share of its gradient, over the last layer and over all; with\n"
        "data.label_noise also how many of the picks have a wrong label. Strategies may carry\n"
        "options: --strategies 'random,sb beta=balles'. With --out, DIR/probe.jsonl holds a line\n"
        "for each batch and arm.\n\n",
};

static int say(const struct arguments *a, const cull_probe_result *result)
{
    if (a->json) return print_probe_json(result);
    print_probe(result);
    return end_output(END_WELL);
}

static int probe(struct arguments *a)
{
    cull_recipe       *recipe = NULL;
    cull_probe_result  result = {0};
    bool               terminal = isatty(STDERR_FILENO) != 0 && !a->json;
    cull_probe_options options = {.weights = a->weights,
                                  .batches = (size_t)a->batches,
                                  .picks = a->picks,
                                  .exact = a->exact,
                                  .folder = a->out,
                                  .tell = tell_passes,
                                  .context = &terminal,
                                  .warn = say_warning};
    int                end = take_probe(a->strategies, a->keep, &options);

    if (!end) end = open_recipe(a->recipe, &a->change, &recipe);
    if (!end && a->out) end = make_folders(a->out);
    if (!end) end = complain_run(cull_probe(recipe, &options, &result));
    if (!end) end = say(a, &result);
    cull_probe_clear(&result);
    cull_recipe_close(recipe);
    clear_probe(&options);
    return end;
}

int cmd_probe(int argc, char **argv)
{
    struct arguments a = {.batches = 200, .strategies = "random,sb,gradmatch", .keep = "0.1,0.3"};
    flag             flags[] = {
                    {"--strategies", FLAG_TEXT, "STRATEGY,...", "who picks (random,sb,gradmatch)",
                     &a.strategies, 0},
                    {"--keep", FLAG_TEXT, "SHARE,...", "shares of a batch to keep (0.1,0.3)", &a.keep, 0},
                    {"--batches", FLAG_NUMBER, "N", "minibatches to look at (200)", &a.batches, 0},
                    {"--weights", FLAG_TEXT, "FILE.safetensors", "a .safetensors file (as the recipe begins)",
                     &a.weights, 0},
                    {"--picks", FLAG_SWITCH, NULL, "picks and the last layer's error alone, no gradients",
                     &a.picks, 0},
                    {"--exact", FLAG_SWITCH, NULL, "strategies compute in float64", &a.exact, 0},
                    {"--out", FLAG_TEXT, "DIR", "a folder for probe.jsonl (none)", &a.out, 0},
                    {"--json", FLAG_SWITCH, NULL, "one JSON line an arm", &a.json, 0},
                    {.name = NULL}};
    int end = take_changed(&self, flags, argc, argv, &a.change, &a.recipe);

    if (end != GO_ON) return end;
    end = a.batches
              ? probe(&a)
              : complain(END_USAGE, "Write it as --batches 200.", "--batches 0 looks at nothing");
    clear_changes(&a.change);
    return end;
}
