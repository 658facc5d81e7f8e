/*
 * test_policy_course.c - the course of a run that selects: rates, ends, readings, what it leaves.
 *
 * 60 examples in batches of 16: the schedule has four positions an epoch.
 */
#include "base/alloc.h"
#include "lab/compare/arms.h"
#include "policy_support.h"

#define CLOSE 1e-12

struct course {
    size_t steps;
    double rate[64];
    size_t allocations;
    bool   counts, began;

    const char *kind;
};

static void note(void *context, const cull_run_news *news)
{
    struct course *c = context;
    size_t         now = cull_base_alloc_count();

    if (news->epoch_end) {
        c->began = false;
        return;
    }
    /* the first step of each epoch may make what the epoch needs */
    if (c->counts && c->began && c->allocations != now)
        fail_msg("%s: step %llu allocates", c->kind, (unsigned long long)news->step);
    c->began = news->epoch > 0; /* warm */
    c->allocations = now;
    assert_true(c->steps < 64);
    c->rate[c->steps++] = news->rate;
}

static struct course course_of(const struct world *w, const char *changes, bool counts)
{
    struct course    course = {.counts = counts, .kind = changes};
    cull_recipe     *recipe = recipe_of(w, changes);
    cull_run_result  result = {0};
    cull_run_options options = {
        .folder = path_in(w->folder, "run"), .tell = note, .context = &course};

    assert_ok(cull_train(recipe, &options, &result));
    cull_recipe_close(recipe);
    remove_folder(path_in(w->folder, "run"));
    return course;
}

static double cosine(double t, double total)
{
    return .05 * (1 + cos(3.14159265358979323846 * t / total)) / 2;
}

static void batches_of_the_usual_size_have_the_steps_of_full_training(void **state)
{
    static const char *const kinds[] = {"", "select.strategy=sb", "select.strategy=random",
                                        "select.strategy=sb+remembered",
                                        "select.strategy=gradmatch score.pass=reuse"};
    const struct world      *w = *state;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct course c = course_of(w, kinds[k], false);

        assert_int_equal(8, c.steps);
        for (size_t i = 0; i < 8; i++) assert_true(c.rate[i] == cosine((double)i, 8));
    }
}

/* 30 of 60 in two batches; 32 and 28 candidates; groups of a subset: an epoch is an epoch. */
static void subsets_and_scaled_batches_pass_over_the_whole_schedule(void **state)
{
    static const char *const kinds[] = {
        "select.strategy=grad-match select.period=1",
        "select.strategy=sb select.mode=scaled",
        "select.strategy=sb+remembered select.scope=pool",
    };
    const struct world *w = *state;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct course c = course_of(w, kinds[k], false);

        assert_int_equal(4, c.steps);
        for (size_t i = 0; i < 4; i++)
            assert_true(fabs(c.rate[i] - cosine(2 * (double)i, 8)) < CLOSE);
    }
}

/* kappa = 1/2 of 4 epochs at keep = 1/2: one full epoch, two on the subset; none is empty. */
static void a_warm_start_has_the_schedule_of_the_epochs_that_run(void **state)
{
    struct course c = course_of(
        *state, "select.strategy=grad-match select.period=9 select.warm=0.5 train.epochs=4", false);

    assert_int_equal(4 + 2 + 2, c.steps);
    for (size_t i = 0; i < 4; i++) assert_true(c.rate[i] == cosine((double)i, 12));
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(c.rate[4 + i] - cosine(4 + 2 * (double)i, 12)) < CLOSE);
}

static void a_shortened_run_ends_at_the_nearest_step_fully_decayed(void **state)
{
    static const struct {
        const char *changes;
        size_t      steps;
    } cases[] = {{"train.shorten=0.5", 4},
                 {"train.shorten=0.7", 6},
                 {"train.shorten=0.4", 3},
                 {"train.shorten=0.1", 1},
                 {"train.shorten=0.99", 8}};
    const struct world *w = *state;
    struct course       c;

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        c = course_of(w, cases[k].changes, false);
        if (c.steps != cases[k].steps) fail_msg("%s: %zu steps", cases[k].changes, c.steps);
        for (size_t i = 0; i < c.steps; i++)
            assert_true(c.rate[i] == cosine((double)i, (double)c.steps));
    }
    c = course_of(w,
                  "train.shorten=0.5 train.epochs=4 schedule.name=multi-step "
                  "schedule.milestones=1,3 schedule.gamma=0.5",
                  false);
    assert_int_equal(8, c.steps);
    for (size_t i = 0; i < 8; i++) /* milestones at 2 and 6 steps of 8, as at 4 and 12 of 16 */
        assert_true(c.rate[i] == (i < 2 ? .05 : i < 6 ? .025 : .0125));
}

