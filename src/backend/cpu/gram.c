/*
 * backend/cpu/gram.c - Gram matrix of last-layer gradients g_i = p_i (x) [h_i; 1].
 *
 *     K = P P^T o (H H^T + 1)          H (n, D)   P (n, C)   K (n, n) in double
 *     t_i = mean over j of K_ij        b2 = mean of t
 *     with a target, mean gradient G (C, D+1): t_i = p_i . G [h_i; 1]      b2 = |G|^2
 *
 * Gradients that are near each other differ in the last digits of K, so float32 is multiplied
 * and summed in double too. H is made doubles a panel of columns at a time, once for all
 * strips; as the products sum blocks of as many columns, K has the bits that it has of double
 * input with the same numbers.
 *
 * Strips of rows are made up to the diagonal and then mirrored, so K is symmetric to the
 * last bit. G is explicit: n C D multiplications instead of n V D.
 */
#include "backend/cpu/cpu.h"
#include "base/alloc.h"
#include "tensor/tensor.h"

enum { STRIP = 12, LANES = 8, PANEL = CULL_PRODUCT_BLOCK };

struct gram {
    cull_op base;
    double *strip; /* (threads, STRIP, rows) of P P^T           */
    double *mean;  /* [rows] row sums; room that never shrinks: */
    double *panel; /* (n, PANEL) of H, where it is float32      */
    double *p;     /* (n, C) where P is float32                 */
    double *g;     /* (C, D+1) the target's mean gradient       */
    size_t  panel_room, p_room, g_room;
};

struct job {
    struct gram        *gram;
    const cull_kernels *kernels;
    const cull_op_args *args;
    cull_tensor         h, p;  /* doubles: the columns of H being summed; all of P */
    size_t              n, at; /* the first of those columns                       */
    bool                last;  /* there are none behind them                       */
};

static void destroy(cull_op *op)
{
    struct gram *gram = (struct gram *)op;

    cull_base_free_aligned(gram->g);
    cull_base_free_aligned(gram->p);
    cull_base_free_aligned(gram->panel);
    cull_base_free(gram->mean);
    cull_base_free_aligned(gram->strip);
    cull_base_free(gram);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status  status = CULL_OK;
    struct gram *gram = NULL;
    size_t       strips = (size_t)STRIP * cull_team_size(backend->team);

    TRY(cull_base_alloc(1, sizeof *gram, "an operation", &gram));
    TRY(cull_base_alloc_aligned(strips, desc->rows * sizeof(double), "a Gram matrix",
                                &gram->strip));
    TRY(cull_base_alloc(desc->rows, sizeof *gram->mean, "a Gram matrix", &gram->mean));
    *out = &gram->base;
    gram = NULL;
done:
    if (gram) destroy(&gram->base);
    return status;
}

/* From a cache line's border on: the products read whole lines, and where those lie across two it
 * shows. What was in it is gone. */
static cull_status grow(size_t count, size_t *room, double **data)
{
    cull_status status = CULL_OK;

    if (count <= *room) return CULL_OK;
    cull_base_free_aligned(*data);
    *room = 0;
    TRY(cull_base_alloc_aligned(count, sizeof(double), "a Gram matrix", data));
    *room = count;
done:
    return status;
}

/* A strip's rows of float32 columns, from column `at` on, as doubles. */
static void widen(const struct job *job, const cull_tensor *from, size_t at, size_t task,
                  const cull_tensor *to)
{
    size_t until = (task + 1) * STRIP < job->n ? (task + 1) * STRIP : job->n;
    size_t columns = (size_t)to->shape[1];

    for (size_t i = task * STRIP; i < until; i++)
        job->kernels->sums->widen(columns, (const float *)cull_tensor_row(from, i) + at,
                                  (double *)to->data + i * columns);
}

static void widen_h(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;

    (void)worker;
    widen(job, job->args->gram.h, job->at, task, &job->h);
}

static void widen_p(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;

    (void)worker;
    widen(job, job->args->gram.p, 0, task, &job->p);
}

/* The lower triangle, longest strips first so that threads end together. */
static void make_strip(void *context, size_t task, unsigned worker)
{
    const struct job    *job = context;
    const cull_products *products = job->kernels->products;
    const cull_tensor   *h = &job->h, *p = &job->p;
    size_t               n = job->n, strips = (n + STRIP - 1) / STRIP;
    size_t               first = (strips - 1 - task) * STRIP;
    size_t               count = n - first < STRIP ? n - first : STRIP, until = first + count;
    size_t               ldh = (size_t)h->stride[0], ldp = (size_t)p->stride[0];
    double              *k = job->args->gram.k + first * n;
    double              *pp = job->gram->strip + worker * STRIP * job->gram->base.desc.rows;

    (job->at ? products->add_f64 : products->multiply_f64)(
        count, until, (size_t)h->shape[1], cull_tensor_row(h, first), ldh, h->data, ldh, k, n);
    if (!job->last) return;
    products->multiply_f64(count, until, (size_t)p->shape[1], cull_tensor_row(p, first), ldp,
                           p->data, ldp, pp, until);
    for (size_t i = 0; i < count; i++) {
        double *to = k + i * n, *from = pp + i * until;
        for (size_t j = 0; j < until; j++) to[j] = from[j] * (to[j] + 1);
    }
}

