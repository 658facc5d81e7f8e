/*
 * tests/far/test_far_texts.c - training on texts: runs on a backend whose memory is elsewhere, with
 * several threads, and stopped and resumed, leave the same bits; what is chosen keeps its length;
 * reuse is what separate passes are.
 */
#include "data/tokens.h"
#include "far.h"
#include "unit/text_runs.h"

static const char *const kinds[] = {
    "",
    "train.drop_short=true model.dropout=0.2 optim.clip=0.5",
    "select.strategy=random select.keep=0.3",
    "select.strategy=random select.keep=0.3 select.rounding=alternate",
    "select.strategy=sb select.keep=0.4",
    "select.strategy=sb select.keep=0.4 score.pass=reuse model.dropout=0.2",
    "select.strategy=sb select.mode=scaled select.keep=0.5",
    "select.strategy=sb+remembered select.keep=0.4",
    "select.strategy=sb+remembered select.keep=0.4 select.percentile=pool select.trim=0.2",
    "select.strategy=sb+remembered select.keep=0.6 select.scope=pool",
    "select.strategy=sb+stale select.keep=0.4 train.epochs=3",
    "select.strategy=sb-stream select.history=40",
    "select.strategy=gradmatch select.keep=0.4 score.pass=reuse",
    "select.strategy=gradmatch select.keep=0.4 select.match=validation data.validation=0.3",
    "select.strategy=top-loss select.keep=0.5 score.proxy=transformer-1-64",
    "select.strategy=kath18 select.keep=0.5",
    "select.strategy=infobatch train.epochs=3",
    "select.strategy=grad-match select.keep=0.4 select.period=1",
    "select.strategy=grad-match select.scope=batch select.keep=0.5 select.period=1",
    "select.strategy=craig select.keep=0.3 select.period=1",
    "select.strategy=glister select.keep=0.3 select.period=1 data.validation=0.3",
    "select.strategy=adaptive-random select.keep=0.3 select.period=1",
    "data.label_noise=0.2 data.subset=0.8 data.duplicates=2",
};

/* Stopped and resumed there, in one piece here: the same weights and choices. With sanitizers,
 * which take five times as long, every third: test_far_train goes through them all there. */
static void runs_leave_the_same_elsewhere_and_resumed(void **state)
{
#ifdef CULL_SANITIZED
    enum { TURN = 3 };
#else
    enum { TURN = 1 };
#endif
    const struct library *l = *state;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k += TURN) {
        char            words[900], here[128], there[128];
        cull_run_result a, b;

        (void)snprintf(here, sizeof here, "%s/ref", l->folder);
        (void)snprintf(there, sizeof there, "%s/far", l->folder);
        (void)snprintf(words, sizeof words, "train.backend=ref %s", kinds[k]);
        a = run_in(l, "ref", words, false);
        (void)snprintf(words, sizeof words, "train.backend=far %s", kinds[k]);
        b = run_in(l, "far", words, true);
        if (strcmp(a.weights, b.weights) != 0)
            fail_msg("%s: weights %s and %s", kinds[k], a.weights, b.weights);
        assert_true(a.accuracy == b.accuracy && a.loss == b.loss && a.test == b.test);
        check_bytes(here, there, a.weights, kinds[k]);
        check_bytes(here, there, "selection.npz", kinds[k]);
        remove_folder(here);
        remove_folder(there);
    }
}

/* Every length has a recording, so that most steps behind the first epochs are done again; of a
 * stream, the passes before its decisions. */
static void steps_of_each_length_are_recorded(void **state)
{
    static const char *const cases[] = {
        "",
        "select.strategy=sb select.keep=0.4",
        "select.strategy=sb select.keep=0.4 score.pass=reuse",
        "select.strategy=gradmatch select.keep=0.4 select.match=validation data.validation=0.3",
        "select.strategy=sb-stream select.history=40",
    };
    const struct library *l = *state;

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char words[900];

        (void)snprintf(words, sizeof words, "train.backend=far train.epochs=4 %s", cases[k]);
        atomic_store(&far_replays, 0);
        (void)run_in(l, "run", words, false);
        if (atomic_load(&far_replays) <= 12)
            fail_msg("%s: %zu steps as recorded", words, atomic_load(&far_replays));
        remove_folder(path_in(l->folder, "run"));
    }
}

