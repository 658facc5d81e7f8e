/*
 * tests/far/test_far_network.c - a network where memory is elsewhere, in lockstep with one on
 * `ref`: all that it hands out, keeps, writes and refuses is the same, bit for bit.
 */
#include <math.h>

#include "backend/backend.h"
#include "base/alloc.h"
#include "files.h"
#include "tensor/tensor.h"

enum { COUNT = 24, SIDE = 6, CHANNELS = 2, ROW = CHANNELS * SIDE * SIDE, CLASSES = 3, MANY = 40 };

static const unsigned everything =
    CULL_SIGNAL_LOSS | CULL_SIGNAL_LABEL | CULL_SIGNAL_P | CULL_SIGNAL_H;
static const cull_scoring keeping = {.keep = true};

static double   pixels[COUNT * ROW];
static float    floats[COUNT * ROW];
static uint8_t  bytes[COUNT * ROW];
static int32_t  labels[COUNT];
static uint32_t places[COUNT];

/* On ref and on far. */
struct pair {
    cull_backend *backend[2];
    cull_network *network[2];
    char          folder[64];
};

static int make_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT * ROW; i++) {
        pixels[i] = 0.5 * random_normal(3, i);
        floats[i] = (float)pixels[i];
        bytes[i] = (uint8_t)(i * 37 % 256);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        labels[i] = (int32_t)(i % CLASSES);
        places[i] = 500 - 3 * i;
    }
    return 0;
}

static cull_examples examples_as(cull_dtype dtype, uint64_t step)
{
    const void *data = dtype == CULL_F64   ? (void *)pixels
                       : dtype == CULL_F32 ? (void *)floats
                                           : (void *)bytes;

    return (cull_examples){.inputs = cull_images(data, dtype, COUNT, CHANNELS, SIDE, SIDE),
                           .label = cull_vector(labels, CULL_I32, COUNT),
                           .place = places,
                           .step = step,
                           .epoch = step / 4};
}

/* With averages, and with masks that depend on places. */
static cull_model *make_model(int64_t channels)
{
    cull_model *m = NULL;
    int         x = 0;

    assert_ok(cull_model_create("small", CHANNELS, SIDE, SIDE, &m));
    x = cull_model_conv(m, 0, "conv", &(cull_conv){.out = channels, .kernel = 3, .pad = 1});
    x = cull_model_activate(m, cull_model_batchnorm(m, x, "bn"), CULL_RELU);
    x = cull_model_flatten(m, cull_model_pool(m, x, &(cull_pool){.kernel = 2}));
    x = cull_model_dropout(m, x, 0.25);
    x = cull_model_dense(m, x, "logits", &(cull_dense){.out = CLASSES});
    assert_ok(cull_model_finish(m, x));
    return m;
}

static void open_pair(struct pair *p, const cull_option *options, size_t count)
{
    static const char *const name[] = {"ref", "far"};
    cull_model              *m = make_model(4);

    *p = (struct pair){.folder = FOLDER_TEMPLATE};
    assert_non_null(mkdtemp(p->folder));
    for (int i = 0; i < 2; i++) {
        assert_ok(cull_backend_open(name[i], 1, &p->backend[i]));
        assert_ok(cull_network_create(m, p->backend[i], options, count, &p->network[i]));
    }
    cull_model_destroy(m);
}

static int begin_with(void **state, const cull_option *options, size_t count)
{
    struct pair *p = malloc(sizeof *p);

    assert_non_null(p);
    open_pair(p, options, count);
    *state = p;
    return 0;
}

static int begin(void **state)
{
    static const cull_option options[] = {
        {"train.seed", "7"}, {"optim.momentum", "0.9"}, {"model.smoothing", "0.1"}};

    return begin_with(state, options, 3);
}

static int begin_double(void **state)
{
    static const cull_option options[] = {{"dtype", "float64"}, {"optim.name", "adamw"}};

    return begin_with(state, options, 2);
}

