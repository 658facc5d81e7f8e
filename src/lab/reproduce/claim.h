/*
 * lab/reproduce/claim.h - a claim of a paper, judged by numbers of ours.
 *
 * What a claim is about is one number a pair: left less right (or less what it is held against),
 * of one seed, or of one point where there are no seeds. The 95 % interval of the mean of the pairs
 * (Student's t), or, of shares of minibatches, Wilson's, decides:
 *
 *             holds               does not
 *     above   low > margin        high <= margin
 *     below   high < -margin      low >= -margin
 *     within  both inside ± m     the interval misses ± m
 *
 * One pair alone has no interval, and decides nothing.
 */
#ifndef CULL_LAB_CLAIM_H
#define CULL_LAB_CLAIM_H

#include "lab/reproduce/figure_arms.h"
#include "records/points.h"
#include "records/probe_lines.h"
#include "records/run.h"

typedef struct cull_claimed {
    cull_held held;
    double    mean, low, high; /* of the differences; NaN: not known */
    size_t    pairs;
} cull_claimed;

/* resolution: the steps that differences come in; 0: none. */
cull_claimed cull_claim_judge(const cull_claim *rule, const double *difference, size_t pairs,
                              double resolution);
/* The same by an interval that is known. */
cull_held cull_claim_side(const cull_claim *rule, double low, double high);

/* All parts of a claim: what does not hold anywhere does not; open, unless all parts hold. */
cull_held cull_claim_join(cull_held a, cull_held b);

/* What numbers come from: a figure's runs, or its own files. */
typedef struct cull_claim_ground {
    const cull_figure  *figure; /* NULL: it has no runs                       */
    cull_records_run   *run;    /* [arms][seeds], as they were read            */
    cull_records_points points;
    cull_records_probes probes;
} cull_claim_ground;

/* folder: of points.jsonl and probe.jsonl. Clear it also after a failure. */
cull_status cull_claim_open(const cull_figure *figure, const char *folder, cull_claim_ground *out);
void        cull_claim_clear(cull_claim_ground *ground);

static inline const cull_records_run *cull_claim_run(const cull_claim_ground *g, size_t arm,
                                                     uint64_t seed)
{
    return &g->run[arm * g->figure->seeds + (seed - 1)];
}
static inline bool cull_claim_finished(const cull_claim_ground *g, size_t arm, uint64_t seed)
{
    return cull_claim_run(g, arm, seed)->state == CULL_RECORDS_FINISHED;
}

/* claim_numbers.c: the differences of one rule; *out is a new array of *pairs. */
cull_status cull_claim_differences(const cull_claim_ground *ground, const cull_claim *rule,
                                   double **out, size_t *pairs, double *resolution);
/* Wilson's interval, in percent, less what the rule is held against; pairs 0: there is no such
 * probe. */
cull_claimed cull_claim_wins(const cull_claim_ground *ground, const cull_claim *rule);

/* All rules of an entry: what became of its claim, and the sentences, a line each. */
enum { CULL_CLAIM_TEXT = 1600 };
cull_status cull_claim_entry(const cull_reproduction *entry, const cull_claim_ground *ground,
                             cull_held *held, char out[CULL_CLAIM_TEXT]);

#endif
