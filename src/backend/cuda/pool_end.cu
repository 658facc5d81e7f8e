/*
 * backend/cuda/pool_end.cu - the weights of solved problems: L_I^T weight = c.
 *
 * Where a pivot was small they are put right against their own equation, whose error is summed in
 * twice the precision (backend/cpu/omp_factor.c): K over the picked is made for that.
 */
#include "backend/cuda/pool_factor.cuh"
#include "backend/cuda/rows.cuh"

namespace {

enum { BLOCK = 256, REFINEMENTS = 10 };

/* ---- sums in twice the precision; nothing here may be contracted ---- */

#ifdef CULL_EMU
__device__ double add_only(double a, double b) { return a + b; }
__device__ double multiply_only(double a, double b) { return a * b; }
#else
__device__ double add_only(double a, double b) { return __dadd_rn(a, b); }
__device__ double multiply_only(double a, double b) { return __dmul_rn(a, b); }
#endif

struct sum {
    double high, low;
};

__device__ void sum_add(sum *s, double a, double b)
{
    double product = multiply_only(a, b), rest = fma(a, b, -product);
    double high = add_only(s->high, product), part = add_only(high, -s->high);
    double lost = add_only(s->high, -add_only(high, -part));

    s->low = add_only(s->low, add_only(add_only(lost, add_only(product, -part)), rest));
    s->high = high;
}

/* ---- K over the picked ---- */

__device__ double product(const cull_cuda_rows &rows, size_t i, size_t j)
{
    double sum = 0;

    for (unsigned l = threadIdx.x % CULL_WARP; l < rows.width; l += CULL_WARP)
        sum += cull_rows_at(rows, i, l) * cull_rows_at(rows, j, l);
    for (int step = CULL_WARP / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(CULL_ALL_LANES, sum, step);
    return sum;
}

__device__ void make_gram(const cull_pool_problem &x)
{
    for (uint32_t i = 0; i < x.state->picked; i++) {
        uint32_t one = x.index[i];

        for (uint32_t j = threadIdx.x / CULL_WARP; j <= i; j += BLOCK / CULL_WARP) {
            uint32_t two = x.index[j];
            size_t   a = x.row ? x.row[one] : one, b = x.row ? x.row[two] : two;
            double   inner = x.column >= 0 ? x.pc[one] * x.pc[two] : product(x.p, a, b);
            double   entry = inner * (product(x.h, a, b) + 1);

            if (threadIdx.x % CULL_WARP == 0)
                cull_pool_packed(x.gram, i)[j] = i == j ? x.diag[one] : entry;
        }
    }
    __syncthreads();
}

/* e = t_I - (K_II + ridge I) w */
__device__ void equation_error(const cull_pool_problem &x)
{
    uint32_t n = x.state->picked;

    for (uint32_t i = threadIdx.x; i < n; i += BLOCK) {
        sum s = {x.t[x.index[i]], 0};

        sum_add(&s, -x.state->ridge, x.w[i]);
        for (uint32_t j = 0; j < n; j++)
            sum_add(&s,
                    -(i >= j ? cull_pool_packed(x.gram, i)[j] : cull_pool_packed(x.gram, j)[i]),
                    x.w[j]);
        x.e[i] = s.high + s.low;
    }
    __syncthreads();
}

__device__ double largest(const double *v, uint32_t n)
{
    double most = 0;

    for (uint32_t i = threadIdx.x; i < n; i += BLOCK) most = fmax(most, fabs(v[i]));
    return cull_block_join<cull_larger>(most);
}

__device__ void refine(const cull_pool_problem &x)
{
    uint32_t n = x.state->picked;
    double   before = INFINITY, step = 0;

    make_gram(x);
    for (int round = 0; round < REFINEMENTS; round++) {
        equation_error(x);
        cull_pool_solve_lower(x.factor, n, x.e);
        cull_pool_solve_transpose(x.factor, n, x.e);
        step = largest(x.e, n);
        if (!(step < before / 2)) return; /* the factor can say no more */
        for (uint32_t i = threadIdx.x; i < n; i += BLOCK) x.w[i] += x.e[i];
        __syncthreads();
        if (step <= 0x1p-52 * largest(x.w, n)) return;
        before = step;
    }
}

/* NaN and infinity never leave alpha or the weights once they are in. */
__device__ double find_broken(const cull_pool_problem &x)
{
    double broken = CULL_POOL_NONE;

    for (uint32_t i = threadIdx.x; i < x.n; i += BLOCK)
        if (x.state_of[i] == CULL_POOL_FREE && !isfinite(x.alpha[i]))
            broken = broken < i ? broken : i;
    broken = cull_block_join<cull_lesser>(broken);
    if (broken < CULL_POOL_NONE) return broken;
    for (uint32_t j = threadIdx.x; j < x.state->picked; j += BLOCK)
        if (!isfinite(x.w[j])) broken = broken < x.index[j] ? broken : x.index[j];
    return cull_block_join<cull_lesser>(broken);
}

__global__ void __launch_bounds__(BLOCK) end(cull_pool_lot lot)
{
    const cull_pool_problem &x = lot.problem[blockIdx.x];
    double                   broken = 0, b2 = x.state->b2;

    if (x.state->broken != CULL_POOL_NONE) return;
    for (uint32_t j = threadIdx.x; j < x.state->picked; j += BLOCK) x.w[j] = x.c[j];
    cull_pool_solve_transpose(x.factor, x.state->picked, x.w);
    if (x.state->lowest < lot.rules.refine_below) refine(x);
    __syncthreads();
    broken = find_broken(x);
    for (uint32_t j = threadIdx.x; j < x.state->picked; j += BLOCK) x.weight[j] = x.w[j];
    if (threadIdx.x) return;
    x.state->broken = static_cast<uint32_t>(broken);
    x.state->residual = b2 > 0 ? sqrt(fmax(x.state->r2, 0.0) / b2) : NAN;
}

} // namespace

cudaError_t cull_pool_end(cudaStream_t stream, const cull_pool_lot *lot)
{
    return CULL_LAUNCH(end, dim3(lot->count), dim3(BLOCK), 0, stream, *lot);
}
