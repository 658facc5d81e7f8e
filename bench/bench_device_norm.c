/*
 * bench/bench_device_norm.c - the 20 batch norms of ResNet-18 for CIFAR on a backend: what their
 * passes take.
 *
 *     bench_device_norm [BACKEND [BATCH]...]                       (cuda 12 38 128 51 154 512)
 *
 * Values are bfloat16 on devices. Of each shape and kind a recording of REPEATS passes is timed by
 * marks, ROUNDS times: "near", over the same arrays, which may lie in the caches as what a
 * convolution has just written does, and "far", over arrays that take turns until they are larger
 * than any cache. A line of JSON each, the bytes being those that must be moved once; then of each
 * batch the sums over all 20, of medians.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

enum { REPEATS = 20, ROUNDS = 9, BATCHES = 6, KINDS = 3, SHAPES = 4, MOST_SETS = 20 };
enum { X, X2, Y, DY, DX, DX2, TENSORS };

static const size_t far_bytes = (size_t)160 << 20;

/* A norm and its ReLU, without that, and with an addition before it; how many of a shape. */
static const struct {
    int64_t c, side;
    int     of[KINDS];
} shapes[SHAPES] = {
    {64, 32, {3, 0, 2}}, {128, 16, {2, 1, 2}}, {256, 8, {2, 1, 2}}, {512, 4, {2, 1, 2}}};
static const char *const kinds[KINDS] = {"relu", "plain", "add and relu"};

struct norm {
    cull_backend   *backend;
    cull_layer_op  *op;
    cull_layer_args args[MOST_SETS];
    void           *array[MOST_SETS][TENSORS], *parameters;
    size_t          sets, bytes; /* of one tensor */
    int             kind;
};

static void end(struct norm *n)
{
    for (size_t i = 0; i < MOST_SETS; i++)
        for (int t = 0; t < TENSORS; t++) cull_backend_release(n->backend, n->array[i][t]);
    cull_backend_release(n->backend, n->parameters);
    cull_layer_destroy(n->op);
}

/* Small whole numbers over four, on both sides of zero, in any of the types. */
static cull_status fill(struct norm *n, cull_dtype dtype, size_t count, uint64_t seed, void *to)
{
    cull_status status = CULL_OK;
    size_t      size = cull_dtype_size(dtype);
    char       *host = malloc(count * size);
    cull_key    key = cull_key_make(seed, "norms");

    if (!host) FAIL(CULL_NO_MEMORY, "no memory for values");
    for (size_t i = 0; i < count; i++) {
        float    x = (float)((int)(32 * cull_key_uniform(key, 0, i % 65521)) - 15) / 4;
        uint32_t word = 0;

        memcpy(&word, &x, sizeof word);
        if (dtype == CULL_BF16) word >>= 16;
        memcpy(host + i * size, &word, size);
    }
    TRY(cull_backend_upload(n->backend, to, host, count * size));
done:
    free(host);
    return status;
}

static cull_status begin_set(struct norm *n, const cull_layer_desc *d, size_t set)
{
    cull_status      status = CULL_OK;
    cull_layer_args *a = &n->args[set];
    void           **array = n->array[set];
    float           *p = n->parameters;
    size_t           count = (size_t)(d->x.n * cull_image_row(&d->x)), c = (size_t)d->x.c;

    for (int t = 0; t < TENSORS; t++) {
        if ((t == X2 || t == DX2) && !d->fused_add) continue;
        TRY(cull_backend_allocate(n->backend, count, cull_dtype_size(d->dtype), "values",
                                  &array[t]));
        if (t == X || t == X2 || t == DY) TRY(fill(n, d->dtype, count, (uint64_t)t + 1, array[t]));
    }
    *a = (cull_layer_args){.x = array[X],
                           .x2 = array[X2],
                           .y = array[Y],
                           .w = p,
                           .b = p + c,
                           .stats = p + 2 * c,
                           .running = p + 4 * c,
                           .statistics = CULL_STATS_UPDATE,
                           .dy = array[DY],
                           .dx = array[DX],
                           .dx2 = array[DX2],
                           .dw = p + 6 * c,
                           .db = p + 7 * c};
done:
    return status;
}

static cull_status begin(struct norm *n, int shape, int kind, int64_t batch, bool far)
{
    cull_status     status = CULL_OK;
    cull_image      x = {batch, shapes[shape].c, shapes[shape].side, shapes[shape].side, 1};
    cull_layer_desc d = {.kind = CULL_LAYER_BATCHNORM,
                         .dtype = CULL_F32,
                         .parameters = CULL_F32,
                         .statistics = CULL_F32,
                         .epsilon = 1e-5,
                         .momentum = 0.1,
                         .fused_relu = kind != 1,
                         .fused_add = kind == 2,
                         .learn = true,
                         .input_gradient = true};
    size_t          c = (size_t)x.c;

    if (!cull_backend_on_host(n->backend)) d.dtype = CULL_BF16;
    x.block = cull_layer_block(n->backend, x.c, x.c);
    d.x = d.y = x;
    if (d.fused_add) d.x2 = x;
    n->kind = kind;
    n->bytes = (size_t)(x.n * cull_image_row(&x)) * cull_dtype_size(d.dtype);
    n->sets = far ? far_bytes / (4 * n->bytes) + 2 : 1;
    if (n->sets > MOST_SETS) n->sets = MOST_SETS;
    TRY(cull_layer_create(n->backend, &d, &n->op));
    TRY(cull_backend_allocate(n->backend, 8 * c, sizeof(float), "parameters", &n->parameters));
    TRY(fill(n, CULL_F32, 8 * c, 9, n->parameters));
    for (size_t i = 0; i < n->sets; i++) TRY(begin_set(n, &d, i));
    for (size_t i = 0; i < n->sets; i++) TRY(n->op->class->forward(n->op, &n->args[i]));
done:
    return status;
}