static void threads_change_no_bit(void **state)
{
    static const char *const some[] = {
        "", "select.strategy=sb select.keep=0.4 score.pass=reuse",
        "select.strategy=grad-match select.period=1 select.keep=0.4"};
    const struct library *l = *state;

    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        char            words[900], one[128], two[128];
        cull_run_result a, b;

        (void)snprintf(one, sizeof one, "%s/one", l->folder);
        (void)snprintf(two, sizeof two, "%s/two", l->folder);
        (void)snprintf(words, sizeof words, "train.backend=cpu %s", some[k]);
        a = run_in(l, "one", words, false);
        (void)snprintf(words, sizeof words, "train.backend=cpu train.threads=2 data.workers=2 %s",
                       some[k]);
        b = run_in(l, "two", words, false);
        assert_string_equal(a.weights, b.weights);
        check_bytes(one, two, a.weights, some[k]);
        remove_folder(one);
        remove_folder(two);
    }
}

/* ---- steps ---- */

/* The tokens of the longest example at these places, rounded up. */
static size_t length_of(const cull_dataset *set, const uint32_t *place, size_t count)
{
    size_t longest = 0;

    for (size_t i = 0; i < count; i++) {
        size_t tokens = cull_data_tokens(row_of(set, place[i]), set->height);
        longest = tokens > longest ? tokens : longest;
    }
    longest = (longest + 63) / 64 * 64;
    return longest < set->height ? longest : set->height;
}

/* What is met and what is trained is as long as the longest of what is met, or, of what was
 * collected, of that; and its rows are the beginnings of the stored ones. */
static void batches_are_as_long_as_their_longest(void **state)
{
    static const char *const some[] = {
        "", "select.strategy=sb select.keep=0.4", "select.strategy=sb-stream select.history=40",
        "select.strategy=random select.keep=0.4", "select.strategy=craig select.period=1"};
    const struct library *l = *state;

    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        cull_recipe     *recipe = NULL;
        cull_trainer    *t = NULL;
        cull_step_values v = {0};
        size_t           met[4] = {0}, tokens = 0;
        char             words[300];

        (void)snprintf(words, sizeof words, "train.backend=ref %s", some[k]);
        recipe = texts_of(l, words);
        assert_ok(cull_trainer_create(&recipe->setup, true, &t));
        assert_ok(cull_train_enter_epoch(t, 0, &v.asked.needs));
        for (cull_sel_course c = cull_train_course(t); !cull_sel_course_over(&c);
             c = cull_train_course(t)) {
            const uint32_t  *place = t->feed.walk.place + c.at;
            const cull_meter before = t->books.meter;

            assert_ok(cull_train_step(t, &v));
            assert_int_equal(length_of(t->sets.train, place, v.batch.count), v.batch.length);
            met[v.batch.length / 64]++;
            for (size_t i = 0; v.batch.inputs && i < v.batch.count; i++)
                assert_memory_equal((const int32_t *)v.batch.inputs + i * v.batch.length,
                                    row_of(t->sets.train, v.batch.place[i]),
                                    v.batch.length * sizeof(int32_t));
            if (t->books.meter.trained == before.trained) continue;
            if (strstr(some[k], "stream"))
                assert_int_equal(v.seen.length, length_of(t->sets.train, v.seen.signals.place,
                                                          v.seen.signals.count));
            else
                assert_int_equal(v.batch.length, v.seen.length);
            tokens += v.seen.length * v.seen.signals.count;
        }
        assert_true(strstr(some[k], "craig") || (met[1] && met[2])); /* several lengths */
        assert_int_equal(tokens, t->books.meter.tokens_trained);
        if (k == 0) assert_int_equal(3 * tokens, t->books.meter.token_thirds);
        cull_trainer_destroy(t);
        cull_recipe_close(recipe);
    }
}

/* Without dropout nothing differs between the two passes: the same picks and, to rounding, the same
 * gradients, step by step. */
static void check_reuse(const struct library *l, const char *backend, const char *rule)
{
    cull_recipe     *recipe[2] = {NULL, NULL};
    cull_trainer    *t[2] = {NULL, NULL};
    cull_step_values v[2] = {{.kept = 0}};

    for (int i = 0; i < 2; i++) {
        char words[300];

        (void)snprintf(words, sizeof words,
                       "train.backend=%s select.strategy=%s select.keep=0.4 score.pass=%s", backend,
                       rule, i ? "reuse" : "separate");
        recipe[i] = texts_of(l, words);
        assert_ok(cull_trainer_create(&recipe[i]->setup, true, &t[i]));
        assert_ok(cull_train_enter_epoch(t[i], 0, &v[i].asked.needs));
    }
    for (int step = 0; step < 8; step++) {
        const cull_params *a = t[0]->learner.params, *b = t[1]->learner.params;
        double             norm = 0, error = 0;

        /* from the same weights, so that rounding does not add up */
        assert_ok(cull_nn_params_copy(t[1]->learner.params, a));
        for (int i = 0; i < 2; i++) assert_ok(cull_train_step(t[i], &v[i]));
        assert_int_equal(t[0]->chosen.count, t[1]->chosen.count);
        assert_memory_equal(t[0]->chosen.place, t[1]->chosen.place,
                            t[0]->chosen.count * sizeof(uint32_t));
        for (size_t n = 0; n < a->count; n++) {
            double x = (double)((const float *)a->gradient)[n];
            double y = (double)((const float *)b->gradient)[n];

            norm += x * x;
            error += (x - y) * (x - y);
        }
        assert_true(norm > 0 && sqrt(error / norm) < 1e-5);
    }
    for (int i = 0; i < 2; i++) {
        cull_trainer_destroy(t[i]);
        cull_recipe_close(recipe[i]);
    }
}

