/* test_claim.c - claims, judged on runs that are made up so that what is right is known. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "lab/reproduce/claim.h"
#include "records/figure_info.h"

#define RECIPES CULL_SOURCE_DIR "/recipes/reproduce"

enum { SEEDS = 3, LOOKS = 4 };

static int make_folder(void **state)
{
    char *folder = strdup(FOLDER_TEMPLATE);

    *state = folder;
    return !folder || !mkdtemp(folder);
}

static int drop_folder(void **state)
{
    remove_folder(*state);
    free(*state);
    return 0;
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, make_folder, drop_folder)

/* ---- intervals ---- */

static void an_interval_decides_and_one_pair_does_not(void **state)
{
    static const struct {
        cull_claim_way way;
        double         margin, difference[SEEDS];
        size_t         pairs;
        cull_held      held;
    } cases[] = {
        {CULL_CLAIM_ABOVE, 0, {1, 1.1, .9}, 3, CULL_HELD},
        {CULL_CLAIM_ABOVE, 0, {-1, -1.1, -.9}, 3, CULL_HELD_NOT},
        {CULL_CLAIM_ABOVE, 0, {1, -1, .1}, 3, CULL_HELD_OPEN},
        {CULL_CLAIM_ABOVE, 2, {1, 1.1, .9}, 3, CULL_HELD_NOT},
        {CULL_CLAIM_ABOVE, -2, {-1, -1.1, -.9}, 3, CULL_HELD},
        {CULL_CLAIM_BELOW, 0, {-1, -1.1, -.9}, 3, CULL_HELD},
        {CULL_CLAIM_BELOW, 0, {1, 1.1, .9}, 3, CULL_HELD_NOT},
        {CULL_CLAIM_BELOW, -.5, {.1, .12, .08}, 3, CULL_HELD},
        {CULL_CLAIM_BELOW, -.5, {.9, .92, .88}, 3, CULL_HELD_NOT},
        {CULL_CLAIM_WITHIN, .5, {.1, .12, .08}, 3, CULL_HELD},
        {CULL_CLAIM_WITHIN, .5, {1, 1.1, .9}, 3, CULL_HELD_NOT},
        {CULL_CLAIM_WITHIN, .5, {-1, -1.1, -.9}, 3, CULL_HELD_NOT},
        {CULL_CLAIM_WITHIN, .5, {.1, 1, -.9}, 3, CULL_HELD_OPEN},
        {CULL_CLAIM_ABOVE, 0, {5}, 1, CULL_HELD_OPEN},
        {CULL_CLAIM_BELOW, 0, {5}, 1, CULL_HELD_OPEN},
        {CULL_CLAIM_WITHIN, 9, {5}, 1, CULL_HELD_OPEN},
        {CULL_CLAIM_ABOVE, 0, {0}, 0, CULL_HELD_OPEN},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_claim   rule = {.of = CULL_CLAIM_END, .way = cases[i].way, .margin = cases[i].margin};
        cull_claimed c = cull_claim_judge(&rule, cases[i].difference, cases[i].pairs, 0);

        if (c.held != cases[i].held) fail_msg("case %zu: %d", i, (int)c.held);
    }
}

/* Differences that are rounded alike have no spread, and yet are not certain. */
static void rounding_is_no_certainty(void **state)
{
    static const double same[SEEDS] = {.01, .01, .01};
    cull_claim          rule = {.of = CULL_CLAIM_END, .way = CULL_CLAIM_ABOVE};

    (void)state;
    assert_int_equal(CULL_HELD, cull_claim_judge(&rule, same, SEEDS, 0).held);
    assert_int_equal(CULL_HELD_OPEN, cull_claim_judge(&rule, same, SEEDS, .01).held);
}

static void ranks_decide_by_p_and_by_the_side(void **state)
{
    static const double up[] = {1, 2, 3, 4, 5, 6, 7, 8}, down[] = {-1, -2, -3, -4, -5, -6, -7, -8};
    cull_claim          rule = {.of = CULL_CLAIM_RANKS, .to = .01};

    (void)state;
    assert_int_equal(CULL_HELD, cull_claim_judge(&rule, up, 8, 0).held); /* p = 2 / 2^8 */
    assert_int_equal(CULL_HELD_NOT, cull_claim_judge(&rule, down, 8, 0).held);
    assert_int_equal(CULL_HELD_OPEN, cull_claim_judge(&rule, up, 7, 0).held); /* p = 2 / 2^7 */
    assert_int_equal(CULL_HELD_OPEN, cull_claim_judge(&rule, up, 0, 0).held);
}

static void parts_of_a_claim_are_joined(void **state)
{
    (void)state;
    assert_int_equal(CULL_HELD, cull_claim_join(CULL_HELD_NONE, CULL_HELD));
    assert_int_equal(CULL_HELD, cull_claim_join(CULL_HELD, CULL_HELD));
    assert_int_equal(CULL_HELD_OPEN, cull_claim_join(CULL_HELD, CULL_HELD_OPEN));
    assert_int_equal(CULL_HELD_NOT, cull_claim_join(CULL_HELD_OPEN, CULL_HELD_NOT));
    assert_int_equal(CULL_HELD_NOT, cull_claim_join(CULL_HELD_NOT, CULL_HELD));
}

/* ---- made-up runs ---- */

/* A run whose accuracy rises by looks of equal cost; all phases that are cost take a fifth. */
struct made {
    double accuracy[LOOKS], seconds, updates, trained;
};

static cull_records_work work_at(const struct made *m, double share)
{
    cull_records_work work = {.scored = 1,
                              .trained = m->trained * share,
                              .thirds = 3,
                              .cost = 1,
                              .updates = m->updates * share,
                              .seconds = m->seconds * share};

    for (int i = 0; i < CULL_PHASES; i++) {
        work.seconds_by[i] = i < CULL_PHASES_OF_COST ? m->seconds * share / CULL_PHASES_OF_COST : 0;
        work.joules_by[i] = 3 * work.seconds_by[i];
    }
    return work;
}

