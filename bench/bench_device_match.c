/*
 * bench/bench_device_match.c - Gram matrices, pursuits and whole minibatches matched on a backend,
 * one JSON line each: microseconds, and whether the picks are cpu's.
 *
 *     bench_device_match [BACKEND] [--again N]          (cuda, cpu, emu ...)
 *
 * gram and match: a recording of twenty, replayed, where the backend has recordings; of several the
 * median. A pursuit waits for its report, so of it each call is timed, from mark to mark (`us`) and
 * by the clock (`call_us`). `other` counts picks that are not cpu's at their place, and `apart` is
 * how far weights are, of the largest. --again: the answer N times more, which must be the same
 * bits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "common.h"

enum { TOGETHER = 20, ROUNDS = 11, D = 512, C = 10, PROBLEMS = 1000, KINDS = 3, FEW = 8 };

/* A minibatch here and on the backend, and what becomes of it on both. */
struct batch {
    cull_backend *backend, *cpu;
    cull_kit      kit;
    size_t        n, m, again;
    bool          narrow; /* H on the backend is bfloat16  */
    bool          wild;   /* few numbers behind them, of either sign: weights come out negative */
    float        *h, *p;  /* here                          */
    cull_tensor   there_h, there_p;
    double       *k, *t, *b2, *here_k, *here_t; /* here_: downloaded */
    uint32_t     *index, *here_index, *right_index;
    double       *weight, *here_weight, *right_weight;
};

static const cull_omp_options plain = {.tolerance = 1e-6};

/* ---- signals ---- */

static float uniform(uint64_t a, uint64_t b)
{
    return (float)cull_key_uniform((cull_key){{17, 4}}, a, b);
}

static uint16_t round_bf16(float *x)
{
    uint32_t bits = 0;

    memcpy(&bits, x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(x, &bits, sizeof bits);
    return (uint16_t)(bits >> 16);
}

/* Features around their class's centre, cut at zero; softmax - onehot. Or anything. */
static void make_row(struct batch *b, size_t row)
{
    size_t label = row * 7 % C;
    float *h = b->h + row * D, *p = b->p + row * C, sum = 0;

    for (size_t j = 0; j < D && b->wild; j++) {
        h[j] = 0;
        for (size_t k = 0; k < FEW; k++)
            h[j] += (uniform(row, k) - .4f) * (uniform(1u << 23 | k, j) - .5f);
    }
    for (size_t c = 0; c < C && b->wild; c++) p[c] = uniform(1u << 21 | row, c) - .5f;
    if (b->wild) return;
    for (size_t j = 0; j < D; j++) {
        float x = uniform(row, j) + uniform(row, j + D) + uniform(1u << 20 | label, j) - 1.7f;
        h[j] = x > 0 ? x : 0;
        if (b->narrow) (void)round_bf16(h + j);
    }
    for (size_t c = 0; c < C; c++) {
        float u = uniform(1u << 21 | row, c);
        p[c] = u * u * u * u * u * u + 1e-6f + (c == label ? uniform(1u << 22, row) * 3 : 0);
        sum += p[c];
    }
    for (size_t c = 0; c < C; c++) p[c] /= sum;
    p[label] -= 1;
}

static cull_status send_h(struct batch *b, void *there)
{
    cull_status status = CULL_OK;
    uint16_t   *narrow = NULL;

    if (!b->narrow) return cull_backend_upload(b->backend, there, b->h, b->n * D * sizeof(float));
    narrow = malloc(b->n * D * sizeof *narrow);
    if (!narrow) FAIL(CULL_NO_MEMORY, "no memory for signals");
    for (size_t i = 0; i < b->n * D; i++) narrow[i] = round_bf16(b->h + i);
    TRY(cull_backend_upload(b->backend, there, narrow, b->n * D * sizeof *narrow));
done:
    free(narrow);
    return status;
}

static cull_status make_batch(struct batch *b)
{
    cull_status status = CULL_OK;
    size_t      n = b->n, m = b->m;
    void       *h = NULL;
    float      *p = NULL;

    b->kit.backend = b->backend;
    b->h = malloc(n * D * sizeof *b->h);
    b->p = malloc(n * C * sizeof *b->p);
    b->here_k = malloc(n * n * sizeof *b->here_k);
    b->here_t = malloc(n * sizeof *b->here_t);
    b->here_index = malloc(2 * m * sizeof *b->here_index);
    b->here_weight = malloc(2 * m * sizeof *b->here_weight);
    if (!b->h || !b->p || !b->here_k || !b->here_t || !b->here_index || !b->here_weight)
        FAIL(CULL_NO_MEMORY, "no memory for a minibatch");
    b->right_index = b->here_index + m;
    b->right_weight = b->here_weight + m;
    for (size_t i = 0; i < n; i++) make_row(b, i);
    TRY(cull_kit_allocate(&b->kit, n, D * sizeof(float), "signals", &h));
    TRY(cull_kit_allocate(&b->kit, n, C * sizeof *p, "signals", &p));
    TRY(cull_kit_allocate(&b->kit, n, n * sizeof *b->k, "K", &b->k));
    TRY(cull_kit_allocate(&b->kit, n, sizeof *b->t, "t", &b->t));
    TRY(cull_kit_allocate(&b->kit, 1, sizeof *b->b2, "b2", &b->b2));
    TRY(cull_kit_allocate(&b->kit, m * PROBLEMS, sizeof *b->index, "picks", &b->index));
    TRY(cull_kit_allocate(&b->kit, m * PROBLEMS, sizeof *b->weight, "picks", &b->weight));
    TRY(send_h(b, h));
    TRY(cull_backend_upload(b->backend, p, b->p, n * C * sizeof *p));
    b->there_h = cull_matrix(h, b->narrow ? CULL_BF16 : CULL_F32, n, D);
    b->there_p = cull_matrix(p, CULL_F32, n, C);
done:
    return status;
}

static void drop_batch(struct batch *b)
{
    cull_kit_clear(&b->kit);
    free(b->h);
    free(b->p);
    free(b->here_k);
    free(b->here_t);
    free(b->here_index);
    free(b->here_weight);
}

/* ---- time ---- */

static cull_status several(cull_op *op, const cull_op_args *args)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; i < TOGETHER && status == CULL_OK; i++) status = cull_op_run(op, args);
    return status;
}

