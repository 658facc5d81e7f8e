/* tests/unit/test_arms.c - who takes part in a comparison, what it costs, who controls whom. */
#include "lab/compare/arms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

enum { POOL = 1280, BATCH = 128, HELD = 100 };

static const cull_option changes[] = {
    {"model.name", "mlp"}, {"train.epochs", "4"}, {"train.batch", "128"}};
static const cull_arm_base base = {.changes = changes, .count = 3, .threads = 1};

/* A machine on which a step of m examples takes 1 + m ms, loading an example .01 ms. */
static cull_costs table(void)
{
    cull_costs costs = {
        .pool = POOL, .validation = HELD, .test = 100, .classes = 10, .load = 1e-5, .optim = 5e-4};

    for (size_t m = 8; m <= BATCH; m += 8)
        assert_true(cull_costs_add(&costs, m, 1e-3 * (1 + (double)m)));
    return costs;
}

static cull_arms open_arms(const char *strategies, const char *keep, const char *pass)
{
    cull_arms     arms = {0};
    cull_arm_wish wish = {.strategies = strategies, .keep = keep, .pass = pass};

    assert_ok(cull_arms_open(&base, &wish, &arms));
    for (size_t i = 1; i < arms.count; i++)
        arms.arm[i].own = (cull_arm_costs){.known = true,
                                           .score = 3e-4,
                                           .decide = 2e-4,
                                           .learn_kept = 2e-2,
                                           .pool_score = .4,
                                           .pool_solve = .1,
                                           .share = .5};
    return arms;
}

static size_t find(const cull_arms *arms, const char *name)
{
    for (size_t i = 0; i < arms->count; i++)
        if (strcmp(arms->arm[i].name, name) == 0) return i;
    fail_msg("no arm is called %s", name);
    return 0;
}

static const cull_arm *control(const cull_arms *arms, const char *name, cull_role role)
{
    size_t at = arms->arm[find(arms, name)].control[role];

    assert_true(at != SIZE_MAX);
    return &arms->arm[at];
}

/* ---- the table ---- */

static void learning_between_sizes_lies_on_the_line_between_them(void **state)
{
    cull_costs costs = {0};

    (void)state;
    assert_true(cull_costs_add(&costs, 64, 6));
    assert_true(cull_costs_learn(&costs, 32) == 3);
    assert_true(cull_costs_add(&costs, 16, 3));
    assert_true(cull_costs_add(&costs, 128, 8));
    assert_true(cull_costs_add(&costs, 16, 2)); /* measured again */
    assert_int_equal(3, costs.sizes);
    assert_true(fabs(cull_costs_learn(&costs, 40) - 4) < 1e-12);
    assert_true(fabs(cull_costs_learn(&costs, 96) - 7) < 1e-12);
    assert_true(fabs(cull_costs_learn(&costs, 160) - 9) < 1e-12);
    assert_true(cull_costs_learn(&costs, 1e-9) >= 0);
}

static void a_larger_batch_never_costs_less(void **state)
{
    static const double seconds[] = {1, 3, 2, 4, 3.5, 3, 6},
                        want[] = {1, 2.5, 2.5, 3.5, 3.5, 3.5, 6};
    cull_costs costs = {0};

    (void)state;
    for (size_t i = 0; i < 7; i++) assert_true(cull_costs_add(&costs, i + 1, seconds[i]));
    cull_costs_smooth(&costs);
    for (size_t i = 0; i < 7; i++) assert_true(fabs(costs.learn[i].seconds - want[i]) < 1e-12);
    costs.sizes = 0;
    cull_costs_smooth(&costs);
}

static void a_table_has_room_for_so_many_sizes(void **state)
{
    cull_costs costs = {0};

    (void)state;
    for (size_t i = 1; i <= CULL_COST_SIZES; i++) assert_true(cull_costs_add(&costs, i, 1));
    assert_false(cull_costs_add(&costs, 1000, 1));
    assert_true(cull_costs_add(&costs, 3, 2));
}

static void costs_near_each_other_form_groups_led_by_the_largest(void **state)
{
    double cost[] = {1, .98, .972, .5, .99, .96, .4999};
    size_t key[] = {0, 0, 0, 0, 1, 0, 0}, leader[7], want[] = {0, 0, 0, 3, 4, 5, 3};

    (void)state;
    cull_costs_group(cost, key, 7, .03, leader);
    for (size_t i = 0; i < 7; i++) assert_int_equal(want[i], leader[i]);
}

static void who_is_in_no_group_hides_no_larger_cost(void **state)
{
    double cost[] = {NAN, 2, NAN, 1, 1.01, NAN};
    size_t key[6] = {0}, leader[6], want[] = {0, 1, 2, 4, 4, 5};

    (void)state;
    cull_costs_group(cost, key, 6, .03, leader);
    for (size_t i = 0; i < 6; i++) assert_int_equal(want[i], leader[i]);
}

/* ---- prices ---- */

static cull_price price(const char *strategy, const char *keep, const char *pass)
{
    cull_arms  arms = open_arms(strategy, keep, pass);
    cull_costs costs = table();
    cull_price out = {0};

    assert_ok(cull_arm_price(&costs, &arms.arm[1]));
    out = arms.arm[1].price;
    cull_arms_close(&arms);
    return out;
}

