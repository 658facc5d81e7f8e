/*
 * backend/augment.c - normalising, shifting, mirroring and cutting out, row by row, on a host.
 *
 *     images     y = x * scale + shift,  scale = 1 / (255 deviation), shift = -mean / deviation
 *     features   y = (x - mean) / deviation, in double, so that a far mean costs no digits
 *
 * x (C, H, W) as stored; y (C, H, W), or (H, W, C) with a step of C between neighbours.
 */
#include "backend/augment.h"

#include "backend/backend.h"

#include <string.h>

#include "base/rng.h"
#include "tensor/tensor.h"

/* What is done to one example; a window of the padded image begins at (top, left). */
struct draw {
    size_t top, left;
    bool   moved, mirrored;
    size_t y0, y1, x0, x1; /* the hole; empty without cutout */
};

/* Room for one row of either type. */
union line {
    uint8_t image[CULL_AUGMENT_MOST_SIDE];
    float   feature[CULL_AUGMENT_MOST_SIDE];
};

static size_t below(uint32_t word, size_t bound)
{
    return (size_t)((uint64_t)word * bound >> 32);
}

static struct draw draw_for(const cull_augment_desc *a, uint64_t epoch, uint32_t place)
{
    const uint32_t counter[4] = {place, 0, (uint32_t)epoch, (uint32_t)(epoch >> 32)};
    uint32_t       word[4] = {0};
    struct draw    d = {0};
    size_t         half = a->cutout / 2, y = 0, x = 0;