/* Half of each batch is trained: by trained examples the run is half as long. */
static void a_schedule_counted_in_trained_examples_covers_what_is_trained(void **state)
{
    const struct world *w = *state;
    struct course       c = course_of(w, "select.strategy=sb schedule.count=trained", false);

    assert_int_equal(8, c.steps);
    for (size_t i = 0; i < 8; i++) {
        double trained = (double)(i / 4 * 30 + i % 4 * 8);
        assert_true(fabs(c.rate[i] - cosine(trained * 4 / 60, 4)) < CLOSE);
    }
    c = course_of(w,
                  "select.strategy=sb schedule.count=trained schedule.name=multi-step "
                  "schedule.milestones=0.5 schedule.gamma=0.5",
                  false);
    for (size_t i = 0; i < 8; i++) assert_true(c.rate[i] == (i < 4 ? .05 : .025));
}

static char *metrics_of(const struct world *w, const char *changes)
{
    void  *data = NULL;
    size_t bytes = 0;
    char  *text = NULL;

    (void)run_of(w, changes, "run");
    assert_ok(cull_file_read(path_in(w->folder, "run/metrics.jsonl"), &data, &bytes));
    text = calloc(bytes + 1, 1);
    assert_non_null(text);
    memcpy(text, data, bytes);
    cull_bytes_release(data);
    return text;
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;

    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) count++;
    return count;
}

static void readings_asked_for_by_their_moment_are_made_at_the_nearest_step(void **state)
{
    const struct world *w = *state;
    char               *text = metrics_of(w, "data.validation=0.2 train.evaluate_at=0.3,0.4,1,1.6 "
                                                           "train.evaluate=2 select.strategy=random");

    /* 48 examples in three steps an epoch: .3 and .4 are both nearest to one third */
    assert_int_equal(2, occurrences(text, "\"step\":1,\"epoch\":0.33333333333333331,\"set\""));
    assert_int_equal(2, occurrences(text, "\"step\":3,\"epoch\":1,\"set\""));
    assert_int_equal(2, occurrences(text, "\"step\":5,\"epoch\":1.6666666666666667,\"set\""));
    assert_int_equal(2, occurrences(text, "\"step\":6,\"epoch\":2,\"set\""));
    assert_int_equal(8, occurrences(text, "\"kind\":\"evaluate\""));
    assert_int_equal(8, occurrences(text, "\"thirds\":") - 2); /* and in the epochs' lines */
    assert_int_equal(1, occurrences(text, "\"best\":true"));
    free(text);
}

/* Comparisons draw their curves of the test set, whatever is watched. */
static void the_test_set_is_read_whenever_the_validation_set_is(void **state)
{
    const struct world *w = *state;
    char               *text = metrics_of(w, "data.validation=0.2 train.epochs=5 train.evaluate=2 "
                                                           "train.evaluate_at=1.3 train.log=0");

    assert_int_equal(4, occurrences(text, "\"set\":\"validation\""));
    assert_int_equal(4, occurrences(text, "\"set\":\"test\""));
    assert_int_equal(2, occurrences(text, "\"epoch\":2,\"set\":"));
    assert_int_equal(2, occurrences(text, "\"epoch\":4,\"set\":"));
    assert_int_equal(2, occurrences(text, "\"epoch\":5,\"set\":"));
    assert_null(strstr(text, "\"best\":true,\"set\":\"test\""));
    free(text);
    remove_folder(path_in(w->folder, "run"));
    /* nothing is read twice where the test set is the watched one */
    text = metrics_of(w, "train.epochs=3 train.evaluate_at=1,1.3");
    assert_int_equal(4, occurrences(text, "\"set\":\"test\""));
    free(text);
}

/* Reading costs nothing and changes nothing. */
static void reading_the_test_set_changes_no_run(void **state)
{
    const struct world *w = *state;
    cull_run_result     often = result_of(w, "data.validation=0.2 train.epochs=4");
    cull_run_result rarely = result_of(w, "data.validation=0.2 train.epochs=4 train.evaluate=4");

    assert_string_equal(rarely.weights, often.weights);
    assert_true(rarely.test == often.test && rarely.test_loss == often.test_loss);
    assert_true(rarely.scored == often.scored && rarely.trained == often.trained);
}

