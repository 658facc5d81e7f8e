/*
 * backend/cpu/omp_nonnegative.c - matching pursuit with weights >= 0.
 *
 * After each pick the active weights solve min 1/2 x^T (K + ridge I) x - t^T x, x >= 0, by
 * the active-set method of Lawson and Hanson, started from the weights before: solve
 * without the bound; where that leaves the bound, go as far as it allows, drop the atoms
 * that reached zero, solve again. The factor gains a row by a solve and loses one by
 * rotations. A dropped atom is free and may come back. Every pick lowers the error, so no
 * active set returns; where rounding says otherwise, a pick that is dropped at once is set
 * aside, and one that drops others without lowering the error is the last.
 *
 *     alpha = t - sum over active of weight_j K_{:,j},   |r|^2 = |b|^2 - |L^-1 t|^2
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/omp.h"

void cull_cpu_nonnegative_layout(cull_omp_job *job, cull_cpu_arena *arena)
{
    cull_omp_nonnegative *own = &job->nonnegative;
    size_t                triangle = job->most * (job->most + 1) / 2;

    own->column = cull_cpu_arena_take(arena, job->most, sizeof *own->column);
    own->wish = cull_cpu_arena_take(arena, job->most, sizeof(double));
    own->turn_c = cull_cpu_arena_take(arena, job->most, sizeof(double));
    own->turn_s = cull_cpu_arena_take(arena, job->most, sizeof(double));
    own->spare = NULL;
    own->filling = NULL;
    if (!job->atoms.k.data) {
        own->spare = cull_cpu_arena_take(arena, job->most, sizeof *own->spare);
        own->filling = cull_cpu_arena_take(arena, job->most * job->padded, sizeof(double));
    }
    job->factor = cull_cpu_arena_take(arena, triangle, sizeof(double));
    job->gram = cull_cpu_arena_take(arena, triangle, sizeof(double));
}

/* K between active atom j and any other. */
static double entry(const cull_omp_job *job, size_t j, size_t atom)
{
    const void *column = job->nonnegative.column[j];

    return job->atoms.k.data && job->atoms.k.single ? (double)((const float *)column)[atom]
                                                    : ((const double *)column)[atom];
}

static void correlate(cull_omp_job *job, size_t first_panel, size_t last_panel)
{
    const cull_pursuit *pursuit = job->kernels->pursuit;
    const void *const  *column = job->nonnegative.column;
    size_t              first = first_panel * pursuit->rows, last = last_panel * pursuit->rows;

    if (last > job->n) last = job->n;
    if (job->atoms.k.data && job->atoms.k.single)
        pursuit->correlate_f32(last - first, job->picked, (const float *const *)column, first,
                               job->weight, job->t + first, job->alpha + first);
    else
        pursuit->correlate_f64(last - first, job->picked, (const double *const *)column, first,
                               job->weight, job->t + first, job->alpha + first);
    for (size_t i = first; i < last; i++)
        if (job->state[i] != CULL_ATOM_FREE) job->alpha[i] = NAN;
    cull_cpu_omp_score(job, first_panel, last_panel);
}

/* solve = L^-1 K_{A,atom}; returns the pivot. */
static double project(cull_omp_job *job, size_t atom)
{
    double d = job->diag[atom] + job->ridge;

    for (size_t j = 0; j < job->picked; j++) job->solve[j] = entry(job, j, atom);
    cull_cpu_solve_lower(job->factor, job->picked, job->solve);
    for (size_t j = 0; j < job->picked; j++) d -= job->solve[j] * job->solve[j];
    return d;
}

static double weight_norm(cull_omp_job *job)
{
    return cull_cpu_omp_norm(job, job->weight);
}

static bool dependent(cull_omp_job *job, size_t atom)
{
    double d = project(job, atom), s2 = job->diag[atom] + job->ridge, reach = 0;

    if (job->lowest >= job->plain_pivot && d >= job->plain_pivot * s2) return false;
    cull_cpu_solve_transpose(job->factor, job->picked, job->solve);
    reach = sqrt(s2) + cull_cpu_omp_norm(job, job->solve);
    return d <= job->noise * reach * reach;
}

