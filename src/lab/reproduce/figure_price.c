/*
 * lab/reproduce/figure_price.c - what a run of a figure will take, by steps of full training.
 *
 * An arm's steps are priced as the referee prices them (lab/compare/costs.h), from the one table
 * that full training of its set-up gives: a forward pass is a third of forward and backward, and
 * what choosing itself takes is not in it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/compare/arms.h"
#include "lab/reproduce/figure_arms.h"

/* What decides what a step of full training takes. */
static void name_setup(const cull_recipe *recipe, char out[CULL_FIGURE_NAME])
{
    (void)snprintf(out, CULL_FIGURE_NAME, "%.60s on %.40s, batches of %zu%s",
                   cull_recipe_value(recipe, "model.name"), cull_recipe_value(recipe, "data.name"),
                   recipe->setup.batch, recipe->setup.augments ? ", augmented" : "");
}

/* Each set-up once: at the first of its arms that is full training. */
bool cull_figure_setup(const cull_figure *f, size_t i, char out[CULL_FIGURE_NAME],
                       const cull_recipe **recipe)
{
    char other[CULL_FIGURE_NAME];

    for (size_t k = 0; k < f->parts; k++) {
        bool again = false;

        name_setup(f->part[k].recipe, out);
        for (size_t j = 0; j < k && !again; j++) {
            name_setup(f->part[j].recipe, other);
            again = strcmp(out, other) == 0;
        }
        if (again || i-- > 0) continue;
        *recipe = f->part[k].recipe;
        return true;
    }
    return false;
}

/* What a strategy keeps whose own rule decides: by its exponent, or what such rules keep about. */
static double own_share(const cull_figure_part *part)
{
    const cull_strategy *found = cull_strategy_of(part->is.series);
    const char          *beta = cull_recipe_value(part->recipe, "select.beta");
    char                *end = NULL;

    if (!isnan(part->is.keep)) return part->is.keep;
    if (!found || !(found->traits & CULL_KEEPS_BY_POWER) || !beta) return .75;
    return 1 / (1 + strtod(beta, &end));
}

cull_status cull_figure_price(const cull_figure *f, size_t arm, const cull_figure_costs *costs,
                              size_t count, double *out)
{
    cull_status          status = CULL_OK;
    const cull_measured *m = NULL;
    cull_costs           table = {0};
    cull_price           price = {0};
    cull_priced          run = {0};
    char                 setup[CULL_FIGURE_NAME];
    double               forward = 0;

    *out = NAN;
    if (arm >= f->parts) FAIL(CULL_BAD_ARGUMENT, "%s has no such arm", f->entry->name);
    name_setup(f->part[arm].recipe, setup);
    for (size_t i = 0; i < count && !m; i++)
        if (strcmp(costs[i].setup, setup) == 0) m = &costs[i].is;
    if (!m || m->trained <= 0) goto done;
    run = cull_arm_priced(f->part[arm].recipe);
    table = (cull_costs){.pool = m->pool,
                         .validation = m->validation,
                         .test = m->test,
                         .classes = m->classes,
                         .parameters = m->parameters,
                         .load = m->load,
                         .optim = m->optim};
    (void)cull_costs_add(&table, (size_t)llround(m->trained), m->learn);
    forward = m->learn / m->trained / 3;
    run.own = (cull_arm_costs){.known = true,
                               .score = forward,
                               .learn_kept = m->learn * 2 / 3,
                               .pool_score = forward * (double)m->pool,
                               .share = own_share(&f->part[arm])};
    TRY(cull_costs_price(&table, &run, NULL, 0, NULL, &price));
    *out = price.seconds + m->start;
done:
    return status;
}
