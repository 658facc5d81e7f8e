/*
 * backend/cpu/nn_conv.c - convolution: forward and the input's gradient by oneDNN, the weights'
 * gradient by our own sums where they suit and by oneDNN elsewhere. Where 8 bits will do, forward
 * is that of nn_int8.h.
 */
#include <stdio.h>

#include "backend/cpu/nn.h"
#include "backend/cpu/nn_int8.h"
#include "backend/cpu/nn_split.h"
#include "backend/cpu/nn_weights.h"
#include "base/alloc.h"

struct conv {
    cull_layer_op     base;
    cull_cpu_split   *way[CULL_DNNL_WAYS];
    cull_cpu_weights *weights; /* in place of oneDNN's where they suit */
    cull_cpu_int8    *int8;    /* in place of the forward pass in float32 */
    char              name[208];
};

static void destroy(cull_layer_op *op)
{
    struct conv *conv = (struct conv *)op;

    for (int i = 0; i < CULL_DNNL_WAYS; i++) cull_cpu_split_destroy(conv->way[i]);
    cull_cpu_weights_destroy(conv->weights);
    cull_cpu_int8_destroy(conv->int8);
    cull_base_free(conv);
}

static const char *name_of(const cull_cpu_split *split)
{
    return split ? cull_cpu_split_name(split) : "-";
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status      status = CULL_OK;
    struct conv     *conv = NULL;
    cull_cpu_split **way = NULL;

    TRY(cull_cpu_layer_new(desc, sizeof *conv, &conv));
    way = conv->way;
    if (cull_cpu_int8_suits(desc)) TRY(cull_cpu_int8_create(backend, desc, &conv->int8));
    if (!conv->int8)
        TRY(cull_cpu_split_create(backend, desc, CULL_DNNL_FORWARD, &way[CULL_DNNL_FORWARD]));
    if (desc->learn && cull_cpu_weights_suit(backend, desc))
        TRY(cull_cpu_weights_create(backend, desc, &conv->weights));
    else if (desc->learn)
        TRY(cull_cpu_split_create(backend, desc, CULL_DNNL_WEIGHTS, &way[CULL_DNNL_WEIGHTS]));
    if (desc->learn && desc->input_gradient)
        TRY(cull_cpu_split_create(backend, desc, CULL_DNNL_DATA, &way[CULL_DNNL_DATA]));
    (void)snprintf(conv->name, sizeof conv->name, "%s%s %s %s", conv->int8 ? "int8 " : "",
                   conv->int8 ? cull_cpu_int8_name(conv->int8) : name_of(way[CULL_DNNL_FORWARD]),
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

    if (conv->int8) return cull_cpu_int8_forward(conv->int8, args->x, args->w, args->b, args->y);
    return cull_cpu_split_forward(conv->way[CULL_DNNL_FORWARD], args->x, args->w, args->b, args->y);
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status     status = CULL_OK;
    struct conv    *conv = (struct conv *)op;
    cull_cpu_split *data = conv->way[CULL_DNNL_DATA];

    if (args->dx && !data)
        FAIL(CULL_BAD_ARGUMENT, "this convolution was prepared without an input gradient");
    if (conv->weights)
        cull_cpu_weights_run(conv->weights, args->x, args->dy, args->dw);
    else
        TRY(cull_cpu_split_weights(conv->way[CULL_DNNL_WEIGHTS], args->x, args->dy, args->dw,
                                   args->db));
    if (args->dx) TRY(cull_cpu_split_data(data, args->dy, args->w, args->dx, args->accumulate));
done:
    return status;
}

const cull_layer_class cull_cpu_conv = {create, forward, backward, destroy};
