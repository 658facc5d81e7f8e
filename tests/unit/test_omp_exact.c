/*
 * tests/unit/test_omp_exact.c - matching pursuit against answers made another way: ridge
 * refits by least squares on the atoms themselves, and float32 Gram matrices of bad condition
 * in extended precision.
 */
#include "unit/omp_support.h"

enum { N = 50, D = 40, PICKS = 20 };

/* min |b - sum x_j g_j|^2 + ridge |x|^2 by Householder reflections of [G_I^T; sqrt(ridge) I],
 * (D + k, k), and of [b; 0]. */
static void least_squares(const struct atoms *a, const uint32_t *index, size_t k, double ridge,
                          double *x)
{
    size_t  rows = a->d + k;
    double *q = make(rows * (k + 1), sizeof *q); /* column by column, the target last */

    for (size_t j = 0; j < k; j++) {
        memcpy(q + j * rows, a->g + index[j] * a->d, a->d * sizeof *q);
        q[j * rows + a->d + j] = sqrt(ridge);
    }
    memcpy(q + k * rows, a->b, a->d * sizeof *q);
    for (size_t j = 0; j < k; j++) {
        double *v = q + j * rows + j, norm = sqrt(dot(rows - j, v, v));
        double  head = v[0], pivot = head > 0 ? -norm : norm, size = 0;

        v[0] -= pivot;
        size = dot(rows - j, v, v);
        for (size_t c = j + 1; c <= k; c++) {
            double scale = 2 * dot(rows - j, v, q + c * rows + j) / size;
            for (size_t l = 0; l < rows - j; l++) q[c * rows + j + l] -= scale * v[l];
        }
        x[j] = pivot; /* the diagonal of R, until the weights take its place */
    }
    for (size_t j = k; j-- > 0;) {
        double sum = q[k * rows + j];
        for (size_t c = j + 1; c < k; c++) sum -= q[c * rows + j] * x[c];
        x[j] = sum / x[j];
    }
    free(q);
}

static uint32_t best_by_definition(const struct atoms *a, const struct answer *x)
{
    double   r[D], best = 0;
    uint32_t at = 0;

    residual_of(a, x, r);
    for (uint32_t i = 0; i < a->n; i++) {
        double score = fabs(dot(a->d, a->g + i * a->d, r));
        if (score > best && !picked_before(x, i, x->picked)) {
            best = score;
            at = i;
        }
    }
    return at;
}

/* Every other time the ridge is added as it is. */
static void ridge_is_a_least_squares_refit_at_every_step(void **state)
{
    static const double lambdas[] = {0.1, 0.5};

    (void)state;
    for (uint64_t run = 0; run < 40; run++) {
        struct atoms     a = atoms_make(run + 1, N, D, run % 4 == 3 ? 0.7 : 1);
        cull_omp_options options = {.ridge = lambdas[run % 2], .tolerance = 0};
        double           trace = 0;
        uint32_t         index[PICKS];
        double           weight[PICKS];
        struct answer    right = {.index = index, .weight = weight};

        for (size_t i = 0; i < a.n; i++) trace += a.k[i * a.n + i];
        options.absolute = run % 4 > 1;
        for (size_t m = 1; m <= PICKS; m++) {
            struct answer x = solve(run % 3 ? "cpu" : "ref", explicit_problem(&a, m), &options);

            index[right.picked] = best_by_definition(&a, &right);
            right.picked = m;
            least_squares(&a, index, m,
                          options.ridge * (options.absolute ? 1 : trace / (double)a.n), weight);
            assert_same_answer(&x, &right, 1e-8);
            answer_clear(&x);
        }
        atoms_clear(&a);
    }
}

/* ---- pursuit in long double, and how sure it is */

struct careful {
    size_t      n, picked;
    uint32_t    index[64];
    long double l[64][64], w[64];
};

