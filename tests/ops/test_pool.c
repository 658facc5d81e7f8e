/*
 * tests/ops/test_pool.c - matching pursuit from H and P on devices: the picks, stops and weights of
 * cpu, for problems of all kinds and sizes, many at a time.
 */
#include "ops/on_backend.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 400, TOGETHER = 6 };

static const struct shape {
    size_t n, d, c, budget;
    int    column;
    size_t pad;  /* extra elements between rows       */
    size_t rank; /* of H; 0: D                        */
    double ridge;
    int    pick;    /* cull_pick                         */
    bool   listed;  /* every other row, backwards        */
    bool   zero;    /* no target                         */
    bool   repeats; /* each row twice                    */
    double tolerance;
} cases[] = {
    {1, 1, 1, 1, 0, 0, 0, 0.5, 0, false, false, false, 0},
    {5, 3, 2, 5, -1, 1, 0, 0, 0, false, false, false, 0},
    {31, 8, 3, 10, 1, 0, 0, 0.5, 0, false, false, false, 1e-6},
    {32, 8, 3, 32, 2, 0, 0, 0.5, 1, true, false, false, 1e-6},
    {33, 7, 3, 20, -1, 3, 0, 0.1, 0, true, false, false, 1e-6},
    {100, 12, 4, 60, 0, 0, 0, 0, 0, false, false, false, 1e-6},
    {100, 12, 4, 30, -1, 4, 0, 0, 1, false, false, false, 1e-6},
    {129, 64, 10, 64, 3, 0, 0, 0.5, 0, true, false, false, 1e-6},
    {200, 40, 10, 50, -1, 0, 0, 0.01, 0, false, false, false, 1e-6},
    {200, 40, 10, 199, 9, 0, 0, 0.5, 0, true, false, true, 1e-6},
    {60, 10, 3, 40, 1, 0, 4, 0, 0, false, false, true, 1e-12},
    {60, 10, 3, 40, -1, 0, 2, 0, 0, false, false, true, 1e-12},
    {50, 6, 2, 9, 0, 0, 0, 0.5, 0, false, true, false, 1e-6},
    {300, 1100, 2, 40, 1, 0, 0, 0.5, 0, false, false, false, 1e-6},
    {MOST, 17, 5, 300, 4, 1, 0, 0.3, 0, false, false, false, 1e-6},
};
enum { CASES = sizeof cases / sizeof *cases };

struct work {
    cull_omp_problem problem;
    cull_omp_options options;
    uint32_t         row[MOST], index[MOST];
    double           weight[MOST];
    double          *b;
};

static double entry(const struct shape *s, uint64_t seed, size_t i, size_t j)
{
    double sum = 0;

    if (s->repeats) i /= 2;
    if (s->rank == 0) return random_normal(seed, i * 5000 + j);
    for (size_t r = 0; r < s->rank; r++)
        sum += random_normal(seed, i * 5000 + r) * random_normal(seed + 1000, r * 5000 + j);
    return sum;
}

static cull_tensor matrix(const struct shape *s, uint64_t seed, cull_dtype dtype, size_t width)
{
    size_t      ld = width + s->pad, rows = s->listed ? 2 * s->n : s->n;
    void       *data = calloc(rows * ld, sizeof(double));
    cull_tensor t = cull_matrix(data, dtype, rows, width);

    t.stride[0] = (int64_t)ld;
    for (size_t i = 0; i < rows * ld; i++) {
        double x = i % ld < width ? entry(s, seed, i / ld, i % ld) : (double)NAN;

        if (dtype == CULL_F32)
            ((float *)data)[i] = (float)x;
        else
            ((double *)data)[i] = x;
    }
    return t;
}

static struct work *make(size_t c, bool wide_h, bool wide_p)
{
    const struct shape *s = cases + c;
    struct work        *w = calloc(1, sizeof *w);
    size_t              size = (s->d + 1) * (s->column < 0 ? s->c : 1);

    for (size_t i = 0; i < s->n; i++) w->row[i] = (uint32_t)(2 * (s->n - 1 - i) + i % 2);
    w->b = calloc(size, sizeof *w->b);
    w->problem = (cull_omp_problem){.count = s->n,
                                    .budget = s->budget,
                                    .h = matrix(s, c, wide_h ? CULL_F64 : CULL_F32, s->d),
                                    .p = matrix(s, c + 100, wide_p ? CULL_F64 : CULL_F32, s->c),
                                    .row = s->listed ? w->row : NULL,
                                    .column = s->column,
                                    .b = w->b,
                                    .index = w->index,
                                    .weight = w->weight};
    w->options = (cull_omp_options){
        .ridge = s->ridge, .tolerance = s->tolerance, .pick = (cull_pick)s->pick};
    for (size_t i = 0; i < size && !s->zero; i++) w->b[i] = 10 * random_normal(c + 200, i);
    return w;
}

static void drop(struct work *w)
{
    free(w->problem.h.data);
    free(w->problem.p.data);
    free(w->b);
    free(w);
}

static void pursue(cull_backend *backend, struct work *w)
{
    assert_ok(
        on_run(backend, CULL_OP_OMP, 1, 1, &(cull_op_args){.omp = {&w->problem, 1, &w->options}}));
}