static void counted_work_is_the_papers_arithmetic(void **state)
{
    double examples = 4 * POOL, m = 38. / 128;

    (void)state;
    assert_true(fabs(price("random", "0.3", "separate").thirds - 3 * m * examples) < 1e-6);
    assert_true(fabs(price("sb", "0.3", "separate").thirds - (1 + 3 * m) * examples) < 1e-6);
    assert_true(fabs(price("sb", "0.3", "reuse").thirds - (1 + 2 * m) * examples) < 1e-6);
    assert_true(fabs(price("sb remembered", "0.3", "separate").thirds - 3 * m * examples) < 1e-6);
    /* half of the epochs score */
    assert_true(fabs(price("sb stale", "0.3", "separate").thirds - (.5 + 3 * m) * examples) < 1e-6);
    /* the pool is scored once in two epochs */
    assert_true(fabs(price("grad-match period=2", "0.3", "separate").thirds -
                     (.5 + 3 * .3) * examples) < 1e-6);
}

/* The validation set's examples are work too, a proxy's passes are not the model's. */
static void all_that_is_scored_is_counted_and_paid(void **state)
{
    double     examples = 4 * POOL, m = 38. / 128, steps = 40;
    cull_price plain = price("gradmatch", "0.3", "separate"), with = {0};

    (void)state;
    with = price("gradmatch match=validation", "0.3", "separate");
    assert_true(fabs(plain.thirds - (1 + 3 * m) * examples) < 1e-6);
    assert_true(fabs(with.thirds - plain.thirds - steps * HELD) < 1e-6);
    assert_true(fabs(with.scored - plain.scored - steps * HELD) < 1e-6);
    assert_true(fabs(with.seconds - plain.seconds - steps * HELD * 3e-4) < 1e-9);
    /* the pool and all of the validation set, once in two epochs */
    assert_true(fabs(price("glister period=2", "0.3", "separate").thirds - 2 * (POOL + HELD) -
                     3 * .3 * examples) < 1e-6);
    with = price("gradmatch score.proxy=lenet5", "0.3", "separate");
    assert_true(fabs(with.thirds - 3 * m * examples) < 1e-6);
    assert_true(fabs(with.scored - examples) < 1e-6);
}

static void a_short_batch_that_is_left_out_costs_nothing(void **state)
{
    static const cull_option drops[] = {{"model.name", "mlp"},
                                        {"train.epochs", "4"},
                                        {"train.batch", "128"},
                                        {"train.drop_short", "true"}};
    cull_arm_base            other = {.changes = drops, .count = 4, .threads = 1};
    cull_arm_wish            wish = {
                   .strategies = "adaptive-random period=1", .keep = "0.15", .pass = "separate"};
    cull_arms  arms = {0};
    cull_costs costs = table();

    (void)state; /* 192 an epoch are one batch and a short one */
    assert_true(fabs(price("adaptive-random period=1", "0.15", "separate").trained - 4 * 192) <
                1e-6);
    assert_ok(cull_arms_open(&other, &wish, &arms));
    assert_ok(cull_arm_price(&costs, &arms.arm[1]));
    assert_true(fabs(arms.arm[1].price.trained - 4 * 128) < 1e-6);
    cull_arms_close(&arms);
}

static void a_step_costs_what_its_parts_cost(void **state)
{
    cull_price p = price("sb", "0.25", "separate");
    double     step = 128 * (1e-5 + 3e-4) + 2e-4 + 33e-3 + 5e-4;

    (void)state;
    assert_int_equal(40, p.steps);
    assert_int_equal(40, p.scoring);
    assert_int_equal(BATCH, p.candidates);
    assert_int_equal(32, p.budget);
    assert_true(p.fixed && !p.pool);
    assert_true(fabs(p.seconds - 40 * step) < 1e-9);
    p = price("sb", "0.25", "reuse");
    assert_true(fabs(p.seconds - 40 * (step - 33e-3 + 2e-2)) < 1e-9);
    p = price("sb remembered", "0.25", "separate");
    assert_true(fabs(p.seconds - 40 * (32e-5 + 2e-4 + 33e-3 + 5e-4)) < 1e-9);
    assert_int_equal(0, p.scoring);
}

static void costs_at_marks_are_what_was_spent_until_then(void **state)
{
    cull_arms    arms = open_arms("grad-match period=2", "0.5", "separate");
    cull_costs   costs = table();
    uint64_t     mark[] = {1, 5, 10, 20, 99};
    double       at[5], step = 128e-5 + 129e-3 + 5e-4;
    cull_price   p = {0};
    cull_recipe *r = arms.arm[1].recipe;
    cull_priced  run = {.setup = &r->setup, .own = arms.arm[1].own};

    (void)state;
    assert_ok(cull_costs_price(&costs, &run, mark, 5, at, &p));
    assert_true(p.pool);
    assert_int_equal(20, p.steps);
    assert_true(fabs(at[0] - (.5 + step)) < 1e-9);
    assert_true(fabs(at[1] - (.5 + 5 * step)) < 1e-9);
    assert_true(fabs(at[2] - (.5 + 10 * step)) < 1e-9);
    assert_true(fabs(at[3] - (1 + 20 * step)) < 1e-9);
    assert_true(at[4] == at[3] && p.seconds == at[3]);
    cull_arms_close(&arms);
}

