/*
 * tests/unit/test_sequences.c - models of sequences: what is built, what padding and lengths change
 * (nothing), and gradients of a whole small transformer.
 */
#include <stdio.h>

#include "base/alloc.h"
#include "plan_support.h"

enum { LENGTH = 12, SHORT = 8, TOKENS = 11, WIDTH = 8, HEADS = 2, KEPT = 3 };

#define SAME_ERROR       1e-12 /* double, sums in another order                     */
#define STEP             1e-5
#define DIFFERENCE_ERROR 1e-7

static int block(cull_model *m, int x, int number, double dropout)
{
    char name[5][24];
    int  y = 0;

    for (int i = 0; i < 5; i++)
        (void)snprintf(name[i], sizeof name[i], "%d.%s", number,
                       (const char *[]){"qkv", "out", "norm1", "up", "down"}[i]);
    y = cull_model_dense(m, x, name[0], &(cull_dense){.out = 3 * WIDTH});
    y = cull_model_attention(m, y, 0, &(cull_attention){.heads = HEADS, .dropout = dropout});
    y = cull_model_dropout(m, cull_model_dense(m, y, name[1], &(cull_dense){.out = WIDTH}),
                           dropout);
    x = cull_model_layernorm(m, cull_model_add(m, x, y), name[2]);
    y = cull_model_dense(m, x, name[3], &(cull_dense){.out = 2 * WIDTH});
    y = cull_model_dense(m, cull_model_activate(m, y, CULL_GELU_TANH), name[4],
                         &(cull_dense){.out = WIDTH});
    return cull_model_add(m, x, y);
}

/* Two blocks, with everything that sequences have. */
static cull_model *transformer(double dropout)
{
    cull_model *m = NULL;
    int         x = 0;

    assert_ok(cull_model_create("tiny", 1, LENGTH, 1, &m));
    x = cull_model_embed(m, 0, "words",
                         &(cull_embed){.tokens = TOKENS, .width = WIDTH, .deviation = 1});
    x = cull_model_positions(m, x, "places", &(cull_positions){.rows = LENGTH + 1, .deviation = 1});
    x = cull_model_positions(m, x, "kinds",
                             &(cull_positions){.rows = 2, .same = true, .deviation = 1});
    x = cull_model_dropout(m, cull_model_layernorm(m, x, "norm"), dropout);
    x = block(m, block(m, x, 0, dropout), 1, dropout);
    x = cull_model_activate(
        m, cull_model_dense(m, cull_model_take(m, x), "pool", &(cull_dense){.out = WIDTH}),
        CULL_TANH);
    assert_ok(
        cull_model_finish(m, cull_model_dense(m, x, "logits", &(cull_dense){.out = CLASSES})));
    return m;
}

/* Example i has 3 + i tokens, then padding; tokens[length * BATCH]. */
static void write_tokens(int32_t *tokens, size_t length)
{
    for (size_t i = 0; i < BATCH; i++)
        for (size_t t = 0; t < length; t++)
            tokens[i * length + t] = t < 3 + i ? (int32_t)((i * 5 + t * 3) % (TOKENS - 1)) : -1;
}

static struct net *text_net(double dropout, const char *backend, cull_dtype dtype)
{
    struct net *n = net_of(transformer(dropout), backend, dtype);

    write_tokens(n->native, LENGTH);
    return n;
}

/* The same parameters, another length; what comes back is the model that the plan needs. */
static double *learn_at(struct net *n, int64_t length, double *losses)
{
    cull_model  *model = NULL;
    cull_plan   *plan = NULL;
    cull_signals seen;

    assert_ok(cull_nn_model_at(n->model, length, &model));
    write_tokens(n->native, (size_t)length);
    assert_ok(
        cull_nn_plan_create(model, n->params, n->backend, CULL_PLAN_LEARN, BATCH, n->loss, &plan));
    assert_int_equal(CULL_I32, cull_nn_plan_dtype(plan));
    assert_int_equal(length, cull_nn_plan_input(plan).h);
    assert_ok(cull_nn_learn(plan, &n->batch, &seen));
    for (size_t i = 0; i < BATCH; i++) losses[i] = cull_tensor_get(&seen.loss, i);
    cull_nn_plan_destroy(plan);
    cull_nn_model_destroy(model);
    write_tokens(n->native, LENGTH);
    return gradient_of(n);
}

static void padding_further_changes_nothing(void **state)
{
    struct net *n = text_net(0.3, "ref", CULL_F64);
    double      near[BATCH], far[BATCH];
    double     *a = learn_at(n, SHORT, near), *b = learn_at(n, LENGTH, far);

    (void)state;
    compare(near, far, BATCH, SAME_ERROR, "losses");
    compare(a, b, n->params->count, SAME_ERROR, "gradients");
    free(a);
    free(b);
    drop(n);
}

