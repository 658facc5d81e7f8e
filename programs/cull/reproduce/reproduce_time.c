/* reproduce_time.c - tables of time: the parts of a step, and epochs made of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reproduce/reproduce_parts.h"

enum { ROUNDS = 7 };
#define SECONDS 5. /* that each arm is measured for */

static cull_point part_of(const char *panel, const char *series, const char *value, double y)
{
    cull_point p = {.x = NAN, .y = y, .low = NAN, .high = NAN};

    (void)snprintf(p.panel, sizeof p.panel, "%s", panel);
    (void)snprintf(p.series, sizeof p.series, "%s", series);
    (void)snprintf(p.value, sizeof p.value, "%s", value);
    return p;
}

/* Forward against backward, at one size of batches. */
static int time_passes(const reproduction *r, const char *change, const char *batch)
{
    enum { POINTS = 3 };
    cull_recipe      *recipe = NULL;
    cull_bench_result b = {0};
    cull_point        point[POINTS];
    words             more = {0};
    char              name[64], ratio[64];
    int               end = change ? add_word(&more, "%s", change) : END_WELL;

    if (!end) end = open_changed(r, &more, &recipe);
    if (!end) end = complain_run(cull_bench(recipe, ROUNDS, &b));
    if (!end) {
        double backward = b.learn - b.score;

        (void)printf("batch %zu: forward %.1f ms, forward and backward %.1f ms; backward takes "
                     "%.2f times as long as forward\n",
                     b.batch, 1e3 * b.score, 1e3 * b.learn, backward / b.score);
        (void)snprintf(name, sizeof name, "batch %s", batch);
        (void)snprintf(ratio, sizeof ratio, "ratio %s", batch);
        point[0] = part_of("", "forward", name, 1e3 * b.score);
        point[1] = part_of("", "backward", name, 1e3 * backward);
        point[2] = part_of("backward over forward", "ratio", ratio, backward / b.score);
        end = put_points(r, point, POINTS, false);
    }
    cull_recipe_close(recipe);
    clear_words(&more);
    return end;
}

static int time_all_passes(const reproduction *r)
{
    const char *vary = r->entry->vary;
    char        value[64], change[128];
    int         end = END_WELL;

    if (!vary) return time_passes(r, NULL, "1");
    for (size_t i = 0; !end && list_part(strchr(vary, '=') + 1, i, value, sizeof value); i++) {
        (void)snprintf(change, sizeof change, "%.*s=%s", (int)strcspn(vary, "="), vary, value);
        end = time_passes(r, change, value);
    }
    return end;
}

static int put_arm(const reproduction *r, const cull_measured *m, const char *strategy,
                   const char *keep)
{
    enum { PARTS = 5 };
    static const char *const names[PARTS] = {"load", "score", "select", "learn", "optim"};
    double     step[PARTS] = {m->load * m->scored, m->score, m->decide, m->learn, m->optim};
    double     steps = (double)m->pool / m->scored, sum = 0;
    cull_point point[PARTS];
    char       bar[CULL_POINT_NAME];

    (void)snprintf(bar, sizeof bar, "%.90s %.30s", strategy, keep);
    for (size_t i = 0; i < PARTS; i++) {
        point[i] = part_of("", names[i], bar, step[i] * steps);
        sum += step[i];
    }
    (void)printf("%-20s %4s  %9.2f  %9.1f %9.1f %9.2f %9.1f %9.1f\n", strategy, keep, sum * steps,
                 1e3 * step[0], 1e3 * step[1], 1e3 * step[2], 1e3 * step[3], 1e3 * step[4]);
    return put_points(r, point, PARTS, false);
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
    if (!end) end = put_arm(r, &m, strategy, keep);
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
        for (size_t s = 0;
             !end && !must_end(r) && list_part(r->entry->strategies, s, strategy, sizeof strategy);
             s++)
            end = time_arm(r, strategy, keep);
    return end;
}

int reproduce_time(const reproduction *r, bool *done)
{
    int end = put_points(r, NULL, 0, true);

    if (!end) end = r->entry->strategies ? time_arms(r) : time_all_passes(r);
    *done = !end && !must_end(r);
    return end;
}
