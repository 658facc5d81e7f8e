/* test_probe_run.c - probes and audits of a recipe: figures, files, refusals. */
#include <math.h>

#include "files.h"
#include "lab/probe/audit.h"
#include "lab/probe/probe.h"
#include "train/folder/weights.h"

enum { POOL = 96, SIDE = 6, CLASSES = 3, BATCH = 16 };

struct world {
    char         folder[64], set[128], test[128];
    cull_recipe *recipe;
};

static void open_recipe(struct world *w, const char *extra, const char *value)
{
    cull_option options[] = {{"data.name", w->set},        {"data.test", w->test},
                             {"model.name", "mlp"},        {"train.batch", "16"},
                             {"train.backend", "ref"},     {"train.threads", "1"},
                             {"data.label_noise", "0.25"}, {extra, value}};

    cull_recipe_close(w->recipe);
    w->recipe = NULL;
    assert_ok(cull_recipe_open(NULL, options, extra ? 8 : 7, &w->recipe));
}

static int begin(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    cull_dataset *set = random_set(CULL_U8, POOL, CLASSES, 1, SIDE, SIDE);

    assert_non_null(w);
    memcpy(w->folder, FOLDER_TEMPLATE, sizeof FOLDER_TEMPLATE);
    assert_non_null(mkdtemp(w->folder));
    (void)snprintf(w->set, sizeof w->set, "%s/set.npz", w->folder);
    (void)snprintf(w->test, sizeof w->test, "%s/test.npz", w->folder);
    write_both(set, w->set, w->test);
    cull_data_close(set);
    open_recipe(w, NULL, NULL);
    *state = w;
    return 0;
}

static int end(void **state)
{
    struct world *w = *state;

    cull_recipe_close(w->recipe);
    remove_folder(w->folder);
    free(w);
    return 0;
}

static const char *const all_names[] = {"random", "sb", "full", "sb beta=balles"};
static const double      keeps[] = {.25, .5};

static cull_probe_options ask(void)
{
    return (cull_probe_options){
        .strategy = all_names, .strategies = 4, .keep = keeps, .keeps = 2, .batches = 5};
}

static void intervals_are_wilsons(void **state)
{
    cull_rate none = cull_probe_rate(0, 10), some = cull_probe_rate(8, 10);
    cull_rate nothing = cull_probe_rate(0, 0);

    (void)state;
    /* 8 of 10: 0.4902 to 0.9433; 0 of 10: 0 to 0.2775 (Brown, Cai, DasGupta 2001) */
    assert_true(fabs(some.low - 0.49016) < 1e-5 && fabs(some.high - 0.94331) < 1e-5);
    assert_true(none.low == 0 && fabs(none.high - 0.27753) < 1e-5);
    assert_true(isnan(nothing.rate) && isnan(nothing.low) && nothing.trials == 0);
}

static void spreads_are_quantiles_of_what_is_there(void **state)
{
    double      value[] = {5, NAN, 1, 3, 2, 4};
    cull_spread s = cull_probe_spread(value, 6);

    (void)state;
    assert_true(s.mean == 3 && s.median == 3 && s.quarter == 2 && s.three_quarters == 4);
    assert_true(fabs(s.low - 1.2) < 1e-12 && fabs(s.high - 4.8) < 1e-12);
    assert_true(fabs(s.deviation - sqrt(2.5)) < 1e-12);
    value[0] = NAN;
    assert_true(isnan(cull_probe_spread(value, 1).mean));
}

static void gaps_are_distance_angle_and_signs(void **state)
{
    const double   a[] = {1, 0, -2, 0}, b[] = {1, 0, 2, 1}, zero[4] = {0};
    cull_probe_gap gap = cull_probe_compare(a, b, 4);

    (void)state;
    assert_true(gap.error == 17 && gap.sign == .5);
    assert_true(fabs(gap.cosine + 3 / sqrt(30)) < 1e-12);
    assert_true(isnan(cull_probe_compare(a, zero, 4).cosine));
}

