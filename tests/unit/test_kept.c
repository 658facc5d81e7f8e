/*
 * tests/unit/test_kept.c - learning from the kept rows of a scoring pass.
 *
 * Where no BatchNorm is, the gradient is that of a separate pass over the rows; with BatchNorm it
 * follows METHODS' rule, here written out by hand for a network of 1x1 convolutions.
 */
#include "base/alloc.h"
#include "plan_support.h"

enum { KEPT = 3 };

#define SAME_ERROR 1e-12 /* double, sums in another order */
/* Float32 against double through a dozen layers; nets this small and seeds fixed, no ReLU's gate
 * lies within rounding of zero. */
#define FLOAT_ERROR 1e-4

static const uint32_t rows[KEPT] = {1, 2, 4};
static const double   weights[KEPT] = {0.5, 2, 0.25};

/* Score all, learn from `m` rows. */
static double *kept_gradient(struct net *n, const uint32_t *row, const double *weight, size_t m)
{
    cull_plan   *score = plan_of(n, CULL_PLAN_SCORE_AND_KEEP, BATCH);
    cull_plan   *learn = plan_of(n, CULL_PLAN_LEARN_FROM_KEPT, m);
    cull_subset  subset = {0};
    cull_signals seen, trained;

    assert_ok(cull_subset_resize(&subset, m));
    memcpy(subset.index, row, m * sizeof *row);
    memcpy(subset.weight, weight, m * sizeof *weight);
    n->batch.epoch = 9;
    assert_ok(cull_nn_score(score, &n->batch, CULL_STATS_UPDATE, CULL_SIGNAL_LOSS, &seen));
    assert_ok(cull_nn_learn_kept(learn, score, &subset, &trained));
    for (size_t i = 0; i < m; i++) {
        assert_true(cull_tensor_get(&trained.loss, i) == cull_tensor_get(&seen.loss, row[i]));
        assert_int_equal(n->place[row[i]], trained.place[i]);
    }
    assert_int_equal(9, trained.epoch);
    assert_int_equal(3, trained.step);
    cull_subset_clear(&subset);
    cull_nn_plan_destroy(score);
    cull_nn_plan_destroy(learn);
    return gradient_of(n);
}

/* The same rows forward and backward on their own. */
static double *separate_gradient(struct net *n)
{
    cull_plan   *plan = plan_of(n, CULL_PLAN_LEARN, KEPT);
    size_t       row = (size_t)cull_image_row(&n->model->input);
    double      *inputs = malloc(KEPT * row * sizeof *inputs);
    size_t       bytes = cull_loss_target(n->loss.kind, CLASSES, n->params->dtype);
    double       target[KEPT * CLASSES];
    uint32_t     place[KEPT];
    cull_batch   batch = n->batch;
    cull_signals seen;

    batch.count = KEPT;
    batch.inputs = inputs;
    batch.target = target;
    batch.place = place;
    batch.weight = weights;
    for (size_t i = 0; i < KEPT; i++) {
        memcpy(inputs + i * row, n->inputs + rows[i] * row, row * sizeof *inputs);
        memcpy((char *)target + i * bytes, (const char *)n->batch.target + rows[i] * bytes, bytes);
        place[i] = n->place[rows[i]];
    }
    assert_ok(cull_nn_learn(plan, &batch, &seen));
    free(inputs);
    cull_nn_plan_destroy(plan);
    return gradient_of(n);
}

static void check_exact(struct net *n, const char *name)
{
    double *kept = kept_gradient(n, rows, weights, KEPT), *separate = separate_gradient(n);

    compare(kept, separate, n->params->count, SAME_ERROR, name);
    free(kept);
    free(separate);
    drop(n);
}

