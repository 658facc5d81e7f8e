/* backend/cpu/rows.h - part of a row of a float tensor, as doubles. */
#ifndef CULL_BACKEND_CPU_ROWS_H
#define CULL_BACKEND_CPU_ROWS_H

#include <string.h>

#include "backend/cpu/kernels.h"
#include "tensor/tensor.h"

static inline void cull_cpu_row(const cull_sums *sums, const cull_tensor *t, size_t row,
                                size_t first, size_t count, double *out)
{
    const void *data = cull_tensor_row(t, row);

    if (t->dtype == CULL_F32)
        sums->widen(count, (const float *)data + first, out);
    else
        memcpy(out, (const double *)data + first, count * sizeof *out);
}

#endif
