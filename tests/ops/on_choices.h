/* tests/ops/on_choices.h - arguments of the operations of selection with their arrays on a backend.
 */
#ifndef CULL_TESTS_OPS_ON_CHOICES_H
#define CULL_TESTS_OPS_ON_CHOICES_H

#include "ops/on_arrays.h"

/* A view that arguments hold themselves. */
static inline cull_status on_view(struct on *on, cull_tensor *t)
{
    size_t size = 0;

    if (!t->data || t->dims == 2) return on_matrix(on, t);
    size = cull_dtype_size(t->dtype);
    return on_in(on, ((size_t)(t->shape[0] - 1) * (size_t)t->stride[0] + 1) * size, &t->data);
}

static inline cull_status on_ledger(struct on *on, cull_ledger *l)
{
    cull_status status = CULL_OK;

    TRY(on_out(on, l->pool * sizeof *l->known, &l->known));
    TRY(on_out(on, l->pool * sizeof *l->value, &l->value));
    TRY(on_out(on, l->pool * sizeof *l->slope, &l->slope));
    TRY(on_out(on, l->pool * sizeof *l->epoch, &l->epoch));
done:
    return status;
}

static inline cull_status on_check(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      n = args->check.rows;

    TRY(on_in(on, n * sizeof(uint32_t), &args->check.place));
    TRY(on_view(on, &args->check.x));
    TRY(on_in(on, n, &args->check.unseen));
    TRY(on_in(on, sizeof(cull_moment), &args->check.now));
    TRY(on_out(on, sizeof(cull_trouble), &args->check.trouble));
done:
    return status;
}

static inline cull_status on_score(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      n = args->score.rows;

    TRY(on_view(on, &args->score.loss));
    TRY(on_view(on, &args->score.less));
    TRY(on_in(on, n, &args->score.unseen));
    TRY(on_in(on, n * sizeof(uint32_t), &args->score.place));
    TRY(on_in(on, sizeof(uint64_t), &args->score.now));
    TRY(on_out(on, n * sizeof(double), &args->score.out));
done:
    return status;
}

static inline cull_status on_chance(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      n = args->chance.rows;

    TRY(on_in(on, n * sizeof(uint32_t), &args->chance.place));
    TRY(on_in(on, n * sizeof(double), &args->chance.percentile));
    TRY(on_in(on, args->chance.pool * sizeof(double), &args->chance.standing));
    TRY(on_in(on, args->chance.pool, &args->chance.fresh));
    TRY(on_out(on, n * sizeof(double), &args->chance.weight));
done:
    return status;
}

static inline cull_status on_draw(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      n = args->draw.rows;

    TRY(on_in(on, n * sizeof(uint32_t), &args->draw.place));
    TRY(on_in(on, n * sizeof(double), &args->draw.weight));
    TRY(on_in(on, sizeof(uint64_t), &args->draw.now));
    TRY(on_out(on, args->draw.m * sizeof(uint32_t), &args->draw.index));
done:
    return status;
}

static inline cull_status on_settle(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      n = args->settle.count * sizeof(uint32_t);

    TRY(on_in(on, args->settle.rows * sizeof(uint32_t), &args->settle.from));
    TRY(on_out(on, n, &args->settle.index));
    TRY(on_out(on, n, &args->settle.place));
    TRY(on_out(on, n, &args->settle.group));
    TRY(on_out(on, 2 * n, &args->settle.weight));
done:
    return status;
}

static inline cull_status on_record(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;

    TRY(on_in(on, args->record.rows * sizeof(uint32_t), &args->record.place));
    TRY(on_view(on, &args->record.loss));
    TRY(on_in(on, args->record.rows, &args->record.unseen));
    TRY(on_ledger(on, &args->record.ledger));
    TRY(on_in(on, sizeof(uint64_t), &args->record.now));
    TRY(on_in(on, sizeof(cull_trouble), &args->record.trouble));
done:
    return status;
}

