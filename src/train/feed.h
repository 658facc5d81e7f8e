/*
 * train/feed.h - examples for steps: the order in which an epoch meets them, candidates brought to
 * where the backend computes, and training batches put together of what was chosen.
 *
 * On the host, candidates come from a loader, whose threads make them ahead, and networks read them
 * where it made them; elsewhere the set is resident and they are made there. What is chosen by
 * places alone is made when it is known, and nothing else is.
 */
#ifndef CULL_TRAIN_FEED_H
#define CULL_TRAIN_FEED_H

#include "data/loader.h"
#include "data/order.h"
#include "nn/nn.h"
#include "select/course.h"
#include "train/batch_rows.h"
#include "train/folder/run_state.h"
#include "train/letter.h"
#include "train/pipeline.h"
#include "train/resident.h"
#include "train/setup.h"

enum { CULL_TRAIN_DEPTH = 5 };

/* Signals that take a forward pass. */
enum { CULL_SIGNAL_FORWARD = CULL_SIGNAL_LOSS | CULL_SIGNAL_H | CULL_SIGNAL_P };

/* The examples of an epoch in the order they are met; on the host. */
typedef struct cull_walk {
    size_t    count, room;
    uint32_t *place;  /* [count]                                                     */
    double   *weight; /* [count] of a subset                                         */
    size_t   *end;    /* [groups] where each training batch of a subset ends         */
    size_t    groups; /* 0: any batches will do                                      */
    bool      weighs; /* weight[] holds; else all 1                                  */

    /* [room] of texts, which are put into another order */
    uint8_t  *bucket;
    uint32_t *from, *scratch;
} cull_walk;

/* What the loader was asked for: examples from .. to of the walk, `size` at a time. */
typedef struct cull_ahead {
    size_t from, to, size;
    bool   augment;
} cull_ahead;

typedef struct cull_feed {
    const cull_train_setup *setup;
    cull_backend           *backend;
    cull_resident          *resident; /* the training set                              */
    cull_data_form          form;
    cull_key                key;  /* of dropout                                         */
    cull_key                cut;  /* of batches by length                               */
    size_t                  unit; /* examples of such a batch                           */
    cull_data_order         order;
    cull_walk               walk;
    cull_loader            *loader; /* on the host                                     */
    size_t                  loader_room;
    cull_ahead              ahead;
    cull_letter            *letter; /* the learner's                                   */
    cull_rows               met;    /* elsewhere: candidates                             */
    cull_rows               rows;   /* of a training batch that was put together         */
} cull_feed;

cull_status cull_feed_open(const cull_train_setup *setup, cull_resident *resident,
                           cull_data_form form, cull_feed *out);
void        cull_feed_close(cull_feed *feed);

/* Of texts: most steps meet so many examples, which are to be of about one length. Before the first
 * epoch; until then, as many as a training batch has. */
void cull_feed_cut(cull_feed *feed, size_t unit);

/* The walk of an epoch: over all of the pool, or a subset of it, which lies on the host. */
cull_status cull_feed_epoch(cull_feed *feed, uint64_t epoch, const cull_subset *subset);

/* Where in it a run is, as the selector's course. */
cull_sel_course cull_feed_course(const cull_feed *feed, const cull_selector *selector,
                                 const cull_progress *progress);

/* The tokens that each of a step's candidates has; 0: they are no texts. */
size_t cull_feed_length(const cull_feed *feed, size_t at, size_t count);

/* Are a step's candidates loaded: to be scored, or all trained? And as they are trained? */
bool cull_feed_loads(const cull_needs *needs);
bool cull_feed_as_trained(const cull_feed *feed, const cull_needs *needs);

/* Elsewhere than on the host: which candidates these are is written into the letter, which has room
 * for them. */
cull_status cull_feed_send(cull_feed *feed, const cull_sel_step *step,
                           const cull_sel_course *course);
/* The next candidates, as far as they need be; *out without inputs: places alone. Elsewhere they
 * were sent before.
 *
 * course    where the step is
 * now       the moment block, which says the same
 * ahead     where its candidates may have been scored already; NULL: nowhere */
cull_status cull_feed_bring(cull_feed *feed, const cull_sel_step *step,
                            const cull_sel_course *course, const cull_moment *now,
                            cull_pipeline *ahead, cull_batch *out);
/* What a pipeline knows a step's candidates by. */
cull_pending cull_feed_pending(const cull_sel_step *step, const cull_sel_course *course);
/* On the host: examples of the walk, from where the course is, from the loader,
 * borrowed until the next. */
cull_status cull_feed_take(cull_feed *feed, const cull_sel_step *step,
                           const cull_sel_course *course, cull_batch *out);
/* Entries from .. to of a subset as a training batch: rows that `met` holds as they are trained
 * are copied, others made. carried: some may be of earlier steps; texts are then as long as the
 * longest of them, else as those that were met. The batch borrows the subset. */
cull_status cull_feed_gather(cull_feed *feed, const cull_batch *met, bool as_trained, bool carried,
                             const cull_subset *subset, size_t from, size_t to, cull_batch *out);

#endif
