/* lab/probe/probe.c - probes as the public API has them: arms, their selectors, and the batches'
 * round.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/probe/probe.h"
#include "lab/recipe/recipe.h"
#include "train/folder/weights.h"

enum { MOST_OPTIONS = 32, ENOUGH_BATCHES = 200 };

struct work {
    const cull_probe_options *options;
    cull_trainer             *t;
    cull_prober               prober;
    cull_probe_result         result;
    cull_selector           **selector;            /* [arms] */
    cull_subset              *subset;              /* [arms] of the current batch */
    double                   *whole, *whole_error; /* [batches] */
    cull_records_probe_log    record;
    size_t                    done, all; /* passes, for tell */
};

void cull_probe_clear(cull_probe_result *result)
{
    if (!result) return;
    for (size_t i = 0; result->arm && i < result->arms; i++) cull_base_free(result->arm[i].pick);
    cull_base_free(result->arm);
    *result = (cull_probe_result){0};
}

static void clear_work(struct work *w)
{
    for (size_t i = 0; w->selector && i < w->result.arms; i++)
        cull_selector_destroy(w->selector[i]);
    for (size_t i = 0; w->subset && i < w->result.arms; i++) cull_subset_clear(&w->subset[i]);
    cull_base_free((void *)w->selector);
    cull_base_free(w->subset);
    cull_base_free(w->whole);
    cull_base_free(w->whole_error);
    cull_records_probe_close(&w->record);
    cull_probe_clear(&w->result);
    cull_prober_clear(&w->prober);
    cull_trainer_destroy(w->t);
}

/* Only what a minibatch and its scoring pass can answer can be probed. */
static cull_status check_needs(const struct work *w, const cull_probe_arm *arm, bool keeps,
                               const cull_selector *selector)
{
    const unsigned known = CULL_SIGNAL_LOSS | CULL_SIGNAL_H | CULL_SIGNAL_P | CULL_SIGNAL_LABEL;
    cull_status    status = CULL_OK;
    cull_needs     needs = {0};

    TRY(cull_selector_needs(selector, 0, 0, &needs));
    if (needs.action == CULL_SELECT_POOL || needs.action == CULL_KEEP_SUBSET)
        FAIL(CULL_BAD_OPTION, "%s chooses from the pool: a probe looks at minibatches",
             arm->strategy);
    if (needs.action == CULL_TRAIN_ALL && arm->keep < 1 && keeps)
        FAIL(CULL_BAD_OPTION, "%s keeps all at the beginning of a run: nothing to probe",
             arm->strategy);
    if (needs.candidates != w->prober.ground.batch)
        FAIL(CULL_BAD_OPTION, "%s scores %zu examples at once: a probe looks at minibatches of %zu",
             arm->strategy, needs.candidates, w->prober.ground.batch);
    if ((needs.signals & ~known) || needs.target)
        FAIL(CULL_BAD_OPTION, "%s needs more than a scoring pass of the minibatch tells",
             arm->strategy);
done:
    return status;
}

/* With its own options, and a share where it takes one. */
static cull_status make_selector(struct work *w, const cull_probe_arm *arm, cull_selector **out,
                                 bool *all)
{
    cull_status          status = CULL_OK;
    cull_strategy_text   text = {0};
    cull_option          option[MOST_OPTIONS + 1] = {{0}};
    const cull_strategy *found = NULL;
    char                 name[CULL_PROBE_NAME], keep[32];
    size_t               count = 0;
    cull_setting         setting = {.pool = w->t->sets.train->count,
                                    .batch = w->t->setup->batch,
                                    .epochs = w->t->setup->epochs,
                                    .seed = w->t->setup->seed,
                                    .backend = w->t->backend};

    TRY(cull_strategy_text_read(arm->strategy, &text));
    count = text.options;
    if (count > MOST_OPTIONS) FAIL(CULL_BAD_OPTION, "%s: too many options", text.name);
    if (count) memcpy(option, text.option, count * sizeof *option);
    found = cull_strategy_of(text.name);
    *all = found && (found->traits & CULL_KEEPS_ALL);
    (void)snprintf(keep, sizeof keep, "%.17g", arm->keep);
    if (!*all) option[count++] = (cull_option){"keep", keep};
    text.options = 0;
    (void)cull_strategy_text_write(&text, name, sizeof name);
    TRY(cull_selector_create(name, option, count, &setting, out));
done:
    cull_strategy_text_clear(&text);
    return status;
}

