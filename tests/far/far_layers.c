/* tests/far/far_layers.c - every layer operation of `ref`, run later. */
#include "base/alloc.h"
#include "far.h"

struct layer {
    cull_layer_op  base;
    cull_layer_op *inner; /* ref's */
};

struct asked {
    struct far_work work;
    cull_layer_op  *inner;
    cull_layer_args args; /* everything it points at is an array */
};

static cull_status check(const struct far *far, const cull_layer_args *a)
{
    cull_status       status = CULL_OK;
    const void *const arrays[] = {
        a->x,  a->x2,  a->y,  a->w,  a->b,   a->state, a->stats,  a->running, a->row_weight, a->dy,
        a->dx, a->dx2, a->dw, a->db, a->now, a->place, a->target, a->weight,  a->loss,       a->p};

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        TRY(far_check_array(far, arrays[i], "a layer"));
done:
    return status;
}

static cull_status do_forward(struct far_work *work)
{
    struct asked *asked = (struct asked *)work;

    return asked->inner->class->forward(asked->inner, &asked->args);
}

static cull_status do_backward(struct far_work *work)
{
    struct asked *asked = (struct asked *)work;

    return asked->inner->class->backward(asked->inner, &asked->args);
}

static cull_status ask(cull_layer_op *base, const cull_layer_args *args,
                       cull_status (*run)(struct far_work *work))
{
    cull_status   status = CULL_OK;
    struct far   *far = far_enter(base->backend);
    struct asked *asked = NULL;

    TRY(check(far, args));
    TRY(far_ask(far, run, sizeof *asked, &asked));
    asked->inner = ((struct layer *)base)->inner;
    asked->args = *args;
done:
    far_leave(far);
    return status;
}

static cull_status forward(cull_layer_op *base, const cull_layer_args *args)
{
    return ask(base, args, do_forward);
}

static cull_status backward(cull_layer_op *base, const cull_layer_args *args)
{
    return ask(base, args, do_backward);
}

static void destroy(cull_layer_op *base)
{
    struct layer *layer = (struct layer *)base;
    struct far   *far = far_enter(base->backend);

    far_settle(far); /* which may still have it to run */
    far_leave(far);
    cull_layer_destroy(layer->inner);
    cull_base_free(layer);
}

static const cull_layer_class layer_class;

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status   status = CULL_OK;
    struct layer *layer = NULL;

    TRY(cull_base_alloc(1, sizeof *layer, "a layer operation", &layer));
    TRY(cull_layer_create(backend->host, desc, &layer->inner));
    layer->base = *layer->inner;
    layer->base.class = &layer_class;
    layer->base.implementation = "far";
    *out = &layer->base;
    layer = NULL;
done:
    cull_base_free(layer);
    return status;
}

static const cull_layer_class layer_class = {create, forward, backward, destroy};

static bool blocks(cull_backend *backend, const cull_layer_desc *conv)
{
    return cull_layer_blocks(backend->host, conv);
}

static int64_t block(cull_backend *backend, int64_t c, int64_t common)
{
    return cull_layer_block(backend->host, c, common);
}

/* Whatever kinds there are, as in far.c. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
const cull_layer_table cull_layers_far = {
    .layer = {[0 ... CULL_LAYER_KINDS - 1] = &layer_class},
    .blocks = blocks,
    .block = block,
};
#pragma GCC diagnostic pop
