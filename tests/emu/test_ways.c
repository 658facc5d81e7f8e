/*
 * tests/emu/test_ways.c - contests between ways to compute something, and the file that keeps what
 * was found: written whole, read by line, and never believed further than it can be understood.
 */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/cuda/nn_cache.h"
#include "base/alloc.h"

static char folder[] = "/tmp/cull_ways_XXXXXX", path[256];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    (void)snprintf(path, sizeof path, "%s/deep/er/cuda", folder);
    return setenv("CULL_CUDA_CACHE", path, 1);
}

static int remove_folder(void **state)
{
    char command[320];

    (void)state;
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static cull_nn_way sample(void)
{
    cull_nn_way way = {.kind = CULL_WAY_LIBRARY, .number = 1, .seconds = 1e-5};

    way.choice.engine = 38;
    way.choice.knobs = 2;
    way.choice.type[0] = 4;
    way.choice.value[0] = 1;
    way.choice.type[1] = 27;
    way.choice.value[1] = 1234567890123;
    for (int i = 0; i < CULL_CHOICE_WORDS; i++) way.choice.word[i] = 0xfedcba9876543210u >> (i * 7);
    return way;
}

static void what_is_written_is_read(void **state)
{
    cull_nn_cache cache = {0}, later = {0};
    cull_nn_way   own = {.number = 1, .seconds = 1}, way = sample(), read = {0};

    (void)state;
    assert_ok(cull_nn_cache_open("a card, cuDNN 1", &cache));
    assert_false(cull_nn_cache_find(&cache, "conv n1", &read));
    cull_nn_cache_add(&cache, "conv n1", &way);
    cull_nn_cache_add(&cache, "conv n12", &own);
    cull_nn_cache_add(&cache, "conv n1", &own); /* known: stays */
    assert_ok(cull_nn_cache_open("a card, cuDNN 1", &later));
    assert_true(cull_nn_cache_find(&later, "conv n1", &read));
    way.seconds = 0;
    assert_memory_equal(&read.choice, &way.choice, sizeof way.choice);
    assert_true(read.kind == CULL_WAY_LIBRARY && read.number == 1);
    assert_true(cull_nn_cache_find(&later, "conv n12", &read));
    assert_true(read.kind == CULL_WAY_OWN && read.number == 1);
    assert_false(cull_nn_cache_find(&later, "conv", &read));
    cull_nn_cache_clear(&cache);
    cull_nn_cache_clear(&later);
    assert_ok(cull_nn_cache_open("a card, cuDNN 2", &later));
    assert_false(cull_nn_cache_find(&later, "conv n1", &read));
    cull_nn_cache_clear(&later);
}

static void write_text(const char *text, size_t bytes)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_true(fwrite(text, 1, bytes, file) == bytes);
    assert_int_equal(fclose(file), 0);
}

static void damaged_lines_are_passed_over(void **state)
{
    static const char *const lines[] = {"c, p\tlibrary 0 38 2 4=1\n", /* too few numbers   */
                                        "c, p\tlibrary 0 38 99 4=1 2=3\n",
                                        "c, p\tlibrary 0 x 0 0 0 0 0 0 0 0 0\n",
                                        "c, p\tlibrary 0 38 0 1 2 3 4 5 6 7", /* torn off  */
                                        "c, p\tsomething 1\n",
                                        "c, p\town\n",
                                        "c, p\town -3\n",
                                        "c, p 1\n",
                                        "\n\n\t\n"};
    cull_nn_way              read = {0};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        cull_nn_cache cache = {0};

        write_text(lines[i], strlen(lines[i]));
        assert_ok(cull_nn_cache_open("c", &cache));
        if (cull_nn_cache_find(&cache, "p", &read)) fail_msg("believed: %s", lines[i]);
        cull_nn_cache_clear(&cache);
    }
    for (size_t cut = 0; cut < 60; cut++) { /* zeros in the middle end the file for us */
        char          text[64] = "c, p\tlibrary 0 38 1 4=1 1 2 3 4 5 6 7 8\nc, q\town 1\n";
        cull_nn_cache cache = {0};

        if (cut < strlen(text)) text[cut] = '\0';
        write_text(text, sizeof text);
        assert_ok(cull_nn_cache_open("c", &cache));
        if (cull_nn_cache_find(&cache, "q", &read)) assert_true(cut >= strlen(text));
        cull_nn_cache_clear(&cache);
    }
}