static void put_run_on(const char *backend, const cull_figure *figure, size_t arm, uint64_t seed,
                       const struct made *m)
{
    cull_records_info info = {0};
    cull_records_logs logs = {0};
    char              folder[CULL_DATA_PATH], path[CULL_DATA_PATH + 16];
    uint64_t          a = 0, b = 0;

    assert_ok(cull_figure_folder(&figure->part[arm].is, seed, folder));
    (void)snprintf(path, sizeof path, "mkdir -p '%s'", folder);
    assert_int_equal(0, system(path));
    cull_records_info_take(NULL, &info);
    info.status = "finished";
    info.metric = "accuracy";
    info.test = m->accuracy[LOOKS - 1];
    info.best = info.test;
    for (int i = 0; i < LOOKS; i++) info.best = fmax(info.best, m->accuracy[i]);
    info.machine.backend = backend;
    info.data.name = "made up";
    info.data.test = 1e6;
    info.work = work_at(m, 1);
    assert_ok(cull_records_info_write(folder, &info));
    assert_ok(cull_records_logs_open(&logs, folder, &cull_yardstick_accuracy, 0, 0));
    for (int i = 0; i < LOOKS; i++) {
        cull_records_line line = {.event = CULL_RECORDS_EVALUATE,
                                  .set = CULL_RECORDS_TEST,
                                  .step = i + 1,
                                  .epoch = i + 1,
                                  .loss = 1,
                                  .accuracy = m->accuracy[i],
                                  .so_far = work_at(m, (i + 1.) / LOOKS)};
        assert_ok(cull_records_logs_add(&logs, &line));
    }
    assert_ok(cull_records_logs_sync(&logs, &a, &b));
    cull_records_logs_close(&logs);
}

static void put_run(const cull_figure *figure, size_t arm, uint64_t seed, const struct made *m)
{
    put_run_on("cpu", figure, arm, seed, m);
}

static const cull_reproduction made_up = {.name = "made/up",
                                          .number = "Figure 0",
                                          .title = "made up",
                                          .claim = "Nothing.",
                                          .recipe = "balles2023/lenet-fashion.yaml",
                                          .strategies = "random,sb",
                                          .keep = "0.1,0.5",
                                          .groups = "full=all,random=others,sb=others",
                                          .seeds = SEEDS};

/* full, random .1, random .5, sb .1, sb .5; seeds differ by a hundredth. */
static cull_figure *make_runs(const char *root)
{
    static const struct made arms[] = {
        {{.5, .7, .8, .90}, 100, 400, 4000}, {{.3, .5, .6, .70}, 20, 400, 400},
        {{.5, .6, .7, .80}, 50, 400, 2000},  {{.4, .6, .7, .75}, 25, 400, 400},
        {{.6, .8, .9, .91}, 60, 200, 2000},
    };
    const cull_reproduction_scale whole = {1, 1, 0, 0};
    cull_figure                  *figure = NULL;

    assert_ok(cull_figure_open(&made_up, &whole, RECIPES, root, &figure));
    assert_int_equal(5, figure->parts);
    for (size_t arm = 0; arm < figure->parts; arm++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct made m = arms[arm];

            for (int i = 0; i < LOOKS; i++)
                m.accuracy[i] +=
                    .001 * (double)seed + (arm == 4 ? .0001 * (double)(seed * seed) : 0);
            m.seconds += .01 * (double)seed;
            put_run(figure, arm, seed, &m);
        }
    return figure;
}

/* The mean difference of a rule, over all seeds. */
static double mean_of(const cull_claim_ground *g, cull_claim rule, size_t *pairs)
{
    double      *difference = NULL, resolution = 0;
    cull_claimed c;

    assert_ok(cull_claim_differences(g, &rule, &difference, pairs, &resolution));
    c = cull_claim_judge(&rule, difference, *pairs, resolution);
    free(difference);
    return c.mean;
}

static void numbers_are_those_of_the_runs(void **state)
{
    static const struct {
        cull_claim rule;
        double     mean, within;
        size_t     pairs;
    } cases[] = {
        {{CULL_CLAIM_END, "sb", "random", "0.1", 0, 0, 0, 0}, 5, .02, SEEDS},
        {{CULL_CLAIM_END, "sb", "random", NULL, 0, 0, 0, 0}, 8, .05, SEEDS},
        {{CULL_CLAIM_BEST, "sb", "full", "0.5", 0, 0, 0, 0}, 1.05, .05, SEEDS},
        {{CULL_CLAIM_SPEED, "random", NULL, "0.1", 0, 0, 0, 0}, 5, .01, SEEDS},
        {{CULL_CLAIM_SPEED, "random", NULL, "0.1", 0, 0, 4, 0}, 1, .01, SEEDS},
        {{CULL_CLAIM_ENERGY, "random", NULL, "0.5", 0, 0, 0, 0}, 2, .01, SEEDS},
        /* 1.4 times an error of 10 is met by full at its end, by sb .5 at the third look */
        {{CULL_CLAIM_SOONER, "sb", NULL, "0.5", 0, 0, 0, 1.4}, 100 / 45., .01, SEEDS},
        {{CULL_CLAIM_UPDATES, "sb", NULL, "0.5", 0, 0, 0, 1.4}, 400 / 150., .01, SEEDS},
        {{CULL_CLAIM_TRAINED, "sb", NULL, "0.5", 0, 0, 0, 1.4}, 1500 / 4000., .01, SEEDS},
        /* never there */
        {{CULL_CLAIM_SOONER, "random", NULL, "0.1", 0, 0, 0, 1.4}, 0, 1e-12, SEEDS},
        {{CULL_CLAIM_SOONER, "sb", "random", "0.5", 0, 0, 0, 1.4}, 100 / 45., .01, SEEDS},
        /* 6 times an error of 10 is met by full at its first look, which tells nothing */
        {{CULL_CLAIM_SOONER, "sb", NULL, "0.5", 0, 0, 0, 6}, NAN, 0, 0},
        {{CULL_CLAIM_UPDATES, "random", NULL, "0.1", 0, 0, 0, 6}, NAN, 0, 0},
        /* full stopped at sb .5's 60 seconds: its second look */
        {{CULL_CLAIM_END, "sb", "full-earlystop", "0.5", 0, 0, 0, 0}, 21.05, .05, SEEDS},
        /* before its first look full training has nothing to show */
        {{CULL_CLAIM_END, "random", "full-earlystop", "0.1", 0, 0, 0, 0}, NAN, 0, 0},
        {{CULL_CLAIM_RANKS, "sb", "random", NULL, 0, 0, .01, 0}, 8, .05, 2 * SEEDS},
        {{CULL_CLAIM_END, "nobody", "random", NULL, 0, 0, 0, 0}, NAN, 0, 0},
        {{CULL_CLAIM_END, "sb", "nobody", NULL, 0, 0, 0, 0}, NAN, 0, 0},
        /* the frontier: random .1's first three looks, sb .5's first four (its first at 15 s)   */
        {{CULL_CLAIM_FRONT, "others", NULL, NULL, 0, 0, 0, 0}, 100, 1e-9, SEEDS},
        {{CULL_CLAIM_FRONT, "all", NULL, NULL, 0, 0, 10, 0}, -10, 1e-9, SEEDS},
    };
    cull_figure      *figure = make_runs(*state);
    cull_claim_ground ground = {0};

    assert_ok(cull_claim_open(figure, NULL, &ground));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t pairs = 0;
        double mean = mean_of(&ground, cases[i].rule, &pairs);

        if (pairs != cases[i].pairs || (pairs && !(fabs(mean - cases[i].mean) <= cases[i].within)))
            fail_msg("case %zu: %g of %zu pairs", i, mean, pairs);
    }
    cull_claim_clear(&ground);
    cull_figure_close(figure);
}

