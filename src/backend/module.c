/* backend/module.c - opening a backend's shared object, and what it is handed. */
#define _GNU_SOURCE /* dladdr */
#include "backend/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

enum { PATH = 1024 };

static cull_status fail(cull_status status, const char *subject, const char *sentence)
{
    return cull_fail_about(status, subject, "%s", sentence);
}

static const cull_module_calls calls = {fail, cull_base_alloc, cull_base_grow, cull_base_free};

/* Beside the file that holds this function. */
static void beside(const char *file, char path[PATH])
{
    Dl_info info = {0};
    char   *slash = NULL;

    (void)snprintf(path, PATH, "%s", file);
    if (!dladdr((void *)(uintptr_t)&calls, &info) || !info.dli_fname) return;
    if (snprintf(path, PATH, "%s", info.dli_fname) < PATH) slash = strrchr(path, '/');
    if (slash)
        (void)snprintf(slash + 1, (size_t)(path + PATH - slash - 1), "%s", file);
    else
        (void)snprintf(path, PATH, "%s", file);
}

/* The error of the file that is there counts: what it needs may be missing. */
static void *open_file(const char *file, char why[512])
{
    char        path[PATH] = "";
    const char *given = getenv("CULL_MODULES"), *error = NULL;
    void       *handle = NULL;

    if (!given || snprintf(path, PATH, "%s/%s", given, file) >= PATH) beside(file, path);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle) return handle;
    error = dlerror();
    if (access(path, F_OK) == 0)
        (void)snprintf(why, 512, "%s cannot be opened: %s", file, error ? error : path);
    else if (given)
        (void)snprintf(why, 512, "%s is not where CULL_MODULES says, in %s", file, given);
    else
        (void)snprintf(why, 512,
                       "%s is not beside the library: it is made where CUDA's compiler "
                       "(nvcc) is when cull is built; build there, or say with "
                       "CULL_MODULES where it lies",
                       file);
    return given ? NULL : dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

cull_status cull_module_open(const char *file, const char *name, cull_module *out)
{
    static const size_t sizes[] = CULL_MODULE_SIZES;
    cull_status         status = CULL_OK;
    cull_module_offer   offer = {0};
    cull_module_entry  *entry = NULL;
    char                why[512] = "";
    void               *handle = open_file(file, why);

    if (!handle) FAIL_ABOUT(CULL_UNSUPPORTED, file, "no backend '%s': %s", name, why);
    *(void **)&entry = dlsym(handle, CULL_MODULE_SYMBOL);
    if (!entry) FAIL_ABOUT(CULL_UNSUPPORTED, file, "%s holds no backend", file);
    entry(&calls, &offer);
    if (strcmp(offer.version, cull_version()) != 0 || memcmp(offer.sizes, sizes, sizeof sizes) != 0)
        FAIL_ABOUT(CULL_UNSUPPORTED, file, "%s was not built with this library", file);
    *out = offer.module;
done:
    return status;
}
