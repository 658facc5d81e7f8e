/*
 * data/dataset.c - a set of examples: growing, gathering, measuring.
 *
 *     mean_c = sum x / n      deviation_c = sqrt(sum (x - mean_c)^2 / n)      n = count * H * W
 */
#include "data/dataset.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "data/reader.h"

/* A deviation below this part of the mean is rounding, not change. */
static const double constant = 1e-10;

size_t cull_data_row(const cull_dataset *set)
{
    return set->channels * set->height * set->width;
}

size_t cull_data_row_bytes(const cull_dataset *set)
{
    return cull_data_row(set) * cull_dtype_size(set->dtype);
}

cull_status cull_data_create(const char *name, cull_dataset **out)
{
    cull_status   status = CULL_OK;
    cull_dataset *set = NULL;
    size_t        length = strlen(name);

    TRY(cull_base_alloc(1, sizeof *set, "a data set", &set));
    if (length >= sizeof set->name) length = sizeof set->name - 1;
    memcpy(set->name, name, length);
    *out = set;
done:
    return status;
}

void cull_data_close(cull_dataset *set)
{
    if (!set) return;
    cull_data_rows_release(set->rows);
    cull_base_free(set->labels);
    cull_base_free(set->origin);
    cull_base_free(set->marks);
    cull_base_free(set->mean);
    cull_base_free(set->deviation);
    cull_base_free(set);
}

cull_status cull_data_shape(cull_dataset *set, const char *path, cull_dtype dtype, size_t channels,
                            size_t height, size_t width)
{
    cull_status status = CULL_OK;

    if (set->mean) {
        if (set->dtype != dtype || set->channels != channels || set->height != height ||
            set->width != width)
            FAIL(CULL_BAD_FILE, "%s: %s examples of %zu x %zu x %zu, the file before it has others",
                 path, cull_dtype_name(dtype), channels, height, width);
        goto done;
    }
    if (channels < 1 || height < 1 || width < 1)
        FAIL(CULL_BAD_FILE, "%s: examples of %zu x %zu x %zu numbers; none may be 0", path,
             channels, height, width);
    if (height > CULL_DATA_MOST_SIDE || width > CULL_DATA_MOST_SIDE)
        FAIL(CULL_BAD_FILE, "%s: images of %zu x %zu pixels; a side is at most %d", path, height,
             width, CULL_DATA_MOST_SIDE);
    if (channels > CULL_DATA_MOST_ROW / (height * width))
        FAIL(CULL_BAD_FILE, "%s: examples of %zu x %zu x %zu; at most 2^31-1 numbers are read",
             path, channels, height, width);
    TRY(cull_base_alloc(channels, sizeof *set->deviation, "a data set", &set->deviation));
    TRY(cull_base_alloc(channels, sizeof *set->mean, "a data set", &set->mean));
    set->dtype = dtype;
    set->channels = channels;
    set->height = height;
    set->width = width;
done:
    return status;
}

/* Room for what is kept of each example beside its row. */
static cull_status add_places(cull_dataset *set, const char *path, uint64_t more)
{
    cull_status status = CULL_OK;
    size_t      total = 0;

    if (more > UINT32_MAX - 1 - set->count)
        FAIL(CULL_BAD_FILE, "%s: %llu examples behind %zu; 2^32-2 is the most", path,
             (unsigned long long)more, set->count);
    total = set->count + (size_t)more;
    TRY(cull_base_grow(total, sizeof *set->labels, "the labels of a data set", &set->labels));
    TRY(cull_base_grow(total, sizeof *set->origin, "a data set", &set->origin));
    TRY(cull_base_grow(total, sizeof *set->marks, "a data set", &set->marks));
    for (size_t i = set->count; i < total; i++) {
        set->origin[i] = (uint32_t)i;
        set->marks[i] = 0;
    }
done:
    return status;
}

cull_status cull_data_extend(cull_dataset *set, const char *path, uint64_t more)
{
    cull_status status = CULL_OK;

    TRY(add_places(set, path, more));
    TRY(cull_data_rows_grow(&set->rows, set->count + (size_t)more, cull_data_row_bytes(set)));
done:
    return status;
}

cull_status cull_data_hold(cull_dataset *set, const char *path, cull_data_rows *rows)
{
    cull_status status = CULL_OK;

    TRY(add_places(set, path, rows->count));
    set->rows = cull_data_rows_share(rows);
done:
    return status;
}

void *cull_data_base(const cull_dataset *set)
{
    return set->rows ? set->rows->base : NULL;
}

void *cull_data_end(const cull_dataset *set)
{
    return (char *)set->rows->base + set->count * cull_data_row_bytes(set);
}

cull_status cull_data_row_at(const cull_dataset *set, size_t place, void *buffer, const void **out)
{
    const cull_data_rows *rows = set->rows;

    *out = buffer;
    if (!rows->base) return rows->class->read(rows, set->origin[place], buffer);
    *out = (const char *)rows->base + set->origin[place] * cull_data_row_bytes(set);
    return CULL_OK;
}

static void copy_statistics(cull_dataset *to, const cull_dataset *from)
{
    memcpy(to->mean, from->mean, from->channels * sizeof *to->mean);
    memcpy(to->deviation, from->deviation, from->channels * sizeof *to->deviation);
    to->published = from->published;
    to->classes = from->classes;
}

