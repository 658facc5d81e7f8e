/*
 * backend/ref/omp_refit.c - weights of the picked atoms, solved for from nothing.
 *
 *     free         (K_II + ridge I) weight = t_I
 *     nonnegative  min 1/2 x^T (K_II + ridge I) x - t_I^T x,  x >= 0  (Lawson and Hanson)
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "backend/ref/omp.h"
#include "base/alloc.h"

enum { REFINEMENTS = 10 };

cull_status cull_ref_omp_alloc(struct ref_pursuit *x, size_t memory, size_t number)
{
    cull_status status = CULL_OK;
    size_t      n = x->n;
    double      needed = (2 * (double)n + 6) * (double)n * sizeof(double);

    if (needed > (double)memory)
        FAIL(CULL_TOO_LARGE,
             "omp problem %zu: %zu atoms need %.1f MiB, more than the %.1f MiB allowed", number, n,
             needed / 0x1p20, (double)memory / 0x1p20);
    TRY(cull_base_alloc(n * n, sizeof *x->k, "a Gram matrix", &x->k));
    TRY(cull_base_alloc(n * n, sizeof *x->l, "its factor", &x->l));
    TRY(cull_base_alloc(n, sizeof *x->t, "correlations", &x->t));
    TRY(cull_base_alloc(n, sizeof *x->alpha, "correlations", &x->alpha));
    TRY(cull_base_alloc(n, sizeof *x->weight, "weights", &x->weight));
    TRY(cull_base_alloc(n, sizeof *x->w, "weights", &x->w));
    TRY(cull_base_alloc(n, sizeof *x->e, "weights", &x->e));
    TRY(cull_base_alloc(n, sizeof *x->right, "weights", &x->right));
    TRY(cull_base_alloc(n, sizeof *x->out, "picks", &x->out));
done:
    return status;
}

void cull_ref_omp_free(struct ref_pursuit *x)
{
    cull_base_free(x->k);
    cull_base_free(x->l);
    cull_base_free(x->t);
    cull_base_free(x->alpha);
    cull_base_free(x->weight);
    cull_base_free(x->w);
    cull_base_free(x->e);
    cull_base_free(x->right);
    cull_base_free(x->out);
}

static double entry(const struct ref_pursuit *x, size_t i, size_t j)
{
    return x->k[x->problem->index[i] * x->n + x->problem->index[j]] + (i == j ? x->ridge : 0);
}

double cull_ref_omp_s(const struct ref_pursuit *x, size_t i)
{
    double s2 = x->k[i * x->n + i] + x->ridge;

    return s2 > 0 ? sqrt(s2) : 0;
}

static void factorise(struct ref_pursuit *x)
{
    for (size_t i = 0; i < x->picked; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = entry(x, i, j);
            for (size_t l = 0; l < j; l++) sum -= x->l[i * x->n + l] * x->l[j * x->n + l];
            x->l[i * x->n + j] = i == j ? sqrt(sum) : sum / x->l[j * x->n + j];
        }
    }
}

static void substitute(const struct ref_pursuit *x, double *v)
{
    for (size_t i = 0; i < x->picked; i++) {
        for (size_t j = 0; j < i; j++) v[i] -= x->l[i * x->n + j] * v[j];
        v[i] /= x->l[i * x->n + i];
    }
    for (size_t i = x->picked; i-- > 0;) {
        for (size_t j = i + 1; j < x->picked; j++) v[i] -= x->l[j * x->n + i] * v[j];
        v[i] /= x->l[i * x->n + i];
    }
}

/* high + low += a b, in twice the precision. */
static void add_product(double *high, double *low, double a, double b)
{
    double product = a * b, rest = fma(a, b, -product), sum = *high + product, part = sum - *high;

    *low += (*high - (sum - part)) + (product - part) + rest;
    *high = sum;
}

/* e = right - (K_II + ridge I) v, rounded once. */
static void equation_error(const struct ref_pursuit *x, const double *right, const double *v,
                           double *e)
{
    for (size_t i = 0; i < x->picked; i++) {
        double low = 0;

        e[i] = right[i];
        for (size_t j = 0; j < x->picked; j++)
            add_product(&e[i], &low, -x->k[x->problem->index[i] * x->n + x->problem->index[j]],
                        v[j]);
        add_product(&e[i], &low, -x->ridge, v[i]);
        e[i] += low;
    }
}

