/*
 * backend/cpu/facility.c - many problems of facility location: who works on which, with what.
 *
 * Where all of S fits for as many problems as there are threads, each thread takes problems
 * by itself; else they come one after another, with all threads inside. Neither changes a
 * result. All room is taken before the threads start, so that failing leaves a sentence with
 * the caller.
 */
#include "backend/cpu/facility.h"

#include "base/alloc.h"

struct space {
    cull_near   near;
    cull_picker picker;
};

struct job {
    struct space                *space; /* [workers] */
    size_t                       workers;
    cull_team                   *inside; /* NULL: problems are the tasks */
    cull_facility_problem       *problems;
    const cull_facility_options *options;
    const cull_products         *products;
    size_t                       memory;
};

/* The largest that any problem of a call asks for. */
struct sizes {
    size_t n, h, p; /* atoms; elements of gathered h and p */
    size_t ldh, ldp;
    size_t held; /* elements of S                       */
};

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

/* Whole cache lines, an odd number of them: rows a power of two apart would share places in
 * the caches. */
static size_t padded(const cull_tensor *t)
{
    return ((size_t)t->shape[1] / 8 + 1) / 2 * 16 + 8;
}

/* Rows of S to hold at once. */
static size_t slots_of(const cull_facility_problem *problem, size_t memory)
{
    size_t n = problem->count, slots = memory / sizeof(float) / n;

    if (problem->similarity.data && problem->similarity.dtype == CULL_F32) return n;
    if (slots < 1) return 1;
    return slots < n ? slots : n;
}

/* *most = max(*most, a b); a product that overflows is more than any allocation gives. */
static void expect(size_t *most, size_t a, size_t b)
{
    size_t product = 0;

    if (__builtin_mul_overflow(a, b, &product)) product = SIZE_MAX;
    if (product > *most) *most = product;
}

static void measure(const struct job *job, size_t count, struct sizes *sizes)
{
    for (size_t i = 0; i < count; i++) {
        const cull_facility_problem *problem = job->problems + i;
        size_t                       n = problem->count;

        expect(&sizes->n, n, 1);
        if (problem->similarity.data) {
            if (problem->similarity.dtype == CULL_F64)
                expect(&sizes->held, n, slots_of(problem, job->memory));
            continue;
        }
        expect(&sizes->held, n, slots_of(problem, job->memory));
        expect(&sizes->h, n, padded(&problem->h));
        expect(&sizes->p, n, padded(&problem->p));
        expect(&sizes->ldh, 1, padded(&problem->h));
        expect(&sizes->ldp, 1, padded(&problem->p));
    }
}

static cull_status take_room(struct space *space, const struct sizes *sizes, unsigned threads)
{
    cull_status  status = CULL_OK;
    const char  *what = "facility location";
    cull_near   *near = &space->near;
    cull_picker *picker = &space->picker;
    size_t       n = sizes->n, block = (size_t)CULL_NEAR_STRIP * CULL_NEAR_COLUMNS;

    TRY(cull_base_alloc_aligned(sizes->h, sizeof *near->h, what, &near->h));
    TRY(cull_base_alloc_aligned(sizes->p, sizeof *near->p, what, &near->p));
    TRY(cull_base_alloc_aligned(CULL_NEAR_STRIP * (sizes->ldh + sizes->ldp), sizeof *near->chosen,
                                what, &near->chosen));
    TRY(cull_base_alloc_aligned(threads * 2 * block, sizeof *near->room, what, &near->room));
    TRY(cull_base_alloc_aligned(sizes->held, sizeof *near->held, "similarities", &near->held));
    TRY(cull_base_alloc(n, sizeof *near->norm, what, &near->norm));
    TRY(cull_base_alloc(n, sizeof *near->sum, what, &near->sum));
    TRY(cull_base_alloc(n, sizeof *near->least, what, &near->least));
    TRY(cull_base_alloc(n, sizeof *near->slot_of, what, &near->slot_of));
    TRY(cull_base_alloc(n, sizeof *near->atom_of, what, &near->atom_of));
    TRY(cull_base_alloc(n, sizeof *near->used, what, &near->used));
    TRY(cull_base_alloc(n, sizeof *picker->best, what, &picker->best));
    TRY(cull_base_alloc(n, sizeof *picker->gain, what, &picker->gain));
    TRY(cull_base_alloc(n, sizeof *picker->owner, what, &picker->owner));
    TRY(cull_base_alloc(n, sizeof *picker->candidate, what, &picker->candidate));
    TRY(cull_base_alloc(n, sizeof *picker->fresh, what, &picker->fresh));
done:
    return status;
}

static void give_room(struct space *space)
{
    cull_base_free(space->picker.fresh);
    cull_base_free(space->picker.candidate);
    cull_base_free(space->picker.owner);
    cull_base_free(space->picker.gain);
    cull_base_free(space->picker.best);
    cull_base_free(space->near.used);
    cull_base_free(space->near.atom_of);
    cull_base_free(space->near.slot_of);
    cull_base_free(space->near.least);
    cull_base_free(space->near.sum);
    cull_base_free(space->near.norm);
    cull_base_free_aligned(space->near.held);
    cull_base_free_aligned(space->near.room);
    cull_base_free_aligned(space->near.chosen);
    cull_base_free_aligned(space->near.p);
    cull_base_free_aligned(space->near.h);
}

static void solve(void *context, size_t task, unsigned worker)
{
    struct job            *job = context;
    struct space          *space = job->space + worker;
    cull_facility_problem *problem = job->problems + task;
    cull_near             *near = &space->near;

    near->problem = problem;
    near->products = job->products;
    near->team = job->inside;
    near->n = problem->count;
    near->slots = slots_of(problem, job->memory);
    if (!problem->similarity.data) {
        near->ldh = padded(&problem->h);
        near->ldp = padded(&problem->p);
    }
    cull_cpu_near_prepare(near);
    cull_cpu_pick(near, &space->picker, problem, job->options);
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_status  status = CULL_OK;
    cull_team   *team = op->backend->team;
    unsigned     threads = cull_team_size(team);
    size_t       count = args->facility.count, memory = args->facility.options->memory;
    struct sizes sizes = {0};
    struct job   job = {.inside = team,
                        .workers = 1,
                        .problems = args->facility.problems,
                        .options = args->facility.options,
                        .products = cull_cpu_kernels(op->backend)->products,
                        .memory = memory ? memory : (size_t)512 << 20};

    measure(&job, count, &sizes);
    if (threads > 1 && count >= threads && sizes.held <= job.memory / sizeof(float) / threads &&
        sizes.n <= job.memory / sizeof(float) / threads / sizes.n) {
        job.inside = NULL;
        job.workers = threads;
    }
    TRY(cull_base_alloc(job.workers, sizeof *job.space, "facility location", &job.space));
    for (size_t i = 0; i < job.workers; i++)
        TRY(take_room(job.space + i, &sizes, job.inside ? threads : 1));
    if (job.inside)
        for (size_t i = 0; i < count; i++) solve(&job, i, 0);
    else
        cull_team_run(team, count, solve, &job);
done:
    for (size_t i = 0; job.space && i < job.workers; i++) give_room(job.space + i);
    cull_base_free(job.space);
    return status;
}

const cull_op_class cull_cpu_facility = {create, run, destroy};
