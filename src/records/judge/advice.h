/*
 * records/judge/advice.h - what to do, from what a comparison found.
 *
 * Who may be advised: full training; the same shortened or stopped early; uniform choice; and a
 * strategy whose verdict is better (than uniform choice at the same cost), unless one of the simple
 * ones that costs no more has the better mean. All but full training have to cost less than it, and
 * to have two seeds beside its own and none that failed.
 *
 * Who keeps up: the 95 % interval of the paired difference to full training lies above -margin.
 * Asked of each kind (shortened, stopped, each strategy with its options) from the dearest down to
 * the first that is not shown to, so that each kind errs with probability .025 at most.
 *
 * Advised is the cheapest that keeps up (costs within 3 % are alike: the better mean). Where nobody
 * does, it is the strategy with the best mean, for what it saves, with what it gives up; where
 * there is no such strategy, full training, and beside it the best mean among the simple ones.
 */
#ifndef CULL_RECORDS_ADVICE_H
#define CULL_RECORDS_ADVICE_H

#include "records/judge/against.h"
#include "records/judge/verdict.h"

enum { CULL_ADVICE_WHAT = 600, CULL_ADVICE_MORE = 1200 };

typedef struct cull_advice {
    const cull_records_arm *chosen; /* of the comparison; NULL: nothing can be advised yet */
    const cull_records_arm *saving; /* cheaper, and gives something up; NULL: none         */
    char                    what[CULL_ADVICE_WHAT]; /* one sentence: what to do                  */
    char                    more[CULL_ADVICE_MORE]; /* what else to know of it; may be ""        */
} cull_advice;

/* Numbers and texts of a file that was damaged are fine: what they cannot tell is not advised. */
void cull_advise(const cull_records_comparison *comparison, const cull_yardstick *by,
                 cull_advice *out);

/* The verdict on all arms, as it agrees with that advice: selection pays where a strategy that
 * costs less than full training is advised, or named for what it saves besides or as better than
 * full training, and nowhere else. */
void cull_advise_verdict(const cull_records_comparison *comparison, const cull_yardstick *by,
                         char out[CULL_VERDICT_SENTENCE]);

/* Is nothing left to be run, but for what failed? */
bool cull_advice_is_final(const cull_records_comparison *comparison);

#endif