static void nothing_is_kept_where_nobody_wants_it(void **state)
{
    cull_nn_cache cache = {0};
    cull_nn_way   way = sample(), read = {0};

    (void)state;
    assert_int_equal(setenv("CULL_CUDA_CACHE", "", 1), 0);
    assert_ok(cull_nn_cache_open("c", &cache));
    cull_nn_cache_add(&cache, "p", &way);
    assert_false(cull_nn_cache_find(&cache, "p", &read));
    cull_nn_cache_clear(&cache);
    assert_int_equal(setenv("CULL_CUDA_CACHE", path, 1), 0);
}

/* ---- contests ---- */
struct runner {
    cull_backend *backend;
    void         *data;
    int           slow, broken, runs; /* which entries are that */
};

static cull_status open_arrays(void *context, cull_kit *kit)
{
    struct runner *r = context;

    return cull_kit_allocate(kit, 1 << 22, 1, "a trial", &r->data);
}

static cull_status prepare(void *context, cull_nn_way *way)
{
    (void)context;
    (void)way;
    return cull_fail(CULL_UNSUPPORTED, "no libraries");
}

static size_t room_of(const void *context, const cull_nn_way *way)
{
    (void)context;
    return (size_t)way->number * 1000;
}

static cull_status run(void *context, const cull_nn_way *way, void *room)
{
    struct runner *r = context;
    size_t         bytes = way->number == r->slow ? 1 << 22 : 16;

    r->runs++;
    assert_non_null(room);
    if (way->number == r->broken) return cull_fail(CULL_DEVICE, "planned");
    return cull_backend_fill(r->backend, r->data, 1, bytes);
}

static cull_status hold(struct runner *r, const char *problem, bool repeatable, cull_nn_way *out)
{
    cull_status     status = CULL_OK;
    cull_nn_contest contest = {.backend = r->backend,
                               .repeatable = repeatable,
                               .entries = 4,
                               .context = r,
                               .open = open_arrays,
                               .prepare = prepare,
                               .room = room_of,
                               .run = run};

    (void)snprintf(contest.problem, sizeof contest.problem, "%s", problem);
    contest.entry[0].kind = CULL_WAY_LIBRARY;
    for (int i = 1; i < 4; i++) contest.entry[i].number = i;
    TRY(cull_nn_state(r->backend, &contest.nn));
    TRY(cull_nn_choose(&contest, out));
done:
    return status;
}

static void the_fastest_that_can_be_recorded_wins(void **state)
{
    struct runner r = {.slow = 2, .broken = 1};
    cull_nn_way   way = {0};
    int           runs = 0;

    (void)state;
    assert_ok(cull_backend_open("emu", 1, &r.backend));
    assert_ok(hold(&r, "one", false, &way));
    assert_int_equal(way.number, 3);
    assert_true(way.seconds > 0 && isfinite(way.seconds));
    runs = r.runs;
    assert_ok(hold(&r, "one", false, &way)); /* known by now */
    assert_true(way.number == 3 && r.runs == runs);
    assert_ok(hold(&r, "two", true, &way)); /* the first that works */
    assert_int_equal(way.number, 2);
    r.slow = r.broken = 3;
    assert_ok(hold(&r, "three", true, &way));
    assert_int_equal(way.number, 1);
    cull_backend_close(r.backend);
}

/* What is told of ways is what recalls them: before what the device would find now, also where
 * nothing may be timed; and what makes no sense is passed over. */
