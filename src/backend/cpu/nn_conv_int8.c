/*
 * backend/cpu/nn_conv_int8.c - convolutions in 8 bits by oneDNN (see nn_int8.h).
 *
 * The batch is cut into parts that fit a core's cache: a thread finds the scales of a part's rows,
 * brings them into bytes, convolves, and turns the sums into floats before it goes to the next.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/nn.h"
#include "backend/cpu/nn_dnnl.h"
#include "backend/cpu/nn_int8.h"
#include "base/alloc.h"

enum { ROOM = 1 << 19 };       /* bytes that a part's input and sums may have */
enum { FEWEST_CHANNELS = 16 }; /* with fewer there is little to gain          */

struct cull_cpu_int8 {
    cull_backend *backend;
    cull_cpu_view x, y;
    size_t        terms, outputs;               /* weights of an output channel; channels  */
    size_t        rows, longer, parts, threads; /* `longer` parts have `rows`, the others
                                                   one less                                */
    cull_dnnl **body, **rest;                   /* [threads] of long parts, short ones
                                                    (none when all are alike)               */
    uint8_t     *bytes;                         /* [threads] a part's input, NHWC          */
    int32_t     *sums;                          /* [threads] and its output, NHWC          */
    float       *scale;                         /* [threads, outputs] s_n t_o              */
    float       *s, *t, *shift;                 /* s_n; [outputs] t_o, b_o                 */
    int8_t      *r;                             /* weights in canonical order              */
    int8_t      *own, *own_rest;                /* and in those of body and rest           */
    bool         alike;                         /* which are the same                      */
    cull_status *status;                        /* [parts + CULL_DNNL_PIECES]              */
};

struct job {
    cull_cpu_int8 *conv;
    const float   *x, *w;
    float         *y;
    cull_dnnl     *dnnl; /* whose order weights are brought into */
    int8_t        *own;
    size_t         pieces;
};

bool cull_cpu_int8_suits(const cull_layer_desc *d)
{
    int64_t terms = d->x.c * d->kernel[0] * d->kernel[1];

    return d->int8 && !d->learn && d->dtype == CULL_F32 && d->groups == 1 &&
           d->x.c >= FEWEST_CHANNELS && d->y.c >= FEWEST_CHANNELS &&
           terms <= INT32_MAX / (255 * 127); /* sums cannot overflow */
}

void cull_cpu_int8_destroy(cull_cpu_int8 *conv)
{
    if (!conv) return;
    for (size_t i = 0; conv->body && i < conv->threads; i++) cull_dnnl_destroy(conv->body[i]);
    for (size_t i = 0; conv->rest && i < conv->threads; i++) cull_dnnl_destroy(conv->rest[i]);
    cull_base_free(conv->body);
    cull_base_free(conv->rest);
    cull_base_free_aligned(conv->bytes);
    cull_base_free_aligned(conv->sums);
    cull_base_free_aligned(conv->scale);
    cull_base_free_aligned(conv->s);
    cull_base_free_aligned(conv->t);
    cull_base_free_aligned(conv->shift);
    cull_base_free_aligned(conv->r);
    cull_base_free_aligned(conv->own);
    cull_base_free_aligned(conv->own_rest);
    cull_base_free(conv->status);
    cull_base_free(conv);
}

static cull_status make_primitives(const cull_cpu_int8 *conv, const cull_layer_desc *desc,
                                   size_t rows, cull_dnnl ***out, int8_t **own)
{
    cull_status     status = CULL_OK;
    cull_layer_desc part = *desc;

    TRY(cull_base_alloc(conv->threads, sizeof(cull_dnnl *), "a convolution", out));
    part.x.n = part.y.n = (int64_t)rows;
    for (size_t i = 0; i < conv->threads; i++)
        TRY(cull_dnnl_create(&part, CULL_DNNL_INT8, &(*out)[i]));
    TRY(cull_base_alloc_aligned(cull_dnnl_weights((*out)[0]), 1, "weights", own));
done:
    return status;
}

