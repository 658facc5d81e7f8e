/*
 * records/records.h - what a report is made from, as plain values.
 *
 * Strings are borrowed from the JSON they came in, which their owner keeps; "" where there are
 * none. Numbers that are missing, null, of another type or beyond 1e30 are NaN.
 */
#ifndef CULL_REPORT_RECORDS_H
#define CULL_REPORT_RECORDS_H

#include <jansson.h>

#include "base/status.h"

enum {
    CULL_REP_PHASES = 5, /* load, score, select, learn, optim: what counts as cost */
    CULL_REP_FACTORS = 4,
    CULL_REP_BINS = 40,
    CULL_REP_STRATEGY = 128
};

extern const char *const cull_rep_phase_names[CULL_REP_PHASES];

/* What went wrong while reading, in sentences; owned. */
typedef struct cull_rep_problems {
    char **text;
    size_t count, room;
    size_t unsaid; /* beyond the most that are kept */
} cull_rep_problems;

cull_status cull_rep_problem(cull_rep_problems *problems, const char *format, ...)
    CULL_PRINTF(2, 3);
void cull_rep_problems_clear(cull_rep_problems *problems);

/* One look at a set. */
typedef struct cull_rep_point {
    double epoch, work, seconds; /* so far: epochs, counted work in thirds, the five phases */
    double accuracy, loss;       /* a share, not percent                                     */
} cull_rep_point;

typedef struct cull_rep_curve {
    cull_rep_point *point;
    size_t          count, room;
} cull_rep_curve;

typedef enum cull_rep_set {
    CULL_REP_TRAIN,
    CULL_REP_VALIDATION,
    CULL_REP_TEST,
    CULL_REP_SETS
} cull_rep_set;

/* What was picked of one minibatch; without gradients, error, cosine and full are NaN. */
typedef struct cull_rep_probe {
    char   strategy[CULL_REP_STRATEGY];
    double keep, error, win;  /* win: 1 when below uniform's error on the same minibatch   */
    double cosine, full;      /* full: squared norm of the full-data gradient              */
    double picked, corrupted; /* examples kept, and those of them whose label was changed  */
} cull_rep_probe;

/* metrics.jsonl and probe.jsonl. */
typedef struct cull_rep_metrics {
    cull_rep_curve  curve[CULL_REP_SETS];
    cull_rep_probe *probe;
    size_t          probes, room;
    bool            timed; /* some line had seconds by phase: */
    double          seconds[CULL_REP_PHASES];
    double          subsets; /* chosen, as the latest line that tells it says; 0: none */
    double          filled, brief, fallback; /* of them, by what became of them            */
    double          fillers;                 /* random examples in those that were filled  */
} cull_rep_metrics;

/* How often examples were trained: selection.npz, with corruption.npz where it is there. */
typedef struct cull_rep_audit {
    bool   there;
    size_t examples, never, most, median;
    size_t width; /* counts to a bin of the histogram */
    double bin[CULL_REP_BINS + 1];
    bool   corruption; /* the two below are known */
    double base_rate, picked_rate;
} cull_rep_audit;

typedef struct cull_rep_run {
    const char      *folder, *status, *why;
    double           seed, accuracy, best, scored, trained, thirds;
    double           seconds[CULL_REP_PHASES];
    double           joules[CULL_REP_PHASES]; /* NAN: not counted */
    bool             there;                   /* its folder was read */
    cull_rep_metrics metrics;
    cull_rep_audit   audit;
} cull_rep_run;

typedef struct cull_rep_versus {
    const char *control, *kind, *verdict, *sentence;
    double      pairs, difference, sd, low, high, level, p, p_holm, wilcoxon, more_seeds;
} cull_rep_versus;

/* How a series is drawn everywhere. */
typedef struct cull_rep_style {
    int  colour; /* 0 uniform, 1 full, 2 .. the others */
    int  marker; /* 0 .. 5                                 */
    bool hollow; /* reuse and the controls                 */
} cull_rep_style;

