/*
 * data/pair.c - a test set held against its training set: is it another one, and on its scale?
 *
 * By the samples of both, for every gauge whose channel spreads in training,
 *
 *     shift = (centre' - centre) / spread        scale = log(spread' / spread)
 *
 * and `width` is the same of the distance from the smallest to the largest of all inputs. The
 * medians over the gauges tell of the set as a whole: a column that goes on with time, or a
 * category that was rare, moves its own channel alone. Pictures keep their range however dark or
 * dull they are; so where many numbers were seen, a range of another width is what tells another
 * scale from other contents.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data/inspect.h"

// clang-format off
/* Refused: by shift or scale alone, */
#define GLARING_SHIFT 50.       /* however few examples there are */
#define GLARING_SCALE log(50)
#define FAR_SHIFT     3.
#define FAR_SCALE     log(5)
/* or by less of them and a range of another width. */
#define LARGE_SCALE   log(2.5)
#define OTHER_SHIFT   .9
#define OTHER_SCALE   log(1.6)
#define OTHER_WIDTH   log(1.6)
#define OTHER_BYTES   log(8)    /* bytes have a scale: only 0 and 1 among them are another */
/* Remarked, also of single channels. */
#define SOME_SHIFT    1.
#define SOME_SCALE    log(2)
#define ALONE_SHIFT   5.
#define ALONE_SCALE   log(10)
// clang-format on

enum { ENOUGH = 20, ENOUGH_NUMBERS = 100, PLENTY = 30, MANY_NUMBERS = 64 };

struct gap {
    double shift, scale, width; /* medians; width of all channels together          */
    size_t gauges, alone;       /* compared, and far from training by themselves    */
    size_t first;               /* gauge of those                                   */
    bool   enough;              /* was seen                                         */
};

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    if (count == 0) return 0;
    qsort(values, count, sizeof *values, by_size);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void find_range(const cull_dataset *set, double *low, double *high)
{
    const cull_data_sample *s = set->sample;

    *low = s->low[0];
    *high = s->high[0];
    for (size_t c = 0; c < set->channels; c++) {
        *low = fmin(*low, s->low[c]);
        *high = fmax(*high, s->high[c]);
    }
}

static double compare_widths(const cull_dataset *test, const cull_dataset *train)
{
    double low[2], high[2];

    find_range(test, &low[0], &high[0]);
    find_range(train, &low[1], &high[1]);
    if (!(high[0] > low[0]) || !(high[1] > low[1])) return 0;
    return fabs(log((high[0] - low[0]) / (high[1] - low[1])));
}

static void measure_gap(const cull_dataset *test, const cull_dataset *train, struct gap *out)
{
    const cull_data_sample *a = train->sample, *b = test->sample;
    double                  shift[CULL_DATA_GAUGES], scale[CULL_DATA_GAUGES];
    size_t                  scales = 0, fewer = a->count < b->count ? a->count : b->count;

    *out = (struct gap){.width = compare_widths(test, train)};
    for (size_t i = 0; i < a->gauges; i++) {
        double moved = 0, stretched = 0;

        if (!(a->spread[i] > 0)) continue;
        shift[out->gauges++] = moved = (b->centre[i] - a->centre[i]) / a->spread[i];
        if (b->spread[i] > 0) scale[scales++] = stretched = log(b->spread[i] / a->spread[i]);
        if (fabs(moved) < ALONE_SHIFT && fabs(stretched) < ALONE_SCALE) continue;
        if (out->alone++ == 0) out->first = i;
    }
    out->shift = fabs(median(shift, out->gauges));
    out->scale = fabs(median(scale, scales));
    out->enough = fewer >= ENOUGH && fewer * cull_data_row(train) >= ENOUGH_NUMBERS;
}

static bool is_another_scale(const struct gap *g, const cull_dataset *test)
{
    if (test->dtype == CULL_U8)
        return g->enough && g->scale >= FAR_SCALE && g->width >= OTHER_BYTES;
    if (g->shift >= GLARING_SHIFT || g->scale >= GLARING_SCALE) return true;
    if (!g->enough) return false;
    if (g->shift >= FAR_SHIFT || g->scale >= FAR_SCALE) return true;
    return cull_data_row(test) >= MANY_NUMBERS && g->width >= OTHER_WIDTH &&
           (g->scale >= LARGE_SCALE || (g->shift >= OTHER_SHIFT && g->scale >= OTHER_SCALE));
}

