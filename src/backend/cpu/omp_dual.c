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
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/omp.h"

#define REFINE_BELOW 1e-3 /* pivots above it cost the weights three of sixteen digits */

void cull_cpu_dual_layout(cull_omp_job *job, cull_cpu_arena *arena)
{
    cull_omp_dual *dual = &job->dual;
    size_t         triangle = job->most * (job->most + 1) / 2;

    dual->l = cull_cpu_arena_take(arena, job->padded * job->most, sizeof(double));
    dual->d = cull_cpu_arena_take(arena, job->padded, sizeof(double));
    dual->c = cull_cpu_arena_take(arena, job->most, sizeof(double));
    dual->column = NULL;
    if (!job->atoms.k.data) dual->column = cull_cpu_arena_take(arena, job->padded, sizeof(double));
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

    if (job->lowest >= CULL_OMP_PLAIN_PIVOT && job->dual.d[atom] >= CULL_OMP_PLAIN_PIVOT * s2)
        return false;
    get_row(job, atom, job->solve);
    cull_cpu_solve_transpose(job->factor, job->picked, job->solve);
    reach = sqrt(s2) + cull_cpu_omp_norm(job, job->solve);
    return job->dual.d[atom] <= CULL_OMP_NOISE * reach * reach;
}

/* The end of an explicit row, filled up to a whole panel. */
static const void *last_panel(cull_omp_job *job, const char *row, size_t size)
{
    size_t rows = job->kernels->pursuit->rows, first = job->padded - rows;

    memset(job->atoms.tail, 0, rows * sizeof(double));
    memcpy(job->atoms.tail, row + first * size, (job->n - first) * size);
    return job->atoms.tail;
}

static void pass_explicit(cull_omp_job *job, size_t first, size_t last)
{
    const cull_pursuit *pursuit = job->kernels->pursuit;
    cull_omp_dual      *dual = &job->dual;
    size_t              rows = pursuit->rows, size = job->atoms.k.single ? 4 : 8;
    const char         *row = (const char *)job->atoms.k.data + dual->p * job->atoms.k.ld * size;

    for (size_t panel = first; panel < last; panel++) {
        size_t      i = panel * rows;
        double     *l = dual->l + i * job->most;
        const void *column = i + rows <= job->n ? row + i * size : last_panel(job, row, size);

        job->best[panel] =
            job->atoms.k.single
                ? pursuit->eliminate_f32(&dual->pick, column, l, job->alpha + i, dual->d + i)
                : pursuit->eliminate_f64(&dual->pick, column, l, job->alpha + i, dual->d + i);
    }
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

static double gram_entry(const cull_omp_job *job, size_t i)
{
    const cull_cpu_rows *k = &job->atoms.k;

    if (!k->data) return job->dual.column[i];
    return k->single ? (double)((const float *)k->data)[job->dual.p * k->ld + i]
                     : ((const double *)k->data)[job->dual.p * k->ld + i];
}

/* After the last pick nobody asks for alpha; only a refinement wants the column. */
static void pass(cull_omp_job *job, bool last)
{
    size_t k = job->picked;

    if (job->atoms.k.data) {
        if (!last) cull_cpu_omp_panels(job, k, pass_explicit);
    } else if (!last || job->lowest < REFINE_BELOW) {
        cull_cpu_atoms_point(job, job->dual.p);
        cull_cpu_omp_panels(job, k + job->atoms.width, pass_last_layer);
    }
}

static void take(cull_omp_job *job, uint32_t p)
{
    cull_omp_dual *dual = &job->dual;
    size_t         k = job->picked;
    double         d = dual->d[p], root = sqrt(d), c = job->alpha[p] / root;
    double        *row = cull_cpu_packed(job->factor, k), *gram = cull_cpu_packed(job->gram, k);

    get_row(job, p, row);
    row[k] = root;
    dual->c[k] = c;
    dual->p = p;
    dual->pick = (cull_pursuit_pick){k, row, 1 / root, c, job->absolute};
    job->alpha[p] = NAN;
    job->state[p] = CULL_ATOM_PICKED;
    job->lowest = fmin(job->lowest, d / (job->diag[p] + job->ridge));
    pass(job, k + 1 == job->problem->budget);
    job->problem->index[k] = p;
    job->picked = job->drawn = k + 1;
    for (size_t j = 0; j <= k; j++) gram[j] = gram_entry(job, job->problem->index[j]);
    job->r2 -= c * c;
}

void cull_cpu_dual_solve(cull_omp_job *job)
{
    static const cull_omp_view view = {weight_norm, dependent};

    for (size_t i = 0; i < job->padded; i++)
        job->dual.d[i] = i < job->n ? job->diag[i] + job->ridge : 1;
    if (job->dual.column) memset(job->dual.column, 0, job->padded * sizeof(double));
    while (!cull_cpu_omp_done(job)) {
        uint32_t p = cull_cpu_omp_choose(job, &view);
        if (p == CULL_OMP_NO_ATOM) break;
        take(job, p);
    }
    memcpy(job->weight, job->dual.c, job->picked * sizeof(double));
    cull_cpu_solve_transpose(job->factor, job->picked, job->weight);
    if (job->lowest < REFINE_BELOW) cull_cpu_omp_refine(job, job->weight);
}
