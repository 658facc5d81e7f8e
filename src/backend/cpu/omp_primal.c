/*
 * backend/cpu/omp_primal.c - matching pursuit in the space of the gradients: one class's
 * row of the last layer, g_i = p_ic [h_i; 1] with D+1 numbers, and ridge > 0.
 *
 *     S = ridge I + sum over picked of g g^T              (D+1, D+1)
 *     r = ridge S^-1 b                                    the residual b - sum weight g
 *     pick p  u = S^-1 g,  q = g . u,  d = ridge (1 + q),  |r|^2 -= alpha_p^2 / d
 *             S^-1 -= u u^T / (1 + q),  r -= u alpha_p / (1 + q)
 *     always  alpha_i = p_ic (r . [h_i; 1]),  weight_i = alpha_i / ridge on the picked
 *
 * The same picks as the dual, whose pivots d and coefficients these are, at 2 (D+1)^2 a
 * pick instead of n times the picks. Updates of S^-1 wait in u and are made a few at once.
 * What rounding they collect, r would too; so r is put right against its own equation now
 * and then, and before the weights are read off it:
 *
 *     e = b - r - sum over picked of g (g . r) / ridge,   r += ridge S^-1 e
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/omp.h"

enum { PENDING = 8, REPAIR_EVERY = 32 };

void cull_cpu_primal_layout(cull_omp_job *job, cull_cpu_arena *arena)
{
    cull_omp_primal *primal = &job->primal;

    primal->size = job->atoms.width + 1;
    primal->stride = (primal->size + 7) / 8 * 8;
    primal->s = cull_cpu_arena_take(arena, primal->size * primal->stride, sizeof(double));
    primal->u = cull_cpu_arena_take(arena, PENDING * primal->stride, sizeof(double));
    primal->g = cull_cpu_arena_take(arena, primal->stride, sizeof(double));
    primal->r = cull_cpu_arena_take(arena, primal->stride, sizeof(double));
    primal->v = cull_cpu_arena_take(arena, primal->stride, sizeof(double));
    primal->e = cull_cpu_arena_take(arena, primal->stride, sizeof(double));
}

static double dot(size_t n, const double *x, const double *y)
{
    double sum[4] = {0};
    size_t i = 0;

    for (; i + 4 <= n; i += 4)
        for (size_t l = 0; l < 4; l++) sum[l] += x[i + l] * y[i + l];
    for (; i < n; i++) sum[0] += x[i] * y[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void add(size_t n, double scale, const double *x, double *y)
{
    for (size_t i = 0; i < n; i++) y[i] += scale * x[i];
}

/* primal->g = the gradient of an atom. */
static const double *gradient(cull_omp_job *job, size_t atom)
{
    double *g = job->primal.g, p = job->atoms.pc[atom];

    cull_cpu_rows_get(&job->atoms.h, job->atoms.width, atom, g);
    g[job->atoms.width] = 1;
    for (size_t i = 0; i < job->primal.size; i++) g[i] *= p;
    return g;
}

/* out = S^-1 x */
static void apply_inverse(cull_omp_job *job, const double *x, double *out)
{
    cull_omp_primal *primal = &job->primal;
    size_t           size = primal->size, stride = primal->stride;

    job->kernels->products->apply_f64(size, size, primal->s, stride, x, out);
    for (size_t j = 0; j < primal->pending; j++) {
        const double *u = primal->u + j * stride;
        add(size, -dot(size, u, x), u, out);
    }
}

static void update_inverse(cull_omp_job *job, const double *u, double scale)
{
    cull_omp_primal *primal = &job->primal;
    double          *row = primal->u + primal->pending * primal->stride;

    for (size_t i = 0; i < primal->size; i++) row[i] = u[i] * scale;
    for (size_t i = primal->size; i < primal->stride; i++) row[i] = 0;
    if (++primal->pending < PENDING) return;
    job->kernels->pursuit->downdate(primal->size, PENDING, primal->u, primal->s, primal->stride);
    primal->pending = 0;
}

static void correlate(cull_omp_job *job, size_t first_panel, size_t last_panel)
{
    size_t        rows = job->kernels->pursuit->rows, first = first_panel * rows;
    size_t        last = last_panel * rows < job->n ? last_panel * rows : job->n;
    const double *r = job->primal.r;
    double        bias = r[job->atoms.width];

    cull_cpu_rows_apply(job, &job->atoms.h, job->atoms.width, first, last, r, job->alpha);
    for (size_t i = first; i < last; i++)
        job->alpha[i] =
            job->state[i] == CULL_ATOM_FREE ? job->atoms.pc[i] * (job->alpha[i] + bias) : NAN;
    cull_cpu_omp_score(job, first_panel, last_panel);
}

static void repair_residual(cull_omp_job *job)
{
    cull_omp_primal *primal = &job->primal;
    size_t           size = primal->size;

    for (size_t i = 0; i < size; i++) primal->e[i] = job->problem->b[i] - primal->r[i];
    for (size_t j = 0; j < job->picked; j++) {
        const double *g = gradient(job, job->problem->index[j]);
        add(size, -dot(size, g, primal->r) / job->ridge, g, primal->e);
    }
    apply_inverse(job, primal->e, primal->v);
    add(size, job->ridge, primal->v, primal->r);
}

static void weights_from_residual(cull_omp_job *job)
{
    for (size_t j = 0; j < job->picked; j++) {
        const double *g = gradient(job, job->problem->index[j]);
        job->weight[j] = dot(job->primal.size, g, job->primal.r) / job->ridge;
    }
}

static double weight_norm(cull_omp_job *job)
{
    weights_from_residual(job);
    return cull_cpu_omp_norm(job, job->weight);
}

/* The ridge keeps every pivot at least that large. */
static bool dependent(cull_omp_job *job, size_t atom)
{
    (void)job;
    (void)atom;
    return false;
}

static void take(cull_omp_job *job, uint32_t p)
{
    cull_omp_primal *primal = &job->primal;
    size_t           size = primal->size;
    const double    *g = gradient(job, p);
    double           q = 0, alpha = dot(size, g, primal->r);

    apply_inverse(job, g, primal->v);
    q = 1 + dot(size, g, primal->v);
    add(size, -alpha / q, primal->v, primal->r);
    update_inverse(job, primal->v, 1 / sqrt(q));
    job->r2 -= alpha * alpha / (job->ridge * q);
    job->state[p] = CULL_ATOM_PICKED;
    job->problem->index[job->picked] = p;
    job->drawn = ++job->picked;
    if (job->picked % REPAIR_EVERY == 0) repair_residual(job);
}

void cull_cpu_primal_solve(cull_omp_job *job)
{
    static const cull_omp_view view = {weight_norm, dependent};
    cull_omp_primal           *primal = &job->primal;

    memset(primal->s, 0, primal->size * primal->stride * sizeof(double));
    for (size_t i = 0; i < primal->size; i++) primal->s[i * primal->stride + i] = 1 / job->ridge;
    memcpy(primal->r, job->problem->b, primal->size * sizeof(double));
    primal->pending = 0;
    while (!cull_cpu_omp_done(job)) {
        uint32_t p = CULL_OMP_NO_ATOM;

        cull_cpu_omp_panels(job, job->atoms.width, correlate);
        p = cull_cpu_omp_choose(job, &view);
        if (p == CULL_OMP_NO_ATOM) break;
        take(job, p);
    }
    repair_residual(job);
    weights_from_residual(job);
}
