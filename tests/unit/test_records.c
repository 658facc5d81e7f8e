/* tests/unit/test_records.c - a folder is worth the same to the verdict and to the page, and what
 * is written is what is read. */
#include "compare_support.h"
#include "records/fields.h"
#include "report/shown.h"

#define OUTCOME                                                                                    \
    "\"test\":0.9,\"best\":0.91,\"scored\":0,\"trained\":3840,\"thirds\":11520,"                   \
    "\"weights\":\"weights-40.safetensors\"}"
#define LOOK                                                                                       \
    "{\"kind\":\"evaluate\",\"set\":\"test\",\"step\":10,\"epoch\":1,\"accuracy\":0.8,"            \
    "\"loss\":1}\n"

/* What a folder holds, and what that is worth. NULL: the file is not there, "/": it is a folder. */
static const struct damage {
    const char *info, *lines;
    const char *status, *why;
    const char *page; /* what a page calls it; NULL: as the verdict does */
} damages[] = {
    {"{\"status\":\"finished\"," OUTCOME, LOOK LOOK, "finished", "", NULL},
    {"{\"status\":\"finished\"," OUTCOME, "", "finished", "", NULL},
    {"{\"status\":\"finished\",\"version\":\"9.9.9\",\"more\":{}," OUTCOME, LOOK, "finished", "",
     NULL},
    /* run.json */
    {"{\"status\":\"finis", LOOK, "corrupt", "run.json is no JSON; skipped", NULL},
    {"", LOOK, "corrupt", "run.json is no JSON; skipped", NULL},
    {"[1]", LOOK, "corrupt", "run.json is no JSON; skipped", NULL},
    {"{\"status\":\"failed\",\"status\":\"finished\"," OUTCOME, LOOK, "corrupt",
     "run.json is no JSON; skipped", NULL},
    {"/", LOOK, "corrupt", "run.json cannot be read; skipped", NULL},
    {"{}", LOOK, "corrupt", "run.json has no status; skipped", NULL},
    {"{\"status\":5," OUTCOME, LOOK, "corrupt", "run.json has no status; skipped", NULL},
    {"{\"status\":\"dreaming\"," OUTCOME, LOOK, "corrupt",
     "run.json has a status that is not known here; skipped", NULL},
    {"{\"status\":\"finished\"}", LOOK, "corrupt", "run.json lacks its outcome; skipped", NULL},
    {"{\"status\":\"finished\",\"test\":\"0.9\",\"best\":0.9,\"scored\":0,\"trained\":1,"
     "\"thirds\":3}",
     LOOK, "corrupt", "run.json lacks its outcome; skipped", NULL},
    {"{\"status\":\"finished\",\"test\":90,\"best\":0.9,\"scored\":0,\"trained\":1,\"thirds\":3}",
     LOOK, "corrupt", "run.json lacks its outcome; skipped", NULL},
    {"{\"status\":\"finished\",\"test\":0.9,\"best\":0.9,\"scored\":null,\"trained\":1,"
     "\"thirds\":3}",
     LOOK, "corrupt", "run.json lacks its outcome; skipped", NULL},
    /* metrics.jsonl */
    {"{\"status\":\"finished\"," OUTCOME, NULL, "corrupt", "metrics.jsonl is missing; skipped",
     NULL},
    {"{\"status\":\"finished\"," OUTCOME, LOOK "{\"kind\":\"evalu", "corrupt",
     "metrics.jsonl line 2 is no JSON; skipped", NULL},
    {"{\"status\":\"finished\"," OUTCOME, LOOK "\n" LOOK, "corrupt",
     "metrics.jsonl line 2 is no JSON; skipped", NULL},
    {"{\"status\":\"finished\"," OUTCOME, LOOK LOOK "[]\n" LOOK, "corrupt",
     "metrics.jsonl line 3 is no JSON; skipped", NULL},
    {"{\"status\":\"finished\"," OUTCOME,
     "{\"kind\":\"evaluate\",\"set\":\"test\",\"step\":1,\"accuracy\":\"high\"}\n", "corrupt",
     "metrics.jsonl line 1 lacks its result; skipped", NULL},
    {"{\"status\":\"finished\"," OUTCOME,
     "{}\n{\"kind\":\"evaluate\",\"set\":\"test\",\"accuracy\":0.5}\n", "corrupt",
     "metrics.jsonl line 2 lacks its result; skipped", NULL},
    /* metrics */
    {"{\"status\":\"finished\",\"metric\":\"r2\",\"test\":-0.5,\"best\":-0.2,\"scored\":0,"
     "\"trained\":1,\"thirds\":3}",
     "{\"kind\":\"evaluate\",\"set\":\"test\",\"step\":1,\"r2\":-0.5}\n", "finished", "", NULL},
    {"{\"status\":\"finished\",\"metric\":\"map\",\"test\":-0.5,\"best\":-0.2,\"scored\":0,"
     "\"trained\":1,\"thirds\":3}",
     LOOK, "corrupt", "run.json lacks its outcome; skipped", NULL},
    {"{\"status\":\"finished\",\"metric\":\"bleu\"," OUTCOME, LOOK, "corrupt",
     "run.json has a metric that is not known here; skipped", NULL},
    {"{\"status\":\"finished\",\"metric\":\"r2\"," OUTCOME,
     "{\"kind\":\"evaluate\",\"set\":\"test\",\"step\":1,\"r2\":1.5}\n", "corrupt",
     "metrics.jsonl line 1 lacks its result; skipped", NULL},
    /* not at its end: what is broken is cut off when it goes on */
    {"{\"status\":\"running\"}", NULL, "running", "", NULL},
    {"{\"status\":\"running\"}", LOOK "{\"kind\":\"evalu", "running", "", NULL},
    {"{\"status\":\"stopped\"}", LOOK, "running", "", "stopped"},
    {"{\"status\":\"failed\",\"why\":\"the loss is no longer finite\"}", LOOK, "failed",
     "the loss is no longer finite", NULL},
    {"{\"status\":\"failed\",\"why\":7}", LOOK "no", "failed", "failed", NULL},
};
enum { DAMAGES = sizeof damages / sizeof *damages };

