/*
 * records/judge/against.h - what pages and advice read off a comparison's records, older ones among
 * them: each arm held against full training, and intervals that agree with the p beside them.
 */
#ifndef CULL_RECORDS_AGAINST_H
#define CULL_RECORDS_AGAINST_H

#include "records/comparison.h"
#include "records/yardstick.h"

#define CULL_AGAINST_LEVEL .95 /* of the intervals of differences to full training */

/* The full run; NULL: there is none. */
const cull_records_arm *cull_against_whom(const cull_records_comparison *comparison);

/* Is it finished, and has it its result? */
bool cull_against_told(const cull_records_compared *run);

/* An arm or control against full training, over the seeds that both have finished. In points,
 * above 0 where the arm is better; low and high: the plain interval, NaN for fewer than two pairs.
 * All NaN without a pair. */
typedef struct cull_against {
    size_t pairs;
    double gain, sd, low, high;
} cull_against;

cull_against cull_against_full(const cull_records_comparison *comparison, const cull_yardstick *by,
                               const cull_records_arm *arm);

/* Of the difference to uniform choice at the same cost, which an arm's verdict is on: as wide as
 * Holm's procedure tests it (cull_stat_holm_levels()), so that it leaves 0 out exactly where the
 * adjusted p is below .05. NaN: there is no such interval. */
typedef struct cull_adjusted {
    double level, low, high;
} cull_adjusted;

/* out: [arms] of the comparison. */
void cull_against_adjust(const cull_records_comparison *comparison, cull_adjusted *out);

#endif
