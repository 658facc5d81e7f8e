/*
 * records/picks.c - what a run picked: selection.npz against corruption.npz.
 *
 *     picked rate = sum of counts over corrupted examples / sum of all counts
 *     base rate   = corrupted examples / examples
 */
#include "records/picks.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"
#include "records/files.h"
#include "tensor/tensor.h"

static int64_t whole(const cull_tensor *t, size_t i)
{
    return (int64_t)cull_tensor_get(t, i);
}

/* A vector (or, with columns, a matrix) of whole numbers; *found stays false when there is none. */
static cull_status get_whole(cull_arrays *arrays, const char *name, int64_t columns,
                             cull_tensor *out, bool *found)
{
    cull_status status = CULL_OK;

    if (!cull_records_has_array(arrays, name)) goto done;
    TRY(cull_arrays_get(arrays, name, out));
    *found = (out->dtype == CULL_I64 || out->dtype == CULL_I32) && out->dims == (columns ? 2 : 1) &&
             (!columns || out->shape[1] == columns);
done:
    return status;
}

static bool find_file(const char *folder, const char *name, char path[CULL_DATA_PATH])
{
    struct stat info = {0};

    return cull_base_join(folder, name, path) == CULL_OK && stat(path, &info) == 0 &&
           S_ISREG(info.st_mode);
}

/* Examples, those never trained, and the histogram. */
static cull_status count_picks(const char *path, const cull_tensor *count, cull_records_picks *out)
{
    cull_status status = CULL_OK;
    size_t     *times = NULL;
    size_t      examples = (size_t)count->shape[0], below = 0;
    int64_t     most = 0;

    for (size_t i = 0; i < examples; i++) {
        int64_t value = whole(count, i);
        if (value < 0 || value > INT32_MAX)
            FAIL(CULL_BAD_FILE, "%s: a count of %lld", path, (long long)value);
        if (value > most) most = value;
    }
    out->examples = examples;
    out->most = (size_t)most;
    out->width = out->most / CULL_RECORDS_BINS + 1;
    for (size_t i = 0; i < examples; i++) {
        size_t value = (size_t)whole(count, i);
        out->never += value == 0;
        out->bin[value / out->width] += 1;
    }
    /* The median by counting, where the counts are small enough to be counted. */
    if (out->most < 1u << 20) {
        TRY(cull_base_alloc(out->most + 1, sizeof *times, "counts", &times));
        for (size_t i = 0; i < examples; i++) times[whole(count, i)]++;
        while (2 * (below + times[out->median]) < examples) below += times[out->median++];
    }
    out->there = true;
done:
    cull_base_free(times);
    return status;
}

/* Are places in the pool places in the file? Yes where nothing was split off, cut or copied. */
static bool untouched(const cull_records_info *info, size_t examples)
{
    return info->data.train == (double)examples && info->data.validation == 0 &&
           info->data.dropped == 0 && info->data.copies == 0;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The examples whose label was changed to a wrong one, ascending; *harmed is the caller's. */
static cull_status list_harmed(const cull_tensor *changes, int64_t **harmed, size_t *count)
{
    cull_status status = CULL_OK;
    size_t      all = (size_t)changes->shape[0];
    cull_tensor flat = cull_vector(changes->data, changes->dtype, 3 * all);

    TRY(cull_base_alloc(all, sizeof **harmed, "marks", harmed));
    for (size_t i = 0; i < all; i++)
        if (whole(&flat, 3 * i + 1) != whole(&flat, 3 * i + 2))
            (*harmed)[(*count)++] = whole(&flat, 3 * i);
    if (*count) qsort(*harmed, *count, sizeof **harmed, by_value);
done:
    return status;
}

/* Every copy of an example is one, where there are origins. */
static cull_status match_corruption(cull_arrays *selection, const cull_tensor *count,
                                    cull_arrays *corruption, const cull_records_info *info,
                                    cull_records_picks *out)
{
    cull_status status = CULL_OK;
    cull_tensor changes = {0}, origin = {0};
    int64_t    *harmed = NULL;
    size_t      examples = out->examples, count_harmed = 0, wrong = 0;
    double      all = 0, picked = 0;
    bool        mapped = false, changed = false;

    TRY(get_whole(selection, "origin", 0, &origin, &mapped));
    mapped = mapped && (size_t)origin.shape[0] == examples;
    TRY(get_whole(corruption, "relabelled", 3, &changes, &changed));
    if (!changed || changes.shape[0] == 0) goto done;
    if (!mapped && !untouched(info, examples)) goto done;
    TRY(list_harmed(&changes, &harmed, &count_harmed));
    for (size_t i = 0; i < examples; i++) {
        int64_t at = mapped ? whole(&origin, i) : (int64_t)i;
        double  value = (double)whole(count, i);

        all += value;
        if (!count_harmed || !bsearch(&at, harmed, count_harmed, sizeof *harmed, by_value))
            continue;
        wrong++;
        picked += value;
    }
    out->corruption = wrong > 0 && all > 0;
    out->base_rate = (double)wrong / (double)examples;
    out->picked_rate = all > 0 ? picked / all : NAN;
done:
    cull_base_free(harmed);
    return status;
}

cull_status cull_records_picks_read(const char *folder, const cull_records_info *info,
                                    cull_records_picks *out)
{
    cull_status  status = CULL_OK;
    char         path[CULL_DATA_PATH];
    cull_arrays *selection = NULL, *corruption = NULL;
    cull_tensor  count = {0};

    if (!find_file(folder, "selection.npz", path)) goto done;
    TRY(cull_arrays_open(path, &selection));
    TRY(cull_arrays_get(selection, "count", &count));
    if ((count.dtype != CULL_I32 && count.dtype != CULL_I64) || count.dims != 1 ||
        count.shape[0] < 1)
        FAIL(CULL_BAD_FILE, "%s: 'count' is no vector of whole numbers", path);
    TRY(count_picks(path, &count, out));
    if (!find_file(folder, "corruption.npz", path)) goto done;
    TRY(cull_arrays_open(path, &corruption));
    TRY(match_corruption(selection, &count, corruption, info, out));
done:
    cull_arrays_close(selection);
    cull_arrays_close(corruption);
    return status;
}
