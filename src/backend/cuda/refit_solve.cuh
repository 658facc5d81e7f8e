/*
 * backend/cuda/refit_solve.cuh - one refit, by the threads of a crew:
 *
 *     min 1/2 x^T (K + R) x - t^T x,  x >= 0      R = diag(r)
 *
 * The method is that of backend/cpu/refit_solve.c: first all atoms whose sign is wrong change sides
 * at once, a few rounds; where that does not make them fewer, Lawson and Hanson's. Beginning with
 * the atoms that have a weight already, most sweeps of the tableau are saved.
 */
#ifndef CULL_BACKEND_CUDA_REFIT_SOLVE_CUH
#define CULL_BACKEND_CUDA_REFIT_SOLVE_CUH

#include "backend/cuda/refit_near.cuh"
#include "backend/cuda/refit_tableau.cuh"

#define CULL_REFIT_SLACK 1e-12 /* of its scale: a sign that cannot be told */

enum { CULL_REFIT_TRIES = 3 }; /* exchanges of all that may fail to make them fewer */

template <bool TOGETHER>
static __device__ __forceinline__ double cull_refit_length(const cull_refit<TOGETHER> &f,
                                                           unsigned                    i)
{
    return sqrt(f.square[i] + f.of->ridge);
}

/* Is the atom on the wrong side of zero? */
template <bool TOGETHER>
static __device__ bool cull_refit_wrong(const cull_refit<TOGETHER> &f, unsigned i, double norm)
{
    double s = cull_refit_length(f, i);

    if (f.side[i] == CULL_SIDE_ABOVE) return f.x[i] * s < -CULL_REFIT_SLACK * norm;
    return f.side[i] == CULL_SIDE_ZERO && f.y[i] < -CULL_REFIT_SLACK * (fabs(f.t[i]) + s * norm);
}

template <bool TOGETHER> static __device__ double cull_refit_norm(cull_refit<TOGETHER> &f)
{
    double sum = 0;

    for (unsigned i = f.first + threadIdx.x; i < f.end; i += blockDim.x)
        sum += fabs(f.x[i]) * cull_refit_length(f, i);
    return cull_sum_of(f.crew, sum);
}

/* Atoms of no length weigh nothing; of the rest those with a weight begin above zero, or none. */
template <bool TOGETHER>
static __device__ void cull_refit_sides(cull_refit<TOGETHER> &f, bool with_weights)
{
    for (unsigned i = f.first + threadIdx.x; i < f.end; i += blockDim.x) {
        bool usable = f.square[i] > 0 && 1 / f.r[i] < HUGE_VAL;

        f.side[i] = !usable                        ? CULL_SIDE_OUT
                    : with_weights && f.old[i] > 0 ? CULL_SIDE_ABOVE
                                                   : CULL_SIDE_ZERO;
        f.point[i] = 0;
    }
    cull_meet(f.crew);
}

/* The tableau in memory, of any size. */
template <bool TOGETHER> struct cull_refit_far {
    __device__ __forceinline__ void begin(cull_refit<TOGETHER> &f) { cull_refit_reset(f); }
    __device__ __forceinline__ void solve(cull_refit<TOGETHER> &f) { cull_refit_solve(f); }
};

/* Block principal pivoting; whether it came to an end. */
template <bool TOGETHER, typename Tableau>
static __device__ __forceinline__ bool cull_refit_exchange_all(cull_refit<TOGETHER> &f,
                                                               Tableau              &tableau)
{
    double   fewest = f.n + 1.0;
    unsigned tries = CULL_REFIT_TRIES;

    cull_refit_sides(f, true);
    tableau.begin(f);
    for (;;) {
        double norm = 0, count = 0;

        tableau.solve(f);
        norm = cull_refit_norm(f);
        for (unsigned i = f.first + threadIdx.x; i < f.end; i += blockDim.x)
            count += cull_refit_wrong(f, i, norm);
        count = cull_sum_of(f.crew, count);
        if (count == 0) return true;
        if (count < fewest) {
            fewest = count;
            tries = CULL_REFIT_TRIES;
        } else if (--tries == 0) {
            return false;
        }
        for (unsigned i = f.first + threadIdx.x; i < f.end; i += blockDim.x)
            if (cull_refit_wrong(f, i, norm))
                f.side[i] = f.side[i] == CULL_SIDE_ABOVE ? CULL_SIDE_ZERO : CULL_SIDE_ABOVE;
    }
}

static __device__ __forceinline__ bool cull_refit_exchange(cull_refit<false> &f)
{
    cull_refit_far<false> far;
    cull_refit_near       near;

    return f.of->near ? cull_refit_exchange_all(f, near) : cull_refit_exchange_all(f, far);
}

static __device__ __forceinline__ bool cull_refit_exchange(cull_refit<true> &f)
{
    cull_refit_far<true> far;

    return cull_refit_exchange_all(f, far);
}