static void careful_solve(struct careful *x, const double *k, const double *t)
{
    for (size_t i = 0; i < x->picked; i++) {
        for (size_t j = 0; j <= i; j++) {
            long double sum = k[x->index[i] * x->n + x->index[j]];
            for (size_t c = 0; c < j; c++) sum -= x->l[i][c] * x->l[j][c];
            x->l[i][j] = i == j ? sqrtl(sum) : sum / x->l[j][j];
        }
        x->w[i] = t[x->index[i]];
        for (size_t j = 0; j < i; j++) x->w[i] -= x->l[i][j] * x->w[j];
        x->w[i] /= x->l[i][i];
    }
    for (size_t i = x->picked; i-- > 0;) {
        for (size_t j = i + 1; j < x->picked; j++) x->w[i] -= x->l[j][i] * x->w[j];
        x->w[i] /= x->l[i][i];
    }
}

/* The next pick; false when the two best are closer than double arithmetic can tell, 1000
 * roundings of what the correlations are sums of, or the pick all but depends on the others. */
static bool careful_pick(struct careful *x, const double *k, const double *t)
{
    long double best = 0, second = 0, scale = 0;
    uint32_t    at = 0;

    for (uint32_t i = 0; i < x->n; i++) {
        long double alpha = t[i], size = fabs(t[i]);

        for (size_t j = 0; j < x->picked; j++) {
            alpha -= k[i * x->n + x->index[j]] * x->w[j];
            size += fabsl(k[i * x->n + x->index[j]] * x->w[j]);
            if (x->index[j] == i) alpha = NAN;
        }
        if (size > scale) scale = size;
        if (fabsl(alpha) > best) {
            second = best;
            best = fabsl(alpha);
            at = i;
        } else if (fabsl(alpha) > second) {
            second = fabsl(alpha);
        }
    }
    if (best - second <= 1000 * 0x1p-52L * scale) return false;
    x->index[x->picked++] = at;
    careful_solve(x, k, t);
    return x->l[x->picked - 1][x->picked - 1] > 1e-5L * sqrtl(k[at * x->n + at]);
}

/* K of condition up to 1e12, rounded: the double solver must make the same picks from the
 * floats as from the same numbers in double, to the last bit, and those of better arithmetic
 * as long as these are beyond doubt. */
static void float32_of_bad_condition_gives_the_picks_of_float64(void **state)
{
    size_t compared = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct atoms     a = atoms_make(seed, 60, 40, seed % 2 ? 0.7 : 0.85);
        float           *k32 = make(60 * 60, sizeof *k32);
        cull_omp_problem single, twice;
        struct answer    x, y;
        struct careful   right = {.n = a.n};

        for (size_t i = 0; i < 60 * 60; i++) {
            k32[i] = (float)a.k[i];
            a.k[i] = (double)k32[i];
        }
        for (size_t i = 0; i < 60; i++) a.t[i] = (double)(float)a.t[i];
        a.b2 = 0;
        single = twice = explicit_problem(&a, 30);
        single.k = cull_matrix(k32, CULL_F32, 60, 60);
        x = solve("cpu", single, &(cull_omp_options){.tolerance = 0});
        y = solve("cpu", twice, &(cull_omp_options){.tolerance = 0});
        assert_same_answer(&x, &y, 0);
        while (right.picked < 30 && careful_pick(&right, a.k, a.t)) {
            assert_true(right.picked <= x.picked);
            assert_int_equal(right.index[right.picked - 1], x.index[right.picked - 1]);
            compared++;
        }
        answer_clear(&x);
        answer_clear(&y);
        free(k32);
        atoms_clear(&a);
    }
    assert_true(compared > 400);
}

