/*
 * train/expect.c - what the selector will ask for, looked at before the first step.
 *
 * Needs are a function of the selector's history, step and epoch; asked ahead, they tell how many
 * steps a run has, how many examples it trains where that is fixed, which plans every step uses,
 * and what of the recipe cannot be followed.
 */
#include <math.h>

#include "select/frame.h"
#include "train/train.h"

/* Who is looked at, and what came of it so far. */
struct look {
    const cull_train_setup *setup;
    cull_selector          *selector;
    cull_learner           *learner;
    cull_scorer            *scorer;
    cull_expectation       *out;
};

/* More steps than this are looked at by epochs that stand for others. */
#define MOST_QUESTIONS 1e6

static cull_status check_reuse(const struct look *t, const cull_needs *needs)
{
    cull_status status = CULL_OK;
    const char *name = cull_selector_name(t->selector);

    if (!t->setup->score.reuse || needs->action == CULL_TRAIN_ALL) return CULL_OK;
    if (needs->action != CULL_SELECT_BATCH)
        FAIL_OPTION("score.pass",
                    "%s chooses from the pool, reuse goes with choosing from "
                    "each batch",
                    name);
    if (!(needs->signals & CULL_SIGNAL_FORWARD))
        FAIL_OPTION("score.pass", "%s has steps without a scoring pass to reuse", name);
done:
    return status;
}

/* One that trains plainly and watches may score once it has seen enough. */
static void note_scoring(const struct look *t, const cull_needs *needs)
{
    bool may = needs->action == CULL_TRAIN_ALL && needs->observe;

    if (!may && !(needs->signals & CULL_SIGNAL_FORWARD)) return;
    t->out->scores = true;
    if (may || needs->action == CULL_SELECT_BATCH) t->out->scores_batches = true;
}

/* Keys that only mean something where a batch is scored. */
static cull_status check_scoring(const struct look *t, const cull_needs *needs)
{
    const cull_score_setup *score = &t->setup->score;
    cull_status             status = CULL_OK;
    const char             *name = cull_selector_name(t->selector);

    TRY(check_reuse(t, needs));
    note_scoring(t, needs);
    if (needs->target && !t->scorer->validation)
        FAIL_OPTION("data.validation", "%s aims at a validation set, and there is none", name);
    if (needs->signals & CULL_SIGNAL_IRREDUCIBLE && !score->irreducible)
        FAIL_OPTION("score.irreducible", "%s needs a file of irreducible losses", name);
done:
    return status;
}

/* One plan of each size that steps have; the cache holds no more anyway. */
static cull_status make_plan(const struct look *t, cull_plans *plans, cull_plan_mode mode,
                             size_t size)
{
    cull_plan *plan = NULL;

    if (plans->count == CULL_TRAIN_PLANS - 2 || size == 0) return CULL_OK;
    return cull_plans_get(plans, mode, size, 0, t->setup->loss, &plan);
}

static cull_status make_plans(const struct look *t, const cull_needs *needs, size_t size,
                              size_t learns)
{
    cull_status status = CULL_OK;
    bool forward = needs->action == CULL_SELECT_BATCH && needs->signals & CULL_SIGNAL_FORWARD;
    bool reuse = forward && t->setup->score.reuse;

    TRY(make_plan(t, &t->learner->plans, reuse ? CULL_PLAN_LEARN_FROM_KEPT : CULL_PLAN_LEARN,
                  learns));
    if (t->scorer->params) TRY(make_plan(t, t->scorer->plans, CULL_PLAN_LEARN, learns));
    if (forward && !t->setup->score.running && !needs->running)
        TRY(cull_nn_check_statistics(t->scorer->plans->model, size));
    if (forward) TRY(make_plan(t, t->scorer->plans, cull_score_mode(&t->setup->score), size));
done:
    return status;
}

static void note_sizes(const struct look *t, const cull_needs *needs, size_t size, size_t learns)
{
    if (size > t->out->meets) t->out->meets = size;
    if (needs->action != CULL_SELECT_BATCH) return;
    if (size > t->out->candidates) t->out->candidates = size;
    if (learns > t->out->learns) t->out->learns = learns;
}

/* A training batch of one example, where that size was not asked for. What is left of a subset is
 * a batch of its own, unless the recipe leaves it out; minibatches are trained as they were cut.
 * Kept rows have the statistics of all that were scored. */
static void note_single(const struct look *t, const cull_needs *needs)
{
    const cull_train_setup *s = t->setup;
    bool                    open = needs->budget == 0 || cull_sel_falls_short(t->selector);
    bool                    single = false;

    if (needs->action == CULL_TRAIN_ALL) return;
    if (needs->action == CULL_SELECT_BATCH)
        single = open && !s->score.reuse;
    else if (cull_sel_takes_minibatches(t->selector))
        single = needs->budget < t->scorer->pool->set->count &&
                 t->scorer->pool->set->count % s->batch == 1;
    else
        single = open && !s->drop_short;
    if (single) t->out->single = true;
}

