/*
 * train/energy.h - joules, where the machine counts them: Intel's and AMD's RAPL counters, which
 * Linux shows as files below /sys/class/powercap.
 */
#ifndef CULL_TRAIN_ENERGY_H
#define CULL_TRAIN_ENERGY_H

#include "base/status.h"

#define CULL_ENERGY_ROOT "/sys/class/powercap"

enum { CULL_ENERGY_PACKAGES = 16 };

typedef struct cull_energy {
    size_t count; /* packages; 0: not available here */
    struct {
        int    fd;
        double latest, range; /* microjoules; a counter begins anew behind its range */
    } package[CULL_ENERGY_PACKAGES];
} cull_energy;

/* No counter, or none that may be read: count 0, which is no failure. */
void cull_energy_open(const char *root, cull_energy *out);
void cull_energy_close(cull_energy *energy);

/* Joules of all packages since the latest call, or since open. */
double cull_energy_lap(cull_energy *energy);

#endif
