/* data/scale.c - rows are mixed into one, whole rows at a time, and that one is mixed along itself.
 */
#include "data/scale.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

enum { COLOURS = 3, LANES = 4, AT_ONCE = 4 };

/* Three colours and whatever lies behind them. */
typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

/* New pixel i is the sum of weight[i * room + t] times old pixel start[i] + t, t below taps. */
struct mix {
    size_t *start;
    float  *weight;
    size_t  taps; /* of every pixel: what one does not see weighs nothing         */
    size_t  room; /* the next multiple of AT_ONCE; zeros fill it                  */
};

static void mix_clear(struct mix *m)
{
    cull_base_free(m->start);
    cull_base_free(m->weight);
}

/* The old pixels that weigh something, from *begin up to *end; there always is one. */
static void span_of(size_t from, double middle, double reach, size_t *begin, size_t *end)
{
    double low = floor(middle - reach - .5) + 1, high = ceil(middle + reach - .5);

    *begin = low > 0 ? (size_t)low : 0;
    *end = high < (double)from ? (size_t)high : from;
}

static double share_of(size_t j, double middle, double reach)
{
    return 1 - fabs((double)j + .5 - middle) / reach;
}

static cull_status mix_make(const cull_scale_axis *a, struct mix *out)
{
    cull_status status = CULL_OK;
    double      step = a->extent / (double)a->to, reach = fmax(1, step);
    size_t      begin = 0, end = 0;

    TRY(cull_base_alloc(a->count, sizeof *out->start, "scaling a picture", &out->start));
    out->taps = 1;
    for (size_t i = 0; i < a->count; i++) {
        span_of(a->from, ((double)(a->first + i) + .5) * step, reach, &begin, &end);
        if (end - begin > out->taps) out->taps = end - begin;
    }
    out->room = (out->taps + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
    TRY(cull_base_alloc(a->count * out->room, sizeof *out->weight, "scaling a picture",
                        &out->weight));
    for (size_t i = 0; i < a->count; i++) {
        double middle = ((double)(a->first + i) + .5) * step, sum = 0;
        float *row = out->weight + i * out->room;

        span_of(a->from, middle, reach, &begin, &end);
        out->start[i] = begin + out->taps <= a->from ? begin : a->from - out->taps;
        for (size_t j = begin; j < end; j++) sum += share_of(j, middle, reach);
        for (size_t j = begin; j < end; j++)
            row[j - out->start[i]] = (float)(share_of(j, middle, reach) / sum);
    }
done:
    return status;
}

/* out[k] = sum_t weight[t] rows[t * stride + k], in the order of t. */
static inline __attribute__((always_inline)) void mix_some_rows(const uint8_t *rows, size_t stride,
                                                                const float *weight, size_t taps,
                                                                float *restrict out, size_t n)
{
    memset(out, 0, n * sizeof *out);
    for (size_t t = 0; t < taps; t += AT_ONCE) {
        const uint8_t *row[AT_ONCE];
        const float   *w = weight + t;

        for (size_t i = 0; i < AT_ONCE; i++)
            row[i] = rows + (t + i < taps ? t + i : taps - 1) * stride;
        for (size_t k = 0; k < n; k++)
            out[k] = out[k] + w[0] * (float)row[0][k] + w[1] * (float)row[1][k] +
                     w[2] * (float)row[2][k] + w[3] * (float)row[3][k];
    }
}

typedef void mix_rows(const uint8_t *rows, size_t stride, const float *weight, size_t taps,
                      float *restrict out, size_t n);

static void mix_rows_plain(const uint8_t *rows, size_t stride, const float *weight, size_t taps,
                           float *restrict out, size_t n)
{
    mix_some_rows(rows, stride, weight, taps, out, n);
}

#if defined(__x86_64__)
/* The same in wider registers: without fused products, so to the same bits. */
__attribute__((target("avx2"))) static void mix_rows_avx2(const uint8_t *rows, size_t stride,
                                                          const float *weight, size_t taps,
                                                          float *restrict out, size_t n)
{
    mix_some_rows(rows, stride, weight, taps, out, n);
}

static mix_rows *best_mix_rows(void)
{
    return __builtin_cpu_supports("avx2") ? mix_rows_avx2 : mix_rows_plain;
}
#else
static mix_rows *best_mix_rows(void)
{
    return mix_rows_plain;
}
#endif

static uint8_t level(float value)
{
    long whole = lrintf(value);

    return whole < 255 ? (uint8_t)whole : 255;
}

static lanes pixel_at(const float *at)
{
    lanes pixel;

    memcpy(&pixel, at, sizeof pixel);
    return pixel;
}

/* The new row from a mixed one, whose first pixel is old pixel `left`. */
static void mix_colours(const float *row, size_t left, const struct mix *m, size_t count,
                        uint8_t *out, size_t plane, ptrdiff_t across)
{
    uint8_t *green = out + plane, *blue = green + plane;

    for (size_t x = 0; x < count; x++) {
        const float *from = row + COLOURS * (m->start[x] - left), *w = m->weight + x * m->room;
        ptrdiff_t    at = (ptrdiff_t)x * across;
        lanes        sum = {0};

        for (size_t t = 0; t < m->taps; t += AT_ONCE, from += COLOURS * AT_ONCE, w += AT_ONCE)
            sum = sum + w[0] * pixel_at(from) + w[1] * pixel_at(from + COLOURS) +
                  w[2] * pixel_at(from + 2 * COLOURS) + w[3] * pixel_at(from + 3 * COLOURS);
        out[at] = level(sum[0]);
        green[at] = level(sum[1]);
        blue[at] = level(sum[2]);
    }
}

static void mix_greys(const float *row, size_t left, const struct mix *m, size_t count,
                      uint8_t *out, ptrdiff_t across)
{
    for (size_t x = 0; x < count; x++) {
        const float *from = row + m->start[x] - left, *w = m->weight + x * m->room;
        float        sum = 0;

        for (size_t t = 0; t < m->taps; t++) sum += w[t] * from[t];
        out[(ptrdiff_t)x * across] = level(sum);
    }
}

cull_status cull_data_scale(const uint8_t *pixels, size_t channels, const cull_scale_axis *down,
                            const cull_scale_axis *across, const cull_scale_out *to)
{
    cull_status status = CULL_OK;
    struct mix  rows = {0}, columns = {0};
    mix_rows   *mix_into_row = best_mix_rows();
    float      *row = NULL;
    size_t      left = 0, width = 0, stride = across->from * channels;

    TRY(mix_make(down, &rows));
    TRY(mix_make(across, &columns));
    left = columns.start[0]; /* what lies outside of these is not looked at */
    width = columns.start[across->count - 1] + columns.taps - left;
    /* Zeros behind it, for weights that are zero. */
    TRY(cull_base_alloc((width + AT_ONCE) * channels + LANES, sizeof *row, "scaling a picture",
                        &row));
    for (size_t y = 0; y < down->count; y++) {
        uint8_t *out = to->out + (ptrdiff_t)y * to->down;

        mix_into_row(pixels + rows.start[y] * stride + left * channels, stride,
                     rows.weight + y * rows.room, rows.taps, row, width * channels);
        if (channels == COLOURS)
            mix_colours(row, left, &columns, across->count, out, to->plane, to->across);
        else
            mix_greys(row, left, &columns, across->count, out, to->across);
    }
done:
    cull_base_free(row);
    mix_clear(&columns);
    mix_clear(&rows);
    return status;
}
