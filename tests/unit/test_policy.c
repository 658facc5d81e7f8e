/*
 * test_policy.c - runs that select: what they train, what it costs, and what it must not change.
 *
 * 60 examples in batches of 16: an epoch is three steps of 16 and one of 12.
 */
#include "base/alloc.h"
#include "policy_support.h"

/* ---- keeping all is full training ---- */

/* Does keeping everything mean every example once, at weight 1? */
static bool keeps_all(const cull_strategy *strategy)
{
    return !(strategy->traits & (CULL_SAMPLES | CULL_NO_BUDGET));
}

static void check_same(const struct world *w, const char *changes, const cull_run_result *full)
{
    cull_run_result run = result_of(w, changes);

    if (strcmp(full->weights, run.weights) != 0)
        fail_msg("%s: %s, full training %s", changes, run.weights, full->weights);
    assert_int_equal(full->trained, run.trained);
}

static void keeping_everything_is_full_training_bit_for_bit(void **state)
{
    static const char *const modifiers[] = {"", "+stale", "+remembered"};
    const struct world      *w = *state;
    char                     common[300], changes[400];
    cull_run_result          full = {0};
    size_t                   tried = 0;

    (void)snprintf(common, sizeof common,
                   "data.validation=0.2 score.irreducible=%s/irreducible.npz model.name=lenet5 "
                   "data.duplicates=2 schedule.name=multi-step schedule.milestones=1",
                   w->folder);
    full = result_of(w, common);
    for (size_t i = 0; cull_strategy_at(i); i++) {
        const cull_strategy *s = cull_strategy_at(i);

        if (!keeps_all(s)) continue;
        for (size_t m = 0; m < 3; m++) {
            if (m == 1 && !(s->traits & CULL_TAKES_STALE)) continue;
            if (m == 2 && !(s->traits & CULL_TAKES_REMEMBERED)) continue;
            (void)snprintf(changes, sizeof changes, "%s select.strategy=%s%s select.keep=1 %s",
                           common, s->name, modifiers[m],
                           s->runs == CULL_RUNS_PERIOD ? "select.period=1" : "");
            check_same(w, changes, &full);
            tried++;
        }
    }
    assert_true(tried >= 15);
    (void)snprintf(changes, sizeof changes,
                   "%s select.strategy=sb+remembered select.scope=pool select.keep=1", common);
    check_same(w, changes, &full);
    (void)snprintf(changes, sizeof changes, "%s select.strategy=infobatch select.r=0", common);
    check_same(w, changes, &full);
    (void)snprintf(changes, sizeof changes,
                   "%s select.strategy=craig select.warm=0.5 select.keep=1", common);
    check_same(w, changes, &full);
}

/* With BatchNorm too, for scoring by the batch leaves no trace. */
static void scoring_leaves_no_trace_in_a_network_with_batchnorm(void **state)
{
    const struct world *w = *state;
    const char         *common = "model.name=resnet20 train.epochs=1 augment.crop=0";
    cull_run_result     full = result_of(w, common);

    check_same(w,
               "model.name=resnet20 train.epochs=1 augment.crop=0 select.strategy=sb select.keep=1",
               &full);
    check_same(w,
               "model.name=resnet20 train.epochs=1 augment.crop=0 select.strategy=gradmatch "
               "select.keep=1 score.norm=running",
               &full);
    check_same(w,
               "model.name=resnet20 train.epochs=1 augment.crop=0 select.strategy=grad-match "
               "select.keep=1 select.period=1",
               &full);
}

/* ---- what it costs ---- */

