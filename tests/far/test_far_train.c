/*
 * tests/far/test_far_train.c - training on a backend whose memory is elsewhere: whole runs, stopped
 * and resumed, leave what they leave on `ref`, bit for bit, and a broken step is told the same.
 */
#include "far.h"
#include "unit/policy_support.h"

/* Text of a file, without times and energies; released by the caller. */
static char *lines_of(const char *folder, const char *name)
{
    void  *data = NULL;
    size_t bytes = 0, to = 0;
    char  *out = NULL;

    assert_ok(cull_file_read(path_in(folder, name), &data, &bytes));
    out = calloc(bytes + 1, 1);
    for (size_t at = 0; at < bytes;) {
        const char *text = (const char *)data + at;
        bool        timed = strncmp(text, "\"seconds", 8) == 0 || strncmp(text, "\"joules", 7) == 0;

        if (timed)
            while (at < bytes && !strchr(",}\n", ((const char *)data)[at])) at++;
        else
            out[to++] = ((const char *)data)[at++];
    }
    cull_bytes_release(data);
    return out;
}

static void check_file(const char *one, const char *other, const char *name, const char *what)
{
    char *a = lines_of(one, name), *b = lines_of(other, name);

    if (strcmp(a, b) != 0) fail_msg("%s: %s differs:\n%s\n---\n%s", what, name, a, b);
    free(a);
    free(b);
}

static void check_bytes(const char *one, const char *other, const char *name, const char *what)
{
    void  *a = NULL, *b = NULL;
    size_t m = 0, n = 0;

    assert_ok(cull_file_read(path_in(one, name), &a, &m));
    assert_ok(cull_file_read(path_in(other, name), &b, &n));
    if (m != n || memcmp(a, b, n) != 0) fail_msg("%s: %s differs", what, name);
    cull_bytes_release(a);
    cull_bytes_release(b);
}

static bool stops(void *context)
{
    return ++*(size_t *)context == 2;
}

/* A run that is stopped after two steps and then goes on, on a backend. */
static cull_run_result run_on(const struct world *w, const char *backend, const char *changes)
{
    char             words[900];
    size_t           steps = 0;
    cull_recipe     *recipe = NULL;
    cull_run_result  result = {0};
    cull_run_options options = {
        .folder = path_in(w->folder, backend), .stop = stops, .context = &steps};
    cull_status status = CULL_OK;

    (void)snprintf(words, sizeof words, "train.backend=%s train.log=2 %s", backend, changes);
    recipe = recipe_of(w, words);
    status = cull_train(recipe, &options, &result);
    if (status != CULL_OK) fail_msg("%s: %s", words, cull_last_error());
    assert_int_equal(CULL_RUN_STOPPED, result.end);
    options.stop = NULL;
    options.resume = true;
    status = cull_train(recipe, &options, &result);
    if (status != CULL_OK) fail_msg("%s, resumed: %s", words, cull_last_error());
    cull_recipe_close(recipe);
    return result;
}

/* Whatever a run of this kind leaves, the same on both. */
static void compare_runs(const struct world *w, const char *kind)
{
    char            here[128], there[128];
    cull_run_result a = run_on(w, "ref", kind), b = run_on(w, "far", kind);

    (void)snprintf(here, sizeof here, "%s/ref", w->folder);
    (void)snprintf(there, sizeof there, "%s/far", w->folder);
    if (strcmp(a.weights, b.weights) != 0)
        fail_msg("%s: weights %s and %s", kind, a.weights, b.weights);
    assert_string_equal(a.best_weights, b.best_weights);
    assert_true(a.accuracy == b.accuracy && a.loss == b.loss && a.test == b.test);
    check_bytes(here, there, a.weights, kind);
    check_bytes(here, there, "selection.npz", kind);
    check_file(here, there, "metrics.jsonl", kind);
    remove_folder(here);
    remove_folder(there);
}

