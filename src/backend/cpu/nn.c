/* backend/cpu/nn.c - the table of layer operations on the host, and what they share. */
#include "backend/cpu/nn.h"

#include <string.h>

#include "backend/cpu/nn_dnnl.h"
#include "backend/cpu/nn_weights.h"
#include "base/alloc.h"

cull_status cull_cpu_layer_check(const cull_layer_desc *desc)
{
    if (desc->dtype == CULL_F32) return CULL_OK;
    return cull_fail(CULL_UNSUPPORTED, "networks on the cpu backend are float32, not %s",
                     cull_dtype_name(desc->dtype));
}

cull_status cull_cpu_layer_new(const cull_layer_desc *desc, size_t size, void *out)
{
    cull_status status = CULL_OK;
    void       *op = NULL;

    TRY(cull_cpu_layer_check(desc));
    TRY(cull_base_alloc(1, size, "a layer operation", &op));
    ((cull_layer_op *)op)->implementation = "own";
done:
    memcpy(out, &op, sizeof op);
    return status;
}

void cull_cpu_layer_free(cull_layer_op *op)
{
    cull_base_free(op);
}

size_t cull_cpu_parts(const cull_backend *backend, size_t rows, size_t row)
{
    size_t most = 4 * (size_t)cull_team_size(backend->team), worth = rows * row / 8192 + 1;
    size_t parts = worth < most ? worth : most;

    return parts < rows ? parts : (rows ? rows : 1);
}

/*
 * Blocked outputs from blocked inputs or, for a few channels, from NCHW: whether oneDNN has more
 * than plain loops for that depends on groups, kernel and extent, so it is asked, for the weights'
 * gradient where that is not ours. Of one example, whatever the plan's batch: plans that share rows
 * must agree.
 */
static bool blocks(cull_backend *backend, const cull_layer_desc *conv)
{
    cull_layer_desc d = *conv;
    int64_t         wide = cull_dnnl_width();

    if (d.y.c % wide) return false;
    d.x.n = d.y.n = 1;
    d.x.block = d.x.h * d.x.w == 1 || d.x.c % wide ? 1 : wide;
    d.y.block = d.y.h * d.y.w == 1 ? 1 : wide;
    return cull_dnnl_fast(&d, CULL_DNNL_FORWARD) &&
           (cull_cpu_weights_suit(backend, &d) || cull_dnnl_fast(&d, CULL_DNNL_WEIGHTS)) &&
           (!d.input_gradient || cull_dnnl_fast(&d, CULL_DNNL_DATA));
}

/*
 * Blocks as wide as a vector where every convolution can have them, NHWC elsewhere; beside blocks,
 * images of a few channels come in NCHW. oneDNN 3 is faster in NHWC where vectors are short.
 */
static int64_t block(cull_backend *backend, int64_t c, int64_t common)
{
    int64_t wide = cull_dnnl_width();

    (void)backend;
    if ((cull_dnnl_major() > 2 && wide < 16) || common % wide) return c;
    return c % wide ? 1 : wide;
}

const cull_layer_table cull_layers_cpu = {
    .layer = {[CULL_LAYER_DENSE] = &cull_cpu_dense,
              [CULL_LAYER_CONV] = &cull_cpu_conv,
              [CULL_LAYER_BATCHNORM] = &cull_cpu_batchnorm,
              [CULL_LAYER_GROUPNORM] = &cull_cpu_groupnorm,
              [CULL_LAYER_LAYERNORM] = &cull_cpu_layernorm,
              [CULL_LAYER_ACTIVATE] = &cull_cpu_activate,
              [CULL_LAYER_POOL] = &cull_cpu_pool,
              [CULL_LAYER_ADD] = &cull_cpu_add,
              [CULL_LAYER_CONCAT] = &cull_cpu_concat,
              [CULL_LAYER_SHORTCUT] = &cull_cpu_shortcut,
              [CULL_LAYER_DROPOUT] = &cull_cpu_dropout,
              [CULL_LAYER_LOSS] = &cull_cpu_loss,
              [CULL_LAYER_CONVERT] = &cull_cpu_convert,
              [CULL_LAYER_EMBED] = &cull_cpu_embed,
              [CULL_LAYER_POSITIONS] = &cull_cpu_positions,
              [CULL_LAYER_ATTENTION] = &cull_cpu_attention,
              [CULL_LAYER_TAKE] = &cull_cpu_take},
    .blocks = blocks,
    .block = block,
    .fuses = true,
    .int8 = true,
};
