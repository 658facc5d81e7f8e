/* tests/unit/test_compare.c - a comparison from options to comparison.json, with made-up runs. */
#include <fcntl.h>
#include <sys/wait.h>

#include "compare_support.h"

static void the_plan_counts_runs_time_and_disk(void **state)
{
    cull_comparison *c = make("sb,random");
    json_t          *plan = NULL;

    (void)state;
    assert_null(cull_comparison_plan(c));
    measure_all(c);
    plan = json_loads(cull_comparison_plan(c), 0, NULL);
    assert_non_null(plan);
    /* full, sb, random as arm and control, whole budget; full shortened to each of two costs */
    assert_int_equal(3 * 6, json_integer_value(json_object_get(plan, "runs")));
    assert_true(number(plan, "seconds") > 0 && number(plan, "bytes") > 0);
    assert_string_equal("mlp on made-up.npz, 4 epochs, batch 128",
                        json_string_value(json_object_get(plan, "title")));
    json_decref(plan);
    cull_comparison_destroy(c);
}

static void the_same_scoring_pass_costs_every_arm_the_same(void **state)
{
    cull_comparison *c = make("sb,top-loss,gradmatch");
    cull_measured    all[64];
    size_t           count = 0, arm[4] = {0};

    (void)state;
    for (; cull_comparison_unmeasured(c, count); count++) {
        all[count] = measured(cull_comparison_unmeasured(c, count));
        if (c->unmeasured[count].arm < 4) arm[c->unmeasured[count].arm] = count;
    }
    all[arm[2]].score *= 3; /* top-loss reads losses as sb does, gradmatch H and P */
    all[arm[3]].score *= 1.5;
    assert_ok(cull_comparison_measured(c, all, count, 1));
    assert_true(fabs(c->arms.arm[1].own.score - 6e-4) < 1e-12);
    assert_true(fabs(c->arms.arm[2].own.score - 6e-4) < 1e-12);
    assert_true(fabs(c->arms.arm[3].own.score - 4.5e-4) < 1e-12);
    cull_comparison_destroy(c);
}

static void scoring_of_another_kind_has_a_price_of_its_own(void **state)
{
    cull_comparison *c = make("sb,sb score.precision=int8,sb score.pipelined=true");
    cull_measured    all[64];
    size_t           count = 0;

    (void)state;
    for (; cull_comparison_unmeasured(c, count); count++) {
        const cull_recipe *recipe = cull_comparison_unmeasured(c, count);

        all[count] = measured(recipe);
        if (recipe->setup.score.int8) all[count].score /= 2;
        if (recipe->setup.score.pipelined) { /* hidden behind learning */
            all[count].learn += all[count].score;
            all[count].score = 0;
        }
    }
    assert_ok(cull_comparison_measured(c, all, count, 1));
    assert_true(fabs(c->arms.arm[1].own.score - 3e-4) < 1e-12);
    assert_true(fabs(c->arms.arm[2].own.score - 1.5e-4) < 1e-12);
    assert_true(fabs(c->arms.arm[3].own.score - 3e-4) < 1e-12);
    cull_comparison_destroy(c);
}

/* Batches that fill whole vectors are faster, as on real machines: a size between two measured ones
 * may cost more than the line between them says. */
static double bumpy(size_t m)
{
    return 1e-3 * (1 + (double)m) * (m % 32 == 0 ? .8 : 1);
}

static void controls_alternate_between_sizes_that_were_measured(void **state)
{
    cull_comparison *c = make("sb,gradmatch,top-loss");
    cull_measured    all[64];

    (void)state;
    while (cull_comparison_unmeasured(c, 0)) {
        size_t count = 0;

        for (; cull_comparison_unmeasured(c, count); count++) {
            all[count] = measured(cull_comparison_unmeasured(c, count));
            if (all[count].scored > 0) all[count].score *= 1.2;
            all[count].learn = bumpy((size_t)all[count].trained);
        }
        assert_ok(cull_comparison_measured(c, all, count, 1));
    }
    for (size_t i = 1; i < 4; i++) {
        const cull_arm *arm = &c->arms.arm[i];
        const cull_arm *whole = &c->arms.arm[arm->control[CULL_ROLE_WHOLE_BUDGET]];
        size_t          m = cull_budget(whole->keep, 128), found = 0;

        for (size_t k = 0; k < c->costs.sizes; k++)
            found += c->costs.learn[k].batch == m || c->costs.learn[k].batch == m + 1;
        assert_int_equal(2, found);
    }
    cull_comparison_destroy(c);
}