static int begin_clipped(void **state)
{
    static const cull_option options[] = {{"optim.clip", "1"}, {"optim.name", "adamw"}};

    return begin_with(state, options, 2);
}

static int end(void **state)
{
    struct pair *p = *state;

    for (int i = 0; i < 2; i++) {
        cull_network_destroy(p->network[i]);
        cull_backend_close(p->backend[i]);
    }
    remove_folder(p->folder);
    free(p);
    return 0;
}

/* ---- held against each other ---- */

/* The first lies on the host, the second there. */
static void same_array(const struct pair *p, const void *a, const void *b, size_t size)
{
    void *copy = malloc(size);

    assert_non_null(copy);
    assert_ok(cull_backend_download(p->backend[1], copy, b, size));
    assert_memory_equal(a, copy, size);
    free(copy);
}

static void lie_apart(const struct pair *p, cull_device a, cull_device b)
{
    assert_int_equal(0, a.kind);
    assert_true(cull_device_same(b, cull_backend_device(p->backend[1])));
}

static void same_tensor(const struct pair *p, const cull_tensor *a, const cull_tensor *b)
{
    size_t size = cull_dtype_size(a->dtype);

    assert_int_equal(a->data == NULL, b->data == NULL);
    if (!a->data) return;
    lie_apart(p, a->device, b->device);
    assert_int_equal(a->dtype, b->dtype);
    assert_int_equal(a->dims, b->dims);
    for (int d = 0; d < a->dims; d++) {
        assert_int_equal(a->shape[d], b->shape[d]);
        size *= (size_t)a->shape[d];
    }
    same_array(p, a->data, b->data, size);
}

static void same_signals(const struct pair *p, const cull_signals s[2])
{
    lie_apart(p, s[0].device, s[1].device);
    assert_int_equal(s[0].count, s[1].count);
    assert_int_equal(s[0].step, s[1].step);
    assert_int_equal(s[0].epoch, s[1].epoch);
    same_array(p, s[0].place, s[1].place, s[0].count * sizeof *s[0].place);
    same_tensor(p, &s[0].loss, &s[1].loss);
    same_tensor(p, &s[0].label, &s[1].label);
    same_tensor(p, &s[0].h, &s[1].h);
    same_tensor(p, &s[0].p, &s[1].p);
}

static void same_gradients(const struct pair *p)
{
    const char *name = NULL;
    cull_tensor g[2] = {0};

    for (size_t i = 0; i == 0 || name; i++) { /* NULL, at the end: all of them */
        name = cull_network_parameter_at(p->network[0], i);
        for (int n = 0; n < 2; n++) assert_ok(cull_network_gradient(p->network[n], name, &g[n]));
        same_tensor(p, &g[0], &g[1]);
    }
}

/* Weights, averages and optimizers. */
static void same_networks(const struct pair *p)
{
    cull_tensor all[2] = {0};
    void       *saved[2] = {NULL};
    size_t      size[2] = {0};

    for (int i = 0; i < 2; i++) {
        assert_ok(cull_network_parameter(p->network[i], NULL, &all[i]));
        assert_ok(cull_network_save(p->network[i], &saved[i], &size[i]));
    }
    same_tensor(p, &all[0], &all[1]);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(saved[0], saved[1], size[0]);
    for (int i = 0; i < 2; i++) cull_bytes_release(saved[i]);
}

/* Both fail alike, and with this in the sentence. */
#define assert_fail_alike(code, text, call)                                                        \
    do {                                                                                           \
        char sentence_[512];                                                                       \
        for (int i = 0; i < 2; i++) {                                                              \
            assert_fails(code, text, call);                                                        \
            if (i) assert_string_equal(sentence_, cull_last_error());                              \
            (void)snprintf(sentence_, sizeof sentence_, "%s", cull_last_error());                  \
        }                                                                                          \
    } while (0)

/* Both do it. */
#define assert_both(call)                                                                          \
    do {                                                                                           \
        for (int i = 0; i < 2; i++) assert_ok(call);                                               \
    } while (0)

