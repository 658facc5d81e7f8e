/* backend/cuda/gram.c - gram: its arguments, and room for the sums of tiles and of targets. */
#include "backend/cuda/gram.h"

#include "backend/cuda/cuda.h"
#include "base/alloc.h"

struct gram {
    cull_op         base;
    cull_cuda_grams all;
};

void cull_cuda_grams_clear(cull_cuda_grams *grams)
{
    cull_kit_clear(&grams->kit);
}

/* Means of a target have as many numbers as the last layer; unless widths are told, they find their
 * room when a target comes. */
cull_status cull_cuda_grams_create(cull_backend *backend, const cull_op_desc *desc,
                                   cull_cuda_grams *out)
{
    cull_status status = CULL_OK;

    out->kit.backend = backend;
    TRY(cull_kit_grow(&out->kit, cull_cuda_gram_partial(desc->rows), sizeof *out->partial,
                      "a Gram matrix", &out->partial_room, &out->partial));
    TRY(cull_kit_allocate(&out->kit, 1, sizeof *out->ticket, "a Gram matrix", &out->ticket));
    if (desc->width && desc->classes)
        TRY(cull_kit_grow(&out->kit, desc->classes * (desc->width + 1), sizeof *out->mean,
                          "a target", &out->mean_room, &out->mean));
done:
    return status;
}

/* t and b2 towards the mean gradient of a target. */
static cull_status aim(cull_cuda_grams *grams, cull_cuda *cuda, const cull_op_args *args)
{
    cull_status        status = CULL_OK;
    const cull_target *target = args->gram.target;
    size_t             n = (size_t)args->gram.h->shape[0];
    size_t             classes = (size_t)args->gram.p->shape[1];
    size_t             width = (size_t)args->gram.h->shape[1], size = classes * (width + 1);
    cull_op_args sum = {.gradient = {.h = &target->h, .p = &target->p, .rows = target->count}};
    cull_op_args products = {.gain = {.h = args->gram.h,
                                      .p = args->gram.p,
                                      .rows = n,
                                      .classes = classes,
                                      .out = args->gram.t}};
    cull_op_desc desc = {CULL_OP_GRADIENT, target->count, width, classes, 0};

    TRY(cull_kit_grow(&grams->kit, size, sizeof *grams->mean, "a target", &grams->mean_room,
                      &grams->mean));
    sum.gradient.b = grams->mean;
    products.gain.b = grams->mean;
    TRY(cull_kit_run_for(&grams->kit, &desc, &sum));
    desc.kind = CULL_OP_GAIN;
    desc.rows = n;
    if (args->gram.t) TRY(cull_kit_run_for(&grams->kit, &desc, &products));
    CUDA(cull_cuda_gram_means(cuda->stream, grams->mean, size, (uint32_t)target->count,
                              args->gram.t, (uint32_t)n, args->gram.b2));
done:
    return status;
}

cull_status cull_cuda_grams_run(cull_cuda_grams *grams, const cull_op_args *args)
{
    cull_status         status = CULL_OK;
    cull_cuda          *cuda = NULL;
    bool                aimed = args->gram.target != NULL;
    cull_cuda_gram_call call = {.h = cull_cuda_rows_of(args->gram.h),
                                .p = cull_cuda_rows_of(args->gram.p),
                                .n = (uint32_t)args->gram.h->shape[0],
                                .k = args->gram.k,
                                .ticket = grams->ticket};

    TRY(cull_cuda_enter(grams->kit.backend, &cuda));
    if (!aimed && (args->gram.t || args->gram.b2)) {
        call.t = args->gram.t;
        call.b2 = args->gram.b2;
        call.partial = grams->partial;
    }
    CUDA(cull_cuda_gram_run(cuda->stream, call));
    if (aimed && (args->gram.t || args->gram.b2)) TRY(aim(grams, cuda, args));
done:
    return status;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    return cull_cuda_grams_run(&((struct gram *)op)->all, args);
}

static void destroy(cull_op *op)
{
    struct gram *gram = (struct gram *)op;

    cull_cuda_grams_clear(&gram->all);
    cull_base_free(gram);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status  status = CULL_OK;
    struct gram *gram = NULL;

    TRY(cull_base_alloc(1, sizeof *gram, "an operation", &gram));
    TRY(cull_cuda_grams_create(backend, desc, &gram->all));
    *out = &gram->base;
    gram = NULL;
done:
    if (gram) destroy(&gram->base);
    return status;
}

const cull_op_class cull_cuda_gram = {create, run, destroy};
