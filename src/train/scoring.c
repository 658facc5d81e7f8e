/*
 * train/scoring.c - signals of a step's candidates: a forward pass where the selector asks for one,
 * and what is known of examples without.
 */
#include "base/alloc.h"
#include "train/train.h"

static cull_status forward(cull_trainer *t)
{
    const cull_score_setup *score = &t->setup->score;
    cull_status             status = CULL_OK;
    cull_statistics         stats =
        score->running || t->needs.running ? CULL_STATS_RUNNING : CULL_STATS_BATCH;
    cull_batch batch = t->seen;
    cull_plan *plan = NULL;

    batch.weight = NULL;
    TRY(cull_plans_get(t->scorer.plans, cull_score_mode(score), batch.count, t->setup->smoothing,
                       &plan));
    TRY(cull_scorer_inputs(t, plan, batch.count, &batch.inputs));
    TRY(cull_nn_score(plan, &batch, score->reuse ? CULL_STATS_UPDATE : stats,
                      t->needs.signals | CULL_SIGNAL_LOSS, &t->signals));
    t->kept = score->reuse ? plan : NULL;
    cull_scorer_count(t, batch.count);
done:
    return status;
}

/* Labels and irreducible losses are known by place. */
static cull_status look_up(cull_trainer *t)
{
    cull_scorer *s = &t->scorer;
    cull_status  status = CULL_OK;
    size_t       count = t->seen.count;

    if (!(t->needs.signals & (CULL_SIGNAL_LABEL | CULL_SIGNAL_IRREDUCIBLE))) return CULL_OK;
    if (count > s->room) {
        TRY(cull_base_grow(count, sizeof *s->label, "signals", &s->label));
        TRY(cull_base_grow(count, sizeof *s->known, "signals", &s->known));
        s->room = count;
    }
    for (size_t i = 0; i < count; i++) {
        s->label[i] = cull_data_labels(t->train)[t->seen.place[i]];
        s->known[i] = s->irreducible ? s->irreducible[t->seen.place[i]] : 0;
    }
    if (t->needs.signals & CULL_SIGNAL_LABEL)
        t->signals.label = cull_vector(s->label, CULL_I32, count);
    if (t->needs.signals & CULL_SIGNAL_IRREDUCIBLE)
        t->signals.irreducible = cull_vector(s->known, CULL_F64, count);
done:
    return status;
}

/* What was scored ahead, or now; then the next step's turn. */
static cull_status see(cull_trainer *t)
{
    cull_status status = CULL_OK;
    bool        found = false;

    if (t->pipeline) TRY(cull_pipeline_take(t, &found));
    if (!found) TRY(forward(t));
    if (t->pipeline) TRY(cull_pipeline_ahead(t));
done:
    return status;
}

cull_status cull_train_score(cull_trainer *t)
{
    cull_status status = CULL_OK;
    cull_target target = {0};

    if (t->needs.action != CULL_SELECT_BATCH) return CULL_OK;
    t->kept = NULL;
    t->signals = (cull_signals){.count = t->seen.count,
                                .place = t->seen.place,
                                .step = t->seen.step,
                                .epoch = t->seen.epoch};
    /* The target comes first and is copied: the batch's own signals are lent by its pass, which
     * may be one of the same plan. */
    if (t->needs.target) TRY(cull_train_target(t, &target));
    if (t->needs.signals & CULL_SIGNAL_FORWARD) TRY(see(t));
    t->signals.target = target;
    TRY(look_up(t));
    cull_meter_lap(&t->meter, CULL_PHASE_SCORE);
done:
    return status;
}
