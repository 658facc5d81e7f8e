/*
 * tests/unit/test_graphs.c - 300 random small graphs on the cpu beside `ref` in double.
 *
 * How far float32 may stray depends on the graph. So `ref` runs it in float32 as well, as given and
 * with inputs and parameters changed in their last bit: the largest distance of these from double
 * is the spread, and the cpu may be eight times as far, tensor by tensor, in losses and in
 * gradients; learning, and learning from kept rows. Below a floor (see FLOOR) distances are not
 * looked at.
 *
 * The instruction set is the machine's best, or what CULL_KERNELS and DNNL_MAX_CPU_ISA say: the
 * tests run this program for all three.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/nn_dnnl.h"
#include "random_graph.h"
#include "tensor/tensor.h"

enum { FIRST_SEED = 1, GRAPHS = 300, SPREADS = 4 };
#define TIMES 8.0
/* Of a tensor's norm: rounding the result alone. And of the norm of the whole gradient, for tensors
 * whose gradient is zero but for rounding (a bias before BatchNorm). */
#define FLOOR       (4 * 1.2e-7)
#define WHOLE_FLOOR (4 * 1.2e-7)
/* A reference that strays further itself (of a tensor's norm and a hundredth of the whole's) allows
 * anything: a gate that flips, or a mistake of its own. None of these seeds has one. */
#define WIDEST 1e-3

/* A graph with the numbers it is run on. */
struct work {
    struct graph graph;
    size_t       row, count, kept;
    float       *inputs; /* (batch, C, H, W) */
    float       *value;  /* parameters       */
    int32_t      label[16];
    double       weight[16];
    uint32_t     place[16], index[16];
};

/* Losses and gradients of one way to run it. */
struct result {
    double *gradient[2]; /* learning; learning from kept rows */
    double  loss[16];
};

static struct work work_of(uint64_t seed)
{
    struct work  w = {.graph = graph_of(seed)};
    cull_params *params = NULL;

    w.row = (size_t)cull_image_row(&w.graph.model->input);
    w.count = w.graph.model->param_count;
    w.inputs = normals_f32(seed + 1000, (size_t)w.graph.batch * w.row);
    w.value = normals_f32(seed + 2000, w.count);
    assert_ok(cull_nn_params_create(plain_backend(), w.graph.model, CULL_F32, &params));
    cull_nn_params_init(params, w.graph.model, seed);
    /* nothing at a round number: biases of 0 and gammas of 1 hide mistakes */
    for (size_t i = 0; i < w.count; i++)
        w.value[i] = ((const float *)params->value)[i] + 0.1f * w.value[i];
    cull_nn_params_destroy(params);
    w.kept = 1 + (size_t)(random_uniform(seed, 9999) * (double)w.graph.batch);
    for (size_t i = 0; i < (size_t)w.graph.batch; i++) {
        w.label[i] = (int32_t)(random_uniform(seed + 3000, i) * GRAPH_CLASSES);
        w.weight[i] = 0.25 + random_uniform(seed + 4000, i);
        w.place[i] = (uint32_t)(7 + 3 * i);
        w.index[i] = (uint32_t)(i * (size_t)w.graph.batch / w.kept);
    }
    return w;
}

static void work_free(struct work *w)
{
    cull_nn_model_destroy(w->graph.model);
    free(w->inputs);
    free(w->value);
}

/* Changed in the last bit, or not, by a coin; as it is in run 0. */
static double shaken(float value, uint64_t seed, uint64_t run, size_t i)
{
    double coin = run ? random_uniform(seed + 5000 + run, i) : 0.5;

    if (coin < 0.33) return (double)nextafterf(value, -INFINITY);
    return (double)(coin > 0.67 ? nextafterf(value, INFINITY) : value);
}

static void put(void *block, cull_dtype dtype, size_t i, double value)
{
    if (dtype == CULL_F32)
        ((float *)block)[i] = (float)value;
    else
        ((double *)block)[i] = value;
}

/* (batch, C, H, W) in the layout this plan wants. */
static void lay_inputs(const struct work *w, const cull_plan *plan, cull_dtype dtype, uint64_t run,
                       void *out)
{
    cull_image image = cull_nn_plan_input(plan);
    size_t     area = (size_t)(image.h * image.w), c = (size_t)image.c, block = (size_t)image.block;

    for (size_t i = 0; i < (size_t)w->graph.batch * w->row; i++) {
        size_t row = i / w->row, channel = i / area % c, pixel = i % area;

        put(out, dtype,
            ((row * (c / block) + channel / block) * area + pixel) * block + channel % block,
            shaken(w->inputs[i], w->graph.seed, run, i));
    }
}

static double *gradient_of(const cull_params *params)
{
    double *out = malloc((params->count + 1) * sizeof *out);

    assert_non_null(out);
    for (size_t i = 0; i < params->count; i++)
        out[i] = params->dtype == CULL_F32 ? (double)((const float *)params->gradient)[i]
                                           : ((const double *)params->gradient)[i];
    return out;
}

static struct result run_work(struct work *w, cull_backend *backend, cull_dtype dtype, uint64_t run)
{
    static const cull_plan_mode modes[] = {CULL_PLAN_LEARN, CULL_PLAN_SCORE_AND_KEEP,
                                           CULL_PLAN_LEARN_FROM_KEPT};
    cull_params                *params = NULL;
    cull_plan                  *plan[3] = {NULL};
    void                       *inputs = calloc((size_t)w->graph.batch * w->row, sizeof(double));
    struct result               result = {0};
    cull_signals                seen;
    cull_subset                 subset = {.count = w->kept, .index = w->index, .weight = w->weight};
    cull_batch                  batch = {.count = (size_t)w->graph.batch,
                                         .inputs = inputs,
                                         .target = w->label,
                                         .weight = w->weight,
                                         .place = w->place,
                                         .step = 3,
                                         .key = cull_key_make(1, "dropout")};

