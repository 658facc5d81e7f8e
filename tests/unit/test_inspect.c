/* tests/unit/test_inspect.c - what is said of a single set, and the fingerprint it is known by. */
#include "data/inspect.h"

#include <math.h>

#include "base/alloc.h"
#include "files.h"

enum { COUNT = 200, CLASSES = 5 };

/* The set is told of in just this sentence; NULL: in none. */
static void assert_remark(const cull_dataset *set, const char *sentence)
{
    if (!sentence && set->remarks.count) fail_msg("'%s', expected nothing", set->remarks.text[0]);
    if (!sentence) return;
    if (set->remarks.count != 1)
        fail_msg("%zu remarks, expected '%s'", set->remarks.count, sentence);
    assert_string_equal(sentence, set->remarks.text[0]);
}

/* An ordinary set whose labels are label(i). */
static void assert_labels(size_t classes, int32_t (*label)(size_t), const char *const *names,
                          const char *sentence)
{
    cull_dataset *set = random_set(CULL_U8, COUNT, classes, 1, 4, 4);

    for (size_t i = 0; i < COUNT; i++) cull_data_labels(set)[i] = label(i);
    for (size_t i = 0; names && i < classes; i++)
        assert_ok(cull_texts_add(&set->class_names, names[i], strlen(names[i])));
    assert_ok(cull_data_inspect(set));
    assert_remark(set, sentence);
    cull_data_close(set);
}

static int32_t from_one(size_t i)
{
    return (int32_t)(1 + i % CLASSES);
}

static int32_t even(size_t i)
{
    return (int32_t)(i % CLASSES * 2);
}

static int32_t not_two(size_t i)
{
    return (int32_t)(i % 4 + (i % 4 > 1));
}

static int32_t last(size_t i)
{
    (void)i;
    return CLASSES - 1;
}

static int32_t rarely_one(size_t i)
{
    return i % 20 == 0;
}

static int32_t seldom_one(size_t i)
{
    return i % 5 == 0;
}

static void labels_are_told_by_what_is_wrong_with_them(void **state)
{
    static const char *const names[] = {"cat", "dog", "bird", "fish", "horse"};

    (void)state;
    assert_labels(CLASSES + 1, from_one, NULL,
                  "random: labels run from 1 to 5, and class 0 has no example; subtract 1 from "
                  "them, or it is trained in vain");
    assert_labels(CLASSES, not_two, NULL, "random: class 2 has no example");
    assert_labels(CLASSES, not_two, names, "random: class 'bird' has no example");
    assert_labels(20, even, NULL,
                  "random: 15 of 20 classes have no example: 1, 3, 5, 7, 9 and 10 more");
    assert_labels(CLASSES, last, NULL,
                  "random: every example is of class 4: there is nothing to tell apart");
    assert_labels(CLASSES, last, names,
                  "random: every example is of class 'horse': there is nothing to tell apart");
    assert_labels(2, rarely_one, NULL,
                  "random: 95.0 % of the examples are of class 0; who always answers that is right "
                  "as often");
    assert_labels(2, seldom_one, NULL, NULL);
}

static void inputs_that_never_change_are_told(void **state)
{
    cull_dataset *set = random_set(CULL_F32, COUNT, CLASSES, 6, 1, 1);

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        ((float *)row_of(set, i))[1] = 7;
        ((float *)row_of(set, i))[4] = 0;
    }
    assert_ok(cull_data_measure(set));
    assert_ok(cull_data_inspect(set));
    assert_remark(set, "random: 2 of 6 inputs never change: 1, 4");
    cull_data_close(set);
    set = random_set(CULL_U8, COUNT, CLASSES, 3, 4, 4);
    for (size_t i = 0; i < COUNT; i++) memset((char *)row_of(set, i) + 32, 255, 16);
    assert_ok(cull_data_inspect(set));
    assert_remark(set, "random: 1 of 3 channels never changes: 2");
    cull_data_close(set);
    set = random_set(CULL_U8, COUNT, CLASSES, 1, 4, 4);
    memset(cull_data_base(set), 9, COUNT * 16);
    assert_ok(cull_data_inspect(set));
    assert_remark(set, "random: its inputs never change");
    cull_data_close(set);
    set = random_set(CULL_U8, COUNT, CLASSES, 1, 4, 4);
    for (size_t i = 1; i < COUNT; i++) memcpy(row_of(set, i), row_of(set, 0), 16);
    assert_ok(cull_data_inspect(set));
    assert_remark(set, "random: all of 200 examples looked at are the same");
    cull_data_close(set);
}

