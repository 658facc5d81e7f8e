/* backend/ref/nn.c - the frame of the reference layers: checks, sizes, float32 by way of double. */
#include "backend/ref/nn.h"

#include "base/alloc.h"

/* The tensors of cull_layer_args that hold elements of the operation's dtype. */
enum { X, X2, Y, W, B, STATS, RUNNING, DY, DX, DX2, DW, DB, P, TARGET, TENSORS };

struct ref_op {
    cull_layer_op        base;
    const cull_ref_rule *rule;
    size_t               count[TENSORS];
    double              *wide[TENSORS]; /* float32 only */
    cull_ref_shared      shared;
};

static const cull_ref_rule *const rules[] = {
    &cull_ref_dense,     &cull_ref_conv,      &cull_ref_batchnorm, &cull_ref_groupnorm,
    &cull_ref_layernorm, &cull_ref_activate,  &cull_ref_pool,      &cull_ref_add,
    &cull_ref_concat,    &cull_ref_shortcut,  &cull_ref_dropout,   &cull_ref_loss,
    &cull_ref_embed,     &cull_ref_positions, &cull_ref_attention, &cull_ref_take};

static const cull_ref_rule *find_rule(cull_layer_kind kind)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i]->kind == kind) return rules[i];
    return NULL;
}

static size_t image_size(const cull_image *image)
{
    return (size_t)(image->n * cull_image_row(image));
}

static void destroy(cull_layer_op *base)
{
    struct ref_op *op = (struct ref_op *)base;

    for (int i = 0; i < TENSORS; i++) cull_base_free(op->wide[i]);
    cull_base_free(op->shared.scratch);
    cull_base_free(op);
}

static void set_sizes(struct ref_op *op, const cull_layer_desc *desc)
{
    cull_ref_sizes sizes = {.x = image_size(&desc->x), .y = image_size(&desc->y)};

    if (op->rule->sizes) op->rule->sizes(desc, &sizes);
    op->count[X] = op->count[DX] = sizes.x;
    op->count[X2] = op->count[DX2] = sizes.x2;
    op->count[Y] = op->count[DY] = sizes.y;
    op->count[W] = op->count[DW] = sizes.w;
    op->count[B] = op->count[DB] = sizes.b;
    op->count[STATS] = sizes.stats;
    op->count[RUNNING] = sizes.running;
    op->count[P] = sizes.x;
    if (desc->kind == CULL_LAYER_LOSS && desc->loss.kind == CULL_LOSS_SQUARED)
        op->count[TARGET] = sizes.x;
    op->base.stats = sizes.stats;
    op->base.stats_by_row = op->rule->stats_by_row;
    op->base.state_row = op->rule->state ? op->rule->state(desc)
                                         : op->rule->state_row * (size_t)cull_image_row(&desc->y);
    op->base.implementation = "ref";
    op->shared.share = op->rule->scratch ? op->rule->scratch(desc) : 0;
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status    status = CULL_OK;
    struct ref_op *op = NULL;

    if (!find_rule(desc->kind)->sequences &&
        (desc->x.block != 1 || desc->y.block != 1 || (desc->x2.n && desc->x2.block != 1)))
        FAIL(CULL_UNSUPPORTED, "the reference layers know one layout, NCHW");
    TRY(cull_base_alloc(1, sizeof *op, "a layer operation", &op));
    op->rule = find_rule(desc->kind);
    set_sizes(op, desc);
    op->shared.team = backend->team;
    if (op->shared.share)
        TRY(cull_base_alloc(op->shared.share * cull_team_size(backend->team), sizeof(double),
                            "a layer operation", &op->shared.scratch));
    for (int i = 0; desc->dtype == CULL_F32 && i < TENSORS; i++)
        TRY(cull_base_alloc(op->count[i], sizeof(double), "a layer operation", &op->wide[i]));
    *out = &op->base;
    op = NULL;
done:
    if (op) destroy(&op->base);
    return status;
}

/* Widen one tensor; absent ones stay absent. */
static void *widen(struct ref_op *op, int tensor, const void *data)
{
    const float *narrow = data;

    if (!data) return NULL;
    for (size_t i = 0; i < op->count[tensor]; i++) op->wide[tensor][i] = (double)narrow[i];
    return op->wide[tensor];
}

static void narrow(const struct ref_op *op, int tensor, void *data)
{
    float *out = data;

    if (!data) return;
    for (size_t i = 0; i < op->count[tensor]; i++) out[i] = (float)op->wide[tensor][i];
}

