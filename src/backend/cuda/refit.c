/*
 * backend/cuda/refit.c - refit: problems, what each needs beside shared memory, and who solves it.
 *
 * A block takes a problem by itself, or all of them one problem after the other, whichever ends
 * sooner: a sweep costs a block time for all of the tableau, and all blocks a meeting.
 */
#include "backend/cuda/refit.h"

#include "backend/cuda/crew.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/pool.h"
#include "base/alloc.h"

enum { VECTORS = 8, ROWS_WORTH_A_BLOCK = 4 };

#define DEFAULT_MEMORY ((size_t)1 << 30)

struct refit {
    cull_op          base;
    cull_cuda_refits all;
};

/* ---- memory ---- */

static size_t vector_bytes(size_t n)
{
    return (VECTORS * n * sizeof(double) + (n + 1) * sizeof(uint32_t) + 2 * n + 15) / 16 * 16;
}

/* Takes `bytes` of shared memory, if they are left. */
static uint32_t take(size_t *at, size_t bytes, size_t most)
{
    uint32_t place = (uint32_t)*at;

    if (*at + bytes > most) return 0;
    *at += bytes;
    return place;
}

size_t cull_cuda_refit_lay(cull_cuda_refit_call *x, uint32_t blocks, uint32_t from, size_t most)
{
    size_t n = x->n, at = from, beside = 0, rows = (n + blocks - 1) / blocks;
    size_t line = n + 1, pivots = 0;

    x->near = blocks == 1 && n <= CULL_TABLEAU_SIDE;
    if (x->near) line = CULL_REFIT_LINE;
    pivots = (2 * line * sizeof(double) + 15) / 16 * 16;
    x->at_pivot = (uint32_t)at;
    at += pivots;
    x->at_vectors = blocks == 1 ? take(&at, vector_bytes(n), most) : 0;
    x->at_tableau = take(&at, (rows * (n + 1) * sizeof(double) + 15) / 16 * 16, most);
    x->bytes = (uint32_t)at;
    if (blocks > 1) beside += 2 * (n + 1);
    if (!x->at_vectors) beside += vector_bytes(n) / sizeof(double);
    if (!x->at_tableau) beside += n * (n + 1);
    return beside;
}

void cull_cuda_refit_room(cull_cuda_refit_call *x, uint32_t blocks, double *room)
{
    size_t n = x->n;

    x->vectors = x->at_vectors ? NULL : room;
    if (!x->at_vectors) room += vector_bytes(n) / sizeof(double);
    x->apart = blocks > 1 ? room : NULL;
    if (blocks > 1) room += 2 * (n + 1);
    x->tableau = x->at_tableau ? NULL : room;
}

/* ---- who ---- */

/* A sweep for each of n atoms. */
double cull_cuda_refit_cost(size_t n, uint32_t blocks)
{
    return (double)n *
           ((double)n * (double)n * CULL_CLOCKS_FAR / blocks + cull_crew_clocks(blocks));
}

static uint32_t blocks_for(const cull_cuda *cuda, size_t n)
{
    uint32_t all = cull_crew_blocks(n, ROWS_WORTH_A_BLOCK, (size_t)cuda->processors);
    uint32_t few = all < CULL_CREW_NEAR ? all : CULL_CREW_NEAR;

    return cull_cuda_refit_cost(n, few) <= cull_cuda_refit_cost(n, all) ? few : all;
}

static bool is_together_quicker(const cull_cuda *cuda, const cull_cuda_refit_call *refit,
                                size_t count)
{
    double all = 0, most = 0, together = 0;

    for (size_t i = 0; i < count; i++) {
        double alone = cull_cuda_refit_cost(refit[i].n, 1);

        all += alone;
        if (alone > most) most = alone;
        together += cull_cuda_refit_cost(refit[i].n, blocks_for(cuda, refit[i].n));
    }
    all /= cuda->processors;
    return together < (all > most ? all : most);
}

