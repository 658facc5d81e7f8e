/*
 * lab/compare/costs.h - what a run costs, from a table that was measured once.
 *
 * A step that meets c candidates and trains m of them costs
 *
 *     nothing is selected         load c + learn(c) + optim
 *     scored, separate pass       load c + score c + decide + learn(m) + optim
 *     scored, reuse               load c + score-and-keep c + decide + learn-from-kept + optim
 *     selected without scoring    load m + decide + learn(m) + optim
 *
 * and a choice from the pool costs its scoring pass and its solve once, then ordinary steps on the
 * subset. learn(m) is shared by everybody who trains m, so that an arm and its control differ by
 * what they do, not by noise. Where the target is the validation set's gradient, its examples are
 * scored too, as many as a batch has, or all of them with the pool. A run's cost is the sum over
 * its steps, which the selector's own needs tell. Evaluation is no cost. Counted work, in thirds:
 * forward 1, backward 2 an example.
 */
#ifndef CULL_LAB_COSTS_H
#define CULL_LAB_COSTS_H

#include "records/comparison.h"
#include "train/train.h"

/* Put a measurement in its place; a size that is there gets the new one. False: no room. */
bool cull_costs_add(cull_costs *costs, size_t batch, double seconds);

/* A larger batch never costs less: sizes measured so are noise, and share their mean. */
void cull_costs_smooth(cull_costs *costs);

/* A step of forward and backward over m examples, also for a fraction that alternates: straight
 * lines between the sizes measured, carried on beyond the outer ones, never below 0. */
double cull_costs_learn(const cull_costs *costs, double m);

/* A run that is to be priced. The setup is borrowed. */
typedef struct cull_priced {
    const cull_train_setup *setup;
    double                  keep;      /* > 0: in place of the options' keep   */
    bool                    alternate; /* m is keep * candidates on the mean   */
    cull_arm_costs          own;
} cull_priced;

typedef struct cull_price {
    double   seconds, scored, trained, thirds;
    uint64_t steps, scoring; /* steps, and those with a scoring pass      */
    size_t   candidates;     /* most of a step that selects; 0: none does */
    size_t   budget;         /* kept of them, or of the pool              */
    unsigned signals;        /* CULL_SIGNAL_* of scoring passes           */
    bool     target;         /* scores validation examples too            */
    bool     pool;           /* chooses from the pool                     */
    bool     collects;       /* trains when a batch has come together     */
    bool     fixed;          /* what is done is known beforehand          */
} cull_price;

/*
 * Price a run. mark: [marks] numbers of steps, ascending; at[i] becomes the seconds spent after
 * mark[i] steps. The pool's size is costs->pool.
 */
cull_status cull_costs_price(const cull_costs *costs, const cull_priced *run, const uint64_t *mark,
                             size_t marks, double *at, cull_price *out);

/* The keep of `run`, from `least` on, at which it costs `seconds`, by halving; 1 where even that
 * costs less. Batches of some sizes are faster than smaller ones, so that a smaller keep may cost
 * as much; whoever has the budget for more takes more. */
cull_status cull_costs_match(const cull_costs *costs, const cull_priced *run, double least,
                             double seconds, double *keep);

/*
 * Costs within `within` (.03) of the larger one form a group: leader[i] is the place of the largest
 * cost of i's group. Groups are made from the largest down. Only those with the same key are
 * grouped; NaN costs lead themselves.
 */
void cull_costs_group(const double *cost, const size_t *key, size_t count, double within,
                      size_t *leader);

#endif
