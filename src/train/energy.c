/* train/energy.c - reading RAPL's counters. */
#include "train/energy.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
    }
    return fd;
}

void cull_energy_open(const char *root, cull_energy *out)
{
    *out = (cull_energy){0};
    for (size_t i = 0; i < CULL_ENERGY_PACKAGES; i++) {
        double latest = 0, range = 0;
        int    fd = open_counter(root, i, "energy_uj", &latest), most = -1;

        if (fd < 0) break;
        most = open_counter(root, i, "max_energy_range_uj", &range);
        if (most >= 0) (void)close(most);
        out->package[out->count].fd = fd;
        out->package[out->count].latest = latest;
        out->package[out->count++].range = range;
    }
}

void cull_energy_close(cull_energy *energy)
{
    for (size_t i = 0; i < energy->count; i++) (void)close(energy->package[i].fd);
    *energy = (cull_energy){0};
}

double cull_energy_lap(cull_energy *energy)
{
    double sum = 0;

    for (size_t i = 0; i < energy->count; i++) {
        double now = 0, passed = 0;

        if (!read_counter(energy->package[i].fd, &now)) continue;
        passed = now - energy->package[i].latest;
        if (passed < 0) passed += energy->package[i].range;
        if (passed > 0) sum += passed;
        energy->package[i].latest = now;
    }
    return sum * 1e-6;
}
