/*
 * backend/cancel.c - sums of gradients of which only rounding is left.
 *
 *     b = sum over rows of g_i                 S = sum of |g_i|
 *
 * Summed in double, the entries of b are off by up to n roundings of S, and the inner product of b
 * and an atom g by as many of S |g|. Where no more than that is found, b is taken for zero: what
 * remains of gradients that cancel says nothing about them, and must not be matched.
 */
#include <float.h>
#include <math.h>

#include "backend/match.h"
#include "tensor/tensor.h"

enum { LANES = 8, SPARE = 32 }; /* roundings of a term itself, beside those of the sum */

static double square_f32(const float *x, size_t n)
{
    double lane[LANES] = {0}, sum = 0;
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) lane[l] += (double)x[i + l] * (double)x[i + l];
    for (; i < n; i++) sum += (double)x[i] * (double)x[i];
    for (size_t l = 0; l < LANES; l++) sum += lane[l];
    return sum;
}

static double square_f64(const double *x, size_t n)
{
    double lane[LANES] = {0}, sum = 0;
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) lane[l] += x[i + l] * x[i + l];
    for (; i < n; i++) sum += x[i] * x[i];
    for (size_t l = 0; l < LANES; l++) sum += lane[l];
    return sum;
}

static double square(const cull_tensor *x, size_t row)
{
    const void *at = cull_tensor_row(x, row);
    size_t      columns = (size_t)x->shape[1];

    return x->dtype == CULL_F32 ? square_f32(at, columns) : square_f64(at, columns);
}

static double length(const cull_tensor *h, const cull_tensor *p, size_t row)
{
    return sqrt(square(p, row)) * sqrt(square(h, row) + 1);
}

double cull_match_lengths(const cull_tensor *h, const cull_tensor *p, size_t rows)
{
    double sum = 0;

    for (size_t i = 0; i < rows; i++) sum += length(h, p, i);
    return sum;
}

static double rounding_of(size_t rows)
{
    return ((double)rows + SPARE) * DBL_EPSILON;
}

void cull_match_cancel(const cull_op_args *args, size_t *broken)
{
    const cull_tensor *h = args->gradient.h, *p = args->gradient.p;
    size_t             size = (size_t)p->shape[1] * ((size_t)h->shape[1] + 1);
    double             lengths = 0, largest = 0;

    *broken = SIZE_MAX;
    for (size_t i = 0; i < args->gradient.rows; i++) {
        size_t row = args->gradient.row ? args->gradient.row[i] : i;
        double own = length(h, p, row);

        if (!isfinite(own * own)) {
            *broken = row;
            return;
        }
        lengths += own;
    }
    for (size_t i = 0; i < size; i++) largest = fmax(largest, fabs(args->gradient.b[i]));
    if (largest > rounding_of(args->gradient.rows) * lengths) return;
    for (size_t i = 0; i < size; i++) args->gradient.b[i] = 0;
}

bool cull_match_cancel_products(const double *k, size_t n, size_t rows, double lengths, double *t)
{
    double most = rounding_of(rows) * lengths / (double)rows;

    if (!isfinite(most)) return false;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(t[i]) <= most * sqrt(k[i * (n + 1)]))) return false;
    for (size_t i = 0; i < n; i++) t[i] = 0;
    return true;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_op_args  gradient = {.gradient = {args->cancel.h, args->cancel.p, args->cancel.row,
                                           args->cancel.rows, args->cancel.b}};
    cull_trouble *trouble = args->cancel.trouble;
    size_t        broken = SIZE_MAX;

    (void)op;
    cull_match_cancel(&gradient, &broken);
    if (broken != SIZE_MAX && trouble->what == CULL_WRONG_NOTHING)
        *trouble = (cull_trouble){.what = CULL_WRONG_SIGNAL,
                                  .which = args->cancel.which | CULL_TROUBLE_SQUARE,
                                  .row = broken,
                                  .place = broken};
    return CULL_OK;
}

const cull_op_class cull_host_cancel = {cull_host_create, run, cull_host_destroy};
