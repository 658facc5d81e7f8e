/*
 * train/pipeline.h - scoring ahead: while a step learns, the next one's candidates are scored on
 * another thread, by the weights as they were before this step.
 *
 * The thread has a backend, plans and a copy of the weights of its own, and what it computes is a
 * function of them alone: when it runs changes nothing. The first step of an epoch has nobody ahead
 * of it and is scored by the newest weights.
 */
#ifndef CULL_TRAIN_PIPELINE_H
#define CULL_TRAIN_PIPELINE_H

#include <pthread.h>

#include "train/plans.h"
#include "train/setup.h"
#include "train/signal_room.h"

typedef struct cull_learner cull_learner;

/* Which candidates were scored ahead. */
typedef struct cull_pending {
    uint64_t there, step, epoch, at, count, signals;
} cull_pending;

typedef struct cull_pipeline {
    const cull_train_setup *setup;
    cull_backend           *backend; /* its own, as the two below */
    cull_params            *params;
    cull_plans              plans;
    size_t                  width; /* numbers of an example */

    /* candidates of this step and of the next */
    size_t    room;
    float    *inputs[2];
    void     *target[2];
    size_t    target_bytes; /* of an example */
    uint32_t *place[2];
    int       current;
    bool      loaded; /* the next ones are there */

    cull_pending     pending;
    bool             due;     /* they are this step's                                   */
    bool             fetched; /* its signals are in `signals`, and what they say is     */
    size_t           wasted;  /* scored for steps that never came, not yet told         */
    cull_signal_room signals;

    /* of the thread, under the lock */
    pthread_t       thread;
    pthread_mutex_t lock;
    pthread_cond_t  changed;
    bool            started, closing, busy;
    cull_plan      *plan;
    cull_batch      batch;
    cull_statistics statistics;
    cull_signals    seen;
    cull_status     status;
    char            sentence[300];
    double          seconds_busy, seconds_waited;
} cull_pipeline;

/* For the learner's model; width: numbers of an example. */
cull_status cull_pipeline_open(const cull_train_setup *setup, const cull_learner *learner,
                               size_t width, cull_pipeline **out);
void        cull_pipeline_close(cull_pipeline *pipeline);

/* A step begins that wants this. What was scored for another was scored in vain: it is counted as
 * wasted, and gone. Are its candidates there already? */
bool cull_pipeline_turn(cull_pipeline *pipeline, const cull_pending *wanted);

/* This step's candidates, from what was scored ahead or from `batch`, which is copied. */
cull_status cull_pipeline_hold(cull_pipeline *pipeline, cull_batch *batch);

/* Their signals; found false: nobody scored them ahead. */
cull_status cull_pipeline_take(cull_pipeline *pipeline, bool *found, cull_signals *out);

/* Is there room for so many of the next step's candidates? Then they are scored by these
 * parameters as they are now. */
bool        cull_pipeline_fits(const cull_pipeline *pipeline, size_t count);
cull_status cull_pipeline_ahead(cull_pipeline *pipeline, const cull_pending *next, bool running,
                                cull_batch batch, const cull_params *params);

/* Examples that were scored in vain since the last call. */
size_t cull_pipeline_wasted(cull_pipeline *pipeline);

/* What is scored and not yet used, as part of a checkpoint. */
cull_status cull_pipeline_save(cull_pipeline *pipeline, cull_writer *out);
cull_status cull_pipeline_restore(cull_pipeline *pipeline, size_t pool, cull_reader *in);

#endif
