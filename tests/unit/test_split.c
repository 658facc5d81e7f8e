/* tests/unit/test_split.c - properties of the stratified validation split. */
#include "data/split.h"

#include <math.h>

#include "files.h"

enum { COUNT = 1000, CLASSES = 7 };

static cull_dataset *make_set(void)
{
    cull_dataset *set = random_set(CULL_U8, COUNT, CLASSES, 1, 3, 2);

    /* classes of different sizes: half of what was 6 becomes 0 */
    for (size_t i = 0; i < COUNT; i++)
        if (cull_data_labels(set)[i] == 6 && i % 2) cull_data_labels(set)[i] = 0;
    return set;
}

static void count_classes(const cull_dataset *set, size_t *size)
{
    memset(size, 0, CLASSES * sizeof *size);
    for (size_t i = 0; i < set->count; i++) size[cull_data_labels(set)[i]]++;
}

static void every_example_goes_to_one_side_with_all_it_has(void **state)
{
    cull_dataset *whole = make_set(), *train = make_set(), *validation = NULL;
    size_t        seen[COUNT] = {0};

    (void)state;
    assert_ok(cull_data_split(train, .1, 5, &validation));
    assert_int_equal(100, validation->count);
    assert_int_equal(900, train->count);
    for (int side = 0; side < 2; side++) {
        const cull_dataset *set = side ? validation : train;
        size_t              bytes = cull_data_row_bytes(set);
        for (size_t i = 0; i < set->count; i++) {
            size_t from = set->origin[i];
            assert_true(i == 0 || from > set->origin[i - 1]);
            assert_int_equal(1, ++seen[from]);
            assert_int_equal(cull_data_labels(whole)[from], cull_data_labels(set)[i]);
            assert_memory_equal(row_of(whole, from), row_of(set, i), bytes);
        }
        assert_int_equal(CLASSES, set->classes);
        assert_memory_equal(whole->mean, set->mean, sizeof *set->mean);
        assert_memory_equal(whole->deviation, set->deviation, sizeof *set->deviation);
        assert_string_equal(whole->name, set->name);
    }
    cull_data_close(whole);
    cull_data_close(train);
    cull_data_close(validation);
}

static void classes_keep_their_proportions_to_one_example(void **state)
{
    static const double fractions[] = {.1, .37, .5, .9};

    (void)state;
    for (size_t f = 0; f < sizeof fractions / sizeof *fractions; f++) {
        cull_dataset *train = make_set(), *validation = NULL;
        size_t        before[CLASSES], after[CLASSES];
        count_classes(train, before);
        assert_ok(cull_data_split(train, fractions[f], 1, &validation));
        count_classes(validation, after);
        for (size_t c = 0; c < CLASSES; c++) {
            double share = fractions[f] * (double)before[c];
            assert_true((double)after[c] > share - 1 && (double)after[c] < share + 1);
        }
        assert_int_equal((size_t)(fractions[f] * COUNT + .5), validation->count);
        cull_data_close(train);
        cull_data_close(validation);
    }
}

static void the_seed_decides(void **state)
{
    cull_dataset *side[3] = {0}, *train[3] = {make_set(), make_set(), make_set()};

    (void)state;
    for (size_t i = 0; i < 3; i++) assert_ok(cull_data_split(train[i], .1, i / 2, &side[i]));
    assert_same_set(side[0], side[1]);
    assert_same_set(train[0], train[1]);
    assert_memory_not_equal(side[0]->origin, side[2]->origin, 100 * sizeof *side[0]->origin);
    for (size_t i = 0; i < 3; i++) {
        cull_data_close(side[i]);
        cull_data_close(train[i]);
    }
}

static void a_test_set_is_not_the_validation_set_of_any_seed(void **state)
{
    cull_dataset *train[3] = {make_set(), make_set(), make_set()}, *side[3] = {0};

    (void)state;
    assert_ok(cull_data_split_test(train[0], .1, &side[0]));
    assert_ok(cull_data_split_test(train[1], .1, &side[1]));
    assert_ok(cull_data_split(train[2], .1, 0, &side[2]));
    assert_same_set(side[0], side[1]);
    assert_same_set(train[0], train[1]);
    assert_memory_not_equal(side[0]->origin, side[2]->origin, 100 * sizeof *side[0]->origin);
    assert_fails(CULL_BAD_ARGUMENT, "random: a test split of",
                 cull_data_split_test(train[0], 1, &side[0]));
    for (size_t i = 0; i < 3; i++) {
        cull_data_close(side[i]);
        cull_data_close(train[i]);
    }
}

static void impossible_fractions_are_refused(void **state)
{
    static const double fractions[] = {0, 1, -1, 2, .9999, (double)NAN};
    cull_dataset       *train = make_set(), *validation = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++)
        assert_fails(CULL_BAD_ARGUMENT, "random: a validation split of",
                     cull_data_split(train, fractions[i], 1, &validation));
    assert_int_equal(COUNT, train->count);
    cull_data_close(train);
}

static void a_failed_allocation_leaves_the_set_whole(void **state)
{
    cull_dataset *whole = make_set(), *train = make_set();
    cull_status   status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_dataset *validation = NULL;
        fail_nth_alloc(n);
        status = cull_data_split(train, .1, 1, &validation);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
        if (status != CULL_OK) assert_same_set(whole, train);
        cull_data_close(validation);
    }
    cull_data_close(whole);
    cull_data_close(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_goes_to_one_side_with_all_it_has),
        cmocka_unit_test(classes_keep_their_proportions_to_one_example),
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(a_test_set_is_not_the_validation_set_of_any_seed),
        cmocka_unit_test(impossible_fractions_are_refused),
        cmocka_unit_test(a_failed_allocation_leaves_the_set_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
