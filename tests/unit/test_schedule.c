/* test_schedule.c - learning rates against PyTorch's schedulers. */
#include <math.h>
#include <string.h>

#include "optim/optim.h"
#include "support.h"

#define CLOSE 1e-15

static void check(const cull_schedule *schedule, const double *expected, size_t count)
{
    assert_ok(cull_schedule_check(schedule));
    for (size_t t = 0; t < count; t++) {
        double rate = cull_schedule_rate(schedule, t);
        if (fabs(rate - expected[t]) > CLOSE)
            fail_msg("step %zu: %.17g, PyTorch has %.17g", t, rate, expected[t]);
    }
}

static void one_cycle_is_pytorchs(void **state)
{
    static const double wide[] = {0.016000000000000014,
                                  0.20800000000000002,
                                  0.4,
                                  0.38019385280538953,
                                  0.3246982615799052,
                                  0.24450480877451572,
                                  0.1554967912254843,
                                  0.0753033384200948,
                                  0.019807747194610516,
                                  1.6e-06};
    static const double odd[] = {0.03999999999999998,
                                 0.3887878893956119,
                                 0.324773262411375,
                                 0.22257050232544096,
                                 0.1135100289243119,
                                 0.031024504994188833,
                                 0.0004};

    (void)state;
    check(&(cull_schedule){.shape = CULL_SCHEDULE_ONE_CYCLE,
                           .rate = .4,
                           .peak = .3,
                           .divide = 25,
                           .final_divide = 1e4,
                           .steps = 10,
                           .steps_per_epoch = 5},
          wide, 10);
    check(&(cull_schedule){.shape = CULL_SCHEDULE_ONE_CYCLE,
                           .rate = .4,
                           .peak = .2,
                           .divide = 10,
                           .final_divide = 100,
                           .steps = 7,
                           .steps_per_epoch = 7},
          odd, 7);
}

static void cosine_is_pytorchs(void **state)
{
    static const double expected[] = {
        0.1,   0.0965745789630079,  0.08681980515339463,  0.07222075445642905,
        0.055, 0.03777924554357096, 0.023180194846605363, 0.013425421036992097,
        0.01};

    (void)state;
    check(&(cull_schedule){.shape = CULL_SCHEDULE_COSINE,
                           .rate = .1,
                           .low = .01,
                           .steps = 8,
                           .steps_per_epoch = 4},
          expected, 9);
}

static void multi_step_counts_epochs_as_pytorch_does(void **state)
{
    static const double by_epoch[] = {.1, .1, .01, .01, .01, .001, .001};
    cull_schedule       s = {.shape = CULL_SCHEDULE_MULTI_STEP,
                             .rate = .1,
                             .gamma = .1,
                             .milestone = {2, 5},
                             .milestones = 2,
                             .steps = 21,
                             .steps_per_epoch = 3};

    (void)state;
    assert_ok(cull_schedule_check(&s));
    for (uint64_t t = 0; t < 21; t++)
        assert_true(fabs(cull_schedule_rate(&s, t) - by_epoch[t / 3]) < CLOSE);
}

static void warm_up_is_linear_and_the_shape_begins_after_it(void **state)
{
    static const double expected[] = {.025, .04375, .0625, .08125, .1, .1};
    cull_schedule       s = {.shape = CULL_SCHEDULE_CONSTANT,
                             .rate = .1,
                             .steps = 12,
                             .steps_per_epoch = 12,
                             .warmup = 4,
                             .warmup_start = .25};

    (void)state;
    check(&s, expected, 6);
    s.shape = CULL_SCHEDULE_COSINE;
    assert_true(cull_schedule_rate(&s, 3) == .1 * (.25 + .75 * 3 / 4));
    assert_true(cull_schedule_rate(&s, 4) == .1);
    assert_true(fabs(cull_schedule_rate(&s, 8) - .05) < CLOSE);
    assert_true(fabs(cull_schedule_rate(&s, 12)) < CLOSE);
}

static void the_shortest_runs_have_finite_rates(void **state)
{
    (void)state;
    for (int shape = CULL_SCHEDULE_CONSTANT; shape <= CULL_SCHEDULE_LINEAR; shape++)
        for (uint64_t steps = 1; steps < 6; steps++)
            for (int tenth = 0; tenth <= 10; tenth++) {
                cull_schedule s = {.shape = (cull_schedule_shape)shape,
                                   .rate = 1,
                                   .gamma = .1,
                                   .peak = tenth / 10.,
                                   .divide = 25,
                                   .final_divide = 1e4,
                                   .steps = steps,
                                   .steps_per_epoch = 1};
                for (uint64_t t = 0; t < steps; t++) {
                    double rate = cull_schedule_rate(&s, t);
                    assert_true(rate >= 0 && rate <= 1);
                }
            }
}

static void impossible_schedules_are_refused(void **state)
{
    cull_schedule good = {
        .rate = .1, .steps = 8, .steps_per_epoch = 4, .milestone = {1, 2}, .milestones = 2};
    cull_schedule s = good;

    (void)state;
    assert_ok(cull_schedule_check(&s));
    s.steps = 0;
    assert_fails(CULL_BAD_ARGUMENT, "no steps", cull_schedule_check(&s));
    s = good;
    s.rate = 0;
    assert_fails(CULL_BAD_ARGUMENT, "learning rate", cull_schedule_check(&s));
    s = good;
    s.warmup = 8;
    assert_fails(CULL_BAD_ARGUMENT, "warm-up of 8 steps in a run of 8", cull_schedule_check(&s));
    s = good;
    s.milestone[1] = 1;
    assert_fails(CULL_BAD_ARGUMENT, "milestone 1 does not come after 1", cull_schedule_check(&s));
    s = good;
    s.shape = CULL_SCHEDULE_COSINE;
    s.low = 1;
    assert_fails(CULL_BAD_ARGUMENT, "a cosine", cull_schedule_check(&s));
    s.shape = CULL_SCHEDULE_LINEAR;
    assert_fails(CULL_BAD_ARGUMENT, "a line from 0.1 down to 1", cull_schedule_check(&s));
}

/* transformers' get_linear_schedule_with_warmup, of 3 warm steps in 9. */
static void a_line_is_transformers(void **state)
{
    static const double factor[] = {0,      1. / 3, 2. / 3, 1,      5. / 6,
                                    4. / 6, 3. / 6, 2. / 6, 1. / 6, 0};
    cull_schedule       s = {
              .shape = CULL_SCHEDULE_LINEAR, .rate = 2e-5, .steps = 9, .steps_per_epoch = 3, .warmup = 3};

    (void)state;
    assert_ok(cull_schedule_check(&s));
    for (uint64_t t = 0; t < 10; t++)
        assert_true(fabs(cull_schedule_rate(&s, t) - 2e-5 * factor[t]) < 1e-19);
    s.low = 1e-5;
    assert_true(fabs(cull_schedule_rate(&s, 6) - 1.5e-5) < 1e-19);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_transformers),
        cmocka_unit_test(one_cycle_is_pytorchs),
        cmocka_unit_test(cosine_is_pytorchs),
        cmocka_unit_test(multi_step_counts_epochs_as_pytorch_does),
        cmocka_unit_test(warm_up_is_linear_and_the_shape_begins_after_it),
        cmocka_unit_test(the_shortest_runs_have_finite_rates),
        cmocka_unit_test(impossible_schedules_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
