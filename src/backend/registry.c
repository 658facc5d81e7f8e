/* backend/registry.c - opening a backend by name, and keeping operations ready. */
#include <stdio.h>
#include <string.h>

#include "backend/backend.h"
#include "base/alloc.h"

/* The one list of backends. libcull_select has no networks, so this file is compiled for it with
 * CULL_WITHOUT_LAYERS; the tests' build adds one of their own. */
#define BACKENDS(X) X(cpu) X(ref)
#ifdef CULL_WITHOUT_LAYERS
#define LAYERS(name) NULL
#else
#define LAYERS(name) &cull_layers_##name
#endif
#ifdef CULL_BACKEND_FAR
#define MORE(X) X(far)
#else
#define MORE(X)
#endif

#define DECLARE(name)                                                                              \
    extern const cull_backend_class cull_backend_##name;                                           \
    extern const cull_layer_table   cull_layers_##name;
BACKENDS(DECLARE)
MORE(DECLARE)

#define ENTRY(name) {&cull_backend_##name, LAYERS(name)},
static const struct entry {
    const cull_backend_class *class;
    const cull_layer_table *layers;
} entries[] = {BACKENDS(ENTRY) MORE(ENTRY)};

#define NAME(name) "|" #name
const char cull_backend_names[] = BACKENDS(NAME) MORE(NAME);

static const struct entry *find(const char *name)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strcmp(entries[i].class->name, name) == 0) return &entries[i];
    return NULL;
}

const char *cull_backend_name_at(size_t i)
{
    return i < sizeof entries / sizeof *entries ? entries[i].class->name : NULL;
}

cull_status cull_backend_open(const char *name, unsigned threads, cull_backend **out)
{
    cull_status         status = CULL_OK;
    cull_backend       *backend = NULL;
    const struct entry *entry = name ? find(name) : NULL;

    if (!entry) FAIL(CULL_UNSUPPORTED, "no backend is called '%s'", name ? name : "");
    TRY(cull_base_alloc(1, sizeof *backend, "a backend", &backend));
    backend->class = entry->class;
    backend->layers = entry->layers;
    TRY(cull_team_create(threads, &backend->team));
    (void)snprintf(backend->description, sizeof backend->description, "%s, %u thread%s", name,
                   cull_team_size(backend->team), cull_team_size(backend->team) == 1 ? "" : "s");
    if (entry->class->host) TRY(cull_backend_open(entry->class->host, threads, &backend->host));
    if (entry->class->open) TRY(entry->class->open(backend));
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
    cull_backend_close(backend->host);
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
