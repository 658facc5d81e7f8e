/* train/rule.c - an optimizer and the weights that it is of. */
#include "train/rule.h"

/* Are its weights decayed? Norms' and all biases are not. */
static bool weighs(cull_layer_kind kind)
{
    return kind == CULL_LAYER_DENSE || kind == CULL_LAYER_CONV || kind == CULL_LAYER_EMBED ||
           kind == CULL_LAYER_POSITIONS;
}

static cull_status exempt(const cull_model *model, cull_optim *optim)
{
    cull_status status = CULL_OK;

    for (int n = 1; n < model->nodes; n++) {
        const cull_node *node = &model->node[n];

        for (int i = weighs(node->desc.kind) ? 1 : 0; i < node->params; i++)
            TRY(cull_optim_exempt(optim, node->param_at[i], node->param_count[i]));
    }
done:
    return status;
}

static cull_status download(const void *context, const void *block, void *host)
{
    return cull_nn_params_download(context, block, host);
}

static cull_status upload(const void *context, void *block, const void *host)
{
    return cull_nn_params_upload(context, block, host);
}

cull_status cull_train_rule(const cull_optim_options *options, bool decay_all,
                            const cull_model *model, const cull_params *params, cull_optim **out)
{
    cull_status status = CULL_OK;
    cull_optim *optim = NULL;

    TRY(cull_optim_create(options, params->dtype, params->count, params->backend, &optim));
    if (!decay_all) TRY(exempt(model, optim));
    optim->weights = (cull_optim_weights){.context = params, .narrow = &params->narrow};
    if (!cull_nn_params_straight(params)) {
        optim->weights.download = download;
        optim->weights.upload = upload;
    }
    *out = optim;
    optim = NULL;
done:
    cull_optim_destroy(optim);
    return status;
}
