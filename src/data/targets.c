/* data/targets.c - what real and several targets are, on the whole. */
#include "data/targets.h"

#include <math.h>

#include "base/alloc.h"

const char *cull_data_target_name(cull_target_kind kind)
{
    static const char *const names[] = {[CULL_TARGET_CLASS] = "one class",
                                        [CULL_TARGET_CLASSES] = "several classes",
                                        [CULL_TARGET_REAL] = "real numbers"};

    return names[kind];
}

static double mean_of(const cull_dataset *set, size_t k)
{
    const float *t = set->target.data;
    double       sum = 0;

    for (size_t i = 0; i < set->count; i++) sum += (double)t[i * set->target.width + k];
    return sum / (double)set->count;
}

static double variance_of(const cull_dataset *set, size_t k, double mean)
{
    const float *t = set->target.data;
    double       sum = 0;

    for (size_t i = 0; i < set->count; i++) {
        double off = (double)t[i * set->target.width + k] - mean;

        sum += off * off;
    }
    return sum / (double)set->count;
}

cull_status cull_target_scale_measure(const cull_dataset *set, cull_target_scale *out)
{
    cull_status status = CULL_OK;
    size_t      width = set->target.width;

    if (set->target.kind != CULL_TARGET_REAL) return CULL_OK;
    TRY(cull_base_alloc(width, sizeof *out->mean, "the scale of targets", &out->mean));
    TRY(cull_base_alloc(width, sizeof *out->deviation, "the scale of targets", &out->deviation));
    out->width = width;
    for (size_t k = 0; k < width; k++) {
        double mean = mean_of(set, k), variance = variance_of(set, k, mean);

        out->mean[k] = mean;
        out->deviation[k] = variance > 0 ? sqrt(variance) : 1;
    }
done:
    return status;
}

void cull_target_scale_clear(cull_target_scale *scale)
{
    cull_base_free(scale->mean);
    cull_base_free(scale->deviation);
    *scale = (cull_target_scale){0};
}

void cull_target_scale_apply(const cull_target_scale *scale, cull_dataset *set)
{
    float *t = set->target.data;

    for (size_t i = 0; i < set->count * scale->width; i++) {
        size_t k = i % scale->width;

        t[i] = (float)(((double)t[i] - scale->mean[k]) / scale->deviation[k]);
    }
}

double cull_data_target_variance(const cull_dataset *set)
{
    double sum = 0;

    for (size_t k = 0; k < set->target.width; k++) sum += variance_of(set, k, mean_of(set, k));
    return sum / (double)set->target.width;
}

uint64_t cull_data_target_holds(const cull_dataset *set)
{
    const uint8_t *t = set->target.data;
    uint64_t       holds = 0;

    for (size_t i = 0; i < set->count * set->target.width; i++) holds += t[i];
    return holds;
}
