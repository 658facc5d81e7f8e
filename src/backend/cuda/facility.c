/*
 * backend/cuda/facility.c - facility location: problems laid out on the device in lots, as many
 * together as the memory for similarities holds, and their picks asked for one after the other.
 *
 * It waits for the stream, so it is not for recorded steps; what is reported is in the problems
 * then.
 */
#include "backend/cuda/facility.h"

#include <math.h>

#include "backend/cuda/arena.h"
#include "backend/cuda/cuda.h"
#include "backend/facility.h"
#include "base/alloc.h"

#define DEFAULT_MEMORY ((size_t)512 << 20)

struct lot {
    cull_kit               kit;
    cull_cuda             *cuda;
    cull_facility_problem *problems;
    size_t                 count;
    cull_facility_lot      on;             /* as its kernels see it          */
    cull_facility_task    *here;           /* [count] copies, on the host    */
    cull_facility_state   *state, *became; /* [count] there and here         */
    uint32_t              *strip_of, *tile_of;
    size_t                 most; /* picks of any problem */
};

static size_t limit_of(const cull_facility_options *options)
{
    return options->memory ? options->memory : DEFAULT_MEMORY;
}

/* A similarity in float32 is used where it lies. */
static size_t bytes_of(const cull_facility_problem *problem)
{
    const cull_tensor *given = &problem->similarity;
    size_t             n = problem->count;

    if (cull_tensor_present(given) && given->dtype == CULL_F32) return 0;
    return n > SIZE_MAX / sizeof(float) / n ? SIZE_MAX : n * n * sizeof(float);
}

/* Rows of S to hold at once where not all of them may be; 0: all are held. */
static size_t slots_of(const cull_facility_problem *problem, const cull_facility_options *options)
{
    size_t slots = limit_of(options) / sizeof(float) / problem->count;

    if (bytes_of(problem) <= limit_of(options)) return 0;
    return slots > 0 ? slots : 1;
}

static cull_facility_task lay_out(const cull_facility_problem *problem,
                                  const cull_facility_options *options, cull_cuda_arena *arena)
{
    size_t             n = problem->count, slots = slots_of(problem, options);
    bool               stochastic = options->greedy == CULL_GREEDY_STOCHASTIC;
    cull_facility_task x = {.h = cull_cuda_rows_of(&problem->h),
                            .p = cull_cuda_rows_of(&problem->p),
                            .given = cull_cuda_rows_of(&problem->similarity),
                            .row = problem->row,
                            .n = (uint32_t)n,
                            .budget = (uint32_t)problem->budget,
                            .index = problem->index,
                            .weight = problem->weight,
                            .near = problem->similarity.data,
                            .ld = n,
                            .slots = (uint32_t)slots};

    if (stochastic)
        x.sample = (uint32_t)cull_facility_sample_size(n, problem->budget, options->sample);
    if (bytes_of(problem))
        x.near = cull_cuda_take(arena, slots ? slots : n, n * sizeof *x.near);
    else
        x.ld = x.given.ld;
    x.norm = cull_cuda_take(arena, n, sizeof *x.norm);
    x.best = cull_cuda_take(arena, n, sizeof *x.best);
    x.gain = cull_cuda_take(arena, n, sizeof *x.gain);
    x.owner = cull_cuda_take(arena, n, sizeof *x.owner);
    x.fresh = cull_cuda_take(arena, n, sizeof *x.fresh);
    x.candidate = cull_cuda_take(arena, stochastic ? n : 0, sizeof *x.candidate);
    x.asked = cull_cuda_take(arena, stochastic ? n : 0, sizeof *x.asked);
    x.list = cull_cuda_take(arena, slots ? n : 0, sizeof *x.list);
    return x;
}

/* All problems, in one block of memory. */
static cull_status lay_out_all(struct lot *lot, const cull_facility_options *options)
{
    cull_status     status = CULL_OK;
    cull_cuda_arena arena = {0};

    TRY(cull_base_alloc(lot->count, sizeof *lot->here, "facility location", &lot->here));
    TRY(cull_base_alloc(lot->count, sizeof *lot->became, "facility location", &lot->became));
    TRY(cull_kit_allocate(&lot->kit, lot->count, sizeof *lot->state, "facility location",
                          &lot->state));
    for (size_t i = 0; i < lot->count; i++) (void)lay_out(lot->problems + i, options, &arena);
    TRY(cull_kit_allocate(&lot->kit, arena.used, 1, "similarities", &arena.base));
    arena.used = 0;
    for (size_t i = 0; i < lot->count; i++) {
        lot->here[i] = lay_out(lot->problems + i, options, &arena);
        lot->here[i].state = lot->state + i;
    }
done:
    return status;
}

