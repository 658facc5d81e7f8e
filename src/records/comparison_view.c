/* records/comparison_view.c - a comparison that was judged, arm by arm, for programs. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sized.h"
#include "records/comparison.h"

struct cull_compare_record {
    cull_records_comparison comparison;
};

static bool is_finished(const cull_records_compared *run)
{
    return strcmp(run->status, "finished") == 0;
}

/* Mean over the finished runs that tell it. at: of the number, in a run. */
static double mean_of(const cull_records_arm *arm, size_t at)
{
    double sum = 0, count = 0;

    for (size_t i = 0; i < arm->runs; i++) {
        double value = *(const double *)(const void *)((const char *)&arm->run[i] + at);

        if (!is_finished(&arm->run[i]) || isnan(value)) continue;
        sum += value;
        count++;
    }
    return count > 0 ? sum / count : NAN;
}

static void view_phases(const cull_records_arm *arm, cull_compare_arm *out)
{
    out->joules = 0;
    for (size_t i = 0; i < CULL_PHASES_OF_COST; i++) {
        size_t at = i * sizeof(double);

        out->seconds[i] = mean_of(arm, offsetof(cull_records_compared, seconds) + at);
        out->joules += mean_of(arm, offsetof(cull_records_compared, joules) + at);
    }
}

static void view_reach(const cull_records_arm *arm, cull_compare_arm *out)
{
    static const double factors[] = {1.1, 1.2, 1.4};

    for (size_t k = 0; k < 3; k++) {
        out->to_error[k] = NAN;
        for (size_t i = 0; i < CULL_RECORDS_FACTORS; i++)
            if (fabs(arm->factor[i] - factors[k]) < 1e-9) out->to_error[k] = arm->to_error[i];
    }
}

void cull_records_arm_view(const cull_records_arm *arm, cull_compare_arm *out)
{
    const cull_records_versus *v = cull_records_primary(arm);

    *out = (cull_compare_arm){.name = arm->name,
                              .role = arm->role,
                              .verdict = arm->verdict,
                              .uniform = arm->uniform,
                              .guess = arm->guess,
                              .pareto = arm->pareto,
                              .runs = arm->runs,
                              .cost = arm->cost,
                              .counted = arm->counted,
                              .mean = arm->mean,
                              .sd = arm->sd,
                              .best = arm->best,
                              .low = NAN,
                              .high = NAN,
                              .difference = v ? v->difference : NAN,
                              .wilcoxon = v ? v->wilcoxon : NAN,
                              .more_seeds = v ? v->more_seeds : NAN,
                              .sentence = v ? v->sentence : ""};
    for (size_t i = 0; i < arm->runs; i++) {
        out->low = fmin(out->low, arm->run[i].best);
        out->high = fmax(out->high, arm->run[i].best);
    }
    view_reach(arm, out);
    view_phases(arm, out);
}

cull_status cull_compare_record_open(const char *folder, cull_compare_record **out)
{
    cull_status          status = CULL_OK;
    cull_compare_record *record = NULL;

    TRY(cull_base_alloc(1, sizeof *record, "a comparison", &record));
    TRY(cull_records_comparison_read(folder, &record->comparison));
    *out = record;
    record = NULL;
done:
    cull_compare_record_close(record);
    return status;
}

void cull_compare_record_close(cull_compare_record *record)
{
    if (!record) return;
    cull_records_comparison_clear(&record->comparison);
    cull_base_free(record);
}

bool cull_compare_record_arm(const cull_compare_record *record, size_t i, cull_compare_arm *out)
{
    cull_compare_arm arm;

    if (i >= record->comparison.arms) return false;
    cull_records_arm_view(&record->comparison.arm[i], &arm);
    cull_sized_give(out, &arm, sizeof arm);
    return true;
}

const char *cull_compare_record_verdict(const cull_compare_record *record)
{
    return record->comparison.verdict;
}
