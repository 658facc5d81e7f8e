/*
 * select/craig.c - CRAIG: facility location on last-layer gradients (Mirzasoleiman et al. 2020).
 *
 *     distance    |g_i - g_j|, unsquared, g_i = p_i (x) [h_i; 1]
 *     similarity  largest distance - distance
 *     picks       greedily maximise the sum over atoms of the similarity to the nearest pick
 *     weights     atoms a pick stands for, scaled to mean 1; a pick that stands for none, the
 *                 duplicate of an earlier one, is left out
 *
 * scope=class   the atoms are examples, one problem per class; budgets by largest remainder
 * scope=batch   the atoms are mean gradients of minibatches, G (n, C(D+1)), made a few
 *               classes at a time: G G^T is a sum over classes. A picked minibatch comes out
 *               whole, as a group
 */
#include <math.h>

#include "select/classes.h"
#include "select/desk.h"
#include "select/matching.h"

static const cull_option_spec options[] = {
    {"scope", CULL_OPTION_CHOICE, "class", 0, 0, "class|batch",
     "class: examples, one problem per class; batch: whole minibatches, as many as come nearest"},
    {"greedy", CULL_OPTION_CHOICE, "lazy", 0, 0, "lazy|naive|stochastic",
     "lazy and naive pick the same; stochastic looks at a random few for each pick"},
    {"sample", CULL_OPTION_REAL, "0.01", 1e-300, 0.999, NULL,
     "greedy=stochastic: look at (n/k) ln(1/sample) candidates a pick"},
    {"memory", CULL_OPTION_INT, "512", 1, 1e6, NULL,
     "MiB of similarities (scope=batch: and of mean gradients) held at once"},
    {.key = NULL}};

static cull_status create_craig(cull_self *self)
{
    if (cull_values_given(self->values, "sample") &&
        !cull_value_is(self->values, "greedy", "stochastic"))
        return cull_fail(CULL_BAD_OPTION, "craig: sample goes with greedy=stochastic only");
    return cull_sel_minibatches_check("craig", self);
}

static void needs(const cull_self *self, uint64_t step, uint64_t epoch, cull_needs *out)
{
    (void)step;
    (void)epoch;
    cull_sel_minibatches_needs(self, out);
    if (out->signals && cull_value_is(self->values, "scope", "class"))
        out->signals |= CULL_SIGNAL_LABEL;
}

static size_t memory(const cull_self *self)
{
    return (size_t)cull_value_int(self->values, "memory") << 20;
}

static cull_facility_options options_of(const cull_self *self, const cull_signals *signals)
{
    cull_facility_options how = {.greedy = CULL_GREEDY_LAZY,
                                 .sample = cull_value_real(self->values, "sample"),
                                 .key = cull_key_make(self->setting->seed, "craig"),
                                 .step = signals->epoch,
                                 .memory = memory(self)};

    if (cull_value_is(self->values, "greedy", "naive")) how.greedy = CULL_GREEDY_NAIVE;
    if (cull_value_is(self->values, "greedy", "stochastic")) how.greedy = CULL_GREEDY_STOCHASTIC;
    return how;
}

/* The picks that stand for an atom, moved to the front of index and weight. */
static size_t drop_idle(const cull_facility_problem *problem, uint32_t *index, double *weight)
{
    size_t kept = 0;

    for (size_t i = 0; i < problem->budget; i++) {
        if (!(problem->weight[i] > 0)) continue;
        index[kept] = problem->index[i];
        weight[kept++] = problem->weight[i];
    }
    return kept;
}

/* One problem for each class that gets a share; their results lie side by side. Rows, picks and
 * weights are those that the backend reads and writes. */
static size_t pose(const cull_signals *signals, const cull_sel_classes *classes,
                   const size_t *share, const uint32_t *row, uint32_t *index, double *weight,
                   cull_facility_problem *problems)
{
    size_t count = 0, at = 0;

    for (size_t c = 0; c < classes->count; c++) {
        if (share[c] == 0) continue;
        problems[count++] = (cull_facility_problem){.count = classes->size[c],
                                                    .budget = share[c],
                                                    .h = signals->h,
                                                    .p = signals->p,
                                                    .row = row + classes->start[c],
                                                    .index = index + at,
                                                    .weight = weight + at};
        at += share[c];
    }
    return count;
}

