/*
 * test_int8.c - scoring in 8 bits: how far a convolution may be off, that losses keep their order,
 * that nothing depends on threads or touches what is trained, and what is refused.
 */
#include <string.h>

#include "backend/cpu/nn_dnnl.h"
#include "base/alloc.h"
#include "policy_support.h"
#include "support.h"
#include "train/train.h"

enum { EXAMPLES = 64 };

/* ---- one convolution ---- */

struct shape {
    int64_t n, c, o, extent, kernel, stride, pad;
    bool    bias, flat; /* flat: all inputs and all weights are alike, the largest sums there are */
    int64_t dilation;
};

static const struct shape shapes[] = {
    {3, 16, 16, 6, 3, 1, 1, false, false, 1}, {9, 32, 48, 5, 3, 2, 1, true, false, 1},
    {2, 64, 32, 4, 1, 1, 0, true, false, 1},  {2, 48, 16, 7, 1, 2, 0, false, false, 1},
    {2, 24, 40, 5, 5, 1, 2, true, false, 1},  {2, 64, 64, 4, 3, 1, 1, false, true, 1},
    {9, 32, 16, 9, 3, 1, 2, true, false, 2},  {2, 16, 32, 9, 3, 2, 3, false, false, 3},
};

static size_t place_in(const cull_image *image, size_t n, size_t c, size_t y, size_t x)
{
    size_t block = (size_t)image->block, blocks = (size_t)image->c / block;
    size_t h = (size_t)image->h, w = (size_t)image->w;

    return (((n * blocks + c / block) * h + y) * w + x) * block + c % block;
}

struct work {
    cull_layer_desc desc;
    float          *x, *w, *b, *y;
    float           top[16]; /* the largest of each example */
};

static void prepare(struct work *k, const struct shape *s, int64_t block)
{
    cull_layer_desc *d = &k->desc;
    int64_t          reach = (s->kernel - 1) * s->dilation + 1;
    int64_t          to = (s->extent + 2 * s->pad - reach) / s->stride + 1;
    size_t           row = 0, count = 0;

    *d = (cull_layer_desc){.kind = CULL_LAYER_CONV,
                           .dtype = CULL_F32,
                           .x = {s->n, s->c, s->extent, s->extent, block ? block : s->c},
                           .y = {s->n, s->o, to, to, block ? block : s->o},
                           .bias = s->bias,
                           .kernel = {s->kernel, s->kernel},
                           .stride = {s->stride, s->stride},
                           .pad = {s->pad, s->pad},
                           .dilation = {s->dilation, s->dilation},
                           .groups = 1,
                           .int8 = true};
    row = (size_t)cull_image_row(&d->x);
    count = (size_t)(s->o * s->c * s->kernel * s->kernel);
    k->x = normals_f32(1, (size_t)s->n * row);
    k->w = normals_f32(2, count);
    k->b = normals_f32(3, (size_t)s->o);
    k->y = normals_f32(4, (size_t)(s->n * cull_image_row(&d->y)));
    for (size_t i = 0; i < (size_t)s->n * row; i++) {
        size_t n = i / row;

        /* examples of very different size, and one of nothing */
        k->x[i] = s->flat ? 1 : fmaxf(0, k->x[i]) * (n == 1 ? 0 : powf(10, (float)n));
        k->top[n] = fmaxf(k->top[n], k->x[i]);
    }
    for (size_t i = 0; s->flat && i < count; i++) k->w[i] = i < count / 2 ? 1 : -1;
}

static void release(struct work *k)
{
    free(k->x);
    free(k->w);
    free(k->b);
    free(k->y);
}