static void learn_and_step(const struct pair *p, uint64_t step)
{
    cull_examples e = examples_as(CULL_F32, step);
    cull_signals  trained[2] = {{0}};

    assert_both(cull_network_learn(p->network[i], &e, NULL, &trained[i]));
    same_signals(p, trained);
    same_gradients(p);
    assert_both(cull_network_step(p->network[i], 0.05));
}

/* ---- passes ---- */

static void scores_are_the_same(void **state)
{
    static const cull_dtype dtypes[] = {CULL_F32, CULL_F64, CULL_U8};
    const struct pair      *p = *state;
    cull_signals            s[2] = {{0}};

    for (uint64_t step = 0; step < 3; step++) {
        cull_examples e = examples_as(dtypes[step], step);

        assert_both(cull_network_score(p->network[i], &e, everything, false, &s[i]));
        same_signals(p, s);
        assert_both(cull_network_score(p->network[i], &e, everything, true, &s[i]));
        same_signals(p, s);
        assert_both(cull_network_score(p->network[i], &e, CULL_SIGNAL_LOSS, false, &s[i]));
        assert_null(s[1].h.data);
        same_signals(p, s);
        assert_both(cull_network_score_as(p->network[i], &e, everything, &keeping, &s[i]));
        same_signals(p, s);
        same_networks(p); /* averages have moved on */
        learn_and_step(p, step);
    }
    same_networks(p);
}

/* Of the latest signals, by selectors that work where the networks do. */
static void choose(const struct pair *p, cull_selector *selector[2], const cull_signals s[2],
                   cull_subset chosen[2])
{
    assert_both(cull_select(selector[i], &s[i], 0, &chosen[i]));
    lie_apart(p, chosen[0].device, chosen[1].device);
    assert_int_equal(chosen[0].count, chosen[1].count);
    same_array(p, chosen[0].index, chosen[1].index, chosen[0].count * sizeof *chosen[0].index);
}

static void open_selectors(const struct pair *p, cull_selector *out[2])
{
    for (int i = 0; i < 2; i++) {
        cull_setting setting = {
            .pool = 501, .batch = COUNT, .epochs = 2, .seed = 5, .backend = p->backend[i]};

        out[i] = make_selector("gradmatch", "keep=0.5", &setting);
    }
}

static void close_selectors(cull_selector *selector[2], cull_subset chosen[2])
{
    for (int i = 0; i < 2; i++) {
        cull_subset_clear(&chosen[i]);
        cull_selector_destroy(selector[i]);
    }
}

/* On far the subset lies there, and every second time on the host. */
static void a_loop_with_a_selector_is_the_same(void **state)
{
    const struct pair *p = *state;
    cull_selector     *selector[2];
    cull_subset        chosen[2] = {{0}};
    cull_signals       s[2] = {{0}}, trained[2] = {{0}};

    open_selectors(p, selector);
    for (uint64_t step = 0; step < 8; step++) {
        cull_examples e = examples_as(step % 3 ? CULL_F32 : CULL_U8, step);
        cull_subset  *subset[2] = {&chosen[0], &chosen[step % 2]};

        assert_both(cull_network_score(p->network[i], &e, everything, false, &s[i]));
        choose(p, selector, s, chosen);
        assert_both(cull_network_look(p->network[i], &e, subset[i], &trained[i]));
        same_signals(p, trained);
        same_gradients(p);
        same_networks(p);
        assert_both(cull_network_learn(p->network[i], &e, subset[i], &trained[i]));
        same_signals(p, trained);
        same_gradients(p);
        assert_both(cull_observe(selector[i], &trained[i]));
        assert_both(cull_network_step(p->network[i], 0.05));
        same_networks(p);
    }
    close_selectors(selector, chosen);
}

