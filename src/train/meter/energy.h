/*
 * train/meter/energy.h - joules, where the machine counts them: the packages of RAPL (Intel's and
 * AMD's counters, which Linux shows as files below /sys/class/powercap), and the GPU a run works
 * on, by NVML's counter of all it ever drew. Neither knows whose work it was: what other programs
 * draw meanwhile is in it.
 */
#ifndef CULL_TRAIN_ENERGY_H
#define CULL_TRAIN_ENERGY_H

#include "base/status.h"

#define CULL_ENERGY_ROOT "/sys/class/powercap"
#define CULL_ENERGY_NVML "libnvidia-ml.so.1"

enum { CULL_ENERGY_PACKAGES = 16 };

typedef struct cull_energy {
    size_t count; /* counters, the GPU's among them; 0: not available here */
    size_t packages;
    struct {
        int    fd;
        double latest, range; /* microjoules; a counter begins anew behind its range */
    } package[CULL_ENERGY_PACKAGES];
    struct cull_nvml *nvml;     /* NULL: no GPU is counted */
    double            drawn;    /* millijoules of the GPU at the latest reading */
    double            tick;     /* seconds; what lies closer together no counter tells apart */
    char              why[160]; /* what keeps a counter from being read; "" where nothing does */
} cull_energy;

/*
 * Open the packages below root, and the GPU at the PCI address `bus` by the NVML of that name; bus
 * NULL: the run works on no GPU. No counter, or none that may be read, is no failure: count is 0
 * and `why` says the reason.
 */
void cull_energy_open(const char *root, const char *nvml, const char *bus, cull_energy *out);
void cull_energy_close(cull_energy *energy);

/* Joules of all counters since the latest call, or since open. */
double cull_energy_lap(cull_energy *energy);

#endif
