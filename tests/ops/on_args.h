/* tests/ops/on_args.h - how large the arrays of each kind of operation are, and which are written.
 */
#ifndef CULL_TESTS_OPS_ON_ARGS_H
#define CULL_TESTS_OPS_ON_ARGS_H

#include "ops/on_choices.h"

static inline cull_status on_gram(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      n = (size_t)args->gram.h->shape[0];

    TRY(on_tensor(on, &args->gram.h));
    TRY(on_tensor(on, &args->gram.p));
    if (args->gram.target) {
        on->target = *args->gram.target;
        args->gram.target = &on->target;
        TRY(on_matrix(on, &on->target.h));
        TRY(on_matrix(on, &on->target.p));
    }
    TRY(on_out(on, n * n * sizeof(double), &args->gram.k));
    TRY(on_out(on, n * sizeof(double), &args->gram.t));
    TRY(on_out(on, sizeof(double), &args->gram.b2));
done:
    return status;
}

static inline cull_status on_omp(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;

    assert_true(args->omp.count <= ON_THINGS);
    for (size_t i = 0; i < args->omp.count; i++) {
        cull_omp_problem *x = on->omp + i;
        size_t            size = 0;

        *x = args->omp.problems[i];
        if (!x->k.data) size = (size_t)(x->h.shape[1] + 1);
        if (!x->k.data && x->column < 0) size *= (size_t)x->p.shape[1];
        TRY(on_matrix(on, &x->k));
        TRY(on_matrix(on, &x->h));
        TRY(on_matrix(on, &x->p));
        TRY(on_in(on, x->count * sizeof(double), &x->t));
        TRY(on_in(on, x->count * sizeof *x->row, &x->row));
        TRY(on_in(on, size * sizeof(double), &x->b));
        TRY(on_out(on, x->budget * sizeof *x->index, &x->index));
        TRY(on_out(on, x->budget * sizeof *x->weight, &x->weight));
    }
    args->omp.problems = on->omp;
done:
    return status;
}

static inline cull_status on_facility(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;

    assert_true(args->facility.count <= ON_THINGS);
    for (size_t i = 0; i < args->facility.count; i++) {
        cull_facility_problem *x = on->facility + i;

        *x = args->facility.problems[i];
        TRY(on_matrix(on, &x->similarity));
        TRY(on_matrix(on, &x->h));
        TRY(on_matrix(on, &x->p));
        TRY(on_in(on, x->count * sizeof *x->row, &x->row));
        TRY(on_out(on, x->budget * sizeof *x->index, &x->index));
        TRY(on_out(on, x->budget * sizeof *x->weight, &x->weight));
    }
    args->facility.problems = on->facility;
done:
    return status;
}

static inline cull_status on_gradient(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      size = (size_t)(args->gradient.p->shape[1] * (args->gradient.h->shape[1] + 1));

    TRY(on_tensor(on, &args->gradient.h));
    TRY(on_tensor(on, &args->gradient.p));
    TRY(on_in(on, args->gradient.rows * sizeof(uint32_t), &args->gradient.row));
    TRY(on_out(on, size * sizeof(double), &args->gradient.b));
done:
    return status;
}

static inline cull_status on_cancel(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      size = (size_t)(args->cancel.p->shape[1] * (args->cancel.h->shape[1] + 1));

    TRY(on_tensor(on, &args->cancel.h));
    TRY(on_tensor(on, &args->cancel.p));
    TRY(on_in(on, args->cancel.rows * sizeof(uint32_t), &args->cancel.row));
    TRY(on_out(on, size * sizeof(double), &args->cancel.b));
    TRY(on_out(on, sizeof *args->cancel.trouble, &args->cancel.trouble));
done:
    return status;
}

static inline cull_status on_gain(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      size = args->gain.classes * (size_t)(args->gain.h->shape[1] + 1);
    size_t      each = args->gain.p ? 1 : args->gain.classes;

    TRY(on_tensor(on, &args->gain.h));
    TRY(on_tensor(on, &args->gain.p));
    TRY(on_in(on, args->gain.rows * sizeof(uint32_t), &args->gain.row));
    TRY(on_in(on, size * sizeof(double), &args->gain.b));
    TRY(on_out(on, args->gain.rows * each * sizeof(double), &args->gain.out));
done:
    return status;
}

static inline cull_status on_gather(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;

    TRY(on_in(on, args->gather.held * args->gather.bytes, &args->gather.from));
    TRY(on_in(on, args->gather.rows * sizeof(uint32_t), &args->gather.index));
    TRY(on_out(on, args->gather.rows * args->gather.bytes, &args->gather.to));
done:
    return status;
}

