/*
 * backend/cuda/nn_dense_run.c - dense layers, each direction in any of its ways.
 *
 * Rows one after the other are to cuBLASLt the columns of a matrix, so what it computes is y^T =
 * W x^T, dx^T = W^T dy^T and dW^T = x^T dy. Where values are bfloat16 and the logits float32, dy is
 * narrowed first for the products of the library.
 */
#include "backend/cuda/nn_dense_ways.h"
#include "backend/cuda/nn_rows.h"

/* ---- scratch memory: a plan's own; W, b or dW on a border; dy narrowed; sums of a bias ---- */
struct places {
    char  *weights, *bias, *narrow, *sums;
    size_t bytes;
};

static struct places find_places(const cull_dense_op *op, cull_direction direction,
                                 const cull_nn_way *way, char *room)
{
    size_t        outs = (size_t)op->shape.out, rows = (size_t)op->shape.n;
    bool          library = way->kind == CULL_WAY_LIBRARY, weights = direction == CULL_WEIGHTS;
    size_t        at = library ? cull_plan_room(way->plan) : 0;
    struct places places = {.weights = room};

    if (!library && weights && way->number == CULL_DENSE_OWN_PLAIN)
        at = cull_plain_room(&op->pixel, op->types, op->processors);
    at = cull_conv_border(at);
    places.weights = room + at;
    if (library) at += cull_conv_border(cull_conv_w(&op->pixel) * 4);
    places.bias = room + at;
    if (library) at += cull_conv_border(outs * 4);
    places.narrow = room + at;
    if (library && op->types.output != op->types.values) at += cull_conv_border(rows * outs * 2);
    places.sums = room + at;
    if (weights && op->base.desc.bias) at += cull_rows_sum_room(rows, outs);
    places.bytes = at;
    return places;
}

size_t cull_dense_room(const cull_dense_op *op, cull_direction direction, const cull_nn_way *way)
{
    static char nowhere[1];

    return find_places(op, direction, way, nowhere).bytes;
}

/* What libraries read begins on a border. */
static cull_status settle(cudaStream_t stream, const void *data, size_t bytes, char *room,
                          const void **out)
{
    cull_status status = CULL_OK;

    *out = data;
    if (cull_conv_aligned(data)) return CULL_OK;
    CUDA(cudaMemcpyAsync(room, data, bytes, cudaMemcpyDeviceToDevice, stream));
    *out = room;
done:
    return status;
}

static const void *weights_of(const cull_dense_op *op, const cull_layer_args *args)
{
    return op->types.values == CULL_BF16 ? args->narrow : args->w;
}

static cull_status check_borders(const void *x, const void *y)
{
    if (cull_conv_aligned(x) && cull_conv_aligned(y)) return CULL_OK;
    return cull_fail(CULL_BAD_ARGUMENT, "values of dense layers begin on borders of 16 bytes");
}

/* ---- running ---- */
static cull_status run_forward(const cull_dense_op *op, const cull_nn_way *way, cudaStream_t stream,
                               const cull_layer_args *args, char *room)
{
    cull_status   status = CULL_OK;
    struct places at = find_places(op, CULL_FORWARD, way, room);
    size_t        outs = (size_t)op->shape.out, rows = (size_t)op->shape.n;
    size_t        bytes = cull_conv_w(&op->pixel) * cull_dtype_size(op->types.values);
    const void   *w = weights_of(op, args), *b = op->base.desc.bias ? args->b : NULL;
    bool          fused = op->types.output == CULL_F32;

    if (way->kind == CULL_WAY_OWN) {
        if (way->number == CULL_DENSE_OWN_FEW)
            CUDA(cull_few_forward(stream, op->shape, op->types, args->x, w, b, args->y));
        else
            CUDA(cull_plain_forward(stream, &op->pixel, op->types, args->x, w, b, args->y));
        goto done;
    }
    TRY(check_borders(args->x, args->y));
    TRY(settle(stream, w, bytes, at.weights, &w));
    if (b && fused) TRY(settle(stream, b, outs * 4, at.bias, &b));
    TRY(cull_plan_product(way->plan, stream, w, args->x, fused ? b : NULL, args->y, false, room));
    if (b && !fused) CUDA(cull_rows_bias(stream, op->types.output, rows, outs, args->y, b));
done:
    return status;
}

