/* backend/cpu/cpu.c - the host backend: our own vector kernels on a team of threads. */
#include "backend/cpu/cpu.h"

#include <stdio.h>

static cull_status open_cpu(cull_backend *backend)
{
    const cull_kernels *kernels = cull_kernels_choose();
    unsigned            threads = cull_team_size(backend->team);

    backend->device = (void *)(uintptr_t)kernels;
    (void)snprintf(backend->description, sizeof backend->description, "cpu, %s, %u thread%s",
                   kernels->name, threads, threads == 1 ? "" : "s");
    return CULL_OK;
}

const cull_backend_class cull_backend_cpu = {
    .name = "cpu",
    .queue = &cull_queue_host,
    .op = {[CULL_OP_RANK] = &cull_cpu_rank,
           [CULL_OP_KEYS] = &cull_cpu_keys,
           [CULL_OP_TOP] = &cull_cpu_top,
           [CULL_OP_GRAM] = &cull_cpu_gram,
           [CULL_OP_OMP] = &cull_cpu_omp,
           [CULL_OP_FACILITY] = &cull_cpu_facility,
           [CULL_OP_GRADIENT] = &cull_cpu_gradient,
           [CULL_OP_GAIN] = &cull_cpu_gain,
           [CULL_OP_REFIT] = &cull_cpu_refit,
           [CULL_OP_CHANCE] = &cull_cpu_chance,
           CULL_HOST_OPS},
    .open = open_cpu,
};
