/* nn/models/mlp.c - two hidden layers of 256 units. */
#include "nn/models/models.h"

enum { HIDDEN = 256 };

int cull_model_mlp(cull_model *m, const cull_model_options *options)
{
    int x = cull_nn_flatten(m, 0);

    x = cull_nn_dense(m, x, "fc1", HIDDEN, true, CULL_INIT_TORCH);
    x = cull_nn_activate(m, x, options->activation);
    x = cull_nn_dense(m, x, "fc2", HIDDEN, true, CULL_INIT_TORCH);
    x = cull_nn_activate(m, x, options->activation);
    return cull_nn_dense(m, x, "fc3", (int64_t)options->classes, true, CULL_INIT_TORCH);
}
