/*
 * bench/bench_device_ops.c - the operations of a step on a backend, each by itself: microseconds,
 * and the bytes that it has to read and write a second.
 *
 *     bench_device_ops [BACKEND]       (cuda, cpu, ...)
 *
 * TIMES runs are recorded as one step where the backend records, else they are run as they come;
 * the least and the median of ROUNDS such steps, by the backend's own marks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

enum { TIMES = 20, ROUNDS = 15, WEIGHTS = 11173962, TENSORS = 64 };

static cull_backend *backend;
static cull_kit      kit;

/* Zeros on the backend that last until the case ends. */
static void *room(size_t bytes)
{
    void *data = NULL;

    if (cull_kit_allocate(&kit, bytes, 1, "a benchmark", &data) != CULL_OK) {
        (void)fprintf(stderr, "%s\n", cull_last_error());
        exit(1);
    }
    return data;
}

static void *placed(const void *from, size_t bytes)
{
    void *data = room(bytes);

    if (cull_backend_upload(backend, data, from, bytes) != CULL_OK) exit(1);
    return data;
}

/* 0 .. count-1 in an order of their own, modulo `of`. */
static uint32_t *places(size_t count, size_t of)
{
    uint32_t *here = malloc(count * sizeof *here), *there = NULL;

    for (size_t i = 0; here && i < count; i++) here[i] = (uint32_t)(i * 40503 % of);
    if (here) there = placed(here, count * sizeof *here);
    free(here);
    return there;
}

static cull_status run_times(cull_op *op, const cull_op_args *args)
{
    cull_status status = CULL_OK;

    for (int i = 0; i < TIMES; i++) TRY(cull_op_run(op, args));
done:
    return status;
}

static cull_status time_rounds(cull_op *op, const cull_op_args *args, double round[ROUNDS])
{
    const cull_queue_class *queue = backend->class->queue;
    cull_status             status = CULL_OK;
    cull_mark              *from = NULL, *to = NULL;
    cull_recording         *recording = NULL;

    TRY(run_times(op, args));
    if (queue->record) {
        TRY(queue->record(backend));
        TRY(run_times(op, args));
        TRY(queue->recorded(backend, &recording));
        TRY(queue->replay(backend, recording));
    }
    for (int r = 0; r < ROUNDS; r++) {
        TRY(cull_backend_mark(backend, &from));
        TRY(recording ? queue->replay(backend, recording) : run_times(op, args));
        TRY(cull_backend_mark(backend, &to));
        TRY(cull_backend_elapsed(backend, from, to, &round[r]));
        round[r] /= TIMES;
    }
done:
    if (queue->forget) queue->forget(backend, recording);
    queue->unmark(backend, from);
    queue->unmark(backend, to);
    return status;
}

/* And the case ends. */
static void time_op(const char *name, cull_op_kind kind, const cull_op_args *args, double bytes)
{
    cull_op     *op = NULL;
    cull_op_desc desc = {.kind = kind};
    double       round[ROUNDS];

    if (cull_op_ready(backend, &desc, &op) != CULL_OK || time_rounds(op, args, round) != CULL_OK) {
        (void)printf("{\"case\":\"%s\",\"failed\":\"%s\"}\n", name, cull_last_error());
    } else {
        bench_sort(round, ROUNDS);
        (void)printf("{\"case\":\"%s\",\"us\":%.2f,\"median_us\":%.2f,\"gb_s\":%.0f}\n", name,
                     round[0] * 1e6, round[ROUNDS / 2] * 1e6, bytes / round[0] * 1e-9);
    }
    (void)fflush(stdout);
    cull_op_destroy(op);
    cull_kit_clear(&kit);
    kit = (cull_kit){.backend = backend};
}

