/*
 * lab/compare/compare.h - the referee: arms and their controls, measured, run elsewhere, and
 * judged.
 *
 *     compare.c         the comparison itself: its options, and what is measured
 *     compare_plan.c    what will be run, and what that will take
 *     compare_settle.c  costs that only an arm's runs tell
 *     costs_file.c      costs.json, where the table is frozen
 *     compare_folder.c  its folder: the lock, the files, the runs in it
 *     compare_runs.c    what is read back from the runs' folders
 *     compare_judge.c   paired statistics, controls, verdicts
 *     compare_print.c   plan.json and comparison.json
 */
#ifndef CULL_LAB_COMPARE_H
#define CULL_LAB_COMPARE_H

#include <jansson.h>

#include "lab/compare/arms.h"
#include "lab/compare/verdict.h"
#include "records/json.h"

enum { CULL_COMPARE_WHY = 240, CULL_COMPARE_VERSION = 1, CULL_COMPARE_FACTORS = 3 };
enum { CULL_COMPARE_HASH = 17 }; /* 16 digits, as run.json has them */

typedef enum cull_run_status {
    CULL_COMPARED_MISSING,
    CULL_COMPARED_RUNNING, /* begun, not at its end */
    CULL_COMPARED_FINISHED,
    CULL_COMPARED_FAILED,
    CULL_COMPARED_CORRUPT
} cull_run_status;

typedef struct cull_compared_point {
    uint64_t step;
    double   accuracy; /* on the test set */
} cull_compared_point;

/* What one run left. Accuracies are shares here, percent in JSON. */
typedef struct cull_compared {
    cull_run_status      status;
    char                 why[CULL_COMPARE_WHY];
    char                 init[CULL_COMPARE_HASH]; /* of the weights it was given; "": none */
    double               accuracy, best;
    double               scored, trained, thirds;
    double               seconds[CULL_PHASES];
    json_t              *joules; /* owned; NULL: none */
    cull_compared_point *curve;  /* [points] owned    */
    size_t               points;
} cull_compared;

/* What is to be measured. */
typedef struct cull_unmeasured {
    cull_recipe *recipe; /* owned                            */
    size_t       arm;    /* whose own costs it tells; SIZE_MAX: a size's */
    bool         left;   /* it cannot be measured            */
} cull_unmeasured;

typedef struct cull_versus {
    size_t           control; /* SIZE_MAX: none */
    cull_stat_paired test;
    double           holm, wilcoxon, low, high;
    cull_verdict     verdict; /* of the whole-budget control alone */
} cull_versus;

typedef struct cull_judged {
    double      mean, sd, best; /* percent */
    size_t      runs;
    double      cost, counted; /* shares of full training's                   */
    double      saved;         /* measured saving; NaN: not known             */
    double      reach[CULL_COMPARE_FACTORS];
    bool        pareto;
    cull_versus versus[CULL_ROLES];
} cull_judged;

struct cull_comparison {
    char         *text; /* the texts of the options, copied */
    const char   *command;
    cull_option  *changes;
    cull_arm_base base;
    cull_arm_wish wish;
    uint64_t      seeds;
    unsigned      threads, jobs;
    double        margin;

    cull_costs       costs;
    bool             planned;
    bool             settled; /* every cost that controls are made for is known */
    unsigned         round;
    cull_unmeasured *unmeasured;
    size_t           waiting, waiting_room;
    cull_arms        arms;

    char folder[CULL_DATA_PATH];
    int  lock;
    char created[32];
    char init[CULL_COMPARE_HASH]; /* of train.init's file when it began; "": none, or not known */

    cull_compared *run;    /* [arms][seeds] */
    cull_judged   *judged; /* [arms]        */
    char           verdict[CULL_VERDICT_SENTENCE];
    cull_json      plan, result;
    cull_json      problems; /* "text","text" inside an array */
};

extern const double cull_compare_factor[CULL_COMPARE_FACTORS]; /* of the full run's error */

static inline cull_compared *cull_compared_at(const cull_comparison *c, size_t arm, uint64_t seed)
{
    return &c->run[arm * c->seeds + (seed - 1)];
}

/* compare_plan.c */
void        cull_compare_clear_unmeasured(cull_comparison *c);
void        cull_compare_drop_runs(cull_comparison *c);
cull_status cull_compare_make_plan(cull_comparison *c);
void        cull_compare_title(const cull_comparison *c, char *out, size_t room);
/* Sentences on arms that are left out, or diverged while they were measured, for an array. */
void cull_compare_name_left(const cull_comparison *c, cull_json *out);
/* Seconds until all runs are done, and bytes they leave. */
double cull_compare_seconds(const cull_comparison *c);
double cull_compare_bytes(const cull_comparison *c);
double cull_compare_run_seconds(const cull_comparison *c, size_t arm);

/* costs_file.c */
cull_status cull_costs_write(const cull_comparison *c, const char *path);
/* Into c->costs and the arms' own; CULL_BAD_FILE when it is none of this comparison's. */
cull_status cull_costs_read(cull_comparison *c, const char *path);

/* compare_folder.c: a path below the folder; and all of its files but comparison.json. */
cull_status cull_compare_path(const cull_comparison *c, const char *name, char out[CULL_DATA_PATH]);
cull_status cull_compare_write_files(const cull_comparison *c);
/* Is it known that this one will be run, as it stands? */
bool cull_compare_is_run(const cull_comparison *c, const cull_arm *arm);

/* compare_runs.c */
cull_status cull_compare_read_run(const char *folder, cull_compared *out);
void        cull_compared_clear(cull_compared *run);
cull_status cull_compare_read_runs(cull_comparison *c);
bool        cull_compare_all_finished(const cull_comparison *c);

/* compare_settle.c: does anybody's cost rest on a guess? */
bool cull_compare_is_guess(const cull_arm *arm);
bool cull_compare_guesses(const cull_comparison *c);
/* When the arms' runs have all been tried, price those by what they did and make the plan anew; the
 * folder's files too. The runs must have been read, and are read again. */
cull_status cull_compare_settle(cull_comparison *c);

/* compare_judge.c: fills c->judged and c->verdict. */
cull_status cull_compare_judge(cull_comparison *c);

/* compare_print.c */
cull_status cull_compare_print_plan(cull_comparison *c);
cull_status cull_compare_print(cull_comparison *c);

#endif
