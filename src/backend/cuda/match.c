/*
 * backend/cuda/match.c - match: memory, who does it, and what comes before its one kernel.
 *
 *     K = P P^T o (H H^T + 1), t, b2   (gram.h)      all else in one kernel   (match.cu)
 *
 * A K of up to MOST_ROWS rows is stored; more rows than that are not matched here.
 */
#include "backend/cuda/match.h"

#include "backend/cuda/cuda.h"
#include "backend/cuda/gram.h"
#include "backend/cuda/omp_rules.h"
#include "base/alloc.h"

enum { MOST_ROWS = 16384, ROWS_WORTH_A_BLOCK = 8 };

struct match {
    cull_op            base;
    cull_cuda_grams    grams;
    cull_kit           kit;
    double            *k, *t, *b2, *fill, *length;
    double            *omp, *refit; /* beside shared memory */
    cull_cuda_pursued *report;
    void              *said;
    size_t             lengths, omps, refits;
};

/* How a call is shared out. */
struct shape {
    uint32_t blocks, threads;
    size_t   bytes, omp, refit; /* of shared memory; doubles beside it */
};

static void destroy(cull_op *op)
{
    struct match *match = (struct match *)op;

    cull_cuda_grams_clear(&match->grams);
    cull_kit_clear(&match->kit);
    cull_base_free(match);
}

/* One block, a cluster, or all? Weights are held above zero at every pick by one. */
static uint32_t choose_blocks(const cull_cuda *cuda, const cull_cuda_match_call *call)
{
    size_t   n = call->omp.n, budget = call->omp.budget, most = cuda->shared_most;
    uint32_t all = cull_crew_blocks(n, ROWS_WORTH_A_BLOCK, (size_t)cuda->processors), best = 1;
    uint32_t several[] = {1, all < CULL_CREW_NEAR ? all : CULL_CREW_NEAR, all};
    double   least = 0;

    for (size_t i = 0; i < 3; i++) {
        double cost = cull_cuda_omp_cost(n, budget, several[i], most) +
                      cull_cuda_refit_cost(budget, several[i]);

        if (i > 0 && (call->omp.rules.nonnegative || cost >= least)) continue;
        least = cost;
        best = several[i];
    }
    return best;
}

static struct shape choose_shape(const cull_cuda *cuda, cull_cuda_match_call *call)
{
    size_t       n = call->omp.n, budget = call->omp.budget, most = cuda->shared_most;
    uint32_t     blocks = choose_blocks(cuda, call), from = CULL_CREW_BYTES;
    struct shape shape = {.blocks = blocks, .threads = CULL_OMP_THREADS};

    if (blocks > 1) shape.threads = cull_cuda_omp_threads((n + blocks - 1) / blocks);
    call->refit.n = (uint32_t)budget;
    call->omp.near = blocks == 1 && cull_cuda_omp_can_be_near(&call->omp.rules, n);
    if (call->omp.near) shape.threads = CULL_TABLEAU_THREADS;
    shape.omp = cull_cuda_omp_lay(&call->omp, shape.blocks, shape.threads, most, shape.blocks == 1);
    shape.refit = cull_cuda_refit_lay(&call->refit, shape.blocks, from,
                                      call->omp.brings_k ? call->omp.at_k : most);
    shape.bytes = call->omp.bytes > call->refit.bytes ? call->omp.bytes : call->refit.bytes;
    return shape;
}

/* Room for a pursuit of any n rows and any budget up to what there will be; it need not grow then.
 */
static cull_status make_room(struct match *match, const struct shape *shape)
{
    cull_status status = CULL_OK;

    TRY(cull_kit_grow(&match->kit, shape->omp, sizeof *match->omp, "matching pursuit", &match->omps,
                      &match->omp));
    TRY(cull_kit_grow(&match->kit, shape->refit, sizeof *match->refit, "weights to be solved again",
                      &match->refits, &match->refit));
done:
    return status;
}

