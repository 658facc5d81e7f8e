/*
 * report/shown.h - what a page is about: records, with what drawing them needs beside.
 *
 * What a folder is worth is not decided here: records/run.h does that, for pages and verdicts
 * alike.
 */
#ifndef CULL_REPORT_SHOWN_H
#define CULL_REPORT_SHOWN_H

#include "records/judge/advice.h"
#include "records/picks.h"
#include "records/probe_lines.h"
#include "records/run.h"

enum { CULL_REP_SERIES_NAME = 256 };

/* A file that cannot be read is a problem of the page, want of memory one of the caller. */
cull_status cull_rep_forgive(cull_status status, cull_records_list *problems);

/* A run's folder. */
typedef struct cull_rep_run {
    bool                there; /* it was read and is what it should be */
    cull_records_run    record;
    cull_records_probes probes;
    cull_records_picks  picks;
} cull_rep_run;

/* How a series is drawn everywhere. */
typedef struct cull_rep_style {
    int  colour; /* 0 uniform, 1 full, 2 .. the others */
    int  marker; /* 0 .. 5                                 */
    bool hollow; /* reuse and the controls                 */
} cull_rep_style;

typedef struct cull_rep_arm {
    const cull_records_arm *is;
    char                    series[CULL_REP_SERIES_NAME]; /* cull_rep_name_series */
    double                  low, high;                    /* of the runs' accuracies */
    size_t                  finished;
    cull_against            full;     /* against full training                            */
    cull_adjusted           adjusted; /* against uniform choice at the same cost          */
    cull_rep_run           *run;      /* [is->runs]                                       */
    cull_rep_style          style;
} cull_rep_arm;

/* comparison.json, and what its run folders hold. */
typedef struct cull_rep_comparison {
    const char             *folder; /* NULL: none was read */
    cull_records_comparison is;
    cull_rep_arm           *arm; /* [arms] */
    size_t                  arms;
    const cull_yardstick   *by; /* what its results are of */
    cull_advice             advice;
    char verdict[CULL_VERDICT_SENTENCE]; /* as it agrees with that; "": there is none */
} cull_rep_comparison;

/* A run's folder by itself, with recipe.yaml as it is. */
typedef struct cull_rep_single {
    const char  *folder;
    char        *recipe;
    cull_rep_run run;
} cull_rep_single;

/* A probe's folder: probe.jsonl alone, as cull probe leaves it. */
typedef struct cull_rep_probed {
    const char         *folder;
    cull_records_probes probes;
} cull_rep_probed;

/* What drawing needs beside the records of a comparison; `name` begins the sentences. Clear it also
 * after a failure. */
cull_status cull_rep_comparison_dress(const char *name, cull_rep_comparison *out,
                                      cull_records_list *problems);

/* From a folder. What is not there is left out, what is damaged is named. CULL_IO or CULL_BAD_FILE:
 * there is nothing to show. `out` is zeros, also after a failure. */
cull_status cull_rep_comparison_read(const char *folder, cull_rep_comparison *out,
                                     cull_records_list *problems);
cull_status cull_rep_single_read(const char *folder, cull_rep_single *out,
                                 cull_records_list *problems);
cull_status cull_rep_probed_read(const char *folder, cull_rep_probed *out,
                                 cull_records_list *problems);

void cull_rep_comparison_clear(cull_rep_comparison *comparison);
void cull_rep_single_clear(cull_rep_single *single);

bool cull_rep_is_arm(const cull_rep_arm *arm);  /* its role is arm, not control or full */
bool cull_rep_is_full(const cull_rep_arm *arm); /* full training, also shortened or stopped */
bool cull_rep_finished(const cull_rep_arm *arm, size_t run);
/* Every example as likely as any other: of a minibatch (random) or of the pool. */
bool cull_rep_is_uniform(const cull_rep_arm *arm);
bool cull_rep_is_of_batches(const cull_rep_arm *arm); /* the former */

/* Arms of one series differ in share and pass alone. It is called by its strategy, and by the
 * options as well where arms of that strategy differ in them. */
void cull_rep_name_series(cull_rep_comparison *comparison);

/* measured.c: what results are of, by the key that a file has; accuracy where it is not known. */
const cull_yardstick *cull_rep_yardstick(const char *metric);

/* Colours and markers: uniform and full have their own, other series in the order they come. */
void cull_rep_styles(cull_rep_comparison *comparison);

#endif
