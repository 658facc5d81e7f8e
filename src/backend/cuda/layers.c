/* backend/cuda/layers.c - layer operations on a CUDA device, and the layouts that it likes. */
#include <stdlib.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/nn_conv.h"
#include "backend/cuda/nn_layer.h"
#include "backend/cuda/nn_state.h"

extern const cull_layer_class cull_cuda_dropout, cull_cuda_loss;

/* Channels innermost, as the matrix units want them. */
static int64_t block(cull_backend *backend, int64_t c, int64_t common)
{
    (void)backend;
    (void)common;
    return c;
}

/* For benchmarks, CULL_CUDA_BESIDE. 0: nothing does; gradients: they alone do. */
static bool goes_beside(char unless)
{
    const char *wanted = getenv("CULL_CUDA_BESIDE");

    return !(wanted && *wanted == unless);
}

/* A convolution of few rows leaves much of a device idle; what its inputs' gradient waits for is
 * not what its weights' does. All of them, since they share scratch memory, one after the other. */
static bool beside(cull_backend *backend, const cull_layer_desc *desc)
{
    (void)backend;
    return desc->kind == CULL_LAYER_CONV && goes_beside('0');
}

static bool turns(cull_backend *backend)
{
    (void)backend;
    return goes_beside('0') && goes_beside('g');
}

static cull_status turn_aside(cull_backend *backend)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    TRY(cull_cuda_turn_aside(cuda));
done:
    return status;
}

static void turn_back(cull_backend *backend)
{
    cull_cuda_turn_back(cull_cuda_of(backend));
}

static cull_status join(cull_backend *backend)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    TRY(cull_cuda_join(cuda));
done:
    return status;
}

const cull_layer_table cull_layers_cuda = {
    .layer = {[CULL_LAYER_DENSE] = &cull_cuda_dense,
              [CULL_LAYER_CONV] = &cull_cuda_conv,
              [CULL_LAYER_BATCHNORM] = &cull_cuda_batchnorm,
              [CULL_LAYER_GROUPNORM] = &cull_cuda_groupnorm,
              [CULL_LAYER_LAYERNORM] = &cull_cuda_layernorm,
              [CULL_LAYER_ACTIVATE] = &cull_cuda_activate,
              [CULL_LAYER_POOL] = &cull_cuda_pool,
              [CULL_LAYER_ADD] = &cull_cuda_add,
              [CULL_LAYER_CONCAT] = &cull_cuda_concat,
              [CULL_LAYER_SHORTCUT] = &cull_cuda_shortcut,
              [CULL_LAYER_CONVERT] = &cull_cuda_convert,
              [CULL_LAYER_EMBED] = &cull_cuda_embed_layer,
              [CULL_LAYER_POSITIONS] = &cull_cuda_positions_layer,
              [CULL_LAYER_ATTENTION] = &cull_cuda_attention_layer,
              [CULL_LAYER_TAKE] = &cull_cuda_take,
              [CULL_LAYER_DROPOUT] = &cull_cuda_dropout,
              [CULL_LAYER_LOSS] = &cull_cuda_loss},
    .block = block,
    .beside = beside,
    .join = join,
    .turns = turns,
    .turn_aside = turn_aside,
    .turn_back = turn_back,
    .fuses = true,
    .weights_last = true,
    .mixes = true,
    .ways = cull_nn_ways,
    .recall = cull_nn_recall,
};