/* Rows more than once, and more of them than were scored. */
static cull_subset many_rows(void)
{
    static uint32_t index[MANY];
    static double   weight[MANY];

    for (uint32_t i = 0; i < MANY; i++) {
        index[i] = i * COUNT / MANY;
        weight[i] = 0.25 * (i % 5);
    }
    return (cull_subset){.count = MANY, .index = index, .weight = weight};
}

static void kept_rows_are_learned_alike(void **state)
{
    const struct pair *p = *state;
    cull_selector     *selector[2];
    cull_subset        chosen[2] = {{0}}, many = many_rows();
    cull_signals       s[2] = {{0}}, trained[2] = {{0}};

    open_selectors(p, selector);
    for (uint64_t step = 0; step < 3; step++) {
        cull_examples      e = examples_as(CULL_F32, step);
        const cull_subset *subsets[][2] = {{NULL, NULL},
                                           {&chosen[0], &chosen[1]},
                                           {&many, &many},
                                           {&chosen[0], &chosen[0]},
                                           {NULL, NULL}};

        assert_both(cull_network_score_as(p->network[i], &e, everything, &keeping, &s[i]));
        choose(p, selector, s, chosen);
        for (size_t k = 0; k < sizeof subsets / sizeof *subsets; k++) {
            assert_both(cull_network_learn_kept(p->network[i], subsets[k][i], &trained[i]));
            same_signals(p, trained);
            same_gradients(p);
        }
        assert_both(cull_network_step(p->network[i], 0.05));
        same_networks(p);
    }
    close_selectors(selector, chosen);
}

static void predictions_are_the_same(void **state)
{
    const struct pair *p = *state;
    cull_tensor        x = examples_as(CULL_F32, 0).inputs;
    float              z[2][COUNT * CLASSES], share[2][COUNT * CLASSES];
    double             wide[2][COUNT * CLASSES];

    learn_and_step(p, 0);
    assert_both(cull_network_predict(p->network[i], &x, z[i], share[i]));
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    assert_memory_equal(share[0], share[1], sizeof share[0]);
    for (int running = 0; running < 2; running++) {
        cull_tensor out[2] = {cull_matrix(wide[0], CULL_F64, COUNT, CLASSES),
                              cull_matrix(wide[1], CULL_F64, COUNT, CLASSES)};

        assert_both(cull_network_logits(p->network[i], &x, running, &out[i]));
        assert_memory_equal(wide[0], wide[1], sizeof wide[0]);
    }
}

/* ---- files and states ---- */

static void weights_go_from_one_to_the_other(void **state)
{
    const struct pair *p = *state;
    const char        *path = path_in(p->folder, "weights.safetensors");
    cull_model        *m = make_model(5);
    cull_network      *other = NULL;
    void              *before = NULL, *after = NULL;
    size_t             size[2] = {0};

    learn_and_step(p, 0);
    assert_ok(cull_network_write(p->network[1], path));
    learn_and_step(p, 1);
    assert_both(cull_network_read(p->network[i], path));
    same_networks(p);
    learn_and_step(p, 2);
    same_networks(p);

    /* those of another model change nothing */
    assert_ok(cull_network_create(m, p->backend[1], NULL, 0, &other));
    assert_ok(cull_network_write(other, path));
    assert_ok(cull_network_save(p->network[1], &before, &size[0]));
    assert_fail_alike(CULL_BAD_FILE, "shape", cull_network_read(p->network[i], path));
    assert_ok(cull_network_save(p->network[1], &after, &size[1]));
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(before, after, size[0]);
    cull_bytes_release(before);
    cull_bytes_release(after);
    cull_network_destroy(other);
    cull_model_destroy(m);
}