/* ---- arms ---- */

static void strategies_shares_and_passes_make_arms(void **state)
{
    cull_arms arms = open_arms(
        "random,sb,top-loss+remembered,sb beta=2,full,kath18,kath18 remembered score=loss",
        "0.1,0.3", "separate,reuse");

    (void)state;
    assert_int_equal(1 + 2 + 4 + 2 + 4 + 4 + 2, arms.count);
    assert_int_equal(CULL_ROLE_FULL, arms.arm[0].role);
    (void)find(&arms, "random keep=0.1");
    (void)find(&arms, "sb keep=0.3 reuse");
    (void)find(&arms, "top-loss remembered keep=0.1");
    (void)find(&arms, "kath18 keep=0.1 reuse"); /* scores when it begins to */
    (void)find(&arms, "kath18 remembered score=loss keep=0.1");
    assert_string_equal("sb-beta-2-0.3-separate",
                        arms.arm[find(&arms, "sb beta=2 keep=0.3 separate")].folder);
    assert_string_equal("none", arms.arm[find(&arms, "random keep=0.1")].pass);
    cull_arms_close(&arms);
}

static void what_is_asked_for_twice_is_run_once(void **state)
{
    cull_arms arms = open_arms("sb,sb,sb beta=auto", "0.3,0.3", "separate");

    (void)state;
    assert_int_equal(2, arms.count);
    cull_arms_close(&arms);
}

static void wrong_wishes_are_refused_in_a_sentence(void **state)
{
    static const struct {
        const char *strategies, *keep, *pass, *says;
    } cases[] = {{"sbx", "0.3", "separate", "no strategy is called 'sbx'"},
                 {"sb,,random", "0.3", "separate", "missing between two commas"},
                 {"sb beta=-1", "0.3", "separate", "beta"},
                 {"sb gamma=1", "0.3", "separate", "no option is called 'select.gamma'"},
                 {"sb keep=0", "0.3", "separate", "keep: '0'"},
                 {"sb keep=0.2 keep=0.3", "0.3", "separate", "keep is given twice"},
                 {"sb-stream keep=0.2", "0.3", "separate", "keep has no effect"},
                 {"sb beta=1 stale", "0.3", "separate", "before the options"},
                 {"sb", "0", "separate", "keep: '0'"},
                 {"sb", "0.3,x", "separate", "keep: 'x'"},
                 {"sb", "0.3", "twice", "pass: 'twice'"},
                 {"sb", "0.7", "separate", "cannot save anything"},
                 {"sb score.pass=both", "0.3", "separate", "pass: 'both'"},
                 {"random score.pass=reuse", "0.3", "separate", "score.pass has no effect"},
                 {"sb keep=0.2 stale", "0.3", "separate", "before the options"},
                 {"sb score.speed=1", "0.3", "separate", "no option is called 'score.speed'"},
                 {"sb score.precision=int8", "0.3", "reuse", "score.precision"},
                 {"random score.precision=int8", "0.3", "separate", "random scores nothing"},
                 {"sb remembered score.norm=running", "0.3", "separate", "scores nothing"}};
    cull_arms arms = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_arm_wish wish = {cases[i].strategies, cases[i].keep, cases[i].pass, false};
        assert_fails(option_status(cases[i].says), cases[i].says,
                     cull_arms_open(&base, &wish, &arms));
    }
}

static void what_cannot_save_is_refused_with_the_arithmetic_unless_wanted(void **state)
{
    cull_arms     arms = {0};
    cull_arm_wish wish = {"sb", "0.67", "separate", false};

    (void)state;
    assert_fails(CULL_NO_SAVING, "128/3 and training 67 % of them 85, together 127.7 of the 128",
                 cull_arms_open(&base, &wish, &arms));
    wish.anyway = true;
    assert_ok(cull_arms_open(&base, &wish, &arms));
    cull_arms_close(&arms);
    wish = (cull_arm_wish){"sb-stream,infobatch,kath18", "0.9", "separate", false};
    assert_ok(cull_arms_open(&base, &wish, &arms)); /* how many these keep is not known */
    cull_arms_close(&arms);
    wish = (cull_arm_wish){"sb score.precision=int8", "0.7", "separate", false};
    assert_ok(cull_arms_open(&base, &wish, &arms)); /* scores for less than a third */
    cull_arms_close(&arms);
    wish = (cull_arm_wish){"sb,sb remembered,random", "0.9", "reuse", false};
    assert_ok(cull_arms_open(&base, &wish, &arms)); /* these still can */
    cull_arms_close(&arms);
}

/* One combination that cannot be ends nothing: it is named, and the others are run. */
static void arms_that_cannot_be_are_left_out_by_name(void **state)
{
    cull_arms arms = open_arms("sb,sb score.precision=int8,random", "0.3,0.9", "separate,reuse");

    (void)state;
    assert_int_equal(1 + 3 + 2 + 2, arms.count);
    (void)find(&arms, "sb keep=0.9 reuse");
    (void)find(&arms, "sb score.precision=int8 keep=0.9 separate");
    assert_int_equal(3, arms.lefts);
    assert_string_equal("sb keep=0.9 separate", arms.left[0].name);
    assert_non_null(strstr(arms.left[0].why, "it cannot save anything: scoring 128 examples"));
    assert_string_equal("sb score.precision=int8 keep=0.3 reuse", arms.left[1].name);
    assert_non_null(strstr(arms.left[1].why, "score.pass=reuse trains what it scores, in full"));
    assert_string_equal("sb score.precision=int8 keep=0.9 reuse", arms.left[2].name);
    cull_arms_close(&arms);
}

