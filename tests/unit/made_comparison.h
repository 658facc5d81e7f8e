/* tests/unit/made_comparison.h - a comparison's records, made up row by row. */
#ifndef CULL_TESTS_MADE_COMPARISON_H
#define CULL_TESTS_MADE_COMPARISON_H

#include <math.h>
#include <string.h>

#include "records/comparison.h"
#include "support.h"

enum { MADE_ARMS = 16, MADE_SEEDS = 8 };

/* An arm or control: accuracy is what its runs have on the mean; they stray from it by what all
 * runs of a seed share, and by `noise` times numbers of their own. */
typedef struct made_arm {
    const char *name, *role, *strategy, *verdict; /* verdict NULL: it gets none */
    double      cost, accuracy, noise;
    double      difference; /* to uniform choice at the same cost */
    size_t      failed;     /* runs */
} made_arm;

typedef struct made_comparison {
    cull_records_comparison is;
    cull_records_arm        arm[MADE_ARMS];
    cull_records_compared   run[MADE_ARMS][MADE_SEEDS];
    cull_records_versus     versus[MADE_ARMS];
} made_comparison;

static inline double made_mean(const cull_records_arm *arm)
{
    double sum = 0, count = 0;

    for (size_t i = 0; i < arm->runs; i++)
        if (isfinite(arm->run[i].accuracy)) sum += arm->run[i].accuracy, count++;
    return count > 0 ? sum / count : NAN;
}

static inline void make_comparison(const made_arm *rows, size_t count, size_t seeds,
                                   made_comparison *out)
{
    *out = (made_comparison){
        .is = {.finished = true, .margin = .5, .test = 10000, .guess = NAN, .seeds = seeds}};
    out->is.arm = out->arm;
    out->is.arms = count;
    for (size_t i = 0; i < count; i++) {
        const made_arm *row = &rows[i];
        bool            uniform = strstr(row->strategy, "random") != NULL;

        out->arm[i] = (cull_records_arm){.name = row->name,
                                         .role = row->role,
                                         .strategy = row->strategy,
                                         .pass = "none",
                                         .uniform = uniform,
                                         .cost = row->cost,
                                         .run = out->run[i],
                                         .runs = seeds,
                                         .verdict = row->verdict ? row->verdict : ""};
        for (size_t s = 0; s < seeds; s++)
            out->run[i][s] = (cull_records_compared){
                .seed = (double)s + 1,
                .status = s < row->failed ? "failed" : "finished",
                .why = "",
                .accuracy = s < row->failed ? NAN
                                            : row->accuracy + .3 * random_normal(7, s) +
                                                  row->noise * random_normal(8 + i, s)};
        out->arm[i].mean = made_mean(&out->arm[i]);
        if (!row->verdict) continue;
        out->versus[i] = (cull_records_versus){.control = "uniform",
                                               .kind = "whole-budget",
                                               .verdict = row->verdict,
                                               .sentence = "",
                                               .difference = row->difference};
        out->arm[i].versus = &out->versus[i];
        out->arm[i].controls = 1;
    }
}

#endif
