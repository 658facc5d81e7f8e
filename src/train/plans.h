/*
 * train/plans.h - the plans of one network, made on first use.
 *
 * A network of sequences has plans of several lengths, which share the memory of their activations
 * with all others of their mode: they run in turn.
 *
 * Few sizes come back every step, odd ones (the end of an epoch, a subset's rest) come and go: the
 * plan that was not used for longest makes room. A plan holds the activations of its batch, so a
 * run keeps few; a loop outside of the library may go through more sizes.
 */
#ifndef CULL_TRAIN_PLANS_H
#define CULL_TRAIN_PLANS_H

#include "data/transform.h"
#include "nn/nn.h"

enum {
    CULL_TRAIN_PLANS = 8,
    CULL_NETWORK_PLANS = 16,
    CULL_SEQUENCE_PLANS = 64, /* of one network of sequences */
    CULL_PLAN_MODES = CULL_PLAN_SCORE_BF16 + 1
};

typedef struct cull_plans {
    const cull_model *model; /* borrowed, as the two below */
    cull_params      *params;
    cull_backend     *backend;
    bool              constants; /* learn-from-kept: statistics do not go backward */
    bool              many;      /* CULL_NETWORK_PLANS are kept, not CULL_TRAIN_PLANS */
    uint64_t          clock;
    size_t            count;
    struct {
        cull_plan_mode mode;
        size_t         batch, length;
        cull_loss      loss;
        uint64_t       used;
        cull_plan     *plan;
    } entry[CULL_SEQUENCE_PLANS];

    /* of sequences */
    size_t         shorts;
    cull_model    *shorter[CULL_SEQUENCE_PLANS]; /* [shorts] the model at other lengths */
    cull_plan_room room[CULL_PLAN_MODES];
} cull_plans;

/* length: positions of each sequence; 0: the model's own. Valid until as many others were asked for
 * as are kept, less one. */
cull_status cull_plans_get(cull_plans *plans, cull_plan_mode mode, size_t batch, size_t length,
                           cull_loss loss, cull_plan **out);
/* Every plan is made anew when it is next asked for. */
void   cull_plans_drop(cull_plans *plans);
void   cull_plans_clear(cull_plans *plans);
size_t cull_plans_bytes(const cull_plans *plans);

/* How the network reads its inputs; and one of this model that is trained by these parameters. */
cull_status cull_plan_form(const cull_plan *plan, cull_data_form *out);
cull_status cull_model_form(const cull_model *model, const cull_params *params,
                            cull_data_form *out);

#endif
