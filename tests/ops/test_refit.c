/*
 * tests/ops/test_refit.c - refit: the other backends against the reference.
 *
 * Problems of all forms (an explicit K of either type, last layers, one column of them,
 * listed rows), more atoms than numbers a gradient and fewer, with and without ridge. cpu
 * must agree with ref, and with itself to the last bit whatever the threads; also where the
 * target lies outside of what weights >= 0 can reach and most atoms end at zero. Devices must agree
 * with ref as cpu does; far must give what ref gives. Of pursuits too.
 */
#include "ops/on_backend.h"

#include <math.h>
#include <stdlib.h>

/* Of weights near 1: the matrix's condition is up to a million times the atoms. */
static const double tolerance = 1e-7;

enum { ROWS = 90, MOST = 60, COLUMN = 1 };
enum form { EXPLICIT_F32, EXPLICIT_F64, LAYER, LISTED, ONE_COLUMN, FORMS };

static const struct shape {
    size_t d, c, budget, picked; /* width of H and P; atoms, and how many of them have weights */
    double ridge;
} cases[] = {
    {3, 2, 1, 0, 0},  {5, 3, 10, 4, 0},     {5, 3, 10, 0, 0.7}, {40, 3, 30, 20, 0},
    {2, 2, 60, 3, 0}, {12, 4, 60, 25, 1e2}, {12, 4, 60, 59, 0}, {20, 1, 45, 45, 0},
};
enum { CASES = sizeof cases / sizeof *cases };

struct work {
    cull_tensor      h, p;
    void            *k;
    double          *b, *t, weight[MOST];
    uint32_t         index[MOST], row[ROWS];
    cull_omp_problem problem;
};

static double h_at(const struct work *w, size_t i, size_t l)
{
    return ((const double *)w->h.data)[i * (size_t)w->h.shape[1] + l];
}

static double p_at(const struct work *w, size_t i, size_t c)
{
    return (double)((const float *)w->p.data)[i * (size_t)w->p.shape[1] + c];
}

/* Normal numbers; the last atoms repeat the first. The target is a mean, and noise. */
static void make_layer(struct work *w, const struct shape *s, uint64_t seed)
{
    size_t  size = s->c * (s->d + 1);
    double *h = normals_f64(seed, ROWS * s->d);
    float  *p = normals_f32(seed + 100, ROWS * s->c);

    for (size_t i = 80; i < ROWS; i++) {
        memcpy(h + i * s->d, h + (i - 80) * s->d, s->d * sizeof *h);
        memcpy(p + i * s->c, p + (i - 80) * s->c, s->c * sizeof *p);
    }
    w->h = cull_matrix(h, CULL_F64, ROWS, s->d);
    w->p = cull_matrix(p, CULL_F32, ROWS, s->c);
    w->b = calloc(size, sizeof *w->b);
    for (size_t l = 0; l < size; l++) {
        w->b[l] = 0.1 * random_normal(seed + 200, l);
        for (size_t i = 0; i < ROWS; i++)
            w->b[l] += p_at(w, i, l / (s->d + 1)) *
                       (l % (s->d + 1) < s->d ? h_at(w, i, l % (s->d + 1)) : 1) / ROWS;
    }
}

static void make_gram(struct work *w, const struct shape *s, bool single)
{
    w->k = calloc(ROWS * ROWS, sizeof(double));
    w->t = calloc(ROWS, sizeof *w->t);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < ROWS; j++) {
            double p = 0, h = 1;
            for (size_t c = 0; c < s->c; c++) p += p_at(w, i, c) * p_at(w, j, c);
            for (size_t l = 0; l < s->d; l++) h += h_at(w, i, l) * h_at(w, j, l);
            if (single)
                ((float *)w->k)[i * ROWS + j] = (float)(p * h);
            else
                ((double *)w->k)[i * ROWS + j] = p * h;
        }
        for (size_t l = 0; l < s->c * (s->d + 1); l++)
            w->t[i] += p_at(w, i, l / (s->d + 1)) *
                       (l % (s->d + 1) < s->d ? h_at(w, i, l % (s->d + 1)) : 1) * w->b[l];
    }
}

