/*
 * bench/bench_device_layers.c - convolutions and the last layer of networks on a device, one JSON
 * line each: microseconds forward, of the input's gradient and of the weights', and by what they
 * are computed; then the sums over ResNet-18 (for images of 32x32), each as often as it is there.
 *
 *     bench_device_layers [BACKEND] [bf16|tf32|f32] [BATCH ...] [--repeatable] [--others]
 *
 * What is timed is a recording of twenty, replayed; of several replays the median. The input's
 * gradient is what backward takes with it, less what it takes without. `choose_s` are the seconds
 * in which the ways were chosen. --others: depthwise convolutions and larger stems too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/layer.h"
#include "base/clock.h"
#include "common.h"

enum { TOGETHER = 20, ROUNDS = 9, MOST_BATCHES = 16 };

struct shape {
    const char *name;
    int64_t     c, extent, o, kernel, stride, groups;
    int         count; /* how often ResNet-18 has it; 0: not at all */
};

static const struct shape shapes[] = {
    {"stem 3x3", 3, 32, 64, 3, 1, 1, 1},
    {"64 3x3", 64, 32, 64, 3, 1, 1, 4},
    {"64 to 128, stride 2", 64, 32, 128, 3, 2, 1, 1},
    {"64 to 128, 1x1, stride 2", 64, 32, 128, 1, 2, 1, 1},
    {"128 3x3", 128, 16, 128, 3, 1, 1, 3},
    {"128 to 256, stride 2", 128, 16, 256, 3, 2, 1, 1},
    {"128 to 256, 1x1, stride 2", 128, 16, 256, 1, 2, 1, 1},
    {"256 3x3", 256, 8, 256, 3, 1, 1, 3},
    {"256 to 512, stride 2", 256, 8, 512, 3, 2, 1, 1},
    {"256 to 512, 1x1, stride 2", 256, 8, 512, 1, 2, 1, 1},
    {"512 3x3", 512, 4, 512, 3, 1, 1, 3},
    {"dense 512 to 10", 512, 1, 10, 0, 0, 0, 1},
};

static const struct shape others[] = {
    {"stem 3x3 to 16", 3, 32, 16, 3, 1, 1, 0},
    {"stem 7x7, stride 2", 3, 224, 64, 7, 2, 1, 0},
    {"stem 5x5 of 1", 1, 32, 6, 5, 1, 1, 0},
    {"16 3x3", 16, 32, 16, 3, 1, 1, 0},
    {"depthwise 32", 32, 32, 32, 3, 1, 32, 0},
    {"depthwise 64, stride 2", 64, 32, 64, 3, 2, 64, 0},
    {"depthwise 128", 128, 16, 128, 3, 1, 128, 0},
    {"depthwise 512", 512, 4, 512, 3, 1, 512, 0},
    {"depthwise 960", 960, 4, 960, 3, 1, 960, 0},
    {"dense 512 to 100", 512, 1, 100, 0, 0, 0, 0},
    {"dense 512 to 512", 512, 1, 512, 0, 0, 0, 0},
};

struct run {
    cull_backend   *backend;
    cull_layer_op  *op;
    cull_kit        kit;
    cull_layer_args args;
    bool            backward;
};

struct times {
    double forward, data, weights;
};

static cull_layer_desc describe(const struct shape *s, const char *type, int64_t batch,
                                bool repeatable)
{
    bool            narrow = strcmp(type, "bf16") == 0, conv = s->kernel > 0;
    int64_t         pad = s->kernel / 2;
    cull_layer_desc d = {.kind = conv ? CULL_LAYER_CONV : CULL_LAYER_DENSE,
                         .dtype = narrow ? CULL_BF16 : CULL_F32,
                         .parameters = CULL_F32,
                         .tf32 = strcmp(type, "tf32") == 0,
                         .repeatable = repeatable,
                         .x = {batch, s->c, s->extent, s->extent, s->c},
                         .y = {batch, s->o, 1, 1, s->o},
                         .bias = !conv,
                         .learn = true,
                         .input_gradient = !conv || s->c > 3};

    if (!conv) {
        d.output = CULL_F32;
        return d;
    }
    for (int i = 0; i < 2; i++) {
        d.kernel[i] = s->kernel;
        d.stride[i] = s->stride;
        d.pad[i] = pad;
    }
    d.groups = s->groups;
    d.y.h = d.y.w = (s->extent + 2 * pad - s->kernel) / s->stride + 1;
    return d;
}

