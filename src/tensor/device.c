/* tensor/device.c - where memory lies: told apart, named, checked. */
#include <stdio.h>

#include "tensor/tensor.h"

/* DLPack's numbers of memory that the host addresses as its own: plain, and pinned for a device. */
enum { DL_CPU = 1, DL_CUDA_HOST = 3, DL_ROCM_HOST = 11 };

static bool is_host(cull_device device)
{
    return device.kind == CULL_DEVICE_HOST || device.kind == DL_CPU ||
           device.kind == DL_CUDA_HOST || device.kind == DL_ROCM_HOST;
}

bool cull_device_same(cull_device a, cull_device b)
{
    if (is_host(a) || is_host(b)) return is_host(a) && is_host(b);
    return a.kind == b.kind && a.number == b.number;
}

const char *cull_device_name(cull_device device, char out[CULL_DEVICE_NAME])
{
    static const struct {
        int32_t     kind;
        const char *name;
    } known[] = {
        {CULL_DEVICE_CUDA, "cuda"}, {4, "opencl"}, {7, "vulkan"}, {8, "metal"}, {10, "rocm"},
        {13, "cuda-managed"},       {14, "oneapi"}};

    if (is_host(device)) {
        (void)snprintf(out, CULL_DEVICE_NAME, "host");
        return out;
    }
    (void)snprintf(out, CULL_DEVICE_NAME, "kind%d:%d", (int)device.kind, (int)device.number);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].kind == device.kind)
            (void)snprintf(out, CULL_DEVICE_NAME, "%s:%d", known[i].name, (int)device.number);
    return out;
}

cull_status cull_device_check(cull_device device, cull_device wanted, const char *name)
{
    char there[CULL_DEVICE_NAME], here[CULL_DEVICE_NAME];

    if (cull_device_same(device, wanted)) return CULL_OK;
    return cull_fail(CULL_UNSUPPORTED, "%s: on device %s; arrays on %s are read here", name,
                     cull_device_name(device, there), cull_device_name(wanted, here));
}