static cull_status refuse_scale(const cull_dataset *test, const cull_dataset *train)
{
    cull_status             status = CULL_OK;
    const cull_data_sample *a = train->sample, *b = test->sample;
    double                  low[2], high[2];

    find_range(test, &low[0], &high[0]);
    find_range(train, &low[1], &high[1]);
    FAIL_OPTION("data.test",
                "%s is normalised otherwise than %s: mean %.4g and deviation %.4g, from %.4g to "
                "%.4g, where training has mean %.4g and deviation %.4g, from %.4g to %.4g; bring "
                "both to one scale",
                test->name, train->name, b->mean, b->deviation, low[0], high[0], a->mean,
                a->deviation, low[1], high[1]);
done:
    return status;
}

/* By its column's name, or its number. */
static void name_input(const cull_dataset *set, size_t c, char out[CULL_TEXT_SHOWN])
{
    const cull_texts *names = &set->feature_names;

    if (c < names->count)
        (void)cull_text_show(names->text[c], strlen(names->text[c]), out);
    else
        (void)snprintf(out, CULL_TEXT_SHOWN, "%zu", c);
}

static cull_status check_scale(cull_dataset *test, const cull_dataset *train)
{
    cull_status             status = CULL_OK;
    const cull_data_sample *a = train->sample, *b = test->sample;
    struct gap              g = {0};
    char                    name[CULL_TEXT_SHOWN];

    measure_gap(test, train, &g);
    if (is_another_scale(&g, test)) TRY(refuse_scale(test, train));
    if (g.enough && (g.shift >= SOME_SHIFT || g.scale >= SOME_SCALE)) {
        TRY(cull_data_remark(test,
                             "%s: inputs are unlike those of %s: mean %.4g and deviation %.4g, "
                             "where training has mean %.4g and deviation %.4g; is it normalised "
                             "alike?",
                             test->name, train->name, b->mean, b->deviation, a->mean,
                             a->deviation));
        goto done;
    }
    name_input(train, cull_data_gauged(train, a, g.first), name);
    if (b->count >= PLENTY && g.alone)
        TRY(cull_data_remark(test,
                             "%s: %zu of %zu inputs compared are far from those of %s; the middle "
                             "of input %s is %.4g, in training %.4g; is it normalised alike?",
                             test->name, g.alone, g.gauges, train->name, name, b->centre[g.first],
                             a->centre[g.first]));
done:
    return status;
}

static bool same_shape(const cull_dataset *a, const cull_dataset *b)
{
    return a->dtype == b->dtype && a->channels == b->channels && a->height == b->height &&
           a->width == b->width;
}

/* Is it the same examples? */
static cull_status check_same(cull_dataset *test, const cull_dataset *train, bool own, bool *same)
{
    cull_status status = CULL_OK;
    char        mine[CULL_DATA_PRINT], other[CULL_DATA_PRINT];

    cull_data_print(train, mine);
    cull_data_print(test, other);
    *same = !cull_data_print_difference(mine, other);
    if (*same && !own)
        FAIL_OPTION("data.test",
                    "%s is the training set, so that its accuracy would be that of training; name "
                    "another file, or leave it out and let data.split=0.1 set examples aside",
                    test->name);
    if (*same)
        TRY(cull_data_remark(test, "the test set is the training set: its accuracy is that of "
                                   "training"));
done:
    return status;
}

cull_status cull_data_check_pair(cull_dataset *test, const cull_dataset *train, bool own)
{
    cull_status status = CULL_OK;
    bool        same = false;

    TRY(check_same(test, train, own, &same));
    if (test->dtype != train->dtype)
        FAIL_OPTION("data.test",
                    "%s holds %s inputs and %s %s: they are normalised otherwise; bring both to "
                    "one type and scale",
                    test->name, cull_dtype_name(test->dtype), train->name,
                    cull_dtype_name(train->dtype));
    /* other shapes cannot be adopted, and are told then */
    if (same || !same_shape(test, train)) goto done;
    if (test->dtype != CULL_I32) TRY(check_scale(test, train));
    TRY(cull_data_check_overlap(test, train));
done:
    return status;
}
