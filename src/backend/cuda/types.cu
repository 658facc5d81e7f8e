/* backend/cuda/types.cu - widen and narrow: numbers of the library's types as those of callers, and back. */
#include "backend/cuda/number.cuh"
#include "backend/cuda/types.h"

namespace {

enum { BLOCK = 128 };

static __global__ void __launch_bounds__(BLOCK) widen(cull_cuda_widen_args a)
{
    size_t i = cull_cuda_thread();

    if (i >= a.count) return;
    for (int k = 0; k < 3; k++) {
        if (!a.index[k]) continue;
        uint32_t x = a.index[k][i];
        a.to[k][i] = x == CULL_NO_ROW ? -1 : static_cast<int64_t>(x);
    }
    if (!a.weight) return;
    double weight = a.weight[i] * a.scale;

    if (a.dtype == CULL_F64)
        static_cast<double *>(a.to_weight)[i] = weight;
    else
        static_cast<float *>(a.to_weight)[i] = static_cast<float>(weight);
}

static __global__ void __launch_bounds__(BLOCK) narrow(cull_tensor from, uint32_t *to)
{
    size_t  i = cull_cuda_thread();
    int64_t x = 0;

    if (i >= static_cast<size_t>(from.shape[0])) return;
    size_t at = i * static_cast<size_t>(from.stride[0]);

    switch (from.dtype) {
    case CULL_I64: x = static_cast<const int64_t *>(from.data)[at]; break;
    case CULL_I32: x = static_cast<const int32_t *>(from.data)[at]; break;
    default: x = static_cast<const uint8_t *>(from.data)[at]; break;
    }
    to[i] = x < 0 || x > static_cast<int64_t>(CULL_NO_ROW) ? CULL_NO_ROW : static_cast<uint32_t>(x);
}

} // namespace

cudaError_t cull_cuda_widen_run(cudaStream_t stream, const cull_cuda_widen_args *args)
{
    return CULL_LAUNCH(widen, cull_cuda_blocks(args->count, BLOCK), BLOCK, 0, stream, *args);
}

cudaError_t cull_cuda_narrow_run(cudaStream_t stream, const cull_tensor *from, uint32_t *to)
{
    size_t count = static_cast<size_t>(from->shape[0]);

    return CULL_LAUNCH(narrow, cull_cuda_blocks(count, BLOCK), BLOCK, 0, stream, *from, to);
}

cudaError_t cull_cuda_has_code(void)
{
    int blocks = 0;

    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, reinterpret_cast<const void *>(&narrow), BLOCK, 0);
}