/* Seconds of one, of twenty together; after one by itself, which makes room. */
static cull_status time_op(cull_backend *backend, cull_op *op, const cull_op_args *args,
                           double *seconds)
{
    const cull_queue_class *queue = backend->class->queue;
    cull_status             status = cull_op_run(op, args);
    cull_recording         *recording = NULL;
    cull_mark              *mark[2] = {NULL, NULL};

    if (status == CULL_OK && queue->record) {
        TRY(cull_backend_wait(backend));
        TRY(queue->record(backend));
        status = several(op, args);
        if (queue->recorded(backend, &recording) != CULL_OK && status == CULL_OK)
            status = CULL_DEVICE;
    }
    TRY(status);
    for (size_t r = 0; r < ROUNDS; r++) {
        TRY(cull_backend_mark(backend, &mark[0]));
        TRY(recording ? queue->replay(backend, recording) : several(op, args));
        TRY(cull_backend_mark(backend, &mark[1]));
        TRY(cull_backend_elapsed(backend, mark[0], mark[1], seconds + r));
        seconds[r] /= TOGETHER;
    }
    bench_sort(seconds, ROUNDS);
done:
    if (recording) queue->forget(backend, recording);
    for (int i = 0; i < 2; i++)
        if (mark[i]) queue->unmark(backend, mark[i]);
    return status;
}

static void tell(const struct batch *b, const char *what, const char *more, double microseconds)
{
    (void)printf("{\"case\":\"%s M=%zu m=%zu\",\"h\":\"%s\",\"backend\":\"%s\",\"us\":%.2f%s}\n",
                 what, b->n, b->m,
                 b->wild     ? "f32, wild"
                 : b->narrow ? "bf16"
                             : "f32",
                 cull_backend_describe(b->backend), microseconds, more);
    (void)fflush(stdout);
}

/* ---- what cpu says ---- */

static void compare(const struct batch *b, size_t count, size_t *other, double *apart)
{
    double largest = 0;

    *other = 0;
    *apart = 0;
    for (size_t i = 0; i < count; i++) {
        *other += b->here_index[i] != b->right_index[i];
        largest = fmax(largest, fabs(b->right_weight[i]));
    }
    for (size_t i = 0; i < count && *other == 0; i++)
        *apart = fmax(*apart, fabs(b->here_weight[i] - b->right_weight[i]) / largest);
}

static cull_status bring_answer(struct batch *b, size_t number)
{
    cull_status status = CULL_OK;

    TRY(cull_backend_download(b->backend, b->here_index, b->index + number * b->m,
                              b->m * sizeof *b->index));
    TRY(cull_backend_download(b->backend, b->here_weight, b->weight + number * b->m,
                              b->m * sizeof *b->weight));
done:
    return status;
}

