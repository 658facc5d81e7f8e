/*
 * nn/models/resnet_cifar.c - ResNet-20, 56 of He et al. (2016) for CIFAR: 6n+2 layers, widths 16,
 * 32, 64, shortcuts without parameters (option A).
 */
#include "nn/models/models.h"

static int block(cull_model *m, int x, const char *prefix, int64_t width, int64_t stride,
                 bool widens, cull_activation activation)
{
    cull_model_name name;
    int             skip = widens ? cull_model_shortcut(m, x, width, stride) : x;
    int y = cull_model_kernel(m, x, cull_model_join(&name, prefix, "conv1"), width, 3, stride,
                              CULL_INIT_HE_IN);

    y = cull_model_batchnorm(m, y, cull_model_join(&name, prefix, "bn1"));
    y = cull_model_activate(m, y, activation);
    y = cull_model_kernel(m, y, cull_model_join(&name, prefix, "conv2"), width, 3, 1,
                          CULL_INIT_HE_IN);
    y = cull_model_batchnorm(m, y, cull_model_join(&name, prefix, "bn2"));
    y = cull_model_add(m, y, skip);
    return cull_model_activate(m, y, activation);
}

int cull_model_resnet_cifar(cull_model *m, const cull_model_options *options)
{
    int blocks = (options->depth - 2) / 6;
    int x = cull_model_kernel(m, 0, "conv1", 16, 3, 1, CULL_INIT_HE_IN);

    x = cull_model_batchnorm(m, x, "bn1");
    x = cull_model_activate(m, x, options->activation);
    for (int stage = 0; stage < 3; stage++) {
        for (int i = 0; i < blocks; i++) {
            char prefix[40];
            bool widens = stage > 0 && i == 0;

            (void)snprintf(prefix, sizeof prefix, "layer%d.%d", stage + 1, i);
            x = block(m, x, prefix, 16 << stage, widens ? 2 : 1, widens, options->activation);
        }
    }
    x = cull_model_pool(m, x, &(cull_pool){.pooling = CULL_POOL_GLOBAL});
    return cull_model_logits(m, x, "linear", options, CULL_INIT_HE_IN);
}