/* A network of every kind of layer that a recipe may list. */
#define LISTED                                                                                     \
    "model.name=layers "                                                                           \
    "model.layers=[{\"conv\":{\"channels\":4,\"kernel\":3}},\"batchnorm\",\"relu\","               \
    "{\"residual\":[{\"conv\":{\"channels\":4,\"kernel\":1}},\"relu6\"]},{\"add\":[[],[{"          \
    "\"groupnorm\":2}]]},"                                                                         \
    "{\"maxpool\":2},{\"concat\":[[{\"shortcut\":6}],[\"gelu\"]]},{\"avgpool\":[1,2]},"            \
    "\"layernorm\","                                                                               \
    "{\"dropout\":0.2},\"globalpool\",{\"dense\":7},\"flatten\",\"dense\"]"

static void runs_leave_what_they_leave_on_ref(void **state)
{
    static const char *const kinds[] = {
        "",
        "model.name=lenet5 optim.clip=0.5 optim.name=adamw optim.lr=0.01",
        "model.name=lenet5 optim.name=adam optim.lr=0.01 optim.weight_decay=0.01",
        LISTED,
        LISTED " select.strategy=sb select.keep=0.3 score.pass=reuse",
        LISTED " select.strategy=gradmatch select.keep=0.3 score.proxy=mlp",
        "select.strategy=random select.keep=0.3 select.rounding=alternate",
        "select.strategy=sb select.keep=0.3",
        "select.strategy=sb select.keep=0.3 score.pass=reuse model.name=lenet5",
        "select.strategy=sb+remembered select.keep=0.3",
        "select.strategy=sb+stale select.keep=0.3 train.epochs=3",
        "select.strategy=sb select.mode=scaled select.keep=0.5 score.augment=false",
        "select.strategy=sb-stream select.history=40 train.epochs=3",
        "select.strategy=top-loss select.keep=0.5 score.proxy=mlp model.name=lenet5",
        ("select.strategy=top-loss select.keep=0.5 score.scale=0.5 model.name=resnet20 "
         "train.epochs=1 data.subset=0.6"),
        "select.strategy=kath18 select.keep=0.5",
        "select.strategy=gradmatch select.keep=0.3 score.pass=reuse",
        "select.strategy=gradmatch select.keep=0.3 select.match=validation data.validation=0.3",
        "select.strategy=gradmatch select.keep=0.9 select.nonnegative=omp",
        "select.strategy=divbs select.keep=0.3",
        "select.strategy=infobatch train.epochs=4",
        "select.strategy=grad-match select.keep=0.3 select.period=1",
        "select.strategy=grad-match select.scope=batch select.keep=0.5 select.period=1",
        "select.strategy=craig select.keep=0.3 select.period=1 train.drop_short=true",
        "select.strategy=glister select.keep=0.3 select.period=1 data.validation=0.2",
        "select.strategy=adaptive-random select.keep=0.3 select.period=1",
        "model.loss=squared-error data.validation=0.3",
        "model.loss=squared-error select.strategy=sb select.keep=0.3 score.pass=reuse",
        "model.loss=squared-error select.strategy=grad-match select.scope=all select.period=1",
        "model.loss=binary-cross-entropy data.duplicates=2",
        ("model.loss=binary-cross-entropy select.strategy=gradmatch select.keep=0.3 "
         "score.pass=reuse model.name=lenet5"),
        "model.loss=binary-cross-entropy select.strategy=sb+remembered select.keep=0.3",
    };

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) compare_runs(*state, kinds[k]);
}

/*
 * With eight steps an epoch the third of a kind and all behind it are done as recorded, but for an
 * epoch's first: what is decided, learned, remembered and counted by them is
 * what running them gives. Steps that look at the host, or load what no set holds, are never
 * recorded.
 */