/* All laid out, with their part of the room; *bytes of shared memory do for any. */
static cull_status share_out(cull_cuda_refits *refits, const cull_cuda *cuda,
                             cull_cuda_refit_call *refit, size_t count, bool together,
                             size_t memory, size_t *bytes)
{
    cull_status status = CULL_OK;
    size_t      all = 0, at = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            cull_cuda_refit_call *x = refit + i;
            uint32_t              blocks = together ? blocks_for(cuda, x->n) : 1;
            size_t need = cull_cuda_refit_lay(x, blocks, CULL_CREW_BYTES, cuda->shared_most);

            if (need * sizeof(double) > memory || x->bytes > cuda->shared_most)
                FAIL(CULL_TOO_LARGE,
                     "refit: %lu atoms need %.1f MiB, more than the %.1f MiB allowed",
                     (unsigned long)x->n, (double)need * sizeof(double) / 0x1p20,
                     (double)memory / 0x1p20);
            if (x->bytes > *bytes) *bytes = x->bytes;
            if (pass) cull_cuda_refit_room(x, blocks, refits->room + at);
            if (pass && !together) at += need;
            all = together ? (need > all ? need : all) : all + need;
        }
        if (!pass)
            TRY(cull_kit_grow(&refits->kit, all, sizeof *refits->room, "weights to be solved again",
                              &refits->rooms, &refits->room));
    }
done:
    return status;
}

cull_status cull_cuda_refits_run(cull_cuda_refits *refits, cull_cuda_refit_call *refit,
                                 size_t count, size_t memory)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;
    size_t      bytes = 0;
    bool        together = false;

    TRY(cull_cuda_enter(refits->kit.backend, &cuda));
    if (count == 0) return CULL_OK;
    CUDA(cull_cuda_refit_prepare(cuda->shared_most));
    together = is_together_quicker(cuda, refit, count);
    TRY(share_out(refits, cuda, refit, count, together, memory ? memory : DEFAULT_MEMORY, &bytes));
    if (together) {
        TRY(cull_kit_grow(&refits->kit, cull_crew_said((size_t)cuda->processors), 1,
                          "weights to be solved again", &refits->saids, &refits->said));
        for (size_t i = 0; i < count; i++)
            CUDA(cull_cuda_refit_together(cuda->stream, refit[i], blocks_for(cuda, refit[i].n),
                                          refits->said));
        return CULL_OK;
    }
    TRY(cull_kit_grow(&refits->kit, count, sizeof *refit, "weights to be solved again",
                      &refits->theres, &refits->there));
    TRY(cull_backend_upload(refits->kit.backend, refits->there, refit, count * sizeof *refit));
    CUDA(cull_cuda_refit_each(cuda->stream, refits->there, (uint32_t)count, bytes));
done:
    return status;
}

/* ---- the operation ---- */

static cull_cuda_refit_call describe(const cull_omp_problem *problem)
{
    return (cull_cuda_refit_call){.n = (uint32_t)problem->budget,
                                  .index = problem->index,
                                  .k = problem->k.data,
                                  .ld = (size_t)problem->k.stride[0],
                                  .single = problem->k.dtype == CULL_F32,
                                  .t = problem->t,
                                  .ridge = problem->ridge,
                                  .shift = CULL_REFIT_SHIFT,
                                  .picked = (uint32_t)problem->picked,
                                  .weight = problem->weight};
}

/* Problems of an explicit K, and the others. */
static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_status           status = CULL_OK;
    cull_cuda_refits     *all = &((struct refit *)op)->all;
    cull_omp_problem     *problem = args->omp.problems;
    cull_cuda_refit_call *refit = NULL;
    size_t                count = 0;

    if (cull_cuda_of(op->backend)->recording)
        FAIL(CULL_UNSUPPORTED, "refit makes room as it runs, and cannot be recorded by itself");
    TRY(cull_base_alloc(args->omp.count, sizeof *refit, "weights to be solved again", &refit));
    for (size_t i = 0; i < args->omp.count; i++)
        if (problem[i].k.data && problem[i].picked < problem[i].budget)
            refit[count++] = describe(problem + i);
    TRY(cull_cuda_refits_run(all, refit, count, args->omp.options->memory));
    for (size_t i = 0, end = 0; i < args->omp.count; i = end) {
        for (end = i + 1; end < args->omp.count && !problem[i].k.data == !problem[end].k.data;)
            end++;
        if (!problem[i].k.data)
            TRY(cull_cuda_pool_refit(op->backend, op, problem + i, end - i, args->omp.options));
    }
done:
    cull_base_free(refit);
    return status;
}

static void destroy(cull_op *op)
{
    struct refit *refit = (struct refit *)op;

    cull_kit_clear(&refit->all.kit);
    cull_base_free(refit);
}

/* Memory is taken at the first run that needs it, and kept. */
static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status   status = CULL_OK;
    struct refit *refit = NULL;

    (void)desc;
    TRY(cull_base_alloc(1, sizeof *refit, "weights to be solved again", &refit));
    refit->all.kit.backend = backend;
    *out = &refit->base;
done:
    return status;
}

const cull_op_class cull_cuda_refit = {create, run, destroy};
