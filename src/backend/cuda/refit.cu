/* backend/cuda/refit.cu - kernels of refits: a block to a problem, or all blocks to one. */
#include "backend/cuda/refit.h"

#include "backend/cuda/refit_solve.cuh"

namespace {

__global__ void __launch_bounds__(CULL_REFIT_THREADS, 1)
    refit_each(const cull_cuda_refit_call *refit)
{
    CULL_SHARED(unsigned char, shared);
    const cull_cuda_refit_call own = refit[blockIdx.x];
    cull_refit<false>          f;

    f.crew = {reinterpret_cast<cull_said *>(shared + own.at_said), NULL, 0};
    f.near_k = NULL;
    cull_refit_open(f, own, shared);
    cull_refit_run(f);
}

__global__ void __launch_bounds__(CULL_REFIT_THREADS, 1)
    refit_together(const __grid_constant__ cull_cuda_refit_call refit, cull_said *said)
{
    CULL_SHARED(unsigned char, shared);
    cull_refit<true> f;

    f.crew = {reinterpret_cast<cull_said *>(shared + refit.at_said), said, 0};
    f.near_k = NULL;
    cull_refit_open(f, refit, shared);
    cull_refit_run(f);
}

} // namespace

cudaError_t cull_cuda_refit_prepare(size_t most)
{
    cudaError_t error = cull_crew_prepare(refit_each, most);

    return error == cudaSuccess ? cull_crew_prepare(refit_together, most) : error;
}

cudaError_t cull_cuda_refit_each(cudaStream_t stream, const cull_cuda_refit_call *refit,
                                 uint32_t count, size_t bytes)
{
    return CULL_LAUNCH(refit_each, dim3(count), dim3(CULL_REFIT_THREADS), bytes, stream, refit);
}

cudaError_t cull_cuda_refit_together(cudaStream_t stream, cull_cuda_refit_call refit,
                                     uint32_t blocks, void *said)
{
    return cull_crew_launch(refit_together, blocks, CULL_REFIT_THREADS, refit.bytes, stream, refit,
                            static_cast<cull_said *>(said));
}