static cull_status once(const struct run *r)
{
    return r->backward ? r->op->class->backward(r->op, &r->args)
                       : r->op->class->forward(r->op, &r->args);
}

static cull_status record(const struct run *r, cull_recording **out)
{
    const cull_queue_class *queue = r->backend->class->queue;
    cull_status             status = CULL_OK;

    TRY(queue->record(r->backend));
    for (int i = 0; i < TOGETHER; i++) TRY(once(r));
    TRY(queue->recorded(r->backend, out));
done:
    return status;
}

/* Microseconds of one. */
static cull_status measure(const struct run *r, double *us)
{
    const cull_queue_class *queue = r->backend->class->queue;
    cull_status             status = CULL_OK;
    cull_recording         *recording = NULL;
    cull_mark              *begin = NULL, *end = NULL;
    double                  seconds[ROUNDS];

    for (int i = 0; i < 3; i++) TRY(once(r));
    TRY(cull_backend_wait(r->backend));
    if (queue->record) TRY(record(r, &recording));
    for (int i = -1; i < ROUNDS; i++) {
        TRY(cull_backend_mark(r->backend, &begin));
        if (recording) TRY(queue->replay(r->backend, recording));
        for (int k = 0; !recording && k < TOGETHER; k++) TRY(once(r));
        TRY(cull_backend_mark(r->backend, &end));
        TRY(cull_backend_elapsed(r->backend, begin, end, &seconds[i < 0 ? 0 : i]));
    }
    bench_sort(seconds, ROUNDS);
    *us = 1e6 * seconds[ROUNDS / 2] / TOGETHER;
done:
    if (recording) queue->forget(r->backend, recording);
    queue->unmark(r->backend, begin);
    queue->unmark(r->backend, end);
    return status;
}

/* Numbers between -1/2 and 1/2. */
static cull_status fill(cull_backend *backend, void *to, cull_dtype dtype, size_t count)
{
    cull_status status = CULL_OK;
    cull_key    key = cull_key_make(1, "layers");
    size_t      size = cull_dtype_size(dtype);
    char       *data = malloc(count * size);

    if (!data) FAIL(CULL_NO_MEMORY, "no memory for %zu numbers", count);
    for (size_t i = 0; i < count; i++) {
        float    x = (float)(cull_key_uniform(key, 0, i % 65536) - 0.5);
        uint32_t bits = 0;

        memcpy(&bits, &x, sizeof bits);
        bits >>= 16;
        if (dtype == CULL_BF16)
            memcpy(data + i * size, &bits, 2);
        else
            memcpy(data + i * size, &x, sizeof x);
    }
    TRY(cull_backend_upload(backend, to, data, count * size));
    TRY(cull_backend_wait(backend));
done:
    free(data);
    return status;
}

static cull_status take(struct run *r, cull_dtype dtype, size_t count, void *out)
{
    cull_status status = CULL_OK;

    TRY(cull_kit_allocate(&r->kit, count, cull_dtype_size(dtype), "a layer", out));
    TRY(fill(r->backend, *(void **)out, dtype, count));
done:
    return status;
}

static cull_status open_run(const cull_layer_desc *d, struct run *r)
{
    cull_status status = CULL_OK;
    cull_dtype  output = d->output ? d->output : d->dtype;
    size_t      x = (size_t)(d->x.n * cull_image_row(&d->x));
    size_t      y = (size_t)(d->y.n * cull_image_row(&d->y)), w = (size_t)(d->x.c * d->y.c);
    void       *in = NULL, *dx = NULL, *out = NULL, *dy = NULL, *dw = NULL, *b = NULL, *db = NULL;
    void       *wide = NULL, *narrow = NULL;

    if (d->kind == CULL_LAYER_CONV)
        w = w / (size_t)d->groups * (size_t)(d->kernel[0] * d->kernel[1]);
    r->kit.backend = r->backend;
    TRY(cull_layer_create(r->backend, d, &r->op));
    TRY(take(r, d->dtype, x, &in));
    TRY(take(r, d->dtype, x, &dx));
    TRY(take(r, output, y, &out));
    TRY(take(r, output, y, &dy));
    TRY(take(r, CULL_F32, w, &wide));
    TRY(take(r, d->dtype, w, &narrow));
    TRY(take(r, CULL_F32, w, &dw));
    TRY(take(r, CULL_F32, (size_t)d->y.c, &b));
    TRY(take(r, CULL_F32, (size_t)d->y.c, &db));
    r->args = (cull_layer_args){.x = in,
                                .y = out,
                                .w = wide,
                                .narrow = d->dtype == CULL_BF16 ? narrow : NULL,
                                .b = b,
                                .dy = dy,
                                .dx = d->input_gradient ? dx : NULL,
                                .dw = dw,
                                .db = db};
done:
    return status;
}