static cull_status make_arrays(struct match *match, const cull_op_desc *desc, cull_cuda *cuda)
{
    static const char    what[] = "gradients to be matched";
    cull_status          status = CULL_OK;
    cull_kit            *kit = &match->kit;
    size_t               n = desc->rows;
    cull_cuda_match_call most = {.omp = {.n = (uint32_t)n, .budget = (uint32_t)desc->picks}};

    TRY(cull_kit_allocate(kit, n * n, sizeof *match->k, what, &match->k));
    TRY(cull_kit_allocate(kit, n, sizeof *match->t, what, &match->t));
    TRY(cull_kit_allocate(kit, 1, sizeof *match->b2, what, &match->b2));
    TRY(cull_kit_allocate(kit, 2 * n, sizeof *match->fill, what, &match->fill));
    TRY(cull_kit_allocate(kit, 1, sizeof *match->report, what, &match->report));
    TRY(cull_kit_allocate(kit, cull_crew_said((size_t)cuda->processors), 1, what, &match->said));
    if (desc->picks) {
        struct shape shape = choose_shape(cuda, &most);
        TRY(make_room(match, &shape));
    }
done:
    return status;
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status   status = CULL_OK;
    cull_cuda    *cuda = NULL;
    struct match *match = NULL;

    if (desc->rows > MOST_ROWS)
        FAIL(CULL_UNSUPPORTED,
             "gradients of %zu examples cannot be matched at a time on this device, %d at most",
             desc->rows, MOST_ROWS);
    TRY(cull_cuda_enter(backend, &cuda));
    CUDA(cull_cuda_match_prepare(cuda->shared_most));
    TRY(cull_base_alloc(1, sizeof *match, "an operation", &match));
    match->base.backend = match->kit.backend = backend;
    TRY(cull_cuda_grams_create(backend, desc, &match->grams));
    TRY(make_arrays(match, desc, cuda));
    *out = &match->base;
    match = NULL;
done:
    if (match) destroy(&match->base);
    return status;
}

static cull_cuda_match_call describe(const struct match *match, const cull_op_args *args)
{
    cull_cuda_match_call call = {.omp = {.n = (uint32_t)args->match.rows,
                                         .budget = (uint32_t)args->match.budget,
                                         .k = match->k,
                                         .ld = args->match.rows,
                                         .t = match->t,
                                         .at2 = match->b2,
                                         .index = args->match.index,
                                         .weight = args->match.weight,
                                         .report = match->report,
                                         .rules = cull_cuda_omp_rules_of(&args->match.options, 0)},
                                 .refit = {.index = args->match.index,
                                           .k = match->k,
                                           .ld = args->match.rows,
                                           .t = match->t,
                                           .shift = CULL_REFIT_SHIFT,
                                           .weight = args->match.weight},
                                 .h = cull_cuda_rows_of(&args->match.h),
                                 .p = cull_cuda_rows_of(&args->match.p),
                                 .k = match->k,
                                 .t = match->t,
                                 .b2 = match->b2,
                                 .room = match->fill,
                                 .place = args->match.place,
                                 .key = args->match.key,
                                 .step = args->match.step,
                                 .now = args->match.now,
                                 .fill = args->match.fill,
                                 .unit = args->match.weights == CULL_WEIGHTS_UNIT,
                                 .solved = args->match.weights == CULL_WEIGHTS_SOLVED,
                                 .outcome = args->match.outcome,
                                 .trouble = args->match.trouble};

    call.omp.rules.reason = false;
    return call;
}

/* K, t and b2, and what else is asked of a target. */
static cull_status make_products(struct match *match, cull_cuda *cuda, const cull_op_args *args,
                                 cull_cuda_match_call *call)
{
    cull_status  status = CULL_OK;
    size_t       targets = args->match.targets;
    cull_target  target = {targets, args->match.target_h, args->match.target_p, {0}, {0}};
    cull_op_args gram = {.gram = {.h = &args->match.h,
                                  .p = &args->match.p,
                                  .target = targets ? &target : NULL,
                                  .k = match->k,
                                  .t = match->t,
                                  .b2 = match->b2}};

    TRY(cull_cuda_grams_run(&match->grams, &gram));
    if (!targets) return CULL_OK;
    TRY(cull_kit_grow(&match->kit, targets, sizeof *match->length, "a target", &match->lengths,
                      &match->length));
    call->targets = (uint32_t)targets;
    call->target_h = cull_cuda_rows_of(&target.h);
    call->target_p = cull_cuda_rows_of(&target.p);
    call->mean = match->grams.mean;
    call->length = match->length;
    CUDA(cull_cuda_gram_lengths(cuda->stream, call->target_h, call->target_p, call->targets,
                                match->length));
done:
    return status;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_status          status = CULL_OK;
    struct match        *match = (struct match *)op;
    cull_cuda           *cuda = NULL;
    cull_cuda_match_call call = describe(match, args);
    struct shape         shape = {0};

    TRY(cull_cuda_enter(op->backend, &cuda));
    shape = choose_shape(cuda, &call);
    if (shape.bytes > cuda->shared_most)
        FAIL(CULL_TOO_LARGE,
             "%zu of %zu examples matched with weights held above zero are more than a "
             "multiprocessor has room for",
             args->match.budget, args->match.rows);
    TRY(make_room(match, &shape));
    cull_cuda_omp_room(&call.omp, match->omp);
    cull_cuda_refit_room(&call.refit, shape.blocks, match->refit);
    TRY(make_products(match, cuda, args, &call));
    CUDA(cull_cuda_match_run(cuda->stream, call, shape.blocks, shape.threads, shape.bytes,
                             match->said));
done:
    return status;
}

const cull_op_class cull_cuda_match = {create, run, destroy};
