/*
 * lab/probe/probe_figures.c - what a probe's gradients come to.
 *
 *     Wilson's interval of h hits in n trials, z = 1.96:
 *         (h + z^2/2 -+ z sqrt(h (n - h)/n + z^2/4)) / (n + z^2)
 *     quantile q of n sorted values: linear between the neighbours of place q (n - 1)
 */
#include <math.h>

#include "base/alloc.h"
#include "lab/probe/probe.h"
#include "records/judge/statistics.h"

#define Z95 1.959963984540054

static int sign_of(double x)
{
    return (x > 0) - (x < 0);
}

cull_probe_gap cull_probe_compare(const double *a, const double *b, size_t count)
{
    double error = 0, dot = 0, a2 = 0, b2 = 0;
    size_t same = 0;

    for (size_t i = 0; i < count; i++) {
        double apart = a[i] - b[i];

        error += apart * apart;
        dot += a[i] * b[i];
        a2 += a[i] * a[i];
        b2 += b[i] * b[i];
        same += sign_of(a[i]) == sign_of(b[i]);
    }
    return (cull_probe_gap){.error = error,
                            .cosine = a2 > 0 && b2 > 0 ? dot / (sqrt(a2) * sqrt(b2)) : NAN,
                            .sign = (double)same / (double)count};
}

double cull_probe_relative(const double *a, const double *b, size_t count)
{
    double error = 0, norm = 0;

    for (size_t i = 0; i < count; i++) {
        error += (a[i] - b[i]) * (a[i] - b[i]);
        norm += b[i] * b[i];
    }
    return norm > 0 ? error / norm : NAN;
}

cull_rate cull_probe_rate(double hits, double trials)
{
    double z2 = Z95 * Z95, centre = 0, half = 0;

    if (!(trials > 0)) return (cull_rate){.rate = NAN, .low = NAN, .high = NAN};
    centre = (hits + z2 / 2) / (trials + z2);
    half = Z95 * sqrt(hits * (trials - hits) / trials + z2 / 4) / (trials + z2);
    return (cull_rate){.hits = hits,
                       .trials = trials,
                       .rate = hits / trials,
                       .low = fmax(centre - half, 0),
                       .high = fmin(centre + half, 1)};
}

static double quantile(const double *sorted, size_t count, double q)
{
    double at = q * (double)(count - 1);
    size_t below = (size_t)at, above = below + 1 < count ? below + 1 : below;

    return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

/* A figure that is not there for one batch (no gradients, a zero gradient's cosine) is left out. */
cull_spread cull_probe_spread(double *value, size_t count)
{
    double sum = 0, squares = 0;
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if (!isnan(value[i])) value[n++] = value[i];
    if (n == 0) return (cull_spread){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    cull_stat_sort(value, n);
    for (size_t i = 0; i < n; i++) sum += value[i];
    for (size_t i = 0; i < n; i++)
        squares += (value[i] - sum / (double)n) * (value[i] - sum / (double)n);
    return (cull_spread){.mean = sum / (double)n,
                         .deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : NAN,
                         .low = quantile(value, n, .05),
                         .quarter = quantile(value, n, .25),
                         .median = quantile(value, n, .5),
                         .three_quarters = quantile(value, n, .75),
                         .high = quantile(value, n, .95)};
}

enum figure { ERROR, COSINE, SIGN, RELATIVE };
enum against { DATA, WHOLE, LAST };

static double figure_of(const cull_probe_pick *pick, int way, enum against against,
                        enum figure figure)
{
    const cull_probe_gap *gap = against == WHOLE ? &pick->whole[way] : &pick->data[way];

    if (against == LAST) return pick->last[way];
    switch (figure) {
    case ERROR: return gap->error;
    case COSINE: return gap->cosine;
    case SIGN: return gap->sign;
    case RELATIVE: return pick->relative[way];
    }
    return NAN;
}

static cull_spread spread_of(const cull_probe_arm *arm, size_t batches, int way,
                             enum against against, enum figure figure, double *scratch)
{
    for (size_t b = 0; b < batches; b++)
        scratch[b] = figure_of(&arm->pick[b], way, against, figure);
    return cull_probe_spread(scratch, batches);
}

const cull_probe_arm *cull_probe_control(const cull_probe_result *r, const cull_probe_arm *arm)
{
    for (size_t i = 0; i < r->arms; i++) {
        const cull_strategy *found = cull_strategy_of(r->arm[i].strategy);

        if (found && (found->traits & CULL_UNIFORM) && r->arm[i].keep == arm->keep)
            return &r->arm[i];
    }
    return NULL;
}

static cull_rate wins_of(const cull_probe_arm *arm, const cull_probe_arm *control, size_t batches,
                         int way, enum against against)
{
    double hits = 0, trials = 0;

    for (size_t b = 0; control && control != arm && b < batches; b++) {
        double x = figure_of(&arm->pick[b], way, against, ERROR);
        double y = figure_of(&control->pick[b], way, against, ERROR);

        if (isnan(x) || isnan(y)) continue;
        hits += x < y ? 1 : x == y ? .5 : 0;
        trials++;
    }
    return cull_probe_rate(hits, trials);
}

static void sum_picks(cull_probe_arm *arm, size_t batches)
{
    double kept = 0, corrupted = 0, weight = 0, corrupted_weight = 0;

    for (size_t b = 0; b < batches; b++) {
        kept += (double)arm->pick[b].kept;
        corrupted += (double)arm->pick[b].corrupted;
        weight += arm->pick[b].weight;
        corrupted_weight += arm->pick[b].corrupted_weight;
    }
    arm->kept = kept / (double)batches;
    arm->corrupted = cull_probe_rate(corrupted, kept);
    arm->corrupted_weight = weight > 0 ? corrupted_weight / weight : NAN;
}

cull_status cull_probe_summarise(cull_probe_result *r)
{
    cull_status status = CULL_OK;
    size_t      n = r->batches;
    double     *scratch = NULL;

    TRY(cull_base_alloc(n, sizeof *scratch, "a probe's figures", &scratch));
    for (size_t a = 0; a < r->arms; a++) {
        cull_probe_arm       *arm = &r->arm[a];
        const cull_probe_arm *control = cull_probe_control(r, arm);

        sum_picks(arm, n);
        for (int way = 0; way < CULL_PROBE_WAYS; way++) {
            arm->error[way] = spread_of(arm, n, way, DATA, ERROR, scratch);
            arm->cosine[way] = spread_of(arm, n, way, DATA, COSINE, scratch);
            arm->sign[way] = spread_of(arm, n, way, DATA, SIGN, scratch);
            arm->batch_error[way] = spread_of(arm, n, way, WHOLE, ERROR, scratch);
            arm->batch_cosine[way] = spread_of(arm, n, way, WHOLE, COSINE, scratch);
            arm->batch_sign[way] = spread_of(arm, n, way, WHOLE, SIGN, scratch);
            arm->relative[way] = spread_of(arm, n, way, WHOLE, RELATIVE, scratch);
            arm->last[way] = spread_of(arm, n, way, LAST, RELATIVE, scratch);
            arm->wins[way] = wins_of(arm, control, n, way, DATA);
            arm->batch_wins[way] = wins_of(arm, control, n, way, WHOLE);
            arm->last_wins[way] = wins_of(arm, control, n, way, LAST);
        }
    }
done:
    cull_base_free(scratch);
    return status;
}