/* The weights of a K of condition 1e11 to 1e-8, where its factor alone gives five digits. */
static void weights_of_bad_condition_are_right(void **state)
{
    static const char *const names[] = {"cpu", "ref"};

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct atoms  a = atoms_make(seed, 60, 40, 0.72);
        struct answer x =
            solve(names[seed % 2], explicit_problem(&a, 30), &(cull_omp_options){.tolerance = 0});
        struct careful right = {.n = a.n, .picked = x.picked};

        assert_int_equal(30, x.picked);
        memcpy(right.index, x.index, 30 * sizeof *x.index);
        careful_solve(&right, a.k, a.t);
        for (size_t j = 0; j < 30; j++)
            assert_true(fabs(x.weight[j] - (double)right.w[j]) <= 1e-8 * largest_weight(&x));
        answer_clear(&x);
        atoms_clear(&a);
    }
}

/* b is a sum of the atoms, so that the weights stay moderate and 1e-8 of |b| can be told even
 * where the pivots are small. */
static void residuals_of_bad_condition_are_right(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct atoms a = atoms_make(seed, 60, 24, 0.6);

        memset(a.b, 0, a.d * sizeof *a.b);
        for (size_t i = 0; i < a.n * a.d; i++) a.b[i % a.d] += a.g[i];
        atoms_finish(&a);
        for (size_t m = 12; m <= 20; m++) {
            struct answer x =
                solve("cpu", explicit_problem(&a, m), &(cull_omp_options){.tolerance = 0});
            double r[24];

            residual_of(&a, &x, r);
            assert_true(fabs(x.residual - sqrt(dot(a.d, r, r) / a.b2)) < 5e-8);
            answer_clear(&x);
        }
        atoms_clear(&a);
    }
}

/* The same pursuit in float throughout; returns how many picks agree with x. */
static size_t picks_shared_with_float(const struct atoms *a, const struct answer *x)
{
    float  alpha[60], d[60], l[30][60], c = 0;
    bool   taken[60] = {false};
    size_t step = 0;

    for (size_t i = 0; i < 60; i++) {
        alpha[i] = (float)a->t[i];
        d[i] = (float)a->k[i * 60 + i];
    }
    for (; step < x->picked; step++) {
        size_t p = 60;
        for (size_t i = 0; i < 60; i++)
            if (!taken[i] && (p == 60 || fabsf(alpha[i]) > fabsf(alpha[p]))) p = i;
        if (p != x->index[step] || d[p] <= 0) break;
        taken[p] = true;
        c = alpha[p] / sqrtf(d[p]);
        for (size_t i = 0; i < 60; i++) {
            float v = (float)a->k[p * 60 + i];
            for (size_t j = 0; j < step; j++) v -= l[j][i] * l[j][p];
            l[step][i] = v / sqrtf(d[p]);
        }
        for (size_t i = 0; i < 60; i++) {
            alpha[i] -= c * l[step][i];
            if (i != p) d[i] -= l[step][i] * l[step][i];
        }
    }
    return step;
}

/* What makes the one above a test. */
static void float_arithmetic_would_pick_otherwise(void **state)
{
    size_t differ = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct atoms  a = atoms_make(seed, 60, 40, seed % 2 ? 0.7 : 0.85);
        struct answer x;

        for (size_t i = 0; i < 60 * 60; i++) a.k[i] = (double)(float)a.k[i];
        for (size_t i = 0; i < 60; i++) a.t[i] = (double)(float)a.t[i];
        a.b2 = 0;
        x = solve("cpu", explicit_problem(&a, 30), &(cull_omp_options){.tolerance = 0});
        differ += picks_shared_with_float(&a, &x) < x.picked;
        answer_clear(&x);
        atoms_clear(&a);
    }
    assert_true(differ > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ridge_is_a_least_squares_refit_at_every_step),
        cmocka_unit_test(float32_of_bad_condition_gives_the_picks_of_float64),
        cmocka_unit_test(weights_of_bad_condition_are_right),
        cmocka_unit_test(residuals_of_bad_condition_are_right),
        cmocka_unit_test(float_arithmetic_would_pick_otherwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