static inline cull_status on_gather_all(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      rows = args->gather_all.rows, held = args->gather_all.held;

    assert_true(args->gather_all.count <= ON_ARRAYS);
    for (size_t i = 0; i < args->gather_all.count; i++) {
        cull_gathered *x = on->gathered + i;

        *x = args->gather_all.list[i];
        TRY(on_in(on, held * x->bytes, &x->from));
        TRY(on_out(on, rows * x->bytes, &x->to));
    }
    args->gather_all.list = on->gathered;
    TRY(on_in(on, rows * sizeof(uint32_t), &args->gather_all.index));
done:
    return status;
}

/* How many there are where these are some of them. */
static inline size_t on_held(const uint32_t *index, size_t rows)
{
    size_t held = 0;

    for (size_t i = 0; i < rows; i++)
        if (index[i] >= held) held = (size_t)index[i] + 1;
    return held;
}

/* Of augment: what of the raw rows and of those that are made already is read. */
static inline size_t on_raw(const cull_augment_call *call)
{
    size_t places = on_held(call->places, call->count);

    if (call->packed) return call->count;
    return call->row ? on_held(call->row, places) : places;
}

static inline size_t on_made(const uint32_t *index, size_t count)
{
    size_t held = 0;

    for (size_t i = 0; i < count; i++)
        if (index[i] != CULL_NO_ROW && index[i] >= held) held = (size_t)index[i] + 1;
    return held;
}

static inline cull_status on_augment(struct on *on, cull_op_args *args)
{
    cull_status        status = CULL_OK;
    cull_augment_desc *a = &args->augment.desc;
    cull_augment_call *call = &args->augment.call;
    size_t             size = a->channels * a->height * a->width, count = call->count;
    size_t             bytes = cull_augment_numbers(a, call->length) * cull_dtype_size(a->to);
    size_t             raw = on_raw(call) * size * cull_dtype_size(a->from);
    size_t             made = args->augment.held ? on_made(args->augment.index, count) : 0;

    TRY(on_in(on, on_held(call->places, count) * sizeof *call->row, &call->row));
    TRY(on_in(on, a->channels * sizeof(double), &a->mean));
    TRY(on_in(on, a->channels * sizeof(double), &a->deviation));
    TRY(on_in(on, count * sizeof(uint32_t), &call->places));
    TRY(on_in(on, raw, &call->raw));
    TRY(on_in(on, sizeof(cull_moment), &args->augment.now));
    TRY(on_in(on, made * bytes, &args->augment.held));
    TRY(on_in(on, count * sizeof(uint32_t), &args->augment.index));
    TRY(on_out(on, count * bytes, &call->out));
done:
    return status;
}

static inline cull_status on_resize(struct on *on, cull_op_args *args)
{
    cull_status        status = CULL_OK;
    const cull_resize *how = &args->resize.how;
    size_t             each = args->resize.count * how->channels * sizeof(float);

    TRY(on_in(on, each * how->height * how->width, &args->resize.from));
    TRY(on_out(on, each * how->to_height * how->to_width, &args->resize.to));
done:
    return status;
}

static inline cull_status on_kept(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      rows = args->kept.rows, held = on_held(args->kept.index, rows);
    size_t      bytes = args->kept.classes * cull_dtype_size(args->kept.dtype);

    TRY(on_in(on, rows * sizeof(uint32_t), &args->kept.index));
    TRY(on_in(on, rows * sizeof(double), &args->kept.chosen));
    TRY(on_in(on, held * bytes, &args->kept.from_p));
    TRY(on_in(on, held * sizeof(double), &args->kept.from_loss));
    TRY(on_in(on, held * args->kept.target_bytes, &args->kept.from_target));
    TRY(on_in(on, held * sizeof(uint32_t), &args->kept.from_place));
    TRY(on_out(on, rows * bytes, &args->kept.p));
    TRY(on_out(on, rows * bytes, &args->kept.gradient));
    TRY(on_out(on, rows * sizeof(double), &args->kept.loss));
    TRY(on_out(on, rows * sizeof(double), &args->kept.share));
    TRY(on_out(on, rows * args->kept.target_bytes, &args->kept.target));
    TRY(on_out(on, rows * sizeof(uint32_t), &args->kept.place));
done:
    return status;
}

static inline cull_status on_update(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      bytes = args->update.count * cull_dtype_size(args->update.dtype);
    size_t      chunks = (args->update.count + CULL_OPTIM_CHUNK - 1) / CULL_OPTIM_CHUNK;

    TRY(on_out(on, bytes, &args->update.value));
    TRY(on_out(on, bytes, &args->update.gradient));
    TRY(on_out(on, args->update.count * sizeof(uint16_t), &args->update.narrow));
    for (int i = 0; i < CULL_OPTIM_BUFFERS; i++) TRY(on_out(on, bytes, &args->update.buffer[i]));
    TRY(on_in(on, args->update.ranges * sizeof(cull_optim_range), &args->update.range));
    TRY(on_out(on, chunks * sizeof(double), &args->update.partial));
    TRY(on_out(on, sizeof(double), &args->update.norm));
    TRY(on_in(on, sizeof(cull_moment), &args->update.now));
    TRY(on_out(on, sizeof(cull_trouble), &args->update.trouble));
done:
    return status;
}

