/* backend/cuda/nn_move.h - between nn_move.c and its kernels: values that change their place. */
#ifndef CULL_BACKEND_CUDA_NN_MOVE_H
#define CULL_BACKEND_CUDA_NN_MOVE_H

#include <cuda_runtime_api.h>

#include "cull.h"

/* Channels, pixels of x and y; channels innermost. */
typedef struct cull_move {
    cull_dtype dtype;
    int        width;                  /* values moved at once                       */
    uint32_t   n, c, h, w, to_h, to_w; /* of x, and pixels of y                      */
    uint32_t   c2;                     /* concat: channels of x2                     */
    uint32_t   to_c, first, stride[2]; /* shortcut: channels of y, and where x's are */
} cull_move;

#ifdef __cplusplus
extern "C" {
#endif

/* y = [x; x2] by channel; or the parts of dy to dx and dx2, either of which may be NULL. */
cudaError_t cull_cuda_move_concat(cudaStream_t stream, const cull_move *move, const void *x,
                                  const void *x2, void *y);
cudaError_t cull_cuda_move_split(cudaStream_t stream, const cull_move *move, const void *dy,
                                 void *dx, bool accumulate, void *dx2, bool accumulate2);

cudaError_t cull_cuda_move_shortcut(cudaStream_t stream, const cull_move *move, const void *x,
                                    void *y);
cudaError_t cull_cuda_move_shortcut_back(cudaStream_t stream, const cull_move *move, const void *dy,
                                         void *dx, bool accumulate);

/* count matrices of (rows, columns), each turned over. */
cudaError_t cull_cuda_move_turn(cudaStream_t stream, cull_dtype dtype, size_t count, uint32_t rows,
                                uint32_t columns, const void *from, void *to, bool accumulate);

#ifdef __cplusplus
}
#endif

#endif
