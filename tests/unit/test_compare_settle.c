/* tests/unit/test_compare_settle.c - arms whose cost only their own runs tell. */
#include "compare_support.h"

/* A run that trained and scored so much. */
static void leave_counts(const cull_compare_run *run, double scored, double trained)
{
    char text[1024], path[CULL_DATA_PATH + 32];

    (void)snprintf(text, sizeof text,
                   "{\"status\":\"finished\",\"test\":0.9,\"best\":0.9,\"scored\":%.0f,"
                   "\"trained\":%.0f,\"thirds\":%.0f,\"seconds_by_phase\":{\"load\":1,"
                   "\"score\":1,\"select\":1,\"learn\":1,\"optim\":1}}\n",
                   scored, trained, scored + 3 * trained);
    (void)snprintf(path, sizeof path, "%s/run.json", run->folder);
    put_file(path, text, strlen(text));
}

static void controls_wait_for_the_runs_of_arms_whose_cost_is_a_guess(void **state)
{
    cull_comparison *c = begin("sb,sb-stream", *state);
    cull_compare_run run = {0};
    size_t           listed = 0;
    const cull_arm  *arm = &c->arms.arm[2];
    double           guess = arm->price.seconds, settled = 0;
    char            *plan = NULL;
    json_t          *j = NULL;

    assert_true(cull_compare_is_guess(arm));
    for (; cull_comparison_run(c, listed, &run); listed++) {
        assert_true(strncmp(run.name, "sb", 2) == 0); /* arms alone */
        leave_run(c, &run, "finished", .9);
        if (strncmp(run.name, "sb-stream", 9) == 0)
            leave_counts(&run, 5120, 1200 + 40 * (double)run.seed);
    }
    assert_int_equal(6, listed);
    j = judge(c);
    assert_false(json_is_true(json_object_get(j, "finished")));
    assert_int_equal(0, json_array_size(json_object_get(j, "problems")));
    json_decref(j);
    arm = &c->arms.arm[2];
    settled = arm->price.seconds;
    assert_true(settled < guess && !cull_compare_is_guess(arm));
    assert_true(arm->price.trained == 1280); /* the mean of three seeds */
    assert_true(
        fabs(c->arms.arm[arm->control[CULL_ROLE_WHOLE_BUDGET]].price.seconds / settled - 1) < .03);
    for (listed = 0; cull_comparison_run(c, listed, &run); listed++)
        if (strcmp(run.status, "finished") != 0) leave_run(c, &run, "finished", .9);
    assert_true(listed > 6);
    j = judge(c);
    assert_true(json_is_true(json_object_get(j, "finished")));
    json_decref(j);
    plan = strdup(cull_comparison_plan(c));
    cull_comparison_destroy(c);
    c = make("sb,sb-stream"); /* what was settled is frozen */
    assert_ok(cull_comparison_folder(c, *state, true));
    assert_string_equal(plan, cull_comparison_plan(c));
    free(plan);
    cull_comparison_destroy(c);
}

/* The guess had controls that full training at the same cost has not. */
static void an_arm_that_proves_dearer_than_full_training_is_held_against_that(void **state)
{
    cull_comparison *c = begin("sb-stream", *state);
    cull_compare_run run = {0};
    char            *full = NULL;

    assert_true(c->arms.arm[1].control[CULL_ROLE_EARLY_STOP] != SIZE_MAX);
    for (size_t i = 0; cull_comparison_run(c, i, &run); i++) {
        leave_run(c, &run, "finished", .9);
        if (strncmp(run.name, "sb-stream", 9) == 0) leave_counts(&run, 5120, 5100);
    }
    json_decref(judge(c));
    assert_true(c->arms.arm[1].price.seconds > c->arms.arm[0].price.seconds);
    assert_int_equal(0, c->arms.arm[1].control[CULL_ROLE_SHORTENED]);
    assert_int_equal(0, c->arms.arm[1].control[CULL_ROLE_WHOLE_BUDGET]);
    assert_true(c->arms.arm[1].control[CULL_ROLE_EARLY_STOP] == SIZE_MAX);
    assert_string_equal("", cull_recipe_value(c->arms.arm[0].recipe, "train.evaluate_at"));
    full = strdup(cull_recipe_text(c->arms.arm[0].recipe));
    cull_comparison_destroy(c);
    c = make("sb-stream"); /* a sitting later it is the same plan */
    assert_ok(cull_comparison_folder(c, *state, true));
    assert_string_equal(full, cull_recipe_text(c->arms.arm[0].recipe));
    free(full);
    cull_comparison_destroy(c);
}

/* ---- texts ---- */

enum { TOKENS = 100 }; /* of an example in its batch, on the mean */

/* A run that trained so many texts of so many tokens each, and scored all of mean length. */
static void leave_texts(const cull_compare_run *run, double trained, double tokens)
{
    char   text[1024], path[CULL_DATA_PATH + 32];
    double scored = 5120;

    (void)snprintf(text, sizeof text,
                   "{\"status\":\"finished\",\"test\":0.9,\"best\":0.9,\"scored\":%.0f,"
                   "\"trained\":%.0f,\"thirds\":%.0f,\"tokens_scored\":%.0f,"
                   "\"tokens_trained\":%.0f,\"token_thirds\":%.0f,\"seconds_by_phase\":{\"load\":1,"
                   "\"score\":1,\"select\":1,\"learn\":1,\"optim\":1}}\n",
                   scored, trained, scored + 3 * trained, scored * TOKENS, trained * tokens,
                   scored * TOKENS + 3 * trained * tokens);
    (void)snprintf(path, sizeof path, "%s/run.json", run->folder);
    put_file(path, text, strlen(text));
}