/* What is not small enough for its squares to stay numbers. */
static cull_status check_sizes(cull_sel_desk *desk, const cull_signals *signals)
{
    cull_status   status = CULL_OK;
    cull_trouble *word = NULL, trouble = {0};
    cull_op_args  args = {.check = {.rows = signals->count,
                                    .x = signals->h,
                                    .low = -CULL_FACILITY_MOST,
                                    .high = CULL_FACILITY_MOST}};

    if (signals->h.dtype != CULL_F64) return CULL_OK;
    TRY(cull_kit_allocate(&desk->there, 1, sizeof *word, "an error word", &word));
    args.check.trouble = word;
    TRY(cull_kit_run(&desk->there, CULL_OP_CHECK, signals->count, &args));
    TRY(cull_backend_download(desk->backend, &trouble, word, sizeof trouble));
    if (trouble.what != CULL_WRONG_NOTHING)
        FAIL(CULL_NOT_FINITE, "craig: h of example %zu is too large", (size_t)trouble.row);
done:
    return status;
}

/* Elsewhere than on the host the signals were checked already, but for their size. */
static cull_status locate(const cull_self *self, cull_sel_desk *desk, const cull_signals *signals,
                          cull_facility_problem *problems, size_t count)
{
    cull_status           status = CULL_OK;
    cull_facility_options how = options_of(self, signals);
    cull_op_args          args = {.facility = {problems, count, &how}};

    if (!cull_sel_desk_apart(desk)) return cull_facility(desk->backend, problems, count, &how);
    TRY(check_sizes(desk, signals));
    TRY(cull_kit_run(&desk->there, CULL_OP_FACILITY, 0, &args));
    TRY(cull_backend_wait(desk->backend));
done:
    return status;
}

/* What is kept of all problems, as rows, at the front of the subset. */
static void gather(const cull_facility_problem *problems, size_t count,
                   const cull_sel_classes *classes, const uint32_t *row, cull_subset *out)
{
    size_t at = 0;

    out->count = 0;
    for (size_t i = 0; i < count; i++) {
        cull_facility_problem here = problems[i];
        size_t                kept = 0, first = (size_t)(problems[i].row - row);

        here.index = out->index + at;
        here.weight = out->weight + at;
        kept = drop_idle(&here, out->index + out->count, out->weight + out->count);
        for (size_t j = 0; j < kept; j++)
            out->index[out->count + j] = classes->row[first + out->index[out->count + j]];
        out->count += kept;
        at += here.budget;
    }
}

static cull_status decide_class(cull_self *self, const cull_signals *signals, size_t budget,
                                cull_subset *out)
{
    cull_status            status = CULL_OK;
    cull_sel_desk          desk;
    cull_sel_classes       classes = {0};
    cull_sel_both          row, index, weight;
    cull_tensor            label = {0};
    cull_subset            made = {0}, *to = out;
    size_t                *share = NULL, count = 0;
    cull_facility_problem *problems = NULL;
    cull_kit              *kit = NULL;

    cull_sel_desk_open(&desk, self->setting->backend);
    kit = cull_sel_desk_host(&desk);
    if (cull_sel_desk_apart(&desk)) to = &made;
    TRY(cull_sel_watch_look(self));
    TRY(cull_sel_desk_bring(&desk, &signals->label, signals->count, &label));
    TRY(cull_sel_classes_make(kit, &label, signals->count, (size_t)signals->p.shape[1], &classes));
    TRY(cull_sel_desk_copy(&desk, classes.row, signals->count, sizeof *classes.row, "rows by class",
                           &row));
    TRY(cull_kit_allocate(kit, classes.count, sizeof *share, "budgets of classes", &share));
    TRY(cull_kit_allocate(kit, classes.count, sizeof *problems, "problems of classes", &problems));
    cull_budget_split(budget, classes.size, classes.count, share);
    TRY(cull_subset_resize(to, budget));
    TRY(cull_sel_desk_copy(&desk, to->index, budget, sizeof *to->index, "a subset", &index));
    TRY(cull_sel_desk_copy(&desk, to->weight, budget, sizeof *to->weight, "a subset", &weight));
    count = pose(signals, &classes, share, row.there, index.there, weight.there, problems);
    TRY(locate(self, &desk, signals, problems, count));
    TRY(cull_sel_desk_fetch(&desk, &index, 0, budget));
    TRY(cull_sel_desk_fetch(&desk, &weight, 0, budget));
    gather(problems, count, &classes, row.there, to);
    to->picked = to->count;
    if (to->count < budget) to->flags |= CULL_SUBSET_SHORT;
    cull_match_scale(to, (double)to->count);
    if (to != out) TRY(cull_sel_deliver(to, out));
done:
    cull_sel_desk_clear(&desk);
    cull_subset_clear(&made);
    return status;
}

