/* backend/cuda/gradient.c - gradient, gain and cancel as operations: their arguments, and scratch.
 */
#include "backend/cuda/gradient.h"

#include "backend/cuda/cuda.h"
#include "base/alloc.h"

struct gradient {
    cull_op base;
    double *scratch;
    size_t  room;
};

static void destroy(cull_op *op)
{
    struct gradient *gradient = (struct gradient *)op;

    cull_backend_release(op->backend, gradient->scratch);
    cull_base_free(gradient);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status      status = CULL_OK;
    struct gradient *gradient = NULL;

    (void)backend;
    (void)desc;
    TRY(cull_base_alloc(1, sizeof *gradient, "an operation", &gradient));
    *out = &gradient->base;
done:
    return status;
}

/* Widths and classes are not known before. */
static cull_status make_room(struct gradient *gradient, size_t count)
{
    cull_status status = CULL_OK;
    double     *fresh = NULL;

    if (count <= gradient->room) return CULL_OK;
    TRY(cull_backend_allocate(gradient->base.backend, count, sizeof *fresh, "a gradient", &fresh));
    cull_backend_release(gradient->base.backend, gradient->scratch);
    gradient->scratch = fresh;
    gradient->room = count;
done:
    return status;
}

static cull_status run_gradient(cull_op *op, const cull_op_args *args)
{
    cull_status      status = CULL_OK;
    struct gradient *gradient = (struct gradient *)op;
    cull_cuda       *cuda = NULL;
    size_t           rows = args->gradient.rows, classes = (size_t)args->gradient.p->shape[1];
    size_t           width = (size_t)args->gradient.h->shape[1];
    size_t           parts = cull_cuda_gradient_parts(rows, classes, width);

    TRY(cull_cuda_enter(op->backend, &cuda));
    if (parts > 1) TRY(make_room(gradient, parts * classes * (width + 1)));
    CUDA(cull_cuda_gradient_run(cuda->stream, cull_cuda_rows_of(args->gradient.h),
                                cull_cuda_rows_of(args->gradient.p), args->gradient.row, rows,
                                gradient->scratch, args->gradient.b));
done:
    return status;
}

static cull_status run_gain(cull_op *op, const cull_op_args *args)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(op->backend, &cuda));
    if (args->gain.rows == 0) return CULL_OK;
    CUDA(cull_cuda_gain_run(cuda->stream, cull_cuda_rows_of(args->gain.h),
                            cull_cuda_rows_of(args->gain.p), args->gain.row, args->gain.rows,
                            args->gain.classes, args->gain.b, args->gain.out));
done:
    return status;
}

static cull_status run_cancel(cull_op *op, const cull_op_args *args)
{
    cull_status      status = CULL_OK;
    struct gradient *gradient = (struct gradient *)op;
    cull_cuda       *cuda = NULL;

    TRY(cull_cuda_enter(op->backend, &cuda));
    TRY(make_room(gradient, args->cancel.rows));
    CUDA(cull_cuda_cancel_run(cuda->stream, cull_cuda_rows_of(args->cancel.h),
                              cull_cuda_rows_of(args->cancel.p), args->cancel.row,
                              args->cancel.rows, gradient->scratch, args->cancel.b,
                              args->cancel.which, args->cancel.trouble));
done:
    return status;
}

const cull_op_class cull_cuda_gradient = {create, run_gradient, destroy};
const cull_op_class cull_cuda_gain = {create, run_gain, destroy};
const cull_op_class cull_cuda_cancel = {create, run_cancel, destroy};