static void scaled_batches_are_controlled_at_the_size_they_have(void **state)
{
    cull_comparison *c = make("sb mode=scaled");
    const cull_arm  *arm = NULL, *whole = NULL;

    (void)state;
    measure_all(c);
    arm = &c->arms.arm[1];
    assert_int_equal(512, arm->price.candidates);
    assert_true(arm->control[CULL_ROLE_WHOLE_BUDGET] != 0);
    whole = &c->arms.arm[arm->control[CULL_ROLE_WHOLE_BUDGET]];
    assert_string_equal("512", cull_recipe_value(whole->recipe, "train.batch"));
    assert_int_equal(arm->price.steps, whole->price.steps);
    assert_true(fabs(whole->price.seconds / arm->price.seconds - 1) < 1e-3);
    cull_comparison_destroy(c);
}

static void wrong_options_are_named(void **state)
{
    cull_compare_options o = options("sb");
    cull_comparison     *c = NULL;

    (void)state;
    o.seeds = 0;
    assert_fails(CULL_BAD_OPTION, "seeds", cull_comparison_create(&o, &c));
    o = options("sb");
    o.jobs = 1000;
    assert_fails(CULL_BAD_OPTION, "jobs", cull_comparison_create(&o, &c));
    o = options("sb");
    o.margin = NAN;
    assert_fails(CULL_BAD_OPTION, "margin", cull_comparison_create(&o, &c));
    o = options("full");
    assert_fails(CULL_BAD_OPTION, "nothing to compare", cull_comparison_create(&o, &c));
}

static void a_finished_comparison_says_who_pays(void **state)
{
    cull_comparison     *c = begin("sb,random", *state);
    cull_compare_run     run = {0};
    cull_compare_outlook outlook = {0};
    json_t              *j = NULL;
    const json_t        *arm = NULL, *versus = NULL;

    for (size_t i = 0; cull_comparison_run(c, i, &run); i++) {
        assert_string_equal("missing", run.status);
        assert_int_equal(0, access(run.recipe, R_OK));
        leave_run(c, &run, "finished", accuracy_of(&run));
    }
    j = judge(c);
    assert_true(json_is_true(json_object_get(j, "finished")));
    assert_int_equal(10, json_integer_value(json_object_get(j, "classes")));
    assert_non_null(strstr(json_string_value(json_object_get(j, "verdict")),
                           "pays here: sb keep=0.25 separate"));
    assert_non_null(strstr(json_string_value(json_object_get(j, "advice")), "sb keep=0.25"));
    assert_true(cull_comparison_outlook(c, &outlook));
    assert_string_equal(outlook.advice, json_string_value(json_object_get(j, "advice")));
    assert_int_equal(10000, json_integer_value(json_object_get(j, "test")));
    arm = arm_of(j, "sb keep=0.25 separate");
    assert_true(fabs(number(arm, "mean") - (91.2 + .02 / 3)) < 1e-9);
    assert_true(number(arm, "cost") > .5 && number(arm, "cost") < .65);
    versus = versus_of(arm, "whole-budget");
    assert_string_equal("better", json_string_value(json_object_get(versus, "verdict")));
    assert_true(fabs(number(versus, "difference") - (1 + .02 / 3)) < 1e-9);
    assert_int_equal(3, json_integer_value(json_object_get(versus, "pairs")));
    assert_null(json_object_get(versus_of(arm, "same-m"), "verdict"));
    assert_true(json_is_null(json_object_get(versus_of(arm, "same-m"), "p_holm")));
    assert_true(json_is_null(json_object_get(versus, "wilcoxon"))); /* from six on */
    (void)versus_of(arm, "shortened");
    assert_string_equal("better", json_string_value(json_object_get(arm, "verdict")));
    arm = arm_of(j, "random keep=0.25");
    assert_int_equal(2, json_array_size(json_object_get(arm, "versus")));
    assert_string_equal("control", json_string_value(json_object_get(arm, "verdict")));
    assert_null(json_object_get(arm_of(j, "full"), "verdict"));
    assert_true(json_is_null(json_object_get(j, "command")));
    json_decref(j);
    cull_comparison_destroy(c);
}

