/* tests/unit/test_course.c - a walk over a run takes the steps that the selector asks for. */
#include "select/course.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { MOST = 90, WIDTH = 3, CLASSES = 2, TRIALS = 600 };

struct pool {
    double   loss[MOST];
    float    h[MOST * WIDTH], p[MOST * CLASSES];
    int32_t  label[MOST];
    uint32_t place[MOST];
};

static struct pool pool;

static int fill_pool(void **state)
{
    (void)state;
    for (size_t i = 0; i < MOST; i++) {
        pool.loss[i] = random_uniform(1, i);
        pool.label[i] = (int32_t)(i % CLASSES);
        pool.place[i] = (uint32_t)i;
    }
    for (size_t i = 0; i < MOST * WIDTH; i++) pool.h[i] = (float)random_normal(2, i);
    for (size_t i = 0; i < MOST * CLASSES; i++) pool.p[i] = (float)random_normal(3, i);
    return 0;
}

static cull_signals signals_of(size_t from, size_t count, uint64_t step, uint64_t epoch)
{
    return (cull_signals){.count = count,
                          .place = pool.place + from,
                          .loss = cull_vector(pool.loss + from, CULL_F64, count),
                          .label = cull_vector(pool.label + from, CULL_I32, count),
                          .h = cull_matrix(pool.h + from * WIDTH, CULL_F32, count, WIDTH),
                          .p = cull_matrix(pool.p + from * CLASSES, CULL_F32, count, CLASSES),
                          .step = step,
                          .epoch = epoch};
}

/* ---- settings ---- */

struct trial {
    const char    *strategy;
    char           options[200];
    cull_setting   setting;
    bool           drop_short;
    cull_selector *chooses, *asked; /* one that selects, and one that never does */
    cull_subset    subset;          /* of the latest choice                      */
};

static size_t draw(uint64_t trial, uint64_t *counter, size_t below)
{
    return (size_t)(random_uniform(trial + 11, (*counter)++) * (double)below);
}

static void add_option(struct trial *t, const char *format, double value)
{
    size_t length = strlen(t->options);

    (void)snprintf(t->options + length, sizeof t->options - length, format, value);
}

/* start and end in tenths; a window that is too small for a step is refused. */
static void draw_window(struct trial *t, uint64_t number, uint64_t *counter)
{
    size_t start = draw(number, counter, 6), length = 1 + draw(number, counter, 10 - start);

    if (draw(number, counter, 2))
        add_option(t, " every=%g", (double)(1 + draw(number, counter, 4)));
    if (draw(number, counter, 2)) return;
    add_option(t, " start=%g", (double)start / 10);
    add_option(t, " end=%g", (double)(start + length) / 10);
}

/* Traits of what is drawn: w has a window, m a mode, p a period and a warm start. */
static const struct {
    const char *strategy, *options, *traits;
} kinds[] = {{"full", "", ""},
             {"random", "keep=%g", "wm"},
             {"random", "rounding=alternate keep=%g", "w"},
             {"sb", "keep=%g", "wm"},
             {"top-loss", "losses=stale stale-every=2 keep=%g", "wm"},
             {"sb", "losses=remembered keep=%g", "wm"},
             {"sb", "losses=remembered scope=pool keep=%g", "w"},
             {"infobatch", "", ""},
             {"sb-stream", "", ""},
             {"adaptive-random", "keep=%g", "p"},
             {"fixed-random", "keep=%g", ""},
             {"grad-match", "keep=%g", "p"},
             {"grad-match", "scope=batch keep=%g", "p"}};

static bool make_trial(uint64_t number, struct trial *t)
{
    size_t      kind = (size_t)number % (sizeof kinds / sizeof *kinds);
    const char *traits = kinds[kind].traits;
    uint64_t    counter = 0;

    *t = (struct trial){.strategy = kinds[kind].strategy};
    t->setting.pool = 1 + draw(number, &counter, MOST);
    t->setting.batch = 1 + draw(number, &counter, t->setting.pool);
    t->setting.epochs = 1 + draw(number, &counter, 7);
    t->setting.seed = number;
    t->drop_short = draw(number, &counter, 2);
    add_option(t, kinds[kind].options, (double)(1 + draw(number, &counter, 20)) / 20);
    if (strchr(traits, 'm') && draw(number, &counter, 2)) strcat(t->options, " mode=scaled");
    if (strchr(traits, 'w')) draw_window(t, number, &counter);
    if (strchr(traits, 'p')) {
        add_option(t, " period=%g", (double)(1 + draw(number, &counter, 4)));
        if (draw(number, &counter, 2)) add_option(t, " warm=%g", .5);
    }
    if (try_selector(t->strategy, t->options, &t->setting, &t->chooses) != CULL_OK) return false;
    t->asked = make_selector(t->strategy, t->options, &t->setting);
    return true;
}

