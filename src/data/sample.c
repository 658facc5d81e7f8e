/* data/sample.c - a sample of a set's examples, and the fingerprint that is made of it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/rng.h"
#include "data/inspect.h"

enum { MOST_BYTES = 1 << 28, WORDS = 4 };

#define NORMAL_HALF 1.349 /* deviations that the middle half of a normal distribution covers */

static size_t looks_at(const cull_dataset *set)
{
    size_t bytes = cull_data_row_bytes(set), fit = MOST_BYTES / bytes;
    size_t most = fit < 1 ? 1 : fit < CULL_DATA_LOOKS ? fit : CULL_DATA_LOOKS;

    return set->count < most ? set->count : most;
}

/* One of each of `count` equal parts of the set, so that places ascend and none comes twice. */
static void draw_places(size_t all, cull_data_sample *s)
{
    cull_key key = cull_key_make(0, "fingerprint");

    for (size_t i = 0; i < s->count; i++) {
        uint64_t from = (uint64_t)all * i / s->count, to = (uint64_t)all * (i + 1) / s->count;

        s->place[i] = (uint32_t)(from + cull_base_below(key, 0, i, to - from));
    }
}

static double number_at(const void *row, cull_dtype dtype, size_t i)
{
    if (dtype == CULL_U8) return ((const uint8_t *)row)[i];
    return dtype == CULL_I32 ? ((const int32_t *)row)[i] : (double)((const float *)row)[i];
}

/* What is seen of one example's channel: mean and deviation. */
struct seen {
    double mean, deviation;
};

/* Sums of the distances from its first number, which lies among the others: so that their squares
 * leave digits to what is small beside its mean. */
static struct seen see_channel(const cull_dataset *set, const void *row, size_t c,
                               cull_data_sample *s)
{
    size_t area = set->height * set->width;
    double first = number_at(row, set->dtype, c * area), sum = 0, square = 0, n = (double)area;

    for (size_t j = 0; j < area; j++) {
        double x = number_at(row, set->dtype, c * area + j), d = x - first;

        sum += d;
        square += d * d;
        s->low[c] = fmin(s->low[c], x);
        s->high[c] = fmax(s->high[c], x);
    }
    square = square / n - sum / n * (sum / n);
    return (struct seen){first + sum / n, square > 0 ? sqrt(square) : 0};
}

/* seen: [gauges][count], of which this is the ith example. */
static void see_row(const cull_dataset *set, const void *row, size_t i, struct seen *seen,
                    cull_data_sample *s)
{
    double n = (double)s->count * (double)set->channels;
    size_t gauge = 0;

    for (size_t c = 0; c < set->channels; c++) {
        struct seen of = {0};

        if (i == 0)
            s->low[c] = s->high[c] = number_at(row, set->dtype, c * set->height * set->width);
        of = see_channel(set, row, c, s);
        s->mean += of.mean / n;
        s->deviation += (of.mean * of.mean + of.deviation * of.deviation) / n;
        if (gauge < s->gauges && cull_data_gauged(set, s, gauge) == c)
            seen[gauge++ * s->count + i] = of;
    }
}

static int by_mean(const void *a, const void *b)
{
    double x = ((const struct seen *)a)->mean, y = ((const struct seen *)b)->mean;

    return (x > y) - (x < y);
}

static int by_deviation(const void *a, const void *b)
{
    double x = ((const struct seen *)a)->deviation, y = ((const struct seen *)b)->deviation;

    return (x > y) - (x < y);
}

static void gauge(struct seen *seen, bool pictures, cull_data_sample *s, size_t i)
{
    size_t last = s->count - 1;

    qsort(seen, s->count, sizeof *seen, by_mean);
    s->centre[i] = seen[last / 2].mean;
    s->spread[i] = (seen[last * 3 / 4].mean - seen[last / 4].mean) / NORMAL_HALF;
    if (!pictures) return;
    qsort(seen, s->count, sizeof *seen, by_deviation);
    s->spread[i] = seen[last / 2].deviation;
}

