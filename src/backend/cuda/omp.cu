/* backend/cuda/omp.cu - kernels of matching pursuit: a block to a problem, or all blocks to one. */
#include "backend/cuda/omp.h"

#include "backend/cuda/omp_bound.cuh"
#include "backend/cuda/omp_near.cuh"
#include "backend/cuda/omp_pursue.cuh"

namespace
{

__global__ void __launch_bounds__(CULL_OMP_THREADS, 1) pursue_each(const cull_cuda_pursuit *problem)
{
    CULL_SHARED(unsigned char, shared);
    const cull_cuda_pursuit own = problem[blockIdx.x];
    cull_pursuit<false>     p;

    cull_omp_open(p, own, shared, NULL);
    cull_omp_pursue(p);
    cull_omp_report(p);
}

__global__ void __launch_bounds__(CULL_TABLEAU_THREADS, 1)
    pursue_near(const cull_cuda_pursuit *problem)
{
    CULL_SHARED(unsigned char, shared);
    const cull_cuda_pursuit &own = problem[blockIdx.x];
    cull_pursuit<false>      p;

    const cull_near_room *found = cull_near_pursue(own, shared);
    cull_omp_open(p, own, shared, NULL);
    cull_near_found(p, found);
    cull_omp_report(p);
}

__global__ void __launch_bounds__(CULL_OMP_THREADS, 1)
    pursue_together(const __grid_constant__ cull_cuda_pursuit problem, cull_said *said)
{
    CULL_SHARED(unsigned char, shared);
    cull_pursuit<true> p;

    cull_omp_open(p, problem, shared, said);
    cull_omp_pursue(p);
    cull_omp_report(p);
}

} // namespace

cudaError_t cull_cuda_omp_prepare(size_t most)
{
    cudaError_t error = cull_crew_prepare(pursue_each, most);

    if (error == cudaSuccess) error = cull_crew_prepare(pursue_near, most);
    return error == cudaSuccess ? cull_crew_prepare(pursue_together, most) : error;
}

cudaError_t cull_cuda_omp_each(cudaStream_t stream, const cull_cuda_pursuit *problem,
                               uint32_t count, size_t bytes, bool near)
{
    if (near)
        return CULL_LAUNCH(pursue_near, dim3(count), dim3(CULL_TABLEAU_THREADS), bytes, stream,
                           problem);
    return CULL_LAUNCH(pursue_each, dim3(count), dim3(CULL_OMP_THREADS), bytes, stream, problem);
}

cudaError_t cull_cuda_omp_together(cudaStream_t stream, cull_cuda_pursuit problem, uint32_t blocks,
                                   uint32_t threads, void *said)
{
    return cull_crew_launch(pursue_together, blocks, threads, problem.bytes, stream, problem,
                            static_cast<cull_said *>(said));
}