/* Normalisation within each example, dropout twice, max and average pooling, two ways that join. */
static cull_model *make_mixed(void)
{
    cull_model *m = NULL;
    int         x = 0, y = 0;

    assert_ok(cull_nn_model_create("mixed", 3, 8, 8, &m));
    x = cull_model_conv(m, 0, "conv1", &(cull_conv){.out = 8, .kernel = 3, .pad = 1});
    x = cull_model_activate(m, cull_model_groupnorm(m, x, "norm1", 4), CULL_RELU);
    x = cull_model_dropout(
        m, cull_model_pool(m, x, &(cull_pool){.kernel = 3, .stride = 2, .pad = 1}), 0.3);
    y = cull_model_conv(m, x, "conv2",
                        &(cull_conv){.out = 8,
                                     .kernel = 3,
                                     .pad = 1,
                                     .groups = 8,
                                     .no_bias = true,
                                     .init = CULL_INIT_HE_IN});
    y = cull_model_activate(m, cull_model_layernorm(m, y, "norm2"), CULL_GELU);
    x = cull_model_concat(m, cull_model_add(m, x, y), y);
    x = cull_model_activate(
        m, cull_model_pool(m, x, &(cull_pool){.pooling = CULL_POOL_AVERAGE, .kernel = 2}),
        CULL_RELU6);
    x = cull_model_dropout(m, cull_model_flatten(m, x), 0.5);
    assert_ok(cull_nn_model_finish(m, cull_model_dense(m, x, "fc", &(cull_dense){.out = CLASSES})));
    return m;
}

static void without_batchnorm_kept_rows_are_a_separate_pass(void **state)
{
    (void)state;
    check_exact(make("mlp", 1, 16, 0), "mlp");
    check_exact(make("lenet5", 1, 16, 0), "lenet5");
    check_exact(aim(make("lenet5", 1, 16, 0), CULL_LOSS_SQUARED), "squared error");
    check_exact(aim(make("lenet5", 1, 16, 0), CULL_LOSS_BINARY), "binary");
    check_exact(net_of(make_mixed(), "ref", CULL_F64), "group norm, layer norm, dropout");
}

static void keeping_everything_is_plain_training(void **state)
{
    static const char *const names[] = {"resnet20", "wrn-10-1", "densenet-bc-10-4", "mobilenetv2"};
    const uint32_t           row[] = {0, 1, 2, 3, 4, 5};
    const double             one[] = {1, 1, 1, 1, 1, 1};

    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct net  *n = make(names[k], 3, 8, k == 1 ? 0.4 : 0);
        double      *kept = kept_gradient(n, row, one, BATCH);
        cull_plan   *plan = plan_of(n, CULL_PLAN_LEARN, BATCH);
        cull_signals seen;

        n->batch.weight = NULL;
        assert_ok(cull_nn_learn(plan, &n->batch, &seen));
        compare(kept, n->params->gradient, n->params->count, SAME_ERROR, names[k]);
        free(kept);
        cull_nn_plan_destroy(plan);
        drop(n);
    }
}

/* ---- METHODS' rule by hand: conv 1x1, batchnorm, gelu, twice; global pool; dense ---- */
enum { PIXELS = 6, IN = 3, WIDE = 4, STAGES = 2 };

static cull_model *make_stages(void)
{
    cull_model *m = NULL;
    int         x = 0;

    assert_ok(cull_nn_model_create("stages", IN, 2, 3, &m));
    x = cull_model_conv(
        m, 0, "conv1",
        &(cull_conv){.out = WIDE, .kernel = 1, .no_bias = true, .init = CULL_INIT_HE_IN});
    x = cull_model_activate(m, cull_model_batchnorm(m, x, "bn1"), CULL_GELU);
    x = cull_model_conv(
        m, x, "conv2",
        &(cull_conv){.out = WIDE, .kernel = 1, .no_bias = true, .init = CULL_INIT_HE_IN});
    x = cull_model_activate(m, cull_model_batchnorm(m, x, "bn2"), CULL_GELU);
    x = cull_model_pool(m, x, &(cull_pool){.pooling = CULL_POOL_GLOBAL});
    assert_ok(cull_nn_model_finish(m, cull_model_dense(m, x, "fc", &(cull_dense){.out = CLASSES})));
    return m;
}

