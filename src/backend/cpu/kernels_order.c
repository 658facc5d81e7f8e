/* backend/cpu/kernels_order.c - counting who is smaller, pair by pair (see kernels.h). */
#include "backend/cpu/kernels.h"

#define PASTE(a, b)  a##b
#define EXPAND(a, b) PASTE(a, b)

static void count(size_t n, const double *x, uint32_t *smaller, uint32_t *equal)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t below = 0, same = 0;
        for (size_t j = 0; j < n; j++) {
            below += x[j] < x[i];
            same += x[j] == x[i];
        }
        smaller[i] = (uint32_t)below;
        equal[i] = (uint32_t)same;
    }
}

const cull_order EXPAND(cull_order_, CULL_KERNELS) = {count};
