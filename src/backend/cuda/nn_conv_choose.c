/* backend/cuda/nn_conv_choose.c - the contests of convolutions: who enters them, and with what. */
#include <stdio.h>

#include "backend/cuda/nn_conv_ways.h"
#include "backend/cuda/nn_rows.h"
#include "base/alloc.h"

/* Weights of an output where our own kernel may win; channels of a stem; the most memory that a
 * block of depthwise kernels has for weights. */
enum { STREAMS = 160, STEM = 4, DEPTH_ROOM = 32768 };
/* How many of cuDNN's engines are tried: few where there is little to gain. */
enum { ENGINES = 8, FEW_ENGINES = 3, LITTLE = 1 << 22 };

static int own_kernel(const cull_conv_shape *s)
{
    size_t room = (size_t)(s->kernel[0] * s->kernel[1]) * (size_t)(s->o / s->c + 1) * 8;

    return cull_conv_depthwise(s) && room <= DEPTH_ROOM ? CULL_OWN_DEPTH : CULL_OWN_PLAIN;
}

/* Is our own kernel worth a place in the contest? It streams where products are thin. */
static bool own_may_win(const cull_conv_op *op)
{
    return op->shape.groups == 1 && cull_conv_depth(&op->shape) <= STREAMS;
}

static bool library_knows(const cull_conv_op *op)
{
    return cull_nn_library(op->nn) && op->types.values != CULL_F64;
}

/* ---- contests ---- */
struct contender {
    cull_conv_op   *op;
    cull_direction  direction;
    cull_layer_args args;
    cudaStream_t    stream;
};

static cull_conv_problem problem_of(const cull_conv_op *op, cull_direction direction, int number)
{
    const cull_layer_desc *d = &op->base.desc;
    cull_dtype             values = op->types.values;

    return (cull_conv_problem){
        .shape = op->shape,
        .direction = direction,
        .values = values,
        .result = direction == CULL_WEIGHTS && number == CULL_PLAN_AS_IT_IS ? CULL_F32 : values,
        .tf32 = d->tf32,
        .repeatable = d->repeatable};
}

static cull_status open_arrays(void *context, cull_kit *kit)
{
    cull_status       status = CULL_OK;
    struct contender *c = context;
    cull_conv_op     *op = c->op;
    cull_dtype        dtype = op->types.values;
    size_t            size = cull_dtype_size(dtype), w = cull_conv_w(&op->shape);
    size_t            x_count = cull_conv_x(&op->shape), y_count = cull_conv_y(&op->shape);
    const char       *what = "a convolution's trial";
    void             *x = NULL, *y = NULL, *dw = NULL, *b = NULL, *narrow = NULL;

    TRY(cull_kit_allocate(kit, x_count, size, what, &x));
    TRY(cull_kit_allocate(kit, y_count, size, what, &y));
    TRY(cull_kit_allocate(kit, w, 8, what, &dw));
    TRY(cull_kit_allocate(kit, w, size, what, &narrow));
    TRY(cull_kit_allocate(kit, (size_t)op->shape.o, 8, what, &b));
    CUDA(cull_rows_noise(c->stream, dtype, x_count, x));
    CUDA(cull_rows_noise(c->stream, dtype, y_count, y));
    CUDA(cull_rows_noise(c->stream, dtype, w, narrow));
    c->args = (cull_layer_args){
        .x = x, .y = y, .dx = x, .dy = y, .w = narrow, .narrow = narrow, .b = b, .dw = dw, .db = b};
done:
    return status;
}