static cull_status repeat(struct norm *n, bool backward)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; i < REPEATS; i++)
        TRY((backward ? n->op->class->backward : n->op->class->forward)(n->op,
                                                                        &n->args[i % n->sets]));
done:
    return status;
}

/* Microseconds of a pass: ROUNDS of them, ascending. */
static cull_status measure(struct norm *n, bool backward, double *us)
{
    cull_status             status = CULL_OK;
    const cull_queue_class *queue = n->backend->class->queue;
    cull_recording         *recording = NULL;
    cull_mark              *mark[2] = {NULL, NULL};

    if (queue->record) {
        TRY(queue->record(n->backend));
        TRY(repeat(n, backward));
        TRY(queue->recorded(n->backend, &recording));
    }
    for (int round = -1; round < ROUNDS; round++) {
        double seconds = 0;

        TRY(cull_backend_mark(n->backend, &mark[0]));
        TRY(recording ? queue->replay(n->backend, recording) : repeat(n, backward));
        TRY(cull_backend_mark(n->backend, &mark[1]));
        TRY(cull_backend_elapsed(n->backend, mark[0], mark[1], &seconds));
        if (round >= 0) us[round] = 1e6 * seconds / REPEATS;
    }
    bench_sort(us, ROUNDS);
done:
    for (int i = 0; i < 2; i++) queue->unmark(n->backend, mark[i]);
    if (recording) queue->forget(n->backend, recording);
    return status;
}

/* x, y [and x2]; x, dy, dx [and y, dx2]. */
static size_t moved(const struct norm *n, bool backward)
{
    return n->bytes * (backward ? (n->kind == 2 ? 5 : 3) : (n->kind == 2 ? 3 : 2));
}

static cull_status time_norm(cull_backend *backend, int shape, int kind, int64_t batch, bool far,
                             double sum[2])
{
    cull_status status = CULL_OK;
    struct norm n = {.backend = backend};
    double      us[ROUNDS];

    TRY(begin(&n, shape, kind, batch, far));
    for (int backward = 0; backward < 2; backward++) {
        TRY(measure(&n, backward, us));
        sum[backward] += shapes[shape].of[kind] * us[ROUNDS / 2];
        (void)printf("{\"bench\":\"norm\",\"backend\":\"%s\",\"batch\":%d,\"channels\":%d,"
                     "\"rows\":%d,\"kind\":\"%s\",\"arrays\":\"%s\",\"direction\":\"%s\","
                     "\"us\":%.2f,\"least_us\":%.2f,\"gb_s\":%.0f,\"implementation\":\"%s\"}\n",
                     backend->class->name, (int)batch, (int)shapes[shape].c,
                     (int)(batch * shapes[shape].side * shapes[shape].side), kinds[kind],
                     far ? "far" : "near", backward ? "backward" : "forward", us[ROUNDS / 2], us[0],
                     (double)moved(&n, backward) / us[ROUNDS / 2] * 1e-3, n.op->implementation);
    }
done:
    end(&n);
    return status;
}

static cull_status time_batch(cull_backend *backend, int64_t batch, bool far, double sum[2])
{
    cull_status status = CULL_OK;

    for (int shape = 0; shape < SHAPES; shape++)
        for (int kind = 0; kind < KINDS; kind++)
            if (shapes[shape].of[kind]) TRY(time_norm(backend, shape, kind, batch, far, sum));
done:
    return status;
}

int main(int count, char **arguments)
{
    static const int usual[BATCHES] = {12, 38, 128, 51, 154, 512};
    cull_status      status = CULL_OK;
    cull_backend    *backend = NULL;
    double           sum[BATCHES][2][2] = {0};
    int              batches = count > 2 ? count - 2 : BATCHES, batch[BATCHES];

    if (batches > BATCHES) batches = BATCHES;
    for (int i = 0; i < batches; i++) batch[i] = count > 2 ? atoi(arguments[i + 2]) : usual[i];
    TRY(cull_backend_open(count > 1 ? arguments[1] : "cuda", 1, &backend));
    for (int i = 0; i < batches; i++)
        for (int far = 0; far < 2; far++) TRY(time_batch(backend, batch[i], far, sum[i][far]));
    for (int i = 0; i < batches; i++)
        for (int far = 0; far < 2; far++)
            (void)printf("{\"bench\":\"norms of resnet18\",\"batch\":%d,\"arrays\":\"%s\","
                         "\"forward_us\":%.1f,\"backward_us\":%.1f,\"both_us\":%.1f}\n",
                         batch[i], far ? "far" : "near", sum[i][far][0], sum[i][far][1],
                         sum[i][far][0] + sum[i][far][1]);
done:
    if (status != CULL_OK) (void)fprintf(stderr, "bench_device_norm: %s\n", cull_last_error());
    cull_backend_close(backend);
    return status != CULL_OK;
}
