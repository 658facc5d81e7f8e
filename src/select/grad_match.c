/*
 * select/grad_match.c - a weighted subset of the pool whose gradient is near the pool's
 * (GRAD-MATCH, Killamsetty et al. 2021).
 *
 *     per problem   w = OMP with ridge towards b, the sum of its examples' gradients
 *                   clipped at zero, filled, and solved again
 *     over all      w <- k w / sum w
 *
 *     class-gradient   one problem a class c, of row c of the gradient alone: (D+1)
 *     class            one problem a class, of the whole gradient: (C, D+1)
 *     all              one problem
 *     batch            one problem whose atoms are minibatches (grad_match_batches.c)
 *
 * With match=validation b is the target block's sum, by class where the problems are; a class
 * that the target block does not have is filled with random examples, or left out.
 */
#include "select/classes.h"
#include "select/desk.h"
#include "select/matching.h"

static const cull_option_spec options[] = {
    {"scope", CULL_OPTION_CHOICE, "class-gradient", 0, 0, "class-gradient|class|all|batch",
     "what is matched: each class's own row of the gradient, each class, all, whole minibatches "
     "(as many as come nearest)"},
    {CULL_MATCHING_NONNEGATIVE},
    {CULL_MATCHING_RIDGES("0.5")},
    {CULL_MATCHING_PICK},
    {CULL_MATCHING_TOLERANCE},
    {CULL_MATCHING_SHORT},
    {CULL_MATCHING_MATCH},
    {"memory", CULL_OPTION_INT, "1024", 1, 1e9, NULL,
     "most megabytes (2^20) for one problem, and for mean gradients"},
    {.key = NULL}};

/*
 * The problems of one decision, and what they point to. Signals and targets stay where they are;
 * who is in which class, picks and weights are looked at on the host. So a problem has two forms,
 * which on the host are one.
 */
struct plan {
    const cull_self        *self;
    const cull_signals     *signals;
    const cull_omp_options *options;
    bool                    by_class, one_row, validation;
    cull_sel_desk           desk;
    cull_sel_classes        own, target; /* rows by class; of the target block          */
    cull_sel_both           own_row, target_row;
    cull_omp_problem       *problem, *here;
    size_t *class; /* [problems] */
    size_t            problems;
    cull_sel_both     index, weight; /* [budget] of all problems, one after another    */
    double           *b;             /* targets of `together` problems, one after another */
    size_t            b_size, together;
    cull_trouble     *trouble;
    cull_match_settle how;
    cull_match_filler filler;
};

static cull_status make_problems(struct plan *plan, size_t most)
{
    cull_status status = CULL_OK;
    cull_kit   *kit = cull_sel_desk_host(&plan->desk);

    TRY(cull_kit_allocate(kit, most, sizeof *plan->problem, "problems", &plan->problem));
    TRY(cull_kit_allocate(kit, most, sizeof *plan->class, "problems", &plan->class));
    plan->here = plan->problem;
    if (cull_sel_desk_apart(&plan->desk))
        TRY(cull_kit_allocate(kit, most, sizeof *plan->here, "problems", &plan->here));
done:
    return status;
}

static void add_problem(struct plan *plan, size_t class, const cull_omp_problem *problem)
{
    plan->class[plan->problems] = class;
    plan->here[plan->problems] = *problem;
    plan->problem[plan->problems++] = *problem;
}

/* Rows by class, on the host and there. */
static cull_status sort_rows(struct plan *plan, const cull_tensor *label, size_t rows,
                             cull_sel_classes *out, cull_sel_both *row)
{
    cull_status    status = CULL_OK;
    cull_sel_desk *desk = &plan->desk;
    size_t         classes = (size_t)plan->signals->p.shape[1];
    cull_tensor    here = {0};

    TRY(cull_sel_desk_bring(desk, label, rows, &here));
    TRY(cull_sel_classes_make(cull_sel_desk_host(desk), &here, rows, classes, out));
    TRY(cull_sel_desk_copy(desk, out->row, rows, sizeof *out->row, "rows by class", row));
done:
    return status;
}

