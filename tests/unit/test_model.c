/* test_model.c - models of a program's own: what can be described, and how mistakes are told. */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "nn/nn.h"
#include "support.h"

static cull_model *begin(int64_t channels, int64_t side)
{
    cull_model *m = NULL;

    assert_ok(cull_model_create("mine", channels, side, side, &m));
    return m;
}

/* Every kind of layer, joined both ways. */
static cull_model *every_layer(void)
{
    cull_model *m = begin(2, 8);
    int         x = cull_model_conv(m, 0, "stem", &(cull_conv){.out = 8, .kernel = 3, .pad = 1});
    int         y = 0;

    x = cull_model_activate(m, cull_model_batchnorm(m, x, "bn"), CULL_RELU);
    y = cull_model_conv(
        m, x, "deep", &(cull_conv){.out = 8, .kernel = 3, .pad = 1, .groups = 8, .no_bias = true});
    y = cull_model_activate(m, cull_model_groupnorm(m, y, "gn", 4), CULL_RELU6);
    x = cull_model_add(m, x, y);
    x = cull_model_concat(m, x, cull_model_shortcut(m, x, 8, 1));
    y = cull_model_pool(m, x, &(cull_pool){.kernel = 2});
    x = cull_model_pool(m, x, &(cull_pool){.pooling = CULL_POOL_AVERAGE, .kernel = 2});
    x = cull_model_add(m, x, y);
    x = cull_model_activate(m, cull_model_layernorm(m, x, "ln"), CULL_GELU);
    y = cull_model_pool(m, x, &(cull_pool){.pooling = CULL_POOL_GLOBAL});
    x = cull_model_concat(m, cull_model_flatten(m, x), y);
    x = cull_model_dropout(m, x, 0.25);
    x = cull_model_dense(m, x, "logits", &(cull_dense){.out = 3, .init = CULL_INIT_HE_IN});
    assert_ok(cull_model_finish(m, x));
    return m;
}

static void every_layer_can_be_described(void **state)
{
    cull_model *m = every_layer();
    int64_t     shape[3] = {0};

    (void)state;
    assert_int_equal(3, cull_model_classes(m));
    /* stem 8*2*9+8, bn 16, deep 8*9, gn 16, ln 2*256, logits 3*(256+16)+3 */
    assert_int_equal(152 + 16 + 72 + 16 + 512 + 819, cull_model_parameters(m));
    assert_ok(cull_model_shape(m, 0, shape));
    assert_true(shape[0] == 2 && shape[1] == 8 && shape[2] == 8);
    assert_ok(cull_model_shape(m, 9, shape));
    assert_true(shape[0] == 16 && shape[1] == 8 && shape[2] == 8);
    assert_fails(CULL_BAD_ARGUMENT, "node 99 is not there", cull_model_shape(m, 99, shape));
    cull_model_destroy(m);
}

static void a_model_described_twice_is_the_same_and_a_copy_is_too(void **state)
{
    cull_model *a = every_layer(), *b = every_layer(), *c = NULL;
    cull_writer text[3] = {{0}};

    (void)state;
    assert_ok(cull_nn_model_copy(a, &c));
    assert_ok(cull_nn_model_text(a, &text[0]));
    assert_ok(cull_nn_model_text(b, &text[1]));
    assert_ok(cull_nn_model_text(c, &text[2]));
    assert_string_equal((char *)text[0].data, (char *)text[1].data);
    assert_string_equal((char *)text[0].data, (char *)text[2].data);
    for (size_t i = 0; i < 3; i++) cull_writer_clear(&text[i]);
    cull_model_destroy(a);
    cull_model_destroy(b);
    cull_model_destroy(c);
}

