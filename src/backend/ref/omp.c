/*
 * backend/ref/omp.c - orthogonal matching pursuit by brute force: what is right.
 *
 * K is made whole, in double. Before every pick the weights of all picked atoms are solved
 * for anew from the original t (omp_refit.c), and the correlations follow from them:
 *
 *     (K_II + ridge I) weight = t_I     alpha = t - K_{:,I} weight     s_i = sqrt(K_ii + ridge)
 *     ridge = lambda mean(diag K)       |r|^2 = |b|^2 - t_I . weight
 *
 * A pick is the unpicked atom of largest score (|alpha|, or alpha where only positive
 * correlations count), ties to the lower index; or drawn: with u = cull_key_uniform(key,
 * step, picks so far), the first atom in index order at which the running sum of scores
 * exceeds u times their total. Out of the question are scores that rounding alone explains,
 * up to noise (|t_i| + s_i sum of |weight_j| s_j), and atoms that depend on those picked:
 * with w solving (K_II + ridge I) w = K_Ip, a pivot K_pp + ridge - w . K_Ip up to
 * noise (s_p + sum of |w_j| s_j)^2. Atoms of norm zero depend on anything.
 * noise is 32 roundings, of a double or, where the problem says so, of K's entries.
 *
 * Picks so far include, in the nonnegative form, atoms dropped since.
 */
#include <math.h>
#include <string.h>

#include "backend/ref/omp.h"
#include "backend/ref/ref.h"
#include "base/alloc.h"
#include "tensor/tensor.h"

#define NO_ATOM UINT32_MAX

static double element(const cull_tensor *x, size_t i, size_t j)
{
    const void *row = cull_tensor_row(x, i);

    return x->dtype == CULL_F32 ? (double)((const float *)row)[j] : ((const double *)row)[j];
}

/* Entry (i, l) of the gradients' last-layer form, l over classes times (D+1). */
static double gradient(const cull_omp_problem *problem, size_t i, size_t l)
{
    size_t row = problem->row ? problem->row[i] : i, width = (size_t)problem->h.shape[1];
    size_t c = problem->column < 0 ? l / (width + 1) : (size_t)problem->column;
    size_t at = l % (width + 1);

    return element(&problem->p, row, c) * (at < width ? element(&problem->h, row, at) : 1);
}

static void make_last_layer(struct ref_pursuit *x)
{
    const cull_omp_problem *problem = x->problem;
    size_t                  n = x->n, size = (size_t)problem->h.shape[1] + 1;

    if (problem->column < 0) size *= (size_t)problem->p.shape[1];
    for (size_t i = 0; i < n; i++) {
        x->t[i] = 0;
        for (size_t l = 0; l < size; l++) x->t[i] += gradient(problem, i, l) * problem->b[l];
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t l = 0; l < size; l++)
                sum += gradient(problem, i, l) * gradient(problem, j, l);
            x->k[i * n + j] = x->k[j * n + i] = sum;
        }
    }
    x->b2 = 0;
    for (size_t l = 0; l < size; l++) x->b2 += problem->b[l] * problem->b[l];
}

void cull_ref_omp_make(struct ref_pursuit *x)
{
    if (cull_tensor_present(&x->problem->k)) {
        for (size_t i = 0; i < x->n; i++)
            for (size_t j = 0; j < x->n; j++) x->k[i * x->n + j] = element(&x->problem->k, i, j);
        memcpy(x->t, x->problem->t, x->n * sizeof *x->t);
        x->b2 = x->problem->b2;
    } else {
        make_last_layer(x);
    }
}

static double mean_square(const struct ref_pursuit *x)
{
    double trace = 0;

    for (size_t i = 0; i < x->n; i++) trace += x->k[i * x->n + i];
    return trace / (double)x->n;
}

static void correlate(struct ref_pursuit *x)
{
    for (size_t i = 0; i < x->n; i++) {
        x->alpha[i] = x->t[i];
        for (size_t j = 0; j < x->picked; j++)
            x->alpha[i] -= x->k[i * x->n + x->problem->index[j]] * x->weight[j];
    }
}

static double norm_of(const struct ref_pursuit *x, const double *weight)
{
    double norm = 0;

    for (size_t j = 0; j < x->picked; j++)
        norm += fabs(weight[j]) * cull_ref_omp_s(x, x->problem->index[j]);
    return norm;
}

static bool depends(struct ref_pursuit *x, size_t p)
{
    double s = cull_ref_omp_s(x, p), pivot = s * s, reach = 0;

    if (!(x->k[p * x->n + p] > 0)) return true;
    for (size_t j = 0; j < x->picked; j++) x->w[j] = x->k[x->problem->index[j] * x->n + p];
    (void)cull_ref_omp_solve(x, x->w);
    for (size_t j = 0; j < x->picked; j++) pivot -= x->w[j] * x->k[x->problem->index[j] * x->n + p];
    reach = s + norm_of(x, x->w);
    return pivot <= x->noise * reach * reach;
}