/* The steps of an epoch, which stands for so many. */
static cull_status look_at_steps(const struct look *t, cull_sel_course *course, uint64_t stands_for)
{
    cull_status   status = CULL_OK;
    double        share = (double)stands_for;
    cull_sel_step step = {0};

    for (; cull_sel_course_peek(course, &step); cull_sel_course_pass(course, step.count)) {
        size_t learns = step.learns ? step.learns : t->setup->batch;

        TRY(check_scoring(t, &step.needs));
        note_single(t, &step.needs);
        note_sizes(t, &step.needs, step.count, learns);
        TRY(make_plans(t, &step.needs, step.count, learns));
        if (step.learns == 0) t->out->fixed = false;
        t->out->steps += share;
        t->out->trained += share * (double)step.learns;
    }
done:
    return status;
}

/* A scorer that never scores is a mistake. */
static cull_status check_used(const struct look *t)
{
    const cull_score_setup *score = &t->setup->score;
    const char             *name = cull_selector_name(t->selector);

    if (score->proxy && !t->out->scores)
        return cull_fail_about(CULL_BAD_OPTION, "score.proxy",
                               "score.proxy: %s has no scoring pass", name);
    if (score->pipelined && !t->out->scores_batches)
        return cull_fail_about(CULL_BAD_OPTION, "score.pipelined",
                               "score.pipelined: %s scores no batches", name);
    return CULL_OK;
}

static cull_status check_single(const struct look *t)
{
    const cull_model *model = t->learner->model;
    const char       *norm = NULL, *drop = "", *refit = "";

    if (!t->out->single) return CULL_OK;
    norm = cull_nn_lone_norm(model);
    if (!norm && t->scorer->params) norm = cull_nn_lone_norm(model = t->scorer->model);
    if (!norm) return CULL_OK;
    if (cull_sel_takes_minibatches(t->selector)) {
        drop = ", and another train.batch leaves no minibatch of one";
    } else {
        if (cull_sel_over_pool(t->selector))
            drop = ", and train.drop_short leaves such a batch out";
        if (cull_value_is(t->selector->values, "short", "accept"))
            refit = ", and select.short=refit keeps as many as asked for";
    }
    return cull_fail_about(
        CULL_BAD_OPTION, "select.strategy",
        "select.strategy: %s may train a batch of one example, in which batchnorm %s "
        "of %s sees one value a channel, which has no variance: larger images or "
        "another model have more%s%s",
        cull_selector_name(t->selector), norm, model->name, drop, refit);
}

/* An epoch, and the `stands_for` - 1 behind it. These have as many steps, but may begin with
 * something else: stale ones do. */
static cull_status look_at_epoch(const struct look *t, cull_sel_course *course, uint64_t epoch,
                                 uint64_t stands_for)
{
    cull_status status = CULL_OK;
    cull_needs  needs = {0};
    uint64_t    steps = course->step;

    cull_sel_course_epoch(course, epoch, &needs);
    TRY(check_scoring(t, &needs));
    if (course->count == 0) {
        t->out->fixed = false;
        course->count = t->scorer->pool->set->count;
    }
    TRY(look_at_steps(t, course, stands_for));
    steps = course->step - steps;
    for (uint64_t i = 1; i < stands_for; i++, course->step += steps) {
        cull_sel_course_epoch(course, epoch + i, &needs);
        TRY(check_scoring(t, &needs));
    }
done:
    return status;
}

cull_status cull_train_expect(const cull_train_setup *setup, cull_selector *selector,
                              cull_learner *learner, cull_scorer *scorer, uint64_t steps,
                              cull_expectation *out)
{
    cull_status     status = CULL_OK;
    struct look     look = {setup, selector, learner, scorer, out};
    double          questions = (double)out->epochs * (double)steps;
    uint64_t        stride = (uint64_t)ceil(questions / MOST_QUESTIONS);
    cull_sel_course course = {
        .selector = selector, .drop_short = setup->drop_short, .imagined = true};

    out->fixed = true;
    if (setup->score.reuse && cull_sel_carries(selector))
        FAIL_OPTION("score.pass",
                    "%s carries examples over from earlier batches, whose "
                    "scoring pass is gone",
                    cull_selector_name(selector));
    for (uint64_t epoch = 0; epoch < out->epochs; epoch += stride)
        TRY(look_at_epoch(&look, &course, epoch,
                          out->epochs - epoch < stride ? out->epochs - epoch : stride));
    TRY(check_used(&look));
    TRY(check_single(&look));
done:
    return status;
}
