/* train/meter/meter.h - what a run has cost: examples, counted work, seconds and joules by phase.
 */
#ifndef CULL_TRAIN_METER_H
#define CULL_TRAIN_METER_H

#include "backend/backend.h"
#include "records/run.h"
#include "train/meter/energy.h"

enum { CULL_LAPS = 24 };

/* Phases of a step that is done later, elsewhere: a mark in the backend's order where each ends. */
typedef struct cull_laps {
    uint64_t          done; /* such steps since the last reading        */
    struct cull_laps *next; /* of those that wait to be read, if done   */
    size_t            count;
    cull_mark *mark[CULL_LAPS + 1]; /* the first: where the step begins; NULL: not made yet */
    cull_phase phase[CULL_LAPS];
} cull_laps;

typedef struct cull_meter {
    uint64_t scored, trained; /* examples                                          */
    uint64_t thirds;          /* counted work: a forward pass of an example is 1,
                                 a backward pass 2                                 */
    uint64_t proxy;           /* the same of a proxy, in its own thirds            */
    uint64_t tokens_scored, tokens_trained, token_thirds; /* of texts, those that fill them up
                                                             counted; else 0 */
    uint64_t subsets; /* chosen, of a batch or of the pool                 */
    uint64_t subsets_filled, subsets_short, subsets_fallback; /* of them, by their flags */
    uint64_t filled; /* random examples in those that were filled     */
    double   seconds[CULL_PHASES];
    double   joules[CULL_PHASES]; /* 0 where no energy is measured                 */
    double   mark;                /* when the current phase began                  */

    cull_backend *backend; /* borrowed; NULL: on the host, where a phase is over when it returns */
    cull_laps    *laps;    /* of the latest step that nobody has waited for; NULL: none          */
    cull_laps    *unread_laps; /* of all such steps, each kind once                              */
    bool          unmarked;    /* laps are those of another such step, which was marked          */
    cull_energy  *energy; /* borrowed; NULL: none is measured                                   */
    double unread[CULL_PHASES]; /* seconds since the counters were read, by the wall's clock */
    double wall, since;         /* by that clock: when this phase began, when counters were read */
    bool   processor;           /* seconds are of processor time: other programs' do not count */
} cull_meter;

/* The clock starts; time before it belongs to nobody. */
void cull_meter_start(cull_meter *meter);
/* What passed since the latest mark was spent in this phase. */
void cull_meter_lap(cull_meter *meter, cull_phase phase);
/*
 * Elsewhere than on the host a step's phases are over when it was waited for. From begin on, laps
 * are marks in the backend's order; read, after a wait, shares out what has passed since the last
 * reading as marks tell: those of the latest marked step of each kind, times how many there were.
 * Time is the host's again then. A recorded step has the same laps each time it is done, whether it
 * marks them or not: again. Laps outlive the next reading, or drop: nothing of what waits is told.
 */
cull_status cull_meter_begin(cull_meter *meter, cull_laps *laps);
void        cull_meter_again(cull_meter *meter, cull_laps *laps);
cull_status cull_meter_read(cull_meter *meter);
void        cull_meter_drop(cull_meter *meter);
void        cull_laps_clear(cull_laps *laps, cull_backend *backend);
/* A subset was chosen. */
void cull_meter_choose(cull_meter *meter, const cull_subset *subset);
/* What happened between these two readings of one meter happened again; times are its own. */
void cull_meter_repeat(cull_meter *meter, const cull_meter *before, const cull_meter *after);
/* Read what energy counters have not told yet: before joules are looked at. */
void   cull_meter_settle(cull_meter *meter);
double cull_meter_seconds(const cull_meter *meter); /* all phases */
double cull_meter_spent(const cull_meter *meter);   /* seconds less evaluation, which is no cost */
double cull_meter_cost(const cull_meter *meter);    /* in examples trained fully */

/* All of it as a run's records have it. proxied: a proxy scores, so that its work is told. */
cull_records_work cull_meter_work(const cull_meter *meter, bool proxied);

#endif
