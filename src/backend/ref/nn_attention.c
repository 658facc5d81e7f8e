/*
 * backend/ref/nn_attention.c - attention of every position to all that are no padding; and taking
 * the first position out of a sequence.
 *
 *     s_qk = q k / sqrt(d)      L_q = log sum_k exp s_qk      p_qk = exp(s_qk - L_q)
 *     y_q  = sum_k m_qk p_qk v_k
 *
 *     g_qk = m_qk dy_q v_k      D_q = sum_k p_qk g_qk         ds_qk = p_qk (g_qk - D_q) / sqrt(d)
 *     dq_q = sum_k ds_qk k_k    dk_k = sum_q ds_qk q_q        dv_k = sum_q m_qk p_qk dy_q
 *
 * state: (heads, positions) of an example, L.
 */
#include <math.h>
#include <string.h>

#include "backend/ref/nn.h"
#include "base/rng.h"

static void sizes(const cull_layer_desc *d, cull_ref_sizes *out)
{
    out->x2 = (size_t)(d->x2.n * d->x2.h);
}

static size_t state(const cull_layer_desc *d)
{
    return (size_t)(d->groups * d->x.h) * sizeof(double);
}

/* One head of one example, and what a worker has to itself: a row of weights. */
struct head {
    const cull_layer_desc *d;
    const cull_layer_args *args;
    int64_t        n, head, positions, width, all; /* width: of a head, all: of a position */
    const double  *q, *k, *v;                      /* of position 0                        */
    double        *y, *row, *state;
    const int32_t *token;
};

static struct head head_of(const cull_layer_desc *d, const cull_layer_args *args,
                           const cull_ref_shared *shared, size_t task, unsigned worker)
{
    struct head   h = {.d = d, .args = args, .positions = d->x.h, .width = d->y.c / d->groups};
    const double *x = args->x;

    h.n = (int64_t)task / d->groups;
    h.head = (int64_t)task % d->groups;
    h.all = d->x.c;
    h.q = x + h.n * h.positions * h.all + h.head * h.width;
    h.k = h.q + d->y.c;
    h.v = h.k + d->y.c;
    h.y = (double *)args->y + h.n * h.positions * d->y.c + h.head * h.width;
    if (args->state) h.state = (double *)args->state + (int64_t)task * h.positions;
    h.token = (const int32_t *)args->x2 + h.n * h.positions;
    h.row = shared->scratch + worker * shared->share;
    return h;
}

static size_t scratch(const cull_layer_desc *d)
{
    return 2 * (size_t)d->x.h;
}

static double dot(const double *a, const double *b, int64_t count)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

static double score(const struct head *h, int64_t q, int64_t k)
{
    return dot(h->q + q * h->all, h->k + k * h->all, h->width) / sqrt((double)h->width);
}

/* m_qk */
static double mask(const struct head *h, int64_t q, int64_t k)
{
    const cull_layer_args *a = h->args;
    uint64_t               step = cull_layer_step(a);
    int64_t                e = (h->head * CULL_MOST_POSITIONS + q) * CULL_MOST_POSITIONS + k;
    uint32_t counter[4] = {(uint32_t)(e / 4), a->place ? a->place[h->n] : (uint32_t)h->n,
                           (uint32_t)step, (uint32_t)(step >> 32)};
    uint32_t word[4];
    double   p = h->d->probability;

    if (p == 0) return 1;
    cull_base_philox(a->key, counter, word);
    return (double)word[e % 4] >= p * 0x1p32 ? 1 / (1 - p) : 0;
}

static void attend(const struct head *h, int64_t q)
{
    double *y = h->y + q * h->d->y.c, most = -INFINITY, sum = 0, level = 0;

    memset(y, 0, (size_t)h->width * sizeof *y);
    if (h->state) h->state[q] = 0;
    if (h->token[q] < 0) return;
    for (int64_t k = 0; k < h->positions; k++) {
        h->row[k] = h->token[k] < 0 ? -INFINITY : score(h, q, k);
        if (h->row[k] > most) most = h->row[k];
    }
    for (int64_t k = 0; k < h->positions; k++) sum += exp(h->row[k] - most);
    level = most + log(sum);
    if (h->state) h->state[q] = level;
    for (int64_t k = 0; k < h->positions; k++) {
        double weight = h->token[k] < 0 ? 0 : mask(h, q, k) * exp(h->row[k] - level);

        for (int64_t c = 0; h->token[k] >= 0 && c < h->width; c++)
            y[c] += weight * h->v[k * h->all + c];
    }
}