static cull_status time_shape(cull_backend *backend, const struct shape *s, const char *type,
                              int64_t batch, bool repeatable, struct times *out)
{
    cull_status     status = CULL_OK;
    cull_layer_desc d = describe(s, type, batch, repeatable);
    struct run      r = {.backend = backend};
    double          start = cull_base_seconds(), chosen = 0, both = 0;

    TRY(open_run(&d, &r));
    chosen = cull_base_seconds() - start;
    TRY(measure(&r, &out->forward));
    r.backward = true;
    TRY(measure(&r, &both));
    r.args.dx = NULL;
    TRY(measure(&r, &out->weights));
    out->data = d.input_gradient ? both - out->weights : 0;
    printf("{\"case\":\"%s\",\"type\":\"%s\",\"batch\":%d,\"count\":%d,\"forward_us\":%.2f,"
           "\"data_us\":%.2f,\"weights_us\":%.2f,\"choose_s\":%.2f,\"by\":\"%s\"}\n",
           s->name, type, (int)batch, s->count, out->forward, out->data, out->weights, chosen,
           r.op->implementation);
    (void)fflush(stdout);
done:
    cull_layer_destroy(r.op);
    cull_kit_clear(&r.kit);
    return status;
}

static cull_status time_batch(cull_backend *backend, const char *type, int64_t batch,
                              bool repeatable, bool all, struct times *sum)
{
    cull_status status = CULL_OK;
    size_t      count = sizeof shapes / sizeof *shapes, more = sizeof others / sizeof *others;

    for (size_t i = 0; i < count + (all ? more : 0); i++) {
        const struct shape *s = i < count ? &shapes[i] : &others[i - count];
        struct times        one = {0};

        TRY(time_shape(backend, s, type, batch, repeatable, &one));
        sum->forward += s->count * one.forward;
        sum->data += s->count * one.data;
        sum->weights += s->count * one.weights;
    }
done:
    return status;
}

static void tell_sum(const char *type, int64_t batch, bool repeatable, const struct times *sum)
{
    printf("{\"case\":\"resnet18\",\"type\":\"%s\",\"batch\":%d,\"repeatable\":%s,"
           "\"forward_us\":%.1f,\"data_us\":%.1f,\"weights_us\":%.1f,\"all_us\":%.1f}\n",
           type, (int)batch, repeatable ? "true" : "false", sum->forward, sum->data, sum->weights,
           sum->forward + sum->data + sum->weights);
}

int main(int count, char **arguments)
{
    static const int64_t usual[] = {128, 64, 38, 12, 512, 256, 154, 51};
    const char          *name = "cuda", *type = "bf16";
    int64_t              batch[MOST_BATCHES] = {0};
    struct times         sum[MOST_BATCHES] = {{0}};
    size_t               batches = 0;
    bool                 repeatable = false, all = false;
    cull_backend        *backend = NULL;
    cull_status          status = CULL_OK;

    for (int i = 1; i < count; i++) {
        const char *a = arguments[i];

        if (strcmp(a, "--repeatable") == 0)
            repeatable = true;
        else if (strcmp(a, "--others") == 0)
            all = true;
        else if (strcmp(a, "bf16") == 0 || strcmp(a, "tf32") == 0 || strcmp(a, "f32") == 0)
            type = a;
        else if (strtol(a, NULL, 10) > 0 && batches < MOST_BATCHES)
            batch[batches++] = strtol(a, NULL, 10);
        else
            name = a;
    }
    if (!batches) {
        batches = sizeof usual / sizeof *usual;
        memcpy(batch, usual, sizeof usual);
    }
    TRY(cull_backend_open(name, 1, &backend));
    for (size_t i = 0; i < batches; i++)
        TRY(time_batch(backend, type, batch[i], repeatable, all, &sum[i]));
    for (size_t i = 0; i < batches; i++) tell_sum(type, batch[i], repeatable, &sum[i]);
done:
    cull_backend_close(backend);
    if (status != CULL_OK) (void)fprintf(stderr, "%s\n", cull_last_error());
    return status != CULL_OK;
}