static void a_moment_behind_the_end_is_refused(void **state)
{
    static const struct {
        const char *changes, *says;
    } cases[] = {
        {"train.evaluate_at=1,2.5", "train.evaluate_at: 2.5 lies behind the run's end, after 2"},
        {"train.evaluate_at=1.7 train.shorten=0.8", "1.7 lies behind the run's end, after 1.6"},
        {"train.evaluate_at=3.5 train.epochs=4 select.strategy=grad-match select.keep=0.5 "
         "select.warm=0.5",
         "3.5 lies behind the run's end, after 3 epochs: the strategy"},
    };
    const struct world *w = *state;
    cull_trainer       *t = NULL;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_recipe *recipe = recipe_of(w, cases[i].changes);
        assert_fails(CULL_BAD_OPTION, cases[i].says, cull_trainer_create(&recipe->setup, true, &t));
        cull_recipe_close(recipe);
    }
    (void)result_of(w, "train.evaluate_at=1,2"); /* the end itself is a moment */
    (void)result_of(w, "train.evaluate_at=1.6 train.shorten=0.8");
}

static void a_subset_shrinks_the_validation_set_alike(void **state)
{
    static const struct {
        const char *changes;
        size_t      train, validation;
    } cases[] = {{"data.validation=0.4", 36, 24},
                 {"data.validation=0.4 data.subset=0.5", 18, 12},
                 {"data.validation=0.4 data.subset=0.25", 9, 6},
                 {"data.subset=0.5", 30, 0}};
    const struct world *w = *state;
    cull_trainer       *t = NULL;
    cull_recipe        *recipe = NULL;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t seen[CLASSES] = {0};

        recipe = recipe_of(w, cases[i].changes);
        assert_ok(cull_trainer_create(&recipe->setup, false, &t));
        assert_int_equal(cases[i].train, t->sets.train->count);
        assert_int_equal(cases[i].validation, t->sets.validation ? t->sets.validation->count : 0);
        assert_int_equal(COUNT, t->sets.test->count);
        for (size_t k = 0; k < cases[i].validation; k++) {
            seen[cull_data_labels(t->sets.validation)[k]]++;
            for (size_t j = 0; j < t->sets.train->count; j++)
                assert_int_not_equal(t->sets.train->origin[j], t->sets.validation->origin[k]);
        }
        for (size_t k = 0; k < CLASSES; k++)
            assert_int_equal(cases[i].validation / CLASSES, seen[k]);
        cull_trainer_destroy(t);
        t = NULL;
        cull_recipe_close(recipe);
    }
    recipe = recipe_of(w, "data.validation=0.05 data.subset=0.1");
    assert_fails(CULL_BAD_OPTION, "data.subset: 0.1 leaves none of the 3 validation examples",
                 cull_trainer_create(&recipe->setup, false, &t));
    cull_recipe_close(recipe);
}

static void a_run_leaves_what_became_of_each_example(void **state)
{
    const struct world *w = *state;
    cull_run_result     run = run_of(w, "select.strategy=kath18 select.variable=false", "run");
    cull_arrays        *file = NULL;
    cull_tensor         count, weight, loss, first, label, origin;
    double              trained = 0, weights = 0;

    assert_ok(cull_arrays_open(path_in(w->folder, "run/selection.npz"), &file));
    assert_ok(cull_arrays_get(file, "count", &count));
    assert_ok(cull_arrays_get(file, "weight", &weight));
    assert_ok(cull_arrays_get(file, "loss", &loss));
    assert_ok(cull_arrays_get(file, "first", &first));
    assert_ok(cull_arrays_get(file, "label", &label));
    assert_ok(cull_arrays_get(file, "origin", &origin));
    for (size_t i = 0; i < COUNT; i++) {
        int32_t times = ((const int32_t *)count.data)[i], when = ((const int32_t *)first.data)[i];

        trained += times;
        weights += ((const double *)weight.data)[i];
        assert_int_equal(times == 0, when == -1);
        assert_true(when < 2 && (times == 0) == isnan(((const float *)loss.data)[i]));
        assert_int_equal(i % CLASSES, ((const int32_t *)label.data)[i]);
        assert_int_equal(i, ((const int32_t *)origin.data)[i]);
    }
    assert_true(trained == (double)run.trained && weights > 0 && weights != trained);
    cull_arrays_close(file);
}

