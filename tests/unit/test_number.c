/*
 * test_number.c - numbers as text, in the C locale and in one that writes a comma.
 *
 * The other locale is made with localedef in a folder of its own; without localedef, or its source
 * files, the tests that need it skip.
 */
#include <locale.h>
#include <math.h>

#include "base/number.h"
#include "files.h"
#include "lab/recipe/recipe.h"
#include "records/json.h"

static char folder[64];
static bool comma; /* there is a locale with a comma, and it is set */

static int set_comma(void **state)
{
    char command[200];

    (void)state;
    (void)snprintf(folder, sizeof folder, FOLDER_TEMPLATE);
    if (!mkdtemp(folder)) return 1;
    (void)snprintf(command, sizeof command,
                   "localedef -i de_DE -f UTF-8 '%s/comma' >/dev/null 2>&1", folder);
    (void)!system(
        command); /* it warns by its status; what counts is whether the locale can be set */
    (void)setenv("LOCPATH", folder, 1);
    comma = setlocale(LC_ALL, "comma") && strcmp(localeconv()->decimal_point, ",") == 0;
    return 0;
}

static int set_back(void **state)
{
    (void)state;
    (void)setlocale(LC_ALL, "C");
    (void)unsetenv("LOCPATH");
    remove_folder(folder);
    return 0;
}

static void read_and_write(void)
{
    static const char *const wrong[] = {"",    "0,5", "1,", ".",  "1.2.3", "0x10", "nan",
                                        "inf", "1e",  " 1", "1 ", "1e999", "--1",  "1.5f"};
    char                     text[CULL_NUMBER_ROOM];
    double                   number = 0;

    assert_true(cull_base_read_number("0.5", &number) && number == 0.5);
    assert_true(cull_base_scan_number("0.12345678901234567890", 22, &number) &&
                number == 0.12345678901234567890);
    assert_true(cull_base_read_number("-1.25e-3", &number) && number == -1.25e-3);
    assert_true(cull_base_read_number("1e3", &number) && number == 1000);
    assert_true(cull_base_read_number(".5", &number) && number == 0.5);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(cull_base_read_number(wrong[i], &number));
    assert_int_equal(3, cull_base_write_number(0.5, 17, text));
    assert_string_equal("0.5", text);
    (void)cull_base_write_number(-1.5e-300, 16, text);
    assert_string_equal("-1.5e-300", text);
    (void)cull_base_write_number(1e17, 3, text);
    assert_string_equal("1e+17", text);
    for (uint64_t i = 0; i < 1000; i++) {
        double value = random_normal(1, i) * pow(10, (double)(i % 600) - 300);
        (void)cull_base_write_number(value, 17, text);
        assert_true(cull_base_read_number(text, &number) && number == value);
    }
}

static void numbers_are_read_and_written_with_a_point(void **state)
{
    (void)state;
    read_and_write();
}

static void numbers_have_a_point_where_the_locale_has_a_comma(void **state)
{
    char theirs[16];

    (void)state;
    if (!comma) skip();
    (void)snprintf(theirs, sizeof theirs, "%.1f", 0.5);
    assert_string_equal("0,5", theirs);
    read_and_write();
}

static void options_recipes_and_json_do_not_know_the_locale(void **state)
{
    cull_setting   setting = {.pool = 10, .batch = 10};
    cull_option    keep = {"keep", "0.3"}, wrong = {"keep", "0,3"};
    cull_option    changes[] = {{"optim.lr", "0.25"}, {"schedule.milestones", "1.5,2.5"}};
    cull_selector *selector = NULL;
    cull_recipe   *recipe = NULL, *again = NULL;
    cull_json      json = {0};

    (void)state;
    if (!comma) skip();
    assert_ok(cull_selector_create("top-loss", &keep, 1, &setting, &selector));
    assert_non_null(strstr(cull_selector_options(selector), "keep=0.3"));
    cull_selector_destroy(selector);
    assert_fails(CULL_BAD_OPTION, "keep=0,3 is not a number",
                 cull_selector_create("top-loss", &wrong, 1, &setting, &selector));
    assert_ok(cull_recipe_open(NULL, changes, 2, &recipe));
    assert_true(recipe->setup.schedule.rate == 0.25);
    assert_true(recipe->setup.schedule.milestones == 2 &&
                recipe->setup.schedule.milestone[1] == 2.5);
    assert_ok(cull_recipe_parse("again", recipe->text, strlen(recipe->text), NULL, 0, &again));
    assert_null(cull_recipe_difference(recipe, again));
    cull_recipe_close(recipe);
    cull_recipe_close(again);
    cull_json_number(&json, NULL, 0.5);
    assert_ok(json.status);
    assert_int_equal(3, json.bytes.size);
    assert_memory_equal("0.5", json.bytes.data, 3);
    cull_json_clear(&json);
}

