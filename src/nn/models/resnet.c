/*
 * nn/models/resnet.c - ResNet-18, 34, 50 (He et al. 2016): with a 3x3 stem for small images, or the
 * 7x7 stem and max-pooling for large ones. Bottlenecks stride in their 3x3 convolution.
 *
 * Small images start from PyTorch's defaults, as the common CIFAR implementations do; large ones
 * from He's rule by fan-out, as torchvision does.
 */
#include "nn/models/models.h"

struct family {
    int  depth, blocks[4];
    bool bottleneck;
};

static const struct family families[] = {
    {18, {2, 2, 2, 2}, false}, {34, {3, 4, 6, 3}, false}, {50, {3, 4, 6, 3}, true}};

struct builder {
    cull_model     *m;
    cull_activation activation;
    cull_init       init;
};

static int conv_norm(const struct builder *b, int x, const char *prefix, int number, int64_t out,
                     int64_t kernel, int64_t stride)
{
    cull_model_name name;
    char            part[16];

    (void)snprintf(part, sizeof part, "conv%d", number);
    x = cull_model_kernel(b->m, x, cull_model_join(&name, prefix, part), out, kernel, stride,
                          b->init);
    (void)snprintf(part, sizeof part, "bn%d", number);
    return cull_model_batchnorm(b->m, x, cull_model_join(&name, prefix, part));
}

static int downsample(const struct builder *b, int x, const char *prefix, int64_t out,
                      int64_t stride)
{
    cull_model_name name;

    x = cull_model_kernel(b->m, x, cull_model_join(&name, prefix, "downsample.0"), out, 1, stride,
                          b->init);
    return cull_model_batchnorm(b->m, x, cull_model_join(&name, prefix, "downsample.1"));
}

static int block(const struct builder *b, int x, const char *prefix, int64_t width, int64_t stride,
                 bool bottleneck, bool changes)
{
    int64_t out = bottleneck ? 4 * width : width;
    int     skip = changes ? downsample(b, x, prefix, out, stride) : x;
    int     y = conv_norm(b, x, prefix, 1, width, bottleneck ? 1 : 3, bottleneck ? 1 : stride);

    y = cull_model_activate(b->m, y, b->activation);
    y = conv_norm(b, y, prefix, 2, width, 3, bottleneck ? stride : 1);
    if (bottleneck) {
        y = cull_model_activate(b->m, y, b->activation);
        y = conv_norm(b, y, prefix, 3, out, 1, 1);
    }
    return cull_model_activate(b->m, cull_model_add(b->m, y, skip), b->activation);
}

static const struct family *find_family(int depth)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i].depth == depth) return &families[i];
    return NULL;
}

int cull_model_resnet(cull_model *m, const cull_model_options *options)
{
    const struct family *family = find_family(options->depth);
    struct builder       b = {m, options->activation,
                        options->imagenet_stem ? CULL_INIT_HE_OUT : CULL_INIT_TORCH};
    int                  x = options->imagenet_stem ? conv_norm(&b, 0, "", 1, 64, 7, 2)
                                                    : conv_norm(&b, 0, "", 1, 64, 3, 1);

    x = cull_model_activate(m, x, options->activation);
    if (options->imagenet_stem)
        x = cull_model_pool(m, x, &(cull_pool){.kernel = 3, .stride = 2, .pad = 1});
    for (int stage = 0; family && stage < 4; stage++) {
        for (int i = 0; i < family->blocks[stage]; i++) {
            char prefix[40];
            bool first = i == 0;

            (void)snprintf(prefix, sizeof prefix, "layer%d.%d", stage + 1, i);
            x = block(&b, x, prefix, (int64_t)64 << stage, first && stage ? 2 : 1,
                      family->bottleneck, first && (stage || family->bottleneck));
        }
    }
    x = cull_model_pool(m, x, &(cull_pool){.pooling = CULL_POOL_GLOBAL});
    return cull_model_logits(m, x, "fc", options, CULL_INIT_TORCH);
}
