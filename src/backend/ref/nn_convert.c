/* backend/ref/nn_convert.c - the same values in another layout, forward and back. */
#include <string.h>

#include "backend/ref/nn.h"
#include "base/alloc.h"

static size_t place(const cull_image *s, int64_t n, int64_t c, int64_t pixel)
{
    int64_t area = s->h * s->w;

    return (size_t)(((n * (s->c / s->block) + c / s->block) * area + pixel) * s->block +
                    c % s->block);
}

static void move(const cull_layer_desc *d, const cull_image *from, const void *in,
                 const cull_image *to, void *out)
{
    size_t size = cull_dtype_size(d->dtype);

    for (int64_t n = 0; n < from->n; n++)
        for (int64_t c = 0; c < from->c; c++)
            for (int64_t i = 0; i < from->h * from->w; i++)
                memcpy((char *)out + place(to, n, c, i) * size,
                       (const char *)in + place(from, n, c, i) * size, size);
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
    move(&op->desc, &op->desc.x, args->x, &op->desc.y, args->y);
    return CULL_OK;
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    if (args->accumulate) return cull_fail(CULL_UNSUPPORTED, "convert hands its gradient on whole");
    move(&op->desc, &op->desc.y, args->dy, &op->desc.x, args->dx);
    return CULL_OK;
}

static void destroy(cull_layer_op *op)
{
    cull_base_free(op);
}

const cull_layer_class cull_ref_convert = {create, forward, backward, destroy};
