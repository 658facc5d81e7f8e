/* backend/operations.c - operations made ready, ended, and kept between public calls. */
#include "backend/backend.h"

cull_status cull_op_ready(cull_backend *backend, const cull_op_desc *desc, cull_op **op)
{
    cull_status status = CULL_OK;
    const cull_op_class *class = backend->class->op[desc->kind];
    cull_op *fresh = NULL;

    if (*op && (*op)->desc.rows >= desc->rows && (*op)->desc.width >= desc->width &&
        (*op)->desc.classes >= desc->classes && (*op)->desc.picks >= desc->picks)
        return CULL_OK;
    if (!class)
        FAIL(CULL_UNSUPPORTED, "%s has no operation number %d", backend->class->name,
             (int)desc->kind);
    TRY(class->create(backend, desc, &fresh));
    fresh->class = class;
    fresh->backend = backend;
    fresh->desc = *desc;
    cull_op_destroy(*op);
    *op = fresh;
done:
    return status;
}

void cull_op_destroy(cull_op *op)
{
    if (!op) return;
    atomic_fetch_add(&op->backend->ended, 1);
    op->class->destroy(op);
}

cull_op *cull_op_take(cull_backend *backend, cull_op_kind kind)
{
    return atomic_exchange(&backend->kept[kind], NULL);
}

void cull_op_give(cull_backend *backend, cull_op *op)
{
    cull_op *none = NULL;

    if (op && !atomic_compare_exchange_strong(&backend->kept[op->desc.kind], &none, op))
        cull_op_destroy(op);
}
