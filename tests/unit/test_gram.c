/* tests/unit/test_gram.c - the Gram matrix against gradients written out in full. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 21, D = 19, C = 5, V = 8, WIDTH = C * (D + 1) };

struct signals {
    double     *h, *p, *hv, *pv;
    double      g[N][WIDTH], target[WIDTH]; /* gradients in full; the target's mean */
    cull_target block;
};

static void write_out(const double *h, const double *p, double *g)
{
    for (size_t c = 0; c < C; c++)
        for (size_t j = 0; j <= D; j++) g[c * (D + 1) + j] = p[c] * (j < D ? h[j] : 1);
}

static int make_signals(void **state)
{
    struct signals *s = calloc(1, sizeof *s);
    double          g[WIDTH];

    if (!s) return 1;
    s->h = normals_f64(1, N * D);
    s->p = normals_f64(2, N * C);
    s->hv = normals_f64(3, V * D);
    s->pv = normals_f64(4, V * C);
    for (size_t i = 0; i < N; i++) write_out(s->h + i * D, s->p + i * C, s->g[i]);
    for (size_t v = 0; v < V; v++) {
        write_out(s->hv + v * D, s->pv + v * C, g);
        for (size_t j = 0; j < WIDTH; j++) s->target[j] += g[j] / V;
    }
    s->block = (cull_target){.count = V,
                             .h = cull_matrix(s->hv, CULL_F64, V, D),
                             .p = cull_matrix(s->pv, CULL_F64, V, C)};
    *state = s;
    return 0;
}

static int free_signals(void **state)
{
    struct signals *s = *state;

    free(s->h);
    free(s->p);
    free(s->hv);
    free(s->pv);
    free(s);
    return 0;
}

static double dot(const double *a, const double *b)
{
    double sum = 0;

    for (size_t j = 0; j < WIDTH; j++) sum += a[j] * b[j];
    return sum;
}

static const double rounding = 1e-12;

static void assert_close(double want, double got)
{
    if (!(fabs(want - got) <= rounding * (1 + fabs(want))))
        fail_msg("%.17g expected, %.17g found", want, got);
}

static void k_t_and_b2_are_those_of_the_gradients(void **state)
{
    struct signals *s = *state;
    const char     *names[] = {"cpu", "ref"};

    for (size_t b = 0; b < 2; b++) {
        cull_tensor   h = cull_matrix(s->h, CULL_F64, N, D), p = cull_matrix(s->p, CULL_F64, N, C);
        cull_backend *backend = NULL;
        double        k[N][N], t[N], b2 = 0, mean[WIDTH] = {0};

        assert_ok(cull_backend_open(names[b], 2, &backend));
        assert_ok(cull_gram(backend, &h, &p, NULL, k[0], t, &b2));
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < WIDTH; j++) mean[j] += s->g[i][j] / N;
        for (size_t i = 0; i < N; i++) {
            for (size_t j = 0; j < N; j++) assert_close(dot(s->g[i], s->g[j]), k[i][j]);
            assert_close(dot(s->g[i], mean), t[i]);
        }
        assert_close(dot(mean, mean), b2);
        assert_ok(cull_gram(backend, &h, &p, &s->block, k[0], t, &b2));
        for (size_t i = 0; i < N; i++) assert_close(dot(s->g[i], s->target), t[i]);
        assert_close(dot(s->target, s->target), b2);
        assert_ok(cull_gram(backend, &h, &p, &s->block, k[0], NULL, NULL));
        cull_backend_close(backend);
    }
}