/* Mean gradients of minibatches and how near they are to each other. */
struct means {
    cull_kit kit;
    size_t   n, width; /* minibatches; D+1                                                     */
    size_t   classes;  /* made at a time                                                       */
    double   scale;    /* of g: only ratios matter, and squares must stay numbers              */
    double  *g;        /* (n, classes (D+1))                                                   */
    double  *zero;     /* (n, 1)                                                               */
    double  *part;     /* (n, n) G G^T over the classes at hand                                */
    double  *near;     /* (n, n) G G^T over all classes, then similarities                     */
};

/* Beside the pairs, as many classes of gradients as fit. */
static cull_status means_make(const cull_signals *signals, size_t n, size_t bytes,
                              struct means *out)
{
    cull_status status = CULL_OK;
    size_t      all = (size_t)signals->p.shape[1], width = (size_t)signals->h.shape[1] + 1;
    size_t      room = bytes / sizeof(double);
    cull_kit   *kit = &out->kit;

    out->n = n;
    out->width = width;
    if (n > room / 2 / n)
        FAIL(CULL_TOO_LARGE, "craig: pairs of %zu minibatches exceed memory=%zu", n, bytes >> 20);
    out->classes = (room - 2 * n * n) / n / width;
    if (out->classes == 0)
        FAIL(CULL_TOO_LARGE, "craig: one class's gradients of %zu minibatches exceed memory=%zu", n,
             bytes >> 20);
    if (out->classes > all) out->classes = all;
    TRY(cull_kit_allocate(kit, n * out->classes, width * sizeof *out->g, "gradients", &out->g));
    TRY(cull_kit_allocate(kit, n, sizeof *out->zero, "gradients", &out->zero));
    TRY(cull_kit_allocate(kit, n * n, sizeof *out->part, "pairs of minibatches", &out->part));
    TRY(cull_kit_allocate(kit, n * n, sizeof *out->near, "pairs of minibatches", &out->near));
done:
    return status;
}

/* A power of two that brings every gradient's entries to 1 or below. One with an entry that is
 * no number itself is refused by name. */
static cull_status find_scale(const cull_signals *signals, double *scale)
{
    enum { MOST = 980, SMALLEST = -1000 };
    cull_status status = CULL_OK;
    int         h = cull_match_exponent(&signals->h), p = cull_match_exponent(&signals->p), sum = 0;

    for (size_t i = 0; h + p > MOST && i < signals->count; i++) {
        cull_tensor row[2] = {signals->h, signals->p};
        for (size_t k = 0; k < 2; k++)
            row[k] =
                cull_matrix(cull_tensor_row(&row[k], i), row[k].dtype, 1, (size_t)row[k].shape[1]);
        if (cull_match_exponent(&row[0]) + cull_match_exponent(&row[1]) > MOST)
            FAIL(CULL_NOT_FINITE, "craig: the gradient of example %zu (place %u) is too large", i,
                 cull_sel_place(signals, i));
    }
    sum = h > 0 ? h + p : p;
    if (sum > -SMALLEST) sum = -SMALLEST;
    *scale = ldexp(1, -(sum > SMALLEST ? sum : SMALLEST));
done:
    return status;
}

static cull_tensor columns(const cull_tensor *t, size_t first, size_t count)
{
    cull_tensor part = *t;

    part.data = (char *)t->data + first * cull_dtype_size(t->dtype);
    part.shape[1] = (int64_t)count;
    return part;
}