static cull_status is_same_again(struct batch *b, cull_op *op, const cull_op_args *args)
{
    cull_status status = CULL_OK;
    size_t      bytes = b->m * sizeof(double);
    double     *first = malloc(bytes);

    if (!first) FAIL(CULL_NO_MEMORY, "no memory for an answer");
    TRY(bring_answer(b, 0));
    memcpy(first, b->here_weight, bytes);
    for (size_t i = 0; i < b->again; i++) {
        TRY(cull_op_run(op, args));
        TRY(bring_answer(b, 0));
        if (memcmp(first, b->here_weight, bytes) != 0)
            FAIL(CULL_DIFFERS, "the answer %zu times later is another one", i + 1);
    }
done:
    free(first);
    return status;
}

/* ---- the three ---- */

static cull_status bench_gram(struct batch *b)
{
    cull_status  status = CULL_OK;
    cull_op     *op = NULL;
    cull_op_desc desc = {CULL_OP_GRAM, b->n, D, C, 0};
    cull_op_args args = {
        .gram = {.h = &b->there_h, .p = &b->there_p, .k = b->k, .t = b->t, .b2 = b->b2}};
    double seconds[ROUNDS];

    TRY(cull_op_ready(b->backend, &desc, &op));
    TRY(time_op(b->backend, op, &args, seconds));
    tell(b, "gram", "", 1e6 * seconds[ROUNDS / 2]);
    TRY(cull_backend_download(b->backend, b->here_k, b->k, b->n * b->n * sizeof *b->k));
    TRY(cull_backend_download(b->backend, b->here_t, b->t, b->n * sizeof *b->t));
done:
    cull_op_destroy(op);
    return status;
}

static cull_omp_problem describe(const struct batch *b, size_t number, double b2)
{
    return (cull_omp_problem){.count = b->n,
                              .budget = b->m,
                              .k = cull_matrix(b->k, CULL_F64, b->n, b->n),
                              .t = b->t,
                              .b2 = b2,
                              .index = b->index + number * b->m,
                              .weight = b->weight + number * b->m};
}

static cull_status time_pursuits(struct batch *b, cull_op *op, const cull_op_args *args,
                                 double *device, double *call)
{
    cull_status status = CULL_OK;
    cull_mark  *mark[2] = {NULL, NULL};

    TRY(cull_op_run(op, args));
    for (size_t r = 0; r < ROUNDS; r++) {
        double begin = cull_base_seconds();

        TRY(cull_backend_mark(b->backend, &mark[0]));
        TRY(cull_op_run(op, args));
        TRY(cull_backend_mark(b->backend, &mark[1]));
        call[r] = cull_base_seconds() - begin;
        TRY(cull_backend_elapsed(b->backend, mark[0], mark[1], device + r));
    }
    bench_sort(device, ROUNDS);
    bench_sort(call, ROUNDS);
done:
    for (int i = 0; i < 2; i++)
        if (mark[i]) b->backend->class->queue->unmark(b->backend, mark[i]);
    return status;
}

/* After bench_gram(). */
static cull_status bench_pursuit(struct batch *b, size_t count)
{
    cull_status       status = CULL_OK;
    cull_op          *op = NULL;
    cull_op_desc      desc = {CULL_OP_OMP, b->n, 0, 0, b->m};
    cull_omp_problem *problem = calloc(count, sizeof *problem), right = {0};
    cull_op_args      args = {.omp = {problem, count, &plain}};
    double            device[ROUNDS], call[ROUNDS], b2 = 0, apart = 0;
    size_t            other = 0;
    char              what[64], more[128];

    if (!problem) FAIL(CULL_NO_MEMORY, "no memory for problems");
    TRY(cull_backend_download(b->backend, &b2, b->b2, sizeof b2));
    for (size_t i = 0; i < count; i++) problem[i] = describe(b, i, b2);
    TRY(cull_op_ready(b->backend, &desc, &op));
    TRY(time_pursuits(b, op, &args, device, call));
    if (count == 1) TRY(is_same_again(b, op, &args));
    TRY(bring_answer(b, count - 1));
    right = describe(b, 0, b2);
    right.k.data = b->here_k;
    right.t = b->here_t;
    right.index = b->right_index;
    right.weight = b->right_weight;
    TRY(cull_omp(b->cpu, &right, 1, &plain));
    compare(b, right.picked, &other, &apart);
    (void)snprintf(what, sizeof what, "%s%zu", count > 1 ? "pursuits " : "pursuit ", count);
    (void)snprintf(more, sizeof more,
                   ",\"call_us\":%.1f,\"picked\":%zu,\"other\":%zu,\"apart\":%.1e",
                   1e6 * call[ROUNDS / 2], problem[count - 1].picked,
                   other + (right.picked != problem[count - 1].picked), apart);
    tell(b, what, more, 1e6 * device[ROUNDS / 2]);
done:
    cull_op_destroy(op);
    free(problem);
    return status;
}

