/* tests/unit/test_pair.c - which test sets are refused, which are remarked on, and that sets of one
 * source are neither. */
#include <math.h>

#include "data/inspect.h"
#include "files.h"

enum { TRAIN = 1200, TEST = 400, CLASSES = 4 };

static cull_dataset *make_set(const char *name, cull_dtype dtype, size_t count, size_t channels,
                              size_t side)
{
    cull_dataset *set = random_set(dtype, count, CLASSES, channels, side, side);

    (void)snprintf(set->name, sizeof set->name, "%s", name);
    return set;
}

/* ---- the training set once more ---- */

static void the_training_set_is_refused_however_it_is_called(void **state)
{
    cull_dataset *train = make_set("a.npz", CULL_U8, TRAIN, 1, 8);
    cull_dataset *test = make_set("b.npz", CULL_U8, TRAIN, 1, 8);

    (void)state;
    assert_ok(cull_data_inspect(train));
    assert_ok(cull_data_inspect(test));
    assert_fails(CULL_BAD_OPTION, "data.test: b.npz is the training set",
                 cull_data_check_pair(test, train, false));
    assert_string_equal("data.test", cull_last_subject());
    assert_int_equal(0, test->remarks.count);
    assert_ok(cull_data_check_pair(test, train, true)); /* arrays of a program's own */
    assert_int_equal(1, test->remarks.count);
    assert_non_null(strstr(test->remarks.text[0], "the test set is the training set"));
    cull_data_close(train);
    cull_data_close(test);
}

/* Of 1,200 examples, the first `shared` of the test set are the training set's. */
static void assert_overlap(size_t shared, size_t channels, size_t side, const char *says)
{
    cull_dataset *train = make_set("a.npz", CULL_U8, TRAIN, channels, side);
    cull_dataset *test = make_set("b.npz", CULL_U8, TEST, channels, side);
    size_t        bytes = cull_data_row_bytes(test);

    for (size_t i = shared * bytes; i < TEST * bytes; i++)
        ((uint8_t *)cull_data_base(test))[i] = (uint8_t)(256 * random_uniform(2, i));
    assert_ok(cull_data_inspect(train));
    assert_ok(cull_data_inspect(test));
    assert_ok(cull_data_check_pair(test, train, false));
    if (!says && test->remarks.count) fail_msg("%s", test->remarks.text[0]);
    if (says) assert_string_equal(says, test->remarks.text[0]);
    cull_data_close(train);
    cull_data_close(test);
}

static void examples_that_are_trained_on_too_are_counted(void **state)
{
    (void)state;
    assert_overlap(0, 1, 8, NULL);
    assert_overlap(7, 1, 8, NULL); /* below a fiftieth */
    assert_overlap(
        8, 1, 8,
        "b.npz: 8 of 400 test examples looked at are in the training set too, input for input");
    assert_overlap(400, 1, 4,
                   "b.npz: 400 of 400 test examples looked at are in the training set too, input "
                   "for input");
    assert_overlap(100, 3, 9,
                   "b.npz: 100 of 400 test examples looked at are in the training set too, input "
                   "for input");
}

/* Rows that share what is looked at first are told apart by the rest. */
static void one_changed_number_makes_another_example(void **state)
{
    cull_dataset *train = make_set("a.npz", CULL_U8, TRAIN, 1, 16);
    cull_dataset *test = make_set("b.npz", CULL_U8, TRAIN, 1, 16);

    (void)state;
    for (size_t i = 0; i < TRAIN; i++) ((uint8_t *)row_of(test, i))[i % 256] ^= 1;
    assert_ok(cull_data_inspect(train));
    assert_ok(cull_data_inspect(test));
    assert_ok(cull_data_check_pair(test, train, false));
    assert_int_equal(0, test->remarks.count);
    cull_data_close(train);
    cull_data_close(test);
}

/* ---- scales ---- */

enum outcome { FINE, REMARKED, REFUSED };

static const char *const outcomes[] = {"nothing", "a remark", "a refusal"};