static void fill_column(cull_omp_job *job, size_t first_panel, size_t last_panel)
{
    size_t rows = job->kernels->pursuit->rows;

    cull_cpu_atoms_fill(job, first_panel * rows,
                        last_panel * rows < job->n ? last_panel * rows : job->n,
                        job->nonnegative.filling);
}

static const void *column_of(cull_omp_job *job, size_t p)
{
    cull_omp_nonnegative *own = &job->nonnegative;
    const cull_cpu_rows  *k = &job->atoms.k;

    if (k->data) return (const char *)k->data + p * k->ld * (k->single ? 4 : 8);
    own->filling = own->spare[--own->spares];
    cull_cpu_atoms_point(job, p);
    cull_cpu_omp_panels(job, job->atoms.width, fill_column);
    return own->filling;
}

static void enter(cull_omp_job *job, uint32_t p)
{
    size_t  k = job->picked;
    double *row = cull_cpu_packed(job->factor, k), *gram = cull_cpu_packed(job->gram, k);
    double  d = project(job, p);

    memcpy(row, job->solve, k * sizeof *row);
    row[k] = sqrt(d);
    for (size_t j = 0; j < k; j++) gram[j] = entry(job, j, p);
    gram[k] = job->diag[p];
    job->lowest = fmin(job->lowest, d / (job->diag[p] + job->ridge));
    job->nonnegative.column[k] = column_of(job, p);
    job->weight[k] = 0;
    job->problem->index[k] = p;
    job->state[p] = CULL_ATOM_PICKED;
    job->picked++;
}

/* Row `gone` leaves L: each later row moves up one place and is turned back to a triangle. */
static void remove_from_factor(cull_omp_job *job, size_t gone)
{
    double *c = job->nonnegative.turn_c, *s = job->nonnegative.turn_s;

    for (size_t i = gone; i + 1 < job->picked; i++) {
        double *from = cull_cpu_packed(job->factor, i + 1), *to = cull_cpu_packed(job->factor, i);
        double  length = 0;

        memmove(to, from, gone * sizeof *to);
        for (size_t j = gone; j < i; j++) {
            double a = from[j], b = from[j + 1];
            to[j] = c[j] * a + s[j] * b;
            from[j + 1] = c[j] * b - s[j] * a;
        }
        length = hypot(from[i], from[i + 1]);
        c[i] = from[i] / length;
        s[i] = from[i + 1] / length;
        to[i] = length;
    }
}

static void remove_from_gram(cull_omp_job *job, size_t gone)
{
    for (size_t i = gone; i + 1 < job->picked; i++) {
        double *from = cull_cpu_packed(job->gram, i + 1), *to = cull_cpu_packed(job->gram, i);

        memmove(to, from, gone * sizeof *to);
        memmove(to + gone, from + gone + 1, (i + 1 - gone) * sizeof *to);
    }
}

static void leave(cull_omp_job *job, size_t gone)
{
    cull_omp_nonnegative *own = &job->nonnegative;
    size_t                after = job->picked - gone - 1;

    remove_from_factor(job, gone);
    remove_from_gram(job, gone);
    if (own->spare) {
        double *column = (double *)(uintptr_t)own->column[gone];
        own->spare[own->spares++] = column;
    }
    job->state[job->problem->index[gone]] = CULL_ATOM_FREE;
    memmove(own->column + gone, own->column + gone + 1, after * sizeof *own->column);
    memmove(job->weight + gone, job->weight + gone + 1, after * sizeof *job->weight);
    memmove(job->problem->index + gone, job->problem->index + gone + 1,
            after * sizeof *job->problem->index);
    job->picked--;
}

/* How far from weight towards wish the bound allows; *block is the first to reach zero,
 * picked: none does. */
