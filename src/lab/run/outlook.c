/*
 * lab/run/outlook.c - what a run will do and cost: counted before it begins, and predicted from its
 * own first steps.
 *
 * A run is priced as an arm of a comparison is (lab/compare/costs.c), by a table that has one size
 * of a training batch: learning is taken to be in proportion to the examples. What the first steps
 * do not show is put at its counted share: a scoring pass that comes later at a third of learning.
 */
#include "lab/run/outlook.h"

#include <math.h>

#include "lab/compare/arms.h"
#include "lab/compare/costs.h"
#include "select/frame.h"

enum { WARM = 2, FEWEST = 8, ENOUGH = 100 }; /* steps */

#define SHORTEST   1.  /* seconds of them, where there are not enough */
#define MOST_STEPS 1e6 /* that are walked through: fewer epochs stand for more */

/* Of an epoch. */
struct rate {
    double thirds, seconds;
    bool   fixed;
};

static uint64_t epochs_to_walk(const cull_trainer *t, uint64_t epochs)
{
    double most = MOST_STEPS / (double)t->learner.schedule.steps_per_epoch;

    return (double)epochs > most ? (uint64_t)fmax(1, most) : epochs;
}

static bool price(const cull_trainer *t, const cull_costs *costs, const cull_priced *run,
                  struct rate *out)
{
    cull_train_setup setup = *run->setup;
    cull_priced      priced = *run;
    cull_price       p = {0};
    double           epochs = 0;

    setup.epochs = epochs_to_walk(t, cull_train_epochs(run->setup));
    priced.setup = &setup;
    if (cull_costs_price(costs, &priced, NULL, 0, NULL, &p) != CULL_OK) return false;
    /* a strategy may have fewer epochs than it is told of */
    epochs = (double)t->expected.epochs / (double)cull_train_epochs(t->setup);
    epochs = fmax(1, round((double)setup.epochs * (run->setup == t->setup ? epochs : 1)));
    *out = (struct rate){p.thirds / epochs, p.seconds / epochs, p.fixed};
    return true;
}

/* Training on everything, for the whole of what the recipe says. */
static bool price_full(const cull_trainer *t, const cull_costs *costs, struct rate *out)
{
    cull_train_setup full = *t->setup;

    full.strategy = "full";
    full.select = NULL;
    full.selects = 0;
    full.shorten = 1;
    full.epochs = 1;
    full.score = (cull_score_setup){.scale = 1};
    return price(t, costs, &(cull_priced){.setup = &full}, out);
}

static cull_costs table_of(const cull_trainer *t)
{
    return (cull_costs){.pool = t->sets.train->count,
                        .validation = t->sets.validation ? t->sets.validation->count : 0};
}

static void fill_cost(const cull_outlook *o, const cull_costs *costs, const cull_arm_costs *own,
                      cull_run_outlook *out)
{
    const cull_trainer *t = o->trainer;
    cull_priced         run = cull_arm_priced(o->recipe);
    struct rate         mine = {0}, full = {0};
    double              whole = (double)t->setup->epochs;

    run.own = *own;
    if (!price(t, costs, &run, &mine) || !price_full(t, costs, &full)) return;
    if (!mine.fixed && !(own->share > 0)) return;
    out->counted = mine.thirds * t->expected.length / (full.thirds * whole);
    if (!(full.seconds > 0)) return;
    out->predicted = mine.seconds * t->expected.length / (full.seconds * whole);
    out->seconds = mine.seconds * t->expected.length;
}

static cull_run_outlook describe(const cull_outlook *o)
{
    const cull_trainer *t = o->trainer;
    const cull_dataset *set = t->sets.train;
    cull_train_room     room = {0};

    (void)cull_train_measure(t, &room);
    return (cull_run_outlook){
        .size = sizeof(cull_run_outlook),
        .data = set->name,
        .train = set->count,
        .validation = t->sets.validation ? t->sets.validation->count : 0,
        .test = t->sets.test->count,
        .classes = set->classes,
        .target = set->target.kind,
        .channels = set->channels,
        .height = set->height,
        .width = set->width,
        .model = t->learner.model->name,
        .strategy = t->setup->strategy,
        .parameters = t->learner.params->count,
        .batch = t->setup->batch,
        .steps = cull_trainer_steps(&t->expected),
        .epochs = t->expected.epochs,
        .done = o->done,
        .keep = t->expected.fixed ? t->selector->keep : NAN,
        .counted = NAN,
        .predicted = NAN,
        .seconds = NAN,
        .backend = cull_backend_describe(t->backend),
        .chosen = t->why,
        .precision = cull_train_computes_in(t),
        .device_data = room.data,
        .device_parameters = room.parameters,
        .device_plans = room.plans,
        .device_free = room.free,
        .device_total = room.total,
    };
}

