/*
 * backend/cuda/pool.c - matching pursuit over pools: problems laid out on the device in lots, and
 * their picks asked for one after the other.
 *
 * Nobody waits between picks, but now and then it is looked whether any problem still goes on.
 */
#include "backend/cuda/pool.h"

#include <math.h>

#include "backend/cuda/arena.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/gradient.h"
#include "base/alloc.h"
#include "tensor/tensor.h"

#define DEFAULT_MEMORY ((size_t)1 << 30)
#define AT_ONCE        ((size_t)4 << 30) /* bytes of a lot, unless one problem needs more */

enum { LOOK_EVERY = 64 };

/* Without ridge no more atoms can be independent than they have numbers. */
static size_t most_picks(const cull_omp_problem *problem, const cull_omp_options *options)
{
    size_t rank = (size_t)problem->h.shape[1] + 1;

    if (problem->column < 0) rank *= (size_t)problem->p.shape[1];
    return options->ridge > 0 || problem->budget < rank ? problem->budget : rank;
}

static cull_pool_problem layout(const cull_omp_problem *problem, const cull_omp_options *options,
                                cull_cuda_arena *arena)
{
    size_t n = problem->count, most = most_picks(problem, options);
    size_t panels = (n + CULL_POOL_PANEL - 1) / CULL_POOL_PANEL, triangle = most * (most + 1) / 2;
    cull_pool_problem x = {.h = cull_cuda_rows_of(&problem->h),
                           .p = cull_cuda_rows_of(&problem->p),
                           .row = problem->row,
                           .b = problem->b,
                           .column = problem->column,
                           .n = (uint32_t)n,
                           .panels = (uint32_t)panels,
                           .budget = (uint32_t)problem->budget,
                           .most = (uint32_t)most,
                           .index = problem->index,
                           .weight = problem->weight};

    x.l = cull_cuda_take(arena, panels * CULL_POOL_PANEL, most * sizeof(double));
    x.pc = problem->column < 0 ? NULL : cull_cuda_take(arena, n, sizeof(double));
    x.t = cull_cuda_take(arena, n, sizeof(double));
    x.diag = cull_cuda_take(arena, n, sizeof(double));
    x.alpha = cull_cuda_take(arena, n, sizeof(double));
    x.d = cull_cuda_take(arena, n, sizeof(double));
    x.x = cull_cuda_take(arena, most, sizeof(double));
    x.c = cull_cuda_take(arena, most, sizeof(double));
    x.w = cull_cuda_take(arena, most, sizeof(double));
    x.e = cull_cuda_take(arena, most, sizeof(double));
    x.factor = cull_cuda_take(arena, triangle, sizeof(double));
    x.gram = cull_cuda_take(arena, triangle, sizeof(double));
    x.best = cull_cuda_take(arena, panels, sizeof(double));
    x.best_at = cull_cuda_take(arena, panels, sizeof(uint32_t));
    x.state_of = cull_cuda_take(arena, n, 1);
    return x;
}

static size_t bytes_of(const cull_omp_problem *problem, const cull_omp_options *options)
{
    cull_cuda_arena counting = {0};

    (void)layout(problem, options, &counting);
    return counting.used;
}

/* ---- a lot ---- */

struct lot {
    cull_kit           kit;
    cull_cuda         *cuda;
    cull_omp_problem  *problems;
    size_t             count;
    cull_pool_lot      on;             /* as its kernels see it */
    cull_pool_problem *here;           /* [count] copies, on the host */
    cull_pool_state   *state, *became; /* [count] there and here */
    uint32_t          *of;             /* [blocks] */
    size_t             most;           /* picks of any problem */
};

static cull_pool_rules rules_of(const cull_omp_options *options)
{
    double noise = 32 * 0x1p-52;

    return (cull_pool_rules){.ridge = options->ridge,
                             .tolerance = options->tolerance,
                             .absolute = options->pick != CULL_PICK_SIGNED,
                             .as_it_is = options->absolute,
                             .plain_pivot = 1e-6,
                             .plain_alpha = 1e-8,
                             .noise = noise,
                             .refine_below = 1e-5};
}

/* Problems, one after another in a block of memory, and which blocks of threads are whose. */
static cull_status lay_out(struct lot *lot, const cull_omp_options *options, size_t bytes)
{
    cull_status     status = CULL_OK;
    cull_cuda_arena arena = {0};
    size_t          blocks = 0;

    TRY(cull_base_alloc(lot->count, sizeof *lot->here, "matching pursuit", &lot->here));
    TRY(cull_base_alloc(lot->count, sizeof *lot->became, "matching pursuit", &lot->became));
    TRY(cull_kit_allocate(&lot->kit, bytes, 1, "matching pursuit", &arena.base));
    TRY(cull_kit_allocate(&lot->kit, lot->count, sizeof *lot->state, "matching pursuit",
                          &lot->state));
    for (size_t i = 0; i < lot->count; i++) {
        cull_pool_problem *x = lot->here + i;

        *x = layout(lot->problems + i, options, &arena);
        x->state = lot->state + i;
        x->first_block = (uint32_t)blocks;
        blocks += (x->panels + CULL_POOL_WARPS - 1) / CULL_POOL_WARPS;
        if (x->most > lot->most) lot->most = x->most;
    }
    lot->on.count = (uint32_t)lot->count;
    lot->on.blocks = (uint32_t)blocks;
    TRY(cull_base_alloc(blocks, sizeof *lot->of, "matching pursuit", &lot->of));
    for (size_t i = 0, at = 0; i < lot->count; i++)
        for (size_t end = i + 1 < lot->count ? lot->here[i + 1].first_block : blocks; at < end;)
            lot->of[at++] = (uint32_t)i;
done:
    return status;
}

