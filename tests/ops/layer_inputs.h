/*
 * tests/ops/layer_inputs.h - what the layer cases are run with: numbers, layouts, backends.
 */
#ifndef CULL_TESTS_OPS_LAYER_INPUTS_H
#define CULL_TESTS_OPS_LAYER_INPUTS_H

#include "ops/layer_run.h"
#include "ops/on_device.h"

static const char *const others[] = {"cpu", "emu", "cuda"}; /* whoever is compared with ref */
enum { OTHERS = sizeof others / sizeof *others, LAYOUTS = 6 };

/* ---- numbers to go in: all of them exact in float32 ---- */
static inline void fill_normal(struct layer_data *data, int tensor, uint64_t seed, double mean,
                               double scale)
{
    for (size_t i = 0; i < data->count[tensor]; i++)
        data->t[tensor][i] =
            (double)(float)(mean + scale * random_normal(seed * 100 + (uint64_t)tensor, i));
}

/* Kinks of an activation at zero and six, ties of a maximum: kept at a distance. */
static inline void keep_away(const cull_layer_desc *d, double *x, size_t count)
{
    if (d->kind == CULL_LAYER_ACTIVATE &&
        (d->activation == CULL_RELU || d->activation == CULL_RELU6))
        for (size_t i = 0; i < count; i++) {
            x[i] += x[i] < 0 ? -0.125 : 0.125;
            if (d->activation == CULL_RELU6) x[i] = (double)(float)(3 * x[i]);
            if (fabs(x[i] - 6) < 0.125) x[i] += 0.25;
        }
    if (d->kind == CULL_LAYER_POOL && d->pooling == CULL_POOL_MAX)
        for (size_t i = 0; i < count; i++)
            x[i] = (double)((i * 7919 + 13) % count) / 64 - 2; /* 7919: prime, so all differ */
}

/* Some of them twice, and padding: at the end of the first example, but for its first position, and
 * here and there in the others. */
static inline void fill_tokens(const cull_layer_desc *d, struct layer_data *data)
{
    int      tensor = cull_layer_tokens(d->kind) == 0 ? X : X2;
    uint64_t rows = d->rows ? (uint64_t)d->rows : 5;
    size_t   length = (size_t)d->x.h;

    if (cull_layer_tokens(d->kind) < 0) return;
    for (size_t i = 0; i < data->count[tensor]; i++) {
        size_t t = i % length;
        bool   padding = i < length ? t > length / 2 : (i * 7919) % 5 == 1;

        data->t[tensor][i] = padding ? -1 - (double)(i % 2) : (double)(i * i % rows);
    }
}

static inline void fill(const cull_layer_desc *d, uint64_t seed, struct layer_data *data)
{
    bool norm = d->epsilon > 0;

    fill_normal(data, X, seed, norm ? 0.5 : 0, 1);
    fill_normal(data, X2, seed, 0, 1);
    fill_normal(data, W, seed, norm ? 1 : 0, 0.5);
    fill_normal(data, B, seed, 0, 0.5);
    fill_normal(data, RUNNING, seed, 0, 0.5);
    fill_normal(data, DY, seed, 0, 1);
    fill_normal(data, DX, seed, 0, 1);
    fill_normal(data, DX2, seed, 0, 1);
    fill_tokens(d, data);
    keep_away(d, data->t[X], data->count[X]);
    for (size_t i = data->count[RUNNING] / 2; i < data->count[RUNNING]; i++)
        data->t[RUNNING][i] = (double)(float)(0.5 + data->t[RUNNING][i] * data->t[RUNNING][i]);
}

/* Is nothing a fused ReLU sees close to its kink? */
static inline bool gates_are_clear(cull_backend *ref, const struct layer_case *t,
                                   const struct layer_data *in)
{
    cull_layer_desc   d = complete_case(t, CULL_F64);
    struct layer_data out = layer_data_make(&d);
    struct layer_run  run;
    bool              clear = true, add = d.fused_add;

    d.fused_relu = d.fused_add = false;
    assert_ok(layer_open(ref, t, &d, &run));
    run.args.x2 = NULL;
    layer_forward(&run, in, &out);
    for (size_t i = 0; i < out.count[Y]; i++)
        clear = clear && fabs(out.t[Y][i] + (add ? in->t[X2][i] : 0)) > 1e-3;
    layer_close(&run);
    layer_data_clear(&out);
    return clear;
}

