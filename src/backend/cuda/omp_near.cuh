/*
 * backend/cuda/omp_near.cuh - a pursuit of few atoms, by a block that has all of K + ridge I in its
 * registers (tableau.cuh) and sweeps it by each pick:
 *
 *     d_p = A_pp,   c = alpha_p / d_p,   alpha_i -= c A_pi,   alpha_p = c
 *
 * of the picked as of all others: alpha is the weights of the ones and what the others correlate
 * with the residual, and A_pi of a picked i is its weight in what brings the picked nearest to p.
 * One warp, the leader, has alpha and finds the next pick while the others sweep by the last. The
 * rules are those of omp_choose.cuh; what is not plainly right is asked by calls, which are given
 * copies, as what a call can reach lies in memory.
 */
#ifndef CULL_BACKEND_CUDA_OMP_NEAR_CUH
#define CULL_BACKEND_CUDA_OMP_NEAR_CUH

#include "backend/cuda/omp_refine.cuh"
#include "backend/cuda/tableau.cuh"

/* In shared memory, from cull_cuda_pursuit.at_l on. */
struct cull_near_room {
    double    line[CULL_TABLEAU_SIDE];
    double    s2[CULL_TABLEAU_SIDE], t[CULL_TABLEAU_SIDE]; /* K_ii + ridge                   */
    double    x[CULL_TABLEAU_SIDE], y[CULL_TABLEAU_SIDE];  /* weights; what they are off     */
    double    mine[CULL_TABLEAU_ROWS][CULL_TABLEAU_SIDE];  /* the leader's rows, for calls   */
    cull_told told;
    double    b2, r2, ridge, scale2;
    unsigned  picked, stop, broken, refines; /* refines: a pivot was small                   */
};

static_assert(sizeof(cull_near_room) <= CULL_OMP_NEAR_BYTES, "there is room for it");

/* What the leader knows. */
struct cull_near {
    const cull_cuda_pursuit *of;
    cull_near_room          *room;
    cull_columns             alpha;
    unsigned                 is_free, is_picked; /* a bit for each column of the lane */
    unsigned                 picked;
    bool                     plain, refines; /* all pivots so far plain; one to be refined for */
    double                   r2;
};

/* One of the atoms: key 0, none. */
struct cull_near_pick {
    unsigned long long key;
    double             alpha;
    unsigned           at;
};

/* ---- what a warp finds out by itself ---- */

static __device__ __forceinline__ double cull_near_most(double x)
{
    for (int step = CULL_WARP / 2; step > 0; step /= 2)
        x = fmax(x, __shfl_xor_sync(CULL_ALL_LANES, x, step));
    return x;
}

static __device__ __forceinline__ cull_near_pick cull_near_none()
{
    return {0, 0, 0xffffffffu};
}

static __device__ __forceinline__ void cull_near_better(cull_near_pick       *best,
                                                        const cull_near_pick &other)
{
    if (other.key > best->key || (other.key == best->key && other.at < best->at)) *best = other;
}

static __device__ __forceinline__ cull_near_pick cull_near_best_of(const cull_near_pick &mine)
{
    int leader = cull_leader(mine.key, mine.at);

    return {__shfl_sync(CULL_ALL_LANES, mine.key, leader),
            __shfl_sync(CULL_ALL_LANES, mine.alpha, leader),
            __shfl_sync(CULL_ALL_LANES, mine.at, leader)};
}

static __device__ __forceinline__ bool cull_near_has(unsigned bits, int k)
{
    return (bits >> k & 1) != 0;
}

/* The sum over the picked of |x| s. */
static __device__ double cull_near_norm(const cull_near &q, const cull_columns &x)
{
    double sum = 0;

    for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++)
        if (cull_near_has(q.is_picked, k))
            sum += fabs(x[k]) * sqrt(q.room->s2[cull_tableau_column(k)]);
    return cull_sum_lanes(sum, CULL_WARP);
}

