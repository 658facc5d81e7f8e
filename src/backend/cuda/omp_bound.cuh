/*
 * backend/cuda/omp_bound.cuh - matching pursuit with weights >= 0, by one block: the active-set
 * method of backend/cpu/omp_nonnegative.c on the rows of omp.h.
 *
 * An atom q is dropped by a reflection of all directions that leaves q in the last of them alone:
 *
 *     u = X_q + sign |X_q| e_k,   each row: x -= 2 u (x u) / (u u)
 *
 * after which the last direction goes, and what it took comes back: d_i += L_ik^2. Reflections are
 * stable however often atoms come and go. L_q is then X^T K_q, of the others. Weights without the
 * bound are made anew each time, X (X^T t), and what they explain of |b|^2 is w (2 t - (K + ridge
 * I) w), which is right up to the second order in their error.
 */
#ifndef CULL_BACKEND_CUDA_OMP_BOUND_CUH
#define CULL_BACKEND_CUDA_OMP_BOUND_CUH

#include "backend/cuda/omp_pursue.cuh"

typedef cull_pursuit<false> cull_bounded;

/* A sum over a few numbers in shared memory, by each warp for itself. */
static __device__ double cull_bound_dot(unsigned n, const double *x, const double *y)
{
    double sum = 0;

    for (unsigned j = cull_lane(); j < n; j += CULL_WARP) sum += x[j] * y[j];
    return cull_sum_lanes(sum, CULL_WARP);
}

/* p.pick = u; returns 2 / (u u). */
static __device__ double cull_bound_mirror(cull_bounded &p, unsigned q)
{
    const double *row = p.all_l + static_cast<size_t>(q) * p.width;
    unsigned      k = p.picked - 1;

    __syncthreads();
    for (unsigned j = threadIdx.x; j < p.picked; j += blockDim.x) p.pick[j] = row[j];
    __syncthreads();
    double length = sqrt(cull_bound_dot(p.picked, p.pick, p.pick));
    double end = p.pick[k] + (p.pick[k] < 0 ? -length : length);
    __syncthreads();
    if (threadIdx.x == 0) p.pick[k] = end;
    __syncthreads();
    return 2 / cull_bound_dot(p.picked, p.pick, p.pick);
}

/* Every row is reflected; the last direction goes. */
static __device__ void cull_bound_reflect(cull_bounded &p, double factor)
{
    unsigned k = p.picked - 1, warps = blockDim.x / CULL_WARP;

    for (unsigned r = cull_warp(); r < p.rows; r += warps) {
        double *row = p.l + static_cast<size_t>(r) * p.width;
        double  by = factor * cull_bound_dot(p.picked, row, p.pick);

        for (unsigned j = cull_lane(); j < p.picked; j += CULL_WARP) row[j] -= by * p.pick[j];
        __syncwarp();
        if (cull_lane() == 0 && p.place[r] >= p.picked) p.d[r] += row[k] * row[k];
    }
    __syncthreads();
}

/* The picks without the one at `gone`; thread by thread in order, one at a time. */
static __device__ void cull_bound_close_up(cull_bounded &p, unsigned gone)
{
    unsigned q = p.of->index[gone];

    __syncthreads();
    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x) {
        if (r == q)
            p.place[r] = CULL_OMP_FREE;
        else if (p.place[r] < p.picked && p.place[r] > gone)
            p.place[r]--;
    }
    if (threadIdx.x == 0)
        for (unsigned i = gone; i + 1 < p.picked; i++) p.of->index[i] = p.of->index[i + 1];
    p.picked--;
    __syncthreads();
}

static __device__ void cull_bound_drop(cull_bounded &p, unsigned gone)
{
    unsigned q = p.of->index[gone];
    double  *row = p.l + static_cast<size_t>(q) * p.width, *e = p.of->scratch, own = 0;
    double   factor = cull_bound_mirror(p, q);

    cull_bound_reflect(p, factor);
    cull_bound_close_up(p, gone);
    for (unsigned i = threadIdx.x; i < p.picked; i += blockDim.x)
        e[i] = cull_omp_k(p, q, p.of->index[i]);
    __syncthreads();
    cull_omp_columns(p, e, p.pick);
    for (unsigned j = threadIdx.x; j < p.picked; j += blockDim.x) {
        row[j] = p.pick[j];
        own += p.pick[j] * p.pick[j];
    }
    own = p.s2[q] - cull_sum_of(p.crew, own);
    if (threadIdx.x == 0) {
        p.d[q] = own;
        p.bound[q] = 0;
    }
    __syncthreads();
}

/* The pick's row is zero before its own column from now on, as mixed rows are read whole. */
static __device__ void cull_bound_enter(cull_bounded &p, const cull_said &pick)
{
    unsigned k = p.picked;

    cull_omp_take(p, pick);
    __syncthreads();
    for (unsigned j = threadIdx.x; j < k; j += blockDim.x)
        p.l[static_cast<size_t>(pick.at) * p.width + j] = 0;
    if (threadIdx.x == 0) p.bound[pick.at] = 0;
    __syncthreads();
}

/* What the weights of the picked explain of |b|^2. */
static __device__ double cull_bound_explained(cull_bounded &p)
{
    double *weight = p.of->weight, *e = p.of->scratch, sum = 0;

    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x)
        if (p.place[r] < p.picked) weight[p.place[r]] = p.wish[r];
    __syncthreads();
    cull_omp_error(p, weight, e);
    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x)
        if (p.place[r] < p.picked) sum += p.wish[r] * (p.t[r] + e[p.place[r]]);
    return cull_sum_of(p.crew, sum);
}

