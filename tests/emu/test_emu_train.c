/*
 * tests/emu/test_emu_train.c - whole runs on the CUDA backend, over the imitation of the runtime:
 * they come out near those on `ref`, their steps are recorded, and a run that was stopped and goes
 * on leaves what one in one go leaves, to the bit.
 */
#include "emu.h"
#include "train/train.h"
#include "unit/policy_support.h"

#define LAYERS                                                                                     \
    "model.name=layers "                                                                           \
    "model.layers=[{\"conv\":{\"channels\":4,\"kernel\":3}},\"batchnorm\",\"relu\","               \
    "{\"residual\":[{\"conv\":{\"channels\":4,\"kernel\":1}},\"relu6\"]},{\"add\":[[],[{"          \
    "\"groupnorm\":2}]]},"                                                                         \
    "{\"maxpool\":2},{\"concat\":[[{\"shortcut\":6}],[\"gelu\"]]},{\"avgpool\":[1,2]},"            \
    "\"layernorm\",{\"dropout\":0.2},\"globalpool\",{\"dense\":7},\"flatten\",\"dense\"]"

/* Most weights are those of a convolution in the later half. */
#define CONVOLUTIONS                                                                               \
    "model.name=layers model.layers=[{\"conv\":{\"channels\":4,\"kernel\":3}},\"relu\","           \
    "{\"conv\":{\"channels\":8,\"kernel\":3}},\"batchnorm\",\"relu\",{\"conv\":{\"channels\":16,"  \
    "\"kernel\":3}},\"relu\",\"globalpool\",\"dense\"]"
#define DIVERGES                                                                                   \
    "model.name=lenet5 optim.lr=1000 optim.momentum=0.99 train.epochs=200 schedule.name=constant"

/* bfloat16 rounds to 2^-9; a choice may fall another way for it. */
#define NEAR      1e-3
#define NEAR_BF16 1e-2

struct kind {
    const char *changes;
    bool        recorded;
};