static void clear_trial(struct trial *t)
{
    cull_selector_destroy(t->chooses);
    cull_selector_destroy(t->asked);
    cull_subset_clear(&t->subset);
}

/* ---- the walk ---- */

static void check_needs(const struct trial *t, const cull_needs *want, const cull_needs *got)
{
    if (want->action != got->action || want->signals != got->signals ||
        want->target != got->target || want->observe != got->observe ||
        want->running != got->running || want->candidates != got->candidates ||
        want->budget != got->budget)
        fail_msg("%s %s: %d of %zu, asked for %d of %zu", t->strategy, t->options, (int)got->action,
                 got->candidates, (int)want->action, want->candidates);
}

/* What the selector really chose from a batch is what the walk says that is trained. */
static void check_choice(struct trial *t, const cull_sel_step *step, size_t at, uint64_t now,
                         uint64_t epoch)
{
    cull_signals signals = signals_of(at, step->count, now, epoch);
    cull_subset  subset = {0};

    assert_ok(cull_select(t->chooses, &signals, 0, &subset));
    if (step->learns == 0)
        assert_int_equal(0, step->needs.budget);
    else if (subset.count != step->learns)
        fail_msg("%s %s: %zu of %zu are kept, said were %zu", t->strategy, t->options, subset.count,
                 step->count, step->learns);
    cull_subset_clear(&subset);
}

/* One epoch by what the header says of needs, beside the course. Returns its steps. */
static uint64_t walk_epoch(struct trial *t, cull_sel_course *course, uint64_t step, uint64_t epoch)
{
    size_t     all = t->setting.pool, met = 0, batch = t->setting.batch;
    uint64_t   first = step;
    cull_needs needs = {0}, began = {0};
    bool       subset = false;

    assert_ok(cull_selector_needs(t->chooses, step, epoch, &needs));
    cull_sel_course_epoch(course, epoch, &began);
    check_needs(t, &needs, &began);
    if (needs.action == CULL_SELECT_POOL) {
        cull_signals signals = signals_of(0, all, step, epoch);
        assert_ok(cull_select(t->chooses, &signals, 0, &t->subset));
    }
    subset = needs.action == CULL_SELECT_POOL || needs.action == CULL_KEEP_SUBSET;
    if (subset) all = t->subset.count;
    if (!strstr(t->options, "scope=batch")) /* the last minibatch may be a short one */
        assert_int_equal(subset && needs.budget == 0 ? 0 : all, course->count);
    course->count = all;
    for (;; step++) {
        cull_sel_step got = {0};
        size_t        want = 0, left = all - met;

        assert_ok(cull_selector_needs(t->chooses, step, epoch, &needs));
        want = needs.candidates;
        if (needs.action != CULL_SELECT_BATCH && want > batch) want = batch;
        if (left == 0 || (t->drop_short && met > 0 && left < want)) break;
        assert_true(!cull_sel_course_over(course) && cull_sel_course_peek(course, &got));
        check_needs(t, &needs, &got.needs);
        assert_int_equal(want < left ? want : left, got.count);
        if (needs.action == CULL_SELECT_BATCH)
            check_choice(t, &got, met, step, epoch);
        else
            assert_int_equal(got.count, got.learns);
        met += got.count;
        cull_sel_course_pass(course, got.count);
    }
    assert_true(cull_sel_course_over(course));
    assert_false(cull_sel_course_peek(course, &(cull_sel_step){0}));
    return step - first;
}

static void a_walk_beforehand_takes_the_steps_that_a_run_takes(void **state)
{
    size_t made = 0, chosen = 0, kept = 0, plain = 0;

    (void)state;
    for (uint64_t number = 0; number < TRIALS; number++) {
        struct trial    t;
        cull_sel_course course = {0};
        uint64_t        step = 0;

        if (!make_trial(number, &t)) continue;
        course =
            (cull_sel_course){.selector = t.asked, .drop_short = t.drop_short, .imagined = true};
        for (uint64_t epoch = 0; epoch < cull_selector_epochs(t.asked); epoch++) {
            cull_needs needs = {0};

            assert_ok(cull_selector_needs(t.chooses, step, epoch, &needs));
            chosen += needs.action == CULL_SELECT_POOL;
            kept += needs.action == CULL_KEEP_SUBSET;
            plain += needs.action == CULL_TRAIN_ALL;
            step += walk_epoch(&t, &course, step, epoch);
        }
        assert_int_equal(step, course.step);
        made++;
        clear_trial(&t);
    }
    /* else little was shown */
    assert_true(made > TRIALS * 3 / 4 && chosen > 100 && kept > 100 && plain > 100);
}

