/*
 * tests/unit/test_dnnl.c - the layers on the cpu: which convolutions oneDNN is asked for, that a
 * warm step allocates nothing, that the number of threads changes nothing, that signals do no harm.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "backend/cpu/nn_dnnl.h"
#include "backend/cpu/nn_product.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "nn/nn.h"
#include "support.h"

enum { CLASSES = 10, SMALL_BATCH = 5 };

static cull_model *make_model(const char *name)
{
    bool               gray = strcmp(name, "lenet5") == 0 || strcmp(name, "mlp") == 0;
    cull_model_options options = {.channels = gray ? 1 : 3,
                                  .height = gray ? 28 : 32,
                                  .width = gray ? 28 : 32,
                                  .classes = CLASSES};
    cull_model        *model = NULL;

    assert_ok(cull_nn_model_by_name(name, &options, &model));
    return model;
}

/* Prepare every convolution of a model as a plan would, without its activations. */
static void check_model(cull_backend *backend, const cull_model *model, int64_t batch, bool learn)
{
    int64_t common = cull_nn_plan_common(model, backend);

    for (int i = 1; i < model->nodes; i++) {
        cull_layer_desc desc = model->node[i].desc;
        cull_layer_op  *op = NULL;

        if (desc.kind != CULL_LAYER_CONV) continue;
        desc.dtype = CULL_F32;
        desc.x.n = desc.y.n = batch;
        desc.x.block = cull_layer_block(backend, desc.x.c, common);
        desc.y.block = desc.y.h * desc.y.w > 1 ? cull_layer_block(backend, desc.y.c, common) : 1;
        desc.learn = learn;
        desc.input_gradient = learn && model->node[i].input[0] != 0;
        assert_ok(cull_layer_create(backend, &desc, &op));
        if (strstr(op->implementation, "ref"))
            fail_msg("%s, %s, batch %lld: %s", model->name, model->node[i].name, (long long)batch,
                     op->implementation);
        /* batches that do not divide have parts of two sizes, and both must be looked at */
        assert_true((strchr(op->implementation, '|') != NULL) == (batch == 39));
        cull_layer_destroy(op);
    }
}

static void no_convolution_of_any_model_is_onednns_reference(void **state)
{
    cull_backend *backend = NULL;

    (void)state;
    assert_ok(cull_backend_open("cpu", 2, &backend));
    for (size_t i = 0; cull_nn_model_name_at(i); i++) {
        cull_model *model = NULL;

        if (cull_nn_model_reads_tokens(cull_nn_model_name_at(i))) continue; /* it has none */
        model = make_model(cull_nn_model_name_at(i));
        check_model(backend, model, 128, true);
        check_model(backend, model, 128, false); /* scoring, with or without keeping */
        check_model(backend, model, 39, true);   /* learning, also from kept rows    */
        check_model(backend, model, 12, true);
        cull_nn_model_destroy(model);
    }
    cull_backend_close(backend);
}

/* Four convolutions of one window, with and without a bias, the last with these strides. */
static void check_window(cull_backend *backend, cull_conv conv, int64_t down, int64_t across)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    cull_model              *model = NULL;
    int                      x = 0;

    assert_ok(cull_model_create("flat", 3, 32, 28, &model));
    if (!conv.width.kernel)
        conv.width =
            (cull_window){.kernel = conv.kernel, .pad = conv.pad, .dilation = conv.dilation};
    for (int k = 0; k < 4; k++) {
        cull_conv own = conv;

        if (k == 0) own.groups = 1;
        own.no_bias = k & 1;
        own.stride = k == 3 ? down : 1;
        own.width.stride = k == 3 ? across : 1;
        x = cull_model_conv(model, x, names[k], &own);
    }
    x = cull_model_pool(model, x, &(cull_pool){.pooling = CULL_POOL_GLOBAL});
    x = cull_model_dense(model, x, "logits", &(cull_dense){.out = CLASSES});
    assert_ok(cull_model_finish(model, x));
    check_model(backend, model, 16, true);
    check_model(backend, model, 16, false);
    check_model(backend, model, 39, true);
    cull_model_destroy(model);
}

static void windows_that_are_not_square_are_no_reference_either(void **state)
{
    static const int64_t kernels[][2] = {{1, 7}, {7, 1}, {3, 5}, {5, 3}, {1, 3}, {3, 1}};
    cull_backend        *backend = NULL;

    (void)state;
    assert_ok(cull_backend_open("cpu", 2, &backend));
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        cull_conv conv = {.out = 64,
                          .kernel = kernels[i][0],
                          .pad = kernels[i][0] / 2,
                          .width = {.kernel = kernels[i][1], .pad = kernels[i][1] / 2}};

        check_window(backend, conv, 2, 2);
        check_window(backend, conv, 2, 1);
    }
    cull_backend_close(backend);
}

