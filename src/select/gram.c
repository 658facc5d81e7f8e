/* select/gram.c - cull_gram: the Gram matrix of last-layer gradients, checked and run. */
#include "backend/backend.h"
#include "tensor/tensor.h"

static cull_status check_finite(const cull_tensor *t, const char *name)
{
    size_t rows = (size_t)t->shape[0], row = cull_tensor_first_not_finite(t, rows);

    if (row < rows) return cull_fail(CULL_NOT_FINITE, "%s of example %zu is not finite", name, row);
    return CULL_OK;
}

static cull_status check_target(const cull_tensor *h, const cull_tensor *p,
                                const cull_target *target)
{
    cull_status status = CULL_OK;

    TRY(cull_tensor_check(&target->h, "target h", 2, target->count, false));
    TRY(cull_tensor_check(&target->p, "target p", 2, target->count, false));
    if (target->h.shape[1] != h->shape[1] || target->p.shape[1] != p->shape[1])
        FAIL(CULL_BAD_ARGUMENT, "the target is %lld by %lld wide, the examples %lld by %lld",
             (long long)target->h.shape[1], (long long)target->p.shape[1], (long long)h->shape[1],
             (long long)p->shape[1]);
    TRY(check_finite(&target->h, "target h"));
    TRY(check_finite(&target->p, "target p"));
done:
    return status;
}

cull_status cull_gram(cull_backend *backend, const cull_tensor *h, const cull_tensor *p,
                      const cull_target *target, double *k, double *t, double *b2)
{
    cull_status   status = CULL_OK;
    cull_backend *own = NULL;
    cull_op      *op = NULL;
    cull_op_desc  desc = {.kind = CULL_OP_GRAM};
    cull_op_args  args = {.gram = {.h = h, .p = p, .k = k, .t = t, .b2 = b2}};

    if (!h || !p || !k) FAIL(CULL_BAD_ARGUMENT, "gram: h, p and k must be given");
    if (h->dims != 2 || h->shape[0] < 1) FAIL(CULL_BAD_ARGUMENT, "gram: h is not (n, D), n >= 1");
    desc.rows = (size_t)h->shape[0];
    TRY(cull_tensor_check(h, "h", 2, desc.rows, false));
    TRY(cull_tensor_check(p, "p", 2, desc.rows, false));
    TRY(check_finite(h, "h"));
    TRY(check_finite(p, "p"));
    if (target && target->count > 0) {
        TRY(check_target(h, p, target));
        args.gram.target = target;
    }
    if (!backend) TRY(cull_backend_open("cpu", 1, &own));
    TRY(cull_op_ready(backend ? backend : own, &desc, &op));
    TRY(cull_op_run(op, &args));
done:
    cull_op_destroy(op);
    cull_backend_close(own);
    return status;
}