static cull_status read_sample(const cull_dataset *set, cull_data_sample *s)
{
    cull_status  status = CULL_OK;
    size_t       bytes = cull_data_row_bytes(set);
    void        *buffer = NULL;
    const void  *row = NULL;
    struct seen *seen = NULL;

    if (s->count == 0) goto done;
    TRY(cull_base_alloc(s->gauges * s->count, sizeof *seen, "looking at a data set", &seen));
    if (!cull_data_base(set)) TRY(cull_base_alloc(1, bytes, "looking at a data set", &buffer));
    for (size_t i = 0; i < s->count; i++) {
        TRY(cull_data_row_at(set, s->place[i], buffer, &row));
        s->hash[i] = cull_base_hash(row, bytes);
        see_row(set, row, i, seen, s);
    }
    s->deviation = sqrt(fmax(0, s->deviation - s->mean * s->mean));
    for (size_t i = 0; i < s->gauges; i++)
        gauge(seen + i * s->count, set->height * set->width > 1, s, i);
done:
    cull_base_free(buffer);
    cull_base_free(seen);
    return status;
}

cull_status cull_data_look(cull_dataset *set)
{
    cull_status       status = CULL_OK;
    static const char what[] = "looking at a data set";
    cull_data_sample *s = NULL;

    TRY(cull_base_alloc(1, sizeof *s, what, &s));
    s->count = looks_at(set);
    s->gauges = set->channels < CULL_DATA_GAUGES ? set->channels : CULL_DATA_GAUGES;
    TRY(cull_base_alloc(s->count, sizeof *s->place, what, &s->place));
    TRY(cull_base_alloc(s->count, sizeof *s->hash, what, &s->hash));
    TRY(cull_base_alloc(set->channels, sizeof *s->low, what, &s->low));
    TRY(cull_base_alloc(set->channels, sizeof *s->high, what, &s->high));
    TRY(cull_base_alloc(s->gauges, sizeof *s->centre, what, &s->centre));
    TRY(cull_base_alloc(s->gauges, sizeof *s->spread, what, &s->spread));
    draw_places(set->count, s);
    TRY(read_sample(set, s));
    set->sample = s;
    s = NULL;
done:
    cull_data_sample_close(s);
    return status;
}

void cull_data_sample_close(cull_data_sample *s)
{
    if (!s) return;
    cull_base_free(s->place);
    cull_base_free(s->hash);
    cull_base_free(s->low);
    cull_base_free(s->high);
    cull_base_free(s->centre);
    cull_base_free(s->spread);
    cull_base_free(s);
}

/* ---- the fingerprint ---- */

static uint64_t hash_targets(const cull_dataset *set)
{
    uint64_t hash = cull_base_hash(set->target.data, set->count * cull_data_target_bytes(set));

    for (size_t i = 0; i < set->class_names.count; i++) {
        const char *name = set->class_names.text[i];
        uint64_t    both[2] = {hash, cull_base_hash(name, strlen(name))};

        hash = cull_base_hash(both, sizeof both);
    }
    return hash;
}

void cull_data_print(const cull_dataset *set, char out[CULL_DATA_PRINT])
{
    static const char *const kinds[] = {[CULL_TARGET_CLASS] = "class",
                                        [CULL_TARGET_CLASSES] = "classes",
                                        [CULL_TARGET_REAL] = "real"};
    const cull_data_sample  *s = set->sample;
    bool                     one = set->target.kind == CULL_TARGET_CLASS;

    (void)snprintf(out, CULL_DATA_PRINT, "%zu %s:%zux%zux%zu %s:%zu:%016" PRIx64 " %016" PRIx64,
                   set->count, cull_dtype_name(set->dtype), set->channels, set->height, set->width,
                   kinds[set->target.kind], one ? set->classes : set->target.width,
                   hash_targets(set), cull_base_hash(s->hash, s->count * sizeof *s->hash));
}

const char *cull_data_print_difference(const char *a, const char *b)
{
    static const char *const what[WORDS] = {"another number of examples", "inputs of another shape",
                                            "other labels", "other inputs"};

    for (size_t i = 0; i < WORDS; i++) {
        size_t word = strcspn(a, " ");

        if (word != strcspn(b, " ") || memcmp(a, b, word) != 0) return what[i];
        a += word + (a[word] != '\0');
        b += word + (b[word] != '\0');
    }
    return NULL;
}