static void a_claim_is_said_with_its_numbers(void **state)
{
    cull_reproduction entry = made_up;
    cull_figure      *figure = make_runs(*state);
    cull_claim_ground ground = {0};
    char              text[CULL_CLAIM_TEXT];
    cull_held         held = CULL_HELD_NONE;

    entry.rule[0] = (cull_claim){CULL_CLAIM_END, "sb", "random", NULL, CULL_CLAIM_ABOVE, 0, 0, 0};
    entry.rule[1] = (cull_claim){CULL_CLAIM_SPEED, "sb", NULL, "0.5", CULL_CLAIM_ABOVE, 0, 3, 0};
    assert_ok(cull_claim_open(figure, NULL, &ground));
    assert_ok(cull_claim_entry(&entry, &ground, &held, text));
    assert_int_equal(CULL_HELD_NOT, held);
    assert_non_null(strstr(text, "sb against random, at the end: +8.0"));
    assert_non_null(strstr(text, "3 pairs; claimed: above 0: held."));
    assert_non_null(strstr(text, "sb, at 0.5, times as fast as full training: 1.67"));
    assert_non_null(strstr(text, "claimed: above 3: not held."));
    entry.rule[1] = (cull_claim){CULL_CLAIM_END, "nobody", NULL, NULL, CULL_CLAIM_ABOVE, 0, 3, 0};
    assert_ok(cull_claim_entry(&entry, &ground, &held, text));
    assert_int_equal(CULL_HELD_OPEN, held);
    assert_non_null(strstr(text, "nobody, at the end: no numbers yet"));
    entry.rule[0].of = CULL_CLAIM_NONE;
    assert_ok(cull_claim_entry(&entry, &ground, &held, text));
    assert_int_equal(CULL_HELD_NONE, held);
    assert_string_equal("", text);
    cull_claim_clear(&ground);
    cull_figure_close(figure);
}

/* A run that is missing, or damaged, takes its pair out and nothing else. */
static void damaged_and_missing_runs_are_no_numbers(void **state)
{
    cull_figure      *figure = make_runs(*state);
    cull_claim_ground ground = {0};
    cull_claim        rule = {CULL_CLAIM_END, "sb", "random", "0.1", CULL_CLAIM_ABOVE, 0, 0, 0};
    char              folder[CULL_DATA_PATH], path[CULL_DATA_PATH + 16];
    size_t            pairs = 0;

    assert_ok(cull_figure_folder(&figure->part[3].is, 2, folder));
    (void)snprintf(path, sizeof path, "%s/metrics.jsonl", folder);
    put_file(path, "{", 1);
    assert_ok(cull_figure_folder(&figure->part[1].is, 3, folder));
    (void)snprintf(path, sizeof path, "%s/run.json", folder);
    assert_int_equal(0, unlink(path));
    assert_ok(cull_claim_open(figure, NULL, &ground));
    (void)mean_of(&ground, rule, &pairs);
    assert_int_equal(1, pairs);
    cull_claim_clear(&ground);
    cull_figure_close(figure);
}

/* What a rule makes of the runs of a folder as they are now. */
static cull_claimed judged(const cull_figure *figure, cull_claim rule)
{
    cull_claim_ground ground = {0};
    double           *difference = NULL, resolution = 0;
    size_t            pairs = 0;
    cull_claimed      c;

    assert_ok(cull_claim_open(figure, NULL, &ground));
    assert_ok(cull_claim_differences(&ground, &rule, &difference, &pairs, &resolution));
    c = cull_claim_judge(&rule, difference, pairs, resolution);
    free(difference);
    cull_claim_clear(&ground);
    return c;
}

static void drop_run(const cull_figure *figure, size_t arm, uint64_t seed)
{
    char folder[CULL_DATA_PATH], path[CULL_DATA_PATH + 16];

    assert_ok(cull_figure_folder(&figure->part[arm].is, seed, folder));
    (void)snprintf(path, sizeof path, "%s/run.json", folder);
    assert_int_equal(0, unlink(path));
}

/* Else the seeds that do come there would decide alone. */
static void who_never_comes_there_counts(void **state)
{
    static const struct made never = {{.3, .5, .6, .7}, 60, 200, 2000};

    cull_figure *figure = make_runs(*state);
    cull_claim   rule = {CULL_CLAIM_TRAINED, "sb", NULL, "0.5", CULL_CLAIM_BELOW, 0, 1, 1.4};
    cull_claimed c = judged(figure, rule);

    assert_int_equal(CULL_HELD, c.held);
    put_run(figure, 4, 2, &never);
    c = judged(figure, rule);
    assert_int_equal(SEEDS, c.pairs);
    assert_int_equal(CULL_HELD_OPEN, c.held);
    put_run(figure, 4, 1, &never);
    put_run(figure, 4, 3, &never);
    c = judged(figure, rule);
    assert_int_equal(SEEDS, c.pairs);
    assert_int_equal(CULL_HELD_NOT, c.held);
    cull_figure_close(figure);
}