static struct work *make(size_t number, enum form form)
{
    const struct shape *s = cases + number;
    struct work        *w = calloc(1, sizeof *w);
    cull_omp_problem   *x = &w->problem;

    make_layer(w, s, number + 1);
    *x = (cull_omp_problem){.count = ROWS,
                            .budget = s->budget,
                            .picked = s->picked,
                            .column = -1,
                            .ridge = s->ridge,
                            .index = w->index,
                            .weight = w->weight};
    if (form <= EXPLICIT_F64) {
        make_gram(w, s, form == EXPLICIT_F32);
        x->k = cull_matrix(w->k, form == EXPLICIT_F32 ? CULL_F32 : CULL_F64, ROWS, ROWS);
        x->t = w->t;
    } else {
        x->h = w->h;
        x->p = w->p;
        x->b = w->b;
        if (form == ONE_COLUMN && s->c > COLUMN) x->column = COLUMN;
    }
    for (size_t i = 0; i < ROWS; i++) w->row[i] = (uint32_t)((i * 7) % ROWS);
    if (form == LISTED) x->row = w->row;
    for (size_t i = 0; i < s->budget; i++) {
        w->index[i] = (uint32_t)((i * 11 + 3) % ROWS);
        w->weight[i] = i < s->picked ? random_uniform(number, i) / (double)s->budget : NAN;
    }
    return w;
}

static void drop(struct work *w)
{
    free(w->h.data);
    free(w->p.data);
    free(w->k);
    free(w->b);
    free(w->t);
    free(w);
}

static cull_status run_on(cull_backend *backend, cull_omp_problem *problems, size_t count,
                          size_t memory)
{
    cull_omp_options options = {.memory = memory};

    return on_run(backend, CULL_OP_REFIT, ROWS, 1,
                  &(cull_op_args){.omp = {problems, count, &options}});
}

/* The weights of one case, beside ref's. */
static void assert_weights(size_t k, const struct work *right, const struct work *w,
                           const char *who)
{
    double largest = 0;

    for (size_t i = 0; i < cases[k / FORMS].budget; i++) largest = fmax(largest, right->weight[i]);
    for (size_t i = 0; i < cases[k / FORMS].budget; i++)
        if (!(fabs(w->weight[i] - right->weight[i]) <= tolerance * largest))
            fail_msg("case %zu, form %zu, atom %zu: %g on ref, %g on %s", k / FORMS, k % FORMS, i,
                     right->weight[i], w->weight[i], who);
}

static void others_agree_with_ref(void **state)
{
    size_t changed = 0;

    (void)state;
    for (size_t k = 0; k < (size_t)CASES * FORMS; k++) {
        struct work *w[4];

        for (size_t i = 0; i < 4; i++) w[i] = make(k / FORMS, k % FORMS);
        assert_ok(run_on(ref, &w[0]->problem, 1, 0));
        assert_ok(run_on(one, &w[1]->problem, 1, 0));
        assert_ok(run_on(three, &w[2]->problem, 1, 0));
        assert_ok(run_on(far, &w[3]->problem, 1, 0));
        assert_memory_equal(w[0]->weight, w[3]->weight, sizeof w[0]->weight);
        for (size_t i = 0; i < cases[k / FORMS].budget; i++) {
            assert_true(w[0]->weight[i] >= 0);
            changed += i >= cases[k / FORMS].picked && w[0]->weight[i] > 0;
        }
        assert_weights(k, w[0], w[1], "cpu");
        for (size_t i = 0; i < cases[k / FORMS].budget; i++)
            assert_true(w[1]->weight[i] == w[2]->weight[i]);
        EACH_DEVICE(backend, CULL_OP_REFIT)
        {
            struct work *there = make(k / FORMS, k % FORMS);

            assert_ok(run_on(backend, &there->problem, 1, 0));
            assert_weights(k, w[0], there, backend->class->name);
            drop(there);
        }
        for (size_t i = 0; i < 4; i++) drop(w[i]);
    }
    assert_true(changed > 100);
}

