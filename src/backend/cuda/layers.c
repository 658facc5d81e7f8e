/* backend/cuda/layers.c - layer operations on a CUDA device, and the layouts that it likes. */
#include "backend/cuda/cuda.h"

extern const cull_layer_class cull_cuda_dropout, cull_cuda_loss;

/* Channels innermost, as the matrix units want them. */
static int64_t block(cull_backend *backend, int64_t c, int64_t common)
{
    (void)backend;
    (void)common;
    return c;
}

const cull_layer_table cull_layers_cuda = {
    .layer =
        {
            [CULL_LAYER_DROPOUT] = &cull_cuda_dropout,
            [CULL_LAYER_LOSS] = &cull_cuda_loss,
        },
    .block = block,
    .fuses = true,
    .mixes = true,
};