/* strtod() is right in the C locale; numbers of all lengths, and their neighbours in writing. */
static void scanned_numbers_are_the_c_librarys_to_the_bit(void **state)
{
    static const char *const forms[] = {"%.0f", "%.3f", "%.17g", "%.9g", "%.1e", "%.25e", "%+.6f"};
    char                     text[400];
    double                   value = 0;

    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        double from = random_normal(1, i) * pow(10, floor(60 * random_uniform(2, i)) - 30);
        size_t length = (size_t)snprintf(text, sizeof text, forms[i % 7], from);

        memcpy(text + length, "7", 2); /* not part of it */
        assert_int_equal(CULL_NUMBER_READ, cull_base_scan_number(text, length, &value));
        text[length] = '\0';
        assert_true(value == strtod(text, NULL) && signbit(value) == signbit(strtod(text, NULL)));
    }
}

static void what_is_scanned_is_a_number_or_not(void **state)
{
    static const char *const wrong[] = {"",    "-",     "+",   ".",   "e5",   "1e",
                                        "1e+", "1.2.3", " 1",  "1 ",  "0x1",  "nan",
                                        "inf", "1,5",   "1_0", "--1", "1e5.5"};
    static const struct {
        const char *text;
        double      value;
    } right[] = {{"0", 0},
                 {"-0", -0.},
                 {"00012", 12},
                 {"1.", 1},
                 {".5", .5},
                 {"1e3", 1000},
                 {"1E-3", .001},
                 {"9007199254740993", 9007199254740992.},
                 {"123456789012345678901234567890", 123456789012345678901234567890.},
                 {"0.000000000000000000000000000000000000000000000000001", 1e-51},
                 {"5e-324", 5e-324},
                 {"1e-999999999999", 0}};
    double value = 0;
    char   ones[600];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(CULL_NUMBER_NONE,
                         cull_base_scan_number(wrong[i], strlen(wrong[i]), &value));
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        assert_int_equal(CULL_NUMBER_READ,
                         cull_base_scan_number(right[i].text, strlen(right[i].text), &value));
        assert_true(value == right[i].value && signbit(value) == signbit(right[i].value));
    }
    assert_int_equal(CULL_NUMBER_BEYOND, cull_base_scan_number("1e999", 5, &value));
    assert_int_equal(CULL_NUMBER_BEYOND, cull_base_scan_number("-9e99999999999999", 17, &value));
    memset(ones, '1', sizeof ones);
    assert_int_equal(CULL_NUMBER_NONE, cull_base_scan_number(ones, sizeof ones, &value));
}

int main(void)
{
    const struct CMUnitTest plain[] = {
        cmocka_unit_test(numbers_are_read_and_written_with_a_point),
        cmocka_unit_test(scanned_numbers_are_the_c_librarys_to_the_bit),
        cmocka_unit_test(what_is_scanned_is_a_number_or_not),
    };
    const struct CMUnitTest other[] = {
        cmocka_unit_test(numbers_have_a_point_where_the_locale_has_a_comma),
        cmocka_unit_test(options_recipes_and_json_do_not_know_the_locale),
    };
    int failed = cmocka_run_group_tests(plain, NULL, NULL) +
                 cmocka_run_group_tests(other, set_comma, set_back);

    if (failed || comma) return failed;
    printf("skipped: localedef cannot make a locale with a comma here\n");
    return 77;
}
