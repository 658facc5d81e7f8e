/* backend/cuda/nn_embed.c - rows of a table, for tokens and for positions; and taking the first
 * position of a sequence. */
#include "backend/cuda/nn_embed.h"

#include "backend/cuda/nn_layer.h"
#include "backend/cuda/nn_point.h"
#include "backend/cuda/nn_rows.h"

struct table {
    cull_layer_op base;
    uint64_t     *order;   /* embed, backward                      */
    void         *partial; /* the same; or positions': of its sums */
};

static void destroy(cull_layer_op *op)
{
    struct table *table = (struct table *)op;

    cull_backend_release(op->backend, table->order);
    cull_backend_release(op->backend, table->partial);
    cull_cuda_layer_free(op);
}

static cull_dtype wide_of(cull_dtype dtype)
{
    return dtype == CULL_F64 ? CULL_F64 : CULL_F32;
}

static cull_status check(const cull_layer_desc *desc)
{
    cull_status status = CULL_OK;
    cull_dtype  wide = wide_of(desc->dtype);

    TRY(cull_cuda_layer_check(desc));
    if (desc->parameters != wide)
        FAIL(CULL_UNSUPPORTED, "tables of rows for %s on a CUDA device are in %s",
             cull_dtype_name(desc->dtype), cull_dtype_name(wide));
    if (desc->rows > INT32_MAX)
        FAIL(CULL_UNSUPPORTED, "a table on a CUDA device has at most %d rows", INT32_MAX);
done:
    return status;
}

static size_t tokens_of(const cull_layer_desc *desc)
{
    return (size_t)(desc->y.n * desc->y.h);
}

/* Of the weights' gradient. */
static cull_status make_room(cull_backend *backend, const cull_layer_desc *desc,
                             struct table *table)
{
    cull_status status = CULL_OK;
    size_t      count = tokens_of(desc), features = (size_t)desc->y.c, sums = 0;

    if (!desc->learn) return CULL_OK;
    if (desc->kind == CULL_LAYER_EMBED) {
        size_t chunks = (count + CULL_EMBED_CHUNK - 1) / CULL_EMBED_CHUNK;

        TRY(cull_backend_allocate(backend, count, sizeof *table->order, "tokens in order",
                                  &table->order));
        TRY(cull_backend_allocate(backend, 2 * chunks * features, cull_dtype_size(desc->parameters),
                                  "sums of tokens", &table->partial));
    } else {
        sums = desc->same ? cull_rows_sum_room(count, features)
                          : cull_rows_sum_room((size_t)desc->y.n, features * (size_t)desc->y.h);
        TRY(cull_backend_allocate(backend, sums, 1, "sums of positions", &table->partial));
    }
done:
    return status;
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status   status = CULL_OK;
    struct table *table = NULL;

    TRY(check(desc));
    TRY(cull_cuda_layer_new(desc, sizeof *table, &table));
    table->base.backend = backend;
    TRY(make_room(backend, desc, table));
    *out = &table->base;
    table = NULL;
done:
    if (table) destroy(&table->base);
    return status;
}

static cull_embed_call call_of(const cull_layer_op *op, const cull_layer_args *args)
{
    const cull_layer_desc *d = &op->desc;
    const struct table    *table = (const struct table *)op;

    return (cull_embed_call){.dtype = d->dtype,
                             .table = d->parameters,
                             .count = tokens_of(d),
                             .rows = (uint32_t)d->rows,
                             .features = (uint32_t)d->y.c,
                             .length = (uint32_t)d->y.h,
                             .same = d->same,
                             .accumulate = args->accumulate,
                             .w = args->w,
                             .x = args->x,
                             .dy = args->dy,
                             .y = args->y,
                             .dx = args->dx,
                             .dw = args->dw,
                             .order = table->order,
                             .partial = table->partial};
}

/* Values moved at once, where all of these begin. */
static int width_of(const cull_layer_op *op, const void *a, const void *b, const void *c)
{
    return cull_cuda_aligned(a, b, c, NULL) ? cull_cuda_width(op->desc.dtype, op->desc.y.c, 0, 0)
                                            : 1;
}