static void assert_outcome(const char *what, cull_dataset *test, cull_dataset *train,
                           enum outcome expected)
{
    cull_status  status = CULL_OK;
    enum outcome is = FINE;

    assert_ok(cull_data_measure(train));
    assert_ok(cull_data_measure(test));
    assert_ok(cull_data_inspect(train));
    assert_ok(cull_data_inspect(test));
    cull_texts_clear(&test->remarks);
    status = cull_data_check_pair(test, train, false);
    is = status == CULL_OK ? test->remarks.count ? REMARKED : FINE : REFUSED;
    if (is == REFUSED) assert_non_null(strstr(cull_last_error(), "normalised otherwise"));
    if (is != expected)
        fail_msg("%s: %s, expected %s (%s)", what, outcomes[is], outcomes[expected],
                 is == REMARKED ? test->remarks.text[0] : cull_last_error());
    cull_data_close(test);
    cull_data_close(train);
}

/* Pictures as people have them: dark ground, a bright thing, within 0 and 1. */
static cull_dataset *pictures(uint64_t seed, size_t count)
{
    cull_dataset *set = make_set(seed == 1 ? "train.npz" : "test.npz", CULL_F32, count, 1, 12);
    float        *x = cull_data_base(set);

    for (size_t i = 0; i < count * 144; i++)
        x[i] = random_uniform(seed, i) < .4
                   ? (float)fmin(1, .3 + .7 * random_uniform(seed + 10, i) +
                                        .2 * random_uniform(seed + 20, i / 144))
                   : 0;
    return set;
}

/* test = a x + b, training = c x + d */
static const struct {
    const char  *what;
    double       a, b, c, d;
    enum outcome is;
} scalings[] = {
    {"the same", 1, 0, 1, 0, FINE},
    {"0 to 255, trained on 0 to 1", 255, 0, 1, 0, REFUSED},
    {"0 to 1, trained on 0 to 255", 1, 0, 255, 0, REFUSED},
    {"standardised, trained on 0 to 1", 2.8, -.8, 1, 0, REFUSED},
    {"0 to 1, trained on standardised", 1, 0, 2.8, -.8, REFUSED},
    {"standardised, trained on 0 to 255", 2.8, -.8, 255, 0, REFUSED},
    {"-1 to 1, trained on 0 to 1", 2, -1, 1, 0, REFUSED},
    {"0 to 1, trained on -1 to 1", 1, 0, 2, -1, REFUSED},
    {"standardised by other constants", 2.5, -.7, 2.8, -.8, FINE},
    {"brighter", 1, .2, 1, 0, FINE},
    {"much brighter", 1, .45, 1, 0, REMARKED},
    {"weaker by a third", .67, 0, 1, 0, FINE},
    {"weaker by more than half", .45, 0, 1, 0, REMARKED},
    {"weaker by two thirds", .33, 0, 1, 0, REFUSED},
};

static void scale(cull_dataset *set, double a, double b)
{
    float *x = cull_data_base(set);

    for (size_t i = 0; i < set->count * cull_data_row(set); i++)
        x[i] = (float)(a * (double)x[i] + b);
}

static void pictures_on_another_scale_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scalings / sizeof *scalings; i++) {
        cull_dataset *train = pictures(1, TRAIN), *test = pictures(2, TEST);

        scale(test, scalings[i].a, scalings[i].b);
        scale(train, scalings[i].c, scalings[i].d);
        assert_outcome(scalings[i].what, test, train, scalings[i].is);
    }
}

static void a_few_pictures_are_refused_where_it_is_glaring(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scalings / sizeof *scalings; i++) {
        cull_dataset *train = pictures(1, TRAIN), *test = pictures(2, 4);
        bool          glaring = scalings[i].is == REFUSED && scalings[i].a * scalings[i].c > 200;

        scale(test, scalings[i].a, scalings[i].b);
        scale(train, scalings[i].c, scalings[i].d);
        assert_outcome(scalings[i].what, test, train, glaring ? REFUSED : FINE);
    }
}

