/*
 * backend/ref/nn_conv.c - grouped convolution (cross-correlation) with zero padding.
 *
 *     y[n,o,p,q] = b[o] + sum of W[o,c,r,s] x[n,gC/G+c, p S - P + r D, q S' - P' + s D']
 *
 * over c, r and s, with g the group of o. Every direction first unfolds an image, one row a tap,
 * zeros where the padding lies, and is then sums of products of rows:
 *
 *     y[o]      = b[o] + sum of W[o,(c,r,s)] u[(c,r,s)]   u: x under the tap, a column a pixel of y
 *     dW[o,k]   = dy[o] . u[k]
 *     dx[c]     = sum of W[(o,r,s),c] v[(o,r,s)]          v: dy over the tap, a column a pixel of x
 *
 * Columns run over (n, p, q) and are cut into tiles that fit a cache; a task computes its outputs
 * alone and in one order, so the number of threads changes nothing.
 */
#include <string.h>

#include "backend/ref/nn.h"

enum { TILE = 32768, SHORTEST = 16, LONGEST = 256, TOGETHER = 64, ROWS = 16, LANES = 8 };

struct conv {
    const cull_layer_desc *d;
    const cull_layer_args *args;
    int64_t                taps, tile, parts, together;
    double                *scratch; /* `share` elements a worker */
    size_t                 share;
    bool                   back; /* dx, not y */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t taps_of(const cull_layer_desc *d)
{
    return d->kernel[0] * d->kernel[1];
}

static int64_t columns(const cull_image *image)
{
    return image->n * image->h * image->w;
}

/* Columns of a tile whose unfolded image has `rows` rows. */
static int64_t tile_of(int64_t rows)
{
    int64_t fit = TILE / rows / LANES * LANES;

    return fit < SHORTEST ? SHORTEST : least(fit, LONGEST);
}

/* Input channels that dW takes at a time. */
static int64_t together_of(const cull_layer_desc *d)
{
    return least(taps_of(d) < ROWS ? ROWS / taps_of(d) : 1, d->x.c / d->groups);
}

static void sizes(const cull_layer_desc *desc, cull_ref_sizes *out)
{
    out->w = (size_t)(desc->y.c * (desc->x.c / desc->groups) * taps_of(desc));
    out->b = desc->bias ? (size_t)desc->y.c : 0;
}

static size_t scratch(const cull_layer_desc *d)
{
    int64_t rows = d->x.c / d->groups * taps_of(d), back = d->y.c / d->groups * taps_of(d);
    int64_t forth = (rows + 1) * tile_of(rows), dx = (back + 1) * tile_of(back);
    int64_t dw = (together_of(d) * taps_of(d) + 1) * columns(&d->y);

    forth = forth > dx ? forth : dx;
    return (size_t)(forth > dw || !d->learn ? forth : dw);
}

/* One image row of u: x[at S - P + tap D] for columns [first, last). */
static void row_forth(const cull_layer_desc *d, const double *x, int64_t tap, int64_t first,
                      int64_t last, double *out)
{
    for (int64_t q = first; q < last; q++) {
        int64_t at = q * d->stride[1] - d->pad[1] + tap * d->dilation[1];
        out[q - first] = at >= 0 && at < d->x.w ? x[at] : 0;
    }
}

/* One image row of v: the dy whose tap falls on columns [first, last). */
static void row_back(const cull_layer_desc *d, const double *dy, int64_t tap, int64_t first,
                     int64_t last, double *out)
{
    memset(out, 0, (size_t)(last - first) * sizeof *out);
    for (int64_t q = 0; q < d->y.w; q++) {
        int64_t at = q * d->stride[1] - d->pad[1] + tap * d->dilation[1];
        if (at >= first && at < last) out[at - first] = dy[q];
    }
}

/* The image row that column row h reads through vertical tap r, or -1. */
static int64_t source_row(const cull_layer_desc *d, int64_t h, int64_t r, bool back)
{
    int64_t far = r * d->dilation[0];
    int64_t at = back ? h + d->pad[0] - far : h * d->stride[0] - d->pad[0] + far;

    if (at < 0 || (back && at % d->stride[0])) return -1;
    if (back) at /= d->stride[0];
    return at < (back ? d->y.h : d->x.h) ? at : -1;
}

/* Row (channel, r, s) of u or v for `count` columns from `first` on. */
static void unfold(const struct conv *f, const double *image, int64_t channel, int64_t tap,
                   int64_t first, int64_t count, double *out)
{
    const cull_layer_desc *d = f->d;
    const cull_image      *to = f->back ? &d->x : &d->y, *from = f->back ? &d->y : &d->x;

    for (int64_t i = 0; i < count;) {
        int64_t       line = (first + i) / to->w, q = (first + i) % to->w;
        int64_t       end = least(to->w, q + count - i), n = line / to->h;
        int64_t       at = source_row(d, line % to->h, tap / d->kernel[1], f->back);
        const double *row = image + ((n * from->c + channel) * from->h + at) * from->w;

        if (at < 0)
            memset(out + i, 0, (size_t)(end - q) * sizeof *out);
        else if (f->back)
            row_back(d, row, tap % d->kernel[1], q, end, out + i);
        else
            row_forth(d, row, tap % d->kernel[1], q, end, out + i);
        i += end - q;
    }
}

/* sum[i] += w[0] u[0][i] + w[step] u[1][i] + ... over `rows` rows of `length` columns. */
static void add_rows(const double *w, int64_t step, const double *u, int64_t rows, int64_t length,
                     double *restrict sum)
{
    int64_t k = 0;

    for (; k + 4 <= rows; k += 4) {
        const double *a = u + k * length, *b = a + length, *c = b + length, *e = c + length;
        double        wa = w[k * step], wb = w[(k + 1) * step];
        double        wc = w[(k + 2) * step], we = w[(k + 3) * step];

        for (int64_t i = 0; i < length; i++)
            sum[i] += wa * a[i] + wb * b[i] + wc * c[i] + we * e[i];
    }
    for (; k < rows; k++)
        for (int64_t i = 0; i < length; i++) sum[i] += w[k * step] * u[k * length + i];
}

/* Between NCHW and the columns of one channel: out of the image, or into it. */
static void spread(const cull_image *image, int64_t channel, int64_t first, int64_t count,
                   const double *sum, double *out, bool accumulate)
{
    int64_t area = image->h * image->w;

    for (int64_t i = 0; i < count; i++) {
        int64_t n = (first + i) / area, at = (n * image->c + channel) * area + (first + i) % area;
        out[at] = sum[i] + (accumulate ? out[at] : 0);
    }
}

static void collect(const cull_image *image, int64_t channel, const double *in, double *out)
{
    int64_t area = image->h * image->w;

    for (int64_t n = 0; n < image->n; n++)
        memcpy(out + n * area, in + (n * image->c + channel) * area, (size_t)area * sizeof *out);
}

static void tile_forward(void *context, size_t task, unsigned worker)
{
    const struct conv     *f = context;
    const cull_layer_desc *d = f->d;
    int64_t per = d->x.c / d->groups, outs = d->y.c / d->groups, rows = per * f->taps;
    int64_t group = (int64_t)task % d->groups, part = (int64_t)task / d->groups;
    int64_t o = part % f->parts * TOGETHER, first = part / f->parts * f->tile;
    int64_t length = least(f->tile, columns(&d->y) - first);
    double *u = f->scratch + worker * f->share, *sum = u + rows * length;

    for (int64_t k = 0; k < rows; k++)
        unfold(f, f->args->x, group * per + k / f->taps, k % f->taps, first, length,
               u + k * length);
    for (int64_t end = least(outs, o + TOGETHER); o < end; o++) {
        int64_t to = group * outs + o;

        for (int64_t i = 0; i < length; i++)
            sum[i] = d->bias ? ((const double *)f->args->b)[to] : 0;
        add_rows((const double *)f->args->w + to * rows, 1, u, rows, length, sum);
        spread(&d->y, to, first, length, sum, f->args->y, false);
    }
}

static void tile_dx(void *context, size_t task, unsigned worker)
{
    const struct conv     *f = context;
    const cull_layer_desc *d = f->d;
    int64_t                per = d->x.c / d->groups, outs = d->y.c / d->groups;
    int64_t                group = (int64_t)task % d->groups, part = (int64_t)task / d->groups;
    int64_t                c = part % f->parts * TOGETHER, first = part / f->parts * f->tile;
    int64_t                length = least(f->tile, columns(&d->x) - first), rows = outs * f->taps;
    double                *v = f->scratch + worker * f->share, *sum = v + rows * length;
    const double          *w = (const double *)f->args->w + group * outs * per * f->taps;

    /* rows by tap first, so that the weights of one tap stand `per * taps` apart */
    for (int64_t k = 0; k < rows; k++)
        unfold(f, f->args->dy, group * outs + k % outs, k / outs, first, length, v + k * length);
    for (int64_t end = least(per, c + TOGETHER); c < end; c++) {
        memset(sum, 0, (size_t)length * sizeof *sum);
        for (int64_t tap = 0; tap < f->taps; tap++)
            add_rows(w + c * f->taps + tap, per * f->taps, v + tap * outs * length, outs, length,
                     sum);
        spread(&d->x, group * per + c, first, length, sum, f->args->dx, f->args->accumulate);
    }
}

static double dot(const double *a, const double *b, int64_t length)
{
    double  lane[LANES] = {0}, sum = 0;
    int64_t i = 0;

    for (; i + LANES <= length; i += LANES)
        for (int64_t j = 0; j < LANES; j++) lane[j] += a[i + j] * b[i + j];
    for (; i < length; i++) sum += a[i] * b[i];
    for (int64_t j = 0; j < LANES; j++) sum += lane[j];
    return sum;
}

static void channels_dw(void *context, size_t task, unsigned worker)
{
    const struct conv     *f = context;
    const cull_layer_desc *d = f->d;
    int64_t                per = d->x.c / d->groups, outs = d->y.c / d->groups;
    int64_t                group = (int64_t)task % d->groups, length = columns(&d->y);
    int64_t                c = (int64_t)task / d->groups * f->together;
    int64_t                rows = least(f->together, per - c) * f->taps;
    double                *u = f->scratch + worker * f->share, *dy = u + rows * length;
    double                *db = f->args->db;

    for (int64_t k = 0; k < rows; k++)
        unfold(f, f->args->x, group * per + c + k / f->taps, k % f->taps, 0, length,
               u + k * length);
    for (int64_t o = group * outs; o < (group + 1) * outs; o++) {
        double *dw = (double *)f->args->dw + (o * per + c) * f->taps;

        collect(&d->y, o, f->args->dy, dy);
        for (int64_t k = 0; k < rows; k++) dw[k] = dot(dy, u + k * length, length);
        if (!d->bias || c > 0) continue;
        db[o] = 0;
        for (int64_t i = 0; i < length; i++) db[o] += dy[i];
    }
}

static int64_t parts(int64_t whole, int64_t part)
{
    return (whole + part - 1) / part;
}

static struct conv prepare(const cull_layer_desc *d, const cull_layer_args *args,
                           const cull_ref_shared *shared)
{
    return (struct conv){.d = d,
                         .args = args,
                         .taps = taps_of(d),
                         .scratch = shared->scratch,
                         .share = shared->share};
}

static void forward(const cull_layer_desc *d, const cull_layer_args *args,
                    const cull_ref_shared *shared)
{
    struct conv f = prepare(d, args, shared);

    f.tile = tile_of(d->x.c / d->groups * f.taps);
    f.parts = parts(d->y.c / d->groups, TOGETHER);
    cull_team_run(shared->team, (size_t)(d->groups * f.parts * parts(columns(&d->y), f.tile)),
                  tile_forward, &f);
}

static void backward(const cull_layer_desc *d, const cull_layer_args *args,
                     const cull_ref_shared *shared)
{
    struct conv f = prepare(d, args, shared);

    f.together = together_of(d);
    cull_team_run(shared->team, (size_t)(d->groups * parts(d->x.c / d->groups, f.together)),
                  channels_dw, &f);
    if (!args->dx) return;
    f.back = true;
    f.tile = tile_of(d->y.c / d->groups * f.taps);
    f.parts = parts(d->x.c / d->groups, TOGETHER);
    cull_team_run(shared->team, (size_t)(d->groups * f.parts * parts(columns(&d->x), f.tile)),
                  tile_dx, &f);
}

const cull_ref_rule cull_ref_conv = {.kind = CULL_LAYER_CONV,
                                     .sizes = sizes,
                                     .scratch = scratch,
                                     .shared_forward = forward,
                                     .shared_backward = backward};
