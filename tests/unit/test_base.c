/* tests/unit/test_base.c - the ground floor: statuses, memory, randomness, threads, options. */
#include "support.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/options.h"
#include "base/rng.h"
#include "base/threads.h"

/* ---- statuses ---- */

static void every_status_has_a_name_and_a_text(void **state)
{
    (void)state;
    assert_string_equal("OK", cull_status_name(CULL_OK));
    assert_string_equal("BAD_ARGUMENT", cull_status_name(CULL_BAD_ARGUMENT));
    assert_string_equal("success", cull_status_text(CULL_OK));
    assert_string_equal("out of memory", cull_status_text(CULL_NO_MEMORY));
    assert_string_equal("UNKNOWN", cull_status_name((cull_status)999));
    assert_string_equal("unknown status", cull_status_text((cull_status)999));
    assert_string_equal("0.1.0", cull_version());
}

static void *fail_elsewhere(void *argument)
{
    (void)argument;
    assert_string_equal("", cull_last_error());
    (void)cull_fail(CULL_IO, "elsewhere");
    return NULL;
}

static void a_failure_keeps_its_sentence_for_its_own_thread(void **state)
{
    pthread_t thread;
    char      long_text[2000];

    (void)state;
    assert_int_equal(CULL_BAD_FILE, cull_fail(CULL_BAD_FILE, "%s: %d bytes", "a.npy", 3));
    assert_string_equal("a.npy: 3 bytes", cull_last_error());
    assert_int_equal(0, pthread_create(&thread, NULL, fail_elsewhere, NULL));
    pthread_join(thread, NULL);
    assert_string_equal("a.npy: 3 bytes", cull_last_error());
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    (void)cull_fail(CULL_IO, "%s", long_text);
    assert_in_range(strlen(cull_last_error()), 100, sizeof long_text - 2);
}

static void a_failure_is_about_what_it_was_told(void **state)
{
    (void)state;
    assert_int_equal(CULL_EXISTS, cull_fail_about(CULL_EXISTS, "runs/a", "runs/a holds a run"));
    assert_string_equal("runs/a", cull_last_subject());
    /* told on: both may be handed in as they are */
    (void)cull_fail_about(CULL_EXISTS, cull_last_subject(), "cull: %s", cull_last_error());
    assert_string_equal("cull: runs/a holds a run", cull_last_error());
    assert_string_equal("runs/a", cull_last_subject());
    (void)cull_fail(CULL_IO, "another");
    assert_string_equal("", cull_last_subject());
}

static void lists_are_cut_at_commas_outside_of_brackets(void **state)
{
    static const char *const items[] = {"sb", "a b=[1,[2, 3]]", "", " c"};
    const char              *rest = "sb,a b=[1,[2, 3]],, c", *item = NULL;
    size_t                   length = 0, count = 0;

    (void)state;
    for (; (item = cull_list_next(&rest, &length)); count++) {
        assert_true(count < 4);
        assert_int_equal(strlen(items[count]), length);
        assert_memory_equal(items[count], item, length);
    }
    assert_int_equal(4, count);
    assert_null(rest);
    rest = "";
    assert_non_null(cull_list_next(&rest, &length));
    assert_int_equal(0, length);
    assert_null(cull_list_next(&rest, &length));
}

/* ---- memory ---- */

static void sizes_that_overflow_are_refused(void **state)
{
    void *data = &data;

    (void)state;
    assert_fails(CULL_NO_MEMORY, "the moon", cull_base_alloc(SIZE_MAX, 2, "the moon", &data));
    assert_null(data);
    assert_fails(CULL_NO_MEMORY, "the moon",
                 cull_base_alloc(SIZE_MAX / 2 + 1, 1, "the moon", &data));
    assert_fails(CULL_NO_MEMORY, "the moon",
                 cull_base_alloc_aligned(SIZE_MAX - 8, 1, "the moon", &data));
    assert_ok(cull_base_alloc(4, 1, "four bytes", &data));
    memset(data, 7, 4);
    void *before = data;
    assert_fails(CULL_NO_MEMORY, "the moon", cull_base_grow(SIZE_MAX, 8, "the moon", &data));
    assert_ptr_equal(before, data);
    assert_ok(cull_base_grow(4000, 1, "more bytes", &data));
    assert_memory_equal("\7\7\7\7", data, 4);
    cull_base_free(data);
}