static inline cull_status on_summary(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      rows = args->summary.rows;

    TRY(on_in(on, rows * sizeof(double), &args->summary.loss));
    TRY(on_in(on, rows * args->summary.classes * cull_dtype_size(args->summary.dtype),
              &args->summary.p));
    TRY(on_in(
        on,
        rows * cull_loss_target(args->summary.of.kind, args->summary.classes, args->summary.dtype),
        &args->summary.target));
    TRY(on_in(on, rows * sizeof(uint32_t), &args->summary.place));
    TRY(on_out(on, sizeof(cull_seen), &args->summary.out));
    TRY(on_in(on, sizeof(cull_moment), &args->summary.now));
    TRY(on_out(on, sizeof(cull_trouble), &args->summary.trouble));
    TRY(on_in(on, sizeof(cull_outcome), &args->summary.became));
    TRY(on_out(on, sizeof(cull_outcome), &args->summary.outcomes));
done:
    return status;
}

static inline cull_status on_tally(struct on *on, cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      rows = args->tally.rows, places = on_held(args->tally.place, rows);

    TRY(on_in(on, rows * sizeof(uint32_t), &args->tally.place));
    TRY(on_in(on, rows * sizeof(double), &args->tally.loss));
    TRY(on_in(on, rows * sizeof(double), &args->tally.weight));
    TRY(on_in(on, sizeof(cull_moment), &args->tally.now));
    TRY(on_out(on, places * sizeof(int32_t), &args->tally.count));
    TRY(on_out(on, places * sizeof(int32_t), &args->tally.first));
    TRY(on_out(on, places * sizeof(double), &args->tally.weights));
    TRY(on_out(on, places * sizeof(float), &args->tally.latest));
done:
    return status;
}

/* Arguments with all their arrays on the backend, good until on_back. */
static inline cull_status on_args(struct on *on, cull_op_kind kind, cull_op_args *args)
{
    cull_status status = CULL_OK;

    switch (kind) {
    case CULL_OP_RANK:
        TRY(on_in(on, args->rank.rows * sizeof(double), &args->rank.x));
        TRY(on_out(on, args->rank.rows * sizeof(double), &args->rank.percentile));
        break;
    case CULL_OP_KEYS:
        TRY(on_in(on, args->keys.rows * sizeof(uint32_t), &args->keys.place));
        TRY(on_in(on, args->keys.rows * sizeof(double), &args->keys.weight));
        TRY(on_out(on, args->keys.rows * sizeof(double), &args->keys.out));
        break;
    case CULL_OP_TOP:
        TRY(on_in(on, args->top.rows * sizeof(double), &args->top.x));
        TRY(on_out(on, args->top.m * sizeof(uint32_t), &args->top.index));
        break;
    case CULL_OP_GRAM: return on_gram(on, args);
    case CULL_OP_OMP:
    case CULL_OP_REFIT: return on_omp(on, args);
    case CULL_OP_FACILITY: return on_facility(on, args);
    case CULL_OP_GRADIENT: return on_gradient(on, args);
    case CULL_OP_GAIN: return on_gain(on, args);
    case CULL_OP_CANCEL: return on_cancel(on, args);
    case CULL_OP_AUGMENT: return on_augment(on, args);
    case CULL_OP_RESIZE: return on_resize(on, args);
    case CULL_OP_GATHER: return on_gather(on, args);
    case CULL_OP_GATHER_ALL: return on_gather_all(on, args);
    case CULL_OP_KEPT: return on_kept(on, args);
    case CULL_OP_UPDATE: return on_update(on, args);
    case CULL_OP_SUMMARY: return on_summary(on, args);
    case CULL_OP_TALLY: return on_tally(on, args);
    default: return on_choice(on, kind, args);
    }
done:
    return status;
}

/* What solvers report beside arrays. */
static inline void on_report(const struct on *on, cull_op_kind kind, const cull_op_args *args)
{
    for (size_t i = 0; i < args->facility.count && kind == CULL_OP_FACILITY; i++)
        args->facility.problems[i].value = on->facility[i].value;
    if (kind != CULL_OP_OMP && kind != CULL_OP_REFIT) return;
    for (size_t i = 0; i < args->omp.count; i++) {
        args->omp.problems[i].picked = on->omp[i].picked;
        args->omp.problems[i].residual = on->omp[i].residual;
        args->omp.problems[i].ridge = on->omp[i].ridge;
        args->omp.problems[i].stop = on->omp[i].stop;
    }
}

#endif