/* The atom of the largest score. */
static __device__ __forceinline__ cull_near_pick cull_near_top(const cull_near &q)
{
    cull_near_pick mine = cull_near_none();
    bool           absolute = q.of->rules.absolute;

#pragma unroll
    for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) {
        double score = absolute ? fabs(q.alpha[k]) : q.alpha[k];

        if (cull_near_has(q.is_free, k) && score > 0)
            cull_near_better(&mine, {cull_key_of(score), q.alpha[k], cull_tableau_column(k)});
    }
    return cull_near_best_of(mine);
}

/* ---- picks that are not plainly right ---- */

/* The same of those whose scores rounding does not explain; norm: of the weights. */
static __device__ cull_near_pick cull_near_top_aside(const cull_near &q, double norm)
{
    cull_near_pick mine = cull_near_none();

    for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) {
        unsigned j = cull_tableau_column(k);
        double   score = q.of->rules.absolute ? fabs(q.alpha[k]) : q.alpha[k];

        if (!cull_near_has(q.is_free, k) || !(score > 0)) continue;
        if (score > q.of->rules.noise * (fabs(q.room->t[j]) + sqrt(q.room->s2[j]) * norm))
            cull_near_better(&mine, {cull_key_of(score), q.alpha[k], j});
    }
    return cull_near_best_of(mine);
}

/* An atom's row to the line. The leader's own are in room->mine. */
static __device__ void cull_near_show(const cull_near &q, unsigned atom)
{
    cull_tableau_tell(&q.room->told, CULL_TELL_SHOW, atom, 0);
    if (atom < CULL_TABLEAU_ROWS)
        for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++)
            q.room->line[cull_tableau_column(k)] = q.room->mine[atom][cull_tableau_column(k)];
    __syncthreads();
}

/* Does the atom on the line depend on the picked? */
static __device__ bool cull_near_depends(const cull_near &q, unsigned atom)
{
    cull_columns weight;
    double       d = q.room->line[atom], s2 = q.room->s2[atom], reach = 0;

    if (q.plain && d >= q.of->rules.plain_pivot * s2) return false;
    for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) weight[k] = q.room->line[cull_tableau_column(k)];
    reach = sqrt(s2) + cull_near_norm(q, weight);
    return d <= q.of->rules.noise * reach * reach;
}

/* Does an atom that is left not depend on the picked? */
static __device__ unsigned cull_near_why_none(const cull_near &q)
{
    unsigned from = 0;

    while (q.of->rules.reason) {
        cull_near_pick found = cull_near_none();

        for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++)
            if (cull_near_has(q.is_free, k) && cull_tableau_column(k) >= from)
                cull_near_better(&found, {1, 0, cull_tableau_column(k)});
        found = cull_near_best_of(found);
        if (!found.key) break;
        cull_near_show(q, found.at);
        if (!cull_near_depends(q, found.at)) return CULL_STOP_NO_GAIN;
        from = found.at + 1;
    }
    return CULL_STOP_DEPENDENT;
}

/* The pick, whose row is on the line, as that of the one given is; key 0: none, and *stop says why.
 * Atoms that depend on the picked are no longer free. */
static __device__ __noinline__ cull_near_pick cull_near_choose(cull_near &q, cull_near_pick pick,
                                                               unsigned *stop)
{
    const cull_cuda_omp_rules &rules = q.of->rules;
    double                     norm = -1, aside = -1; /* of the weights; once noise is set aside */
    unsigned                   shown = pick.at;

    while (pick.key) {
        double s2 = q.room->s2[pick.at], a = pick.alpha;
        bool   plain = q.plain && a * a > q.room->scale2 * s2;

        if (!plain && aside < 0) {
            if (norm < 0) norm = cull_near_norm(q, q.alpha);
            double scale = fabs(q.room->t[pick.at]) + sqrt(s2) * norm;

            if ((rules.absolute ? fabs(a) : a) <= rules.noise * scale) {
                aside = norm;
                pick = cull_near_top_aside(q, aside);
                continue;
            }
        }
        if (shown != pick.at) cull_near_show(q, pick.at);
        shown = pick.at;
        if (!cull_near_depends(q, pick.at)) return pick;
        for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++)
            if (cull_tableau_column(k) == pick.at) q.is_free &= ~(1u << k);
        pick = aside < 0 ? cull_near_top(q) : cull_near_top_aside(q, aside);
    }
    *stop = cull_near_why_none(q);
    return pick;
}

