/*
 * tests/golden/test_bert_golden.c - BERT with a classifier as transformers computes it (bert.txt,
 * minilm.txt; tools/make_golden_bert.py has the formulas and the form of the files).
 *
 * `ref` in double must give losses, logits, H, P, gradients and what three steps of AdamW make of
 * the weights; `cpu` in float the logits within 1e-5 of their norm, and the losses of the steps.
 * (In float a key's bias, which has no gradient, is moved by rounding alone.) MiniLM's weights are
 * read where CULL_DATA has the package's model under minilm/; CULL_BERT_LARGE names a file for
 * BERT-base.
 */
#include <unistd.h>

#include "golden/model_trace.h"
#include "train/folder/bert.h"
#include "train/folder/weights.h"
#include "train/rule.h"

enum { TRAINED = 4, MOST = 8 };

#define DOUBLE_ERROR 1e-10 /* the file's thirteen digits, and sums in another order */
#define FLOAT_ERROR  1e-5
#define FLOAT_LOSSES 1e-4 /* after three steps, of which AdamW makes a unit of each number */

struct golden {
    FILE         *file;
    char          name[32], activation[32];
    cull_bert     bert;
    size_t        examples, length, classes;
    cull_dtype    dtype;
    double        digits; /* error allowed */
    cull_backend *backend;
    cull_model   *model;
    cull_params  *params;
    cull_plan    *plan;
    int32_t      *tokens, label[MOST];
    cull_signals  seen;
};

/* ---- the formulas ---- */

static double start_of(const cull_safetensor *s, double value)
{
    if (strstr(s->name, "LayerNorm.weight")) return 1 + value / 4;
    if (s->tensor.dims == 1) return value / 4;
    if (strstr(s->name, "_embeddings.")) return value;
    return 1.7 * value / sqrt((double)s->tensor.shape[1]);
}

static size_t count_of(const cull_tensor *t)
{
    size_t count = 1;

    for (int d = 0; d < t->dims; d++) count *= (size_t)t->shape[d];
    return count;
}

/* Parameters whose names begin so, where they are on the host. */
static void fill(struct golden *g, const char *only)
{
    cull_safetensor *list = NULL;
    size_t           count = 0;

    assert_ok(cull_weights_list(g->model, g->params, &list, &count));
    for (size_t k = 0; k < count; k++) {
        uint64_t hash = hash_name("", list[k].name, "");

        if (strncmp(list[k].name, only, strlen(only)) != 0) continue;
        for (size_t i = 0; i < count_of(&list[k].tensor); i++)
            put(list[k].tensor.data, g->dtype, i, start_of(&list[k], even(hash, i)));
    }
    cull_bytes_release(list);
}

static uint64_t high(int step, const char *what, uint64_t i)
{
    char prefix[16];

    (void)snprintf(prefix, sizeof prefix, "%d:", step);
    return number(hash_name(prefix, what, ""), i) >> 32;
}

static void set_examples(struct golden *g, int step)
{
    for (size_t e = 0; e < g->examples; e++) {
        size_t length = g->length - high(step, "lengths", e) % (g->length - 1);

        g->label[e] = (int32_t)(high(step, "labels", e) % g->classes);
        for (size_t t = 0; t < g->length; t++) {
            uint64_t token =
                1 + high(step, "tokens", e * g->length + t) % ((uint64_t)g->bert.tokens - 1);

            g->tokens[e * g->length + t] = t < length ? (int32_t)token : -1;
        }
    }
}

/* ---- a case ---- */

static cull_activation activation_of(const char *name)
{
    return strcmp(name, "gelu_new") == 0 ? CULL_GELU_TANH : CULL_GELU;
}