static void cut(cull_cpu_int8 *conv)
{
    size_t n = conv->x.rows, row = conv->x.row + conv->y.row * sizeof(int32_t);
    size_t team = cull_team_size(conv->backend->team);

    conv->rows = row < ROOM ? ROOM / row : 1;
    conv->parts = (n + conv->rows - 1) / conv->rows;
    if (conv->parts < 8) conv->parts = n < 8 ? n : 8;
    conv->rows = (n + conv->parts - 1) / conv->parts;
    conv->longer = n - conv->parts * (conv->rows - 1);
    conv->threads = team < conv->parts ? team : conv->parts;
}

static cull_status make_room(cull_cpu_int8 *conv)
{
    cull_status status = CULL_OK;
    size_t      floats = conv->outputs * sizeof(float);

    TRY(cull_base_alloc_aligned(conv->threads, conv->rows * conv->x.row, "a convolution",
                                &conv->bytes));
    TRY(cull_base_alloc_aligned(conv->threads, conv->rows * conv->y.row * sizeof(int32_t),
                                "a convolution", &conv->sums));
    TRY(cull_base_alloc_aligned(conv->threads, floats, "a convolution", &conv->scale));
    TRY(cull_base_alloc_aligned(conv->x.rows, sizeof(float), "a convolution", &conv->s));
    TRY(cull_base_alloc_aligned(1, floats, "a convolution", &conv->t));
    TRY(cull_base_alloc_aligned(1, floats, "a convolution", &conv->shift));
    TRY(cull_base_alloc_aligned(conv->outputs, conv->terms, "weights", &conv->r));
    TRY(cull_base_alloc(conv->parts + CULL_DNNL_PIECES, sizeof *conv->status, "a convolution",
                        &conv->status));
done:
    return status;
}

static bool is_fast(const char *name)
{
    return strstr(name, "jit") || strstr(name, "brg");
}

cull_status cull_cpu_int8_create(cull_backend *backend, const cull_layer_desc *desc,
                                 cull_cpu_int8 **out)
{
    cull_status    status = CULL_OK;
    cull_cpu_int8 *conv = NULL;

    TRY(cull_base_alloc(1, sizeof *conv, "a convolution", &conv));
    conv->backend = backend;
    conv->x = cull_cpu_see(&desc->x);
    conv->y = cull_cpu_see(&desc->y);
    conv->terms = (size_t)(desc->x.c * desc->kernel[0] * desc->kernel[1]);
    conv->outputs = (size_t)desc->y.c;
    cut(conv);
    TRY(make_primitives(conv, desc, conv->rows, &conv->body, &conv->own));
    if (conv->longer < conv->parts)
        TRY(make_primitives(conv, desc, conv->rows - 1, &conv->rest, &conv->own_rest));
    conv->alike = !conv->rest || cull_dnnl_alike(conv->body[0], conv->rest[0]);
    if (!is_fast(cull_dnnl_name(conv->body[0]))) goto done;
    TRY(make_room(conv));
    *out = conv;
    conv = NULL;
done:
    cull_cpu_int8_destroy(conv);
    return status;
}

const char *cull_cpu_int8_name(const cull_cpu_int8 *conv)
{
    return cull_dnnl_name(conv->body[0]);
}

/* The scale by which the largest of a few becomes `most`, and its inverse. All zero, or too small
 * to divide by: 0. Not finite: bytes of 0 times NaN. */
static float scale_of(uint32_t largest, float most, float *factor)
{
    float value = 0;

    memcpy(&value, &largest, sizeof value);
    *factor = 0;
    if (!isfinite(value)) return NAN;
    if (value < 1e-30F) return 0;
    *factor = most / value;
    return value / most;
}

/* Some output channels of the weights. */
static void quantise_weights(void *context, size_t task, unsigned worker)
{
    const struct job      *job = context;
    cull_cpu_int8         *conv = job->conv;
    const cull_int8_loops *loops = cull_cpu_kernels(conv->backend)->int8;
    float                  most = (float)cull_dnnl_largest_weight(), factor = 0;
    size_t                 first = 0, last = 0;

    (void)worker;
    cull_cpu_part(conv->outputs, job->pieces, task, &first, &last);
    for (size_t o = first; o < last; o++) {
        const float *w = job->w + o * conv->terms;

        conv->t[o] = scale_of(loops->largest(conv->terms, w), most, &factor);
        if (factor > 0)
            loops->to_signed(conv->terms, w, factor, conv->r + o * conv->terms);
        else
            memset(conv->r + o * conv->terms, 0, conv->terms);
    }
}