/* The selector itself is asked where nothing is imagined: what it has chosen it keeps. */
static void a_walk_that_imagines_nothing_waits_for_the_choice(void **state)
{
    cull_setting    setting = {.pool = 40, .batch = 10, .epochs = 3, .seed = 1};
    cull_selector  *selector = make_selector("fixed-random", "keep=0.5", &setting);
    cull_sel_course course = {.selector = selector};
    cull_sel_step   step = {0};
    cull_signals    signals = {.count = 40};
    cull_subset     subset = {0};
    cull_needs      needs = {0};

    (void)state;
    for (int i = 0; i < 2; i++) {
        cull_sel_course_epoch(&course, 0, &needs);
        assert_int_equal(CULL_SELECT_POOL, needs.action);
        assert_true(cull_sel_course_peek(&course, &step));
        assert_int_equal(CULL_SELECT_POOL, step.needs.action);
    }
    assert_ok(cull_select(selector, &signals, 0, &subset));
    assert_true(cull_sel_course_peek(&course, &step));
    assert_int_equal(CULL_KEEP_SUBSET, step.needs.action);
    cull_sel_course_epoch(&course, 1, &needs);
    assert_int_equal(CULL_KEEP_SUBSET, needs.action);
    assert_int_equal(20, course.count);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
}

/* ---- training batches ---- */

/* As they were cut, whatever sizes they have: none is short. */
static void batches_that_a_subset_is_made_of_are_taken_whole(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < 100; number++) {
        cull_setting    setting = {.pool = MOST, .batch = 10, .epochs = 1};
        cull_selector  *selector = make_selector("full", "", &setting);
        size_t          end[MOST], groups = 0, at = 0;
        cull_sel_course course = {.selector = selector, .drop_short = number % 2};
        uint64_t        counter = 0;

        while (at < MOST - 12) end[groups++] = at += 1 + draw(number, &counter, 12);
        course.end = end;
        course.groups = groups;
        course.count = at;
        for (size_t g = 0; g < groups; g++) {
            cull_sel_step step = {0};

            assert_true(cull_sel_course_position(&course, (double)groups) == (double)g);
            assert_true(!cull_sel_course_over(&course) && cull_sel_course_peek(&course, &step));
            assert_int_equal(end[g] - (g ? end[g - 1] : 0), step.count);
            assert_int_equal(step.count, step.learns);
            cull_sel_course_pass(&course, step.count);
        }
        assert_true(cull_sel_course_over(&course) && cull_sel_course_position(&course, 5) == 5);
        cull_selector_destroy(selector);
    }
}

static void every_step_of_full_training_is_as_far_on_the_schedule(void **state)
{
    (void)state;
    for (size_t count = 1; count < 40; count++)
        for (size_t batch = 1; batch <= count; batch++)
            for (int drop = 0; drop < 2; drop++) {
                cull_setting    setting = {.pool = count, .batch = batch, .epochs = 1};
                cull_selector  *selector = make_selector("full", "", &setting);
                cull_sel_course course = {.selector = selector, .drop_short = drop};
                cull_sel_step   step = {0};
                cull_needs      needs = {0};
                size_t          steps = 0;

                cull_sel_course_epoch(&course, 0, &needs);
                for (; cull_sel_course_peek(&course, &step); steps++)
                    cull_sel_course_pass(&course, step.count);
                assert_true(cull_sel_course_position(&course, 7) == 7);
                cull_sel_course_epoch(&course, 0, &needs);
                for (size_t i = 0; i < steps; i++) {
                    double part = cull_sel_course_position(&course, (double)(3 * steps));

                    assert_true(cull_sel_course_peek(&course, &step));
                    assert_true(part == (double)(3 * i));
                    cull_sel_course_pass(&course, step.count);
                }
                cull_selector_destroy(selector);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_beforehand_takes_the_steps_that_a_run_takes),
        cmocka_unit_test(a_walk_that_imagines_nothing_waits_for_the_choice),
        cmocka_unit_test(batches_that_a_subset_is_made_of_are_taken_whole),
        cmocka_unit_test(every_step_of_full_training_is_as_far_on_the_schedule),
    };
    return cmocka_run_group_tests(tests, fill_pool, NULL);
}