static void states_go_from_one_to_the_other(void **state)
{
    const struct pair *p = *state;

    for (int from = 0; from < 2; from++) {
        void  *saved = NULL;
        size_t size = 0;

        learn_and_step(p, 0);
        assert_ok(cull_network_save(p->network[from], &saved, &size));
        learn_and_step(p, 1);
        assert_both(cull_network_restore(p->network[i], saved, size));
        same_networks(p);
        learn_and_step(p, 2);
        same_networks(p);
        ((char *)saved)[size / 2] ^= 1;
        assert_fail_alike(CULL_BAD_STATE, "damaged",
                          cull_network_restore(p->network[i], saved, size));
        same_networks(p);
        cull_bytes_release(saved);
    }
}

/* ---- what is refused ---- */

static void what_is_not_finite_is_told_alike(void **state)
{
    const struct pair *p = *state;
    cull_examples      e = examples_as(CULL_F32, 0);
    cull_signals       s[2] = {{0}};
    void              *saved = NULL;
    size_t             size = 0;

    assert_ok(cull_network_save(p->network[0], &saved, &size));
    floats[5 * ROW + 2] = NAN;
    assert_fail_alike(CULL_NOT_FINITE, "number 2 of example 5",
                      cull_network_learn(p->network[i], &e, NULL, NULL));
    assert_fail_alike(CULL_NOT_FINITE, "number 2 of example 5",
                      cull_network_score(p->network[i], &e, everything, false, &s[i]));
    floats[5 * ROW + 2] = (float)pixels[5 * ROW + 2];
    learn_and_step(p, 0);

    /* weights that are far too large */
    assert_both(cull_network_learn(p->network[i], &e, NULL, NULL));
    assert_both(cull_network_step(p->network[i], 1e38));
    assert_fail_alike(CULL_NOT_FINITE, "no longer finite",
                      cull_network_learn(p->network[i], &e, NULL, NULL));
    assert_fail_alike(CULL_BAD_ARGUMENT, "no gradient", cull_network_step(p->network[i], 0.05));
    assert_fail_alike(CULL_NOT_FINITE, "no longer finite",
                      cull_network_look(p->network[i], &e, NULL, NULL));
    assert_both(cull_network_score_as(p->network[i], &e, 0, &keeping, &s[i]));
    assert_fail_alike(CULL_NOT_FINITE, "no longer finite",
                      cull_network_learn_kept(p->network[i], NULL, NULL));

    /* and all is well again with others */
    assert_both(cull_network_restore(p->network[i], saved, size));
    learn_and_step(p, 0);
    same_networks(p);
    cull_bytes_release(saved);
}

/* A gradient whose norm is infinite, while the losses are not. */
static void a_step_that_cannot_be_clipped_is_told_alike(void **state)
{
    const struct pair *p = *state;
    cull_examples      e = examples_as(CULL_F32, 0);
    uint32_t           index[] = {3, 9};
    double             weight[] = {1e300, 1};
    cull_subset        heavy = {.count = 2, .index = index, .weight = weight};

    learn_and_step(p, 0);
    assert_both(cull_network_learn(p->network[i], &e, &heavy, NULL));
    assert_fail_alike(CULL_NOT_FINITE, "gradient", cull_network_step(p->network[i], 0.05));
    same_networks(p);
    learn_and_step(p, 1);
    same_networks(p);
}

/* The same subset, there. */
static cull_subset put_there(cull_backend *far, const cull_subset *from)
{
    cull_subset to = {.backend = far, .device = cull_backend_device(far)};

    assert_ok(cull_subset_resize(&to, from->count));
    assert_ok(cull_backend_upload(far, to.index, from->index, from->count * sizeof *to.index));
    assert_ok(cull_backend_upload(far, to.weight, from->weight, from->count * sizeof *to.weight));
    to.groups = from->groups;
    return to;
}

