/* backend/cuda/nn_dense_choose.c - the contests of dense layers: who enters them, and with what. */
#include <stdio.h>

#include "backend/cuda/nn_dense_ways.h"
#include "backend/cuda/nn_rows.h"
#include "base/alloc.h"

enum { MOST_ROWS = 65535, ALGORITHMS = 6 };

static int own_kernel(const cull_dense_op *op)
{
    bool few = op->shape.out <= CULL_DENSE_FEW && op->shape.n <= MOST_ROWS;

    return few ? CULL_DENSE_OWN_FEW : CULL_DENSE_OWN_PLAIN;
}

/* ---- contests ---- */
struct contender {
    cull_dense_op  *op;
    cull_direction  direction;
    cull_layer_args args;
    cudaStream_t    stream;
};

static cull_product_problem problem_of(const cull_dense_op *op, cull_direction direction)
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
    cull_status          status = CULL_OK;
    struct contender    *c = context;
    const cull_dense_op *op = c->op;
    size_t               x_count = cull_conv_x(&op->pixel), y_count = cull_conv_y(&op->pixel);
    size_t      w_count = cull_conv_w(&op->pixel), size = cull_dtype_size(op->types.values);
    size_t      wide = cull_dtype_size(op->types.output);
    const char *what = "a dense layer's trial";
    void       *x = NULL, *y = NULL, *w = NULL, *dw = NULL, *b = NULL;

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
    return cull_dense_room(c->op, c->direction, way);
}

static cull_status run_way(void *context, const cull_nn_way *way, void *room)
{
    struct contender *c = context;

    return cull_dense_run(c->op, c->direction, way, c->stream, &c->args, room);
}

static void result_of(const void *context, cull_nn_result *out)
{
    const struct contender *c = context;
    const cull_dense_op    *op = c->op;

    switch (c->direction) {
    case CULL_FORWARD:
        *out = (cull_nn_result){c->args.y, op->types.output, cull_conv_y(&op->pixel)};
        break;
    case CULL_DATA:
        *out = (cull_nn_result){c->args.dx, op->types.values, cull_conv_x(&op->pixel)};
        break;
    case CULL_WEIGHTS:
        *out = (cull_nn_result){c->args.dw, op->base.desc.parameters, cull_conv_w(&op->pixel)};
        break;
    }
}

static void name_problem(const cull_dense_op *op, cull_direction direction, char key[CULL_NN_KEY])
{
    static const char *const of[] = {"forward", "data", "weights"};
    const cull_layer_desc   *d = &op->base.desc;

    (void)snprintf(key, CULL_NN_KEY, "dense %s %s to %s%s%s%s n%d %d to %d", of[direction],
                   cull_dtype_name(op->types.values), cull_dtype_name(op->types.output),
                   d->tf32 ? " tf32" : "", d->repeatable ? " repeatable" : "",
                   d->bias ? " bias" : "", op->shape.n, op->shape.in, op->shape.out);
}

/* In the order in which they are taken where nothing may be timed. */
static cull_status enter_all(const cull_dense_op *op, cull_direction direction,
                             cull_nn_contest *contest)
{
    cull_status          status = CULL_OK;
    cull_product_problem problem = problem_of(op, direction);
    cull_nn_way          own = {.kind = CULL_WAY_OWN, .number = own_kernel(op)};
    cull_choice         *choice = NULL;
    size_t               count = 0;

    TRY(cull_base_alloc(ALGORITHMS, sizeof *choice, "choices of cuBLASLt", &choice));
    if (own.number == CULL_DENSE_OWN_FEW) contest->entry[contest->entries++] = own;
    if (cull_nn_library(op->nn) && op->types.values != CULL_F64) {
        status =
            cull_library_products(cull_nn_library(op->nn), &problem, ALGORITHMS, choice, &count);
        if (status == CULL_UNSUPPORTED || status == CULL_DEVICE) status = CULL_OK; /* it has none */
    }
    for (size_t i = 0; i < count; i++)
        contest->entry[contest->entries++] =
            (cull_nn_way){.kind = CULL_WAY_LIBRARY, .choice = choice[i]};
    if (own.number != CULL_DENSE_OWN_FEW) {
        contest->resort = contest->entries > 0;
        contest->entry[contest->entries++] = own;
    }
done:
    cull_base_free(choice);
    return status;
}

cull_status cull_dense_choose(cull_dense_op *op, cull_direction direction)
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
    contest->result = result_of;
    contest->trusted = (cull_nn_way){.kind = CULL_WAY_OWN, .number = own_kernel(op)};
    contest->apart = cull_nn_apart(op->types.values, op->base.desc.tf32);
    name_problem(op, direction, contest->problem);
    if (!cull_nn_known(op->nn, contest->problem)) TRY(enter_all(op, direction, contest));
    TRY(cull_nn_choose(contest, &op->way[direction]));
    TRY(cull_nn_reserve(op->nn, direction == CULL_WEIGHTS ? CULL_SIDE_WEIGHTS : CULL_SIDE_MAIN,
                        cull_dense_room(op, direction, &op->way[direction])));
done:
    cull_base_free(contest);
    return status;
}