static void arms_may_have_a_share_and_a_pass_of_their_own(void **state)
{
    cull_arms arms =
        open_arms("sb,sb keep=0.1 score.pass=reuse,random keep=0.5", "0.3", "separate");

    (void)state;
    assert_int_equal(4, arms.count);
    assert_string_equal("sb keep=0.1 reuse", arms.arm[2].name);
    assert_true(arms.arm[2].recipe->setup.score.reuse && arms.arm[2].keep == .1);
    assert_string_equal("random keep=0.5", arms.arm[3].name);
    cull_arms_close(&arms);
}

/* What a recipe says of scoring for all is no wish of those who score nothing. */
static void who_scores_nothing_has_no_scoring_of_its_own(void **state)
{
    static const cull_option scored[][2] = {
        {{"score.proxy", "mlp"}, {"score.norm", "batch"}},
        {{"score.pipelined", "true"}, {"score.norm", "batch"}},
        {{"score.scale", "0.5"}, {"score.norm", "batch"}},
        {{"score.pass", "reuse"}, {"reuse.batchnorm", "constants"}}};

    (void)state;
    for (size_t k = 0; k < sizeof scored / sizeof *scored; k++) {
        cull_option   own[] = {scored[k][0], scored[k][1], {"train.epochs", "4"}};
        cull_arm_base other = {.changes = own, .count = 3, .threads = 1};
        bool          reuse = strcmp(own[0].key, "score.pass") == 0;
        cull_arm_wish wish = {"sb,random,grad-match", "0.3", reuse ? "reuse" : "separate", false};
        cull_costs    costs = table();
        cull_arms     arms = {0};

        assert_ok(cull_arms_open(&other, &wish, &arms));
        for (size_t i = 1; i < arms.count; i++)
            arms.arm[i].own = (cull_arm_costs){.known = true, .score = 1e-4, .pool_score = .1};
        assert_ok(cull_arms_control(&other, &costs, &arms));
        assert_int_equal(0, arms.lefts);
        for (size_t i = 0; i < arms.count; i++) {
            const cull_score_setup *s =
                arms.arm[i].recipe ? &arms.arm[i].recipe->setup.score : NULL;
            cull_recipe *measured = NULL;

            if (!s) continue;
            assert_ok(cull_arm_measured_as(&other, &arms.arm[i], &measured));
            for (int m = 0; m < 2; m++, s = &measured->setup.score)
                if (strcmp(arms.arm[i].pass, "none") == 0)
                    assert_true(!s->proxy && !s->pipelined && s->scale == 1 && !s->constants);
                else if (!reuse)
                    assert_true(s->proxy || s->pipelined || s->scale < 1);
            cull_recipe_close(measured);
        }
        assert_true(arms.arm[1].recipe->setup.score.constants == reuse);
        cull_arms_close(&arms);
    }
}

static void arms_may_differ_in_how_they_score(void **state)
{
    cull_arms arms = open_arms("sb,sb score.precision=int8 score.norm=running", "0.3", "separate");
    cull_recipe *measured = NULL;

    (void)state;
    assert_int_equal(3, arms.count);
    assert_string_equal("sb score.precision=int8 score.norm=running keep=0.3 separate",
                        arms.arm[2].name);
    assert_false(arms.arm[1].recipe->setup.score.int8);
    assert_true(arms.arm[2].recipe->setup.score.int8 && arms.arm[2].recipe->setup.score.running);
    assert_ok(cull_arm_measured_as(&base, &arms.arm[2], &measured));
    assert_true(measured->setup.score.int8 && measured->setup.score.running);
    cull_recipe_close(measured);
    cull_arms_close(&arms);
}

static void arms_with_long_options_are_told_apart(void **state)
{
    static const char path[] = "/a/path/that/goes/on/for/longer/than/a/name/has/room/for";
    char              text[400], options[300];
    cull_arms         arms = {0};
    cull_arm_wish     wish = {text, "0.3", "separate", false};

    (void)state;
    (void)snprintf(text, sizeof text,
                   "rho score.irreducible=%s/1.npy,rho score.irreducible=%s/2.npy", path, path);
    assert_ok(cull_arms_open(&base, &wish, &arms));
    assert_int_equal(3, arms.count);
    assert_string_not_equal(arms.arm[1].name, arms.arm[2].name);
    assert_string_not_equal(arms.arm[1].folder, arms.arm[2].folder);
    cull_arms_close(&arms);
    (void)snprintf(
        text, sizeof text, "%s",
        "grad-match scope=class-gradient ridge=0.50000000000000001 "
        "tolerance=0.00000100000000000001 nonnegative=omp pick=signed short=accept memory=1024 "
        "match=training warm=0.50000000000000001 period=1");
    wish.keep = "0.123456789";
    assert_ok(cull_arms_open(&base, &wish, &arms));
    assert_true(strlen(arms.arm[1].name) > 150);
    assert_non_null(strstr(arms.arm[1].name, " keep=0.123456789 separate"));
    cull_arms_close(&arms);
    memset(options, 'x', sizeof options - 1);
    options[sizeof options - 1] = '\0';
    (void)snprintf(text, sizeof text, "sb beta=%s", options);
    assert_fails(CULL_BAD_OPTION, "at most 255 letters", cull_arms_open(&base, &wish, &arms));
}