static void counts_are_the_papers_arithmetic(void **state)
{
    /* of two epochs: examples scored, trained, and thirds of an example's work */
    static const struct {
        const char *changes;
        uint64_t    scored, trained, thirds;
    } cases[] = {
        {"", 0, 120, 360},
        {"select.strategy=random", 0, 60, 180},
        {"select.strategy=sb", 120, 60, 120 + 180},
        {"select.strategy=sb score.pass=reuse", 120, 60, 120 + 120},
        {"select.strategy=gradmatch score.pass=reuse", 120, 60, 120 + 120},
        {"select.strategy=top-loss+stale", 60, 60, 60 + 180},
        {"select.strategy=sb+stale select.stale-every=1", 120, 60, 120 + 180},
        {"select.strategy=sb+remembered", 0, 60, 180},
        {"select.strategy=sb+remembered select.scope=pool", 0, 60, 180},
        {"select.strategy=sb+remembered select.percentile=pool select.trim=0.1 select.mode=scaled",
         0, 60, 180},
        /* 32 and 28 scored, of which 16 and 14 */
        {"select.strategy=sb select.mode=scaled", 120, 60, 120 + 180},
        {"select.strategy=random select.mode=scaled", 0, 60, 180},
        {"select.strategy=kath18 select.variable=false select.mode=fixed select.keep=0.25", 120,
         2 * (3 * 4 + 3), 120 + 3 * 30},
        {"select.strategy=sb select.start=0.5", 60, 60 + 30, 60 + 3 * 90},
        {"select.strategy=sb select.every=2", 64, 2 * (8 + 16 + 8 + 12), 64 + 3 * 88},
        {"select.strategy=grad-match select.period=1", 120, 60, 120 + 180},
        {"select.strategy=grad-match select.period=2", 60, 60, 60 + 180},
        {"select.strategy=adaptive-random select.period=1 select.keep=0.1", 0, 12, 36},
        /* 24 of 60 asked for, two of four minibatches of 15 trained */
        {"select.strategy=grad-match select.scope=batch select.period=1 select.keep=0.4 "
         "train.batch=15",
         120, 60, 120 + 180},
        {"select.strategy=craig select.scope=batch select.period=2 select.keep=0.4 train.batch=15",
         60, 60, 60 + 180},
        {"select.strategy=fixed-random", 0, 60, 180},
        {"select.strategy=random train.drop_short=true", 0, 48, 144},
        {"select.strategy=grad-match select.period=1 train.shorten=0.5", 60, 30, 60 + 90},
        /* 48 in the pool, 12 aimed at, in two decisions */
        {"select.strategy=glister select.period=1 data.validation=0.2", 120, 48, 120 + 144},
    };
    const struct world *w = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_recipe     *recipe = recipe_of(w, cases[i].changes);
        cull_trainer    *t = NULL;
        cull_run_result  result = {0};
        cull_run_options options = {.folder = path_in(w->folder, "run")};

        assert_int_equal(0, mkdir(options.folder, 0777));
        assert_ok(cull_trainer_create(&recipe->setup, true, &t));
        assert_ok(cull_trainer_run(t, &options, &result));
        if (t->books.meter.scored != cases[i].scored ||
            t->books.meter.trained != cases[i].trained || t->books.meter.thirds != cases[i].thirds)
            fail_msg("%s: scored %llu, trained %llu, thirds %llu", cases[i].changes,
                     (unsigned long long)t->books.meter.scored,
                     (unsigned long long)t->books.meter.trained,
                     (unsigned long long)t->books.meter.thirds);
        cull_trainer_destroy(t);
        cull_recipe_close(recipe);
        remove_folder(path_in(w->folder, "run"));
    }
}

/* What is kept follows from the rule: the books must still balance. */
static void a_stream_trains_what_it_keeps_to_the_last(void **state)
{
    const struct world *w = *state;
    const char         *changes = "select.strategy=sb-stream select.history=60 train.epochs=3 "
                                  "train.seed=3";
    cull_recipe        *recipe = recipe_of(w, changes);
    cull_trainer       *t = NULL;
    cull_run_result     result = {0};
    cull_run_options    options = {.folder = path_in(w->folder, "run")};
    uint64_t            trained = 0;

    assert_int_equal(0, mkdir(options.folder, 0777));
    assert_ok(cull_trainer_create(&recipe->setup, true, &t));
    assert_ok(cull_trainer_run(t, &options, &result));
    assert_int_equal(180, t->books.meter.scored);
    assert_int_equal(t->books.meter.scored + 3 * t->books.meter.trained, t->books.meter.thirds);
    assert_true(t->books.meter.trained > 180 / 4 && t->books.meter.trained < 180 * 3 / 4);
    assert_true(t->books.meter.trained % BATCH != 0); /* so that the end was a short batch */
    for (size_t i = 0; i < COUNT; i++) trained += (uint64_t)t->books.tally.count[i];
    assert_int_equal(trained, t->books.meter.trained);
    assert_true(t->progress.rate > 0); /* and that at a rate, though the cosine is at its end */
    cull_trainer_destroy(t);
    cull_recipe_close(recipe);
}

/* ---- one step, looked at closely ---- */

static cull_trainer *trainer_of(const struct world *w, const char *changes, cull_recipe **recipe)
{
    cull_trainer *t = NULL;

    *recipe = recipe_of(w, changes);
    assert_ok(cull_trainer_create(&(*recipe)->setup, true, &t));
    (void)begin_epoch(t);
    return t;
}

static void end(cull_trainer *t, cull_recipe *recipe)
{
    cull_trainer_destroy(t);
    cull_recipe_close(recipe);
}