static cull_status make_arm(struct work *w, size_t at, const char *strategy, double keep)
{
    cull_status     status = CULL_OK;
    cull_probe_arm *arm = &w->result.arm[at];
    bool            all = false;

    if (strlen(strategy) >= sizeof arm->strategy)
        FAIL(CULL_BAD_OPTION, "%.40s...: the strategy's name is too long", strategy);
    if (!(keep > 0 && keep <= 1))
        FAIL_ABOUT(CULL_BAD_OPTION, "keep", "keep=%g is not in (0, 1]", keep);
    (void)snprintf(arm->strategy, sizeof arm->strategy, "%s", strategy);
    arm->keep = keep;
    TRY(make_selector(w, arm, &w->selector[at], &all));
    TRY(check_needs(w, arm, !all, w->selector[at]));
    TRY(cull_base_alloc(w->result.batches, sizeof *arm->pick, "a probe's figures", &arm->pick));
done:
    return status;
}

static cull_status make_arms(struct work *w)
{
    const cull_probe_options *o = w->options;
    cull_status               status = CULL_OK;
    cull_probe_result        *r = &w->result;

    if (o->strategies == 0 || o->keeps == 0)
        FAIL(CULL_BAD_ARGUMENT, "a probe needs a strategy and a share to keep");
    r->batches = o->batches ? o->batches : ENOUGH_BATCHES;
    TRY(cull_base_alloc(o->strategies * o->keeps, sizeof *r->arm, "a probe", &r->arm));
    r->arms = o->strategies * o->keeps;
    TRY(cull_base_alloc(r->arms, sizeof(cull_selector *), "a probe", &w->selector));
    TRY(cull_base_alloc(r->arms, sizeof *w->subset, "a probe", &w->subset));
    TRY(cull_base_alloc(r->batches, sizeof *w->whole, "a probe", &w->whole));
    TRY(cull_base_alloc(r->batches, sizeof *w->whole_error, "a probe", &w->whole_error));
    for (size_t s = 0; s < o->strategies; s++)
        for (size_t k = 0; k < o->keeps; k++)
            TRY(make_arm(w, s * o->keeps + k, o->strategy[s], o->keep[k]));
done:
    return status;
}

static cull_status prepare(struct work *w, const cull_recipe *recipe)
{
    const cull_train_setup *s = &recipe->setup;
    cull_status             status = CULL_OK;
    cull_probe_ground       ground = {0};

    TRY(cull_trainer_create(s, false, &w->t));
    for (size_t i = 0; w->options->warn && i < w->t->sets.warnings.count; i++)
        w->options->warn(w->options->context, w->t->sets.warnings.text[i]);
    if (w->options->weights)
        TRY(cull_weights_read(w->options->weights, w->t->learner.model, w->t->learner.params));
    else
        TRY(cull_trainer_begin(w->t));
    ground = (cull_probe_ground){.backend = w->t->backend,
                                 .model = w->t->learner.model,
                                 .params = w->t->learner.params,
                                 .set = w->t->sets.train,
                                 .augment = s->augments ? &s->augment : NULL,
                                 .batch = s->batch,
                                 .loss = s->loss,
                                 .seed = s->seed};
    TRY(cull_prober_init(&w->prober, &ground));
    w->result.parameters = w->t->learner.params->count;
    w->result.batch = s->batch;
    w->result.batchnorm = w->t->learner.params->running_count > 0;
    TRY(make_arms(w));
    if (w->options->folder) TRY(cull_records_probe_open(&w->record, w->options->folder));
done:
    return status;
}

