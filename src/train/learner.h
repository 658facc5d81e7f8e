/*
 * train/learner.h - the network that is trained: plans, parameters, optimizer, schedule; and what
 * its steps say of themselves, written where they run and read when there is time.
 */
#ifndef CULL_TRAIN_LEARNER_H
#define CULL_TRAIN_LEARNER_H

#include "records/card.h"
#include "train/batch_rows.h"
#include "train/letter.h"
#include "train/meter/meter.h"
#include "train/plans.h"
#include "train/setup.h"

enum { CULL_LEARNER_RING = 64 }; /* training batches whose sums may wait to be read */

typedef struct cull_learner {
    const cull_train_setup *setup;
    cull_backend           *backend;
    cull_model             *model; /* its own, as the two below */
    cull_params            *params;
    cull_card               card; /* what its inputs and outputs are; borrowed from the data */
    cull_optim             *optim;
    cull_plans              plans;
    cull_schedule           schedule;

    cull_letter   letter;
    cull_moment  *now; /* the letter's                       */
    cull_kit      kit; /* of the three below, and the summary */
    cull_trouble *trouble;
    cull_seen    *ring;    /* [CULL_LEARNER_RING] */
    cull_outcome *outcome; /* [CULL_LEARNER_RING] of the decisions that led to them */

    cull_moment         moment;    /* what `now` holds when the letter was sent         */
    const cull_outcome *decision;  /* that led to the next training batch; NULL: known */
    size_t              waiting;   /* sums in the ring that nobody has read             */
    size_t              left;      /* weights below are still to be changed; 0: all     */
    cull_nn_meanwhile   meanwhile; /* what is done while a plan goes back              */
    cull_seen           read[CULL_LEARNER_RING];
    bool                late[CULL_LEARNER_RING]; /* a decision's outcome waits too */

    /* of evaluations, kept from one to the next: an array that ends takes recordings with it */
    cull_kit   judging;
    cull_seen *judged;
    cull_rows  swept;
} cull_learner;

/* What training saw of a batch. */
typedef struct cull_trained {
    cull_signals  signals;
    cull_plan    *plan;   /* that learned                   */
    const double *weight; /* on the backend; NULL: 1 */
    unsigned      thirds; /* of an example's work    */
    size_t        length; /* tokens of each, those that fill it up counted; 0: it has none */
} cull_trained;

/* The model is taken over, also by failing. Into a zeroed struct, which close ends. */
cull_status cull_learner_open(const cull_train_setup *setup, cull_model *model,
                              cull_backend *backend, cull_learner *out);
void        cull_learner_close(cull_learner *learner);
/* Its weights from a file; refused where that was trained on other inputs or outputs than its
 * own data `set` has. */
cull_status cull_learner_load(cull_learner *learner, const char *weights, const char *set);
/* An optimizer, and what is needed to step with it. */
cull_status cull_learner_begin(cull_learner *learner);

/* An optimizer as the setup says. */
cull_status cull_learner_optim(const cull_train_setup *setup, const cull_model *model,
                               const cull_params *params, cull_optim **out);

/* The plan for this mode, batch and length of sequences (0: the model's), made on first use. Losses
 * that are only reported have no smoothing in them. */
cull_status cull_learner_plan(cull_learner *learner, cull_plan_mode mode, size_t batch,
                              size_t length, cull_plan **out);

/* Room in the letter for a step that meets so many examples, and for so many of a target; told
 * whether `now` lies elsewhere then. */
cull_status cull_learner_room(cull_learner *learner, size_t examples, size_t aims, bool *moved);
/* A step, or another training batch of one, begins: what the moment block is to say of it, once the
 * letter is sent. */
void cull_learner_enter(cull_learner *learner, uint64_t step, uint64_t epoch, double rate);

/* Forward, backward and new weights; or backward alone through rows that a scoring pass kept.
 * Nothing is changed where something is wrong: cull_learner_read() tells. */
cull_status cull_learner_learn(cull_learner *learner, const cull_batch *batch, cull_meter *meter,
                               cull_trained *out);
cull_status cull_learner_learn_kept(cull_learner *learner, cull_plan *kept, size_t length,
                                    const cull_subset *subset, cull_meter *meter,
                                    cull_trained *out);
/* A training batch was trained by a recording: what is counted here. */
void cull_learner_repeat(cull_learner *learner, bool late);

/* What became of the decision that the next training batch follows from is told with its sums. */
void cull_learner_await(cull_learner *learner, const cull_outcome *outcome);

/* Must the sums be read before another batch is trained? */
static inline bool cull_learner_full(const cull_learner *learner)
{
    return learner->waiting == CULL_LEARNER_RING;
}

/* The sums of the training batches since the last call, read[0 .. *count), with outcome[i] where
 * late[i]; *trouble: the first thing that went wrong. */
cull_status cull_learner_read(cull_learner *learner, size_t *count,
                              cull_outcome outcome[CULL_LEARNER_RING], cull_trouble *trouble);

#endif
