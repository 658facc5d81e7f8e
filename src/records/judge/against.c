/* records/judge/against.c - paired differences to full training; intervals at Holm's levels. */
#include "records/judge/against.h"

#include <math.h>
#include <string.h>

#include "records/judge/statistics.h"

#define ALPHA .05

enum { MOST_PAIRS = 1000, MOST_ARMS = 512 };

const cull_records_arm *cull_against_whom(const cull_records_comparison *c)
{
    for (size_t i = 0; i < c->arms; i++)
        if (strcmp(c->arm[i].role, "full") == 0) return &c->arm[i];
    return NULL;
}

bool cull_against_told(const cull_records_compared *run)
{
    return strcmp(run->status, "finished") == 0 && isfinite(run->accuracy);
}

/* The run of this seed that tells its result, most likely at this place; NULL: there is none. */
static const cull_records_compared *find_run(const cull_records_arm *arm, double seed, size_t at)
{
    for (size_t i = 0; i < arm->runs; i++) {
        const cull_records_compared *run = &arm->run[(at + i) % arm->runs];

        if (run->seed == seed) return cull_against_told(run) ? run : NULL;
    }
    return NULL;
}

cull_against cull_against_full(const cull_records_comparison *c, const cull_yardstick *by,
                               const cull_records_arm *arm)
{
    const cull_records_arm *full = cull_against_whom(c);
    cull_against            out = {0};
    cull_stat_paired        test = {0};
    double                  gain[MOST_PAIRS];

    for (size_t i = 0; full && i < full->runs && out.pairs < MOST_PAIRS; i++) {
        const cull_records_compared *theirs = &full->run[i];
        const cull_records_compared *ours = find_run(arm, theirs->seed, i);

        if (cull_against_told(theirs) && ours)
            gain[out.pairs++] = cull_yardstick_gain(by, ours->accuracy, theirs->accuracy);
    }
    test = cull_stat_test(gain, out.pairs, cull_yardstick_step(by, c->test));
    out.gain = test.mean;
    out.sd = test.sd;
    cull_stat_interval(&test, CULL_AGAINST_LEVEL, &out.low, &out.high);
    return out;
}

/* What its interval is made of; n is 0 where a damaged file tells too little. */
static cull_stat_paired test_of(const cull_records_arm *arm)
{
    const cull_records_versus *v = cull_records_primary(arm);
    cull_stat_paired           test = {.mean = NAN, .sd = NAN, .t = NAN, .p = NAN};

    if (!v || !(v->pairs >= 2 && v->pairs <= 1e9) || !isfinite(v->difference) || !(v->sd >= 0) ||
        !isfinite(v->sd) || !(v->p >= 0 && v->p <= 1))
        return test;
    return (cull_stat_paired){
        .n = (size_t)v->pairs, .mean = v->difference, .sd = v->sd, .t = NAN, .p = v->p};
}

void cull_against_adjust(const cull_records_comparison *c, cull_adjusted *out)
{
    size_t arms = c->arms < MOST_ARMS ? c->arms : MOST_ARMS;
    double level[MOST_ARMS];

    for (size_t i = 0; i < arms; i++) level[i] = test_of(&c->arm[i]).p;
    cull_stat_holm_levels(level, arms, ALPHA, level);
    for (size_t i = 0; i < c->arms; i++) {
        cull_stat_paired test = {0};

        out[i] = (cull_adjusted){NAN, NAN, NAN};
        if (i >= arms || isnan(level[i])) continue;
        test = test_of(&c->arm[i]);
        out[i].level = level[i];
        cull_stat_interval(&test, level[i], &out[i].low, &out[i].high);
    }
}
