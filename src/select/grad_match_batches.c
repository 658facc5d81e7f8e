/*
 * select/grad_match_batches.c - grad-match with minibatches as atoms (GRAD-MATCH-PB).
 *
 *     g_a = mean of the gradients of minibatch a, (C, D+1)       a = 1 .. A
 *     w = OMP with ridge towards b, the sum of all gradients; a picked minibatch is taken
 *         whole, every row of it at the same weight
 *
 * While they fit the memory limit, the g_a are rows of one matrix G, handed to the solver as
 * the P of last-layer gradients with H = 0, whose inner products are those of G's rows.
 * Beyond it, the Gram matrix (A, A) is made from pairs of blocks of G, and G is never whole.
 * G and the Gram matrix are in double, as near minibatches differ in the last digits of their
 * products; G is scaled by a power of two, as only ratios matter and squares can leave it.
 */
#include <math.h>

#include "select/classes.h"
#include "select/matching.h"

enum { SMALLEST = -1000 }; /* an exponent whose inverse is still a number */

struct pool {
    const cull_self     *self;
    const cull_signals  *signals;
    cull_omp_options     options;
    cull_sel_minibatches cut;
    size_t               size;   /* C (D+1)                                    */
    size_t               memory; /* most bytes to take                         */
    double               scale;  /* of G                                       */
    double              *b;      /* (C, D+1) what is matched                   */
    double              *sum;    /* (C, D+1) of one minibatch                  */
    double              *g;      /* (A, C (D+1)), or two blocks of it          */
    double              *zero;   /* (A, 1) the H that goes with G              */
    double              *pair;   /* (C (D+1), 2) b for the solver: bias last   */
    double              *t;      /* [A]                                        */
    double              *k;      /* (A, A)                                     */
    size_t               block;  /* minibatches of a block                     */
    double              *part;   /* (2 block, 2 block) of K                    */
    cull_kit             kit;
    cull_match_filler    filler;
    cull_subset          chosen; /* minibatches */
};

static cull_status make_target(struct pool *pool)
{
    cull_status         status = CULL_OK;
    const cull_signals *signals = pool->signals;
    bool                validation = cull_value_is(pool->self->values, "match", "validation");
    cull_op_args        args = {0};

    args.gradient.h = validation ? &signals->target.h : &signals->h;
    args.gradient.p = validation ? &signals->target.p : &signals->p;
    args.gradient.rows = validation ? signals->target.count : signals->count;
    args.gradient.b = pool->b;
    TRY(cull_kit_run(&pool->kit, CULL_OP_GRADIENT, args.gradient.rows, &args));
    TRY(cull_sel_cancel(&args, validation ? "target example" : "example"));
done:
    return status;
}

/* Mean gradients of minibatches first .. first+count-1, as rows of g from row `at`. */
static cull_status make_means(struct pool *pool, size_t first, size_t count, size_t at)
{
    cull_status   status = CULL_OK;
    const size_t *start = pool->cut.start;
    cull_op_args  args = {0};

    args.gradient.h = &pool->signals->h;
    args.gradient.p = &pool->signals->p;
    args.gradient.b = pool->sum;
    for (size_t a = first; a < first + count; a++, at++) {
        args.gradient.row = pool->cut.row + start[a];
        args.gradient.rows = start[a + 1] - start[a];
        TRY(cull_kit_run(&pool->kit, CULL_OP_GRADIENT, args.gradient.rows, &args));
        TRY(cull_sel_cancel(&args, "example")); /* else it would count as an atom, however short */
        for (size_t i = 0; i < pool->size; i++)
            pool->g[at * pool->size + i] = pool->sum[i] * pool->scale / (double)args.gradient.rows;
    }
done:
    return status;
}