/* a: input, hat: normalised output of the convolution, z: before the GELU. */
struct stage {
    double        a[BATCH][WIDE][PIXELS], hat[BATCH][WIDE][PIXELS], z[BATCH][WIDE][PIXELS];
    double        mean[WIDE], rstd[WIDE];
    int           in;
    const double *w, *gamma, *beta;
    double       *dw, *dgamma, *dbeta;
};

static double gelu(double x)
{
    return 0.5 * x * (1 + erf(x / sqrt(2)));
}

static double gelu_slope(double x)
{
    return 0.5 * (1 + erf(x / sqrt(2))) + x * exp(-x * x / 2) / sqrt(2 * acos(-1));
}

static void stage_forward(struct stage *s, double out[BATCH][WIDE][PIXELS])
{
    static double u[BATCH][WIDE][PIXELS];
    const double  members = BATCH * PIXELS;

    for (int o = 0; o < WIDE; o++) {
        double mean = 0, square = 0;

        for (int i = 0; i < BATCH; i++) {
            for (int q = 0; q < PIXELS; q++) {
                u[i][o][q] = 0;
                for (int c = 0; c < s->in; c++) u[i][o][q] += s->w[o * s->in + c] * s->a[i][c][q];
                mean += u[i][o][q] / members;
            }
        }
        for (int i = 0; i < BATCH; i++)
            for (int q = 0; q < PIXELS; q++)
                square += (u[i][o][q] - mean) * (u[i][o][q] - mean) / members;
        s->rstd[o] = 1 / sqrt(square + 1e-5);
        for (int i = 0; i < BATCH; i++) {
            for (int q = 0; q < PIXELS; q++) {
                s->hat[i][o][q] = (u[i][o][q] - mean) * s->rstd[o];
                s->z[i][o][q] = s->gamma[o] * s->hat[i][o][q] + s->beta[o];
                out[i][o][q] = gelu(s->z[i][o][q]);
            }
        }
    }
}

/* d: gradient of the stage's output for each kept row, then of its input. */
static void stage_backward(struct stage *s, double d[KEPT][WIDE][PIXELS])
{
    static double du[KEPT][WIDE][PIXELS];

    for (int o = 0; o < WIDE; o++) {
        double sum = 0, product = 0, members = KEPT * PIXELS;

        for (int k = 0; k < KEPT; k++) {
            for (int q = 0; q < PIXELS; q++) {
                d[k][o][q] *= gelu_slope(s->z[rows[k]][o][q]);
                sum += d[k][o][q];
                product += d[k][o][q] * s->hat[rows[k]][o][q];
            }
        }
        s->dgamma[o] = product;
        s->dbeta[o] = sum;
        for (int k = 0; k < KEPT; k++)
            for (int q = 0; q < PIXELS; q++)
                du[k][o][q] = s->gamma[o] * s->rstd[o] *
                              (d[k][o][q] - weights[k] * (sum / members + s->hat[rows[k]][o][q] *
                                                                              product / members));
        for (int c = 0; c < s->in; c++) {
            s->dw[o * s->in + c] = 0;
            for (int k = 0; k < KEPT; k++)
                for (int q = 0; q < PIXELS; q++)
                    s->dw[o * s->in + c] += du[k][o][q] * s->a[rows[k]][c][q];
        }
    }
    memset(d, 0, KEPT * sizeof *d);
    for (int k = 0; k < KEPT; k++)
        for (int c = 0; c < s->in; c++)
            for (int o = 0; o < WIDE; o++)
                for (int q = 0; q < PIXELS; q++) d[k][c][q] += s->w[o * s->in + c] * du[k][o][q];
}

