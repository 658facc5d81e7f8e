/*
 * backend/cuda/pool_choose.cu - which atom of each problem comes next, and when there is none.
 *
 * A block has a problem. The rules are those of backend/cpu/omp_choose.c: the largest score, ties
 * to the lower index; where an atom's correlation or pivot may be rounding alone, it is held
 * against the weights, which are solved for then and only then.
 */
#include "backend/cuda/pool_factor.cuh"
#include "backend/cuda/rows.cuh"

namespace {

enum { BLOCK = 256 };

struct choice {
    const cull_pool_problem &x;
    const cull_pool_rules   &rules;
    double                   norm;   /* of the weights; below 0: not needed yet   */
    bool                     aside;  /* atoms whose correlation is noise are out  */
    bool                     masked; /* the panels' scores are no longer right    */
};

__device__ double length_of(const cull_pool_problem &x, uint32_t i)
{
    return sqrt(x.diag[i] + x.state->ridge);
}

__device__ double score(const choice &a, uint32_t i)
{
    return a.rules.absolute ? fabs(a.x.alpha[i]) : a.x.alpha[i];
}

__device__ bool is_noise(const choice &a, uint32_t i)
{
    return score(a, i) <= a.rules.noise * (fabs(a.x.t[i]) + length_of(a.x, i) * a.norm);
}

/* All threads get the answer. */
__device__ uint32_t top(const choice &a)
{
    cull_best best = {0, CULL_POOL_NONE};

    if (!a.aside && !a.masked) {
        for (uint32_t i = threadIdx.x; i < a.x.panels; i += BLOCK)
            cull_best_take(&best, a.x.best[i], a.x.best_at[i]);
    } else {
        for (uint32_t i = threadIdx.x; i < a.x.n; i += BLOCK)
            if (score(a, i) > 0 && !(a.aside && is_noise(a, i)))
                cull_best_take(&best, score(a, i), i);
    }
    return cull_block_best(best).at;
}

__device__ bool plainly_something(const choice &a, uint32_t p)
{
    const cull_pool_state &state = *a.x.state;
    double                 limit = a.rules.plain_alpha * a.rules.plain_alpha * state.scale2;

    return state.lowest >= a.rules.plain_pivot &&
           a.x.alpha[p] * a.x.alpha[p] > limit * (a.x.diag[p] + state.ridge);
}

/* L at an atom: a stride through its panel. */
__device__ void get_row(const cull_pool_problem &x, uint32_t atom, double *out)
{
    const double *l = x.l + static_cast<size_t>(atom / CULL_POOL_PANEL) * x.most * CULL_POOL_PANEL +
                      atom % CULL_POOL_PANEL;

    for (uint32_t j = threadIdx.x; j < x.state->picked; j += BLOCK)
        out[j] = l[static_cast<size_t>(j) * CULL_POOL_PANEL];
}

__device__ bool depends(const choice &a, uint32_t atom)
{
    const cull_pool_problem &x = a.x;
    double d = x.d[atom], s2 = x.diag[atom] + x.state->ridge, reach = 0;

    if (x.state->lowest >= a.rules.plain_pivot && d >= a.rules.plain_pivot * s2) return false;
    get_row(x, atom, x.e);
    cull_pool_solve_transpose(x.factor, x.state->picked, x.e);
    reach = sqrt(s2) + cull_pool_norm(x, x.e);
    return d <= a.rules.noise * reach * reach;
}

__device__ void find_norm(choice *a)
{
    const cull_pool_problem &x = a->x;

    for (uint32_t j = threadIdx.x; j < x.state->picked; j += BLOCK) x.w[j] = x.c[j];
    cull_pool_solve_transpose(x.factor, x.state->picked, x.w);
    a->norm = cull_pool_norm(x, x.w);
}

__device__ void set_dependent(choice *a, uint32_t atom)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        a->x.state_of[atom] = CULL_POOL_DEPENDENT;
        a->x.alpha[atom] = NAN;
    }
    __syncthreads();
    a->masked = true;
}

__device__ uint32_t choose(choice *a)
{
    for (;;) {
        uint32_t p = top(*a);

        if (p == CULL_POOL_NONE) return p;
        if (!plainly_something(*a, p)) {
            if (a->norm < 0) find_norm(a);
            if (!a->aside && is_noise(*a, p)) {
                a->aside = true;
                continue;
            }
        }
        if (!depends(*a, p)) return p;
        set_dependent(a, p);
    }
}

__device__ uint32_t why_none(const choice &a)
{
    for (uint32_t i = 0; i < a.x.n; i++)
        if (a.x.state_of[i] == CULL_POOL_FREE && !depends(a, i)) return CULL_OMP_NO_GAIN;
    return CULL_OMP_DEPENDENT;
}

__device__ void stop(const cull_pool_lot &lot, const cull_pool_problem &x, uint32_t why)
{
    __syncthreads();
    if (threadIdx.x) return;
    x.state->stop = why;
    x.state->ended = 1;
    atomicAdd(lot.ended, 1u);
}

/* Budget reached, target met, or the rank used up? */
__device__ bool is_done(const cull_pool_lot &lot, const cull_pool_problem &x)
{
    const cull_pool_state &state = *x.state;
    double                 tolerance = lot.rules.tolerance;
    uint32_t               picked = state.picked;

    if (picked == x.budget)
        stop(lot, x, CULL_OMP_BUDGET);
    else if (state.b2 > 0 && fmax(state.r2, 0.0) < tolerance * tolerance * state.b2)
        stop(lot, x, CULL_OMP_FIT);
    else if (picked == x.most)
        stop(lot, x, CULL_OMP_DEPENDENT);
    else
        return false;
    return true;
}

/* The pass that follows makes the atom's column of L; behind the last pick nobody needs it. */
__device__ void take(const cull_pool_problem &x, uint32_t p)
{
    cull_pool_state *state = x.state;
    uint32_t         k = state->picked;
    double           d = x.d[p], root = sqrt(d), c = x.alpha[p] / root;
    double          *row = cull_pool_packed(x.factor, k);

    get_row(x, p, x.x);
    __syncthreads();
    for (uint32_t j = threadIdx.x; j < k; j += BLOCK) row[j] = x.x[j];
    if (threadIdx.x) return;
    row[k] = root;
    x.c[k] = c;
    x.index[k] = p;
    x.alpha[p] = NAN;
    x.state_of[p] = CULL_POOL_PICKED;
    state->lowest = fmin(state->lowest, d / (x.diag[p] + state->ridge));
    state->r2 -= c * c;
    state->scale = 1 / root;
    state->c = c;
    state->picked = k + 1;
    state->pick = k + 1 == x.budget ? CULL_POOL_NONE : p;
}

__global__ void __launch_bounds__(BLOCK) choose_all(cull_pool_lot lot)
{
    const cull_pool_problem &x = lot.problem[blockIdx.x];
    choice                   a = {x, lot.rules, -1, false, false};
    uint32_t                 p = CULL_POOL_NONE;

    if (x.state->ended || is_done(lot, x)) return;
    p = choose(&a);
    if (p == CULL_POOL_NONE)
        stop(lot, x, why_none(a));
    else
        take(x, p);
}

} // namespace

cudaError_t cull_pool_choose(cudaStream_t stream, const cull_pool_lot *lot)
{
    return CULL_LAUNCH(choose_all, dim3(lot->count), dim3(BLOCK), 0, stream, *lot);
}