/* Infinitely more in one seed, infinitely less in another: that has no mean, and is no number. */
static void who_is_never_there_may_be_either(void **state)
{
    static const struct made never = {{.3, .5, .6, .7}, 60, 200, 2000};
    static const struct made comes = {{.3, .5, .7, .9}, 60, 200, 2000};

    cull_figure      *figure = make_runs(*state);
    cull_reproduction entry = {
        .rule = {{CULL_CLAIM_TRAINED, "sb", "random", "0.5", CULL_CLAIM_BELOW, 0, 0, 1.4}}};
    cull_claim_ground ground = {0};
    char              text[CULL_CLAIM_TEXT];
    cull_held         held = CULL_HELD_NONE;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        put_run(figure, 2, seed, seed == 1 ? &never : &comes);
        put_run(figure, 4, seed, seed == 2 ? &never : &comes);
    }
    assert_ok(cull_claim_open(figure, NULL, &ground));
    assert_ok(cull_claim_entry(&entry, &ground, &held, text));
    assert_int_equal(CULL_HELD_OPEN, held);
    assert_null(strstr(text, "nan"));
    assert_non_null(
        strstr(text, ": sometimes the one is never there, sometimes the other; 3 pairs"));
    cull_claim_clear(&ground);
    cull_figure_close(figure);
}

/* Of a difference both sides come in steps, and the wider counts. */
static void the_other_side_comes_in_looks_too(void **state)
{
    static const struct made whole = {{.5, .7, .8, .9}, 100, 400, 4000};
    static const struct made late = {{.3, .5, .7, .9}, 100, 400, 4000};
    static const struct made soon = {{.5, .87, .88, .9}, 100, 400, 4000};

    cull_figure *figure = make_runs(*state);
    cull_claim   rule = {CULL_CLAIM_UPDATES, "sb", "random", "0.5", CULL_CLAIM_BELOW, 0, 0, 1.4};
    cull_claimed c;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        put_run(figure, 0, seed, &whole);
        put_run(figure, 2, seed, &soon); /* twice as soon, by a look of two */
        put_run(figure, 4, seed, &late);
    }
    c = judged(figure, rule);
    assert_int_equal(SEEDS, c.pairs);
    assert_true(fabs(c.mean + 1) < 1e-9);
    assert_int_equal(CULL_HELD_OPEN, c.held);
    cull_figure_close(figure);
}

/* A target is met at a look, and the next is a quarter of the run away: seeds that agree to that
 * are not certain; nor are those whose frontiers have as few points. */
static void looks_are_steps_and_no_certainty(void **state)
{
    static const cull_claim rules[] = {
        {CULL_CLAIM_UPDATES, "sb", NULL, "0.5", CULL_CLAIM_ABOVE, 0, 2, 1.4},
        {CULL_CLAIM_TRAINED, "sb", NULL, "0.5", CULL_CLAIM_BELOW, 0, .4, 1.4},
        {CULL_CLAIM_FRONT, "others", NULL, NULL, CULL_CLAIM_ABOVE, 0, 99, 0},
    };
    static const double wide[] = {.5, .1, 5};
    cull_figure        *figure = make_runs(*state);

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        cull_claimed c = judged(figure, rules[i]);

        assert_int_equal(SEEDS, c.pairs);
        assert_int_equal(CULL_HELD_OPEN, c.held);
        if (!(c.high - c.low > wide[i])) fail_msg("rule %zu: %g to %g", i, c.low, c.high);
    }
    cull_figure_close(figure);
}

/* Neither sb nor random comes to 14 % of error with a tenth: who would be sooner is not known. */
static void a_target_that_neither_meets_tells_nothing(void **state)
{
    cull_figure *figure = make_runs(*state);
    cull_claim   rule = {CULL_CLAIM_SOONER, "sb", "random", "0.1", CULL_CLAIM_ABOVE, 0, 0, 1.4};
    cull_claimed c = judged(figure, rule);

    assert_int_equal(0, c.pairs);
    assert_int_equal(CULL_HELD_OPEN, c.held);
    cull_figure_close(figure);
}

/* A mean over shares is not one over those that happen to be there. */
static void a_seed_counts_when_all_its_runs_are_there(void **state)
{
    cull_figure *figure = make_runs(*state);
    cull_claim   rule = {CULL_CLAIM_END, "sb", "random", NULL, CULL_CLAIM_ABOVE, 0, 0, 0};
    cull_claim   speed = {CULL_CLAIM_SPEED, "sb", NULL, NULL, CULL_CLAIM_ABOVE, 0, 1, 0};
    cull_claimed c = judged(figure, rule);

    assert_int_equal(SEEDS, c.pairs);
    drop_run(figure, 4, 2); /* sb, .5 */
    c = judged(figure, rule);
    assert_int_equal(2, c.pairs);
    assert_true(fabs(c.mean - 8) < .1); /* as before; by .1 alone it would be 5 in one of three */
    assert_int_equal(2, judged(figure, speed).pairs);
    drop_run(figure, 2, 3); /* random, .5 */
    assert_int_equal(1, judged(figure, rule).pairs);
    assert_int_equal(2, judged(figure, speed).pairs);
    drop_run(figure, 0, 1); /* full */
    assert_int_equal(1, judged(figure, rule).pairs);
    assert_int_equal(1, judged(figure, speed).pairs);
    cull_figure_close(figure);
}

/* Runs of a folder that went from one machine to another: results are results, times are not. */
static void times_of_two_machines_are_not_compared(void **state)
{
    static const struct made elsewhere = {
        {.501, .701, .801, .901}, 1, 400, 4000}; /* full training, in a second */
    static const cull_claim of_time[] = {
        {CULL_CLAIM_SPEED, "sb", NULL, "0.5", CULL_CLAIM_ABOVE, 0, 1, 0},
        {CULL_CLAIM_ENERGY, "sb", NULL, "0.5", CULL_CLAIM_ABOVE, 0, 1, 0},
        {CULL_CLAIM_SOONER, "sb", NULL, "0.5", CULL_CLAIM_ABOVE, 0, 1, 1.4},
        {CULL_CLAIM_FRONT, "others", NULL, NULL, CULL_CLAIM_ABOVE, 0, 1, 0},
        {CULL_CLAIM_END, "sb", "full-earlystop", "0.5", CULL_CLAIM_ABOVE, 0, 0, 0},
    };
    static const cull_claim others[] = {
        {CULL_CLAIM_END, "sb", "full", "0.5", CULL_CLAIM_ABOVE, 0, 0, 0},
        {CULL_CLAIM_UPDATES, "sb", NULL, "0.5", CULL_CLAIM_ABOVE, 0, 1, 1.4},
    };
    cull_figure *figure = make_runs(*state);

    for (size_t i = 0; i < sizeof of_time / sizeof *of_time; i++)
        assert_int_equal(SEEDS, judged(figure, of_time[i]).pairs);
    put_run_on("cuda", figure, 0, 1, &elsewhere);
    for (size_t i = 0; i < sizeof of_time / sizeof *of_time; i++)
        assert_int_equal(SEEDS - 1, judged(figure, of_time[i]).pairs);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(SEEDS, judged(figure, others[i]).pairs);
    cull_figure_close(figure);
}

