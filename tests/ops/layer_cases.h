/*
 * tests/ops/layer_cases.h - the table of layer operations that every backend is tested over: odd
 * channels and extents, every option of every kind.
 */
#ifndef CULL_TESTS_OPS_LAYER_CASES_H
#define CULL_TESTS_OPS_LAYER_CASES_H

#include "backend/layer.h"

struct layer_case {
    const char     *name;
    cull_layer_desc d; /* blocks 1; the extents of y follow (complete_case) */
    cull_statistics statistics;
    bool            row_weight;              /* batchnorm backward for kept rows */
    bool            weighted;                /* loss                             */
    bool            accumulate, accumulate2; /* into dx, dx2                     */
    bool            first;                   /* no dx is wanted                  */
};

/* clang-format off */
#define DENSE(N, IN, OUT, BIAS) .d = {.kind = CULL_LAYER_DENSE, .x = {N, IN, 1, 1, 1}, .y.c = OUT, .bias = BIAS}
#define CONV(N, C, H, W, OUT, KH, KW, S, PH, PW, G, BIAS)                                           \
    .d = {.kind = CULL_LAYER_CONV, .x = {N, C, H, W, 1}, .y.c = OUT, .kernel = {KH, KW},            \
          .stride = {S, S}, .pad = {PH, PW}, .groups = G, .bias = BIAS}
#define TILTED(N, C, H, W, OUT, KH, KW, SH, SW, PH, PW, DH, DW, G, BIAS)                            \
    .d = {.kind = CULL_LAYER_CONV, .x = {N, C, H, W, 1}, .y.c = OUT, .kernel = {KH, KW},            \
          .stride = {SH, SW}, .pad = {PH, PW}, .dilation = {DH, DW}, .groups = G, .bias = BIAS}
