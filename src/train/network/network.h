/* train/network/network.h - a network outside of a run: what the public one is made of. */
#ifndef CULL_TRAIN_NETWORK_H
#define CULL_TRAIN_NETWORK_H

#include "data/transform.h"
#include "nn/nn.h"
#include "optim/optim.h"
#include "records/safetensors.h"
#include "train/network/tray.h"
#include "train/plans.h"

enum { CULL_NETWORK_MOST = 1 << 24 }; /* most examples of a call */

struct cull_network {
    cull_model        *model;
    cull_params       *params;
    cull_backend      *backend, *owned;
    cull_optim_options optim_options;
    bool               decay_all;
    cull_optim        *optim;
    cull_loss          loss;
    cull_key           key;
    cull_plans         plans;
    cull_card          card; /* its own; where nothing is known, of mean 0 and deviation 1    */
    cull_tray          tray;
    void              *logits; /* [logits_room] on the host, where the backend is not */
    size_t             logits_room;
    cull_subset        chosen;  /* a subset on the host: all, or a copy          */
    cull_subset        placed;  /* and on the backend, where that is elsewhere   */
    float             *row;     /* one example                                   */
    cull_kit           kit;     /* of the three below, and a pass's summary      */
    void              *running; /* averages, while a pass must not move them     */
    cull_seen         *seen;    /* of the losses of a pass                       */
    cull_trouble      *trouble; /* nothing between two passes                    */
    cull_safetensor   *tensor;  /* [tensors] parameters, in the order they lie   */
    size_t             tensors;
    bool               learned;
    uint64_t           passes; /* so far; signals are lent by the latest alone  */
    size_t             kept;   /* examples of the pass that is kept; 0: none    */
};

typedef struct cull_network_setup {
    cull_dtype         dtype;      /* of parameters                                    */
    cull_arithmetic    arithmetic; /* and how it computes with them                    */
    cull_optim_options optim;
    bool               decay_all;
    cull_loss          loss;
    uint64_t           seed;
    const char        *backend; /* opened for the network where none is lent */
    unsigned           threads;
    const cull_card   *card; /* how inputs are normalised; NULL: they are taken as they are */
} cull_network_setup;

/* Nothing is kept of setup and model; `backend` NULL: the setup's. */
cull_status cull_network_make(const cull_model *model, cull_backend *backend,
                              const cull_network_setup *setup, cull_network **out);

/* A new optimizer for the network, as its options say. */
cull_status cull_network_optim(const cull_network *network, cull_optim **out);

/* The plan for this mode and batch, made on first use. */
cull_status cull_network_plan(cull_network *network, cull_plan_mode mode, size_t batch,
                              cull_plan **out);

/* Another pass begins: what the latest lent and kept is gone. */
static inline void cull_network_pass(cull_network *network)
{
    network->passes++;
    network->kept = 0;
}

/* ---- network_inputs.c ---- */
cull_status cull_network_check(const cull_network *network, const cull_tensor *x);
/* Example `from` of x, in this form, into place `to` of the tray. */
cull_status cull_network_take(cull_network *network, const cull_tensor *x, cull_data_form form,
                              size_t from, size_t to);

/* ---- network_targets.c ---- */
cull_status cull_network_check_targets(const cull_network *network, const cull_examples *examples);
/* The target of example `from` into place `to` of the tray. */
cull_status cull_network_take_target(const cull_network *network, const cull_examples *examples,
                                     size_t from, size_t to);

/* ---- network_subset.c ---- */
/* Is it to be learned of `count` examples? *out is the subset where the host reads it. */
cull_status cull_network_read_subset(cull_network *network, const cull_subset *subset, size_t count,
                                     cull_subset *out);
/* The same where the backend reads it; NULL: all of `count`. */
cull_status cull_network_place_subset(cull_network *network, const cull_subset *subset,
                                      size_t count, cull_subset *out);

#endif