/* One output in double, and how far 8 bits may be from it (nn_int8.h). */
static double exactly(const struct work *k, size_t n, size_t o, size_t y, size_t x, double *bound)
{
    const cull_layer_desc *d = &k->desc;
    size_t                 side = (size_t)d->kernel[0], c = (size_t)d->x.c;
    const float           *w = k->w + o * c * side * side;
    double                 sum = d->bias ? (double)k->b[o] : 0, s = (double)k->top[n] / 255, t = 0;
    double                 slack = 1e-30;

    for (size_t i = 0; i < c * side * side; i++) t = fmax(t, fabs((double)w[i]));
    t /= cull_dnnl_largest_weight();
    for (size_t i = 0; i < c * side * side; i++) {
        int64_t from_y =
            (int64_t)y * d->stride[0] - d->pad[0] + (int64_t)(i / side % side) * d->dilation[0];
        int64_t from_x =
            (int64_t)x * d->stride[1] - d->pad[1] + (int64_t)(i % side) * d->dilation[1];
        double v = 0, u = (double)w[i];

        if (from_y < 0 || from_x < 0 || from_y >= d->x.h || from_x >= d->x.w) continue;
        v = (double)k->x[place_in(&d->x, n, i / side / side, (size_t)from_y, (size_t)from_x)];
        sum += u * v;
        slack += s / 2 * fabs(u) + t / 2 * v + s * t / 4;
    }
    *bound = slack * (1 + 1e-4) + 1e-6 * fabs(sum);
    return sum;
}

static void compare_all(const struct work *k)
{
    const cull_image *image = &k->desc.y;

    for (size_t n = 0; n < (size_t)image->n; n++)
        for (size_t o = 0; o < (size_t)image->c; o++)
            for (size_t y = 0; y < (size_t)image->h; y++)
                for (size_t x = 0; x < (size_t)image->w; x++) {
                    double bound = 0, want = exactly(k, n, o, y, x, &bound);
                    double got = (double)k->y[place_in(image, n, o, y, x)];

                    if (!(fabs(got - want) <= bound))
                        fail_msg("%lld to %lld channels in blocks of %lld: %g, not %g within %g",
                                 (long long)k->desc.x.c, (long long)image->c,
                                 (long long)image->block, got, want, bound);
                }
}

static void run_op(cull_backend *backend, struct work *k)
{
    cull_layer_op *op = NULL;

    assert_ok(cull_layer_create(backend, &k->desc, &op));
    if (strncmp(op->implementation, "int8 ", 5) != 0 || strstr(op->implementation, "ref"))
        fail_msg("the implementation is %s", op->implementation);
    assert_ok(op->class->forward(
        op, &(cull_layer_args){.x = k->x, .w = k->w, .b = k->desc.bias ? k->b : NULL, .y = k->y}));
    cull_layer_destroy(op);
}

static void a_convolution_is_off_by_no_more_than_its_steps_allow(void **state)
{
    static const int64_t blocks[] = {0, 1, 8};
    cull_backend        *backend = NULL;

    (void)state;
    assert_ok(cull_backend_open("cpu", 2, &backend));
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (size_t j = 0; j < sizeof blocks / sizeof *blocks; j++) {
            struct work k = {0};

            prepare(&k, &shapes[i], blocks[j]);
            run_op(backend, &k);
            compare_all(&k);
            release(&k);
        }
    }
    cull_backend_close(backend);
}

static void what_is_not_finite_spoils_its_own_example_alone(void **state)
{
    static const float bad[] = {NAN, -NAN, INFINITY};
    cull_backend      *backend = NULL;

    (void)state;
    assert_ok(cull_backend_open("cpu", 2, &backend));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct work good = {0}, k = {0};
        size_t      row = 0;

        prepare(&good, &shapes[0], 8);
        prepare(&k, &shapes[0], 8);
        row = (size_t)cull_image_row(&k.desc.y);
        k.x[7] = bad[i];
        run_op(backend, &good);
        run_op(backend, &k);
        for (size_t j = 0; j < row; j++) assert_true(isnan(k.y[j]));
        assert_memory_equal(good.y + row, k.y + row, 2 * row * sizeof *k.y);
        release(&good);
        release(&k);
    }
    cull_backend_close(backend);
}

