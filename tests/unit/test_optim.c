/* test_optim.c - optimizers against PyTorch's numbers; clipping; what threads may not change. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "optim/optim.h"
#include "support.h"

enum { MANY = 100003 };

/* PyTorch in double and here differ in the order of a few operations. */
#define CLOSE 1e-14

static cull_backend *open_ref(unsigned threads)
{
    cull_backend *backend = NULL;

    assert_ok(cull_backend_open("ref", threads, &backend));
    return backend;
}

/* Three steps from (1, -2, .5) with gradients (.5 (k+1), -.25, 2 w2 - k). */
static void take_three_steps(const char *name, const cull_optim_options *options, double w[3])
{
    cull_backend *backend = NULL;
    cull_optim   *optim = NULL;
    double        g[3] = {0}, rate = options->rule == CULL_OPTIM_SGD ? .1 : .01;
    void         *value = NULL, *gradient = NULL;

    assert_ok(cull_backend_open(name, 1, &backend));
    assert_ok(cull_optim_create(options, CULL_F64, 3, backend, &optim));
    assert_ok(cull_backend_allocate(backend, 3, sizeof *w, "weights", &value));
    assert_ok(cull_backend_allocate(backend, 3, sizeof *g, "gradients", &gradient));
    memcpy(w, (double[]){1, -2, .5}, 3 * sizeof *w);
    assert_ok(cull_backend_upload(backend, value, w, 3 * sizeof *w));
    for (int k = 0; k < 3; k++) {
        memcpy(g, (double[]){.5 * (k + 1), -.25, 2 * w[2] - k}, sizeof g);
        assert_ok(cull_backend_upload(backend, gradient, g, sizeof g));
        assert_ok(cull_optim_step(optim, rate, value, gradient));
        assert_ok(cull_backend_download(backend, w, value, 3 * sizeof *w));
    }
    cull_backend_release(backend, value);
    cull_backend_release(backend, gradient);
    cull_optim_destroy(optim);
    cull_backend_close(backend);
}

/* As PyTorch took them, on every backend. */
static void check_three_steps(const cull_optim_options *options, const double expected[3])
{
    static const char *const names[] = {"ref", "cpu", "far"};

    for (size_t b = 0; b < sizeof names / sizeof *names; b++) {
        double w[3];

        take_three_steps(names[b], options, w);
        for (int i = 0; i < 3; i++)
            if (fabs(w[i] - expected[i]) > CLOSE)
                fail_msg("%s: weight %d is %.17g, PyTorch has %.17g", names[b], i, w[i],
                         expected[i]);
    }
}

static void sgd_takes_pytorchs_steps(void **state)
{
    (void)state;
    check_three_steps(&(cull_optim_options){.rule = CULL_OPTIM_SGD},
                      (double[]){0.7, -1.9250000000000003, 0.536});
    check_three_steps(
        &(cull_optim_options){.rule = CULL_OPTIM_SGD, .momentum = .9, .weight_decay = .01},
        (double[]){0.5191847489999999, -1.8486595730000002, 0.3989970995});
    check_three_steps(
        &(cull_optim_options){
            .rule = CULL_OPTIM_SGD, .momentum = .9, .weight_decay = .01, .nesterov = true},
        (double[]){0.26489045819099993, -1.783052330807, 0.5226134528705001});
}

static void adamw_takes_pytorchs_steps(void **state)
{
    (void)state;
    check_three_steps(&(cull_optim_options){.rule = CULL_OPTIM_ADAMW,
                                            .beta1 = .9,
                                            .beta2 = .999,
                                            .epsilon = 1e-8,
                                            .weight_decay = .05},
                      (double[]){0.9692837411964048, -1.9670164984494005, 0.483794511780979});
}

static void adam_takes_pytorchs_steps(void **state)
{
    cull_optim_options options = {
        .rule = CULL_OPTIM_ADAM, .beta1 = .9, .beta2 = .999, .epsilon = 1e-8};

    (void)state;
    check_three_steps(&options,
                      (double[]){0.97076816791153653, -1.9700000012000001, 0.48452124701467075});
    options.weight_decay = .05;
    check_three_steps(&options,
                      (double[]){0.97066980483599741, -1.9700013763205331, 0.48404434015618625});
    options = (cull_optim_options){
        .rule = CULL_OPTIM_ADAM, .beta1 = .8, .beta2 = .95, .epsilon = 1e-3, .weight_decay = .5};
    check_three_steps(&options,
                      (double[]){0.97002809226287334, -1.9700303595731379, 0.48145679099144079});
}