/* ---- values ---- */

static void set_status(const cull_figure *figure, size_t arm, uint64_t seed, const char *status)
{
    cull_records_info info = {0};
    char              folder[CULL_DATA_PATH];

    assert_ok(cull_figure_folder(&figure->part[arm].is, seed, folder));
    cull_records_info_take(NULL, &info);
    info.status = status;
    info.data.name = "made up";
    assert_ok(cull_records_info_write(folder, &info));
}

static const cull_reproduction swept = {.name = "made/swept",
                                        .recipe = "balles2023/lenet-fashion.yaml",
                                        .strategies = "random,sb",
                                        .keep = "0.3",
                                        .vary = "schedule.stretch=0.1,1,10",
                                        .seeds = SEEDS};

/* full at .1, 1 and 10; then random and sb at .1, at 1 and at 10. */
static cull_figure *make_sweep(const char *root)
{
    static const double           best[] = {.8, .9, .7, .85, .7, .6, .88, .5, .2};
    const cull_reproduction_scale whole = {1, 1, 0, 0};
    cull_figure                  *figure = NULL;

    assert_ok(cull_figure_open(&swept, &whole, RECIPES, root, &figure));
    assert_int_equal(9, figure->parts);
    for (size_t arm = 0; arm < figure->parts; arm++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct made m = {{.1, .1, .1, best[arm] + .001 * (double)seed}, 100, 400, 4000};

            put_run(figure, arm, seed, &m);
        }
    return figure;
}

static size_t find_arm(const cull_figure *figure, const char *series, const char *value)
{
    for (size_t i = 0; i < figure->parts; i++)
        if (strcmp(figure->part[i].is.series, series) == 0 &&
            strcmp(figure->part[i].is.value, value) == 0)
            return i;
    fail_msg("there is no %s at %s", series, value);
    return 0;
}

/* random is highest at .1 (85), sb at .1, too (70); by the mean over values sb would be ahead of
 * what it is. */
static void tuned_is_who_is_highest_at_its_own_value(void **state)
{
    cull_figure *figure = make_sweep(*state);
    cull_claim   rule = {CULL_CLAIM_TUNED, "sb", "random", NULL, CULL_CLAIM_BELOW, 0, 0, 0};
    size_t       last = find_arm(figure, "sb", "10");
    double       random = 0, sb = 0;
    cull_claimed c = judged(figure, rule);

    for (size_t i = 0; i < figure->parts; i++) {
        static const double best[] = {.8, .9, .7, .85, .7, .6, .88, .5, .2};

        if (strcmp(figure->part[i].is.series, "random") == 0) random = fmax(random, best[i]);
        if (strcmp(figure->part[i].is.series, "sb") == 0) sb = fmax(sb, best[i]);
    }
    assert_int_equal(SEEDS, c.pairs);
    assert_true(fabs(c.mean - 100 * (sb - random)) < 1e-6);
    set_status(figure, last, 2, "failed"); /* it diverged: nobody would choose that value */
    assert_int_equal(SEEDS, judged(figure, rule).pairs);
    set_status(figure, last, 2, "running");
    assert_int_equal(SEEDS - 1, judged(figure, rule).pairs);
    cull_figure_close(figure);
}

/* What has a full training of its own is not held against another's while that is missing. */
static void a_value_is_held_against_its_own_full_training(void **state)
{
    cull_figure *figure = make_sweep(*state);
    cull_claim   end = {CULL_CLAIM_END, "sb", "full", "10", CULL_CLAIM_BELOW, 0, 0, 0};
    cull_claim   speed = {CULL_CLAIM_SPEED, "sb", NULL, "10", CULL_CLAIM_ABOVE, 0, 1, 0};

    assert_int_equal(SEEDS, judged(figure, end).pairs);
    set_status(figure, find_arm(figure, "full", "10"), 2, "failed");
    assert_int_equal(SEEDS - 1, judged(figure, end).pairs);
    assert_int_equal(SEEDS - 1, judged(figure, speed).pairs);
    cull_figure_close(figure);
}

static void failing_allocations_leave_nothing_behind(void **state)
{
    cull_reproduction entry = made_up;
    cull_figure      *figure = make_runs(*state);
    cull_claim_ground ground = {0};
    cull_status       status = CULL_NO_MEMORY;
    char              text[CULL_CLAIM_TEXT];
    cull_held         held = CULL_HELD_NONE;

    entry.rule[0] = (cull_claim){CULL_CLAIM_FRONT, "others", NULL, NULL, CULL_CLAIM_ABOVE, 0, 0, 0};
    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = cull_claim_open(figure, *state, &ground);
        if (status == CULL_OK) status = cull_claim_entry(&entry, &ground, &held, text);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        cull_claim_clear(&ground);
    }
    assert_int_equal(CULL_HELD, held);
    cull_figure_close(figure);
}

/* ---- points and probes ---- */

static cull_point point_of(const char *panel, const char *series, const char *value, double x,
                           double y)
{
    cull_point p = {.x = x, .y = y, .low = NAN, .high = NAN};

    (void)snprintf(p.panel, sizeof p.panel, "%s", panel);
    (void)snprintf(p.series, sizeof p.series, "%s", series);
    (void)snprintf(p.value, sizeof p.value, "%s", value);
    return p;
}