static double sum_of(const double *x, size_t n)
{
    double lane[LANES] = {0}, sum = 0;
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) lane[l] += x[i + l];
    for (size_t l = 0; l < LANES; l++) sum += lane[l];
    for (; i < n; i++) sum += x[i];
    return sum;
}

/* The upper part of a strip from the lower triangle, and its row sums. */
static void mirror_strip(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;
    size_t            n = job->n, first = task * STRIP;
    size_t            until = first + STRIP < n ? first + STRIP : n;
    double           *k = job->args->gram.k;

    (void)worker;
    for (size_t j = first; j < n; j++) {
        size_t end = j < until ? j : until;
        for (size_t i = first; i < end; i++) k[i * n + j] = k[j * n + i];
    }
    for (size_t i = first; i < until; i++) job->gram->mean[i] = sum_of(k + i * n, n) / (double)n;
}

/* All of K: H as it is, or a panel of it after the other. */
static cull_status make_all(struct job *job)
{
    cull_status  status = CULL_OK;
    struct gram *gram = job->gram;
    cull_team   *team = gram->base.backend->team;
    size_t       n = job->n, strips = (n + STRIP - 1) / STRIP, d = (size_t)job->h.shape[1];
    size_t       wide = job->h.dtype == CULL_F32 && d > PANEL ? PANEL : d;

    if (job->p.dtype == CULL_F32) {
        TRY(grow(n * (size_t)job->p.shape[1], &gram->p_room, &gram->p));
        job->p = cull_matrix(gram->p, CULL_F64, n, (size_t)job->p.shape[1]);
        cull_team_run(team, strips, widen_p, job);
    }
    if (job->h.dtype == CULL_F32) TRY(grow(n * wide, &gram->panel_room, &gram->panel));
    do {
        size_t columns = d - job->at < wide ? d - job->at : wide;

        job->last = job->at + columns == d;
        if (job->args->gram.h->dtype == CULL_F32) {
            job->h = cull_matrix(gram->panel, CULL_F64, n, columns);
            cull_team_run(team, strips, widen_h, job);
        }
        cull_team_run(team, strips, make_strip, job);
        job->at += columns;
    } while (!job->last);
    cull_team_run(team, strips, mirror_strip, job);
done:
    return status;
}

/* G = (1/V) sum over v of p_v (x) [h_v; 1] */
static void mean_gradient(const cull_target *target, double *g)
{
    size_t c = (size_t)target->p.shape[1], d = (size_t)target->h.shape[1];

    for (size_t i = 0; i < c * (d + 1); i++) g[i] = 0;
    for (size_t v = 0; v < target->count; v++) {
        const void *h = cull_tensor_row(&target->h, v);
        cull_tensor p = cull_vector(cull_tensor_row(&target->p, v), target->p.dtype, c);
        for (size_t l = 0; l < c; l++) {
            double *to = g + l * (d + 1), factor = cull_tensor_get(&p, l) / (double)target->count;
            if (target->h.dtype == CULL_F32)
                for (size_t j = 0; j < d; j++) to[j] += factor * (double)((const float *)h)[j];
            else
                for (size_t j = 0; j < d; j++) to[j] += factor * ((const double *)h)[j];
            to[d] += factor;
        }
    }
}

/* t from G, class by class, with `mean` as the room for G_c . h_i. */
static void project(struct job *job, const double *g, double *t)
{
    const cull_tensor *h = job->args->gram.h, *p = job->args->gram.p;
    size_t             d = (size_t)h->shape[1], ld = (size_t)h->stride[0];
    double            *y = job->gram->mean;

    for (size_t i = 0; i < job->n; i++) t[i] = 0;
    for (size_t c = 0; c < (size_t)p->shape[1]; c++, g += d + 1) {
        if (h->dtype == CULL_F32)
            job->kernels->products->apply_f32(job->n, d, h->data, ld, g, y);
        else
            job->kernels->products->apply_f64(job->n, d, h->data, ld, g, y);
        for (size_t i = 0; i < job->n; i++) {
            cull_tensor row = cull_vector(cull_tensor_row(p, i), p->dtype, c + 1);
            t[i] += cull_tensor_get(&row, c) * (y[i] + g[d]);
        }
    }
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_status  status = CULL_OK;
    struct gram *gram = (struct gram *)op;
    size_t       n = (size_t)args->gram.h->shape[0];
    struct job   job = {.gram = gram,
                        .kernels = cull_cpu_kernels(op->backend),
                        .args = args,
                        .h = *args->gram.h,
                        .p = *args->gram.p,
                        .n = n};

    TRY(make_all(&job));
    if (args->gram.target) {
        size_t size = (size_t)args->gram.p->shape[1] * ((size_t)args->gram.h->shape[1] + 1);
        TRY(grow(size, &gram->g_room, &gram->g));
        mean_gradient(args->gram.target, gram->g);
        if (args->gram.t) project(&job, gram->g, args->gram.t);
        if (args->gram.b2) {
            *args->gram.b2 = 0;
            for (size_t i = 0; i < size; i++) *args->gram.b2 += gram->g[i] * gram->g[i];
        }
        return CULL_OK;
    }
    if (args->gram.t)
        for (size_t i = 0; i < n; i++) args->gram.t[i] = gram->mean[i];
    if (args->gram.b2) *args->gram.b2 = sum_of(gram->mean, n) / (double)n;
done:
    return status;
}

const cull_op_class cull_cpu_gram = {create, run, destroy};