static void leave(const char *path, const char *text)
{
    remove_folder(path);
    if (text && strcmp(text, "/") == 0)
        assert_int_equal(0, mkdir(path, 0777));
    else if (text)
        put_file(path, text, strlen(text));
}

static void leave_damage(const char *folder, const struct damage *d)
{
    leave(path_in(folder, "run.json"), d->info);
    leave(path_in(folder, "metrics.jsonl"), d->lines);
}

/* A run as the page about it says: its status and why. */
struct told {
    char status[400], why[300];
};

static void take_until(const char *from, const char *end, char *out, size_t room)
{
    const char *stop = strstr(from, end);

    assert_non_null(stop);
    assert_true((size_t)(stop - from) < room);
    (void)snprintf(out, room, "%.*s", (int)(stop - from), from);
}

static void read_page(const char *folder, const char *output, struct told *out)
{
    static const char  cell[] = "data-label=\"Status\"><span>";
    cull_report_result result = {0};
    void              *data = NULL;
    size_t             bytes = 0;
    char              *page = NULL, *why = NULL;
    cull_status        status = cull_report(
               &folder, 1, &(cull_report_options){.output = output, .gnuplot = "/no/gnuplot"}, &result);

    *out = (struct told){0};
    if (status != CULL_OK) { /* nothing to show: one sentence, after the folder's name */
        assert_int_equal(CULL_BAD_FILE, status);
        assert_memory_equal(folder, cull_last_error(), strlen(folder));
        (void)snprintf(out->status, sizeof out->status, "corrupt");
        (void)snprintf(out->why, sizeof out->why, "%s", cull_last_error() + strlen(folder) + 2);
        return;
    }
    assert_ok(cull_file_read(output, &data, &bytes));
    page = calloc(bytes + 1, 1);
    assert_non_null(page);
    memcpy(page, data, bytes);
    assert_non_null(strstr(page, cell));
    take_until(strstr(page, cell) + strlen(cell), "</span>", out->status, sizeof out->status);
    why = strstr(out->status, " <small>");
    if (why) take_until(why + strlen(" <small>"), "</small>", out->why, sizeof out->why);
    if (why) *why = '\0';
    free(page);
    cull_bytes_release(data);
}

/* The verdict's word on the one run of full training with seed 1. */
static void judge_run(cull_comparison *c, cull_compare_run *out)
{
    assert_ok(cull_comparison_judge(c));
    for (size_t i = 0; cull_comparison_run(c, i, out); i++)
        if (strcmp(out->name, "full") == 0 && out->seed == 1) return;
    fail();
}