/* One problem for each class that has a budget. */
static cull_status plan_classes(struct plan *plan, size_t budget)
{
    cull_status         status = CULL_OK;
    const cull_signals *signals = plan->signals;
    const cull_target  *target = &signals->target;
    size_t              classes = (size_t)signals->p.shape[1];
    size_t             *share = NULL;

    TRY(sort_rows(plan, &signals->label, signals->count, &plan->own, &plan->own_row));
    if (plan->validation)
        TRY(sort_rows(plan, &target->label, target->count, &plan->target, &plan->target_row));
    TRY(cull_kit_allocate(cull_sel_desk_host(&plan->desk), classes, sizeof *share, "class budgets",
                          &share));
    TRY(make_problems(plan, classes));
    cull_budget_split(budget, plan->own.size, classes, share);
    for (size_t c = 0; c < classes; c++) {
        if (share[c] == 0) continue;
        add_problem(plan, c,
                    &(cull_omp_problem){.count = plan->own.size[c],
                                        .budget = share[c],
                                        .row = plan->own.row + plan->own.start[c],
                                        .column = plan->one_row ? (int32_t)c : -1});
        plan->problem[plan->problems - 1].row =
            (uint32_t *)plan->own_row.there + plan->own.start[c];
    }
done:
    return status;
}

static cull_status plan_all(struct plan *plan, size_t budget)
{
    cull_status status = CULL_OK;

    TRY(make_problems(plan, 1));
    add_problem(plan, 0,
                &(cull_omp_problem){.count = plan->signals->count, .budget = budget, .column = -1});
done:
    return status;
}

/* As many problems are solved together as a quarter of the memory holds targets for: of whole
 * gradients by class there are C, of (C, D+1) numbers each. */
static cull_status plan_targets(struct plan *plan)
{
    cull_status status = CULL_OK;
    size_t      width = (size_t)plan->signals->h.shape[1] + 1;
    cull_kit   *kit = &plan->desk.there;

    plan->b_size = plan->one_row ? width : width * (size_t)plan->signals->p.shape[1];
    plan->together = plan->options->memory / 4 / (plan->b_size * sizeof *plan->b);
    if (plan->together < 1) plan->together = 1;
    if (plan->together > plan->problems) plan->together = plan->problems;
    TRY(cull_kit_allocate(kit, plan->together, plan->b_size * sizeof *plan->b, "gradients to match",
                          &plan->b));
    TRY(cull_kit_allocate(kit, 1, sizeof *plan->trouble, "an error word", &plan->trouble));
done:
    return status;
}

static cull_status make_target(struct plan *plan, size_t number, double *b)
{
    cull_status             status = CULL_OK;
    cull_omp_problem       *problem = plan->problem + number;
    const cull_target      *target = &plan->signals->target;
    const cull_sel_classes *classes = plan->validation ? &plan->target : &plan->own;
    const cull_tensor      *h = plan->validation ? &target->h : &plan->signals->h;
    cull_tensor             p = plan->validation ? target->p : plan->signals->p;
    size_t                  all = plan->validation ? target->count : plan->signals->count;
    size_t                  rows = all;
    const uint32_t         *row = NULL;
    cull_op_args            args = {0};

    problem->h = plan->signals->h;
    problem->p = plan->signals->p;
    problem->b = b;
    if (plan->by_class) {
        size_t c = plan->class[number];
        row = (plan->validation ? plan->target_row.there : plan->own_row.there);
        row += classes->start[c];
        rows = classes->size[c];
        if (plan->one_row) {
            p.data = (char *)p.data + c * cull_dtype_size(p.dtype);
            p.shape[1] = 1;
        }
    }
    args = (cull_op_args){.gradient = {h, &p, row, rows, b}};
    TRY(cull_kit_run(&plan->desk.there, CULL_OP_GRADIENT, all, &args));
    args = (cull_op_args){.cancel = {h, &p, row, rows, b, 0, plan->trouble}};
    TRY(cull_kit_run(&plan->desk.there, CULL_OP_CANCEL, all, &args));
done:
    return status;
}

