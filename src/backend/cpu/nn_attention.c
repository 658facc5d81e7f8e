/*
 * backend/cpu/nn_attention.c - attention, a head of an example at a time (backend/layer.h).
 *
 * Weights are made for a few queries at once, so many that they stay in the second cache, and again
 * on the way back. Padding behind the last token of an example is not looked at.
 *
 *     P = weigh(Q K^T)     y = (m P) V
 *     G = m (dy V^T)       S = P (G - rowsum(P G)) scale
 *     dQ = S K   dK = S^T Q   dV = (m P)^T dy
 *
 * state: (heads, positions) of an example, the logarithms of the sums.
 */
#include <string.h>

#include "backend/cpu/nn.h"
#include "backend/cpu/nn_product.h"
#include "base/alloc.h"

enum { WEIGHTS = 1 << 15, MOST_QUERIES = 128 }; /* weights made at once */

struct attention {
    cull_layer_op base;
    size_t        positions, heads, width; /* width: of a head      */
    size_t        queries;                 /* at once               */
    bool          drops;
    uint32_t      below;
    float        *scratch; /* [workers][share] */
    size_t        share;
    uint32_t     *words;  /* [workers][positions rounded up to 4] */
    cull_status  *status; /* [workers] the first failure of each  */
};

struct job {
    const struct attention *attention;
    const cull_layer_args  *args;
};

/* One head of one example. */
struct head {
    const struct attention    *a;
    const cull_layer_args     *args;
    const cull_sequence_loops *loops;
    size_t                     n, head, used; /* used: positions up to the last token */
    size_t                     step, own;     /* elements between positions of x and of y */
    size_t                     x, y;          /* where q and y of position 0 lie          */
    const int32_t             *token;
    float                     *state;           /* [positions], or NULL                  */
    float                     *p, *g, *dropped; /* [queries][used]                       */
    uint32_t                  *words;
    float                      scale;
};

static void destroy(cull_layer_op *op)
{
    struct attention *a = (struct attention *)op;

    cull_base_free_aligned(a->scratch);
    cull_base_free(a->words);
    cull_base_free(a->status);
    cull_base_free(a);
}

static size_t words_of(const struct attention *a)
{
    return (a->positions + 3) / 4 * 4;
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status       status = CULL_OK;
    struct attention *a = NULL;
    size_t            workers = cull_team_size(backend->team);

    TRY(cull_cpu_layer_new(desc, sizeof *a, &a));
    a->positions = (size_t)desc->x.h;
    a->heads = (size_t)desc->groups;
    a->width = (size_t)(desc->y.c / desc->groups);
    a->queries = WEIGHTS / a->positions + 1;
    if (a->queries > MOST_QUERIES) a->queries = MOST_QUERIES;
    if (a->queries > a->positions) a->queries = a->positions;
    a->drops = cull_cpu_drops(desc->probability, &a->below);
    a->share = (desc->learn ? 3 : 1) * a->queries * a->positions;
    a->base.state_row = a->heads * a->positions * sizeof(float);
    TRY(cull_base_alloc_aligned(workers * a->share, sizeof(float), "a layer", &a->scratch));
    TRY(cull_base_alloc(workers, words_of(a) * sizeof *a->words, "a layer", &a->words));
    TRY(cull_base_alloc(workers, sizeof *a->status, "a layer", &a->status));
    *out = &a->base;
    a = NULL;
done:
    if (a) destroy(&a->base);
    return status;
}

static struct head head_of(const struct job *job, size_t task, unsigned worker)
{
    const struct attention *a = job->attention;
    struct head             h = {.a = a, .args = job->args, .loops = cull_cpu_sequences(&a->base)};

    h.n = task / a->heads;
    h.head = task % a->heads;
    h.own = a->heads * a->width;
    h.step = 3 * h.own;
    h.x = h.n * a->positions * h.step + h.head * a->width;
    h.y = h.n * a->positions * h.own + h.head * a->width;
    h.token = (const int32_t *)job->args->x2 + h.n * a->positions;
    if (job->args->state) h.state = (float *)job->args->state + task * a->positions;
    h.used = a->positions;
    while (h.used > 0 && h.token[h.used - 1] < 0) h.used--;
    h.p = a->scratch + worker * a->share;
    h.g = h.p + a->queries * a->positions;
    h.dropped = h.g + a->queries * a->positions;
    h.words = a->words + worker * words_of(a);
    h.scale = (float)(1 / sqrt((double)a->width));
    return h;
}

/* Rows of q (0), k (1) or v (2) from a position on. */
static cull_cpu_matrix rows_of(const struct head *h, int which, size_t first, bool turned)
{
    const float *x = h->args->x;

    return (cull_cpu_matrix){x + h->x + first * h->step + (size_t)which * h->own, h->step, turned};
}

static cull_cpu_matrix weights(const float *p, const struct head *h, bool turned)
{
    return (cull_cpu_matrix){p, h->used, turned};
}

/* The words of a query's row. */
static void draw(const struct head *h, size_t q)
{
    const cull_layer_args *args = h->args;
    uint64_t               element = (h->head * CULL_MOST_POSITIONS + q) * CULL_MOST_POSITIONS;

    h->loops->words((h->used + 3) / 4, args->key, (uint32_t)(element / 4),
                    args->place ? args->place[h->n] : (uint32_t)h->n, cull_layer_step(args),
                    h->words);
}

