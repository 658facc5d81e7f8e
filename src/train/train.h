/*
 * train/train.h - a training run: the one room where data, networks, selection and optimizers meet.
 *
 *     prepare     open the sets, build the model, its plans, the optimizer
 *     expect      what the selector will ask for, looked at before the first step
 *     epoch       which examples an epoch meets, in which order; subsets of the pool
 *     step        candidates -> signals -> subset -> gradients -> new weights -> counts
 *     scoring     signals of a batch and of the pool
 *     moment      where in the run a step is: the schedule's position, evaluations, the end
 *     evaluate    a set, by BatchNorm's running averages
 *     record      metrics.jsonl and TensorBoard events
 *     checkpoint  weights and state, committed by one rename
 *
 * What a step does follows from cull_needs alone: no strategy is known here by its name.
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
#include "records/json.h"
#include "records/log.h"
#include "select/course.h"
#include "train/folder/run_state.h"
#include "train/pipeline.h"
#include "train/plans.h"
#include "train/tally.h"

enum { CULL_TRAIN_MOMENTS = 256 };

/* How candidates are scored; METHODS, "The scoring pass". */
typedef struct cull_score_setup {
    bool        reuse;       /* the scoring pass is the training pass              */
    bool        constants;   /* reuse: statistics do not go backward               */
    bool        running;     /* by BatchNorm's averages                            */
    bool        int8;        /* convolutions in 8 bits where they gain by it       */
    bool        clean;       /* without augmentation                               */
    double      scale;       /* of height and width; 1: as they are                */
    bool        pipelined;   /* ahead, by weights one step old                     */
    const char *proxy;       /* the model that scores; NULL: the one that is trained */
    const char *irreducible; /* a file of losses, by origin; NULL: none            */
} cull_score_setup;

static inline cull_plan_mode cull_score_mode(const cull_score_setup *score)
{
    if (score->reuse) return CULL_PLAN_SCORE_AND_KEEP;
    return score->int8 ? CULL_PLAN_SCORE_INT8 : CULL_PLAN_SCORE;
}

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
    double               subset;             /* share of the rest that is used; 0 or 1: all    */
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
    const char        *init; /* a file of weights to begin with; NULL: drawn from the seed */
    unsigned           threads;
    uint64_t           log_every;                          /* steps; 0: none                      */
    uint64_t           evaluate_every;                     /* epochs; the last is always          */
    uint64_t           checkpoint_every, checkpoint_steps; /* epochs; steps, 0: none              */
    double             target, most_seconds, most_cost;    /* 0: none                             */
    double             shorten;                            /* share of the steps that are run     */
    double             moment[CULL_TRAIN_MOMENTS];         /* epochs of further evaluations       */
    size_t             moments;
} cull_train_setup;

enum {
    CULL_TRAIN_DEPTH = 4,
    CULL_SIGNAL_FORWARD = CULL_SIGNAL_LOSS | CULL_SIGNAL_H | CULL_SIGNAL_P
};

/* The examples of an epoch in the order they are met. */
typedef struct cull_walk {
    size_t    count, room;
    uint32_t *place;  /* [count]                                                     */
    double   *weight; /* [count] of a subset                                         */
    size_t   *end;    /* [groups] where each training batch of a subset ends         */
    size_t    groups; /* 0: any batches will do                                      */
    bool      weighs; /* weight[] holds; else all 1                                  */
} cull_walk;

/* What the loader was asked for: examples from .. to of the walk, `size` at a time. */
typedef struct cull_ahead {
    size_t from, to, size;
    bool   augment;
} cull_ahead;

/* Rows put together for a training batch. */
typedef struct cull_rows {
    size_t    room;
    float    *inputs;
    int32_t  *label;
    uint32_t *place;
} cull_rows;

/* A part of the validation set, as the target of a step. */
typedef struct cull_aim {
    cull_signal_room signals;
    float           *inputs;
    int32_t         *label;
    uint32_t        *place, *scratch;
} cull_aim;

