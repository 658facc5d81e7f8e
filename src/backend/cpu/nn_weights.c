/* backend/cpu/nn_weights.c - sums of outer products over the pixels that meet (nn_weights.h). */
#include "backend/cpu/nn_weights.h"

#include <string.h>

#include "backend/cpu/nn.h"
#include "base/alloc.h"

/* NEAR: what a near cache holds; TASKS: enough to share out; SMALL, TINY: pixels of an
 * image. */
enum { NEAR = 256 * 1024 / sizeof(float), TASKS = 32, SMALL = 64, TINY = 16 };

struct cull_cpu_weights {
    cull_backend   *backend;
    cull_layer_desc desc;
    bool            apart;             /* every channel has its own kernel      */
    size_t          width, taps, tile; /* tile: sums of one pair of blocks      */
    size_t          in, out, parts;    /* blocks of channels; parts of the batch */
    size_t          images;            /* whose pixels stay in a near cache     */
    float          *sum;               /* [in * out * parts][tile], or where there is one part
                                          [threads][tile]: a pair is then finished at once  */
};

struct job {
    const cull_cpu_weights *weights;
    const float            *x, *dy;
    float                  *dw;
};

static bool blocked(const cull_image *image, size_t width)
{
    return (size_t)image->block == width && (size_t)image->c % width == 0;
}

static bool apart(const cull_layer_desc *desc)
{
    return desc->groups > 1 && desc->groups == desc->x.c && desc->groups == desc->y.c;
}

/* Strided walks over large images, single taps, and large images where vectors are short are memory
 * more than arithmetic: oneDNN's. */
