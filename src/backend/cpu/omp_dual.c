/*
 * backend/cpu/omp_dual.c - matching pursuit by a partial Cholesky factorisation of
 * K + ridge I with the pursuit's own pivots, L (n, picks) over all atoms.
 *
 *     start   d = diag K + ridge, alpha = t
 *     pick p  v = (K_{:,p} - L L_p^T) / sqrt(d_p),  c = alpha_p / sqrt(d_p)
 *             alpha -= c v,  d -= v^2,  |r|^2 -= c^2,  L gains the column v
 *     end     L_I^T weight = c
 *
 * alpha is t - K_{:,I} weight at every pick without the weights being known; a picked
 * atom's is masked. v at row i and d_i are the same sums in the same order, so that an exact
 * duplicate's pivot cancels to rounding of the pivot itself, not of K.
 *
 * Reading L is what a pick costs. While it is read for one atom, the sums of a second are
 * made too: the next best, which is likely to be picked soon and then only lacks the columns
 * that came since. The sums are the same, wherever they pause.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/omp.h"

enum { AHEAD_FROM = 4096 }; /* numbers in L that the nearest cache holds anyway */

void cull_cpu_dual_layout(cull_omp_job *job, cull_cpu_arena *arena)
{
    cull_omp_dual *dual = &job->dual;
    size_t         triangle = job->most * (job->most + 1) / 2;

    dual->l = cull_cpu_arena_take(arena, job->padded * job->most, sizeof(double));
    dual->d = cull_cpu_arena_take(arena, job->padded, sizeof(double));
    dual->c = cull_cpu_arena_take(arena, job->most, sizeof(double));
    dual->column = NULL;
    if (!job->atoms.k.data) {
        dual->column = cull_cpu_arena_take(arena, job->padded, sizeof(double));
    } else if (job->padded * job->most > AHEAD_FROM) {
        dual->y = cull_cpu_arena_take(arena, job->most, sizeof(double));
        for (size_t i = 0; i < CULL_OMP_AHEAD; i++)
            dual->ahead[i].column = cull_cpu_arena_take(arena, job->padded, sizeof(double));
    }
    job->factor = cull_cpu_arena_take(arena, triangle, sizeof(double));
    job->gram = cull_cpu_arena_take(arena, triangle, sizeof(double));
}

/* L at one atom: a stride through its panel. */
static void get_row(const cull_omp_job *job, size_t atom, double *out)
{
    size_t        rows = job->kernels->pursuit->rows;
    const double *at = job->dual.l + atom / rows * rows * job->most + atom % rows;

    for (size_t j = 0; j < job->picked; j++) out[j] = at[j * rows];
}

static double weight_norm(cull_omp_job *job)
{
    memcpy(job->weight, job->dual.c, job->picked * sizeof(double));
    cull_cpu_solve_transpose(job->factor, job->picked, job->weight);
    return cull_cpu_omp_norm(job, job->weight);
}

static bool dependent(cull_omp_job *job, size_t atom)
{
    double s2 = job->diag[atom] + job->ridge, reach = 0;

    if (job->lowest >= job->plain_pivot && job->dual.d[atom] >= job->plain_pivot * s2) return false;
    get_row(job, atom, job->solve);
    cull_cpu_solve_transpose(job->factor, job->picked, job->solve);
    reach = sqrt(s2) + cull_cpu_omp_norm(job, job->solve);
    return job->dual.d[atom] <= job->noise * reach * reach;
}

/* ---- columns begun ahead */

static cull_omp_ahead *find_ahead(cull_omp_job *job, uint32_t atom)
{
    for (size_t i = 0; i < CULL_OMP_AHEAD; i++)
        if (job->dual.ahead[i].atom == atom) return &job->dual.ahead[i];
    return NULL;
}

/* The best atom of some panel that is not begun yet; the pick itself is masked already. */
static uint32_t likely_next(cull_omp_job *job)
{
    const cull_pursuit *pursuit = job->kernels->pursuit;
    size_t              rows = pursuit->rows, panels = job->padded / rows;
    double              best = 0;
    uint32_t            next = CULL_OMP_NO_ATOM;

    cull_cpu_omp_score(job, job->dual.p / rows, job->dual.p / rows + 1);
    for (size_t panel = 0; panel < panels; panel++) {
        uint32_t atom = 0;

        if (!(job->best[panel] > best)) continue;
        atom = (uint32_t)(panel * rows + pursuit->find(job->alpha + panel * rows, job->absolute,
                                                       job->best[panel]));
        if (find_ahead(job, atom)) continue;
        best = job->best[panel];
        next = atom;
    }
    return next;
}

static void plan_ahead(cull_omp_job *job)
{
    cull_omp_dual *dual = &job->dual;
    uint32_t       next = CULL_OMP_NO_ATOM;

    dual->begin = dual->begun = NULL;
    if (!job->atoms.k.data || job->padded * job->picked <= AHEAD_FROM) return;
    dual->begun = find_ahead(job, (uint32_t)dual->p);
    if (dual->begun) {
        dual->pick.first = dual->begun->done;
        dual->begun->atom = CULL_OMP_NO_ATOM;
        return;
    }
    next = likely_next(job);
    if (next == CULL_OMP_NO_ATOM) return;
    dual->begin = &dual->ahead[dual->oldest];
    dual->oldest = (dual->oldest + 1) % CULL_OMP_AHEAD;
    dual->begin->atom = next;
    dual->begin->done = job->picked;
    get_row(job, next, dual->y);
    dual->pick.y = dual->y;
}

/* ---- the pass over all rows */

