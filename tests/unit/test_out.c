/* tests/unit/test_out.c - what comes out of a run: cards of weights, predictions, what it chose. */
#include "policy_support.h"
#include "train/folder/weights.h"

static const struct world *world(void **state)
{
    return *state;
}

static const char *weights_in(const struct world *w, const char *run, const cull_run_result *r)
{
    static char path[256];

    (void)snprintf(path, sizeof path, "%s/%s/%s", w->folder, run, r->weights);
    return path;
}

/* ---- cards ---- */

static void weights_say_what_their_inputs_were(void **state)
{
    const struct world *w = world(state);
    cull_run_result     r = run_of(w, "", "run");
    cull_card           card = {0};
    cull_dataset       *set = NULL;

    assert_ok(cull_weights_card(weights_in(w, "run", &r), &card));
    assert_ok(open_set(path_in(w->folder, "train.npz"), CULL_DATA_TRAIN, NULL, &set));
    assert_int_equal(1, card.channels);
    assert_int_equal(SIDE, card.height);
    assert_int_equal(SIDE, card.width);
    assert_int_equal(CULL_U8, card.dtype);
    assert_int_equal(CLASSES, card.outputs);
    assert_int_equal(CULL_TARGET_CLASS, card.target);
    assert_memory_equal(set->mean, card.mean, sizeof *set->mean);
    assert_memory_equal(set->deviation, card.deviation, sizeof *set->deviation);
    assert_int_equal(0, card.class_names.count);
    cull_card_clear(&card);
    cull_data_close(set);
    remove_folder(path_in(w->folder, "run"));
}

static cull_status read_back(const char *metadata, cull_card *out)
{
    cull_status status = CULL_OK;
    json_t     *object = json_loads(metadata, 0, NULL);

    assert_non_null(object);
    status = cull_card_take("file", object, out);
    json_decref(object);
    return status;
}

static void a_card_comes_back_as_it_was(void **state)
{
    double    mean[2] = {.1, -1e-300}, deviation[2] = {1. / 3, 2};
    cull_card card = {.channels = 2,
                      .height = 3,
                      .width = 4,
                      .dtype = CULL_F32,
                      .target = CULL_TARGET_CLASSES,
                      .outputs = 2,
                      .mean = mean,
                      .deviation = deviation},
              back = {0};
    cull_json json = {0};

    (void)state;
    assert_ok(cull_texts_add(&card.class_names, "a \"quoted\" name", 15));
    assert_ok(cull_texts_add(&card.class_names, "Käse,\n", 7));
    cull_json_open(&json, NULL, '{');
    cull_card_put(&json, &card);
    cull_json_close(&json, '}');
    assert_ok(json.status);
    assert_ok(cull_write(&json.bytes, "", 1));
    assert_ok(read_back((const char *)json.bytes.data, &back));
    assert_memory_equal(mean, back.mean, sizeof mean);
    assert_memory_equal(deviation, back.deviation, sizeof deviation);
    assert_int_equal(4, back.width);
    assert_int_equal(CULL_TARGET_CLASSES, back.target);
    assert_string_equal("Käse,\n", back.class_names.text[1]);
    cull_card_clear(&back);
    cull_texts_clear(&card.class_names);
    cull_json_clear(&json);
}

/* Constants and names of another training set would be a silent change of the network. */
static void weights_fit_what_they_were_trained_on_and_nothing_else(void **state)
{
    double      mean[2] = {1, 100}, deviation[2] = {2, 1}, scale[2] = {3, 4};
    char       *ab[] = {"a", "b"}, *ba[] = {"b", "a"};
    cull_texts *names[3] = {0};
    cull_card   was = {.channels = 2,
                       .outputs = 2,
                       .mean = mean,
                       .deviation = deviation,
                       .target_mean = mean,
                       .target_deviation = scale,
                       .class_names = {.text = ab, .count = 2},
                       .feature_names = {.text = ab, .count = 2},
                       .label_names = {.text = ab, .count = 2}};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        static const char *const what[] = {"class 0 of s is 'b'", "feature 0 of s is 'b'",
                                           "label 0 of s is 'b'"};
        cull_card                is = was;

        names[0] = &is.class_names;
        names[1] = &is.feature_names;
        names[2] = &is.label_names;
        assert_ok(cull_card_fit("w", &was, "s", &is));
        names[k]->text = ba;
        assert_fails(CULL_BAD_ARGUMENT, what[k], cull_card_fit("w", &was, "s", &is));
        names[k]->count = 0; /* nothing is said */
        assert_ok(cull_card_fit("w", &was, "s", &is));
    }
    for (size_t k = 0; k < 2; k++) {
        double    other[2] = {1.019, 100}, wide[2] = {3.029, 4};
        cull_card is = was;

        is.mean = other;
        is.target_deviation = wide;
        assert_ok(cull_card_fit("w", &was, "s", &is));
        if (k)
            wide[0] = 3.031;
        else
            other[0] = 1.021;
        assert_fails(CULL_BAD_ARGUMENT, k ? "target 0 of s has mean" : "channel 0 of s has mean",
                     cull_card_fit("w", &was, "s", &is));
    }
    assert_ok(cull_card_fit("w", &(cull_card){.channels = 0}, "s", &was));
}