static void separate_scoring_touches_no_average_and_reuse_takes_all_of_the_batch(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe[3];
    cull_trainer *separate = trainer_of(w, "model.name=resnet20 select.strategy=sb", &recipe[0]);
    cull_trainer *reuse = trainer_of(
        w, "model.name=resnet20 select.strategy=sb select.keep=0.25 score.pass=reuse", &recipe[1]);
    cull_trainer *full = trainer_of(w, "model.name=resnet20", &recipe[2]);
    size_t        bytes = full->learner.params->running_count * sizeof(float);
    void         *before = malloc(bytes);

    assert_non_null(before);
    memcpy(before, separate->learner.params->running, bytes);
    (void)score_next(separate);
    assert_memory_equal(before, separate->learner.params->running, bytes);
    assert_int_equal(BATCH / 4, step_of(reuse).kept);
    (void)step_of(full);
    assert_memory_not_equal(before, full->learner.params->running, bytes);
    assert_memory_equal(full->learner.params->running, reuse->learner.params->running, bytes);
    free(before);
    end(separate, recipe[0]);
    end(reuse, recipe[1]);
    end(full, recipe[2]);
}

/* Largest difference of two gradients, as a share of the largest number in one. */
static double difference(const cull_trainer *a, const cull_trainer *b)
{
    const float *x = a->learner.params->gradient, *y = b->learner.params->gradient;
    double       most = 0, scale = 0;

    for (size_t i = 0; i < a->learner.params->count; i++) {
        most = fmax(most, fabs((double)x[i] - (double)y[i]));
        scale = fmax(scale, fabs((double)x[i]));
    }
    assert_true(scale > 0);
    return most / scale;
}

static void check_gradients(const struct world *w, const char *one, const char *other)
{
    cull_recipe  *recipe[2];
    cull_trainer *a = trainer_of(w, one, &recipe[0]), *b = trainer_of(w, other, &recipe[1]);

    while (!is_epoch_over(a)) {
        assert_int_equal(step_of(a).kept, step_of(b).kept);
        if (difference(a, b) > 1e-5) fail_msg("%s: off by %g", other, difference(a, b));
        /* the same weights again, so that errors do not add up */
        memcpy(b->learner.params->value, a->learner.params->value,
               a->learner.params->count * sizeof(float));
    }
    end(a, recipe[0]);
    end(b, recipe[1]);
}

static void reuse_without_batchnorm_is_a_separate_pass_over_the_kept(void **state)
{
    static const char *const strategies[] = {"sb select.keep=0.3", "gradmatch select.keep=0.3",
                                             "kath18 select.variable=false select.keep=0.5"};
    static const char *const models[] = {"mlp", "lenet5"};
    const struct world      *w = *state;

    for (size_t i = 0; i < 6; i++) {
        char one[200], other[300];

        (void)snprintf(one, sizeof one, "model.name=%s select.strategy=%s", models[i % 2],
                       strategies[i / 2]);
        (void)snprintf(other, sizeof other, "%s score.pass=reuse", one);
        check_gradients(w, one, other);
    }
}

static void reuse_with_everything_kept_is_plain_training(void **state)
{
    check_gradients(*state, "model.name=resnet20",
                    "model.name=resnet20 select.strategy=sb select.keep=1 score.pass=reuse");
}

static void constants_in_batchnorm_are_another_gradient(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe[2];
    const char   *kept = "model.name=resnet20 select.strategy=sb select.keep=0.5 score.pass=reuse";
    cull_trainer *a = trainer_of(w, kept, &recipe[0]);
    cull_trainer *b =
        trainer_of(w,
                   "model.name=resnet20 select.strategy=sb select.keep=0.5 score.pass=reuse "
                   "reuse.batchnorm=constants",
                   &recipe[1]);

    (void)step_of(a);
    (void)step_of(b);
    assert_true(difference(a, b) > 1e-3);
    end(a, recipe[0]);
    end(b, recipe[1]);
}

/* ---- what is the same whoever computes it ---- */

static void threads_change_nothing_where_examples_are_chosen(void **state)
{
    static const char *const kinds[] = {
        "select.strategy=sb+remembered select.keep=0.3",
        ("select.strategy=gradmatch select.keep=0.3 score.pass=reuse model.name=resnet20 "
         "train.epochs=1"),
        "select.strategy=craig select.keep=0.3 select.period=1 model.name=lenet5",
        "select.strategy=sb-stream select.history=64 score.augment=false",
        "select.strategy=sb select.keep=0.3 model.name=resnet20 score.scale=0.5 train.epochs=1",
    };
    const struct world *w = *state;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char            changes[300], first[64] = "";
        cull_run_result run = {0};

        for (int threads = 1; threads <= 3; threads++) {
            (void)snprintf(changes, sizeof changes, "%s train.threads=%d data.workers=%d", kinds[i],
                           threads, threads - 1);
            run = result_of(w, changes);
            if (threads == 1) (void)snprintf(first, sizeof first, "%s", run.weights);
            assert_string_equal(first, run.weights);
        }
    }
}

/* ---- every strategy, from beginning to end ---- */

