/* backend/cuda/omp_rules.h - options of a pursuit as kernels are given them. */
#ifndef CULL_BACKEND_CUDA_OMP_RULES_H
#define CULL_BACKEND_CUDA_OMP_RULES_H

#include "backend/backend.h"
#include "backend/cuda/omp.h"

/* noise: of K's entries, as problems have it. The limits are those of backend/cpu/omp_solve.c. */
static inline cull_cuda_omp_rules cull_cuda_omp_rules_of(const cull_omp_options *options,
                                                         double                  noise)
{
    double rounding = 32 * (noise > 0x1p-52 ? noise : 0x1p-52);

    return (cull_cuda_omp_rules){.ridge = options->ridge,
                                 .tolerance = options->tolerance,
                                 .as_it_is = options->absolute,
                                 .plain_pivot = 2.5e4 * rounding > 1e-6 ? 2.5e4 * rounding : 1e-6,
                                 .plain_alpha = 50 * rounding > 1e-8 ? 50 * rounding : 1e-8,
                                 .noise = rounding,
                                 .absolute =
                                     options->pick != CULL_PICK_SIGNED && !options->nonnegative,
                                 .sample = options->pick == CULL_PICK_SAMPLE,
                                 .nonnegative = options->nonnegative,
                                 .reason = true,
                                 .key = options->key,
                                 .step = options->step};
}

#endif
