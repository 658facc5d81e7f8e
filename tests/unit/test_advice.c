/* tests/unit/test_advice.c - what the referee says is to be done, and what it leaves unsaid. */
#include "records/judge/advice.h"

#include <stdio.h>

#include "made_comparison.h"

static const made_arm full = {"full", "full", "full", NULL, 1, 90, 0, 0, 0};

/* The advice on full training and these. */
static cull_advice advise(const made_arm *rows, size_t count, size_t seeds, made_comparison *c)
{
    made_arm    all[MADE_ARMS] = {full};
    cull_advice out;

    memcpy(all + 1, rows, count * sizeof *rows);
    make_comparison(all, count + 1, seeds, c);
    cull_advise(&c->is, &cull_yardstick_accuracy, &out);
    return out;
}

static void assert_said(const char *text, const char *want)
{
    if (!strstr(text, want)) fail_msg("'%s' is not in: %s", want, text);
}

static void assert_unsaid(const char *text, const char *never)
{
    if (strstr(text, never)) fail_msg("'%s' is in: %s", never, text);
}

static const char *chosen(const cull_advice *a)
{
    return a->chosen ? a->chosen->name : "";
}

static const char *saving(const cull_advice *a)
{
    return a->saving ? a->saving->name : "";
}

static void a_strategy_that_pays_and_keeps_up_is_advised(void **state)
{
    static const made_arm rows[] = {
        {"sb keep=0.3", "arm", "sb", "better", .31, 89.9, .05, .9, 0},
        {"random keep=0.3", "whole-budget", "random", NULL, .31, 89, .05, 0, 0},
        {"full shortened to 0.31", "shortened", "full", NULL, .31, 88, .05, 0, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 3, 6, &c);

    (void)state;
    assert_string_equal("sb keep=0.3", chosen(&a));
    assert_string_equal("", saving(&a));
    assert_said(a.what,
                "Use sb keep=0.3: accuracy stays within 0.5 points of full training's (-0.");
    assert_said(a.what, ", at 31 % of the cost.");
    assert_string_equal("Uniform choice at the same cost is 0.90 points lower.", a.more);
}

static void what_beats_full_training_is_said_to(void **state)
{
    static const made_arm rows[] = {{"sb keep=0.3", "arm", "sb", "better", .31, 91, .05, 2, 0}};
    made_comparison       c;
    cull_advice           a = advise(rows, 1, 6, &c);

    (void)state;
    assert_said(a.what, "Use sb keep=0.3: accuracy is above full training's, by 0.9");
    assert_unsaid(a.what, "within");
}

static void a_strategy_is_advised_for_its_verdict_alone(void **state)
{
    static const char *const verdicts[] = {"worse",    "no different", "undecided",
                                           "untested", "control",      ""};

    (void)state;
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        made_arm        rows[] = {{"sb keep=0.3", "arm", "sb", NULL, .31, 95, .05, 0, 0},
                                  {"random keep=0.3", "whole-budget", "random", NULL, .31, 89, .05, 0, 0}};
        made_comparison c;
        cull_advice     a;

        rows[0].verdict = verdicts[i];
        a = advise(rows, 2, 6, &c);
        assert_string_equal("full", chosen(&a));
        assert_string_equal("random keep=0.3", saving(&a));
        assert_unsaid(a.what, "sb");
        assert_unsaid(a.more, "sb");
    }
}