static void points_are_pairs_at_the_same_place(void **state)
{
    const cull_point all[] = {
        point_of("a", "sb", "", 1, 5),           point_of("a", "sb", "", 2, 7),
        point_of("a", "random", "", 2, 4),       point_of("b", "random", "", 1, 9),
        point_of("", "score", "gm 0.1", NAN, 2), point_of("", "learn", "gm 0.1", NAN, 4),
        point_of("", "score", "sb 0.1", NAN, 1), point_of("", "learn", "sb 0.1", NAN, 4),
        point_of("", "learn", "gm 0.5", NAN, 4),
    };
    cull_claim_ground ground = {0};
    size_t            pairs = 0;

    assert_ok(cull_points_write(*state, all, sizeof all / sizeof *all, true));
    assert_ok(cull_claim_open(NULL, *state, &ground));
    assert_true(mean_of(&ground, (cull_claim){CULL_CLAIM_POINTS, "sb", "random", NULL, 0, 0, 0, 0},
                        &pairs) == 3);
    assert_int_equal(1, pairs); /* x = 2; at x = 1 the other panel's does not count */
    assert_true(mean_of(&ground, (cull_claim){CULL_CLAIM_POINTS, "sb", NULL, "a", 0, 0, 1, 0},
                        &pairs) == 5);
    assert_int_equal(2, pairs);
    assert_true(mean_of(&ground, (cull_claim){CULL_CLAIM_POINTS, "sb", NULL, "a", 0, 0, 0, 2},
                        &pairs) == 7); /* at x = 2 alone */
    assert_true(
        fabs(mean_of(&ground, (cull_claim){CULL_CLAIM_BARS, "gm", "sb", NULL, 0, 0, 1, 0}, &pairs) -
             .2) < 1e-12); /* 6 / 5 less 1; at .5 there is no sb */
    assert_int_equal(1, pairs);
    cull_claim_clear(&ground);
}

/* Of points a target is a place on the axis. */
static void a_claim_of_points_names_its_place(void **state)
{
    const cull_point  all[] = {point_of("", "sb", "", 20, .3), point_of("", "full", "", 20, .1)};
    cull_reproduction entry = {.rule = {{CULL_CLAIM_POINTS, "sb", "full", NULL, 0, 0, 0, 20}}};
    cull_claim_ground ground = {0};
    char              text[CULL_CLAIM_TEXT];
    cull_held         held = CULL_HELD_NONE;

    assert_ok(cull_points_write(*state, all, 2, true));
    assert_ok(cull_claim_open(NULL, *state, &ground));
    assert_ok(cull_claim_entry(&entry, &ground, &held, text));
    assert_non_null(strstr(text, "sb against full, as drawn at 20: +0.2000; 1 point"));
    assert_null(strstr(text, "times the error"));
    cull_claim_clear(&ground);
}

static void points_of_another_sitting_are_added_or_replaced(void **state)
{
    const cull_point    first[] = {point_of("", "a", "", 1, 1), point_of("", "a", "", 2, 2)};
    const cull_point    second[] = {point_of("", "a", "", 2, 9), point_of("", "a", "", 3, 3)};
    cull_records_points out = {0};
    cull_records_list   problems = {0};
    bool                there = false;

    assert_ok(cull_points_write(*state, first, 2, true));
    assert_ok(cull_points_write(*state, second, 2, false));
    assert_ok(cull_records_points_read(*state, &out, &there, &problems));
    assert_int_equal(3, out.count);
    assert_true(out.point[1].y == 9 && out.point[2].y == 3);
    cull_records_points_clear(&out);
    assert_ok(cull_points_write(*state, NULL, 0, true));
    there = false;
    assert_ok(cull_records_points_read(*state, &out, &there, &problems));
    assert_int_equal(0, out.count);
    cull_records_points_clear(&out);
}

static void wins_are_judged_by_wilsons_interval(void **state)
{
    cull_records_probe probe[40];
    cull_claim_ground  ground = {.probes = {.probe = probe, .count = 40}};
    cull_claim above = {CULL_CLAIM_WINS, "gradmatch", NULL, NULL, CULL_CLAIM_ABOVE, 0, 50, 0};
    cull_claim at = above;

    (void)state;
    memset(probe, 0, sizeof probe);
    for (int i = 0; i < 40; i++) {
        (void)snprintf(probe[i].strategy, sizeof probe[i].strategy, "gradmatch");
        probe[i].keep = i < 20 ? .1 : .5;
        probe[i].win = i < 20 || i % 2;
    }
    /* 30 picks of 40, and 20 minibatches: two shares of one are not two */
    assert_int_equal(CULL_HELD, cull_claim_wins(&ground, &above).held);
    assert_int_equal(20, cull_claim_wins(&ground, &above).pairs);
    assert_true(fabs(cull_claim_wins(&ground, &above).mean - 25) < 1e-9);
    assert_true(fabs(cull_claim_wins(&ground, &above).low - 3.13) < .1); /* Wilson, 15 of 20 */
    at.at = "0.5";                                                       /* 10 of 20 */
    assert_int_equal(CULL_HELD_OPEN, cull_claim_wins(&ground, &at).held);
    assert_int_equal(20, cull_claim_wins(&ground, &at).pairs);
    at.at = "0.1";
    at.way = CULL_CLAIM_BELOW;
    assert_int_equal(CULL_HELD_NOT, cull_claim_wins(&ground, &at).held);
    at.left = "nobody";
    assert_int_equal(0, cull_claim_wins(&ground, &at).pairs);
}

/* ---- a paper ---- */

static const cull_paper_figure *figure_of(const cull_paper *paper, const char *name)
{
    for (size_t i = 0; i < paper->figures; i++)
        if (strcmp(paper->figure[i].name, name) == 0) return &paper->figure[i];
    fail_msg("%s is not there", name);
    return NULL;
}

