/* reproduce_probe.c - figures about gradients at start weights, and whether the order is theirs. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/probe_print.h"
#include "reproduce/reproduce_parts.h"

static const cull_probe_arm *find_arm(const cull_probe_result *p, const char *strategy, double keep)
{
    for (size_t i = 0; i < p->arms; i++)
        if (cull_strategy_of(p->arm[i].strategy) == cull_strategy_find(strategy) &&
            p->arm[i].keep == keep)
            return &p->arm[i];
    return NULL;
}

/* Most batches on one side, so that the interval leaves no doubt; or undecided. */
static const char *side(const cull_rate *wins)
{
    if (wins->low > .5) return "below random";
    return wins->high < .5 ? "above random" : "like random";
}

/* The paper's order: gradmatch below random below sb. */
static void print_order(const cull_probe_result *p, const double *keep, size_t keeps)
{
    static const char *const ways[CULL_PROBE_WAYS] = {"as trained", "statistics of the batch"};

    (void)printf("\nthe paper's order is gradmatch < random < sb, by the share of batches:\n");
    for (int way = 0; way < (p->batchnorm ? CULL_PROBE_WAYS : 1); way++)
        for (size_t k = 0; k < keeps; k++) {
            const cull_probe_arm *gm = find_arm(p, "gradmatch", keep[k]);
            const cull_probe_arm *sb = find_arm(p, "sb", keep[k]);
            bool                  holds = false, wrong = false;

            if (!gm || !sb) continue;
            holds = gm->wins[way].low > .5 && sb->wins[way].high < .5;
            wrong = gm->wins[way].high < .5 || sb->wins[way].low > .5;
            (void)printf("keep %g%s%s: %s; gradmatch is %s (%.1f %%), sb %s (%.1f %%)\n", keep[k],
                         p->batchnorm ? ", " : "", p->batchnorm ? ways[way] : "",
                         holds   ? "holds"
                         : wrong ? "does not hold"
                                 : "is not decided",
                         side(&gm->wins[way]), 100 * gm->wins[way].rate, side(&sb->wins[way]),
                         100 * sb->wins[way].rate);
        }
}

int reproduce_probe(const reproduction *r)
{
    bool               terminal = isatty(STDERR_FILENO) != 0;
    cull_probe_options options = {
        .batches = (size_t)r->batches, .folder = r->out, .tell = tell_passes, .context = &terminal};
    cull_probe_result result = {0};
    cull_recipe      *recipe = NULL;
    int               end = take_probe(r->entry->strategies, r->entry->keep, &options);

    if (!end && r->plan)
        (void)printf("would probe %s at %s over %llu minibatches\n", r->entry->strategies,
                     r->entry->keep, (unsigned long long)(r->batches ? r->batches : 200));
    if (!end && !r->plan) {
        end = open_changed(r, NULL, &recipe);
        if (!end) end = complain_run(cull_probe(recipe, &options, &result));
        if (!end) {
            print_probe(&result);
            print_order(&result, options.keep, options.keeps);
            (void)printf("a line for each batch and arm: %s/probe.jsonl\n", r->out);
        }
    }
    cull_probe_clear(&result);
    cull_recipe_close(recipe);
    clear_probe(&options);
    return end ? end : end_output(END_WELL);
}
