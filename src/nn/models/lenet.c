/* nn/models/lenet.c - LeNet-5 with ReLU and max-pooling; 28x28 inputs are padded by 2. */
#include "nn/models/models.h"

int cull_model_lenet(cull_model *m, const cull_model_options *options)
{
    int64_t pad = options->height <= 28 ? 2 : 0;
    int     x = cull_nn_conv(m, 0, "conv1", &(cull_conv){.out = 6, .kernel = 5, .pad = pad});

    x = cull_nn_activate(m, x, options->activation);
    x = cull_nn_pool(m, x, &(cull_pool){.kernel = 2});
    x = cull_nn_conv(m, x, "conv2", &(cull_conv){.out = 16, .kernel = 5});
    x = cull_nn_activate(m, x, options->activation);
    x = cull_nn_pool(m, x, &(cull_pool){.kernel = 2});
    x = cull_nn_flatten(m, x);
    x = cull_nn_dense(m, x, "fc1", 120, true, CULL_INIT_TORCH);
    x = cull_nn_activate(m, x, options->activation);
    x = cull_nn_dense(m, x, "fc2", 84, true, CULL_INIT_TORCH);
    x = cull_nn_activate(m, x, options->activation);
    return cull_nn_dense(m, x, "fc3", (int64_t)options->classes, true, CULL_INIT_TORCH);
}