/* ---- the leader ---- */

/* What is known before the first pick; room->broken below n: an atom that is not finite. */
static __device__ __forceinline__ void cull_near_start(const cull_cuda_pursuit &x, cull_near &q)
{
    cull_columns   own;
    double         b2 = x.at2 ? *x.at2 : x.b2, ridge = 0, trace = 0, least = 0, some = 0;
    cull_near_pick bad = cull_near_none();

    q.is_free = q.is_picked = q.picked = 0;
    q.plain = true;
    q.refines = false;
    q.r2 = b2;
#pragma unroll
    for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) {
        unsigned j = cull_tableau_column(k);
        double   t = j < x.n ? x.t[j] : 0;

        own[k] = j < x.n ? cull_omp_far_k(x, j, j) : 0;
        q.alpha[k] = t;
        if (!cull_finite(own[k]) || !cull_finite(t)) cull_near_better(&bad, {1, 0, j});
        trace += own[k];
        if (own[k] > 0) least = fmax(least, t * t / own[k]);
        if (own[k] > 0) q.is_free |= 1u << k;
        if (t != 0) some = 1;
    }
    bad = cull_near_best_of(bad);
    trace = cull_sum_lanes(trace, CULL_WARP);
    ridge = x.rules.ridge * (x.rules.as_it_is ? 1 : trace / x.n);
    least = b2 > 0 ? b2 : cull_near_most(least);
    some = cull_near_most(some);
#pragma unroll
    for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) {
        q.room->s2[cull_tableau_column(k)] = own[k] + ridge;
        q.room->t[cull_tableau_column(k)] = q.alpha[k];
    }
    if (cull_lane()) return;
    q.room->b2 = q.room->r2 = b2;
    q.room->picked = q.room->refines = 0;
    q.room->ridge = ridge;
    q.room->scale2 = x.rules.plain_alpha * x.rules.plain_alpha * least;
    q.room->broken = bad.key ? bad.at : x.n;
    q.room->stop = b2 > 0 || some > 0 ? CULL_STOP_BUDGET : CULL_STOP_ZERO;
}

/* The pick's row is on the line, and the others sweep by it; the next best. */
static __device__ __forceinline__ cull_near_pick cull_near_take(cull_near            &q,
                                                                const cull_near_pick &pick,
                                                                double                over)
{
    double own = q.room->line[pick.at], c = pick.alpha * over, s2 = q.room->s2[pick.at];

#pragma unroll
    for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) {
        if (cull_tableau_column(k) == pick.at) {
            q.alpha[k] = c;
            q.is_free &= ~(1u << k);
            q.is_picked |= 1u << k;
        } else {
            q.alpha[k] -= c * q.room->line[cull_tableau_column(k)];
        }
    }
    if (cull_lane() == 0) q.of->index[q.picked] = pick.at;
    q.r2 -= pick.alpha * c;
    q.plain = q.plain && own >= q.of->rules.plain_pivot * s2;
    q.refines = q.refines || own < CULL_OMP_REFINE_BELOW * s2;
    q.picked++;
    return cull_near_top(q);
}

/* cull_near_choose() with copies. */
static __device__ __forceinline__ cull_near_pick cull_near_ask(cull_near &q, const cull_entries &a,
                                                               const cull_near_pick &pick,
                                                               unsigned             *stop)
{
    cull_near      state = q;
    cull_near_pick chosen = cull_near_none();
    unsigned       why = CULL_STOP_BUDGET;

#pragma unroll
    for (int r = 0; r < CULL_TABLEAU_ROWS; r++)
#pragma unroll
        for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++)
            q.room->mine[r][cull_tableau_column(k)] = a[r][k];
    chosen = cull_near_choose(state, pick, &why);
    q.is_free = state.is_free;
    *stop = why;
    return chosen;
}

