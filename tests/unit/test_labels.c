/* tests/unit/test_labels.c - labels as people keep them, and what each is read as. */
#include "data/labels.h"

#include <math.h>

#include "files.h"

/* An empty set with room for `count` examples of y's kind, and y's elements as their targets. */
static cull_status take(const cull_tensor *y, cull_target_kind kind, cull_dataset **out)
{
    cull_status   status = CULL_OK;
    cull_dataset *set = NULL;

    TRY(cull_data_create("labels", &set));
    TRY(cull_data_shape(set, "labels", CULL_F32, 1, 1, 1));
    TRY(cull_data_labels_aim("labels", y, kind, set));
    TRY(cull_data_extend(set, "labels", (uint64_t)y->shape[0]));
    TRY(cull_data_labels_take("labels", y, set));
    set->count = (size_t)y->shape[0];
    *out = set;
    set = NULL;
done:
    cull_data_close(set);
    return status;
}

static void whole_numbers_of_any_type_are_classes(void **state)
{
    static const float   f32[] = {2, 0, 4};
    static const double  f64[] = {2, 0, 4};
    static const int32_t i32[] = {2, 0, 4};
    static const int64_t i64[] = {2, 0, 4};
    static const uint8_t u8[] = {2, 0, 4};
    const cull_tensor    forms[] = {
           cull_vector(f32, CULL_F32, 3),    cull_vector(f64, CULL_F64, 3),
           cull_vector(i32, CULL_I32, 3),    cull_vector(i64, CULL_I64, 3),
           cull_vector(u8, CULL_U8, 3),      cull_matrix(f32, CULL_F32, 3, 1),
           cull_matrix(i64, CULL_I64, 3, 1),
    };

    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        cull_dataset *set = NULL;
        assert_ok(take(&forms[i], CULL_TARGET_CLASS, &set));
        for (size_t k = 0; k < 3; k++) assert_int_equal(i32[k], cull_data_labels(set)[k]);
        assert_int_equal(5, set->classes);
        assert_int_equal(0, set->remarks.count);
        cull_data_close(set);
    }
}

static void one_hot_rows_are_classes_and_that_is_said(void **state)
{
    static const uint8_t rows[] = {0, 1, 0, 1, 0, 0};
    static const double  two[] = {0, 1, 1, 1, 0, 0}, half[] = {0, 1, 0, .5, .5, 0};
    cull_tensor          y = cull_matrix(rows, CULL_U8, 2, 3);
    cull_dataset        *set = NULL;

    (void)state;
    assert_ok(take(&y, CULL_TARGET_CLASS, &set));
    assert_int_equal(1, cull_data_labels(set)[0]);
    assert_int_equal(0, cull_data_labels(set)[1]);
    assert_int_equal(3, set->classes);
    assert_int_equal(1, set->remarks.count);
    assert_non_null(strstr(set->remarks.text[0], "labels are one-hot rows of 3"));
    cull_data_close(set);
    y = cull_matrix(two, CULL_F64, 2, 3);
    assert_fails(CULL_BAD_FILE,
                 "those of example 0 are not one 1 and zeros; several classes are "
                 "learned with model.loss=binary-cross-entropy",
                 take(&y, CULL_TARGET_CLASS, &set));
    y = cull_matrix(half, CULL_F64, 2, 3);
    assert_fails(CULL_BAD_FILE, "those of example 1 are", take(&y, CULL_TARGET_CLASS, &set));
}

static void several_classes_and_real_numbers_are_rows(void **state)
{
    static const double  real[] = {1.5, -2, 0, 1e30};
    static const int64_t several[] = {1, 1, 0, 1};
    cull_tensor          y = cull_matrix(real, CULL_F64, 2, 2);
    cull_dataset        *set = NULL;

    (void)state;
    assert_ok(take(&y, CULL_TARGET_REAL, &set));
    assert_int_equal(2, set->target.width);
    assert_int_equal(2, set->classes);
    for (size_t i = 0; i < 4; i++)
        assert_true(((const float *)set->target.data)[i] == (float)real[i]);
    cull_data_close(set);
    y = cull_vector(real, CULL_F64, 4);
    assert_ok(take(&y, CULL_TARGET_REAL, &set));
    assert_int_equal(1, set->target.width);
    assert_int_equal(1, set->classes);
    cull_data_close(set);
    y = cull_matrix(several, CULL_I64, 2, 2);
    assert_ok(take(&y, CULL_TARGET_CLASSES, &set));
    assert_int_equal(2, set->classes);
    assert_memory_equal("\1\1\0\1", set->target.data, 4);
    cull_data_close(set);
}

