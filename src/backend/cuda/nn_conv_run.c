/*
 * backend/cuda/nn_conv_run.c - convolutions, each direction in any of its ways: a kernel of our
 * own, or a plan of cuDNN with what goes around it.
 */
#include "backend/cuda/nn_conv_ways.h"
#include "backend/cuda/nn_rows.h"

/*
 * ---- scratch memory ----
 *
 * A plan's own, weights that had to be moved to a border, and a result that has to be widened or
 * added; or a kernel's own; and last the parts of a bias's sums.
 */
static size_t result_bytes(const cull_conv_op *op, cull_direction direction)
{
    size_t size = cull_dtype_size(op->types.values);

    return direction == CULL_DATA ? cull_conv_x(&op->shape) * size : cull_conv_w(&op->shape) * 4;
}

static size_t sum_rows(const cull_conv_op *op)
{
    return cull_conv_y(&op->shape) / (size_t)op->shape.o;
}

static size_t own_bytes(const cull_conv_op *op, cull_direction direction, const cull_nn_way *way)
{
    if (direction != CULL_WEIGHTS || way->kind != CULL_WAY_OWN) return 0;
    return way->number == CULL_OWN_DEPTH
               ? cull_depth_room(&op->shape, op->types.values, op->processors)
               : cull_plain_room(&op->shape, op->types, op->processors);
}

size_t cull_conv_room(const cull_conv_op *op, cull_direction direction, const cull_nn_way *way)
{
    size_t bytes = cull_conv_border(own_bytes(op, direction, way));

    if (way->kind == CULL_WAY_LIBRARY) {
        size_t plan = cull_plan_room(way->plan);
        size_t adding = way->adding ? cull_plan_room(way->adding) : 0;

        bytes = cull_conv_border(plan > adding ? plan : adding) +
                cull_conv_border(cull_conv_w(&op->shape) * 4);
        if (direction == CULL_WEIGHTS || (direction == CULL_DATA && !way->adding))
            bytes += cull_conv_border(result_bytes(op, direction));
    }
    if (direction == CULL_WEIGHTS && op->base.desc.bias)
        bytes += cull_rows_sum_room(sum_rows(op), (size_t)op->shape.o);
    return bytes;
}

struct places {
    char *weights, *result;
};

static struct places find_places(const cull_conv_op *op, const cull_nn_way *way, char *room)
{
    size_t        plan = way->plan ? cull_plan_room(way->plan) : 0;
    size_t        adding = way->adding ? cull_plan_room(way->adding) : 0;
    struct places places = {.weights = room + cull_conv_border(plan > adding ? plan : adding)};

    places.result = places.weights + cull_conv_border(cull_conv_w(&op->shape) * 4);
    return places;
}

/* ---- running ---- */
static const void *weights_of(const cull_conv_op *op, const cull_layer_args *args)
{
    return op->types.values == CULL_BF16 ? args->narrow : args->w;
}

static cull_status check_borders(const void *x, const void *y)
{
    if (cull_conv_aligned(x) && cull_conv_aligned(y)) return CULL_OK;
    return cull_fail(CULL_BAD_ARGUMENT, "values of convolutions begin on borders of 16 bytes");
}

/* Weights as libraries read them: on a border. */
static cull_status settle_weights(const cull_conv_op *op, cudaStream_t stream, const void *w,
                                  char *room, void **out)
{
    cull_status status = CULL_OK;
    size_t      bytes = cull_conv_w(&op->shape) * cull_dtype_size(op->types.values);

    *out = (void *)(uintptr_t)w;
    if (cull_conv_aligned(w)) return CULL_OK;
    CUDA(cudaMemcpyAsync(room, w, bytes, cudaMemcpyDeviceToDevice, stream));
    *out = room;
done:
    return status;
}

static cull_status run_forward(const cull_conv_op *op, const cull_nn_way *way, cudaStream_t stream,
                               const cull_layer_args *args, void *room)
{
    cull_status            status = CULL_OK;
    const cull_conv_shape *s = &op->shape;
    const void            *w = weights_of(op, args), *b = op->base.desc.bias ? args->b : NULL;
    void                  *moved = NULL, *x = (void *)(uintptr_t)args->x;

    if (way->kind == CULL_WAY_OWN) {
        if (way->number == CULL_OWN_DEPTH)
            CUDA(cull_depth_forward(stream, s, op->types.values, x, w, b, args->y));
        else
            CUDA(cull_plain_forward(stream, s, op->types, x, w, b, args->y));
        goto done;
    }
    TRY(check_borders(x, args->y));
    TRY(settle_weights(op, stream, w, find_places(op, way, room).weights, &moved));
    TRY(cull_plan_conv(way->plan, stream, x, moved, args->y, room));
    if (b) CUDA(cull_rows_bias(stream, op->types.values, sum_rows(op), (size_t)s->o, args->y, b));
done:
    return status;
}

