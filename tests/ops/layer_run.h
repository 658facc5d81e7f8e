/*
 * tests/ops/layer_run.h - one layer case run on one backend, in one layout and type, with numbers
 * going in and coming out as doubles in NCHW, weights of convolutions as (O, C/groups, KH, KW). The
 * backend's arrays are uploaded before a pass and downloaded behind it.
 *
 * What backward may not read (see `keeps` of nn/nn.h) is overwritten with NaN between the two
 * passes, and so is every gradient that is to be overwritten.
 */
#ifndef CULL_TESTS_OPS_LAYER_RUN_H
#define CULL_TESTS_OPS_LAYER_RUN_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/layer_cases.h"
#include "support.h"
#include "tensor/tensor.h"

enum tensor { X, X2, W, B, RUNNING, DY, Y, STATS, DX, DX2, DW, DB, P, LOSSES, TENSORS };
enum { MOST_ROWS = 5 };

/* Every tensor of a case, in double and NCHW. */
struct layer_data {
    size_t  count[TENSORS];
    double *t[TENSORS];
};

/* What a layer is told and tells of each row; targets as the loss reads them. */
enum { MOST_TARGETS = 35 };
struct layer_rows {
    double   losses[MOST_ROWS], weight[MOST_ROWS];
    double   number[MOST_TARGETS];
    float    number32[MOST_TARGETS];
    int32_t  label[MOST_ROWS];
    uint32_t place[MOST_ROWS];
    uint8_t  truth[MOST_TARGETS];
};

struct layer_run {
    cull_backend            *backend;
    const struct layer_case *t;
    cull_layer_desc          d;
    cull_layer_op           *op;
    size_t                   count[TENSORS], bytes[TENSORS];
    void                    *native[TENSORS], *there[TENSORS]; /* here, and on the backend */
    void                    *narrow, *narrow_there;            /* W in the values' type    */
    void                    *state;                            /* there alone              */
    struct layer_rows        rows, *rows_there;
    cull_layer_args          args;
};

static inline size_t image_count(const cull_image *image)
{
    return (size_t)(image->n * cull_image_row(image));
}

static inline void count_tensors(const cull_layer_desc *d, size_t count[TENSORS])
{
    bool norm = d->kind == CULL_LAYER_BATCHNORM || d->kind == CULL_LAYER_GROUPNORM;

    memset(count, 0, TENSORS * sizeof *count);
    count[X] = count[DX] = image_count(&d->x);
    count[X2] = count[DX2] = d->x2.n ? image_count(&d->x2) : 0;
    count[Y] = count[DY] = image_count(&d->y);
    if (d->kind == CULL_LAYER_DENSE) count[W] = (size_t)(d->x.c * d->y.c);
    if (d->kind == CULL_LAYER_CONV)
        count[W] = (size_t)(d->y.c * d->x.c / d->groups * d->kernel[0] * d->kernel[1]);
    if (d->bias) count[B] = (size_t)d->y.c;
    if (norm) count[W] = count[B] = (size_t)d->x.c;
    if (d->kind == CULL_LAYER_LAYERNORM) count[W] = count[B] = (size_t)cull_image_row(&d->x);
    if (d->kind == CULL_LAYER_EMBED || d->kind == CULL_LAYER_POSITIONS)
        count[W] = (size_t)(d->rows * d->y.c);
    if (cull_layer_tokens(d->kind) == 0) count[DX] = 0;
    if (cull_layer_tokens(d->kind) == 1) count[DX2] = 0;
    if (d->kind == CULL_LAYER_BATCHNORM) count[RUNNING] = count[STATS] = 2 * (size_t)d->x.c;
    if (d->kind == CULL_LAYER_LOSS) {
        count[P] = count[X];
        count[LOSSES] = (size_t)d->x.n;
        count[Y] = count[DY] = 0;
    }
    count[DW] = count[W];
    count[DB] = count[B];
}

static inline const cull_image *image_of(const cull_layer_desc *d, int tensor)
{
    if (tensor == X || tensor == DX) return &d->x;
    if (tensor == X2 || tensor == DX2) return &d->x2;
    return tensor == Y || tensor == DY ? &d->y : NULL;
}

