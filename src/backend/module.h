/*
 * backend/module.h - a backend in a shared object of its own, opened when it is first asked for.
 *
 * So a program that was built with a device's libraries starts where they are not, and
 * libcull_select needs none of them. A module is built from the same tree as the library that opens
 * it and shares its structs, so it belongs to exactly one build: their sizes are compared. Its
 * memory on the host and its sentences go through what the library hands it.
 */
#ifndef CULL_BACKEND_MODULE_H
#define CULL_BACKEND_MODULE_H

#include "backend/layer.h"

/* What a module calls of the library that opened it. */
typedef struct cull_module_calls {
    cull_status (*fail)(cull_status status, const char *subject, const char *sentence);
    cull_status (*allocate)(size_t count, size_t size, const char *what, void *out);
    cull_status (*grow)(size_t count, size_t size, const char *what, void *data);
    void (*release)(void *data);
} cull_module_calls;

typedef struct cull_module {
    const cull_backend_class *class;
    const cull_layer_table *layers; /* NULL: no networks */
} cull_module;

/* What a module's one exported function fills in. */
typedef struct cull_module_offer {
    char        version[32];
    size_t      sizes[5]; /* CULL_MODULE_SIZES */
    cull_module module;
} cull_module_offer;

#define CULL_MODULE_SIZES                                                                          \
    {                                                                                              \
        sizeof(cull_op_args), sizeof(cull_layer_args), sizeof(cull_layer_desc),                    \
            sizeof(cull_backend), CULL_OP_KINDS * 64 + CULL_LAYER_KINDS                            \
    }

#define CULL_MODULE_SYMBOL "cull_module_offered"
typedef void cull_module_entry(const cull_module_calls *calls, cull_module_offer *offer);

/* The module in `file`, which lies beside this library or where the system looks for libraries; it
 * stays open. CULL_UNSUPPORTED: there is none, or what it needs is not there, or it is of another
 * build; the sentence says which. */
cull_status cull_module_open(const char *file, const char *name, cull_module *out);

#endif