static inline cull_status on_recall(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      n = args->recall.rows;

    TRY(on_in(on, n * sizeof(uint32_t), &args->recall.place));
    TRY(on_ledger(on, &args->recall.ledger));
    TRY(on_in(on, sizeof(uint64_t), &args->recall.now));
    TRY(on_out(on, n * sizeof(double), &args->recall.loss));
    TRY(on_out(on, n, &args->recall.unseen));
done:
    return status;
}

static inline cull_status on_sample(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      n = args->sample.rows;

    TRY(on_view(on, &args->sample.loss));
    TRY(on_view(on, &args->sample.h));
    TRY(on_view(on, &args->sample.p));
    TRY(on_in(on, n, &args->sample.unseen));
    TRY(on_in(on, n * sizeof(uint32_t), &args->sample.place));
    TRY(on_in(on, sizeof(uint64_t), &args->sample.now));
    TRY(on_out(on, args->sample.m * sizeof(uint32_t), &args->sample.index));
    TRY(on_out(on, args->sample.m * sizeof(double), &args->sample.weight));
    TRY(on_out(on, sizeof(cull_sampled), &args->sample.sampled));
    TRY(on_in(on, sizeof(cull_moment), &args->sample.moment));
    TRY(on_out(on, sizeof(cull_trouble), &args->sample.trouble));
done:
    return status;
}

static inline cull_status on_match(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;

    TRY(on_view(on, &args->match.h));
    TRY(on_view(on, &args->match.p));
    TRY(on_view(on, &args->match.target_h));
    TRY(on_view(on, &args->match.target_p));
    TRY(on_in(on, args->match.rows * sizeof(uint32_t), &args->match.place));
    TRY(on_in(on, sizeof(cull_moment), &args->match.now));
    TRY(on_out(on, args->match.budget * sizeof(uint32_t), &args->match.index));
    TRY(on_out(on, args->match.budget * sizeof(double), &args->match.weight));
    TRY(on_out(on, sizeof(cull_outcome), &args->match.outcome));
    TRY(on_out(on, sizeof(cull_trouble), &args->match.trouble));
done:
    return status;
}

static inline cull_status on_widen(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      n = args->widen.count;

    for (size_t i = 0; i < 3; i++) {
        TRY(on_in(on, n * sizeof(uint32_t), &args->widen.index[i]));
        TRY(on_out(on, n * sizeof(int64_t), &args->widen.to[i]));
    }
    TRY(on_in(on, n * sizeof(double), &args->widen.weight));
    TRY(on_out(on, n * cull_dtype_size(args->widen.dtype), &args->widen.to_weight));
done:
    return status;
}

static inline cull_status on_narrow(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;

    TRY(on_view(on, &args->narrow.from));
    TRY(on_out(on, (size_t)args->narrow.from.shape[0] * sizeof(uint32_t), &args->narrow.to));
done:
    return status;
}

static inline cull_status on_choice(struct on *on, cull_op_kind kind, cull_op_args *args)
{
    switch (kind) {
    case CULL_OP_CHECK: return on_check(on, args);
    case CULL_OP_SCORE: return on_score(on, args);
    case CULL_OP_CHANCE: return on_chance(on, args);
    case CULL_OP_DRAW: return on_draw(on, args);
    case CULL_OP_SETTLE: return on_settle(on, args);
    case CULL_OP_RECORD: return on_record(on, args);
    case CULL_OP_RECALL: return on_recall(on, args);
    case CULL_OP_SAMPLE: return on_sample(on, args);
    case CULL_OP_MATCH: return on_match(on, args);
    case CULL_OP_WIDEN: return on_widen(on, args);
    case CULL_OP_NARROW: return on_narrow(on, args);
    default: fail_msg("nobody knows what operations of kind %d are given", (int)kind);
    }
    return CULL_OK;
}

#endif