static double loss_of(struct net *n)
{
    cull_plan   *plan = NULL;
    cull_signals seen;
    double       sum = 0;

    assert_ok(cull_nn_plan_create(n->model, n->params, n->backend, CULL_PLAN_LEARN, BATCH, n->loss,
                                  &plan));
    assert_ok(cull_nn_learn(plan, &n->batch, &seen));
    for (size_t i = 0; i < BATCH; i++) sum += n->weight[i] * cull_tensor_get(&seen.loss, i) / BATCH;
    cull_nn_plan_destroy(plan);
    return sum;
}

/* Some of every block of parameters. */
static void gradients_are_differences(void **state)
{
    struct net *n = text_net(0.2, "ref", CULL_F64);
    double     *value = n->params->value, *gradient = NULL;

    (void)state;
    (void)loss_of(n);
    gradient = gradient_of(n);
    for (size_t i = 0; i < n->params->count; i += 1 + i % 7) {
        double at = value[i], ahead = 0, behind = 0, slope = gradient[i];

        value[i] = at + STEP;
        ahead = loss_of(n);
        value[i] = at - STEP;
        behind = loss_of(n);
        value[i] = at;
        if (!(fabs((ahead - behind) / (2 * STEP) - slope) <= DIFFERENCE_ERROR * (1 + fabs(slope))))
            fail_msg("parameter %zu: %g, differences say %g", i, slope,
                     (ahead - behind) / (2 * STEP));
    }
    free(gradient);
    drop(n);
}

/* Rows of a scoring pass, with the masks that it had. */
static void kept_rows_are_a_separate_pass(void **state)
{
    static const uint32_t row[KEPT] = {1, 2, 5};
    static const double   weight[KEPT] = {0.5, 2, 0.25};
    struct net           *n = text_net(0.3, "ref", CULL_F64);
    cull_plan            *score = NULL, *learn = NULL, *alone = NULL;
    cull_subset           subset = {0};
    cull_signals          seen;
    cull_batch            batch = n->batch;
    double               *kept = NULL, *separate = NULL;
    int32_t               tokens[KEPT * LENGTH], label[KEPT];
    uint32_t              place[KEPT];

    (void)state;
    assert_ok(cull_nn_plan_create(n->model, n->params, n->backend, CULL_PLAN_SCORE_AND_KEEP, BATCH,
                                  n->loss, &score));
    assert_ok(cull_nn_plan_create(n->model, n->params, n->backend, CULL_PLAN_LEARN_FROM_KEPT, KEPT,
                                  n->loss, &learn));
    assert_ok(cull_nn_plan_create(n->model, n->params, n->backend, CULL_PLAN_LEARN, KEPT, n->loss,
                                  &alone));
    assert_ok(cull_subset_resize(&subset, KEPT));
    memcpy(subset.index, row, sizeof row);
    memcpy(subset.weight, weight, sizeof weight);
    assert_ok(cull_nn_score(score, &n->batch, CULL_STATS_UPDATE, CULL_SIGNAL_LOSS, &seen));
    assert_ok(cull_nn_learn_kept(learn, score, &subset, &seen));
    kept = gradient_of(n);
    for (size_t i = 0; i < KEPT; i++) {
        memcpy(tokens + i * LENGTH, (int32_t *)n->native + row[i] * LENGTH,
               LENGTH * sizeof *tokens);
        label[i] = n->label[row[i]];
        place[i] = n->place[row[i]];
    }
    batch.count = KEPT;
    batch.inputs = tokens;
    batch.target = label;
    batch.place = place;
    batch.weight = weight;
    assert_ok(cull_nn_learn(alone, &batch, &seen));
    separate = gradient_of(n);
    compare(kept, separate, n->params->count, SAME_ERROR, "gradients");
    free(kept);
    free(separate);
    cull_subset_clear(&subset);
    cull_nn_plan_destroy(score);
    cull_nn_plan_destroy(learn);
    cull_nn_plan_destroy(alone);
    drop(n);
}

static void a_token_beyond_the_table_is_named(void **state)
{
    static const char *const backends[] = {"ref", "cpu"};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct net  *n = text_net(0, backends[k], CULL_F32);
        cull_plan   *plan = NULL;
        cull_signals seen;

        assert_ok(cull_nn_plan_create(n->model, n->params, n->backend, CULL_PLAN_SCORE, BATCH,
                                      n->loss, &plan));
        ((int32_t *)n->native)[2 * LENGTH + 1] = TOKENS;
        assert_fails(CULL_BAD_ARGUMENT,
                     "example 2 (place 106) has token 11, the model knows 0 to 10",
                     cull_nn_score(plan, &n->batch, CULL_STATS_UPDATE, 0, &seen));
        cull_nn_plan_destroy(plan);
        drop(n);
    }
}

/* ---- building ---- */

static int bad_image(cull_model *m)
{
    return cull_model_embed(m, cull_model_activate(m, 0, CULL_RELU), "e",
                            &(cull_embed){.tokens = 3, .width = 4});
}

static int bad_read(cull_model *m)
{
    (void)cull_model_embed(m, 0, "e", &(cull_embed){.tokens = 3, .width = 4});
    return cull_model_dense(m, 0, "d", &(cull_dense){.out = 2});
}

