/*
 * backend/resize.c - images made smaller, or laid out anew: bilinear interpolation, pixels being
 * points at the middle of their square:
 *
 *     u = (y + 1/2) H / H' - 1/2        clamped to 0 .. H-1, likewise along the width
 *     out = (1 - fu)(1 - fv) x[u, v] + (1 - fu) fv x[u, v+1] + fu (1 - fv) x[u+1, v] + fu fv x[..]
 *
 * as PyTorch's interpolate with align_corners=False and no antialiasing.
 */
#include <math.h>

#include "backend/backend.h"

struct tap {
    size_t low, high; /* the two pixels             */
    float  share;     /* of the one that lies behind */
};

static struct tap tap_of(size_t at, size_t from, size_t to)
{
    double     u = ((double)at + .5) * (double)from / (double)to - .5;
    struct tap tap = {0};

    u = fmin(fmax(u, 0), (double)(from - 1));
    tap.low = (size_t)u;
    tap.high = tap.low + 1 < from ? tap.low + 1 : tap.low;
    tap.share = (float)(u - (double)tap.low);
    return tap;
}

/* One pixel of one channel; strides in numbers. */
static float mix(const float *x, const struct tap *row, const struct tap *column, size_t along_row,
                 size_t along_column)
{
    const float *top = x + row->low * along_row, *bottom = x + row->high * along_row;
    float        left = column->share * top[column->high * along_column] +
                 (1 - column->share) * top[column->low * along_column];
    float right = column->share * bottom[column->high * along_column] +
                  (1 - column->share) * bottom[column->low * along_column];

    return (1 - row->share) * left + row->share * right;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    const cull_resize *r = &args->resize.how;
    const float       *from = args->resize.from;
    float             *to = args->resize.to;
    size_t             image = r->channels * r->height * r->width,
           small = r->channels * r->to_height * r->to_width;
    size_t pixel = r->channels_last ? r->channels : 1;
    size_t plane = r->channels_last ? 1 : r->height * r->width;
    size_t small_pixel = r->to_channels_last ? r->channels : 1;
    size_t small_plane = r->to_channels_last ? 1 : r->to_height * r->to_width;

    (void)op;
    for (size_t y = 0; y < r->to_height; y++) {
        struct tap row = tap_of(y, r->height, r->to_height);

        for (size_t x = 0; x < r->to_width; x++) {
            struct tap column = tap_of(x, r->width, r->to_width);
            size_t     at = (y * r->to_width + x) * small_pixel;

            for (size_t n = 0; n < args->resize.count; n++)
                for (size_t c = 0; c < r->channels; c++)
                    to[n * small + c * small_plane + at] =
                        mix(from + n * image + c * plane, &row, &column, r->width * pixel, pixel);
        }
    }
    return CULL_OK;
}

const cull_op_class cull_host_resize = {cull_host_create, run, cull_host_destroy};