static void memory_comes_zeroed_aligned_and_counted(void **state)
{
    unsigned char *data = NULL;
    size_t         before = cull_base_alloc_count();

    (void)state;
    for (size_t n = 0; n < 300; n += 37) {
        assert_ok(cull_base_alloc_aligned(n, 1, "bytes", &data));
        assert_int_equal(0, (uintptr_t)data % 64);
        for (size_t i = 0; i < n; i++) assert_int_equal(0, data[i]);
        memset(data, 255, n);
        cull_base_free_aligned(data);
        assert_ok(cull_base_alloc(n, 1, "bytes", &data));
        for (size_t i = 0; i < n; i++) assert_int_equal(0, data[i]);
        cull_base_free(data);
    }
    assert_int_equal(18, cull_base_alloc_count() - before);
    cull_base_free(NULL);
    cull_base_free_aligned(NULL);
}

static void bytes_come_back_as_written_and_never_past_the_end(void **state)
{
    cull_writer writer = {0};
    cull_reader reader = {0};
    uint64_t    number = 0;

    (void)state;
    for (uint64_t i = 0; i < 100; i++) assert_ok(cull_write(&writer, &i, sizeof i));
    assert_ok(cull_write(&writer, NULL, 0));
    assert_fails(CULL_NO_MEMORY, "saved state", cull_write(&writer, &number, SIZE_MAX - 4));
    reader = (cull_reader){writer.data, writer.size, 0};
    for (uint64_t i = 0; i < 100; i++) {
        assert_ok(cull_read(&reader, &number, sizeof number));
        assert_true(number == i);
    }
    assert_fails(CULL_BAD_STATE, "1 more", cull_read(&reader, &number, 1));
    assert_fails(CULL_BAD_STATE, "ends", cull_read(&reader, &number, SIZE_MAX));
    assert_true(cull_base_hash("a", 1) == 0xaf63dc4c8601ec8cu); /* FNV-1a's own example */
    cull_writer_clear(&writer);
}

static void the_clock_goes_forward(void **state)
{
    double before = cull_base_seconds();

    (void)state;
    for (int i = 0; i < 1000; i++) {
        double now = cull_base_seconds();
        assert_true(now >= before);
        before = now;
    }
}

/* ---- randomness ---- */

/* Known answers of Philox4x32-10, as published with Random123 (kat_vectors). */
static void philox_gives_its_published_answers(void **state)
{
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        cull_key key = {{known[i].key[0], known[i].key[1]}};
        uint32_t out[4];

        cull_base_philox(key, known[i].counter, out);
        assert_memory_equal(known[i].out, out, sizeof out);
    }
}

/* 10^5 draws: the mean has standard error .2887/sqrt(1e5) = .0009, each tenth's share
 * sqrt(.09/1e5) = .00095; five of them are allowed. */
static void uniforms_are_uniform_and_inside_the_open_interval(void **state)
{
    enum { DRAWS = 100000 };
    cull_key key = cull_key_make(7, "a stream");
    double   sum = 0;
    size_t   tenth[10] = {0}, below[3] = {0};

    (void)state;
    for (uint64_t i = 0; i < DRAWS; i++) {
        double u = cull_key_uniform(key, i / 300, i % 300);

        assert_true(u > 0 && u < 1);
        sum += u;
        tenth[(size_t)(10 * u)]++;
        below[cull_base_below(key, i, 1, 3)]++;
    }
    assert_true(fabs(sum / DRAWS - 0.5) < 5 * 0.0009);
    for (int i = 0; i < 10; i++) assert_true(fabs((double)tenth[i] / DRAWS - 0.1) < 5 * 0.00095);
    for (int i = 0; i < 3; i++) assert_true(fabs((double)below[i] / DRAWS - 1. / 3) < 5 * 0.0015);
}

static void seeds_streams_steps_and_places_all_matter(void **state)
{
    cull_key key = cull_key_make(1, "a");
    double   u = cull_key_uniform(key, 3, 4);

    (void)state;
    assert_true(u == cull_key_uniform(cull_key_make(1, "a"), 3, 4));
    assert_true(u != cull_key_uniform(cull_key_make(2, "a"), 3, 4));
    assert_true(u != cull_key_uniform(cull_key_make(UINT64_C(1) << 32 | 1, "a"), 3, 4));
    assert_true(u != cull_key_uniform(cull_key_make(1, "b"), 3, 4));
    assert_true(u != cull_key_uniform(key, 4, 3));
    assert_true(u != cull_key_uniform(key, 3, 4 + (UINT64_C(1) << 32)));
    assert_true(u != cull_key_uniform(key, 3 + (UINT64_C(1) << 32), 4));
    for (uint64_t i = 0; i < 100; i++) assert_true(cull_base_below(key, i, 0, 1) == 0);
    for (uint64_t i = 0; i < 100; i++)
        assert_true(cull_base_below(key, i, 0, UINT64_C(1) << 32) < UINT64_C(1) << 32);
}

