/*
 * lab/reproduce/figure_price.c - what a run of a figure will take, by steps of full training.
 *
 * An arm's steps are priced as the referee prices them (lab/compare/costs.h), from the one table
 * that full training of its set-up gives: a forward pass is a third of forward and backward, and
 * what choosing itself takes is not in it. With e the seconds of forward and backward an example,
 * N those of the pool, M of a batch, B minibatches, s strategies, k shares of sum S:
 *
 *     evaluation           e n / 3        n: test and validation examples; no cost, but time
 *     look at losses       e N / 3        by an audit, as often as the run is looked at
 *     look at gradients    e (N + B M (1 + s (S + k)))
 *     probe                the same, once: each pick alone, and by its batch's statistics
 *     times                some steps of every strategy and share, and as many seconds at least
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

static double number_of(const cull_recipe *recipe, const char *key)
{
    const char *value = cull_recipe_value(recipe, key);

    return value ? strtod(value, NULL) : 0;
}

/* ---- what is done besides runs, or in their place ---- */

static size_t count_items(const char *list, double *sum)
{
    const char *item = NULL;
    size_t      length = 0, count = 0;

    for (*sum = 0; list && (item = cull_list_next(&list, &length)); count++)
        *sum += strtod(item, NULL);
    return count;
}

/* Gradients of minibatches, and of all the data. */
static double price_gradients(const cull_figure *f, double each, double pool, double batch)
{
    uint64_t asked = f->scale.batches;
    double   none = 0, share = 0;
    double   strategies = (double)count_items(f->entry->strategies, &none);
    double   shares = (double)count_items(f->entry->keep, &share);
    double   batches = (double)(asked ? asked : cull_reproduction_batches(f->entry));

    return each * (pool + batches * batch * (1 + strategies * (share + shares)));
}

static double price_looks(const cull_figure *f, const cull_figure_part *part, double each,
                          double pool, double test)
{
    double looks = number_of(part->recipe, "train.epochs");

    switch (f->entry->look) {
    case CULL_LOOK_GRADIENTS:
        return looks * price_gradients(f, each, pool, (double)part->recipe->setup.batch);
    case CULL_LOOK_CHANCES:
    case CULL_LOOK_LOSSES:
    case CULL_LOOK_EXAMPLES: return looks * each * pool / 3;
    case CULL_LOOK_CONFIDENCE:
    case CULL_LOOK_ACCURACY: return each * test / 3;
    case CULL_LOOK_SELECTIONS: return each * pool / 3;
    case CULL_LOOK_NOT: break;
    }
    return 0;
}

/* Warming up, and the steps that are timed. */
static double price_times(const cull_figure *f, double learn)
{
    enum { STEPS = 20, LEAST = 5 };
    double none = 0;
    size_t strategies = count_items(f->entry->strategies, &none);
    size_t shares = count_items(f->entry->keep, &none);
    double one = fmax(LEAST, STEPS * learn);

    return strategies ? (double)(strategies * (shares ? shares : 1)) * one : one;
}

/* ---- a run ---- */

static double price_evaluation(const cull_figure_part *part, const cull_costs *table,
                               double forward)
{
    double every = number_of(part->recipe, "train.evaluate");
    double looks = number_of(part->recipe, "train.epochs") / fmax(every, 1);

    return looks * forward * (double)(table->test + table->validation);
}

static cull_status price_run(const cull_figure_part *part, const cull_costs *table, double learn,
                             double forward, double *out)
{
    cull_status status = CULL_OK;
    cull_price  price = {0};
    cull_priced run = cull_arm_priced(part->recipe);

    run.own = (cull_arm_costs){.known = true,
                               .score = forward,
                               .learn_kept = learn * 2 / 3,
                               .pool_score = forward * (double)table->pool,
                               .share = own_share(part)};
    TRY(cull_costs_price(table, &run, NULL, 0, NULL, &price));
    *out = price.seconds + price_evaluation(part, table, forward);
done:
    return status;
}

/* Examples of a set as a recipe has them, by those of the recipe that was measured. */
static size_t scaled(size_t measured, double by)
{
    return (size_t)fmax(1, round((double)measured * by));
}

cull_status cull_figure_price(const cull_figure *f, size_t arm, const cull_figure_costs *costs,
                              size_t count, double *out)
{
    cull_status              status = CULL_OK;
    const cull_figure_costs *cost = NULL;
    const cull_figure_part  *part = NULL;
    cull_costs               table = {0};
    char                     setup[CULL_FIGURE_NAME];
    double                   each = 0, by = 1;

    *out = NAN;
    if (arm >= f->parts) FAIL(CULL_BAD_ARGUMENT, "%s has no such arm", f->entry->name);
    part = &f->part[arm];
    name_setup(part->recipe, setup);
    for (size_t i = 0; i < count && !cost; i++)
        if (strcmp(costs[i].setup, setup) == 0) cost = &costs[i];
    if (!cost || cost->is.trained <= 0) goto done;
    by = cost->subset > 0 ? f->scale.subset / cost->subset : 1;
    each = cost->is.learn / cost->is.trained;
    table = (cull_costs){.pool = scaled(cost->is.pool, by),
                         .validation = cost->is.validation ? scaled(cost->is.validation, by) : 0,
                         .test = cost->is.test,
                         .classes = cost->is.classes,
                         .parameters = cost->is.parameters,
                         .load = cost->is.load,
                         .optim = cost->is.optim};
    (void)cull_costs_add(&table, (size_t)llround(cost->is.trained), cost->is.learn);
    if (f->entry->kind == CULL_REPRODUCE_PROBE)
        *out = price_gradients(f, each, (double)table.pool, cost->is.trained);
    else if (f->entry->kind == CULL_REPRODUCE_TIME)
        *out = price_times(f, cost->is.learn);
    else
        TRY(price_run(part, &table, cost->is.learn, each / 3, out));
    if (f->entry->kind == CULL_REPRODUCE_WATCH)
        *out += price_looks(f, part, each, (double)table.pool, (double)table.test);
    *out += cost->is.start;
done:
    return status;
}