/* ---- whole networks ---- */

struct net {
    cull_backend *backend;
    cull_model   *model;
    cull_params  *params;
    cull_plan    *plan[2]; /* float32, int8 */
    cull_plan    *learn;
    float        *inputs;
    int32_t       label[EXAMPLES];
    size_t        batch;
};

static void open_net(struct net *n, const char *name, size_t batch, unsigned threads)
{
    cull_model_options options = {.channels = 3, .height = 32, .width = 32, .classes = 10};
    size_t             row = 0;

    *n = (struct net){.batch = batch};
    assert_ok(cull_backend_open("cpu", threads, &n->backend));
    assert_ok(cull_nn_model_by_name(name, &options, &n->model));
    assert_ok(cull_nn_params_create(n->backend, n->model, CULL_F32, &n->params));
    cull_nn_params_init(n->params, n->model, 7);
    for (int i = 0; i < 2; i++)
        assert_ok(cull_nn_plan_create(n->model, n->params, n->backend,
                                      i ? CULL_PLAN_SCORE_INT8 : CULL_PLAN_SCORE, batch,
                                      (cull_loss){0}, &n->plan[i]));
    row = (size_t)cull_image_row(&n->model->input);
    n->inputs = normals_f32(11, batch * row);
    for (size_t i = 0; i < batch; i++) {
        n->label[i] = (int32_t)(10 * random_uniform(5, i));
        /* examples that differ in more than their noise, as pictures do */
        for (size_t j = 0; j < row; j++)
            n->inputs[i * row + j] =
                (float)random_normal(6, i) +
                (0.2F + 2 * (float)random_uniform(8, i)) * n->inputs[i * row + j];
    }
}

static void close_net(struct net *n)
{
    for (int i = 0; i < 2; i++) cull_nn_plan_destroy(n->plan[i]);
    cull_nn_plan_destroy(n->learn);
    cull_nn_params_destroy(n->params);
    cull_nn_model_destroy(n->model);
    cull_backend_close(n->backend);
    free(n->inputs);
}

static cull_batch batch_of(const struct net *n)
{
    return (cull_batch){.count = n->batch, .inputs = n->inputs, .target = n->label};
}

static void score(struct net *n, int which, cull_signals *signals)
{
    cull_batch batch = batch_of(n);

    assert_ok(cull_nn_score(n->plan[which], &batch, CULL_STATS_BATCH,
                            CULL_SIGNAL_LOSS | CULL_SIGNAL_H | CULL_SIGNAL_P, signals));
}

static void learn(struct net *n, int steps)
{
    cull_batch   batch = batch_of(n);
    cull_signals trained = {0};
    float       *value = n->params->value, *gradient = n->params->gradient;

    if (!n->learn)
        assert_ok(cull_nn_plan_create(n->model, n->params, n->backend, CULL_PLAN_LEARN, n->batch,
                                      (cull_loss){0}, &n->learn));
    for (int s = 0; s < steps; s++) {
        assert_ok(cull_nn_learn(n->learn, &batch, &trained));
        for (size_t i = 0; i < n->params->count; i++) value[i] -= 0.05F * gradient[i];
    }
}

/* Spearman's coefficient; losses have no ties. */
static double rank_agreement(const double *a, const double *b, size_t n)
{
    double sum = 0, count = (double)n;

    for (size_t i = 0; i < n; i++) {
        double one = 0, other = 0;

        for (size_t j = 0; j < n; j++) {
            one += a[j] < a[i];
            other += b[j] < b[i];
        }
        sum += (one - other) * (one - other);
    }
    return 1 - 6 * sum / (count * (count * count - 1));
}