static void
where_nothing_keeps_up_a_strategy_that_pays_is_advised_with_what_it_gives_up(void **state)
{
    static const made_arm rows[] = {
        {"sb keep=0.1", "arm", "sb", "better", .11, 86, .05, 2, 0},
        {"sb keep=0.3", "arm", "sb", "better", .31, 88.8, .05, .9, 0},
        {"random keep=0.3", "whole-budget", "random", NULL, .31, 87.9, .05, 0, 0},
        {"random keep=0.1", "whole-budget", "random", NULL, .11, 84, .05, 0, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 4, 6, &c);

    (void)state;
    assert_string_equal("sb keep=0.3", chosen(&a)); /* the best mean of those that pay */
    assert_string_equal("", saving(&a));
    assert_said(a.what, "To save 69 % of the cost, use sb keep=0.3: it gives up 1.2");
    assert_said(a.what, " points of accuracy (95 % interval 1.");
    assert_said(a.more, "Where that is too much, train in full: nothing cheaper is shown to stay "
                        "within 0.5 points of it.");
    assert_said(a.more, "Uniform choice at the same cost is 0.90 points lower.");
    assert_unsaid(a.more, "more seed");
}

static void where_nothing_pays_or_keeps_up_full_training_is_advised(void **state)
{
    static const made_arm rows[] = {
        {"sb keep=0.3", "arm", "sb", "no different", .31, 88, .05, .1, 0},
        {"random keep=0.3", "whole-budget", "random", NULL, .31, 87.9, .05, 0, 0},
        {"full shortened to 0.31", "shortened", "full", NULL, .31, 88.5, .05, 0, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 3, 6, &c);

    (void)state;
    assert_string_equal("full", chosen(&a));
    assert_string_equal("full shortened to 0.31", saving(&a));
    assert_string_equal("Train in full, unless some accuracy may be given up: nothing cheaper is "
                        "shown to stay within 0.5 points of it.",
                        a.what);
    assert_said(a.more, "To save, full training on a shortened schedule takes 31 % of the cost and "
                        "gives up 1.");
}

static void uniform_choice_or_a_shorter_run_may_be_the_answer(void **state)
{
    made_arm        rows[] = {{"sb keep=0.3", "arm", "sb", "undecided", .6, 90.1, .05, .1, 0},
                              {"full shortened to 0.6", "shortened", "full", NULL, .6, 89.9, .05, 0, 0},
                              {"random keep=0.6", "whole-budget", "random", NULL, .6, 89.5, .05, 0, 0},
                              {"full stopped at 0.6", "early-stop", "full", NULL, .6, 88, .05, 0, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 4, 6, &c);

    (void)state;
    assert_string_equal("full shortened to 0.6", chosen(&a));
    assert_said(a.what, "Train in full, but not as long: accuracy stays within 0.5 points");
    assert_said(a.what, "at 60 % of the cost.");
    assert_string_equal("", a.more);
    rows[2].accuracy = 90; /* costs are the same: the better mean */
    a = advise(rows, 4, 6, &c);
    assert_string_equal("random keep=0.6", chosen(&a));
    assert_said(a.what, "Choose examples uniformly (random keep=0.6): accuracy ");
    rows[3].accuracy = 90.3;
    a = advise(rows, 4, 6, &c);
    assert_string_equal("full stopped at 0.6", chosen(&a));
    assert_said(a.what, "Train in full, but stop early: accuracy ");
}

static void a_strategy_gives_way_to_something_simple_that_is_ahead_of_it(void **state)
{
    made_arm        rows[] = {{"sb keep=0.3", "arm", "sb", "better", .31, 89.9, .02, .9, 0},
                              {"random keep=0.3", "whole-budget", "random", NULL, .31, 89, .02, 0, 0},
                              {"full shortened to 0.31", "shortened", "full", NULL, .312, 90, .02, 0, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 3, 6, &c);

    (void)state;
    assert_string_equal("full shortened to 0.31", chosen(&a));
    assert_unsaid(a.more, "sb");
    rows[2].cost = .4; /* dearer by more than costs are told apart by */
    a = advise(rows, 3, 6, &c);
    assert_string_equal("sb keep=0.3", chosen(&a));
}

static void the_cheapest_that_keeps_up_is_advised_and_what_saves_more_is_told(void **state)
{
    static const made_arm rows[] = {{"sb keep=0.1", "arm", "sb", "better", .11, 88, .05, 2, 0},
                                    {"sb keep=0.3", "arm", "sb", "better", .31, 89.9, .05, .9, 0},
                                    {"sb keep=0.5", "arm", "sb", "better", .51, 90, .05, .4, 0}};
    made_comparison       c;
    cull_advice           a = advise(rows, 3, 6, &c);

    (void)state;
    assert_string_equal("sb keep=0.3", chosen(&a));
    assert_string_equal("sb keep=0.1", saving(&a));
    assert_said(a.more, "To save more, sb keep=0.1 takes 11 % of the cost and gives up 2.0");
}

/* Of many cheap ones some would pass by luck: below one that is not shown to keep up nobody is
 * asked. Another kind, and other options, are asked by themselves. */
static void below_the_first_of_a_kind_that_fails_nobody_keeps_up(void **state)
{
    made_arm        rows[] = {{"sb keep=0.5", "arm", "sb", "better", .51, 88, .05, .4, 0},
                              {"sb keep=0.3", "arm", "sb", "better", .31, 90, .05, .9, 0},
                              {"full shortened to 0.51", "shortened", "full", NULL, .51, 87, .05, 0, 0}};
    cull_option     option = {"beta", "2"};
    made_comparison c;
    cull_advice     a = advise(rows, 3, 6, &c);

    (void)state;
    assert_string_equal("sb keep=0.3", chosen(&a));
    assert_said(a.what, "To save 69 % of the cost, use sb keep=0.3: it ");
    c.arm[2].option = &option;
    c.arm[2].options = 1;
    cull_advise(&c.is, &cull_yardstick_accuracy, &a);
    assert_string_equal("sb keep=0.3", chosen(&a));
    assert_said(a.what, "Use sb keep=0.3: accuracy ");
}

static void who_is_asked_does_not_depend_on_verdicts(void **state)
{
    static const made_arm rows[] = {
        {"sb keep=0.5", "arm", "sb", "undecided", .51, 88, .05, .1, 0}, /* not advised, but asked */
        {"sb keep=0.3", "arm", "sb", "better", .31, 90, .05, .9, 0},
        {"random keep=0.3", "whole-budget", "random", NULL, .31, 89, .05, 0, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 3, 6, &c);

    (void)state;
    assert_string_equal("sb keep=0.3", chosen(&a));
    assert_said(a.what, "To save 69 % of the cost, use sb keep=0.3: it ");
}

/* "Nothing is shown to keep up" beside an interval that lies within the margin is a riddle. */
static void what_would_keep_up_by_itself_is_told_why_it_does_not_count(void **state)
{
    made_arm rows[] = {{"full stopped at 0.9", "early-stop", "full", NULL, .9, 89, .05, 0, 0},
                       {"full stopped at 0.5", "early-stop", "full", NULL, .5, 90, .05, 0, 0},
                       {"sb keep=0.3", "arm", "sb", "worse", .51, 80, .05, -9, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 3, 6, &c);

    (void)state;
    assert_string_equal("full", chosen(&a));
    assert_said(a.what, "nothing cheaper is shown to stay within 0.5 points of it.");
    assert_said(a.more, "To save, full training stopped early takes 50 % of the cost and ");
    assert_said(a.more,
                " By itself that would do; but of many that are tried some do by chance, so "
                "it counts only where all of its kind that cost more keep up too, and full "
                "stopped at 0.9 is not shown to.");
    rows[0].accuracy = 90;
    a = advise(rows, 3, 6, &c);
    assert_string_equal("full stopped at 0.5", chosen(&a));
    assert_unsaid(a.more, "By itself");
}

/* Once is enough. */
static void what_saves_and_is_above_full_training_is_told_once(void **state)
{
    static const made_arm rows[] = {
        {"random keep=0.8", "whole-budget", "random", NULL, .9, 90, .05, 0, 0},
        {"sb keep=0.5", "arm", "sb", "worse", .6, 88, .05, -1, 0},
        {"sb keep=0.3", "arm", "sb", "better", .4, 91, .05, 1, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 3, 6, &c);

    (void)state;
    assert_string_equal("random keep=0.8", chosen(&a));
    assert_string_equal("sb keep=0.3", saving(&a));
    assert_said(a.more, "To save more, sb keep=0.3 takes 40 % of the cost and gains ");
    assert_said(a.more, "and sb keep=0.5 is not shown to.");
    assert_unsaid(a.more, "Better than full training");
}

static void few_seeds_leave_it_open_and_say_how_many_more(void **state)
{
    static const made_arm rows[] = {
        {"sb keep=0.3", "arm", "sb", "undecided", .31, 90, .4, .1, 0},
        {"full shortened to 0.31", "shortened", "full", NULL, .31, 89.95, .4, 0, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 2, 3, &c);
    unsigned        more = 0;
    const char     *at = strstr(a.more, "about ");

    (void)state;
    assert_string_equal("full", chosen(&a));
    assert_said(a.more, "To save, full training on a shortened schedule takes 31 % of the cost and "
                        "comes out 0.");
    assert_said(a.more, "Whether it stays within 0.5 points, about ");
    assert_non_null(at);
    assert_int_equal(1, sscanf(at, "about %u more seed", &more));
    assert_true(more >= 1 && more < 1000);
}

static void one_seed_decides_nothing(void **state)
{
    static const made_arm rows[] = {
        {"sb keep=0.3", "arm", "sb", "undecided", .31, 99, 0, 9, 0},
        {"full shortened to 0.31", "shortened", "full", NULL, .31, 99, 0, 0, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 2, 1, &c);

    (void)state;
    assert_null(a.chosen);
    assert_string_equal("What to do cannot be said yet: one seed decides nothing. Run at least "
                        "three.",
                        a.what);
}

static void a_strategy_with_a_run_that_failed_is_left_out_and_named(void **state)
{
    static const made_arm rows[] = {
        {"sb keep=0.3", "arm", "sb", "better", .31, 90, .05, .9, 1},
        {"random keep=0.3", "whole-budget", "random", NULL, .31, 89, .05, 0, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 2, 6, &c);

    (void)state;
    assert_string_equal("full", chosen(&a));
    assert_string_equal("random keep=0.3", saving(&a));
    assert_said(a.more, " Left out, since a run failed: sb keep=0.3.");
}

static void without_full_training_nothing_is_advised(void **state)
{
    static const made_arm rows[] = {{"sb keep=0.3", "arm", "sb", "better", .31, 90, .05, .9, 0}};
    made_arm              failed[] = {full, rows[0]};
    made_comparison       c;
    cull_advice           a;

    (void)state;
    failed[0].failed = 6;
    make_comparison(failed, 2, 6, &c);
    cull_advise(&c.is, &cull_yardstick_accuracy, &a);
    assert_null(a.chosen);
    assert_said(a.what, "cannot be said yet: full training has no finished run");
    make_comparison(rows, 1, 6, &c);
    cull_advise(&c.is, &cull_yardstick_accuracy, &a);
    assert_null(a.chosen);
    assert_said(a.what, "full training has no finished run");
}

static void where_full_training_only_guesses_nothing_is_advised(void **state)
{
    static const made_arm rows[] = {
        {"random keep=0.3", "whole-budget", "random", NULL, .31, 90, .05, 0, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 1, 6, &c);

    (void)state;
    c.is.classes = 10;
    c.arm[0].mean = 10.1;
    cull_advise(&c.is, &cull_yardstick_accuracy, &a);
    assert_null(a.chosen);
    assert_said(a.what, "full training has learnt nothing");
    c.arm[0].mean = 20;
    cull_advise(&c.is, &cull_yardstick_accuracy, &a);
    assert_non_null(a.chosen);
}

/* What one answer to everything gets is another thing for every set and every measure. */
static void guessing_is_what_one_answer_to_everything_gets(void **state)
{
    static const struct {
        const cull_yardstick *by;
        double                guess, classes, mean;
        const char           *want; /* NULL: something was learnt */
    } cases[] = {
        {&cull_yardstick_accuracy, 90, 2, 90,
         "at 90.00 % accuracy it is no better than guessing, "
         "as one answer to everything gets 90.00 %."},
        {&cull_yardstick_accuracy, 90, 2, 90.09, "no better than guessing"},
        {&cull_yardstick_accuracy, 90, 2, 91, NULL},
        {&cull_yardstick_accuracy, 99, 2, 99.2, NULL}, /* 1.02 times 99 would be out of reach */
        {&cull_yardstick_accuracy, NAN, 2, 50.4, "one answer to everything gets 50.00 %"},
        {&cull_yardstick_accuracy, NAN, NAN, 1, NULL},
        {&cull_yardstick_map, 12.5, 8, 12.9,
         "at 12.90 % mAP it is no better than guessing, as one "
         "answer to everything gets 12.50 %."},
        {&cull_yardstick_map, 12.5, 8, 20, NULL},
        {&cull_yardstick_map, NAN, 8, 5, NULL},
        {&cull_yardstick_r2, NAN, 1, -3, "at -3.00 % R² it is no better than guessing"},
        {&cull_yardstick_r2, NAN, 1, .5, NULL}};
    static const made_arm rows[] = {
        {"random keep=0.3", "whole-budget", "random", NULL, .31, 90, .05, 0, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made_comparison c;
        cull_advice     a = advise(rows, 1, 6, &c);

        c.is.guess = cases[i].guess;
        c.is.classes = cases[i].classes;
        c.arm[0].mean = cases[i].mean;
        cull_advise(&c.is, cases[i].by, &a);
        if (cases[i].want) assert_said(a.what, cases[i].want);
        assert_true((cases[i].want == NULL) == (a.chosen != NULL));
    }
}

/* -0.004 is 0.00, and no less than that; a margin has all of its digits. */
static void what_is_cut_to_nothing_has_no_sign(void **state)
{
    static const made_arm rows[] = {
        {"random keep=0.3", "whole-budget", "random", NULL, .31, 90, 0, 0, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 1, 4, &c);

    (void)state;
    c.is.test = NAN; /* steps would widen the interval */
    c.is.margin = 100;
    for (size_t s = 0; s < 4; s++)
        c.run[1][s].accuracy = c.run[0][s].accuracy - (s % 2 ? .0041 : .0039);
    cull_advise(&c.is, &cull_yardstick_accuracy, &a);
    assert_said(a.what,
                "within 100 points of full training's (+0.00, 95 % interval +0.00 to +0.00)");
}

static void what_comes_out_level_is_said_to(void **state)
{
    static const made_arm rows[] = {
        {"random keep=0.3", "whole-budget", "random", NULL, .31, 90, 2, 0, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 1, 4, &c);

    (void)state;
    for (size_t s = 0; s < 4; s++)
        c.run[1][s].accuracy = c.run[0][s].accuracy + (s % 2 ? 2.001 : -2);
    cull_advise(&c.is, &cull_yardstick_accuracy, &a);
    assert_said(a.more, "comes out level with full training (95 % interval -3.");
}

static void what_is_not_done_yet_is_said_so_far(void **state)
{
    static const made_arm rows[] = {
        {"sb keep=0.3", "arm", "sb", "better", .31, 89.9, .05, .9, 0},
        {"random keep=0.3", "whole-budget", "random", NULL, .31, 89, .05, 0, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 2, 6, &c);

    (void)state;
    c.is.finished = false;
    cull_advise(&c.is, &cull_yardstick_accuracy, &a);
    assert_said(a.what, "So far: use sb keep=0.3:");
    for (size_t s = 1; s < 6; s++) c.run[1][s].status = c.run[2][s].status = "missing";
    cull_advise(&c.is, &cull_yardstick_accuracy, &a);
    assert_null(a.chosen);
    assert_said(a.what, "nothing cheaper than full training has two seeds beside it");
}

/* Whoever waits for a run that failed waits for ever. */
static void where_only_runs_that_failed_are_left_nothing_is_said_so_far(void **state)
{
    static const made_arm rows[] = {
        {"sb keep=0.3", "arm", "sb", "better", .31, 89.9, .05, .9, 0},
        {"craig keep=0.3", "arm", "craig", "better", .31, 89.8, .05, .8, 1},
        {"full stopped at 0.31", "early-stop", "full", NULL, .31, 80, .05, 0, 0}};
    static const char *const left[] = {"missing", "running", "stopped"};
    made_comparison          c;
    cull_advice              a = advise(rows, 3, 6, &c);
    char                     verdict[CULL_VERDICT_SENTENCE];

    (void)state;
    c.is.finished = false;
    c.run[3][0].status = "missing"; /* no run of its own */
    cull_advise(&c.is, &cull_yardstick_accuracy, &a);
    assert_said(a.what, "Use sb keep=0.3:");
    cull_advise_verdict(&c.is, &cull_yardstick_accuracy, verdict);
    assert_unsaid(verdict, "Not all runs are done.");
    assert_true(cull_advice_is_final(&c.is));
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        c.run[2][1].status = left[i];
        cull_advise(&c.is, &cull_yardstick_accuracy, &a);
        assert_said(a.what, "So far: use sb keep=0.3:");
        cull_advise_verdict(&c.is, &cull_yardstick_accuracy, verdict);
        assert_said(verdict, " Not all runs are done.");
    }
    c.run[2][1].status = "corrupt";
    assert_true(cull_advice_is_final(&c.is));
    c.arm[2].runs = 4; /* seeds that have not begun */
    assert_false(cull_advice_is_final(&c.is));
}

/* ---- the verdict beside it ---- */

static bool is_strategy(const cull_records_arm *arm)
{
    return arm && strcmp(arm->role, "arm") == 0;
}

/* Selection pays where a strategy is advised, or named for what it saves or as better than full
 * training at less, and nowhere else. */
static void assert_agree(const made_comparison *c, const char *begin)
{
    cull_advice a;
    char        verdict[CULL_VERDICT_SENTENCE];
    bool        pays = false, named = false;

    cull_advise(&c->is, &cull_yardstick_accuracy, &a);
    cull_advise_verdict(&c->is, &cull_yardstick_accuracy, verdict);
    named = is_strategy(a.chosen) || is_strategy(a.saving) ||
            (strstr(a.more, "Better than full training is ") && strstr(a.more, " % of its cost."));
    pays = strncmp(verdict, "Selection pays here: ", 21) == 0;
    if (pays != named || (begin && strncmp(verdict, begin, strlen(begin)) != 0))
        fail_msg("'%s' beside '%s %s', wanted '%s'", verdict, a.what, a.more, begin ? begin : "");
}

static void selection_is_said_to_pay_exactly_where_the_advice_names_a_strategy(void **state)
{
    static const char pays[] = "Selection pays here: sb keep=0.3 beats ";
    static const char not [] = "Selection does not pay here: sb keep=0.3 beats ";
    static const char open[] = "Whether selection pays cannot be said: sb keep=0.3 beats ";
    made_arm          sb = {"sb keep=0.3", "arm", "sb", "better", .31, 89.9, .02, .9, 0};
    made_arm          simple = {"full shortened", "shortened", "full", NULL, .31, 88, .02, 0, 0};
    made_arm          rows[] = {sb, simple};
    made_comparison   c;

    (void)state;
    (void)advise(rows, 2, 6, &c);
    assert_agree(&c, pays); /* it keeps up */
    rows[0].accuracy = 88.5;
    (void)advise(rows, 2, 6, &c);
    assert_agree(&c, pays); /* it saves */
    rows[1].accuracy = 89;
    (void)advise(rows, 2, 6, &c);
    assert_agree(&c, not ); /* outdone */
    rows[1].accuracy = 90;
    rows[1].cost = .9;
    (void)advise(rows, 2, 6, &c);
    assert_agree(&c, pays); /* saves more than what keeps up */
    rows[0].accuracy = 92;
    rows[0].cost = .95;
    (void)advise(rows, 2, 6, &c);
    assert_agree(&c, pays); /* what keeps up is cheaper, but it is better than full training */
    rows[0].accuracy = 90;
    rows[1].accuracy = 89.8;
    (void)advise(rows, 2, 6, &c);
    assert_agree(&c, not ); /* what keeps up is cheaper */
    rows[0].cost = .99;
    rows[0].accuracy = 88;
    (void)advise(rows, 1, 6, &c);
    assert_agree(&c, not ); /* nothing is saved */
    rows[0] = sb;
    rows[1] = simple;
    rows[0].failed = 1;
    (void)advise(rows, 2, 6, &c);
    assert_agree(&c, open); /* a run of it failed */
    rows[0].failed = 0;
    (void)advise(rows, 2, 6, &c);
    c.is.classes = 10;
    c.arm[0].mean = 10.1;
    assert_agree(&c, open); /* full training has learnt nothing */
    (void)advise(rows, 2, 6, &c);
    for (size_t s = 1; s < 6; s++) c.run[1][s].status = "missing";
    assert_agree(&c, open); /* one seed of it */
    for (size_t s = 0; s < 6; s++) c.run[0][s].status = "failed";
    assert_agree(&c, open); /* none of full training */
}

/* Older comparisons say nothing of `uniform`, but that there is no verdict on it. */
static void uniform_choice_is_no_arm_of_the_verdict(void **state)
{
    static const made_arm rows[] = {{"sb keep=0.3", "arm", "sb", "better", .31, 89.9, .02, .9, 0},
                                    {"random keep=0.3", "arm", "random", NULL, .31, 88, .02, 0, 0}};
    made_comparison       c;
    char                  verdict[CULL_VERDICT_SENTENCE];

    (void)state;
    (void)advise(rows, 2, 6, &c);
    c.arm[2].verdict = "control";
    for (int older = 0; older < 2; older++) {
        c.arm[2].uniform = !older;
        cull_advise_verdict(&c.is, &cull_yardstick_accuracy, verdict);
        assert_string_equal("Selection pays here: sb keep=0.3 beats uniform choice at the same "
                            "cost by 0.90 points, for 31 % of the cost of full training.",
                            verdict);
    }
}

/* Whatever is made up. */
static void the_verdict_agrees_with_the_advice_in_every_combination(void **state)
{
    static const double      cost[] = {.1, .31, .6, .98, 1.2}, mean[] = {10, 88, 89.9, 90.5};
    static const char *const verdicts[] = {"better", "worse", "undecided"};
    enum { COSTS = 5, MEANS = 4, VERDICTS = 3, ALL = COSTS * MEANS };

    (void)state;
    for (size_t one = 0; one < ALL * VERDICTS * 2; one++)
        for (size_t other = 0; other < ALL * 3; other++) {
            made_arm        rows[] = {{"sb", "arm", "sb", NULL, 0, 0, .02, .9, 0},
                                      {"simple", NULL, "full", NULL, 0, 0, .02, 0, 0},
                                      {"craig", "arm", "craig", "better", .31, 88.5, .02, .4, 0}};
            made_comparison c;

            rows[0].cost = cost[one % COSTS];
            rows[0].accuracy = mean[one / COSTS % MEANS];
            rows[0].verdict = verdicts[one / ALL % VERDICTS];
            rows[0].failed = one / ALL / VERDICTS;
            rows[1].cost = cost[other % COSTS];
            rows[1].accuracy = mean[other / COSTS % MEANS];
            rows[1].role = (const char *const[]){"shortened", "early-stop", "same-m"}[other / ALL];
            (void)advise(rows, 2 + one % 2, 3, &c);
            assert_agree(&c, NULL);
        }
}

static void what_costs_more_than_full_training_saves_nothing(void **state)
{
    static const made_arm rows[] = {
        {"sb keep=0.9", "arm", "sb", "better", 1.24, 90.9, .05, .9, 0},
        {"top-loss keep=0.9", "arm", "top-loss", "worse", 1.2, 80, .05, -9, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 2, 6, &c);

    (void)state;
    assert_string_equal("full", chosen(&a));
    assert_string_equal("Train in full: nothing that was tried costs less.", a.what);
    assert_said(a.more, "Better than full training is sb keep=0.9, by 0.8");
    assert_said(a.more, " points, at 1.24 times its cost.");
}

static void what_is_above_full_training_is_told_beside_what_is_cheaper(void **state)
{
    static const made_arm rows[] = {
        {"sb keep=0.5", "arm", "sb", "better", .6, 91, .05, 1, 0},
        {"random keep=0.2", "whole-budget", "random", NULL, .2, 90, .05, 0, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 2, 6, &c);

    (void)state;
    assert_string_equal("random keep=0.2", chosen(&a));
    assert_said(a.more, "Better than full training is sb keep=0.5, by ");
    assert_said(a.more, " points, at 60 % of its cost.");
}

/* The words and the direction are the yardstick's. */
static void a_measure_that_is_to_be_low_is_read_the_other_way_round(void **state)
{
    static const cull_yardstick miles = {.name = "distance",
                                         .unit = "mi",
                                         .points = "miles",
                                         .digits = 1,
                                         .scale = 1,
                                         .lower = true};
    static const made_arm       rows[] = {
              {"sb keep=0.3", "arm", "sb", "better", .31, 90.2, .05, -2, 0},
              {"random keep=0.3", "whole-budget", "random", NULL, .31, 92, .05, 0, 0}};
    made_comparison c;
    cull_advice     a = advise(rows, 2, 6, &c);

    (void)state;
    cull_advise(&c.is, &miles, &a);
    assert_string_equal("sb keep=0.3", chosen(&a));
    assert_said(a.what, "distance stays within 0.5 miles of full training's (-0.");
    assert_said(a.more, "is 2.0 miles higher.");
}

static void damaged_numbers_advise_nothing(void **state)
{
    static const double   values[] = {NAN, INFINITY, -INFINITY, -1, 1e300};
    static const made_arm rows[] = {{"sb keep=0.3", "arm", "sb", "better", .31, 90, .05, .9, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        made_comparison c;
        cull_advice     a = advise(rows, 1, 6, &c);

        c.arm[1].cost = values[i];
        cull_advise(&c.is, &cull_yardstick_accuracy, &a);
        assert_string_equal("full", chosen(&a));
        c.arm[1].cost = .31;
        for (size_t s = 0; s < 6; s++) c.run[1][s].accuracy = values[i];
        cull_advise(&c.is, &cull_yardstick_accuracy, &a);
        assert_true(isfinite(values[i]) || a.chosen != &c.arm[1]);
        c.is.margin = i < 4 ? values[i] : NAN;
        cull_advise(&c.is, &cull_yardstick_accuracy, &a);
        assert_true(a.what[0] != '\0' && !strstr(a.what, "nan") && !strstr(a.more, "nan"));
    }
}

static void long_names_are_cut_and_break_nothing(void **state)
{
    char        name[192];
    made_arm    rows[8];
    cull_advice a;

    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (size_t i = 0; i < 8; i++)
        rows[i] = (made_arm){name, "arm", "sb", "better", .1 + .1 * (double)i, 80, .05, 1, i % 2};
    made_comparison c;
    a = advise(rows, 8, 6, &c);
    assert_true(strlen(a.what) < CULL_ADVICE_WHAT - 1 && strlen(a.more) < CULL_ADVICE_MORE - 1);
    assert_said(a.more, "and 1 more.");
}

/* Five shares of uniform choice, all of them worse than full training by the margin: how often is
 * one said to keep up? */
static double called(size_t seeds, uint64_t stream)
{
    enum { TRIALS = 1000, SHARES = 5 };
    size_t wrong = 0;

    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        made_arm        rows[SHARES + 1] = {full};
        made_comparison c;
        cull_advice     a;

        for (size_t i = 1; i <= SHARES; i++)
            rows[i] = (made_arm){
                "random", "whole-budget", "random", NULL, .1 + .15 * (double)i, 89.5, 0, 0, 0};
        make_comparison(rows, SHARES + 1, seeds, &c);
        for (size_t i = 0; i <= SHARES; i++) {
            for (size_t s = 0; s < seeds; s++)
                c.run[i][s].accuracy += .3 * random_normal(stream + trial, 16 * i + s);
            c.arm[i].mean = made_mean(&c.arm[i]);
        }
        cull_advise(&c.is, &cull_yardstick_accuracy, &a);
        wrong += a.chosen != &c.arm[0];
    }
    return (double)wrong / TRIALS;
}

/* Three deviations of a share of .025 among 1000 above it. */
#define FALSE_CALLS (.025 + 3 * .0049)

static void chance_alone_seldom_keeps_up_however_many_shares_are_tried(void **state)
{
    (void)state;
    for (size_t seeds = 2; seeds <= 6; seeds += 2) {
        double share = called(seeds, 100000 * seeds);

        if (share > FALSE_CALLS) fail_msg("%zu seeds: %.4f", seeds, share);
    }
    assert_true(called(6, 7) > .005); /* the rule does call */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_strategy_that_pays_and_keeps_up_is_advised),
        cmocka_unit_test(what_beats_full_training_is_said_to),
        cmocka_unit_test(a_strategy_is_advised_for_its_verdict_alone),
        cmocka_unit_test(
            where_nothing_keeps_up_a_strategy_that_pays_is_advised_with_what_it_gives_up),
        cmocka_unit_test(where_nothing_pays_or_keeps_up_full_training_is_advised),
        cmocka_unit_test(uniform_choice_or_a_shorter_run_may_be_the_answer),
        cmocka_unit_test(a_strategy_gives_way_to_something_simple_that_is_ahead_of_it),
        cmocka_unit_test(the_cheapest_that_keeps_up_is_advised_and_what_saves_more_is_told),
        cmocka_unit_test(below_the_first_of_a_kind_that_fails_nobody_keeps_up),
        cmocka_unit_test(who_is_asked_does_not_depend_on_verdicts),
        cmocka_unit_test(what_would_keep_up_by_itself_is_told_why_it_does_not_count),
        cmocka_unit_test(what_saves_and_is_above_full_training_is_told_once),
        cmocka_unit_test(few_seeds_leave_it_open_and_say_how_many_more),
        cmocka_unit_test(one_seed_decides_nothing),
        cmocka_unit_test(a_strategy_with_a_run_that_failed_is_left_out_and_named),
        cmocka_unit_test(without_full_training_nothing_is_advised),
        cmocka_unit_test(where_full_training_only_guesses_nothing_is_advised),
        cmocka_unit_test(guessing_is_what_one_answer_to_everything_gets),
        cmocka_unit_test(what_is_cut_to_nothing_has_no_sign),
        cmocka_unit_test(what_comes_out_level_is_said_to),
        cmocka_unit_test(what_is_not_done_yet_is_said_so_far),
        cmocka_unit_test(where_only_runs_that_failed_are_left_nothing_is_said_so_far),
        cmocka_unit_test(selection_is_said_to_pay_exactly_where_the_advice_names_a_strategy),
        cmocka_unit_test(uniform_choice_is_no_arm_of_the_verdict),
        cmocka_unit_test(the_verdict_agrees_with_the_advice_in_every_combination),
        cmocka_unit_test(what_costs_more_than_full_training_saves_nothing),
        cmocka_unit_test(what_is_above_full_training_is_told_beside_what_is_cheaper),
        cmocka_unit_test(a_measure_that_is_to_be_low_is_read_the_other_way_round),
        cmocka_unit_test(damaged_numbers_advise_nothing),
        cmocka_unit_test(chance_alone_seldom_keeps_up_however_many_shares_are_tried),
        cmocka_unit_test(long_names_are_cut_and_break_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