static void verdict_and_page_call_a_folder_the_same(void **state)
{
    cull_comparison *c = begin("sb", *state);
    cull_compare_run run = {0};
    cull_run_record  record = {0};
    struct told      told;
    char             output[CULL_DATA_PATH];

    (void)snprintf(output, sizeof output, "%s/page.html", (const char *)*state);
    judge_run(c, &run);
    assert_string_equal("missing", run.status);
    for (size_t i = 0; i < DAMAGES; i++) {
        const struct damage *d = &damages[i];

        leave_damage(run.folder, d);
        judge_run(c, &run);
        read_page(run.folder, output, &told);
        if (strcmp(d->status, run.status) != 0 || strcmp(d->why, run.why) != 0)
            fail_msg("%zu: the verdict says %s: %s", i, run.status, run.why);
        if (strcmp(d->page ? d->page : d->status, told.status) != 0 ||
            strcmp(d->why, told.why) != 0)
            fail_msg("%zu: the page says %s: %s", i, told.status, told.why);
        assert_ok(cull_run_read(run.folder, &record));
        assert_string_equal(told.status, record.status);
        assert_string_equal(told.why, record.why);
    }
    cull_comparison_destroy(c);
}

/* A page about a comparison that was judged before the damage was done. */
static void a_run_that_was_damaged_since_is_named_on_the_page_as_the_verdict_would(void **state)
{
    cull_comparison    *c = begin("sb", *state);
    cull_rep_comparison shown = {0};
    cull_compare_run    run = {0};

    for (size_t i = 0; cull_comparison_run(c, i, &run); i++)
        leave_run(c, &run, "finished", accuracy_of(&run));
    judge_run(c, &run);
    for (size_t i = 0; i < DAMAGES; i++) {
        const struct damage *d = &damages[i];
        cull_records_list    problems = {0};
        char                 sentence[400];

        if (strcmp(d->status, "finished") != 0 && strcmp(d->status, "corrupt") != 0) continue;
        leave_damage(run.folder, d);
        assert_ok(cull_rep_comparison_read(*state, &shown, &problems));
        (void)snprintf(sentence, sizeof sentence, "runs/full/seed-1: %s", d->why);
        assert_int_equal(d->why[0] != '\0', problems.count);
        if (d->why[0]) assert_string_equal(sentence, problems.text[0]);
        assert_int_equal(d->why[0] == '\0', shown.arm[0].run[0].there);
        cull_rep_comparison_clear(&shown);
        cull_records_list_clear(&problems);
    }
    cull_comparison_destroy(c);
}