static inline bool holds_tokens(const cull_layer_desc *d, int tensor)
{
    int input = cull_layer_tokens(d->kind);

    return input >= 0 && tensor == (input ? X2 : X);
}

static inline cull_dtype layer_dtype(const cull_layer_desc *d, int tensor)
{
    cull_dtype wide = d->dtype;

    if (holds_tokens(d, tensor)) return CULL_I32;
    switch (tensor) {
    case W:
    case B:
    case DW:
    case DB: wide = d->parameters; break;
    case RUNNING:
    case STATS: wide = d->statistics; break;
    case Y:
    case DY: wide = d->output; break;
    default: break;
    }
    return wide ? wide : d->dtype;
}

static inline size_t layer_size(const cull_layer_desc *d, int tensor)
{
    return cull_dtype_size(layer_dtype(d, tensor));
}

/* Where element i in NCHW lies in this layout. */
static inline size_t layer_place(const cull_image *image, size_t i)
{
    size_t area = (size_t)(image->h * image->w), c = (size_t)image->c, block = (size_t)image->block;
    size_t n = i / (c * area), channel = i / area % c, pixel = i % area;

    return ((n * (c / block) + channel / block) * area + pixel) * block + channel % block;
}

/* Where element i of a tensor lies on the backend. */
static inline size_t place_on(const struct layer_run *r, int tensor, size_t i)
{
    const cull_image *image = image_of(&r->d, tensor);
    size_t            taps = (size_t)(r->d.kernel[0] * r->d.kernel[1]), c = 0;

    if (image) return layer_place(image, i);
    if ((tensor != W && tensor != DW) || r->d.kind != CULL_LAYER_CONV) return i;
    if (!r->backend->layers->weights_last) return i;
    c = (size_t)(r->d.x.c / r->d.groups);
    return (i / (c * taps) * taps + i % taps) * c + i / taps % c;
}

static inline void put_number(void *to, size_t at, cull_dtype dtype, double x)
{
    if (dtype == CULL_F32)
        ((float *)to)[at] = (float)x;
    else if (dtype == CULL_BF16)
        ((uint16_t *)to)[at] = cull_bf16_of((float)x);
    else if (dtype == CULL_I32)
        ((int32_t *)to)[at] = (int32_t)x;
    else
        ((double *)to)[at] = x;
}

static inline void layer_put(struct layer_run *r, int tensor, const double *values)
{
    for (size_t i = 0; i < r->count[tensor]; i++) {
        size_t at = place_on(r, tensor, i);

        put_number(r->native[tensor], at, layer_dtype(&r->d, tensor), values[i]);
        if (tensor == W && r->narrow) put_number(r->narrow, at, r->d.dtype, values[i]);
    }
}

static inline void layer_get(const struct layer_run *r, int tensor, double *values)
{
    cull_tensor from = cull_vector(r->native[tensor], layer_dtype(&r->d, tensor), r->count[tensor]);

    for (size_t i = 0; i < r->count[tensor]; i++)
        values[i] = cull_tensor_get(&from, place_on(r, tensor, i));
}

static inline void layer_data_clear(struct layer_data *data)
{
    for (int i = 0; i < TENSORS; i++) free(data->t[i]);
    memset(data, 0, sizeof *data);
}

static inline struct layer_data layer_data_make(const cull_layer_desc *d)
{
    struct layer_data data = {0};

    count_tensors(d, data.count);
    for (int i = 0; i < TENSORS; i++) {
        data.t[i] = calloc(data.count[i] + 1, sizeof(double));
        assert_non_null(data.t[i]);
    }
    return data;
}

static inline void layer_close(struct layer_run *r)
{
    cull_layer_destroy(r->op);
    for (int i = 0; i < TENSORS; i++) {
        free(r->native[i]);
        cull_backend_release(r->backend, r->there[i]);
    }
    free(r->narrow);
    cull_backend_release(r->backend, r->narrow_there);
    cull_backend_release(r->backend, r->state);
    cull_backend_release(r->backend, r->rows_there);
    memset(r, 0, sizeof *r);
}

