/* test_along.c - a run along its training: targets that are met, and frontiers. */
#include <math.h>

#include "records/along.h"
#include "support.h"

enum { LOOKS = 3, POINTS = 6 };

static cull_records_line look_at(double accuracy, double seconds)
{
    cull_records_line look = {.accuracy = accuracy, .so_far = {.updates = 10 * seconds}};

    for (int i = 0; i < CULL_PHASES; i++) {
        look.so_far.seconds_by[i] = seconds;
        look.so_far.joules_by[i] = 2 * seconds;
    }
    return look;
}

static void a_target_is_met_at_the_first_look_that_is_as_good(void **state)
{
    cull_records_line     look[LOOKS] = {look_at(.5, 1), look_at(.9, 2), look_at(.8, 3)};
    cull_records_run      run = {.curves.of[CULL_RECORDS_TEST] = {look, LOOKS, LOOKS}};
    const cull_yardstick *by = &cull_yardstick_accuracy;

    (void)state;
    assert_ptr_equal(&look[0], cull_along_reach(&run, by, 50));
    assert_ptr_equal(&look[1], cull_along_reach(&run, by, 49.9));
    assert_ptr_equal(&look[1], cull_along_reach(&run, by, 20));
    assert_null(cull_along_reach(&run, by, 9));
    assert_null(cull_along_reach(&run, by, NAN));
}

/* Evaluation is no cost, and what no counter told is not known. */
static void what_was_spent_is_that_of_the_phases_that_are_cost(void **state)
{
    cull_records_line look = look_at(.5, 2), old = look;

    (void)state;
    assert_true(cull_along_seconds(&look) == 2 * CULL_PHASES_OF_COST);
    assert_true(cull_along_joules(&look) == 4 * CULL_PHASES_OF_COST);
    assert_true(cull_along_updates(&look) == 20);
    old.so_far.seconds = 77;
    old.so_far.seconds_by[CULL_PHASE_LOAD] = NAN;
    old.so_far.joules_by[CULL_PHASE_LOAD] = NAN;
    assert_true(cull_along_seconds(&old) == 77 && isnan(cull_along_joules(&old)));
}

static void who_is_on_the_frontier_is_beaten_by_nobody(void **state)
{
    cull_along_point p[POINTS] = {{.x = 3, .y = 1, .whose = 1}, {.x = 1, .y = 5, .whose = 0},
                                  {.x = 2, .y = 5, .whose = 1}, {.x = 2, .y = 4, .whose = 1},
                                  {.x = 2, .y = 4, .whose = 0}, {.x = 9, .y = 1, .whose = 0}};

    (void)state;
    cull_along_front(p, POINTS);
    for (size_t i = 0; i < POINTS; i++) {
        bool beaten = false;

        for (size_t j = 0; j < POINTS; j++)
            beaten = beaten ||
                     (p[j].x <= p[i].x && p[j].y <= p[i].y && (p[j].x < p[i].x || p[j].y < p[i].y));
        if (beaten) assert_false(p[i].front);
    }
    /* (1, 5), one of the two (2, 4), (3, 1) */
    assert_true(fabs(cull_along_share(p, POINTS, 0) - 2. / 3) < 1e-12);
    assert_true(fabs(cull_along_share(p, POINTS, 1) - 1. / 3) < 1e-12);
    assert_true(isnan(cull_along_share(p, 0, 0)));
    cull_along_front(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_is_met_at_the_first_look_that_is_as_good),
        cmocka_unit_test(what_was_spent_is_that_of_the_phases_that_are_cost),
        cmocka_unit_test(who_is_on_the_frontier_is_beaten_by_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
