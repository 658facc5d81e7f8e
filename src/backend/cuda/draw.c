/* backend/cuda/draw.c - keys, top and draw; see draw.cu. */
#include "backend/cuda/draw.h"

#include "backend/cuda/cuda.h"
#include "base/alloc.h"

static cull_status run_keys(cull_op *op, const cull_op_args *args)
{
    cull_status         status = CULL_OK;
    cull_cuda          *cuda = NULL;
    cull_cuda_keys_args keys = {.place = args->keys.place,
                                .weight = args->keys.weight,
                                .key = args->keys.key,
                                .step = args->keys.step};

    TRY(cull_cuda_enter(op->backend, &cuda));
    CUDA(cull_cuda_keys_run(cuda->stream, &keys, args->keys.rows, args->keys.out));
done:
    return status;
}

const cull_op_class cull_cuda_keys = {cull_cuda_plain_create, run_keys, cull_cuda_plain_destroy};

struct choice {
    cull_op                base;
    cull_kit               kit;
    size_t                 alone;  /* most rows that one block does    */
    size_t                 blocks; /* most that choose together        */
    uint64_t              *image;  /* [rows]; these two where there are more */
    cull_cuda_choice_room *room;
};

static void destroy(cull_op *op)
{
    struct choice *choice = (struct choice *)op;

    cull_kit_clear(&choice->kit);
    cull_base_free(choice);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status    status = CULL_OK;
    struct choice *choice = NULL;
    cull_cuda     *cuda = NULL;
    int            blocks = 0;

    TRY(cull_cuda_enter(backend, &cuda));
    TRY(cull_base_alloc(1, sizeof *choice, "an operation", &choice));
    choice->kit.backend = backend;
    choice->alone = CULL_CUDA_CHOICE_ALONE;
    while (cull_cuda_choice_shared(choice->alone) > cuda->shared_most) choice->alone /= 2;
    CUDA(cull_cuda_choice_ready(choice->alone, &blocks));
    choice->blocks = (size_t)blocks * (size_t)cuda->processors;
    if (choice->blocks > CULL_CUDA_CHOICE_BLOCKS) choice->blocks = CULL_CUDA_CHOICE_BLOCKS;
    if (desc->rows > choice->alone) {
        TRY(cull_kit_allocate(&choice->kit, desc->rows, sizeof *choice->image, "a draw",
                              &choice->image));
        TRY(cull_kit_allocate(&choice->kit, 1, sizeof *choice->room, "a draw", &choice->room));
    }
    *out = &choice->base;
    choice = NULL;
done:
    if (choice) destroy(&choice->base);
    return status;
}

static cull_status choose(cull_op *op, cull_cuda_choice *what)
{
    cull_status    status = CULL_OK;
    struct choice *choice = (struct choice *)op;
    cull_cuda     *cuda = NULL;
    size_t         blocks = (what->rows + CULL_CUDA_CHOICE_BLOCK - 1) / CULL_CUDA_CHOICE_BLOCK;

    TRY(cull_cuda_enter(op->backend, &cuda));
    if (what->rows <= choice->alone) {
        CUDA(cull_cuda_choice_alone(cuda->stream, what));
        return CULL_OK;
    }
    if (blocks > choice->blocks) blocks = choice->blocks;
    what->image = choice->image;
    what->room = choice->room;
    CUDA(cull_cuda_choice_together(cuda->stream, what, (unsigned)blocks));
done:
    return status;
}

static cull_status run_top(cull_op *op, const cull_op_args *args)
{
    cull_cuda_choice what = {.rows = args->top.rows,
                             .m = args->top.m,
                             .x = args->top.x,
                             .largest = args->top.largest,
                             .index = args->top.index};

    return choose(op, &what);
}

static cull_status run_draw(cull_op *op, const cull_op_args *args)
{
    cull_cuda_choice what = {.rows = args->draw.rows,
                             .m = args->draw.m,
                             .keys = {.place = args->draw.place,
                                      .weight = args->draw.weight,
                                      .key = args->draw.key,
                                      .step = args->draw.step,
                                      .now = args->draw.now},
                             .index = args->draw.index};

    return choose(op, &what);
}

const cull_op_class cull_cuda_top = {create, run_top, destroy};
const cull_op_class cull_cuda_draw = {create, run_draw, destroy};