static void a_paper_says_what_was_begun_and_what_was_not(void **state)
{
    const cull_reproduction *table = cull_reproduction_find("balles2023/table1");
    cull_figure_state        state_of = {.scale = {.1, .5, 2, 7}, .done = true}, read;
    const cull_point         bars[] = {point_of("", "learn", "gradmatch 0.1", NAN, 2),
                                       point_of("", "learn", "sb beta=balles 0.1", NAN, 1.99),
                                       point_of("", "learn", "gradmatch 0.3", NAN, 3),
                                       point_of("", "learn", "sb beta=balles 0.3", NAN, 2.98)};
    cull_paper_book         *book = NULL;
    const cull_paper        *paper = NULL;
    const cull_paper_figure *f = NULL;

    assert_ok(cull_figure_read(table, *state, &read));
    assert_false(read.begun);
    (void)snprintf(state_of.network, sizeof state_of.network, "lenet5 on mnist");
    (void)snprintf(state_of.recipe, sizeof state_of.recipe, "0123456789abcdef");
    assert_ok(cull_figure_note(table, *state, &state_of));
    assert_ok(cull_figure_read(table, *state, &read));
    assert_string_equal(state_of.network, read.network);
    assert_string_equal(state_of.recipe, read.recipe);
    assert_true(read.begun && read.done && read.scale.batches == 7);
    assert_true(read.scale.epochs == .1 && read.scale.subset == .5 && read.scale.seeds == 2);
    assert_ok(cull_points_write(read.folder, bars, 4, true));
    assert_ok(cull_paper_open("balles2023", RECIPES, *state, &book));
    paper = cull_paper_of(book);
    assert_non_null(strstr(paper->title, "Negative Result"));
    f = figure_of(paper, "balles2023/table1");
    assert_string_equal("Table 1", f->number);
    assert_int_equal(CULL_HELD, f->held);
    assert_non_null(strstr(f->scale, "10 % of the epochs"));
    assert_non_null(strstr(f->scale, " Network: lenet5 on mnist."));
    assert_string_equal("", f->missing);
    f = figure_of(paper, "balles2023/fig1");
    assert_non_null(strstr(f->missing, "Not run yet"));
    assert_int_equal(CULL_HELD_NONE, f->held);
    cull_paper_close(book);
    assert_fails(CULL_NOT_FOUND, "no paper", cull_paper_open("nobody1999", RECIPES, *state, &book));
}

static void a_figure_of_runs_is_shown_with_those_that_are_finished(void **state)
{
    static const struct made m = {{.1, .2, .3, .4}, 10, 10, 10};
    const cull_reproduction *entry = cull_reproduction_find("killamsetty2021/fig1");
    cull_figure_state        begun = {.scale = {.02, 1, 2, 0}};
    cull_figure             *figure = NULL;
    cull_paper_book         *book = NULL;
    const cull_paper_figure *f = NULL;

    assert_ok(cull_figure_note(entry, *state, &begun));
    assert_ok(cull_figure_open(entry, &begun.scale, RECIPES, *state, &figure));
    put_run(figure, 0, 1, &m);
    put_run(figure, 0, 2, &m);
    put_run(figure, 2, 2, &m);
    assert_ok(cull_paper_open("killamsetty2021", RECIPES, *state, &book));
    f = figure_of(cull_paper_of(book), entry->name);
    assert_int_equal(3, f->runs);
    assert_int_equal(8, f->of);
    assert_int_equal(2, f->arms);
    assert_true(f->arm[0].full && f->arm[0].runs == 2 && f->arm[1].runs == 1);
    assert_int_equal(2, f->arm[1].seed[0]);
    assert_true(f->arm[1].x == .2);
    assert_non_null(strstr(f->arm[1].run[0], "/seed-2"));
    assert_string_equal("6 of 300 epochs, 2 of 5 seeds: this is not the paper's scale. Trained: "
                        "resnet18 on cifar10, batches of 128, float32.",
                        f->scale);
    /* the same runs are those of Figure 3i, once that is begun */
    f = figure_of(cull_paper_of(book), "killamsetty2021/fig3i");
    assert_non_null(strstr(f->missing, "Not run yet"));
    cull_paper_close(book);
    assert_ok(cull_figure_note(cull_reproduction_find("killamsetty2021/fig3i"), *state, &begun));
    assert_ok(cull_paper_open("killamsetty2021", RECIPES, *state, &book));
    assert_int_equal(3, figure_of(cull_paper_of(book), "killamsetty2021/fig3i")->runs);
    cull_paper_close(book);
    cull_figure_close(figure);
}

/* Runs that diverged, runs of another machine, and what is not at its end. */
static void what_a_drawing_hides_is_said(void **state)
{
    static const struct made m = {{.1, .2, .3, .4}, 10, 10, 10};
    const cull_reproduction *entry = cull_reproduction_find("killamsetty2021/fig1");
    const cull_reproduction *watched = cull_reproduction_find("jiang2019/fig3");
    cull_figure_state        begun = {.scale = {.02, 1, 2, 0}}, other = begun;
    const cull_point         point = point_of("by epoch", "mean", "", 1, 2);
    cull_figure             *figure = NULL;
    cull_paper_book         *book = NULL;
    const cull_paper_figure *f = NULL;

    assert_ok(cull_figure_note(entry, *state, &begun));
    assert_ok(cull_figure_open(entry, &begun.scale, RECIPES, *state, &figure));
    put_run(figure, 0, 1, &m);
    put_run_on("cuda", figure, 1, 1, &m);
    put_run(figure, 2, 1, &m);
    set_status(figure, 2, 1, "failed");
    assert_ok(cull_paper_open("killamsetty2021", RECIPES, *state, &book));
    f = figure_of(cull_paper_of(book), entry->name);
    assert_int_equal(2, f->runs);
    assert_non_null(strstr(f->scale, " 1 run failed, and is left out."));
    assert_non_null(strstr(f->scale, " 1 run is of another machine or version"));
    cull_paper_close(book);
    assert_ok(cull_figure_note(watched, *state, &other));
    assert_ok(cull_figure_read(watched, *state, &other));
    assert_ok(cull_points_write(other.folder, &point, 1, true));
    assert_ok(cull_paper_open("jiang2019", RECIPES, *state, &book));
    assert_non_null(strstr(figure_of(cull_paper_of(book), watched->name)->scale, "not finished"));
    cull_paper_close(book);
    other.done = true;
    assert_ok(cull_figure_note(watched, *state, &other));
    assert_ok(cull_paper_open("jiang2019", RECIPES, *state, &book));
    assert_null(strstr(figure_of(cull_paper_of(book), watched->name)->scale, "not finished"));
    cull_paper_close(book);
    cull_figure_close(figure);
}

