/*
 * train/scorer.h - who scores, and what with: the model itself, the model for smaller images with
 * the very same parameters, or a proxy, a small model that is trained along with the large one.
 */
#ifndef CULL_TRAIN_SCORER_H
#define CULL_TRAIN_SCORER_H

#include "train/feed.h"
#include "train/learner.h"
#include "train/machine.h"
#include "train/pipeline.h"
#include "train/signal_room.h"

/* A part of the validation set, as the target of a step. */
typedef struct cull_aim {
    cull_signal_room signals;
    cull_rows        rows;
    uint32_t        *place, *scratch; /* on the host */
} cull_aim;

typedef struct cull_scorer {
    const cull_train_setup *setup;
    cull_backend           *backend;
    cull_trouble           *trouble;           /* the learner's error word                    */
    cull_letter            *letter;            /* and its letter                              */
    cull_resident          *pool, *validation; /* validation NULL: there is none              */
    cull_data_form          form;              /* of the inputs that it is given              */
    cull_plans             *plans;             /* the learner's, or those below               */
    cull_plans              own;
    cull_model             *model;  /* of its own; NULL: the learner's                        */
    cull_params            *params; /* of a proxy; NULL: none                                 */
    cull_optim             *optim;
    cull_kit                kit; /* of the arrays below, resize and gather                    */
    int64_t                 height, width; /* of what it reads                                */
    float                  *small;         /* [small_room] examples as it reads them          */
    size_t                  small_room;
    double                 *irreducible; /* [pool] by place; NULL: none                       */
    cull_aim                aim;
    cull_pipeline          *pipeline; /* NULL: nothing is scored ahead                        */

    /* signals that come from no forward pass, of the candidates */
    int32_t *label;
    double  *known;
    size_t   label_room, known_room;
} cull_scorer;

/* What a forward pass saw; borrowed until the next. */
typedef struct cull_scored {
    cull_signals signals;
    cull_plan   *plan; /* that scored; NULL: none                 */
    cull_plan   *kept; /* reuse: the same, whose rows are learned from; NULL: none */
} cull_scored;

/* learner, pool and validation are borrowed. Into a zeroed struct, which close ends. */
cull_status cull_scorer_open(const cull_train_setup *setup, cull_learner *learner,
                             cull_resident *pool, cull_resident *validation, cull_data_form form,
                             cull_scorer *scorer);
void        cull_scorer_close(cull_scorer *scorer);
/* Its part of a checkpoint; nothing where the model itself scores. */
cull_status cull_scorer_save(const cull_scorer *scorer, cull_writer *out);
cull_status cull_scorer_restore(cull_scorer *scorer, cull_reader *in);

/* Inputs of `count` examples as a plan of the scorer reads them; valid until the next call. */
cull_status cull_scorer_inputs(cull_scorer *scorer, const cull_plan *plan, size_t count,
                               const void **inputs);
/* Targets are made anew, of another validation set. */
void cull_scorer_forget_aim(cull_scorer *scorer);

/* So many examples were scored, of so many tokens each (0: they have none). */
void cull_scorer_count(const cull_scorer *scorer, size_t examples, size_t length,
                       cull_meter *meter);

/* How many examples a step's target has; 0: there is none. */
size_t cull_scorer_aims(const cull_scorer *scorer);
/* Which examples the step's target is made of is written into the letter, which has room for them;
 * nothing where there is no target. */
cull_status cull_scorer_aim(cull_scorer *scorer, const cull_needs *needs, uint64_t step);
/* What the selector needs to know of a step's candidates. */
cull_status cull_scorer_score(cull_scorer *scorer, const cull_needs *needs, const cull_batch *batch,
                              cull_meter *meter, cull_scored *out);
/* The same of all of the pool, without augmentation, by BatchNorm's averages: into rooms that the
 * caller ends. */
cull_status cull_scorer_score_pool(cull_scorer *scorer, const cull_needs *needs,
                                   const cull_progress *progress, cull_meter *meter,
                                   cull_signal_room *pool, cull_signal_room *aim,
                                   cull_signals *out);
/* A proxy learns what the model has learned, by the same moment; or did by a recording. */
cull_status cull_scorer_learn(cull_scorer *scorer, const cull_batch *batch, cull_meter *meter);
void        cull_scorer_repeat(cull_scorer *scorer);

#endif