/* What a backend is given whose values are bfloat16: with weights of products, which it reads so.
 */
static inline void round_to_bf16(const cull_layer_desc *d, struct layer_data *data)
{
    static const int values[] = {X, X2, DY, DX, DX2, W};
    bool             products = d->kind == CULL_LAYER_DENSE || d->kind == CULL_LAYER_CONV;

    for (size_t k = 0; k < 5 + (size_t)products; k++)
        for (size_t i = 0; !holds_tokens(d, values[k]) && i < data->count[values[k]]; i++) {
            double *x = &data->t[values[k]][i];

            *x = (double)cull_bf16_wide(cull_bf16_of((float)*x));
        }
}

/* For values of this type. */
static inline struct layer_data make_input_for(cull_backend *ref, const struct layer_case *t,
                                               cull_dtype dtype)
{
    cull_layer_desc   d = complete_case(t, CULL_F64);
    struct layer_data in = layer_data_make(&d);

    for (uint64_t seed = 1;; seed++) {
        fill(&d, seed, &in);
        if (dtype == CULL_BF16) round_to_bf16(&d, &in);
        if (!d.fused_relu || gates_are_clear(ref, t, &in)) return in;
    }
}

static inline struct layer_data make_input(cull_backend *ref, const struct layer_case *t)
{
    return make_input_for(ref, t, CULL_F64);
}

/* ---- layouts ---- */
static inline int64_t block_of(cull_backend *backend, const cull_image *image, int layout,
                               int64_t common)
{
    int64_t c = image->c;

    if (!c || image->h * image->w == 1) return 1; /* as plans do: one pixel, one layout */
    switch (layout) {
    case 0: return 1;
    case 1: return c;
    case 2: return c % 8 ? 1 : 8;
    case 3: return c % 16 ? 1 : 16;
    default: return cull_layer_block(backend, c, common);
    }
}

/* Layouts 0 to 3 a backend may decline; 4 and 5 are what its own `block` asks for. */
static inline void set_layout(cull_backend *backend, int layout, cull_layer_desc *d)
{
    int64_t common = layout == 4 ? d->y.c : 8;

    if (is_sequence(d)) return;
    d->x.block = block_of(backend, &d->x, layout, common);
    d->x2.block = block_of(backend, &d->x2, layout, common);
    d->y.block = block_of(backend, &d->y, layout, common);
    if (d->kind == CULL_LAYER_CONVERT) d->y.block = layout == 1 || d->y.c != d->x.c ? 1 : d->y.c;
}

/* Is this what some plan would ask for? Only then must a backend take it. */
static inline bool must_take(int layout, const cull_layer_desc *d)
{
    return layout == 4 || (layout == 5 && (d->kind != CULL_LAYER_CONV || d->y.c % 8 == 0));
}

static inline int open_ref(void **state)
{
    open_or_skip();
    return cull_backend_open("ref", 1, (cull_backend **)state) != CULL_OK;
}

static inline int close_ref(void **state)
{
    cull_backend_close(*state);
    return 0;
}

static inline bool has_layer(const cull_backend *backend, cull_layer_kind kind)
{
    return backend->layers && backend->layers->layer[kind];
}

/* NULL where this build has no such backend, or it has no layers. */
static inline cull_backend *open_other(const char *name, unsigned threads)
{
    cull_backend *backend = NULL;

    if (!is_tested(name) || cull_backend_open(name, threads, &backend) != CULL_OK) return NULL;
    for (int kind = 0; kind < CULL_LAYER_KINDS; kind++)
        if (has_layer(backend, (cull_layer_kind)kind)) return backend;
    cull_backend_close(backend);
    return NULL;
}

#endif
