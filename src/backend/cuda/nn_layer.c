/* backend/cuda/nn_layer.c - what the layers of our own kernels share. */
#include "backend/cuda/nn_layer.h"

#include <string.h>

#include "base/alloc.h"

/* Values are counted in 32 bits. */
static bool too_large(const cull_image *image)
{
    return image->n && image->n > (int64_t)UINT32_MAX / cull_image_row(image);
}

cull_status cull_cuda_layer_check(const cull_layer_desc *desc)
{
    if (desc->dtype != CULL_BF16 && desc->dtype != CULL_F32 && desc->dtype != CULL_F64)
        return cull_fail(CULL_UNSUPPORTED, "networks on a CUDA device do not know %s",
                         cull_dtype_name(desc->dtype));
    if (too_large(&desc->x) || too_large(&desc->x2) || too_large(&desc->y))
        return cull_fail(CULL_UNSUPPORTED,
                         "a layer on a CUDA device takes at most %u values at once", UINT32_MAX);
    return CULL_OK;
}

cull_status cull_cuda_norm_check(const cull_layer_desc *desc)
{
    cull_dtype wide = desc->dtype == CULL_F64 ? CULL_F64 : CULL_F32;

    if (desc->parameters == wide && desc->statistics == wide) return CULL_OK;
    return cull_fail(CULL_UNSUPPORTED,
                     "norms of %s on a CUDA device take parameters and statistics in %s",
                     cull_dtype_name(desc->dtype), cull_dtype_name(wide));
}

cull_status cull_cuda_layer_new(const cull_layer_desc *desc, size_t size, void *out)
{
    cull_status status = CULL_OK;
    void       *op = NULL;

    TRY(cull_cuda_layer_check(desc));
    if (!cull_cuda_last(&desc->x) || !cull_cuda_last(&desc->y) ||
        (desc->x2.n && !cull_cuda_last(&desc->x2)))
        FAIL(CULL_UNSUPPORTED, "layers on a CUDA device know one layout, channels innermost");
    TRY(cull_base_alloc(1, size, "a layer operation", &op));
    ((cull_layer_op *)op)->implementation = "own";
done:
    memcpy(out, &op, sizeof op);
    return status;
}

void cull_cuda_layer_free(cull_layer_op *op)
{
    cull_base_free(op);
}