static void losses_keep_their_order(void **state)
{
    struct net n;

    (void)state;
    open_net(&n, "resnet20", EXAMPLES, 2);
    for (int round = 0; round < 2; round++) {
        cull_signals plain = {0}, coarse = {0};
        double       agreement = 0;

        score(&n, 0, &plain);
        score(&n, 1, &coarse);
        agreement = rank_agreement(plain.loss.data, coarse.loss.data, EXAMPLES);
        print_message("Spearman %s: %.5f\n", round ? "after 5 steps" : "untrained", agreement);
        assert_true(agreement >= 0.99);
        /* and it is not the float32 pass by another name */
        assert_true(memcmp(plain.loss.data, coarse.loss.data, EXAMPLES * sizeof(double)) != 0);
        learn(&n, 5);
    }
    close_net(&n);
}

static void the_number_of_threads_changes_nothing(void **state)
{
    enum { ODD = 13 };
    double loss[ODD];
    float  p[ODD * 10];

    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct net   n;
        cull_signals signals = {0};

        open_net(&n, "resnet20", ODD, threads);
        score(&n, 1, &signals);
        if (threads == 1) {
            memcpy(loss, signals.loss.data, sizeof loss);
            memcpy(p, signals.p.data, sizeof p);
        }
        assert_memory_equal(loss, signals.loss.data, sizeof loss);
        assert_memory_equal(p, signals.p.data, sizeof p);
        close_net(&n);
    }
}

static void scoring_leaves_weights_and_averages_and_allocates_nothing(void **state)
{
    struct net   n;
    cull_signals signals = {0};
    float       *value = NULL, *running = NULL;
    size_t       bytes = 0, averages = 0, before = 0;

    (void)state;
    open_net(&n, "resnet20", 5, 2);
    bytes = n.params->count * sizeof *value;
    averages = n.params->running_count * sizeof *running;
    value = malloc(bytes);
    running = malloc(averages);
    memcpy(value, n.params->value, bytes);
    memcpy(running, n.params->running, averages);
    score(&n, 1, &signals);
    before = cull_base_alloc_count();
    score(&n, 1, &signals);
    assert_int_equal(before, cull_base_alloc_count());
    assert_memory_equal(value, n.params->value, bytes);
    assert_memory_equal(running, n.params->running, averages);
    free(value);
    free(running);
    close_net(&n);
}

/* How many operations of a plan are in 8 bits. */
static size_t count_int8(const char *name)
{
    struct net n;
    size_t     count = 0;

    open_net(&n, name, 2, 2);
    for (size_t i = 0; cull_nn_plan_implementation(n.plan[1], i); i++)
        count += strncmp(cull_nn_plan_implementation(n.plan[1], i), "int8 ", 5) == 0;
    for (size_t i = 0; cull_nn_plan_implementation(n.plan[0], i); i++)
        assert_true(strncmp(cull_nn_plan_implementation(n.plan[0], i), "int8 ", 5) != 0);
    close_net(&n);
    return count;
}

static void convolutions_behind_a_relu_are_in_8_bits_and_no_others(void **state)
{
    (void)state;
    assert_int_equal(18, count_int8("resnet20"));    /* all but the first                        */
    assert_int_equal(19, count_int8("resnet18"));    /* with three in shortcuts                  */
    assert_int_equal(13, count_int8("mobilenetv1")); /* no depthwise one                         */
    assert_int_equal(17, count_int8("mobilenetv2")); /* the last of each block */
    assert_int_equal(0, count_int8("lenet5"));       /* six channels                             */
}

static void plans_in_8_bits_survive_failing_allocations(void **state)
{
    struct net  n;
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    open_net(&n, "resnet20", 1, 1);
    for (size_t nth = 1; status != CULL_OK; nth += 7) {
        cull_plan *plan = NULL;

        fail_nth_alloc(nth);
        status = cull_nn_plan_create(n.model, n.params, n.backend, CULL_PLAN_SCORE_INT8, 9,
                                     (cull_loss){0}, &plan);
        if (alloc_has_failed())
            assert_int_equal(CULL_NO_MEMORY, status);
        else
            assert_ok(status);
        fail_nth_alloc(0);
        cull_nn_plan_destroy(plan);
    }
    close_net(&n);
}

