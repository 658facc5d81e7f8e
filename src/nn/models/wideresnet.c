/*
 * nn/models/wideresnet.c - WRN-d-k (Zagoruyko & Komodakis 2016): pre-activation blocks, 6n+4
 * layers, dropout between the two convolutions of a block. Where a block changes its width, the
 * shortcut's 1x1 convolution reads the activated input.
 */
#include "nn/models/models.h"

static int block(cull_model *m, int x, const char *prefix, int64_t width, int64_t stride,
                 bool changes, const cull_model_options *options)
{
    cull_model_name name;
    int             a = cull_model_batchnorm(m, x, cull_model_join(&name, prefix, "bn1"));
    int             skip = x, y = 0;

    a = cull_model_activate(m, a, options->activation);
    if (changes)
        skip = cull_model_kernel(m, a, cull_model_join(&name, prefix, "convShortcut"), width, 1,
                                 stride, CULL_INIT_HE_OUT);
    y = cull_model_kernel(m, a, cull_model_join(&name, prefix, "conv1"), width, 3, stride,
                          CULL_INIT_HE_OUT);
    y = cull_model_batchnorm(m, y, cull_model_join(&name, prefix, "bn2"));
    y = cull_model_activate(m, y, options->activation);
    if (options->dropout > 0) y = cull_model_dropout(m, y, options->dropout);
    y = cull_model_kernel(m, y, cull_model_join(&name, prefix, "conv2"), width, 3, 1,
                          CULL_INIT_HE_OUT);
    return cull_model_add(m, skip, y);
}

int cull_model_wideresnet(cull_model *m, const cull_model_options *options)
{
    int blocks = (options->depth - 4) / 6;
    int x = cull_model_kernel(m, 0, "conv1", 16, 3, 1, CULL_INIT_HE_OUT);

    for (int stage = 0; stage < 3; stage++) {
        int64_t width = ((int64_t)16 << stage) * options->widen;

        for (int i = 0; i < blocks; i++) {
            char prefix[40];
            bool changes = i == 0 && (stage > 0 || width != 16);

            (void)snprintf(prefix, sizeof prefix, "block%d.layer.%d", stage + 1, i);
            x = block(m, x, prefix, width, i == 0 && stage ? 2 : 1, changes, options);
        }
    }
    x = cull_model_batchnorm(m, x, "bn1");
    x = cull_model_activate(m, x, options->activation);
    x = cull_model_pool(m, x, &(cull_pool){.pooling = CULL_POOL_GLOBAL});
    return cull_model_logits(m, x, "fc", options, CULL_INIT_UNIFORM);
}
