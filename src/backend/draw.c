/* backend/draw.c - score and draw: what rows are chosen by, and weighted sampling of them without
 * replacement (exponential keys, then the m smallest). */
#include <float.h>
#include <math.h>

#include "backend/backend.h"
#include "base/alloc.h"
#include "tensor/tensor.h"

/* The upper half of all doubles is for those no loss is known of, so that they need not know the
 * other scores. */
static void unseen_first(const cull_op_args *args, uint64_t step)
{
    const uint32_t *place = args->score.place;
    double         *score = args->score.out;

    for (size_t i = 0; i < args->score.rows; i++) {
        if (args->score.unseen[i])
            score[i] = DBL_MAX *
                       (0.5 + 0.5 * cull_key_uniform(args->score.key, step, place ? place[i] : i));
        else if (score[i] > 0.5 * DBL_MAX)
            score[i] = 0.5 * DBL_MAX;
    }
}

static cull_status run_score(cull_op *op, const cull_op_args *args)
{
    double *score = args->score.out;

    (void)op;
    cull_tensor_to_double(&args->score.loss, args->score.rows, score);
    for (size_t i = 0; cull_tensor_present(&args->score.less) && i < args->score.rows; i++)
        score[i] -= cull_tensor_get(&args->score.less, i);
    for (size_t i = 0; i < args->score.rows; i++) score[i] = isnan(score[i]) ? 0 : score[i];
    if (args->score.unseen)
        unseen_first(args, args->score.now ? *args->score.now : args->score.step);
    return CULL_OK;
}

const cull_op_class cull_host_score = {cull_host_create, run_score, cull_host_destroy};

struct draw {
    cull_op  base;
    cull_op *keys, *top;
    double  *key; /* [rows] */
};

static void destroy_draw(cull_op *op)
{
    struct draw *draw = (struct draw *)op;

    cull_op_destroy(draw->keys);
    cull_op_destroy(draw->top);
    cull_base_free(draw->key);
    cull_base_free(draw);
}

static cull_status create_draw(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status  status = CULL_OK;
    struct draw *draw = NULL;

    TRY(cull_base_alloc(1, sizeof *draw, "an operation", &draw));
    TRY(cull_base_alloc(desc->rows, sizeof *draw->key, "a draw", &draw->key));
    TRY(cull_op_ready(backend, &(cull_op_desc){.kind = CULL_OP_KEYS, .rows = desc->rows},
                      &draw->keys));
    TRY(cull_op_ready(backend, &(cull_op_desc){.kind = CULL_OP_TOP, .rows = desc->rows},
                      &draw->top));
    *out = &draw->base;
    draw = NULL;
done:
    if (draw) destroy_draw(&draw->base);
    return status;
}

static cull_status run_draw(cull_op *op, const cull_op_args *args)
{
    cull_status  status = CULL_OK;
    struct draw *draw = (struct draw *)op;
    cull_op_args keys = {.keys = {.rows = args->draw.rows,
                                  .key = args->draw.key,
                                  .step = args->draw.now ? *args->draw.now : args->draw.step,
                                  .place = args->draw.place,
                                  .weight = args->draw.weight,
                                  .out = draw->key}};
    cull_op_args top = {.top = {.rows = args->draw.rows,
                                .m = args->draw.m,
                                .x = draw->key,
                                .largest = false,
                                .index = args->draw.index}};

    TRY(cull_op_run(draw->keys, &keys));
    TRY(cull_op_run(draw->top, &top));
done:
    return status;
}

const cull_op_class cull_host_draw = {create_draw, run_draw, destroy_draw};