/* wish: the weights without the bound, those that rounding alone explains at zero. Returns what
 * they explain of |b|^2. */
static __device__ double cull_bound_wish(cull_bounded &p)
{
    double *e = p.of->scratch, norm = 0, explained = 0;

    __syncthreads();
    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x)
        if (p.place[r] < p.picked) e[p.place[r]] = p.t[r];
    __syncthreads();
    cull_omp_columns(p, e, p.c);
    for (unsigned r = cull_warp(); r < p.rows; r += blockDim.x / CULL_WARP) {
        double own = 0;

        if (p.place[r] >= p.picked) continue;
        own = cull_bound_dot(p.picked, p.l + static_cast<size_t>(r) * p.width, p.c);
        if (cull_lane() == 0) p.wish[r] = own;
    }
    __syncthreads();
    if (p.lowest < CULL_OMP_REFINE_BELOW) {
        cull_omp_refine(p, p.wish);
        __syncthreads();
    }
    explained = cull_bound_explained(p);
    norm = cull_omp_norm(p, p.wish);
    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x)
        if (p.place[r] < p.picked && p.wish[r] * sqrt(p.s2[r]) <= p.of->rules.noise * norm)
            p.wish[r] = fmin(p.wish[r], 0.0);
    __syncthreads();
    return explained;
}

/* How far from bound towards wish one may go; key 0: all the way. */
static __device__ cull_said cull_bound_reach(cull_bounded &p)
{
    cull_said first = cull_said_none();

    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x) {
        double part = 0;

        if (p.place[r] >= p.picked || p.wish[r] > 0) continue;
        part = p.bound[r] / (p.bound[r] - p.wish[r]);
        if (!(part >= 0)) part = 0; /* 0 / 0: both are zero */
        cull_said_take(&first, {~cull_key_of(part), part, 0, 0, p.place[r], 0});
    }
    return cull_best_of(p.crew, first);
}

/* The last of the picked that has come to zero. */
static __device__ cull_said cull_bound_zero(cull_bounded &p)
{
    cull_said found = cull_said_none();

    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x)
        if (p.place[r] < p.picked && p.wish[r] <= 0 && p.bound[r] <= 0)
            cull_said_take(&found, {p.place[r] + 1ull, 0, 0, 0, p.place[r], 0});
    return cull_best_of(p.crew, found);
}

/* Weights >= 0 for the picked, dropping some; were any dropped? */
static __device__ bool cull_bound_fit(cull_bounded &p, double *explained)
{
    bool dropped = false;

    for (;;) {
        cull_said first = cull_said_none();

        *explained = cull_bound_wish(p);
        first = cull_bound_reach(p);
        if (!first.key) break;
        for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x) {
            if (p.place[r] >= p.picked) continue;
            p.bound[r] += first.a * (p.wish[r] - p.bound[r]);
            if (p.place[r] == first.at) p.bound[r] = 0;
        }
        __syncthreads();
        for (cull_said zero = cull_bound_zero(p); zero.key; zero = cull_bound_zero(p))
            cull_bound_drop(p, zero.at);
        dropped = true;
    }
    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x)
        if (p.place[r] < p.picked) p.bound[r] = p.wish[r];
    __syncthreads();
    return dropped;
}

/* Of those that are not picked, alpha = t - K w; of the picked it stays their weight. */
static __device__ void cull_bound_correlate(cull_bounded &p)
{
    double *weight = p.of->weight;

    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x)
        if (p.place[r] < p.picked) weight[p.place[r]] = p.bound[r];
    __syncthreads();
    for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x) {
        double sum = p.t[r];

        if (p.place[r] < p.picked) continue;
#pragma unroll 4
        for (unsigned j = 0; j < p.picked; j++) sum -= cull_omp_k(p, p.of->index[j], r) * weight[j];
        p.alpha[r] = sum;
    }
    __syncthreads();
}

/* False: nothing is gained any more. */
static __device__ bool cull_bound_take(cull_bounded &p, const cull_said &pick, double *explained)
{
    unsigned before = p.picked;
    double   had = *explained;
    bool     dropped = false, gains = true;

    cull_bound_enter(p, pick);
    dropped = cull_bound_fit(p, explained);
    p.r2 = p.b2 - *explained;
    if (dropped && p.picked == before && p.place[pick.at] == CULL_OMP_FREE) {
        cull_omp_mark(p, pick.at, CULL_OMP_DEPENDENT);
    } else if (dropped) {
        gains = *explained > had;
        for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x)
            if (p.place[r] == CULL_OMP_DEPENDENT && cull_omp_k(p, r, r) > 0)
                p.place[r] = CULL_OMP_FREE;
    }
    __syncthreads();
    cull_bound_correlate(p);
    return gains;
}

static __device__ void cull_omp_bounded(cull_bounded &p)
{
    double    explained = 0;
    cull_said pick = cull_said_none();

    while (!cull_omp_done(p) && cull_omp_choose(p, &pick)) {
        if (!cull_bound_take(p, pick, &explained)) {
            p.stop = CULL_STOP_NO_GAIN;
            break;
        }
        p.best = cull_said_none();
        for (unsigned r = threadIdx.x; r < p.rows; r += blockDim.x)
            cull_said_take(&p.best, cull_omp_candidate(p, r));
    }
}

#endif