static void nor_are_windows_whose_taps_stand_apart(void **state)
{
    static const cull_conv windows[] = {
        {.out = 64, .kernel = 3, .pad = 2, .dilation = 2},
        {.out = 64, .kernel = 3, .pad = 4, .dilation = 4},
        {.out = 48, .kernel = 3, .pad = 2, .dilation = 2},
        {.out = 24, .kernel = 3, .pad = 2, .dilation = 2},
        {.out = 64, .kernel = 3, .pad = 2, .dilation = 2, .groups = 64},
        {.out = 64, .kernel = 3, .pad = 1, .width = {.kernel = 3, .pad = 3, .dilation = 3}},
    };
    cull_backend *backend = NULL;

    (void)state;
    assert_ok(cull_backend_open("cpu", 2, &backend));
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        check_window(backend, windows[i], 1, 1);
        check_window(backend, windows[i], 2, 2);
    }
    cull_backend_close(backend);
}

/* A convolution that a model begins with; another 3x3 one to `then` channels follows. */
static const struct odd {
    int64_t in, out, groups, kernel, stride, then;
} odd[] = {
    {1, 16, 1, 3, 1, 16},   {2, 16, 1, 3, 1, 32},  {3, 17, 1, 1, 2, 5},    {3, 50, 1, 1, 2, 16},
    {4, 64, 1, 3, 1, 64},   {5, 16, 1, 5, 2, 16},  {7, 7, 1, 1, 2, 1},     {8, 16, 1, 3, 1, 8},
    {8, 8, 1, 3, 1, 20},    {16, 8, 1, 1, 1, 16},  {16, 16, 1, 3, 1, 20},  {16, 1, 1, 3, 1, 16},
    {1, 1, 1, 3, 1, 8},     {20, 64, 1, 3, 1, 64}, {31, 33, 1, 3, 2, 65},  {32, 16, 1, 3, 1, 16},
    {48, 64, 1, 1, 1, 32},  {64, 16, 1, 3, 1, 16}, {64, 64, 16, 3, 1, 64}, {64, 64, 8, 3, 2, 64},
    {64, 48, 16, 1, 1, 16}, {16, 16, 2, 3, 1, 16}, {8, 16, 2, 3, 1, 16},   {8, 8, 4, 3, 1, 8},
    {20, 20, 4, 3, 1, 16},  {20, 40, 20, 3, 2, 8}, {9, 6, 3, 3, 1, 3},     {12, 12, 12, 3, 1, 5},
    {16, 16, 16, 3, 1, 12}, {3, 48, 3, 3, 1, 16},  {5, 10, 5, 3, 1, 16},   {40, 40, 2, 3, 1, 40},
};

/* normed: with a norm before, so that a gradient goes back to the input. */
static cull_model *make_odd(const struct odd *o, int64_t extent, bool normed)
{
    cull_model *m = NULL;
    int         x = 0;

    assert_ok(cull_nn_model_create("odd", o->in, extent, extent, &m));
    if (normed) x = cull_model_groupnorm(m, x, "norm", 1);
    x = cull_model_conv(m, x, "one",
                        &(cull_conv){.out = o->out,
                                     .kernel = o->kernel,
                                     .stride = o->stride,
                                     .pad = o->kernel / 2,
                                     .groups = o->groups,
                                     .init = CULL_INIT_HE_IN});
    x = cull_model_conv(
        m, x, "two", &(cull_conv){.out = o->then, .kernel = 3, .pad = 1, .init = CULL_INIT_HE_IN});
    x = cull_model_pool(m, x, &(cull_pool){.pooling = CULL_POOL_GLOBAL});
    x = cull_model_dense(m, x, "last", &(cull_dense){.out = CLASSES});
    assert_ok(cull_nn_model_finish(m, x));
    return m;
}

static void check_plan(cull_backend *backend, const cull_model *model, size_t batch)
{
    cull_params *params = NULL;
    cull_plan   *plan = NULL;
    float       *inputs = normals_f32(5, batch * (size_t)cull_image_row(&model->input));
    int32_t      label[SMALL_BATCH] = {0};
    cull_batch   examples = {.count = batch, .inputs = inputs, .target = label};
    cull_signals seen;
    const char  *name = NULL;

    assert_ok(cull_nn_params_create(plain_backend(), model, CULL_F32, &params));
    cull_nn_params_init(params, model, 7);
    assert_ok(
        cull_nn_plan_create(model, params, backend, CULL_PLAN_LEARN, batch, (cull_loss){0}, &plan));
    for (size_t i = 0; (name = cull_nn_plan_implementation(plan, i)); i++)
        if (strstr(name, "ref"))
            fail_msg("%lld to %lld channels in %lld groups, %lld pixels: step %zu is %s",
                     (long long)model->input.c, (long long)model->node[1].desc.y.c,
                     (long long)model->node[1].desc.groups, (long long)model->input.h, i, name);
    /* in sanitizer builds this looks at what lies behind every scratchpad, too */
    assert_ok(cull_nn_learn(plan, &examples, &seen));
    cull_nn_plan_destroy(plan);
    cull_nn_params_destroy(params);
    free(inputs);
}

