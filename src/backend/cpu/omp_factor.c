/*
 * backend/cpu/omp_factor.c - small triangular algebra over the picked atoms.
 *
 * K_II + ridge I = L L^T, L packed by rows; K_II packed the same way beside it, so that
 * weights can be checked against the equations they are to solve:
 *
 *     e = t_I - (K_II + ridge I) x,   x <- x + L^-T L^-1 e
 *
 * with e summed in twice the precision, as anything less would only repeat the rounding it
 * is to mend: so the weights are right to the last digits while the condition of K_II is
 * short of 1 / epsilon.
 */
#include <float.h>
#include <math.h>

#include "backend/cpu/omp.h"

enum { REFINEMENTS = 10 }; /* two or three do, unless K is all but singular */

void cull_cpu_solve_lower(double *factor, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        const double *row = cull_cpu_packed(factor, i);
        double        sum = x[i];

        for (size_t j = 0; j < i; j++) sum -= row[j] * x[j];
        x[i] = sum / row[i];
    }
}

void cull_cpu_solve_transpose(double *factor, size_t n, double *x)
{
    for (size_t i = n; i-- > 0;) {
        const double *row = cull_cpu_packed(factor, i);

        x[i] /= row[i];
        for (size_t j = 0; j < i; j++) x[j] -= row[j] * x[i];
    }
}

/* A sum in twice the precision: high + low. */
struct sum {
    double high, low;
};

static inline void sum_add(struct sum *sum, double a, double b)
{
    double product = a * b, rest = fma(a, b, -product);
    double high = sum->high + product, part = high - sum->high;

    sum->low += (sum->high - (high - part)) + (product - part) + rest;
    sum->high = high;
}

static double packed_entry(double *triangle, size_t i, size_t j)
{
    return i >= j ? cull_cpu_packed(triangle, i)[j] : cull_cpu_packed(triangle, j)[i];
}

static void equation_error(cull_omp_job *job, const double *x, double *e)
{
    for (size_t i = 0; i < job->picked; i++) {
        struct sum sum = {job->t[job->problem->index[i]], 0};

        sum_add(&sum, -job->ridge, x[i]);
        for (size_t j = 0; j < job->picked; j++)
            sum_add(&sum, -packed_entry(job->gram, i, j), x[j]);
        e[i] = sum.high + sum.low;
    }
}

static double largest(const double *x, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

void cull_cpu_omp_refine(cull_omp_job *job, double *x)
{
    size_t n = job->picked;
    double before = INFINITY;

    for (int round = 0; round < REFINEMENTS; round++) {
        double step = 0;

        equation_error(job, x, job->solve);
        cull_cpu_solve_lower(job->factor, n, job->solve);
        cull_cpu_solve_transpose(job->factor, n, job->solve);
        step = largest(job->solve, n);
        if (!(step < before / 2)) break; /* the factor can say no more */
        for (size_t i = 0; i < n; i++) x[i] += job->solve[i];
        if (step <= DBL_EPSILON * largest(x, n)) break;
        before = step;
    }
}

double cull_cpu_omp_norm(const cull_omp_job *job, const double *x)
{
    double norm = 0;

    for (size_t i = 0; i < job->picked; i++)
        norm += fabs(x[i]) * sqrt(job->diag[job->problem->index[i]] + job->ridge);
    return norm;
}