static void move_piece(void *context, size_t piece, unsigned worker)
{
    const struct job *job = context;

    (void)worker;
    job->conv->status[piece] = cull_dnnl_bring(job->dnnl, piece, job->conv->r, job->own);
}

static cull_status check(const cull_cpu_int8 *conv, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (conv->status[i] != CULL_OK)
            return cull_fail(conv->status[i], "oneDNN could not run a convolution in int8");
    return CULL_OK;
}

static cull_status move_weights(struct job *job, cull_dnnl *dnnl, int8_t *own)
{
    size_t pieces = cull_dnnl_pieces(dnnl);

    job->dnnl = dnnl;
    job->own = own;
    cull_team_run(job->conv->backend->team, pieces, move_piece, job);
    return check(job->conv, pieces);
}

/* A row of x as bytes in NHWC; gives s_n. */
static float quantise_row(const cull_cpu_int8 *conv, const float *x, uint8_t *bytes)
{
    const cull_int8_loops *loops = cull_cpu_kernels(conv->backend)->int8;
    const cull_cpu_view   *v = &conv->x;
    size_t                 channels = v->blocks * v->block;
    float                  factor = 0, scale = scale_of(loops->largest(v->row, x), 255, &factor);

    if (factor > 0)
        for (size_t b = 0; b < v->blocks; b++)
            loops->to_bytes(v->area, v->block, channels, x + b * v->panel, factor,
                            bytes + b * v->block);
    else
        memset(bytes, 0, v->row);
    return scale;
}

static void finish_row(const cull_cpu_int8 *conv, float s, const int32_t *sums, float *scale,
                       float *y)
{
    const cull_int8_loops *loops = cull_cpu_kernels(conv->backend)->int8;
    const cull_cpu_view   *v = &conv->y;

    for (size_t o = 0; o < conv->outputs; o++) scale[o] = s * conv->t[o];
    for (size_t b = 0; b < v->blocks; b++)
        loops->from_sums(v->area, v->block, conv->outputs, sums + b * v->block,
                         scale + b * v->block, conv->shift + b * v->block, y + b * v->panel);
}

static void run_part(void *context, size_t part, unsigned worker)
{
    const struct job *job = context;
    cull_cpu_int8    *conv = job->conv;
    bool              rest = part >= conv->longer;
    size_t            slot = conv->threads == conv->parts ? part : worker;
    size_t            count = conv->rows - rest;
    size_t            first = part * conv->rows - (rest ? part - conv->longer : 0);
    uint8_t          *bytes = conv->bytes + slot * conv->rows * conv->x.row;
    int32_t          *sums = conv->sums + slot * conv->rows * conv->y.row;

    for (size_t i = 0; i < count; i++)
        conv->s[first + i] =
            quantise_row(conv, job->x + (first + i) * conv->x.row, bytes + i * conv->x.row);
    conv->status[part] =
        cull_dnnl_run(rest ? conv->rest[slot] : conv->body[slot], bytes,
                      rest && !conv->alike ? conv->own_rest : conv->own, NULL, sums);
    for (size_t i = 0; conv->status[part] == CULL_OK && i < count; i++)
        finish_row(conv, conv->s[first + i], sums + i * conv->y.row,
                   conv->scale + slot * conv->outputs, job->y + (first + i) * conv->y.row);
}

cull_status cull_cpu_int8_forward(cull_cpu_int8 *conv, const float *x, const float *w,
                                  const float *b, float *y)
{
    cull_status status = CULL_OK;
    struct job  job = {.conv = conv, .x = x, .w = w, .y = y};
    cull_team  *team = conv->backend->team;

    job.pieces = cull_cpu_parts(conv->backend, conv->outputs, conv->terms);
    cull_team_run(team, job.pieces, quantise_weights, &job);
    if (b) memcpy(conv->shift, b, conv->outputs * sizeof *b);
    TRY(move_weights(&job, conv->body[0], conv->own));
    if (!conv->alike) TRY(move_weights(&job, conv->rest[0], conv->own_rest));
    cull_team_run(team, conv->parts, run_part, &job);
    TRY(check(conv, conv->parts));
done:
    return status;
}
