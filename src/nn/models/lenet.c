/* nn/models/lenet.c - LeNet-5 with ReLU and max-pooling; 28x28 inputs are padded by 2. */
#include "nn/models/models.h"

int cull_model_lenet(cull_model *m, const cull_model_options *options)
{
    int64_t pad = options->height <= 28 ? 2 : 0;
    int     x = cull_model_conv(m, 0, "conv1", &(cull_conv){.out = 6, .kernel = 5, .pad = pad});

    x = cull_model_activate(m, x, options->activation);
    x = cull_model_pool(m, x, &(cull_pool){.kernel = 2});
    x = cull_model_conv(m, x, "conv2", &(cull_conv){.out = 16, .kernel = 5});
    x = cull_model_activate(m, x, options->activation);
    x = cull_model_pool(m, x, &(cull_pool){.kernel = 2});
    x = cull_model_flatten(m, x);
    x = cull_model_dense(m, x, "fc1", &(cull_dense){.out = 120});
    x = cull_model_activate(m, x, options->activation);
    x = cull_model_dense(m, x, "fc2", &(cull_dense){.out = 84});
    x = cull_model_activate(m, x, options->activation);
    return cull_model_logits(m, x, "fc3", options, CULL_INIT_TORCH);
}