/* Picks; why there are no more. */
static __device__ __forceinline__ unsigned cull_near_picks(cull_near &q, cull_entries &a)
{
    const cull_cuda_omp_rules &rules = q.of->rules;
    cull_near_pick             pick = cull_near_top(q);
    unsigned                   budget = q.of->budget, stop = CULL_STOP_BUDGET;
    double                     scale2 = q.room->scale2;
    double                     met = q.r2 > 0 ? rules.tolerance * rules.tolerance * q.r2 : -1;

    while (q.picked < budget) {
        double s2 = pick.key ? q.room->s2[pick.at] : 0, least = HUGE_VAL;

        if (fmax(q.r2, 0.0) < met) return CULL_STOP_FIT;
        if (q.plain && pick.alpha * pick.alpha > scale2 * s2) least = rules.plain_pivot * s2;
        if (pick.key) {
            cull_tableau_tell(&q.room->told, CULL_TELL_TRY, pick.at, least);
            cull_tableau_show(a, pick.at, q.room->line);
            __syncthreads();
        }
        if (!pick.key || !(q.room->line[pick.at] >= least)) {
            pick = cull_near_ask(q, a, pick, &stop);
            if (!pick.key) return stop;
            cull_tableau_tell(&q.room->told, CULL_TELL_SWEEP, pick.at, 0);
            __syncthreads();
        }
        unsigned at = pick.at;
        double   over = 1 / q.room->line[at];
        pick = cull_near_take(q, pick, over);
        cull_tableau_sweep(a, at, q.room->line, over, over);
    }
    return CULL_STOP_BUDGET;
}

/* The first weight, or what may still be picked, that is not finite; else n. */
static __device__ __forceinline__ unsigned cull_near_check(const cull_near &q)
{
    cull_near_pick bad = cull_near_none();

#pragma unroll
    for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) {
        bool is_free = cull_near_has(q.is_free, k);

        if (!cull_finite(q.alpha[k]) && (is_free || cull_near_has(q.is_picked, k)))
            cull_near_better(&bad, {is_free ? 2ull : 1ull, 0, cull_tableau_column(k)});
    }
    bad = cull_near_best_of(bad);
    return bad.key ? bad.at : q.of->n;
}

static __device__ __forceinline__ void cull_near_lead(cull_near &q, cull_entries &a)
{
    unsigned stop = cull_near_picks(q, a), broken = cull_near_check(q);

#pragma unroll
    for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) q.room->x[cull_tableau_column(k)] = q.alpha[k];
    if (cull_lane() == 0) {
        q.room->picked = q.picked;
        q.room->stop = stop;
        q.room->r2 = q.r2;
        q.room->broken = broken;
        q.room->refines = q.refines;
    }
    cull_tableau_tell(&q.room->told, CULL_TELL_END, 0, 0);
}

/* ---- all ---- */

/* K to the registers, and to shared memory where the problem has it there. */
static __device__ __forceinline__ void cull_near_bring(const cull_cuda_pursuit &x, double *near_k,
                                                       cull_entries &a)
{
#pragma unroll
    for (int r = 0; r < CULL_TABLEAU_ROWS; r++)
#pragma unroll
        for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) {
            unsigned i = cull_tableau_row(r), j = cull_tableau_column(k);

            a[r][k] = i < x.n && j < x.n ? cull_omp_far_k(x, i, j) : 0;
        }
    if (!near_k) return;
#pragma unroll
    for (int r = 0; r < CULL_TABLEAU_ROWS; r++)
#pragma unroll
        for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) {
            unsigned i = cull_tableau_row(r), j = cull_tableau_column(k);

            if (i < x.n && j < x.n) near_k[i * x.n + j] = a[r][k];
        }
}

static __device__ __forceinline__ void cull_near_add_ridge(cull_entries &a, double ridge)
{
#pragma unroll
    for (int r = 0; r < CULL_TABLEAU_ROWS; r++)
#pragma unroll
        for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++)
            if (cull_tableau_row(r) == cull_tableau_column(k)) a[r][k] += ridge;
}

