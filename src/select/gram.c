/* select/gram.c - cull_gram: the Gram matrix of last-layer gradients, checked and run. */
#include <float.h>

#include "select/there.h"
#include "tensor/tensor.h"

/* What a call is about. */
struct call {
    cull_backend      *backend; /* NULL: the host's */
    const cull_tensor *h, *p;
    const cull_target *target; /* NULL: none        */
    cull_sel_looks     looks;
};

static bool is_there(const struct call *call)
{
    return call->backend && !cull_backend_on_host(call->backend);
}

static cull_status check_finite(struct call *call, const cull_tensor *t, const char *name)
{
    cull_trouble trouble = {0};
    cull_status  status = CULL_OK;
    size_t       rows = (size_t)t->shape[0], row = rows;

    if (is_there(call)) {
        TRY(cull_sel_look_values(&call->looks, t, -DBL_MAX, DBL_MAX, 0));
        TRY(cull_sel_look_end(&call->looks, &trouble));
        if (trouble.what) row = (size_t)trouble.row;
    } else {
        row = cull_tensor_first_not_finite(t, rows);
    }
    if (row < rows) FAIL(CULL_NOT_FINITE, "%s of example %zu is not finite", name, row);
done:
    return status;
}

/* Two matrices of as many rows. */
static cull_status check_pair(struct call *call, const cull_tensor *h, const cull_tensor *p,
                              size_t rows, const char *const names[2])
{
    cull_status status = CULL_OK;
    cull_device device = cull_sel_where(call->backend);

    TRY(cull_tensor_check_on(h, names[0], device, 2, rows, false));
    TRY(cull_tensor_check_on(p, names[1], device, 2, rows, false));
    TRY(check_finite(call, h, names[0]));
    TRY(check_finite(call, p, names[1]));
done:
    return status;
}

static cull_status check(struct call *call)
{
    static const char *const own[] = {"h", "p"}, *const others[] = {"target h", "target p"};
    cull_status        status = CULL_OK;
    const cull_tensor *h = call->h, *p = call->p;
    const cull_target *target = call->target;

    if (h->dims != 2 || h->shape[0] < 1) FAIL(CULL_BAD_ARGUMENT, "gram: h is not (n, D), n >= 1");
    TRY(check_pair(call, h, p, (size_t)h->shape[0], own));
    if (!target) return CULL_OK;
    TRY(check_pair(call, &target->h, &target->p, target->count, others));
    if (target->h.shape[1] != h->shape[1] || target->p.shape[1] != p->shape[1])
        FAIL(CULL_BAD_ARGUMENT, "the target is %lld by %lld wide, the examples %lld by %lld",
             (long long)target->h.shape[1], (long long)target->p.shape[1], (long long)h->shape[1],
             (long long)p->shape[1]);
done:
    return status;
}

/* On a device b2 is written there first. */
static cull_status run(struct call *call, double *k, double *t, double *b2)
{
    cull_status  status = CULL_OK;
    cull_kit    *kit = &call->looks.kit;
    cull_op_args args = {
        .gram = {.h = call->h, .p = call->p, .target = call->target, .k = k, .t = t, .b2 = b2}};

    if (is_there(call) && b2)
        TRY(cull_kit_allocate(kit, 1, sizeof *b2, "a Gram matrix", &args.gram.b2));
    TRY(cull_kit_run(kit, CULL_OP_GRAM, (size_t)call->h->shape[0], &args));
    if (is_there(call) && b2)
        TRY(cull_backend_download(call->backend, b2, args.gram.b2, sizeof *b2));
done:
    return status;
}

cull_status cull_gram(cull_backend *backend, const cull_tensor *h, const cull_tensor *p,
                      const cull_target *target, double *k, double *t, double *b2)
{
    cull_status   status = CULL_OK;
    cull_backend *own = NULL;
    struct call   call = {.backend = backend, .h = h, .p = p};

    if (!h || !p || !k) FAIL(CULL_BAD_ARGUMENT, "gram: h, p and k must be given");
    if (target && target->count > 0) call.target = target;
    if (!backend) TRY(cull_backend_open("cpu", 1, &own));
    if (!backend) call.backend = own;
    call.looks.kit.backend = call.backend;
    TRY(check(&call));
    TRY(run(&call, k, t, b2));
done:
    if (call.looks.kit.backend) cull_kit_clear(&call.looks.kit);
    cull_backend_close(own);
    return status;
}