static void another_version_is_refused_with_one_sentence(void **state)
{
    static const char    other[] = "{\"version\":2,\"arms\":[],\"learn\":[]}";
    const char          *folder = *state;
    cull_comparison     *c = begin("sb", folder);
    cull_compare_record *record = NULL;
    cull_report_result   result = {0};
    char                 output[CULL_DATA_PATH];

    assert_ok(cull_comparison_judge(c));
    cull_comparison_destroy(c);
    (void)snprintf(output, sizeof output, "%s/page.html", folder);
    put_file(path_in(folder, "comparison.json"), other, strlen(other));
    assert_fails(CULL_BAD_FILE, "comparison.json: is of another version than 1",
                 cull_compare_record_open(folder, &record));
    assert_fails(CULL_BAD_FILE, "comparison.json: is of another version than 1",
                 cull_report(&folder, 1, &(cull_report_options){.output = output, .gnuplot = "/no"},
                             &result));
    c = make("sb");
    put_file(path_in(folder, "costs.json"), other, strlen(other));
    assert_fails(CULL_BAD_FILE, "costs.json: is of another version than 1",
                 cull_comparison_folder(c, folder, true));
    cull_comparison_destroy(c);
    c = make("sb");
    put_file(path_in(folder, "plan.json"), other, strlen(other));
    assert_fails(CULL_BAD_FILE, "plan.json: is of another version than 1",
                 cull_comparison_folder(c, folder, true));
    cull_comparison_destroy(c);
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void a_comparison_is_read_as_it_was_written(void **state)
{
    cull_comparison        *c = begin("random,sb", *state);
    cull_records_comparison value = {0};
    cull_records_costs      costs = {0};
    cull_compare_record    *record = NULL;
    cull_compare_arm        live = {0}, read = {0};
    cull_compare_run        run = {0};
    cull_json               again = {0};
    void                   *before = NULL, *after = NULL;
    size_t                  arms = 0, bytes[2] = {0};

    for (size_t i = 0; cull_comparison_run(c, i, &run); i++)
        leave_run(c, &run, i ? "finished" : "failed", accuracy_of(&run));
    assert_ok(cull_comparison_judge(c));
    assert_ok(cull_records_comparison_read(*state, &value));
    assert_ok(cull_records_comparison_put(&value, &again));
    assert_string_equal(cull_comparison_text(c), (const char *)again.bytes.data);
    assert_ok(cull_file_read(path_in(*state, "costs.json"), &before, &bytes[0]));
    assert_ok(cull_records_costs_read(path_in(*state, "costs.json"), &costs));
    assert_ok(cull_records_costs_write(path_in(*state, "costs.json"), &costs));
    assert_ok(cull_file_read(path_in(*state, "costs.json"), &after, &bytes[1]));
    assert_int_equal(bytes[0], bytes[1]);
    assert_memory_equal(before, after, bytes[0]);
    /* What a program is told is the same from the comparison and from its folder. */
    assert_ok(cull_compare_record_open(*state, &record));
    for (; cull_comparison_arm(c, arms, &live); arms++) {
        assert_true(cull_compare_record_arm(record, arms, &read));
        assert_string_equal(live.name, read.name);
        assert_string_equal(live.role, read.role);
        assert_string_equal(live.verdict, read.verdict);
        assert_string_equal(live.sentence, read.sentence);
        assert_true(same(live.cost, read.cost) && same(live.low, read.low));
        assert_true(same(live.mean, read.mean) && same(live.difference, read.difference));
        assert_true(same(live.seconds[3], read.seconds[3]) && isnan(read.joules));
    }
    assert_false(cull_compare_record_arm(record, arms, &read));
    assert_true(arms >= 5);
    assert_string_equal(value.verdict, cull_compare_record_verdict(record));
    cull_compare_record_close(record);
    cull_bytes_release(before);
    cull_bytes_release(after);
    cull_json_clear(&again);
    cull_records_costs_clear(&costs);
    cull_records_comparison_clear(&value);
    cull_comparison_destroy(c);
}

static cull_records_work some_work(double turn)
{
    cull_records_work work = {.scored = 100 * turn,
                              .trained = 50 * turn,
                              .thirds = 250 * turn,
                              .proxy_thirds = NAN,
                              .cost = 250 * turn / 3,
                              .subsets = 4 * turn,
                              .subsets_filled = turn,
                              .subsets_short = 1,
                              .subsets_fallback = 0,
                              .filled = 7,
                              .updates = 3 * turn,
                              .seconds = .1 * turn};

    for (int i = 0; i < CULL_PHASES; i++) {
        work.seconds_by[i] = .01 * turn + i;
        work.joules_by[i] = NAN;
    }
    return work;
}

static void assert_same_work(const cull_records_work *a, const cull_records_work *b)
{
    assert_true(a->scored == b->scored && a->trained == b->trained && a->thirds == b->thirds);
    assert_true(isnan(b->proxy_thirds) && a->subsets == b->subsets && a->filled == b->filled);
    assert_true(a->seconds == b->seconds && isnan(b->joules_by[0]));
    assert_memory_equal(a->seconds_by, b->seconds_by, sizeof a->seconds_by);
}

/* `figure` is one that the metric may have. */
static void check_written_run(const char *folder, const cull_yardstick *metric, double figure)
{
    cull_records_logs logs = {0};
    cull_records_run  run = {0};
    cull_records_info info = {0};
    cull_records_line line = {.step = 3, .rate = .1, .loss = .25, .accuracy = figure, .best = true};
    char              path[CULL_DATA_PATH];
    void             *text = NULL;
    size_t            bytes = 0;
    uint64_t          metrics = 0, events = 0;
    cull_status       status = CULL_NO_MEMORY;

    cull_records_info_take(NULL, &info);
    info.status = "finished";
    info.metric = metric->key;
    info.accuracy = figure;
    info.test = 2. / 3;
    info.best = .75;
    info.data.name = "a \"set\"";
    info.no_energy = "not available here: no counter";
    info.weights = "w";
    info.work = some_work(9);
    info.data.fingerprint = "6 uint8:1x2x2";
    cull_records_texts_add(&info.warnings, "first \"said\"");
    cull_records_texts_add(&info.warnings, "second");
    cull_records_texts_add(&info.warnings, "second"); /* said once */
    assert_ok(cull_records_info_write(folder, &info));
    assert_ok(cull_records_logs_open(&logs, folder, metric, 0, 0));
    for (int i = 0; i < 9;
         i++) { /* every event; the second look at a step is the one that counts */
        line.event = (cull_records_event)(i % 3);
        line.set = i < 6 ? CULL_RECORDS_TEST : CULL_RECORDS_VALIDATION;
        line.epoch = 1 + i;
        line.so_far = some_work(i + 1);
        assert_ok(cull_records_logs_add(&logs, &line));
    }
    assert_ok(cull_records_logs_sync(&logs, &metrics, &events));
    assert_true(metrics > 1000 && events > 200);
    cull_records_logs_close(&logs);
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_records_run_clear(&run);
        fail_nth_alloc(n);
        status = cull_records_run_read(folder, &run);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
    }
    assert_int_equal(CULL_RECORDS_FINISHED, run.state);
    assert_true(run.info.test == 2. / 3 && run.info.best == .75 && isnan(run.info.step));
    assert_string_equal("a \"set\"", run.info.data.name);
    assert_string_equal(info.no_energy, run.info.no_energy);
    assert_same_work(&info.work, &run.info.work);
    assert_string_equal("6 uint8:1x2x2", run.info.data.fingerprint);
    assert_string_equal("", run.info.data.test_fingerprint);
    assert_int_equal(2, run.info.warnings.count);
    assert_string_equal("first \"said\"", run.info.warnings.text[0]);
    assert_string_equal("second", run.info.warnings.text[1]);
    assert_int_equal(1, run.curves.of[CULL_RECORDS_TRAIN].count);
    assert_int_equal(1, run.curves.of[CULL_RECORDS_TEST].count);
    assert_int_equal(1, run.curves.of[CULL_RECORDS_VALIDATION].count);
    assert_true(run.curves.of[CULL_RECORDS_TEST].look->epoch == 6);
    assert_true(run.curves.of[CULL_RECORDS_TEST].look->accuracy == figure);
    assert_true(run.info.accuracy == figure);
    assert_string_equal(metric->key, run.info.metric);
    assert_true(run.curves.of[CULL_RECORDS_TEST].look->best);
    assert_same_work(&line.so_far, &run.curves.of[CULL_RECORDS_VALIDATION].look->so_far);
    assert_true(run.curves.latest.subsets == 36);
    assert_true(run.curves.of[CULL_RECORDS_TEST].look->so_far.updates == 18);
    cull_records_run_clear(&run);
    /* no other metric's name is in the lines */
    (void)snprintf(path, sizeof path, "%s/metrics.jsonl", folder);
    assert_ok(cull_file_read(path, &text, &bytes));
    ((char *)text)[bytes - 1] = '\0'; /* the last line's end */
    for (size_t k = 0; cull_yardstick_at(k); k++)
        assert_true((strstr(text, cull_yardstick_at(k)->key) != NULL) ==
                    (cull_yardstick_at(k) == metric));
    cull_bytes_release(text);
}

