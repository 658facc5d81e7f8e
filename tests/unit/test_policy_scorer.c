/*
 * test_policy_scorer.c - other ways to score: a proxy, ahead on another thread, without
 * augmentation.
 */
#include "policy_support.h"

static cull_trainer *trained_with(const struct world *w, const char *changes, cull_recipe **recipe)
{
    cull_trainer    *t = NULL;
    cull_run_result  result = {0};
    cull_run_options options = {.folder = path_in(w->folder, "run")};

    *recipe = recipe_of(w, changes);
    assert_int_equal(0, mkdir(options.folder, 0777));
    assert_ok(cull_trainer_create(&(*recipe)->setup, true, &t));
    assert_ok(cull_trainer_run(t, &options, &result));
    remove_folder(path_in(w->folder, "run"));
    return t;
}

static void end(cull_trainer *t, cull_recipe *recipe)
{
    cull_trainer_destroy(t);
    cull_recipe_close(recipe);
}

/* A proxy that is the model itself, from the same start, must stay the model itself. */
static void a_proxy_learns_what_the_model_learns(void **state)
{
    static const char *const kinds[] = {
        "model.name=lenet5 select.strategy=sb",
        "model.name=resnet20 train.epochs=1 select.strategy=gradmatch select.keep=0.3",
        "model.name=lenet5 select.strategy=grad-match select.period=1",
        "model.name=lenet5 select.strategy=sb-stream select.history=64 optim.name=adamw",
    };
    const struct world *w = *state;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char          changes[300], model[16] = "";
        cull_recipe  *recipe[2];
        cull_trainer *plain = NULL, *proxy = NULL;

        assert_int_equal(1, sscanf(kinds[k], "model.name=%15s", model));
        (void)snprintf(changes, sizeof changes, "%s score.proxy=%s", kinds[k], model);
        plain = trained_with(w, kinds[k], &recipe[0]);
        proxy = trained_with(w, changes, &recipe[1]);
        assert_memory_equal(plain->learner.params->value, proxy->learner.params->value,
                            plain->learner.params->count * sizeof(float));
        assert_memory_equal(plain->learner.params->value, proxy->scorer.params->value,
                            plain->learner.params->count * sizeof(float));
        assert_memory_equal(plain->learner.params->running, proxy->scorer.params->running,
                            plain->learner.params->running_count * sizeof(float));
        /* its work is counted apart */
        assert_int_equal(3 * proxy->books.meter.trained, proxy->books.meter.thirds);
        assert_int_equal(proxy->books.meter.scored + 3 * proxy->books.meter.trained,
                         proxy->books.meter.proxy);
        assert_int_equal(plain->books.meter.scored, proxy->books.meter.scored);
        end(plain, recipe[0]);
        end(proxy, recipe[1]);
    }
}

static void a_smaller_proxy_scores_for_a_larger_model(void **state)
{
    const struct world *w = *state;
    cull_run_result     run =
        result_of(w, "model.name=lenet5 select.strategy=sb score.proxy=mlp train.epochs=25 "
                     "augment.crop=0 augment.flip=false");

    assert_true(run.test > .6);
    assert_int_equal(25 * 30, run.trained);
}

/* ---- ahead ---- */

static void advance(cull_trainer *t, cull_signals *seen)
{
    *seen = score_next(t).scored.signals;
}

/* Step 0 by the newest weights; step 1 by those that step 0 began with. */
static void scored_ahead_is_scored_by_weights_one_step_old(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe[2];
    cull_trainer       *now = NULL, *ahead = NULL;
    cull_signals        old, seen;
    double              expected[BATCH];

    recipe[0] = recipe_of(w, "model.name=lenet5 select.strategy=gradmatch optim.lr=1");
    recipe[1] =
        recipe_of(w, "model.name=lenet5 select.strategy=gradmatch optim.lr=1 score.pipelined=true");
    assert_ok(cull_trainer_create(&recipe[0]->setup, true, &now));
    assert_ok(cull_trainer_create(&recipe[1]->setup, true, &ahead));
    (void)begin_epoch(now);
    (void)begin_epoch(ahead);
    (void)step_of(ahead);
    /* without learning, the other one's second batch is scored by the first weights */
    now->progress.step = 1;
    now->progress.batch = 1;
    now->progress.at = BATCH;
    advance(now, &old);
    for (size_t i = 0; i < BATCH; i++) expected[i] = ((const double *)old.loss.data)[i];
    advance(ahead, &seen);
    for (size_t i = 0; i < BATCH; i++) {
        assert_true(((const double *)seen.loss.data)[i] == expected[i]);
        assert_int_equal(old.place[i], seen.place[i]);
    }
    assert_memory_equal(old.p.data, seen.p.data, BATCH * CLASSES * sizeof(float));
    assert_int_equal(2 * BATCH, ahead->books.meter.scored);
    end(now, recipe[0]);
    end(ahead, recipe[1]);
}

