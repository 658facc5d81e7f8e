/*
 * backend/cuda/nn_conv.c - grouped convolution in NHWC, forward and both gradients.
 *
 *     x (n, h, w, c)    y (n, p, q, o)    w (o, kernel, kernel, c/groups)    b (o)
 *
 * Each direction is computed in the way that won its contest (nn_state.h): a kernel of our own, or
 * an engine of cuDNN. An engine may leave dw in bfloat16, which is widened then; and where it
 * cannot add to dx, dx is left in scratch memory and added.
 */
#include "backend/cuda/nn_conv.h"

#include <stdio.h>

#include "backend/cuda/nn_rows.h"
#include "base/alloc.h"

enum { OWN_PLAIN, OWN_DEPTH };       /* kernels of our own                          */
enum { AS_IT_IS, NARROW };           /* a plan's dw: float32, or bfloat16           */
enum { STREAMS = 160, ENGINES = 8 }; /* weights of an output of a stem; tried at most */
enum { DEPTH_ROOM = 32768, NAMES = 160 };

struct conv {
    cull_layer_op   base;
    cull_nn        *nn;
    cull_conv_shape shape;
    cull_conv_types types;
    int             processors;
    cull_nn_way     way[3]; /* by cull_direction */
    char            names[NAMES];
};

/* ---- what fits ---- */
cull_status cull_conv_check_types(const cull_layer_desc *d)
{
    bool one = (d->dtype == CULL_F32 || d->dtype == CULL_F64) && d->parameters == d->dtype;

    if (one || (d->dtype == CULL_BF16 && d->parameters == CULL_F32)) return CULL_OK;
    return cull_fail(CULL_UNSUPPORTED,
                     "layers on CUDA devices know no %s values over %s parameters",
                     cull_dtype_name(d->dtype), cull_dtype_name(d->parameters));
}

/* Is a value's memory NHWC? */
static bool channels_last(const cull_image *image)
{
    return image->block == image->c || image->h * image->w == 1;
}

static cull_status read_shape(const cull_layer_desc *d, cull_conv_shape *s)
{
    cull_status   status = CULL_OK;
    const int64_t most = INT32_MAX / 2;

    TRY(cull_conv_check_types(d));
    if (!channels_last(&d->x) || !channels_last(&d->y))
        FAIL(CULL_UNSUPPORTED, "convolutions on CUDA devices know one layout, NHWC");
    if (d->x.n * d->x.h * d->x.w > most || d->y.n * d->y.h * d->y.w > most ||
        d->y.c * (d->x.c / d->groups) * d->kernel[0] * d->kernel[1] > most)
        FAIL(CULL_UNSUPPORTED, "a convolution of more than 2^30 pixels or weights");
    *s = (cull_conv_shape){.n = (int32_t)d->x.n,
                           .c = (int32_t)d->x.c,
                           .h = (int32_t)d->x.h,
                           .w = (int32_t)d->x.w,
                           .o = (int32_t)d->y.c,
                           .p = (int32_t)d->y.h,
                           .q = (int32_t)d->y.w,
                           .groups = (int32_t)d->groups};
    for (int i = 0; i < 2; i++) {
        s->kernel[i] = (int32_t)d->kernel[i];
        s->stride[i] = (int32_t)d->stride[i];
        s->pad[i] = (int32_t)d->pad[i];
        s->dilation[i] = (int32_t)d->dilation[i];
    }
done:
    return status;
}

static int own_kernel(const cull_conv_shape *s)
{
    size_t room = (size_t)(s->kernel[0] * s->kernel[1]) * (size_t)(s->o / s->c + 1) * 8;

    return cull_conv_depthwise(s) && room <= DEPTH_ROOM ? OWN_DEPTH : OWN_PLAIN;
}

/* Is our own kernel worth a place in the contest? It streams where products are thin. */
static bool own_may_win(const struct conv *op)
{
    return own_kernel(&op->shape) == OWN_DEPTH ||
           (op->shape.groups == 1 && cull_conv_depth(&op->shape) <= STREAMS);
}

static bool library_knows(const struct conv *op)
{
    return cull_nn_library(op->nn) && op->types.values != CULL_F64;
}

