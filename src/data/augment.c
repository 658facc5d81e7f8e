/*
 * data/augment.c - normalising, shifting, mirroring and cutting out, row by row.
 *
 *     images     y = x * scale + shift,  scale = 1 / (255 deviation), shift = -mean / deviation
 *     features   y = (x - mean) / deviation, in double, so that a far mean costs no digits
 *
 * x (C, H, W) as stored; y (C, H, W), or (H, W, C) with a step of C between neighbours.
 */
#include "data/augment.h"

#include <string.h>

/* What is done to one example; a window of the padded image begins at (top, left). */
struct draw {
    size_t top, left;
    bool   moved, mirrored;
    size_t y0, y1, x0, x1; /* the hole; empty without cutout */
};

/* Room for one row of either type. */
union line {
    uint8_t image[CULL_DATA_MOST_SIDE];
    float   feature[CULL_DATA_MOST_SIDE];
};

cull_status cull_data_augment_check(const cull_data_augment *augment, cull_data_form form,
                                    const cull_dataset *set)
{
    cull_status status = CULL_OK;
    bool        flat = set->height * set->width == 1;

    if (form.dtype != CULL_F32 && form.dtype != CULL_F64)
        FAIL(CULL_BAD_ARGUMENT, "examples are handed over as float32 or float64");
    if (!augment) goto done;
    if (flat && (augment->pad || augment->flip || augment->cutout))
        FAIL(CULL_BAD_ARGUMENT, "%s: %s needs images, and these are features", set->name,
             augment->pad    ? "crop"
             : augment->flip ? "flip"
                             : "cutout");
    if (augment->pad > CULL_DATA_MOST_SIDE || augment->cutout > CULL_DATA_MOST_SIDE)
        FAIL(CULL_BAD_ARGUMENT, "%s: a padding of %zu or a cutout of %zu; %d is the most",
             set->name, augment->pad, augment->cutout, CULL_DATA_MOST_SIDE);
    if (augment->reflect && (augment->pad >= set->height || augment->pad >= set->width))
        FAIL(CULL_BAD_ARGUMENT, "%s: a reflected padding of %zu around %zu x %zu pixels", set->name,
             augment->pad, set->height, set->width);
done:
    return status;
}

static size_t below(uint32_t word, size_t bound)
{
    return (size_t)((uint64_t)word * bound >> 32);
}

static struct draw draw_for(const cull_dataset *set, const cull_data_augment *a, cull_key move,
                            cull_key hole, uint64_t epoch, uint32_t place)
{
    const uint32_t counter[4] = {place, 0, (uint32_t)epoch, (uint32_t)(epoch >> 32)};
    uint32_t       word[4] = {0};
    struct draw    d = {0};
    size_t         half = a->cutout / 2, y = 0, x = 0;

    cull_base_philox(move, counter, word);
    d.top = below(word[0], 2 * a->pad + 1);
    d.left = below(word[1], 2 * a->pad + 1);
    d.mirrored = a->flip && word[2] >> 31;
    d.moved = d.mirrored || d.top != a->pad || d.left != a->pad;
    if (!a->cutout) return d;
    cull_base_philox(hole, counter, word);
    y = below(word[0], set->height);
    x = below(word[1], set->width);
    d.y0 = y > half ? y - half : 0;
    d.x0 = x > half ? x - half : 0;
    d.y1 = y + a->cutout - half < set->height ? y + a->cutout - half : set->height;
    d.x1 = x + a->cutout - half < set->width ? x + a->cutout - half : set->width;
    return d;
}

/* Where `at` of the padded axis lies in the image of `length`; length itself: in the padding. */
static size_t source_of(size_t at, size_t pad, size_t length, bool reflect)
{
    if (at >= pad && at < pad + length) return at - pad;
    if (!reflect) return length;
    return at < pad ? pad - at : 2 * (length - 1) - (at - pad);
}

/* One row of the window: from `row`, a row of the image (NULL: in the padding), to `line`. */
#define DEFINE_MOVE(name, type)                                                                    \
    static void name(const type *row, size_t width, const cull_data_augment *a,                    \
                     const struct draw *d, type *line)                                             \
    {                                                                                              \
        size_t from = d->left > a->pad ? d->left - a->pad : 0; /* first pixel of the image */      \
        size_t at = a->pad > d->left ? a->pad - d->left : 0;   /* where it comes to lie    */      \
        size_t inside = from + at < width ? width - from - at : 0;                                 \
        if (!row || !a->reflect) memset(line, 0, width * sizeof *line);                            \
        if (!row) return;                                                                          \
        memcpy(line + at, row + from, inside * sizeof *line);                                      \
        for (size_t x = 0; a->reflect && x < width; x++)                                           \
            if (x < at || x >= at + inside)                                                        \
                line[x] = row[source_of(d->left + x, a->pad, width, true)];                        \
        for (size_t x = 0; d->mirrored && x < width / 2; x++) {                                    \
            type held = line[x];                                                                   \
            line[x] = line[width - 1 - x];                                                         \
            line[width - 1 - x] = held;                                                            \
        }                                                                                          \
    }
DEFINE_MOVE(move_image, uint8_t)
DEFINE_MOVE(move_feature, float)