#define NORM(KIND, N, C, H, W, G)                                                                   \
    .d = {.kind = CULL_LAYER_##KIND, .x = {N, C, H, W, 1}, .epsilon = 1e-5, .momentum = 0.1, .groups = G}
#define NORM_BY(KIND, N, C, H, W, G, EPSILON, MOMENTUM)                                             \
    .d = {.kind = CULL_LAYER_##KIND, .x = {N, C, H, W, 1}, .epsilon = EPSILON, .momentum = MOMENTUM, .groups = G}
#define FUSED(N, C, H, W, ADD)                                                                      \
    .d = {.kind = CULL_LAYER_BATCHNORM, .x = {N, C, H, W, 1}, .epsilon = 1e-5, .momentum = 0.1,     \
          .fused_relu = true, .fused_add = ADD}
#define ACTIVATE(N, C, H, W, A) .d = {.kind = CULL_LAYER_ACTIVATE, .x = {N, C, H, W, 1}, .activation = A}
#define POOL(KIND, N, C, H, W, K, S, P)                                                             \
    .d = {.kind = CULL_LAYER_POOL, .x = {N, C, H, W, 1}, .pooling = CULL_POOL_##KIND,               \
          .kernel = {K, K}, .stride = {S, S}, .pad = {P, P}}
#define TILTED_POOL(KIND, N, C, H, W, KH, KW, SH, SW, PH, PW)                                       \
    .d = {.kind = CULL_LAYER_POOL, .x = {N, C, H, W, 1}, .pooling = CULL_POOL_##KIND,               \
          .kernel = {KH, KW}, .stride = {SH, SW}, .pad = {PH, PW}}
#define ADD(N, C, H, W) .d = {.kind = CULL_LAYER_ADD, .x = {N, C, H, W, 1}, .x2 = {N, C, H, W, 1}}
#define CONCAT(N, C, C2, H, W) .d = {.kind = CULL_LAYER_CONCAT, .x = {N, C, H, W, 1}, .x2 = {N, C2, H, W, 1}}
#define SHORTCUT(N, C, H, W, OUT, S)                                                                \
    .d = {.kind = CULL_LAYER_SHORTCUT, .x = {N, C, H, W, 1}, .y.c = OUT, .stride = {S, S}}
#define DROPOUT(N, C, H, W, P) .d = {.kind = CULL_LAYER_DROPOUT, .x = {N, C, H, W, 1}, .probability = P}
#define LOSS(N, CLASSES, S) .d = {.kind = CULL_LAYER_LOSS, .x = {N, CLASSES, 1, 1, 1}, .loss.smoothing = S}
#define OTHER_LOSS(KIND, N, OUTPUTS) .d = {.kind = CULL_LAYER_LOSS, .x = {N, OUTPUTS, 1, 1, 1}, .loss.kind = CULL_LOSS_##KIND}
#define EMBED(N, L, ROWS, WIDTH) .d = {.kind = CULL_LAYER_EMBED, .x = {N, 1, L, 1, 1}, .y.c = WIDTH, .rows = ROWS}
#define POSITIONS(N, L, ROWS, WIDTH, SAME)                                                          \
    .d = {.kind = CULL_LAYER_POSITIONS, .x = {N, WIDTH, L, 1, WIDTH}, .rows = ROWS, .same = SAME}
#define ATTENTION(N, L, HEADS, WIDTH, P)                                                            \
    .d = {.kind = CULL_LAYER_ATTENTION, .x = {N, 3 * (HEADS) * (WIDTH), L, 1, 3 * (HEADS) * (WIDTH)}, \
          .x2 = {N, 1, L, 1, 1}, .y.c = (HEADS) * (WIDTH), .groups = HEADS, .probability = P}
#define TAKE(N, L, WIDTH) .d = {.kind = CULL_LAYER_TAKE, .x = {N, WIDTH, L, 1, WIDTH}}
#define CONVERT(N, C, H, W, OUT) .d = {.kind = CULL_LAYER_CONVERT, .x = {N, C, H, W, 1}, .y.c = OUT}

static const struct layer_case layer_cases[] = {
    {"dense 1 to 1", DENSE(1, 1, 1, true)},
    {"dense 17 to 5", DENSE(5, 17, 5, true)},
    {"dense without bias", DENSE(2, 7, 16, false)},
    {"dense accumulating", DENSE(2, 16, 7, true), .accumulate = true},
    {"dense of many rows", DENSE(1030, 40, 70, true), .accumulate = true},
    {"dense of many rows to fewer, first, without bias", DENSE(700, 300, 36, false), .first = true},
    {"dense first", DENSE(5, 8, 3, true), .first = true},

    {"conv 3x3", CONV(2, 3, 7, 5, 8, 3, 3, 1, 1, 1, 1, false)},
    {"conv 3x3 first", CONV(2, 3, 5, 9, 16, 3, 3, 1, 1, 1, 1, true), .first = true},
    {"conv 3x3 of 8 to 16", CONV(2, 8, 6, 7, 16, 3, 3, 1, 1, 1, 1, true)},
    {"conv 3x3 of 16, stride 2", CONV(5, 16, 7, 8, 16, 3, 3, 2, 1, 1, 1, false)},
    {"conv 3x3 of 16, stride 2, accumulating", CONV(1, 16, 9, 5, 8, 3, 3, 2, 1, 1, 1, false), .accumulate = true},
    {"conv 3x3 of 17 to 5", CONV(2, 17, 4, 5, 5, 3, 3, 1, 1, 1, 1, true)},
    {"conv 1x1", CONV(2, 5, 3, 4, 7, 1, 1, 1, 0, 0, 1, false)},
    {"conv 1x1 of 16, stride 2", CONV(2, 16, 5, 7, 8, 1, 1, 2, 0, 0, 1, false)},
    {"conv 1x1 of 8 on one pixel", CONV(5, 8, 1, 1, 16, 1, 1, 1, 0, 0, 1, true)},
    {"conv 5x5 of one channel", CONV(2, 1, 9, 8, 7, 5, 5, 1, 2, 2, 1, true)},
    {"conv 5x5 without padding", CONV(1, 6, 7, 5, 16, 5, 5, 1, 0, 0, 1, true)},
    {"conv 7x7, stride 2", CONV(1, 3, 9, 9, 8, 7, 7, 2, 3, 3, 1, false)},
    {"conv 1x3", CONV(2, 8, 4, 6, 8, 1, 3, 1, 0, 1, 1, true)},
    {"conv 3x2, stride 3", CONV(2, 5, 8, 9, 3, 3, 2, 3, 2, 1, 1, true)},
    {"conv larger than its image", CONV(2, 8, 2, 1, 16, 3, 3, 1, 1, 1, 1, false)},
    {"conv in 2 groups", CONV(2, 16, 5, 4, 16, 3, 3, 1, 1, 1, 2, true)},
    {"conv in 3 groups", CONV(2, 9, 5, 4, 6, 3, 3, 2, 1, 1, 3, false), .accumulate = true},
    {"depthwise of 8", CONV(2, 8, 6, 5, 8, 3, 3, 1, 1, 1, 8, false)},
    {"depthwise of 16, stride 2", CONV(5, 16, 7, 7, 16, 3, 3, 2, 1, 1, 16, false)},
    {"depthwise of 7, accumulating", CONV(2, 7, 5, 5, 7, 3, 3, 1, 1, 1, 7, true), .accumulate = true},
    {"depthwise of 5 to 10", CONV(1, 5, 4, 6, 10, 3, 3, 1, 1, 1, 5, true)},

    {"conv 3x3, dilation 2", TILTED(2, 3, 7, 9, 8, 3, 3, 1, 1, 2, 2, 2, 2, 1, true)},
    {"conv 3x3 of 16, dilation 2", TILTED(2, 16, 7, 5, 16, 3, 3, 1, 1, 2, 2, 2, 2, 1, false)},
    {"conv 3x3 of 16, dilation 3, stride 2", TILTED(2, 16, 9, 8, 16, 3, 3, 2, 2, 3, 3, 3, 3, 1, false), .accumulate = true},
    {"conv 3x3 of 8 to 16, dilation 2 with bias", TILTED(9, 8, 3, 3, 16, 3, 3, 1, 1, 2, 2, 2, 2, 1, true)},
    {"conv 3x3 of 17 to 5, dilation 1x2", TILTED(2, 17, 5, 8, 5, 3, 3, 1, 1, 1, 2, 1, 2, 1, true)},
    {"conv 1x7 of 16", TILTED(1, 16, 4, 8, 16, 1, 7, 1, 1, 0, 3, 1, 1, 1, false)},
    {"conv 7x1 of 16", TILTED(1, 16, 8, 4, 16, 7, 1, 1, 1, 3, 0, 1, 1, 1, false)},
    {"conv 5x2, strides 1x3, dilation 2x3", TILTED(2, 5, 12, 11, 3, 5, 2, 1, 3, 4, 2, 2, 3, 1, true)},
    {"conv 3x5 of 16, strides 2x1", TILTED(1, 16, 6, 5, 16, 3, 5, 2, 1, 1, 2, 1, 1, 1, false), .accumulate = true},
    {"conv 3x5 of 8, strides 1x2, first", TILTED(1, 8, 6, 7, 16, 3, 5, 1, 2, 0, 2, 1, 1, 1, true), .first = true},
    {"conv dilated beyond its image", TILTED(2, 16, 3, 2, 16, 3, 3, 1, 1, 4, 4, 4, 4, 1, false)},
    {"conv 3x3 in 2 groups, dilation 2", TILTED(2, 16, 7, 6, 16, 3, 3, 1, 1, 2, 2, 2, 2, 2, true)},
    {"depthwise of 16, dilation 2", TILTED(2, 16, 7, 6, 16, 3, 3, 1, 1, 2, 2, 2, 2, 16, false)},
    {"depthwise 1x5 of 7, dilation 1x3, strides 1x2", TILTED(2, 7, 5, 9, 7, 1, 5, 1, 2, 0, 6, 1, 3, 7, true), .accumulate = true},

    {"batchnorm", NORM(BATCHNORM, 5, 3, 4, 7, 1)},
    {"batchnorm of 16", NORM(BATCHNORM, 2, 16, 5, 3, 1)},
    {"batchnorm of 17, updating", NORM(BATCHNORM, 2, 17, 3, 3, 1), .statistics = CULL_STATS_UPDATE},
    {"batchnorm of 8, updating, accumulating", NORM(BATCHNORM, 5, 8, 2, 9, 1), .statistics = CULL_STATS_UPDATE, .accumulate = true},
    {"batchnorm of 8 by running averages", NORM(BATCHNORM, 2, 8, 4, 5, 1), .statistics = CULL_STATS_RUNNING},
    {"batchnorm of 5 by running averages", NORM(BATCHNORM, 1, 5, 3, 5, 1), .statistics = CULL_STATS_RUNNING},
    {"batchnorm of features", NORM(BATCHNORM, 5, 7, 1, 1, 1), .statistics = CULL_STATS_UPDATE},
    {"batchnorm of one example", NORM(BATCHNORM, 1, 8, 5, 5, 1), .statistics = CULL_STATS_UPDATE},
    {"batchnorm first", NORM(BATCHNORM, 2, 3, 5, 5, 1), .first = true},
    {"batchnorm of kept rows", NORM(BATCHNORM, 5, 7, 3, 4, 1), .row_weight = true},
    {"batchnorm of kept rows of 16", NORM(BATCHNORM, 5, 16, 3, 4, 1), .row_weight = true, .accumulate = true},
    {"batchnorm of 8, epsilon .5, momentum 1", NORM_BY(BATCHNORM, 2, 8, 4, 3, 1, 0.5, 1), .statistics = CULL_STATS_UPDATE},
    {"batchnorm of 5, epsilon .1, momentum .9", NORM_BY(BATCHNORM, 5, 5, 3, 3, 1, 0.1, 0.9), .statistics = CULL_STATS_UPDATE},
    {"batchnorm of 8 by running averages, epsilon 1", NORM_BY(BATCHNORM, 2, 8, 4, 5, 1, 1, 0.1), .statistics = CULL_STATS_RUNNING},
    {"batchnorm of kept rows, epsilon .5", NORM_BY(BATCHNORM, 5, 7, 3, 4, 1, 0.5, 0.1), .row_weight = true},
    {"batchnorm and relu", FUSED(2, 8, 5, 4, false)},
    {"batchnorm and relu of 5", FUSED(5, 5, 3, 7, false), .statistics = CULL_STATS_UPDATE, .accumulate = true},
    {"batchnorm and relu by running averages", FUSED(2, 16, 4, 3, false), .statistics = CULL_STATS_RUNNING},
    {"batchnorm and relu of kept rows", FUSED(5, 8, 3, 3, false), .row_weight = true},
    {"batchnorm, add and relu", FUSED(2, 16, 3, 5, true), .statistics = CULL_STATS_UPDATE},
    {"batchnorm, add and relu of 7", FUSED(2, 7, 3, 5, true), .accumulate = true, .accumulate2 = true},
    {"batchnorm, add and relu by running averages", FUSED(2, 8, 3, 5, true), .statistics = CULL_STATS_RUNNING},
    {"batchnorm, add and relu of kept rows", FUSED(5, 16, 2, 3, true), .row_weight = true, .accumulate2 = true},

    {"groupnorm", NORM(GROUPNORM, 2, 6, 3, 5, 3)},
    {"groupnorm of 16 in 4", NORM(GROUPNORM, 5, 16, 4, 3, 4), .accumulate = true},
    {"groupnorm of 17 in 17", NORM(GROUPNORM, 1, 17, 3, 3, 17)},
    {"groupnorm of 8 in 1, first", NORM(GROUPNORM, 2, 8, 3, 4, 1), .first = true},
    {"layernorm", NORM(LAYERNORM, 2, 5, 3, 4, 1)},
    {"layernorm of 16", NORM(LAYERNORM, 5, 16, 2, 3, 1), .accumulate = true},
    {"layernorm of features", NORM(LAYERNORM, 5, 17, 1, 1, 1)},

    {"groupnorm of 16 in 4, epsilon .5", NORM_BY(GROUPNORM, 2, 16, 3, 4, 4, 0.5, 0)},
    {"layernorm of 5, epsilon .5", NORM_BY(LAYERNORM, 2, 5, 3, 4, 1, 0.5, 0)},

    {"relu", ACTIVATE(2, 7, 3, 5, CULL_RELU)},
    {"relu of 16, accumulating", ACTIVATE(5, 16, 3, 4, CULL_RELU), .accumulate = true},
    {"relu6", ACTIVATE(2, 8, 5, 3, CULL_RELU6)},
    {"relu6 of 3, accumulating", ACTIVATE(1, 3, 5, 3, CULL_RELU6), .accumulate = true},
    {"gelu", ACTIVATE(2, 5, 4, 3, CULL_GELU)},
    {"gelu of 8, accumulating", ACTIVATE(2, 8, 4, 3, CULL_GELU), .accumulate = true},
    {"gelu of features", ACTIVATE(5, 17, 1, 1, CULL_GELU)},

    {"gelu by tanh", ACTIVATE(2, 5, 4, 3, CULL_GELU_TANH)},
    {"gelu by tanh of 16, accumulating", ACTIVATE(2, 16, 4, 3, CULL_GELU_TANH), .accumulate = true},
    {"tanh", ACTIVATE(2, 7, 3, 5, CULL_TANH)},
    {"tanh of features, accumulating", ACTIVATE(5, 17, 1, 1, CULL_TANH), .accumulate = true},

    {"max-pool 2", POOL(MAX, 2, 8, 6, 4, 2, 2, 0)},
    {"max-pool 2 of 5, odd extents", POOL(MAX, 2, 5, 7, 5, 2, 2, 0), .accumulate = true},
    {"max-pool 3, stride 2, padded", POOL(MAX, 2, 16, 9, 8, 3, 2, 1)},
    {"max-pool 3, stride 1, padded", POOL(MAX, 1, 7, 5, 4, 3, 1, 1), .accumulate = true},
    {"max-pool 2x3, strides 1x2, padded 1x0", TILTED_POOL(MAX, 2, 16, 7, 8, 2, 3, 1, 2, 1, 0)},
    {"max-pool 1x2 of 5, accumulating", TILTED_POOL(MAX, 2, 5, 3, 9, 1, 2, 1, 2, 0, 0), .accumulate = true},
    {"average-pool 3x1, strides 2x1, padded 1x0", TILTED_POOL(AVERAGE, 2, 8, 7, 5, 3, 1, 2, 1, 1, 0)},
    {"average-pool 15x2 of 3", TILTED_POOL(AVERAGE, 1, 3, 15, 6, 15, 2, 15, 2, 0, 0), .accumulate = true},
    {"average-pool 2", POOL(AVERAGE, 2, 8, 6, 4, 2, 2, 0)},
    {"average-pool 3, stride 2, padded", POOL(AVERAGE, 2, 5, 7, 5, 3, 2, 1), .accumulate = true},
    {"average-pool 2 of 17", POOL(AVERAGE, 1, 17, 5, 5, 2, 2, 0)},
    {"global pool", POOL(GLOBAL, 2, 16, 4, 3, 0, 0, 0)},
    {"global pool of 7", POOL(GLOBAL, 5, 7, 3, 3, 0, 0, 0), .accumulate = true},
    {"global pool of one pixel", POOL(GLOBAL, 2, 8, 1, 1, 0, 0, 0)},

    {"add", ADD(2, 8, 3, 5)},
    {"add of 7, accumulating first", ADD(5, 7, 3, 3), .accumulate = true},
    {"add of 16, accumulating second", ADD(1, 16, 3, 2), .accumulate2 = true},
    {"add first", ADD(2, 3, 3, 2), .first = true, .accumulate2 = true},
    {"concat of 8 and 8", CONCAT(2, 8, 8, 3, 5)},
    {"concat of 5 and 3", CONCAT(2, 5, 3, 4, 3), .accumulate = true},
    {"concat of 16 and 1", CONCAT(5, 16, 1, 2, 3), .accumulate2 = true},
    {"concat of 24 and 12", CONCAT(1, 24, 12, 3, 2), .accumulate = true, .accumulate2 = true},
    {"concat of features", CONCAT(5, 3, 7, 1, 1)},
    {"shortcut of 8 to 16", SHORTCUT(2, 8, 5, 7, 16, 2)},
    {"shortcut of 16 to 32, accumulating", SHORTCUT(2, 16, 6, 4, 32, 2), .accumulate = true},
    {"shortcut of 3 to 7", SHORTCUT(5, 3, 5, 4, 7, 3)},
    {"shortcut of 5 to 5, stride 2", SHORTCUT(1, 5, 4, 4, 5, 2)},

    {"dropout", DROPOUT(5, 8, 3, 5, 0.3)},
    {"dropout of 5, accumulating", DROPOUT(2, 5, 3, 3, 0.5), .accumulate = true},
    {"dropout of features", DROPOUT(5, 17, 1, 1, 0.1)},
    {"dropout of 16", DROPOUT(2, 16, 4, 3, 0.9)},

    {"loss of 2 classes", LOSS(5, 2, 0)},
    {"loss of 10 classes, smoothed", LOSS(5, 10, 0.1)},
    {"loss of 17 classes, weighted", LOSS(2, 17, 0), .weighted = true},
    {"loss of 1000 classes, smoothed, weighted", LOSS(1, 1000, 0.2), .weighted = true},
    {"squared error of one output", OTHER_LOSS(SQUARED, 5, 1)},
    {"squared error of 7 outputs", OTHER_LOSS(SQUARED, 5, 7)},
    {"squared error of 17 outputs, weighted", OTHER_LOSS(SQUARED, 2, 17), .weighted = true},
    {"binary loss of one label", OTHER_LOSS(BINARY, 5, 1)},
    {"binary loss of 7 labels", OTHER_LOSS(BINARY, 5, 7)},
    {"binary loss of 17 labels, weighted", OTHER_LOSS(BINARY, 2, 17), .weighted = true},

    {"embed", EMBED(2, 5, 7, 8), .first = true},
    {"embed of 5 of one token", EMBED(5, 1, 1, 5), .first = true},
    {"embed of 17, most of them not there", EMBED(1, 9, 100, 17), .first = true},
    {"embed of 32, often the same", EMBED(5, 40, 3, 32), .first = true},
    {"positions", POSITIONS(2, 5, 7, 8, false)},
    {"positions of 5, all of them, accumulating", POSITIONS(3, 7, 7, 5, false), .accumulate = true},
    {"positions of 16, first", POSITIONS(5, 3, 8, 16, false), .first = true},
    {"positions of 8, the same", POSITIONS(2, 5, 2, 8, true)},
    {"positions of 17, the same, accumulating", POSITIONS(5, 1, 1, 17, true), .accumulate = true},
    {"attention", ATTENTION(2, 5, 1, 4, 0)},
    {"attention of 3 heads of 5", ATTENTION(3, 7, 3, 5, 0), .accumulate = true},
    {"attention of 2 heads of 16, dropped", ATTENTION(2, 9, 2, 16, 0.3)},
    {"attention of 3 heads of 32, dropped", ATTENTION(2, 19, 3, 32, 0.1), .accumulate = true},
    {"attention of 2 heads of 64", ATTENTION(1, 33, 2, 64, 0)},
    {"attention of 40, one head, accumulating", ATTENTION(1, 17, 1, 40, 0), .accumulate = true},
    {"attention of 2 heads of 72, dropped", ATTENTION(2, 9, 2, 72, 0.2), .accumulate = true},
    {"attention of 128 over 131", ATTENTION(1, 131, 1, 128, 0)},
    {"attention of 77 over 67, dropped", ATTENTION(2, 67, 1, 77, 0.1)},
    {"attention over 70, dropped", ATTENTION(2, 70, 2, 8, 0.5)},
    {"attention over one position", ATTENTION(5, 1, 2, 8, 0)},
    {"take", TAKE(2, 5, 8)},
    {"take of 17, accumulating", TAKE(5, 3, 17), .accumulate = true},
    {"take of one position", TAKE(2, 1, 16)},

    {"convert", CONVERT(2, 16, 3, 5, 16)},
    {"convert of 5", CONVERT(2, 5, 3, 4, 5)},
    {"convert of 8, accumulating", CONVERT(2, 8, 3, 4, 8), .accumulate = true},
    {"flatten", CONVERT(2, 16, 3, 4, 192)},
    {"flatten of 7, accumulating", CONVERT(5, 7, 2, 3, 42), .accumulate = true},
};
/* clang-format on */

enum { LAYER_CASES = sizeof layer_cases / sizeof *layer_cases };

/* Is a case about sequences, which have one layout? */
static inline bool is_sequence(const cull_layer_desc *d)
{
    return d->kind == CULL_LAYER_EMBED || d->kind == CULL_LAYER_POSITIONS ||
           d->kind == CULL_LAYER_ATTENTION || d->kind == CULL_LAYER_TAKE;
}

static inline int64_t slide(const cull_layer_desc *d, int k)
{
    int64_t extent = k ? d->x.w : d->x.h, apart = d->dilation[k] ? d->dilation[k] : 1;

    return (extent + 2 * d->pad[k] - (d->kernel[k] - 1) * apart - 1) / d->stride[k] + 1;
}

/* The whole description: y's extents, and backward wanted. What is learned is in float32 where
 * values are bfloat16. */
static inline cull_layer_desc complete_case(const struct layer_case *t, cull_dtype dtype)
{
    cull_layer_desc d = t->d;
    cull_image      y = {d.x.n, d.y.c ? d.y.c : d.x.c, d.x.h, d.x.w, 1};

    if (d.kind == CULL_LAYER_CONV || (d.kind == CULL_LAYER_POOL && d.pooling != CULL_POOL_GLOBAL)) {
        y.h = slide(&d, 0);
        y.w = slide(&d, 1);
    }
    if (d.kind == CULL_LAYER_POOL && d.pooling == CULL_POOL_GLOBAL) y.h = y.w = 1;
    if (d.kind == CULL_LAYER_SHORTCUT) {
        y.h = (d.x.h + d.stride[0] - 1) / d.stride[0];
        y.w = (d.x.w + d.stride[1] - 1) / d.stride[1];
    }
    if (d.kind == CULL_LAYER_CONVERT && d.y.c != d.x.c) y.h = y.w = 1;
    if (d.kind == CULL_LAYER_TAKE) y.h = 1;
    if (is_sequence(&d) && d.kind != CULL_LAYER_TAKE) y.block = y.c;
    if (d.kind == CULL_LAYER_CONCAT) y.c = d.x.c + d.x2.c;
    if (d.fused_add) d.x2 = d.x;
    d.y = y;
    d.dtype = dtype;
    if (dtype == CULL_BF16) d.parameters = d.statistics = CULL_F32;
    d.learn = true;
    d.input_gradient = !t->first;
    return d;
}

#endif
