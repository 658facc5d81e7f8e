/*
 * lab/probe/probe.h - inside a probe: gradients as the engine computes them, held against each
 * other.
 *
 *     g(S)    gradient of (1/m) sum over S of w_i loss_i, the rows of S alone in the network
 *     g_M(S)  the same loss with all M rows there, w_i M/m on S and 0 elsewhere: BatchNorm then
 *             normalises by the statistics of M. Without BatchNorm g_M(S) = g(S)
 *     g(B)    of a whole minibatch, weights 1
 *     g       of the data set: the mean of g(B) over all whole minibatches of epoch 0
 *
 * All over all parameters, (P) numbers, kept in double. Running averages are put back after
 * every pass, so the network is the same before and after.
 */
#ifndef CULL_LAB_PROBE_H
#define CULL_LAB_PROBE_H

#include "cull_lab.h"
#include "data/order.h"
#include "data/transform.h"
#include "nn/nn.h"
#include "records/probe_lines.h"
#include "select/select.h"
#include "train/network/tray.h"
#include "train/plans.h"

/* What is probed; all borrowed. */
typedef struct cull_probe_ground {
    cull_backend            *backend;
    const cull_model        *model;
    cull_params             *params;
    const cull_dataset      *set;
    const cull_data_augment *augment; /* NULL: none */
    size_t                   batch;
    cull_loss                loss;
    uint64_t                 seed;
} cull_probe_ground;

typedef struct cull_prober {
    cull_probe_ground ground;
    cull_data_order   order;
    cull_plans        plans;
    cull_tray         tray;     /* room for M examples        */
    cull_sel_load     seen;     /* signals, on the host       */
    void             *running;  /* a copy of the averages     */
    void             *gradient; /* (P) a copy, where the backend is not on the host */
    double           *weight;   /* [M]                        */
    uint32_t         *rows;     /* [M]                        */
    double           *full;     /* (P) g                      */
    double           *whole;    /* (P) g(B)                   */
    double           *part;     /* (P) g(S) or g_M(S)         */
    double           *wide[2];  /* exact: H and P in float64  */
    const uint32_t   *places;   /* [M] of the current batch   */
    uint64_t          number;   /* of the current batch       */
    uint64_t          epoch;
} cull_prober;

/* ---- probe_gradient.c ---- */

/* out is zeros, ended with cull_prober_clear(), also after a failure. */
cull_status cull_prober_init(cull_prober *prober, const cull_probe_ground *ground);
void        cull_prober_clear(cull_prober *prober);
size_t      cull_prober_batches(const cull_prober *prober); /* whole minibatches of an epoch */

/* Make minibatch `number`, counted over epochs, the current one. */
void cull_prober_go(cull_prober *prober, size_t number);

/* What a forward pass sees of the current batch, on the host: BatchNorm by the batch, dropout off.
 * exact: H and P in float64, so that all that is computed of them is. */
cull_status cull_prober_score(cull_prober *prober, bool exact, cull_signals *signals);

/* The last layer's |g_M(S) - g(B)|^2 / |g(B)|^2 as the signals of the current batch tell it,
 * without a pass: whole and part are scratch. */
double cull_prober_last(cull_prober *prober, const cull_signals *signals,
                        const cull_subset *subset);

/* g(B) of the current batch into prober->whole. */
cull_status cull_prober_whole(cull_prober *prober);

/* g(S), or g_M(S), of a subset of the current batch into prober->part. */
cull_status cull_prober_part(cull_prober *prober, const cull_subset *subset, int way);

/* g(B) added to prober->full, which begins as zeros; all batches, then divided. */
cull_status cull_prober_add(cull_prober *prober);
void        cull_prober_divide(cull_prober *prober, size_t batches);

/* ---- probe_figures.c ---- */
cull_probe_gap cull_probe_compare(const double *a, const double *b, size_t count);
/* |a - b|^2 / |b|^2; NaN where b is zero. */
double    cull_probe_relative(const double *a, const double *b, size_t count);
cull_rate cull_probe_rate(double hits, double trials);
/* Sorts the values. */
cull_spread cull_probe_spread(double *value, size_t count);
/* The first arm of uniform choice at the same keep, or NULL. */
const cull_probe_arm *cull_probe_control(const cull_probe_result *result,
                                         const cull_probe_arm    *arm);
/* Every figure of the arms from their picks; whole and whole_error are left alone. */
cull_status cull_probe_summarise(cull_probe_result *result);

#endif
