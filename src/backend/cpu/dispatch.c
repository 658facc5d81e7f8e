/* backend/cpu/dispatch.c - which set of kernels this machine runs. */
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/kernels.h"
#include "backend/cpu/kernels_layer.h"
#include "backend/cpu/kernels_sequence.h"

static const cull_kernels base = {"base",
                                  &cull_products_base,
                                  &cull_pursuit_base,
                                  &cull_sums_base,
                                  &cull_layer_loops_base,
                                  &cull_conv_loops_base,
                                  &cull_int8_loops_base,
                                  &cull_sequence_loops_base};

const cull_kernels *cull_kernels_choose(void)
{
    const char *asked = getenv("CULL_KERNELS");

    if (asked && strcmp(asked, "base") == 0) return &base;
#if defined(__x86_64__)
    static const cull_kernels avx2 = {"avx2",
                                      &cull_products_avx2,
                                      &cull_pursuit_avx2,
                                      &cull_sums_avx2,
                                      &cull_layer_loops_avx2,
                                      &cull_conv_loops_avx2,
                                      &cull_int8_loops_avx2,
                                      &cull_sequence_loops_avx2};
    static const cull_kernels avx512 = {"avx512",
                                        &cull_products_avx512,
                                        &cull_pursuit_avx512,
                                        &cull_sums_avx512,
                                        &cull_layer_loops_avx512,
                                        &cull_conv_loops_avx512,
                                        &cull_int8_loops_avx512,
                                        &cull_sequence_loops_avx512};

    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return &base;
    if (asked && strcmp(asked, "avx2") == 0) return &avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return &avx512;
    return &avx2;
#else
    return &base;
#endif
}
