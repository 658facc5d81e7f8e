/*
 * backend/cuda/nn_dense.c - fully connected layer: x (n, in), W (out, in), b (out), y (n, out).
 *
 *     y = x W^T + b      dx = dy W      dW = dy^T x      db = sum over n of dy
 *
 * Rows one after the other are to cuBLASLt the columns of a matrix, so what it computes is y^T =
 * W x^T, dx^T = W^T dy^T and dW^T = x^T dy. Layers of few outputs have kernels of their own, which
 * take part in the contests (nn_state.h). Where values are bfloat16 and the logits float32, dy is
 * narrowed first for the products of the library.
 */
#include <stdio.h>

#include "backend/cuda/nn_conv.h"
#include "backend/cuda/nn_rows.h"
#include "base/alloc.h"

enum { OWN_PLAIN, OWN_FEW }; /* kernels of our own */
enum { MOST_ROWS = 65535, ALGORITHMS = 6, NAMES = 160 };

struct dense {
    cull_layer_op    base;
    cull_nn         *nn;
    cull_dense_shape shape;
    cull_conv_shape  pixel; /* the same as a convolution */
    cull_conv_types  types;
    int              processors;
    cull_nn_way      way[3]; /* by cull_direction */
    char             names[NAMES];
};

static cull_status read_shape(const cull_layer_desc *d, struct dense *op)
{
    cull_status status = CULL_OK;
    int64_t     n = d->x.n, in = cull_image_row(&d->x), out = cull_image_row(&d->y);

    TRY(cull_conv_check_types(d));
    if (n > INT32_MAX / 2 || in * out > INT32_MAX / 2)
        FAIL(CULL_UNSUPPORTED, "a dense layer of more than 2^30 rows or weights");
    op->shape = (cull_dense_shape){(int32_t)n, (int32_t)in, (int32_t)out};
    op->pixel = (cull_conv_shape){.n = (int32_t)n,
                                  .c = (int32_t)in,
                                  .h = 1,
                                  .w = 1,
                                  .o = (int32_t)out,
                                  .p = 1,
                                  .q = 1,
                                  .kernel = {1, 1},
                                  .stride = {1, 1},
                                  .dilation = {1, 1},
                                  .groups = 1};
    op->types = (cull_conv_types){d->dtype, d->output ? d->output : d->dtype};
    if (op->types.output != d->dtype && (d->dtype != CULL_BF16 || d->output != CULL_F32))
        FAIL(CULL_UNSUPPORTED, "a dense layer from %s to %s", cull_dtype_name(d->dtype),
             cull_dtype_name(d->output));
done:
    return status;
}

static int own_kernel(const struct dense *op)
{
    bool few = op->shape.out <= CULL_DENSE_FEW && op->shape.n <= MOST_ROWS;

    return few ? OWN_FEW : OWN_PLAIN;
}

/* ---- scratch memory: a plan's own; W, b or dW on a border; dy narrowed; sums of a bias ---- */
struct places {
    char  *weights, *bias, *narrow, *sums;
    size_t bytes;
};