static void a_subset_of_the_pool_is_left_with_its_weights(void **state)
{
    const struct world *w = *state;
    cull_arrays        *file = NULL;
    cull_tensor         place, weight, epoch;
    double              sum = 0;

    (void)run_of(w, "select.strategy=grad-match select.period=1 select.keep=0.3", "run");
    assert_ok(cull_arrays_open(path_in(w->folder, "run/subset.npz"), &file));
    assert_ok(cull_arrays_get(file, "place", &place));
    assert_ok(cull_arrays_get(file, "weight", &weight));
    assert_ok(cull_arrays_get(file, "epoch", &epoch));
    assert_int_equal(18, place.shape[0]);
    assert_int_equal(1, *(const int64_t *)epoch.data);
    for (size_t i = 0; i < 18; i++) sum += ((const double *)weight.data)[i];
    assert_true(fabs(sum - 18) < 1e-9);
    cull_arrays_close(file);
}

/* ---- beforehand ---- */

/* Steps, and examples trained and scored, as they are counted in a run. */
static void what_a_run_does_is_expected_of_it_and_priced(void **state)
{
    static const char *const kinds[] = {
        "",
        "select.strategy=random select.keep=0.35",
        "select.strategy=sb select.keep=0.35",
        "select.strategy=sb select.keep=0.35 select.mode=scaled select.every=2",
        "select.strategy=sb select.keep=0.2 select.start=0.3 select.end=0.8 train.epochs=3",
        "select.strategy=sb+stale select.keep=0.35 train.epochs=5",
        "select.strategy=sb+remembered select.scope=pool select.keep=0.7 select.start=0.5",
        "select.strategy=gradmatch select.match=validation data.validation=0.4 select.keep=0.35",
        "select.strategy=grad-match select.period=2 select.keep=0.6 train.epochs=5",
        "select.strategy=craig select.scope=batch select.keep=0.4 train.batch=15",
        "select.strategy=adaptive-random select.period=2 select.warm=0.5 train.epochs=6",
        "select.strategy=fixed-random select.keep=0.35",
    };
    const struct world *w = *state;

    for (size_t k = 0; k < 2 * sizeof kinds / sizeof *kinds; k++) {
        char            changes[200];
        cull_recipe    *recipe = NULL;
        cull_trainer   *t = NULL;
        cull_costs      costs = {0};
        cull_priced     priced = {0};
        cull_price      price = {0};
        cull_run_result run = {0};

        (void)snprintf(changes, sizeof changes, "%s train.drop_short=%s", kinds[k / 2],
                       k % 2 ? "true" : "false");
        run = result_of(w, changes);
        recipe = recipe_of(w, changes);
        assert_ok(cull_trainer_create(&recipe->setup, true, &t));
        costs.pool = t->sets.train->count;
        costs.validation = t->sets.validation ? t->sets.validation->count : 0;
        priced = cull_arm_priced(recipe);
        assert_ok(cull_costs_price(&costs, &priced, NULL, 0, NULL, &price));
        if ((double)run.step != t->expected.steps || (double)run.trained != t->expected.trained)
            fail_msg("%s: %llu steps train %llu, expected were %g and %g", changes,
                     (unsigned long long)run.step, (unsigned long long)run.trained,
                     t->expected.steps, t->expected.trained);
        if (run.step != price.steps || (double)run.trained != price.trained ||
            (double)run.scored != price.scored)
            fail_msg("%s: %llu steps train %llu and score %llu, priced are %llu, %g and %g",
                     changes, (unsigned long long)run.step, (unsigned long long)run.trained,
                     (unsigned long long)run.scored, (unsigned long long)price.steps, price.trained,
                     price.scored);
        assert_true(price.fixed && t->expected.fixed);
        cull_trainer_destroy(t);
        cull_recipe_close(recipe);
    }
}

/* ---- memory ---- */

static void a_step_that_selects_allocates_nothing(void **state)
{
    static const char *const kinds[] = {
        "select.strategy=random select.keep=0.33 select.rounding=alternate",
        "select.strategy=sb",
        "select.strategy=sb+remembered",
        "select.strategy=gradmatch score.pass=reuse",
        "select.strategy=sb select.mode=scaled score.augment=false",
        "select.strategy=gradmatch model.name=resnet20 score.scale=0.5",
        "select.strategy=gradmatch select.match=validation data.validation=0.2",
        "select.strategy=grad-match select.period=2",
    };

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char changes[200];

        (void)snprintf(changes, sizeof changes, "%s train.epochs=3", kinds[k]);
        assert_true(course_of(*state, changes, true).steps >= 6);
    }
}

/* An epoch without files. */
static cull_status train_epoch(const cull_recipe *recipe)
{
    cull_status      status = CULL_OK;
    cull_trainer    *t = NULL;
    cull_step_values v = {0};

    TRY(cull_trainer_create(&recipe->setup, true, &t));
    TRY(cull_train_begin_epoch(t, &v.asked.needs));
    while (!is_epoch_over(t)) TRY(cull_train_step(t, &v));
    TRY(cull_train_flush(t, &v));
done:
    cull_trainer_destroy(t);
    return status;
}