static void early_stops_are_read_off_the_full_runs_curve_where_it_was_looked_at(void **state)
{
    cull_comparison *c = begin("sb", *state);
    cull_compare_run run = {0};
    json_t          *j = NULL;
    const json_t    *early = NULL;
    const char      *name = NULL;
    double           at = 0;

    for (size_t i = 0; cull_comparison_run(c, i, &run); i++) leave_run(c, &run, "finished", .9);
    at = c->arms.arm[c->arms.arm[1].control[CULL_ROLE_EARLY_STOP]].share * 40;
    j = judge(c);
    name = json_string_value(json_object_get(
        json_object_get(arm_of(j, "sb keep=0.25 separate"), "controls"), "early-stop"));
    early = json_array_get(json_object_get(arm_of(j, name), "runs"), 0);
    assert_string_equal("runs/full/seed-1", json_string_value(json_object_get(early, "folder")));
    /* the made-up curve has points at 10, 17 and 40 steps */
    if (fabs(at - 17) <= 1)
        assert_true(fabs(number(early, "accuracy") - 80) < 1e-9);
    else
        assert_string_equal("corrupt", json_string_value(json_object_get(early, "status")));
    json_decref(j);
    cull_comparison_destroy(c);
}

static void the_best_of_another_set_is_no_best_of_the_test_set(void **state)
{
    cull_comparison  *c = begin("sb", *state);
    cull_compare_run  run = {0};
    json_t           *j = NULL;
    char              path[CULL_DATA_PATH + 32];
    static const char lines[] =
        "{\"kind\":\"evaluate\",\"set\":\"validation\",\"step\":10,\"accuracy\":0.99}\n"
        "{\"kind\":\"evaluate\",\"set\":\"test\",\"step\":10,\"accuracy\":0.905}\n"
        "{\"kind\":\"evaluate\",\"set\":\"validation\",\"step\":40,\"accuracy\":0.98}\n"
        "{\"kind\":\"evaluate\",\"set\":\"test\",\"step\":40,\"accuracy\":0.9}\n";
    const json_t *reached = NULL;

    for (size_t i = 0; cull_comparison_run(c, i, &run); i++) {
        leave_run(c, &run, "finished", .9);
        if (strcmp(run.name, "sb keep=0.25 separate") != 0) continue;
        (void)snprintf(path, sizeof path, "%s/metrics.jsonl", run.folder);
        put_file(path, lines, strlen(lines));
    }
    j = judge(c);
    assert_true(fabs(number(arm_of(j, "sb keep=0.25 separate"), "best_mean") - 90.5) < 1e-9);
    /* nor is its curve: 1.1 times the full run's error is reached where the test set was first
     * read, and not before */
    reached = json_array_get(json_object_get(arm_of(j, "sb keep=0.25 separate"), "to_error"), 0);
    assert_true(fabs(number(reached, "cost") / number(arm_of(j, "sb keep=0.25 separate"), "cost") -
                     10. / 40) < 1e-2);
    assert_true(fabs(number(arm_of(j, "full"), "best_mean") - 91) < 1e-9);
    json_decref(j);
    cull_comparison_destroy(c);
}

