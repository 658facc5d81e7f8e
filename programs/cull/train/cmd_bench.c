/* cmd_bench.c - cull bench: where the time of a step goes, one JSON line a part. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cull_lab.h"
#include "train/run_parts.h"

struct arguments {
    const char *recipe;
    uint64_t    rounds;
    changes     change;
};

static const command self = {
    .name = "bench",
    .usage = "usage: cull bench [RECIPE.yaml] [key=value ...] [--rounds N]\n\n"
             "Times the parts of a training step of the recipe (or of the defaults): loading a\n"
             "batch, forward alone, forward and backward, the optimizer. Prints one JSON line\n"
             "each: median and spread in milliseconds, examples a second, and the part's\n"
             "share of a step (load + learn + optim). key=value as for cull train, so\n"
             "model.name=resnet18 train.batch=128 train.threads=2.\n\n",
};

/* As many as the recipe says, or one a core. */
static json_int_t threads_of(const cull_recipe *recipe)
{
    char     *rest = NULL;
    long long given = strtoll(cull_recipe_value(recipe, "train.threads"), &rest, 10);
    long      cores = sysconf(_SC_NPROCESSORS_ONLN);

    return given > 0 ? given : cores;
}

static void print_part(const cull_recipe *recipe, const cull_bench_result *r, const char *part,
                       double seconds, double spread)
{
    double  step = r->load + r->learn + r->optim;
    json_t *o = json_pack(
        "{s:s, s:s, s:I, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "part", part, "model",
        cull_recipe_value(recipe, "model.name"), "batch", (json_int_t)r->batch, "backend",
        cull_recipe_value(recipe, "train.backend"), "threads", threads_of(recipe), "parameters",
        (json_int_t)r->parameters, "rounds", (json_int_t)r->rounds, "ms",
        json_number(1e3 * seconds), "spread_ms", json_number(1e3 * spread), "examples_per_second",
        json_number((double)r->batch / seconds), "share", json_number(seconds / step));

    if (o) (void)json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
    (void)putchar('\n');
    json_decref(o);
}

static int bench(struct arguments *a)
{
    cull_recipe      *recipe = NULL;
    cull_bench_result r = {0};
    int               end = open_recipe(a->recipe, &a->change, &recipe);

    if (!end) end = complain_run(cull_bench(recipe, (size_t)a->rounds, &r));
    if (!end) {
        print_part(recipe, &r, "load", r.load, 0);
        print_part(recipe, &r, "score", r.score, r.score_spread);
        print_part(recipe, &r, "learn", r.learn, r.learn_spread);
        print_part(recipe, &r, "optim", r.optim, r.optim_spread);
        end = end_output(END_WELL);
    }
    cull_recipe_close(recipe);
    return end;
}

int cmd_bench(int argc, char **argv)
{
    struct arguments a = {.rounds = 20};
    flag             flags[] = {
                    {"--rounds", FLAG_NUMBER, "N", "steps to time, after a warm one (20)", &a.rounds, 0},
                    {.name = NULL}};
    int end = take_changed(&self, flags, argc, argv, &a.change, &a.recipe);

    if (end != GO_ON) return end;
    end = a.rounds ? bench(&a)
                   : complain(END_USAGE, "Write it as --rounds 20.", "--rounds 0 times nothing");
    clear_changes(&a.change);
    return end;
}
