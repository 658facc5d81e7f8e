/*
 * tests/unit/random_graph.h - small networks drawn from a seed: what nobody would write by hand.
 *
 * Joins of a value with itself and with what it was made from, odd channels and groups, strides,
 * dilations, kernels that are not square or larger than what they slide over, all norms,
 * activations and poolings. A third of the graphs has outputs in multiples of 16 alone, a third of
 * 8, so that every layout is met.
 */
#ifndef CULL_TESTS_UNIT_RANDOM_GRAPH_H
#define CULL_TESTS_UNIT_RANDOM_GRAPH_H

#include <stdio.h>

#include "nn/nn.h"
#include "support.h"

enum { GRAPH_CLASSES = 5, GRAPH_BLOCKS = 5, GRAPH_ROW = 2048, GRAPH_WEIGHTS = 20000 };

struct graph {
    uint64_t    seed, drawn;
    int64_t     batch;
    int         style, layers; /* style: which channels outputs have */
    cull_model *model;
};

/* One of 0 .. count - 1. */
static inline int64_t draw(struct graph *g, int64_t count)
{
    return (int64_t)(random_uniform(g->seed, g->drawn++) * (double)count);
}

static inline cull_image shape_of(const struct graph *g, int x)
{
    return g->model->node[x].desc.y;
}

static inline int64_t draw_channels(struct graph *g, int style)
{
    static const int64_t any[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  12, 15,
                                  16, 17, 20, 24, 31, 32, 33, 40, 48, 50, 64};
    static const int64_t sixteens[] = {16, 16, 32, 48}, eights[] = {8, 8, 16, 24, 40};

    if (style == 0) return sixteens[draw(g, 4)];
    if (style == 1) return eights[draw(g, 5)];
    return any[draw(g, 22)];
}

static inline const char *draw_name(struct graph *g)
{
    static char name[16];

    (void)snprintf(name, sizeof name, "layer%d", g->layers++);
    return name;
}

/* A common divisor of the two: 1, the largest (each channel its own where they are the same), or
 * any. */
static inline int64_t draw_groups(struct graph *g, int64_t in, int64_t out)
{
    int64_t kind = draw(g, 4), groups = 1;

    if (kind < 2) return 1;
    for (int64_t k = 2; k <= in; k++)
        if (in % k == 0 && out % k == 0 && (kind == 2 || draw(g, 2))) groups = k;
    return groups;
}

/* A window along an axis of `extent` pixels; one that keeps it has as many results. */
static inline cull_window draw_window(struct graph *g, int64_t extent, bool keeps)
{
    cull_window window = {.dilation = draw(g, 4) ? 1 : 2};
    int64_t     reach = 0;

    window.kernel = keeps ? 1 + 2 * draw(g, 2) : 1 + draw(g, 5);
    reach = (window.kernel - 1) * window.dilation + 1;
    window.pad = keeps ? reach / 2 : draw(g, reach);
    window.stride = keeps ? 1 : 1 + draw(g, 3);
    if (extent + 2 * window.pad < reach) window.kernel = 1, window.pad = 0;
    return window;
}

/* Convolution to `out` channels that keeps the extent, or any; two of three have square kernels. */
static inline int draw_conv(struct graph *g, int x, int64_t out, bool keeps)
{
    cull_image  in = shape_of(g, x);
    int64_t     groups = draw_groups(g, in.c, out);
    cull_window height = draw_window(g, in.h < in.w ? in.h : in.w, keeps);
    cull_window width = draw(g, 3) ? height : draw_window(g, in.w, keeps);
    cull_conv   conv = {.out = out,
                        .kernel = height.kernel,
                        .stride = height.stride,
                        .pad = height.pad,
                        .dilation = height.dilation,
                        .width = width,
                        .groups = groups,
                        .no_bias = draw(g, 2),
                        .init = CULL_INIT_HE_IN};

    if (out * (in.c / groups) * height.kernel * width.kernel > GRAPH_WEIGHTS) {
        conv.kernel = conv.width.kernel = 1;
        conv.pad = conv.width.pad = 0;
    }
    return cull_model_conv(g->model, x, draw_name(g), &conv);
}

static inline int draw_norm(struct graph *g, int x)
{
    cull_image in = shape_of(g, x);
    int64_t    groups = 1;

    switch (draw(g, 4)) {
    case 0:
        for (int64_t k = 2; k <= in.c; k++)
            if (in.c % k == 0 && draw(g, 2)) groups = k;
        /* over one value, or two, the derivative is rounding noise or close to it */
        if (in.c / groups * in.h * in.w < 4) groups = 1;
        if (in.c * in.h * in.w < 4) return x;
        return cull_model_groupnorm(g->model, x, draw_name(g), groups);
    case 1:
        if (in.c * in.h * in.w < 4) return x;
        return cull_model_layernorm(g->model, x, draw_name(g));
    default:
        if (g->batch * in.h * in.w < 4) return x;
        return cull_model_batchnorm(g->model, x, draw_name(g));
    }
}

