/* train/network/network_tensors.c - what a network learns and its gradient, tensor by tensor. */
#include <string.h>

#include "train/network/network.h"

const char *cull_network_parameter_at(const cull_network *n, size_t i)
{
    return i < n->tensors ? n->tensor[i].name : NULL;
}

/* The same part of another block, which is laid out as the parameters are. */
static cull_status view(const cull_network *n, const char *name, void *block, cull_tensor *out)
{
    cull_dtype dtype = n->params->dtype;

    if (!name) {
        *out = cull_vector(block, dtype, n->params->count);
        out->device = cull_backend_device(n->backend);
        return CULL_OK;
    }
    for (size_t i = 0; i < n->tensors; i++) {
        if (strcmp(n->tensor[i].name, name) != 0) continue;
        *out = n->tensor[i].tensor;
        out->device = cull_backend_device(n->backend);
        out->data = (char *)block +
                    ((const char *)n->tensor[i].tensor.data - (const char *)n->params->value);
        return CULL_OK;
    }
    return cull_fail(CULL_BAD_ARGUMENT, "no parameter is called '%s'", name);
}

cull_status cull_network_parameter(const cull_network *n, const char *name, cull_tensor *out)
{
    return view(n, name, n->params->value, out);
}

cull_status cull_network_gradient(const cull_network *n, const char *name, cull_tensor *out)
{
    if (!n->learned)
        return cull_fail(CULL_BAD_ARGUMENT, "there is no gradient to read: learn first");
    return view(n, name, n->params->gradient, out);
}