static void tell(struct work *w)
{
    w->done++;
    if (w->options->tell) w->options->tell(w->options->context, w->done, w->all);
}

static bool should_stop(const struct work *w)
{
    return w->options->stop && w->options->stop(w->options->context);
}

/* The gradient of all the data; *stop when it was given up half-way. */
static cull_status take_data(struct work *w, bool *stop)
{
    cull_status status = CULL_OK;
    size_t      batches = cull_prober_batches(&w->prober);

    for (size_t b = 0; b < batches && !*stop; b++) {
        cull_prober_go(&w->prober, b);
        TRY(cull_prober_add(&w->prober));
        tell(w);
        *stop = should_stop(w);
    }
    if (*stop) goto done;
    cull_prober_divide(&w->prober, batches);
    w->result.data_batches = batches;
    for (size_t i = 0; i < w->result.parameters; i++)
        w->result.full += w->prober.full[i] * w->prober.full[i];
done:
    return status;
}

static void count_pick(const struct work *w, const cull_subset *subset, cull_probe_arm *arm,
                       cull_probe_pick *pick)
{
    const uint8_t *marks = w->t->sets.train->marks;

    pick->kept = subset->count;
    for (size_t i = 0; i < subset->count; i++) {
        uint32_t place = w->prober.places[subset->index[i]];
        bool     wrong = (marks[place] & CULL_DATA_MARK_LABEL) != 0;
        double   bin = subset->weight[i] / CULL_PROBE_BIN;

        pick->corrupted += wrong;
        pick->weight += subset->weight[i];
        if (wrong) pick->corrupted_weight += subset->weight[i];
        arm->weight[bin < CULL_PROBE_BINS - 1 ? (size_t)bin : CULL_PROBE_BINS - 1]++;
    }
}

static cull_status measure_pick(struct work *w, const cull_subset *subset, cull_probe_pick *pick)
{
    cull_status  status = CULL_OK;
    cull_prober *p = &w->prober;
    size_t       count = w->result.parameters;

    /* the last layer's weights and biases lie side by side */
    const cull_node *last = &w->t->learner.model->node[w->t->learner.model->last_dense];
    size_t           at = last->param_at[0], size = last->param_count[0];

    if (last->params > 1) size += last->param_count[1];
    for (int way = 0; way < CULL_PROBE_WAYS; way++) {
        pick->data[way] = pick->whole[way] = (cull_probe_gap){NAN, NAN, NAN};
        pick->relative[way] = NAN;
        if (way == CULL_PROBE_TRAINED || !w->options->picks) pick->last[way] = NAN;
        if (w->options->picks) continue;
        if (way == CULL_PROBE_TRAINED || w->result.batchnorm) {
            TRY(cull_prober_part(p, subset, way));
            tell(w);
        }
        pick->data[way] = cull_probe_compare(p->part, p->full, count);
        pick->whole[way] = cull_probe_compare(p->part, p->whole, count);
        pick->relative[way] = cull_probe_relative(p->part, p->whole, count);
        pick->last[way] = cull_probe_relative(p->part + at, p->whole + at, size);
    }
done:
    return status;
}

/* A line of probe.jsonl. */
static cull_status record_pick(struct work *w, const cull_probe_arm *arm, size_t b)
{
    const cull_probe_result *r = &w->result;
    const cull_probe_arm    *control = cull_probe_control(r, arm);
    const cull_probe_pick   *pick = &arm->pick[b];
    cull_records_probe probe = {.keep = arm->keep, .pick = *pick, .full = r->full, .win = NAN};

    memcpy(probe.strategy, arm->strategy, sizeof probe.strategy);
    if (control && control != arm) probe.win = pick->data->error < control->pick[b].data->error;
    return cull_records_probe_add(&w->record, &probe, r->data_batches > 0);
}