/* ---- embed ---- */
static cull_status embed(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status     status = CULL_OK;
    cull_cuda      *cuda = NULL;
    cull_embed_call call = call_of(op, args);

    TRY(cull_cuda_enter(op->backend, &cuda));
    call.token = args->x;
    if (args->narrow) { /* half of what there is to read */
        call.w = args->narrow;
        call.table = call.dtype;
    }
    call.width = width_of(op, call.w, call.y, NULL);
    CUDA(cull_cuda_embed(cuda->stream, &call));
done:
    return status;
}

static cull_status embed_back(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status     status = CULL_OK;
    cull_cuda      *cuda = NULL;
    cull_embed_call call = call_of(op, args);

    TRY(cull_cuda_enter(op->backend, &cuda));
    call.token = args->x;
    call.width = width_of(op, call.dy, call.dw, NULL);
    CUDA(cull_cuda_embed_back(cuda->stream, &call));
done:
    return status;
}

const cull_layer_class cull_cuda_embed_layer = {create, embed, embed_back, destroy};

/* ---- positions ---- */
static cull_status positions(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status     status = CULL_OK;
    cull_cuda      *cuda = NULL;
    cull_embed_call call = call_of(op, args);

    TRY(cull_cuda_enter(op->backend, &cuda));
    call.width = width_of(op, call.x, call.y, call.w);
    CUDA(cull_cuda_positions(cuda->stream, &call));
done:
    return status;
}

static cull_status positions_back(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status            status = CULL_OK;
    cull_cuda             *cuda = NULL;
    const cull_layer_desc *d = &op->desc;
    const struct table    *table = (const struct table *)op;
    size_t                 seen = d->same ? 1 : (size_t)d->y.h, count = tokens_of(d);
    size_t                 size = cull_dtype_size(d->parameters), row = (size_t)d->y.c;
    int                    width =
        cull_cuda_aligned(args->dy, args->dx, NULL, NULL) ? cull_cuda_width(d->dtype, 0, 0, 0) : 1;

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_rows_sum(cuda->stream, d->dtype, count / seen, seen * row, args->dy, args->dw,
                       table->partial));
    if ((size_t)d->rows > seen)
        CUDA(cudaMemsetAsync((char *)args->dw + seen * row * size, 0,
                             ((size_t)d->rows - seen) * row * size, cuda->stream));
    if (args->dx)
        CUDA(cull_cuda_point_share(cuda->stream, d->dtype, width, count * row, args->dy, args->dx,
                                   args->accumulate, NULL, false));
done:
    return status;
}

const cull_layer_class cull_cuda_positions_layer = {create, positions, positions_back, destroy};

/* ---- take ---- */
static cull_status create_take(cull_backend *backend, const cull_layer_desc *desc,
                               cull_layer_op **out)
{
    (void)backend;
    return cull_cuda_layer_new(desc, sizeof **out, out);
}

static cull_embed_call call_to_take(const cull_layer_op *op, const cull_layer_args *args)
{
    const cull_layer_desc *d = &op->desc;

    return (cull_embed_call){.dtype = d->dtype,
                             .count = (size_t)d->x.n,
                             .features = (uint32_t)d->y.c,
                             .length = (uint32_t)d->x.h,
                             .accumulate = args->accumulate,
                             .x = args->x,
                             .dy = args->dy,
                             .y = args->y,
                             .dx = args->dx};
}

static cull_status take(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status     status = CULL_OK;
    cull_cuda      *cuda = NULL;
    cull_embed_call call = call_to_take(op, args);

    TRY(cull_cuda_enter(op->backend, &cuda));
    call.width = width_of(op, call.x, call.y, call.w);
    CUDA(cull_cuda_first(cuda->stream, &call));
done:
    return status;
}

static cull_status take_back(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status     status = CULL_OK;
    cull_cuda      *cuda = NULL;
    cull_embed_call call = call_to_take(op, args);

    if (!args->dx) return CULL_OK;
    TRY(cull_cuda_enter(op->backend, &cuda));
    call.width = width_of(op, call.dy, call.dx, NULL);
    CUDA(cull_cuda_first_back(cuda->stream, &call));
done:
    return status;
}

const cull_layer_class cull_cuda_take = {create_take, take, take_back, cull_cuda_layer_free};