/* What a pursuit on a device comes to: ref's picks, and its weights to rounding. */
static void assert_pursuit(size_t k, const struct work *right, const struct work *w)
{
    assert_int_equal(right->problem.picked, w->problem.picked);
    assert_int_equal(right->problem.stop, w->problem.stop);
    assert_true(fabs(right->problem.ridge - w->problem.ridge) <= 1e-12 * right->problem.ridge);
    assert_memory_equal(right->index, w->index, right->problem.picked * sizeof *w->index);
    for (size_t i = 0; i < right->problem.picked; i++)
        if (!(fabs(right->weight[i] - w->weight[i]) <= tolerance * fmax(1, fabs(right->weight[i]))))
            fail_msg("case %zu, form %zu, pick %zu: weight %g, not %g", k / FORMS, k % FORMS, i,
                     w->weight[i], right->weight[i]);
}

static void pursuits_on_far_are_those_on_ref(void **state)
{
    (void)state;
    for (size_t k = 0; k < (size_t)CASES * FORMS; k++) {
        struct work           *w[2] = {make(k / FORMS, k % FORMS), make(k / FORMS, k % FORMS)};
        const cull_omp_options options = {
            .ridge = 0.1, .tolerance = 1e-6, .nonnegative = k % 2, .pick = CULL_PICK_SAMPLE};

        for (size_t i = 0; i < 2; i++)
            assert_ok(on_run(i ? far : ref, CULL_OP_OMP, ROWS, 1,
                             &(cull_op_args){.omp = {&w[i]->problem, 1, &options}}));
        assert_true(w[0]->problem.picked > 0);
        assert_int_equal(w[0]->problem.picked, w[1]->problem.picked);
        assert_int_equal(w[0]->problem.stop, w[1]->problem.stop);
        assert_true(w[0]->problem.ridge == w[1]->problem.ridge);
        assert_memory_equal(&w[0]->problem.residual, &w[1]->problem.residual, sizeof(double));
        assert_memory_equal(w[0]->index, w[1]->index, sizeof w[0]->index);
        assert_memory_equal(w[0]->weight, w[1]->weight, sizeof w[0]->weight);
        EACH(backend, CULL_OP_OMP)
        {
            struct work *there = make(k / FORMS, k % FORMS);

            assert_ok(on_run(backend, CULL_OP_OMP, ROWS, 1,
                             &(cull_op_args){.omp = {&there->problem, 1, &options}}));
            assert_pursuit(k, w[0], there);
            drop(there);
        }
        drop(w[0]);
        drop(w[1]);
    }
}

static void check_many(cull_backend *by_itself, cull_backend *together)
{
    cull_omp_problem problems[CASES];
    struct work     *w[CASES], *alone[CASES];

    for (size_t i = 0; i < CASES; i++) {
        w[i] = make(i, i % FORMS);
        alone[i] = make(i, i % FORMS);
        problems[i] = w[i]->problem;
        assert_ok(run_on(by_itself, &alone[i]->problem, 1, 0));
    }
    assert_ok(run_on(together, problems, CASES, 0));
    for (size_t i = 0; i < CASES; i++) {
        assert_memory_equal(alone[i]->weight, w[i]->weight, cases[i].budget * sizeof(double));
        drop(w[i]);
        drop(alone[i]);
    }
}

static void many_problems_give_what_each_gives_alone(void **state)
{
    (void)state;
    check_many(one, three);
    EACH_DEVICE(backend, CULL_OP_REFIT) check_many(backend, backend);
}

enum { CONE_WIDTH = 20, CONE_LENGTHS = 3, CONE_ROWS = 5 * (CONE_WIDTH + 1), CONE_SEEDS = 4 };

/* One class: rows of H that are >= 0 about a common one, lengths p spread over decades, and a
 * target made of other such rows, outside of the cone of these. */
struct cone {
    double           h[CONE_ROWS * CONE_WIDTH], p[CONE_ROWS], b[CONE_WIDTH + 1];
    double           k[CONE_ROWS * CONE_ROWS], t[CONE_ROWS], weight[CONE_ROWS];
    uint32_t         index[CONE_ROWS];
    cull_omp_problem problem;
};

static double cone_part(const struct cone *w, size_t i, size_t l)
{
    return w->p[i] * (l < CONE_WIDTH ? w->h[i * CONE_WIDTH + l] : 1);
}