/* All arms pick before any learns: signals last until the plans run again. */
static cull_status pick_batch(struct work *w, size_t b)
{
    cull_status  status = CULL_OK;
    cull_signals signals = {0};

    TRY(cull_prober_score(&w->prober, w->options->exact, &signals));
    for (size_t a = 0; a < w->result.arms; a++) {
        const cull_subset *subset = &w->subset[a];

        TRY(cull_select(w->selector[a], &signals, 0, &w->subset[a]));
        for (size_t i = 0; i < subset->count; i++)
            if (subset->index[i] == CULL_NO_ROW)
                FAIL(CULL_BAD_OPTION, "%s carries examples over: a probe looks at minibatches",
                     w->result.arm[a].strategy);
        if (subset->count == 0)
            FAIL(CULL_BAD_OPTION, "%s keeps nothing of batch %zu: no gradient to look at",
                 w->result.arm[a].strategy, b);
        w->result.arm[a].pick[b].batch = b;
        count_pick(w, subset, &w->result.arm[a], &w->result.arm[a].pick[b]);
        if (w->options->picks)
            w->result.arm[a].pick[b].last[CULL_PROBE_OF_BATCH] =
                cull_prober_last(&w->prober, &signals, subset);
    }
done:
    return status;
}

static cull_status take_batch(struct work *w, size_t b)
{
    cull_status        status = CULL_OK;
    cull_probe_result *r = &w->result;

    cull_prober_go(&w->prober, b);
    TRY(pick_batch(w, b));
    for (size_t i = 0; i < r->batch; i++)
        r->base.hits += (w->t->sets.train->marks[w->prober.places[i]] & CULL_DATA_MARK_LABEL) != 0;
    r->base.trials += (double)r->batch;
    w->whole[b] = w->whole_error[b] = NAN;
    if (!w->options->picks) {
        TRY(cull_prober_whole(&w->prober));
        tell(w);
        w->whole_error[b] =
            cull_probe_compare(w->prober.whole, w->prober.full, r->parameters).error;
        w->whole[b] = 0;
        for (size_t i = 0; i < r->parameters; i++)
            w->whole[b] += w->prober.whole[i] * w->prober.whole[i];
    }
    for (size_t a = 0; a < r->arms; a++) TRY(measure_pick(w, &w->subset[a], &r->arm[a].pick[b]));
    for (size_t a = 0; w->options->folder && a < r->arms; a++) TRY(record_pick(w, &r->arm[a], b));
    if (w->options->picks) tell(w);
done:
    return status;
}

static cull_status sum_up(struct work *w)
{
    cull_status        status = CULL_OK;
    cull_probe_result *r = &w->result;

    r->base = cull_probe_rate(r->base.hits, r->base.trials);
    r->whole = cull_probe_spread(w->whole, r->batches);
    r->whole_error = cull_probe_spread(w->whole_error, r->batches);
    TRY(cull_probe_summarise(r));
    for (size_t a = 0; w->options->folder && a < r->arms; a++)
        TRY(cull_records_probe_add_arm(&w->record, r, &r->arm[a]));
done:
    return status;
}

cull_status cull_probe(const cull_recipe *recipe, const cull_probe_options *options,
                       cull_probe_result *out)
{
    cull_status status = CULL_OK;
    struct work w = {.options = options};
    size_t      taken = 0, ways = 0;
    bool        stop = false;

    TRY(prepare(&w, recipe));
    ways = w.result.batchnorm ? CULL_PROBE_WAYS : 1;
    w.all = w.result.batches;
    if (!options->picks) {
        w.all = w.result.batches * (1 + w.result.arms * ways) + cull_prober_batches(&w.prober);
        TRY(take_data(&w, &stop));
    }
    while (taken < w.result.batches && !stop) {
        TRY(take_batch(&w, taken++));
        stop = should_stop(&w);
    }
    w.result.batches = taken;
    if (taken > 0) TRY(sum_up(&w));
    *out = w.result;
    w.result.arm = NULL;
done:
    clear_work(&w);
    return status;
}