static void a_probe_sums_up_its_batches(void **state)
{
    struct world      *w = *state;
    cull_probe_options o = ask();
    cull_probe_result  r = {0};
    double             mean = 0, hits = 0;

    assert_ok(cull_probe(w->recipe, &o, &r));
    assert_int_equal(8, r.arms);
    assert_int_equal(5, r.batches);
    assert_int_equal(POOL / BATCH, r.data_batches);
    assert_false(r.batchnorm);
    assert_true(r.full > 0);
    /* sb at half: arm 3; random at half: arm 1 */
    for (size_t b = 0; b < 5; b++) {
        mean += r.arm[3].pick[b].data[0].error / 5;
        hits += r.arm[3].pick[b].data[0].error < r.arm[1].pick[b].data[0].error;
    }
    assert_string_equal("sb", r.arm[3].strategy);
    assert_true(fabs(mean - r.arm[3].error[0].mean) < 1e-12 * mean);
    assert_true(hits == r.arm[3].wins[0].hits && r.arm[3].wins[0].trials == 5);
    assert_true(r.arm[1].wins[0].trials == 0);
    assert_true(r.arm[3].kept == 8 && r.arm[2].kept == 4);
    /* without BatchNorm both ways are one */
    assert_true(r.arm[3].error[1].mean == r.arm[3].error[0].mean);
    cull_probe_clear(&r);
}

/* Over the last layer, which it is made for, solved matching is nearer to the batch than random on
 * every batch; the same numbers in float64 give the same. */
static void matching_is_nearest_over_the_last_layer(void **state)
{
    static const char *const strategies[] = {"random", "gradmatch weights=solved"};
    static const double      keep[] = {0.5};
    struct world            *w = *state;
    cull_probe_options       o = ask();
    cull_probe_result        r = {0}, exact = {0};

    o.strategy = strategies;
    o.strategies = 2;
    o.keep = keep;
    o.keeps = 1;
    assert_ok(cull_probe(w->recipe, &o, &r));
    o.exact = true;
    assert_ok(cull_probe(w->recipe, &o, &exact));
    assert_true(r.arm[1].last_wins[0].rate == 1 && r.arm[1].last_wins[0].trials == 5);
    assert_true(r.arm[1].last[0].median < 0.5 * r.arm[0].last[0].median);
    for (size_t b = 0; b < 5; b++) {
        const cull_probe_pick *pick = &r.arm[1].pick[b];

        assert_true(pick->last[0] > 0 && pick->last[0] < r.arm[0].pick[b].last[0]);
        assert_true(fabs(exact.arm[1].pick[b].last[0] - pick->last[0]) < 1e-3 * pick->last[0]);
        assert_true(pick->relative[0] > 0 && pick->relative[1] == pick->relative[0]);
    }
    cull_probe_clear(&exact);
    o.exact = false;
    o.picks = true; /* the same from H and P alone, to float32's digits */
    assert_ok(cull_probe(w->recipe, &o, &exact));
    for (size_t b = 0; b < 5; b++)
        assert_true(fabs(exact.arm[1].pick[b].last[1] / r.arm[1].pick[b].last[1] - 1) < 1e-3);
    assert_true(exact.arm[1].last_wins[1].rate == 1);
    cull_probe_clear(&r);
    cull_probe_clear(&exact);
}

static void full_errs_as_its_batch_and_random_more(void **state)
{
    struct world      *w = *state;
    cull_probe_options o = ask();
    cull_probe_result  r = {0};

    assert_ok(cull_probe(w->recipe, &o, &r));
    assert_true(r.arm[4].batch_error[0].mean == 0 && r.arm[4].batch_error[0].high == 0);
    assert_true(r.arm[4].error[0].mean == r.whole_error.mean);
    assert_true(r.arm[0].error[0].mean > r.arm[1].error[0].mean);
    assert_true(r.arm[1].error[0].mean > r.whole_error.mean);
    cull_probe_clear(&r);
}

/* A quarter of the labels is wrong; `full` picks all of them at weight 1. */
static void wrong_labels_are_counted_among_the_picks(void **state)
{
    struct world      *w = *state;
    cull_probe_options o = ask();
    cull_probe_result  r = {0};

    o.picks = true;
    o.batches = POOL / BATCH;
    assert_ok(cull_probe(w->recipe, &o, &r));
    assert_true(r.base.hits == POOL / 4 && r.base.trials == POOL);
    assert_true(r.arm[4].corrupted.hits == POOL / 4 && r.arm[4].corrupted_weight == .25);
    assert_true(r.arm[0].corrupted.trials == POOL / 4);
    assert_int_equal(POOL, r.arm[4].weight[4]); /* weights 1 lie in the bin from 1 to 1.25 */
    assert_int_equal(0, r.data_batches);
    assert_true(isnan(r.arm[0].error[0].mean));
    cull_probe_clear(&r);
}