static void a_recipe_that_selects_is_no_base(void **state)
{
    cull_option   own[] = {{"select.strategy", "sb"}};
    cull_arm_base selects = {.changes = own, .count = 1};
    cull_arm_wish wish = {"random", "0.3", "separate", false};
    cull_arms     arms = {0};

    (void)state;
    assert_fails(CULL_BAD_OPTION, "trains all examples", cull_arms_open(&selects, &wish, &arms));
}

/* ---- controls ---- */

static void every_arm_has_its_four_controls(void **state)
{
    cull_arms  arms = open_arms("sb", "0.25", "separate");
    cull_costs costs = table();
    double     full = 0, cost = 0;

    (void)state;
    assert_ok(cull_arms_control(&base, &costs, &arms));
    full = arms.arm[0].price.seconds;
    cost = arms.arm[1].price.seconds;
    assert_string_equal("random keep=0.25",
                        control(&arms, "sb keep=0.25 separate", CULL_ROLE_SAME_M)->name);
    for (cull_role role = CULL_ROLE_WHOLE_BUDGET; role < CULL_ROLES; role++) {
        const cull_arm *c = control(&arms, "sb keep=0.25 separate", role);
        assert_int_equal(role, c->role);
        /* within one example a step, the shortened within a step */
        assert_true(fabs(c->price.seconds - cost) <= 40 * 1.1e-3);
        assert_int_equal(role == CULL_ROLE_EARLY_STOP, c->recipe == NULL);
    }
    assert_true(fabs(control(&arms, "sb keep=0.25 separate", CULL_ROLE_SHORTENED)->share -
                     cost / full) < 1e-3);
    /* the full run is looked at where it is to be stopped */
    assert_int_equal(1, arms.arm[0].recipe->setup.moments);
    assert_true(fabs(arms.arm[0].recipe->setup.moment[0] - 4 * cost / full) < 4e-3);
    cull_arms_close(&arms);
}

/* What the base asks for is asked of everybody, as far as their runs go. */
static void nobody_is_looked_at_behind_its_end(void **state)
{
    cull_option     own[] = {{"model.name", "mlp"},
                             {"train.epochs", "4"},
                             {"train.batch", "128"},
                             {"train.evaluate_at", "[0.25, 1.5, 3.5]"}};
    cull_arm_base   looked = {.changes = own, .count = 4, .threads = 1};
    cull_arm_wish   wish = {"sb,grad-match warm=0.5 period=1", "0.25", "separate", false};
    cull_costs      costs = table();
    cull_arms       arms = {0};
    const cull_arm *full = NULL;

    (void)state;
    assert_ok(cull_arms_open(&looked, &wish, &arms));
    for (size_t i = 1; i < arms.count; i++)
        arms.arm[i].own = (cull_arm_costs){.known = true, .score = 3e-4, .pool_score = .2};
    assert_ok(cull_arms_control(&looked, &costs, &arms));
    assert_string_equal("0.25,1.5,3.5", cull_recipe_value(arms.arm[1].recipe, "train.evaluate_at"));
    assert_string_equal("0.25,1.5", cull_recipe_value(arms.arm[2].recipe, "train.evaluate_at"));
    for (size_t i = 1; i < arms.count; i++) {
        if (arms.arm[i].role != CULL_ROLE_SHORTENED) continue;
        assert_true(arms.arm[i].share * 4 < 3.5);
        assert_int_equal(arms.arm[i].share * 4 < 1.5 ? 1 : 2, arms.arm[i].recipe->setup.moments);
    }
    full = &arms.arm[0]; /* these, and where the two budgets end */
    assert_int_equal(5, full->recipe->setup.moments);
    for (size_t i = 1; i < 5; i++)
        assert_true(full->recipe->setup.moment[i] > full->recipe->setup.moment[i - 1]);
    assert_ok(cull_arms_control(&looked, &costs, &arms)); /* made anew, they are no more */
    assert_int_equal(5, arms.arm[0].recipe->setup.moments);
    cull_arms_close(&arms);
    own[3].value = "1,4.5";
    assert_fails(CULL_BAD_OPTION, "train.evaluate_at: 4.5 lies behind the run's end",
                 cull_arms_open(&looked, &wish, &arms));
}

/* Whole minibatches are chosen from several, with moments of the base's as without. */
static void who_chooses_minibatches_may_be_looked_at_when_the_base_says(void **state)
{
    static const char *const strategies[] = {"grad-match period=1 scope=batch",
                                             "craig period=1 scope=batch",
                                             "grad-match period=1 scope=batch warm=0.5"};
    cull_option              own[] = {{"model.name", "mlp"},
                                      {"train.epochs", "4"},
                                      {"train.batch", "128"},
                                      {"train.evaluate_at", "0.5,3.5"}};
    cull_arm_base            looked = {.changes = own, .count = 4, .threads = 1};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        cull_arm_wish wish = {strategies[i], "0.3", "separate", false};
        cull_arms     arms = {0};

        assert_ok(cull_arms_open(&looked, &wish, &arms));
        assert_int_equal(2, arms.count);
        assert_string_equal(i < 2 ? "0.5,3.5" : "0.5",
                            cull_recipe_value(arms.arm[1].recipe, "train.evaluate_at"));
        cull_arms_close(&arms);
    }
}

