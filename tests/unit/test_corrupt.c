/* tests/unit/test_corrupt.c - properties of harm done on purpose, and of its record. */
#include "data/corrupt.h"

#include <math.h>

#include "files.h"

enum { COUNT = 1000, CLASSES = 10 };

static cull_dataset *make_set(void)
{
    return random_set(CULL_U8, COUNT, CLASSES, 1, 2, 2);
}

static void flipped_labels_are_wrong_counted_and_recorded(void **state)
{
    cull_data_corruption asked = {.label_noise = .3, .noise = CULL_DATA_FLIP, .seed = 2};
    cull_data_record     record = {0};
    cull_dataset        *clean = make_set(), *set = make_set();
    size_t               next = 0, to[CLASSES] = {0};

    (void)state;
    assert_ok(cull_data_corrupt(&set, &asked, &record));
    assert_int_equal(300, record.relabels);
    assert_int_equal(300, record.wrong);
    assert_int_equal(COUNT, record.count_after);
    for (size_t i = 0; i < COUNT; i++) {
        bool marked = set->marks[i] & CULL_DATA_MARK_LABEL;
        assert_int_equal(marked, cull_data_labels(clean)[i] != cull_data_labels(set)[i]);
        assert_in_range(cull_data_labels(set)[i], 0, CLASSES - 1);
        if (!marked) continue;
        assert_int_equal(i, record.relabelled[next].origin);
        assert_int_equal(cull_data_labels(clean)[i], record.relabelled[next].before);
        assert_int_equal(cull_data_labels(set)[i], record.relabelled[next].after);
        to[cull_data_labels(set)[i]]++;
        next++;
    }
    assert_int_equal(300, next);
    for (size_t c = 0; c < CLASSES; c++) assert_in_range(to[c], 10, 55);
    for (size_t i = 0; i < COUNT; i++) assert_memory_equal(row_of(clean, i), row_of(set, i), 4);
    cull_data_record_clear(&record);
    cull_data_close(clean);
    cull_data_close(set);
}

/* Of 1000 redrawn labels a tenth stays by chance: within five standard deviations of 100. */
static void redrawn_labels_may_stay_and_then_are_not_marked(void **state)
{
    cull_data_corruption asked = {.label_noise = 1, .noise = CULL_DATA_REDRAW, .seed = 2};
    cull_data_record     record = {0};
    cull_dataset        *set = make_set();
    size_t               marked = 0;

    (void)state;
    assert_ok(cull_data_corrupt(&set, &asked, &record));
    assert_int_equal(COUNT, record.relabels);
    assert_in_range(COUNT - record.wrong, 50, 150);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(cull_data_labels(set)[i], record.relabelled[i].after);
        assert_int_equal(i % CLASSES, record.relabelled[i].before);
        marked += set->marks[i] == CULL_DATA_MARK_LABEL;
    }
    assert_int_equal(record.wrong, marked);
    cull_data_record_clear(&record);
    cull_data_close(set);
}

static void cut_classes_keep_a_tenth(void **state)
{
    cull_data_corruption asked = {.imbalance = .3, .seed = 4};
    cull_data_record     record = {0};
    cull_dataset        *set = make_set();
    size_t               size[CLASSES] = {0}, gone[COUNT] = {0};

    (void)state;
    assert_ok(cull_data_corrupt(&set, &asked, &record));
    assert_true(record.asked.imbalance_keep == .1);
    assert_int_equal(3, record.cuts);
    assert_int_equal(270, record.drops);
    assert_int_equal(730, set->count);
    for (size_t i = 0; i < record.drops; i++) {
        assert_true(i == 0 || record.dropped[i] > record.dropped[i - 1]);
        gone[record.dropped[i]] = 1;
    }
    for (size_t i = 0; i < set->count; i++) {
        assert_true(i == 0 || set->origin[i] > set->origin[i - 1]);
        assert_int_equal(0, gone[set->origin[i]]);
        assert_int_equal(set->origin[i] % CLASSES, cull_data_labels(set)[i]);
        size[cull_data_labels(set)[i]]++;
    }
    for (size_t i = 0; i < record.cuts; i++) {
        assert_true(i == 0 || record.cut[i].label > record.cut[i - 1].label);
        assert_int_equal(100, record.cut[i].before);
        assert_int_equal(10, record.cut[i].after);
        assert_int_equal(10, size[record.cut[i].label]);
        size[record.cut[i].label] = 100;
    }
    for (size_t c = 0; c < CLASSES; c++) assert_int_equal(100, size[c]);
    cull_data_record_clear(&record);
    cull_data_close(set);
}