/* Who scores, and what with. */
typedef struct cull_scorer {
    cull_plans *plans; /* the trainer's own, or those below                           */
    cull_plans  own;   /* of a model for smaller images, with the same parameters, or
                          of a proxy, which has its own                               */
    cull_model  *model;
    cull_params *params; /* of a proxy; NULL: none */
    cull_optim  *optim;
    int64_t      height, width; /* of what it reads                                   */
    float       *small;         /* [small_room] examples as it reads them             */
    size_t       small_room;
    double      *irreducible; /* [pool] by place; NULL: none                          */
    cull_aim     aim;

    /* signals that come from no forward pass, of the candidates */
    int32_t *label;
    double  *known;
    size_t   room;
} cull_scorer;

/* What the selector is expected to ask for, over the whole run. */
typedef struct cull_expectation {
    double steps, trained;
    bool   fixed; /* how many are trained is known beforehand */
    bool   scores, scores_batches;
    bool   single;     /* a training batch may turn out to be of one example */
    size_t candidates; /* most that a step chooses from; 0: never  */
    size_t learns;     /* most that are put together for training  */
} cull_expectation;

struct cull_trainer {
    const cull_train_setup *setup;
    cull_run_options        run;

    cull_backend    *backend;
    cull_dataset    *train, *validation, *test;
    cull_data_record corruption;
    cull_model      *model;
    cull_params     *params;
    cull_plans       plans;
    cull_optim      *optim;
    cull_selector   *selector;
    cull_schedule    schedule;
    uint64_t         epochs; /* that run, the last of them in part where  */
    double           length; /* the run is shortened to so many           */
    cull_expectation expected;
    cull_data_order  order;
    cull_walk        walk;
    cull_data_form   form;
    cull_loader     *loader;
    size_t           loader_room;
    cull_ahead       ahead;
    cull_scorer      scorer;
    cull_pipeline   *pipeline; /* NULL: nothing is scored ahead */

    cull_progress progress;
    cull_meter    meter;
    cull_energy   energy;
    cull_tally    tally;
    cull_subset   pool; /* chosen from the pool, and when */
    uint64_t      pool_epoch;

    /* of the latest step */
    cull_needs   needs;
    cull_batch   seen;      /* candidates; inputs NULL: not loaded         */
    bool         augmented; /* the inputs are as they will be trained      */
    cull_signals signals;   /* what is known of them                       */
    cull_plan   *kept;      /* reuse: the plan that scored                 */
    cull_subset  chosen;
    cull_rows    rows;
    cull_signals trained;
    size_t       trained_now; /* examples */
    double       rate, loss;

    cull_train_log metrics, events;
    cull_json      json;
};

/* ---- prepare.c ---- */

/* setup and the texts in it are borrowed. learns false: only to evaluate. Reads files, writes
 * none. */
cull_status cull_trainer_create(const cull_train_setup *setup, bool learns, cull_trainer **out);
void        cull_trainer_destroy(cull_trainer *trainer);

/* Weights as the setup begins with them: those of its file, where it names one. CULL_BAD_OPTION
 * names the first tensor that is not the model's. */
cull_status cull_trainer_begin(cull_trainer *trainer);

/* The plan for this mode and batch, made on first use. */
cull_status cull_trainer_plan(cull_trainer *trainer, cull_plan_mode mode, size_t batch,
                              cull_plan **out);

/* How the network reads its inputs. */
cull_status cull_trainer_form(const cull_plan *plan, cull_data_form *out);

/* ---- expect.c ---- */

/* Ask the selector ahead for the whole run; refuse what cannot be followed, naming the key; make
 * the plans of every step. */
cull_status cull_train_expect(cull_trainer *trainer);

/* ---- epoch.c ---- */

/* Begin the current epoch, or go on with it behind progress.at. */
cull_status cull_train_begin_epoch(cull_trainer *trainer);
/* Begin an epoch with its first example, wherever the run is. */
cull_status cull_train_enter_epoch(cull_trainer *trainer, uint64_t epoch);
/* Where the run is, to be asked what the next steps take. */
cull_sel_course cull_train_course(const cull_trainer *trainer);
bool            cull_train_epoch_over(const cull_trainer *trainer);
void            cull_walk_clear(cull_walk *walk);

/* ---- bring.c ---- */

/* The candidates of a step, loaded where they are to be scored or all trained. */
cull_status cull_train_bring(cull_trainer *trainer, const cull_sel_step *step);
/* Examples `at` .. of the walk from the loader, as a step takes them; borrowed until the next. */
cull_status cull_train_take(cull_trainer *trainer, const cull_sel_step *step, size_t at,
                            cull_batch *out);
