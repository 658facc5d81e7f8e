/*
 * tests/unit/test_shared.c - two threads with one backend of two threads between them: objects of
 * their own and calls of no object give each what a lone caller gets.
 */
#include <pthread.h>

#include "backend/backend.h"
#include "base/threads.h"
#include "gradients.h"

enum { N = 40, D = 6, C = 4, KEPT = 12, STEPS = 5, ROUNDS = 500 };

static const char *const strategies[][2] = {
    {"gradmatch", ""},  {"gradmatch", "nonnegative=omp"},
    {"divbs", ""},      {"sb", ""},
    {"grad-match", ""}, {"craig", ""},
    {"glister", ""},
};

enum {
    STRATEGIES = sizeof strategies / sizeof *strategies,
    OMP = STRATEGIES, /* problems enough for both threads */
    OMP_ONE,          /* one, whose rows they share       */
    FACILITY,
    KINDS
};

struct answer {
    size_t   count;
    uint32_t index[2 * KEPT];
    double   weight[2 * KEPT];
};

/* What one thread has to itself. */
struct caller {
    cull_backend      *backend;
    const struct data *data;
    cull_selector     *selector[STRATEGIES];
    cull_subset        subset;
    double             k[N * N], t[N];
    struct answer      answer;
    struct answer (*want)[KINDS]; /* [STEPS]; NULL while it is made */
    size_t wrong, failed;
};

static cull_status solve(struct caller *caller, int kind)
{
    cull_status           status = CULL_OK;
    struct answer        *answer = &caller->answer;
    const cull_signals   *signals = &caller->data->signals;
    cull_omp_problem      omp[2] = {0};
    cull_facility_problem facility = {.count = N, .budget = KEPT, .h = signals->h, .p = signals->p};
    cull_omp_options      options = {.tolerance = 1e-9};

    answer->count = kind == OMP ? 2 * KEPT : KEPT;
    facility.index = answer->index;
    facility.weight = answer->weight;
    if (kind == FACILITY) return cull_facility(caller->backend, &facility, 1, NULL);
    TRY(cull_gram(caller->backend, &signals->h, &signals->p, NULL, caller->k, caller->t, NULL));
    for (size_t i = 0; i < 2; i++)
        omp[i] = (cull_omp_problem){.count = N - i,
                                    .budget = KEPT,
                                    .k = cull_matrix(caller->k, CULL_F64, N, N),
                                    .t = caller->t,
                                    .index = answer->index + i * KEPT,
                                    .weight = answer->weight + i * KEPT};
    omp[1].k.shape[0] = omp[1].k.shape[1] = N - 1;
    TRY(cull_omp(caller->backend, omp, kind == OMP ? 2 : 1, &options));
    if (omp[0].picked < KEPT) answer->count = omp[0].picked;
done:
    return status;
}

static cull_status decide(struct caller *caller, int kind, uint64_t step)
{
    cull_status    status = CULL_OK;
    struct answer *answer = &caller->answer;
    cull_subset   *subset = &caller->subset;
    cull_signals   signals = caller->data->signals;

    memset(answer, 0, sizeof *answer);
    if (kind >= STRATEGIES) return solve(caller, kind);
    signals.step = signals.epoch = step;
    TRY(cull_select(caller->selector[kind], &signals, KEPT, subset));
    answer->count = subset->count;
    memcpy(answer->index, subset->index, subset->count * sizeof *answer->index);
    memcpy(answer->weight, subset->weight, subset->count * sizeof *answer->weight);
done:
    return status;
}

static void caller_open(struct caller *caller, cull_backend *backend, const struct data *data)
{
    cull_setting setting = {.pool = N, .batch = 8, .seed = 3, .backend = backend};

    *caller = (struct caller){.backend = backend, .data = data};
    for (size_t s = 0; s < STRATEGIES; s++)
        caller->selector[s] = make_selector(strategies[s][0], strategies[s][1], &setting);
}

static void caller_close(struct caller *caller)
{
    for (size_t s = 0; s < STRATEGIES; s++) cull_selector_destroy(caller->selector[s]);
    cull_subset_clear(&caller->subset);
}

/* cmocka's assertions are for the main thread; what went wrong here is counted. */
static void *call_all(void *context)
{
    struct caller *caller = context;

    for (size_t round = 0; round < ROUNDS; round++) {
        for (int kind = 0; kind < KINDS; kind++) {
            uint64_t step = round % STEPS;

            if (decide(caller, kind, step))
                caller->failed++;
            else
                caller->wrong +=
                    memcmp(&caller->answer, &caller->want[step][kind], sizeof caller->answer) != 0;
        }
    }
    return NULL;
}

