/*
 * backend/cuda/module.c - the shared object that holds this backend: what it offers, and what it
 * calls of the library that opened it.
 *
 * A module is compiled without base/status.c and base/alloc.c: sentences and memory of the host are
 * the library's.
 */
#include "backend/module.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

extern const cull_backend_class cull_backend_cuda;
extern const cull_layer_table   cull_layers_cuda;
#ifdef CULL_WITHOUT_LAYERS
#define LAYERS NULL
#else
#define LAYERS &cull_layers_cuda
#endif

static cull_module_calls calls;

CULL_API cull_module_entry cull_module_offered;

void cull_module_offered(const cull_module_calls *given, cull_module_offer *offer)
{
    static const size_t sizes[] = CULL_MODULE_SIZES;

    calls = *given;
    (void)snprintf(offer->version, sizeof offer->version, "%d.%d.%d", CULL_VERSION_MAJOR,
                   CULL_VERSION_MINOR, CULL_VERSION_PATCH);
    memcpy(offer->sizes, sizes, sizeof sizes);
    offer->module = (cull_module){&cull_backend_cuda, LAYERS};
}

CULL_PRINTF(3, 0)
static cull_status tell(cull_status status, const char *subject, const char *format, va_list args)
{
    char sentence[512];

    (void)vsnprintf(sentence, sizeof sentence, format, args);
    return calls.fail(status, subject, sentence);
}

cull_status cull_fail(cull_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)tell(status, "", format, args);
    va_end(args);
    return status;
}

cull_status cull_fail_about(cull_status status, const char *subject, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)tell(status, subject, format, args);
    va_end(args);
    return status;
}

cull_status cull_base_grow(size_t count, size_t size, const char *what, void *data)
{
    return calls.grow(count, size, what, data);
}

cull_status cull_base_alloc(size_t count, size_t size, const char *what, void *out)
{
    return calls.allocate(count, size, what, out);
}

void cull_base_free(void *data)
{
    if (data) calls.release(data);
}