/* Does a plan that should add leave dx alone where there is nothing to add? */
static cull_status check_adding(struct contender *c, cull_nn_way *way)
{
    enum { LOOKED_AT = 4096 };
    cull_status   status = CULL_OK;
    cull_conv_op *op = c->op;
    cull_backend *backend = op->base.backend;
    size_t        size = cull_dtype_size(op->types.values);
    size_t        bytes = cull_conv_x(&op->shape) * size, dy = cull_conv_y(&op->shape) * size;
    char          before[LOOKED_AT], after[LOOKED_AT];
    void         *room = NULL;
    bool          same = true;

    if (bytes > LOOKED_AT) bytes = LOOKED_AT;
    TRY(cull_backend_allocate(backend, cull_plan_room(way->adding) + 1, 1, "scratch", &room));
    TRY(cull_backend_fill(backend, (void *)(uintptr_t)c->args.dy, 0, dy));
    CUDA(cull_rows_noise(c->stream, op->types.values, cull_conv_x(&op->shape), c->args.dx));
    TRY(cull_backend_download(backend, before, c->args.dx, bytes));
    status = cull_plan_conv(way->adding, c->stream, c->args.dx, (void *)(uintptr_t)c->args.narrow,
                            (void *)(uintptr_t)c->args.dy, room);
    if (status == CULL_OK) status = cull_backend_download(backend, after, c->args.dx, bytes);
    for (size_t i = 0; status == CULL_OK && i < bytes; i++) same = same && before[i] == after[i];
    if (status != CULL_OK || !same) {
        cull_plan_destroy(way->adding);
        way->adding = NULL;
        status = cull_backend_wait(backend);
    }
done:
    cull_backend_release(backend, room);
    return status;
}

static cull_status prepare(void *context, cull_nn_way *way)
{
    struct contender *c = context;
    cull_library     *library = cull_nn_library(c->op->nn);
    cull_conv_problem problem = problem_of(c->op, c->direction, way->number);

    return cull_library_conv(library, &problem, &way->choice, &way->plan);
}

/* Of dx, a plan of the same engine that adds to what is there; without one dx is added behind it.
 */
static cull_status finish(void *context, cull_nn_way *way)
{
    cull_status       status = CULL_OK;
    struct contender *c = context;
    cull_conv_problem problem = problem_of(c->op, c->direction, way->number);

    if (c->direction != CULL_DATA) return CULL_OK;
    problem.add = true;
    status = cull_library_conv(cull_nn_library(c->op->nn), &problem, &way->choice, &way->adding);
    if (status == CULL_OK) status = check_adding(c, way);
    cull_nn_say(c->op->nn, "    %s: %s to dx\n", cull_plan_name(way->plan),
                way->adding ? "can add" : "cannot add");
    return status == CULL_NO_MEMORY ? status : CULL_OK;
}

static size_t room_of(const void *context, const cull_nn_way *way)
{
    const struct contender *c = context;

    if (way->kind == CULL_WAY_LIBRARY && !way->plan) return 0;
    return cull_conv_room(c->op, c->direction, way);
}

static cull_status run_way(void *context, const cull_nn_way *way, void *room)
{
    struct contender *c = context;

    return cull_conv_run(c->op, c->direction, way, c->stream, &c->args, room);
}

static void result_of(const void *context, cull_nn_result *out)
{
    const struct contender *c = context;
    const cull_conv_op     *op = c->op;

    switch (c->direction) {
    case CULL_FORWARD:
        *out = (cull_nn_result){c->args.y, op->types.values, cull_conv_y(&op->shape)};
        break;
    case CULL_DATA:
        *out = (cull_nn_result){c->args.dx, op->types.values, cull_conv_x(&op->shape)};
        break;
    case CULL_WEIGHTS:
        *out = (cull_nn_result){c->args.dw, op->base.desc.parameters, cull_conv_w(&op->shape)};
        break;
    }
}

static void name_problem(const cull_conv_op *op, cull_direction direction, char key[CULL_NN_KEY])
{
    static const char *const of[] = {"forward", "data", "weights"};
    const cull_conv_shape   *s = &op->shape;
    const cull_layer_desc   *d = &op->base.desc;

    (void)snprintf(key, CULL_NN_KEY,
                   "conv %s %s%s%s%s n%d c%d %dx%d o%d %dx%d k%dx%d s%dx%d p%dx%d d%dx%d g%d",
                   of[direction], cull_dtype_name(op->types.values), d->tf32 ? " tf32" : "",
                   d->repeatable ? " repeatable" : "", d->bias ? " bias" : "", s->n, s->c, s->h,
                   s->w, s->o, s->p, s->q, s->kernel[0], s->kernel[1], s->stride[0], s->stride[1],
                   s->pad[0], s->pad[1], s->dilation[0], s->dilation[1], s->groups);
}