static bool read_head(struct golden *g)
{
    long long n[7];

    if (fscanf(g->file, " case %31s %lld %lld %lld %lld %lld %lld %lld %lf %31s %zu %zu %zu",
               g->name, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &g->bert.epsilon,
               g->activation, &g->examples, &g->length, &g->classes) != 13)
        return false;
    g->bert.tokens = n[0], g->bert.width = n[1], g->bert.layers = n[2], g->bert.heads = n[3];
    g->bert.inner = n[4], g->bert.positions = n[5], g->bert.kinds = n[6];
    g->bert.activation = activation_of(g->activation);
    assert_in_range(g->examples, 1, MOST);
    return true;
}

static void open_case(struct golden *g, const char *backend, cull_dtype dtype)
{
    cull_model_options options = {.channels = 1,
                                  .height = (int64_t)g->length,
                                  .width = 1,
                                  .classes = g->classes,
                                  .tokens = g->bert.tokens,
                                  .bert = &g->bert};

    g->dtype = dtype;
    g->digits = dtype == CULL_F64 ? DOUBLE_ERROR : FLOAT_ERROR;
    assert_ok(cull_backend_open(backend, 2, &g->backend));
    assert_ok(cull_nn_model_by_name("bert", &options, &g->model));
    assert_ok(cull_nn_params_create(g->backend, g->model, dtype, &g->params));
    assert_ok(cull_nn_params_init(g->params, g->model, 1));
    assert_ok(cull_nn_plan_create(g->model, g->params, g->backend, CULL_PLAN_LEARN, g->examples,
                                  (cull_loss){0}, &g->plan));
    g->tokens = calloc(g->examples * g->length, sizeof *g->tokens);
    assert_non_null(g->tokens);
}

static void close_case(struct golden *g)
{
    free(g->tokens);
    cull_nn_plan_destroy(g->plan);
    cull_nn_params_destroy(g->params);
    cull_nn_model_destroy(g->model);
    cull_backend_close(g->backend);
}

static double learn_examples(struct golden *g, int step)
{
    cull_batch batch = {.count = g->examples, .inputs = g->tokens, .target = g->label};
    double     sum = 0;

    set_examples(g, step);
    assert_ok(cull_nn_learn(g->plan, &batch, &g->seen));
    for (size_t e = 0; e < g->examples; e++) sum += cull_tensor_get(&g->seen.loss, e);
    return sum / (double)g->examples;
}

/* ---- against the file ---- */

/* A line of this name and so many numbers, which are these. */
static void check_line(const struct golden *g, const char *name, const cull_tensor *ours,
                       double digits)
{
    size_t      count = count_of(ours);
    cull_tensor flat = cull_vector(ours->data, ours->dtype, count);
    double      error = 0, norm = 0, theirs = 0;
    char        word[32];

    assert_int_equal(1, fscanf(g->file, " %31s", word));
    assert_string_equal(name, word);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(1, fscanf(g->file, "%lf", &theirs));
        error += pow(cull_tensor_get(&flat, i) - theirs, 2);
        norm += theirs * theirs;
    }
    print_message("%s, %s in %s: %s off by %.2g of their norm\n", g->name, g->backend->class->name,
                  cull_dtype_name(g->dtype), name, sqrt(error / norm));
    if (!(sqrt(error) <= digits * sqrt(norm)))
        fail_msg("%s: %s off by %g of their norm", g->name, name, sqrt(error / norm));
}

/* By a scoring pass, whose logits stay where they are. */
static void check_first(struct golden *g)
{
    cull_plan   *plan = NULL;
    cull_batch   batch = {.count = g->examples, .inputs = g->tokens, .target = g->label};
    cull_tensor  logits = {0};
    cull_signals seen;

    set_examples(g, 1);
    assert_ok(cull_nn_plan_create(g->model, g->params, g->backend, CULL_PLAN_SCORE, g->examples,
                                  (cull_loss){0}, &plan));
    assert_ok(cull_nn_score(plan, &batch, CULL_STATS_BATCH,
                            CULL_SIGNAL_LOSS | CULL_SIGNAL_P | CULL_SIGNAL_H, &seen));
    logits = cull_matrix((void *)(uintptr_t)cull_nn_plan_logits(plan), g->dtype, g->examples,
                         g->classes);
    check_line(g, "losses", &seen.loss, g->digits);
    check_line(g, "logits", &logits, g->digits);
    check_line(g, "h", &seen.h, g->digits);
    check_line(g, "p", &seen.p, g->digits);
    cull_nn_plan_destroy(plan);
}

