/*
 * doctor_device.c - the devices that there are, or why there is none.
 *
 * A machine without a driver is a machine without a device, and as it should be; one that has a
 * driver and cannot be used is not.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "doctor_parts.h"

/* Does the system know a device, whatever may keep it from being used? */
static bool has_node(void)
{
    struct stat info = {0};

    return stat("/dev/nvidiactl", &info) == 0 || stat("/dev/dxg", &info) == 0;
}

/* By what failed to open: a shared object, or the device behind it. */
static const char *what_to_do(void)
{
    if (cull_last_subject()[0])
        return "Build where CUDA 12 or newer and cuDNN 9 are found (-DCULL_CUDA=ON), keep "
               "libcull_cuda.so beside libcull.so, and name the folders of the libraries that it "
               "misses in LD_LIBRARY_PATH.";
    return "See nvidia-smi, which tells of the driver and its devices: the driver must be as new "
           "as "
           "the CUDA that this was built with, and a container sees devices with --gpus all.";
}

static void look_at(cull_backend *backend, doctor_device *out)
{
    cull_backend_facts facts = {0};

    (void)snprintf(out->name, sizeof out->name, "%s", cull_backend_describe(backend));
    if (cull_backend_look(backend, &facts) != CULL_OK) return;
    out->free = (double)facts.free;
    out->total = (double)facts.total;
    (void)snprintf(out->versions, sizeof out->versions, "%s", facts.versions);
}

void doctor_devices_find(doctor_devices *out)
{
    *out = (doctor_devices){.known = has_node()};
    for (; out->count < MOST_DEVICES; out->count++) {
        cull_backend *backend = NULL;
        char          name[16];

        (void)snprintf(name, sizeof name, "cuda:%zu", out->count);
        if (cull_backend_open(name, 1, &backend) != CULL_OK) break;
        look_at(backend, &out->at[out->count]);
        cull_backend_close(backend);
    }
    if (out->count) return;
    (void)snprintf(out->why, sizeof out->why, "%s", cull_last_error());
    (void)snprintf(out->fix, sizeof out->fix, "%s", what_to_do());
}

json_t *doctor_devices_json(const doctor_devices *d)
{
    json_t *all = json_array();

    for (size_t i = 0; i < d->count; i++)
        (void)json_array_append_new(all, json_pack("{s:s, s:o, s:o, s:s}", "name", d->at[i].name,
                                                   "free", json_number(d->at[i].free), "total",
                                                   json_number(d->at[i].total), "versions",
                                                   d->at[i].versions));
    return all;
}

void doctor_devices_print(const doctor_devices *d)
{
    for (size_t i = 0; i < d->count; i++)
        (void)printf("device    %s, %.1f of %.1f GB free, %s\n", d->at[i].name, d->at[i].free / 1e9,
                     d->at[i].total / 1e9, d->at[i].versions);
    if (!d->count) (void)printf("device    none: %s\n", d->why);
}