/* A change of any one setting changes the text. */
static void a_model_s_text_tells_it_from_others(void **state)
{
    cull_conv layers[] = {{.out = 4, .kernel = 3, .pad = 1},
                          {.out = 6, .kernel = 3, .pad = 1},
                          {.out = 4, .kernel = 5, .pad = 2},
                          {.out = 4, .kernel = 3, .pad = 1, .groups = 2},
                          {.out = 4, .kernel = 3, .pad = 1, .no_bias = true},
                          {.out = 4, .kernel = 3, .pad = 1, .init = CULL_INIT_HE_OUT},
                          {.out = 4, .kernel = 3, .pad = 1, .dilation = 2},
                          {.out = 4, .kernel = 3, .pad = 1, .width = {.kernel = 3, .dilation = 2}},
                          {.out = 4, .kernel = 3, .pad = 1, .width = {.kernel = 3, .pad = 2}},
                          {.out = 4, .kernel = 3, .pad = 1, .width = {.kernel = 3, .stride = 2}},
                          {.out = 4, .kernel = 3, .pad = 1, .width = {.kernel = 5, .pad = 1}}};
    enum { LAYERS = sizeof layers / sizeof *layers };
    cull_writer text[LAYERS] = {{0}};

    (void)state;
    for (size_t i = 0; i < LAYERS; i++) {
        cull_model *m = begin(2, 8);
        int         x = cull_model_flatten(m, cull_model_conv(m, 0, "c", &layers[i]));

        assert_ok(cull_model_finish(m, cull_model_dense(m, x, "d", &(cull_dense){.out = 2})));
        assert_ok(cull_nn_model_text(m, &text[i]));
        cull_model_destroy(m);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal((char *)text[i].data, (char *)text[j].data);
    }
    for (size_t i = 0; i < LAYERS; i++) cull_writer_clear(&text[i]);
}

/* Square windows are told as ever, so that a checkpoint of old is still the same model's. */
static void a_square_window_is_told_by_one_number(void **state)
{
    cull_model *m = begin(2, 8);
    cull_writer text = {0};
    int         x = cull_model_conv(m, 0, "c", &(cull_conv){.out = 2, .kernel = 3, .dilation = 1});

    (void)state;
    x = cull_model_conv(
        m, x, "d",
        &(cull_conv){
            .out = 2, .kernel = 3, .pad = 2, .dilation = 2, .width = {.kernel = 1, .stride = 3}});
    x = cull_model_pool(m, x, &(cull_pool){.kernel = 2, .width = {.kernel = 1}});
    x = cull_model_flatten(m, x);
    assert_ok(cull_model_finish(m, cull_model_dense(m, x, "e", &(cull_dense){.out = 2})));
    assert_ok(cull_nn_model_text(m, &text));
    assert_string_equal("0 input: 2x8x8\n"
                        "1 conv c of 0: 2x6x6 kernel 3 stride 1 pad 0 groups 1 init torch\n"
                        "2 conv d of 1: 2x6x2 kernel 3x1 stride 1x3 pad 2x0 dilation 2x1 groups 1 "
                        "init torch\n"
                        "3 max-pool of 2: 2x3x2 kernel 2x1 stride 2x1 pad 0 max\n"
                        "4 flatten of 3: 12x1x1\n"
                        "5 dense e of 4: 2x1x1 init torch\n",
                        (char *)text.data);
    cull_writer_clear(&text);
    cull_model_destroy(m);
}

static void windows_have_a_width_and_a_dilation_of_their_own(void **state)
{
    static const struct {
        cull_conv conv;
        int64_t   height, width;
        size_t    parameters;
    } cases[] = {
        {{.out = 2, .kernel = 1, .width = {.kernel = 7, .pad = 3}}, 9, 11, 2 * 3 * 7},
        {{.out = 2, .kernel = 7, .pad = 3, .width = {.kernel = 1}}, 9, 11, 2 * 3 * 7},
        {{.out = 2, .kernel = 3, .pad = 2, .dilation = 2}, 9, 11, 2 * 3 * 9},
        {{.out = 2, .kernel = 3, .dilation = 4}, 1, 3, 2 * 3 * 9},
        {{.out = 2, .kernel = 3, .width = {.kernel = 3, .pad = 3, .dilation = 3}}, 7, 11, 54},
        {{.out = 2, .kernel = 2, .stride = 3, .width = {.kernel = 5, .stride = 2}}, 3, 4, 60},
    };
    int64_t shape[3] = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_model *m = NULL;
        cull_conv   conv = cases[i].conv;
        int         x = 0;

        assert_ok(cull_model_create("mine", 3, 9, 11, &m));
        conv.no_bias = true;
        x = cull_model_conv(m, 0, "c", &conv);
        assert_ok(cull_model_shape(m, x, shape));
        assert_int_equal(cases[i].height, shape[1]);
        assert_int_equal(cases[i].width, shape[2]);
        x = cull_model_pool(m, x, &(cull_pool){.pooling = CULL_POOL_GLOBAL});
        assert_ok(cull_model_finish(m, cull_model_dense(m, x, "d", &(cull_dense){.out = 2})));
        assert_int_equal(cases[i].parameters + 6, cull_model_parameters(m));
        cull_model_destroy(m);
    }
}

