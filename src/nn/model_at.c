/* nn/model_at.c - a model of sequences for another length, over the same parameters. */
#include <string.h>

#include "nn/graph.h"

/* A node's sizes by its inputs', which come before it. */
static cull_status reshape(cull_model *model, cull_node *node)
{
    cull_status status = CULL_OK;
    cull_image  in[CULL_NODE_INPUTS] = {{0}};
    size_t      count[CULL_NODE_PARAMS];

    memcpy(count, node->param_count, sizeof count);
    for (int i = 0; i < node->inputs; i++) in[i] = model->node[node->input[i]].desc.y;
    node->desc.x = in[0];
    node->desc.x2 = in[1];
    TRY(node->class->shape(node, in));
    if (memcmp(count, node->param_count, sizeof count) != 0)
        FAIL(CULL_BAD_ARGUMENT, "%s: the parameters of %s depend on the length", model->name,
             node->name);
done:
    return status;
}

cull_status cull_nn_model_at(const cull_model *model, int64_t positions, cull_model **out)
{
    cull_status status = CULL_OK;
    cull_model *copy = NULL;

    if (model->node[0].dtype != CULL_I32)
        FAIL(CULL_BAD_ARGUMENT, "%s: its inputs are no sequences", model->name);
    if (positions < 1 || positions > model->input.h)
        FAIL(CULL_BAD_ARGUMENT, "%s: sequences of %lld positions; it was made for up to %lld",
             model->name, (long long)positions, (long long)model->input.h);
    TRY(cull_nn_model_copy(model, &copy));
    copy->input.h = positions;
    for (int i = 0; i < copy->nodes; i++) {
        cull_node *node = &copy->node[i];

        if (node->class)
            TRY(reshape(copy, node));
        else if (node->dtype == CULL_I32)
            node->desc.y.h = positions;
    }
    *out = copy;
    copy = NULL;
done:
    cull_nn_model_destroy(copy);
    return status;
}