static void odd_channels_and_groups_are_not_onednns_reference_either(void **state)
{
    cull_backend *backend = NULL;

    (void)state;
    assert_ok(cull_backend_open("cpu", 1, &backend));
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        for (int k = 0; k < 4; k++) {
            cull_model *model = make_odd(&odd[i], k & 1 ? 2 : 8, k & 2);

            check_plan(backend, model, SMALL_BATCH);
            cull_nn_model_destroy(model);
        }
    }
    cull_backend_close(backend);
}

static void inputs_of_any_number_of_channels_come_in_layouts_that_batches_have(void **state)
{
    cull_backend *backend = NULL;

    (void)state;
    assert_ok(cull_backend_open("cpu", 1, &backend));
    for (int64_t c = 1; c <= 64; c += c < 4 ? 1 : 4) {
        cull_model_options options = {.channels = c, .height = 8, .width = 8, .classes = CLASSES};
        cull_model        *model = NULL;
        cull_params       *params = NULL;
        cull_plan         *plan = NULL;
        cull_image         image = {0};

        assert_ok(cull_nn_model_by_name("resnet20", &options, &model));
        assert_ok(cull_nn_params_create(plain_backend(), model, CULL_F32, &params));
        assert_ok(
            cull_nn_plan_create(model, params, backend, CULL_PLAN_SCORE, 2, (cull_loss){0}, &plan));
        image = cull_nn_plan_input(plan);
        if (image.block != 1 && image.block != image.c)
            fail_msg("%d channels come in blocks of %d", (int)c, (int)image.block);
        cull_nn_plan_destroy(plan);
        cull_nn_params_destroy(params);
        cull_nn_model_destroy(model);
    }
    cull_backend_close(backend);
}

struct run {
    cull_backend *backend;
    cull_model   *model;
    cull_params  *params;
    cull_plan    *plan;
    float        *inputs;
    int32_t       label[SMALL_BATCH];
};

static void start(struct run *r, const char *name, unsigned threads)
{
    size_t count = 0;

    assert_ok(cull_backend_open("cpu", threads, &r->backend));
    r->model = make_model(name);
    assert_ok(cull_nn_params_create(plain_backend(), r->model, CULL_F32, &r->params));
    cull_nn_params_init(r->params, r->model, 7);
    assert_ok(cull_nn_plan_create(r->model, r->params, r->backend, CULL_PLAN_LEARN, SMALL_BATCH,
                                  (cull_loss){0}, &r->plan));
    count = SMALL_BATCH * (size_t)cull_image_row(&r->model->input);
    r->inputs = normals_f32(3, count);
    for (int i = 0; i < SMALL_BATCH; i++) r->label[i] = i;
}

static void learn(struct run *r)
{
    cull_batch   batch = {.count = SMALL_BATCH, .inputs = r->inputs, .target = r->label};
    cull_signals signals = {0};
    float       *value = r->params->value, *gradient = r->params->gradient;

    assert_ok(cull_nn_learn(r->plan, &batch, &signals));
    for (size_t i = 0; i < r->params->count; i++) value[i] -= 0.01f * gradient[i];
}

static void end(struct run *r)
{
    cull_nn_plan_destroy(r->plan);
    cull_nn_params_destroy(r->params);
    cull_nn_model_destroy(r->model);
    cull_backend_close(r->backend);
    free(r->inputs);
}

static void a_warm_step_allocates_nothing(void **state)
{
    static const char *const names[] = {"lenet5", "resnet20", "mobilenetv2"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct run r = {0};
        size_t     before = 0;

        start(&r, names[i], 2);
        learn(&r);
        before = cull_base_alloc_count();
        learn(&r);
        assert_int_equal(before, cull_base_alloc_count());
        end(&r);
    }
}

static void weights_do_not_depend_on_the_number_of_threads(void **state)
{
    static const char *const names[] = {"lenet5", "resnet20", "wrn-16-4", "mobilenetv2"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct run one = {0}, other = {0};

        start(&one, names[i], 1);
        start(&other, names[i], 3);
        for (int step = 0; step < 2; step++) {
            learn(&one);
            learn(&other);
        }
        assert_memory_equal(one.params->value, other.params->value,
                            one.params->count * sizeof(float));
        assert_memory_equal(one.params->running, other.params->running,
                            one.params->running_count * sizeof(float));
        end(&one);
        end(&other);
    }
}