static void ways_are_told_and_recalled(void **state)
{
    static const char nonsense[] = ", one\tlibrary 1 2\n, two\town 9\n";
    struct runner     r = {.slow = 2, .broken = 1};
    cull_nn_way       way = {0};
    const char       *text = NULL;
    char             *kept = NULL;
    size_t            bytes = 0;

    (void)state;
    assert_ok(cull_backend_open("emu", 1, &r.backend));
    assert_ok(cull_layer_ways(r.backend, &text, &bytes));
    assert_true(bytes == 0);
    assert_ok(hold(&r, "one", false, &way));
    assert_ok(hold(&r, "two", true, &way));
    assert_ok(cull_layer_ways(r.backend, &text, &bytes));
    assert_string_equal(text, ", one\town 3\n, two\town 2\n");
    assert_int_equal(bytes, strlen(text));
    kept = strdup(text);
    assert_non_null(kept);
    cull_backend_close(r.backend);

    r = (struct runner){.slow = 3, .broken = 1}; /* by itself it would find others now */
    assert_ok(cull_backend_open("emu", 1, &r.backend));
    assert_ok(hold(&r, "one", false, &way));
    assert_int_equal(way.number, 2);
    assert_ok(cull_layer_recall(r.backend, kept, bytes));
    assert_ok(hold(&r, "one", false, &way));
    assert_int_equal(way.number, 3);
    r.broken = 2; /* what was kept cannot be done any more */
    assert_ok(hold(&r, "two", true, &way));
    assert_int_equal(way.number, 1);
    assert_ok(cull_layer_recall(r.backend, nonsense, sizeof nonsense - 1));
    r.broken = 1;
    assert_ok(hold(&r, "one", true, &way));
    assert_int_equal(way.number, 2);
    assert_ok(hold(&r, "two", true, &way)); /* a way that there never was */
    assert_int_equal(way.number, 2);
    free(kept);
    cull_backend_close(r.backend);
}

/* ---- what a library computes is held against our own ---- */
enum { VALUES = 40000 }; /* more than is looked at from either end */

struct computing {
    cull_backend *backend;
    float        *there, here[VALUES];
};

enum { TRUSTED, SAME, NEAR, UNWRITTEN, ODD_LAST, FAILING };

static cull_status compute(void *context, const cull_nn_way *way, void *room)
{
    struct computing *c = context;
    size_t            count = VALUES;

    (void)room;
    for (size_t i = 0; i < VALUES; i++) c->here[i] = (float)random_normal(7, i);
    if (way->number == NEAR)
        for (size_t i = 0; i < VALUES; i++) c->here[i] *= 1 + 1e-3f;
    if (way->number == ODD_LAST) c->here[VALUES - 1] += 100;
    if (way->number == UNWRITTEN) count--;
    if (way->number == FAILING) return cull_fail(CULL_DEVICE, "planned");
    return cull_backend_upload(c->backend, c->there, c->here, count * sizeof *c->here);
}

static void find_result(const void *context, cull_nn_result *out)
{
    const struct computing *c = context;

    *out = (cull_nn_result){c->there, CULL_F32, VALUES};
}

static void what_is_wrong_is_found(void **state)
{
    static struct computing c;
    cull_nn_contest         contest = {.context = &c, .run = compute, .result = find_result};
    double                  apart[] = {-1, -1, -1, -1, -1};

    (void)state;
    assert_ok(cull_backend_open("emu", 1, &c.backend));
    contest.backend = c.backend;
    assert_ok(
        cull_backend_allocate(c.backend, VALUES, sizeof *c.there, "values", (void **)&c.there));
    for (int i = SAME; i < FAILING; i++)
        assert_ok(cull_nn_check(&contest, &(cull_nn_way){.number = i}, NULL, &apart[i]));
    assert_true(apart[SAME] == 0);
    assert_true(fabs(apart[NEAR] - 1e-3) < 1e-5);
    assert_true(isnan(apart[UNWRITTEN]));
    assert_true(apart[ODD_LAST] > 0.5);
    assert_int_equal(cull_nn_check(&contest, &(cull_nn_way){.number = FAILING}, NULL, apart),
                     CULL_DEVICE);
    assert_true(cull_nn_apart(CULL_F32, false) < cull_nn_apart(CULL_F32, true));
    cull_base_free(contest.want);
    cull_backend_release(c.backend, c.there);
    cull_backend_close(c.backend);
}

static void contests_survive_every_allocation_failure(void **state)
{
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        struct runner r = {.slow = 2, .broken = 1};
        cull_nn_way   way = {0};

        assert_ok(cull_backend_open("emu", 1, &r.backend));
        fail_nth_alloc(n);
        status = hold(&r, "one", true, &way);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        if (status != CULL_OK) assert_ok(hold(&r, "one", true, &way));
        assert_int_equal(way.number, 2);
        cull_backend_close(r.backend);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(damaged_lines_are_passed_over),
        cmocka_unit_test(nothing_is_kept_where_nobody_wants_it),
        cmocka_unit_test(the_fastest_that_can_be_recorded_wins),
        cmocka_unit_test(what_is_wrong_is_found),
        cmocka_unit_test(ways_are_told_and_recalled),
        cmocka_unit_test(contests_survive_every_allocation_failure),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
