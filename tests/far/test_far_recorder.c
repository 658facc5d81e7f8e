/*
 * tests/far/test_far_recorder.c - kinds of steps: which are told apart, when one is recorded, and
 * what ends a recording.
 */
#include "far.h"
#include "on_far.h"
#include "train/recorder.h"

static cull_sel_step step_of(size_t count, unsigned signals)
{
    return (cull_sel_step){.needs = {.action = CULL_SELECT_BATCH,
                                     .signals = signals,
                                     .candidates = count,
                                     .budget = count / 2},
                           .count = count,
                           .learns = count / 2};
}

static cull_step_kind kind_of(cull_sel_step step)
{
    return (cull_step_kind){.asked = step};
}

static cull_recorded *find(cull_recorder *r, cull_sel_step step)
{
    cull_step_kind kind = kind_of(step);

    return cull_recorder_find(r, &kind);
}

/* A step that fills an array with its byte, asked for between begin and end. */
static cull_recorded *record(cull_recorder *r, cull_sel_step step, char *a, int byte, bool fails)
{
    cull_step_kind is = kind_of(step);
    cull_recorded *kind = NULL;

    cull_recorder_ran(r, &is);
    kind = find(r, step);
    assert_non_null(kind);
    assert_null(kind->recording);
    assert_ok(cull_recorder_begin(r));
    assert_ok(cull_backend_fill(r->backend, a, byte, 8));
    assert_ok(cull_recorder_end(r, kind, fails));
    assert_true(fails == (kind->recording == NULL));
    return kind;
}

static void the_second_of_a_kind_is_recorded_and_done_at_once(void **state)
{
    cull_backend  *far = *state;
    cull_recorder  r = {.backend = far};
    char          *a = take(far, 8);
    cull_sel_step  step = step_of(8, CULL_SIGNAL_LOSS), others[6];
    cull_step_kind parts[6];

    assert_null(find(&r, step));
    (void)record(&r, step, a, 3, false);
    assert_bytes(far, a, 3, 8);
    assert_non_null(find(&r, step)->recording);
    /* whatever of its needs is another makes another kind */
    for (size_t i = 0; i < 6; i++) parts[i] = kind_of(step);
    parts[0].weighs = true;
    parts[1].length = 64;
    parts[2].part = CULL_PART_LEARN;
    parts[3].from = 2;
    parts[4].to = 2;
    parts[5].late = true;
    for (size_t i = 0; i < 6; i++) assert_null(cull_recorder_find(&r, &parts[i]));
    for (size_t i = 0; i < 6; i++) others[i] = step;
    others[0].count = 7;
    others[1].needs.signals |= CULL_SIGNAL_P;
    others[2].needs.budget++;
    others[3].needs.running = true;
    others[4].needs.observe = CULL_SIGNAL_LOSS;
    others[5].needs.target = CULL_SIGNAL_H;
    for (size_t i = 0; i < 6; i++) assert_null(find(&r, others[i]));
    cull_recorder_clear(&r);
    cull_backend_release(far, a);
}

/* With marks and without: one in so many of those that are done again has them. */
static void a_kind_is_recorded_both_ways(void **state)
{
    cull_backend  *far = *state;
    cull_recorder  r = {.backend = far};
    char          *a = take(far, 8);
    cull_sel_step  step = step_of(8, CULL_SIGNAL_LOSS);
    cull_recorded *kind = record(&r, step, a, 3, false);

    assert_false(cull_recorder_knows(kind));
    assert_ptr_equal(kind, find(&r, step));
    assert_ok(cull_recorder_begin(&r));
    assert_ok(cull_backend_fill(far, a, 4, 8));
    assert_ok(cull_recorder_end(&r, kind, false));
    assert_bytes(far, a, 4, 8);
    assert_true(cull_recorder_knows(kind));
    for (int i = 1; i <= 2 * CULL_RECORDER_MARKED; i++) {
        assert_ok(cull_recorder_again(&r, kind));
        assert_bytes(far, a, i % CULL_RECORDER_MARKED ? 4 : 3, 8);
    }
    cull_recorder_clear(&r);
    cull_backend_release(far, a);
}

static void whatever_ends_ends_recordings(void **state)
{
    cull_backend *far = *state;
    cull_recorder r = {.backend = far};
    char         *a = take(far, 8), *other = take(far, 8);
    cull_op      *rank = NULL;
    cull_sel_step step = step_of(8, CULL_SIGNAL_LOSS);

    (void)record(&r, step, a, 3, false);
    cull_backend_release(far, other);
    assert_null(find(&r, step));
    (void)record(&r, step, a, 4, false); /* it is run again first, and the old one is gone */
    assert_ok(cull_op_ready(far, &(cull_op_desc){.kind = CULL_OP_RANK, .rows = 5}, &rank));
    assert_non_null(find(&r, step));
    assert_ok(cull_op_ready(far, &(cull_op_desc){.kind = CULL_OP_RANK, .rows = 50}, &rank));
    assert_null(find(&r, step)); /* one operation took another's place */
    cull_op_destroy(rank);
    cull_recorder_clear(&r);
    cull_backend_release(far, a);
}

static void a_step_that_fails_is_not_kept_and_nothing_of_it_done(void **state)
{
    cull_backend *far = *state;
    cull_recorder r = {.backend = far};
    char         *a = take(far, 8);
    cull_sel_step step = step_of(8, CULL_SIGNAL_LOSS);

    (void)record(&r, step, a, 3, true);
    assert_bytes(far, a, 0, 8);
    (void)record(&r, step, a, 5, false); /* the backend does not think that it is recording */
    assert_bytes(far, a, 5, 8);
    cull_recorder_clear(&r);
    cull_backend_release(far, a);
}

static void of_more_kinds_than_are_kept_the_one_longest_unasked_makes_way(void **state)
{
    cull_backend *far = *state;
    cull_recorder r = {.backend = far};
    char         *a = take(far, 8);

    for (size_t i = 0; i < CULL_RECORDER_KINDS; i++)
        (void)record(&r, step_of(10 + i, CULL_SIGNAL_LOSS), a, (int)i, false);
    for (size_t i = 0; i < CULL_RECORDER_KINDS; i++)
        if (i != 2) assert_non_null(find(&r, step_of(10 + i, CULL_SIGNAL_LOSS))->recording);
    (void)record(&r, step_of(99, CULL_SIGNAL_LOSS), a, 9, false);
    assert_bytes(far, a, 9, 8);
    for (size_t i = 0; i < CULL_RECORDER_KINDS; i++)
        assert_true((find(&r, step_of(10 + i, CULL_SIGNAL_LOSS)) == NULL) == (i == 2));
    cull_recorder_clear(&r);
    cull_backend_release(far, a);
}

#define TESTS(open)                                                                                \
    {                                                                                              \
        TEST(the_second_of_a_kind_is_recorded_and_done_at_once, open),                             \
            TEST(a_kind_is_recorded_both_ways, open), TEST(whatever_ends_ends_recordings, open),   \
            TEST(a_step_that_fails_is_not_kept_and_nothing_of_it_done, open),                      \
            TEST(of_more_kinds_than_are_kept_the_one_longest_unasked_makes_way, open)              \
    }
#define TEST(name, open) cmocka_unit_test_setup_teardown(name, open, close_far)

int main(void)
{
    const struct CMUnitTest tests[] = TESTS(open_far), emus[] = TESTS(open_emu);
    int                     failed = cmocka_run_group_tests(tests, NULL, NULL);

    if (has_emu()) failed += cmocka_run_group_tests(emus, NULL, NULL);
    return failed;
}