static void norms_have_an_epsilon_and_a_momentum_of_their_own(void **state)
{
    cull_model *m = begin(2, 4);
    cull_writer text = {0};
    int         x = cull_model_norm(m, 0, "a", &(cull_norm){.epsilon = 1e-3, .momentum = 0.01});

    (void)state;
    x = cull_model_norm(m, x, "b", &(cull_norm){0});
    x = cull_model_norm(m, x, "c",
                        &(cull_norm){.over = CULL_NORM_GROUP, .groups = 2, .epsilon = 1});
    x = cull_model_norm(m, x, "d", &(cull_norm){.over = CULL_NORM_LAYER, .epsilon = 0.5});
    x = cull_model_dense(m, cull_model_flatten(m, x), "e", &(cull_dense){.out = 2});
    assert_ok(cull_model_finish(m, x));
    assert_true(m->node[1].desc.epsilon == 1e-3 && m->node[1].desc.momentum == 0.01);
    assert_true(m->node[2].desc.epsilon == 1e-5 && m->node[2].desc.momentum == 0.1);
    assert_ok(cull_nn_model_text(m, &text));
    assert_string_equal("0 input: 2x4x4\n"
                        "1 batchnorm a of 0: 2x4x4 epsilon 0.001 momentum 0.01\n"
                        "2 batchnorm b of 1: 2x4x4\n"
                        "3 groupnorm c of 2: 2x4x4 groups 2 epsilon 1\n"
                        "4 layernorm d of 3: 2x4x4 epsilon 0.5\n"
                        "5 flatten of 4: 32x1x1\n"
                        "6 dense e of 5: 2x1x1 init torch\n",
                        (char *)text.data);
    cull_writer_clear(&text);
    cull_model_destroy(m);
}

/* The averages move by momentum, and what is predicted is divided by sqrt(variance + epsilon). */
static void momentum_and_epsilon_reach_the_averages_and_what_is_predicted(void **state)
{
    static const float inputs[] = {1, 3, 5, 7}; /* mean 4, variance 5, unbiased 20/3 */
    cull_model        *m = NULL;
    cull_params       *p = NULL;
    cull_plan         *plan = NULL;
    cull_backend      *backend = NULL;
    cull_signals       signals = {0};
    int32_t            label[4] = {0};
    cull_batch         batch = {.count = 4, .inputs = inputs, .target = label};
    float             *running = NULL;
    int                x = 0;

    (void)state;
    assert_ok(cull_backend_open("cpu", 1, &backend));
    assert_ok(cull_model_create("mine", 1, 1, 1, &m));
    x = cull_model_norm(m, 0, "n", &(cull_norm){.epsilon = 3, .momentum = 0.25});
    assert_ok(cull_model_finish(m, cull_model_dense(m, x, "d", &(cull_dense){.out = 2})));
    assert_ok(cull_nn_params_create(plain_backend(), m, CULL_F32, &p));
    cull_nn_params_init(p, m, 1);
    running = p->running;
    running[0] = 2;
    running[1] = 6;
    assert_ok(cull_nn_plan_create(m, p, backend, CULL_PLAN_LEARN, 4, (cull_loss){0}, &plan));
    assert_ok(cull_nn_learn(plan, &batch, &signals));
    assert_true(fabs(2.5 - (double)running[0]) < 1e-6);        /* 2 + .25 (4 - 2)     */
    assert_true(fabs(6 + 1. / 6 - (double)running[1]) < 1e-6); /* 6 + .25 (20/3 - 6) */
    cull_nn_plan_destroy(plan);
    assert_ok(cull_nn_plan_create(m, p, backend, CULL_PLAN_SCORE, 4, (cull_loss){0}, &plan));
    assert_ok(cull_nn_score(plan, &batch, CULL_STATS_RUNNING, CULL_SIGNAL_H, &signals));
    for (size_t i = 0; i < 4; i++) {
        double h = (double)((const float *)signals.h.data)[i];

        assert_true(fabs(((double)inputs[i] - 2.5) / sqrt(6 + 1. / 6 + 3) - h) < 1e-6);
    }
    cull_nn_plan_destroy(plan);
    cull_nn_params_destroy(p);
    cull_model_destroy(m);
    cull_backend_close(backend);
}

