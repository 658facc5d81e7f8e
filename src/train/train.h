/*
 * train/train.h - a training run: the one room where data, networks, selection and optimizers meet.
 *
 *     prepare     open the sets, build the model, its plans, the optimizer
 *     expect      what the selector will ask for, looked at before the first step
 *     step        candidates -> signals -> subset -> gradients -> new weights -> counts
 *     trainer     the run around the steps: epochs, evaluations, checkpoints, ends
 *
 * and the parts that pass values to each other in a step, none of which knows the others' insides:
 *
 *     feed        which examples, in which order, brought to where the backend computes
 *     scorer      what a forward pass sees of them, and of the pool
 *     learner     the network that is trained
 *     books       what it has cost, and what became of each example
 *
 * What a step does follows from cull_needs alone: no strategy is known here by its name.
 * A run is a function of its setup: what it draws is counted by seed, epoch, step and place.
 */
#ifndef CULL_TRAIN_TRAIN_H
#define CULL_TRAIN_TRAIN_H

#include "data/inspect.h"
#include "data/targets.h"
#include "records/run.h"
#include "train/books.h"
#include "train/machine.h"
#include "train/recorder.h"
#include "train/room.h"
#include "train/scorer.h"

/* The sets of a run, and where the backend reads them. */
typedef struct cull_train_sets {
    cull_dataset     *train, *validation, *test; /* validation NULL: none */
    char              print[2][CULL_DATA_PRINT]; /* as opened, by cull_data_role; "": split off */
    cull_texts        warnings;                  /* what a person should know of them */
    cull_data_record  corruption;
    cull_target_scale scale; /* of real targets, which are learned by it; else zeros */
    cull_data_form    form;  /* of what networks read */
    cull_resident     train_at, validation_at, test_at;
} cull_train_sets;

/* What the selector is expected to ask for, over the whole run. */
typedef struct cull_expectation {
    uint64_t epochs; /* that run, the last of them in part where  */
    double   length; /* the run is shortened to so many           */
    double   steps, trained;
    bool     fixed; /* how many are trained is known beforehand */
    bool     scores, scores_batches;
    bool     single;     /* a training batch may turn out to be of one example */
    size_t   meets;      /* most that a step meets                   */
    size_t   candidates; /* most that a step chooses from; 0: never  */
    size_t   learns;     /* most that are put together for training  */
} cull_expectation;

struct cull_trainer {
    const cull_train_setup *setup;
    cull_run_options        run;
    cull_backend           *backend;
    char                    why[CULL_MACHINE_WHY]; /* it was chosen; "": it was asked for */
    cull_train_sets         sets;
    cull_selector          *selector;
    cull_feed               feed;
    cull_scorer             scorer;
    cull_learner            learner;
    cull_recorder           recorder;
    cull_books              books;
    cull_expectation        expected;
    cull_progress           progress;
    cull_subset             chosen; /* of the latest batch, where its signals lay    */
    cull_subset             pool;   /* of the pool, on the host; and when            */
    uint64_t                pool_epoch;
    void (*begins)(void *context); /* told where the run begins or goes on; NULL: nobody */
    void *begins_context;
};
typedef struct cull_trainer cull_trainer;

/* ---- prepare.c ---- */

/* The sets alone, read, held against each other, split and harmed. Close them also after a failure.
 */
cull_status cull_train_open_data(const cull_train_setup *setup, cull_train_sets *sets);
void        cull_train_close_data(cull_train_sets *sets);

/* setup and the texts in it are borrowed. learns false: only to evaluate. Reads files, writes
 * none. */
cull_status cull_trainer_create(const cull_train_setup *setup, bool learns, cull_trainer **out);

/* The model that the setup trains, for inputs and outputs as the card has them; `data` is where
 * they come from, for the sentence. */
cull_status cull_train_model(const cull_train_setup *setup, const char *data, const cull_card *card,
                             cull_model **out);
void        cull_trainer_destroy(cull_trainer *trainer);

/* Weights as the setup begins with them: those of its file, where it names one. CULL_BAD_OPTION
 * names the first tensor that is not the model's. */
cull_status cull_trainer_begin(cull_trainer *trainer);

/* The epochs that a selector is told of, and those that a run then has, also a part. */
uint64_t cull_train_epochs(const cull_train_setup *setup);
double   cull_train_length(const cull_train_setup *setup, const cull_selector *selector);

/* ---- expect.c ---- */

/* Ask the selector ahead for the whole run; refuse what cannot be followed, naming the key; make
 * the plans of every step. steps: of full training, an epoch. */