/* Weights of `count` queries from the first on, before any is dropped; zero where there is none. */
static cull_status make_weights(const struct head *h, size_t first, size_t count, bool again)
{
    cull_status status = CULL_OK;

    TRY(cull_cpu_multiply(count, h->used, h->a->width, rows_of(h, 0, first, false),
                          rows_of(h, 1, 0, true), false, h->p, h->used));
    for (size_t i = 0; i < count; i++) {
        float *row = h->p + i * h->used, log_sum = again ? h->state[first + i] : 0;

        if (h->token[first + i] < 0)
            memset(row, 0, h->used * sizeof *row);
        else if (again)
            h->loops->weigh_again(h->used, h->token, h->scale, log_sum, row);
        else
            h->loops->weigh(h->used, h->token, h->scale, row, &log_sum);
        if (h->state && !again) h->state[first + i] = log_sum;
    }
done:
    return status;
}

static double kept_scale(const struct head *h)
{
    return 1 / (1 - h->a->base.desc.probability);
}

static cull_status attend(const struct head *h, size_t first, size_t count)
{
    cull_status status = CULL_OK;
    float      *y = (float *)h->args->y + h->y + first * h->own;

    TRY(make_weights(h, first, count, false));
    for (size_t i = 0; h->a->drops && i < count; i++) {
        float *row = h->p + i * h->used;

        draw(h, first + i);
        h->loops->drop(h->used, h->words, h->a->below, kept_scale(h), row, row, false);
    }
    TRY(cull_cpu_multiply(count, h->a->width, h->used, weights(h->p, h, false),
                          rows_of(h, 2, 0, false), false, y, h->own));
done:
    return status;
}

/* Features of this head in the positions behind the last token become zero. */
static void clear(const struct head *h, float *data, size_t step)
{
    for (size_t t = h->used; t < h->a->positions; t++)
        memset(data + t * step, 0, h->a->width * sizeof *data);
}

static void attend_head(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;
    struct head       h = head_of(job, task, worker);
    size_t            at_once = job->attention->queries;

    clear(&h, (float *)h.args->y + h.y, h.own);
    for (size_t t = h.used; h.state && t < h.a->positions; t++) h.state[t] = 0;
    for (size_t q = 0; q < h.used; q += at_once) {
        cull_status status = attend(&h, q, h.used - q < at_once ? h.used - q : at_once);

        if (status != CULL_OK) h.a->status[worker] = status;
    }
}

/* From P and G = dy V^T: m P, and S in G. */
static void slopes(const struct head *h, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float *p = h->p + i * h->used, *g = h->g + i * h->used, *kept = h->dropped + i * h->used;

        if (h->a->drops) {
            draw(h, first + i);
            h->loops->drop(h->used, h->words, h->a->below, kept_scale(h), p, kept, false);
            h->loops->drop(h->used, h->words, h->a->below, kept_scale(h), g, g, false);
        }
        h->loops->lean(h->used, p, g, h->loops->dot(h->used, p, g), h->scale, g);
    }
}

static cull_status return_rows(const struct head *h, size_t first, size_t count, float *dx)
{
    cull_status     status = CULL_OK;
    bool            more = h->args->accumulate, later = more || first > 0;
    size_t          width = h->a->width;
    cull_cpu_matrix dy = {(const float *)h->args->dy + h->y + first * h->own, h->own, false};

    TRY(make_weights(h, first, count, true));
    TRY(cull_cpu_multiply(count, h->used, width, dy, rows_of(h, 2, 0, true), false, h->g, h->used));
    slopes(h, first, count);
    TRY(cull_cpu_multiply(count, width, h->used, weights(h->g, h, false), rows_of(h, 1, 0, false),
                          more, dx + first * h->step, h->step));
    TRY(cull_cpu_multiply(h->used, width, count, weights(h->g, h, true),
                          rows_of(h, 0, first, false), later, dx + h->own, h->step));
    TRY(cull_cpu_multiply(h->used, width, count, weights(h->a->drops ? h->dropped : h->p, h, true),
                          dy, later, dx + 2 * h->own, h->step));
done:
    return status;
}

static void return_head(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;
    struct head       h = head_of(job, task, worker);
    size_t            at_once = job->attention->queries;
    float            *dx = (float *)h.args->dx + h.x;

    for (size_t k = 0; !h.args->accumulate && k < 3; k++) clear(&h, dx + k * h.own, h.step);
    for (size_t q = 0; q < h.used; q += at_once) {
        cull_status status = return_rows(&h, q, h.used - q < at_once ? h.used - q : at_once, dx);

        if (status != CULL_OK) h.a->status[worker] = status;
    }
}

static cull_status run(cull_layer_op *op, const cull_layer_args *args, cull_team_task task)
{
    struct attention *a = (struct attention *)op;
    struct job        job = {a, args};
    cull_status       status = CULL_OK;

    cull_team_run(op->backend->team, (size_t)op->desc.x.n * a->heads, task, &job);
    for (unsigned w = 0; w < cull_team_size(op->backend->team); w++) {
        if (a->status[w] != CULL_OK) status = a->status[w];
        a->status[w] = CULL_OK;
    }
    return status == CULL_OK ? CULL_OK
                             : cull_fail(status, "oneDNN cannot multiply what attention needs");
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    return run(op, args, attend_head);
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    return args->dx ? run(op, args, return_head) : CULL_OK;
}

const cull_layer_class cull_cpu_attention = {create, forward, backward, destroy};