static void reuse_is_what_separate_passes_are(void **state)
{
    static const char *const rules[] = {"sb", "gradmatch", "top-loss"};

    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        check_reuse(*state, "ref", rules[k]);
        check_reuse(*state, "cpu", rules[k]);
    }
}

/* An evaluation goes by length and gives what one in any order gives; the pool's signals lie by
 * place, whatever order they came in. */
static void signals_of_the_pool_lie_by_place(void **state)
{
    const struct library *l = *state;
    cull_recipe          *recipe = texts_of(l, "train.backend=ref select.strategy=craig "
                                                        "select.period=1 train.evaluate_batch=7");
    cull_trainer         *t = NULL;
    cull_needs            needs = {.action = CULL_SELECT_POOL,
                                   .signals = CULL_SIGNAL_LOSS | CULL_SIGNAL_H | CULL_SIGNAL_P};
    cull_signal_room      pool = {0}, aim = {0};
    cull_signals          all = {0};

    assert_ok(cull_trainer_create(&recipe->setup, true, &t));
    assert_ok(cull_scorer_score_pool(&t->scorer, &needs, &t->progress, &t->books.meter, &pool, &aim,
                                     &all));
    assert_int_equal(TEXTS, all.count);
    for (uint32_t i = 0; i < TEXTS; i += 7) {
        size_t       length = cull_resident_length(&t->sets.train_at, &i, 1);
        cull_plan   *plan = NULL;
        cull_signals one = {0};
        cull_batch   batch = {.count = 1,
                              .length = length,
                              .inputs = row_of(t->sets.train, i),
                              .target = cull_data_labels(t->sets.train) + i,
                              .place = &i};

        assert_ok(cull_learner_plan(&t->learner, CULL_PLAN_SCORE, 1, length, &plan));
        assert_ok(cull_nn_score(plan, &batch, CULL_STATS_RUNNING, needs.signals, &one));
        assert_true(fabs(((const double *)one.loss.data)[0] - ((const double *)all.loss.data)[i]) <
                    1e-5);
        for (size_t c = 0; c < 32; c++)
            assert_true(fabsf(((const float *)one.h.data)[c] -
                              ((const float *)all.h.data)[i * 32 + c]) < 1e-4f);
    }
    cull_signal_room_clear(&pool);
    cull_signal_room_clear(&aim);
    cull_trainer_destroy(t);
    cull_recipe_close(recipe);
}

static void what_texts_cannot_is_refused_by_its_key(void **state)
{
    static const struct {
        const char *changes, *key;
    } cases[] = {
        {"model.name=mlp", "model.name"},
        {"select.strategy=sb score.scale=0.5", "score.scale"},
        {"select.strategy=sb score.pipelined=true", "score.pipelined"},
        {"augment.flip=true", "augment.flip"},
        {"data.size=8", "data.size"},
        {"select.strategy=sb score.proxy=mlp", "score.proxy"},
    };
    const struct library *l = *state;

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cull_recipe  *recipe = NULL;
        cull_trainer *t = NULL;
        cull_status   status = try_texts(l, cases[k].changes, &recipe);

        if (status == CULL_OK) status = cull_trainer_create(&recipe->setup, true, &t);
        if (status == CULL_OK || !strstr(cull_last_error(), strchr(cases[k].key, '.') + 1))
            fail_msg("%s: %s: '%s'", cases[k].changes, cull_status_name(status),
                     status == CULL_OK ? "" : cull_last_error());
        cull_recipe_close(recipe);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_as_long_as_their_longest),
        cmocka_unit_test(runs_leave_the_same_elsewhere_and_resumed),
        cmocka_unit_test(steps_of_each_length_are_recorded),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(reuse_is_what_separate_passes_are),
        cmocka_unit_test(signals_of_the_pool_lie_by_place),
        cmocka_unit_test(what_texts_cannot_is_refused_by_its_key),
    };
    return cmocka_run_group_tests(tests, make_library, remove_library);
}