bool cull_cpu_weights_suit(const cull_backend *backend, const cull_layer_desc *desc)
{
    size_t  width = cull_cpu_kernels(backend)->conv->width;
    bool    strided = desc->stride[0] > 1 || desc->stride[1] > 1;
    int64_t area = desc->y.h * desc->y.w, most = strided ? SMALL : INT64_MAX;

    if (apart(desc)) return !desc->bias && desc->x.block == desc->y.block;
    if (width < 16) most = TINY;
    return desc->groups == 1 && !desc->bias && desc->kernel[0] * desc->kernel[1] > 1 &&
           area <= most && blocked(&desc->x, width) && blocked(&desc->y, width);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

cull_status cull_cpu_weights_create(cull_backend *backend, const cull_layer_desc *desc,
                                    cull_cpu_weights **out)
{
    cull_status       status = CULL_OK;
    cull_cpu_weights *w = NULL;
    size_t            pairs = 0, sums = 0;
    size_t            pixels = (size_t)(desc->x.h * desc->x.w + desc->y.h * desc->y.w);

    TRY(cull_base_alloc(1, sizeof *w, "a weight gradient", &w));
    w->backend = backend;
    w->desc = *desc;
    w->apart = apart(desc);
    w->width = w->apart ? (size_t)desc->x.block : cull_cpu_kernels(backend)->conv->width;
    w->taps = (size_t)(desc->kernel[0] * desc->kernel[1]);
    w->tile = w->taps * w->width * (w->apart ? 1 : w->width);
    w->in = (size_t)desc->x.c / w->width;
    w->out = w->apart ? 1 : (size_t)desc->y.c / w->width;
    pairs = w->in * w->out;
    w->parts = smaller((TASKS + pairs - 1) / pairs, (size_t)desc->x.n);
    w->images = NEAR / (pixels * w->width) + 1;
    sums = w->parts > 1 ? pairs * w->parts : cull_team_size(backend->team);
    TRY(cull_base_alloc_aligned(sums, w->tile * sizeof(float), "a weight gradient", &w->sum));
    *out = w;
    w = NULL;
done:
    cull_cpu_weights_destroy(w);
    return status;
}

void cull_cpu_weights_destroy(cull_cpu_weights *weights)
{
    if (!weights) return;
    cull_base_free_aligned(weights->sum);
    cull_base_free(weights);
}

/* Output lines (columns) that a tap r pixels on finds inside the image: [first, last). */
static void meeting(int64_t r, int64_t stride, int64_t pad, int64_t extent, int64_t outputs,
                    int64_t *first, int64_t *last)
{
    int64_t end = extent - 1 + pad - r;

    *first = pad > r ? (pad - r + stride - 1) / stride : 0;
    *last = end < 0 ? 0 : end / stride + 1;
    if (*last > outputs) *last = outputs;
}

/* One tap over `images` images: x and dy are those of the first, at this pair's blocks. */
static void add_tap(const cull_cpu_weights *w, size_t images, int64_t tap, const float *x,
                    const float *dy, float *sum)
{
    const cull_layer_desc *d = &w->desc;
    const cull_conv_loops *loops = cull_cpu_kernels(w->backend)->conv;
    int64_t                r = tap / d->kernel[1] * d->dilation[0];
    int64_t                s = tap % d->kernel[1] * d->dilation[1];
    int64_t                p0 = 0, p1 = 0, q0 = 0, q1 = 0, width = (int64_t)w->width;
    cull_conv_walk         walk = {.images = images,
                                   .x_image = (size_t)cull_image_row(&d->x),
                                   .x_line = (size_t)(d->stride[0] * d->x.w * width),
                                   .x_step = (size_t)(d->stride[1] * width),
                                   .dy_image = (size_t)cull_image_row(&d->y),
                                   .dy_line = (size_t)(d->y.w * width),
                                   .dy_step = (size_t)width};

    meeting(r, d->stride[0], d->pad[0], d->x.h, d->y.h, &p0, &p1);
    meeting(s, d->stride[1], d->pad[1], d->x.w, d->y.w, &q0, &q1);
    if (p1 <= p0 || q1 <= q0) return;
    walk.lines = (size_t)(p1 - p0);
    walk.count = (size_t)(q1 - q0);
    x += ((p0 * d->stride[0] - d->pad[0] + r) * d->x.w + q0 * d->stride[1] - d->pad[1] + s) * width;
    dy += (p0 * d->y.w + q0) * width;
    if (w->apart)
        loops->inner(&walk, w->width, x, dy, sum + tap * width);
    else
        loops->outer(&walk, x, dy, sum + tap * width * width);
}

/* One output channel from (taps, width, width) into (width, taps). */
static inline void turn(size_t width, size_t taps, const float *from, float *to)
{
    for (size_t i = 0; i < width; i++)
        for (size_t tap = 0; tap < taps; tap++)
            to[i * taps + tap] = from[(tap * width + i) * width];
}

/* The sums of a pair into (O, C, KH, KW). */
static void store_pair(const struct job *job, size_t pair, const float *sum)
{
    const cull_cpu_weights *w = job->weights;
    size_t                  o = pair / w->in * w->width, c = pair % w->in * w->width;

    for (size_t i = 0; w->apart && i < w->tile; i++)
        job->dw[(c + i % w->width) * w->taps + i / w->width] = sum[i];
    for (size_t k = 0; !w->apart && k < w->width; k++) {
        float *to = job->dw + ((o + k) * (size_t)w->desc.x.c + c) * w->taps;

        if (w->taps == 9 &&
            w->width == 16) /* nearly always: with known sizes, several times faster */
            turn(16, 9, sum + k, to);
        else
            turn(w->width, w->taps, sum + k, to);
    }
}

/* Add up the parts of a pair, in order. */
static void finish_pair(void *context, size_t pair, unsigned worker)
{
    const struct job       *job = context;
    const cull_cpu_weights *w = job->weights;
    float                  *sum = w->sum + pair * w->parts * w->tile;

    (void)worker;
    for (size_t part = 1; part < w->parts; part++)
        for (size_t i = 0; i < w->tile; i++) sum[i] += sum[part * w->tile + i];
    store_pair(job, pair, sum);
}

static void sum_pair(void *context, size_t task, unsigned worker)
{
    const struct job       *job = context;
    const cull_cpu_weights *w = job->weights;
    size_t                  pair = task / w->parts, ob = pair / w->in, ib = pair % w->in;
    size_t                  row_x = (size_t)cull_image_row(&w->desc.x);
    size_t                  row_y = (size_t)cull_image_row(&w->desc.y);
    float                  *sum = w->sum + (w->parts > 1 ? task : worker) * w->tile;
    size_t                  first = 0, last = 0;

    memset(sum, 0, w->tile * sizeof *sum);
    cull_cpu_part((size_t)w->desc.x.n, w->parts, task % w->parts, &first, &last);
    for (size_t n = first; n < last; n += w->images) {
        const float *x = job->x + n * row_x + ib * row_x / w->in;
        const float *dy =
            job->dy + n * row_y + (w->apart ? ib * row_y / w->in : ob * row_y / w->out);

        for (size_t tap = 0; tap < w->taps; tap++)
            add_tap(w, smaller(w->images, last - n), (int64_t)tap, x, dy, sum);
    }
    if (w->parts == 1) store_pair(job, pair, sum);
}

void cull_cpu_weights_run(cull_cpu_weights *weights, const float *x, const float *dy, float *dw)
{
    struct job job = {weights, x, dy, dw};
    size_t     pairs = weights->in * weights->out;

    cull_team_run(weights->backend->team, pairs * weights->parts, sum_pair, &job);
    if (weights->parts > 1) cull_team_run(weights->backend->team, pairs, finish_pair, &job);
}