/* From pooled features to their gradient, the dense layer's gradients on the way. */
static void head(const struct net *n, double last[BATCH][WIDE][PIXELS], const double *w, double *dw,
                 double d[KEPT][WIDE][PIXELS])
{
    const double *b = w + CLASSES * WIDE;
    double       *db = dw + CLASSES * WIDE;

    memset(d, 0, KEPT * sizeof *d);
    for (int k = 0; k < KEPT; k++) {
        double h[WIDE] = {0}, logit[CLASSES], sum = 0;

        for (int c = 0; c < WIDE; c++)
            for (int q = 0; q < PIXELS; q++) h[c] += last[rows[k]][c][q] / PIXELS;
        for (int j = 0; j < CLASSES; j++) {
            logit[j] = b[j];
            for (int c = 0; c < WIDE; c++) logit[j] += w[j * WIDE + c] * h[c];
            sum += exp(logit[j]);
        }
        for (int j = 0; j < CLASSES; j++) {
            double target = SMOOTHING / CLASSES + (j == n->label[rows[k]] ? 1 - SMOOTHING : 0);
            double p = weights[k] / KEPT * (exp(logit[j]) / sum - target);

            db[j] += p;
            for (int c = 0; c < WIDE; c++) {
                dw[j * WIDE + c] += p * h[c];
                for (int q = 0; q < PIXELS; q++) d[k][c][q] += p * w[j * WIDE + c] / PIXELS;
            }
        }
    }
}

static void set_stage(const struct net *n, int number, double *gradient, struct stage *s)
{
    const cull_node *conv = &n->model->node[3 * number + 1], *norm = conv + 1;
    const double    *value = n->params->value;

    s->in = number ? WIDE : IN;
    s->w = value + conv->param_at[0];
    s->gamma = value + norm->param_at[0];
    s->beta = value + norm->param_at[1];
    s->dw = gradient + conv->param_at[0];
    s->dgamma = gradient + norm->param_at[0];
    s->dbeta = gradient + norm->param_at[1];
}

static void with_batchnorm_kept_rows_follow_the_rule(void **state)
{
    static struct stage stage[STAGES];
    static double       last[BATCH][WIDE][PIXELS], d[KEPT][WIDE][PIXELS];
    struct net         *n = net_of(make_stages(), "ref", CULL_F64);
    double             *right = calloc(n->params->count, sizeof *right), *kept = NULL;
    size_t              fc = n->model->node[n->model->last_dense].param_at[0];

    (void)state;
    for (size_t i = 0; i < n->params->count; i++) /* no gamma 1, no beta 0 */
        ((double *)n->params->value)[i] += 0.3 * random_normal(5, i);
    for (int s = 0; s < STAGES; s++) set_stage(n, s, right, &stage[s]);
    for (int i = 0; i < BATCH * IN * PIXELS; i++)
        stage[0].a[i / (IN * PIXELS)][i / PIXELS % IN][i % PIXELS] = n->inputs[i];
    stage_forward(&stage[0], stage[1].a);
    stage_forward(&stage[1], last);
    head(n, last, (const double *)n->params->value + fc, right + fc, d);
    stage_backward(&stage[1], d);
    stage_backward(&stage[0], d);
    kept = kept_gradient(n, rows, weights, KEPT);
    compare(kept, right, n->params->count, SAME_ERROR, "batchnorm under reuse");
    free(right);
    free(kept);
    drop(n);
}

/* ---- other backends ---- */
static size_t count_steps(struct net *n)
{
    cull_plan *plan = plan_of(n, CULL_PLAN_LEARN, BATCH);
    size_t     count = 0;

    while (cull_nn_plan_implementation(plan, count)) count++;
    cull_nn_plan_destroy(plan);
    return count;
}

static void copy_parameters(const struct net *from, struct net *to)
{
    for (size_t i = 0; i < to->params->count; i++)
        ((double *)to->params->value)[i] = get(from->params->value, CULL_F32, i);
}

static void fused_plans_learn_the_same(void **state)
{
    static const char *const names[] = {"resnet20", "wrn-10-1", "densenet-bc-10-4", "lenet5"};

    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        double      dropout = k == 1 ? 0.3 : 0;
        int64_t     channels = k == 3 ? 1 : 3, extent = k == 3 ? 16 : 8;
        struct net *cpu =
            net_of(model_of(names[k], channels, extent, dropout, CULL_RELU), "cpu", CULL_F32);
        struct net *ref =
            net_of(model_of(names[k], channels, extent, dropout, CULL_RELU), "ref", CULL_F64);
        double *ours = NULL, *right = NULL;

        copy_parameters(cpu, ref);
        assert_true(k == 3 || count_steps(cpu) < count_steps(ref));
        ours = kept_gradient(cpu, rows, weights, KEPT);
        right = kept_gradient(ref, rows, weights, KEPT);
        compare(ours, right, cpu->params->count, FLOAT_ERROR, names[k]);
        free(ours);
        free(right);
        drop(cpu);
        drop(ref);
    }
}