static struct places find_places(const struct dense *op, cull_direction direction,
                                 const cull_nn_way *way, char *room)
{
    size_t        outs = (size_t)op->shape.out, rows = (size_t)op->shape.n;
    bool          library = way->kind == CULL_WAY_LIBRARY, weights = direction == CULL_WEIGHTS;
    size_t        at = library ? cull_plan_room(way->plan) : 0;
    struct places places = {.weights = room};

    if (!library && weights && way->number == OWN_PLAIN)
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

static size_t way_bytes(const struct dense *op, cull_direction direction, const cull_nn_way *way)
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

static const void *weights_of(const struct dense *op, const cull_layer_args *args)
{
    return op->types.values == CULL_BF16 ? args->narrow : args->w;
}

static cull_status check_borders(const void *x, const void *y)
{
    if (cull_conv_aligned(x) && cull_conv_aligned(y)) return CULL_OK;
    return cull_fail(CULL_BAD_ARGUMENT, "values of dense layers begin on borders of 16 bytes");
}

/* ---- running ---- */
static cull_status run_forward(const struct dense *op, const cull_nn_way *way, cudaStream_t stream,
                               const cull_layer_args *args, char *room)
{
    cull_status   status = CULL_OK;
    struct places at = find_places(op, CULL_FORWARD, way, room);
    size_t        outs = (size_t)op->shape.out, rows = (size_t)op->shape.n;
    size_t        bytes = cull_conv_w(&op->pixel) * cull_dtype_size(op->types.values);
    const void   *w = weights_of(op, args), *b = op->base.desc.bias ? args->b : NULL;
    bool          fused = op->types.output == CULL_F32;

    if (way->kind == CULL_WAY_OWN) {
        if (way->number == OWN_FEW)
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
static cull_status narrow_dy(const struct dense *op, cudaStream_t stream, const void *dy,
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

static cull_status run_data(const struct dense *op, const cull_nn_way *way, cudaStream_t stream,
                            const cull_layer_args *args, char *room)
{
    cull_status   status = CULL_OK;
    struct places at = find_places(op, CULL_DATA, way, room);
    size_t        bytes = cull_conv_w(&op->pixel) * cull_dtype_size(op->types.values);
    const void   *w = weights_of(op, args), *dy = args->dy;
    bool          add = args->accumulate;

    if (way->kind == CULL_WAY_OWN) {
        if (way->number == OWN_FEW)
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

static cull_status run_dw(const struct dense *op, const cull_nn_way *way, cudaStream_t stream,
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

static cull_status run_weights(const struct dense *op, const cull_nn_way *way, cudaStream_t stream,
                               const cull_layer_args *args, char *room)
{
    cull_status   status = CULL_OK;
    struct places at = find_places(op, CULL_WEIGHTS, way, room);
    void         *db = op->base.desc.bias ? args->db : NULL;

    if (way->kind == CULL_WAY_OWN && way->number == OWN_FEW) {
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

/* ---- contests ---- */
struct contender {
    struct dense   *op;
    cull_direction  direction;
    cull_layer_args args;
    cudaStream_t    stream;
};

static cull_product_problem problem_of(const struct dense *op, cull_direction direction)
{
    const cull_layer_desc *d = &op->base.desc;
    int64_t                n = op->shape.n, in = op->shape.in, out = op->shape.out;
    cull_product_problem   p = {.values = op->types.values,
                                .result = op->types.values,
                                .tf32 = d->tf32,
                                .repeatable = d->repeatable};

    switch (direction) {
    case CULL_FORWARD:
        p.rows = out;
        p.columns = n;
        p.depth = in;
        p.turned_a = true;
        p.result = op->types.output;
        p.bias = d->bias && p.result == CULL_F32;
        break;
    case CULL_DATA:
        p.rows = in;
        p.columns = n;
        p.depth = out;
        break;
    case CULL_WEIGHTS:
        p.rows = in;
        p.columns = out;
        p.depth = n;
        p.turned_b = true;
        p.result = CULL_F32;
        break;
    }
    return p;
}

static cull_status open_arrays(void *context, cull_kit *kit)
{
    cull_status         status = CULL_OK;
    struct contender   *c = context;
    const struct dense *op = c->op;
    size_t              x_count = cull_conv_x(&op->pixel), y_count = cull_conv_y(&op->pixel);
    size_t              w_count = cull_conv_w(&op->pixel), size = cull_dtype_size(op->types.values);
    size_t              wide = cull_dtype_size(op->types.output);
    const char         *what = "a dense layer's trial";
    void               *x = NULL, *y = NULL, *w = NULL, *dw = NULL, *b = NULL;

    TRY(cull_kit_allocate(kit, x_count, size, what, &x));
    TRY(cull_kit_allocate(kit, y_count, wide, what, &y));
    TRY(cull_kit_allocate(kit, w_count, size, what, &w));
    TRY(cull_kit_allocate(kit, w_count, 8, what, &dw));
    TRY(cull_kit_allocate(kit, (size_t)op->shape.out, 8, what, &b));
    CUDA(cull_rows_noise(c->stream, op->types.values, x_count, x));
    CUDA(cull_rows_noise(c->stream, op->types.output, y_count, y));
    CUDA(cull_rows_noise(c->stream, op->types.values, w_count, w));
    c->args = (cull_layer_args){
        .x = x, .y = y, .dx = x, .dy = y, .w = w, .narrow = w, .b = b, .dw = dw, .db = b};
done:
    return status;
}

static cull_status prepare(void *context, cull_nn_way *way)
{
    struct contender    *c = context;
    cull_product_problem problem = problem_of(c->op, c->direction);

    return cull_library_product(cull_nn_library(c->op->nn), &problem, &way->choice, &way->plan);
}

static size_t room_of(const void *context, const cull_nn_way *way)
{
    const struct contender *c = context;

    if (way->kind == CULL_WAY_LIBRARY && !way->plan) return 0;
    return way_bytes(c->op, c->direction, way);
}

static cull_status run_way(void *context, const cull_nn_way *way, void *room)
{
    struct contender *c = context;

    switch (c->direction) {
    case CULL_FORWARD: return run_forward(c->op, way, c->stream, &c->args, room);
    case CULL_DATA: return run_data(c->op, way, c->stream, &c->args, room);
    default: return run_weights(c->op, way, c->stream, &c->args, room);
    }
}

static void name_problem(const struct dense *op, cull_direction direction, char key[CULL_NN_KEY])
{
    static const char *const of[] = {"forward", "data", "weights"};
    const cull_layer_desc   *d = &op->base.desc;

    (void)snprintf(key, CULL_NN_KEY, "dense %s %s to %s%s%s%s n%d %d to %d", of[direction],
                   cull_dtype_name(op->types.values), cull_dtype_name(op->types.output),
                   d->tf32 ? " tf32" : "", d->repeatable ? " repeatable" : "",
                   d->bias ? " bias" : "", op->shape.n, op->shape.in, op->shape.out);
}

/* In the order in which they are taken where nothing may be timed. */
static cull_status enter_all(const struct dense *op, cull_direction direction,
                             cull_nn_contest *contest)
{
    cull_status          status = CULL_OK;
    cull_product_problem problem = problem_of(op, direction);
    cull_nn_way          own = {.kind = CULL_WAY_OWN, .number = own_kernel(op)};
    cull_choice         *choice = NULL;
    size_t               count = 0;

    TRY(cull_base_alloc(ALGORITHMS, sizeof *choice, "choices of cuBLASLt", &choice));
    if (own.number == OWN_FEW) contest->entry[contest->entries++] = own;
    if (cull_nn_library(op->nn) && op->types.values != CULL_F64) {
        status =
            cull_library_products(cull_nn_library(op->nn), &problem, ALGORITHMS, choice, &count);
        if (status == CULL_UNSUPPORTED || status == CULL_DEVICE) status = CULL_OK; /* it has none */
    }
    for (size_t i = 0; i < count; i++)
        contest->entry[contest->entries++] =
            (cull_nn_way){.kind = CULL_WAY_LIBRARY, .choice = choice[i]};
    if (own.number != OWN_FEW) contest->entry[contest->entries++] = own;
done:
    cull_base_free(choice);
    return status;
}

static cull_status choose(struct dense *op, cull_direction direction)
{
    cull_status      status = CULL_OK;
    struct contender contender = {.op = op, .direction = direction};
    cull_nn_contest *contest = NULL;
    cull_cuda       *cuda = NULL;

    TRY(cull_cuda_enter(op->base.backend, &cuda));
    contender.stream = cuda->stream;
    TRY(cull_base_alloc(1, sizeof *contest, "a dense layer", &contest));
    contest->nn = op->nn;
    contest->backend = op->base.backend;
    contest->repeatable = op->base.desc.repeatable;
    contest->context = &contender;
    contest->open = open_arrays;
    contest->prepare = prepare;
    contest->room = room_of;
    contest->run = run_way;
    name_problem(op, direction, contest->problem);
    if (!cull_nn_known(op->nn, contest->problem)) TRY(enter_all(op, direction, contest));
    TRY(cull_nn_choose(contest, &op->way[direction]));
    TRY(cull_nn_reserve(op->nn, direction == CULL_WEIGHTS ? CULL_SIDE_WEIGHTS : CULL_SIDE_MAIN,
                        way_bytes(op, direction, &op->way[direction])));
done:
    cull_base_free(contest);
    return status;
}

/* ---- the class ---- */
static const char *name_of(const cull_nn_way *way)
{
    if (way->plan) return cull_plan_name(way->plan);
    return way->number == OWN_FEW ? "few" : "plain";
}

static void destroy(cull_layer_op *base)
{
    cull_base_free(base);
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status   status = CULL_OK;
    struct dense *op = NULL;
    cull_cuda    *cuda = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    TRY(cull_base_alloc(1, sizeof *op, "a dense layer", &op));
    TRY(read_shape(desc, op));
    TRY(cull_nn_state(backend, &op->nn));
    op->base.backend = backend;
    op->base.desc = *desc;
    op->processors = cuda->processors;
    TRY(choose(op, CULL_FORWARD));
    if (desc->learn && desc->input_gradient) TRY(choose(op, CULL_DATA));
    if (desc->learn) TRY(choose(op, CULL_WEIGHTS));
    (void)snprintf(op->names, sizeof op->names, "%s", name_of(&op->way[CULL_FORWARD]));
    if (desc->learn)
        (void)snprintf(op->names, sizeof op->names, "%s; %s; %s", name_of(&op->way[CULL_FORWARD]),
                       desc->input_gradient ? name_of(&op->way[CULL_DATA]) : "none",
                       name_of(&op->way[CULL_WEIGHTS]));
    op->base.implementation = op->names;
    *out = &op->base;
    op = NULL;
done:
    if (op) destroy(&op->base);
    return status;
}

static cull_status forward(cull_layer_op *base, const cull_layer_args *args)
{
    cull_status         status = CULL_OK;
    const struct dense *op = (const struct dense *)base;
    cull_cuda          *cuda = NULL;

    TRY(cull_cuda_enter(base->backend, &cuda));
    TRY(run_forward(op, &op->way[CULL_FORWARD], cuda->stream, args,
                    cull_nn_room(op->nn, CULL_SIDE_MAIN)));
done:
    return status;
}

cull_status cull_dense_data(cull_layer_op *base, const cull_layer_args *args, cudaStream_t stream)
{
    const struct dense *op = (const struct dense *)base;

    if (!args->dx || !base->desc.input_gradient) return CULL_OK;
    return run_data(op, &op->way[CULL_DATA], stream, args, cull_nn_room(op->nn, CULL_SIDE_MAIN));
}

cull_status cull_dense_weights(cull_layer_op *base, const cull_layer_args *args,
                               cudaStream_t stream)
{
    const struct dense *op = (const struct dense *)base;

    return run_weights(op, &op->way[CULL_WEIGHTS], stream, args,
                       cull_nn_room(op->nn, CULL_SIDE_WEIGHTS));
}

static cull_status backward(cull_layer_op *base, const cull_layer_args *args)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(base->backend, &cuda));
    TRY(cull_dense_weights(base, args, cuda->stream));
    TRY(cull_dense_data(base, args, cuda->stream));
done:
    return status;
}

const cull_layer_class cull_cuda_dense = {create, forward, backward, destroy};