static inline int draw_activation(struct graph *g, int x)
{
    static const cull_activation kinds[] = {CULL_RELU, CULL_RELU, CULL_RELU6, CULL_GELU};

    return cull_model_activate(g->model, x, kinds[draw(g, 4)]);
}

static inline int draw_pool(struct graph *g, int x)
{
    cull_image in = shape_of(g, x);
    int64_t    least = in.h < in.w ? in.h : in.w, kernel = 1 + draw(g, 3);
    cull_pool  pool = {.pooling = draw(g, 2) ? CULL_POOL_MAX : CULL_POOL_AVERAGE};

    pool.kernel = kernel > least ? least : kernel;
    pool.stride = 1 + draw(g, 2);
    pool.pad = draw(g, pool.kernel / 2 + 1);
    return cull_model_pool(g->model, x, &pool);
}

/* x with itself, with a layer of itself, or with the norm of itself, by sum or side by side. */
static inline int draw_join(struct graph *g, int x)
{
    cull_image in = shape_of(g, x);
    bool       narrow = in.c * in.h * in.w <= GRAPH_ROW / 2 && in.c <= 64;
    int        other = x;

    switch (draw(g, 5)) {
    case 0: break;
    case 1: other = draw_norm(g, x); break;
    case 2: other = draw_activation(g, x); break;
    case 3: other = draw_conv(g, x, in.c, true); break;
    default:
        other = draw_norm(g, draw_conv(g, x, in.c, true));
        if (draw(g, 2)) x = draw_norm(g, draw_conv(g, x, in.c, true));
    }
    if (narrow && draw(g, 3) == 0)
        return draw(g, 2) ? cull_model_concat(g->model, x, other)
                          : cull_model_concat(g->model, other, x);
    x = draw(g, 2) ? cull_model_add(g->model, x, other) : cull_model_add(g->model, other, x);
    return draw(g, 2) ? cull_model_activate(g->model, x, CULL_RELU) : x;
}

static inline int draw_block(struct graph *g, int x)
{
    cull_image in = shape_of(g, x);
    int64_t    area = in.h * in.w, more = 2 * draw(g, 5);

    switch (draw(g, 8)) {
    case 0:
    case 1:
    case 2: return draw_join(g, x);
    case 3: return draw_pool(g, x);
    case 4:
        if (g->style < 2) more = in.c;
        if (in.c % 2 && g->style < 2) more = 0;
        if ((in.c + more) * area > GRAPH_ROW || in.c > 64) more = 0;
        return cull_model_shortcut(g->model, x, in.c + more, 1 + draw(g, 2));
    case 5: return cull_model_dropout(g->model, x, 0.25);
    default:
        x = draw_conv(g, x, draw_channels(g, g->style), area * 48 > GRAPH_ROW ? false : draw(g, 2));
        if (draw(g, 2)) x = draw_norm(g, x);
        return draw(g, 2) ? draw_activation(g, x) : x;
    }
}

/* The graph of a seed; its model belongs to the caller. */
static inline struct graph graph_of(uint64_t seed)
{
    static const int64_t batches[] = {2, 3, 5, 6, 9, 11};
    struct graph         g = {.seed = seed};
    int                  x = 0;

    g.batch = batches[draw(&g, 6)];
    g.style = (int)draw(&g, 3);
    assert_ok(cull_nn_model_create("graph", draw_channels(&g, 2), 1 + draw(&g, 8), 1 + draw(&g, 8),
                                   &g.model));
    for (int64_t i = draw(&g, GRAPH_BLOCKS); i >= 0; i--) x = draw_block(&g, x);
    if (draw(&g, 2))
        x = cull_model_pool(g.model, x, &(cull_pool){.pooling = CULL_POOL_GLOBAL});
    else
        x = cull_model_flatten(g.model, x);
    if (draw(&g, 2)) {
        cull_dense dense = {.init = CULL_INIT_HE_IN};

        dense.no_bias = !draw(&g, 2);
        dense.out = 1 + draw(&g, 20);
        x = cull_model_dense(g.model, x, draw_name(&g), &dense);
        x = draw_activation(&g, draw(&g, 2) ? x : draw_norm(&g, x));
    }
    x = cull_model_dense(g.model, x, "last", &(cull_dense){.out = GRAPH_CLASSES});
    assert_ok(cull_nn_model_finish(g.model, x));
    return g;
}

#endif