static void clipping_is_pytorchs(void **state)
{
    (void)state;
    check_three_steps(&(cull_optim_options){.rule = CULL_OPTIM_SGD, .momentum = .9, .clip = .5},
                      (double[]){0.8097827067596821, -1.9409318881108917, 0.42002404223347606});
}

static void a_gradient_within_the_norm_is_left_alone(void **state)
{
    cull_optim_options options = {.rule = CULL_OPTIM_SGD, .clip = 5.1};
    cull_backend      *backend = open_ref(1);
    cull_optim        *optim = NULL;
    double             w[2] = {0, 0}, g[2] = {3, 4};

    (void)state;
    assert_ok(cull_optim_create(&options, CULL_F64, 2, backend, &optim));
    assert_ok(cull_optim_step(optim, 1, w, g));
    assert_true(*optim->norm == 5);
    assert_true(g[0] == 3 && g[1] == 4);
    cull_optim_destroy(optim);
    cull_backend_close(backend);
}

static void float_steps_stay_near_double_ones(void **state)
{
    static const cull_optim_rule rules[] = {CULL_OPTIM_SGD, CULL_OPTIM_ADAMW, CULL_OPTIM_ADAM};
    cull_backend                *backend = open_ref(1);

    (void)state;
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        cull_optim_options options = {.rule = rules[r],
                                      .momentum = .9,
                                      .nesterov = true,
                                      .weight_decay = 1e-3,
                                      .beta1 = .9,
                                      .beta2 = .99,
                                      .epsilon = 1e-8,
                                      .clip = 1};
        cull_optim        *narrow = NULL, *wide = NULL;
        float              w[64], g[64];
        double             w2[64], g2[64];

        assert_ok(cull_optim_create(&options, CULL_F32, 64, backend, &narrow));
        assert_ok(cull_optim_create(&options, CULL_F64, 64, backend, &wide));
        for (size_t i = 0; i < 64; i++) w2[i] = w[i] = (float)random_normal(1, i);
        for (size_t k = 0; k < 20; k++) {
            for (size_t i = 0; i < 64; i++) g2[i] = g[i] = (float)random_normal(2 + k, i);
            assert_ok(cull_optim_step(narrow, .01, w, g));
            assert_ok(cull_optim_step(wide, .01, w2, g2));
        }
        for (size_t i = 0; i < 64; i++) assert_true(fabs((double)w[i] - w2[i]) < 1e-5);
        cull_optim_destroy(narrow);
        cull_optim_destroy(wide);
    }
    cull_backend_close(backend);
}

/* Some steps over many weights, one in five exempt; the weights afterwards. */
static float *steps_with(unsigned threads, cull_optim_rule rule)
{
    cull_optim_options options = {.rule = rule,
                                  .momentum = .9,
                                  .weight_decay = .01,
                                  .beta1 = .9,
                                  .beta2 = .99,
                                  .epsilon = 1e-8,
                                  .clip = .1};
    cull_backend      *backend = open_ref(threads);
    cull_optim        *optim = NULL;
    float             *w = normals_f32(1, MANY);

    assert_ok(cull_optim_create(&options, CULL_F32, MANY, backend, &optim));
    assert_ok(cull_optim_exempt(optim, 0, 3));
    assert_ok(cull_optim_exempt(optim, MANY / 5, MANY / 5));
    for (uint64_t k = 0; k < 3; k++) {
        float *g = normals_f32(2 + k, MANY);
        assert_ok(cull_optim_step(optim, .1, w, g));
        free(g);
    }
    cull_optim_destroy(optim);
    cull_backend_close(backend);
    return w;
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    for (int rule = CULL_OPTIM_SGD; rule <= CULL_OPTIM_ADAM; rule++) {
        float *one = steps_with(1, (cull_optim_rule)rule);
        float *three = steps_with(3, (cull_optim_rule)rule);
        assert_memory_equal(one, three, MANY * sizeof *one);
        free(one);
        free(three);
    }
}

