/*
 * backend/cuda/omp_refine.cuh - weights of the picked put right against the equations they solve:
 *
 *     e = t_I - (K_II + ridge I) x,   x <- x + X X^T e
 *
 * with e summed in twice the precision, as backend/cpu/omp_factor.c has it.
 */
#ifndef CULL_BACKEND_CUDA_OMP_REFINE_CUH
#define CULL_BACKEND_CUDA_OMP_REFINE_CUH

#include "backend/cuda/omp_rows.cuh"

enum { CULL_OMP_REFINEMENTS = 10 };

/* A sum in twice the precision: high + low. Compilers must not contract it. */
struct cull_twice {
    double high, low;
};

static __device__ __forceinline__ void cull_twice_add(cull_twice *sum, double x)
{
    double high = __dadd_rn(sum->high, x), part = __dsub_rn(high, sum->high);
    double rest = __dadd_rn(__dsub_rn(sum->high, __dsub_rn(high, part)), __dsub_rn(x, part));

    sum->low = __dadd_rn(sum->low, rest);
    sum->high = high;
}

static __device__ __forceinline__ void cull_twice_add_product(cull_twice *sum, double a, double b)
{
    double product = __dmul_rn(a, b);

    cull_twice_add(sum, product);
    sum->low = __dadd_rn(sum->low, __fma_rn(a, b, -product));
}

/* y_j = sum over the picked i of X_ij e_i: a thread of the crew for each. e lies in the order of
 * the picks, and e and y are seen by all. */
template <bool TOGETHER>
static __device__ void cull_omp_columns(cull_pursuit<TOGETHER> &p, const double *e, double *y)
{
    bool mixed = p.of->rules.nonnegative;

    for (unsigned j = p.crew.thread(); j < p.picked; j += p.crew.threads()) {
        unsigned until = mixed ? p.picked : j + 1;
        double   sum = 0;

#pragma unroll 4
        for (unsigned i = 0; i < until; i++)
            sum += p.all_l[static_cast<size_t>(p.of->index[i]) * p.width + j] * e[i];
        y[j] = sum;
    }
    cull_meet(p.crew);
}

/* What the equations lack at each picked row of the block, by a warp. */
template <bool TOGETHER>
static __device__ void cull_omp_error(cull_pursuit<TOGETHER> &p, const double *weight, double *e)
{
    for (unsigned r = cull_warp(); r < p.rows; r += blockDim.x / CULL_WARP) {
        unsigned   place = p.place[r], i = p.first + r;
        cull_twice sum = {0, 0};

        if (place >= p.picked) continue;
        for (unsigned j = cull_lane(); j < p.picked; j += CULL_WARP)
            cull_twice_add_product(&sum, -cull_omp_k(p, i, p.of->index[j]), weight[j]);
        for (int step = CULL_WARP / 2; step > 0; step /= 2) {
            double high = __shfl_xor_sync(CULL_ALL_LANES, sum.high, step);
            double low = __shfl_xor_sync(CULL_ALL_LANES, sum.low, step);

            cull_twice_add(&sum, high);
            sum.low = __dadd_rn(sum.low, low);
        }
        cull_twice_add(&sum, p.t[r]);
        cull_twice_add_product(&sum, -p.ridge, weight[place]);
        if (cull_lane() == 0) e[place] = sum.high + sum.low;
    }
    cull_meet(p.crew);
}

/* x[rows]: the picked ones' are improved. d of the picked is scratch. */
template <bool TOGETHER>
static __device__ void cull_omp_refine(cull_pursuit<TOGETHER> &p, double *x)
{
    double *e = p.of->scratch, *y = e + p.of->budget, *weight = p.of->weight, before = HUGE_VAL;

    for (int round = 0; round < CULL_OMP_REFINEMENTS; round++) {
        double step = 0, most = 0;

        cull_meet(p.crew);
        for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x)
            if (p.place[r] < p.picked) weight[p.place[r]] = x[r];
        cull_meet(p.crew);
        cull_omp_error(p, weight, e);
        cull_omp_columns(p, e, y);
        for (unsigned r = cull_warp(); r < p.rows; r += blockDim.x / CULL_WARP) {
            double sum = 0;

            if (p.place[r] >= p.picked) continue;
            for (unsigned j = cull_omp_begins(p, p.place[r]) + cull_lane(); j < p.picked;
                 j += CULL_WARP)
                sum += p.l[static_cast<size_t>(r) * p.width + j] * y[j];
            sum = cull_sum_lanes(sum, CULL_WARP);
            if (cull_lane() == 0) p.d[r] = sum;
            step = fmax(step, fabs(sum));
        }
        step = cull_most_of(p.crew, step);
        if (!(step < before / 2)) break; /* the factor can say no more */
        for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x) {
            if (p.place[r] >= p.picked) continue;
            x[r] += p.d[r];
            most = fmax(most, fabs(x[r]));
        }
        if (step <= 0x1p-52 * cull_most_of(p.crew, most)) break;
        before = step;
    }
}

#endif
