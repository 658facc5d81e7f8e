/*
 * backend/cpu/omp_factor.c - small triangular algebra over the picked atoms.
 *
 * K_II + ridge I = L L^T, L packed by rows; K_II packed the same way beside it, so that
 * weights can be checked against the equations they are to solve:
 *
 *     e = t_I - (K_II + ridge I) x,   x <- x + L^-T L^-1 e
 *
 * x explains x . (t_I + e) of |b|^2, up to terms of second order in its own error.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/omp.h"

enum { REFINEMENTS = 2 };

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

static void equation_error(cull_omp_job *job, const double *x, double *e)
{
    for (size_t i = 0; i < job->picked; i++)
        e[i] = job->t[job->problem->index[i]] - job->ridge * x[i];
    for (size_t i = 0; i < job->picked; i++) {
        const double *row = cull_cpu_packed(job->gram, i);

        for (size_t j = 0; j < i; j++) {
            e[i] -= row[j] * x[j];
            e[j] -= row[j] * x[i];
        }
        e[i] -= row[i] * x[i];
    }
}

double cull_cpu_omp_refine(cull_omp_job *job, double *x)
{
    double explained = 0;

    for (int round = 0; round < REFINEMENTS; round++) {
        equation_error(job, x, job->solve);
        cull_cpu_solve_lower(job->factor, job->picked, job->solve);
        cull_cpu_solve_transpose(job->factor, job->picked, job->solve);
        for (size_t i = 0; i < job->picked; i++) x[i] += job->solve[i];
    }
    equation_error(job, x, job->solve);
    for (size_t i = 0; i < job->picked; i++)
        explained += x[i] * (job->t[job->problem->index[i]] + job->solve[i]);
    return explained;
}

double cull_cpu_omp_norm(const cull_omp_job *job, const double *x)
{
    double norm = 0;

    for (size_t i = 0; i < job->picked; i++)
        norm += fabs(x[i]) * sqrt(job->diag[job->problem->index[i]] + job->ridge);
    return norm;
}