static inline void layer_upload(struct layer_run *r)
{
    for (int i = 0; i < TENSORS; i++)
        assert_ok(cull_backend_upload(r->backend, r->there[i], r->native[i], r->bytes[i]));
    if (r->narrow)
        assert_ok(cull_backend_upload(r->backend, r->narrow_there, r->narrow,
                                      r->count[W] * cull_dtype_size(r->d.dtype)));
    assert_ok(cull_backend_upload(r->backend, r->rows_there, &r->rows, sizeof r->rows));
}

static inline void layer_download(struct layer_run *r)
{
    for (int i = 0; i < TENSORS; i++)
        assert_ok(cull_backend_download(r->backend, r->native[i], r->there[i], r->bytes[i]));
    assert_ok(cull_backend_download(r->backend, &r->rows, r->rows_there, sizeof r->rows));
}

static inline const void *target_of(const cull_layer_desc *d, const struct layer_rows *rows)
{
    if (d->loss.kind == CULL_LOSS_CROSS_ENTROPY) return rows->label;
    if (d->loss.kind == CULL_LOSS_BINARY) return rows->truth;
    return d->dtype == CULL_F32 ? (const void *)rows->number32 : rows->number;
}

static inline void fill_rows(const cull_layer_desc *d, struct layer_rows *rows)
{
    for (int i = 0; i < MOST_ROWS; i++) {
        rows->weight[i] = 0.25 + 0.5 * i;
        rows->place[i] = (uint32_t)(100 + 3 * i);
        rows->label[i] = (int32_t)(7 * i % d->x.c);
    }
    for (int i = 0; i < MOST_TARGETS; i++) {
        rows->number[i] = rows->number32[i] = (float)random_normal(77, (uint64_t)i);
        rows->truth[i] = i % 3 == 1;
    }
}

static inline void set_arguments(struct layer_run *r)
{
    cull_layer_args   *a = &r->args;
    void             **there = r->there;
    struct layer_rows *rows = r->rows_there;

    *a = (cull_layer_args){.x = there[X],
                           .y = there[Y],
                           .w = there[W],
                           .b = there[B],
                           .narrow = r->narrow_there,
                           .state = r->state,
                           .stats = there[STATS],
                           .running = there[RUNNING],
                           .statistics = r->t->statistics,
                           .row_weight = r->t->row_weight ? rows->weight : NULL,
                           .dy = there[DY],
                           .dx = r->t->first ? NULL : there[DX],
                           .dw = there[DW],
                           .db = there[DB],
                           .accumulate = r->t->accumulate,
                           .accumulate2 = r->t->accumulate2,
                           .key = cull_key_make(3, "layers"),
                           .step = 5,
                           .place = rows->place,
                           .target = target_of(&r->d, rows),
                           .weight = r->t->weighted ? rows->weight : NULL,
                           .scale = 1 / (double)r->d.x.n,
                           .loss = rows->losses,
                           .p = there[P]};
    if (r->count[X2]) {
        a->x2 = there[X2];
        a->dx2 = there[DX2]; /* of tokens there is none */
    }
    fill_rows(&r->d, &r->rows);
}

static inline void allocate_arrays(struct layer_run *r)
{
    for (int i = 0; i < TENSORS; i++) {
        size_t count = r->count[i] > r->op->stats || i != STATS ? r->count[i] : r->op->stats;

        if (!count) continue; /* elements of an absent tensor are absent too */
        r->bytes[i] = count * layer_size(&r->d, i);
        r->native[i] = calloc(1, r->bytes[i]);
        assert_ok(cull_backend_allocate(r->backend, r->bytes[i], 1, "a tensor", &r->there[i]));
    }
    if (r->count[W] && r->d.parameters && r->d.parameters != r->d.dtype) {
        size_t size = cull_dtype_size(r->d.dtype);

        r->narrow = calloc(r->count[W], size);
        assert_ok(
            cull_backend_allocate(r->backend, r->count[W], size, "weights", &r->narrow_there));
    }
    if (r->op->state_row)
        assert_ok(cull_backend_allocate(r->backend, (size_t)r->d.x.n, r->op->state_row, "a state",
                                        &r->state));
    assert_ok(cull_backend_allocate(r->backend, 1, sizeof r->rows, "rows", &r->rows_there));
}