typedef int (*mistake)(cull_model *m);

static int no_such_node(cull_model *m)
{
    return cull_model_activate(m, 7, CULL_RELU);
}
static int later_node(cull_model *m)
{
    return cull_model_add(m, 0, 1);
}
static int no_such_second(cull_model *m)
{
    return cull_model_concat(m, 0, -1);
}
static int sum_of_two_shapes(cull_model *m)
{
    return cull_model_add(m, 0, cull_model_pool(m, 0, &(cull_pool){.kernel = 2}));
}
static int concat_of_two_sizes(cull_model *m)
{
    return cull_model_concat(m, 0, cull_model_pool(m, 0, &(cull_pool){.kernel = 2}));
}
static int dense_of_images(cull_model *m)
{
    return cull_model_dense(m, 0, "d", &(cull_dense){.out = 2});
}
static int dense_of_none(cull_model *m)
{
    return cull_model_dense(m, cull_model_flatten(m, 0), "d", &(cull_dense){0});
}
static int wide_kernel(cull_model *m)
{
    return cull_model_conv(m, 0, "c", &(cull_conv){.out = 2, .kernel = 9});
}
static int huge_kernel(cull_model *m)
{
    return cull_model_conv(m, 0, "c",
                           &(cull_conv){.out = 2, .kernel = INT64_MAX, .pad = INT64_MAX - 1});
}
static int wide_dilation(cull_model *m)
{
    return cull_model_conv(m, 0, "c", &(cull_conv){.out = 2, .kernel = 3, .dilation = 4});
}
static int negative_dilation(cull_model *m)
{
    return cull_model_conv(m, 0, "c", &(cull_conv){.out = 2, .kernel = 3, .dilation = -1});
}
static int padded_beyond(cull_model *m)
{
    return cull_model_conv(m, 0, "c",
                           &(cull_conv){.out = 2, .kernel = 3, .width = {.kernel = 2, .pad = 2}});
}
static int width_without_kernel(cull_model *m)
{
    return cull_model_conv(m, 0, "c", &(cull_conv){.out = 2, .kernel = 3, .width = {.pad = 1}});
}
static int wide_pool_across(cull_model *m)
{
    return cull_model_pool(m, 0, &(cull_pool){.kernel = 2, .width = {.kernel = 3, .pad = 2}});
}
static int dilated_pool(cull_model *m)
{
    return cull_model_pool(m, 0, &(cull_pool){.kernel = 2, .width = {.kernel = 2, .dilation = 2}});
}
static int odd_groups(cull_model *m)
{
    return cull_model_conv(m, 0, "c", &(cull_conv){.out = 3, .kernel = 1, .groups = 2});
}
static int negative_epsilon(cull_model *m)
{
    return cull_model_norm(m, 0, "n", &(cull_norm){.epsilon = -1});
}
static int epsilon_of_nan(cull_model *m)
{
    return cull_model_norm(m, 0, "n", &(cull_norm){.epsilon = NAN});
}
static int much_momentum(cull_model *m)
{
    return cull_model_norm(m, 0, "n", &(cull_norm){.momentum = 1.5});
}
static int momentum_of_a_layer(cull_model *m)
{
    return cull_model_norm(m, 0, "n", &(cull_norm){.over = CULL_NORM_LAYER, .momentum = 0.2});
}
static int unknown_norm(cull_model *m)
{
    return cull_model_norm(m, 0, "n", &(cull_norm){.over = (cull_normed)9});
}
static int odd_norm(cull_model *m)
{
    return cull_model_groupnorm(m, 0, "g", 3);
}
static int wide_pool(cull_model *m)
{
    return cull_model_pool(m, 0, &(cull_pool){.kernel = 16});
}
static int unknown_pool(cull_model *m)
{
    return cull_model_pool(m, 0, &(cull_pool){.pooling = (cull_pooling)9, .kernel = 2});
}
static int unknown_activation(cull_model *m)
{
    return cull_model_activate(m, 0, (cull_activation)9);
}
static int unknown_init(cull_model *m)
{
    return cull_model_conv(m, 0, "c", &(cull_conv){.out = 2, .kernel = 1, .init = (cull_init)16});
}
static int sure_dropout(cull_model *m)
{
    return cull_model_dropout(m, 0, 1);
}
static int narrow_shortcut(cull_model *m)
{
    return cull_model_shortcut(m, 0, 1, 1);
}
static int no_name(cull_model *m)
{
    return cull_model_batchnorm(m, 0, NULL);
}
static int name_with_a_space(cull_model *m)
{
    return cull_model_layernorm(m, 0, "a b");
}
static int name_twice(cull_model *m)
{
    return cull_model_batchnorm(m, cull_model_batchnorm(m, 0, "n"), "n");
}
static int too_many_weights(cull_model *m)
{
    int x = cull_model_conv(m, 0, "a", &(cull_conv){.out = 1 << 24, .kernel = 1});
    return cull_model_conv(m, x, "b", &(cull_conv){.out = 1 << 24, .kernel = 3});
}

