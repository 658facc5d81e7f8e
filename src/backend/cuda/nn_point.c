/* backend/cuda/nn_point.c - layers that look at one element at a time: activations, and sums. */
#include "backend/cuda/nn_point.h"

#include "backend/cuda/nn_layer.h"

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    (void)backend;
    return cull_cuda_layer_new(desc, sizeof **out, out);
}

static size_t count_of(const cull_layer_op *op)
{
    return (size_t)(op->desc.x.n * cull_image_row(&op->desc.x));
}

/* Elements a thread moves at once, where all of these begin. */
static int width_of(const cull_layer_op *op, const void *a, const void *b, const void *c)
{
    return cull_cuda_aligned(a, b, c, NULL) ? cull_cuda_width(op->desc.dtype, 0, 0, 0) : 1;
}

static cull_status activate(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_point_activate(cuda->stream, op->desc.dtype,
                                  width_of(op, args->x, args->y, NULL), op->desc.activation,
                                  count_of(op), args->x, args->y));
done:
    return status;
}

/* gelu reads x, the others y; the other one may be absent. */
static cull_status activate_back(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;
    const void *seen = cull_activation_reads_x(op->desc.activation) ? args->x : args->y;

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_point_activate_back(cuda->stream, op->desc.dtype,
                                       width_of(op, seen, args->dy, args->dx), op->desc.activation,
                                       count_of(op), seen, args->dy, args->dx, args->accumulate));
done:
    return status;
}

const cull_layer_class cull_cuda_activate = {create, activate, activate_back, cull_cuda_layer_free};

static cull_status add(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_point_add(cuda->stream, op->desc.dtype, width_of(op, args->x, args->x2, args->y),
                             count_of(op), args->x, args->x2, args->y));
done:
    return status;
}

static cull_status add_back(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_point_share(cuda->stream, op->desc.dtype,
                               width_of(op, args->dy, args->dx, args->dx2), count_of(op), args->dy,
                               args->dx, args->accumulate, args->dx2, args->accumulate2));
done:
    return status;
}

const cull_layer_class cull_cuda_add = {create, add, add_back, cull_cuda_layer_free};