/* Products of float32 are exact in double; D is wider than a panel of what is widened. */
static void float32_gives_the_bits_of_float64_with_the_same_numbers(void **state)
{
    enum { ROWS = 27, WIDE = 700 };
    const char *names[] = {"cpu", "ref"};
    float      *h32 = normals_f32(5, ROWS * WIDE), *p32 = normals_f32(6, ROWS * C);
    double     *h64 = malloc(sizeof *h64 * ROWS * WIDE), p64[ROWS * C];

    (void)state;
    for (size_t i = 0; i < ROWS * WIDE; i++) h64[i] = (double)h32[i];
    for (size_t i = 0; i < ROWS * C; i++) p64[i] = (double)p32[i];
    for (size_t b = 0; b < 2; b++) {
        for (size_t wide = 1; wide <= WIDE; wide += 233) {
            cull_backend *backend = NULL;
            double        k[2][ROWS][ROWS], t[2][ROWS], b2[2];
            cull_tensor   h = cull_matrix(h64, CULL_F64, ROWS, WIDE), p = {0};

            assert_ok(cull_backend_open(names[b], 2, &backend));
            h.shape[1] = (int64_t)wide;
            p = cull_matrix(p64, CULL_F64, ROWS, C);
            assert_ok(cull_gram(backend, &h, &p, NULL, k[0][0], t[0], &b2[0]));
            h.data = h32;
            h.dtype = CULL_F32;
            assert_ok(cull_gram(backend, &h, &p, NULL, k[1][0], t[1], &b2[1]));
            assert_memory_equal(k[0], k[1], sizeof k[0]);
            p = cull_matrix(p32, CULL_F32, ROWS, C);
            assert_ok(cull_gram(backend, &h, &p, NULL, k[1][0], t[1], &b2[1]));
            assert_memory_equal(k[0], k[1], sizeof k[0]);
            assert_memory_equal(t[0], t[1], sizeof t[0]);
            assert_true(b2[0] == b2[1]);
            cull_backend_close(backend);
        }
    }
    free(h32);
    free(p32);
    free(h64);
}

static void an_empty_target_block_is_no_target(void **state)
{
    struct signals *s = *state;
    cull_tensor     h = cull_matrix(s->h, CULL_F64, N, D), p = cull_matrix(s->p, CULL_F64, N, C);
    cull_target     empty = {0};
    double          k[N][N], t[2][N], b2[2];

    assert_ok(cull_gram(NULL, &h, &p, NULL, k[0], t[0], &b2[0]));
    assert_ok(cull_gram(NULL, &h, &p, &empty, k[0], t[1], &b2[1]));
    assert_memory_equal(t[0], t[1], sizeof t[0]);
    assert_true(b2[0] == b2[1]);
}

static void what_is_wrong_is_said_in_a_sentence(void **state)
{
    struct signals *s = *state;
    cull_tensor     h = cull_matrix(s->h, CULL_F64, N, D), p = cull_matrix(s->p, CULL_F64, N, C);
    cull_tensor     bad = cull_matrix(s->p, CULL_F64, N - 1, C), absent = {0};
    double          k[N][N];

    assert_fails(CULL_BAD_ARGUMENT, "must be given",
                 cull_gram(NULL, &h, &p, NULL, NULL, NULL, NULL));
    assert_fails(CULL_BAD_ARGUMENT, "20 rows", cull_gram(NULL, &h, &bad, NULL, k[0], NULL, NULL));
    assert_fails(CULL_BAD_ARGUMENT, "p is missing",
                 cull_gram(NULL, &h, &absent, NULL, k[0], NULL, NULL));
    assert_fails(CULL_BAD_ARGUMENT, "h is not",
                 cull_gram(NULL, &absent, &p, NULL, k[0], NULL, NULL));
    s->block.p.shape[1] = C - 1;
    assert_fails(CULL_BAD_ARGUMENT, "wide", cull_gram(NULL, &h, &p, &s->block, k[0], NULL, NULL));
    s->block.p.shape[1] = C;
    s->hv[3 * D] = (double)NAN;
    assert_fails(CULL_NOT_FINITE, "target h of example 3",
                 cull_gram(NULL, &h, &p, &s->block, k[0], NULL, NULL));
    s->p[2 * C] = (double)INFINITY;
    assert_fails(CULL_NOT_FINITE, "p of example 2",
                 cull_gram(NULL, &h, &p, NULL, k[0], NULL, NULL));
}

static void failing_allocations_are_survived(void **state)
{
    struct signals *s = *state;
    float          *p32 = normals_f32(2, N * C);
    cull_tensor     h = cull_matrix(s->h, CULL_F64, N, D), p = cull_matrix(p32, CULL_F32, N, C);

    for (size_t n = 1;; n++) {
        double      k[N][N], t[N], b2 = 0;
        cull_status status = CULL_OK;

        fail_nth_alloc(n);
        status = cull_gram(NULL, &h, &p, &s->block, k[0], t, &b2);
        if (!alloc_has_failed()) {
            assert_ok(status);
            assert_true(n > 5);
            break;
        }
        assert_int_equal(CULL_NO_MEMORY, status);
    }
    fail_nth_alloc(0);
    free(p32);
}

#define test(name) cmocka_unit_test_setup_teardown(name, make_signals, free_signals)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(k_t_and_b2_are_those_of_the_gradients),
        test(float32_gives_the_bits_of_float64_with_the_same_numbers),
        test(an_empty_target_block_is_no_target),
        test(what_is_wrong_is_said_in_a_sentence),
        test(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
