/*
 * optim/optim.h - from gradients to new weights: rules, clipping, and the rate of each step.
 *
 * All weights of a model are one block and their gradients another, so a rule is one loop. It is
 * cut into chunks of fixed size whatever the number of threads, so results never depend on it.
 */
#ifndef CULL_OPTIM_OPTIM_H
#define CULL_OPTIM_OPTIM_H

#include "backend/backend.h"

enum { CULL_OPTIM_CHUNK = 16384, CULL_OPTIM_BUFFERS = 2 };

typedef enum cull_optim_rule { CULL_OPTIM_SGD, CULL_OPTIM_ADAMW } cull_optim_rule;

typedef struct cull_optim_options {
    cull_optim_rule rule;
    double          momentum; /* sgd, 0 <= momentum < 1                                  */
    bool            nesterov; /* sgd, only with momentum                                 */
    double          weight_decay;
    double          beta1, beta2, epsilon; /* adamw                                      */
    double          clip;                  /* most norm of the whole gradient; 0: any    */
} cull_optim_options;

/* Weights from `at` to the next range's beginning share one decay. */
typedef struct cull_optim_range {
    size_t at;
    double decay;
} cull_optim_range;

typedef struct cull_optim {
    cull_optim_options options;
    cull_dtype         dtype;
    size_t             count;
    cull_team         *team;                       /* borrowed                           */
    uint64_t           steps;                      /* done so far                        */
    void              *buffer[CULL_OPTIM_BUFFERS]; /* [count] each; NULL: the rule has none */
    cull_optim_range  *range;                      /* [ranges] ascending, the first at 0 */
    size_t             ranges, room;
    double            *partial; /* [chunks] sums of squares                              */
    double             norm;    /* of the latest gradient, before clipping; 0 without clip */
} cull_optim;

/* dtype float32 or float64. CULL_BAD_ARGUMENT names the option that is wrong. */
cull_status cull_optim_create(const cull_optim_options *options, cull_dtype dtype, size_t count,
                              cull_team *team, cull_optim **out);
void        cull_optim_destroy(cull_optim *optim);

/* Weights at .. at+count are not decayed. Called before the first step, in ascending order. */
cull_status cull_optim_exempt(cull_optim *optim, size_t at, size_t count);

/* One step at this rate: clips the gradient where asked to, changes the values. Allocates
 * nothing. CULL_NOT_FINITE, and untouched values, when clipping meets a gradient that is not. */
cull_status cull_optim_step(cull_optim *optim, double rate, void *value, void *gradient);

/* Steps and buffers. restore: CULL_BAD_STATE when they belong to another optimizer. */
cull_status cull_optim_save(const cull_optim *optim, cull_writer *writer);
cull_status cull_optim_restore(cull_optim *optim, cull_reader *reader);

/* ---- the rules (sgd.c, adamw.c): elements from .. to, one decay ---- */
void cull_optim_sgd(const cull_optim *optim, double rate, double decay, size_t from, size_t to,
                    void *value, const void *gradient);
void cull_optim_adamw(const cull_optim *optim, double rate, double decay, size_t from, size_t to,
                      void *value, const void *gradient);

/* ---- clip.c ---- */

/* The norm of a whole gradient, summed in double, chunk by chunk. partial has room for
 * ceil(count / CULL_OPTIM_CHUNK). */
double cull_optim_norm(cull_team *team, cull_dtype dtype, size_t count, const void *gradient,
                       double *partial);

/* g *= min(1, most / (norm + 1e-6)), PyTorch's rule. */
void cull_optim_clip(cull_team *team, cull_dtype dtype, size_t count, double norm, double most,
                     void *gradient);

/* ---- schedule.c ---- */
typedef enum cull_schedule_shape {
    CULL_SCHEDULE_CONSTANT,
    CULL_SCHEDULE_MULTI_STEP,
    CULL_SCHEDULE_COSINE,
    CULL_SCHEDULE_ONE_CYCLE
} cull_schedule_shape;

enum { CULL_SCHEDULE_MILESTONES = 64 };

/*
 * The rate as a function of the step, steps counted from 0.
 *
 *     warm-up      for t < W     rate (start + (1 - start) t / W); then the shape begins, with
 *                                t and T less W (milestones stay where they are)
 *     multi-step   rate gamma^(milestones m with m <= t / steps per epoch)
 *     cosine       low + (rate - low) (1 + cos(pi t / T)) / 2
 *     one-cycle    from rate/div up to rate at step pct T - 1, down to rate/div/final at T - 1,
 *                  both along half a cosine, as PyTorch's OneCycleLR
 *
 * Behind the last step the rate stays what it ended at.
 */
typedef struct cull_schedule {
    cull_schedule_shape shape;
    double              rate;                     /* the highest                            */
    double              low;                      /* cosine: where it ends                  */
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
