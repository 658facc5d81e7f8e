/*
 * backend/ref/nn_convert.c - the same values in another layout, forward and back; or the image as
 * features (c h w, 1, 1), which are its elements in NCHW order.
 */
#include <string.h>

#include "backend/ref/nn.h"
#include "base/alloc.h"

static size_t place(const cull_image *s, int64_t n, int64_t c, int64_t pixel)
{
    int64_t area = s->h * s->w;

    return (size_t)(((n * (s->c / s->block) + c / s->block) * area + pixel) * s->block +
                    c % s->block);
}

/* The layout of y in the extents of x. */
static cull_image like_x(const cull_layer_desc *d)
{
    cull_image image = d->x;

    image.block = d->y.c == d->x.c ? d->y.block : 1;
    return image;
}

static void move(const cull_layer_desc *d, const cull_image *from, const void *in,
                 const cull_image *to, void *out, bool accumulate)
{
    size_t size = cull_dtype_size(d->dtype);

    for (int64_t n = 0; n < from->n; n++) {
        for (int64_t c = 0; c < from->c; c++) {
            for (int64_t i = 0; i < from->h * from->w; i++) {
                size_t at = place(to, n, c, i), source = place(from, n, c, i);

                if (!accumulate)
                    memcpy((char *)out + at * size, (const char *)in + source * size, size);
                else if (d->dtype == CULL_F32)
                    ((float *)out)[at] += ((const float *)in)[source];
                else
                    ((double *)out)[at] += ((const double *)in)[source];
            }
        }
    }
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status status = CULL_OK;

    (void)backend;
    (void)desc;
    TRY(cull_base_alloc(1, sizeof **out, "a layer operation", out));
    (*out)->implementation = "ref";
done:
    return status;
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_image y = like_x(&op->desc);

    move(&op->desc, &op->desc.x, args->x, &y, args->y, false);
    return CULL_OK;
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_image y = like_x(&op->desc);

    move(&op->desc, &y, args->dy, &op->desc.x, args->dx, args->accumulate);
    return CULL_OK;
}

static void destroy(cull_layer_op *op)
{
    cull_base_free(op);
}

const cull_layer_class cull_ref_convert = {create, forward, backward, destroy};