static void damaged_runs_are_named_and_left_out(void **state)
{
    cull_comparison *c = begin("sb", *state);
    cull_compare_run run = {0};
    json_t          *j = NULL;
    char             path[CULL_DATA_PATH + 32];
    size_t           missing = 0;

    for (size_t i = 0; cull_comparison_run(c, i, &run); i++) {
        leave_run(c, &run, "finished", accuracy_of(&run));
        if (strcmp(run.name, "sb keep=0.25 separate") != 0) continue;
        (void)snprintf(path, sizeof path, "%s/%s", run.folder,
                       run.seed == 1 ? "metrics.jsonl" : "run.json");
        if (run.seed == 3)
            assert_int_equal(0, unlink(path));
        else
            put_file(path, "{}\n{}\nno\n", 9);
    }
    j = judge(c);
    assert_false(json_is_true(json_object_get(j, "finished")));
    assert_int_equal(2, json_array_size(json_object_get(j, "problems")));
    assert_string_equal("runs/sb-0.25-separate/seed-1: metrics.jsonl line 3 is no JSON; skipped",
                        json_string_value(json_array_get(json_object_get(j, "problems"), 0)));
    assert_string_equal("runs/sb-0.25-separate/seed-2: run.json is no JSON; skipped",
                        json_string_value(json_array_get(json_object_get(j, "problems"), 1)));
    assert_non_null(
        strstr(json_string_value(json_object_get(j, "verdict")), "Nothing can be said yet"));
    for (size_t i = 0; cull_comparison_run(c, i, &run); i++)
        missing += strcmp(run.status, "missing") == 0;
    assert_int_equal(1, missing);
    json_decref(j);
    cull_comparison_destroy(c);
}

static void a_run_that_did_other_work_than_was_priced_is_a_problem(void **state)
{
    cull_comparison *c = begin("sb", *state);
    cull_compare_run run = {0};
    json_t          *j = NULL;

    c->arms.arm[1].price.thirds *= 1.1;
    for (size_t i = 0; cull_comparison_run(c, i, &run); i++)
        leave_run(c, &run, "finished", accuracy_of(&run));
    c->arms.arm[1].price.thirds /= 1.1;
    j = judge(c);
    assert_int_equal(1, json_array_size(json_object_get(j, "problems")));
    assert_non_null(strstr(
        json_string_value(json_array_get(json_object_get(j, "problems"), 0)),
        "sb keep=0.25 separate took 0.642 of full training's counted work and was matched at "
        "0.583"));
    json_decref(j);
    cull_comparison_destroy(c);
}

static void a_control_of_another_cost_is_a_problem(void **state)
{
    cull_comparison *c = begin("sb", *state);
    cull_arm        *whole = &c->arms.arm[c->arms.arm[1].control[CULL_ROLE_WHOLE_BUDGET]];
    double           seconds = whole->price.seconds;

    for (int i = 0; i < 3; i++) {
        static const double factor[] = {1, 1.1, .9};
        json_t             *j = NULL;

        whole->price.seconds = factor[i] * seconds;
        j = judge(c);
        assert_int_equal(i > 0, json_array_size(json_object_get(j, "problems")));
        if (i > 0)
            assert_non_null(
                strstr(json_string_value(json_array_get(json_object_get(j, "problems"), 0)),
                       "the nearest uniform choice, random keep="));
        json_decref(j);
    }
    cull_comparison_destroy(c);
}

static void half_done_and_failed_runs_are_told_apart(void **state)
{
    cull_comparison *c = begin("sb", *state);
    cull_compare_run run = {0};
    json_t          *j = NULL;

    assert_true(cull_comparison_run(c, 0, &run));
    leave_run(c, &run, "stopped", .9);
    assert_true(cull_comparison_run(c, 1, &run));
    leave_run(c, &run, "failed", .9);
    j = judge(c);
    assert_true(cull_comparison_run(c, 0, &run));
    assert_string_equal("running", run.status);
    assert_true(cull_comparison_run(c, 1, &run));
    assert_string_equal("failed", run.status);
    json_decref(j);
    cull_comparison_destroy(c);
}