static void runs_that_select_survive_every_failing_allocation(void **state)
{
    static const char *const kinds[] = {
        "select.strategy=sb score.pass=reuse data.workers=0",
        "select.strategy=glister select.period=1 data.validation=0.2 data.workers=0",
        "select.strategy=sb-stream select.history=64 data.workers=0",
    };
    const struct world *w = *state;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        cull_recipe *recipe = recipe_of(w, kinds[k]);
        cull_status  status = CULL_NO_MEMORY;
        size_t       n = 1;

        for (; status != CULL_OK; n++) {
            fail_nth_alloc(n);
            status = train_epoch(recipe);
            fail_nth_alloc(0);
            if (status != CULL_OK && status != CULL_NO_MEMORY)
                fail_msg("allocation %zu: %s: %s", n, cull_status_name(status), cull_last_error());
            if (status == CULL_OK && alloc_has_failed()) status = CULL_NO_MEMORY;
        }
        assert_true(n > 50);
        cull_recipe_close(recipe);
    }
}

/* ---- scaling ---- */

static void resize(const cull_resize *how, const float *from, size_t count, float *to)
{
    cull_op *op = NULL;

    assert_ok(cull_op_ready(plain_backend(), &(cull_op_desc){.kind = CULL_OP_RESIZE}, &op));
    assert_ok(cull_op_run(
        op, &(cull_op_args){.resize = {.how = *how, .from = from, .to = to, .count = count}}));
    cull_op_destroy(op);
}

static void scaling_down_is_bilinear(void **state)
{
    const float image[2][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
    /* halves are means of two by two; thirds of a ramp lie on the ramp, (y + 1/2) 4/3 - 1/2 */
    const float half[] = {2.5F, 4.5F, 10.5F, 12.5F};
    float       out[2 * 9], last[32], small[8], whole[32];
    cull_resize r = {.channels = 1, .height = 4, .width = 4, .to_height = 2, .to_width = 2};

    (void)state;
    resize(&r, image[0], 2, out);
    for (size_t i = 0; i < 4; i++) assert_true(out[i] == half[i] && out[4 + i] == 1);
    r.to_height = r.to_width = 3;
    resize(&r, image[0], 1, out);
    for (size_t y = 0; y < 3; y++)
        for (size_t x = 0; x < 3; x++)
            assert_true(fabs((double)out[3 * y + x] - (4 * (((double)y + .5) * 4 / 3 - .5) +
                                                       ((double)x + .5) * 4 / 3 - .5)) < 1e-5);
    /* channels beside each other give the same numbers beside each other */
    for (size_t i = 0; i < 32; i++) last[i] = image[i % 2][i / 2];
    r = (cull_resize){.channels = 2,
                      .height = 4,
                      .width = 4,
                      .to_height = 2,
                      .to_width = 2,
                      .channels_last = true,
                      .to_channels_last = true};
    resize(&r, last, 1, small);
    for (size_t i = 0; i < 4; i++) assert_true(small[2 * i] == half[i] && small[2 * i + 1] == 1);
    /* the same size in another order is exact */
    r.to_height = r.to_width = 4;
    r.to_channels_last = false;
    resize(&r, last, 1, whole);
    assert_memory_equal(image, whole, sizeof whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(batches_of_the_usual_size_have_the_steps_of_full_training),
        TEST(subsets_and_scaled_batches_pass_over_the_whole_schedule),
        TEST(a_warm_start_has_the_schedule_of_the_epochs_that_run),
        TEST(a_shortened_run_ends_at_the_nearest_step_fully_decayed),
        TEST(a_schedule_counted_in_trained_examples_covers_what_is_trained),
        TEST(readings_asked_for_by_their_moment_are_made_at_the_nearest_step),
        TEST(the_test_set_is_read_whenever_the_validation_set_is),
        TEST(reading_the_test_set_changes_no_run),
        TEST(a_moment_behind_the_end_is_refused),
        TEST(a_subset_shrinks_the_validation_set_alike),
        TEST(a_run_leaves_what_became_of_each_example),
        TEST(a_subset_of_the_pool_is_left_with_its_weights),
        TEST(what_a_run_does_is_expected_of_it_and_priced),
        TEST(a_step_that_selects_allocates_nothing),
        TEST(runs_that_select_survive_every_failing_allocation),
        cmocka_unit_test(scaling_down_is_bilinear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