/* What all of Figure 6's runs are there for is there, too, without being begun. */
static void a_figure_whose_runs_are_all_there_is_there(void **state)
{
    static const struct made m = {{.1, .2, .3, .4}, 10, 10, 10};
    const cull_reproduction *first = cull_reproduction_find("jiang2019/fig6"), *whose = NULL;
    const cull_reproduction *second = cull_reproduction_find("jiang2019/fig7");
    cull_figure_state        begun = {.scale = {.02, 1, 2, 0}}, is = {0};
    cull_figure             *figure = NULL;
    cull_paper_book         *book = NULL;
    const cull_paper_figure *f = NULL;

    assert_ok(cull_figure_note(first, *state, &begun));
    assert_ok(cull_figure_open(first, &begun.scale, RECIPES, *state, &figure));
    for (size_t arm = 0; arm < figure->parts; arm++) {
        assert_ok(cull_figure_shared(second, RECIPES, *state, &is, &whose));
        assert_true(!is.begun && !whose); /* not before the last is */
        for (uint64_t seed = 1; seed <= 2; seed++) put_run(figure, arm, seed, &m);
    }
    assert_ok(cull_figure_shared(second, RECIPES, *state, &is, &whose));
    assert_true(is.begun && whose == first && is.scale.epochs == .02 && is.scale.seeds == 2);
    assert_ok(cull_paper_open("jiang2019", RECIPES, *state, &book));
    for (size_t i = 0; i < 4; i++) {
        static const char *const names[] = {"jiang2019/fig6", "jiang2019/fig7", "jiang2019/fig10",
                                            "jiang2019/table1"};

        f = figure_of(cull_paper_of(book), names[i]);
        assert_string_equal("", f->missing);
        assert_int_equal(2 * figure->parts, f->runs);
        assert_non_null(strstr(f->scale, "4 of 200 epochs"));
    }
    /* which ask for more, or for other runs */
    f = figure_of(cull_paper_of(book), "jiang2019/fig14");
    assert_non_null(strstr(f->missing, "Not run yet"));
    f = figure_of(cull_paper_of(book), "jiang2019/fig17");
    assert_non_null(strstr(f->missing, "Not run yet"));
    cull_paper_close(book);
    cull_figure_close(figure);
}

static void a_probe_of_few_minibatches_says_so(void **state)
{
    cull_figure_state begun = {.scale = {1, 1, 0, 20}, .done = true};
    cull_paper_book  *book = NULL;

    assert_ok(cull_figure_note(cull_reproduction_find("balles2023/fig3"), *state, &begun));
    begun.scale.batches = 200;
    assert_ok(cull_figure_note(cull_reproduction_find("balles2023/fig3-svhn"), *state, &begun));
    assert_ok(cull_paper_open("balles2023", RECIPES, *state, &book));
    assert_string_equal("20 of 200 minibatches: this is not the paper's scale.",
                        figure_of(cull_paper_of(book), "balles2023/fig3")->scale);
    assert_string_equal("At the paper's scale.",
                        figure_of(cull_paper_of(book), "balles2023/fig3-svhn")->scale);
    cull_paper_close(book);
}

static void a_paper_survives_failing_allocations(void **state)
{
    cull_figure_state begun = {.scale = {.02, 1, 1, 0}};
    cull_paper_book  *book = NULL;
    cull_status       status = CULL_NO_MEMORY;

    assert_ok(cull_figure_note(cull_reproduction_find("killamsetty2021/fig1"), *state, &begun));
    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = cull_paper_open("killamsetty2021", RECIPES, *state, &book);
        fail_nth_alloc(0);
        if (status != CULL_OK) assert_int_equal(CULL_NO_MEMORY, status);
    }
    cull_paper_close(book);
}

static void what_is_no_scale_is_not_believed(void **state)
{
    static const char *const texts[] = {"",
                                        "{",
                                        "[]",
                                        "{\"epochs\":2,\"subset\":1,\"seeds\":0,\"batches\":0}",
                                        "{\"epochs\":1,\"subset\":0,\"seeds\":0,\"batches\":0}",
                                        "{\"epochs\":1,\"subset\":1,\"seeds\":-1,\"batches\":0}",
                                        "{\"epochs\":1,\"subset\":1}"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cull_records_figure figure;
        bool                there = false;

        assert_ok(cull_records_figure_decode(texts[i], strlen(texts[i]), &figure, &there));
        assert_false(there);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interval_decides_and_one_pair_does_not),
        cmocka_unit_test(rounding_is_no_certainty),
        cmocka_unit_test(ranks_decide_by_p_and_by_the_side),
        cmocka_unit_test(parts_of_a_claim_are_joined),
        IN_FOLDER(numbers_are_those_of_the_runs),
        IN_FOLDER(a_claim_is_said_with_its_numbers),
        IN_FOLDER(damaged_and_missing_runs_are_no_numbers),
        IN_FOLDER(who_never_comes_there_counts),
        IN_FOLDER(who_is_never_there_may_be_either),
        IN_FOLDER(the_other_side_comes_in_looks_too),
        IN_FOLDER(looks_are_steps_and_no_certainty),
        IN_FOLDER(a_target_that_neither_meets_tells_nothing),
        IN_FOLDER(a_seed_counts_when_all_its_runs_are_there),
        IN_FOLDER(times_of_two_machines_are_not_compared),
        IN_FOLDER(tuned_is_who_is_highest_at_its_own_value),
        IN_FOLDER(a_value_is_held_against_its_own_full_training),
        IN_FOLDER(failing_allocations_leave_nothing_behind),
        IN_FOLDER(points_are_pairs_at_the_same_place),
        IN_FOLDER(a_claim_of_points_names_its_place),
        IN_FOLDER(points_of_another_sitting_are_added_or_replaced),
        cmocka_unit_test(wins_are_judged_by_wilsons_interval),
        IN_FOLDER(a_paper_says_what_was_begun_and_what_was_not),
        IN_FOLDER(a_figure_of_runs_is_shown_with_those_that_are_finished),
        IN_FOLDER(what_a_drawing_hides_is_said),
        IN_FOLDER(a_figure_whose_runs_are_all_there_is_there),
        IN_FOLDER(a_probe_of_few_minibatches_says_so),
        IN_FOLDER(a_paper_survives_failing_allocations),
        cmocka_unit_test(what_is_no_scale_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