static void exempt_weights_do_not_decay(void **state)
{
    cull_optim_options options = {.rule = CULL_OPTIM_SGD, .weight_decay = .5};
    cull_backend      *backend = open_ref(1);
    cull_optim        *optim = NULL;
    double             w[6] = {1, 1, 1, 1, 1, 1}, g[6] = {0};

    (void)state;
    assert_ok(cull_optim_create(&options, CULL_F64, 6, backend, &optim));
    assert_ok(cull_optim_exempt(optim, 1, 1));
    assert_ok(cull_optim_exempt(optim, 2, 1));
    assert_ok(cull_optim_exempt(optim, 5, 1));
    assert_fails(CULL_BAD_ARGUMENT, "cannot be exempted", cull_optim_exempt(optim, 5, 2));
    assert_fails(CULL_BAD_ARGUMENT, "cannot be exempted", cull_optim_exempt(optim, 1, 1));
    assert_ok(cull_optim_step(optim, 1, w, g));
    for (int i = 0; i < 6; i++) assert_true(w[i] == (i == 1 || i == 2 || i == 5 ? 1 : .5));
    cull_optim_destroy(optim);
    cull_backend_close(backend);
}

static void a_restored_optimizer_goes_on_bit_for_bit(void **state)
{
    (void)state;
    for (int rule = CULL_OPTIM_SGD; rule <= CULL_OPTIM_ADAM; rule++) {
        cull_optim_options options = {.rule = (cull_optim_rule)rule,
                                      .momentum = .9,
                                      .beta1 = .9,
                                      .beta2 = .99,
                                      .epsilon = 1e-8};
        cull_backend      *backend = open_ref(1);
        cull_optim        *first = NULL, *second = NULL;
        float              w[40], again[40], g[40];
        cull_writer        writer = {0};

        for (size_t i = 0; i < 40; i++) w[i] = g[i] = (float)random_normal(3, i);
        assert_ok(cull_optim_create(&options, CULL_F32, 40, backend, &first));
        assert_ok(cull_optim_create(&options, CULL_F32, 40, backend, &second));
        assert_ok(cull_optim_step(first, .1, w, g));
        assert_ok(cull_optim_save(first, &writer));
        memcpy(again, w, sizeof w);
        assert_ok(cull_optim_restore(second, &(cull_reader){writer.data, writer.size, 0}));
        assert_ok(cull_optim_step(first, .1, w, g));
        assert_ok(cull_optim_step(second, .1, again, g));
        assert_memory_equal(w, again, sizeof w);
        assert_fails(CULL_BAD_STATE, "",
                     cull_optim_restore(second, &(cull_reader){writer.data, writer.size - 1, 0}));
        cull_writer_clear(&writer);
        cull_optim_destroy(first);
        cull_optim_destroy(second);
        cull_backend_close(backend);
    }
}

static void another_optimizers_state_is_refused(void **state)
{
    cull_optim_options plain = {.rule = CULL_OPTIM_SGD};
    cull_optim_options heavy = {.rule = CULL_OPTIM_SGD, .momentum = .9};
    cull_backend      *backend = open_ref(1);
    cull_optim        *first = NULL, *second = NULL;
    cull_writer        writer = {0};

    (void)state;
    assert_ok(cull_optim_create(&plain, CULL_F32, 4, backend, &first));
    assert_ok(cull_optim_create(&heavy, CULL_F32, 4, backend, &second));
    assert_ok(cull_optim_save(first, &writer));
    assert_fails(CULL_BAD_STATE, "another optimizer",
                 cull_optim_restore(second, &(cull_reader){writer.data, writer.size, 0}));
    cull_writer_clear(&writer);
    cull_optim_destroy(first);
    cull_optim_destroy(second);
    cull_backend_close(backend);
}

/* They keep as many numbers, which mean something else. */
static void a_state_of_adam_is_none_of_adamw(void **state)
{
    cull_optim_options options = {
        .rule = CULL_OPTIM_ADAM, .beta1 = .9, .beta2 = .99, .epsilon = 1e-8};
    cull_backend *backend = open_ref(1);
    cull_optim   *adam = NULL, *adamw = NULL;
    cull_writer   writer = {0};

    (void)state;
    assert_ok(cull_optim_create(&options, CULL_F32, 4, backend, &adam));
    options.rule = CULL_OPTIM_ADAMW;
    assert_ok(cull_optim_create(&options, CULL_F32, 4, backend, &adamw));
    assert_ok(cull_optim_save(adam, &writer));
    assert_fails(CULL_BAD_STATE, "another optimizer",
                 cull_optim_restore(adamw, &(cull_reader){writer.data, writer.size, 0}));
    cull_writer_clear(&writer);
    cull_optim_destroy(adam);
    cull_optim_destroy(adamw);
    cull_backend_close(backend);
}