static const struct kind kinds[] = {
    {"optim.name=adamw optim.lr=0.01 optim.clip=0.5 model.name=lenet5", true},
    {LAYERS, true},
    {LAYERS " train.precision=bfloat16", true},
    {LAYERS " select.strategy=sb select.keep=0.4 score.pass=reuse train.precision=bfloat16", true},
    {"select.strategy=sb select.keep=0.4", true},
    {"select.strategy=sb select.keep=0.4 score.precision=bf16", true},
    {"select.strategy=sb+remembered select.keep=0.4 select.percentile=pool select.trim=0.2", true},
    {"select.strategy=sb+stale select.keep=0.4 select.predict=trend", true},
    {"select.strategy=top-loss select.keep=0.5 model.name=lenet5", true},
    {"select.strategy=gradmatch select.keep=0.4 score.pass=reuse", true},
    {"select.strategy=gradmatch select.keep=0.4 select.match=validation data.validation=0.3", true},
    {"select.strategy=divbs select.keep=0.4", true},
    {"select.strategy=grad-match select.keep=0.5 select.period=1", true},
    {"select.strategy=craig select.keep=0.5 select.period=1", true},
    {"select.strategy=glister select.keep=0.5 select.period=1 data.validation=0.2", true},
    {"select.strategy=kath18 select.keep=0.5", true},
    {"select.strategy=sb-stream select.history=40", true},
    {"model.loss=squared-error select.strategy=sb select.keep=0.4 score.pass=reuse", true},
    {"model.loss=binary-cross-entropy select.strategy=gradmatch select.keep=0.4", true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };
#ifdef CULL_SANITIZED
enum { EACH = 4 }; /* some of them say as much */
#else
enum { EACH = 1 };
#endif

static bool stops(void *context)
{
    return ++*(size_t *)context == 4;
}

static cull_recipe *recipe_on(const struct world *w, const char *backend, const char *changes)
{
    char words[900];

    (void)snprintf(words, sizeof words, "train.backend=%s train.log=2 train.batch=7 %s", backend,
                   changes);
    return recipe_of(w, words);
}

/* A run that is left in a folder, in two parts where it is to stop. */
static cull_run_result run_on(const struct world *w, const char *backend, const char *changes,
                              const char *folder, bool parts)
{
    size_t           steps = 0;
    cull_recipe     *recipe = recipe_on(w, backend, changes);
    cull_run_result  result = {0};
    cull_run_options options = {
        .folder = path_in(w->folder, folder), .stop = parts ? stops : NULL, .context = &steps};
    cull_status status = cull_train(recipe, &options, &result);

    if (parts && status == CULL_OK) {
        assert_int_equal(CULL_RUN_STOPPED, result.end);
        options.stop = NULL;
        options.resume = true;
        status = cull_train(recipe, &options, &result);
    }
    if (status != CULL_OK) fail_msg("%s: %s", changes, cull_last_error());
    cull_recipe_close(recipe);
    return result;
}

/* What only devices have is last among the changes. */
static const char *without_bf16(const char *changes, char plain[900])
{
    const char *precision = strstr(changes, " train.precision=bfloat16");

    if (!precision) precision = strstr(changes, " score.precision=bf16");
    (void)snprintf(plain, 900, "%.*s",
                   (int)(precision ? precision - changes : (ptrdiff_t)strlen(changes)), changes);
    return plain;
}

static void runs_come_out_near_those_on_ref(void **state)
{
    const struct world *w = *state;

    for (size_t k = 0; k < KINDS; k += EACH) {
        char            plain[900];
        cull_run_result right =
            run_on(w, "ref", without_bf16(kinds[k].changes, plain), "ref", false);
        size_t          replays = emu_replays();
        cull_run_result got = run_on(w, "emu", kinds[k].changes, "emu", false);
        double          near = strlen(plain) < strlen(kinds[k].changes) ? NEAR_BF16 : NEAR;

        if (!(fabs(got.loss - right.loss) <= near * fabs(right.loss)))
            fail_msg("%s: loss %g, on ref %g", kinds[k].changes, got.loss, right.loss);
        if ((emu_replays() - replays > 1) != kinds[k].recorded)
            fail_msg("%s: %zu steps as recorded", kinds[k].changes, emu_replays() - replays);
        remove_folder(path_in(w->folder, "ref"));
        remove_folder(path_in(w->folder, "emu"));
    }
}

/* ---- the same to the bit ---- */

static void assert_same_bytes(const struct world *w, const char *one, const char *other)
{
    void  *a = NULL, *b = NULL;
    size_t m = 0, n = 0;

    assert_ok(cull_file_read(path_in(w->folder, one), &a, &m));
    assert_ok(cull_file_read(path_in(w->folder, other), &b, &n));
    if (m != n || memcmp(a, b, n) != 0) fail_msg("%s and %s differ", one, other);
    cull_bytes_release(a);
    cull_bytes_release(b);
}

static void assert_same_runs(const struct world *w, const cull_run_result *a,
                             const cull_run_result *b)
{
    char one[96], other[96];

    assert_string_equal(a->weights, b->weights);
    assert_true(a->accuracy == b->accuracy && a->loss == b->loss && a->test == b->test);
    (void)snprintf(one, sizeof one, "one/%s", a->weights);
    (void)snprintf(other, sizeof other, "other/%s", b->weights);
    assert_same_bytes(w, one, other);
    assert_same_bytes(w, "one/selection.npz", "other/selection.npz");
    remove_folder(path_in(w->folder, "one"));
    remove_folder(path_in(w->folder, "other"));
}

/* Other steps of the two are recorded. */
static void a_run_that_goes_on_leaves_the_same(void **state)
{
    const struct world *w = *state;

    for (size_t k = 1; k < KINDS; k += 6 * EACH) {
        cull_run_result one = run_on(w, "emu", kinds[k].changes, "one", false);
        cull_run_result other = run_on(w, "emu", kinds[k].changes, "other", true);

        assert_same_runs(w, &one, &other);
    }
}

/* ---- weights that are changed while others' gradients are still made ---- */

/* The imitation does what went beside first, unless it has to wait. */
static void weights_changed_meanwhile_are_the_same(void **state)
{
    static const char *const changes[] = {
        "model.name=lenet5",
        CONVOLUTIONS,
        LAYERS " train.precision=bfloat16",
        CONVOLUTIONS " select.strategy=sb select.keep=0.4 score.pass=reuse",
        "optim.name=adamw optim.lr=0.01 select.strategy=sb+remembered select.keep=0.4",
    };
    const struct world *w = *state;

    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        size_t          launches = emu_launches(), parts = 0;
        cull_run_result one = run_on(w, "emu", changes[k], "one", false), other;

        parts = emu_launches() - launches;
        launches = emu_launches();
        assert_int_equal(0, setenv("CULL_CUDA_BESIDE", "gradients", 1));
        other = run_on(w, "emu", changes[k], "other", false);
        assert_int_equal(0, unsetenv("CULL_CUDA_BESIDE"));
        if (parts <= emu_launches() - launches)
            fail_msg("%s: no weights are changed meanwhile", changes[k]);
        assert_same_runs(w, &one, &other);
    }
}

/* Where the layers that go back later have no weights, all of them would be changed twice. */
static void weights_of_the_last_layer_alone_are_changed_once(void **state)
{
    static const char last[] =
        "model.name=layers model.layers=[{\"maxpool\":2},\"flatten\",\"dense\"]";
    const struct world *w = *state;
    cull_run_result     one = run_on(w, "emu", last, "one", false), other;

    assert_int_equal(0, setenv("CULL_CUDA_BESIDE", "gradients", 1));
    other = run_on(w, "emu", last, "other", false);
    assert_int_equal(0, unsetenv("CULL_CUDA_BESIDE"));
    assert_same_runs(w, &one, &other);
}

