/*
 * tests/golden/test_loss_golden.c - three steps of an MLP with each loss, as PyTorch does them
 * (losses.txt, by tools/make_golden_loss.py): losses and P of every step, and the parameters at the
 * end. `ref` in double must follow; `cpu` in float as far as float goes.
 */
#include "golden/model_trace.h"

enum { EXAMPLES = 8, LOSS_STEPS = 3, NAME_ROOM = 64 };

/* The file holds 13 digits. In float, three steps of rate .1 carry rounding along. */
#define DOUBLE_ERROR 1e-11
#define FLOAT_ERROR  2e-5

static const struct {
    const char    *name;
    cull_loss_kind kind;
} losses[] = {{"cross-entropy", CULL_LOSS_CROSS_ENTROPY},
              {"squared-error", CULL_LOSS_SQUARED},
              {"binary-cross-entropy", CULL_LOSS_BINARY}};

static void check_numbers(FILE *file, const double *ours, size_t count, double error,
                          const char *what)
{
    for (size_t i = 0; i < count; i++) {
        double right = 0;

        assert_int_equal(1, fscanf(file, "%lf", &right));
        if (!(fabs(ours[i] - right) <= error * fmax(1, fabs(right))))
            fail_msg("%s: number %zu is %.15g, PyTorch says %.15g", what, i, ours[i], right);
    }
}

static void check_parameters(FILE *file, const struct trace *t, double error)
{
    for (int k = 1; k < t->net->nodes; k++)
        for (int part = 0; part < t->net->node[k].params; part++) {
            const cull_node *node = &t->net->node[k];
            size_t           at = node->param_at[part], count = node->param_count[part], size = 0;
            double           ours[1 + SIGNS] = {0};
            char             name[LINE], found[NAME_ROOM];

            (void)snprintf(name, sizeof name, "%s%s", node->name, suffix_of(part));
            assert_int_equal(2, fscanf(file, " parameter %63s %zu", found, &size));
            assert_string_equal(name, found);
            assert_int_equal(count, size);
            for (size_t i = at; i < at + count; i++)
                ours[0] += pow(get(t->host.value, t->dtype, i), 2);
            ours[0] = sqrt(ours[0]);
            project(t->host.value, t->dtype, at, count, name, "", SIGNS, ours + 1);
            check_numbers(file, ours, 1 + SIGNS, error, name);
        }
}

static void check_loss(FILE *file, int which, const char *backend, cull_dtype dtype, double error)
{
    struct trace t = {.model = "mlp",
                      .prefix = "",
                      .channels = 3,
                      .extent = 16,
                      .examples = EXAMPLES,
                      .dtype = dtype,
                      .loss.kind = losses[which].kind,
                      .weighs = true};
    char         name[NAME_ROOM];

    assert_int_equal(1, fscanf(file, " loss %63s", name));
    assert_string_equal(losses[which].name, name);
    assert_true(start(&t, backend));
    for (int step = 1; step <= LOSS_STEPS; step++) {
        double each[MOST_EXAMPLES], p[MOST_EXAMPLES * CLASSES];
        int    found = 0;

        learn_step(&t, step, each, p);
        assert_int_equal(1, fscanf(file, " step %d", &found));
        assert_int_equal(step, found);
        check_numbers(file, each, EXAMPLES, error, name);
        check_numbers(file, p, (size_t)EXAMPLES * CLASSES, error, name);
        descend(&t);
    }
    check_parameters(file, &t, 10 * error); /* sums of up to 196,608 of them */
    finish(&t);
}

static void check_all(const char *backend, cull_dtype dtype, double error)
{
    FILE *file = fopen(CULL_SOURCE_DIR "/tests/golden/losses.txt", "r");

    assert_non_null(file);
    for (int i = 0; i < 3; i++) check_loss(file, i, backend, dtype, error);
    (void)fclose(file);
}

static void ref_follows_pytorch(void **state)
{
    (void)state;
    check_all("ref", CULL_F64, DOUBLE_ERROR);
}

static void cpu_follows_as_far_as_float_goes(void **state)
{
    (void)state;
    check_all("cpu", CULL_F32, FLOAT_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ref_follows_pytorch),
        cmocka_unit_test(cpu_follows_as_far_as_float_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