/* Night, fog, dull: the same scale all the same. */
static void other_contents_on_the_same_scale_are_not_refused(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        cull_dataset *train = pictures(1, TRAIN), *test = pictures(2, TEST);
        float        *x = cull_data_base(test);

        for (size_t i = 0; i < (size_t)TEST * 144; i++) {
            double v = (double)x[i];

            if (way == 0) x[i] = (float)pow(v, 6);
            if (way == 1 && i % 1000) x[i] = (float)(.6 + .4 * v);
            if (way == 2 && i % 1000) x[i] = (float)(.4 * v);
        }
        assert_outcome(way == 0   ? "night"
                       : way == 1 ? "fog"
                                  : "dull",
                       test, train, way == 0 ? FINE : REMARKED);
    }
}

static void bytes_are_another_scale_only_as_0_and_1(void **state)
{
    static const enum outcome is[] = {REFUSED, REMARKED, FINE, REMARKED};

    (void)state;
    for (size_t way = 0; way < 4; way++) {
        cull_dataset *train = make_set("train.npz", CULL_U8, TRAIN, 1, 8);
        cull_dataset *test = make_set("test.npz", CULL_U8, TEST, 1, 8);
        uint8_t      *x = cull_data_base(test);

        for (size_t i = 0; i < (size_t)TEST * 64; i++) {
            x[i] = (uint8_t)(256 * random_uniform(2, i));
            if (way == 0) x[i] = x[i] > 127;
            if (way == 1) x[i] = (uint8_t)(100 + x[i] / 3); /* little contrast */
            if (way == 2) x[i] = (uint8_t)(x[i] * 3 / 5 + 80);
            if (way == 3) x[i] = 0; /* with which evaluations are timed, say */
        }
        assert_outcome("bytes", test, train, is[way]);
    }
}

static void bytes_and_numbers_are_two_scales(void **state)
{
    cull_dataset *train = make_set("train.npz", CULL_U8, TRAIN, 1, 8);
    cull_dataset *test = make_set("test.npz", CULL_F32, TEST, 1, 8);

    (void)state;
    assert_outcome("types", test, train, REFUSED);
}

/* A table: columns of means and deviations such as a flower's four measures have, and flags. */
static cull_dataset *table(uint64_t seed, size_t count, size_t columns, size_t flags, bool raw)
{
    static const double mean[] = {5.84, 3.05, 3.76, 1.20}, deviation[] = {.83, .43, 1.76, .76};
    cull_dataset       *set =
        make_set(seed == 1 ? "train.csv" : "test.csv", CULL_F32, count, columns + flags, 1);

    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < columns + flags; c++) {
            uint64_t at = i * (columns + flags) + c;
            double   x = random_normal(seed, at);

            if (c < columns && raw) x = mean[c % 4] + deviation[c % 4] * x;
            if (c >= columns) x = random_uniform(seed, at) < .1;
            ((float *)row_of(set, i))[c] = (float)x;
        }
    return set;
}

static void columns(cull_dataset *set, size_t count, double a, double b)
{
    for (size_t i = 0; i < set->count; i++)
        for (size_t c = 0; c < count; c++) {
            float *x = (float *)row_of(set, i) + c;
            *x = (float)(a * (double)*x + b);
        }
}

