/* backend/cuda/kept.cu - a warp takes a row: gradient = chosen / rows p, and the rest as it is. */
#include "backend/cuda/kept.h"
#include "backend/cuda/device.cuh"

enum { THREADS = 128, ROWS = THREADS / CULL_WARP };

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    keep(const __grid_constant__ cull_cuda_kept_rows k)
{
    uint32_t i = blockIdx.x * ROWS + threadIdx.x / CULL_WARP, lane = threadIdx.x % CULL_WARP;

    if (i >= k.rows) return;
    size_t   from = k.index[i];
    double   chosen = k.chosen[i], scale = chosen / static_cast<double>(k.rows);
    size_t   source = from * k.classes, at = static_cast<size_t>(i) * k.classes;
    const T *from_p = static_cast<const T *>(k.from_p) + source;
    T       *p = static_cast<T *>(k.p) + at, *gradient = static_cast<T *>(k.gradient) + at;

    for (uint32_t c = lane; c < k.classes; c += CULL_WARP) {
        T x = from_p[c];

        p[c] = x;
        gradient[c] = static_cast<T>(scale * static_cast<double>(x));
    }
    for (uint32_t b = lane; b < k.target_bytes; b += CULL_WARP)
        k.target[static_cast<size_t>(i) * k.target_bytes + b] =
            k.from_target[from * k.target_bytes + b];
    if (lane) return;
    k.place[i] = k.from_place[from];
    k.loss[i] = k.from_loss[from];
    k.share[i] = k.constants ? 0 : chosen;
}

cudaError_t cull_cuda_keep_rows(cudaStream_t stream, const cull_cuda_kept_rows *kept,
                                cull_dtype dtype)
{
    unsigned blocks = cull_cuda_blocks(kept->rows, ROWS);

    if (blocks == 0) return cudaSuccess;
    if (dtype == CULL_F32) return CULL_LAUNCH(keep<float>, blocks, THREADS, 0, stream, *kept);
    return CULL_LAUNCH(keep<double>, blocks, THREADS, 0, stream, *kept);
}
