/*
 * records/run.h - a run's folder as plain values, written by training and read by verdicts and
 * pages alike.
 *
 *     run.json         cull_records_info      run_info.c
 *     metrics.jsonl    cull_records_line      run_lines.c    and TensorBoard's events
 *     the folder       cull_records_run       run_folder.c   what it is worth
 *
 * Numbers that are not known are NaN, texts "". docs/formats.md names the fields.
 */
#ifndef CULL_RECORDS_RUN_H
#define CULL_RECORDS_RUN_H

#include "records/files.h"
#include "records/json.h"
#include "records/log.h"
#include "records/phase.h"
#include "records/yardstick.h"

struct json_t;

/* What was done so far. */
typedef struct cull_records_work {
    double scored, trained;      /* examples                                    */
    double thirds, proxy_thirds; /* counted work; that of a proxy, NaN: none    */
    double cost;                 /* the same in whole examples; not in run.json */
    double tokens_scored, tokens_trained, token_thirds; /* of texts; NaN: examples are none */
    double subsets, subsets_filled, subsets_short, subsets_fallback, filled;
    double updates; /* of the weights; NaN: of older files                      */
    double seconds;
    double seconds_by[CULL_PHASES], joules_by[CULL_PHASES];
} cull_records_work;

/* Seconds of the phases that are cost. */
double cull_records_spent(const cull_records_work *work);

/* ---- run.json ---- */

typedef struct cull_records_info {
    const char *status, *why, *written, *version;
    double      seed;
    struct {
        const char *file, *hash; /* the weights it began with; "": drawn from the seed */
    } init;
    struct {
        const char *system, *release, *processor, *backend;
        const char *chosen;    /* why train.backend=auto chose it; "": it was asked for */
        const char *precision; /* of train.precision                                    */
        double      cores;
        double      planned; /* bytes of a device that the run takes before its first step; NaN */
    } machine;
    struct {
        const char *name;
        double      train, validation, test, classes, dropped, relabelled, wrong, copies;
        const char *fingerprint, *test_fingerprint; /* of the two sets as they were opened */
    } data;
    cull_records_texts warnings; /* what a person should know of the data */
    const char        *model;
    double             parameters;
    const char        *strategy, *options;
    struct {
        const char *pass, *norm, *precision, *proxy;
        double      scale;
        bool        augment, pipelined;
    } score;
    const char       *watched;
    const char       *metric; /* key of what the next but two are of; "": accuracy */
    double            step, epoch, accuracy, best, best_epoch, test;
    cull_records_work work;
    const char       *no_energy; /* why joules are not known */
    struct {
        double seconds_busy, seconds_waited, overlap; /* NaN: nothing was scored ahead */
    } pipeline;
    const char *weights, *best_weights; /* file names */
} cull_records_info;

/* Write FOLDER/run.json by one rename. */
cull_status cull_records_info_write(const char *folder, const cull_records_info *info);
/* Of a JSON object, whose texts are borrowed; NULL: all is unknown. */
void cull_records_info_take(const struct json_t *root, cull_records_info *out);

/* ---- metrics.jsonl ---- */

typedef enum cull_records_event {
    CULL_RECORDS_STEP,
    CULL_RECORDS_EPOCH,
    CULL_RECORDS_EVALUATE,
    CULL_RECORDS_EVENTS
} cull_records_event;

typedef enum cull_records_set {
    CULL_RECORDS_TRAIN,
    CULL_RECORDS_VALIDATION,
    CULL_RECORDS_TEST,
    CULL_RECORDS_SETS
} cull_records_set;

/* A line: what happened. Which fields it has depends on the event. */
typedef struct cull_records_line {
    cull_records_event event;
    cull_records_set   set; /* evaluate */
    double             step, epoch, loss, rate;
    double             accuracy;          /* or what the run's metric is */
    double             met, kept;         /* of the step; of an epoch, for TensorBoard alone:
                                             the pool, and what was trained of it            */
    double            seconds_evaluation; /* evaluate */
    bool              best;               /* evaluate */
    cull_records_work so_far;
} cull_records_line;

/* The two logs of a run that is being trained. */
typedef struct cull_records_logs {
    cull_records_log      metrics, events;
    cull_json             json;
    const cull_yardstick *measure;
} cull_records_logs;

/* Open both and cut them to the bytes that a checkpoint knows of; 0: they begin. */
cull_status cull_records_logs_open(cull_records_logs *logs, const char *folder,
                                   const cull_yardstick *measure, uint64_t metrics,
                                   uint64_t scalars);
/* Both are on the disk; *metrics and *scalars are their lengths. */
cull_status cull_records_logs_sync(cull_records_logs *logs, uint64_t *metrics, uint64_t *scalars);
cull_status cull_records_logs_add(cull_records_logs *logs, const cull_records_line *line);
void        cull_records_logs_close(cull_records_logs *logs);

/* Looks at one set, in order; a second look at the same step takes the place of the first. */
typedef struct cull_records_curve {
    cull_records_line *look;
    size_t             count, room;
} cull_records_curve;

/* Epochs and evaluations of a file of lines. */
typedef struct cull_records_curves {
    cull_records_curve of[CULL_RECORDS_SETS];
    cull_records_work  latest; /* of what a line told: the latest that did; numbers that cannot be
                                  are not taken */
    size_t broken;             /* the first line that is no JSON, or tells no result; 0: none */
    bool   lacks;              /* it is JSON                                               */
} cull_records_curves;

cull_status cull_records_curves_decode(const void *data, size_t bytes, cull_records_curves *out);
void        cull_records_curves_clear(cull_records_curves *curves);

/* ---- the folder ---- */

typedef enum cull_records_state {
    CULL_RECORDS_MISSING, /* nothing was begun          */
    CULL_RECORDS_RUNNING, /* begun, not at its end      */
    CULL_RECORDS_STOPPED, /* the same, and not at work  */
    CULL_RECORDS_FINISHED,
    CULL_RECORDS_FAILED,
    CULL_RECORDS_CORRUPT /* not to be believed          */
} cull_records_state;

const char *cull_records_state_name(cull_records_state state);

enum { CULL_RECORDS_WHY = 240 };

/* What a run left, and what that is worth. Where it is no longer finished, numbers and curves are
 * those that could be read. */
typedef struct cull_records_run {
    cull_records_state  state;
    char                why[CULL_RECORDS_WHY]; /* of failed and corrupt: one sentence */
    cull_records_info   info;
    cull_records_curves curves;
    struct json_t      *root; /* owned: the texts; NULL: run.json could not be read */
} cull_records_run;

/*
 * The one judgement of what a run's folder is worth. A run is finished when run.json says so and
 * has its outcome, and every line of metrics.jsonl is whole; when not, what is wrong is its `why`.
 * Runs that have not ended may have a broken line: it is cut off when they are resumed.
 *
 * Fails for want of memory and where the name is too long, never for what the folder holds. Clear
 * the run also after a failure.
 */
cull_status cull_records_run_read(const char *folder, cull_records_run *out);
/* The same of the two files' bytes; NULL: there is none. */
cull_status cull_records_run_decode(const void *info, size_t info_bytes, const void *lines,
                                    size_t line_bytes, cull_records_run *out);
/* Not to be believed, for this reason. */
void cull_records_run_doubt(cull_records_run *run, const char *why);
void cull_records_run_clear(cull_records_run *run);

#endif
