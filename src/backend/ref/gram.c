/*
 * backend/ref/gram.c - Gram matrix of last-layer gradients g_i = p_i (x) [h_i; 1].
 *
 *     K = P P^T o (H H^T + 1)          H (n, D)   P (n, C)   K (n, n) in double
 *     t_i = mean over j of K_ij        or over a target's v of (p_i . p_v)(h_i . h_v + 1)
 *     b2 = mean of t                   or over the target's pairs
 */
#include "backend/ref/ref.h"
#include "tensor/tensor.h"

static double dot(const cull_tensor *a, size_t i, const cull_tensor *b, size_t j)
{
    cull_tensor x = cull_vector(cull_tensor_row(a, i), a->dtype, (size_t)a->shape[1]);
    cull_tensor y = cull_vector(cull_tensor_row(b, j), b->dtype, (size_t)b->shape[1]);
    double      sum = 0;

    for (size_t l = 0; l < (size_t)a->shape[1]; l++)
        sum += cull_tensor_get(&x, l) * cull_tensor_get(&y, l);
    return sum;
}

static double product(const cull_tensor *h, const cull_tensor *p, size_t i, const cull_tensor *hv,
                      const cull_tensor *pv, size_t v)
{
    return dot(p, i, pv, v) * (dot(h, i, hv, v) + 1);
}

static void target_means(const cull_op_args *args, size_t n, double *t, double *b2)
{
    const cull_tensor *h = args->gram.h, *p = args->gram.p;
    const cull_target *target = args->gram.target;
    double             count = (double)target->count, sum = 0;

    for (size_t i = 0; t && i < n; i++) {
        t[i] = 0;
        for (size_t v = 0; v < target->count; v++)
            t[i] += product(h, p, i, &target->h, &target->p, v) / count;
    }
    for (size_t u = 0; b2 && u < target->count; u++)
        for (size_t v = 0; v < target->count; v++)
            sum += product(&target->h, &target->p, u, &target->h, &target->p, v);
    if (b2) *b2 = sum / (count * count);
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    const cull_tensor *h = args->gram.h, *p = args->gram.p;
    size_t             n = (size_t)h->shape[0];
    double             total = 0;

    (void)op;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) {
            double value = product(h, p, i, h, p, j);
            args->gram.k[i * n + j] = value;
            sum += value;
        }
        if (args->gram.t) args->gram.t[i] = sum / (double)n;
        total += sum / (double)n;
    }
    if (args->gram.b2) *args->gram.b2 = total / (double)n;
    if (args->gram.target) target_means(args, n, args->gram.t, args->gram.b2);
    return CULL_OK;
}

const cull_op_class cull_ref_gram = {cull_host_create, run, cull_host_destroy};