/*
 * ---- scratch memory ----
 *
 * A plan's own, weights that had to be moved to a border, and a result that has to be widened or
 * added; or a kernel's own; and last the parts of a bias's sums.
 */
static size_t result_bytes(const struct conv *op, cull_direction direction)
{
    size_t size = cull_dtype_size(op->types.values);

    return direction == CULL_DATA ? cull_conv_x(&op->shape) * size : cull_conv_w(&op->shape) * 4;
}

static size_t sum_rows(const struct conv *op)
{
    return cull_conv_y(&op->shape) / (size_t)op->shape.o;
}

static size_t own_bytes(const struct conv *op, cull_direction direction, const cull_nn_way *way)
{
    if (direction != CULL_WEIGHTS || way->kind != CULL_WAY_OWN) return 0;
    return way->number == OWN_DEPTH ? cull_depth_room(&op->shape, op->types.values, op->processors)
                                    : cull_plain_room(&op->shape, op->types, op->processors);
}

static size_t way_bytes(const struct conv *op, cull_direction direction, const cull_nn_way *way)
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

static struct places find_places(const struct conv *op, const cull_nn_way *way, char *room)
{
    size_t        plan = way->plan ? cull_plan_room(way->plan) : 0;
    size_t        adding = way->adding ? cull_plan_room(way->adding) : 0;
    struct places places = {.weights = room + cull_conv_border(plan > adding ? plan : adding)};

    places.result = places.weights + cull_conv_border(cull_conv_w(&op->shape) * 4);
    return places;
}

/* ---- running ---- */
static const void *weights_of(const struct conv *op, const cull_layer_args *args)
{
    return op->types.values == CULL_BF16 ? args->narrow : args->w;
}

static cull_status check_borders(const void *x, const void *y)
{
    if (cull_conv_aligned(x) && cull_conv_aligned(y)) return CULL_OK;
    return cull_fail(CULL_BAD_ARGUMENT, "values of convolutions begin on borders of 16 bytes");
}