static cull_status make_targets(struct plan *plan, size_t first, size_t count)
{
    cull_status   status = CULL_OK;
    cull_backend *backend = plan->desk.backend;
    cull_trouble  trouble = {0};

    TRY(cull_backend_fill(backend, plan->trouble, 0, sizeof *plan->trouble));
    for (size_t i = 0; i < count; i++)
        TRY(make_target(plan, first + i, plan->b + i * plan->b_size));
    TRY(cull_backend_download(backend, &trouble, plan->trouble, sizeof trouble));
    if (trouble.what != CULL_WRONG_NOTHING)
        FAIL(CULL_NOT_FINITE, "the gradient of %s %zu is too large for float64",
             plan->validation ? "target example" : "example", (size_t)trouble.row);
done:
    return status;
}

/* Picks and weights of some problems, from there. */
static cull_status fetch(struct plan *plan, size_t first, size_t count)
{
    cull_status             status = CULL_OK;
    const cull_omp_problem *begin = plan->here + first, *last = begin + count - 1;
    size_t                  at = (size_t)(begin->index - (uint32_t *)plan->index.here);
    size_t                  some = (size_t)(last->index - begin->index) + last->budget;

    TRY(cull_sel_desk_fetch(&plan->desk, &plan->index, at, some));
    TRY(cull_sel_desk_fetch(&plan->desk, &plan->weight, at, some));
    for (size_t i = first; i < first + count; i++) {
        plan->here[i].picked = plan->problem[i].picked;
        plan->here[i].ridge = plan->problem[i].ridge;
    }
done:
    return status;
}

static cull_status refit(struct plan *plan, size_t first, size_t count)
{
    cull_status             status = CULL_OK;
    cull_op_args            args = {.omp = {plan->problem + first, count, plan->options}};
    const cull_omp_problem *begin = plan->here + first, *last = begin + count - 1;
    size_t                  at = (size_t)(begin->index - (uint32_t *)plan->index.here);
    size_t                  some = (size_t)(last->index - begin->index) + last->budget;

    TRY(cull_sel_desk_send(&plan->desk, &plan->index, at, some));
    TRY(cull_sel_desk_send(&plan->desk, &plan->weight, at, some));
    for (size_t i = first; i < first + count; i++) plan->problem[i].picked = plan->here[i].picked;
    TRY(cull_kit_run(&plan->desk.there, CULL_OP_REFIT, 0, &args));
    TRY(cull_sel_desk_fetch(&plan->desk, &plan->weight, at, some));
done:
    return status;
}

/* The targets of one lot make room for the next: what it lacks is filled while they are there. */
static cull_status solve(struct plan *plan)
{
    cull_status status = CULL_OK;
    size_t      most = 0;
    bool        open = false;

    for (size_t i = 0; i < plan->problems; i++)
        if (plan->problem[i].count > most) most = plan->problem[i].count;
    for (size_t first = 0; first < plan->problems; first += plan->together) {
        size_t left = plan->problems - first, count = left < plan->together ? left : plan->together;
        cull_op_args args = {.omp = {plan->problem + first, count, plan->options}};

        TRY(make_targets(plan, first, count));
        TRY(cull_kit_run(&plan->desk.there, CULL_OP_OMP, most, &args));
        TRY(cull_backend_wait(plan->desk.backend));
        TRY(fetch(plan, first, count));
        TRY(cull_match_complete(&plan->how, &plan->filler, plan->here + first, count, &open));
        if (open) TRY(refit(plan, first, count));
    }
done:
    return status;
}

