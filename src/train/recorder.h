/*
 * train/recorder.h - steps that a backend does again, where it gains by that.
 *
 * A step is done as one where nothing of it waits. Where the selector decides on the host it has
 * parts: what comes before the decision, and each training batch behind it.
 *
 * A part is known by what the selector asks for, by how many it meets and how long these are. The
 * first of a kind runs as it comes, so that all it needs is there; the second is recorded; from
 * then on they are done again, and what differs from one to the next (moment, places, weights) is
 * sent before. Whatever a recording means may end: a plan makes way for another, an array grows.
 * The backend counts that, and a kind whose count has changed begins anew; so nobody else need know
 * of recordings.
 *
 * A mark costs a device as much as a small operation. So a kind is recorded twice, with the marks
 * of its phases and then without, and one in so many is done with them: the others took as long.
 */
#ifndef CULL_TRAIN_RECORDER_H
#define CULL_TRAIN_RECORDER_H

#include "train/scorer.h"

enum { CULL_RECORDER_KINDS = 8, CULL_RECORDER_LENGTHS = 64, CULL_RECORDER_MARKED = 16 };

typedef enum cull_part { CULL_PART_ALL, CULL_PART_SCORE, CULL_PART_LEARN } cull_part;

/* What a kind is known by. */
typedef struct cull_step_kind {
    cull_part     part;
    cull_sel_step asked;
    size_t        length;   /* tokens of its examples                       */
    bool          weighs;   /* its examples have weights of a subset        */
    size_t        from, to; /* what learns: these entries of the decision's */
    bool          late;     /* and tells what became of that                */
} cull_step_kind;

/* The values of a step, in the order they are made; borrowed until the next. */
typedef struct cull_step_values {
    cull_sel_step asked;
    cull_batch    batch; /* candidates; inputs NULL: not loaded            */
    cull_scored   scored;
    size_t        from, to; /* entries of the decision: the latest training batch */
    cull_trained  seen;     /* of it                                         */
    size_t        kept;     /* examples trained                              */
} cull_step_values;

/* A part of a step. */
typedef struct cull_recorded {
    cull_step_kind   is;
    uint64_t         found;         /* when it was last looked for                              */
    uint64_t         ended;         /* the backend's count when it last ran                     */
    cull_recording  *recording;     /* NULL: it is the next that is recorded                    */
    cull_recording  *plain;         /* the same without marks; NULL: it is the next             */
    uint64_t         turns;         /* how often it was done again                              */
    cull_meter       before, after; /* counts around one, and by how much they grow again   */
    cull_laps        laps;          /* kept with the place: somebody may have yet to read them  */
    cull_step_values leaves;        /* what others go on with                               */
    size_t           kept;          /* examples that one trains                             */
    bool             late;          /* what became of its decision is told with the sums    */
} cull_recorded;

typedef struct cull_recorder {
    cull_backend *backend; /* borrowed */
    size_t        count;
    uint64_t      finds;
    bool          lengths; /* texts: a kind for each length, and so many kinds more */
    cull_recorded kind[CULL_RECORDER_LENGTHS];
} cull_recorder;

void cull_recorder_clear(cull_recorder *recorder);

/* What is known of a kind that can be recorded, or has been; NULL: it is to be run first, and told
 * by cull_recorder_ran(). Where there are more than are kept, the one that nobody looked for
 * longest makes way. */
cull_recorded *cull_recorder_find(cull_recorder *recorder, const cull_step_kind *kind);
void           cull_recorder_ran(cull_recorder *recorder, const cull_step_kind *kind);

/* From begin to end nothing is done but kept; end does it. failed: it is dropped instead. */
cull_status cull_recorder_begin(cull_recorder *recorder);
cull_status cull_recorder_end(cull_recorder *recorder, cull_recorded *kind, bool failed);
/* Has it been recorded both ways? */
static inline bool cull_recorder_knows(const cull_recorded *kind)
{
    return kind->recording && kind->plain;
}
/* What was recorded both ways is done. */
cull_status cull_recorder_again(cull_recorder *recorder, cull_recorded *kind);

#endif