typedef struct cull_rep_arm {
    const char      *name, *role, *strategy, *pass, *verdict;
    json_t          *options; /* borrowed object of the strategy's options, or NULL */
    bool             uniform;
    char             series[2 * CULL_REP_STRATEGY]; /* cull_rep_name_series */
    double           keep, cost, counted, predicted, measured, mean, sd, best;
    double           low, high; /* of the runs' accuracies */
    bool             pareto;
    cull_rep_run    *run;
    size_t           runs, finished;
    cull_rep_versus *versus;
    size_t           controls;
    double           factor[CULL_REP_FACTORS], to_error[CULL_REP_FACTORS];
    cull_rep_style   style;
} cull_rep_arm;

/* comparison.json, and what its run folders hold. */
typedef struct cull_rep_comparison {
    json_t       *root; /* owned: the strings */
    const char   *folder, *title, *created, *verdict, *command;
    bool          finished;
    double        margin, classes, threads, jobs;
    size_t        seeds;
    json_t       *machine, *recipe, *costs; /* borrowed, may be NULL */
    cull_rep_arm *arm;
    size_t        arms;
    json_t       *problems; /* borrowed array or NULL */
} cull_rep_comparison;

/* A run's folder by itself: run.json and recipe.yaml. */
typedef struct cull_rep_single {
    json_t      *root; /* owned */
    char        *recipe;
    const char  *folder, *model, *strategy, *version, *watched, *data;
    json_t      *machine;
    double       epoch, best_epoch, parameters, train, validation, test_size, test, test_loss;
    cull_rep_run run;
} cull_rep_single;

/* A probe's folder: probe.jsonl alone, as cull probe leaves it. */
typedef struct cull_rep_probed {
    const char      *folder;
    cull_rep_metrics metrics;
} cull_rep_probed;

/* Fields of a JSON object (NULL is fine). */
double      cull_rep_field(const json_t *object, const char *key);
const char *cull_rep_word(const json_t *object, const char *key);
bool        cull_rep_flag(const json_t *object, const char *key);

/* From bytes; `name` begins the sentences. CULL_BAD_FILE when they are no JSON object. Clear it
 * also after a failure. */
cull_status cull_rep_comparison_decode(const char *name, const void *data, size_t bytes,
                                       cull_rep_comparison *out, cull_rep_problems *problems);
cull_status cull_rep_single_decode(const char *name, const void *data, size_t bytes,
                                   cull_rep_single *out);
/* Lines that are no JSON are named and skipped. */
cull_status cull_rep_metrics_decode(const char *name, const void *data, size_t bytes,
                                    cull_rep_metrics *out, cull_rep_problems *problems);

/* From a folder. CULL_IO when the file is not there. */
cull_status cull_rep_comparison_read(const char *folder, cull_rep_comparison *out,
                                     cull_rep_problems *problems);
cull_status cull_rep_single_read(const char *folder, cull_rep_single *out,
                                 cull_rep_problems *problems);
/* CULL_BAD_FILE when no line is about a minibatch. */
cull_status cull_rep_probed_read(const char *folder, cull_rep_probed *out,
                                 cull_rep_problems *problems);
/* Curves, probes and audit of a run's folder. What is not there is left out, what is damaged is
 * named. `info`: its run.json. */
cull_status cull_rep_run_read(const char *folder, const json_t *info, cull_rep_run *run,
                              cull_rep_problems *problems);
cull_status cull_rep_audit_read(const char *folder, const json_t *info, cull_rep_audit *out);

void cull_rep_comparison_clear(cull_rep_comparison *comparison);
void cull_rep_single_clear(cull_rep_single *single);
void cull_rep_metrics_clear(cull_rep_metrics *metrics);

/* Every example as likely as any other: of a minibatch (random) or of the pool. */
bool cull_rep_is_uniform(const cull_rep_arm *arm);
bool cull_rep_is_of_batches(const cull_rep_arm *arm); /* the former */

/* Arms of one series differ in share and pass alone. It is called by its strategy, and by the
 * options as well where arms of that strategy differ in them. */
void cull_rep_name_series(cull_rep_comparison *comparison);

/* Colours and markers: uniform and full have their own, other series in the order they come. */
void cull_rep_styles(cull_rep_comparison *comparison);

/* The whole of a file, or *data NULL when there is none. CULL_TOO_LARGE above 256 MiB. */
cull_status cull_rep_file(const char *folder, const char *name, void **data, size_t *bytes);

#endif
