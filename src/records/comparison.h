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

enum { CULL_RECORDS_FACTORS = 4, CULL_RECORDS_VERSUS = 16 };

/* Who takes part. */
typedef struct cull_records_who {
    const char *name, *folder, *role, *strategy, *pass;
    double      keep;
} cull_records_who;

/* An arm's control: its role and its name. */
typedef struct cull_records_control {
    const char *kind, *name;
} cull_records_control;

/* ---- plan.json ---- */

typedef struct cull_records_planned {
    cull_records_who     who;
    double               cost, counted;
    bool                 guess; /* its cost is known by its runs only */
    double               runs, seconds;
    cull_records_control control[CULL_RECORDS_VERSUS];
    size_t               controls;
} cull_records_planned;

typedef struct cull_records_plan {
    const char           *title, *created, *strategies, *keep, *pass;
    double                seeds, threads, jobs, margin;
    cull_records_planned *arm; /* [arms]; not read back */
    size_t                arms;
    double                runs, seconds, bytes, waited;
    cull_records_list     problems;
    struct json_t        *root; /* read: owned, the texts */
} cull_records_plan;

/* Into json, from its beginning, with a zero behind the text. */
cull_status cull_records_plan_put(const cull_records_plan *plan, cull_json *json);
/* CULL_BAD_FILE: it is no JSON object, or of another version. Clear it also after a failure. */
cull_status cull_records_plan_read(const char *path, cull_records_plan *out);
void        cull_records_plan_clear(cull_records_plan *plan);

/* ---- costs.json ---- */

typedef struct cull_records_size {
    double batch, seconds;
} cull_records_size;

typedef struct cull_records_own {
    const char *name;
    double      score, decide, learn_kept, pool_score, pool_solve, share;
    bool        diverged;
    double      scored, trained, thirds; /* of its runs; NaN: not priced by them */
} cull_records_own;

typedef struct cull_records_left {
    const char *name, *why;
} cull_records_left;

typedef struct cull_records_costs {
    double             threads, jobs;
    bool               settled;
    const char        *init;
    double             pool, validation, test, classes, parameters, start, waited, load, optim;
    cull_records_size *learn;
    cull_records_own  *arm;
    cull_records_left *left;
    size_t             sizes, arms, lefts;
    struct json_t     *root; /* read: owned, the texts */
} cull_records_costs;

cull_status cull_records_costs_write(const char *path, const cull_records_costs *costs);
/* CULL_BAD_FILE: no JSON, of another version, or a number is missing or wrong. Clear it also after
 * a failure. */
cull_status cull_records_costs_read(const char *path, cull_records_costs *out);
void        cull_records_costs_clear(cull_records_costs *costs);

/* ---- comparison.json ---- */

/* One run; accuracies in percent. */
typedef struct cull_records_compared {
    double      seed;
    const char *folder, *status, *why;
    double      accuracy, best, scored, trained, thirds;
    double      seconds[CULL_PHASES], joules[CULL_PHASES];
} cull_records_compared;

typedef struct cull_records_versus {
    const char *control, *kind;
    double      pairs, difference, sd, low, high, level, p, p_holm, wilcoxon;
    const char *verdict, *sentence; /* of the whole budget alone */
    double      more_seeds;
} cull_records_versus;

typedef struct cull_records_arm {
    cull_records_who       who;
    double                 cost, counted, predicted, measured, mean, sd, best;
    cull_records_compared *run;
    size_t                 runs;
    const char            *verdict; /* of arms */
    cull_records_versus   *versus;  /* of arms */
    size_t                 controls;
    double factor[CULL_RECORDS_FACTORS], to_error[CULL_RECORDS_FACTORS]; /* NaN: none */
    bool   pareto;
} cull_records_arm;

/* Step times: "learn 38", "decide: NAME". */
typedef struct cull_records_time {
    const char *what;
    double      seconds;
} cull_records_time;

typedef struct cull_records_pair {
    const char *key, *value;
} cull_records_pair;

typedef struct cull_records_comparison {
    const char *title, *created, *command, *verdict;
    bool        finished;
    struct {
        const char *cpu, *backend, *version;
        double      cores;
    } machine;
    double             threads, jobs, margin, classes;
    cull_records_pair *recipe; /* [pairs] */
    size_t             pairs;
    size_t             seeds; /* 1, 2, ... */
    double             full_step;
    cull_records_time *time; /* [times] */
    size_t             times;
    cull_records_arm  *arm; /* [arms] the full run first */
    size_t             arms;
    cull_records_list  problems;
    struct json_t     *root; /* read: owned, the texts */
} cull_records_comparison;

/* Into json, from its beginning, with a zero behind the text. */
cull_status cull_records_comparison_put(const cull_records_comparison *comparison, cull_json *json);
/* CULL_BAD_FILE: no JSON object, no list of arms, or of another version. Clear it also after a
 * failure. */
cull_status cull_records_comparison_decode(const char *name, const void *data, size_t bytes,
                                           cull_records_comparison *out);
cull_status cull_records_comparison_read(const char *folder, cull_records_comparison *out);
void        cull_records_comparison_clear(cull_records_comparison *comparison);

/* An arm as programs see it; texts are borrowed. */
void cull_records_arm_view(const cull_records_arm *arm, cull_compare_arm *out);

/* Against uniform choice with the whole budget: what the verdict is on. NULL: none. */
const cull_records_versus *cull_records_primary(const cull_records_arm *arm);

#endif