static void recorded_steps_are_what_running_them_gives(void **state)
{
    static const struct {
        const char *changes;
        bool        recorded;
    } kinds[] = {
        {"", true},
        {"optim.name=adamw optim.lr=0.01 optim.clip=0.5 model.name=lenet5", true},
        {"optim.name=adam optim.lr=0.01 optim.weight_decay=0.01", true},
        {"model.name=wrn-10-1 model.dropout=0.3 data.subset=0.7", true},
        {LISTED " select.strategy=sb select.keep=0.4", true},
        {LISTED " select.strategy=sb select.keep=0.4 score.pass=reuse", true},
        {"select.strategy=random select.keep=0.5 select.rounding=alternate", true},
        {"select.strategy=sb select.keep=0.4", true},
        {"select.strategy=sb select.keep=0.4 score.augment=false schedule.count=trained", true},
        {"select.strategy=sb select.keep=0.4 score.pass=reuse model.name=lenet5", true},
        {"select.strategy=sb+remembered select.keep=0.4 select.percentile=pool select.trim=0.2",
         true},
        {"select.strategy=sb+remembered select.keep=0.8 select.scope=pool", true},
        {"select.strategy=sb+stale select.keep=0.4 select.predict=trend", true},
        {"select.strategy=top-loss select.keep=0.5 score.proxy=mlp model.name=lenet5", true},
        {"select.strategy=gradmatch select.keep=0.4 score.pass=reuse", true},
        {"select.strategy=gradmatch select.keep=0.4 select.match=validation data.validation=0.3 "
         "data.subset=0.9",
         true},
        {"select.strategy=gradmatch select.keep=0.4 select.short=accept", true},
        {"select.strategy=gradmatch select.keep=0.4 select.short=accept score.pass=reuse", true},
        {"select.strategy=divbs select.keep=0.4", true},
        {"select.strategy=rho select.keep=0.4 score.irreducible=IRREDUCIBLE", true},
        {"select.strategy=grad-match select.keep=0.8 select.period=2", true},
        {"select.strategy=sb-stream select.history=40", true},
        {"select.strategy=sb-stream select.history=40 score.proxy=mlp model.name=lenet5", true},
        {"select.strategy=kath18 select.keep=0.5", true},
        {"select.strategy=kath18 select.keep=0.9 select.score=gnorm-last", true},
        {"select.strategy=kath18 select.keep=0.5 select.variable=false", true},
        {"select.strategy=kath18+remembered select.score=loss select.keep=0.5", true},
        {"select.strategy=sb select.keep=0.4 select.every=2", true},
        {"model.loss=squared-error select.strategy=gradmatch select.keep=0.4", true},
        {"model.loss=binary-cross-entropy select.strategy=sb select.keep=0.4 score.pass=reuse",
         true},
    };
    const struct world *w = *state;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char        changes[900], path[128];
        const char *file = strstr(kinds[k].changes, "IRREDUCIBLE");
        size_t      head = file ? (size_t)(file - kinds[k].changes) : strlen(kinds[k].changes);

        (void)snprintf(path, sizeof path, "%s/irreducible.npz", w->folder);
        (void)snprintf(changes, sizeof changes, "train.batch=7 train.epochs=3 %.*s%s", (int)head,
                       kinds[k].changes, file ? path : "");
        atomic_store(&far_replays, 0);
        compare_runs(w, changes);
        if ((atomic_load(&far_replays) > 4) != kinds[k].recorded)
            fail_msg("%s: %zu steps as recorded", changes, atomic_load(&far_replays));
    }
}

/* A recorded step is sent one letter and waited for by nobody; and an evaluation ends nothing that
 * recordings mean, so that the next epoch goes on with them. */
static void recorded_steps_are_sent_one_letter(void **state)
{
    static const char *const kinds[] = {
        "",
        "select.strategy=sb select.keep=0.4",
        "select.strategy=sb select.keep=0.4 score.pass=reuse",
        "select.strategy=sb+remembered select.keep=0.4",
        ("select.strategy=gradmatch select.keep=0.4 select.match=validation data.validation=0.3 "
         "data.subset=0.9"),
        "select.strategy=grad-match select.keep=0.8 select.period=9",
    };
    const struct world *w = *state;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char             words[300];
        cull_recipe     *recipe = NULL;
        cull_trainer    *t = NULL;
        cull_evaluation  result = {0};
        cull_step_values v = {0};

        (void)snprintf(words, sizeof words, "train.backend=far train.batch=4 train.epochs=3 %s",
                       kinds[k]);
        recipe = recipe_of(w, words);
        assert_ok(cull_trainer_create(&recipe->setup, true, &t));
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            assert_ok(cull_train_enter_epoch(t, epoch, &v.asked.needs));
            cull_meter_start(&t->books.meter);
            for (int i = 0; i < 6; i++) {
                /* evaluated twice: what an evaluation needs is there behind the first */
                bool again = epoch == 0 ? i >= 3 : epoch == 2 && i >= 1;

                atomic_store(&far_replays, 0);
                atomic_store(&far_crossings, 0);
                assert_ok(cull_train_step(t, &v));
                if (!again) continue;
                if (atomic_load(&far_replays) != 1 || atomic_load(&far_crossings) != 1)
                    fail_msg("%s: epoch %d, step %d: %zu replays, %zu crossings", kinds[k],
                             (int)epoch, i, atomic_load(&far_replays), atomic_load(&far_crossings));
            }
            assert_ok(cull_books_settle(&t->books, &t->learner, &t->progress));
            assert_ok(cull_learner_evaluate(&t->learner, &t->sets.test_at, t->sets.form, "test",
                                            &result));
        }
        cull_trainer_destroy(t);
        cull_recipe_close(recipe);
    }
}