/* Where picks and weights of each problem are: in `made`, and there. */
static cull_status place_results(struct plan *plan, size_t budget, cull_subset *made)
{
    cull_status    status = CULL_OK;
    cull_sel_desk *desk = &plan->desk;
    size_t         at = 0;

    TRY(cull_subset_resize(made, budget));
    TRY(cull_sel_desk_copy(desk, made->index, budget, sizeof *made->index, "a subset",
                           &plan->index));
    TRY(cull_sel_desk_copy(desk, made->weight, budget, sizeof *made->weight, "a subset",
                           &plan->weight));
    for (size_t i = 0; i < plan->problems; i++) {
        plan->problem[i].index = (uint32_t *)plan->index.there + at;
        plan->problem[i].weight = (double *)plan->weight.there + at;
        plan->here[i].index = made->index + at;
        plan->here[i].weight = made->weight + at;
        at += plan->problem[i].budget;
    }
done:
    return status;
}

static cull_status match_examples(struct plan *plan, size_t budget, cull_subset *out)
{
    cull_status      status = CULL_OK;
    const cull_self *self = plan->self;
    cull_subset      made = {0}, *to = cull_sel_desk_apart(&plan->desk) ? &made : out;

    plan->how = (cull_match_settle){.backend = cull_backend_host(plan->desk.backend),
                                    .key = cull_key_make(self->setting->seed, "fill"),
                                    .step = plan->signals->epoch,
                                    .fill = !cull_value_is(self->values, "short", "accept")};
    TRY(cull_sel_desk_places(&plan->desk, plan->signals, &plan->how.place));
    TRY(plan->by_class ? plan_classes(plan, budget) : plan_all(plan, budget));
    TRY(plan_targets(plan));
    TRY(place_results(plan, budget, to));
    TRY(solve(plan));
    cull_match_finish(&plan->how, plan->here, plan->problems, to);
    if (to != out) TRY(cull_sel_deliver(to, out));
done:
    cull_subset_clear(&made);
    return status;
}

static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    cull_status status = CULL_OK;
    struct plan plan = {.self = self, .signals = signals, .options = self->state};

    cull_sel_desk_open(&plan.desk, self->setting->backend);
    plan.one_row = cull_value_is(self->values, "scope", "class-gradient");
    plan.by_class = plan.one_row || cull_value_is(self->values, "scope", "class");
    plan.validation = cull_value_is(self->values, "match", "validation");
    TRY(cull_sel_watch_look(self));
    TRY(cull_value_is(self->values, "scope", "batch")
            ? cull_sel_match_batches(self, signals, plan.options, budget, out)
            : match_examples(&plan, budget, out));
done:
    cull_sel_desk_clear(&plan.desk);
    cull_match_filler_clear(&plan.filler);
    return status;
}

static void needs(const cull_self *self, uint64_t step, uint64_t epoch, cull_needs *out)
{
    cull_sel_matching_needs(self, step, epoch, out);
    cull_sel_minibatches_needs(self, out);
    if (cull_value_is(self->values, "scope", "class-gradient") ||
        cull_value_is(self->values, "scope", "class")) {
        out->signals |= CULL_SIGNAL_LABEL;
        if (out->target) out->target |= CULL_SIGNAL_LABEL;
    }
}

static cull_status create_grad_match(cull_self *self)
{
    cull_status       status = CULL_OK;
    cull_omp_options *pursuit = self->state;

    TRY(cull_sel_matching_options("grad-match", self->values, pursuit));
    TRY(cull_sel_minibatches_check("grad-match", self));
    pursuit->memory = (size_t)cull_value_int(self->values, "memory") << 20;
done:
    return status;
}

const cull_strategy cull_strategy_grad_match = {
    .abi = CULL_STRATEGY_ABI,
    .name = "grad-match",
    .doc = "weighted examples of the pool whose gradient matches that of the pool",
    .runs = CULL_RUNS_PERIOD,
    .traits = CULL_SEL_WAITS,
    .signals = CULL_SIGNAL_H | CULL_SIGNAL_P,
    .options = options,
    .state_size = sizeof(cull_omp_options),
    .create = create_grad_match,
    .needs = needs,
    .decide = decide,
};