/* All of G at once. */
static cull_status match_stored(struct pool *pool, cull_omp_problem *problem)
{
    cull_status status = CULL_OK;
    size_t      atoms = pool->cut.count;

    TRY(cull_kit_allocate(&pool->kit, atoms, pool->size * sizeof *pool->g, "mean gradients",
                          &pool->g));
    TRY(cull_kit_allocate(&pool->kit, atoms, sizeof *pool->zero, "mean gradients", &pool->zero));
    TRY(cull_kit_allocate(&pool->kit, 2 * pool->size, sizeof *pool->pair, "a gradient",
                          &pool->pair));
    TRY(make_means(pool, 0, atoms, 0));
    for (size_t i = 0; i < pool->size; i++) pool->pair[2 * i + 1] = pool->b[i];
    problem->h = cull_matrix(pool->zero, CULL_F64, atoms, 1);
    problem->p = cull_matrix(pool->g, CULL_F64, atoms, pool->size);
    problem->b = pool->pair;
done:
    return status;
}

/* K over the rows of g that hold minibatches first[0] .. and first[1] .., put in its place. */
static cull_status multiply_blocks(struct pool *pool, const size_t first[2], const size_t count[2])
{
    cull_status  status = CULL_OK;
    size_t       rows = count[0] + count[1], atoms = pool->cut.count;
    cull_tensor  g = cull_matrix(pool->g, CULL_F64, rows, pool->size);
    cull_tensor  zero = cull_matrix(pool->zero, CULL_F64, rows, 1);
    cull_op_args args = {.gram = {.h = &zero, .p = &g, .k = pool->part}};

    TRY(cull_kit_run(&pool->kit, CULL_OP_GRAM, 2 * pool->block, &args));
    for (size_t i = 0; i < rows; i++) {
        size_t to = i < count[0] ? first[0] + i : first[1] + i - count[0];
        for (size_t j = 0; j < rows; j++) {
            size_t column = j < count[0] ? first[0] + j : first[1] + j - count[0];
            pool->k[to * atoms + column] = pool->part[i * rows + j];
        }
    }
done:
    return status;
}

/* t_a = <g_a, b> for rows of g from row `at`. */
static void project(struct pool *pool, size_t first, size_t count, size_t at)
{
    for (size_t a = 0; a < count; a++) {
        double sum = 0;
        for (size_t i = 0; i < pool->size; i++)
            sum += pool->g[(at + a) * pool->size + i] * pool->b[i];
        pool->t[first + a] = sum;
    }
}

/* K from pairs of blocks of G: the first block of a pair stays while the others pass by. */
static cull_status make_gram(struct pool *pool)
{
    cull_status status = CULL_OK;
    size_t      atoms = pool->cut.count, block = pool->block;

    for (size_t one = 0; one < atoms; one += block) {
        size_t first[2] = {one, one + block}, count[2] = {0, 0};

        count[0] = atoms - one < block ? atoms - one : block;
        if (one > 0 && first[1] >= atoms) break; /* the pairs before hold it already */
        TRY(make_means(pool, one, count[0], 0));
        project(pool, one, count[0], 0);
        if (first[1] >= atoms) TRY(multiply_blocks(pool, first, count));
        for (; first[1] < atoms; first[1] += block) {
            count[1] = atoms - first[1] < block ? atoms - first[1] : block;
            TRY(make_means(pool, first[1], count[1], count[0]));
            project(pool, first[1], count[1], count[0]);
            TRY(multiply_blocks(pool, first, count));
        }
    }
done:
    return status;
}

/* Half of the memory for K, the rest for two blocks of G and their part of K. */
static cull_status match_blocks(struct pool *pool, cull_omp_problem *problem)
{
    cull_status status = CULL_OK;
    size_t      atoms = pool->cut.count, row = pool->size * sizeof *pool->g, block = 0;

    if (atoms > pool->memory / 2 / (atoms * sizeof *pool->k))
        FAIL(CULL_TOO_LARGE,
             "grad-match: the Gram matrix of %zu minibatches takes more than half of memory=%zu MB",
             atoms, pool->memory >> 20);
    block = pool->memory / 2 / (2 * (row + 2 * atoms * sizeof *pool->k));
    if (block < 1) block = 1;
    TRY(cull_kit_allocate(&pool->kit, 2 * block, row, "mean gradients", &pool->g));
    TRY(cull_kit_allocate(&pool->kit, 2 * block, sizeof *pool->zero, "mean gradients",
                          &pool->zero));
    TRY(cull_kit_allocate(&pool->kit, 2 * block, 2 * block * sizeof *pool->part, "a Gram matrix",
                          &pool->part));
    TRY(cull_kit_allocate(&pool->kit, atoms, atoms * sizeof *pool->k, "a Gram matrix", &pool->k));
    TRY(cull_kit_allocate(&pool->kit, atoms, sizeof *pool->t, "a Gram matrix", &pool->t));
    pool->block = block;
    TRY(make_gram(pool));
    problem->k = cull_matrix(pool->k, CULL_F64, atoms, atoms);
    problem->t = pool->t;
    for (size_t i = 0; i < pool->size; i++) problem->b2 += pool->b[i] * pool->b[i];
done:
    return status;
}