/* Where the decision is the host's, the pass before it is one recording, and each training batch
 * behind it another. */
static void steps_with_a_decision_on_the_host_are_done_in_parts(void **state)
{
    static const char *const kinds[] = {
        "select.strategy=sb-stream select.history=40",
        "select.strategy=sb-stream select.history=40 select.beta=0.2 score.augment=false",
    };
    const struct world *w = *state;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char             words[300];
        size_t           filled[3] = {0};
        cull_recipe     *recipe = NULL;
        cull_trainer    *t = NULL;
        cull_step_values v = {0};

        (void)snprintf(words, sizeof words, "train.backend=far train.batch=4 train.epochs=4 %s",
                       kinds[k]);
        recipe = recipe_of(w, words);
        assert_ok(cull_trainer_create(&recipe->setup, true, &t));
        for (uint64_t epoch = 0; epoch < 4; epoch++) {
            assert_ok(cull_train_enter_epoch(t, epoch, &v.asked.needs));
            cull_meter_start(&t->books.meter);
            for (int i = 0; i < 10; i++) {
                uint64_t updates = t->learner.optim->steps;

                atomic_store(&far_replays, 0);
                assert_ok(cull_train_step(t, &v));
                updates = t->learner.optim->steps - updates;
                if (epoch < 3 || i == 0) continue;
                filled[updates < 2 ? updates : 2]++;
                if (atomic_load(&far_replays) != 1 + updates)
                    fail_msg("%s: step %d: %zu replays, %d batches", kinds[k], i,
                             atomic_load(&far_replays), (int)updates);
            }
            assert_ok(cull_books_settle(&t->books, &t->learner, &t->progress));
        }
        assert_true(filled[1] > 0 && (k != 0 || filled[0] > 0));
        cull_trainer_destroy(t);
        cull_recipe_close(recipe);
    }
}

/* Far works when it is waited for, long after a step was asked for: what a phase took is told by
 * marks, of recorded steps too, and all time up to the reading is some phase's. */
static void phases_are_told_by_marks(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe = recipe_of(w, "train.backend=far train.batch=7 model.name=lenet5 "
                                                     "select.strategy=sb select.keep=0.4");
    cull_trainer       *t = NULL;
    cull_step_values    v = {0};

    assert_ok(cull_trainer_create(&recipe->setup, true, &t));
    assert_ok(cull_train_enter_epoch(t, 0, &v.asked.needs));
    for (int i = 0; i < 7; i++) {
        cull_meter *meter = &t->books.meter, before;
        double      sum = 0;

        atomic_store(&far_replays, 0);
        cull_meter_start(meter);
        before = *meter;
        assert_ok(cull_train_step(t, &v));
        assert_true(meter->seconds[CULL_PHASE_LEARN] == before.seconds[CULL_PHASE_LEARN]);
        assert_ok(cull_books_settle(&t->books, &t->learner, &t->progress));
        assert_int_equal(i >= 2, atomic_load(&far_replays));
        for (int p = 0; p < CULL_PHASES; p++) {
            bool runs = p == CULL_PHASE_LOAD || p == CULL_PHASE_SCORE || p == CULL_PHASE_SELECT ||
                        p == CULL_PHASE_LEARN || p == CULL_PHASE_OPTIM;

            sum += meter->seconds[p] - before.seconds[p];
            assert_true(!runs || meter->seconds[p] > before.seconds[p]);
        }
        assert_true(fabs(meter->mark - before.mark - sum) < 1e-6);
    }
    cull_trainer_destroy(t);
    cull_recipe_close(recipe);
}

