/* reproduce_plan.c - what figures will take on this machine: by steps of full training of each
 * set-up, measured here, and by how many of them each run has. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare_parts.h"
#include "reproduce/reproduce_parts.h"

#define SECONDS 1. /* that a set-up is measured for */

void clear_prices(prices *p)
{
    for (size_t i = 0; i < p->runs; i++) free(p->run[i]);
    free((void *)p->run);
    free(p->costs);
    *p = (prices){0};
}

static bool is_measured(const prices *p, const char *setup)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->costs[i].setup, setup) == 0) return true;
    return false;
}

static int measure(const cull_recipe *recipe, const char *setup, prices *p)
{
    cull_figure_costs *more = NULL;
    cull_status        status = CULL_OK;

    if (p->count == p->room) {
        p->room = p->room ? 2 * p->room : 16;
        more = realloc(p->costs, p->room * sizeof *p->costs);
        if (!more) return complain(END_FAILED, "Ask for less at once.", "no memory");
        p->costs = more;
    }
    (void)fprintf(stderr, "measuring steps of %s\n", setup);
    p->costs[p->count] =
        (cull_figure_costs){.subset = strtod(cull_recipe_value(recipe, "data.subset"), NULL)};
    (void)snprintf(p->costs[p->count].setup, sizeof p->costs->setup, "%s", setup);
    status = cull_measure(recipe, SECONDS, &p->costs[p->count].is);
    if (status != CULL_OK) return complain_run(status);
    p->count++;
    return END_WELL;
}

static int measure_all(const cull_figure *figure, prices *p)
{
    char               setup[CULL_FIGURE_NAME];
    const cull_recipe *recipe = NULL;
    int                end = END_WELL;

    for (size_t i = 0; !end && cull_figure_setup(figure, i, setup, &recipe); i++)
        if (!is_measured(p, setup)) end = measure(recipe, setup, p);
    return end;
}

/* Is this run priced for the first time? */
static int is_new(prices *p, const char *folder, bool *out)
{
    char **more = NULL;

    *out = true;
    for (size_t i = 0; i < p->runs; i++)
        if (strcmp(p->run[i], folder) == 0) *out = false;
    if (!*out) return END_WELL;
    if (p->runs == p->run_room) {
        p->run_room = p->run_room ? 2 * p->run_room : 64;
        more = realloc((void *)p->run, p->run_room * sizeof *p->run);
        if (!more) return complain(END_FAILED, "Ask for less at once.", "no memory");
        p->run = more;
    }
    p->run[p->runs] = strdup(folder);
    if (!p->run[p->runs]) return complain(END_FAILED, "Ask for less at once.", "no memory");
    p->runs++;
    return END_WELL;
}

/* Runs of an arm that are not finished; p: and were not priced before. */
static int count_left(const cull_figure *figure, size_t arm, prices *p, size_t *out)
{
    cull_status status = CULL_OK;
    int         end = END_WELL;

    *out = 0;
    for (uint64_t seed = 1; !end && seed <= cull_figure_seeds(figure); seed++) {
        char            folder[CULL_DATA_PATH];
        cull_recipe    *recipe = NULL;
        cull_run_record record = {0};
        bool            first = true;

        status = cull_figure_run(figure, arm, seed, &recipe, folder);
        if (status == CULL_OK) status = cull_run_read(folder, &record);
        if (status != CULL_OK) end = complain_run(status);
        if (!end && p) end = is_new(p, folder, &first);
        *out += !end && first && strcmp(record.status, "finished") != 0;
        cull_recipe_close(recipe);
    }
    return end;
}

int price_figure(const cull_figure *figure, prices *p, bool once, double *out)
{
    size_t      done = 0, all = 0;
    cull_status counted = cull_figure_count(figure, &done, &all);
    int         end = counted == CULL_OK ? END_WELL : complain_run(counted);

    *out = 0;
    if (end || done == all) return end; /* and nothing is measured */
    end = measure_all(figure, p);
    for (size_t i = 0; !end && cull_figure_arm_at(figure, i); i++) {
        double      seconds = NAN;
        size_t      left = 0;
        cull_status status = cull_figure_price(figure, i, p->costs, p->count, &seconds);

        if (status != CULL_OK) return complain_run(status);
        end = count_left(figure, i, once ? p : NULL, &left);
        if (left) *out += (double)left * seconds;
    }
    return end;
}

static int print_arm(const cull_figure *figure, size_t i, const prices *p)
{
    const cull_figure_arm *arm = cull_figure_arm_at(figure, i);
    double                 seconds = NAN;
    size_t                 left = 0;
    char                   name[3 * CULL_FIGURE_NAME];
    cull_status            status = cull_figure_price(figure, i, p->costs, p->count, &seconds);
    int end = status == CULL_OK ? count_left(figure, i, NULL, &left) : complain_run(status);

    (void)snprintf(name, sizeof name, "%s%s%s", arm->series, arm->value[0] ? " at " : "",
                   arm->value);
    compare_put_name(name, 48);
    compare_put(arm->keep, 7, 3, "");
    (void)printf(" %3zu", left);
    compare_put(seconds / 3600, 9, 2, "");
    (void)printf("\n");
    return end;
}

int print_plan(const reproduction *r, prices *p)
{
    bool arms = r->entry->kind == CULL_REPRODUCE_TRAIN || r->entry->kind == CULL_REPRODUCE_WATCH;
    cull_figure *figure = NULL;
    double       seconds = 0;
    char         clock[40];
    cull_status  status = cull_figure_open(r->entry, &r->state.scale, r->recipes, r->root, &figure);
    int end = status == CULL_OK ? price_figure(figure, p, false, &seconds) : complain_run(status);

    if (r->state.done) seconds = 0;
    if (!end && arms) (void)printf("%-48s %7s %3s %9s\n", "arm", "keep", "to do", "hours a run");
    for (size_t i = 0; !end && arms && cull_figure_arm_at(figure, i); i++)
        end = print_arm(figure, i, p);
    if (!end) {
        compare_clock(seconds, clock, sizeof clock);
        (void)printf("all of it: %.2f hours (%s) on this machine, by steps of full training; what "
                     "choosing itself takes is not in it\n",
                     seconds / 3600, clock);
    }
    cull_figure_close(figure);
    return end;
}
