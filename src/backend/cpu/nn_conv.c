/*
 * backend/cpu/nn_conv.c - convolution by oneDNN, forward and both ways back; the weight gradient by
 * our own sums where they suit.
 *
 * Where dx is added to, the library writes to memory of ours first; that is made by the first run
 * that asks for it.
 */
#include <stdio.h>

#include "backend/cpu/nn.h"
#include "backend/cpu/nn_dnnl.h"
#include "backend/cpu/nn_weights.h"
#include "base/alloc.h"

struct conv {
    cull_layer_op     base;
    cull_dnnl        *way[CULL_DNNL_WAYS];
    cull_cpu_weights *weights; /* in place of oneDNN's where they suit */
    float            *aside;   /* dx before it is added */
    char              name[160];
};

static void destroy(cull_layer_op *op)
{
    struct conv *conv = (struct conv *)op;

    for (int i = 0; i < CULL_DNNL_WAYS; i++) cull_dnnl_destroy(conv->way[i]);
    cull_cpu_weights_destroy(conv->weights);
    cull_base_free_aligned(conv->aside);
    cull_base_free(conv);
}

static const char *name_of(const cull_dnnl *dnnl)
{
    return dnnl ? cull_dnnl_name(dnnl) : "-";
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status  status = CULL_OK;
    struct conv *conv = NULL;
    unsigned     threads = cull_team_size(backend->team);
    cull_dnnl  **way = NULL;

    TRY(cull_cpu_layer_new(desc, sizeof *conv, &conv));
    way = conv->way;
    TRY(cull_dnnl_create(desc, CULL_DNNL_FORWARD, threads, &way[CULL_DNNL_FORWARD]));
    if (desc->learn && cull_cpu_weights_suit(backend, desc))
        TRY(cull_cpu_weights_create(backend, desc, &conv->weights));
    else if (desc->learn)
        TRY(cull_dnnl_create(desc, CULL_DNNL_WEIGHTS, threads, &way[CULL_DNNL_WEIGHTS]));
    if (desc->learn && desc->input_gradient)
        TRY(cull_dnnl_create(desc, CULL_DNNL_DATA, threads, &way[CULL_DNNL_DATA]));
    (void)snprintf(conv->name, sizeof conv->name, "%s %s %s", name_of(way[CULL_DNNL_FORWARD]),
                   name_of(way[CULL_DNNL_DATA]),
                   conv->weights ? "own" : name_of(way[CULL_DNNL_WEIGHTS]));
    conv->base.implementation = conv->name;
    *out = &conv->base;
    conv = NULL;
done:
    if (conv) destroy(&conv->base);
    return status;
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    struct conv *conv = (struct conv *)op;

    return cull_dnnl_run(conv->way[CULL_DNNL_FORWARD], args->x, args->w, args->b, args->y);
}

struct sum {
    const cull_layer_loops *loops;
    size_t                  count, parts;
    const float            *from;
    float                  *to;
};

static void add_part(void *context, size_t task, unsigned worker)
{
    const struct sum *sum = context;
    size_t            first = 0, last = 0;

    (void)worker;
    cull_cpu_part(sum->count, sum->parts, task, &first, &last);
    sum->loops->add(last - first, sum->to + first, sum->from + first, sum->to + first);
}

static cull_status backward_data(struct conv *conv, const cull_layer_args *args)
{
    cull_status status = CULL_OK;
    cull_image *x = &conv->base.desc.x;
    cull_dnnl  *data = conv->way[CULL_DNNL_DATA];
    struct sum  sum = {cull_cpu_loops(&conv->base), (size_t)(x->n * cull_image_row(x)), 1, NULL,
                       args->dx};

    if (!args->accumulate) return cull_dnnl_run(data, args->dx, args->w, NULL, args->dy);
    if (!conv->aside)
        TRY(cull_base_alloc_aligned(sum.count, sizeof(float), "a gradient", &conv->aside));
    TRY(cull_dnnl_run(data, conv->aside, args->w, NULL, args->dy));
    sum.from = conv->aside;
    sum.parts = cull_cpu_parts(conv->base.backend, sum.count, 1);
    cull_team_run(conv->base.backend->team, sum.parts, add_part, &sum);
done:
    return status;
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status  status = CULL_OK;
    struct conv *conv = (struct conv *)op;

    if (args->dx && !conv->way[CULL_DNNL_DATA])
        FAIL(CULL_BAD_ARGUMENT, "this convolution was prepared without an input gradient");
    if (conv->weights)
        cull_cpu_weights_run(conv->weights, args->x, args->dy, args->dw);
    else
        TRY(cull_dnnl_run(conv->way[CULL_DNNL_WEIGHTS], args->x, args->dw, args->db, args->dy));
    if (args->dx) TRY(backward_data(conv, args));
done:
    return status;
}

const cull_layer_class cull_cpu_conv = {create, forward, backward, destroy};
