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

typedef struct cull_trainer cull_trainer;

/* Signals of many examples, put together batch by batch. */
typedef struct cull_signal_room {
    unsigned wanted;
    size_t   count, at, width, classes; /* examples, those there, D, C */
    float   *h, *p, *logits;
    double  *loss;
    int32_t *label;
} cull_signal_room;

/* Which candidates were scored ahead. */
typedef struct cull_pending {
    uint64_t there, step, epoch, at, count, signals;
} cull_pending;

typedef struct cull_pipeline {
    cull_backend *backend;
    cull_params  *params;
    cull_plans    plans;

    /* candidates of this step and of the next */
    size_t    room;
    float    *inputs[2];
    int32_t  *label[2];
    uint32_t *place[2];
    int       current;
    bool      loaded; /* the next ones are there */

    cull_pending     pending;
    bool             fetched; /* its signals are in `signals`, and what they say is     */
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

cull_status cull_pipeline_open(cull_trainer *trainer, cull_pipeline **out);
void        cull_pipeline_close(cull_pipeline *pipeline);

/* A step of `count` begins. What was scored for another was scored in vain: it is counted as work,
 * and gone. */
void cull_pipeline_turn(cull_trainer *trainer, size_t count);

/* This step's candidates, from what was scored ahead or from `batch`, which is copied. */
bool        cull_pipeline_has(const cull_trainer *trainer, size_t count);
cull_status cull_pipeline_hold(cull_trainer *trainer, cull_batch *batch);

/* Their signals; found false: nobody scored them ahead. Then the next ones' turn. */
cull_status cull_pipeline_take(cull_trainer *trainer, bool *found);
cull_status cull_pipeline_ahead(cull_trainer *trainer);

/* What is scored and not yet used, as part of a checkpoint. */
cull_status cull_pipeline_save(cull_pipeline *pipeline, cull_writer *out);
cull_status cull_pipeline_restore(cull_trainer *trainer, cull_reader *in);

#endif