static void impossible_options_are_refused(void **state)
{
    static const struct {
        cull_optim_options options;
        const char        *text;
    } cases[] = {
        {{.rule = CULL_OPTIM_SGD, .momentum = 1}, "momentum of 1"},
        {{.rule = CULL_OPTIM_SGD, .nesterov = true}, "Nesterov"},
        {{.rule = CULL_OPTIM_SGD, .weight_decay = -1}, "weight decay"},
        {{.rule = CULL_OPTIM_SGD, .clip = -1}, "clipped"},
        {{.rule = CULL_OPTIM_ADAMW, .beta1 = 1, .epsilon = 1}, "betas"},
        {{.rule = CULL_OPTIM_ADAMW, .beta1 = .9, .beta2 = .9}, "epsilon"},
        {{.rule = CULL_OPTIM_ADAM, .beta2 = 1, .epsilon = 1}, "betas"},
        {{.rule = CULL_OPTIM_ADAM, .beta1 = .9, .beta2 = .9}, "epsilon"},
    };
    cull_backend *backend = open_ref(1);
    cull_optim   *optim = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(CULL_BAD_ARGUMENT, cases[i].text,
                     cull_optim_create(&cases[i].options, CULL_F32, 4, backend, &optim));
    assert_fails(CULL_BAD_ARGUMENT, "int32",
                 cull_optim_create(&(cull_optim_options){0}, CULL_I32, 4, backend, &optim));
    cull_backend_close(backend);
}

static void a_gradient_that_is_not_finite_changes_nothing(void **state)
{
    cull_optim_options options = {.rule = CULL_OPTIM_SGD, .clip = 1};
    cull_backend      *backend = open_ref(1);
    cull_optim        *optim = NULL;
    float              w[2] = {1, 2}, g[2] = {NAN, 1};

    (void)state;
    assert_ok(cull_optim_create(&options, CULL_F32, 2, backend, &optim));
    assert_fails(CULL_NOT_FINITE, "no longer finite", cull_optim_step(optim, .1, w, g));
    assert_true(w[0] == 1 && w[1] == 2 && optim->steps == 0);
    cull_optim_destroy(optim);
    cull_backend_close(backend);
}

static void a_step_allocates_nothing_and_creation_survives_failures(void **state)
{
    cull_optim_options options = {
        .rule = CULL_OPTIM_ADAMW, .beta1 = .9, .beta2 = .99, .epsilon = 1e-8, .clip = 1};
    cull_backend *backend = open_ref(2);
    cull_status   status = CULL_NO_MEMORY;
    float         w[9] = {0}, g[9] = {1};

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_optim *optim = NULL;
        size_t      before = 0;
        fail_nth_alloc(n);
        status = cull_optim_create(&options, CULL_F32, 9, backend, &optim);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || (status == CULL_NO_MEMORY && !optim));
        if (!optim) continue;
        before = cull_base_alloc_count();
        assert_ok(cull_optim_step(optim, .1, w, g));
        assert_int_equal(before, cull_base_alloc_count());
        cull_optim_destroy(optim);
    }
    cull_backend_close(backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sgd_takes_pytorchs_steps),
        cmocka_unit_test(adamw_takes_pytorchs_steps),
        cmocka_unit_test(adam_takes_pytorchs_steps),
        cmocka_unit_test(clipping_is_pytorchs),
        cmocka_unit_test(a_gradient_within_the_norm_is_left_alone),
        cmocka_unit_test(float_steps_stay_near_double_ones),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(exempt_weights_do_not_decay),
        cmocka_unit_test(a_restored_optimizer_goes_on_bit_for_bit),
        cmocka_unit_test(another_optimizers_state_is_refused),
        cmocka_unit_test(a_state_of_adam_is_none_of_adamw),
        cmocka_unit_test(impossible_options_are_refused),
        cmocka_unit_test(a_gradient_that_is_not_finite_changes_nothing),
        cmocka_unit_test(a_step_allocates_nothing_and_creation_survives_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