static void time_augment(const char *name, size_t count, size_t pool, size_t side, bool augmented,
                         cull_dtype to)
{
    static const double mean[] = {.49, .48, .45}, deviation[] = {.25, .24, .26};
    size_t              row = 3 * side * side;
    cull_op_args        args = {.augment = {.desc = {.channels = 3,
                                                     .height = side,
                                                     .width = side,
                                                     .from = CULL_U8,
                                                     .to = to,
                                                     .channels_last = true,
                                                     .mean = placed(mean, sizeof mean),
                                                     .deviation = placed(deviation, sizeof mean),
                                                     .pad = side / 8,
                                                     .flip = true,
                                                     .cutout = side / 2,
                                                     .move = cull_key_make(1, "move"),
                                                     .hole = cull_key_make(1, "hole")},
                                            .call = {.count = count,
                                                     .places = places(count, pool),
                                                     .augmented = augmented,
                                                     .raw = room(pool * row),
                                                     .out = room(count * row * 8)},
                                            .now = room(sizeof(cull_moment))}};

    time_op(name, CULL_OP_AUGMENT, &args, (double)(count * row * (1 + cull_dtype_size(to))));
}

/* About what ResNet-18 keeps in bfloat16: at four extents, a quarter as much at each. */
static void time_gather(const char *name, size_t rows, size_t held)
{
    cull_gathered list[TENSORS];
    double        bytes = 0;

    for (size_t i = 0; i < TENSORS; i++) {
        list[i].bytes = (size_t)(64 * 32 * 32 * 2) >> i / 16;
        list[i].from = room(held * list[i].bytes);
        list[i].to = room(rows * list[i].bytes);
        bytes += 2 * (double)(rows * list[i].bytes);
    }
    time_op(name, CULL_OP_GATHER_ALL,
            &(cull_op_args){.gather_all = {.list = list,
                                           .count = TENSORS,
                                           .index = places(rows, held),
                                           .rows = rows,
                                           .held = held}},
            bytes);
}

static void time_update(const char *name, const cull_optim_options *rule, bool narrow)
{
    static cull_optim_range range[TENSORS];
    size_t                  size = sizeof(float), chunks = WEIGHTS / CULL_OPTIM_CHUNK + 1;
    int                     buffers = rule->rule != CULL_OPTIM_SGD ? 2 : rule->momentum > 0;
    cull_moment             now = {.updates = 7, .rate = 1e-3};

    for (size_t r = 0; r < TENSORS; r++)
        range[r] = (cull_optim_range){r * (WEIGHTS / TENSORS), r % 2 ? 0 : rule->weight_decay};
    cull_op_args args = {.update = {.rule = *rule,
                                    .dtype = CULL_F32,
                                    .count = WEIGHTS,
                                    .value = room(WEIGHTS * size),
                                    .gradient = room(WEIGHTS * size),
                                    .narrow = narrow ? room(WEIGHTS * size / 2) : NULL,
                                    .range = placed(range, sizeof range),
                                    .ranges = TENSORS,
                                    .partial = room(chunks * sizeof(double)),
                                    .norm = room(sizeof(double)),
                                    .now = placed(&now, sizeof now),
                                    .trouble = room(sizeof(cull_trouble))}};
    for (int i = 0; i < buffers; i++) args.update.buffer[i] = room(WEIGHTS * size);
    time_op(name, CULL_OP_UPDATE, &args,
            (double)WEIGHTS * (double)(size * (size_t)(3 + 2 * buffers) + (narrow ? 2 : 0) +
                                       (rule->clip > 0 ? size : 0)));
}