    assert_ok(cull_nn_params_create(plain_backend(), w->graph.model, dtype, &params));
    for (size_t i = 0; i < w->count; i++)
        put(params->value, dtype, i, shaken(w->value[i], w->graph.seed + 100, run, i));
    for (int i = 0; i < 3; i++)
        assert_ok(cull_nn_plan_create(w->graph.model, params, backend, modes[i],
                                      i < 2 ? batch.count : w->kept, (cull_loss){.smoothing = 0.1},
                                      &plan[i]));
    lay_inputs(w, plan[0], dtype, run, inputs);
    assert_ok(cull_nn_learn(plan[0], &batch, &seen));
    for (size_t i = 0; i < batch.count; i++) result.loss[i] = cull_tensor_get(&seen.loss, i);
    result.gradient[0] = gradient_of(params);
    assert_ok(cull_nn_score(plan[1], &batch, CULL_STATS_UPDATE, CULL_SIGNAL_LOSS, &seen));
    assert_ok(cull_nn_learn_kept(plan[2], plan[1], &subset, &seen));
    result.gradient[1] = gradient_of(params);
    for (int i = 0; i < 3; i++) cull_nn_plan_destroy(plan[i]);
    cull_nn_params_destroy(params);
    free(inputs);
    return result;
}

static double distance(const double *a, const double *b, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) sum += (a[i] - (b ? b[i] : 0)) * (a[i] - (b ? b[i] : 0));
    return sqrt(sum);
}

struct scene {
    const struct work   *work;
    const struct result *right, *near, *cpu; /* double; [SPREADS] in float32; the cpu's */
    double               worst;              /* share of what is allowed                */
};

/* The same stretch of a result: losses (way < 0) or gradients. */
static const double *stretch(const struct result *r, int way, size_t at)
{
    return way < 0 ? r->loss : r->gradient[way] + at;
}

static bool check_stretch(struct scene *s, int way, const char *name, size_t at, size_t count)
{
    const double *right = stretch(s->right, way, at);
    double        norm = distance(right, NULL, count), spread = 0, allowed = 0;
    double        whole = way < 0 ? 0 : distance(s->right->gradient[way], NULL, s->work->count);
    double        error = distance(stretch(s->cpu, way, at), right, count);

    for (int i = 0; i < SPREADS; i++)
        spread = fmax(spread, distance(stretch(&s->near[i], way, at), right, count));
    allowed = fmax(TIMES * spread, FLOOR * norm + WHOLE_FLOOR * whole);
    if (error > s->worst * allowed) s->worst = error / allowed;
    if (error <= allowed && spread <= WIDEST * (norm + whole / 100)) return true;
    print_error("seed %llu, %s of %s: error %.3g, spread %.3g, norm %.3g of %.3g\n",
                (unsigned long long)s->work->graph.seed,
                way < 0 ? "losses" : (way ? "gradient from kept rows" : "gradient"), name, error,
                spread, norm, whole);
    return false;
}

static bool check_graph(struct work *w, cull_backend *ref, cull_backend *cpu, double *worst)
{
    struct result     right = run_work(w, ref, CULL_F64, 0), near[SPREADS], fast;
    struct scene      scene = {w, &right, near, &fast, *worst};
    const cull_model *model = w->graph.model;
    bool              good = true;

    for (int i = 0; i < SPREADS; i++) near[i] = run_work(w, ref, CULL_F32, (uint64_t)i);
    fast = run_work(w, cpu, CULL_F32, 0);
    good = check_stretch(&scene, -1, "all", 0, (size_t)w->graph.batch);
    for (int i = 1; i < model->nodes; i++)
        for (int k = 0; k < 2 * model->node[i].params; k++)
            good = check_stretch(&scene, k % 2, model->node[i].name, model->node[i].param_at[k / 2],
                                 model->node[i].param_count[k / 2]) &&
                   good;
    *worst = scene.worst;
    for (int i = 0; i < 2 + SPREADS; i++) {
        struct result *r = i == 0 ? &right : (i == 1 ? &fast : &near[i - 2]);

        free(r->gradient[0]);
        free(r->gradient[1]);
    }
    return good;
}

static void random_graphs_are_as_right_as_float_can_be(void **state)
{
    cull_backend *ref = NULL, *cpu = NULL;
    double        worst = 0;
    int           bad = 0;

    (void)state;
    assert_ok(cull_backend_open("ref", 1, &ref));
    assert_ok(cull_backend_open("cpu", 2, &cpu));
    for (uint64_t seed = FIRST_SEED; seed < FIRST_SEED + GRAPHS; seed++) {
        struct work w = work_of(seed);

        bad += !check_graph(&w, ref, cpu, &worst);
        work_free(&w);
    }
    print_message("seeds %d to %d, oneDNN's vectors of %d floats, worst %.2f of what is allowed\n",
                  FIRST_SEED, FIRST_SEED + GRAPHS - 1, (int)cull_dnnl_width(), worst);
    cull_backend_close(ref);
    cull_backend_close(cpu);
    assert_int_equal(0, bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_are_as_right_as_float_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