static void a_run_is_read_as_it_was_written(void **state)
{
    check_written_run(*state, &cull_yardstick_accuracy, 1. / 3);
    check_written_run(*state, &cull_yardstick_r2, -7.25);
    check_written_run(*state, &cull_yardstick_map, 0.125);
}

static void old_and_damaged_runs_have_no_warnings_or_fewer(void **state)
{
    static const struct {
        const char *info;
        size_t      warnings;
    } cases[] = {{"{\"status\":\"running\"}", 0},
                 {"{\"status\":\"running\",\"warnings\":\"one\"}", 0},
                 {"{\"status\":\"running\",\"warnings\":[1,\"one\",null,\"one\",\"two\"]}", 2}};
    cull_records_texts many = {0};
    char               name[CULL_RECORDS_TEXTS + 2][8];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_records_run run = {0};

        assert_ok(cull_records_run_decode(cases[i].info, strlen(cases[i].info), NULL, 0, &run));
        assert_int_equal(cases[i].warnings, run.info.warnings.count);
        assert_string_equal("", run.info.data.fingerprint);
        cull_records_run_clear(&run);
    }
    for (size_t i = 0; i < CULL_RECORDS_TEXTS + 2; i++) {
        (void)snprintf(name[i], sizeof name[i], "%zu", i);
        cull_records_texts_add(&many, name[i]);
    }
    assert_int_equal(CULL_RECORDS_TEXTS, many.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(verdict_and_page_call_a_folder_the_same),
        IN_FOLDER(a_run_that_was_damaged_since_is_named_on_the_page_as_the_verdict_would),
        IN_FOLDER(another_version_is_refused_with_one_sentence),
        IN_FOLDER(a_comparison_is_read_as_it_was_written),
        IN_FOLDER(a_run_is_read_as_it_was_written),
        cmocka_unit_test(old_and_damaged_runs_have_no_warnings_or_fewer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