static int bad_conv(cull_model *m)
{
    int x = cull_model_embed(m, 0, "e", &(cull_embed){.tokens = 3, .width = 4});

    return cull_model_conv(m, x, "c", &(cull_conv){.out = 2, .kernel = 1});
}

static int bad_flatten(cull_model *m)
{
    return cull_model_flatten(m,
                              cull_model_embed(m, 0, "e", &(cull_embed){.tokens = 3, .width = 4}));
}

static int bad_table(cull_model *m)
{
    return cull_model_embed(m, 0, "e", &(cull_embed){.width = 4});
}

static int bad_width(cull_model *m)
{
    return cull_model_embed(m, 0, "e", &(cull_embed){.tokens = 3});
}

static int bad_deviation(cull_model *m)
{
    return cull_model_embed(m, 0, "e", &(cull_embed){.tokens = 3, .width = 4, .deviation = -1});
}

static int bad_positions(cull_model *m)
{
    int x = cull_model_embed(m, 0, "e", &(cull_embed){.tokens = 3, .width = 4});

    return cull_model_positions(m, x, "p", &(cull_positions){.rows = LENGTH - 1});
}

static int bad_heads(cull_model *m)
{
    int x = cull_model_embed(m, 0, "e", &(cull_embed){.tokens = 3, .width = 12});

    return cull_model_attention(m, x, 0, &(cull_attention){.heads = 3});
}

static int bad_tokens(cull_model *m)
{
    int x = cull_model_embed(m, 0, "e", &(cull_embed){.tokens = 3, .width = 12});

    return cull_model_attention(m, x, x, &(cull_attention){.heads = 2});
}

static int bad_take(cull_model *m)
{
    return cull_model_take(m, 0);
}

static int bad_sum(cull_model *m)
{
    int x = cull_model_embed(m, 0, "e", &(cull_embed){.tokens = 3, .width = 4});

    return cull_model_add(m, x, cull_nn_input(m, 4, LENGTH, 1, 0));
}

static int bad_end(cull_model *m)
{
    int x = cull_model_embed(m, 0, "e", &(cull_embed){.tokens = 3, .width = 4});

    return cull_model_dense(m, x, "d", &(cull_dense){.out = 2});
}

static void what_cannot_be_built_is_said(void **state)
{
    static const struct {
        int (*build)(cull_model *);
        const char *why;
    } cases[] = {{bad_image, "m: node 2, e: 'embed' reads tokens, and node 1 is none"},
                 {bad_read, "m: node 2, d: 'dense' cannot read tokens; embed them"},
                 {bad_conv, "m: node 2, c: 'conv' takes images and features, not sequences"},
                 {bad_flatten, "m: node 2: 'flatten' takes images and features, not sequences"},
                 {bad_table, "m: node 1, e: 0 tokens; 1 to 16777216 are possible"},
                 {bad_width, "m: node 1, e: 0 features; 1 to 16777216 are possible"},
                 {bad_deviation, "m: node 1: weights with a deviation of -1"},
                 {bad_positions, "m: node 2, p: a sequence of 12 positions, and rows for 11"},
                 {bad_heads,
                  "m: node 2: attention of 3 heads takes queries, keys and values of as many "
                  "parts each, and 12 features are no multiple of 9"},
                 {bad_tokens, "m: node 2: 'attention' reads tokens, and node 1 is none"},
                 {bad_take, "m: node 1: 'take' takes sequences: embed tokens first"},
                 {bad_sum, "m: node 3: a sequence and an image cannot be added"},
                 {bad_end, "m: logits of every position; take one position first"}};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cull_model *m = NULL;
        int         x = 0;

        assert_ok(cull_model_create("m", 1, LENGTH, 1, &m));
        x = cases[k].build(m);
        assert_fails(CULL_BAD_ARGUMENT, cases[k].why, cull_model_finish(m, x));
        cull_model_destroy(m);
    }
}

static void a_model_at_no_length_is_refused(void **state)
{
    cull_model *m = transformer(0), *other = NULL, *mlp = model_of("mlp", 1, 4, 0, CULL_RELU);

    (void)state;
    assert_fails(CULL_BAD_ARGUMENT, "tiny: sequences of 13 positions; it was made for up to 12",
                 cull_nn_model_at(m, LENGTH + 1, &other));
    assert_fails(CULL_BAD_ARGUMENT, "tiny: sequences of 0 positions; it was made for up to 12",
                 cull_nn_model_at(m, 0, &other));
    assert_fails(CULL_BAD_ARGUMENT, "mlp: its inputs are no sequences",
                 cull_nn_model_at(mlp, 4, &other));
    assert_null(other);
    for (size_t k = 1; !other; k++) {
        fail_nth_alloc(k);
        (void)cull_nn_model_at(m, SHORT, &other);
        fail_nth_alloc(0);
    }
    cull_nn_model_destroy(other);
    cull_nn_model_destroy(m);
    cull_nn_model_destroy(mlp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(padding_further_changes_nothing),
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(kept_rows_are_a_separate_pass),
        cmocka_unit_test(a_token_beyond_the_table_is_named),
        cmocka_unit_test(what_cannot_be_built_is_said),
        cmocka_unit_test(a_model_at_no_length_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