static cull_status run_data(const cull_conv_op *op, const cull_nn_way *way, cudaStream_t stream,
                            const cull_layer_args *args, void *room)
{
    cull_status            status = CULL_OK;
    const cull_conv_shape *s = &op->shape;
    cull_dtype             dtype = op->types.values;
    struct places          at = find_places(op, way, room);
    const void            *w = weights_of(op, args);
    void                  *moved = NULL, *dy = (void *)(uintptr_t)args->dy;

    if (way->kind == CULL_WAY_OWN) {
        if (way->number == CULL_OWN_DEPTH)
            CUDA(cull_depth_data(stream, s, dtype, dy, w, args->dx, args->accumulate));
        else
            CUDA(cull_plain_data(stream, s, op->types, dy, w, args->dx, args->accumulate));
        goto done;
    }
    TRY(check_borders(args->dx, dy));
    TRY(settle_weights(op, stream, w, at.weights, &moved));
    if (!args->accumulate) {
        TRY(cull_plan_conv(way->plan, stream, args->dx, moved, dy, room));
    } else if (way->adding) {
        TRY(cull_plan_conv(way->adding, stream, args->dx, moved, dy, room));
    } else {
        TRY(cull_plan_conv(way->plan, stream, at.result, moved, dy, room));
        CUDA(cull_rows_convert(stream, cull_conv_x(s), dtype, at.result, dtype, args->dx, true));
    }
done:
    return status;
}

static cull_status run_dw(const cull_conv_op *op, const cull_nn_way *way, cudaStream_t stream,
                          const cull_layer_args *args, void *room)
{
    cull_status            status = CULL_OK;
    const cull_conv_shape *s = &op->shape;
    cull_dtype             dtype = op->types.values;
    struct places          at = find_places(op, way, room);
    void                  *x = (void *)(uintptr_t)args->x, *dy = (void *)(uintptr_t)args->dy;
    size_t                 count = cull_conv_w(s);

    if (way->kind == CULL_WAY_OWN) {
        if (way->number == CULL_OWN_DEPTH)
            CUDA(cull_depth_weights(stream, s, dtype, op->processors, x, dy, args->dw, room));
        else
            CUDA(cull_plain_weights(stream, s, op->types, op->processors, x, dy, args->dw, room));
        goto done;
    }
    TRY(check_borders(x, dy));
    if (way->number == CULL_PLAN_NARROW) {
        TRY(cull_plan_conv(way->plan, stream, x, at.result, dy, room));
        CUDA(cull_rows_convert(stream, count, CULL_BF16, at.result, CULL_F32, args->dw, false));
    } else if (cull_conv_aligned(args->dw)) {
        TRY(cull_plan_conv(way->plan, stream, x, args->dw, dy, room));
    } else {
        TRY(cull_plan_conv(way->plan, stream, x, at.result, dy, room));
        CUDA(cudaMemcpyAsync(args->dw, at.result, count * 4, cudaMemcpyDeviceToDevice, stream));
    }
done:
    return status;
}

static cull_status run_weights(const cull_conv_op *op, const cull_nn_way *way, cudaStream_t stream,
                               const cull_layer_args *args, void *room)
{
    cull_status status = CULL_OK;
    size_t      outs = (size_t)op->shape.o, rows = sum_rows(op);
    char       *end = (char *)room + cull_conv_room(op, CULL_WEIGHTS, way);

    TRY(run_dw(op, way, stream, args, room));
    if (op->base.desc.bias)
        CUDA(cull_rows_sum(stream, op->types.values, rows, outs, args->dy, args->db,
                           end - cull_rows_sum_room(rows, outs)));
done:
    return status;
}

cull_status cull_conv_run(const cull_conv_op *op, cull_direction direction, const cull_nn_way *way,
                          cudaStream_t stream, const cull_layer_args *args, void *room)
{
    switch (direction) {
    case CULL_FORWARD: return run_forward(op, way, stream, args, room);
    case CULL_DATA: return run_data(op, way, stream, args, room);
    default: return run_weights(op, way, stream, args, room);
    }
}
