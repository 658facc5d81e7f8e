/* tests/unit/test_judged.c - accuracy, R² and mAP: known answers, and where they have none. */
#include "train/judged.h"

#include <math.h>
#include <string.h>

#include "data/reader.h"
#include "support.h"

/* Targets alone. */
static cull_dataset *make(cull_target_kind kind, size_t count, size_t width, const void *target)
{
    cull_dataset *set = NULL;

    assert_ok(cull_data_create("made", &set));
    cull_data_aim(set, kind, width);
    assert_ok(cull_data_shape(set, "made", CULL_F32, 1, 1, 1));
    assert_ok(cull_data_extend(set, "made", count));
    memcpy(set->target.data, target, count * cull_data_target_bytes(set));
    set->count = count;
    set->classes = width;
    return set;
}

static double precision(size_t count, size_t width, const uint8_t *truth, const float *score)
{
    cull_dataset *set = make(CULL_TARGET_CLASSES, count, width, truth);
    double        out = NAN;

    assert_ok(cull_train_precision(set, score, &out));
    cull_data_close(set);
    return out;
}

/* Counted by hand: at each true example, how many of those ranked as high are true. */
static void average_precision_is_that_of_the_ranking(void **state)
{
    static const uint8_t truth[] = {0, 0, 1, 1}, all[] = {1, 1, 1, 1};
    static const float   score[] = {.1f, .4f, .35f, .8f}, worst[] = {4, 3, 2, 1};
    static const float   tied[] = {1, 1, 1, 1}, half[] = {0, 1, 1, 2};

    (void)state;
    assert_true(fabs(precision(4, 1, truth, score) - 5. / 6) < 1e-15);
    assert_true(fabs(precision(4, 1, truth, worst) - 5. / 12) < 1e-15);
    assert_true(fabs(precision(4, 1, truth, tied) - .5) < 1e-15);
    assert_true(fabs(precision(4, 1, truth, half) - 5. / 6) < 1e-15);
    assert_true(precision(4, 1, all, score) == 1);
}

/* Labels count alike, whatever their scores; those that never hold do not. */
static void labels_without_a_true_example_do_not_count(void **state)
{
    static const uint8_t truth[] = {0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0};
    static const float   score[] = {.1f, 9, 40, .4f, 8, 30, .35f, 7, 20, .8f, 6, 10};

    (void)state;
    /* the first 5/6, the second none, the third 1st and 3rd of four */
    assert_true(fabs(precision(4, 3, truth, score) - (5. / 6 + 5. / 6) / 2) < 1e-15);
}

static void only_the_ranking_matters(void **state)
{
    enum { COUNT = 50 };
    uint8_t truth[COUNT];
    float   score[COUNT], moved[COUNT];

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        truth[i] = random_uniform(1, i) < 0.2;
        score[i] = (float)random_normal(2, i) + truth[i];
        moved[i] = 3 + 0.5f * score[i];
    }
    assert_true(precision(COUNT, 1, truth, score) == precision(COUNT, 1, truth, moved));
}

static void figures_follow_from_sums(void **state)
{
    cull_seen sums = {.loss = 6, .count = 12, .correct = 9};

    (void)state;
    assert_true(cull_train_judged(CULL_LOSS_CROSS_ENTROPY, &sums, 0) == .75);
    assert_true(cull_train_judged(CULL_LOSS_SQUARED, &sums, 2) == .75);
    assert_true(cull_train_judged(CULL_LOSS_SQUARED, &sums, .25) == -1);
    assert_true(isnan(cull_train_judged(CULL_LOSS_BINARY, &sums, 0)));
}

static void guessing_gets_what_one_answer_to_all_of_a_set_gets(void **state)
{
    static const int32_t classes[] = {0, 2, 1, 2, 2, 0, 2, 3};
    static const uint8_t truth[] = {0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0};
    static const float   equal[12] = {0}, real[] = {1, 2, 9};
    cull_dataset        *one = make(CULL_TARGET_CLASS, 8, 1, classes);
    cull_dataset        *several = make(CULL_TARGET_CLASSES, 4, 3, truth);
    cull_dataset        *numbers = make(CULL_TARGET_REAL, 3, 1, real);
    double               out = NAN;

    (void)state;
    one->classes = 5;
    assert_ok(cull_train_guess(CULL_LOSS_CROSS_ENTROPY, one, &out));
    assert_true(out == .5);
    assert_ok(cull_train_guess(CULL_LOSS_BINARY, several, &out));
    assert_true(fabs(out - precision(4, 3, truth, equal)) < 1e-15 && fabs(out - .5) < 1e-15);
    assert_ok(cull_train_guess(CULL_LOSS_SQUARED, numbers, &out));
    assert_true(out == 0);
    cull_data_close(one);
    cull_data_close(several);
    cull_data_close(numbers);
}

static void sets_without_anything_to_tell_apart_are_refused(void **state)
{
    static const float   same[] = {3, 4, 3, 4};
    static const uint8_t none[4] = {0};
    cull_dataset        *real = make(CULL_TARGET_REAL, 2, 2, same);
    cull_dataset        *several = make(CULL_TARGET_CLASSES, 2, 2, none);

    (void)state;
    assert_fails(CULL_BAD_OPTION,
                 "model.loss: the targets of the test set of made never change, so that R²",
                 cull_train_check_judged(CULL_LOSS_SQUARED, real, "test"));
    assert_fails(CULL_BAD_OPTION, "no label of the validation set of made holds, so that mAP",
                 cull_train_check_judged(CULL_LOSS_BINARY, several, "validation"));
    ((float *)real->target.data)[0] = 5;
    ((uint8_t *)several->target.data)[3] = 1;
    assert_ok(cull_train_check_judged(CULL_LOSS_SQUARED, real, "test"));
    assert_ok(cull_train_check_judged(CULL_LOSS_BINARY, several, "test"));
    cull_data_close(real);
    cull_data_close(several);
}

static void every_measure_is_found_by_its_key(void **state)
{
    (void)state;
    for (size_t i = 0; cull_yardstick_at(i); i++)
        assert_ptr_equal(cull_yardstick_at(i), cull_yardstick_find(cull_yardstick_at(i)->key));
    assert_ptr_equal(&cull_yardstick_accuracy, cull_yardstick_find(""));
    assert_null(cull_yardstick_find("bleu"));
    assert_string_equal("R²", cull_metric_name("r2"));
    assert_null(cull_metric_name(""));
    assert_true(cull_yardstick_can_be(&cull_yardstick_r2, -3) &&
                !cull_yardstick_can_be(&cull_yardstick_map, -3) &&
                !cull_yardstick_can_be(&cull_yardstick_r2, 1.5) &&
                !cull_yardstick_can_be(&cull_yardstick_accuracy, NAN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(average_precision_is_that_of_the_ranking),
        cmocka_unit_test(labels_without_a_true_example_do_not_count),
        cmocka_unit_test(only_the_ranking_matters),
        cmocka_unit_test(figures_follow_from_sums),
        cmocka_unit_test(guessing_gets_what_one_answer_to_all_of_a_set_gets),
        cmocka_unit_test(sets_without_anything_to_tell_apart_are_refused),
        cmocka_unit_test(every_measure_is_found_by_its_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