/* Steps of two kinds in turn, read behind one of them alone: each has its part, whether recorded
 * (sb) or not (kath18); and what is not read yet counts as spent. */
static void phases_of_all_kinds_are_told(void **state)
{
    static const char *const kinds[] = {"select.strategy=sb select.keep=0.4 select.every=2",
                                        "select.strategy=kath18 select.keep=0.4 select.every=2 "
                                        "select.variable=false"};
    const struct world      *w = *state;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char             words[300];
        cull_recipe     *recipe = NULL;
        cull_trainer    *t = NULL;
        cull_step_values v = {0};
        double           scored = 0;

        (void)snprintf(words, sizeof words, "train.backend=far train.batch=4 data.subset=0.9 %s",
                       kinds[k]);
        recipe = recipe_of(w, words);
        assert_ok(cull_trainer_create(&recipe->setup, true, &t));
        assert_ok(cull_train_enter_epoch(t, 0, &v.asked.needs));
        cull_meter_start(&t->books.meter);
        for (int i = 0; i < 12; i++) {
            cull_sel_course course = cull_train_course(t);
            double          spent = 0;

            if (cull_sel_course_over(&course)) break;
            assert_ok(cull_train_step(t, &v));
            spent = cull_meter_spent(&t->books.meter);
            assert_true(spent > 0);
            /* behind a plain step, which scores nothing */
            if (v.asked.needs.action != CULL_TRAIN_ALL) continue;
            assert_ok(cull_books_settle(&t->books, &t->learner, &t->progress));
            assert_true(cull_meter_spent(&t->books.meter) >= spent);
            if (i > 0) assert_true(t->books.meter.seconds[CULL_PHASE_SCORE] > scored);
            scored = t->books.meter.seconds[CULL_PHASE_SCORE];
        }
        assert_true(scored > 0);
        cull_trainer_destroy(t);
        cull_recipe_close(recipe);
    }
}

/* A rate at which nothing stays finite. */
#define DIVERGES "optim.lr=1000 optim.momentum=0.99 train.epochs=200 schedule.name=constant"

static void a_broken_step_is_told_the_same_and_reaches_no_file(void **state)
{
    static const char *const kinds[] = {
        DIVERGES,
        DIVERGES " select.strategy=sb select.keep=0.5",
        DIVERGES " train.log=1 model.name=lenet5",
        DIVERGES " train.batch=5 train.checkpoint_steps=9 select.strategy=sb select.keep=0.5",
    };
    static const char *const backends[] = {"ref", "far"};
    const struct world      *w = *state;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char said[2][300];

        for (int i = 0; i < 2; i++) {
            char             words[300];
            cull_recipe     *recipe = NULL;
            cull_run_result  result = {0};
            cull_run_options options = {.folder = path_in(w->folder, "run")};

            (void)snprintf(words, sizeof words, "train.backend=%s %s%s", backends[i], kinds[k],
                           strstr(kinds[k], "checkpoint") ? "" : " train.checkpoint_steps=1");
            recipe = recipe_of(w, words);
            if (cull_train(recipe, &options, &result) != CULL_NOT_FINITE)
                fail_msg("%s: %s", words, cull_last_error());
            (void)snprintf(said[i], sizeof said[i], "%s", cull_last_error());
            /* what was saved lies before it: gone on from there, the same step breaks */
            options.resume = true;
            assert_int_equal(CULL_NOT_FINITE, cull_train(recipe, &options, &result));
            assert_string_equal(said[i], cull_last_error());
            cull_recipe_close(recipe);
            remove_folder(path_in(w->folder, "run"));
        }
        assert_string_equal(said[0], said[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(runs_leave_what_they_leave_on_ref),
        TEST(recorded_steps_are_what_running_them_gives),
        TEST(recorded_steps_are_sent_one_letter),
        TEST(steps_with_a_decision_on_the_host_are_done_in_parts),
        TEST(phases_are_told_by_marks),
        TEST(phases_of_all_kinds_are_told),
        TEST(a_broken_step_is_told_the_same_and_reaches_no_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
