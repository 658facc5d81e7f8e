/*
 * data/normalise.c - the mean and deviation that inputs are normalised with, measured.
 *
 *     mean_c = sum x / n      deviation_c = sqrt(sum (x - mean_c)^2 / n)      n = count * H * W
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "data/reader.h"
#include "data/write_rows.h"

/* A deviation below this part of the mean is rounding, not change. */
static const double constant = 1e-10;

void cull_data_add_image(const cull_dataset *set, const uint8_t *row, uint64_t *sum,
                         uint64_t *square)
{
    size_t area = set->height * set->width;

    for (size_t c = 0; c < set->channels; c++) {
        const uint8_t *next = row + c * area;
        uint64_t       some = 0, squares = 0;
        for (size_t j = 0; j < area; j++) {
            some += next[j];
            squares += (unsigned)next[j] * next[j];
        }
        sum[c] += some;
        square[c] += squares;
    }
}

/* A channel that never changes is divided by 1. */
static void settle(cull_dataset *set)
{
    for (size_t c = 0; c < set->channels; c++)
        if (set->deviation[c] <= constant * fabs(set->mean[c])) set->deviation[c] = 1;
    set->published = set->stored = false;
}

void cull_data_settle_images(cull_dataset *set, const uint64_t *sum, const uint64_t *square)
{
    double n = (double)set->count * (double)(set->height * set->width);

    for (size_t c = 0; c < set->channels; c++) {
        double mean = (double)sum[c] / n;
        double variance = (double)square[c] / n - mean * mean;
        set->mean[c] = mean / 255;
        set->deviation[c] = variance > 0 ? sqrt(variance) / 255 : 0;
    }
    settle(set);
}

/* Rows that are made when they are asked for are made by several threads. */
static cull_status measure_images(cull_dataset *set)
{
    cull_status status = CULL_OK;
    uint64_t   *sums = NULL;

    TRY(cull_base_alloc(2 * set->channels, sizeof *sums, "measuring a data set", &sums));
    TRY(cull_data_write_inputs(set, &(cull_data_way){.sums = sums}));
    cull_data_settle_images(set, sums, sums + set->channels);
done:
    cull_base_free(sums);
    return status;
}

cull_status cull_data_check_finite(const char *name, const float *x, size_t numbers, size_t example)
{
    for (size_t i = 0; i < numbers; i++)
        if (!isfinite(x[i]))
            return cull_fail(CULL_BAD_FILE, "%s: number %zu of example %zu is not finite", name, i,
                             example);
    return CULL_OK;
}

/* sum_c += x, or with a mean (x - mean_c)^2, over all examples in order. What lies in memory was
 * looked at when it came there. */
static cull_status sum_features(const cull_dataset *set, void *buffer, const double *mean,
                                double *sum)
{
    cull_status status = CULL_OK;
    const void *row = NULL;
    size_t      area = set->height * set->width;

    memset(sum, 0, set->channels * sizeof *sum);
    for (size_t i = 0; i < set->count; i++) {
        TRY(cull_data_row_at(set, i, buffer, &row));
        if (!mean && buffer) TRY(cull_data_check_finite(set->name, row, cull_data_row(set), i));
        for (size_t c = 0; c < set->channels; c++)
            for (size_t j = 0; j < area; j++) {
                double x = (double)((const float *)row)[c * area + j];
                sum[c] += mean ? (x - mean[c]) * (x - mean[c]) : x;
            }
    }
done:
    return status;
}

static cull_status measure_features(cull_dataset *set, void *buffer)
{
    cull_status status = CULL_OK;
    double      n = (double)set->count * (double)(set->height * set->width);

    TRY(sum_features(set, buffer, NULL, set->mean));
    for (size_t c = 0; c < set->channels; c++) set->mean[c] /= n;
    TRY(sum_features(set, buffer, set->mean, set->deviation));
    for (size_t c = 0; c < set->channels; c++) set->deviation[c] = sqrt(set->deviation[c] / n);
    settle(set);
done:
    return status;
}

cull_status cull_data_measure(cull_dataset *set)
{
    cull_status status = CULL_OK;
    void       *buffer = NULL;

    if (set->dtype == CULL_I32) { /* numbers of pieces have no mean */
        for (size_t c = 0; c < set->channels; c++) set->deviation[c] = 1;
        goto done;
    }
    if (!cull_data_base(set) && set->dtype != CULL_U8)
        TRY(cull_base_alloc(1, cull_data_row_bytes(set), "measuring a data set", &buffer));
    TRY(set->dtype == CULL_U8 ? measure_images(set) : measure_features(set, buffer));
done:
    cull_base_free(buffer);
    return status;
}
