/*
 * lab/compare/compare.h - the referee: arms and their controls, measured, run elsewhere, and
 * judged.
 *
 *     compare.c         the comparison itself: its options, and what is measured
 *     compare_data.c    what is to be known of the data, and whether it has changed
 *     compare_plan.c    what will be run, and what that will take
 *     compare_settle.c  costs that only an arm's runs tell
 *     costs_file.c      the table as the values of costs.json, where it is frozen
 *     compare_folder.c  its folder: the lock, the files, the runs in it
 *     compare_runs.c    what the runs' folders hold
 *     compare_judge.c   paired statistics, controls, verdicts
 *     compare_print.c   all of it as the values of plan.json and comparison.json
 */
#ifndef CULL_LAB_COMPARE_H
#define CULL_LAB_COMPARE_H

#include "lab/compare/arms.h"
#include "records/comparison.h"
#include "records/judge/advice.h"
#include "records/judge/verdict.h"
#include "records/run.h"

enum { CULL_COMPARE_FACTORS = 3, CULL_COMPARE_TITLE = 160, CULL_COMPARE_SEEDS = 1000 };
enum { CULL_COMPARE_HASH = 17 }; /* 16 digits, as run.json has them */

/* What one run left, and its accuracies on the test set: shares here, percent in the records. */
typedef struct cull_compared {
    cull_records_run record;
    double           accuracy, best;
} cull_compared;

/* What is to be measured: arms, and sizes of batches. */
enum { CULL_COMPARE_WAITING = CULL_ARM_MOST + CULL_COST_SIZES };
typedef struct cull_unmeasured {
    cull_recipe *recipe; /* owned                            */
    size_t       arm;    /* whose own costs it tells; SIZE_MAX: a size's */
    bool         left;   /* it cannot be measured            */
} cull_unmeasured;

/* What is planned and what came of it, as the values of plan.json and comparison.json, and what
 * those borrow. */
enum { CULL_COMPARE_TEXT = CULL_ARM_NAME + 64 };
typedef struct cull_compare_value {
    cull_records_comparison is;      /* its problems are those of the plan until it is judged */
    cull_verdict           *verdict; /* [arms] */
    char (*text)[CULL_COMPARE_TEXT]; /* [texts] folders of runs, names of step times */
    size_t       texts;
    char         processor[200], backend[200];
    cull_recipe *recipe;
} cull_compare_value;

struct cull_comparison {
    char         *text; /* the texts of the options, copied */
    const char   *command;
    cull_option  *changes;
    cull_arm_base base;
    cull_arm_wish wish;
    uint64_t      seeds;
    unsigned      threads, jobs;
    double        margin;

    cull_costs      costs;
    bool            planned;
    bool            settled; /* every cost that controls are made for is known */
    unsigned        round;
    size_t          waiting;
    cull_unmeasured unmeasured[CULL_COMPARE_WAITING]; /* [waiting] */
    cull_arms       arms;

    char folder[CULL_DATA_PATH];
    int  lock;
    char created[32];
    char init[CULL_COMPARE_HASH];   /* of train.init's file when it began; "": none, or not known */
    char print[2][CULL_DATA_PRINT]; /* of the data, by cull_data_role; likewise */
    cull_texts warnings;            /* about it */

    cull_compared     *run; /* [arms][seeds] */
    char               title[CULL_COMPARE_TITLE];
    char               verdict[CULL_VERDICT_SENTENCE]; /* "": not judged */
    char               advice[CULL_ADVICE_WHAT + CULL_ADVICE_MORE];
    cull_compare_value value;
    cull_json          plan, result; /* as texts */
};

extern const double cull_compare_factor[CULL_COMPARE_FACTORS]; /* of the full run's error */

static inline cull_compared *cull_compared_at(const cull_comparison *c, size_t arm, uint64_t seed)
{
    return &c->run[arm * c->seeds + (seed - 1)];
}

/* What its runs are judged by: that of full training's loss. */
static inline const cull_yardstick *cull_compare_yardstick(const cull_comparison *c)
{
    return cull_train_yardstick(c->arms.arm[0].recipe->setup.loss.kind);
}

/* compare_data.c: open the data, and see that it is what the comparison was begun on; a run that
 * was trained on other data is not believed; warnings of all runs into the value. */
cull_status cull_compare_look(cull_comparison *c);
cull_status cull_compare_check_data(cull_comparison *c, const cull_records_costs *begun);
void        cull_compare_doubt_data(const cull_comparison *c, cull_records_run *run);
cull_status cull_compare_gather_warnings(cull_comparison *c);

/* compare_plan.c */
void        cull_compare_clear_unmeasured(cull_comparison *c);
void        cull_compare_drop_runs(cull_comparison *c);
cull_status cull_compare_make_plan(cull_comparison *c);
/* Begin the value's problems anew: with arms that are left out, or diverged when measured. */
cull_status cull_compare_name_left(cull_comparison *c);
/* Seconds until all runs are done, and bytes they leave. */
double cull_compare_seconds(const cull_comparison *c);
double cull_compare_bytes(const cull_comparison *c);
double cull_compare_run_seconds(const cull_comparison *c, size_t arm);

/* costs_file.c: the table to its records, and back into c->costs and the arms' own; CULL_BAD_FILE
 * when it is none of this comparison's. */
cull_status cull_costs_write(const cull_comparison *c, const char *path);
cull_status cull_costs_read(cull_comparison *c, const char *path);

/* compare_folder.c: all of the folder's files but comparison.json. */
cull_status cull_compare_write_files(const cull_comparison *c);

/* compare_runs.c */
bool cull_compared_finished(const cull_compared *run);
/* What the finished runs of an arm did, on the mean; 0 throughout where there are none. */
typedef struct cull_compared_mean {
    size_t runs;
    double accuracy[CULL_COMPARE_SEEDS]; /* [runs] each, in percent                    */
    double best, seconds;                /* percent; of the phases that are cost       */
    double scored, trained, thirds;      /* of texts as their tokens make              */
    double examples;                     /* trained                                    */
} cull_compared_mean;
void cull_compare_mean(const cull_comparison *c, size_t arm, cull_compared_mean *out);
/* As a comparison calls it: who was stopped is still running. */
const char *cull_compared_status(const cull_compared *run);
cull_status cull_compare_read_runs(cull_comparison *c);
bool        cull_compare_all_finished(const cull_comparison *c);

/* compare_settle.c: does anybody's cost rest on a guess? */
bool cull_compare_is_guess(const cull_arm *arm);
bool cull_compare_guesses(const cull_comparison *c);
/* When the arms' runs have all been tried, price those by what they did and make the plan anew; the
 * folder's files too. The runs must have been read, and are read again. */
cull_status cull_compare_settle(cull_comparison *c);

/* compare_judge.c: what the value says of the arms. */
cull_status cull_compare_judge(cull_comparison *c);

/* compare_print.c: the value as it is planned; the plan as a text. */
cull_status cull_compare_make_value(cull_comparison *c);
void        cull_compare_clear_value(cull_comparison *c);
cull_status cull_compare_print_plan(cull_comparison *c);

#endif