static void time_sums(size_t rows, size_t classes)
{
    char         name[64];
    size_t       p = rows * classes * sizeof(float);
    cull_op_args summary = {.summary = {.rows = rows,
                                        .classes = classes,
                                        .loss = room(rows * sizeof(double)),
                                        .p = room(p),
                                        .dtype = CULL_F32,
                                        .target = room(rows * sizeof(int32_t)),
                                        .place = places(rows, rows),
                                        .out = room(sizeof(cull_seen)),
                                        .now = room(sizeof(cull_moment)),
                                        .trouble = room(sizeof(cull_trouble))}};

    (void)snprintf(name, sizeof name, "summary rows=%zu classes=%zu", rows, classes);
    time_op(name, CULL_OP_SUMMARY, &summary, (double)(p + rows * 16));
    cull_op_args tally = {.tally = {.rows = rows,
                                    .place = places(rows, 50000),
                                    .loss = room(rows * sizeof(double)),
                                    .now = room(sizeof(cull_moment)),
                                    .count = room(50000 * sizeof(int32_t)),
                                    .first = room(50000 * sizeof(int32_t)),
                                    .weights = room(50000 * sizeof(double)),
                                    .latest = room(50000 * sizeof(float))}};
    (void)snprintf(name, sizeof name, "tally rows=%zu", rows);
    time_op(name, CULL_OP_TALLY, &tally, (double)(rows * 44));
}

static void time_kept(size_t rows, size_t classes)
{
    char         name[64];
    size_t       p = 1280 * classes * sizeof(float);
    cull_op_args args = {.kept = {.rows = rows,
                                  .classes = classes,
                                  .dtype = CULL_F32,
                                  .index = places(rows, 1280),
                                  .chosen = room(rows * sizeof(double)),
                                  .from_p = room(p),
                                  .from_loss = room(1280 * sizeof(double)),
                                  .from_target = room(1280 * sizeof(int32_t)),
                                  .target_bytes = sizeof(int32_t),
                                  .from_place = places(1280, 50000),
                                  .p = room(p),
                                  .gradient = room(p),
                                  .loss = room(rows * sizeof(double)),
                                  .share = room(rows * sizeof(double)),
                                  .target = room(rows * sizeof(int32_t)),
                                  .place = room(rows * sizeof(uint32_t))}};

    (void)snprintf(name, sizeof name, "kept rows=%zu classes=%zu", rows, classes);
    time_op(name, CULL_OP_KEPT, &args, (double)(rows * (classes * 12 + 50)));
}

int main(int count, char **arguments)
{
    static const cull_optim_options sgd = {
        .rule = CULL_OPTIM_SGD, .momentum = .9, .nesterov = true, .weight_decay = 5e-4};
    static const cull_optim_options adamw = {
        .rule = CULL_OPTIM_ADAMW, .beta1 = .9, .beta2 = .999, .epsilon = 1e-8, .weight_decay = .01};
    cull_optim_options clipped = sgd;

    clipped.clip = 1;
    if (cull_backend_open(count > 1 ? arguments[1] : "cuda", 1, &backend) != CULL_OK) {
        (void)fprintf(stderr, "%s\n", cull_last_error());
        return 1;
    }
    kit.backend = backend;
    time_augment("augment 128 of 32x32, bf16", 128, 50000, 32, true, CULL_BF16);
    time_augment("augment 128 of 32x32, f32", 128, 50000, 32, true, CULL_F32);
    time_augment("augment 1280 of 32x32, bf16", 1280, 50000, 32, true, CULL_BF16);
    time_augment("normalise 10000 of 32x32, bf16", 10000, 10000, 32, false, CULL_BF16);
    time_augment("augment 128 of 224x224, bf16", 128, 1024, 224, true, CULL_BF16);
    time_gather("gather 12 of 128, 64 arrays", 12, 128);
    time_gather("gather 38 of 128, 64 arrays", 38, 128);
    time_gather("gather 256 of 512, 64 arrays", 256, 512);
    time_update("sgd nesterov, 11 M", &sgd, false);
    time_update("sgd nesterov and bf16, 11 M", &sgd, true);
    time_update("sgd nesterov, clipped, 11 M", &clipped, true);
    time_update("adamw and bf16, 11 M", &adamw, true);
    time_sums(128, 10);
    time_sums(1280, 10);
    time_sums(10000, 10);
    time_sums(128, 1000);
    time_kept(38, 10);
    time_kept(640, 1000);
    cull_backend_close(backend);
    return 0;
}