/* Whether its own sentence names it or not, and whoever finds out first. */
static void who_cannot_be_is_named_once(void **state)
{
    static const struct {
        const char *strategy, *says;
    } cases[] = {
        {"craig sample=0.5", "craig: sample goes with greedy=stochastic only"},
        {"sb remembered trim-weight=0.5",
         "sb remembered: trim-weight goes with a trim above 0 only"},
        {"sb beta=-1", "sb: command line: select.beta"},
    };
    cull_option own[] = {{"model.name", "mlp"}, {"train.evaluate_at", "0.5"}};

    (void)state;
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        cull_arm_base looked = {.changes = own, .count = 1 + i % 2, .threads = 1};
        cull_arm_wish wish = {cases[i / 2].strategy, "0.3", "separate", false};
        const char   *says = cases[i / 2].says;
        cull_arms     arms = {0};

        assert_fails(CULL_BAD_OPTION, says, cull_arms_open(&looked, &wish, &arms));
        assert_true(strncmp(cull_last_error(), says, strlen(says)) == 0);
    }
}

static void whole_budgets_cost_the_same_within_an_example_a_step(void **state)
{
    static const char *const strategies[] = {"sb",
                                             "sb remembered",
                                             "gradmatch every=2",
                                             "sb mode=scaled",
                                             "top-loss start=0.3 end=0.8",
                                             "sb stale"};
    cull_costs               costs = table();

    (void)state;
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
        cull_arms       arms = open_arms(strategies[i], "0.25", "separate");
        const cull_arm *c = NULL;
        double          example = 1.01e-3;

        assert_ok(cull_arms_control(&base, &costs, &arms));
        c = &arms.arm[arms.arm[1].control[CULL_ROLE_WHOLE_BUDGET]];
        assert_int_equal(CULL_ROLE_WHOLE_BUDGET, c->role);
        assert_int_equal(arms.arm[1].price.steps, c->price.steps);
        assert_true(c->price.trained >= arms.arm[1].price.trained);
        assert_true(c->price.seconds <= arms.arm[1].price.seconds * (1 + 1e-5));
        assert_true(arms.arm[1].price.seconds - c->price.seconds <=
                    (double)c->price.steps * example);
        cull_arms_close(&arms);
    }
}

static void pool_arms_are_controlled_by_subsets_of_the_pool(void **state)
{
    cull_arms       arms = open_arms("grad-match period=2 warm=0.5", "0.3", "separate");
    cull_costs      costs = table();
    const cull_arm *same = NULL, *whole = NULL;

    (void)state;
    assert_ok(cull_arms_control(&base, &costs, &arms));
    same = &arms.arm[arms.arm[1].control[CULL_ROLE_SAME_M]];
    whole = &arms.arm[arms.arm[1].control[CULL_ROLE_WHOLE_BUDGET]];
    assert_string_equal("adaptive-random keep=0.3", same->name);
    assert_string_equal("2", cull_recipe_value(whole->recipe, "select.period"));
    assert_string_equal("0.5", cull_recipe_value(whole->recipe, "select.warm"));
    assert_true(whole->keep > .3);
    assert_true(fabs(whole->price.seconds - arms.arm[1].price.seconds) < .15);
    cull_arms_close(&arms);
}

/* 384 of 1280 are as many; 320 asked for are two and a half minibatches of 128, 192 one and a half.
 */
static void whole_minibatches_are_controlled_by_as_many_examples(void **state)
{
    static const struct {
        const char *keep, *same;
        double      trained;
    } cases[] = {{"0.3", "adaptive-random keep=0.3", 384},
                 {"0.25", "adaptive-random keep=0.3", 384},
                 {"0.15", "adaptive-random keep=0.2", 256},
                 {"0.01", "adaptive-random keep=0.1", 128}};

    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        cull_arms arms =
            open_arms(i % 2 ? "craig period=1 scope=batch" : "grad-match period=1 scope=batch",
                      cases[i / 2].keep, "separate");
        cull_costs      costs = table();
        const cull_arm *same = NULL, *whole = NULL;

        assert_ok(cull_arms_control(&base, &costs, &arms));
        same = &arms.arm[arms.arm[1].control[CULL_ROLE_SAME_M]];
        whole = &arms.arm[arms.arm[1].control[CULL_ROLE_WHOLE_BUDGET]];
        assert_true(arms.arm[1].price.trained == 4 * cases[i / 2].trained);
        assert_string_equal(cases[i / 2].same, same->name);
        assert_true(same->price.trained == arms.arm[1].price.trained);
        assert_int_equal(arms.arm[1].price.steps, same->price.steps);
        assert_true(whole->price.trained >= arms.arm[1].price.trained);
        assert_true(whole->price.seconds <= arms.arm[1].price.seconds * (1 + 1e-5));
        cull_arms_close(&arms);
    }
}

