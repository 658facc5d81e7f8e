/* train/meter/nvml.c - the five calls of NVML that an energy counter takes. */
#include "train/meter/nvml.h"

#include <dlfcn.h>
#include <string.h>

#include "base/alloc.h"

/* NVML's own names, as its manual has them; every call returns 0 when it went well. */
typedef int call_fn(void);
typedef int find_fn(const char *bus, void **device);
typedef int read_fn(void *device, unsigned long long *millijoules);

struct cull_nvml {
    void    *library, *device;
    bool     begun;
    call_fn *end;
    read_fn *read;
};

static cull_status look_up(void *library, const char *name, void *out)
{
    cull_status status = CULL_OK;
    void       *symbol = dlsym(library, name);

    if (!symbol) FAIL(CULL_UNSUPPORTED, "NVML has no %s", name);
    memcpy(out, &symbol, sizeof symbol);
done:
    return status;
}

cull_status cull_nvml_open(const char *library, const char *bus, cull_nvml **out)
{
    cull_status        status = CULL_OK;
    cull_nvml         *n = NULL;
    call_fn           *begin = NULL;
    find_fn           *find = NULL;
    unsigned long long drawn = 0;

    TRY(cull_base_alloc(1, sizeof *n, "an energy counter", &n));
    n->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!n->library) FAIL(CULL_UNSUPPORTED, "%s is not installed", library);
    TRY(look_up(n->library, "nvmlInit_v2", &begin));
    TRY(look_up(n->library, "nvmlShutdown", &n->end));
    TRY(look_up(n->library, "nvmlDeviceGetHandleByPciBusId_v2", &find));
    TRY(look_up(n->library, "nvmlDeviceGetTotalEnergyConsumption", &n->read));
    if (!begin || begin() != 0) FAIL(CULL_UNSUPPORTED, "NVML does not start");
    n->begun = true;
    if (!find || find(bus, &n->device) != 0) FAIL(CULL_UNSUPPORTED, "NVML knows no GPU at %s", bus);
    if (n->read(n->device, &drawn) != 0)
        FAIL(CULL_UNSUPPORTED, "the GPU at %s does not count its energy", bus);
    *out = n;
    n = NULL;
done:
    cull_nvml_close(n);
    return status;
}

void cull_nvml_close(cull_nvml *nvml)
{
    if (!nvml) return;
    if (nvml->begun) (void)nvml->end();
    if (nvml->library) (void)dlclose(nvml->library);
    cull_base_free(nvml);
}

bool cull_nvml_read(cull_nvml *nvml, double *out)
{
    unsigned long long drawn = 0;

    if (nvml->read(nvml->device, &drawn) != 0) return false;
    *out = (double)drawn;
    return true;
}
