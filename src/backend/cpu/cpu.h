/* backend/cpu/cpu.h - the fast host backend, one file per operation. */
#ifndef CULL_BACKEND_CPU_CPU_H
#define CULL_BACKEND_CPU_CPU_H

#include "backend/backend.h"
#include "backend/cpu/kernels.h"

extern const cull_op_class cull_cpu_rank, cull_cpu_chance, cull_cpu_keys, cull_cpu_top,
    cull_cpu_gram, cull_cpu_omp, cull_cpu_facility, cull_cpu_gradient, cull_cpu_gain,
    cull_cpu_refit;

static inline const cull_kernels *cull_cpu_kernels(const cull_backend *backend)
{
    return backend->device;
}

#endif
