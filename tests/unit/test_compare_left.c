/* tests/unit/test_compare_left.c - arms that cannot be, or diverge while they are measured; runs of
 * other weights than the comparison's. */
#include "compare_support.h"

/* Where in the list of what is to be measured an arm is; the last of this name. */
static size_t place_of(const cull_comparison *c, const char *name)
{
    for (size_t i = c->waiting; i-- > 0;)
        if (c->unmeasured[i].arm < c->arms.count &&
            strcmp(c->arms.arm[c->unmeasured[i].arm].name, name) == 0)
            return i;
    fail_msg("%s is not to be measured", name);
    return 0;
}

static void finish_all(cull_comparison *c)
{
    cull_compare_run run = {0};

    for (size_t i = 0; cull_comparison_run(c, i, &run); i++)
        leave_run(c, &run, "finished", accuracy_of(&run));
}

static void what_cannot_be_is_a_problem_of_plan_and_result(void **state)
{
    cull_compare_options o = options("sb,sb score.precision=int8");
    cull_comparison     *c = NULL;

    o.pass = "separate,reuse";
    o.keep = "0.25,0.9";
    assert_ok(cull_comparison_create(&o, &c));
    assert_ok(cull_comparison_folder(c, *state, false));
    measure_all(c);
    assert_non_null(
        strstr(cull_comparison_plan(c), "sb score.precision=int8 keep=0.25 reuse is left out: "));
    assert_non_null(strstr(cull_comparison_plan(c),
                           "sb keep=0.9 separate is left out: it cannot save anything"));
    assert_ok(cull_comparison_begin(c));
    finish_all(c);
    assert_problem(
        c, "sb score.precision=int8 keep=0.25 reuse is left out: ", "sb keep=0.25 reuse is");
    cull_comparison_destroy(c);
}

static void what_cannot_be_measured_is_left_out_and_stays_so(void **state)
{
    cull_comparison *c = make("sb,sb stale,top-loss");
    size_t           place = place_of(c, "sb stale keep=0.25 separate");
    char            *plan = NULL;

    assert_ok(cull_comparison_folder(c, *state, false));
    assert_ok(cull_comparison_leave_out(c, place, "it has no business here"));
    assert_ok(cull_comparison_leave_out(c, place, "so says the other process"));
    measure_all(c);
    assert_int_equal(1, c->arms.lefts);
    for (size_t i = 0; i < c->arms.count; i++)
        assert_string_not_equal("sb stale", c->arms.arm[i].strategy);
    assert_string_equal("top-loss keep=0.25 separate", c->arms.arm[2].name);
    assert_true(c->arms.arm[2].own.known && c->arms.arm[2].own.score > 0);
    assert_ok(cull_comparison_begin(c));
    finish_all(c);
    assert_problem(c, "sb stale keep=0.25 separate is left out: it has no business here", "other");
    plan = strdup(cull_comparison_plan(c));
    cull_comparison_destroy(c);
    c = make("sb,sb stale,top-loss"); /* a sitting later it is the same plan */
    assert_ok(cull_comparison_folder(c, *state, true));
    assert_string_equal(plan, cull_comparison_plan(c));
    assert_ok(cull_comparison_begin(c));
    assert_problem(c, "sb stale keep=0.25 separate is left out: it has no business here", NULL);
    free(plan);
    cull_comparison_destroy(c);
}

static void full_training_sizes_and_the_last_arm_are_not_left_out(void **state)
{
    cull_comparison *c = make("sb,top-loss,random");
    size_t           size = 0;

    (void)state;
    while (c->unmeasured[size].arm != SIZE_MAX) size++;
    assert_fails(CULL_BAD_ARGUMENT, "what all arms are measured by",
                 cull_comparison_leave_out(c, place_of(c, "full"), "why"));
    assert_fails(CULL_BAD_ARGUMENT, "what all arms are measured by",
                 cull_comparison_leave_out(c, size, "why"));
    assert_fails(CULL_BAD_ARGUMENT, "what all arms are measured by",
                 cull_comparison_leave_out(c, 1000, "why"));
    assert_ok(cull_comparison_leave_out(c, place_of(c, "sb keep=0.25 separate"), "why"));
    assert_fails(CULL_BAD_ARGUMENT, "the last arm",
                 cull_comparison_leave_out(c, place_of(c, "top-loss keep=0.25 separate"), "why"));
    measure_all(c);
    assert_int_equal(1, cull_arms_to_judge(&c->arms));
    cull_comparison_destroy(c);
}

static void an_arm_that_diverges_while_measured_is_named_and_run(void **state)
{
    cull_comparison *c = make("sb,top-loss");
    char            *plan = NULL;

    assert_ok(cull_comparison_folder(c, *state, false));
    while (cull_comparison_unmeasured(c, 0)) {
        cull_measured all[64];
        size_t        count = 0;

        for (; cull_comparison_unmeasured(c, count); count++) {
            all[count] = measured(cull_comparison_unmeasured(c, count));
            all[count].diverged = all[count].scored > 0; /* both, but neither full nor sizes */
        }
        assert_ok(cull_comparison_measured(c, all, count, 1));
    }
    assert_ok(cull_comparison_begin(c));
    finish_all(c);
    assert_problem(c, "sb keep=0.25 separate: the loss was no longer finite while", "full: the");
    plan = strdup(cull_comparison_plan(c));
    assert_non_null(strstr(plan, "top-loss keep=0.25 separate: the loss was no longer finite"));
    cull_comparison_destroy(c);
    c = make("sb,top-loss");
    assert_ok(cull_comparison_folder(c, *state, true));
    assert_string_equal(plan, cull_comparison_plan(c));
    free(plan);
    cull_comparison_destroy(c);
}

