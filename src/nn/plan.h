/*
 * nn/plan.h - inside a plan: values, steps, and the memory they share.
 *
 * A value is what a node computes; nodes that change nothing (a flatten that needs no copy,
 * dropout while scoring, what was fused into a BatchNorm) share the value of another. A step is
 * one operation with its values. Steps run in order forward and in reverse backward. With S steps
 * and the loss at time S, step s runs forward at time s and backward at time 2S - s; a buffer
 * lives from its first to its last time, and buffers whose lives do not meet share memory.
 */
#ifndef CULL_NN_PLAN_H
#define CULL_NN_PLAN_H

#include "nn/nn.h"

typedef struct cull_value {
    cull_image image;
    size_t     size;     /* bytes of an element                                  */
    int        home;     /* value whose memory it is: itself unless shared       */
    bool       kept;     /* backward reads it                                    */
    bool       carries;  /* a gradient flows back through it                     */
    bool       positive; /* never negative: behind a ReLU                      */
    char      *data, *gradient;
} cull_value;

typedef struct cull_step {
    const cull_node *node; /* owner of the parameters                          */
    int              in[CULL_NODE_INPUTS], inputs, out; /* values               */
    unsigned         keeps;
    cull_layer_desc  desc;
    cull_layer_op   *op;
    cull_layer_args  args; /* pointers set once, the step's own fields each run */
    size_t           stats_bytes;
} cull_step;

struct cull_plan {
    const cull_model *model;
    cull_params      *params;
    cull_backend     *backend;
    cull_plan_mode    mode;
    cull_dtype     values_in, wide; /* what values are, and parameters, statistics and the loss */
    size_t         batch;
    int            values, steps;
    cull_value    *value; /* one a node, by the node's number */
    cull_step     *step;
    cull_loss      loss_of;
    size_t         target_bytes; /* of an example */
    cull_layer_op *loss_op;

    /* memory of the backend; learn-from-kept: operations too */
    cull_kit        kit;
    cull_plan_room *room; /* whose the arena is; NULL: the kit's */
    char           *arena;
    size_t          bytes; /* of the arena and what is of one entry an example                  */
    double         *loss;  /* [batch]                                                           */
    void           *p;     /* [batch * classes] wide                                            */
    uint32_t       *order; /* [batch] 0 .. batch-1, the places of a batch that names none       */
    double         *share; /* [batch] learn-from-kept: a row's weight in BatchNorm's backward   */
    void     *own_target;  /* [batch] learn-from-kept: gathered, as the places                */
    uint32_t *own_place;

    cull_gathered *gathered; /* [values + 2 steps] learn-from-kept: what rows are taken of */

    /* Behind this step of the way back weights from `later` on have all they need; -1: none. */
    int                      turn;
    size_t                   later;
    const cull_nn_meanwhile *meanwhile; /* NULL: nothing */

    /* of the latest run */
    const void        *target;
    const uint32_t    *place;
    const cull_moment *now;
    bool               constants; /* shares are 0                            */
    uint64_t           run_step, run_epoch;
    uint64_t           runs; /* so far: what signals were lent by the latest alone */
    cull_key           run_key;
};

static inline bool cull_plan_learns(cull_plan_mode mode)
{
    return mode == CULL_PLAN_LEARN || mode == CULL_PLAN_LEARN_FROM_KEPT;
}

static inline bool cull_plan_forwards(cull_plan_mode mode)
{
    return mode != CULL_PLAN_LEARN_FROM_KEPT;
}

/* Does the plan only score? */
static inline bool cull_plan_scores(cull_plan_mode mode)
{
    return mode == CULL_PLAN_SCORE || mode == CULL_PLAN_SCORE_INT8 || mode == CULL_PLAN_SCORE_BF16;
}

/* Does the plan keep what backward reads? */
static inline bool cull_plan_keeps(cull_plan_mode mode)
{
    return !cull_plan_scores(mode);
}

/* plan_steps.c: values and steps from the model's nodes, layouts chosen, BatchNorm fused. */
cull_status cull_plan_make_steps(cull_plan *plan);
/* plan_room.c: so many bytes that plans share. */
cull_status cull_plan_room_take(cull_plan_room *room, size_t bytes, char **out);
/* plan_memory.c: one arena for all values, gradients and states; args point into it. */
cull_status cull_plan_make_memory(cull_plan *plan);

/* Memory of a value, wherever it lives. */
static inline cull_value *cull_plan_home(cull_plan *plan, int value)
{
    return &plan->value[plan->value[value].home];
}

#endif