static void near_costs_share_a_control_at_the_larger(void **state)
{
    cull_arms  arms = open_arms("sb,gradmatch,top-loss", "0.25", "separate");
    cull_costs costs = table();
    size_t     whole = 0;

    (void)state;
    arms.arm[find(&arms, "gradmatch keep=0.25 separate")].own.decide = 1.5e-3; /* 2 % more */
    arms.arm[find(&arms, "top-loss keep=0.25 separate")].own.decide = 8e-3;    /* 10 % more */
    assert_ok(cull_arms_control(&base, &costs, &arms));
    whole = arms.arm[find(&arms, "sb keep=0.25 separate")].control[CULL_ROLE_WHOLE_BUDGET];
    assert_int_equal(
        whole,
        arms.arm[find(&arms, "gradmatch keep=0.25 separate")].control[CULL_ROLE_WHOLE_BUDGET]);
    assert_true(arms.arm[whole].price.seconds >
                arms.arm[find(&arms, "sb keep=0.25 separate")].price.seconds);
    assert_true(
        whole !=
        arms.arm[find(&arms, "top-loss keep=0.25 separate")].control[CULL_ROLE_WHOLE_BUDGET]);
    assert_int_equal(
        arms.arm[find(&arms, "sb keep=0.25 separate")].control[CULL_ROLE_SHORTENED],
        arms.arm[find(&arms, "gradmatch keep=0.25 separate")].control[CULL_ROLE_SHORTENED]);
    cull_arms_close(&arms);
}

/* The larger share costs 3 % more, and uniform choice as much as the arm beside it. */
static void uniform_arms_lead_nobody(void **state)
{
    cull_arms  arms = open_arms("random,sb remembered", "0.25,0.257813", "separate");
    cull_costs costs = table();

    (void)state;
    assert_ok(cull_arms_control(&base, &costs, &arms));
    for (size_t i = 0; i < arms.count; i++) {
        if (arms.arm[i].role != CULL_ROLE_ARM || arms.arm[i].uniform) continue;
        assert_true(arms.arm[i].control[CULL_ROLE_WHOLE_BUDGET] < arms.count);
    }
    cull_arms_close(&arms);
}

static void what_collects_whole_batches_is_held_against_whole_batches(void **state)
{
    cull_arms arms =
        open_arms("sb-stream,sb-stream start=0.5,sb-stream every=4", "0.25", "separate");
    cull_costs      costs = table();
    const cull_arm *whole = NULL;

    (void)state;
    assert_ok(cull_arms_control(&base, &costs, &arms));
    for (size_t i = 1; i <= 3; i++) {
        const cull_arm *same = &arms.arm[arms.arm[i].control[CULL_ROLE_SAME_M]];

        whole = &arms.arm[arms.arm[i].control[CULL_ROLE_WHOLE_BUDGET]];
        assert_string_equal("adaptive-random", whole->strategy);
        assert_string_equal("1", cull_recipe_value(whole->recipe, "select.period"));
        assert_true(whole->price.seconds <= arms.arm[i].price.seconds);
        /* within a step an epoch */
        assert_true(arms.arm[i].price.seconds - whole->price.seconds < 4 * .131);
        assert_true(fabs(same->price.trained - arms.arm[i].price.trained) <= 4);
    }
    cull_arms_close(&arms);
}

/* 640 of 1280 is five steps, 641 six. */
static void a_rounded_share_buys_no_further_step(void **state)
{
    cull_arms       arms = open_arms("craig period=1", "0.3", "separate");
    cull_costs      costs = table();
    const cull_arm *whole = NULL;
    double          step = 128e-5 + 129e-3 + 5e-4;

    (void)state;
    arms.arm[1].own.pool_score = 0; /* to cost what five steps do, and a little */
    arms.arm[1].own.pool_solve = 2 * step;
    assert_ok(cull_arms_control(&base, &costs, &arms));
    whole = &arms.arm[arms.arm[1].control[CULL_ROLE_WHOLE_BUDGET]];
    assert_true(whole->price.seconds <= arms.arm[1].price.seconds);
    cull_arms_close(&arms);
}

static void what_runs_did_corrects_their_price(void **state)
{
    cull_arms  arms = open_arms("sb-stream,kath18", "0.25", "separate");
    cull_costs costs = table();
    double     guess = 0, example = (129e-3 + 5e-4) / 128;
    size_t     stream = find(&arms, "sb-stream separate");
    size_t     kath = find(&arms, "kath18 keep=0.25 separate");
    cull_arm  *arm = &arms.arm[stream];

    (void)state;
    assert_ok(cull_arm_price(&costs, arm));
    assert_false(arm->price.fixed);
    guess = arm->price.seconds;
    arm->own.counted = true;
    arm->own.scored = arm->price.scored;
    arm->own.trained = arm->price.trained - 512;
    arm->own.thirds = arm->price.thirds - 3 * 512;
    assert_ok(cull_arm_price(&costs, arm));
    assert_true(fabs(guess - arm->price.seconds - 512 * example) < 1e-9);
    assert_true(arm->price.thirds == arm->own.thirds);
    /* trains plainly, as far as anybody can tell beforehand */
    arm = &arms.arm[kath];
    assert_ok(cull_arm_price(&costs, arm));
    assert_false(arm->price.fixed);
    assert_true(arm->price.scored == 0 && arm->price.trained == 4 * POOL);
    assert_ok(cull_arm_price(&costs, &arms.arm[0]));
    assert_true(arms.arm[0].price.fixed);
    cull_arms_close(&arms);
}

