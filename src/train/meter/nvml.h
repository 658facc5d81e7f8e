/* train/meter/nvml.h - what a GPU has drawn, by NVIDIA's management library, loaded where there is
 * one.
 */
#ifndef CULL_TRAIN_NVML_H
#define CULL_TRAIN_NVML_H

#include "base/status.h"

typedef struct cull_nvml cull_nvml;

/* The GPU at the PCI address `bus`; a failure's message says what is missing. */
cull_status cull_nvml_open(const char *library, const char *bus, cull_nvml **out);
void        cull_nvml_close(cull_nvml *nvml); /* NULL is fine */

/* Millijoules since the driver was loaded; false when the GPU does not answer. */
bool cull_nvml_read(cull_nvml *nvml, double *out);

#endif