/* ---- runs ---- */

#define INT8                                                                                       \
    "model.name=resnet20 train.epochs=1 select.strategy=sb select.keep=0.4 "                       \
    "score.precision=int8"

static void what_cannot_be_done_in_8_bits_is_refused(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe = NULL;
    cull_trainer       *t = NULL;

    assert_fails(CULL_BAD_OPTION, "score.precision",
                 try_recipe(w, INT8 " score.pass=reuse", &recipe));
    assert_fails(CULL_BAD_OPTION, "score.precision", try_recipe(w, "score.precision=fp8", &recipe));
    recipe = recipe_of(w, INT8 " train.backend=ref");
    assert_fails(CULL_BAD_OPTION, "score.precision", cull_trainer_create(&recipe->setup, true, &t));
    assert_null(t);
    cull_recipe_close(recipe);
}

static bool stop_at_two(void *context)
{
    return ++*(int *)context == 2;
}

/* Weights after a run, malloc'ed; stopped and resumed where `stops`. */
static float *weights_after(const struct world *w, const char *changes, bool stops, size_t *count)
{
    cull_recipe *recipe = recipe_of(w, changes);
    float       *out = NULL;

    assert_int_equal(0, mkdir(path_in(w->folder, "run"), 0777));
    for (int part = !stops; part < 2; part++) {
        int              steps = part ? 2 : 0;
        cull_trainer    *t = NULL;
        cull_run_result  result = {0};
        cull_run_options options = {.folder = path_in(w->folder, "run"),
                                    .resume = part && stops,
                                    .stop = stop_at_two,
                                    .context = &steps};

        assert_ok(cull_trainer_create(&recipe->setup, true, &t));
        assert_ok(cull_trainer_run(t, &options, &result));
        assert_int_equal(options.resume, result.resumed);
        *count = t->learner.params->count;
        if (part) {
            out = malloc(*count * sizeof *out);
            assert_non_null(out);
            memcpy(out, t->learner.params->value, *count * sizeof *out);
        }
        cull_trainer_destroy(t);
    }
    remove_folder(path_in(w->folder, "run"));
    cull_recipe_close(recipe);
    return out;
}

static void a_run_that_is_stopped_goes_on_bit_for_bit(void **state)
{
    size_t count = 0;
    float *whole = weights_after(*state, INT8, false, &count);
    float *halves = weights_after(*state, INT8, true, &count);

    assert_memory_equal(whole, halves, count * sizeof *whole);
    free(whole);
    free(halves);
}

static void a_run_that_never_scores_does_not_depend_on_precision(void **state)
{
    static const char full[] = "model.name=resnet20 train.epochs=1 select.strategy=full";
    char              coarse[128];
    size_t            count = 0;
    float            *one = NULL, *other = NULL;

    (void)snprintf(coarse, sizeof coarse, "%s score.precision=int8", full);
    one = weights_after(*state, full, false, &count);
    other = weights_after(*state, coarse, false, &count);
    assert_memory_equal(one, other, count * sizeof *one);
    free(one);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_convolution_is_off_by_no_more_than_its_steps_allow),
        cmocka_unit_test(what_is_not_finite_spoils_its_own_example_alone),
        cmocka_unit_test(losses_keep_their_order),
        cmocka_unit_test(the_number_of_threads_changes_nothing),
        cmocka_unit_test(scoring_leaves_weights_and_averages_and_allocates_nothing),
        cmocka_unit_test(convolutions_behind_a_relu_are_in_8_bits_and_no_others),
        cmocka_unit_test(plans_in_8_bits_survive_failing_allocations),
        TEST(what_cannot_be_done_in_8_bits_is_refused),
        TEST(a_run_that_is_stopped_goes_on_bit_for_bit),
        TEST(a_run_that_never_scores_does_not_depend_on_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
