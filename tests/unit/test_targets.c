/* tests/unit/test_targets.c - targets that are no single class: scale, spread, splits, adoption. */
#include "data/targets.h"

#include <math.h>
#include <string.h>

#include "data/reader.h"
#include "data/split.h"
#include "support.h"

enum { COUNT = 40, WIDTH = 3 };

/* Features and targets of their own kind; of real ones the last never changes. */
static cull_dataset *make(cull_target_kind kind)
{
    cull_dataset *set = NULL;

    assert_ok(cull_data_create("made", &set));
    cull_data_aim(set, kind, WIDTH);
    assert_ok(cull_data_shape(set, "made", CULL_F32, 2, 1, 1));
    assert_ok(cull_data_extend(set, "made", COUNT));
    for (size_t i = 0; i < COUNT * 2; i++) ((float *)cull_data_base(set))[i] = (float)i;
    for (size_t i = 0; i < COUNT * WIDTH; i++) {
        double number = i % WIDTH == 2 ? 4 : 1000 + 50 * random_normal(3 + i % WIDTH, i);

        if (kind == CULL_TARGET_REAL)
            ((float *)set->target.data)[i] = (float)number;
        else
            ((uint8_t *)set->target.data)[i] = i % 5 == 0;
    }
    set->count = COUNT;
    set->classes = WIDTH;
    return set;
}

static void scaled_targets_have_mean_0_and_deviation_1(void **state)
{
    cull_dataset     *set = make(CULL_TARGET_REAL);
    cull_target_scale scale = {0}, again = {0};

    (void)state;
    assert_ok(cull_target_scale_measure(set, &scale));
    assert_int_equal(WIDTH, scale.width);
    assert_true(fabs(scale.mean[0] - 1000) < 30 && fabs(scale.deviation[1] - 50) < 20);
    assert_true(scale.mean[2] == 4 && scale.deviation[2] == 1);
    cull_target_scale_apply(&scale, set);
    assert_ok(cull_target_scale_measure(set, &again));
    for (size_t k = 0; k < 2; k++)
        assert_true(fabs(again.mean[k]) < 1e-6 && fabs(again.deviation[k] - 1) < 1e-6);
    assert_true(again.mean[2] == 0);
    /* one of three never changes */
    assert_true(fabs(cull_data_target_variance(set) - 2. / 3) < 1e-6);
    cull_target_scale_clear(&scale);
    cull_target_scale_clear(&again);
    cull_data_close(set);
}

static void other_targets_have_no_scale(void **state)
{
    cull_dataset     *set = make(CULL_TARGET_CLASSES);
    cull_target_scale scale = {0};
    uint8_t           before[COUNT * WIDTH];

    (void)state;
    memcpy(before, set->target.data, sizeof before);
    assert_ok(cull_target_scale_measure(set, &scale));
    assert_int_equal(0, scale.width);
    cull_target_scale_apply(&scale, set);
    assert_memory_equal(before, set->target.data, sizeof before);
    assert_int_equal(COUNT * WIDTH / 5, cull_data_target_holds(set));
    cull_target_scale_clear(&scale);
    cull_data_close(set);
}

/* Every example is in one of the two, with its own target; the seed decides. */
static void a_split_takes_so_many_of_all(void **state)
{
    static const cull_target_kind kinds[] = {CULL_TARGET_REAL, CULL_TARGET_CLASSES};

    (void)state;
    for (int k = 0; k < 2; k++) {
        cull_dataset *set = make(kinds[k]), *whole = make(kinds[k]), *part = NULL;
        bool          seen[COUNT] = {0};

        assert_ok(cull_data_split(set, 0.25, 7, &part));
        assert_int_equal(10, part->count);
        assert_int_equal(30, set->count);
        for (size_t i = 0; i < COUNT; i++) {
            const cull_dataset *of = i < 10 ? part : set;
            size_t              place = i < 10 ? i : i - 10;

            assert_false(seen[of->origin[place]]);
            seen[of->origin[place]] = true;
            assert_memory_equal(cull_data_target_at(whole, of->origin[place]),
                                cull_data_target_at(of, place), cull_data_target_bytes(of));
        }
        assert_ok(cull_data_adopt(part, set));
        cull_data_close(set);
        cull_data_close(whole);
        cull_data_close(part);
    }
}

static void sets_of_other_targets_are_not_adopted(void **state)
{
    cull_dataset *real = make(CULL_TARGET_REAL), *several = make(CULL_TARGET_CLASSES);

    (void)state;
    assert_fails(CULL_BAD_ARGUMENT,
                 "made: a target is real numbers (3), but trained on several classes (3)",
                 cull_data_adopt(real, several));
    cull_data_close(real);
    cull_data_close(several);
}

static void targets_called_otherwise_are_not_adopted(void **state)
{
    static const char *const names[] = {"a", "b", "c"}, *const turned[] = {"a", "c", "b"};
    cull_dataset *train = make(CULL_TARGET_REAL), *test = make(CULL_TARGET_REAL);

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        assert_ok(cull_texts_add(&train->label_names, names[k], 1));
        assert_ok(cull_texts_add(&test->label_names, turned[k], 1));
    }
    assert_fails(CULL_BAD_ARGUMENT, "made: target 1 is 'c', but 'b' was learned",
                 cull_data_adopt(test, train));
    cull_data_close(train);
    cull_data_close(test);
}

static void measuring_survives_every_allocation_failure(void **state)
{
    cull_dataset *set = make(CULL_TARGET_REAL);
    cull_status   status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_target_scale scale = {0};

        fail_nth_alloc(n);
        status = cull_target_scale_measure(set, &scale);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
        cull_target_scale_clear(&scale);
    }
    cull_data_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scaled_targets_have_mean_0_and_deviation_1),
        cmocka_unit_test(other_targets_have_no_scale),
        cmocka_unit_test(a_split_takes_so_many_of_all),
        cmocka_unit_test(sets_of_other_targets_are_not_adopted),
        cmocka_unit_test(targets_called_otherwise_are_not_adopted),
        cmocka_unit_test(measuring_survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
