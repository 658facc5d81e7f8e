/*
 * optim/optim.h - from gradients to new weights: rules, clipping, and the rate of each step.
 *
 * All weights of a model are one block and their gradients another, so a rule is one loop. It is
 * cut into chunks of fixed size whatever the number of threads, so results never depend on it.
 */
#ifndef CULL_OPTIM_OPTIM_H
#define CULL_OPTIM_OPTIM_H

#include "backend/backend.h"

/* How a block that lies as the weights do crosses between the host and the backend, and where they
 * are kept in bfloat16 too. */
typedef struct cull_optim_weights {
    const void *context;
    cull_status (*download)(const void *context, const void *block, void *host);
    cull_status (*upload)(const void *context, void *block, const void *host);
    void *const *narrow; /* of the context; what it points at may be NULL */
} cull_optim_weights;

typedef struct cull_optim {
    cull_optim_options options;
    cull_dtype         dtype;
    size_t             count;
    cull_backend      *backend; /* borrowed; all arrays but range are its own */
    cull_kit           kit;     /* of those, and the update */
    cull_optim_weights weights; /* zeros: blocks cross as they lie, narrow: none */
    uint64_t           steps;   /* done so far                        */
    void              *buffer[CULL_OPTIM_BUFFERS]; /* [count] each; NULL: the rule has none */
    cull_optim_range  *range;                      /* [ranges] ascending, the first at 0 */
    size_t             ranges, room, placed_room;
    cull_optim_range  *placed;  /* [ranges] the same where the backend reads it         */
    double            *partial; /* [chunks] sums of squares                              */
    double            *norm;    /* [1] of the latest gradient, before clipping           */
    cull_moment       *now;     /* [1] of steps that are given a rate                    */
} cull_optim;

/* dtype float32 or float64. CULL_BAD_ARGUMENT names the option that is wrong. */
cull_status cull_optim_create(const cull_optim_options *options, cull_dtype dtype, size_t count,
                              cull_backend *backend, cull_optim **out);
void        cull_optim_destroy(cull_optim *optim);

/* Weights at .. at+count are not decayed. Called before the first step, in ascending order. */
cull_status cull_optim_exempt(cull_optim *optim, size_t at, size_t count);

/* Where the optimizer is one step on: updates and rate of the moment block. */
static inline void cull_optim_moment(const cull_optim *optim, double rate, cull_moment *now)
{
    now->updates = optim->steps + 1;
    now->rate = rate;
}

/*
 * One step by a moment block, which the backend reads when it runs: clips the gradient where asked
 * to, changes the values.
 *
 * trouble   the error word: nothing is changed where it says something, and a gradient whose norm
 *           is not finite is told there. NULL: CULL_NOT_FINITE then, and untouched values.
 */
cull_status cull_optim_update(cull_optim *optim, const cull_moment *now, void *value,
                              void *gradient, cull_trouble *trouble);
/* A part of one: weights from .. to-1 alone. Without clipping, whose norm is of all of them, parts
 * that make up the whole leave what it does; the one that begins at 0 is counted as a step. */
cull_status cull_optim_update_part(cull_optim *optim, const cull_moment *now, void *value,
                                   void *gradient, cull_trouble *trouble, size_t from, size_t to);
/* One step at this rate, by a block of the optimizer's own, without an error word. */
cull_status cull_optim_step(cull_optim *optim, double rate, void *value, void *gradient);

/* Steps and buffers. restore: CULL_BAD_STATE when they belong to another optimizer. */
cull_status cull_optim_save(const cull_optim *optim, cull_writer *writer);
cull_status cull_optim_restore(cull_optim *optim, cull_reader *reader);

/* ---- schedule.c ---- */
typedef enum cull_schedule_shape {
    CULL_SCHEDULE_CONSTANT,
    CULL_SCHEDULE_MULTI_STEP,
    CULL_SCHEDULE_COSINE,
    CULL_SCHEDULE_ONE_CYCLE,
    CULL_SCHEDULE_LINEAR
} cull_schedule_shape;

enum { CULL_SCHEDULE_MILESTONES = 64 };

/*
 * The rate as a function of the step, steps counted from 0.
 *
 *     warm-up      for t < W     rate (start + (1 - start) t / W); then the shape begins, with
 *                                t and T less W (milestones stay where they are)
 *     multi-step   rate gamma^(milestones m with m <= t / steps per epoch)
 *     cosine       low + (rate - low) (1 + cos(pi t / T)) / 2
 *     linear       low + (rate - low) (1 - t / T)
 *     one-cycle    from rate/div up to rate at step pct T - 1, down to rate/div/final at T - 1,
 *                  both along half a cosine, as PyTorch's OneCycleLR
 *
 * Behind the last step the rate stays what it ended at.
 */
typedef struct cull_schedule {
    cull_schedule_shape shape;
    double              rate;                     /* the highest                            */
    double              low;                      /* cosine, linear: where it ends          */
    double              gamma;                    /* multi-step                             */
    double   milestone[CULL_SCHEDULE_MILESTONES]; /* multi-step: epochs, ascending          */
    size_t   milestones;
    double   peak, divide, final_divide; /* one-cycle: pct_start, div_factor, final_div_factor */
    uint64_t steps, steps_per_epoch;     /* of the whole run, T; at least 1                */
    uint64_t warmup;                     /* W; 0: none                                     */
    double   warmup_start;
} cull_schedule;

/* CULL_BAD_ARGUMENT when no such schedule can be followed; names the setting. */
cull_status cull_schedule_check(const cull_schedule *schedule);
double      cull_schedule_rate(const cull_schedule *schedule, uint64_t step);
/* Between steps too. */
double cull_schedule_rate_at(const cull_schedule *schedule, double position);

#endif