static void widen_all(struct ref_op *op, const cull_layer_args *args, cull_layer_args *wide)
{
    *wide = *args;
    if (cull_layer_tokens(op->base.desc.kind) != 0) wide->x = widen(op, X, args->x);
    if (cull_layer_tokens(op->base.desc.kind) != 1) wide->x2 = widen(op, X2, args->x2);
    wide->y = widen(op, Y, args->y);
    wide->w = widen(op, W, args->w);
    wide->b = widen(op, B, args->b);
    wide->stats = widen(op, STATS, args->stats);
    wide->running = widen(op, RUNNING, args->running);
    wide->dy = widen(op, DY, args->dy);
    wide->dx = widen(op, DX, args->dx);
    /* A value joined with itself has one gradient, to which both sides add: one memory, one copy.
     */
    wide->dx2 = args->dx2 == args->dx ? wide->dx : widen(op, DX2, args->dx2);
    wide->dw = widen(op, DW, args->dw);
    wide->db = widen(op, DB, args->db);
    wide->p = widen(op, P, args->p);
    if (op->count[TARGET]) wide->target = widen(op, TARGET, args->target);
}

static void run_forward(const struct ref_op *op, const cull_layer_args *args)
{
    if (op->rule->shared_forward)
        op->rule->shared_forward(&op->base.desc, args, &op->shared);
    else
        op->rule->forward(&op->base.desc, args);
}

static void run_backward(const struct ref_op *op, const cull_layer_args *args)
{
    if (op->rule->shared_backward)
        op->rule->shared_backward(&op->base.desc, args, &op->shared);
    else
        op->rule->backward(&op->base.desc, args);
}

static cull_status forward(cull_layer_op *base, const cull_layer_args *args)
{
    struct ref_op  *op = (struct ref_op *)base;
    cull_layer_args wide;
    cull_status     status = CULL_OK;

    if (op->rule->check) TRY(op->rule->check(&base->desc, args));
    if (base->desc.dtype == CULL_F64) {
        run_forward(op, args);
        return CULL_OK;
    }
    widen_all(op, args, &wide);
    run_forward(op, &wide);
    narrow(op, Y, args->y);
    narrow(op, STATS, args->stats);
    narrow(op, RUNNING, args->running);
    /* Elsewhere dx is written by backward alone; until then its memory is lent to others. */
    if (base->desc.kind == CULL_LAYER_LOSS) narrow(op, DX, args->dx);
    narrow(op, P, args->p);
done:
    return status;
}

static cull_status backward(cull_layer_op *base, const cull_layer_args *args)
{
    struct ref_op  *op = (struct ref_op *)base;
    cull_layer_args wide;

    if (base->desc.dtype == CULL_F64) {
        run_backward(op, args);
        return CULL_OK;
    }
    widen_all(op, args, &wide);
    run_backward(op, &wide);
    narrow(op, DX, args->dx);
    if (args->dx2 != args->dx) narrow(op, DX2, args->dx2);
    narrow(op, DW, args->dw);
    narrow(op, DB, args->db);
    return CULL_OK;
}

static const cull_layer_class layer = {create, forward, backward, destroy};

static int64_t block(cull_backend *backend, int64_t c, int64_t common)
{
    (void)backend;
    (void)c;
    (void)common;
    return 1;
}

const cull_layer_table cull_layers_ref = {
    .layer = {[CULL_LAYER_DENSE] = &layer,
              [CULL_LAYER_CONV] = &layer,
              [CULL_LAYER_BATCHNORM] = &layer,
              [CULL_LAYER_GROUPNORM] = &layer,
              [CULL_LAYER_LAYERNORM] = &layer,
              [CULL_LAYER_ACTIVATE] = &layer,
              [CULL_LAYER_POOL] = &layer,
              [CULL_LAYER_ADD] = &layer,
              [CULL_LAYER_CONCAT] = &layer,
              [CULL_LAYER_SHORTCUT] = &layer,
              [CULL_LAYER_DROPOUT] = &layer,
              [CULL_LAYER_LOSS] = &layer,
              [CULL_LAYER_CONVERT] = &cull_ref_convert,
              [CULL_LAYER_EMBED] = &layer,
              [CULL_LAYER_POSITIONS] = &layer,
              [CULL_LAYER_ATTENTION] = &layer,
              [CULL_LAYER_TAKE] = &layer},
    .block = block,
};