static cull_status pick_minibatches(struct pool *pool, size_t picks)
{
    cull_status       status = CULL_OK;
    const cull_self  *self = pool->self;
    size_t            atoms = pool->cut.count;
    cull_omp_problem  problem = {.count = atoms, .budget = picks, .column = -1};
    cull_op_args      args = {.omp = {&problem, 1, &pool->options}};
    cull_match_settle how = {.backend = pool->kit.backend,
                             .key = cull_key_make(self->setting->seed, "fill"),
                             .step = pool->signals->epoch,
                             .fill = !cull_value_is(self->values, "short", "accept")};

    TRY(cull_kit_allocate(&pool->kit, pool->size, sizeof *pool->b, "a gradient", &pool->b));
    TRY(cull_kit_allocate(&pool->kit, pool->size, sizeof *pool->sum, "a gradient", &pool->sum));
    TRY(make_target(pool));
    TRY(atoms <= pool->memory / (pool->size * sizeof *pool->g) ? match_stored(pool, &problem)
                                                               : match_blocks(pool, &problem));
    TRY(cull_subset_resize(&pool->chosen, picks));
    problem.index = pool->chosen.index;
    problem.weight = pool->chosen.weight;
    TRY(cull_kit_run(&pool->kit, CULL_OP_OMP, atoms, &args));
    TRY(cull_match_fill(&how, &pool->filler, &pool->options, &problem, 1));
    cull_match_finish(&how, &problem, 1, &pool->chosen);
done:
    return status;
}

cull_status cull_sel_match_batches(const cull_self *self, const cull_signals *signals,
                                   const cull_omp_options *options, size_t budget, cull_subset *out)
{
    cull_status status = CULL_OK;
    struct pool pool = {.self = self,
                        .signals = signals,
                        .options = *options,
                        .kit.backend = self->setting->backend};
    size_t      picks = 0, picked = 0;

    pool.size = (size_t)signals->p.shape[1] * ((size_t)signals->h.shape[1] + 1);
    pool.memory = options->memory;
    pool.scale = ldexp(1, -(int)fmax(cull_match_exponent(&signals->p), SMALLEST));
    if (options->absolute) pool.options.ridge *= pool.scale * pool.scale;
    TRY(cull_sel_minibatches_make(&pool.kit, signals, self->setting->batch, self->setting->seed,
                                  &pool.cut));
    picks = cull_sel_minibatches_nearest(&pool.cut, budget);
    if (picks == pool.cut.count) {
        TRY(cull_sel_minibatches_all(&pool.cut, out));
        goto done;
    }
    TRY(pick_minibatches(&pool, picks));
    for (size_t i = 0; i < pool.chosen.picked; i++) {
        uint32_t a = pool.chosen.index[i];
        picked += pool.cut.start[a + 1] - pool.cut.start[a];
    }
    TRY(cull_sel_minibatches_take(&pool.cut, pool.chosen.index, pool.chosen.weight,
                                  pool.chosen.count, out));
    out->picked = picked;
    out->flags = pool.chosen.flags;
done:
    cull_kit_clear(&pool.kit);
    cull_match_filler_clear(&pool.filler);
    cull_subset_clear(&pool.chosen);
    return status;
}
