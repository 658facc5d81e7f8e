/* backend/registry.c - which backends there are, and opening one by its name. */
#include <stdio.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/module.h"
#include "base/alloc.h"
#include "base/number.h"
#include "base/sized.h"

/* The one list of backends. libcull_select has no networks, so this file is compiled for it with
 * CULL_WITHOUT_LAYERS; those of `cpu` are oneDNN's, and CULL_WITHOUT_DNNL leaves them out. The
 * tests' builds add some backends of their own. Those of devices are in shared objects, which are
 * opened when they are asked for. */
#ifdef CULL_WITHOUT_LAYERS
#define LAYERS(name) NULL
#define MODULE(name) "libcull_" name "_select.so"
#else
#define LAYERS(name) &cull_layers_##name
#define MODULE(name) "libcull_" name ".so"
#endif
#ifdef CULL_BACKEND_FAR
#define FAR(X) X(far)
#else
#define FAR(X)
#endif
#ifdef CULL_BACKEND_EMU
#define EMU(X) X(emu)
#else
#define EMU(X)
#endif
#if defined(CULL_WITHOUT_LAYERS) || defined(CULL_WITHOUT_DNNL)
#define PROCESSOR_LAYERS NULL
#else
#define PROCESSOR_LAYERS &cull_layers_cpu
#endif
#define OTHERS(X) X(ref) FAR(X) EMU(X)

#define DECLARE(name)                                                                              \
    extern const cull_backend_class cull_backend_##name;                                           \
    extern const cull_layer_table   cull_layers_##name;
DECLARE(cpu)
OTHERS(DECLARE)

#define ENTRY(name) {#name, &cull_backend_##name, LAYERS(name), NULL},
static const struct entry {
    const char *name;
    const cull_backend_class *class;
    const cull_layer_table *layers;
    const char             *module; /* where the two are, if not here */
} entries[] = {{"cpu", &cull_backend_cpu, PROCESSOR_LAYERS, NULL},
               OTHERS(ENTRY){"cuda", NULL, NULL, MODULE("cuda")}};

#define NAME(name) "|" #name
const char cull_backend_names[] = "auto|cpu" OTHERS(NAME) "|cuda[:n]";

/* A name may have the number of a device behind it: cuda:1. */
static const struct entry *find(const char *name, int32_t *ordinal)
{
    size_t length = strcspn(name, ":");
    double number = 0;

    if (name[length]) {
        if (!cull_base_read_number(name + length + 1, &number) || number < 0 || number > 255)
            return NULL;
        if (number != (double)(int32_t)number) return NULL;
    }
    *ordinal = (int32_t)number;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strncmp(entries[i].name, name, length) == 0 && !entries[i].name[length])
            return name[length] && !entries[i].module ? NULL : &entries[i];
    return NULL;
}

const char *cull_backend_name_at(size_t i)
{
    return i < sizeof entries / sizeof *entries ? entries[i].name : NULL;
}

cull_status cull_backend_open(const char *name, unsigned threads, cull_backend **out)
{
    cull_status         status = CULL_OK;
    cull_backend       *backend = NULL;
    int32_t             ordinal = 0;
    const struct entry *entry = name ? find(name, &ordinal) : NULL;
    cull_module         found = {0};

    if (!entry) FAIL(CULL_UNSUPPORTED, "no backend is called '%s'", name ? name : "");
    found = (cull_module){.class = entry->class, .layers = entry->layers};
    if (entry->module) TRY(cull_module_open(entry->module, entry->name, &found));
    TRY(cull_base_alloc(1, sizeof *backend, "a backend", &backend));
    backend->class = found.class;
    backend->layers = found.layers;
    backend->ordinal = ordinal;
    TRY(cull_team_create(threads, &backend->team));
    (void)snprintf(backend->description, sizeof backend->description, "%s, %u thread%s", name,
                   cull_team_size(backend->team), cull_team_size(backend->team) == 1 ? "" : "s");
    if (found.class->host) TRY(cull_backend_open(found.class->host, threads, &backend->host));
    if (found.class->open) TRY(found.class->open(backend));
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

cull_status cull_backend_look(cull_backend *backend, cull_backend_facts *out)
{
    cull_status        status = CULL_OK;
    cull_backend_facts facts = {0}, room, *given = out;

    SIZED_RESULT(cull_backend_facts, out, room);
    if (backend->class->look) TRY(backend->class->look(backend, &facts));
    cull_sized_give(given, &facts, sizeof facts);
done:
    return status;
}

const char *cull_backend_describe(const cull_backend *backend)
{
    return backend->description;
}