static void the_network_sees_the_same_batches_again(void **state)
{
    struct world      *w = *state;
    cull_probe_options o = ask();
    cull_probe_result  a = {0}, b = {0};

    assert_ok(cull_probe(w->recipe, &o, &a));
    assert_ok(cull_probe(w->recipe, &o, &b));
    for (size_t i = 0; i < a.arms; i++)
        assert_memory_equal(a.arm[i].pick, b.arm[i].pick, 5 * sizeof *a.arm[i].pick);
    cull_probe_clear(&a);
    cull_probe_clear(&b);
}

static size_t count_text(const char *path, const char *text)
{
    void  *data = NULL;
    size_t bytes = 0, count = 0, length = strlen(text);

    assert_ok(cull_file_read(path, &data, &bytes));
    for (size_t i = 0; i + length <= bytes; i++)
        count += memcmp((char *)data + i, text, length) == 0;
    cull_bytes_release(data);
    return count;
}

static void a_folder_gets_a_line_for_every_pick_and_arm(void **state)
{
    struct world      *w = *state;
    cull_probe_options o = ask();
    cull_probe_result  r = {0};
    const char        *path = path_in(w->folder, "probe.jsonl");

    o.folder = w->folder;
    assert_ok(cull_probe(w->recipe, &o, &r));
    assert_int_equal(40, count_text(path, "{\"kind\":\"probe\",\"strategy\":"));
    assert_int_equal(8, count_text(path, "{\"kind\":\"probe-arm\","));
    assert_int_equal(48, count_text(path, "\n"));
    assert_int_equal(30, count_text(path, "\"win\":"));
    cull_probe_clear(&r);
    o.folder = "/nonexistent/folder";
    assert_fails(CULL_IO, "/nonexistent", cull_probe(w->recipe, &o, &r));
}

static bool stop_at_two(void *context)
{
    size_t *asked = context;

    return ++*asked == POOL / BATCH + 2;
}

static void a_stopped_probe_sums_up_what_there_is(void **state)
{
    struct world      *w = *state;
    cull_probe_options o = ask();
    cull_probe_result  r = {0};
    size_t             asked = 0;

    o.stop = stop_at_two;
    o.context = &asked;
    assert_ok(cull_probe(w->recipe, &o, &r));
    assert_int_equal(2, r.batches);
    assert_true(r.arm[3].wins[0].trials == 2);
    cull_probe_clear(&r);
}

static void what_cannot_be_probed_is_refused(void **state)
{
    static const struct {
        const char *name, *why;
    } cases[] = {
        {"grad-match", "pool"},  {"sb mode=scaled", "at once"}, {"kath18", "keeps all"},
        {"rho", "scoring pass"}, {"sb gravity=1", "gravity"},   {"nobody", "nobody"},
        {"craig", "pool"},
    };
    struct world      *w = *state;
    cull_probe_options o = ask();
    cull_probe_result  r = {0};
    double             nothing = 0;

    o.strategies = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_status status = CULL_OK;

        o.strategy = &cases[i].name;
        status = cull_probe(w->recipe, &o, &r);
        if (status == CULL_OK || !strstr(cull_last_error(), cases[i].why))
            fail_msg("%s: %s", cases[i].name, cull_last_error());
    }
    o.strategy = all_names;
    o.keep = &nothing;
    o.keeps = 1;
    assert_fails(CULL_BAD_OPTION, "keep=0", cull_probe(w->recipe, &o, &r));
    o.keeps = 0;
    assert_fails(CULL_BAD_ARGUMENT, "share to keep", cull_probe(w->recipe, &o, &r));
}

static void survives_every_allocation_failure(void **state)
{
    struct world      *w = *state;
    cull_probe_options o = ask();
    cull_status        status = CULL_NO_MEMORY;

    o.batches = 1;
    for (size_t n = 1; status != CULL_OK; n += n < 40 ? 1 : 7) {
        cull_probe_result r = {0};

        fail_nth_alloc(n);
        status = cull_probe(w->recipe, &o, &r);
        if (!alloc_has_failed()) assert_ok(status);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        cull_probe_clear(&r);
    }
}

static void a_subset_leaves_the_same_share_of_every_class(void **state)
{
    struct world *w = *state;
    cull_trainer *t = NULL;
    size_t        of_class[CLASSES] = {0};

    open_recipe(w, "data.subset", "0.5");
    assert_ok(cull_trainer_create(&w->recipe->setup, false, &t));
    assert_int_equal(POOL / 2, t->sets.train->count);
    assert_int_equal(POOL - 1, t->sets.test->count);
    for (size_t i = 0; i < t->sets.train->count; i++) /* as before labels were harmed */
        of_class[t->sets.train->origin[i] % CLASSES]++;
    for (size_t k = 0; k < CLASSES; k++) assert_int_equal(POOL / 2 / CLASSES, of_class[k]);
    cull_trainer_destroy(t);
}