static void other_types_and_layouts_are_refused_with_a_sentence(void **state)
{
    cull_image      image = {.n = 2, .c = 12, .h = 4, .w = 4, .block = 12};
    cull_layer_desc desc = {.kind = CULL_LAYER_CONV,
                            .dtype = CULL_F64,
                            .x = image,
                            .y = image,
                            .kernel = {3, 3},
                            .stride = {1, 1},
                            .pad = {1, 1},
                            .groups = 1};
    cull_backend   *backend = NULL;
    cull_layer_op  *op = NULL;

    (void)state;
    assert_ok(cull_backend_open("cpu", 1, &backend));
    assert_fails(CULL_UNSUPPORTED, "float64", cull_layer_create(backend, &desc, &op));
    desc.dtype = CULL_F32;
    desc.x.block = 4;
    assert_fails(CULL_UNSUPPORTED, "blocks of 4", cull_layer_create(backend, &desc, &op));
    assert_null(op);
    cull_backend_close(backend);
}

static void every_failing_allocation_is_survived(void **state)
{
    cull_backend *backend = NULL;
    cull_model   *model = make_model("resnet20");
    cull_params  *params = NULL;
    cull_status   status = CULL_NO_MEMORY;

    (void)state;
    assert_ok(cull_backend_open("cpu", 2, &backend));
    assert_ok(cull_nn_params_create(plain_backend(), model, CULL_F32, &params));
    for (size_t n = 1; status != CULL_OK; n += 7) {
        cull_plan *plan = NULL;

        fail_nth_alloc(n);
        status =
            cull_nn_plan_create(model, params, backend, CULL_PLAN_LEARN, 2, (cull_loss){0}, &plan);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        assert_true((status == CULL_OK) == (plan != NULL));
        cull_nn_plan_destroy(plan);
    }
    cull_nn_params_destroy(params);
    cull_nn_model_destroy(model);
    cull_backend_close(backend);
}

/* ---- signals ---- */

enum { STACK = 1 << 23, SIGNALS = 200 };

static const char           *stack_top; /* of the test */
static volatile sig_atomic_t taken, astray;

static void see_stack(int number)
{
    const char *here = __builtin_frame_address(0);

    (void)number;
    taken++;
    if (here > stack_top || stack_top - here > STACK) astray++;
}

/* A handler runs where the stack's register points, which must be the stack. */
static void signals_during_products_find_the_stack(void **state)
{
    static const size_t sizes[][3] = {
        {256, 1152, 384}, {256, 384, 1536}, {128, 256, 32}, {256, 384, 4096}};
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    struct sigaction       action = {.sa_handler = see_stack, .sa_flags = (int)SA_RESTART}, before;
    size_t                 room = (size_t)1536 * 1152;
    float                 *a = calloc(room, sizeof *a), *b = calloc(room, sizeof *b);
    float                 *c = calloc(room, sizeof *c);
    double                 begin = cull_base_seconds();

    (void)state;
    assert_true(a && b && c);
    stack_top = __builtin_frame_address(0);
    assert_int_equal(0, sigaction(SIGALRM, &action, &before));
    assert_int_equal(0, setitimer(ITIMER_REAL, &often, NULL));
    for (size_t i = 0; taken < SIGNALS && cull_base_seconds() - begin < 5; i++) {
        const size_t *of = sizes[i % 4];

        assert_ok(cull_cpu_multiply(of[0], of[1], of[2], (cull_cpu_matrix){a, of[2], false},
                                    (cull_cpu_matrix){b, of[2], true}, false, c, of[1]));
    }
    assert_int_equal(0, setitimer(ITIMER_REAL, &never, NULL));
    assert_int_equal(0, sigaction(SIGALRM, &before, NULL));
    assert_true(taken > 0);
    assert_int_equal(0, astray);
    free(a);
    free(b);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_convolution_of_any_model_is_onednns_reference),
        cmocka_unit_test(windows_that_are_not_square_are_no_reference_either),
        cmocka_unit_test(nor_are_windows_whose_taps_stand_apart),
        cmocka_unit_test(odd_channels_and_groups_are_not_onednns_reference_either),
        cmocka_unit_test(inputs_of_any_number_of_channels_come_in_layouts_that_batches_have),
        cmocka_unit_test(a_warm_step_allocates_nothing),
        cmocka_unit_test(weights_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(other_types_and_layouts_are_refused_with_a_sentence),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(signals_during_products_find_the_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