static double largest(const double *x, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

double cull_ref_omp_solve(struct ref_pursuit *x, double *v)
{
    size_t k = x->picked;
    double high = 0, low = 0, before = INFINITY;

    factorise(x);
    memcpy(x->right, v, k * sizeof *v);
    substitute(x, v);
    for (int round = 0; round < REFINEMENTS; round++) {
        equation_error(x, x->right, v, x->e);
        substitute(x, x->e);
        if (!(largest(x->e, k) < before / 2)) break;
        before = largest(x->e, k);
        for (size_t i = 0; i < k; i++) v[i] += x->e[i];
        if (before <= DBL_EPSILON * largest(v, k)) break;
    }
    equation_error(x, x->right, v, x->e);
    for (size_t i = 0; i < k; i++) {
        add_product(&high, &low, v[i], x->right[i]);
        add_product(&high, &low, v[i], x->e[i]);
    }
    return high + low;
}

void cull_ref_omp_refit(struct ref_pursuit *x)
{
    for (size_t j = 0; j < x->picked; j++) x->weight[j] = x->t[x->problem->index[j]];
    x->explained = cull_ref_omp_solve(x, x->weight);
}

static void drop(struct ref_pursuit *x, size_t gone)
{
    x->out[x->problem->index[gone]] = REF_FREE;
    for (size_t j = gone; j + 1 < x->picked; j++) {
        x->problem->index[j] = x->problem->index[j + 1];
        x->weight[j] = x->weight[j + 1];
        x->w[j] = x->w[j + 1];
    }
    x->picked--;
}

/* The first weight on the way to w that reaches zero, and how far along; picked: none. */
static size_t first_to_reach_zero(const struct ref_pursuit *x, double *part)
{
    size_t first = x->picked;

    *part = 1;
    for (size_t j = 0; j < x->picked; j++) {
        double here = x->weight[j] / (x->weight[j] - x->w[j]);

        if (x->w[j] > 0) continue;
        if (!(here >= 0)) here = 0; /* 0 / 0: both are zero */
        if (first == x->picked || here < *part) {
            *part = here;
            first = j;
        }
    }
    return first;
}

/* A weight that rounding alone explains is none. */
static void clear_noise(struct ref_pursuit *x)
{
    double norm = 0;

    for (size_t j = 0; j < x->picked; j++)
        norm += fabs(x->w[j]) * cull_ref_omp_s(x, x->problem->index[j]);
    for (size_t j = 0; j < x->picked; j++)
        if (x->w[j] * cull_ref_omp_s(x, x->problem->index[j]) <= x->noise * norm)
            x->w[j] = fmin(x->w[j], 0);
}

bool cull_ref_omp_refit_nonnegative(struct ref_pursuit *x)
{
    double   had = x->explained, part = 1;
    size_t   before = x->picked - 1, first = 0;
    uint32_t fresh = x->problem->index[before];
    bool     dropped = false;

    x->weight[before] = 0;
    for (;;) {
        for (size_t j = 0; j < x->picked; j++) x->w[j] = x->t[x->problem->index[j]];
        x->explained = cull_ref_omp_solve(x, x->w);
        clear_noise(x);
        first = first_to_reach_zero(x, &part);
        if (first == x->picked) break;
        for (size_t j = 0; j < x->picked; j++) x->weight[j] += part * (x->w[j] - x->weight[j]);
        x->weight[first] = 0;
        for (size_t j = x->picked; j-- > 0;)
            if (x->w[j] <= 0 && x->weight[j] <= 0) drop(x, j);
        dropped = true;
    }
    memcpy(x->weight, x->w, x->picked * sizeof *x->w);
    if (!dropped) return true;
    if (x->picked == before && x->out[fresh] == REF_FREE) {
        x->out[fresh] = REF_DEPENDENT; /* rounding took it back at once: not again before a drop */
        return true;
    }
    for (size_t i = 0; i < x->n; i++)
        if (x->out[i] == REF_DEPENDENT) x->out[i] = REF_FREE;
    return x->explained > had;
}