/* Rows from .. to of the chosen as a training batch: gathered where they are loaded as they are
 * trained, else made. */
cull_status cull_train_gather(cull_trainer *trainer, size_t from, size_t to, cull_batch *out);
/* Room for training batches of so many. */
cull_status cull_train_reserve(cull_trainer *trainer, size_t count);
void        cull_rows_clear(cull_rows *rows);

/* ---- scorer.c ---- */
cull_status cull_scorer_open(cull_trainer *trainer);
void        cull_scorer_close(cull_scorer *scorer);
/* Its part of a checkpoint; nothing where the model itself scores. */
cull_status cull_scorer_save(const cull_trainer *trainer, cull_writer *out);
cull_status cull_scorer_restore(cull_trainer *trainer, cull_reader *in);
/* Inputs of `count` examples as a plan of the scorer reads them; valid until the next call. */
cull_status cull_scorer_inputs(cull_trainer *trainer, const cull_plan *plan, size_t count,
                               const void **inputs);
/* So many examples were scored. */
void cull_scorer_count(cull_trainer *trainer, size_t examples);
/* A proxy learns what the model has learned. */
cull_status cull_scorer_learn(cull_trainer *trainer, const cull_batch *batch, double rate);

/* ---- scoring.c ---- */

/* signals: what the selector needs to know of the candidates. */
cull_status cull_train_score(cull_trainer *trainer);

/* ---- pool_signals.c ---- */

/* Choose the subset of the pool anew. */
cull_status cull_train_choose_pool(cull_trainer *trainer);
/* The target block of a step: a part of the validation set. */
cull_status cull_train_target(cull_trainer *trainer, cull_target *out);
void        cull_signal_room_clear(cull_signal_room *signals);
/* Room for signals of `count` examples; kept where it fits already. */
cull_status cull_signal_room_make(const cull_model *model, unsigned wanted, size_t count,
                                  cull_signal_room *signals);
/* The signals of a batch behind those that are there; and all of them as a selector reads them. */
void cull_signal_room_put(cull_signal_room *signals, const cull_plan *plan,
                          const cull_signals *seen, const int32_t *label);
void cull_signal_room_view(const cull_signal_room *signals, cull_signals *out);
void cull_aim_clear(cull_aim *aim);

/* ---- moment.c ---- */

/* Where the step that comes next lies on the schedule, in ordinary steps; and in epochs. */
double cull_train_position(const cull_trainer *trainer);
double cull_train_epochs_done(const cull_trainer *trainer);
/* The shortened run is at its end. */
bool cull_train_complete(const cull_trainer *trainer);
/* Is an evaluation due that the recipe asks for by its moment? It then counts as done. */
bool cull_train_moment(cull_trainer *trainer);

/* About how many steps the run has. */
uint64_t cull_train_steps(const cull_trainer *trainer);

/* ---- step.c ---- */
cull_status cull_train_step(cull_trainer *trainer);
/* What the selector still holds when the last epoch is over. */
cull_status cull_train_flush(cull_trainer *trainer);

/* ---- evaluate.c ---- */

/* Every example of a set once, in its order, without augmentation: `see` gets a batch at a time. */
cull_status cull_train_sweep(cull_trainer *trainer, const cull_dataset *set,
                             cull_status (*see)(void *context, cull_trainer *trainer,
                                                const cull_data_batch *batch),
                             void *context);
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
/* selection.npz and subset.npz: what was trained. missing: only where they are not there. */
cull_status cull_train_selection(cull_trainer *trainer, bool missing);
/* corruption.npz: which examples were harmed; nothing when none was. */
cull_status cull_train_harm(cull_trainer *trainer);

/* ---- trainer.c ---- */

/* Train to the end, a failure, or until told to stop; the folder is there. */
cull_status cull_trainer_run(cull_trainer *trainer, const cull_run_options *options,
                             cull_run_result *out);
/* prepare.c: the epochs that a selector is told of, and those that a run then has, also a part. */
uint64_t    cull_train_epochs(const cull_train_setup *setup);
double      cull_train_length(const cull_train_setup *setup, const cull_selector *selector);
const char *cull_trainer_watched(const cull_trainer *trainer); /* "validation" or "test" */

#endif
