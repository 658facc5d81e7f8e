/*
 * backend/cpu/gram.c - Gram matrix of last-layer gradients g_i = p_i (x) [h_i; 1].
 *
 *     K = P P^T o (H H^T + 1)          H (n, D)   P (n, C)   K (n, n) of H's type
 *     t_i = mean over j of K_ij        b2 = mean of t
 *     with a target, mean gradient G (C, D+1): t_i = p_i . G [h_i; 1]      b2 = |G|^2
 *
 * Strips of rows are made up to the diagonal and then mirrored, so K is symmetric to the
 * last bit. G is explicit: n C D multiplications instead of n V D.
 */
#include "backend/cpu/cpu.h"
#include "base/alloc.h"
#include "tensor/tensor.h"

enum { STRIP = 12, LANES = 8 };

struct gram {
    cull_op base;
    void   *strip; /* (threads, STRIP, rows) of P P^T           */
    double *mean;  /* [rows] row sums; room that never shrinks: */
    void   *p;     /* (n, C) in H's type, where P has another   */
    double *g;     /* (C, D+1) the target's mean gradient       */
    size_t  p_room, g_room;
};

struct job {
    struct gram         *gram;
    const cull_products *products;
    const cull_op_args  *args;
    cull_tensor          h, p; /* of one type */
    size_t               n;
};

static void destroy(cull_op *op)
{
    struct gram *gram = (struct gram *)op;

    cull_base_free(gram->g);
    cull_base_free(gram->p);
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

static cull_status grow(size_t count, size_t *room, void *data)
{
    cull_status status = CULL_OK;

    if (count <= *room) return CULL_OK;
    TRY(cull_base_grow(count, sizeof(double), "a Gram matrix", data));
    *room = count;
done:
    return status;
}

/* P as H's type, so that one kind of product serves both. */
static cull_status match_types(struct job *job)
{
    cull_status        status = CULL_OK;
    const cull_tensor *p = job->args->gram.p;
    size_t             n = job->n, c = (size_t)p->shape[1];
    struct gram       *gram = job->gram;

    job->p = *p;
    if (p->dtype == job->h.dtype) return CULL_OK;
    TRY(grow(n * c, &gram->p_room, &gram->p));
    job->p = cull_matrix(gram->p, job->h.dtype, n, c);
    for (size_t i = 0; i < n; i++) {
        cull_tensor row = cull_vector(cull_tensor_row(p, i), p->dtype, c);
        for (size_t j = 0; j < c; j++) {
            if (job->h.dtype == CULL_F32)
                ((float *)gram->p)[i * c + j] = (float)cull_tensor_get(&row, j);
            else
                ((double *)gram->p)[i * c + j] = cull_tensor_get(&row, j);
        }
    }
done:
    return status;
}

/* Rows first .. first+count of a product with all rows up to `until`. */
static void multiply(const cull_products *products, const cull_tensor *a, size_t first,
                     size_t count, size_t until, void *c, size_t ldc)
{
    size_t k = (size_t)a->shape[1], ld = (size_t)a->stride[0];

    if (a->dtype == CULL_F32)
        products->multiply_f32(count, until, k, cull_tensor_row(a, first), ld, a->data, ld, c, ldc);
    else
        products->multiply_f64(count, until, k, cull_tensor_row(a, first), ld, a->data, ld, c, ldc);
}

/* The lower triangle, longest strips first so that threads end together. */
static void make_strip(void *context, size_t task, unsigned worker)
{
    struct job *job = context;
    size_t      n = job->n, size = cull_dtype_size(job->h.dtype), strips = (n + STRIP - 1) / STRIP;
    size_t      first = (strips - 1 - task) * STRIP;
    size_t      count = n - first < STRIP ? n - first : STRIP, until = first + count;
    char       *k = (char *)job->args->gram.k + first * n * size;
    char       *pp = (char *)job->gram->strip + worker * STRIP * job->gram->base.desc.rows * 8;

    multiply(job->products, &job->h, first, count, until, k, n);
    multiply(job->products, &job->p, first, count, until, pp, until);
    for (size_t i = 0; i < count; i++) {
        if (job->h.dtype == CULL_F32) {
            float *to = (float *)k + i * n, *from = (float *)pp + i * until;
            for (size_t j = 0; j < until; j++) to[j] = from[j] * (to[j] + 1);
        } else {
            double *to = (double *)k + i * n, *from = (double *)pp + i * until;
            for (size_t j = 0; j < until; j++) to[j] = from[j] * (to[j] + 1);
        }
    }
}

static double sum_f32(const float *x, size_t n)
{
    double lane[LANES] = {0}, sum = 0;
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) lane[l] += (double)x[i + l];
    for (size_t l = 0; l < LANES; l++) sum += lane[l];
    for (; i < n; i++) sum += (double)x[i];
    return sum;
}

static double sum_f64(const double *x, size_t n)
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
    struct job *job = context;
    size_t      n = job->n, first = task * STRIP;
    size_t      until = first + STRIP < n ? first + STRIP : n;
    float      *k32 = job->args->gram.k;
    double     *k64 = job->args->gram.k;
    bool        single = job->h.dtype == CULL_F32;

    (void)worker;
    for (size_t j = first; j < n; j++) {
        size_t end = j < until ? j : until;
        if (single)
            for (size_t i = first; i < end; i++) k32[i * n + j] = k32[j * n + i];
        else
            for (size_t i = first; i < end; i++) k64[i * n + j] = k64[j * n + i];
    }
    for (size_t i = first; i < until; i++)
        job->gram->mean[i] =
            (single ? sum_f32(k32 + i * n, n) : sum_f64(k64 + i * n, n)) / (double)n;
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
            job->products->apply_f32(job->n, d, h->data, ld, g, y);
        else
            job->products->apply_f64(job->n, d, h->data, ld, g, y);
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
    size_t       n = (size_t)args->gram.h->shape[0], strips = (n + STRIP - 1) / STRIP;
    struct job   job = {gram, cull_cpu_kernels(op->backend)->products, args, *args->gram.h, {0}, n};
    const double *means = gram->mean;

    TRY(match_types(&job));
    cull_team_run(op->backend->team, strips, make_strip, &job);
    cull_team_run(op->backend->team, strips, mirror_strip, &job);
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
        for (size_t i = 0; i < n; i++) args->gram.t[i] = means[i];
    if (args->gram.b2) *args->gram.b2 = sum_f64(means, n) / (double)n;
done:
    return status;
}

const cull_op_class cull_cpu_gram = {create, run, destroy};
