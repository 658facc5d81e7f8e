/*
 * backend/ref/nn.h - layer operations as plain loops in double: the definition of right.
 *
 * A rule is written once, for float64 in NCHW, or for sequences. For float32 the frame in nn.c
 * widens what goes in, runs the same rule and rounds what comes out, so float results are double
 * arithmetic on the same rounded values. Tokens and states are what they are.
 */
#ifndef CULL_BACKEND_REF_NN_H
#define CULL_BACKEND_REF_NN_H

#include "backend/layer.h"

/* Elements of each tensor an operation touches. */
typedef struct cull_ref_sizes {
    size_t x, x2, y, w, b, stats, running;
} cull_ref_sizes;

/* What a rule that shares its work among threads is given besides. */
typedef struct cull_ref_shared {
    cull_team *team;
    double    *scratch; /* `share` elements a worker */
    size_t     share;
} cull_ref_shared;

typedef struct cull_ref_rule {
    cull_layer_kind kind;
    /* Fill in what x, x2 and y do not say; they are set before. Optional. */
    void (*sizes)(const cull_layer_desc *desc, cull_ref_sizes *sizes);
    size_t state_row; /* bytes of state for each element of y in a row */
    size_t (*state)(const cull_layer_desc *desc); /* in place of that: of a row */
    cull_status (*check)(const cull_layer_desc *desc, const cull_layer_args *args); /* optional */
    bool sequences; /* x and y are (n, positions, features) */
    bool stats_by_row;
    void (*forward)(const cull_layer_desc *desc, const cull_layer_args *args);
    void (*backward)(const cull_layer_desc *desc, const cull_layer_args *args);
    /* In place of these two where one thread would be too slow; no result may depend on how many
     * there are. scratch: elements a worker needs. */
    size_t (*scratch)(const cull_layer_desc *desc);
    void (*shared_forward)(const cull_layer_desc *desc, const cull_layer_args *args,
                           const cull_ref_shared *shared);
    void (*shared_backward)(const cull_layer_desc *desc, const cull_layer_args *args,
                            const cull_ref_shared *shared);
} cull_ref_rule;

extern const cull_ref_rule cull_ref_dense, cull_ref_conv, cull_ref_batchnorm, cull_ref_groupnorm,
    cull_ref_layernorm, cull_ref_activate, cull_ref_pool, cull_ref_add, cull_ref_concat,
    cull_ref_shortcut, cull_ref_dropout, cull_ref_loss, cull_ref_embed, cull_ref_positions,
    cull_ref_attention, cull_ref_take;

/* The change of layout moves elements and never rounds: an operation of its own. */
extern const cull_layer_class cull_ref_convert;

#endif