/* A selector may want something else than it said it would; what was scored was still work. */
static void what_is_scored_ahead_in_vain_is_counted(void **state)
{
    const struct world *w = *state;
    cull_recipe *recipe = recipe_of(w, "model.name=lenet5 select.strategy=sb score.pipelined=true");
    cull_trainer *t = NULL;
    cull_signals  seen;

    assert_ok(cull_trainer_create(&recipe->setup, true, &t));
    (void)begin_epoch(t);
    (void)step_of(t);
    assert_int_equal(BATCH, t->books.meter.scored);
    t->scorer.pipeline->pending.signals |= CULL_SIGNAL_H;
    advance(t, &seen);
    assert_int_equal(3 * BATCH, t->books.meter.scored);
    assert_int_equal(3 * BATCH + 3 * t->books.meter.trained, t->books.meter.thirds);
    end(t, recipe);
}

/* While weights do not move, old ones are new ones: the same examples are chosen in every step. */
static void scored_ahead_with_weights_that_stay_is_scored_now(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe[2];
    cull_trainer       *now = trained_with(
              w, "model.name=lenet5 select.strategy=sb select.keep=0.3 optim.lr=1e-12 train.epochs=4",
              &recipe[0]);
    cull_trainer *ahead = trained_with(
        w,
        "model.name=lenet5 select.strategy=sb select.keep=0.3 optim.lr=1e-12 train.epochs=4 "
        "score.pipelined=true",
        &recipe[1]);

    assert_memory_equal(now->books.tally.count, ahead->books.tally.count, COUNT * sizeof(int32_t));
    assert_int_equal(now->books.meter.thirds, ahead->books.meter.thirds);
    assert_true(ahead->scorer.pipeline->seconds_busy > 0);
    end(now, recipe[0]);
    end(ahead, recipe[1]);
}

/* ---- the same by hand ---- */

static void exchange(float *a, float *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float kept = a[i];

        a[i] = b[i];
        b[i] = kept;
    }
}

/* A step of a plain trainer whose candidates are scored by `old`, except an epoch's first; `old`
 * is then what the step began with. */
static void step_scored_by(cull_trainer *t, cull_params *old)
{
    bool             behind = t->progress.at > 0;
    cull_plan       *plan = NULL;
    cull_batch       batch = {0};
    cull_step_values v;
    cull_signals     trained;

    if (behind) exchange(t->learner.params->value, old->value, old->count);
    if (behind) exchange(t->learner.params->running, old->running, old->running_count);
    v = score_next(t);
    if (behind) exchange(t->learner.params->value, old->value, old->count);
    if (behind) exchange(t->learner.params->running, old->running, old->running_count);
    memcpy(old->value, t->learner.params->value, old->count * sizeof(float));
    memcpy(old->running, t->learner.params->running, old->running_count * sizeof(float));
    assert_ok(cull_select(t->selector, &v.scored.signals, 0, &t->chosen));
    assert_ok(cull_feed_gather(&t->feed, &v.batch, cull_feed_as_trained(&t->feed, &v.asked.needs),
                               false, &t->chosen, 0, t->chosen.count, &batch));
    assert_ok(cull_learner_plan(&t->learner, CULL_PLAN_LEARN, batch.count, 0, &plan));
    assert_ok(cull_nn_learn(plan, &batch, &trained));
    assert_ok(cull_optim_step(t->learner.optim, cull_train_rate(t), t->learner.params->value,
                              t->learner.params->gradient));
    cull_progress_pass(&t->progress, v.batch.count);
}

static void run_by_hand(cull_trainer *t)
{
    cull_params *old = NULL;

    assert_ok(cull_nn_params_create(t->backend, t->learner.model, CULL_F32, &old));
    for (uint64_t epoch = 0; epoch < t->expected.epochs; epoch++) {
        assert_ok(cull_train_enter_epoch(t, epoch, &(cull_needs){0}));
        while (!is_epoch_over(t)) step_scored_by(t, old);
    }
    cull_nn_params_destroy(old);
}

/* Whole runs: short last batches, epoch borders, momentum, augmentation, averages. */
static void scoring_ahead_is_scoring_by_hand_with_weights_one_step_old(void **state)
{
    static const char *const kinds[] = {
        "model.name=lenet5 select.strategy=sb select.keep=0.3 train.epochs=3",
        "model.name=lenet5 select.strategy=gradmatch select.keep=0.2 score.augment=false",
        "model.name=lenet5 select.strategy=sb select.mode=scaled select.keep=0.5",
        "model.name=resnet20 select.strategy=top-loss select.keep=0.3 score.norm=running",
        "model.name=resnet20 select.strategy=sb select.keep=0.3",
    };
    const struct world *w = *state;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char          changes[300];
        cull_recipe  *recipe[2];
        cull_trainer *hand = NULL, *ahead = NULL;

        (void)snprintf(changes, sizeof changes, "%s score.pipelined=true", kinds[k]);
        recipe[0] = recipe_of(w, kinds[k]);
        assert_ok(cull_trainer_create(&recipe[0]->setup, true, &hand));
        run_by_hand(hand);
        ahead = trained_with(w, changes, &recipe[1]);
        assert_int_equal(hand->progress.step, ahead->progress.step);
        assert_memory_equal(hand->learner.params->value, ahead->learner.params->value,
                            hand->learner.params->count * sizeof(float));
        assert_memory_equal(hand->learner.params->running, ahead->learner.params->running,
                            hand->learner.params->running_count * sizeof(float));
        end(hand, recipe[0]);
        end(ahead, recipe[1]);
    }
}