struct decision {
    cull_outcome outcome;
    cull_trouble trouble;
};

static cull_op_args match_args(const struct batch *b, struct decision *there)
{
    return (cull_op_args){.match = {.rows = b->n,
                                    .budget = b->m,
                                    .h = b->there_h,
                                    .p = b->there_p,
                                    .options = plain,
                                    .weights = CULL_WEIGHTS_MEAN,
                                    .fill = true,
                                    .key = {{5, 6}},
                                    .step = 3,
                                    .index = b->index,
                                    .weight = b->weight,
                                    .outcome = &there->outcome,
                                    .trouble = &there->trouble}};
}

static cull_status match_on_cpu(const struct batch *b, struct decision *right)
{
    cull_status  status = CULL_OK;
    cull_op     *op = NULL;
    cull_op_desc desc = {CULL_OP_MATCH, b->n, D, C, b->m};
    cull_op_args args = match_args(b, right);

    args.match.h = cull_matrix(b->h, CULL_F32, b->n, D);
    args.match.p = cull_matrix(b->p, CULL_F32, b->n, C);
    args.match.index = b->right_index;
    args.match.weight = b->right_weight;
    TRY(cull_op_ready(b->cpu, &desc, &op));
    TRY(cull_op_run(op, &args));
done:
    cull_op_destroy(op);
    return status;
}

static cull_status bench_match(struct batch *b)
{
    cull_status      status = CULL_OK;
    cull_op         *op = NULL;
    cull_op_desc     desc = {CULL_OP_MATCH, b->n, D, C, b->m};
    struct decision *there = NULL, here = {{0}, {0}}, right = {{0}, {0}};
    cull_op_args     args = {0};
    double           seconds[ROUNDS], apart = 0;
    size_t           other = 0;
    char             more[128];

    TRY(cull_kit_allocate(&b->kit, 1, sizeof *there, "a decision", &there));
    args = match_args(b, there);
    TRY(cull_op_ready(b->backend, &desc, &op));
    TRY(time_op(b->backend, op, &args, seconds));
    TRY(is_same_again(b, op, &args));
    TRY(bring_answer(b, 0));
    TRY(cull_backend_download(b->backend, &here, there, sizeof here));
    TRY(match_on_cpu(b, &right));
    compare(b, right.outcome.count, &other, &apart);
    other += memcmp(&here.outcome, &right.outcome, sizeof here.outcome) != 0;
    (void)snprintf(more, sizeof more, ",\"picked\":%u,\"flags\":%u,\"other\":%zu,\"apart\":%.1e",
                   here.outcome.picked, here.outcome.flags, other, apart);
    tell(b, "match", more, 1e6 * seconds[ROUNDS / 2]);
done:
    cull_op_destroy(op);
    return status;
}

/* kind: features; features in bfloat16; wild numbers */
static cull_status run(cull_backend *backend, cull_backend *cpu, const size_t *size, size_t kind,
                       size_t again)
{
    cull_status  status = CULL_OK;
    struct batch b = {.backend = backend,
                      .cpu = cpu,
                      .n = size[0],
                      .m = size[1],
                      .again = again,
                      .narrow = kind == 1,
                      .wild = kind == 2};

    TRY(make_batch(&b));
    TRY(bench_gram(&b));
    TRY(bench_pursuit(&b, 1));
    if (b.n == 128 && b.m == 38 && kind == 0) TRY(bench_pursuit(&b, PROBLEMS));
    TRY(bench_match(&b));
done:
    drop_batch(&b);
    return status;
}

int main(int argc, char **argv)
{
    static const size_t cases[][2] = {{128, 12},  {128, 38},  {128, 64},   {256, 77},  {512, 51},
                                      {512, 154}, {512, 256}, {1280, 128}, {1280, 640}};
    const char         *name = argc > 1 && argv[1][0] != '-' ? argv[1] : "cuda";
    cull_backend       *backend = NULL, *cpu = NULL;
    size_t              again = 0;
    int                 failed = 0;

    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--again") == 0) again = strtoul(argv[i + 1], NULL, 10);
    failed = cull_backend_open(name, 2, &backend) || cull_backend_open("cpu", 0, &cpu);
    for (size_t i = 0; i < KINDS * sizeof cases / sizeof *cases && !failed; i++) {
        size_t kind = i % KINDS;

        if (kind == 1 && cull_backend_on_host(backend)) continue;
        failed = run(backend, cpu, cases[i / KINDS], kind, again) != CULL_OK;
    }
    if (failed) (void)fprintf(stderr, "%s\n", cull_last_error());
    cull_backend_close(backend);
    cull_backend_close(cpu);
    return failed;
}
