/*
 * nn/models/mobilenet.c - MobileNetV1 (Howard et al. 2017) and V2 (Sandler et al. 2018): depthwise
 * separable convolutions. For small images the stem, and in V2 the second stage, keep their extent.
 * V1 starts from PyTorch's defaults, as the common CIFAR implementation does; V2 as torchvision's.
 */
#include "nn/models/models.h"

static int conv_norm(cull_model *m, int x, const char *conv, const char *norm, int64_t out,
                     int64_t kernel, int64_t stride, int64_t groups, cull_init init)
{
    x = cull_model_conv(m, x, conv,
                        &(cull_conv){.out = out,
                                     .kernel = kernel,
                                     .stride = stride,
                                     .pad = kernel / 2,
                                     .groups = groups,
                                     .no_bias = true,
                                     .init = init});
    return cull_model_batchnorm(m, x, norm);
}

int cull_model_mobilenet1(cull_model *m, const cull_model_options *options)
{
    static const struct {
        int64_t out, stride;
    } stages[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                  {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
    int64_t channels = 32;
    int     x = conv_norm(m, 0, "conv1", "bn1", channels, 3, options->imagenet_stem ? 2 : 1, 1,
                          CULL_INIT_TORCH);
    cull_model_name a, b;

    x = cull_model_activate(m, x, options->activation);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        char prefix[40];

        (void)snprintf(prefix, sizeof prefix, "layers.%zu", i);
        x = conv_norm(m, x, cull_model_join(&a, prefix, "conv1"),
                      cull_model_join(&b, prefix, "bn1"), channels, 3, stages[i].stride, channels,
                      CULL_INIT_TORCH);
        x = cull_model_activate(m, x, options->activation);
        x = conv_norm(m, x, cull_model_join(&a, prefix, "conv2"),
                      cull_model_join(&b, prefix, "bn2"), stages[i].out, 1, 1, 1, CULL_INIT_TORCH);
        x = cull_model_activate(m, x, options->activation);
        channels = stages[i].out;
    }
    x = cull_model_pool(m, x, &(cull_pool){.pooling = CULL_POOL_GLOBAL});
    return cull_model_logits(m, x, "linear", options, CULL_INIT_TORCH);
}

/* Expand by 1x1, filter by depthwise 3x3, project by 1x1; numbered as torchvision numbers them. */
static int inverted(cull_model *m, int x, const char *prefix, int64_t in, int64_t out,
                    int64_t expand, int64_t stride, cull_activation activation)
{
    cull_model_name a, b;
    int             y = x, part = 0;
    char            conv[16], norm[16];

    if (expand > 1) {
        y = conv_norm(m, y, cull_model_join(&a, prefix, "conv.0.0"),
                      cull_model_join(&b, prefix, "conv.0.1"), in * expand, 1, 1, 1,
                      CULL_INIT_HE_OUT);
        y = cull_model_activate(m, y, activation);
        part = 1;
    }
    (void)snprintf(conv, sizeof conv, "conv.%d.0", part);
    (void)snprintf(norm, sizeof norm, "conv.%d.1", part);
    y = conv_norm(m, y, cull_model_join(&a, prefix, conv), cull_model_join(&b, prefix, norm),
                  in * expand, 3, stride, in * expand, CULL_INIT_HE_OUT);
    y = cull_model_activate(m, y, activation);
    (void)snprintf(conv, sizeof conv, "conv.%d", part + 1);
    (void)snprintf(norm, sizeof norm, "conv.%d", part + 2);
    y = conv_norm(m, y, cull_model_join(&a, prefix, conv), cull_model_join(&b, prefix, norm), out,
                  1, 1, 1, CULL_INIT_HE_OUT);
    return stride == 1 && in == out ? cull_model_add(m, x, y) : y;
}

int cull_model_mobilenet2(cull_model *m, const cull_model_options *options)
{
    static const struct {
        int64_t expand, out, repeat, stride;
    } stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                  {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    cull_activation activation =
        options->activation == CULL_RELU ? CULL_RELU6 : options->activation;
    int64_t channels = 32, number = 1;
    int     x = conv_norm(m, 0, "features.0.0", "features.0.1", channels, 3,
                      options->imagenet_stem ? 2 : 1, 1, CULL_INIT_HE_OUT);

    x = cull_model_activate(m, x, activation);
    for (size_t s = 0; s < sizeof stages / sizeof *stages; s++) {
        for (int64_t i = 0; i < stages[s].repeat; i++, number++) {
            char    prefix[40];
            int64_t stride = i == 0 && (s != 1 || options->imagenet_stem) ? stages[s].stride : 1;

            (void)snprintf(prefix, sizeof prefix, "features.%d", (int)number);
            x = inverted(m, x, prefix, channels, stages[s].out, stages[s].expand, stride,
                         activation);
            channels = stages[s].out;
        }
    }
    x = conv_norm(m, x, "features.18.0", "features.18.1", 1280, 1, 1, 1, CULL_INIT_HE_OUT);
    x = cull_model_activate(m, x, activation);
    x = cull_model_pool(m, x, &(cull_pool){.pooling = CULL_POOL_GLOBAL});
    if (options->dropout > 0) x = cull_model_dropout(m, x, options->dropout);
    x = cull_model_logits(m, x, "classifier.1", options, CULL_INIT_NORMAL);
    if (x > 0) m->node[x].init_value = 0.01;
    return x;
}