    cull_base_philox(a->move, counter, word);
    d.top = below(word[0], 2 * a->pad + 1);
    d.left = below(word[1], 2 * a->pad + 1);
    d.mirrored = a->flip && word[2] >> 31;
    d.moved = d.mirrored || d.top != a->pad || d.left != a->pad;
    if (!a->cutout) return d;
    cull_base_philox(a->hole, counter, word);
    y = below(word[0], a->height);
    x = below(word[1], a->width);
    d.y0 = y > half ? y - half : 0;
    d.x0 = x > half ? x - half : 0;
    d.y1 = y + a->cutout - half < a->height ? y + a->cutout - half : a->height;
    d.x1 = x + a->cutout - half < a->width ? x + a->cutout - half : a->width;
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
    static void name(const type *row, size_t width, const cull_augment_desc *a,                    \
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

/* By way of float32, a few at a time. */
static void to_bf16(const cull_augment_desc *a, size_t c, const char *src, size_t count,
                    size_t step, uint16_t *dst)
{
    float  some[64];
    size_t size = cull_dtype_size(a->from), most = sizeof some / sizeof *some;

    for (size_t at = 0, now = 0; at < count; at += now) {
        now = count - at < most ? count - at : most;
        if (a->from == CULL_U8)
            image_to_f32((const void *)(src + at * size), now, 1, a->mean[c], a->deviation[c],
                         some);
        else
            feature_to_f32((const void *)(src + at * size), now, 1, a->mean[c], a->deviation[c],
                           some);
        for (size_t i = 0; i < now; i++) dst[(at + i) * step] = cull_bf16_of(some[i]);
    }
}

static void convert(const cull_augment_desc *a, size_t c, const void *src, size_t count,
                    size_t step, void *dst)
{
    double mean = a->mean[c], deviation = a->deviation[c];

    if (a->to == CULL_BF16)
        to_bf16(a, c, src, count, step, dst);
    else if (a->from == CULL_U8 && a->to == CULL_F32)
        image_to_f32(src, count, step, mean, deviation, dst);
    else if (a->from == CULL_U8)
        image_to_f64(src, count, step, mean, deviation, dst);
    else if (a->to == CULL_F32)
        feature_to_f32(src, count, step, mean, deviation, dst);
    else
        feature_to_f64(src, count, step, mean, deviation, dst);
}

/* One pixel a channel: along the channels, since rows would be of one number. */
static void convert_flat(const cull_augment_desc *a, const void *src, void *dst)
{
    const uint8_t *image = src;
    const float   *feature = src;
    bool           bytes = a->from == CULL_U8;

    for (size_t c = 0; c < a->channels; c++) {
        double x = bytes ? image[c] / 255. : (double)feature[c];
        double y = (x - a->mean[c]) / a->deviation[c];
        if (a->to == CULL_BF16)
            ((uint16_t *)dst)[c] = cull_bf16_of((float)y);
        else if (a->to == CULL_F32)
            ((float *)dst)[c] = (float)y;
        else
            ((double *)dst)[c] = y;
    }
}

static void write_moved(const cull_augment_desc *a, const struct draw *d, const char *src,
                        char *dst)
{
    size_t     size = cull_dtype_size(a->to), source_size = cull_dtype_size(a->from);
    size_t     height = a->height, width = a->width, channels = a->channels;
    size_t     step = a->channels_last ? channels : 1;
    union line line;

    for (size_t c = 0; c < channels; c++)
        for (size_t y = 0; y < height; y++) {
            size_t      from = source_of(d->top + y, a->pad, height, a->reflect);
            size_t      at = a->channels_last ? y * width * channels + c : (c * height + y) * width;
            const void *row =
                from < height ? src + (c * height + from) * width * source_size : NULL;
            if (a->from == CULL_U8)
                move_image(row, width, a, d, line.image);
            else
                move_feature(row, width, a, d, line.feature);
            convert(a, c, &line, width, step, dst + at * size);
        }
}

static void write_still(const cull_augment_desc *a, const char *src, char *dst)
{
    size_t area = a->height * a->width, step = a->channels_last ? a->channels : 1;
    size_t size = cull_dtype_size(a->to), source_size = cull_dtype_size(a->from);

    if (area == 1) {
        convert_flat(a, src, dst);
        return;
    }
    for (size_t c = 0; c < a->channels; c++)
        convert(a, c, src + c * area * source_size, area, step,
                dst + (a->channels_last ? c : c * area) * size);
}

/* All zero bits are the number 0 in every type. */
static void cut_out(const cull_augment_desc *a, const struct draw *d, char *dst)
{
    size_t size = cull_dtype_size(a->to), planes = a->channels_last ? 1 : a->channels;
    size_t pixel = a->channels_last ? a->channels * size : size;

    for (size_t c = 0; c < planes; c++)
        for (size_t y = d->y0; y < d->y1; y++)
            memset(dst + ((c * a->height + y) * a->width + d->x0) * pixel, 0,
                   (d->x1 - d->x0) * pixel);
}

void cull_augment_row(const cull_augment_desc *desc, const void *raw, uint32_t place,
                      uint64_t epoch, bool augmented, void *out)
{
    struct draw d = {0};

    if (desc->from == CULL_I32) {
        memcpy(out, raw, cull_augment_numbers(desc, 0) * sizeof(int32_t));
        return;
    }
    if (augmented) d = draw_for(desc, epoch, place);
    if (d.moved)
        write_moved(desc, &d, raw, out);
    else
        write_still(desc, raw, out);
    if (d.y1 > d.y0) cut_out(desc, &d, out);
}

void cull_augment_example(const cull_augment_desc *desc, const cull_augment_call *call, size_t i)
{
    size_t   row = desc->channels * desc->height * desc->width, from = i;
    size_t   numbers = cull_augment_numbers(desc, call->length);
    uint32_t place = call->places[i];

    if (!call->packed) from = call->row ? call->row[place] : place;
    if (desc->from == CULL_I32) {
        memcpy((int32_t *)call->out + i * numbers, (const int32_t *)call->raw + from * row,
               numbers * sizeof(int32_t));
        return;
    }
    cull_augment_row(desc, (const char *)call->raw + from * row * cull_dtype_size(desc->from),
                     place, call->epoch, call->augmented,
                     (char *)call->out + i * row * cull_dtype_size(desc->to));
}

static void make_row(void *context, size_t i, unsigned worker)
{
    const cull_op_args *args = context;
    const uint32_t     *index = args->augment.index;
    size_t              row = cull_augment_numbers(&args->augment.desc, args->augment.call.length) *
                 cull_dtype_size(args->augment.desc.to);

    (void)worker;
    if (!args->augment.held || index[i] == CULL_NO_ROW)
        cull_augment_example(&args->augment.desc, &args->augment.call, i);
    else
        memcpy((char *)args->augment.call.out + i * row,
               (const char *)args->augment.held + index[i] * row, row);
}

/* Which thread makes a row does not matter. */
static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_op_args copy = *args;

    if (args->augment.now) copy.augment.call.epoch = args->augment.now->epoch;
    cull_team_run(op->backend->team, args->augment.call.count, make_row, &copy);
    return CULL_OK;
}

const cull_op_class cull_host_augment = {cull_host_create, run, cull_host_destroy};