static void assert_same(size_t c, const struct work *want, const struct work *got)
{
    const cull_omp_problem *a = &want->problem, *b = &got->problem;
    double                  most = 0;

    if (a->picked != b->picked || a->stop != b->stop)
        fail_msg("case %zu: %zu picks and stop %d, not %zu and %d", c, b->picked, (int)b->stop,
                 a->picked, (int)a->stop);
    assert_true(fabs(a->ridge - b->ridge) <= 1e-12 * a->ridge);
    if (isnan(a->residual) ? !isnan(b->residual) : !(fabs(a->residual - b->residual) < 1e-7))
        fail_msg("case %zu: residual %g, not %g", c, b->residual, a->residual);
    for (size_t i = 0; i < a->picked; i++) {
        if (want->index[i] != got->index[i])
            fail_msg("case %zu: pick %zu is %u, not %u", c, i, got->index[i], want->index[i]);
        most = fmax(most, fabs(want->weight[i]));
    }
    for (size_t i = 0; i < a->picked; i++)
        if (!(fabs(want->weight[i] - got->weight[i]) <= 1e-9 * most))
            fail_msg("case %zu: weight %zu is %.17g, not %.17g", c, i, got->weight[i],
                     want->weight[i]);
}

static void devices_pick_what_cpu_picks(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4 * CASES; k++) {
        struct work *want = make(k / 4, k & 1, k & 2);

        pursue(one, want);
        EACH_DEVICE(backend, CULL_OP_OMP)
        {
            struct work *got = make(k / 4, k & 1, k & 2);

            pursue(backend, got);
            assert_same(k / 4, want, got);
            drop(got);
        }
        drop(want);
    }
}

static void many_problems_give_what_each_gives_alone(void **state)
{
    (void)state;
    EACH_DEVICE(backend, CULL_OP_OMP)
    {
        struct work     *alone[TOGETHER], *w[TOGETHER];
        cull_omp_problem problems[TOGETHER];

        for (size_t i = 0; i < TOGETHER; i++) {
            alone[i] = make(7 + i, false, false);
            w[i] = make(7 + i, false, false);
            alone[i]->options.ridge = 0.25;
            alone[i]->options.tolerance = 0.05;
            alone[i]->options.pick = CULL_PICK_ABS;
            pursue(backend, alone[i]);
            problems[i] = w[i]->problem;
        }
        assert_ok(on_run(backend, CULL_OP_OMP, 1, 2,
                         &(cull_op_args){.omp = {problems, TOGETHER, &alone[0]->options}}));
        for (size_t i = 0; i < TOGETHER; i++) {
            w[i]->problem.picked = problems[i].picked;
            assert_int_equal(alone[i]->problem.picked, problems[i].picked);
            assert_int_equal(alone[i]->problem.stop, problems[i].stop);
            assert_memory_equal(alone[i]->index, w[i]->index, sizeof w[i]->index);
            assert_memory_equal(alone[i]->weight, w[i]->weight, sizeof w[i]->weight);
            drop(alone[i]);
            drop(w[i]);
        }
    }
}

/* float32 becomes bfloat16, and what that is as float32 again. */
static cull_tensor narrow(cull_tensor *t)
{
    size_t      count = (size_t)(t->shape[0] * t->stride[0]);
    uint32_t   *wide = t->data;
    uint16_t   *half = malloc(count * sizeof *half);
    cull_tensor out = *t;

    for (size_t i = 0; i < count; i++) {
        half[i] = (uint16_t)(wide[i] >> 16);
        wide[i] = (uint32_t)half[i] << 16;
    }
    out.data = half;
    out.dtype = CULL_BF16;
    return out;
}

static void bfloat16_is_as_good_as_what_it_stands_for(void **state)
{
    (void)state;
    EACH_DEVICE(backend, CULL_OP_OMP)
    {
        for (size_t c = 2; c < CASES; c++) {
            struct work *wide = make(c, false, false), *half = make(c, false, false);

            free(half->problem.h.data);
            free(half->problem.p.data);
            half->problem.h = narrow(&wide->problem.h);
            half->problem.p = narrow(&wide->problem.p);
            pursue(backend, wide);
            pursue(backend, half);
            assert_int_equal(wide->problem.picked, half->problem.picked);
            assert_memory_equal(wide->index, half->index, sizeof wide->index);
            assert_memory_equal(wide->weight, half->weight, sizeof wide->weight);
            drop(wide);
            drop(half);
        }
    }
}

static void what_is_not_finite_is_named(void **state)
{
    (void)state;
    EACH_DEVICE(backend, CULL_OP_OMP)
    {
        struct work *w = make(8, false, false);

        ((float *)w->problem.h.data)[40 * 7 + 3] = INFINITY;
        assert_fails(CULL_NOT_FINITE, "not finite at atom 7",
                     on_run(backend, CULL_OP_OMP, 1, 1,
                            &(cull_op_args){.omp = {&w->problem, 1, &w->options}}));
        assert_int_equal(0, w->problem.picked);
        drop(w);
    }
}

static void what_needs_too_much_memory_is_refused(void **state)
{
    (void)state;
    EACH_DEVICE(backend, CULL_OP_OMP)
    {
        struct work *w = make(8, false, false);

        w->options.memory = 50000;
        assert_fails(CULL_TOO_LARGE, "more than the 0.0 MiB allowed",
                     on_run(backend, CULL_OP_OMP, 1, 1,
                            &(cull_op_args){.omp = {&w->problem, 1, &w->options}}));
        drop(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_pick_what_cpu_picks),
        cmocka_unit_test(many_problems_give_what_each_gives_alone),
        cmocka_unit_test(bfloat16_is_as_good_as_what_it_stands_for),
        cmocka_unit_test(what_is_not_finite_is_named),
        cmocka_unit_test(what_needs_too_much_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