static void copies_share_everything_and_are_marked(void **state)
{
    cull_data_corruption asked = {.duplicates = 3, .label_noise = .2, .imbalance = .1, .seed = 4};
    cull_data_record     record = {0};
    cull_dataset        *set = make_set();
    size_t               once = COUNT - 90;

    (void)state;
    assert_ok(cull_data_corrupt(&set, &asked, &record));
    assert_int_equal(3 * once, set->count);
    assert_int_equal(2 * once, record.copies);
    assert_int_equal(182, record.relabels);
    for (size_t i = 0; i < set->count; i++) {
        size_t first = i % once;
        assert_int_equal(set->origin[first], set->origin[i]);
        assert_int_equal(cull_data_labels(set)[first], cull_data_labels(set)[i]);
        assert_memory_equal(row_of(set, first), row_of(set, i), 4);
        assert_int_equal(i >= once, (set->marks[i] & CULL_DATA_MARK_COPY) != 0);
        assert_int_equal(set->marks[first] & CULL_DATA_MARK_LABEL,
                         set->marks[i] & CULL_DATA_MARK_LABEL);
        assert_int_equal((set->marks[i] & CULL_DATA_MARK_LABEL) != 0,
                         cull_data_labels(set)[i] != (int32_t)(set->origin[i] % CLASSES));
    }
    cull_data_record_clear(&record);
    cull_data_close(set);
}

static void the_seed_decides_and_nothing_asked_is_nothing_done(void **state)
{
    cull_data_corruption asked = {.duplicates = 2, .label_noise = .1, .imbalance = .5, .seed = 1};
    cull_data_corruption nothing = {.seed = 1};
    cull_dataset        *set[4] = {make_set(), make_set(), make_set(), make_set()};
    cull_dataset        *clean = make_set();

    (void)state;
    assert_ok(cull_data_corrupt(&set[0], &asked, NULL));
    assert_ok(cull_data_corrupt(&set[1], &asked, NULL));
    assert_same_set(set[0], set[1]);
    asked.seed = 2;
    assert_ok(cull_data_corrupt(&set[2], &asked, NULL));
    assert_memory_not_equal(cull_data_labels(set[0]), cull_data_labels(set[2]), COUNT);
    assert_ok(cull_data_corrupt(&set[3], &nothing, NULL));
    assert_same_set(clean, set[3]);
    for (size_t i = 0; i < 4; i++) cull_data_close(set[i]);
    cull_data_close(clean);
}

static void impossible_wishes_name_the_field(void **state)
{
    cull_dataset *set = make_set(), *clean = make_set(),
                 *single = random_set(CULL_U8, 4, 1, 1, 2, 2);

    (void)state;
#define REFUSED(sentence, ...)                                                                     \
    do {                                                                                           \
        cull_data_corruption asked = {__VA_ARGS__};                                                \
        assert_fails(CULL_BAD_ARGUMENT, sentence, cull_data_corrupt(&set, &asked, NULL));          \
        assert_same_set(clean, set);                                                               \
    } while (0)
    REFUSED("imbalance 1.5", .imbalance = 1.5);
    REFUSED("imbalance nan", .imbalance = (double)NAN);
    REFUSED("imbalance_keep -1", .imbalance = .5, .imbalance_keep = -1);
    REFUSED("label_noise -0.1", .label_noise = -.1);
    REFUSED("neither flip nor redraw", .label_noise = .1, .noise = (cull_data_noise)7);
    REFUSED("2^32-2 is the most", .duplicates = (size_t)1 << 40);
    REFUSED("2^32-2 is the most", .duplicates = SIZE_MAX);
#undef REFUSED
    assert_fails(CULL_BAD_ARGUMENT, "single class",
                 cull_data_corrupt(&single, &(cull_data_corruption){.label_noise = .1}, NULL));
    cull_data_close(set);
    cull_data_close(clean);
    cull_data_close(single);
}

static void a_failed_allocation_leaves_the_set_whole(void **state)
{
    cull_dataset *clean = make_set(), *set = make_set();
    cull_status   status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_data_corruption asked = {.duplicates = 2, .label_noise = .1, .imbalance = .5};
        cull_data_record     record = {0};
        fail_nth_alloc(n);
        status = cull_data_corrupt(&set, &asked, &record);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
        if (status != CULL_OK) assert_same_set(clean, set);
        cull_data_record_clear(&record);
    }
    cull_data_close(clean);
    cull_data_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flipped_labels_are_wrong_counted_and_recorded),
        cmocka_unit_test(redrawn_labels_may_stay_and_then_are_not_marked),
        cmocka_unit_test(cut_classes_keep_a_tenth),
        cmocka_unit_test(copies_share_everything_and_are_marked),
        cmocka_unit_test(the_seed_decides_and_nothing_asked_is_nothing_done),
        cmocka_unit_test(impossible_wishes_name_the_field),
        cmocka_unit_test(a_failed_allocation_leaves_the_set_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