static const cull_arm *same_m_of(const cull_comparison *c, size_t arm)
{
    return &c->arms.arm[c->arms.arm[arm].control[CULL_ROLE_SAME_M]];
}

/* An arm's texts may be longer than the mean: its work is that of more examples, but it trained as
 * many as it did. */
static void same_m_of_texts_is_as_many_examples_and_a_budget_as_many_tokens(void **state)
{
    static const char strategies[] = "craig period=1,sb-stream";
    cull_comparison  *c = make(strategies);
    cull_compare_run  run = {0};
    char             *plan = NULL;

    assert_ok(cull_comparison_folder(c, *state, false));
    texts_have = TOKENS;
    measure_all(c);
    texts_have = 0;
    assert_ok(cull_comparison_begin(c));
    for (size_t i = 0; cull_comparison_run(c, i, &run); i++) {
        leave_run(c, &run, "finished", .9);
        if (strncmp(run.name, "craig", 5) == 0) leave_texts(&run, 1280, 1.3 * TOKENS);
        if (strncmp(run.name, "sb-stream", 9) == 0) leave_texts(&run, 2000, 1.5 * TOKENS);
    }
    json_decref(judge(c));
    assert_true(c->settled);
    for (int again = 0; again < 2; again++) {
        assert_true(fabs(c->arms.arm[1].price.trained - 1.3 * 1280) < 1e-6);
        assert_true(fabs(c->arms.arm[2].price.trained - 1.5 * 2000) < 1e-6);
        assert_true(fabs(same_m_of(c, 1)->keep - .25) < 1e-9);
        assert_true(fabs(same_m_of(c, 2)->keep - 2000. / 5120) < 1e-9);
        if (again) break;
        plan = strdup(cull_comparison_plan(c));
        cull_comparison_destroy(c);
        c = make(strategies); /* what was settled is frozen */
        assert_ok(cull_comparison_folder(c, *state, true));
        assert_string_equal(plan, cull_comparison_plan(c));
        free(plan);
    }
    cull_comparison_destroy(c);
}

static void a_control_that_was_made_for_a_guess_is_a_problem(void **state)
{
    cull_comparison *c = begin("sb,sb-stream", *state);
    cull_compare_run run = {0};

    for (size_t i = 0; cull_comparison_run(c, i, &run); i++)
        leave_run(c, &run, strncmp(run.name, "sb-stream", 9) == 0 ? "failed" : "finished", .9);
    json_decref(judge(c)); /* nothing tells what it took: the guess stands */
    for (size_t i = 0; cull_comparison_run(c, i, &run); i++) {
        leave_run(c, &run, "finished", accuracy_of(&run));
        if (strncmp(run.name, "sb-stream", 9) == 0) leave_counts(&run, 5120, 600);
    }
    assert_problem(c, "sb-stream", NULL);
    assert_problem(c, "was matched at", NULL);
    cull_comparison_destroy(c);
}

static void a_run_that_does_not_say_what_it_scored_is_damaged(void **state)
{
    static const char text[] = "{\"status\":\"finished\",\"test\":0.9,\"best\":0.9,"
                               "\"trained\":1240,\"thirds\":8000}\n";
    cull_comparison  *c = begin("sb,sb-stream", *state);
    cull_compare_run  run = {0};
    char              path[CULL_DATA_PATH + 32];

    for (size_t i = 0; cull_comparison_run(c, i, &run); i++) {
        leave_run(c, &run, "finished", .9);
        if (strncmp(run.name, "sb-stream", 9) != 0) continue;
        (void)snprintf(path, sizeof path, "%s/run.json", run.folder);
        put_file(path, text, strlen(text));
    }
    json_decref(judge(c));
    assert_int_equal(CULL_RECORDS_CORRUPT, cull_compared_at(c, 2, 1)->record.state);
    cull_comparison_destroy(c);
}

/* Arms' runs are read, then a plan is made anew; the old one is gone either way. Of 1447
 * allocations the first 50 fail one by one, then every 23rd: each failure takes a folder of its
 * own. */
static void settling_survives_failing_allocations(void **state)
{
    cull_compare_options o = options("sb-stream");

    o.seeds = 1;
    for (size_t n = 1, failed = 1; failed; n += n < 50 ? 1 : 23) {
        char             folder[200];
        cull_comparison *c = NULL;
        cull_compare_run run = {0};

        (void)snprintf(folder, sizeof folder, "%s/%zu", (const char *)*state, n);
        assert_ok(cull_comparison_create(&o, &c));
        assert_ok(cull_comparison_folder(c, folder, false));
        measure_all(c);
        assert_ok(cull_comparison_begin(c));
        for (size_t i = 0; cull_comparison_run(c, i, &run); i++) {
            leave_run(c, &run, "finished", .9);
            if (strncmp(run.name, "sb-stream", 9) == 0) leave_counts(&run, 5120, 1240);
        }
        assert_ok(cull_compare_read_runs(c));
        fail_nth_alloc(n);
        failed = cull_compare_settle(c) != CULL_OK;
        fail_nth_alloc(0);
        (void)cull_comparison_run(c, 0, &run);
        (void)cull_comparison_judge(c); /* well or not, but never worse */
        cull_comparison_destroy(c);
        assert_true(n < 5000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(controls_wait_for_the_runs_of_arms_whose_cost_is_a_guess),
        IN_FOLDER(an_arm_that_proves_dearer_than_full_training_is_held_against_that),
        IN_FOLDER(same_m_of_texts_is_as_many_examples_and_a_budget_as_many_tokens),
        IN_FOLDER(a_control_that_was_made_for_a_guess_is_a_problem),
        IN_FOLDER(a_run_that_does_not_say_what_it_scored_is_damaged),
        IN_FOLDER(settling_survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