/* Prepare; CULL_UNSUPPORTED where the backend does not know type or layout. */
static inline cull_status layer_open(cull_backend *backend, const struct layer_case *t,
                                     const cull_layer_desc *d, struct layer_run *r)
{
    cull_status status = CULL_OK;

    memset(r, 0, sizeof *r);
    r->backend = backend;
    r->t = t;
    r->d = *d;
    count_tensors(d, r->count);
    status = cull_layer_create(backend, d, &r->op);
    if (status != CULL_OK) return status;
    allocate_arrays(r);
    set_arguments(r);
    return CULL_OK;
}

static inline unsigned may_read(const cull_layer_desc *d)
{
    bool norm = d->kind == CULL_LAYER_BATCHNORM || d->kind == CULL_LAYER_GROUPNORM ||
                d->kind == CULL_LAYER_LAYERNORM;
    bool activate = d->kind == CULL_LAYER_ACTIVATE, attends = d->kind == CULL_LAYER_ATTENTION;
    bool gates = activate && !cull_activation_reads_x(d->activation);
    bool reads_x = norm || d->kind == CULL_LAYER_DENSE || d->kind == CULL_LAYER_CONV || attends ||
                   d->kind == CULL_LAYER_EMBED || (activate && !gates);

    return (reads_x ? 1u << X : 0) | (attends ? 1u << X2 : 0) |
           (gates || attends || d->fused_relu ? 1u << Y : 0);
}

static inline void spoil(struct layer_run *r, int tensor)
{
    if (r->native[tensor])
        memset(r->native[tensor], 0xff, r->count[tensor] * layer_size(&r->d, tensor));
}

/* What a float32 plan would have kept between the passes. */
static inline void round_between(struct layer_run *r)
{
    static const int kept[] = {Y, STATS, RUNNING};

    for (size_t k = 0; k < 3; k++) {
        size_t  count = kept[k] == STATS ? r->op->stats : r->count[kept[k]];
        double *values = r->native[kept[k]];
        for (size_t i = 0; i < count; i++) values[i] = (double)(float)values[i];
    }
}

static inline void layer_forward(struct layer_run *r, const struct layer_data *in,
                                 struct layer_data *out)
{
    static const int written[] = {Y, STATS, RUNNING, P};

    for (int i = 0; i < TENSORS; i++) spoil(r, i);
    for (int i = X; i <= DY; i++) layer_put(r, i, in->t[i]);
    layer_upload(r);
    assert_ok(r->op->class->forward(r->op, &r->args));
    layer_download(r);
    for (size_t k = 0; k < 4; k++) layer_get(r, written[k], out->t[written[k]]);
    if (r->count[P]) layer_get(r, DX, out->t[DX]);
    for (size_t i = 0; i < r->count[LOSSES]; i++) out->t[LOSSES][i] = r->rows.losses[i];
}

/* Forward and backward. rounds: see round_between. */
static inline void layer_run(struct layer_run *r, const struct layer_data *in,
                             struct layer_data *out, bool rounds)
{
    unsigned reads = may_read(&r->d);

    layer_forward(r, in, out);
    if (!r->op->class->backward || r->d.kind == CULL_LAYER_LOSS) return;
    if (rounds) round_between(r);
    if (!(reads & 1u << X)) spoil(r, X);
    if (!(reads & 1u << Y)) spoil(r, Y);
    if (!(reads & 1u << X2)) spoil(r, X2);
    if (r->t->accumulate) layer_put(r, DX, in->t[DX]);
    if (r->t->accumulate2) layer_put(r, DX2, in->t[DX2]);
    if (r->t->statistics == CULL_STATS_RUNNING) return; /* no training runs back through these */
    layer_upload(r);
    assert_ok(r->op->class->backward(r->op, &r->args));
    layer_download(r);
    for (int i = DX; i <= DB; i++)
        if (!(i == DX && r->t->first)) layer_get(r, i, out->t[i]);
}

#endif
