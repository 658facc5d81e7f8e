/* backend/cuda/rows.h - matrices of signals as kernels are given them, in both languages. */
#ifndef CULL_BACKEND_CUDA_ROWS_H
#define CULL_BACKEND_CUDA_ROWS_H

#include "cull.h"

typedef struct cull_cuda_rows {
    const void *data;
    size_t      ld;    /* elements from one row to the next            */
    uint32_t    width; /* of a row                                     */
    int32_t     dtype; /* CULL_F32, CULL_F64 or CULL_BF16; 0: no matrix */
} cull_cuda_rows;

/* NULL: no matrix. */
static inline cull_cuda_rows cull_cuda_rows_of(const cull_tensor *t)
{
    cull_cuda_rows rows = {NULL, 0, 0, 0};

    if (!t || !t->data) return rows;
    rows.data = t->data;
    rows.ld = (size_t)t->stride[0];
    rows.width = (uint32_t)t->shape[1];
    rows.dtype = (int32_t)t->dtype;
    return rows;
}

#endif