/* `count` neighbours, written `step` apart. The plain step is apart so that it vectorises. */
#define DEFINE_CONVERT(name, from, to, parameter, expression)                                      \
    static void name(const from *restrict src, size_t count, size_t step, double mean,             \
                     double deviation, to *restrict dst)                                           \
    {                                                                                              \
        const parameter scale = (parameter)(1 / (255 * deviation));                                \
        const parameter shift = (parameter)(-mean / deviation);                                    \
        (void)scale, (void)shift;                                                                  \
        if (step == 1)                                                                             \
            for (size_t i = 0; i < count; i++) dst[i] = (to)(expression);                          \
        else                                                                                       \
            for (size_t i = 0; i < count; i++) dst[i * step] = (to)(expression);                   \
    }
DEFINE_CONVERT(image_to_f32, uint8_t, float, float, (float)src[i] * scale + shift)
DEFINE_CONVERT(image_to_f64, uint8_t, double, double, (double)src[i] * scale + shift)
DEFINE_CONVERT(feature_to_f32, float, float, double, ((double)src[i] - mean) / deviation)
DEFINE_CONVERT(feature_to_f64, float, double, double, ((double)src[i] - mean) / deviation)

static void convert(const cull_dataset *set, cull_dtype to, size_t c, const void *src, size_t count,
                    size_t step, void *dst)
{
    double mean = set->mean[c], deviation = set->deviation[c];

    if (set->dtype == CULL_U8 && to == CULL_F32)
        image_to_f32(src, count, step, mean, deviation, dst);
    else if (set->dtype == CULL_U8)
        image_to_f64(src, count, step, mean, deviation, dst);
    else if (to == CULL_F32)
        feature_to_f32(src, count, step, mean, deviation, dst);
    else
        feature_to_f64(src, count, step, mean, deviation, dst);
}

/* One pixel a channel: along the channels, since rows would be of one number. */
static void convert_flat(const cull_dataset *set, cull_dtype to, const void *src, void *dst)
{
    const uint8_t *image = src;
    const float   *feature = src;
    bool           bytes = set->dtype == CULL_U8;

    for (size_t c = 0; c < set->channels; c++) {
        double x = bytes ? image[c] / 255. : (double)feature[c];
        double y = (x - set->mean[c]) / set->deviation[c];
        if (to == CULL_F32)
            ((float *)dst)[c] = (float)y;
        else
            ((double *)dst)[c] = y;
    }
}

static void write_moved(const cull_dataset *set, const cull_data_augment *a, const struct draw *d,
                        cull_data_form form, const char *src, char *dst)
{
    size_t     size = cull_dtype_size(form.dtype), source_size = cull_dtype_size(set->dtype);
    size_t     height = set->height, width = set->width, channels = set->channels;
    size_t     step = form.channels_last ? channels : 1;
    union line line;

    for (size_t c = 0; c < channels; c++)
        for (size_t y = 0; y < height; y++) {
            size_t from = source_of(d->top + y, a->pad, height, a->reflect);
            size_t at = form.channels_last ? y * width * channels + c : (c * height + y) * width;
            const void *row =
                from < height ? src + (c * height + from) * width * source_size : NULL;
            if (set->dtype == CULL_U8)
                move_image(row, width, a, d, line.image);
            else
                move_feature(row, width, a, d, line.feature);
            convert(set, form.dtype, c, &line, width, step, dst + at * size);
        }
}

static void write_still(const cull_dataset *set, cull_data_form form, const char *src, char *dst)
{
    size_t area = set->height * set->width, step = form.channels_last ? set->channels : 1;
    size_t size = cull_dtype_size(form.dtype), source_size = cull_dtype_size(set->dtype);

    if (area == 1) {
        convert_flat(set, form.dtype, src, dst);
        return;
    }
    for (size_t c = 0; c < set->channels; c++)
        convert(set, form.dtype, c, src + c * area * source_size, area, step,
                dst + (form.channels_last ? c : c * area) * size);
}

/* All zero bits are the number 0 in both types. */
static void cut_out(const cull_dataset *set, const struct draw *d, cull_data_form form, char *dst)
{
    size_t size = cull_dtype_size(form.dtype), planes = form.channels_last ? 1 : set->channels;
    size_t pixel = form.channels_last ? set->channels * size : size;

    for (size_t c = 0; c < planes; c++)
        for (size_t y = d->y0; y < d->y1; y++)
            memset(dst + ((c * set->height + y) * set->width + d->x0) * pixel, 0,
                   (d->x1 - d->x0) * pixel);
}

void cull_data_transform(const cull_dataset *set, const cull_data_augment *augment,
                         cull_data_form form, uint64_t epoch, const uint32_t *places, size_t count,
                         void *out)
{
    size_t   bytes = cull_data_row_bytes(set);
    size_t   written = cull_data_row(set) * cull_dtype_size(form.dtype);
    cull_key move = cull_key_make(augment ? augment->seed : 0, "crop and flip");
    cull_key hole = cull_key_make(augment ? augment->seed : 0, "cutout");

    for (size_t i = 0; i < count; i++) {
        const char *src = (const char *)set->inputs + places[i] * bytes;
        char       *dst = (char *)out + i * written;
        struct draw d = {0};
        if (augment) d = draw_for(set, augment, move, hole, epoch, places[i]);
        if (d.moved)
            write_moved(set, augment, &d, form, src, dst);
        else
            write_still(set, form, src, dst);
        if (d.y1 > d.y0) cut_out(set, &d, form, dst);
    }
}
