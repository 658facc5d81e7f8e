/*
 * backend/cpu/omp_atoms.c - the atoms of a pursuit problem.
 *
 *     explicit    row p of K (n, n) is the column
 *     last layer  K_ip = (p_i . p_p) (h_i . h_p + 1)       h (n, D)   p (n, C)
 *                 t_i  = sum over c of p_ic (B_c . [h_i; 1])          B (C, D+1)
 *     a column c  K_ip = p_ic p_pc (h_i . h_p + 1),  t_i = p_ic (b . [h_i; 1])
 *
 * All sums are in double. Rows that lie scattered in the caller's arrays are copied side by
 * side once, in their own type; nothing of size n C D or n n is made.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/omp.h"
#include "tensor/tensor.h"

static bool rows_are_scattered(const cull_omp_problem *problem)
{
    if (!problem->row) return false;
    for (size_t i = 1; i < problem->count; i++)
        if (problem->row[i] != problem->row[0] + i) return true;
    return false;
}

static size_t first_row(const cull_omp_problem *problem)
{
    return problem->row ? problem->row[0] : 0;
}

static cull_cpu_rows in_place(const cull_tensor *x, size_t first)
{
    return (cull_cpu_rows){cull_tensor_row(x, first), (size_t)x->stride[0], x->dtype == CULL_F32};
}

/* Where the n rows of x will lie; *copy is the room for them when they must be moved. */
static cull_cpu_rows place_rows(const cull_omp_problem *problem, const cull_tensor *x,
                                bool scattered, cull_cpu_arena *arena, void **copy)
{
    size_t columns = (size_t)x->shape[1];

    *copy = NULL;
    if (!scattered) return in_place(x, first_row(problem));
    *copy = cull_cpu_arena_take(arena, problem->count * columns, cull_dtype_size(x->dtype));
    return (cull_cpu_rows){*copy, columns, x->dtype == CULL_F32};
}

void cull_cpu_atoms_layout(cull_omp_job *job, cull_cpu_arena *arena)
{
    const cull_omp_problem *problem = job->problem;
    cull_cpu_atoms         *atoms = &job->atoms;
    bool                    scattered = false;

    *atoms = (cull_cpu_atoms){0};
    if (cull_tensor_present(&problem->k)) {
        atoms->k = in_place(&problem->k, 0);
        for (size_t i = 0; i < 2; i++)
            atoms->tail[i] =
                cull_cpu_arena_take(arena, job->kernels->pursuit->rows, sizeof(double));
        return;
    }
    scattered = rows_are_scattered(problem);
    atoms->width = (size_t)problem->h.shape[1];
    atoms->classes = problem->column < 0 ? (size_t)problem->p.shape[1] : 1;
    atoms->h = place_rows(problem, &problem->h, scattered, arena, &atoms->gathered_h);
    if (problem->column < 0)
        atoms->p = place_rows(problem, &problem->p, scattered, arena, &atoms->gathered_p);
    else
        atoms->pc = cull_cpu_arena_take(arena, job->padded, sizeof(double));
    atoms->h_at = cull_cpu_arena_take(arena, atoms->width, sizeof(double));
    atoms->p_at = cull_cpu_arena_take(arena, atoms->classes, sizeof(double));
    atoms->inner = cull_cpu_arena_take(arena, job->padded, sizeof(double));
    job->own_t = cull_cpu_arena_take(arena, job->padded, sizeof(double));
}

void cull_cpu_rows_apply(const cull_omp_job *job, const cull_cpu_rows *rows, size_t columns,
                         size_t first, size_t last, const double *x, double *out)
{
    const cull_products *products = job->kernels->products;

    if (rows->single)
        products->apply_f32(last - first, columns, (const float *)rows->data + first * rows->ld,
                            rows->ld, x, out + first);
    else
        products->apply_f64(last - first, columns, (const double *)rows->data + first * rows->ld,
                            rows->ld, x, out + first);
}

void cull_cpu_rows_get(const cull_cpu_rows *rows, size_t columns, size_t i, double *out)
{
    if (rows->single) {
        const float *row = (const float *)rows->data + i * rows->ld;
        for (size_t l = 0; l < columns; l++) out[l] = (double)row[l];
    } else {
        memcpy(out, (const double *)rows->data + i * rows->ld, columns * sizeof *out);
    }
}