static void scoring_ahead_repeats_bit_for_bit_on_any_threads(void **state)
{
    static const char *const kinds[] = {
        "select.strategy=sb score.pipelined=true model.name=lenet5",
        "select.strategy=sb+stale score.pipelined=true train.epochs=3",
        "select.strategy=sb select.mode=scaled score.pipelined=true score.augment=false",
        "select.strategy=kath18 select.score=loss score.pipelined=true train.epochs=4",
    };
    const struct world *w = *state;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char            changes[300], first[64] = "";
        cull_run_result run = {0};

        for (int threads = 1; threads <= 3; threads++) {
            (void)snprintf(changes, sizeof changes, "%s train.threads=%d data.workers=%d", kinds[k],
                           threads, threads - 1);
            run = result_of(w, changes);
            if (threads == 1) (void)snprintf(first, sizeof first, "%s", run.weights);
            assert_string_equal(first, run.weights);
        }
    }
}

/* Which examples are kept must not matter where all are. */
static void keeping_all_ahead_or_by_proxy_is_full_training(void **state)
{
    static const char *const kinds[] = {"score.pipelined=true", "score.proxy=mlp",
                                        "score.augment=false", "score.norm=running"};
    const struct world      *w = *state;
    cull_run_result          full = result_of(w, "model.name=lenet5");

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char changes[200];

        (void)snprintf(changes, sizeof changes,
                       "model.name=lenet5 select.strategy=sb "
                       "select.keep=1 %s",
                       kinds[k]);
        assert_string_equal(full.weights, result_of(w, changes).weights);
    }
}

static void what_never_scores_takes_no_scorer(void **state)
{
    static const struct {
        const char *changes, *text;
    } cases[] = {
        {"select.strategy=random score.proxy=mlp", "score.proxy: random has no scoring pass"},
        {"select.strategy=sb+remembered score.pipelined=true", "score.pipelined: sb remembered"},
        {"select.strategy=grad-match score.pipelined=true", "score.pipelined: grad-match scores"},
    };
    const struct world *w = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_recipe     *recipe = recipe_of(w, cases[i].changes);
        cull_run_result  result = {0};
        cull_run_options options = {.folder = path_in(w->folder, "refused")};

        assert_fails(CULL_BAD_OPTION, cases[i].text, cull_train(recipe, &options, &result));
        cull_recipe_close(recipe);
    }
}

/* ---- what the scoring pass sees ---- */

static void clean_scoring_sees_examples_without_augmentation(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe[2];
    cull_trainer       *clean = NULL, *plain = NULL;
    cull_step_values    a, b;
    cull_batch          batch = {0};

    recipe[0] = recipe_of(w, "model.name=lenet5 select.strategy=sb score.augment=false");
    recipe[1] = recipe_of(w, "model.name=lenet5 select.strategy=sb augment.crop=0 "
                             "augment.flip=false");
    assert_ok(cull_trainer_create(&recipe[0]->setup, true, &clean));
    assert_ok(cull_trainer_create(&recipe[1]->setup, true, &plain));
    (void)begin_epoch(clean);
    (void)begin_epoch(plain);
    a = score_next(clean);
    b = score_next(plain);
    assert_memory_equal(a.scored.signals.loss.data, b.scored.signals.loss.data,
                        BATCH * sizeof(double));
    /* but trains them with it */
    assert_ok(cull_select(clean->selector, &a.scored.signals, 0, &clean->chosen));
    assert_ok(cull_feed_gather(&clean->feed, &a.batch,
                               cull_feed_as_trained(&clean->feed, &a.asked.needs), false,
                               &clean->chosen, 0, clean->chosen.count, &batch));
    assert_memory_not_equal(batch.inputs,
                            (const float *)b.batch.inputs +
                                clean->chosen.index[0] * (size_t)(SIDE * SIDE),
                            SIDE * SIDE * sizeof(float));
    end(clean, recipe[0]);
    end(plain, recipe[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_proxy_learns_what_the_model_learns),
        TEST(a_smaller_proxy_scores_for_a_larger_model),
        TEST(scored_ahead_is_scored_by_weights_one_step_old),
        TEST(what_is_scored_ahead_in_vain_is_counted),
        TEST(scored_ahead_with_weights_that_stay_is_scored_now),
        TEST(scoring_ahead_is_scoring_by_hand_with_weights_one_step_old),
        TEST(scoring_ahead_repeats_bit_for_bit_on_any_threads),
        TEST(keeping_all_ahead_or_by_proxy_is_full_training),
        TEST(what_never_scores_takes_no_scorer),
        TEST(clean_scoring_sees_examples_without_augmentation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