static void tables_on_another_scale_are_refused(void **state)
{
    cull_dataset *test = NULL;

    (void)state;
    assert_outcome("the same", table(2, TEST, 4, 0, true), table(1, TRAIN, 4, 0, true), FINE);
    assert_outcome("raw", table(2, TEST, 4, 0, true), table(1, TRAIN, 4, 0, false), REFUSED);
    assert_outcome("standardised", table(2, TEST, 4, 0, false), table(1, TRAIN, 4, 0, true),
                   REFUSED);
    test = table(2, TEST, 4, 0, false);
    columns(test, 4, .4, -1.5);
    assert_outcome("a group of them", test, table(1, TRAIN, 4, 0, false), REMARKED);
    test = table(2, TEST, 6, 0, false);
    columns(test, 1, 1, 3.4);
    assert_outcome("a number that goes on", test, table(1, TRAIN, 6, 0, false), FINE);
    test = table(2, TEST, 6, 0, false);
    columns(test, 1, 12, 40);
    assert_outcome("one column that is raw", test, table(1, TRAIN, 6, 0, false), REMARKED);
    test = table(2, TEST, 2, 60, false);
    columns(test, 2, 12, 40);
    assert_outcome("numbers among flags", test, table(1, TRAIN, 2, 60, false), REFUSED);
}

/* What a source may give: normals, rare flags, long tails. */
static double draw(int kind, uint64_t seed, uint64_t i)
{
    if (kind == 0) return random_normal(seed, i);
    if (kind == 1) return random_uniform(seed, i) < .02;
    if (kind == 2) return random_uniform(seed, i) < .3 ? random_normal(seed + 50, i) : 0;
    if (kind == 3) return exp(1.5 * random_normal(seed, i));
    return tan(3.14159265358979 * (random_uniform(seed, i) - .5));
}

static void sets_of_one_source_are_never_refused(void **state)
{
    static const size_t counts[] = {1, 2, 5, 19, 20, 30, 100, 1000}, wide[] = {1, 2, 5, 30};

    (void)state;
    for (uint64_t round = 0; round < 5 * 8 * 4 * 4; round++) {
        int           kind = (int)(round % 5);
        size_t        count = counts[round / 5 % 8], channels = wide[round / 40 % 4];
        cull_dataset *train = make_set("train.csv", CULL_F32, 500, channels, 1);
        cull_dataset *test = make_set("test.csv", CULL_F32, count, channels, 1);

        for (size_t i = 0; i < 500 * channels; i++)
            ((float *)cull_data_base(train))[i] = (float)draw(kind, 1000 + round, i);
        for (size_t i = 0; i < count * channels; i++)
            ((float *)cull_data_base(test))[i] = (float)draw(kind, 5000 + round, i);
        assert_ok(cull_data_inspect(train));
        assert_ok(cull_data_inspect(test));
        if (cull_data_check_pair(test, train, false) != CULL_OK)
            fail_msg("kind %d, %zu of %zu numbers: %s", kind, count, channels, cull_last_error());
        cull_data_close(train);
        cull_data_close(test);
    }
}

static void failing_allocations_are_survived(void **state)
{
    cull_dataset *train = make_set("a.npz", CULL_U8, TRAIN, 1, 16);
    cull_dataset *test = make_set("b.npz", CULL_U8, TEST, 1, 16);
    cull_status   status = CULL_NO_MEMORY;

    (void)state;
    assert_ok(cull_data_inspect(train));
    assert_ok(cull_data_inspect(test));
    for (size_t n = 1; status != CULL_OK; n++) {
        assert_int_equal(0, test->remarks.count);
        fail_nth_alloc(n);
        status = cull_data_check_pair(test, train, false);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
    }
    assert_int_equal(1, test->remarks.count); /* they share their examples */
    cull_data_close(train);
    cull_data_close(test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_training_set_is_refused_however_it_is_called),
        cmocka_unit_test(examples_that_are_trained_on_too_are_counted),
        cmocka_unit_test(one_changed_number_makes_another_example),
        cmocka_unit_test(pictures_on_another_scale_are_refused),
        cmocka_unit_test(a_few_pictures_are_refused_where_it_is_glaring),
        cmocka_unit_test(other_contents_on_the_same_scale_are_not_refused),
        cmocka_unit_test(bytes_are_another_scale_only_as_0_and_1),
        cmocka_unit_test(bytes_and_numbers_are_two_scales),
        cmocka_unit_test(tables_on_another_scale_are_refused),
        cmocka_unit_test(sets_of_one_source_are_never_refused),
        cmocka_unit_test(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
