/*
 * records/judge/verdict.h - from paired differences to a verdict, and to words a newcomer
 * understands.
 *
 * An arm's primary comparison is with uniform choice that may spend the arm's whole budget.
 * Looked at in this order, d the mean difference in points of accuracy, s its deviation:
 *
 *     better, worse   Holm-adjusted p of the paired t-test over all arms below .05
 *     no different    the 90 % interval of d lies inside [-margin, margin]
 *     undecided       else, with how many more seeds would about decide it: n less what was run, n
 *                     the smallest total with t s/sqrt(n) < max(|d|, margin - |d|), t being
 *                     exceeded with probability .05, two-sided, at n - 1 degrees of freedom
 *
 * Where n was run already (Holm asks for more than the plain test), one more is asked for. One
 * pair has no spread: undecided, and how many more is not known.
 */
#ifndef CULL_RECORDS_VERDICT_H
#define CULL_RECORDS_VERDICT_H

#include "records/judge/statistics.h"

typedef enum cull_verdict_kind {
    CULL_VERDICT_UNTESTED, /* fewer than one pair */
    CULL_VERDICT_BETTER,
    CULL_VERDICT_WORSE,
    CULL_VERDICT_NO_DIFFERENT,
    CULL_VERDICT_UNDECIDED
} cull_verdict_kind;

enum { CULL_VERDICT_SENTENCE = 800, CULL_VERDICT_MOST_SEEDS = 10000 };

typedef struct cull_verdict {
    cull_verdict_kind kind;
    uint64_t          more; /* seeds; 0: not known, none needed, or beyond the most */
    char              sentence[CULL_VERDICT_SENTENCE];
} cull_verdict;

const char *cull_verdict_name(cull_verdict_kind kind); /* "no different" */

/* The smallest number of pairs with t sd/sqrt(n) < width, t as above; 0: beyond the most. */
uint64_t cull_verdict_seeds_within(double sd, double width);
/* The smallest number of pairs that would decide; 0: not known or beyond the most. */
uint64_t cull_verdict_seeds(const cull_stat_paired *test, double margin);

/* adjusted: Holm's p; arm and control: how the sentence calls them, "random keep=0.6 at the same
 * cost". */
void cull_verdict_judge(const cull_stat_paired *test, double adjusted, double margin,
                        const char *arm, const char *control, cull_verdict *out);

/* Why an arm that is better than uniform choice and saves is not what to do; see advice.h. */
typedef enum cull_verdict_bar {
    CULL_BAR_NONE,
    CULL_BAR_OUTDONE,  /* something simple that costs no more has the better mean       */
    CULL_BAR_NEEDLESS, /* something simple that costs less keeps up with full training */
    CULL_BAR_DEAR,     /* it costs about what full training does                       */
    CULL_BAR_FAILED,   /* a run of it failed                                           */
    CULL_BAR_FEW,      /* fewer than two of its seeds stand beside full training's     */
    CULL_BAR_HINDERED  /* nothing at all can be advised                                */
} cull_verdict_bar;

/* One arm in the verdict on all; uniform choice itself is none. */
typedef struct cull_verdict_arm {
    const char       *name;
    cull_verdict_kind kind;
    cull_verdict_bar  bar;
    double            difference; /* to its whole-budget control */
    double            cost;       /* share of full training's; from 1 on it is held against that */
    size_t            failed;     /* of its runs: only what survived is in the difference */
} cull_verdict_arm;

/* One or two sentences, fit for a headline: who pays, or that nobody is shown to, and what was
 * found of all others; names where they are few. Selection is said to pay for arms without a bar
 * alone, or the sentence would say the opposite of the advice beside it. seeds: pairs of the arm
 * with the fewest; finished: no run is left but those that failed. */
void cull_verdict_all(const cull_verdict_arm *arms, size_t count, size_t seeds, double margin,
                      bool finished, char out[CULL_VERDICT_SENTENCE]);

#endif