cull_status cull_data_gather(const cull_dataset *set, const uint32_t *places, size_t count,
                             cull_dataset **out)
{
    cull_status status = CULL_OK;
    cull_dataset *new = NULL;

    TRY(cull_data_create(set->name, &new));
    TRY(cull_data_shape(new, set->name, set->dtype, set->channels, set->height, set->width));
    TRY(add_places(new, set->name, count));
    new->rows = cull_data_rows_share(set->rows);
    copy_statistics(new, set);
    for (size_t i = 0; i < count; i++) {
        new->labels[i] = set->labels[places[i]];
        new->origin[i] = set->origin[places[i]];
        new->marks[i] = set->marks[places[i]];
    }
    new->count = count;
    *out = new;
    new = NULL;
done:
    cull_data_close(new);
    return status;
}

void cull_data_keep(cull_dataset *set, const uint32_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        set->labels[i] = set->labels[places[i]];
        set->origin[i] = set->origin[places[i]];
        set->marks[i] = set->marks[places[i]];
    }
    set->count = count;
}

cull_status cull_data_adopt(cull_dataset *set, const cull_dataset *train)
{
    cull_status status = CULL_OK;

    if (set->dtype != train->dtype || set->channels != train->channels ||
        set->height != train->height || set->width != train->width)
        FAIL(CULL_BAD_ARGUMENT, "%s: %s %zu x %zu x %zu, but trained on %s %zu x %zu x %zu",
             set->name, cull_dtype_name(set->dtype), set->channels, set->height, set->width,
             cull_dtype_name(train->dtype), train->channels, train->height, train->width);
    for (size_t i = 0; i < set->count; i++)
        if ((size_t)set->labels[i] >= train->classes)
            FAIL(CULL_BAD_ARGUMENT, "%s: example %zu is of class %d; %zu classes were trained on",
                 set->name, i, set->labels[i], train->classes);
    copy_statistics(set, train);
done:
    return status;
}

/* Whole numbers, so that no order of adding could change the result. */
static cull_status measure_images(cull_dataset *set, void *buffer)
{
    cull_status status = CULL_OK;
    uint64_t   *sum = NULL, *square = NULL;
    const void *row = NULL;
    size_t      area = set->height * set->width;
    double      n = (double)set->count * (double)area;

    TRY(cull_base_alloc(set->channels, sizeof *sum, "measuring a data set", &sum));
    TRY(cull_base_alloc(set->channels, sizeof *square, "measuring a data set", &square));
    for (size_t i = 0; i < set->count; i++) {
        TRY(cull_data_row_at(set, i, buffer, &row));
        for (size_t c = 0; c < set->channels; c++) {
            const uint8_t *next = (const uint8_t *)row + c * area;
            uint64_t       some = 0, squares = 0;
            for (size_t j = 0; j < area; j++) {
                some += next[j];
                squares += (unsigned)next[j] * next[j];
            }
            sum[c] += some;
            square[c] += squares;
        }
    }
    for (size_t c = 0; c < set->channels; c++) {
        double mean = (double)sum[c] / n;
        double variance = (double)square[c] / n - mean * mean;
        set->mean[c] = mean / 255;
        set->deviation[c] = variance > 0 ? sqrt(variance) / 255 : 0;
    }
done:
    cull_base_free(square);
    cull_base_free(sum);
    return status;
}

/* sum_c += x, or with a mean (x - mean_c)^2, over all examples in order. */
static cull_status sum_features(const cull_dataset *set, void *buffer, const double *mean,
                                double *sum)
{
    cull_status status = CULL_OK;
    const void *row = NULL;
    size_t      area = set->height * set->width;

    memset(sum, 0, set->channels * sizeof *sum);
    for (size_t i = 0; i < set->count; i++) {
        TRY(cull_data_row_at(set, i, buffer, &row));
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
done:
    return status;
}

cull_status cull_data_measure(cull_dataset *set)
{
    cull_status status = CULL_OK;
    void       *buffer = NULL;

    if (!cull_data_base(set))
        TRY(cull_base_alloc(1, cull_data_row_bytes(set), "measuring a data set", &buffer));
    TRY(set->dtype == CULL_U8 ? measure_images(set, buffer) : measure_features(set, buffer));
    for (size_t c = 0; c < set->channels; c++)
        if (set->deviation[c] <= constant * fabs(set->mean[c])) set->deviation[c] = 1;
    set->published = false;
done:
    cull_base_free(buffer);
    return status;
}

/* The examples one behind the other: where they lie so already, or a copy that is the caller's. */
static cull_status line_up(const cull_dataset *set, void **copy, const void **out)
{
    cull_status status = CULL_OK;
    size_t      bytes = cull_data_row_bytes(set), in_order = 0;
    const void *row = NULL;

    while (in_order < set->count && set->origin[in_order] == in_order) in_order++;
    *out = cull_data_base(set);
    if (*out && in_order == set->count) goto done;
    TRY(cull_base_alloc(set->count, bytes, "the inputs of a data set", copy));
    for (size_t i = 0; i < set->count; i++) {
        char *to = (char *)*copy + i * bytes;
        TRY(cull_data_row_at(set, i, to, &row));
        if (row != to) memcpy(to, row, bytes);
    }
    *out = *copy;
done:
    return status;
}

cull_status cull_data_write(const cull_dataset *set, const char *path)
{
    cull_status status = CULL_OK;
    size_t      row = cull_data_row(set);
    void       *copy = NULL;
    const void *inputs = NULL;
    cull_array  arrays[2] = {{.name = "x"}, {"y", cull_vector(set->labels, CULL_I32, set->count)}};

    TRY(line_up(set, &copy, &inputs));
    arrays[0].tensor = cull_matrix(inputs, set->dtype, set->count, row);
    if (set->height * set->width > 1)
        arrays[0].tensor =
            cull_images(inputs, set->dtype, set->count, set->channels, set->height, set->width);
    TRY(cull_arrays_write(path, arrays, 2));
done:
    cull_base_free(copy);
    return status;
}
