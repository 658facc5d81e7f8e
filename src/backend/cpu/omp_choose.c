/*
 * backend/cpu/omp_choose.c - which atom comes next, and when there is none.
 *
 * Largest score first, ties to the lower index; or drawn: with u uniform from (key, step,
 * picks so far), the first atom in index order at which the running sum of scores exceeds u
 * times their total. An atom that turns out to depend on those picked is masked and the
 * choice made again, with the same u.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/omp.h"

bool cull_cpu_omp_done(cull_omp_job *job)
{
    double tolerance = job->options->tolerance;

    if (job->picked == job->problem->budget) {
        job->problem->stop = CULL_OMP_BUDGET;
        return true;
    }
    if (job->b2 > 0 && fmax(job->r2, 0) < tolerance * tolerance * job->b2) {
        job->problem->stop = CULL_OMP_FIT;
        return true;
    }
    if (job->picked == job->most) { /* the rank is used up */
        job->problem->stop = CULL_OMP_DEPENDENT;
        return true;
    }
    return false;
}

void cull_cpu_omp_score(cull_omp_job *job, size_t first, size_t last)
{
    const cull_pursuit *pursuit = job->kernels->pursuit;

    for (size_t panel = first; panel < last; panel++)
        job->best[panel] = pursuit->best(job->alpha + panel * pursuit->rows, job->absolute);
}

static double score(const cull_omp_job *job, size_t i)
{
    return job->absolute ? fabs(job->alpha[i]) : job->alpha[i];
}

static uint32_t top(const cull_omp_job *job)
{
    const cull_pursuit *pursuit = job->kernels->pursuit;
    size_t              panels = job->padded / pursuit->rows, at = 0;

    for (size_t panel = 1; panel < panels; panel++)
        if (job->best[panel] > job->best[at]) at = panel;
    if (!(job->best[at] > 0)) return CULL_OMP_NO_ATOM;
    return (uint32_t)(at * pursuit->rows +
                      pursuit->find(job->alpha + at * pursuit->rows, job->absolute, job->best[at]));
}

static uint32_t draw(const cull_omp_job *job)
{
    double   total = 0, sum = 0;
    double   u = cull_key_uniform(job->options->key, job->options->step, job->drawn);
    uint32_t at = CULL_OMP_NO_ATOM;

    for (size_t i = 0; i < job->n; i++)
        if (score(job, i) > 0) total += score(job, i);
    for (size_t i = 0; i < job->n; i++) {
        if (!(score(job, i) > 0)) continue;
        at = (uint32_t)i;
        sum += score(job, i);
        if (sum > u * total) break;
    }
    return at;
}

static bool plainly_something(const cull_omp_job *job, size_t p)
{
    double limit = job->plain_alpha * job->plain_alpha * job->scale2;

    return job->lowest >= job->plain_pivot &&
           job->alpha[p] * job->alpha[p] > limit * (job->diag[p] + job->ridge);
}

static bool is_noise(const cull_omp_job *job, size_t i, double norm)
{
    double scale = fabs(job->t[i]) + sqrt(job->diag[i] + job->ridge) * norm;

    return score(job, i) <= job->noise * scale;
}

static void set_noise_aside(cull_omp_job *job, double norm)
{
    memcpy(job->held, job->alpha, job->padded * sizeof(double));
    for (size_t i = 0; i < job->n; i++)
        if (job->state[i] == CULL_ATOM_FREE && is_noise(job, i, norm)) job->alpha[i] = NAN;
    cull_cpu_omp_score(job, 0, job->padded / job->kernels->pursuit->rows);
}

static void put_back(cull_omp_job *job)
{
    for (size_t i = 0; i < job->n; i++)
        job->alpha[i] = job->state[i] == CULL_ATOM_FREE ? job->held[i] : NAN;
    cull_cpu_omp_score(job, 0, job->padded / job->kernels->pursuit->rows);
}

static void set_dependent(cull_omp_job *job, size_t atom)
{
    size_t panel = atom / job->kernels->pursuit->rows;

    job->state[atom] = CULL_ATOM_DEPENDENT;
    job->alpha[atom] = NAN;
    cull_cpu_omp_score(job, panel, panel + 1);
}

static cull_omp_stop why_none(cull_omp_job *job, const cull_omp_view *view)
{
    for (size_t i = 0; i < job->n; i++)
        if (job->state[i] == CULL_ATOM_FREE && !view->dependent(job, i)) return CULL_OMP_NO_GAIN;
    return CULL_OMP_DEPENDENT;
}

uint32_t cull_cpu_omp_choose(cull_omp_job *job, const cull_omp_view *view)
{
    bool     aside = false;
    double   norm = -1;
    uint32_t p = CULL_OMP_NO_ATOM;

    for (;;) {
        p = job->options->pick == CULL_PICK_SAMPLE ? draw(job) : top(job);
        if (p == CULL_OMP_NO_ATOM) break;
        if (!plainly_something(job, p)) {
            if (norm < 0) norm = view->weight_norm(job);
            if (!aside && is_noise(job, p, norm)) {
                set_noise_aside(job, norm);
                aside = true;
                continue;
            }
        }
        if (!view->dependent(job, p)) break;
        set_dependent(job, p);
    }
    if (aside) put_back(job);
    if (p == CULL_OMP_NO_ATOM) job->problem->stop = why_none(job, view);
    return p;
}