/* ---- audits ---- */

static void an_audit_ranks_every_example(void **state)
{
    struct world      *w = *state;
    cull_audit_result  r = {0};
    cull_evaluation    e = {0};
    char               weights[128];
    cull_trainer      *t = NULL;
    cull_writer        bytes = {0};
    cull_audit_options o = {.weights = weights};

    (void)snprintf(weights, sizeof weights, "%s/start.safetensors", w->folder);
    assert_ok(cull_trainer_create(&w->recipe->setup, false, &t));
    assert_ok(cull_weights_encode(t->learner.model, t->learner.params, NULL, &bytes));
    assert_ok(cull_file_write(weights, bytes.data, bytes.size));
    assert_ok(cull_audit(w->recipe, &o, &r));
    assert_ok(cull_evaluate(w->recipe, weights, "train", &e));
    assert_int_equal(POOL, r.count);
    assert_true(fabs(r.accuracy - e.accuracy) < 1e-12);
    assert_true(fabs(r.loss - e.loss) < 1e-9);
    for (size_t i = 1; i < CULL_AUDIT_POINTS; i++)
        assert_true(r.confidence[i] >= r.confidence[i - 1]);
    assert_true(r.confidence[0] > 0 && r.confidence[CULL_AUDIT_POINTS - 1] < 1);
    assert_true(r.base.hits == POOL / 4 && r.wrong_hard.trials == 10);
    assert_false(r.selected);
    cull_writer_clear(&bytes);
    cull_trainer_destroy(t);
}

/* Of weights that tell no class from another the choice is the first class, not the true one. */
static void an_audit_of_a_network_that_knows_nothing_is_no_better_than_that(void **state)
{
    struct world      *w = *state;
    cull_audit_result  r = {0};
    cull_evaluation    e = {0};
    char               weights[128];
    cull_trainer      *t = NULL;
    cull_writer        bytes = {0};
    cull_audit_options o = {.weights = weights};
    uint64_t           header = 0;

    (void)snprintf(weights, sizeof weights, "%s/nothing.safetensors", w->folder);
    assert_ok(cull_trainer_create(&w->recipe->setup, false, &t));
    assert_ok(cull_weights_encode(t->learner.model, t->learner.params, NULL, &bytes));
    memcpy(&header, bytes.data, sizeof header);
    memset((char *)bytes.data + sizeof header + header, 0, bytes.size - sizeof header - header);
    assert_ok(cull_file_write(weights, bytes.data, bytes.size));
    assert_ok(cull_audit(w->recipe, &o, &r));
    assert_ok(cull_evaluate(w->recipe, weights, "train", &e));
    assert_true(fabs(r.loss - log(CLASSES)) < 1e-6);
    assert_true(fabs(r.accuracy - e.accuracy) < 1e-12);
    assert_true(r.accuracy > .1 && r.accuracy < .6);
    cull_writer_clear(&bytes);
    cull_trainer_destroy(t);
}

static void an_audit_shows_the_easiest_and_the_hardest(void **state)
{
    struct world      *w = *state;
    cull_audit_result  r = {0};
    cull_arrays       *arrays = NULL;
    cull_tensor        images = {0}, loss = {0}, kind = {0}, label = {0}, place = {0};
    const char        *path = path_in(w->folder, "audit.npz");
    cull_audit_options o = {.examples = 4, .path = path};
    cull_dataset      *set = NULL;

    assert_ok(cull_audit(w->recipe, &o, &r));
    assert_ok(cull_arrays_open(path, &arrays));
    assert_ok(cull_arrays_get(arrays, "images", &images));
    assert_ok(cull_arrays_get(arrays, "loss", &loss));
    assert_ok(cull_arrays_get(arrays, "kind", &kind));
    assert_ok(cull_arrays_get(arrays, "label", &label));
    assert_ok(cull_arrays_get(arrays, "place", &place));
    assert_int_equal(8, images.shape[0]);
    assert_int_equal(SIDE, images.shape[1]);
    assert_int_equal(1, images.shape[3]);
    for (size_t i = 0; i < 8; i++) assert_int_equal(i >= 4, ((uint8_t *)kind.data)[i]);
    for (size_t i = 1; i < 4; i++) {
        assert_true(((double *)loss.data)[i] >= ((double *)loss.data)[i - 1]);
        assert_true(((double *)loss.data)[4 + i] <= ((double *)loss.data)[3 + i]);
    }
    assert_ok(open_set(w->set, CULL_DATA_TRAIN, NULL, &set));
    assert_memory_equal((uint8_t *)cull_data_base(set) + ((int32_t *)place.data)[5] * SIDE * SIDE,
                        (uint8_t *)images.data + 5 * SIDE * SIDE, SIDE * SIDE);
    cull_data_close(set);
    cull_arrays_close(arrays);
}