static void the_first_mistake_is_the_one_that_finish_tells(void **state)
{
    static const struct {
        mistake     make;
        cull_status status;
        const char *told;
    } cases[] = {
        {no_such_node, CULL_BAD_ARGUMENT, "takes node 7, which is not there"},
        {later_node, CULL_BAD_ARGUMENT, "takes node 1, which is not there"},
        {no_such_second, CULL_BAD_ARGUMENT, "which is not there"},
        {sum_of_two_shapes, CULL_BAD_ARGUMENT, "node 2: a sum of 2x8x8 and 2x4x4"},
        {concat_of_two_sizes, CULL_BAD_ARGUMENT, "a concatenation of 2x8x8 and 2x4x4"},
        {dense_of_images, CULL_BAD_ARGUMENT, "node 1, d: a dense layer takes features"},
        {dense_of_none, CULL_BAD_ARGUMENT, "d: 0 outputs"},
        {wide_kernel, CULL_BAD_ARGUMENT, "node 1, c: a convolution 9x9"},
        {huge_kernel, CULL_BAD_ARGUMENT, "node 1: a window of kernel"},
        {wide_dilation, CULL_BAD_ARGUMENT,
         "a convolution 3x3, stride 1, padding 0, dilation 4, of 8x8"},
        {negative_dilation, CULL_BAD_ARGUMENT, "padding 0, dilation -1"},
        {padded_beyond, CULL_BAD_ARGUMENT, "node 1: a window of kernel 2, stride 0, padding 2"},
        {width_without_kernel, CULL_BAD_ARGUMENT,
         "the width of a window has settings but no kernel"},
        {wide_pool_across, CULL_BAD_ARGUMENT, "pooling 2x3, stride 2x3, padding 0x2, of 8x8"},
        {dilated_pool, CULL_BAD_ARGUMENT, "only convolutions are dilated"},
        {odd_groups, CULL_BAD_ARGUMENT, "from 2 to 3 channels in 2 groups"},
        {negative_epsilon, CULL_BAD_ARGUMENT, "node 1, n: a norm's epsilon of -1"},
        {epsilon_of_nan, CULL_BAD_ARGUMENT, "node 1, n: a norm's epsilon of nan"},
        {much_momentum, CULL_BAD_ARGUMENT, "node 1, n: a norm's momentum of 1.5"},
        {momentum_of_a_layer, CULL_BAD_ARGUMENT, "n: only a norm over the batch keeps averages"},
        {unknown_norm, CULL_BAD_ARGUMENT, "node 1: no norm is number 9"},
        {odd_norm, CULL_BAD_ARGUMENT, "group norm of 2 channels in 3 groups"},
        {wide_pool, CULL_BAD_ARGUMENT, "pooling 16x16"},
        {unknown_pool, CULL_BAD_ARGUMENT, "no pooling is number 9"},
        {unknown_activation, CULL_BAD_ARGUMENT, "no activation is number 9"},
        {unknown_init, CULL_BAD_ARGUMENT, "c: no start of weights is number 16"},
        {sure_dropout, CULL_BAD_ARGUMENT, "dropout with probability 1"},
        {narrow_shortcut, CULL_BAD_ARGUMENT, "a shortcut from 2 to 1 channels"},
        {no_name, CULL_BAD_ARGUMENT, "a layer's name is"},
        {name_with_a_space, CULL_BAD_ARGUMENT, "a layer's name is"},
        {name_twice, CULL_BAD_ARGUMENT, "two layers are called 'n'"},
        {too_many_weights, CULL_TOO_LARGE, "b: more than 2^40 weights"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_model *m = begin(2, 8), *other = NULL;

        assert_int_equal(-1, cases[i].make(m));
        /* neither later layers nor another failure make it forget */
        assert_int_equal(-1, cull_model_flatten(m, 0));
        assert_int_equal(CULL_UNKNOWN_MODEL, cull_model_named("nothing", 1, 8, 8, 2, &other));
        assert_fails(cases[i].status, cases[i].told, cull_model_finish(m, 1));
        assert_fails(cases[i].status, cases[i].told, cull_model_finish(m, 1));
        cull_model_destroy(m);
    }
}

static void what_leads_nowhere_or_is_no_dense_layer_does_not_finish(void **state)
{
    cull_model *m = begin(2, 8);
    int         x = cull_model_flatten(m, 0);

    (void)state;
    assert_fails(CULL_BAD_ARGUMENT, "the last node must be the dense layer",
                 cull_model_finish(m, x));
    cull_model_destroy(m);
    m = begin(2, 8);
    x = cull_model_flatten(m, 0);
    (void)cull_model_activate(m, x, CULL_RELU);
    x = cull_model_dense(m, x, "d", &(cull_dense){.out = 2});
    assert_fails(CULL_BAD_ARGUMENT, "node 2 (relu) leads nowhere", cull_model_finish(m, x));
    cull_model_destroy(m);
}

static void a_finished_model_takes_no_more_layers(void **state)
{
    cull_model *m = every_layer();

    (void)state;
    assert_int_equal(-1, cull_model_activate(m, 1, CULL_RELU));
    assert_fails(CULL_BAD_ARGUMENT, "the model is finished", cull_model_finish(m, 1));
    assert_int_equal(3, cull_model_classes(m));
    cull_model_destroy(m);
}

static void bad_beginnings_give_no_model(void **state)
{
    cull_model *m = (cull_model *)(uintptr_t)1;

    (void)state;
    assert_fails(CULL_BAD_ARGUMENT, "a model's name", cull_model_create("", 1, 8, 8, &m));
    assert_null(m);
    assert_fails(CULL_BAD_ARGUMENT, "a model's name", cull_model_create("a/b", 1, 8, 8, &m));
    assert_fails(CULL_BAD_ARGUMENT, "0x8x8", cull_model_create("a", 0, 8, 8, &m));
    assert_fails(CULL_BAD_ARGUMENT, "cannot be", cull_model_create("a", 1 << 20, 1 << 16, 8, &m));
    assert_int_equal(-1, cull_model_flatten(NULL, 0));
    assert_int_equal(-1, cull_model_dense(NULL, 0, "d", &(cull_dense){.out = 2}));
    assert_fails(CULL_BAD_ARGUMENT, "no model", cull_model_finish(NULL, 1));
    cull_model_destroy(NULL);
}

static void models_that_recipes_name_can_be_had(void **state)
{
    cull_model *m = NULL;

    (void)state;
    assert_ok(cull_model_named("lenet5", 1, 28, 28, 10, &m));
    assert_int_equal(61706, cull_model_parameters(m));
    cull_model_destroy(m);
    assert_fails(CULL_UNKNOWN_MODEL, "no model is called",
                 cull_model_named("lenet", 1, 8, 8, 2, &m));
    assert_null(m);
    assert_int_equal(CULL_BAD_ARGUMENT, cull_model_named("lenet5", 1, 4, 4, 10, &m));
}

static size_t count_of(const cull_model *m, cull_layer_kind kind)
{
    size_t count = 0;

    for (int i = 1; i < m->nodes; i++) count += m->node[i].desc.kind == kind;
    return count;
}

static void named_models_take_dropout_stem_and_norms(void **state)
{
    cull_named  wide = {.channels = 3, .height = 32, .width = 32, .classes = 10, .dropout = 0.3};
    cull_named  large = {.channels = 3,
                         .height = 224,
                         .width = 224,
                         .classes = 1000,
                         .stem = CULL_STEM_IMAGENET,
                         .norm_epsilon = 1e-3,
                         .norm_momentum = 0.01};
    cull_model *m = NULL;
    int64_t     shape[3] = {0};

    (void)state;
    assert_ok(cull_model_named_with("wrn-16-4", &wide, &m));
    assert_int_equal(6, count_of(m, CULL_LAYER_DROPOUT)); /* one a block, 2 in each of 3 stages */
    for (int i = 2; i < m->nodes; i++) {
        if (m->node[i].desc.kind != CULL_LAYER_DROPOUT) continue;
        assert_true(m->node[i].desc.probability == 0.3);
        assert_non_null(strstr(m->node[i - 2].name, "bn2")); /* norm, activation, dropout */
        assert_non_null(strstr(m->node[i + 1].name, "conv2"));
    }
    cull_model_destroy(m);
    /* torchvision's: 7x7 with stride 2, norm, activation, 3x3 pooling with stride 2 */
    assert_ok(cull_model_named_with("resnet18", &large, &m));
    assert_int_equal(11689512, cull_model_parameters(m));
    assert_int_equal(7, m->node[1].desc.kernel[0]);
    assert_ok(cull_model_shape(m, 1, shape));
    assert_true(shape[0] == 64 && shape[1] == 112 && shape[2] == 112);
    assert_ok(cull_model_shape(m, 4, shape));
    assert_true(shape[0] == 64 && shape[1] == 56 && shape[2] == 56);
    for (int i = 1; i < m->nodes; i++)
        if (m->node[i].desc.kind == CULL_LAYER_BATCHNORM)
            assert_true(m->node[i].desc.epsilon == 1e-3 && m->node[i].desc.momentum == 0.01);
    cull_model_destroy(m);
}

static void an_mlp_is_as_wide_and_deep_as_asked_for(void **state)
{
    cull_named  with = {.channels = 2, .height = 3, .width = 4, .classes = 5};
    cull_model *usual = NULL, *same = NULL, *m = NULL;
    cull_writer text[2] = {{0}};

    (void)state;
    assert_ok(cull_model_named_with("mlp", &with, &usual));
    assert_int_equal(24 * 256 + 256 + 256 * 256 + 256 + 256 * 5 + 5, cull_model_parameters(usual));
    with.mlp_width = 256;
    with.mlp_depth = 2;
    assert_ok(cull_model_named_with("mlp", &with, &same));
    assert_ok(cull_nn_model_text(usual, &text[0]));
    assert_ok(cull_nn_model_text(same, &text[1]));
    assert_string_equal((const char *)text[0].data, (const char *)text[1].data);
    with.mlp_width = 7;
    with.mlp_depth = 4;
    assert_ok(cull_model_named_with("mlp", &with, &m));
    assert_int_equal(24 * 7 + 7 + 3 * (7 * 7 + 7) + 7 * 5 + 5, cull_model_parameters(m));
    assert_int_equal(5, count_of(m, CULL_LAYER_DENSE));
    assert_string_equal("fc5", m->node[m->last_dense].name);
    for (int i = 0; i < 2; i++) cull_writer_clear(&text[i]);
    cull_model_destroy(usual);
    cull_model_destroy(same);
    cull_model_destroy(m);
}

static void what_a_named_model_has_not_is_refused(void **state)
{
    static const struct {
        const char *name;
        cull_named  with;
        const char *told;
    } cases[] = {
        {"resnet18",
         {.dropout = 0.1},
         "dropout: resnet18 has none; wrn-D-K, mobilenetv2, bert and transformer-L-W have"},
        {"lenet5", {.dropout = 0.1}, "dropout: lenet5 has none"},
        {"wrn-16-4", {.dropout = 1}, "dropout: a probability of 1"},
        {"wrn-16-4", {.dropout = NAN}, "dropout: a probability of nan"},
        {"wrn-16-4", {.stem = CULL_STEM_IMAGENET}, "stem: wrn-16-4 has one stem only"},
        {"mlp", {.stem = CULL_STEM_IMAGENET}, "stem: mlp has one stem only"},
        {"resnet18", {.stem = (cull_stem)7}, "stem: none is number 7"},
        {"mlp", {.norm_epsilon = 1e-3}, "norm_epsilon: mlp has no norms"},
        {"lenet5", {.norm_momentum = 0.5}, "norm_momentum: lenet5 has no norms"},
        {"resnet18", {.norm_epsilon = -1}, "norm_epsilon: -1"},
        {"resnet18", {.norm_momentum = 2}, "norm_momentum: 2"},
        {"lenet5", {.mlp_width = 64}, "width: only mlp has one to choose, lenet5 has not"},
        {"wrn-16-4", {.mlp_depth = 3}, "depth: only mlp has one to choose, wrn-16-4 has not"},
        {"mlp", {.mlp_width = -1}, "width: -1 is not within 1 and 1048576"},
        {"mlp", {.mlp_depth = 1001}, "depth: 1001 is not within 1 and 1000"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_named  with = cases[i].with;
        cull_model *m = NULL;

        with.channels = 3;
        with.height = with.width = 32;
        with.classes = 10;
        assert_fails(CULL_BAD_OPTION, cases[i].told,
                     cull_model_named_with(cases[i].name, &with, &m));
        assert_null(m);
    }
}

static void every_failing_allocation_is_told_by_finish(void **state)
{
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_model *m = NULL;
        int         x = 0;

        fail_nth_alloc(n);
        (void)cull_model_create("mine", 1, 4, 4, &m);
        for (int i = 0; i < 20; i++) x = cull_model_activate(m, x, CULL_RELU);
        x = cull_model_dense(m, cull_model_flatten(m, x), "d", &(cull_dense){.out = 2});
        status = cull_model_finish(m, x);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || (m ? status == CULL_NO_MEMORY : !m));
        cull_model_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layer_can_be_described),
        cmocka_unit_test(a_model_described_twice_is_the_same_and_a_copy_is_too),
        cmocka_unit_test(a_model_s_text_tells_it_from_others),
        cmocka_unit_test(a_square_window_is_told_by_one_number),
        cmocka_unit_test(windows_have_a_width_and_a_dilation_of_their_own),
        cmocka_unit_test(the_first_mistake_is_the_one_that_finish_tells),
        cmocka_unit_test(what_leads_nowhere_or_is_no_dense_layer_does_not_finish),
        cmocka_unit_test(a_finished_model_takes_no_more_layers),
        cmocka_unit_test(bad_beginnings_give_no_model),
        cmocka_unit_test(models_that_recipes_name_can_be_had),
        cmocka_unit_test(norms_have_an_epsilon_and_a_momentum_of_their_own),
        cmocka_unit_test(momentum_and_epsilon_reach_the_averages_and_what_is_predicted),
        cmocka_unit_test(named_models_take_dropout_stem_and_norms),
        cmocka_unit_test(an_mlp_is_as_wide_and_deep_as_asked_for),
        cmocka_unit_test(what_a_named_model_has_not_is_refused),
        cmocka_unit_test(every_failing_allocation_is_told_by_finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
