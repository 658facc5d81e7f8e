/* backend/registry.c - opening a backend by name, and keeping operations ready. */
#include <stdio.h>
#include <string.h>

#include "backend/backend.h"
#include "base/alloc.h"

static const cull_backend_class *const classes[] = {&cull_backend_cpu, &cull_backend_ref};

const char *cull_backend_name_at(size_t i)
{
    return i < sizeof classes / sizeof *classes ? classes[i]->name : NULL;
}

static const cull_backend_class *find(const char *name)
{
    for (size_t i = 0; cull_backend_name_at(i); i++)
        if (strcmp(classes[i]->name, name) == 0) return classes[i];
    return NULL;
}

cull_status cull_backend_open(const char *name, unsigned threads, cull_backend **out)
{
    cull_status   status = CULL_OK;
    cull_backend *backend = NULL;
    const cull_backend_class *class = name ? find(name) : NULL;

    if (!class) FAIL(CULL_UNSUPPORTED, "no backend is called '%s'", name ? name : "");
    TRY(cull_base_alloc(1, sizeof *backend, "a backend", &backend));
    backend->class = class;
    TRY(cull_team_create(threads, &backend->team));
    (void)snprintf(backend->description, sizeof backend->description, "%s, %u thread%s", name,
                   cull_team_size(backend->team), cull_team_size(backend->team) == 1 ? "" : "s");
    if (class->open) TRY(class->open(backend));
    *out = backend;
    backend = NULL;
done:
    cull_backend_close(backend);
    return status;
}

void cull_backend_close(cull_backend *backend)
{
    if (!backend) return;
    for (size_t i = 0; i < CULL_OP_KINDS; i++) cull_op_destroy(atomic_load(&backend->kept[i]));
    if (backend->class->close) backend->class->close(backend);
    cull_team_destroy(backend->team);
    cull_base_free(backend);
}

const char *cull_backend_describe(const cull_backend *backend)
{
    return backend->description;
}

cull_status cull_op_ready(cull_backend *backend, const cull_op_desc *desc, cull_op **op)
{
    cull_status status = CULL_OK;
    const cull_op_class *class = backend->class->op[desc->kind];
    cull_op *fresh = NULL;

    if (*op && (*op)->desc.rows >= desc->rows) return CULL_OK;
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
    if (op) op->class->destroy(op);
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