static void an_audit_counts_what_a_run_trained(void **state)
{
    struct world      *w = *state;
    cull_audit_result  r = {0};
    int32_t            count[POOL] = {0};
    cull_array         array = {"count", cull_vector(count, CULL_I32, POOL)};
    const char        *selection = path_in(w->folder, "selection.npz");
    const char        *path = path_in(w->folder, "audit.npz");
    cull_audit_options o = {.selection = selection, .path = path};
    cull_arrays       *arrays = NULL;
    cull_tensor        never = {0};

    for (int i = 0; i < POOL; i++) count[i] = i % 3 == 0 ? 0 : 5 + (i == 1) * 90;
    assert_ok(cull_arrays_write(selection, &array, 1));
    assert_ok(cull_audit(w->recipe, &o, &r));
    assert_true(r.selected);
    assert_int_equal(POOL / 3, r.never);
    assert_int_equal(95, r.most);
    assert_int_equal(3, r.width);
    assert_int_equal(POOL / 3, r.times[0]);
    assert_int_equal(2 * POOL / 3 - 1, r.times[1]);
    assert_int_equal(1, r.times[31]);
    assert_true(r.wrong_picks.trials == 5 * (2 * POOL / 3) + 90);
    assert_ok(cull_arrays_open(path, &arrays));
    assert_ok(cull_arrays_get(arrays, "never", &never));
    assert_int_equal(POOL / 3, never.shape[0]);
    assert_int_equal(3, ((int32_t *)never.data)[1]);
    cull_arrays_close(arrays);
    array.tensor = cull_vector(count, CULL_I32, POOL - 1);
    assert_ok(cull_arrays_write(selection, &array, 1));
    assert_fails(CULL_BAD_FILE, "96 training examples", cull_audit(w->recipe, &o, &r));
    o.set = "test";
    assert_fails(CULL_BAD_ARGUMENT, "training set", cull_audit(w->recipe, &o, &r));
    o.set = "validation";
    assert_fails(CULL_UNKNOWN_SET, "no set", cull_audit(w->recipe, &o, &r));
}

static void audits_survive_every_allocation_failure(void **state)
{
    struct world      *w = *state;
    cull_audit_options o = {.path = path_in(w->folder, "audit.npz")};
    cull_status        status = CULL_NO_MEMORY;

    for (size_t n = 1; status != CULL_OK; n++) {
        cull_audit_result r = {0};

        fail_nth_alloc(n);
        status = cull_audit(w->recipe, &o, &r);
        if (!alloc_has_failed()) assert_ok(status);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_are_wilsons),
        cmocka_unit_test(spreads_are_quantiles_of_what_is_there),
        cmocka_unit_test(gaps_are_distance_angle_and_signs),
        cmocka_unit_test_setup_teardown(a_probe_sums_up_its_batches, begin, end),
        cmocka_unit_test_setup_teardown(matching_is_nearest_over_the_last_layer, begin, end),
        cmocka_unit_test_setup_teardown(full_errs_as_its_batch_and_random_more, begin, end),
        cmocka_unit_test_setup_teardown(wrong_labels_are_counted_among_the_picks, begin, end),
        cmocka_unit_test_setup_teardown(the_network_sees_the_same_batches_again, begin, end),
        cmocka_unit_test_setup_teardown(a_folder_gets_a_line_for_every_pick_and_arm, begin, end),
        cmocka_unit_test_setup_teardown(a_stopped_probe_sums_up_what_there_is, begin, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_probed_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_subset_leaves_the_same_share_of_every_class, begin, end),
        cmocka_unit_test_setup_teardown(survives_every_allocation_failure, begin, end),
        cmocka_unit_test_setup_teardown(an_audit_ranks_every_example, begin, end),
        cmocka_unit_test_setup_teardown(
            an_audit_of_a_network_that_knows_nothing_is_no_better_than_that, begin, end),
        cmocka_unit_test_setup_teardown(an_audit_shows_the_easiest_and_the_hardest, begin, end),
        cmocka_unit_test_setup_teardown(an_audit_counts_what_a_run_trained, begin, end),
        cmocka_unit_test_setup_teardown(audits_survive_every_allocation_failure, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