static void make_cone_target(struct cone *w, uint64_t seed, double decades)
{
    for (size_t j = 0; j < CONE_ROWS; j++) {
        double p = -pow(10, decades * random_normal(seed + 3, j));

        for (size_t l = 0; l < CONE_WIDTH; l++)
            w->b[l] +=
                p * fmax(0, random_normal(seed, l) + random_normal(seed + 4, j * CONE_WIDTH + l));
        w->b[CONE_WIDTH] += p;
    }
}

static struct cone *make_cone(uint64_t seed, double decades, size_t budget, bool explicit_k)
{
    struct cone *w = calloc(1, sizeof *w);

    for (size_t i = 0; i < CONE_ROWS; i++) {
        for (size_t l = 0; l < CONE_WIDTH; l++)
            w->h[i * CONE_WIDTH + l] =
                fmax(0, random_normal(seed, l) + random_normal(seed + 1, i * CONE_WIDTH + l));
        w->p[i] = -pow(10, decades * random_normal(seed + 2, i));
        w->index[i] = (uint32_t)i;
    }
    make_cone_target(w, seed, decades);
    for (size_t i = 0; i < CONE_ROWS; i++)
        for (size_t l = 0; l <= CONE_WIDTH; l++) {
            w->t[i] += cone_part(w, i, l) * w->b[l];
            for (size_t j = 0; j < CONE_ROWS; j++)
                w->k[i * CONE_ROWS + j] += cone_part(w, i, l) * cone_part(w, j, l);
        }
    w->problem = (cull_omp_problem){
        .count = CONE_ROWS, .budget = budget, .index = w->index, .weight = w->weight};
    if (explicit_k) {
        w->problem.k = cull_matrix(w->k, CULL_F64, CONE_ROWS, CONE_ROWS);
        w->problem.t = w->t;
    } else {
        w->problem.h = cull_matrix(w->h, CULL_F64, CONE_ROWS, CONE_WIDTH);
        w->problem.p = cull_matrix(w->p, CULL_F64, CONE_ROWS, 1);
        w->problem.b = w->b;
    }
    return w;
}

/* |sum of x_i g_i - b|^2 + SHIFT sum of K_ii x_i^2, of |b|^2. */
static double cone_objective(const struct cone *w)
{
    double sum = 0, whole = 0;

    for (size_t l = 0; l <= CONE_WIDTH; l++) {
        double rest = w->b[l];
        for (size_t i = 0; i < w->problem.budget; i++) rest -= w->weight[i] * cone_part(w, i, l);
        sum += rest * rest;
        whole += w->b[l] * w->b[l];
    }
    for (size_t i = 0; i < w->problem.budget; i++)
        sum += CULL_REFIT_SHIFT * w->k[i * CONE_ROWS + i] * w->weight[i] * w->weight[i];
    return sum / whole;
}

/* Three to five atoms for each number of a gradient, in the primal form and in the dual. */
static void check_cones(cull_backend *backend)
{
    static const double decades[CONE_LENGTHS] = {0.2, 0.8, 1.5};
    size_t              at_zero = 0;

    for (size_t k = 0; k < (size_t)CONE_SEEDS * CONE_LENGTHS * 6; k++) {
        size_t       budget = (3 + k % 3) * (CONE_WIDTH + 1);
        double       spread = decades[k / 6 % CONE_LENGTHS], by[2], largest = 0, apart = 0;
        bool         dual = k / 3 % 2;
        uint64_t     seed = 10 * (k / 6 / CONE_LENGTHS) + 1;
        struct cone *w[2] = {make_cone(seed, spread, budget, dual),
                             make_cone(seed, spread, budget, dual)};

        assert_ok(run_on(ref, &w[0]->problem, 1, 0));
        assert_ok(run_on(backend, &w[1]->problem, 1, 0));
        for (size_t i = 0; i < 2; i++) by[i] = cone_objective(w[i]);
        if (!(by[1] <= by[0] * (1 + 1e-9) + 1e-14))
            fail_msg("seed %u, %g decades, %zu atoms, %s: %.17g on ref, %.17g on %s",
                     (unsigned)seed, spread, budget, dual ? "dual" : "primal", by[0], by[1],
                     backend->class->name);
        for (size_t i = 0; i < budget; i++) {
            double length = sqrt(w[0]->k[i * CONE_ROWS + i]);

            largest = fmax(largest, length * w[0]->weight[i]);
            apart = fmax(apart, length * fabs(w[1]->weight[i] - w[0]->weight[i]));
            at_zero += w[1]->weight[i] == 0;
        }
        assert_true(apart <= tolerance * largest);
        for (size_t i = 0; i < 2; i++) free(w[i]);
    }
    assert_true(at_zero > 1000);
}