/* The atom at zero along which the error falls most for its length; key 0: along none. */
template <bool TOGETHER> static __device__ cull_said cull_refit_steepest(cull_refit<TOGETHER> &f)
{
    double    norm = cull_refit_norm(f);
    cull_said found = {0, 0, 0, 0, 0xffffffffu, 0};

    for (unsigned i = f.first + threadIdx.x; i < f.end; i += blockDim.x) {
        double slope = -f.y[i] / cull_refit_length(f, i);

        if (f.side[i] != CULL_SIDE_ZERO || !cull_refit_wrong(f, i, norm) || !(slope > 0)) continue;
        if (cull_key_of(slope) > found.key) found = {cull_key_of(slope), 0, 0, 0, i, 0};
    }
    return cull_best_of(f.crew, found);
}

/* The first to reach zero between point and x, and at which part (a) of the way. */
template <bool TOGETHER> static __device__ cull_said cull_refit_first(cull_refit<TOGETHER> &f)
{
    cull_said found = {0, 0, 0, 0, 0xffffffffu, 0};

    for (unsigned i = f.first + threadIdx.x; i < f.end; i += blockDim.x) {
        double from = f.point[i], part = 0;

        if (f.side[i] != CULL_SIDE_ABOVE || f.x[i] > 0) continue;
        if (from > 0) part = from / (from - f.x[i]);
        if (~cull_key_of(part) > found.key) found = {~cull_key_of(part), part, 0, 0, i, 0};
    }
    return cull_best_of(f.crew, found);
}

/* From point to what solves for the atoms above zero, or for those of them that are left after all
 * that would fall below have been dropped. */
template <bool TOGETHER> static __device__ void cull_refit_move(cull_refit<TOGETHER> &f)
{
    for (;;) {
        cull_said first = {0, 0, 0, 0, 0, 0};

        cull_refit_solve(f);
        first = cull_refit_first(f);
        for (unsigned i = f.first + threadIdx.x; i < f.end; i += blockDim.x) {
            if (!first.key) {
                f.point[i] = f.x[i];
            } else if (i == first.at) {
                f.point[i] = 0;
                f.side[i] = CULL_SIDE_DROPPED;
            } else {
                f.point[i] = fmax(0.0, f.point[i] + first.a * (f.x[i] - f.point[i]));
            }
        }
        if (!first.key) break;
    }
}

/* Lawson and Hanson's method. t^T x grows as the error falls; where it does not, slope and solution
 * are at odds by rounding, and what was dropped stays out, or it could come and go for ever. */
template <bool TOGETHER> static __device__ void cull_refit_descend(cull_refit<TOGETHER> &f)
{
    double most = 0;

    cull_refit_sides(f, false);
    cull_refit_reset(f);
    cull_refit_solve(f);
    for (cull_said in = cull_refit_steepest(f); in.key; in = cull_refit_steepest(f)) {
        double reached = 0;

        if (threadIdx.x == 0 && in.at >= f.first && in.at < f.end) f.side[in.at] = CULL_SIDE_ABOVE;
        cull_refit_move(f);
        for (unsigned i = f.first + threadIdx.x; i < f.end; i += blockDim.x)
            reached += f.t[i] * f.x[i];
        reached = cull_sum_of(f.crew, reached);
        for (unsigned i = f.first + threadIdx.x; i < f.end; i += blockDim.x)
            if (f.side[i] == CULL_SIDE_DROPPED)
                f.side[i] = reached > most ? CULL_SIDE_ZERO : CULL_SIDE_OUT;
        most = fmax(most, reached);
        cull_meet(f.crew);
    }
}

/* |sum of x_i g_i - b|^2 less |b|^2; e is scratch. */
template <bool TOGETHER>
static __device__ double cull_refit_error(cull_refit<TOGETHER> &f, const double *x)
{
    double error = 0;

    cull_meet(f.crew);
    cull_refit_apply(f, x, f.e);
    for (unsigned i = f.first + threadIdx.x; i < f.end; i += blockDim.x)
        error += x[i] * (f.e[i] - 2 * f.t[i]);
    return cull_sum_of(f.crew, error);
}

/* All of it: the weights are there afterwards, and seen by all. */
template <bool TOGETHER> static __device__ void cull_refit_run(cull_refit<TOGETHER> &f)
{
    const cull_cuda_refit_call &of = *f.of;
    double                      now = 0, before = 0;

    for (unsigned i = f.first + threadIdx.x; i < f.end; i += blockDim.x) {
        f.square[i] = cull_refit_k(f, i, i);
        f.r[i] = of.ridge + of.shift * f.square[i];
        f.t[i] = of.t[of.index ? of.index[i] : i];
        f.old[i] = i < of.picked ? of.weight[i] : 0;
    }
    cull_meet(f.crew);
    if (!cull_refit_exchange(f)) cull_refit_descend(f);
    for (unsigned i = f.first + threadIdx.x; i < f.end; i += blockDim.x)
        if (!(f.x[i] > 0)) f.x[i] = 0;
    now = cull_refit_error(f, f.x);
    before = cull_refit_error(f, f.old);
    for (unsigned i = f.first + threadIdx.x; i < f.end; i += blockDim.x)
        of.weight[i] = now < before ? f.x[i] : f.old[i];
    cull_meet(f.crew);
}

#endif
