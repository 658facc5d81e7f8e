/* reproduce_time.c - tables of time: the parts of a step, and epochs made of them. */
#include <stdlib.h>

#include "reproduce/reproduce_parts.h"

enum { ROUNDS = 7 };
#define SECONDS 5. /* that each arm is measured for */

/* Forward against backward. */
static int time_passes(const reproduction *r)
{
    cull_recipe      *recipe = NULL;
    cull_bench_result b = {0};
    int               end = open_changed(r, NULL, &recipe);

    if (!end) end = complain_run(cull_bench(recipe, ROUNDS, &b));
    if (!end)
        (void)printf(
            "batch %zu: forward %.1f ms, forward and backward %.1f ms; backward takes %.2f "
            "times as long as forward\n",
            b.batch, 1e3 * b.score, 1e3 * b.learn, (b.learn - b.score) / b.score);
    cull_recipe_close(recipe);
    return end;
}

static int time_arm(const reproduction *r, const char *strategy, const char *keep)
{
    cull_recipe  *recipe = NULL;
    cull_measured m = {0};
    words         more = {0};
    int           end = add_strategy(&more, strategy);

    if (!end) end = add_word(&more, "select.keep=%s", keep);
    if (!end) end = open_changed(r, &more, &recipe);
    if (!end) end = complain_run(cull_measure(recipe, SECONDS, &m));
    if (!end) {
        double step = m.score + m.decide + m.learn + m.optim + m.load * m.scored;
        double steps = (double)m.pool / m.scored;

        (void)printf("%-20s %4s  %9.2f  %9.1f %9.1f %9.2f %9.1f %9.1f\n", strategy, keep,
                     step * steps, 1e3 * m.load * m.scored, 1e3 * m.score, 1e3 * m.decide,
                     1e3 * m.learn, 1e3 * m.optim);
    }
    cull_recipe_close(recipe);
    clear_words(&more);
    return end;
}

static int time_arms(const reproduction *r)
{
    char strategy[MOST_WORD / 2], keep[32];
    int  end = END_WELL;

    (void)printf("%-20s %4s  %9s  %9s %9s %9s %9s %9s\n", "strategy", "keep", "s/epoch", "load ms",
                 "score ms", "decide ms", "learn ms", "optim ms");
    for (size_t k = 0; !end && list_part(r->entry->keep, k, keep, sizeof keep); k++)
        for (size_t s = 0; !end && list_part(r->entry->strategies, s, strategy, sizeof strategy);
             s++)
            end = time_arm(r, strategy, keep);
    return end;
}

int reproduce_time(const reproduction *r)
{
    int end = END_WELL;

    if (r->plan) {
        (void)printf("would time steps of the recipe%s%s\n", r->entry->strategies ? " with " : "",
                     r->entry->strategies ? r->entry->strategies : "");
        return end_output(END_WELL);
    }
    end = r->entry->strategies ? time_arms(r) : time_passes(r);
    return end ? end : end_output(END_WELL);
}
