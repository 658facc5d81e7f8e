/*
 * backend/cpu/refit_solve.c - one refit: least squares under weights >= 0.
 *
 *     min 1/2 x^T (K + R) x - t^T x,  x >= 0      R = diag(r),  K_ij = <g_i, g_j>,  t_i = <g_i, b>
 *
 * First by block principal pivoting (Judice and Pires; Kim and Park): the atoms that are
 * guessed to be above zero are solved without the bound, and all whose sign is wrong change
 * sides at once. A few rounds do where that makes them fewer. Where it does not, exchanging
 * one at a time (Murty) would end, but after exponentially many steps at worst; so it is done
 * by Lawson and Hanson's method instead, from zero: the steepest atom is let above zero, and
 * those that stand in the way are dropped. Every step there is feasible and an improvement.
 * Over the atoms above zero, F,
 *
 *     dual     x_F = (K_FF + R_F)^-1 t_F                        y = K_{:,F} x_F - t
 *     primal   z = (I + sum over F of g_i g_i^T / r_i)^-1 b     x_i = <g_i, z> / r_i,  y = -G z
 *
 * the primal form because of t = G b, and without a difference of large numbers.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/refit.h"

#define SLACK 1e-12 /* of its scale: a sign that cannot be told */

enum { TRIES = 3 }; /* exchanges of all that may fail to make them fewer */
enum { AT_ZERO, ABOVE, DROPPED, OUT };

/* Row i of an upper triangle of n, from its diagonal on. */
static double *triangle_row(double *triangle, size_t n, size_t i)
{
    return triangle + i * n - i * (i - 1) / 2;
}

static void add_scaled(size_t n, double factor, const double *restrict x, double *restrict y)
{
    for (size_t i = 0; i < n; i++) y[i] += factor * x[i];
}

/* U^T U = the matrix whose upper triangle comes in. `least`, if given: a pivot below half of
 * it is rounding, as no exact one is below all of it; that row and its unknown are zero. */
static void factorise(double *u, size_t n, const double *least)
{
    for (size_t i = 0; i < n; i++) {
        double *row = triangle_row(u, n, i), pivot = row[0];

        if (!(pivot >= (least ? least[i] / 2 : 0)) || pivot == 0) {
            memset(row, 0, (n - i) * sizeof *row);
            continue;
        }
        row[0] = sqrt(pivot);
        for (size_t j = 1; j < n - i; j++) row[j] /= row[0];
        for (size_t j = 1; j < n - i; j++)
            add_scaled(n - i - j, -row[j], row + j, triangle_row(u, n, i + j));
    }
}

/* x <- (U^T U)^-1 x; an unknown whose row is zero is zero. */
static void substitute(double *u, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        const double *row = triangle_row(u, n, i);

        x[i] = row[0] > 0 ? x[i] / row[0] : 0;
        add_scaled(n - i - 1, -x[i], row + 1, x + i + 1);
    }
    for (size_t i = n; i-- > 0;) {
        const double *row = triangle_row(u, n, i);
        double        sum = x[i];

        for (size_t j = 1; j < n - i; j++) sum -= row[j] * x[i + j];
        x[i] = row[0] > 0 ? sum / row[0] : 0;
    }
}

static void solve_dual(cull_refit_job *job)
{
    size_t n = job->n, f = job->aboves;

    for (size_t i = 0; i < f; i++) {
        const double *k = job->k + job->above[i] * n;
        double       *row = triangle_row(job->factor, f, i);

        for (size_t j = i; j < f; j++) row[j - i] = k[job->above[j]];
        row[0] += job->r[job->above[i]];
        job->row[i] = job->r[job->above[i]];
        job->z[i] = job->t[job->above[i]];
    }
    factorise(job->factor, f, job->row);
    substitute(job->factor, f, job->z);
    memset(job->x, 0, n * sizeof *job->x);
    for (size_t i = 0; i < f; i++) {
        job->x[job->above[i]] = job->z[i];
        if (!(triangle_row(job->factor, f, i)[0] > 0)) job->side[job->above[i]] = OUT;
    }
    job->kernels->products->apply_f64(n, n, job->k, n, job->x, job->y);
    for (size_t i = 0; i < n; i++) job->y[i] -= job->t[i];
}

/* b for primal problems has no gaps: (C, D+1) is one row of `size`. */
static void solve_primal(cull_refit_job *job)
{
    size_t n = job->n, size = job->size;

    memset(job->factor, 0, size * (size + 1) / 2 * sizeof *job->factor);
    for (size_t l = 0; l < size; l++) *triangle_row(job->factor, size, l) = 1;
    for (size_t i = 0; i < job->aboves; i++) {
        const double *g = job->g + job->above[i] * size;
        double        over = 1 / job->r[job->above[i]];

        for (size_t l = 0; l < size; l++)
            add_scaled(size - l, g[l] * over, g + l, triangle_row(job->factor, size, l));
    }
    factorise(job->factor, size, NULL);
    memcpy(job->z, job->problem->b, size * sizeof *job->z);
    substitute(job->factor, size, job->z);
    job->kernels->products->apply_f64(n, size, job->g, size, job->z, job->y);
    for (size_t i = 0; i < n; i++) {
        job->x[i] = job->side[i] == ABOVE ? job->y[i] / job->r[i] : 0;
        job->y[i] = -job->y[i];
    }
}

static void solve(cull_refit_job *job)
{
    job->aboves = 0;
    for (size_t i = 0; i < job->n; i++)
        if (job->side[i] == ABOVE) job->above[job->aboves++] = (uint32_t)i;
    if (job->primal)
        solve_primal(job);
    else
        solve_dual(job);
}

static double length_of(const cull_refit_job *job, size_t i)
{
    return sqrt(job->square[i] + job->problem->ridge);
}

