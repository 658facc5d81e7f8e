/*
 * backend/cuda/nn_move.c - layers whose values only change their place.
 *
 *     concat     channels of x, then of x2
 *     shortcut   y[c + (C' - C)/2, p, q] = x[c, p S, q S], zero in the channels left over
 *     convert    channels innermost to NCHW or back; into features: in NCHW order
 */
#include "backend/cuda/nn_move.h"

#include "backend/cuda/nn_layer.h"
#include "backend/cuda/nn_point.h"

struct mover {
    cull_layer_op base;
    cull_move     move;
};

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status   status = CULL_OK;
    struct mover *op = NULL;
    bool          joins = desc->kind == CULL_LAYER_CONCAT;
    int64_t       first = joins ? 0 : (desc->y.c - desc->x.c) / 2;

    (void)backend;
    TRY(cull_cuda_layer_new(desc, sizeof *op, &op));
    op->move = (cull_move){.dtype = desc->dtype,
                           .n = (uint32_t)desc->x.n,
                           .c = (uint32_t)desc->x.c,
                           .h = (uint32_t)desc->x.h,
                           .w = (uint32_t)desc->x.w,
                           .to_h = (uint32_t)desc->y.h,
                           .to_w = (uint32_t)desc->y.w,
                           .c2 = joins ? (uint32_t)desc->x2.c : 0,
                           .to_c = (uint32_t)desc->y.c,
                           .first = (uint32_t)first,
                           .stride = {(uint32_t)desc->stride[0], (uint32_t)desc->stride[1]}};
    op->move.width = cull_cuda_width(desc->dtype, desc->x.c, desc->y.c, first);
    *out = &op->base;
done:
    return status;
}

/* As it was made, for arrays that begin where vectors may. */
static cull_move at(const cull_layer_op *op, const void *a, const void *b, const void *c)
{
    cull_move move = ((const struct mover *)op)->move;

    if (!cull_cuda_aligned(a, b, c, NULL)) move.width = 1;
    return move;
}

static cull_status concat(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;
    cull_move   move = at(op, args->x, args->x2, args->y);

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_move_concat(cuda->stream, &move, args->x, args->x2, args->y));
done:
    return status;
}

/* Where both parts go to one place, one goes after the other. */
static cull_status split(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;
    cull_move   move = at(op, args->dy, args->dx, args->dx2);
    bool        one = args->dx != args->dx2;

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_move_split(cuda->stream, &move, args->dy, args->dx, args->accumulate,
                              one ? args->dx2 : NULL, args->accumulate2));
    if (!one)
        CUDA(cull_cuda_move_split(cuda->stream, &move, args->dy, NULL, false, args->dx2,
                                  args->accumulate2));
done:
    return status;
}

const cull_layer_class cull_cuda_concat = {create, concat, split, cull_cuda_layer_free};

static cull_status shortcut(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;
    cull_move   move = at(op, args->x, args->y, NULL);

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_move_shortcut(cuda->stream, &move, args->x, args->y));
done:
    return status;
}

static cull_status shortcut_back(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;
    cull_move   move = at(op, args->dy, args->dx, NULL);

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_move_shortcut_back(cuda->stream, &move, args->dy, args->dx, args->accumulate));
done:
    return status;
}

const cull_layer_class cull_cuda_shortcut = {create, shortcut, shortcut_back, cull_cuda_layer_free};

/* ---- convert ---- */

/* The layout of y in the extents of x: features lie in NCHW order. */
static bool y_is_last(const cull_layer_desc *d)
{
    return d->y.c == d->x.c && d->y.block == d->x.c;
}

/* Is the memory the same in both? */
static bool is_copy(const cull_layer_desc *d)
{
    return d->x.h * d->x.w == 1 || d->x.c == 1 || (d->x.block == d->x.c) == y_is_last(d);
}

static cull_status create_convert(cull_backend *backend, const cull_layer_desc *desc,
                                  cull_layer_op **out)
{
    cull_status     status = CULL_OK;
    cull_layer_desc d = *desc;

    (void)backend;
    if (d.x.h * d.x.w > 1 &&
        ((d.x.block != 1 && d.x.block != d.x.c) || (d.y.block != 1 && d.y.block != d.y.c)))
        FAIL(CULL_UNSUPPORTED, "images on a CUDA device have no blocks of channels");
    d.x.block = d.x.c;
    d.y.block = d.y.c;
    TRY(cull_cuda_layer_new(&d, sizeof **out, out));
done:
    return status;
}

static cull_status convert(const cull_layer_op *op, const void *from, void *to, bool backward,
                           bool accumulate)
{
    cull_status            status = CULL_OK;
    cull_cuda             *cuda = NULL;
    const cull_layer_desc *d = &op->desc;
    uint32_t               c = (uint32_t)d->x.c, area = (uint32_t)(d->x.h * d->x.w);
    size_t                 n = (size_t)d->x.n;
    bool                   last = (d->x.block == d->x.c) != backward; /* of what it comes from */
    int width = cull_cuda_aligned(from, to, NULL, NULL) ? cull_cuda_width(d->dtype, 0, 0, 0) : 1;

    TRY(cull_cuda_enter(op->backend, &cuda));
    if (is_copy(d))
        CUDA(cull_cuda_point_share(cuda->stream, d->dtype, width, n * c * area, from, to,
                                   accumulate, NULL, false));
    else
        CUDA(cull_cuda_move_turn(cuda->stream, d->dtype, n, last ? area : c, last ? c : area, from,
                                 to, accumulate));
done:
    return status;
}

static cull_status convert_forward(cull_layer_op *op, const cull_layer_args *args)
{
    return convert(op, args->x, args->y, false, false);
}

static cull_status convert_backward(cull_layer_op *op, const cull_layer_args *args)
{
    return convert(op, args->dy, args->dx, true, args->accumulate);
}

const cull_layer_class cull_cuda_convert = {create_convert, convert_forward, convert_backward,
                                            cull_cuda_layer_free};