static void ordinary_sets_are_passed_over_in_silence(void **state)
{
    static const struct {
        cull_dtype dtype;
        size_t     count, classes, channels, side;
    } shapes[] = {{CULL_U8, 3000, 10, 3, 32}, {CULL_U8, 5000, 10, 1, 28}, {CULL_F32, 150, 3, 4, 1},
                  {CULL_F32, 2000, 2, 30, 1}, {CULL_F32, 20, 2, 1, 1},    {CULL_U8, 1, 2, 1, 8}};
    cull_dataset *set = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        set = random_set(shapes[i].dtype, shapes[i].count, shapes[i].classes, shapes[i].channels,
                         shapes[i].side, shapes[i].side);
        assert_ok(cull_data_inspect(set));
        assert_remark(set, NULL);
        cull_data_close(set);
    }
    set = random_set(CULL_F32, 4000, 2, 1, 1, 1); /* a deviation of 1 is that of constants, too */
    for (size_t i = 0; i < 4000; i++) ((float *)cull_data_base(set))[i] = i % 2 ? 1 : -1;
    assert_ok(cull_data_measure(set));
    assert_true(set->deviation[0] == 1);
    assert_ok(cull_data_inspect(set));
    assert_remark(set, NULL);
    cull_data_close(set);
}

static void real_sets_are_passed_over_in_silence(void **state)
{
    static const char *const names[] = {"fashion-mnist", "mnist", "cifar10", "cifar100", "svhn"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cull_dataset *train = NULL, *test = NULL;

        if (open_set(names[i], CULL_DATA_TRAIN, NULL, &train) != CULL_OK ||
            open_set(names[i], CULL_DATA_TEST, NULL, &test) != CULL_OK) {
            print_message("skipped: %s is not there\n", names[i]);
        } else {
            assert_ok(cull_data_check_pair(test, train, false));
            assert_remark(train, NULL);
            assert_remark(test, NULL);
        }
        cull_data_close(train);
        cull_data_close(test);
    }
}

static void targets_that_are_no_class_are_looked_at_by_column(void **state)
{
    static const cull_target_kind kinds[] = {CULL_TARGET_REAL, CULL_TARGET_CLASSES};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        cull_dataset *set = random_set(CULL_U8, COUNT, CLASSES, 1, 4, 4);

        cull_base_free(set->target.data);
        cull_data_aim(set, kinds[k], 3);
        assert_ok(cull_base_alloc(COUNT, cull_data_target_bytes(set), "a test", &set->target.data));
        for (size_t i = 0; i < COUNT * 3; i++) {
            if (i % 3 == 1) continue; /* the second is 0 throughout */
            if (kinds[k] == CULL_TARGET_REAL)
                ((float *)set->target.data)[i] = (float)random_normal(4, i);
            else
                ((uint8_t *)set->target.data)[i] = random_uniform(4, i) < .5;
        }
        assert_ok(cull_data_inspect(set));
        assert_remark(set, "random: 1 of 3 targets are the same in every example: 1");
        cull_data_close(set);
    }
}

/* ---- the fingerprint ---- */

static void print_of(cull_dataset *set, char out[CULL_DATA_PRINT])
{
    if (!set->sample) assert_ok(cull_data_look(set));
    cull_data_print(set, out);
}

static void a_fingerprint_tells_what_differs(void **state)
{
    static const char *const says[] = {"another number of examples",
                                       "inputs of another shape",
                                       "other labels",
                                       "other labels",
                                       "other inputs",
                                       NULL};
    char                     one[CULL_DATA_PRINT], other[CULL_DATA_PRINT];
    cull_dataset            *set = random_set(CULL_U8, COUNT, CLASSES, 1, 4, 4);

    (void)state;
    print_of(set, one);
    for (size_t i = 0; i < sizeof says / sizeof *says; i++) {
        cull_dataset *b = random_set(CULL_U8, i == 0 ? COUNT - 1 : COUNT, CLASSES, 1,
                                     i == 1 ? 2 : 4, i == 1 ? 8 : 4);

        if (i == 2) cull_data_labels(b)[COUNT - 1] = 0;
        if (i == 3) assert_ok(cull_texts_add(&b->class_names, "a", 1));
        if (i == 4) ((char *)row_of(b, 17))[3] ^= 1;
        print_of(b, other);
        if (!says[i]) assert_string_equal(one, other);
        if (says[i]) assert_string_equal(says[i], cull_data_print_difference(one, other));
        if (!says[i]) assert_null(cull_data_print_difference(one, other));
        cull_data_close(b);
    }
    cull_data_close(set);
    assert_non_null(cull_data_print_difference(one, "")); /* of a damaged file */
    assert_non_null(cull_data_print_difference("200", one));
}

