/*
 * nn/models/densenet.c - DenseNet-BC-d-k (Huang et al. 2017) for small images: three dense blocks
 * of bottlenecks (1x1 to 4k channels, 3x3 to k), transitions that halve channels and extent.
 */
#include "nn/models/models.h"

static int norm_conv(cull_model *m, int x, const char *prefix, int number, int64_t out,
                     int64_t kernel, cull_activation activation)
{
    cull_model_name name;
    char            part[16];

    (void)snprintf(part, sizeof part, "bn%d", number);
    x = cull_model_batchnorm(m, x, cull_model_join(&name, prefix, part));
    x = cull_model_activate(m, x, activation);
    (void)snprintf(part, sizeof part, "conv%d", number);
    return cull_model_kernel(m, x, cull_model_join(&name, prefix, part), out, kernel, 1,
                             CULL_INIT_HE_OUT);
}

int cull_model_densenet(cull_model *m, const cull_model_options *options)
{
    int64_t growth = options->widen, channels = 2 * growth;
    int     layers = (options->depth - 4) / 6;
    int     x = cull_model_kernel(m, 0, "conv1", channels, 3, 1, CULL_INIT_HE_OUT);
    char    prefix[40];

    for (int b = 1; b <= 3; b++) {
        for (int i = 0; i < layers; i++) {
            int y = 0;

            (void)snprintf(prefix, sizeof prefix, "block%d.layer.%d", b, i);
            y = norm_conv(m, x, prefix, 1, 4 * growth, 1, options->activation);
            y = norm_conv(m, y, prefix, 2, growth, 3, options->activation);
            x = cull_model_concat(m, x, y);
            channels += growth;
        }
        if (b == 3) break;
        channels /= 2;
        (void)snprintf(prefix, sizeof prefix, "trans%d", b);
        x = norm_conv(m, x, prefix, 1, channels, 1, options->activation);
        x = cull_model_pool(m, x, &(cull_pool){.pooling = CULL_POOL_AVERAGE, .kernel = 2});
    }
    x = cull_model_batchnorm(m, x, "bn1");
    x = cull_model_activate(m, x, options->activation);
    x = cull_model_pool(m, x, &(cull_pool){.pooling = CULL_POOL_GLOBAL});
    return cull_model_logits(m, x, "fc", options, CULL_INIT_UNIFORM);
}