/* ---- threads ---- */

enum { TASKS = 5000 };

struct tally {
    atomic_uint ran[TASKS];
    atomic_uint wrong_worker;
    unsigned    threads;
};

static void count_task(void *context, size_t task, unsigned worker)
{
    struct tally *tally = context;

    atomic_fetch_add(&tally->ran[task], 1);
    if (worker >= tally->threads) atomic_fetch_add(&tally->wrong_worker, 1);
}

static void a_team_of_any_size_runs_every_task_once(void **state)
{
    static struct tally tally;

    (void)state;
    for (unsigned threads = 1; threads <= 8; threads++) {
        cull_team *team = NULL;

        assert_ok(cull_team_create(threads, &team));
        assert_int_equal(threads, cull_team_size(team));
        tally.threads = threads;
        for (size_t job = 0, tasks = 0; job < 12; job++, tasks = job * job * 41 % TASKS) {
            memset(tally.ran, 0, sizeof tally.ran);
            cull_team_run(team, tasks, count_task, &tally);
            for (size_t i = 0; i < TASKS; i++) assert_int_equal(i < tasks, tally.ran[i]);
        }
        assert_int_equal(0, tally.wrong_worker);
        cull_team_destroy(team);
    }
}

static void a_team_refuses_absurd_sizes_and_survives_failing_memory(void **state)
{
    cull_team  *team = NULL;
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    assert_fails(CULL_BAD_ARGUMENT, "1000000 threads", cull_team_create(1000000, &team));
    assert_ok(cull_team_create(0, &team));
    assert_in_range(cull_team_size(team), 1, 1024);
    cull_team_destroy(team);
    cull_team_destroy(NULL);
    for (size_t n = 1; status != CULL_OK; n++) {
        team = NULL;
        fail_nth_alloc(n);
        status = cull_team_create(4, &team);
        fail_nth_alloc(0);
        assert_int_equal(alloc_has_failed() ? CULL_NO_MEMORY : CULL_OK, status);
        cull_team_destroy(team);
    }
}

/* ---- options ---- */

static const cull_option_spec first_table[] = {
    {"count", CULL_OPTION_INT, "3", 1, 5000, NULL, "a whole number"},
    {"share", CULL_OPTION_REAL, "0.5", 0, 1, "auto", "a number or auto"},
    {NULL, CULL_OPTION_INT, NULL, 0, 0, NULL, NULL}};
static const cull_option_spec second_table[] = {
    {"count", CULL_OPTION_INT, "4", 1, 5000, NULL, "hidden by the first table"},
    {"colour", CULL_OPTION_CHOICE, "red", 0, 0, "red|green", "a word"},
    {"loud", CULL_OPTION_BOOL, "false", 0, 0, NULL, "yes or no"},
    {NULL, CULL_OPTION_INT, NULL, 0, 0, NULL, NULL}};
static const cull_option_tables tables = {{first_table, NULL, second_table}};

static cull_status parse(const char *key, const char *text, cull_values **out)
{
    cull_option option = {key, text};
    return cull_values_create("thing", &tables, &option, 1, out);
}

static void an_earlier_table_hides_a_later_ones_key(void **state)
{
    cull_values *values = NULL;

    (void)state;
    assert_ok(cull_values_create("thing", &tables, NULL, 0, &values));
    assert_string_equal("count=3 share=0.5 colour=red loud=false", cull_values_describe(values));
    assert_int_equal(3, cull_value_int(values, "count"));
    assert_false(cull_value_bool(values, "loud"));
    assert_true(cull_value_is(values, "colour", "red"));
    assert_true(cull_values_has(values, "colour"));
    assert_false(cull_values_has(values, "taste"));
    assert_true(isnan(cull_value_real(values, "taste")));
    assert_string_equal("", cull_value_text(values, "taste"));
    assert_ptr_equal(&second_table[1], cull_base_option_at(&tables, 2));
    assert_null(cull_base_option_at(&tables, 4));
    cull_values_destroy(values);
}