static void cards_that_do_not_hold_together_are_refused(void **state)
{
#define REST                                                                                       \
    "\"cull.dtype\":\"uint8\",\"cull.target\":\"class\",\"cull.outputs\":\"2\","                   \
    "\"cull.mean\":\"[0]\",\"cull.deviation\":\"[1]\""
    static const char *const wrong[] = {
        "{\"cull.input\":\"1x2\"," REST "}",
        "{\"cull.input\":\"0x2x2\"," REST "}",
        "{\"cull.input\":\"1x2x2x\"," REST "}",
        "{\"cull.input\":\"2x2x2\"," REST "}",
        "{\"cull.input\":\"99999999x2x2\"," REST "}",
        "{\"cull.input\":\"1x2x2\"}",
        "{\"cull.input\":\"1x2x2\",\"cull.classes\":\"[\\\"a\\\"]\"," REST "}"};
    cull_card card = {0};

    (void)state;
    assert_ok(read_back("{\"format\":\"pt\"}", &card));
    assert_int_equal(0, card.channels);
    assert_ok(read_back("{\"cull.input\":\"1x2x2\"," REST "}", &card));
    cull_card_clear(&card);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_fails(CULL_BAD_FILE, "in its metadata is not as cull writes it",
                     read_back(wrong[i], &card));
        assert_null(card.mean);
    }
}

/* ---- predictions ---- */

struct seen {
    int32_t best[COUNT];
    float   output[COUNT * CLASSES];
    size_t  count, most;
};

static bool see(void *context, const cull_predicted *p)
{
    struct seen *s = context;

    assert_int_equal(s->count, p->from);
    assert_int_equal(CLASSES, p->outputs);
    assert_null(p->name);
    memcpy(s->best + p->from, p->best, p->count * sizeof *p->best);
    memcpy(s->output + p->from * CLASSES, p->output, p->count * CLASSES * sizeof *p->output);
    s->count += p->count;
    return s->count < s->most;
}

static void predictions_are_those_that_were_evaluated_without_the_training_set(void **state)
{
    const struct world *w = world(state);
    cull_run_result     r = run_of(w, "", "run");
    cull_recipe        *recipe = recipe_of(w, "");
    cull_data_request   test = {.name = NULL};
    cull_evaluation     e = {0};
    cull_dataset       *set = NULL;
    struct seen         seen = {.most = SIZE_MAX};
    char                path[256], train[256], hidden[256];
    size_t              right = 0;

    (void)snprintf(path, sizeof path, "%s/test.npz", w->folder);
    (void)snprintf(train, sizeof train, "%s/train.npz", w->folder);
    (void)snprintf(hidden, sizeof hidden, "%s/hidden.npz", w->folder);
    test.name = path;
    assert_ok(cull_evaluate(recipe, weights_in(w, "run", &r), "test", &e));
    assert_ok(open_set(path, CULL_DATA_TRAIN, NULL, &set));
    assert_int_equal(0, rename(train, hidden));
    assert_ok(cull_predict_set(recipe, weights_in(w, "run", &r), &test, see, &seen));
    assert_int_equal(0, rename(hidden, train));
    assert_int_equal(COUNT, seen.count);
    for (size_t i = 0; i < COUNT; i++) {
        double sum = 0;
        for (size_t k = 0; k < CLASSES; k++) {
            sum += (double)seen.output[i * CLASSES + k];
            assert_true(seen.output[i * CLASSES + k] <=
                        seen.output[i * CLASSES + (size_t)seen.best[i]]);
        }
        assert_true(fabs(sum - 1) < 1e-6);
        right += seen.best[i] == cull_data_labels(set)[i];
    }
    assert_int_equal(llround(e.accuracy * COUNT), right);
    cull_data_close(set);
    cull_recipe_close(recipe);
    remove_folder(path_in(w->folder, "run"));
}

static void examples_of_another_shape_are_refused(void **state)
{
    const struct world *w = world(state);
    cull_run_result     r = run_of(w, "", "run");
    cull_recipe        *recipe = recipe_of(w, "");
    cull_dataset       *other = random_set(CULL_U8, 4, 2, 1, SIDE, SIDE + 1);
    struct seen         seen = {.most = SIZE_MAX};
    char                path[256];

    (void)snprintf(path, sizeof path, "%s/other.npz", w->folder);
    assert_ok(cull_data_write(other, path));
    assert_fails(CULL_BAD_ARGUMENT,
                 "other.npz: examples of 1x16x17 uint8, but the network was trained on 1x16x16",
                 cull_predict_set(recipe, weights_in(w, "run", &r),
                                  &(cull_data_request){.name = path}, see, &seen));
    cull_data_close(other);
    cull_recipe_close(recipe);
    remove_folder(path_in(w->folder, "run"));
}