cull_status cull_train_expect(const cull_train_setup *setup, cull_selector *selector,
                              cull_learner *learner, cull_scorer *scorer, uint64_t steps,
                              cull_expectation *out);

/* ---- moment.c: where in a run a step is ---- */

/* What the schedule and the run's end go by. */
typedef struct cull_position {
    const cull_train_setup *setup;
    const cull_progress    *progress;
    cull_sel_course         course;
    uint64_t                steps_per_epoch;
} cull_position;

/* On the schedule, in ordinary steps: of the step that comes next, trained examples so far. */
double cull_position_scheduled(const cull_position *position, const cull_schedule *schedule,
                               uint64_t trained, size_t pool);
/* In epochs. */
double cull_position_epochs(const cull_position *position);
/* A run shortened to so many epochs is at its end. */
bool cull_position_complete(const cull_position *position, double length);
/* Is an evaluation due that the recipe asks for by its moment, and how many are then done? */
bool cull_position_moment(const cull_position *position, uint64_t *moments);

/* ---- step.c ---- */

/* Begin the current epoch, or go on with it behind progress.at; or go to the beginning of one. */
cull_status     cull_train_begin_epoch(cull_trainer *trainer, cull_needs *needs);
cull_status     cull_train_enter_epoch(cull_trainer *trainer, uint64_t epoch, cull_needs *needs);
cull_sel_course cull_train_course(const cull_trainer *trainer);
cull_position   cull_train_position(const cull_trainer *trainer);
double          cull_train_rate(const cull_trainer *trainer);

/* Room for a step that meets so many, and what of it others know the address of. */
cull_status cull_train_make_letter(cull_trainer *trainer, size_t examples);
cull_status cull_train_step(cull_trainer *trainer, cull_step_values *values);
/* What the selector still holds when the last epoch is over. *values: the last step's, or what the
 * epoch began with. */
cull_status cull_train_flush(cull_trainer *trainer, cull_step_values *values);

/* ---- perform.c ---- */

/* A step, or a part of it. */
typedef cull_status cull_part_run(cull_trainer *trainer, const cull_sel_course *course,
                                  cull_step_values *values);
/* Run it; or have it done as it was recorded, where that can be. laps: of one that runs. */
cull_status cull_train_perform(cull_trainer *trainer, const cull_sel_course *course, cull_part part,
                               cull_part_run *run, cull_laps *laps, cull_step_values *values);

/* ---- evaluate.c ---- */

/* A set by BatchNorm's running averages. name: of the set, for a sentence. */
cull_status cull_learner_evaluate(cull_learner *learner, cull_resident *set, cull_data_form form,
                                  const char *name, cull_evaluation *out);

/* ---- checkpoint.c ---- */

/* Write the weights as they are after a step, under a name of that and their hash. */
cull_status cull_checkpoint_weights(const char *folder, const cull_learner *learner, uint64_t step,
                                    char name[CULL_STATE_NAME], uint64_t *hash);
cull_status cull_checkpoint_save(cull_trainer *trainer);
/* found false: the folder has no checkpoint, the trainer is as it was. */
cull_status cull_checkpoint_load(cull_trainer *trainer, bool *found);

/* ---- manifest.c ---- */

/* What the network computes in, as train.precision has it. */
const char *cull_train_computes_in(const cull_trainer *trainer);

/* run.json: what ran where, and how it ended ("running", "finished", ...). why: NULL, or the
 * sentence of a failure. */
cull_status cull_train_manifest(const cull_trainer *trainer, const char *status, const char *why);
/* CULL_DIFFERS when the run that is there was begun on other data than the trainer's, by what
 * run.json says; one that says nothing of it is believed. */
cull_status cull_train_check_data(const cull_trainer *trainer);
/* selection.npz and subset.npz: what was trained. missing: only where they are not there. */
cull_status cull_train_selection(const cull_trainer *trainer, bool missing);
/* corruption.npz: which examples were harmed; nothing when none was. */
cull_status cull_train_harm(const char *folder, const cull_data_record *harm);

/* ---- trainer.c ---- */

/* Train to the end, a failure, or until told to stop; the folder is there. */
cull_status cull_trainer_run(cull_trainer *trainer, const cull_run_options *options,
                             cull_run_result *out);
const char *cull_trainer_watched(const cull_trainer *trainer); /* "validation" or "test" */
/* About how many steps a run has. */
uint64_t cull_trainer_steps(const cull_expectation *expected);

#endif