static void wrong_subsets_are_named_wherever_they_lie(void **state)
{
    const struct pair *p = *state;
    cull_examples      e = examples_as(CULL_F32, 0);
    uint32_t           index[] = {3, COUNT};
    double             weight[] = {1, 1};
    cull_signals       s[2] = {{0}};
    cull_subset        wrong = {.count = 2, .index = index, .weight = weight}, there = {0};

    for (int round = 0; round < 3; round++) {
        const cull_subset *subset[2] = {&wrong, &there};
        const char        *text = round == 0 ? "row 24" : round == 1 ? "weight of row 4" : "groups";
        cull_status        code = round == 1 ? CULL_NOT_FINITE : CULL_BAD_ARGUMENT;

        there = put_there(p->backend[1], &wrong);
        assert_fail_alike(code, text, cull_network_learn(p->network[i], &e, subset[i], NULL));
        assert_both(cull_network_score_as(p->network[i], &e, 0, &keeping, &s[i]));
        assert_fail_alike(code, text, cull_network_learn_kept(p->network[i], subset[i], NULL));
        cull_subset_clear(&there);
        index[1] = 4;
        weight[1] = round == 0 ? NAN : 1;
        wrong.groups = round == 1 ? 2 : 0;
    }
    wrong.groups = 0;
    wrong.device = cull_backend_device(p->backend[1]);
    assert_fails(CULL_UNSUPPORTED, "the subset",
                 cull_network_learn(p->network[0], &e, &wrong, NULL));
    wrong.device.kind = 2;
    assert_fails(CULL_UNSUPPORTED, "the subset",
                 cull_network_learn(p->network[1], &e, &wrong, NULL));
}

/* ---- failing allocations ---- */

static cull_status live(cull_backend *far, const cull_model *m)
{
    cull_status   status = CULL_OK;
    cull_network *n = NULL;
    cull_examples e = examples_as(CULL_F32, 0);
    cull_subset   many = many_rows();
    cull_signals  s = {0};
    float         z[COUNT * CLASSES];
    void         *saved = NULL;
    size_t        size = 0;

    TRY(cull_network_create(m, far, NULL, 0, &n));
    TRY(cull_network_predict(n, &e.inputs, z, NULL));
    TRY(cull_network_score_as(n, &e, everything, &keeping, &s));
    TRY(cull_network_learn_kept(n, &many, &s));
    TRY(cull_network_learn(n, &e, &many, &s));
    TRY(cull_network_step(n, 0.1));
    TRY(cull_network_save(n, &saved, &size));
    TRY(cull_network_restore(n, saved, size));
done:
    cull_bytes_release(saved);
    cull_network_destroy(n);
    return status;
}

static void every_failing_allocation_is_survived(void **state)
{
    cull_model   *m = make_model(4);
    cull_backend *far = NULL;
    cull_status   status = CULL_NO_MEMORY;

    (void)state;
    assert_ok(cull_backend_open("far", 1, &far));
    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = live(far, m);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
    }
    cull_backend_close(far);
    cull_model_destroy(m);
}

#define LOCKSTEP(test) cmocka_unit_test_setup_teardown(test, begin, end)
#define DOUBLE(test)                                                                               \
    {                                                                                              \
#test "_in_double", test, begin_double, end, NULL                                          \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOCKSTEP(scores_are_the_same),
        LOCKSTEP(a_loop_with_a_selector_is_the_same),
        LOCKSTEP(kept_rows_are_learned_alike),
        LOCKSTEP(predictions_are_the_same),
        LOCKSTEP(weights_go_from_one_to_the_other),
        LOCKSTEP(states_go_from_one_to_the_other),
        LOCKSTEP(what_is_not_finite_is_told_alike),
        LOCKSTEP(wrong_subsets_are_named_wherever_they_lie),
        DOUBLE(scores_are_the_same),
        DOUBLE(a_loop_with_a_selector_is_the_same),
        DOUBLE(kept_rows_are_learned_alike),
        DOUBLE(predictions_are_the_same),
        DOUBLE(states_go_from_one_to_the_other),
        {"a_step_that_cannot_be_clipped_is_told_alike", a_step_that_cannot_be_clipped_is_told_alike,
         begin_clipped, end, NULL},
        cmocka_unit_test(every_failing_allocation_is_survived),
    };

    return cmocka_run_group_tests(tests, make_examples, NULL);
}