static void a_target_out_of_reach_is_met_as_well_as_by_ref(void **state)
{
    (void)state;
    check_cones(one);
    EACH_DEVICE(backend, CULL_OP_REFIT) check_cones(backend);
}

/* Weights that are a fit already stay, to the bit; so does a problem that is complete. */
static void check_fit(cull_backend *backend)
{
    for (size_t k = 0; k < FORMS; k++) {
        struct work *w = make(3, (enum form)k);
        size_t       size = cases[3].c * (cases[3].d + 1);
        double       before[MOST];

        w->problem.picked = 2;
        memset(w->b, 0, size * sizeof *w->b);
        for (size_t l = 0; l < size; l++)
            for (size_t i = 0; i < 2; i++) {
                size_t row = w->problem.row ? w->row[w->index[i]] : w->index[i];
                size_t c = l / (cases[3].d + 1), at = l % (cases[3].d + 1);
                if (w->problem.column >= 0) c = COLUMN;
                w->b[l] +=
                    w->weight[i] * p_at(w, row, c) * (at < cases[3].d ? h_at(w, row, at) : 1);
            }
        if (w->k) {
            free(w->k);
            free(w->t);
            make_gram(w, cases + 3, k == EXPLICIT_F32);
            w->problem.k.data = w->k;
            w->problem.t = w->t;
        }
        memcpy(before, w->weight, sizeof before);
        assert_ok(run_on(backend, &w->problem, 1, 0));
        for (size_t i = 0; i < cases[3].budget && k != EXPLICIT_F32; i++)
            assert_true(w->weight[i] == (i < 2 ? before[i] : 0));
        drop(w);
    }
}

static void a_fit_stays_as_it_is(void **state)
{
    (void)state;
    EACH(backend, CULL_OP_REFIT) check_fit(backend);
}

static void check_zeros(cull_backend *backend)
{
    for (size_t k = 0; k < FORMS; k++) {
        struct work *w = make(4, (enum form)k);

        memset(w->b, 0, cases[4].c * (cases[4].d + 1) * sizeof *w->b);
        if (w->t) memset(w->t, 0, ROWS * sizeof *w->t);
        w->problem.picked = 0;
        assert_ok(run_on(backend, &w->problem, 1, 0));
        for (size_t i = 0; i < cases[4].budget; i++) assert_true(w->weight[i] == 0);
        drop(w);
    }
}

static void a_zero_target_gives_zeros(void **state)
{
    (void)state;
    EACH(backend, CULL_OP_REFIT) check_zeros(backend);
}

static void too_little_memory_is_said_and_failing_allocations_are_survived(void **state)
{
    cull_backend *const backends[] = {ref, one};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        cull_status status = CULL_NO_MEMORY;

        for (size_t n = 1; status != CULL_OK; n++) {
            struct work *w = make(5, LAYER);

            fail_nth_alloc(n);
            status = run_on(backends[k], &w->problem, 1, 0);
            fail_nth_alloc(0);
            assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
            drop(w);
        }
    }
    struct work *w = make(5, EXPLICIT_F64);
    assert_fails(CULL_TOO_LARGE, "60 atoms need", run_on(one, &w->problem, 1, 1024));
    drop(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_agree_with_ref),
        cmocka_unit_test(pursuits_on_far_are_those_on_ref),
        cmocka_unit_test(many_problems_give_what_each_gives_alone),
        cmocka_unit_test(a_target_out_of_reach_is_met_as_well_as_by_ref),
        cmocka_unit_test(a_fit_stays_as_it_is),
        cmocka_unit_test(a_zero_target_gives_zeros),
        cmocka_unit_test(too_little_memory_is_said_and_failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