struct job {
    const cull_layer_desc *d;
    const cull_layer_args *args;
    const cull_ref_shared *shared;
};

static void attend_head(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;
    struct head       h = head_of(job->d, job->args, job->shared, task, worker);

    for (int64_t q = 0; q < h.positions; q++) attend(&h, q);
}

static void forward(const cull_layer_desc *d, const cull_layer_args *args,
                    const cull_ref_shared *shared)
{
    struct job job = {d, args, shared};

    cull_team_run(shared->team, (size_t)(d->x.n * d->groups), attend_head, &job);
}

/* What position q gives back to every position it looked at. */
static void give_back(const struct head *h, int64_t q, double *dq, const double *dy)
{
    double *p = h->row, *g = h->row + h->positions, sum = 0;
    int64_t own = h->d->y.c;

    for (int64_t k = 0; k < h->positions; k++) {
        if (h->token[k] < 0) continue;
        p[k] = exp(score(h, q, k) - h->state[q]);
        g[k] = mask(h, q, k) * dot(dy, h->v + k * h->all, h->width);
        sum += p[k] * g[k];
    }
    for (int64_t k = 0; k < h->positions; k++) {
        double *dk = dq + (k - q) * h->all + own, *dv = dk + own, slope = 0, weight = 0;

        if (h->token[k] < 0) continue;
        slope = p[k] * (g[k] - sum) / sqrt((double)h->width);
        weight = mask(h, q, k) * p[k];
        for (int64_t c = 0; c < h->width; c++) {
            dq[c] += slope * h->k[k * h->all + c];
            dk[c] += slope * h->q[q * h->all + c];
            dv[c] += weight * dy[c];
        }
    }
}

static void return_head(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;
    struct head       h = head_of(job->d, job->args, job->shared, task, worker);
    double           *dx = (double *)job->args->dx + (h.q - (const double *)job->args->x);
    const double     *dy = (const double *)job->args->dy + (h.y - (const double *)job->args->y);

    for (int64_t q = 0; q < h.positions; q++)
        if (h.token[q] >= 0) give_back(&h, q, dx + q * h.all, dy + q * h.d->y.c);
}

static void backward(const cull_layer_desc *d, const cull_layer_args *args,
                     const cull_ref_shared *shared)
{
    struct job job = {d, args, shared};

    if (!args->dx) return;
    if (!args->accumulate)
        memset(args->dx, 0, (size_t)(d->x.n * cull_image_row(&d->x)) * sizeof(double));
    cull_team_run(shared->team, (size_t)(d->x.n * d->groups), return_head, &job);
}

const cull_ref_rule cull_ref_attention = {.kind = CULL_LAYER_ATTENTION,
                                          .sizes = sizes,
                                          .state = state,
                                          .sequences = true,
                                          .scratch = scratch,
                                          .shared_forward = forward,
                                          .shared_backward = backward};

static void take(const cull_layer_desc *d, const cull_layer_args *args)
{
    for (int64_t n = 0; n < d->x.n; n++)
        memcpy((double *)args->y + n * d->y.c, (const double *)args->x + n * cull_image_row(&d->x),
               (size_t)d->y.c * sizeof(double));
}

static void take_backward(const cull_layer_desc *d, const cull_layer_args *args)
{
    const double *dy = args->dy;
    double       *dx = args->dx;
    int64_t       row = cull_image_row(&d->x);

    if (!dx) return;
    if (!args->accumulate) memset(dx, 0, (size_t)(d->x.n * row) * sizeof *dx);
    for (int64_t n = 0; n < d->x.n; n++)
        for (int64_t c = 0; c < d->y.c; c++) dx[n * row + c] += dy[n * d->y.c + c];
}

const cull_ref_rule cull_ref_take = {
    .kind = CULL_LAYER_TAKE, .sequences = true, .forward = take, .backward = take_backward};
