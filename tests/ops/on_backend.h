/*
 * tests/ops/on_backend.h - the backends that these tests compare, and an operation on any of them
 * whose arguments lie on the host: they are uploaded, it is run, its results are downloaded. Where
 * the backend's memory is the host's, the arrays are taken as they are, on whatever border they
 * begin and with nothing behind them that a sanitizer would not see.
 */
#ifndef CULL_TESTS_OPS_ON_BACKEND_H
#define CULL_TESTS_OPS_ON_BACKEND_H

#include "support.h"

#include <string.h>

#include "backend/backend.h"
#include "tensor/tensor.h"

/* ref is right; cpu comes near it, with one thread as with three; far equals ref (tests/far). */
static cull_backend *ref, *one, *three, *far;

static inline int open_backends(void **state)
{
    (void)state;
    return cull_backend_open("ref", 1, &ref) || cull_backend_open("cpu", 1, &one) ||
           cull_backend_open("cpu", 3, &three) || cull_backend_open("far", 2, &far);
}

static inline int close_backends(void **state)
{
    (void)state;
    cull_backend_close(ref);
    cull_backend_close(one);
    cull_backend_close(three);
    cull_backend_close(far);
    return 0;
}

/* What of a case lies on a backend. */
enum { ON_ARRAYS = 128, ON_THINGS = 16 };
struct on {
    cull_backend *backend;
    struct {
        void  *there, *here; /* here: where it goes back to, or NULL */
        size_t bytes;
    } array[ON_ARRAYS];
    size_t                arrays;
    cull_tensor           tensor[ON_THINGS];
    size_t                tensors;
    cull_target           target;
    cull_omp_problem      omp[ON_THINGS];
    cull_facility_problem facility[ON_THINGS];
};

/* *pointer, to an array here, becomes that of a copy on the backend. NULL stays. */
static inline cull_status on_move(struct on *on, size_t bytes, void *pointer, bool back)
{
    cull_status status = CULL_OK;
    void       *here = NULL, *there = NULL;

    memcpy(&here, pointer, sizeof here);
    if (!here || cull_backend_on_host(on->backend)) return CULL_OK;
    assert_true(on->arrays < ON_ARRAYS);
    TRY(cull_backend_allocate(on->backend, bytes, 1, "a test", &there));
    on->array[on->arrays].there = there;
    on->array[on->arrays].here = back ? here : NULL;
    on->array[on->arrays++].bytes = bytes;
    TRY(cull_backend_upload(on->backend, there, here, bytes));
    memcpy(pointer, &there, sizeof there);
done:
    return status;
}

/* An array that is read; and one that is written, whose contents come back. */
static inline cull_status on_in(struct on *on, size_t bytes, void *pointer)
{
    return on_move(on, bytes, pointer, false);
}

static inline cull_status on_out(struct on *on, size_t bytes, void *pointer)
{
    return on_move(on, bytes, pointer, true);
}

/* Everything comes back and is released there. */
static inline cull_status on_back(struct on *on, cull_status status)
{
    for (size_t i = 0; i < on->arrays; i++) {
        if (on->array[i].here && status == CULL_OK)
            status = cull_backend_download(on->backend, on->array[i].here, on->array[i].there,
                                           on->array[i].bytes);
        cull_backend_release(on->backend, on->array[i].there);
    }
    on->arrays = 0;
    return status;
}

static inline cull_status on_matrix(struct on *on, cull_tensor *t)
{
    size_t rows = 0, columns = 0;

    if (!t->data) return CULL_OK;
    rows = (size_t)t->shape[0];
    columns = (size_t)t->shape[1];
    return on_in(on, ((rows - 1) * (size_t)t->stride[0] + columns) * cull_dtype_size(t->dtype),
                 &t->data);
}

static inline cull_status on_tensor(struct on *on, const cull_tensor **t)
{
    cull_tensor *copy = on->tensor + on->tensors;

    if (!*t) return CULL_OK;
    assert_true(on->tensors++ < ON_THINGS);
    *copy = **t;
    *t = copy;
    return on_matrix(on, copy);
}

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
    case CULL_OP_CHECK: return on_check(on, args);
    case CULL_OP_SCORE: return on_score(on, args);
    case CULL_OP_CHANCE: return on_chance(on, args);
    case CULL_OP_DRAW: return on_draw(on, args);
    case CULL_OP_SETTLE: return on_settle(on, args);
    case CULL_OP_RECORD: return on_record(on, args);
    case CULL_OP_RECALL: return on_recall(on, args);
    case CULL_OP_MATCH: return on_match(on, args);
    default: fail_msg("on_backend.h does not know what operations of kind %d are given", (int)kind);
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

/* An operation for so many rows, prepared and run `times` times. */
static inline cull_status on_run(cull_backend *backend, cull_op_kind kind, size_t rows, int times,
                                 const cull_op_args *args)
{
    cull_status  status = CULL_OK;
    struct on    on = {.backend = backend};
    cull_op_args there = *args;
    cull_op     *op = NULL;

    TRY(cull_op_ready(backend, &(cull_op_desc){.kind = kind, .rows = rows}, &op));
    TRY(on_args(&on, kind, &there));
    for (int i = 0; i < times; i++) TRY(cull_op_run(op, &there));
    TRY(cull_backend_wait(backend));
    on_report(&on, kind, args);
done:
    status = on_back(&on, status);
    cull_op_destroy(op);
    return status;
}

#endif