static double reach_of(const cull_omp_job *job, size_t *block)
{
    const double *wish = job->nonnegative.wish;
    double        reach = 1;

    *block = job->picked;
    for (size_t j = 0; j < job->picked; j++) {
        double part = 0;
        if (wish[j] > 0) continue;
        part = job->weight[j] / (job->weight[j] - wish[j]);
        if (!(part >= 0)) part = 0; /* 0 / 0: both are zero */
        if (*block == job->picked || part < reach) {
            reach = part;
            *block = j;
        }
    }
    return reach;
}

/* A weight that rounding alone explains is none. */
static void clear_noise(cull_omp_job *job, double *wish)
{
    double norm = cull_cpu_omp_norm(job, wish);

    for (size_t j = 0; j < job->picked; j++) {
        double s = sqrt(job->diag[job->problem->index[j]] + job->ridge);
        if (wish[j] * s <= job->noise * norm) wish[j] = fmin(wish[j], 0);
    }
}

/* wish, and |L^-1 t|^2, which is what it explains of |b|^2. */
static void solve_unbound(cull_omp_job *job)
{
    double *wish = job->nonnegative.wish, sum = 0;

    for (size_t j = 0; j < job->picked; j++) wish[j] = job->t[job->problem->index[j]];
    cull_cpu_solve_lower(job->factor, job->picked, wish);
    for (size_t j = 0; j < job->picked; j++) sum += wish[j] * wish[j];
    job->nonnegative.explained = sum;
    cull_cpu_solve_transpose(job->factor, job->picked, wish);
    if (job->lowest < CULL_OMP_REFINE_BELOW) cull_cpu_omp_refine(job, wish);
    clear_noise(job, wish);
}

/* Returns whether any atom was dropped. */
static bool fit(cull_omp_job *job)
{
    bool dropped = false;

    for (;;) {
        size_t block = 0;
        double reach = 0;

        solve_unbound(job);
        reach = reach_of(job, &block);
        if (block == job->picked) break;
        for (size_t j = 0; j < job->picked; j++)
            job->weight[j] += reach * (job->nonnegative.wish[j] - job->weight[j]);
        job->weight[block] = 0;
        for (size_t j = job->picked; j-- > 0;)
            if (job->nonnegative.wish[j] <= 0 && job->weight[j] <= 0) leave(job, j);
        dropped = true;
    }
    memcpy(job->weight, job->nonnegative.wish, job->picked * sizeof *job->weight);
    return dropped;
}

static void free_dependent(cull_omp_job *job)
{
    for (size_t i = 0; i < job->n; i++)
        if (job->state[i] == CULL_ATOM_DEPENDENT && job->diag[i] > 0)
            job->state[i] = CULL_ATOM_FREE;
}

/* False: nothing is gained any more. */
static bool take(cull_omp_job *job, uint32_t p)
{
    size_t before = job->picked;
    double had = job->nonnegative.explained;
    bool   dropped = false, gains = true;

    enter(job, p);
    job->drawn++;
    dropped = fit(job);
    job->r2 = job->b2 - job->nonnegative.explained;
    if (dropped && job->picked == before && job->state[p] == CULL_ATOM_FREE) {
        job->state[p] = CULL_ATOM_DEPENDENT;
    } else if (dropped) {
        gains = job->nonnegative.explained > had;
        free_dependent(job);
    }
    cull_cpu_omp_panels(job, job->picked, correlate);
    return gains;
}

void cull_cpu_nonnegative_solve(cull_omp_job *job)
{
    static const cull_omp_view view = {weight_norm, dependent};
    cull_omp_nonnegative      *own = &job->nonnegative;

    own->explained = 0;
    own->spares = own->spare ? job->most : 0;
    for (size_t j = 0; j < own->spares; j++) own->spare[j] = own->filling + j * job->padded;
    while (!cull_cpu_omp_done(job)) {
        uint32_t p = cull_cpu_omp_choose(job, &view);
        if (p == CULL_OMP_NO_ATOM) break;
        if (!take(job, p)) {
            job->problem->stop = CULL_OMP_NO_GAIN;
            break;
        }
    }
}
