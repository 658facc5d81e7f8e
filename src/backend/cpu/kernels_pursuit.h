/* backend/cpu/kernels_pursuit.h - the inner loops of matching pursuit. */
#ifndef CULL_BACKEND_CPU_KERNELS_PURSUIT_H
#define CULL_BACKEND_CPU_KERNELS_PURSUIT_H

#include "backend/cpu/kernels.h"

struct cull_pursuit {
    /* y (n) -= sum over j < k of l[j*ld + i] * x[j], y_i its own sum in order of j */
    void (*eliminate)(size_t n, size_t k, const double *l, size_t ld, const double *x, double *y);
};

#endif