/* 2 x ROUNDS x KINDS = 10,000 decisions. */
static void two_threads_share_a_backend(void **state)
{
    static struct answer want[STEPS][KINDS];
    struct data          data = data_make(2, N, D, C);
    double              *loss = normals_f64(9, N);
    cull_backend        *shared = NULL, *lone = NULL;
    struct caller       *caller = calloc(3, sizeof *caller);
    pthread_t            thread[2];

    (void)state;
    for (size_t i = 0; i < N; i++) loss[i] = fabs(loss[i]);
    data.signals.loss = cull_vector(loss, CULL_F64, N);
    as_target(&data, &data.signals.target);
    data.signals.target.logits = data.signals.p;
    assert_ok(cull_backend_open("cpu", 1, &lone));
    assert_ok(cull_backend_open("cpu", 2, &shared));
    for (size_t c = 0; c < 3; c++) caller_open(&caller[c], c < 2 ? shared : lone, &data);
    for (uint64_t step = 0; step < STEPS; step++) {
        for (int kind = 0; kind < KINDS; kind++) {
            assert_ok(decide(&caller[2], kind, step));
            want[step][kind] = caller[2].answer;
        }
    }
    for (size_t c = 0; c < 2; c++) {
        caller[c].want = want;
        assert_int_equal(0, pthread_create(&thread[c], NULL, call_all, &caller[c]));
    }
    for (size_t c = 0; c < 2; c++) pthread_join(thread[c], NULL);
    for (size_t c = 0; c < 2; c++) {
        assert_int_equal(0, caller[c].failed);
        assert_int_equal(0, caller[c].wrong);
    }
    for (size_t c = 0; c < 3; c++) caller_close(&caller[c]);
    cull_backend_close(shared);
    cull_backend_close(lone);
    free(caller);
    free(loss);
    data_free(&data);
}

/* ---- networks */

enum {
    IMAGES = 12,
    SIDE = 6,
    CHANNELS = 2,
    CLASSES = 3,
    ROW = CHANNELS * SIDE * SIDE,
    TRAINED = 10
};

struct trainee {
    cull_network *network;
    cull_examples examples;
    size_t        failed;
};

static cull_network *small_network(cull_backend *backend)
{
    cull_option   seed = {"train.seed", "7"};
    cull_model   *m = NULL;
    cull_network *network = NULL;
    int           x = 0;

    assert_ok(cull_model_create("small", CHANNELS, SIDE, SIDE, &m));
    x = cull_model_conv(m, 0, "conv", &(cull_conv){.out = 16, .kernel = 3, .pad = 1});
    x = cull_model_activate(m, cull_model_batchnorm(m, x, "bn"), CULL_RELU);
    x = cull_model_flatten(m, cull_model_pool(m, x, &(cull_pool){.kernel = 2}));
    x = cull_model_dense(m, x, "logits", &(cull_dense){.out = CLASSES});
    assert_ok(cull_model_finish(m, x));
    assert_ok(cull_network_create(m, backend, &seed, 1, &network));
    cull_model_destroy(m);
    return network;
}

static void *train(void *context)
{
    struct trainee *trainee = context;

    for (size_t step = 0; step < TRAINED; step++) {
        trainee->examples.step = step;
        trainee->failed +=
            cull_network_learn(trainee->network, &trainee->examples, NULL, NULL) != CULL_OK ||
            cull_network_step(trainee->network, 0.05) != CULL_OK;
    }
    return NULL;
}

static void two_networks_share_a_backend(void **state)
{
    cull_backend  *shared = NULL, *lone = NULL;
    float         *pixels = normals_f32(4, (size_t)IMAGES * ROW);
    int32_t        label[IMAGES];
    struct trainee trainee[3] = {0};
    pthread_t      thread[2];
    void          *bytes[3] = {NULL};
    size_t         size[3] = {0};

    (void)state;
    assert_ok(cull_backend_open("cpu", 1, &lone));
    assert_ok(cull_backend_open("cpu", 2, &shared));
    for (size_t i = 0; i < IMAGES; i++) label[i] = (int32_t)(i % CLASSES);
    for (size_t c = 0; c < 3; c++) {
        trainee[c].network = small_network(c < 2 ? shared : lone);
        trainee[c].examples =
            (cull_examples){.inputs = cull_images(pixels, CULL_F32, IMAGES, CHANNELS, SIDE, SIDE),
                            .label = cull_vector(label, CULL_I32, IMAGES)};
    }
    (void)train(&trainee[2]);
    for (size_t c = 0; c < 2; c++)
        assert_int_equal(0, pthread_create(&thread[c], NULL, train, &trainee[c]));
    for (size_t c = 0; c < 2; c++) pthread_join(thread[c], NULL);
    for (size_t c = 0; c < 3; c++) {
        assert_int_equal(0, trainee[c].failed);
        assert_ok(cull_network_save(trainee[c].network, &bytes[c], &size[c]));
        assert_int_equal(size[0], size[c]);
        assert_memory_equal(bytes[0], bytes[c], size[c]);
    }
    for (size_t c = 0; c < 3; c++) {
        cull_bytes_release(bytes[c]);
        cull_network_destroy(trainee[c].network);
    }
    cull_backend_close(shared);
    cull_backend_close(lone);
    free(pixels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_threads_share_a_backend),
        cmocka_unit_test(two_networks_share_a_backend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