/* A library's choices are put behind what is there. dw in float32 is not worth compiling for where
 * it can be widened, unless somebody wants to know. */
static cull_status add_engines(const cull_conv_op *op, cull_direction direction, int number,
                               size_t most, cull_nn_contest *contest)
{
    cull_status       status = CULL_OK;
    cull_conv_problem problem = problem_of(op, direction, number);
    bool              widened = problem.result != problem.values;
    cull_compiled     compiled = widened ? CULL_COMPILED_NO : CULL_COMPILED_ELSE;
    cull_choice      *choice = NULL;
    size_t            count = 0;

    if (cull_nn_compiled(op->nn)) compiled = CULL_COMPILED_TOO;
    TRY(cull_base_alloc(ENGINES, sizeof *choice, "choices of cuDNN", &choice));
    status = cull_library_convs(cull_nn_library(op->nn), &problem, compiled, most, choice, &count);
    if (status == CULL_UNSUPPORTED || status == CULL_DEVICE) status = CULL_OK; /* it has none */
    for (size_t i = 0; i < count && contest->entries < CULL_NN_ENTRIES - 1; i++)
        contest->entry[contest->entries++] =
            (cull_nn_way){.kind = CULL_WAY_LIBRARY, .number = number, .choice = choice[i]};
done:
    cull_base_free(choice);
    return status;
}

static double products(const cull_conv_shape *s)
{
    return (double)cull_conv_y(s) * (double)cull_conv_depth(s);
}

/* What is tried, in the order in which it is taken where nothing may be timed. dw in float32 is
 * asked for first: what comes in bfloat16 has to be widened. */
static cull_status enter_all(const cull_conv_op *op, cull_direction direction,
                             cull_nn_contest *contest)
{
    cull_status status = CULL_OK;
    cull_nn_way own = {.kind = CULL_WAY_OWN, .number = own_kernel(&op->shape)};
    bool        wide = direction == CULL_WEIGHTS && op->types.values == CULL_BF16;
    bool        first = own.number == CULL_OWN_DEPTH || op->shape.c <= STEM;
    size_t      most = products(&op->shape) < LITTLE ? FEW_ENGINES : ENGINES;

    if (first || !library_knows(op)) contest->entry[contest->entries++] = own;
    if (!library_knows(op)) goto done;
    TRY(add_engines(op, direction, CULL_PLAN_AS_IT_IS, wide ? FEW_ENGINES : most, contest));
    if (wide) TRY(add_engines(op, direction, CULL_PLAN_NARROW, most, contest));
    if (!first) contest->entry[contest->entries++] = own;
    contest->resort = !first && !own_may_win(op);
done:
    return status;
}

cull_status cull_conv_choose(cull_conv_op *op, cull_direction direction)
{
    cull_status        status = CULL_OK;
    struct contender   contender = {.op = op, .direction = direction};
    cull_nn_contest   *contest = NULL;
    const cull_nn_way *known = NULL;
    cull_cuda         *cuda = NULL;

    TRY(cull_cuda_enter(op->base.backend, &cuda));
    contender.stream = cuda->stream;
    TRY(cull_base_alloc(1, sizeof *contest, "a convolution", &contest));
    contest->nn = op->nn;
    contest->backend = op->base.backend;
    contest->repeatable = op->base.desc.repeatable;
    contest->context = &contender;
    contest->open = open_arrays;
    contest->prepare = prepare;
    contest->room = room_of;
    contest->run = run_way;
    contest->finish = finish;
    contest->result = result_of;
    contest->trusted = (cull_nn_way){.kind = CULL_WAY_OWN, .number = own_kernel(&op->shape)};
    contest->apart = cull_nn_apart(op->types.values, op->base.desc.tf32);
    name_problem(op, direction, contest->problem);
    known = cull_nn_known(op->nn, contest->problem);
    if (!known) TRY(enter_all(op, direction, contest));
    TRY(cull_nn_choose(contest, &op->way[direction]));
    TRY(cull_nn_reserve(op->nn, direction == CULL_WEIGHTS ? CULL_SIDE_WEIGHTS : CULL_SIDE_MAIN,
                        cull_conv_room(op, direction, &op->way[direction])));
done:
    cull_base_free(contest);
    return status;
}