/* One panel of an explicit row; the last one filled up in a tail. */
static const void *panel_of(cull_omp_job *job, size_t atom, size_t i, double *tail)
{
    size_t      size = job->atoms.k.single ? 4 : 8;
    const char *row = (const char *)job->atoms.k.data + (atom * job->atoms.k.ld + i) * size;

    if (i + job->kernels->pursuit->rows <= job->n) return row;
    memset(tail, 0, job->kernels->pursuit->rows * sizeof(double));
    memcpy(tail, row, (job->n - i) * size);
    return tail;
}

static double pass_panel(cull_omp_job *job, size_t i)
{
    const cull_pursuit      *pursuit = job->kernels->pursuit;
    cull_omp_dual           *dual = &job->dual;
    const cull_pursuit_pick *pick = &dual->pick;
    double                  *l = dual->l + i * job->most, *alpha = job->alpha + i, *d = dual->d + i;
    const void              *column = NULL, *other = NULL;
    double                  *ahead = NULL;

    if (dual->begun) return pursuit->eliminate_f64(pick, dual->begun->column + i, l, alpha, d);
    column = panel_of(job, dual->p, i, job->atoms.tail[0]);
    if (!dual->begin)
        return job->atoms.k.single ? pursuit->eliminate_f32(pick, column, l, alpha, d)
                                   : pursuit->eliminate_f64(pick, column, l, alpha, d);
    ahead = dual->begin->column + i;
    other = panel_of(job, dual->begin->atom, i, job->atoms.tail[1]);
    return job->atoms.k.single
               ? pursuit->eliminate_two_f32(pick, column, other, ahead, l, alpha, d)
               : pursuit->eliminate_two_f64(pick, column, other, ahead, l, alpha, d);
}

static void pass_explicit(cull_omp_job *job, size_t first, size_t last)
{
    for (size_t panel = first; panel < last; panel++)
        job->best[panel] = pass_panel(job, panel * job->kernels->pursuit->rows);
}

static void pass_last_layer(cull_omp_job *job, size_t first, size_t last)
{
    const cull_pursuit *pursuit = job->kernels->pursuit;
    cull_omp_dual      *dual = &job->dual;
    size_t              rows = pursuit->rows;

    cull_cpu_atoms_fill(job, first * rows, last * rows < job->n ? last * rows : job->n,
                        dual->column);
    for (size_t panel = first; panel < last; panel++) {
        size_t i = panel * rows;
        job->best[panel] = pursuit->eliminate_f64(
            &dual->pick, dual->column + i, dual->l + i * job->most, job->alpha + i, dual->d + i);
    }
}

/* K over the picked, for the refinement: from H and P while the column is there. */
static void keep_gram_row(cull_omp_job *job, size_t i)
{
    const cull_cpu_rows *k = &job->atoms.k;
    double              *row = cull_cpu_packed(job->gram, i);
    size_t               at = job->problem->index[i] * k->ld;

    for (size_t j = 0; j <= i; j++) {
        size_t other = job->problem->index[j];

        if (!k->data)
            row[j] = job->dual.column[other];
        else
            row[j] = k->single ? (double)((const float *)k->data)[at + other]
                               : ((const double *)k->data)[at + other];
    }
}

/* After the last pick nobody asks for alpha; only a refinement wants the column. */
static void pass(cull_omp_job *job, bool last)
{
    size_t k = job->picked;

    if (job->atoms.k.data) {
        if (!last) cull_cpu_omp_panels(job, k - job->dual.pick.first, pass_explicit);
    } else if (!last || job->lowest < CULL_OMP_REFINE_BELOW) {
        cull_cpu_atoms_point(job, job->dual.p);
        cull_cpu_omp_panels(job, k + job->atoms.width, pass_last_layer);
    }
}

static void take(cull_omp_job *job, uint32_t p)
{
    cull_omp_dual *dual = &job->dual;
    size_t         k = job->picked;
    double         d = dual->d[p], root = sqrt(d), c = job->alpha[p] / root;
    double        *row = cull_cpu_packed(job->factor, k);

    get_row(job, p, row);
    row[k] = root;
    dual->c[k] = c;
    dual->p = p;
    dual->pick = (cull_pursuit_pick){0, k, row, NULL, 1 / root, c, job->absolute};
    job->alpha[p] = NAN;
    job->state[p] = CULL_ATOM_PICKED;
    plan_ahead(job);
    job->lowest = fmin(job->lowest, d / (job->diag[p] + job->ridge));
    pass(job, k + 1 == job->problem->budget);
    job->problem->index[k] = p;
    job->picked = job->drawn = k + 1;
    if (!job->atoms.k.data) keep_gram_row(job, k);
    job->r2 -= c * c;
}

void cull_cpu_dual_solve(cull_omp_job *job)
{
    static const cull_omp_view view = {weight_norm, dependent};

    for (size_t i = 0; i < job->padded; i++)
        job->dual.d[i] = i < job->n ? job->diag[i] + job->ridge : 1;
    for (size_t i = 0; i < CULL_OMP_AHEAD; i++) job->dual.ahead[i].atom = CULL_OMP_NO_ATOM;
    job->dual.oldest = 0;
    if (job->dual.column) memset(job->dual.column, 0, job->padded * sizeof(double));
    while (!cull_cpu_omp_done(job)) {
        uint32_t p = cull_cpu_omp_choose(job, &view);
        if (p == CULL_OMP_NO_ATOM) break;
        take(job, p);
    }
    memcpy(job->weight, job->dual.c, job->picked * sizeof(double));
    cull_cpu_solve_transpose(job->factor, job->picked, job->weight);
    if (job->lowest >= CULL_OMP_REFINE_BELOW) return;
    for (size_t i = 0; job->atoms.k.data && i < job->picked; i++) keep_gram_row(job, i);
    cull_cpu_omp_refine(job, job->weight);
}