/* Weights as libraries read them: on a border. */
static cull_status settle_weights(const struct conv *op, cudaStream_t stream, const void *w,
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

static cull_status run_forward(const struct conv *op, const cull_nn_way *way, cudaStream_t stream,
                               const cull_layer_args *args, void *room)
{
    cull_status            status = CULL_OK;
    const cull_conv_shape *s = &op->shape;
    const void            *w = weights_of(op, args), *b = op->base.desc.bias ? args->b : NULL;
    void                  *moved = NULL, *x = (void *)(uintptr_t)args->x;

    if (way->kind == CULL_WAY_OWN) {
        if (way->number == OWN_DEPTH)
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

static cull_status run_data(const struct conv *op, const cull_nn_way *way, cudaStream_t stream,
                            const cull_layer_args *args, void *room)
{
    cull_status            status = CULL_OK;
    const cull_conv_shape *s = &op->shape;
    cull_dtype             dtype = op->types.values;
    struct places          at = find_places(op, way, room);
    const void            *w = weights_of(op, args);
    void                  *moved = NULL, *dy = (void *)(uintptr_t)args->dy;

    if (way->kind == CULL_WAY_OWN) {
        if (way->number == OWN_DEPTH)
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

static cull_status run_dw(const struct conv *op, const cull_nn_way *way, cudaStream_t stream,
                          const cull_layer_args *args, void *room)
{
    cull_status            status = CULL_OK;
    const cull_conv_shape *s = &op->shape;
    cull_dtype             dtype = op->types.values;
    struct places          at = find_places(op, way, room);
    void                  *x = (void *)(uintptr_t)args->x, *dy = (void *)(uintptr_t)args->dy;
    size_t                 count = cull_conv_w(s);

    if (way->kind == CULL_WAY_OWN) {
        if (way->number == OWN_DEPTH)
            CUDA(cull_depth_weights(stream, s, dtype, op->processors, x, dy, args->dw, room));
        else
            CUDA(cull_plain_weights(stream, s, op->types, op->processors, x, dy, args->dw, room));
        goto done;
    }
    TRY(check_borders(x, dy));
    if (way->number == NARROW) {
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

static cull_status run_weights(const struct conv *op, const cull_nn_way *way, cudaStream_t stream,
                               const cull_layer_args *args, void *room)
{
    cull_status status = CULL_OK;
    size_t      outs = (size_t)op->shape.o, rows = sum_rows(op);
    char       *end = (char *)room + way_bytes(op, CULL_WEIGHTS, way);

    TRY(run_dw(op, way, stream, args, room));
    if (op->base.desc.bias)
        CUDA(cull_rows_sum(stream, op->types.values, rows, outs, args->dy, args->db,
                           end - cull_rows_sum_room(rows, outs)));
done:
    return status;
}

/* ---- contests ---- */
struct contender {
    struct conv    *op;
    cull_direction  direction;
    cull_layer_args args;
    cudaStream_t    stream;
};

static cull_conv_problem problem_of(const struct conv *op, cull_direction direction, int number)
{
    const cull_layer_desc *d = &op->base.desc;
    cull_dtype             values = op->types.values;

    return (cull_conv_problem){.shape = op->shape,
                               .direction = direction,
                               .values = values,
                               .result = direction == CULL_WEIGHTS && number == AS_IT_IS ? CULL_F32
                                                                                         : values,
                               .tf32 = d->tf32,
                               .repeatable = d->repeatable};
}

static cull_status open_arrays(void *context, cull_kit *kit)
{
    cull_status       status = CULL_OK;
    struct contender *c = context;
    struct conv      *op = c->op;
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
    struct conv  *op = c->op;
    cull_backend *backend = op->base.backend;
    size_t        size = cull_dtype_size(op->types.values);
    size_t        bytes = cull_conv_x(&op->shape) * size, dy = cull_conv_y(&op->shape) * size;
    char          before[LOOKED_AT], after[LOOKED_AT];
    void         *room = NULL;
    bool          same = true;

    if (bytes > LOOKED_AT) bytes = LOOKED_AT;
    TRY(cull_backend_allocate(backend, cull_plan_room(way->adding) + 1, 1, "scratch", &room));
    TRY(cull_backend_fill(backend, (void *)(uintptr_t)c->args.dy, 0, dy));
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
    if (status == CULL_OK)
        status =
            cull_cuda_check(cull_rows_noise(c->stream, op->types.values, cull_conv_y(&op->shape),
                                            (void *)(uintptr_t)c->args.dy),
                            "cull_rows_noise");
    cull_backend_release(backend, room);
    return status;
}

static cull_status prepare(void *context, cull_nn_way *way)
{
    cull_status       status = CULL_OK;
    struct contender *c = context;
    cull_library     *library = cull_nn_library(c->op->nn);
    cull_conv_problem problem = problem_of(c->op, c->direction, way->number);

    TRY(cull_library_conv(library, &problem, &way->choice, &way->plan));
    if (c->direction != CULL_DATA) goto done;
    problem.add = true;
    status = cull_library_conv(library, &problem, &way->choice, &way->adding);
    if (status == CULL_NO_MEMORY) goto done;
    status = CULL_OK; /* no such plan: dx is added afterwards */
    if (way->adding) TRY(check_adding(c, way));
done:
    return status;
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

static void name_problem(const struct conv *op, cull_direction direction, char key[CULL_NN_KEY])
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

/* A library's choices are put behind what is there. */
static cull_status add_engines(const struct conv *op, cull_direction direction, int number,
                               size_t most, cull_nn_contest *contest)
{
    cull_status       status = CULL_OK;
    cull_conv_problem problem = problem_of(op, direction, number);
    cull_choice      *choice = NULL;
    size_t            count = 0;

    TRY(cull_base_alloc(ENGINES + 1, sizeof *choice, "choices of cuDNN", &choice));
    status = cull_library_convs(cull_nn_library(op->nn), &problem, cull_nn_compiled(op->nn), most,
                                choice, &count);
    if (status == CULL_UNSUPPORTED || status == CULL_DEVICE) status = CULL_OK; /* it has none */
    for (size_t i = 0; i < count && contest->entries < CULL_NN_ENTRIES - 1; i++)
        contest->entry[contest->entries++] =
            (cull_nn_way){.kind = CULL_WAY_LIBRARY, .number = number, .choice = choice[i]};
done:
    cull_base_free(choice);
    return status;
}

/* What is tried, in the order in which it is taken where nothing may be timed. dw in float32 is
 * asked for first: what comes in bfloat16 has to be widened. */
static cull_status enter_all(const struct conv *op, cull_direction direction,
                             cull_nn_contest *contest)
{
    cull_status status = CULL_OK;
    cull_nn_way own = {.kind = CULL_WAY_OWN, .number = own_kernel(&op->shape)};
    bool        first = own_may_win(op), both = op->types.values == CULL_BF16;

    if (first) contest->entry[contest->entries++] = own;
    if (library_knows(op)) {
        TRY(add_engines(op, direction, AS_IT_IS, both && direction == CULL_WEIGHTS ? 3 : ENGINES,
                        contest));
        if (both && direction == CULL_WEIGHTS)
            TRY(add_engines(op, direction, NARROW, ENGINES, contest));
    }
    if (!first) contest->entry[contest->entries++] = own;
done:
    return status;
}

static cull_status choose(struct conv *op, cull_direction direction)
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
    name_problem(op, direction, contest->problem);
    known = cull_nn_known(op->nn, contest->problem);
    if (!known) TRY(enter_all(op, direction, contest));
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
    return way->number == OWN_DEPTH ? "depthwise" : "plain";
}

static void destroy(cull_layer_op *base)
{
    cull_base_free(base);
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status  status = CULL_OK;
    struct conv *op = NULL;
    cull_cuda   *cuda = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    TRY(cull_base_alloc(1, sizeof *op, "a convolution", &op));
    TRY(read_shape(desc, &op->shape));
    TRY(cull_nn_state(backend, &op->nn));
    op->base.backend = backend;
    op->base.desc = *desc;
    op->types = (cull_conv_types){desc->dtype, desc->dtype};
    op->processors = cuda->processors;
    TRY(choose(op, CULL_FORWARD));
    if (desc->learn && desc->input_gradient) TRY(choose(op, CULL_DATA));
    if (desc->learn) TRY(choose(op, CULL_WEIGHTS));
    (void)snprintf(op->names, sizeof op->names, "%s", name_of(&op->way[CULL_FORWARD]));
    if (desc->learn)
        (void)snprintf(
            op->names, sizeof op->names, "%s; %s; %s%s", name_of(&op->way[CULL_FORWARD]),
            desc->input_gradient ? name_of(&op->way[CULL_DATA]) : "none",
            name_of(&op->way[CULL_WEIGHTS]),
            op->way[CULL_WEIGHTS].plan && op->way[CULL_WEIGHTS].number == NARROW ? ", narrow" : "");
    op->base.implementation = op->names;
    *out = &op->base;
    op = NULL;
done:
    if (op) destroy(&op->base);
    return status;
}

static cull_status forward(cull_layer_op *base, const cull_layer_args *args)
{
    cull_status        status = CULL_OK;
    const struct conv *op = (const struct conv *)base;
    cull_cuda         *cuda = NULL;

    TRY(cull_cuda_enter(base->backend, &cuda));
    TRY(run_forward(op, &op->way[CULL_FORWARD], cuda->stream, args,
                    cull_nn_room(op->nn, CULL_SIDE_MAIN)));
done:
    return status;
}

cull_status cull_conv_data(cull_layer_op *base, const cull_layer_args *args, cudaStream_t stream)
{
    const struct conv *op = (const struct conv *)base;

    if (!args->dx || !base->desc.input_gradient) return CULL_OK;
    return run_data(op, &op->way[CULL_DATA], stream, args, cull_nn_room(op->nn, CULL_SIDE_MAIN));
}

cull_status cull_conv_weights(cull_layer_op *base, const cull_layer_args *args, cudaStream_t stream)
{
    const struct conv *op = (const struct conv *)base;

    return run_weights(op, &op->way[CULL_WEIGHTS], stream, args,
                       cull_nn_room(op->nn, CULL_SIDE_WEIGHTS));
}

static cull_status backward(cull_layer_op *base, const cull_layer_args *args)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(base->backend, &cuda));
    TRY(cull_conv_weights(base, args, cuda->stream));
    TRY(cull_conv_data(base, args, cuda->stream));
done:
    return status;
}

const cull_layer_class cull_cuda_conv = {create, forward, backward, destroy};
