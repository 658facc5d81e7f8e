/* nn/models/mlp.c - two hidden layers of 256 units. */
#include "nn/models/models.h"

enum { HIDDEN = 256 };

int cull_model_mlp(cull_model *m, const cull_model_options *options)
{
    int x = cull_model_flatten(m, 0);

    x = cull_model_dense(m, x, "fc1", &(cull_dense){.out = HIDDEN});
    x = cull_model_activate(m, x, options->activation);
    x = cull_model_dense(m, x, "fc2", &(cull_dense){.out = HIDDEN});
    x = cull_model_activate(m, x, options->activation);
    return cull_model_logits(m, x, "fc3", options, CULL_INIT_TORCH);
}
