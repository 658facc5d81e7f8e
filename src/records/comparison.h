/*
 * records/comparison.h - a comparison's folder as plain values.
 *
 *     plan.json          cull_records_plan         what will be run
 *     costs.json         cull_records_costs        the cost table, frozen
 *     comparison.json    cull_records_comparison   what came of it
 *
 * Numbers that are not known are NaN, texts "". Written, texts and lists are borrowed; read, they
 * belong to the value. docs/formats.md names the fields.
 */
#ifndef CULL_RECORDS_COMPARISON_H
#define CULL_RECORDS_COMPARISON_H

#include "records/files.h"
#include "records/json.h"
#include "records/phase.h"

struct json_t;

enum { CULL_RECORDS_FACTORS = 4, CULL_RECORDS_VERSUS = 16, CULL_COST_SIZES = 512 };

/* ---- arms ---- */

/* One run; accuracies, or what the metric is, in percent. */
typedef struct cull_records_compared {
    double      seed;
    const char *folder, *status, *why;
    double      accuracy, best, scored, trained, thirds;
    double      seconds[CULL_PHASES], joules[CULL_PHASES];
} cull_records_compared;

/* An arm held against one of its controls; of a plan, who that is. */
typedef struct cull_records_versus {
    const char *control, *kind;
    double      pairs, difference, sd, low, high, level, p, p_holm, wilcoxon;
    const char *verdict, *sentence; /* of the whole budget alone */
    double      more_seeds;
} cull_records_versus;

typedef struct cull_records_arm {
    const char            *name, *folder, *role, *strategy, *pass;
    cull_option           *option; /* [options] given to the strategy besides; owned          */
    size_t                 options;
    bool                   uniform; /* examples are chosen without looking at them            */
    double                 keep, cost, counted;
    bool                   guess;           /* of a plan: its cost is known by its runs only */
    double                 planned, expect; /* of a plan: runs, seconds of one               */
    double                 predicted, measured, mean, sd, best;
    cull_records_compared *run;
    size_t                 runs;
    const char            *verdict; /* of arms that were judged */
    cull_records_versus   *versus;
    size_t                 controls;
    double factor[CULL_RECORDS_FACTORS], to_error[CULL_RECORDS_FACTORS]; /* NaN: none */
    bool   pareto;
} cull_records_arm;

/* Against uniform choice with the whole budget: what the verdict is on. NULL: none. */
const cull_records_versus *cull_records_primary(const cull_records_arm *arm);

/* An arm as programs see it; texts are borrowed. */
void cull_records_arm_view(const cull_records_arm *arm, cull_compare_arm *out);

/* ---- plan.json ---- */

typedef struct cull_records_plan {
    const char             *title, *created, *strategies, *keep, *pass;
    double                  seeds, threads, jobs, margin;
    const cull_records_arm *arm; /* [arms]; not read back */
    size_t                  arms;
    double                  runs, seconds, bytes, waited;
    cull_records_list       problems; /* not read back */
    struct json_t          *root;     /* read: owned, the texts */
} cull_records_plan;

/* Into json, from its beginning, with a zero behind the text. */
cull_status cull_records_plan_put(const cull_records_plan *plan, cull_json *json);
/* CULL_BAD_FILE: it is no JSON object, or of another version. Clear it also after a failure. */
cull_status cull_records_plan_read(const char *path, cull_records_plan *out);
void        cull_records_plan_clear(cull_records_plan *plan);

/* ---- costs.json: seconds ---- */

/* What belongs to the machine, the model and the data: shared by all arms. */
typedef struct cull_costs {
    size_t pool, validation, test, classes, parameters; /* of the sets and the model */
    double start;                                       /* of a run, before its steps   */
    double waited; /* share of the time that other programs had  */
    double load;   /* of an example                     */
    double
        tokens; /* of texts, of an example in its batch; work is matched by them. 0: by examples */
    double optim; /* of a step                         */
    double guess; /* what one answer to all test examples gets, as a share; 0: not known either */
    size_t sizes;
    struct cull_cost_size {
        size_t batch;
        double seconds;
    } learn[CULL_COST_SIZES]; /* ascending by batch */
} cull_costs;

/* What belongs to one strategy with its options. */
typedef struct cull_arm_costs {
    bool   known;
    double score;                   /* of an example, of the validation set's too      */
    double decide;                  /* of a step, observing included                   */
    double learn_kept;              /* reuse: of a step                                */
    double pool_score, pool_solve;  /* of a choice from the pool                       */
    double share;                   /* kept, where the rule decides how many; else 0   */
    bool   diverged;                /* while it was measured                           */
    bool   counted;                 /* its runs told what they did, on the mean:       */
    double scored, trained, thirds; /* of texts as their tokens make, by mean length  */
    double examples;                /* trained, however long                          */
} cull_arm_costs;

typedef struct cull_records_costs {
    double      threads, jobs;
    bool        settled;
    const char *init, *fingerprint, *test_fingerprint;
    cull_costs  table;
    struct cull_records_own {
        const char    *name;
        cull_arm_costs costs;
    } * arm;
    struct cull_records_left {
        const char *name, *why;
    } * left;
    size_t         arms, lefts;
    struct json_t *root; /* read: owned, the texts */
} cull_records_costs;

cull_status cull_records_costs_write(const char *path, const cull_records_costs *costs);
/* CULL_BAD_FILE: no JSON, of another version, or a number is missing or wrong. Clear it also after
 * a failure. */
cull_status cull_records_costs_read(const char *path, cull_records_costs *out);
void        cull_records_costs_clear(cull_records_costs *costs);

/* ---- comparison.json ---- */

/* Step times: "learn 38", "decide: NAME". */
typedef struct cull_records_time {
    const char *what;
    double      seconds;
} cull_records_time;

typedef struct cull_records_comparison {
    const char *title, *created, *command, *verdict;
    const char *advice; /* what to do, as it was told then */
    bool        finished;
    struct {
        const char *cpu, *backend, *version;
        double      cores;
    } machine;
    double             threads, jobs, margin, classes;
    const char        *matched; /* "tokens": what work was counted and matched by; "": examples */
    double             tokens;  /* then, those of an example on the mean; else NaN            */
    double             test;    /* examples that results are taken from */
    double             guess;   /* the result of one answer to all of them */
    const char        *metric;  /* key of what arms and runs are judged by; "": accuracy */
    cull_option       *recipe;  /* [pairs] */
    size_t             pairs;
    size_t             seeds; /* 1, 2, ... */
    double             full_step;
    cull_records_time *time; /* [times] */
    size_t             times;
    cull_records_arm  *arm; /* [arms] the full run first */
    size_t             arms;
    cull_records_list  problems;
    cull_records_texts warnings; /* of the data; all runs have the same */
    struct json_t     *root;     /* read: owned, the texts */
} cull_records_comparison;

/* Into json, from its beginning, with a zero behind the text. */
cull_status cull_records_comparison_put(const cull_records_comparison *comparison, cull_json *json);
/* CULL_BAD_FILE: no JSON object, no list of arms, or of another version. Clear it also after a
 * failure. */
cull_status cull_records_comparison_decode(const char *name, const void *data, size_t bytes,
                                           cull_records_comparison *out);
cull_status cull_records_comparison_read(const char *folder, cull_records_comparison *out);
void        cull_records_comparison_clear(cull_records_comparison *comparison);

#endif