/* The score of an atom that may be picked, else 0. */
static double score(const struct ref_pursuit *x, size_t i, double norm)
{
    double alpha = x->absolute ? fabs(x->alpha[i]) : x->alpha[i];

    if (x->out[i]) return 0;
    return alpha > x->noise * (fabs(x->t[i]) + cull_ref_omp_s(x, i) * norm) ? alpha : 0;
}

static uint32_t best_or_drawn(const struct ref_pursuit *x, const cull_omp_options *options)
{
    double   norm = norm_of(x, x->weight), total = 0, sum = 0, best = 0;
    double   u = cull_key_uniform(options->key, options->step, x->drawn);
    uint32_t at = NO_ATOM;

    for (size_t i = 0; i < x->n; i++) total += score(x, i, norm);
    for (size_t i = 0; i < x->n; i++) {
        double here = score(x, i, norm);

        if (here == 0) continue;
        if (options->pick == CULL_PICK_SAMPLE) {
            at = (uint32_t)i;
            sum += here;
            if (sum > u * total) break;
        } else if (here > best) {
            at = (uint32_t)i;
            best = here;
        }
    }
    return at;
}

static uint32_t choose(struct ref_pursuit *x, const cull_omp_options *options)
{
    uint32_t p = NO_ATOM;

    while ((p = best_or_drawn(x, options)) != NO_ATOM && depends(x, p)) x->out[p] = REF_DEPENDENT;
    if (p != NO_ATOM) return p;
    x->problem->stop = CULL_OMP_DEPENDENT;
    for (size_t i = 0; i < x->n; i++)
        if (x->out[i] == REF_FREE && !depends(x, i)) x->problem->stop = CULL_OMP_NO_GAIN;
    return NO_ATOM;
}

static bool done(struct ref_pursuit *x, double tolerance)
{
    double r2 = fmax(x->b2 - x->explained, 0);

    x->problem->residual = x->b2 > 0 ? sqrt(r2 / x->b2) : NAN;
    if (x->picked == x->problem->budget) {
        x->problem->stop = CULL_OMP_BUDGET;
        return true;
    }
    if (x->b2 > 0 && r2 < tolerance * tolerance * x->b2) {
        x->problem->stop = CULL_OMP_FIT;
        return true;
    }
    return false;
}

static void pursue(struct ref_pursuit *x, const cull_omp_options *options)
{
    correlate(x);
    while (!done(x, options->tolerance)) {
        uint32_t p = choose(x, options);

        if (p == NO_ATOM) break;
        x->problem->index[x->picked++] = p;
        x->out[p] = REF_PICKED;
        x->drawn++;
        if (options->nonnegative) {
            if (!cull_ref_omp_refit_nonnegative(x)) {
                x->problem->stop = CULL_OMP_NO_GAIN;
                (void)done(x, 0);
                break;
            }
        } else {
            cull_ref_omp_refit(x);
        }
        correlate(x);
    }
}

static bool all_zero(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] != 0) return false;
    return true;
}

static cull_status check_finite(const struct ref_pursuit *x, size_t number)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; i < x->n; i++)
        for (size_t j = 0; j < x->n; j++)
            if (!isfinite(x->k[i * x->n + j]) || !isfinite(x->t[i]))
                FAIL(CULL_NOT_FINITE,
                     "omp problem %zu: the Gram matrix or the target is not finite at atom %zu",
                     number, i);
done:
    return status;
}

cull_status cull_ref_omp_pursue(cull_omp_problem *problem, const cull_omp_options *options,
                                size_t number)
{
    cull_status        status = CULL_OK;
    struct ref_pursuit x = {
        .problem = problem, .n = problem->count, .noise = 32 * fmax(problem->noise, 0x1p-52)};

    x.absolute = options->pick != CULL_PICK_SIGNED && !options->nonnegative;
    TRY(cull_ref_omp_alloc(&x, options->memory ? options->memory : (size_t)1 << 30, number));
    cull_ref_omp_make(&x);
    problem->ridge = x.ridge = options->ridge * (options->absolute ? 1 : mean_square(&x));
    TRY(check_finite(&x, number));
    problem->residual = NAN;
    problem->stop = CULL_OMP_ZERO_TARGET;
    if (!all_zero(x.t, x.n) || x.b2 > 0) pursue(&x, options);
    problem->picked = x.picked;
    memcpy(problem->weight, x.weight, x.picked * sizeof *x.weight);
done:
    cull_ref_omp_free(&x);
    return status;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_status status = CULL_OK;

    (void)op;
    for (size_t i = 0; i < args->omp.count; i++)
        TRY(cull_ref_omp_pursue(&args->omp.problems[i], args->omp.options, i));
done:
    if (status != CULL_OK)
        for (size_t i = 0; i < args->omp.count; i++) args->omp.problems[i].picked = 0;
    return status;
}

const cull_op_class cull_ref_omp = {cull_host_create, run, cull_host_destroy};