static void an_arm_that_is_a_control_is_run_once(void **state)
{
    cull_arms  arms = open_arms("random,sb", "0.25", "separate");
    cull_costs costs = table();

    (void)state;
    assert_ok(cull_arms_control(&base, &costs, &arms));
    assert_int_equal(find(&arms, "random keep=0.25"),
                     arms.arm[find(&arms, "sb keep=0.25 separate")].control[CULL_ROLE_SAME_M]);
    assert_int_equal(SIZE_MAX,
                     arms.arm[find(&arms, "random keep=0.25")].control[CULL_ROLE_WHOLE_BUDGET]);
    for (size_t i = 0; i < arms.count; i++)
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(arms.arm[i].name, arms.arm[j].name);
            assert_string_not_equal(arms.arm[i].folder, arms.arm[j].folder);
        }
    cull_arms_close(&arms);
}

static void whoever_costs_more_than_full_training_is_held_against_it(void **state)
{
    cull_arms  arms = open_arms("sb", "0.5", "separate");
    cull_costs costs = table();

    (void)state;
    arms.arm[1].own.decide = 1;
    assert_ok(cull_arms_control(&base, &costs, &arms));
    assert_int_equal(0, arms.arm[1].control[CULL_ROLE_WHOLE_BUDGET]);
    assert_int_equal(0, arms.arm[1].control[CULL_ROLE_SHORTENED]);
    assert_int_equal(SIZE_MAX, arms.arm[1].control[CULL_ROLE_EARLY_STOP]);
    cull_arms_close(&arms);
}

static void controls_can_be_made_again(void **state)
{
    cull_arms  arms = open_arms("random,sb,grad-match", "0.1,0.25", "separate");
    cull_costs costs = table();
    size_t     count = 0;

    (void)state;
    assert_ok(cull_arms_control(&base, &costs, &arms));
    count = arms.count;
    assert_ok(cull_arms_control(&base, &costs, &arms));
    assert_int_equal(count, arms.count);
    cull_arms_close(&arms);
}

static void survives_every_allocation_failure(void **state)
{
    cull_costs    costs = table();
    cull_arm_wish wish = {"sb", "0.25", "separate", false};
    cull_status   status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n += 1 + n / 16) {
        cull_arms arms = {0};

        fail_nth_alloc(n);
        status = cull_arms_open(&base, &wish, &arms);
        if (status == CULL_OK) status = cull_arms_control(&base, &costs, &arms);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        cull_arms_close(&arms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learning_between_sizes_lies_on_the_line_between_them),
        cmocka_unit_test(a_larger_batch_never_costs_less),
        cmocka_unit_test(a_table_has_room_for_so_many_sizes),
        cmocka_unit_test(costs_near_each_other_form_groups_led_by_the_largest),
        cmocka_unit_test(who_is_in_no_group_hides_no_larger_cost),
        cmocka_unit_test(counted_work_is_the_papers_arithmetic),
        cmocka_unit_test(all_that_is_scored_is_counted_and_paid),
        cmocka_unit_test(a_short_batch_that_is_left_out_costs_nothing),
        cmocka_unit_test(a_step_costs_what_its_parts_cost),
        cmocka_unit_test(costs_at_marks_are_what_was_spent_until_then),
        cmocka_unit_test(strategies_shares_and_passes_make_arms),
        cmocka_unit_test(what_is_asked_for_twice_is_run_once),
        cmocka_unit_test(wrong_wishes_are_refused_in_a_sentence),
        cmocka_unit_test(what_cannot_save_is_refused_with_the_arithmetic_unless_wanted),
        cmocka_unit_test(arms_that_cannot_be_are_left_out_by_name),
        cmocka_unit_test(arms_may_have_a_share_and_a_pass_of_their_own),
        cmocka_unit_test(who_scores_nothing_has_no_scoring_of_its_own),
        cmocka_unit_test(arms_may_differ_in_how_they_score),
        cmocka_unit_test(arms_with_long_options_are_told_apart),
        cmocka_unit_test(a_recipe_that_selects_is_no_base),
        cmocka_unit_test(every_arm_has_its_four_controls),
        cmocka_unit_test(nobody_is_looked_at_behind_its_end),
        cmocka_unit_test(who_chooses_minibatches_may_be_looked_at_when_the_base_says),
        cmocka_unit_test(who_cannot_be_is_named_once),
        cmocka_unit_test(whole_budgets_cost_the_same_within_an_example_a_step),
        cmocka_unit_test(pool_arms_are_controlled_by_subsets_of_the_pool),
        cmocka_unit_test(whole_minibatches_are_controlled_by_as_many_examples),
        cmocka_unit_test(near_costs_share_a_control_at_the_larger),
        cmocka_unit_test(uniform_arms_lead_nobody),
        cmocka_unit_test(what_collects_whole_batches_is_held_against_whole_batches),
        cmocka_unit_test(a_rounded_share_buys_no_further_step),
        cmocka_unit_test(what_runs_did_corrects_their_price),
        cmocka_unit_test(an_arm_that_is_a_control_is_run_once),
        cmocka_unit_test(whoever_costs_more_than_full_training_is_held_against_it),
        cmocka_unit_test(controls_can_be_made_again),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