/* Ours of this name, or the names differ. */
static const cull_safetensor *find(const cull_safetensor *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) return &list[i];
    fail_msg("the model has no tensor '%s'", name);
    return NULL;
}

static void check_shape(const struct golden *g, const cull_safetensor *ours)
{
    int       dims = 0;
    long long extent = 0;

    assert_int_equal(1, fscanf(g->file, "%d", &dims));
    assert_int_equal(dims, ours->tensor.dims);
    for (int d = 0; d < dims; d++) {
        assert_int_equal(1, fscanf(g->file, "%lld", &extent));
        assert_int_equal(extent, ours->tensor.shape[d]);
    }
}

/* Of every parameter; errors are judged against the norm of the whole gradient. */
static void check_gradients(const struct golden *g)
{
    cull_params      turned = *g->params;
    cull_safetensor *list = NULL;
    size_t           count = 0;
    double           error = 0, whole = 0;

    turned.value = g->params->gradient;
    assert_ok(cull_weights_list(g->model, &turned, &list, &count));
    for (size_t k = 0; k < count; k++) {
        char                   name[128];
        double                 norm = 0, theirs[SIGNS], ours[SIGNS] = {0};
        const cull_safetensor *s = NULL;

        assert_int_equal(1, fscanf(g->file, " gradient %127s", name));
        s = find(list, count, name);
        check_shape(g, s);
        assert_int_equal(1, fscanf(g->file, "%lf", &norm));
        for (int j = 0; j < SIGNS; j++) assert_int_equal(1, fscanf(g->file, "%lf", &theirs[j]));
        project(s->tensor.data, g->dtype, 0, count_of(&s->tensor), name, "", SIGNS, ours);
        whole += norm * norm;
        for (int j = 0; j < SIGNS; j++) error += pow(ours[j] - theirs[j], 2) / SIGNS;
    }
    print_message("%s, %s in %s: gradients off by %.2g of their norm\n", g->name,
                  g->backend->class->name, cull_dtype_name(g->dtype), sqrt(error / whole));
    assert_true(sqrt(error) <= 10 * g->digits * sqrt(whole));
    cull_bytes_release(list);
}

static void step(struct golden *g, cull_optim *optim)
{
    assert_ok(cull_optim_step(optim, 1e-3, g->params->value, g->params->gradient));
}

static void check_values(const struct golden *g)
{
    cull_safetensor *list = NULL;
    size_t           count = 0;

    assert_ok(cull_weights_list(g->model, g->params, &list, &count));
    for (size_t k = 0; k < count; k++) {
        char                   name[128];
        double                 theirs = 0, ours[4] = {0};
        const cull_safetensor *s = NULL;

        assert_int_equal(1, fscanf(g->file, " value %127s", name));
        s = find(list, count, name);
        project(s->tensor.data, g->dtype, 0, count_of(&s->tensor), name, "", 4, ours);
        for (int j = 0; j < 4; j++) {
            assert_int_equal(1, fscanf(g->file, "%lf", &theirs));
            if (g->dtype == CULL_F64 && !(fabs(ours[j] - theirs) <= 1e-9 * fmax(1, fabs(theirs))))
                fail_msg("%s: %s after the steps: %.12g, not %.12g", g->name, name, ours[j],
                         theirs);
        }
    }
    cull_bytes_release(list);
}

