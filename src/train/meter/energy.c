/* train/meter/energy.c - reading the counters of energy. */
#include "train/meter/energy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "train/meter/nvml.h"

/*
 * How far apart readings are worth taking. RAPL's counters move every millisecond and are read in
 * microseconds. An H200's moves every 100 ms, and reading it takes 4 ms (nvmlDeviceGetTotal-
 * EnergyConsumption, driver for CUDA 13, idle and busy alike): at every phase of every step that
 * would cost more than the steps.
 */
static const double package_tick = 0.02, gpu_tick = 1;

static bool read_counter(int fd, double *out)
{
    char    text[32] = "";
    ssize_t bytes = pread(fd, text, sizeof text - 1, 0);
    char   *end = NULL;

    if (bytes <= 0) return false;
    *out = (double)strtoull(text, &end, 10);
    return end != text;
}

static int open_counter(const char *root, size_t package, const char *name, double *value)
{
    char path[512];
    int  fd = -1;

    (void)snprintf(path, sizeof path, "%s/intel-rapl:%zu/%s", root, package, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && !read_counter(fd, value)) {
        (void)close(fd);
        fd = -1;
        errno = EIO;
    }
    return fd;
}

static void open_packages(const char *root, cull_energy *out)
{
    for (size_t i = 0; i < CULL_ENERGY_PACKAGES; i++) {
        double latest = 0, range = 0;
        int    fd = open_counter(root, i, "energy_uj", &latest), most = -1;

        if (fd < 0 && i == 0 && errno == ENOENT)
            (void)snprintf(out->why, sizeof out->why, "no RAPL counter below %s", root);
        else if (fd < 0 && errno != ENOENT)
            (void)snprintf(out->why, sizeof out->why, "%s/intel-rapl:%zu/energy_uj: %s", root, i,
                           strerror(errno));
        if (fd < 0) break;
        most = open_counter(root, i, "max_energy_range_uj", &range);
        if (most >= 0) (void)close(most);
        out->package[out->packages].fd = fd;
        out->package[out->packages].latest = latest;
        out->package[out->packages++].range = range;
    }
    out->tick = package_tick;
}

static void open_gpu(const char *library, const char *bus, cull_energy *out)
{
    cull_status status = cull_nvml_open(library, bus, &out->nvml);

    if (status == CULL_OK && !cull_nvml_read(out->nvml, &out->drawn)) status = CULL_UNSUPPORTED;
    if (status != CULL_OK) {
        (void)snprintf(out->why, sizeof out->why, "%s", cull_last_error());
        cull_nvml_close(out->nvml);
        out->nvml = NULL;
        return;
    }
    out->tick = gpu_tick;
}

void cull_energy_open(const char *root, const char *nvml, const char *bus, cull_energy *out)
{
    *out = (cull_energy){0};
    open_packages(root, out);
    if (bus) open_gpu(nvml, bus, out);
    out->count = out->packages + (out->nvml ? 1 : 0);
}

void cull_energy_close(cull_energy *energy)
{
    for (size_t i = 0; i < energy->packages; i++) (void)close(energy->package[i].fd);
    cull_nvml_close(energy->nvml);
    *energy = (cull_energy){0};
}

static double lap_packages(cull_energy *energy)
{
    double sum = 0;

    for (size_t i = 0; i < energy->packages; i++) {
        double now = 0, passed = 0;

        if (!read_counter(energy->package[i].fd, &now)) continue;
        passed = now - energy->package[i].latest;
        if (passed < 0) passed += energy->package[i].range;
        if (passed > 0) sum += passed;
        energy->package[i].latest = now;
    }
    return sum * 1e-6;
}

double cull_energy_lap(cull_energy *energy)
{
    double sum = lap_packages(energy), now = 0;

    if (energy->nvml && cull_nvml_read(energy->nvml, &now)) {
        sum += (now - energy->drawn) * 1e-3;
        energy->drawn = now;
    }
    return sum;
}
