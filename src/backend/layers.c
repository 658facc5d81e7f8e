/* backend/layers.c - layer operations by backend. */
#include "backend/layer.h"

static void complete(cull_layer_desc *desc)
{
    for (int i = 0; i < 2; i++)
        if (!desc->dilation[i]) desc->dilation[i] = 1;
}

cull_status cull_layer_create(cull_backend *backend, const cull_layer_desc *desc,
                              cull_layer_op **out)
{
    cull_status             status = CULL_OK;
    const cull_layer_table *table = backend->layers;
    cull_layer_op          *op = NULL;
    cull_layer_desc         d = *desc;

    complete(&d);
    if (!table || !table->layer[desc->kind])
        FAIL(CULL_UNSUPPORTED, "backend %s cannot run this layer", backend->class->name);
    TRY(table->layer[desc->kind]->create(backend, &d, &op));
    op->class = table->layer[desc->kind];
    op->backend = backend;
    op->desc = d;
    *out = op;
done:
    return status;
}

void cull_layer_destroy(cull_layer_op *op)
{
    if (op) op->class->destroy(op);
}

bool cull_layer_fuses(const cull_backend *backend)
{
    const cull_layer_table *table = backend->layers;
    return table && table->fuses;
}

bool cull_layer_int8(const cull_backend *backend)
{
    const cull_layer_table *table = backend->layers;
    return table && table->int8;
}

bool cull_layer_blocks(cull_backend *backend, const cull_layer_desc *conv)
{
    const cull_layer_table *table = backend->layers;
    cull_layer_desc         d = *conv;

    complete(&d);
    return !table || !table->blocks || table->blocks(backend, &d);
}

int64_t cull_layer_block(cull_backend *backend, int64_t c, int64_t common)
{
    const cull_layer_table *table = backend->layers;
    return table ? table->block(backend, c, common) : 1;
}