static cull_status send(struct lot *lot)
{
    cull_status        status = CULL_OK;
    cull_backend      *backend = lot->kit.backend;
    cull_pool_problem *problem = NULL;
    uint32_t          *of = NULL;

    TRY(cull_kit_allocate(&lot->kit, lot->count, sizeof *problem, "matching pursuit", &problem));
    TRY(cull_kit_allocate(&lot->kit, lot->on.blocks, sizeof *of, "matching pursuit", &of));
    TRY(cull_kit_allocate(&lot->kit, 1, sizeof *lot->on.ended, "matching pursuit", &lot->on.ended));
    TRY(cull_backend_upload(backend, problem, lot->here, lot->count * sizeof *problem));
    TRY(cull_backend_upload(backend, of, lot->of, lot->on.blocks * sizeof *of));
    lot->on.problem = problem;
    lot->on.of = of;
done:
    return status;
}

static cull_status start(struct lot *lot)
{
    cull_status  status = CULL_OK;
    cudaStream_t stream = lot->cuda->stream;

    for (size_t i = 0; i < lot->count; i++) {
        const cull_pool_problem *x = lot->here + i;

        if (x->column >= 0) continue;
        CUDA(cull_cuda_gain_run(stream, x->h, x->p, x->row, x->n, x->p.width, x->b, x->t));
    }
    CUDA(cull_pool_start(stream, &lot->on));
done:
    return status;
}

static cull_status pick_all(struct lot *lot)
{
    cull_status  status = CULL_OK;
    cudaStream_t stream = lot->cuda->stream;
    uint32_t     ended = 0;

    for (size_t i = 0; i <= lot->most; i++) {
        CUDA(cull_pool_choose(stream, &lot->on));
        if (i % LOOK_EVERY == LOOK_EVERY - 1)
            TRY(cull_backend_download(lot->kit.backend, &ended, lot->on.ended, sizeof ended));
        if (ended == lot->on.count || i == lot->most) break;
        CUDA(cull_pool_pass(stream, &lot->on));
    }
    CUDA(cull_pool_end(stream, &lot->on));
done:
    return status;
}

static cull_status report(struct lot *lot, size_t first)
{
    cull_status status = CULL_OK;

    TRY(cull_backend_download(lot->kit.backend, lot->became, lot->state,
                              lot->count * sizeof *lot->state));
    for (size_t i = 0; i < lot->count; i++) {
        const cull_pool_state *became = lot->became + i;

        if (became->broken != CULL_POOL_NONE)
            FAIL(CULL_NOT_FINITE,
                 "omp problem %zu: the Gram matrix or the target is not finite at atom %u",
                 first + i, became->broken);
        lot->problems[i].picked = became->picked;
        lot->problems[i].residual = became->residual;
        lot->problems[i].ridge = became->ridge;
        lot->problems[i].stop = (cull_omp_stop)became->stop;
    }
done:
    return status;
}

/* Problems first .. first+count-1 of a call, which need so many bytes. */
static cull_status pursue(cull_backend *backend, cull_omp_problem *problems, size_t first,
                          size_t count, size_t bytes, const cull_omp_options *options)
{
    cull_status status = CULL_OK;
    struct lot  lot = {.kit.backend = backend,
                       .problems = problems + first,
                       .count = count,
                       .on.rules = rules_of(options)};

    TRY(cull_cuda_enter(backend, &lot.cuda));
    TRY(lay_out(&lot, options, bytes));
    TRY(send(&lot));
    TRY(start(&lot));
    TRY(pick_all(&lot));
    TRY(report(&lot, first));
done:
    cull_kit_clear(&lot.kit);
    cull_base_free(lot.of);
    cull_base_free(lot.became);
    cull_base_free(lot.here);
    return status;
}

static cull_status check(const cull_omp_problem *problems, size_t count,
                         const cull_omp_options *options)
{
    cull_status status = CULL_OK;
    size_t      limit = options->memory ? options->memory : DEFAULT_MEMORY;

    for (size_t i = 0; i < count; i++) {
        size_t needed = bytes_of(problems + i, options);

        if (needed > limit)
            FAIL(CULL_TOO_LARGE,
                 "omp problem %zu: %zu atoms and %zu picks need %.1f MiB, more than the %.1f MiB "
                 "allowed",
                 i, problems[i].count, most_picks(problems + i, options), (double)needed / 0x1p20,
                 (double)limit / 0x1p20);
    }
done:
    return status;
}

cull_status cull_cuda_pool_pursue(cull_backend *backend, cull_op *op, cull_omp_problem *problems,
                                  size_t count, const cull_omp_options *options)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; i < count; i++) problems[i].picked = 0;
    if (options->nonnegative || options->pick == CULL_PICK_SAMPLE) {
        TRY(cull_pool_pursue_made(backend, op, problems, count, options));
        return CULL_OK;
    }
    TRY(check(problems, count, options));
    for (size_t first = 0, some = 0; first < count; first += some) {
        size_t bytes = 0;

        for (some = 0; first + some < count; some++) {
            size_t more = bytes_of(problems + first + some, options);

            if (some > 0 && bytes + more > AT_ONCE) break;
            bytes += more;
        }
        TRY(pursue(backend, problems, first, some, bytes, options));
    }
done:
    if (status != CULL_OK)
        for (size_t i = 0; i < count; i++) problems[i].picked = 0;
    return status;
}