static double entry(const cull_cpu_rows *rows, size_t i, size_t j)
{
    return rows->single ? (double)((const float *)rows->data)[i * rows->ld + j]
                        : ((const double *)rows->data)[i * rows->ld + j];
}

void cull_cpu_atoms_point(cull_omp_job *job, size_t p)
{
    cull_cpu_atoms *atoms = &job->atoms;

    cull_cpu_rows_get(&atoms->h, atoms->width, p, atoms->h_at);
    if (atoms->pc)
        atoms->p_at[0] = atoms->pc[p];
    else
        cull_cpu_rows_get(&atoms->p, atoms->classes, p, atoms->p_at);
}

void cull_cpu_atoms_fill(cull_omp_job *job, size_t first, size_t last, double *out)
{
    cull_cpu_atoms *atoms = &job->atoms;

    cull_cpu_rows_apply(job, &atoms->h, atoms->width, first, last, atoms->h_at, out);
    if (atoms->pc) {
        for (size_t i = first; i < last; i++) out[i] = atoms->pc[i] * atoms->p_at[0] * (out[i] + 1);
        return;
    }
    cull_cpu_rows_apply(job, &atoms->p, atoms->classes, first, last, atoms->p_at, atoms->inner);
    for (size_t i = first; i < last; i++) out[i] = atoms->inner[i] * (out[i] + 1);
}

static void gather(const cull_omp_problem *problem, const cull_tensor *x, void *out)
{
    size_t bytes = (size_t)x->shape[1] * cull_dtype_size(x->dtype);

    for (size_t i = 0; i < problem->count; i++)
        memcpy((char *)out + i * bytes, cull_tensor_row(x, problem->row[i]), bytes);
}

static void gather_column(const cull_omp_problem *problem, double *out)
{
    cull_cpu_rows p = in_place(&problem->p, 0);

    for (size_t i = 0; i < problem->count; i++)
        out[i] = entry(&p, problem->row ? problem->row[i] : i, (size_t)problem->column);
}

/* diag one atom at a time, by the very sums that make its column, so that a duplicate's
 * pivot comes out as nothing. */
static void make_diagonal(cull_omp_job *job, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        cull_cpu_atoms_point(job, i);
        cull_cpu_atoms_fill(job, i, i + 1, job->diag);
    }
}

/* t, one class of the target at a time; diag is scratch until make_diagonal. */
static void make_correlations(cull_omp_job *job, size_t first_panel, size_t last_panel)
{
    cull_cpu_atoms *atoms = &job->atoms;
    size_t          rows = job->kernels->pursuit->rows, stride = atoms->width + 1;
    size_t          first = first_panel * rows, last = last_panel * rows;

    if (last > job->n) last = job->n;
    memset(job->own_t + first, 0, (last - first) * sizeof(double));
    for (size_t c = 0; c < atoms->classes; c++) {
        const double *b = job->problem->b + c * stride;
        cull_cpu_rows_apply(job, &atoms->h, atoms->width, first, last, b, job->diag);
        for (size_t i = first; i < last; i++)
            job->own_t[i] += (atoms->pc ? atoms->pc[i] : entry(&atoms->p, i, c)) *
                             (job->diag[i] + b[atoms->width]);
    }
}

static void prepare_last_layer(cull_omp_job *job)
{
    cull_cpu_atoms *atoms = &job->atoms;
    size_t          size = atoms->classes * (atoms->width + 1);

    if (atoms->gathered_h) gather(job->problem, &job->problem->h, atoms->gathered_h);
    if (atoms->gathered_p) gather(job->problem, &job->problem->p, atoms->gathered_p);
    if (atoms->pc) gather_column(job->problem, atoms->pc);
    cull_cpu_omp_panels(job, size, make_correlations);
    make_diagonal(job, 0, job->n);
    job->t = job->own_t;
    job->b2 = 0;
    for (size_t i = 0; i < size; i++) job->b2 += job->problem->b[i] * job->problem->b[i];
}

void cull_cpu_atoms_prepare(cull_omp_job *job)
{
    if (!job->atoms.k.data) {
        prepare_last_layer(job);
        return;
    }
    for (size_t i = 0; i < job->n; i++) job->diag[i] = entry(&job->atoms.k, i, i);
    job->t = job->problem->t;
    job->b2 = job->problem->b2;
}