static void check_warm_steps(const char *backend, cull_dtype dtype)
{
    struct net  *n = net_of(model_of("wrn-10-1", 3, 8, 0.3, CULL_RELU), backend, dtype);
    cull_plan   *score = plan_of(n, CULL_PLAN_SCORE, BATCH);
    cull_plan   *both = plan_of(n, CULL_PLAN_LEARN, BATCH);
    cull_plan   *keep = plan_of(n, CULL_PLAN_SCORE_AND_KEEP, BATCH);
    cull_plan   *kept = plan_of(n, CULL_PLAN_LEARN_FROM_KEPT, KEPT);
    cull_subset  subset = {0};
    cull_signals seen;
    size_t       before = 0;

    assert_ok(cull_subset_resize(&subset, KEPT));
    memcpy(subset.index, rows, sizeof rows);
    memcpy(subset.weight, weights, sizeof weights);
    for (int round = 0; round < 2; round++) {
        before = cull_base_alloc_count();
        assert_ok(cull_nn_score(score, &n->batch, CULL_STATS_BATCH, CULL_SIGNAL_LOSS, &seen));
        assert_ok(cull_nn_learn(both, &n->batch, &seen));
        assert_ok(cull_nn_score(keep, &n->batch, CULL_STATS_UPDATE, CULL_SIGNAL_LOSS, &seen));
        assert_ok(cull_nn_learn_kept(kept, keep, &subset, &seen));
    }
    assert_int_equal(before, cull_base_alloc_count());
    cull_subset_clear(&subset);
    cull_nn_plan_destroy(score);
    cull_nn_plan_destroy(both);
    cull_nn_plan_destroy(keep);
    cull_nn_plan_destroy(kept);
    drop(n);
}

static void no_mode_allocates_in_a_warm_step(void **state)
{
    (void)state;
    check_warm_steps("ref", CULL_F64);
    check_warm_steps("cpu", CULL_F32);
}

static void plans_that_do_not_belong_together_are_refused(void **state)
{
    struct net  *a = make("mlp", 1, 4, 0), *b = make("mlp", 1, 4, 0);
    cull_plan   *keep = plan_of(a, CULL_PLAN_SCORE_AND_KEEP, BATCH);
    cull_plan   *other = plan_of(b, CULL_PLAN_LEARN_FROM_KEPT, 1);
    cull_plan   *learn = plan_of(a, CULL_PLAN_LEARN_FROM_KEPT, 1);
    cull_subset  subset = {0};
    cull_signals seen;

    (void)state;
    assert_ok(cull_subset_resize(&subset, 1));
    subset.weight[0] = 1;
    subset.index[0] = BATCH;
    assert_fails(CULL_BAD_ARGUMENT, "one model", cull_nn_learn_kept(other, keep, &subset, &seen));
    assert_fails(CULL_BAD_ARGUMENT, "row 6 of 6", cull_nn_learn_kept(learn, keep, &subset, &seen));
    assert_ok(cull_subset_resize(&subset, 2));
    assert_fails(CULL_BAD_ARGUMENT, "is given 2", cull_nn_learn_kept(learn, keep, &subset, &seen));
    cull_subset_clear(&subset);
    cull_nn_plan_destroy(keep);
    cull_nn_plan_destroy(other);
    cull_nn_plan_destroy(learn);
    drop(a);
    drop(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_batchnorm_kept_rows_are_a_separate_pass),
        cmocka_unit_test(keeping_everything_is_plain_training),
        cmocka_unit_test(with_batchnorm_kept_rows_follow_the_rule),
        cmocka_unit_test(fused_plans_learn_the_same),
        cmocka_unit_test(no_mode_allocates_in_a_warm_step),
        cmocka_unit_test(plans_that_do_not_belong_together_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