static void begins(void *context)
{
    cull_outlook    *o = context;
    cull_run_outlook all = {0};
    cull_costs       costs = table_of(o->trainer);

    o->begun = o->trainer->books.meter;
    o->done = o->trainer->progress.step;
    all = describe(o);
    fill_cost(o, &costs, &(cull_arm_costs){0}, &all);
    o->caller->foresee(o->caller->context, &all);
}

static double passed(const cull_meter *from, const cull_meter *to, cull_phase phase)
{
    return to->seconds[phase] - from->seconds[phase];
}

/* The beginning of an epoch that chooses from the pool scores all of it. */
static void add_pool(const cull_outlook *o, cull_arm_costs *own)
{
    size_t pool = o->trainer->sets.train->count;

    own->pool_score = own->score * (double)pool;
    if (o->first.scored - o->begun.scored >= pool)
        own->pool_score = passed(&o->begun, &o->first, CULL_PHASE_SCORE);
    own->pool_solve = passed(&o->begun, &o->first, CULL_PHASE_SELECT);
}

static void tell_prediction(cull_outlook *o)
{
    const cull_trainer *t = o->trainer;
    const cull_meter   *now = &t->books.meter, *then = &o->warm;
    cull_run_outlook    all = describe(o);
    cull_costs          costs = table_of(t);
    cull_arm_costs      own = {0};
    double              scored = (double)(now->scored - then->scored);
    double              trained = (double)(now->trained - then->trained);
    double              steps = (double)(o->steps - WARM), learn = 0;

    if (!(trained > 0)) return;
    own.learn_kept = passed(then, now, CULL_PHASE_LEARN) / steps;
    learn = passed(then, now, CULL_PHASE_LEARN) / trained;
    if (t->setup->score.reuse && scored > 0) learn *= 1.5; /* it went backward alone */
    own.score = scored > 0 ? passed(then, now, CULL_PHASE_SCORE) / scored : learn / 3;
    own.decide = passed(then, now, CULL_PHASE_SELECT) / steps;
    if (scored > 0) own.share = trained / scored;
    add_pool(o, &own);
    costs.load = passed(then, now, CULL_PHASE_LOAD) / fmax(scored, trained);
    costs.optim = passed(then, now, CULL_PHASE_OPTIM) / steps;
    (void)cull_costs_add(&costs, t->setup->batch, learn * (double)t->setup->batch);
    fill_cost(o, &costs, &own, &all);
    o->caller->foresee(o->caller->context, &all);
}

static void watch(cull_outlook *o, bool epoch_end)
{
    const cull_meter *now = &o->trainer->books.meter;
    bool              enough = false;

    if (!epoch_end) o->steps++;
    if (o->steps == 1 && !epoch_end) o->first = *now;
    if (o->steps == WARM && !epoch_end) o->warm = *now;
    if (o->steps < WARM + FEWEST) return;
    enough = epoch_end || o->steps >= ENOUGH ||
             cull_meter_spent(now) - cull_meter_spent(&o->warm) >= SHORTEST;
    if (!enough) return;
    o->told = true;
    tell_prediction(o);
}

static void tell(void *context, const cull_run_news *news)
{
    cull_outlook *o = context;

    if (o->caller->tell) o->caller->tell(o->caller->context, news);
    if (!o->told) watch(o, news->epoch_end);
}

static bool stop(void *context)
{
    const cull_outlook *o = context;

    return o->caller->stop(o->caller->context);
}

cull_run_options cull_outlook_open(const cull_recipe *recipe, const cull_run_options *caller,
                                   cull_trainer *trainer, cull_outlook *outlook)
{
    cull_run_options options = *caller;

    if (!caller->foresee) return options;
    *outlook = (cull_outlook){.recipe = recipe, .caller = caller, .trainer = trainer};
    trainer->begins = begins;
    trainer->begins_context = outlook;
    options.tell = tell;
    options.stop = caller->stop ? stop : NULL;
    options.context = outlook;
    return options;
}