/* ---- what was chosen ---- */

static void what_a_run_trained_is_what_it_chose(void **state)
{
    const struct world *w = world(state);
    cull_chosen         all = {0}, some = {0};
    double              sum = 0;
    char                folder[256];

    (void)run_of(w, "select.strategy=random select.keep=0.25 train.epochs=1", "run");
    (void)snprintf(folder, sizeof folder, "%s/run", w->folder);
    assert_ok(cull_run_chosen(folder, 0, true, &all));
    assert_true(all.count > 0 && all.count < COUNT);
    assert_null(all.name); /* rows of a file have numbers alone */
    for (size_t i = 0; i < all.count; i++) {
        assert_true(i == 0 || all.place[i] > all.place[i - 1]);
        assert_int_equal(all.place[i], all.origin[i]);
        sum += all.weight[i];
    }
    assert_true(fabs(sum - (double)all.count) < 1e-9);
    assert_ok(cull_run_chosen(folder, .05, false, &some));
    assert_int_equal(3, some.count);
    cull_chosen_clear(&all);
    cull_chosen_clear(&some);
    remove_folder(folder);
}

static void a_subset_of_the_pool_is_given_as_it_was_chosen(void **state)
{
    const struct world *w = world(state);
    cull_chosen         chosen = {0};
    cull_arrays        *arrays = NULL;
    cull_tensor         place = {0}, weight = {0};
    char                folder[256];

    (void)run_of(w, "select.strategy=grad-match select.keep=0.3 data.validation=0.2", "run");
    (void)snprintf(folder, sizeof folder, "%s/run", w->folder);
    assert_ok(cull_run_chosen(folder, 0, false, &chosen));
    assert_ok(cull_arrays_open(path_in(folder, "subset.npz"), &arrays));
    assert_ok(cull_arrays_get(arrays, "place", &place));
    assert_ok(cull_arrays_get(arrays, "weight", &weight));
    assert_int_equal(place.shape[0], chosen.count);
    for (size_t i = 0; i < chosen.count; i++) {
        assert_int_equal(((const int64_t *)place.data)[i], chosen.place[i]);
        assert_true(((const double *)weight.data)[i] == chosen.weight[i]);
        assert_true(chosen.origin[i] >= chosen.place[i]); /* some were split off before it */
    }
    cull_arrays_close(arrays);
    cull_chosen_clear(&chosen);
    assert_fails(CULL_BAD_ARGUMENT, "was chosen as a whole",
                 cull_run_chosen(folder, .1, false, &chosen));
    assert_fails(CULL_NOT_FOUND, "there is no run, or it has not ended",
                 cull_run_chosen(w->folder, 0, false, &chosen));
    remove_folder(folder);
}

/* ---- memory ---- */

static void all_of_it_survives_failing_allocations(void **state)
{
    const struct world *w = world(state);
    cull_run_result     r = run_of(w, "select.strategy=random select.keep=0.5", "run");
    cull_recipe        *recipe = recipe_of(w, "");
    cull_status         status = CULL_NO_MEMORY;
    char                path[256], folder[256];

    (void)snprintf(path, sizeof path, "%s/test.npz", w->folder);
    (void)snprintf(folder, sizeof folder, "%s/run", w->folder);
    for (size_t n = 1; status != CULL_OK; n++) {
        struct seen seen = {.most = 1};
        fail_nth_alloc(n);
        status = cull_predict_set(recipe, weights_in(w, "run", &r),
                                  &(cull_data_request){.name = path}, see, &seen);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
    }
    status = CULL_NO_MEMORY;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_chosen chosen = {0};
        fail_nth_alloc(n);
        status = cull_run_chosen(folder, .2, true, &chosen);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        assert_true(status == CULL_OK || !chosen.place);
        cull_chosen_clear(&chosen);
    }
    cull_recipe_close(recipe);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_say_what_their_inputs_were),
        cmocka_unit_test(a_card_comes_back_as_it_was),
        cmocka_unit_test(weights_fit_what_they_were_trained_on_and_nothing_else),
        cmocka_unit_test(cards_that_do_not_hold_together_are_refused),
        cmocka_unit_test(predictions_are_those_that_were_evaluated_without_the_training_set),
        cmocka_unit_test(examples_of_another_shape_are_refused),
        cmocka_unit_test(what_a_run_trained_is_what_it_chose),
        cmocka_unit_test(a_subset_of_the_pool_is_given_as_it_was_chosen),
        cmocka_unit_test(all_of_it_survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, make_world, remove_world);
}