static void fetch_weights(const cull_trainer *t, float *out)
{
    const cull_params *p = t->learner.params;

    assert_ok(cull_backend_download(t->backend, out, p->value, p->count * sizeof *out));
}

/* Of all steps until one breaks: that one leaves all of them alone. */
static void no_part_of_a_broken_step_reaches_the_weights(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe = recipe_on(w, "emu", DIVERGES);
    cull_trainer       *t = NULL;
    cull_step_values    v = {0};
    cull_status         status = CULL_OK;
    float              *before = NULL, *after = NULL;
    size_t              count = 0, steps = 0;

    assert_ok(cull_trainer_create(&recipe->setup, true, &t));
    count = t->learner.params->count;
    before = calloc(count, sizeof *before);
    after = calloc(count, sizeof *after);
    for (uint64_t epoch = 0; status == CULL_OK && epoch < 50; epoch++) {
        assert_ok(cull_train_enter_epoch(t, epoch, &v.asked.needs));
        cull_meter_start(&t->books.meter);
        for (int i = 0; i < 8 && status == CULL_OK; i++, steps++) {
            fetch_weights(t, before);
            assert_ok(cull_train_step(t, &v));
            fetch_weights(t, after);
            status = cull_books_settle(&t->books, &t->learner, &t->progress);
        }
    }
    assert_int_equal(CULL_NOT_FINITE, status);
    assert_true(steps > 1);
    assert_memory_equal(before, after, count * sizeof *before);
    free(before);
    free(after);
    cull_trainer_destroy(t);
    cull_recipe_close(recipe);
}

/* ---- devices that fail ---- */

#define FAILING "select.strategy=sb select.keep=0.4 train.checkpoint_steps=1 train.epochs=1"
enum { LOSSES = 6 };

/* Whenever it is lost, the run ends, and goes on where it was saved. */
static void a_run_outlives_its_device(void **state)
{
    const struct world *w = *state;
    size_t              calls = emu_calls(), lost = 0;
    cull_run_result     right = run_on(w, "emu", FAILING, "one", false);

    calls = emu_calls() - calls;
    for (size_t nth = 1; nth < calls; nth += calls / LOSSES) {
        cull_recipe     *recipe = recipe_on(w, "emu", FAILING);
        cull_run_result  result = {0};
        cull_run_options options = {.folder = path_in(w->folder, "other"), .resume = false};
        cull_status      status = CULL_OK;

        emu_lose_device(nth);
        status = cull_train(recipe, &options, &result);
        emu_lose_device(0);
        if (status != CULL_DEVICE && status != CULL_UNSUPPORTED && status != CULL_OK)
            fail_msg("lost at call %zu of %zu: %s", nth, calls, cull_last_error());
        lost += status != CULL_OK; /* at the end everything is saved already */
        options.resume = true;
        if (status != CULL_OK) assert_ok(cull_train(recipe, &options, &result));
        cull_recipe_close(recipe);
        assert_true(result.loss == right.loss && result.test == right.test);
        assert_string_equal(result.weights, right.weights);
        remove_folder(path_in(w->folder, "other"));
    }
    assert_true(lost > LOSSES - 3);
    remove_folder(path_in(w->folder, "one"));
}

static void a_run_says_that_memory_ends(void **state)
{
    const struct world *w = *state;
    cull_status         status = CULL_NO_MEMORY;

    for (size_t nth = 1; status != CULL_OK; nth += 7) {
        cull_recipe     *recipe = recipe_on(w, "emu", FAILING);
        cull_run_result  result = {0};
        cull_run_options options = {.folder = path_in(w->folder, "one")};

        emu_fail_malloc(nth);
        status = cull_train(recipe, &options, &result);
        emu_fail_malloc(0);
        if (status != CULL_OK && status != CULL_NO_MEMORY)
            fail_msg("from array %zu on: %s", nth, cull_last_error());
        cull_recipe_close(recipe);
        remove_folder(path_in(w->folder, "one"));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, remove_world)
    const struct CMUnitTest tests[] = {
        TEST(runs_come_out_near_those_on_ref),
        TEST(a_run_that_goes_on_leaves_the_same),
        TEST(weights_changed_meanwhile_are_the_same),
        TEST(weights_of_the_last_layer_alone_are_changed_once),
        TEST(no_part_of_a_broken_step_reaches_the_weights),
        TEST(a_run_outlives_its_device),
        TEST(a_run_says_that_memory_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
