/* backend/cuda/pool_factor.cuh - small triangular algebra over a problem's picks, by one block. */
#ifndef CULL_BACKEND_CUDA_POOL_FACTOR_CUH
#define CULL_BACKEND_CUDA_POOL_FACTOR_CUH

#include "backend/cuda/block.cuh"
#include "backend/cuda/pool.h"

/* Row i of a packed lower triangle. */
static __device__ __forceinline__ double *cull_pool_packed(double *triangle, size_t i)
{
    return triangle + i * (i + 1) / 2;
}

/* v <- L^-T v, v in device memory; every sum as backend/cpu/omp_factor.c has it. */
static __device__ void cull_pool_solve_transpose(double *factor, uint32_t n, double *v)
{
    for (uint32_t i = n; i-- > 0;) {
        const double *row = cull_pool_packed(factor, i);
        double        x = 0;

        __syncthreads();
        x = v[i] / row[i];
        for (uint32_t j = threadIdx.x; j < i; j += blockDim.x) v[j] -= row[j] * x;
        __syncthreads();
        if (threadIdx.x == 0) v[i] = x;
    }
    __syncthreads();
}

/* v <- L^-1 v */
static __device__ void cull_pool_solve_lower(double *factor, uint32_t n, double *v)
{
    for (uint32_t i = 0; i < n; i++) {
        double x = 0;

        __syncthreads();
        x = v[i] / cull_pool_packed(factor, i)[i];
        for (uint32_t j = i + 1 + threadIdx.x; j < n; j += blockDim.x)
            v[j] -= cull_pool_packed(factor, j)[i] * x;
        __syncthreads();
        if (threadIdx.x == 0) v[i] = x;
    }
    __syncthreads();
}

/* sum of |v_j| s_j over the picked */
static __device__ double cull_pool_norm(const cull_pool_problem &x, const double *v)
{
    double sum = 0;

    for (uint32_t j = threadIdx.x; j < x.state->picked; j += blockDim.x)
        sum += fabs(v[j]) * sqrt(x.diag[x.index[j]] + x.state->ridge);
    return cull_block_join<cull_add>(sum);
}

#endif