static void options_take_what_their_type_allows(void **state)
{
    static const struct {
        const char *key, *text;
        double      number;
    } good[] = {{"count", "5000", 5000}, {"count", "1e3", 1000},   {"count", "12.0", 12},
                {"share", "0", 0},       {"share", "1e-3", 0.001}, {"share", ".25", 0.25},
                {"loud", "true", 1},     {"loud", "false", 0}};
    cull_values *values = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_ok(parse(good[i].key, good[i].text, &values));
        assert_true(cull_value_real(values, good[i].key) == good[i].number);
        cull_values_destroy(values);
    }
    assert_ok(parse("share", "auto", &values));
    assert_true(isnan(cull_value_real(values, "share")));
    assert_true(cull_values_given(values, "share"));
    cull_values_destroy(values);
    assert_ok(parse("share", "0.5", &values));
    assert_false(cull_values_given(values, "share")); /* given, but at its default */
    cull_values_destroy(values);
}

static void options_refuse_everything_else_and_name_the_key(void **state)
{
    static const struct {
        const char *key, *text, *sentence;
    } bad[] = {{"count", "3x", "count=3x is not a whole number"},
               {"count", "0x10", "count=0x10 is not"},
               {"count", " 1", "count= 1 is not"},
               {"count", "1 ", "count=1  is not"},
               {"count", "", "count= is not"},
               {"count", "1.5", "count=1.5 is not a whole number"},
               {"count", "0", "count=0 is outside 1 to 5000"},
               {"count", "1e9", "count=1e9 is outside"},
               {"count", "maybe", "count=maybe is not"},
               {"share", "nan", "share=nan is not a number nor one of auto"},
               {"share", "inf", "share=inf is not"},
               {"share", "1e999", "share=1e999 is not"},
               {"share", "-0.1", "share=-0.1 is outside 0 to 1"},
               {"share", "aut", "share=aut is not"},
               {"colour", "blue", "colour=blue is not one of red|green"},
               {"colour", "red|green", "colour=red|green is not one of"},
               {"colour", "", "colour= is not one of"},
               {"loud", "maybe", "loud=maybe is neither true nor false"},
               {"loud", "1", "loud=1 is neither"},
               {"loud", "True", "loud=True is neither"},
               {NULL, "sweet", "without a key"},
               {"count", NULL, "without a key or a value"}};
    const cull_option twice[] = {{"count", "3"}, {"count", "3"}};
    cull_values      *values = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_fails(CULL_BAD_OPTION, bad[i].sentence, parse(bad[i].key, bad[i].text, &values));
        assert_string_equal(bad[i].key && bad[i].text ? bad[i].key : "", cull_last_subject());
        assert_fails(CULL_BAD_OPTION, "thing: ", parse(bad[i].key, bad[i].text, &values));
    }
    assert_fails(CULL_UNKNOWN_OPTION, "thing: no option is called 'taste'",
                 parse("taste", "sweet", &values));
    assert_string_equal("taste", cull_last_subject());
    assert_fails(CULL_BAD_OPTION, "count is given twice",
                 cull_values_create("thing", &tables, twice, 2, &values));
    assert_null(values);
}

static void options_survive_failing_memory(void **state)
{
    const cull_option option = {"colour", "green"};
    cull_status       status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_values *values = NULL;

        fail_nth_alloc(n);
        status = cull_values_create("thing", &tables, &option, 1, &values);
        fail_nth_alloc(0);
        assert_int_equal(alloc_has_failed() ? CULL_NO_MEMORY : CULL_OK, status);
        cull_values_destroy(values);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_and_a_text),
        cmocka_unit_test(a_failure_keeps_its_sentence_for_its_own_thread),
        cmocka_unit_test(a_failure_is_about_what_it_was_told),
        cmocka_unit_test(lists_are_cut_at_commas_outside_of_brackets),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(memory_comes_zeroed_aligned_and_counted),
        cmocka_unit_test(bytes_come_back_as_written_and_never_past_the_end),
        cmocka_unit_test(the_clock_goes_forward),
        cmocka_unit_test(philox_gives_its_published_answers),
        cmocka_unit_test(uniforms_are_uniform_and_inside_the_open_interval),
        cmocka_unit_test(seeds_streams_steps_and_places_all_matter),
        cmocka_unit_test(a_team_of_any_size_runs_every_task_once),
        cmocka_unit_test(a_team_refuses_absurd_sizes_and_survives_failing_memory),
        cmocka_unit_test(an_earlier_table_hides_a_later_ones_key),
        cmocka_unit_test(options_take_what_their_type_allows),
        cmocka_unit_test(options_refuse_everything_else_and_name_the_key),
        cmocka_unit_test(options_survive_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
