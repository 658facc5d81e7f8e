/* nn/models/mlp.c - hidden layers of one width, the usual ones or as asked for. */
#include "nn/models/models.h"

int cull_model_mlp(cull_model *m, const cull_model_options *options)
{
    int64_t width = options->mlp_width ? options->mlp_width : CULL_MLP_WIDTH;
    int64_t depth = options->mlp_depth ? options->mlp_depth : CULL_MLP_DEPTH;
    int     x = cull_model_flatten(m, 0);
    char    name[16];

    for (int64_t i = 1; i <= depth; i++) {
        (void)snprintf(name, sizeof name, "fc%d", (int)i);
        x = cull_model_dense(m, x, name, &(cull_dense){.out = width});
        x = cull_model_activate(m, x, options->activation);
    }
    (void)snprintf(name, sizeof name, "fc%d", (int)depth + 1);
    return cull_model_logits(m, x, name, options, CULL_INIT_TORCH);
}