/* The weights to their places. */
static __device__ __forceinline__ void cull_near_write(const cull_cuda_pursuit &x,
                                                       const cull_near_room    *room)
{
    for (unsigned i = threadIdx.x; i < room->picked; i += blockDim.x)
        x.weight[i] = room->x[x.index[i]];
    __syncthreads();
}

/* What was found, for a pursuit that was opened. */
static __device__ void cull_near_found(cull_pursuit<false> &p, const cull_near_room *room)
{
    p.b2 = room->b2;
    p.r2 = room->r2;
    p.ridge = room->ridge;
    p.picked = room->picked;
    p.stop = room->stop;
    p.broken = room->broken;
}

/* As cull_omp_refine(), where -A of the picked is what X X^T is there. */
static __device__ __forceinline__ void cull_near_refine(const cull_cuda_pursuit &x,
                                                        unsigned char *shared, cull_near_room *room,
                                                        const cull_entries &a)
{
    double              before = HUGE_VAL;
    cull_said           bad = cull_said_none();
    cull_pursuit<false> p;

    cull_omp_open(p, x, shared, NULL);
    cull_near_found(p, room);
    for (unsigned i = threadIdx.x; i < x.n; i += blockDim.x) {
        p.place[i] = CULL_OMP_FREE;
        p.t[i] = room->t[i];
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < p.picked; i += blockDim.x) p.place[x.index[i]] = i;
    for (int round = 0; round < CULL_OMP_REFINEMENTS; round++) {
        cull_columns lacks;
        double       step = 0, most = 0;

        __syncthreads();
        cull_near_write(x, room);
        cull_omp_error(p, x.weight, x.scratch);
#pragma unroll
        for (int k = 0; k < CULL_TABLEAU_COLUMNS; k++) {
            unsigned j = cull_tableau_column(k);
            lacks[k] = j < x.n && p.place[j] < p.picked ? x.scratch[p.place[j]] : 0;
        }
        cull_tableau_apply(a, lacks, room->y);
        __syncthreads();
        for (unsigned i = threadIdx.x; i < x.n; i += blockDim.x)
            if (p.place[i] < p.picked) step = fmax(step, fabs(room->y[i]));
        step = cull_most_of(p.crew, step);
        if (!(step < before / 2)) break; /* the inverse can say no more */
        for (unsigned i = threadIdx.x; i < x.n; i += blockDim.x) {
            if (p.place[i] >= p.picked) continue;
            room->x[i] -= room->y[i];
            most = fmax(most, fabs(room->x[i]));
        }
        if (step <= 0x1p-52 * cull_most_of(p.crew, most)) break;
        before = step;
    }
    for (unsigned i = threadIdx.x; i < x.n; i += blockDim.x)
        if (p.place[i] < p.picked && !cull_finite(room->x[i]))
            cull_said_take(&bad, {1, 0, 0, 0, i, 0});
    bad = cull_best_of(p.crew, bad);
    if (threadIdx.x == 0 && bad.key) room->broken = bad.at;
    __syncthreads();
}

/* All of it, as cull_omp_pursue(), by a kernel that keeps little else: the tableau takes the
 * registers. Returns what was found, in the block's shared memory. */
static __device__ __forceinline__ const cull_near_room *cull_near_pursue(const cull_cuda_pursuit &x,
                                                                         unsigned char *shared)
{
    cull_near_room *room = reinterpret_cast<cull_near_room *>(shared + x.at_l);
    cull_entries    a;
    cull_near       q;

    q.of = &x;
    q.room = room;
    if (cull_tableau_leads()) cull_near_start(x, q);
    cull_near_bring(x, x.brings_k ? reinterpret_cast<double *>(shared + x.at_k) : NULL, a);
    __syncthreads();
    if (room->broken < x.n || room->stop == CULL_STOP_ZERO) return room;
    cull_near_add_ridge(a, room->ridge);
    if (cull_tableau_leads())
        cull_near_lead(q, a);
    else
        cull_tableau_follow(a, x.n, &room->told, room->line);
    if (room->refines) cull_near_refine(x, shared, room, a);
    cull_near_write(x, room);
    return room;
}

#endif
