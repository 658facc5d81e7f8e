/* backend/cpu/kernels_pursuit.c - the inner loops of matching pursuit (see the header). */
#include "backend/cpu/kernels_pursuit.h"

#define PASTE(a, b)  a##b
#define EXPAND(a, b) PASTE(a, b)

static void eliminate(size_t n, size_t k, const double *l, size_t ld, const double *x, double *y)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < n; i++) y[i] -= l[j * ld + i] * x[j];
}

const cull_pursuit EXPAND(cull_pursuit_, CULL_KERNELS) = {eliminate};