static void a_resumed_comparison_keeps_costs_and_plan(void **state)
{
    cull_comparison *c = begin("sb,sb remembered", *state);
    char            *plan = strdup(cull_comparison_plan(c));

    cull_comparison_destroy(c);
    c = make("sb,sb remembered");
    assert_fails(CULL_EXISTS, "already holds a comparison",
                 cull_comparison_folder(c, *state, false));
    cull_comparison_destroy(c);
    c = make("sb,sb remembered");
    assert_ok(cull_comparison_folder(c, *state, true));
    assert_null(cull_comparison_unmeasured(c, 0));
    assert_string_equal(plan, cull_comparison_plan(c));
    cull_comparison_destroy(c);
    free(plan);
}

static void another_comparison_is_not_resumed(void **state)
{
    cull_comparison     *c = begin("sb", *state);
    cull_compare_options o = options("sb");
    cull_option          other[4];

    cull_comparison_destroy(c);
    c = make("gradmatch");
    assert_fails(CULL_DIFFERS, "strategies=sb, this one gradmatch",
                 cull_comparison_folder(c, *state, true));
    cull_comparison_destroy(c);
    o.jobs = 1;
    assert_ok(cull_comparison_create(&o, &c));
    assert_fails(CULL_DIFFERS, "jobs=2, this one 1", cull_comparison_folder(c, *state, true));
    cull_comparison_destroy(c);
    o = options("sb");
    memcpy(other, changes, sizeof other);
    other[1].value = "5";
    o.changes = other;
    assert_ok(cull_comparison_create(&o, &c));
    assert_fails(CULL_DIFFERS, "train.epochs=4, this one 5",
                 cull_comparison_folder(c, *state, true));
    cull_comparison_destroy(c);
    o = options("sb");
    o.seeds = 2;
    assert_ok(cull_comparison_create(&o, &c));
    assert_fails(CULL_DIFFERS, "seeds=3, this one 2", cull_comparison_folder(c, *state, true));
    cull_comparison_destroy(c);
    o.seeds = 8; /* more may be asked for, and another margin */
    o.margin = 1;
    assert_ok(cull_comparison_create(&o, &c));
    assert_ok(cull_comparison_folder(c, *state, true));
    cull_comparison_destroy(c);
}

static void damaged_costs_are_refused(void **state)
{
    cull_comparison         *c = begin("sb", *state);
    static const char *const wrong[] = {"no", "{\"version\":1}", "{\"version\":2}", "[]"};

    cull_comparison_destroy(c);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put_file(path_in(*state, "costs.json"), wrong[i], strlen(wrong[i]));
        c = make("sb");
        assert_fails(CULL_BAD_FILE, "costs.json", cull_comparison_folder(c, *state, true));
        cull_comparison_destroy(c);
    }
}

static void a_folder_is_one_process_s_at_a_time(void **state)
{
    cull_comparison *c = begin("sb", *state), *other = NULL;
    int              how = 0;
    pid_t            pid = fork();

    if (pid == 0) {
        other = make("sb");
        _exit(cull_comparison_folder(other, *state, true) == CULL_BUSY &&
                      strcmp(cull_last_subject(), *state) == 0
                  ? 0
                  : 1);
    }
    assert_int_equal(pid, waitpid(pid, &how, 0));
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    cull_comparison_destroy(c);
}

static void the_command_that_would_repeat_it_is_noted(void **state)
{
    cull_compare_options o = options("sb");
    cull_comparison     *c = NULL;
    json_t              *j = NULL;
    char                 command[] = "cull compare 'a b.yaml' --strategies sb";

    o.command = command;
    assert_ok(cull_comparison_create(&o, &c));
    command[0] = 'x'; /* it was copied */
    assert_ok(cull_comparison_folder(c, *state, false));
    measure_all(c);
    assert_ok(cull_comparison_begin(c));
    j = judge(c);
    assert_string_equal("cull compare 'a b.yaml' --strategies sb",
                        json_string_value(json_object_get(j, "command")));
    json_decref(j);
    cull_comparison_destroy(c);
}