static void every_strategy_trains_and_learns(void **state)
{
    static const char *const kinds[] = {
        "random",
        "top-loss",
        "sb",
        "sb-stream select.history=64",
        "kath18",
        "kath18 select.variable=false select.score=gnorm-last",
        "sb+remembered select.percentile=pool select.trim=0.1 select.trim-weight=0.2",
        "kath18+remembered select.score=loss select.scope=pool select.keep=0.9",
        "gradmatch",
        "gradmatch select.match=validation",
        "divbs",
        "rho",
        "rho+remembered",
        "infobatch",
        "grad-match select.period=2",
        "grad-match select.period=1 select.scope=batch",
        "grad-match select.period=2 select.match=validation select.warm=0.5",
        "craig select.period=2",
        "craig select.period=2 select.scope=batch",
        "glister select.period=2",
        "adaptive-random select.period=2",
        "fixed-random",
    };
    const struct world *w = *state;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char            changes[400];
        cull_run_result run = {0};

        (void)snprintf(changes, sizeof changes,
                       "train.epochs=8 data.validation=0.2 augment.crop=0 augment.flip=false "
                       "score.irreducible=%s/irreducible.npz select.strategy=%s",
                       w->folder, kinds[i]);
        run = result_of(w, changes);
        if (!(run.test > .6)) fail_msg("%s: accuracy %g", kinds[i], run.test);
        assert_true(run.trained < 8 * 48 || strncmp(kinds[i], "kath18", 6) == 0);
    }
}

static void what_cannot_be_followed_is_refused_before_the_run(void **state)
{
    static const struct {
        const char *changes, *text;
    } cases[] = {
        {"select.strategy=sb-stream select.history=64 score.pass=reuse",
         "score.pass: sb-stream carries examples over"},
        {"select.strategy=sb+stale score.pass=reuse", "score.pass: sb stale has steps without"},
        {"select.strategy=sb+remembered score.pass=reuse", "score.pass: sb remembered has steps"},
        /* more steps than are all looked at */
        {"select.strategy=sb+stale score.pass=reuse train.batch=1 train.epochs=17000",
         "score.pass: sb stale has steps without"},
        {"select.strategy=grad-match select.keep=0.1 select.warm=0.5 schedule.warmup=3 "
         "train.epochs=4",
         "schedule.warmup: 3 epochs are 12 steps, but all are 12"},
        {"select.strategy=sb select.keep=0.1 schedule.count=trained schedule.warmup=1",
         "schedule.warmup: 1 epochs are 4 steps, but all are 1: schedule.count=trained"},
        {"select.strategy=random score.pass=reuse", "score.pass: random has steps without"},
        {"select.strategy=grad-match score.pass=reuse", "score.pass: grad-match chooses from the"},
        {"select.strategy=infobatch score.pass=reuse", "score.pass: infobatch chooses from the"},
        {"select.strategy=glister", "data.validation: glister aims at a validation set"},
        {"select.strategy=gradmatch select.match=validation", "data.validation: gradmatch aims"},
        {"select.strategy=rho", "score.irreducible: rho needs a file"},
        {"select.strategy=sb score.scale=0.5", "score.scale: mlp"},
        {"select.strategy=sb score.scale=0.5 model.name=lenet5", "score.scale: lenet5"},
        {"select.strategy=sb select.stale-every=3", "stale-every goes with losses=stale only"},
        {"select.strategy=sb select.start=0.5 select.end=0.5", "the window from start=0.5"},
        {"select.strategy=sb-stream select.history=4", "history=4 is shorter than a batch"},
    };
    const struct world *w = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_recipe     *recipe = recipe_of(w, cases[i].changes);
        cull_run_result  result = {0};
        cull_run_options options = {.folder = path_in(w->folder, "refused")};

        assert_fails(CULL_BAD_OPTION, cases[i].text, cull_train(recipe, &options, &result));
        /* a sentence that begins with a key is about it */
        if (strchr(cases[i].text, ':'))
            assert_memory_equal(cases[i].text, cull_last_subject(), strcspn(cases[i].text, ":"));
        assert_int_equal(-1, access(options.folder, F_OK));
        cull_recipe_close(recipe);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keeping_everything_is_full_training_bit_for_bit),
        TEST(scoring_leaves_no_trace_in_a_network_with_batchnorm),
        TEST(counts_are_the_papers_arithmetic),
        TEST(a_stream_trains_what_it_keeps_to_the_last),
        TEST(separate_scoring_touches_no_average_and_reuse_takes_all_of_the_batch),
        TEST(reuse_without_batchnorm_is_a_separate_pass_over_the_kept),
        TEST(reuse_with_everything_kept_is_plain_training),
        TEST(constants_in_batchnorm_are_another_gradient),
        TEST(threads_change_nothing_where_examples_are_chosen),
        TEST(every_strategy_trains_and_learns),
        TEST(what_cannot_be_followed_is_refused_before_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
