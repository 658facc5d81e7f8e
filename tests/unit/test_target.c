/*
 * test_target.c - minibatches matched to the validation set: what is trained stays the batch's own,
 * and a target that is the batch gives what matching the batch gives.
 *
 * 60 examples, of which 24 are split off; steps of 16, 16 and 4.
 */
#include "data/transform.h"
#include "policy_support.h"
#include "tensor/tensor.h"

#define COMMON "model.name=lenet5 data.validation=0.4 augment.crop=0 augment.flip=false "

/* Float32 passes of two plans, and a mean over the same rows in another order. */
#define WEIGHT_ERROR 1e-3

static const char *const rules[] = {"gradmatch", "divbs"};

/* Every way to score that goes with them; `exact`: batch and target are scored by one network. */
static const struct {
    const char *words;
    bool        exact;
} ways[] = {
    {"", true},
    {"score.pass=reuse", true},
    {"score.precision=int8", true},
    {"score.norm=running", true},
    {"score.proxy=mlp", true},
    {"score.pipelined=true", false},
};
enum { RULES = sizeof rules / sizeof *rules, WAYS = sizeof ways / sizeof *ways };

static cull_trainer *begin(const struct world *w, size_t rule, size_t way, const char *more,
                           cull_recipe **recipe)
{
    char          changes[400];
    cull_trainer *t = NULL;
    cull_status   status = CULL_OK;

    (void)snprintf(changes, sizeof changes, COMMON "select.strategy=%s select.keep=0.5 %s %s",
                   rules[rule], ways[way].words, more);
    *recipe = recipe_of(w, changes);
    status = cull_trainer_create(&(*recipe)->setup, true, &t);
    if (status != CULL_OK) fail_msg("%s: %s", changes, cull_last_error());
    (void)begin_epoch(t);
    return t;
}

static void end(cull_trainer *t, cull_recipe *recipe)
{
    cull_trainer_destroy(t);
    cull_recipe_close(recipe);
}

/* The rows of the latest training batch are the inputs and labels of the places it names. */
static void check_rows(const cull_trainer *t, const cull_step_values *v)
{
    size_t width = cull_data_row(t->sets.train);
    float *expected = malloc(width * sizeof *expected);

    for (size_t i = 0; i < t->chosen.count; i++) {
        uint32_t place = t->chosen.place[i];

        assert_int_equal(v->batch.place[t->chosen.index[i]], place);
        assert_int_equal(place, v->seen.signals.place[i]);
        assert_int_equal(cull_data_labels(t->sets.train)[place],
                         (int)cull_tensor_get(&v->seen.signals.label, i));
        if (t->setup->score.reuse) continue;
        assert_ok(cull_data_transform(t->sets.train, NULL, t->feed.form, t->progress.epoch, &place,
                                      1, expected));
        assert_memory_equal(expected, (const float *)t->feed.rows.inputs + i * width,
                            width * sizeof *expected);
    }
    free(expected);
}

static void every_trained_example_has_its_own_label(void **state)
{
    const struct world *w = *state;

    for (size_t rule = 0; rule < RULES; rule++)
        for (size_t way = 0; way < WAYS; way++) {
            cull_recipe  *recipe = NULL;
            cull_trainer *t = begin(w, rule, way, "select.match=validation", &recipe);

            for (int step = 0; step < 3; step++) {
                cull_step_values v = step_of(t);

                assert_true(t->chosen.count > 0);
                check_rows(t, &v);
            }
            end(t, recipe);
        }
}

/* The validation set becomes what the next step will meet. */
static void aim_at_the_batch(cull_trainer *t)
{
    size_t rest = t->feed.walk.count - (size_t)t->progress.at;

    cull_resident_close(&t->sets.validation_at);
    cull_data_close(t->sets.validation);
    t->sets.validation = NULL;
    assert_ok(cull_data_gather(t->sets.train, t->feed.walk.place + t->progress.at,
                               rest < BATCH ? rest : BATCH, &t->sets.validation));
    assert_ok(cull_resident_open(t->sets.validation, NULL, t->sets.form, t->backend,
                                 &t->sets.validation_at));
    cull_scorer_forget_aim(&t->scorer);
}

static void check_same_choice(const cull_subset *a, const cull_subset *b, const char *name)
{
    if (a->count != b->count) fail_msg("%s: %zu and %zu are chosen", name, a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        if (a->place[i] != b->place[i])
            fail_msg("%s: entry %zu is %u and %u", name, i, a->place[i], b->place[i]);
        if (fabs(a->weight[i] - b->weight[i]) > WEIGHT_ERROR * (1 + fabs(a->weight[i])))
            fail_msg("%s: entry %zu weighs %g and %g", name, i, a->weight[i], b->weight[i]);
    }
}

static void a_target_that_is_the_batch_gives_what_matching_the_batch_gives(void **state)
{
    const struct world *w = *state;

    for (size_t rule = 0; rule < RULES; rule++)
        for (size_t way = 0; way < WAYS; way++) {
            char          name[100];
            cull_recipe  *recipe[2] = {NULL, NULL};
            cull_trainer *training = NULL, *validation = NULL;

            if (!ways[way].exact) continue;
            (void)snprintf(name, sizeof name, "%s %s", rules[rule], ways[way].words);
            training = begin(w, rule, way, "select.match=training", &recipe[0]);
            validation = begin(w, rule, way, "select.match=validation", &recipe[1]);
            for (int step = 0; step < 2; step++) {
                aim_at_the_batch(validation);
                (void)step_of(training);
                (void)step_of(validation);
                check_same_choice(&training->chosen, &validation->chosen, name);
            }
            end(training, recipe[0]);
            end(validation, recipe[1]);
        }
}

static void a_validation_set_larger_than_the_pool_is_aimed_at(void **state)
{
    const struct world *w = *state;

    for (size_t rule = 0; rule < RULES; rule++)
        for (size_t way = 0; way < WAYS; way++) {
            char            changes[400];
            cull_run_result run = {0};

            (void)snprintf(changes, sizeof changes,
                           "%s select.strategy=%s select.match=validation select.keep=0.5 "
                           "train.epochs=1 model.name=lenet5 data.validation=0.7",
                           ways[way].words, rules[rule]);
            run = result_of(w, changes);
            assert_int_equal(9, run.trained); /* 8 of 16 and 1 of 2 */
        }
}

/* The mistake behind all this cannot come back unseen. */
static void signals_that_another_pass_has_overwritten_are_refused(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe = NULL;
    cull_trainer       *t = begin(w, 0, 0, "", &recipe);
    cull_signals        first = {0}, second = {0};

    first = score_next(t).scored.signals;
    assert_ok(cull_select(t->selector, &first, 0, &t->chosen));
    second = score_next(t).scored.signals;
    assert_fails(CULL_BAD_ARGUMENT, "has overwritten them",
                 cull_select(t->selector, &first, 0, &t->chosen));
    assert_fails(CULL_BAD_ARGUMENT, "has overwritten them",
                 cull_diagnose(NULL, &first, &t->chosen, NULL, &(cull_diagnosis){0}));
    assert_ok(cull_select(t->selector, &second, 0, &t->chosen));
    first.passes = NULL; /* as one does who has copied the arrays */
    assert_ok(cull_select(t->selector, &first, 0, &t->chosen));
    end(t, recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_trained_example_has_its_own_label),
        TEST(a_target_that_is_the_batch_gives_what_matching_the_batch_gives),
        TEST(a_validation_set_larger_than_the_pool_is_aimed_at),
        TEST(signals_that_another_pass_has_overwritten_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
