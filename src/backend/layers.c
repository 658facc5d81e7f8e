/* backend/layers.c - layer operations by backend. */
#include "backend/layer.h"

static void complete(cull_layer_desc *desc)
{
    for (int i = 0; i < 2; i++)
        if (!desc->dilation[i]) desc->dilation[i] = 1;
    if (!desc->parameters) desc->parameters = desc->dtype;
    if (!desc->statistics) desc->statistics = desc->dtype;
}

cull_status cull_layer_create(cull_backend *backend, const cull_layer_desc *desc,
                              cull_layer_op **out)
{
    cull_status             status = CULL_OK;
    const cull_layer_table *table = backend->layers;
    cull_layer_op          *op = NULL;
    cull_layer_desc         d = *desc;

    complete(&d);
    if (!table)
        FAIL(CULL_UNSUPPORTED,
             "this build has no networks on the %s backend, being without oneDNN; ref and cuda "
             "have some",
             backend->class->name);
    if (!table->layer[desc->kind])
        FAIL(CULL_UNSUPPORTED, "backend %s cannot run this layer", backend->class->name);
    if (cull_backend_on_host(backend) && (d.parameters != d.dtype || d.statistics != d.dtype))
        FAIL(CULL_UNSUPPORTED, "layers on the %s backend have one type for all",
             backend->class->name);
    TRY(table->layer[desc->kind]->create(backend, &d, &op));
    if (!op->class) op->class = table->layer[desc->kind];
    op->backend = backend;
    op->desc = d;
    *out = op;
done:
    return status;
}

static uint32_t place_of(const cull_layer_args *args, int64_t i)
{
    return args->place ? args->place[i] : (uint32_t)i;
}

static cull_status check_classes(const cull_layer_desc *desc, const cull_layer_args *args)
{
    const int32_t *label = args->target;
    int64_t        classes = cull_image_row(&desc->x);

    for (int64_t i = 0; i < desc->x.n; i++)
        if (label[i] < 0 || label[i] >= classes)
            return cull_fail(CULL_BAD_ARGUMENT,
                             "example %lld (place %u) has label %d, the model knows 0 to %lld",
                             (long long)i, place_of(args, i), label[i], (long long)classes - 1);
    return CULL_OK;
}

static cull_status check_truths(const cull_layer_desc *desc, const cull_layer_args *args)
{
    const uint8_t *truth = args->target;
    int64_t        outputs = cull_image_row(&desc->x);

    for (int64_t i = 0; i < desc->x.n * outputs; i++)
        if (truth[i] > 1)
            return cull_fail(CULL_BAD_ARGUMENT,
                             "example %lld (place %u) has %d for label %lld; 0 and 1 are possible",
                             (long long)(i / outputs), place_of(args, i / outputs), truth[i],
                             (long long)(i % outputs));
    return CULL_OK;
}

cull_status cull_layer_check_targets(const cull_layer_desc *desc, const cull_layer_args *args)
{
    switch (desc->loss.kind) {
    case CULL_LOSS_CROSS_ENTROPY: return check_classes(desc, args);
    case CULL_LOSS_BINARY: return check_truths(desc, args);
    case CULL_LOSS_SQUARED: break;
    }
    return CULL_OK;
}

cull_status cull_layer_check_tokens(const cull_layer_desc *desc, const cull_layer_args *args)
{
    const int32_t *token = args->x;
    int64_t        length = cull_image_row(&desc->x);

    for (int64_t i = 0; i < desc->x.n * length; i++)
        if (token[i] >= desc->rows)
            return cull_fail(CULL_BAD_ARGUMENT,
                             "example %lld (place %u) has token %d, the model knows 0 to %lld",
                             (long long)(i / length), place_of(args, i / length), token[i],
                             (long long)desc->rows - 1);
    return CULL_OK;
}

void cull_layer_destroy(cull_layer_op *op)
{
    if (!op) return;
    atomic_fetch_add(&op->backend->ended, 1);
    op->class->destroy(op);
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

bool cull_layer_beside(cull_backend *backend, const cull_layer_desc *desc)
{
    const cull_layer_table *table = backend->layers;

    return table && table->beside && table->beside(backend, desc);
}

cull_status cull_layer_join(cull_backend *backend)
{
    const cull_layer_table *table = backend->layers;

    return table && table->join ? table->join(backend) : CULL_OK;
}

bool cull_layer_turns(cull_backend *backend)
{
    const cull_layer_table *table = backend->layers;

    return table && table->turns && table->turns(backend);
}

cull_status cull_layer_turn_aside(cull_backend *backend)
{
    return backend->layers->turn_aside(backend);
}

void cull_layer_turn_back(cull_backend *backend)
{
    backend->layers->turn_back(backend);
}

bool cull_layer_mixes(const cull_backend *backend)
{
    const cull_layer_table *table = backend->layers;
    return table && table->mixes;
}

bool cull_layer_weights_last(const cull_backend *backend)
{
    const cull_layer_table *table = backend->layers;
    return table && table->weights_last;
}

cull_status cull_layer_ways(cull_backend *backend, const char **text, size_t *bytes)
{
    const cull_layer_table *table = backend->layers;

    *text = "";
    *bytes = 0;
    return table && table->ways ? table->ways(backend, text, bytes) : CULL_OK;
}

cull_status cull_layer_recall(cull_backend *backend, const char *text, size_t bytes)
{
    const cull_layer_table *table = backend->layers;

    return table && table->recall ? table->recall(backend, text, bytes) : CULL_OK;
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