/* dy in the values' type. */
static cull_status narrow_dy(const cull_dense_op *op, cudaStream_t stream, const void *dy,
                             char *room, const void **out)
{
    cull_status status = CULL_OK;
    size_t      count = (size_t)op->shape.n * (size_t)op->shape.out;

    *out = dy;
    if (op->types.output == op->types.values) return CULL_OK;
    CUDA(cull_rows_convert(stream, count, CULL_F32, dy, CULL_BF16, room, false));
    *out = room;
done:
    return status;
}

static cull_status run_data(const cull_dense_op *op, const cull_nn_way *way, cudaStream_t stream,
                            const cull_layer_args *args, char *room)
{
    cull_status   status = CULL_OK;
    struct places at = find_places(op, CULL_DATA, way, room);
    size_t        bytes = cull_conv_w(&op->pixel) * cull_dtype_size(op->types.values);
    const void   *w = weights_of(op, args), *dy = args->dy;
    bool          add = args->accumulate;

    if (way->kind == CULL_WAY_OWN) {
        if (way->number == CULL_DENSE_OWN_FEW)
            CUDA(cull_few_data(stream, op->shape, op->types, dy, w, args->dx, add));
        else
            CUDA(cull_plain_data(stream, &op->pixel, op->types, dy, w, args->dx, add));
        goto done;
    }
    TRY(check_borders(args->dx, dy));
    TRY(settle(stream, w, bytes, at.weights, &w));
    TRY(narrow_dy(op, stream, dy, at.narrow, &dy));
    TRY(cull_plan_product(way->plan, stream, w, dy, NULL, args->dx, add, room));
done:
    return status;
}

static cull_status run_dw(const cull_dense_op *op, const cull_nn_way *way, cudaStream_t stream,
                          const cull_layer_args *args, char *room)
{
    cull_status   status = CULL_OK;
    struct places at = find_places(op, CULL_WEIGHTS, way, room);
    const void   *dy = args->dy;
    bool          in_place = cull_conv_aligned(args->dw);

    if (way->kind == CULL_WAY_OWN) {
        CUDA(cull_plain_weights(stream, &op->pixel, op->types, op->processors, args->x, dy,
                                args->dw, room));
        goto done;
    }
    TRY(check_borders(args->x, dy));
    TRY(narrow_dy(op, stream, dy, at.narrow, &dy));
    TRY(cull_plan_product(way->plan, stream, args->x, dy, NULL, in_place ? args->dw : at.weights,
                          false, room));
    if (!in_place)
        CUDA(cudaMemcpyAsync(args->dw, at.weights, cull_conv_w(&op->pixel) * 4,
                             cudaMemcpyDeviceToDevice, stream));
done:
    return status;
}

static cull_status run_weights(const cull_dense_op *op, const cull_nn_way *way, cudaStream_t stream,
                               const cull_layer_args *args, char *room)
{
    cull_status   status = CULL_OK;
    struct places at = find_places(op, CULL_WEIGHTS, way, room);
    void         *db = op->base.desc.bias ? args->db : NULL;

    if (way->kind == CULL_WAY_OWN && way->number == CULL_DENSE_OWN_FEW) {
        CUDA(cull_few_weights(stream, op->shape, op->types, args->x, args->dy, args->dw, db));
        goto done;
    }
    TRY(run_dw(op, way, stream, args, room));
    if (db)
        CUDA(cull_rows_sum(stream, op->types.output, (size_t)op->shape.n, (size_t)op->shape.out,
                           args->dy, db, at.sums));
done:
    return status;
}

cull_status cull_dense_run(const cull_dense_op *op, cull_direction direction,
                           const cull_nn_way *way, cudaStream_t stream, const cull_layer_args *args,
                           void *room)
{
    switch (direction) {
    case CULL_FORWARD: return run_forward(op, way, stream, args, room);
    case CULL_DATA: return run_data(op, way, stream, args, room);
    default: return run_weights(op, way, stream, args, room);
    }
}
