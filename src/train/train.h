/*
 * train/train.h - a training run: the one room where data, networks, selection and optimizers meet.
 *
 *     prepare     open the sets, build the model, its plans, the optimizer and the selector
 *     step        data -> forward and backward -> new weights -> counts
 *     evaluate    a set, by BatchNorm's running averages
 *     record      metrics.jsonl and TensorBoard events
 *     checkpoint  weights and state, committed by one rename
 *
 * A run is a function of its setup: what it draws is counted by seed, epoch, step and place.
 */
#ifndef CULL_TRAIN_TRAIN_H
#define CULL_TRAIN_TRAIN_H

#include <string.h>

#include "data/corrupt.h"
#include "data/loader.h"
#include "data/order.h"
#include "nn/nn.h"
#include "optim/optim.h"
#include "train/json.h"
#include "train/log.h"
#include "train/run_state.h"

enum { CULL_TRAIN_MOMENTS = 256 };

/* How candidates are scored; METHODS, "The scoring pass". */
typedef struct cull_score_setup {
    bool        reuse;       /* the scoring pass is the training pass              */
    bool        constants;   /* reuse: statistics do not go backward               */
    bool        running;     /* by BatchNorm's averages                            */
    bool        clean;       /* without augmentation                               */
    double      scale;       /* of height and width; 1: as they are                */
    bool        pipelined;   /* ahead, by weights one step old                     */
    const char *proxy;       /* the model that scores; NULL: the one that is trained */
    const char *irreducible; /* a file of losses, by origin; NULL: none            */
} cull_score_setup;

/* Is this name that of a model or set which a program brings, not of one we know? */
#define CULL_TRAIN_OWN "own/"
static inline bool cull_train_is_own(const char *name)
{
    return strncmp(name, CULL_TRAIN_OWN, sizeof CULL_TRAIN_OWN - 1) == 0;
}

/* Arrays of a program's own, borrowed. */
typedef struct cull_own_data {
    cull_tensor x, y;
} cull_own_data;

/* All that decides a run. Texts are borrowed for as long as the trainer lives. */
typedef struct cull_train_setup {
    const char          *data, *root, *test; /* root, test NULL: none given                    */
    double               validation;         /* share of the training set split off; 0: none   */
    cull_data_corruption corruption;
    cull_data_augment    augment;
    bool                 augments;
    unsigned             workers; /* threads that load */

    const cull_model  *own_model;   /* a program's own, in place of the named; NULL: none        */
    cull_own_data      own_data[2]; /* by cull_data_role; absent where data says no "own/"      */
    const char        *model;
    cull_model_options model_options; /* shape and classes are the data's */
    double             smoothing;

    cull_optim_options optim;
    bool               decay_all; /* false: biases and norms are not decayed               */
    cull_schedule      schedule;  /* steps are filled in                                   */
    double             warmup;    /* epochs                                                */

    bool count_trained; /* the schedule goes by examples trained, not met    */

    const char        *strategy, *backend;
    const cull_option *select; /* [selects] the strategy's options */
    size_t             selects;
    cull_score_setup   score;
    size_t             batch, evaluate_batch;
    bool               drop_short;
    uint64_t           epochs, seed;
    unsigned           threads;
    uint64_t           log_every;                          /* steps; 0: none                      */
    uint64_t           evaluate_every;                     /* epochs; the last is always          */
    uint64_t           checkpoint_every, checkpoint_steps; /* epochs; steps, 0: none              */
    double             target, most_seconds, most_cost;    /* 0: none                             */
    double             shorten;                            /* share of the steps that are run     */
    double             moment[CULL_TRAIN_MOMENTS];         /* epochs of further evaluations       */
    size_t             moments;
} cull_train_setup;

enum { CULL_TRAIN_PLANS = 16, CULL_TRAIN_DEPTH = 4 };

typedef struct cull_trainer {
    const cull_train_setup *setup;
    cull_run_options        run;

    cull_backend    *backend;
    cull_dataset    *train, *validation, *test;
    cull_data_record corruption;
    cull_model      *model;
    cull_params     *params;
    struct {
        cull_plan_mode mode;
        size_t         batch;
        cull_plan     *plan;
    } plan[CULL_TRAIN_PLANS];
    size_t          plans;
    cull_optim     *optim;
    cull_selector  *selector;
    cull_schedule   schedule;
    cull_data_order order;
    cull_loader    *loader;
    size_t          submitted; /* batches of this epoch asked of the loader */

    cull_place place;
    cull_meter meter;

    /* of the latest step */
    cull_needs   needs;
    cull_batch   seen;
    cull_signals trained;
    double       rate, loss;

    cull_train_log metrics, events;
    cull_json      json;
} cull_trainer;

/* ---- prepare.c ---- */

/* setup and the texts in it are borrowed. learns false: only to evaluate. Reads files, writes
 * none. */
cull_status cull_trainer_create(const cull_train_setup *setup, bool learns, cull_trainer **out);
void        cull_trainer_destroy(cull_trainer *trainer);

/* The plan for this mode and batch, made on first use. */
cull_status cull_trainer_plan(cull_trainer *trainer, cull_plan_mode mode, size_t batch,
                              cull_plan **out);

/* How the network reads its inputs. */
cull_status cull_trainer_form(const cull_plan *plan, cull_data_form *out);

/* ---- step.c ---- */

/* Begin the current epoch, or go on with it behind place.batch. */
void        cull_train_begin_epoch(cull_trainer *trainer);
cull_status cull_train_step(cull_trainer *trainer);

/* ---- evaluate.c ---- */
cull_status cull_train_evaluate(cull_trainer *trainer, const cull_dataset *set,
                                cull_evaluation *out);
/* How many of these examples the network classifies right; p is softmax less target. */
size_t cull_train_correct(const cull_signals *signals, double smoothing);

/* ---- record.c ---- */

/* Open both logs and cut them to what the checkpoint knows of. */
cull_status cull_record_open(cull_trainer *trainer);
cull_status cull_record_sync(cull_trainer *trainer);
cull_status cull_record_step(cull_trainer *trainer);
cull_status cull_record_epoch(cull_trainer *trainer);
cull_status cull_record_evaluation(cull_trainer *trainer, const char *set,
                                   const cull_evaluation *evaluation, bool best);

/* ---- checkpoint.c ---- */

/* Write the weights as they are, under a name of step and hash. */
cull_status cull_checkpoint_weights(cull_trainer *trainer, char name[CULL_STATE_NAME],
                                    uint64_t *hash);
cull_status cull_checkpoint_save(cull_trainer *trainer);
/* found false: the folder has no checkpoint, the trainer is as it was. */
cull_status cull_checkpoint_load(cull_trainer *trainer, bool *found);

/* ---- manifest.c ---- */

/* run.json: what ran where, and how it ended ("running", "finished", ...). why: NULL, or the
 * sentence of a failure. */
cull_status cull_train_manifest(cull_trainer *trainer, const char *status, const char *why);
/* corruption.npz: which examples were harmed; nothing when none was. */
cull_status cull_train_harm(cull_trainer *trainer);

/* ---- trainer.c ---- */

/* Train to the end, a failure, or until told to stop; the folder is there. */
cull_status cull_trainer_run(cull_trainer *trainer, const cull_run_options *options,
                             cull_run_result *out);
const char *cull_trainer_watched(const cull_trainer *trainer); /* "validation" or "test" */

#endif