/* Rows that are made when they are asked for, and count how often that is. */
static size_t reads;

static cull_status make_row(const cull_data_rows *rows, uint32_t row, void *out)
{
    (void)rows;
    reads++;
    for (size_t i = 0; i < 16; i++) ((uint8_t *)out)[i] = (uint8_t)(row * 7 + i * i);
    return CULL_OK;
}

static void close_nothing(void *self)
{
    (void)self;
}

static void a_thousand_rows_are_read_of_any_set(void **state)
{
    static const cull_data_rows_class class = {.read = make_row, .close = close_nothing};
    enum { MANY = 3000000, FEW = 300 };
    char                    print[2][CULL_DATA_PRINT];
    cull_data_rows         *rows = NULL;
    cull_dataset           *set = NULL;
    const cull_data_sample *s = NULL;

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        size_t count = k == 0 ? MANY : FEW;

        assert_ok(cull_data_create("made", &set));
        assert_ok(cull_data_shape(set, "made", CULL_U8, 1, 4, 4));
        if (k < 2) {
            assert_ok(cull_data_rows_create(&class, NULL, NULL, count, &rows));
            assert_ok(cull_data_hold(set, "made", rows));
            cull_data_rows_release(rows);
        } else { /* the same in memory */
            assert_ok(cull_data_extend(set, "made", FEW));
            for (uint32_t i = 0; i < FEW; i++)
                (void)make_row(NULL, i, (char *)cull_data_base(set) + 16 * (size_t)i);
        }
        memset(set->target.data, 0, count * sizeof(int32_t));
        set->count = count;
        set->classes = 2;
        reads = 0;
        assert_ok(cull_data_look(set));
        s = set->sample;
        assert_int_equal(k == 0 ? CULL_DATA_LOOKS : FEW, s->count);
        if (k < 2) assert_int_equal(s->count, reads);
        for (size_t i = 1; i < s->count; i++) assert_true(s->place[i] > s->place[i - 1]);
        assert_true(s->place[s->count - 1] < count);
        if (k) cull_data_print(set, print[k - 1]);
        cull_data_close(set);
    }
    assert_string_equal(print[0], print[1]);
}

static void sums_are_those_of_the_inputs(void **state)
{
    cull_dataset           *set = random_set(CULL_F32, COUNT, CLASSES, 2, 3, 3);
    const cull_data_sample *s = NULL;
    double                  mean = 0, square = 0, low = 1e9, high = -1e9;
    size_t                  n = (size_t)COUNT * 18;

    (void)state;
    assert_ok(cull_data_look(set));
    s = set->sample;
    for (size_t i = 0; i < n; i++) {
        double x = (double)((float *)cull_data_base(set))[i];

        mean += x / (double)n;
        square += x * x / (double)n;
        low = fmin(low, x);
        high = fmax(high, x);
    }
    assert_true(fabs(s->mean - mean) < 1e-9);
    assert_true(fabs(s->deviation - sqrt(square - mean * mean)) < 1e-9);
    assert_true(fmin(s->low[0], s->low[1]) == low && fmax(s->high[0], s->high[1]) == high);
    assert_int_equal(2, s->gauges);
    assert_true(fabs(s->centre[0] - 3) < .3 && fabs(s->spread[1] - 2) < .3);
    cull_data_close(set);
}

static void failing_allocations_are_survived(void **state)
{
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_dataset *set = random_set(CULL_F32, COUNT, CLASSES + 1, 6, 1, 1);

        for (size_t i = 0; i < COUNT; i++) {
            cull_data_labels(set)[i] = even(i) % 6;
            ((float *)row_of(set, i))[1] = 7;
        }
        assert_ok(cull_data_measure(set));
        fail_nth_alloc(n);
        status = cull_data_inspect(set);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
        if (status == CULL_OK) assert_int_equal(2, set->remarks.count);
        cull_data_close(set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_told_by_what_is_wrong_with_them),
        cmocka_unit_test(inputs_that_never_change_are_told),
        cmocka_unit_test(ordinary_sets_are_passed_over_in_silence),
        cmocka_unit_test(real_sets_are_passed_over_in_silence),
        cmocka_unit_test(targets_that_are_no_class_are_looked_at_by_column),
        cmocka_unit_test(a_fingerprint_tells_what_differs),
        cmocka_unit_test(a_thousand_rows_are_read_of_any_set),
        cmocka_unit_test(sums_are_those_of_the_inputs),
        cmocka_unit_test(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