/* Is the atom on the wrong side of zero? */
static bool wrong(const cull_refit_job *job, size_t i, double norm)
{
    double s = length_of(job, i);

    if (job->side[i] == ABOVE) return job->x[i] * s < -SLACK * norm;
    return job->side[i] == AT_ZERO && job->y[i] < -SLACK * (fabs(job->t[i]) + s * norm);
}

static double norm_of(const cull_refit_job *job)
{
    double norm = 0;

    for (size_t i = 0; i < job->n; i++) norm += fabs(job->x[i]) * length_of(job, i);
    return norm;
}

/* Atoms on the wrong side; they are marked in row. */
static size_t count_wrong(cull_refit_job *job)
{
    size_t count = 0;
    double norm = norm_of(job);

    for (size_t i = 0; i < job->n; i++) {
        job->row[i] = wrong(job, i, norm);
        count += job->row[i] != 0;
    }
    return count;
}

/* Atoms of no length weigh nothing; the rest begin on the side given. */
static void begin(cull_refit_job *job, uint8_t side)
{
    for (size_t i = 0; i < job->n; i++)
        job->side[i] = job->square[i] > 0 && isfinite(1 / job->r[i]) ? side : OUT;
}

/* Block principal pivoting; whether it came to an end. */
static bool exchange_all(cull_refit_job *job)
{
    size_t fewest = job->n + 1, tries = TRIES;

    begin(job, ABOVE);
    for (;;) {
        size_t count = 0;

        solve(job);
        count = count_wrong(job);
        if (count == 0) return true;
        if (count < fewest) {
            fewest = count;
            tries = TRIES;
        } else if (--tries == 0) {
            return false;
        }
        for (size_t i = 0; i < job->n; i++)
            if (job->row[i] != 0) job->side[i] = job->side[i] == ABOVE ? AT_ZERO : ABOVE;
    }
}

/* The atom at zero along which the error falls most for its length; n: along none. */
static size_t steepest(const cull_refit_job *job)
{
    size_t found = job->n;
    double norm = norm_of(job), least = 0;

    for (size_t i = 0; i < job->n; i++) {
        double slope = job->y[i] / length_of(job, i);

        if (job->side[i] != AT_ZERO || !wrong(job, i, norm) || !(slope < least)) continue;
        least = slope;
        found = i;
    }
    return found;
}

/* The atom that is the first to reach zero between point and x, and the part of the way at
 * which it does; n: none does. */
static size_t first_at_zero(const cull_refit_job *job, double *part)
{
    size_t first = job->n;

    for (size_t i = 0; i < job->n; i++) {
        double from = job->point[i], at = 0;

        if (job->side[i] != ABOVE || job->x[i] > 0) continue;
        if (from > 0) at = from / (from - job->x[i]);
        if (first < job->n && at >= *part) continue;
        *part = at;
        first = i;
    }
    return first;
}

/* From point to what solves for the atoms above zero, or for those of them that are left
 * after all that would fall below have been dropped. */
static void move(cull_refit_job *job)
{
    double part = 1;

    for (;;) {
        size_t first = 0;

        solve(job);
        first = first_at_zero(job, &part);
        if (first == job->n) break;
        for (size_t i = 0; i < job->n; i++)
            job->point[i] = fmax(0, job->point[i] + part * (job->x[i] - job->point[i]));
        job->point[first] = 0;
        job->side[first] = DROPPED;
    }
    memcpy(job->point, job->x, job->n * sizeof *job->x);
}

/* Lawson and Hanson's method. t^T x grows as the error falls; where it does not, slope and
 * solution are at odds by rounding, and what was dropped stays out, or it could come and go
 * for ever. */
static void descend(cull_refit_job *job)
{
    double most = 0;

    begin(job, AT_ZERO);
    memset(job->point, 0, job->n * sizeof *job->point);
    solve(job);
    for (size_t in = steepest(job); in < job->n; in = steepest(job)) {
        double reached = 0;

        job->side[in] = ABOVE;
        move(job);
        for (size_t i = 0; i < job->n; i++) reached += job->t[i] * job->x[i];
        for (size_t i = 0; i < job->n; i++)
            if (job->side[i] == DROPPED) job->side[i] = reached > most ? AT_ZERO : OUT;
        most = fmax(most, reached);
    }
}

static void minimise(cull_refit_job *job)
{
    if (!exchange_all(job)) descend(job);
    for (size_t i = 0; i < job->n; i++)
        if (!(job->x[i] > 0)) job->x[i] = 0;
}

/* |sum of x_i g_i - b|^2, less |b|^2 in the dual form; y and z are scratch. */
static double error_of(cull_refit_job *job, const double *x)
{
    double error = 0;

    if (!job->primal) {
        job->kernels->products->apply_f64(job->n, job->n, job->k, job->n, x, job->y);
        for (size_t i = 0; i < job->n; i++) error += x[i] * (job->y[i] - 2 * job->t[i]);
        return error;
    }
    for (size_t l = 0; l < job->size; l++) job->z[l] = -job->problem->b[l];
    for (size_t i = 0; i < job->n; i++)
        if (x[i] != 0) add_scaled(job->size, x[i], job->g + i * job->size, job->z);
    for (size_t l = 0; l < job->size; l++) error += job->z[l] * job->z[l];
    return error;
}

void cull_cpu_refit_solve(cull_refit_job *job)
{
    cull_omp_problem *problem = job->problem;
    const double     *best = job->old;

    for (size_t i = 0; i < job->n; i++) job->old[i] = i < problem->picked ? problem->weight[i] : 0;
    minimise(job);
    if (error_of(job, job->x) < error_of(job, job->old)) best = job->x;
    memcpy(problem->weight, best, job->n * sizeof *best);
}