static void what_is_no_label_is_named(void **state)
{
    static const float   half[] = {0, 1.5f}, nan[] = {0, NAN}, far[] = {0, 65536}, less[] = {-1, 0};
    static const double  huge[] = {0, 1e300};
    static const int64_t two[] = {0, 2};
    cull_dataset        *set = NULL;
    cull_tensor          y = cull_vector(half, CULL_F32, 2);

    (void)state;
    assert_fails(CULL_BAD_FILE,
                 "label 1.5 of example 1 is no whole number; real numbers are "
                 "learned with model.loss=squared-error",
                 take(&y, CULL_TARGET_CLASS, &set));
    y.data = (void *)(uintptr_t)nan;
    assert_fails(CULL_BAD_FILE, "label nan of example 1; 0 to 65535 are labels",
                 take(&y, CULL_TARGET_CLASS, &set));
    assert_fails(CULL_BAD_FILE, "target 0 of example 1 is not finite",
                 take(&y, CULL_TARGET_REAL, &set));
    y.data = (void *)(uintptr_t)far;
    assert_fails(CULL_BAD_FILE, "label 65536 of example 1", take(&y, CULL_TARGET_CLASS, &set));
    y.data = (void *)(uintptr_t)less;
    assert_fails(CULL_BAD_FILE, "label -1 of example 0", take(&y, CULL_TARGET_CLASS, &set));
    y = cull_vector(huge, CULL_F64, 2);
    assert_fails(CULL_BAD_FILE, "target 0 of example 1 is not finite",
                 take(&y, CULL_TARGET_REAL, &set));
    y = cull_matrix(two, CULL_I64, 1, 2);
    assert_fails(CULL_BAD_FILE, "label 2 of example 0, class 1; each is 0 or 1",
                 take(&y, CULL_TARGET_CLASSES, &set));
    y = cull_images(two, CULL_I64, 1, 1, 1, 2);
    assert_fails(CULL_BAD_FILE, "labels of 4 dimensions", take(&y, CULL_TARGET_CLASS, &set));
    y = cull_matrix(two, CULL_I64, 1, 0);
    assert_fails(CULL_BAD_FILE, "(N), (N, 1) or (N, C)", take(&y, CULL_TARGET_REAL, &set));
    y = cull_matrix(two, CULL_I64, 1, 65537);
    assert_fails(CULL_BAD_FILE, "labels of 65537 numbers each", take(&y, CULL_TARGET_REAL, &set));
}

static void classes_are_numbered_in_the_order_of_their_names(void **state)
{
    static const char *const met[] = {"owl", "cat", "dog"};
    static const int32_t     sorted[] = {2, 0, 1, 2, 0, 1};
    cull_dataset            *set = random_set(CULL_U8, 6, 3, 1, 1, 1);
    cull_status              status = CULL_NO_MEMORY;

    (void)state;
    for (size_t k = 0; k < 3; k++) assert_ok(cull_texts_add(&set->class_names, met[k], 3));
    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = cull_data_labels_sort(set);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
    }
    assert_string_equal("cat", set->class_names.text[0]);
    assert_string_equal("owl", set->class_names.text[2]);
    assert_memory_equal(sorted, cull_data_labels(set), sizeof sorted);
    cull_data_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_of_any_type_are_classes),
        cmocka_unit_test(one_hot_rows_are_classes_and_that_is_said),
        cmocka_unit_test(several_classes_and_real_numbers_are_rows),
        cmocka_unit_test(what_is_no_label_is_named),
        cmocka_unit_test(classes_are_numbered_in_the_order_of_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
