/* tests/unit/test_strategy_text.c - strategies as users write them: read, asked, written again. */
#include <string.h>

#include "select/select.h"
#include "support.h"

static void a_text_is_a_name_a_modifier_and_options(void **state)
{
    static const struct {
        const char *text, *name, *modifier, *again;
        size_t      options;
    } cases[] = {
        {"sb", "sb", "", "sb", 0},
        {" \tsb ", "sb", "", "sb", 0},
        {"sb remembered", "sb", "remembered", "sb remembered", 0},
        {"sb+stale", "sb", "stale", "sb stale", 0},
        {"sb  \t stale  keep=0.3", "sb", "stale", "sb stale keep=0.3", 1},
        {"sb b=[1, [2 3]] c=", "sb", "", "sb b=[1, [2 3]] c=", 2},
        {"sb x=y=z", "sb", "", "sb x=y=z", 1},
        {"./my plug in.so", "./my plug in.so", "", "./my plug in.so", 0},
        {"/a=b/plug+in.so keep=0.1", "/a=b/plug+in.so", "", "/a=b/plug+in.so keep=0.1", 1},
        {"./plug.so file=/tmp/x", "./plug.so", "", "./plug.so file=/tmp/x", 1},
        {"nobody", "nobody", "", "nobody", 0},
    };
    char again[64];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_strategy_text t = {0};

        assert_ok(cull_strategy_text_read(cases[i].text, &t));
        assert_string_equal(cases[i].name, t.name);
        assert_string_equal(cases[i].modifier, t.modifier);
        assert_int_equal(cases[i].options, t.options);
        assert_int_equal(strlen(cases[i].again), cull_strategy_text_write(&t, again, sizeof again));
        assert_string_equal(cases[i].again, again);
        cull_strategy_text_clear(&t);
    }
}

static void options_are_found_and_may_be_changed(void **state)
{
    cull_strategy_text t = {0};
    char               text[64], cut[8];

    (void)state;
    assert_ok(cull_strategy_text_read("grad-match period=20 ridge=[1,2]", &t));
    assert_string_equal("20", cull_strategy_text_value(&t, "period"));
    assert_string_equal("[1,2]", cull_strategy_text_value(&t, "ridge"));
    assert_null(cull_strategy_text_value(&t, "keep"));
    t.option[0].value = "3";
    assert_int_equal(31, cull_strategy_text_write(&t, text, sizeof text));
    assert_string_equal("grad-match period=3 ridge=[1,2]", text);
    assert_int_equal(31, cull_strategy_text_write(&t, cut, sizeof cut));
    assert_string_equal("grad-ma", cut);
    cull_strategy_text_clear(&t);
    cull_strategy_text_clear(&t);
}

static void what_is_no_strategy_is_refused_in_a_sentence(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {{"", "a strategy's name is needed"},
                 {" \t", "a strategy's name is needed"},
                 {NULL, "a strategy's name is needed"},
                 {"keep=0.3", "a strategy's name is needed"},
                 {"sb fresh", "'fresh' is no modifier: stale and remembered are"},
                 {"sb stale remembered", "'stale remembered' is no modifier"},
                 {"sb+", "'' is no modifier"},
                 {"sb keep=0.3 stale", "'stale': a modifier stands before the options"}};
    cull_strategy_text t = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_fails(CULL_BAD_OPTION, cases[i].says, cull_strategy_text_read(cases[i].text, &t));
        assert_null(t.name);
    }
}

static void reading_survives_every_allocation_failure(void **state)
{
    cull_strategy_text t = {0};
    cull_status        status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = cull_strategy_text_read("sb stale keep=0.3", &t);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        assert_true((status == CULL_OK) == (t.name != NULL));
    }
    cull_strategy_text_clear(&t);
}

static void a_text_is_known_by_its_first_word(void **state)
{
    (void)state;
    assert_ptr_equal(&cull_strategy_sb, cull_strategy_of("sb"));
    assert_ptr_equal(&cull_strategy_sb, cull_strategy_of(" sb remembered beta=2"));
    assert_ptr_equal(&cull_strategy_sb_stream, cull_strategy_of("sb-stream+stale"));
    assert_null(cull_strategy_of("sbx"));
    assert_null(cull_strategy_of("s"));
    assert_null(cull_strategy_of(""));
    assert_null(cull_strategy_of("./sb"));
    assert_string_equal("1", cull_strategy_option(&cull_strategy_sb, "every")->fallback);
    assert_null(cull_strategy_option(&cull_strategy_sb, "period"));
}

/* What others decide by: a strategy that reads nothing and keeps a share is uniform choice. */
static void traits_say_who_is_uniform_and_who_keeps_all(void **state)
{
    const cull_strategy *s = NULL;

    (void)state;
    for (size_t i = 0; (s = cull_strategy_at(i)); i++) {
        bool blind = s->signals == 0 && !s->observe && cull_strategy_option(s, "keep");

        assert_int_equal(blind && !cull_strategy_option(s, "losses"),
                         (s->traits & CULL_UNIFORM) != 0);
        assert_int_equal(s == &cull_strategy_full, (s->traits & CULL_KEEPS_ALL) != 0);
        if (s->traits & CULL_KEEPS_BY_POWER) {
            assert_true(s->traits & CULL_NO_BUDGET);
            assert_non_null(cull_strategy_option(s, "beta"));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_a_name_a_modifier_and_options),
        cmocka_unit_test(options_are_found_and_may_be_changed),
        cmocka_unit_test(what_is_no_strategy_is_refused_in_a_sentence),
        cmocka_unit_test(reading_survives_every_allocation_failure),
        cmocka_unit_test(a_text_is_known_by_its_first_word),
        cmocka_unit_test(traits_say_who_is_uniform_and_who_keeps_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