static void six_pairs_get_wilcoxons_test_too(void **state)
{
    cull_compare_options o = options("sb");
    cull_comparison     *c = NULL;
    cull_compare_run     run = {0};
    json_t              *j = NULL;

    o.seeds = 6;
    assert_ok(cull_comparison_create(&o, &c));
    assert_ok(cull_comparison_folder(c, *state, false));
    measure_all(c);
    assert_ok(cull_comparison_begin(c));
    for (size_t i = 0; cull_comparison_run(c, i, &run); i++)
        leave_run(c, &run, "finished", accuracy_of(&run));
    j = judge(c);
    assert_true(
        fabs(number(versus_of(arm_of(j, "sb keep=0.25 separate"), "whole-budget"), "wilcoxon") -
             .03125) < 1e-12);
    assert_null(strstr(json_string_value(json_object_get(j, "verdict")), "decide little"));
    json_decref(j);
    cull_comparison_destroy(c);
}

static void survives_every_allocation_failure(void **state)
{
    cull_compare_options o = options("sb");
    cull_comparison     *c = begin("sb", *state);
    cull_compare_run     run = {0};
    cull_status          status = CULL_NO_MEMORY;

    for (size_t i = 0; cull_comparison_run(c, i, &run); i++)
        leave_run(c, &run, "finished", accuracy_of(&run));
    cull_comparison_destroy(c);
    for (size_t n = 1; status != CULL_OK; n += 1 + n / 24) {
        c = NULL;
        fail_nth_alloc(n);
        status = cull_comparison_create(&o, &c);
        if (status == CULL_OK) status = cull_comparison_folder(c, *state, true);
        if (status == CULL_OK) status = cull_comparison_begin(c);
        if (status == CULL_OK) status = cull_comparison_judge(c);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        cull_comparison_destroy(c);
    }
}

static void a_control_that_makes_other_steps_is_a_problem(void **state)
{
    cull_comparison *c = begin("sb,sb mode=scaled start=0.5", *state);
    cull_compare_run run = {0};

    for (size_t i = 0; cull_comparison_run(c, i, &run); i++)
        leave_run(c, &run, "finished", accuracy_of(&run));
    assert_problem(c, "sb mode=scaled start=0.5 keep=0.25 separate makes ",
                   "sb keep=0.25 separate makes ");
    cull_comparison_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plan_counts_runs_time_and_disk),
        cmocka_unit_test(the_same_scoring_pass_costs_every_arm_the_same),
        cmocka_unit_test(scoring_of_another_kind_has_a_price_of_its_own),
        cmocka_unit_test(controls_alternate_between_sizes_that_were_measured),
        cmocka_unit_test(scaled_batches_are_controlled_at_the_size_they_have),
        cmocka_unit_test(wrong_options_are_named),
        IN_FOLDER(a_finished_comparison_says_who_pays),
        IN_FOLDER(early_stops_are_read_off_the_full_runs_curve_where_it_was_looked_at),
        IN_FOLDER(the_best_of_another_set_is_no_best_of_the_test_set),
        IN_FOLDER(damaged_runs_are_named_and_left_out),
        IN_FOLDER(a_run_that_did_other_work_than_was_priced_is_a_problem),
        IN_FOLDER(a_control_that_makes_other_steps_is_a_problem),
        IN_FOLDER(the_command_that_would_repeat_it_is_noted),
        IN_FOLDER(a_control_of_another_cost_is_a_problem),
        IN_FOLDER(half_done_and_failed_runs_are_told_apart),
        IN_FOLDER(a_resumed_comparison_keeps_costs_and_plan),
        IN_FOLDER(another_comparison_is_not_resumed),
        IN_FOLDER(damaged_costs_are_refused),
        IN_FOLDER(a_folder_is_one_process_s_at_a_time),
        IN_FOLDER(six_pairs_get_wilcoxons_test_too),
        IN_FOLDER(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