/* Adds G G^T over `count` classes from `first` to near. */
static cull_status add_products(const cull_signals         *signals,
                                const cull_sel_minibatches *minibatches, struct means *means,
                                size_t first, size_t count)
{
    cull_status status = CULL_OK;
    cull_tensor p = columns(&signals->p, first, count), g, zero;
    size_t      wide = count * means->width;

    for (size_t b = 0; b < means->n; b++) {
        size_t       start = minibatches->start[b], rows = minibatches->start[b + 1] - start;
        double      *mean = means->g + b * wide;
        cull_op_args args = {.gradient = {&signals->h, &p, minibatches->row + start, rows, mean}};
        TRY(cull_kit_run(&means->kit, CULL_OP_GRADIENT, minibatches->batch, &args));
        for (size_t i = 0; i < wide; i++) mean[i] = mean[i] * means->scale / (double)rows;
    }
    /* K = P P^T o (H H^T + 1) with H = 0 is P P^T itself. */
    g = cull_matrix(means->g, CULL_F64, means->n, wide);
    zero = cull_matrix(means->zero, CULL_F64, means->n, 1);
    TRY(cull_gram(means->kit.backend, &zero, &g, NULL, means->part, NULL, NULL));
    for (size_t i = 0; i < means->n * means->n; i++) means->near[i] += means->part[i];
done:
    return status;
}

/* G G^T becomes the largest distance minus the distance. */
static void turn_into_similarities(const struct means *means)
{
    size_t  n = means->n;
    double *square = means->zero, *near = means->near, most = 0;

    for (size_t i = 0; i < n; i++) square[i] = near[i * n + i];
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            double gap = i == j ? 0 : square[i] + square[j] - 2 * near[i * n + j];
            near[i * n + j] = gap > 0 ? sqrt(gap) : 0;
            if (near[i * n + j] > most) most = near[i * n + j];
        }
    }
    for (size_t i = 0; i < n * n; i++) near[i] = most - near[i];
}

static cull_status compare(const cull_signals *signals, const cull_sel_minibatches *minibatches,
                           struct means *means)
{
    cull_status status = CULL_OK;
    size_t      all = (size_t)signals->p.shape[1];

    TRY(find_scale(signals, &means->scale));
    for (size_t c = 0; c < all; c += means->classes) {
        size_t count = all - c < means->classes ? all - c : means->classes;
        TRY(add_products(signals, minibatches, means, c, count));
    }
    turn_into_similarities(means);
done:
    return status;
}

static cull_status decide_batch(cull_self *self, const cull_signals *signals, size_t budget,
                                cull_subset *out)
{
    cull_status           status = CULL_OK;
    cull_sel_minibatches  minibatches = {0};
    struct means          means = {.kit.backend = self->setting->backend};
    cull_facility_problem problem = {0};
    cull_facility_options how = options_of(self, signals);
    size_t                kept = 0;

    TRY(cull_sel_minibatches_make(&means.kit, signals, self->setting->batch, self->setting->seed,
                                  &minibatches));
    problem.budget = cull_sel_minibatches_nearest(&minibatches, budget);
    if (problem.budget == minibatches.count) {
        TRY(cull_sel_minibatches_all(&minibatches, out));
        goto done;
    }
    TRY(means_make(signals, minibatches.count, memory(self), &means));
    TRY(compare(signals, &minibatches, &means));
    problem.count = minibatches.count;
    problem.similarity = cull_matrix(means.near, CULL_F64, means.n, means.n);
    TRY(cull_kit_allocate(&means.kit, problem.budget, sizeof *problem.index, "picks",
                          &problem.index));
    TRY(cull_kit_allocate(&means.kit, problem.budget, sizeof *problem.weight, "picks",
                          &problem.weight));
    TRY(cull_facility(means.kit.backend, &problem, 1, &how));
    kept = drop_idle(&problem, problem.index, problem.weight);
    TRY(cull_sel_minibatches_take(&minibatches, problem.index, problem.weight, kept, out));
    if (kept < problem.budget) out->flags |= CULL_SUBSET_SHORT;
done:
    cull_kit_clear(&means.kit);
    return status;
}

static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    if (cull_value_is(self->values, "scope", "class"))
        return decide_class(self, signals, budget, out);
    return decide_batch(self, signals, budget, out);
}

const cull_strategy cull_strategy_craig = {
    .abi = CULL_STRATEGY_ABI,
    .name = "craig",
    .doc = "examples (or minibatches) near whose gradients all others are, weighted by how many",
    .runs = CULL_RUNS_PERIOD,
    .traits = CULL_SEL_WAITS | CULL_COMES_SHORT,
    .signals = CULL_SIGNAL_H | CULL_SIGNAL_P,
    .options = options,
    .create = create_craig,
    .needs = needs,
    .decide = decide,
};