static void full_training_that_diverges_ends_it(void **state)
{
    cull_comparison *c = make("sb");
    cull_measured    all[64];
    size_t           count = 0;

    (void)state;
    for (; cull_comparison_unmeasured(c, count); count++) {
        all[count] = measured(cull_comparison_unmeasured(c, count));
        all[count].diverged = c->unmeasured[count].arm == 0;
    }
    assert_fails(CULL_NOT_FINITE, "full training: the loss is no longer finite",
                 cull_comparison_measured(c, all, count, 1));
    cull_comparison_destroy(c);
}

static void leaving_out_survives_failing_allocations(void **state)
{
    cull_compare_options o = options("sb,sb score.precision=int8,sb stale");
    cull_status          status = CULL_NO_MEMORY;

    o.pass = "separate,reuse";
    for (size_t n = 1; status != CULL_OK; n += 1 + n / 24) {
        cull_comparison *c = NULL;

        fail_nth_alloc(n);
        status = cull_comparison_create(&o, &c);
        if (status == CULL_OK) status = cull_comparison_leave_out(c, c->waiting - 1, "why");
        if (status == CULL_BAD_ARGUMENT) /* the last is a size */
            status = cull_comparison_leave_out(c, place_of(c, "sb stale keep=0.25 reuse"), "why");
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        cull_comparison_destroy(c);
    }
    (void)state;
}

/* ---- weights to begin with ---- */

/* A comparison whose runs begin with a file of weights, never read here but for its hash. */
static cull_comparison *make_given(const char *file)
{
    cull_option          given[5] = {{"train.init", file}};
    cull_compare_options o = options("sb");
    cull_comparison     *c = NULL;

    memcpy(given + 1, changes, sizeof changes);
    o.changes = given;
    o.count = 5;
    assert_ok(cull_comparison_create(&o, &c));
    return c;
}

/* The run says that it began with such weights. */
static void say_init(const cull_compare_run *run, const char *file, const char *hash)
{
    char    path[CULL_DATA_PATH + 32];
    json_t *said = NULL;

    (void)snprintf(path, sizeof path, "%s/run.json", run->folder);
    said = json_load_file(path, 0, NULL);
    assert_non_null(said);
    assert_int_equal(
        0, json_object_set_new(said, "init", json_pack("{s:s, s:s}", "file", file, "hash", hash)));
    assert_int_equal(0, json_dump_file(said, path, JSON_COMPACT));
    json_decref(said);
}

/* FNV-1a of "a" and of "b", by the authors' list (Fowler, Noll, Vo). */
static const char hash_a[] = "af63dc4c8601ec8c", hash_b[] = "af63df4c8601f1a5";

static void a_run_that_began_with_other_weights_is_named_and_left_out(void **state)
{
    char             file[200], words[400];
    cull_comparison *c = NULL;
    cull_compare_run run = {0};

    (void)snprintf(file, sizeof file, "%s/w.safetensors", (const char *)*state);
    put_file(file, "a", 1);
    c = make_given(file);
    assert_ok(cull_comparison_folder(c, *state, false));
    measure_all(c);
    assert_ok(cull_comparison_begin(c));
    for (size_t i = 0; cull_comparison_run(c, i, &run); i++) {
        bool sb = strncmp(run.name, "sb", 2) == 0;

        leave_run(c, &run, sb && run.seed == 3 ? "running" : "finished", accuracy_of(&run));
        if (!sb || run.seed != 1) say_init(&run, file, sb ? hash_b : hash_a);
    }
    (void)snprintf(words, sizeof words,
                   "seed-2: it began with %s of hash %s, the comparison's had %s; skipped", file,
                   hash_b, hash_a);
    assert_problem(c, words, "runs/full");
    assert_problem(c, "seed-1: it began with", NULL);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        assert_int_equal(CULL_RECORDS_FINISHED, cull_compared_at(c, 0, seed)->record.state);
        assert_int_equal(CULL_RECORDS_CORRUPT, cull_compared_at(c, 1, seed)->record.state);
    }
    cull_comparison_destroy(c);
}

static void a_comparison_does_not_go_on_with_other_weights(void **state)
{
    char             file[200];
    cull_comparison *c = NULL;

    (void)snprintf(file, sizeof file, "%s/w.safetensors", (const char *)*state);
    put_file(file, "a", 1);
    c = make_given(file);
    assert_ok(cull_comparison_folder(c, *state, false));
    measure_all(c);
    assert_ok(cull_comparison_begin(c));
    cull_comparison_destroy(c);
    put_file(file, "b", 1);
    c = make_given(file);
    assert_fails(CULL_DIFFERS, "w.safetensors of hash af63dc4c8601ec8c, this one",
                 cull_comparison_folder(c, *state, true));
    assert_non_null(strstr(cull_last_error(), hash_b));
    cull_comparison_destroy(c);
    put_file(file, "a", 1);
    c = make_given(file);
    assert_ok(cull_comparison_folder(c, *state, true));
    cull_comparison_destroy(c);
    assert_int_equal(0, remove(file)); /* what is finished can still be judged */
    c = make_given(file);
    assert_ok(cull_comparison_folder(c, *state, true));
    cull_comparison_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_cannot_be_is_a_problem_of_plan_and_result),
        IN_FOLDER(what_cannot_be_measured_is_left_out_and_stays_so),
        cmocka_unit_test(full_training_sizes_and_the_last_arm_are_not_left_out),
        IN_FOLDER(an_arm_that_diverges_while_measured_is_named_and_run),
        cmocka_unit_test(full_training_that_diverges_ends_it),
        cmocka_unit_test(leaving_out_survives_failing_allocations),
        IN_FOLDER(a_run_that_began_with_other_weights_is_named_and_left_out),
        IN_FOLDER(a_comparison_does_not_go_on_with_other_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