/* Which strips and tiles are whose. A similarity that is used where it lies has no tiles. */
static cull_status share_out(struct lot *lot)
{
    cull_status status = CULL_OK;
    uint32_t    strips = 0, tiles = 0;

    for (size_t i = 0; i < lot->count; i++) {
        cull_facility_task *x = lot->here + i;

        x->first_strip = strips;
        x->first_tile = tiles;
        strips += cull_facility_strips(x->n);
        if (bytes_of(lot->problems + i)) tiles += cull_facility_tiles(x->n);
        if (x->budget > lot->most) lot->most = x->budget;
    }
    TRY(cull_base_alloc(strips + 1, sizeof *lot->strip_of, "facility location", &lot->strip_of));
    TRY(cull_base_alloc(tiles + 1, sizeof *lot->tile_of, "facility location", &lot->tile_of));
    for (size_t i = 0; i < lot->count; i++) {
        const cull_facility_task *x = lot->here + i;
        uint32_t                  last = i + 1 < lot->count ? lot->here[i + 1].first_tile : tiles;

        for (uint32_t s = 0; s < cull_facility_strips(x->n); s++)
            lot->strip_of[x->first_strip + s] = (uint32_t)i;
        for (uint32_t t = x->first_tile; t < last; t++) lot->tile_of[t] = (uint32_t)i;
    }
    lot->on.count = (uint32_t)lot->count;
    lot->on.strips = strips;
    lot->on.tiles = tiles;
done:
    return status;
}

static cull_status send(struct lot *lot)
{
    cull_status         status = CULL_OK;
    const char         *what = "facility location";
    cull_backend       *backend = lot->kit.backend;
    cull_facility_task *task = NULL;
    uint32_t           *strip_of = NULL, *tile_of = NULL;
    size_t              strips = lot->on.strips, tiles = lot->on.tiles;

    TRY(cull_kit_allocate(&lot->kit, lot->count, sizeof *task, what, &task));
    TRY(cull_kit_allocate(&lot->kit, strips, sizeof *strip_of, what, &strip_of));
    TRY(cull_kit_allocate(&lot->kit, tiles + 1, sizeof *tile_of, what, &tile_of));
    TRY(cull_backend_upload(backend, task, lot->here, lot->count * sizeof *task));
    TRY(cull_backend_upload(backend, strip_of, lot->strip_of, strips * sizeof *strip_of));
    TRY(cull_backend_upload(backend, tile_of, lot->tile_of, tiles * sizeof *tile_of));
    lot->on.task = task;
    lot->on.strip_of = strip_of;
    lot->on.tile_of = tile_of;
done:
    return status;
}

static cull_status pick_all(struct lot *lot)
{
    cull_status  status = CULL_OK;
    cudaStream_t stream = lot->cuda->stream;

    CUDA(cull_facility_measure(stream, &lot->on));
    CUDA(cull_facility_begin(stream, &lot->on));
    if (lot->here->slots) CUDA(cull_facility_list(stream, &lot->on));
    for (size_t i = 0; i < lot->most; i++)
        CUDA(lot->here->slots ? cull_facility_pick_by_rows(stream, &lot->on, lot->here)
                              : cull_facility_pick(stream, &lot->on));
    CUDA(cull_facility_end(stream, &lot->on));
    TRY(cull_backend_download(lot->kit.backend, lot->became, lot->state,
                              lot->count * sizeof *lot->state));
    for (size_t i = 0; i < lot->count; i++)
        lot->problems[i].value = ldexp(lot->became[i].value, lot->became[i].exponent);
done:
    return status;
}

static cull_status locate(cull_backend *backend, cull_facility_problem *problems, size_t count,
                          const cull_facility_options *options)
{
    cull_status status = CULL_OK;
    struct lot  lot = {.kit.backend = backend,
                       .problems = problems,
                       .count = count,
                       .on.key = options->key,
                       .on.step = options->step};

    TRY(cull_cuda_enter(backend, &lot.cuda));
    TRY(lay_out_all(&lot, options));
    TRY(share_out(&lot));
    TRY(send(&lot));
    TRY(pick_all(&lot));
done:
    cull_kit_clear(&lot.kit);
    cull_base_free(lot.tile_of);
    cull_base_free(lot.strip_of);
    cull_base_free(lot.became);
    cull_base_free(lot.here);
    return status;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_status                  status = CULL_OK;
    cull_facility_problem       *problems = args->facility.problems;
    const cull_facility_options *options = args->facility.options;
    size_t                       count = args->facility.count, limit = limit_of(options);

    for (size_t first = 0, some = 0; first < count; first += some) {
        size_t bytes = 0;

        for (some = 0; first + some < count; some++) {
            size_t more = bytes_of(problems + first + some);

            if (some > 0 && (more > limit - bytes || slots_of(problems + first, options))) break;
            bytes = more < limit ? bytes + more : limit;
        }
        TRY(locate(op->backend, problems + first, some, options));
    }
done:
    return status;
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    (void)backend;
    (void)desc;
    return cull_base_alloc(1, sizeof **out, "an operation", out);
}

static void destroy(cull_op *op)
{
    cull_base_free(op);
}

const cull_op_class cull_cuda_facility = {create, run, destroy};