/* The first batch has been gone back through. */
static void check_steps(struct golden *g, double first)
{
    cull_optim_options options = {.rule = CULL_OPTIM_ADAMW,
                                  .weight_decay = 0.1,
                                  .beta1 = 0.9,
                                  .beta2 = 0.999,
                                  .epsilon = 1e-8};
    cull_optim        *optim = NULL;
    double             loss[TRAINED] = {first}, theirs = 0;

    assert_ok(cull_train_rule(&options, false, g->model, g->params, &optim));
    for (int k = 1; k < TRAINED; k++) {
        step(g, optim);
        loss[k] = learn_examples(g, k + 1);
    }
    assert_int_equal(0, fscanf(g->file, " steps"));
    for (int k = 0; k < TRAINED; k++) {
        assert_int_equal(1, fscanf(g->file, "%lf", &theirs));
        assert_true(fabs(loss[k] - theirs) <=
                    (g->dtype == CULL_F64 ? DOUBLE_ERROR : FLOAT_LOSSES) * theirs);
    }
    check_values(g);
    cull_optim_destroy(optim);
}

static int run_file(const char *path, const char *backend, cull_dtype dtype)
{
    struct golden g = {.file = fopen(path, "r")};
    int           cases = 0;

    assert_non_null(g.file);
    for (; read_head(&g); cases++) {
        double loss = 0;

        open_case(&g, backend, dtype);
        fill(&g, "");
        check_first(&g);
        loss = learn_examples(&g, 1);
        check_gradients(&g);
        check_steps(&g, loss);
        close_case(&g);
    }
    assert_true(feof(g.file));
    (void)fclose(g.file);
    return cases;
}

static void ref_in_double_is_transformers(void **state)
{
    (void)state;
    assert_int_equal(2, run_file(CULL_SOURCE_DIR "/tests/golden/bert.txt", "ref", CULL_F64));
}

static void cpu_in_float_is_near(void **state)
{
    cull_backend *cpu = NULL;
    bool          runs = false;

    (void)state;
    assert_ok(cull_backend_open("cpu", 1, &cpu));
    runs = cpu->layers != NULL;
    cull_backend_close(cpu);
    if (!runs) skip(); /* a build without oneDNN */
    assert_int_equal(2, run_file(CULL_SOURCE_DIR "/tests/golden/bert.txt", "cpu", CULL_F32));
}

static void bert_base_is_near(void **state)
{
    const char *path = getenv("CULL_BERT_LARGE");

    (void)state;
    if (!path) skip();
    assert_int_equal(1, run_file(path, "cpu", CULL_F32));
}

/* ---- MiniLM ---- */

static const char *minilm_folder(void)
{
    static char path[CULL_DATA_PATH + 32];
    const char *data = getenv("CULL_DATA");

    (void)snprintf(path, sizeof path, "%s/minilm/config.json", data ? data : "");
    if (!data || access(path, R_OK) != 0) return NULL;
    (void)snprintf(path, sizeof path, "%s/minilm", data);
    return path;
}

static void minilm_is_transformers(void **state)
{
    struct golden g = {0};
    const char   *folder = minilm_folder();
    cull_bert     sizes = {0};
    uint64_t      hash = 0;

    (void)state;
    if (!folder) {
        print_message("skipped: CULL_DATA has no minilm/\n");
        skip();
    }
    g.file = fopen(CULL_SOURCE_DIR "/tests/golden/minilm.txt", "r");
    assert_non_null(g.file);
    assert_true(read_head(&g));
    assert_int_equal(0, fscanf(g.file, " sha256 %*s"));
    assert_ok(cull_bert_read(folder, &sizes));
    assert_memory_equal(&sizes, &g.bert, sizeof sizes);
    open_case(&g, "cpu", CULL_F32);
    assert_ok(cull_bert_begin(folder, g.model, g.params, &hash));
    fill(&g, "classifier");
    check_first(&g);
    (void)learn_examples(&g, 1);
    check_gradients(&g);
    close_case(&g);
    (void)fclose(g.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ref_in_double_is_transformers),
        cmocka_unit_test(cpu_in_float_is_near),
        cmocka_unit_test(minilm_is_transformers),
        cmocka_unit_test(bert_base_is_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
