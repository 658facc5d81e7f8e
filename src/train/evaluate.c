/* train/evaluate.c - how well the network does on a set, by its running averages. */
#include <math.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "train/sweep.h"
#include "train/train.h"

struct work {
    cull_learner *learner;
    float *score; /* (count, labels) logits of several labels, on the host; NULL: not needed */
    size_t at;
};

static cull_status score(void *context, const cull_batch *batch)
{
    struct work *w = context;
    cull_status  status = CULL_OK;
    cull_plan   *plan = NULL;
    cull_signals seen = {0};

    TRY(cull_learner_plan(w->learner, CULL_PLAN_SCORE, batch->count, batch->length, &plan));
    TRY(cull_nn_score(plan, batch, CULL_STATS_RUNNING, CULL_SIGNAL_LOSS | CULL_SIGNAL_P, &seen));
    TRY(cull_kit_run(&w->learner->judging, CULL_OP_SUMMARY, 0,
                     &(cull_op_args){.summary = {.rows = seen.count,
                                                 .classes = w->learner->model->classes,
                                                 .loss = seen.loss.data,
                                                 .p = seen.p.data,
                                                 .dtype = seen.p.dtype,
                                                 .target = cull_nn_plan_target(plan),
                                                 .place = seen.place,
                                                 .of = cull_nn_plan_loss(plan),
                                                 .add = true,
                                                 .out = w->learner->judged}}));
    if (w->score) {
        size_t labels = w->learner->model->classes;

        TRY(cull_backend_download(w->learner->backend, w->score + w->at * labels,
                                  cull_nn_plan_logits(plan), seen.count * labels * sizeof(float)));
    }
    w->at += seen.count;
done:
    return status;
}

cull_status cull_learner_evaluate(cull_learner *learner, cull_resident *set, cull_data_form form,
                                  const char *name, cull_evaluation *out)
{
    cull_status    status = CULL_OK;
    cull_backend  *b = learner->backend;
    double         start = cull_base_seconds();
    struct work    w = {.learner = learner};
    cull_seen      sums = {0};
    cull_loss_kind kind = learner->setup->loss.kind;
    cull_sweep     sweep = {.resident = set,
                            .form = form,
                            .batch = cull_train_evaluate_batch(learner->setup, b),
                            .workers = learner->setup->workers,
                            .sorted = kind != CULL_LOSS_BINARY,
                            .rows = &learner->swept};

    if (!learner->judged)
        TRY(cull_kit_allocate(&learner->judging, 1, sizeof *learner->judged, "an evaluation",
                              &learner->judged));
    TRY(cull_backend_fill(b, learner->judged, 0, sizeof *learner->judged));
    if (kind == CULL_LOSS_BINARY)
        TRY(cull_base_alloc(set->set->count, learner->model->classes * sizeof *w.score,
                            "an evaluation", &w.score));
    TRY(cull_sweep_run(&sweep, score, &w));
    TRY(cull_backend_download(b, &sums, learner->judged, sizeof sums));
    if (!isfinite(sums.loss)) FAIL(CULL_NOT_FINITE, "the loss on the %s set is not finite", name);
    *out = (cull_evaluation){
        .count = set->set->count,
        .accuracy = cull_train_judged(kind, &sums, cull_train_variance(kind, set->set)),
        .loss = sums.loss / (double)sums.count,
        .seconds = cull_base_seconds() - start,
        .metric = cull_train_yardstick(kind)->key};
    if (w.score) TRY(cull_train_precision(set->set, w.score, &out->accuracy));
done:
    cull_base_free(w.score);
    return status;
}
