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
#include "select/matching.h"

static const cull_option_spec options[] = {
    {"scope", CULL_OPTION_CHOICE, "class-gradient", 0, 0, "class-gradient|class|all|batch",
     "what is matched: each class's own row of the gradient, each class, all, whole minibatches "
     "(as many as come nearest)"},
    {CULL_MATCHING_NONNEGATIVE},
    {CULL_MATCHING_RIDGE("0.5")},
    {CULL_MATCHING_PICK},
    {CULL_MATCHING_TOLERANCE},
    {CULL_MATCHING_SHORT},
    {CULL_MATCHING_MATCH},
    {"memory", CULL_OPTION_INT, "1024", 1, 1e9, NULL,
     "most megabytes (2^20) for one problem, and for mean gradients"},
    {.key = NULL}};

/* The problems of one decision, and what they point to. */
struct plan {
    const cull_self        *self;
    const cull_signals     *signals;
    const cull_omp_options *options;
    bool                    by_class, one_row, validation;
    cull_sel_classes        own, target; /* rows by class; of the target block          */
    cull_omp_problem       *problem;
    size_t *class; /* [problems] */
    size_t            problems;
    double           *b; /* targets of `together` problems, one after another */
    size_t            b_size, together;
    cull_kit          kit;
    cull_match_settle how;
    cull_match_filler filler;
};

/* One problem for each class that has a budget. */
static cull_status plan_classes(struct plan *plan, size_t budget)
{
    cull_status         status = CULL_OK;
    const cull_signals *signals = plan->signals;
    const cull_target  *target = &signals->target;
    size_t              classes = (size_t)signals->p.shape[1];
    size_t             *share = NULL;
    cull_kit           *kit = &plan->kit;

    TRY(cull_sel_classes_make(kit, &signals->label, signals->count, classes, &plan->own));
    if (plan->validation)
        TRY(cull_sel_classes_make(kit, &target->label, target->count, classes, &plan->target));
    TRY(cull_kit_allocate(kit, classes, sizeof *share, "class budgets", &share));
    TRY(cull_kit_allocate(kit, classes, sizeof *plan->problem, "problems", &plan->problem));
    TRY(cull_kit_allocate(kit, classes, sizeof *plan->class, "problems", &plan->class));
    cull_budget_split(budget, plan->own.size, classes, share);
    for (size_t c = 0; c < classes; c++) {
        if (share[c] == 0) continue;
        plan->class[plan->problems] = c;
        plan->problem[plan->problems++] = (cull_omp_problem){
            .count = plan->own.size[c],
            .budget = share[c],
            .row = plan->own.row + plan->own.start[c],
            .column = plan->one_row ? (int32_t)c : -1,
        };
    }
done:
    return status;
}

static cull_status plan_all(struct plan *plan, size_t budget)
{
    cull_status status = CULL_OK;

    TRY(cull_kit_allocate(&plan->kit, 1, sizeof *plan->problem, "problems", &plan->problem));
    TRY(cull_kit_allocate(&plan->kit, 1, sizeof *plan->class, "problems", &plan->class));
    plan->problem[0] =
        (cull_omp_problem){.count = plan->signals->count, .budget = budget, .column = -1};
    plan->problems = 1;
done:
    return status;
}

/* As many problems are solved together as a quarter of the memory holds targets for: of whole
 * gradients by class there are C, of (C, D+1) numbers each. */
static cull_status plan_targets(struct plan *plan)
{
    cull_status status = CULL_OK;
    size_t      width = (size_t)plan->signals->h.shape[1] + 1;

    plan->b_size = plan->one_row ? width : width * (size_t)plan->signals->p.shape[1];
    plan->together = plan->options->memory / 4 / (plan->b_size * sizeof *plan->b);
    if (plan->together < 1) plan->together = 1;
    if (plan->together > plan->problems) plan->together = plan->problems;
    TRY(cull_kit_allocate(&plan->kit, plan->together, plan->b_size * sizeof *plan->b,
                          "gradients to match", &plan->b));
done:
    return status;
}

static cull_status make_target(struct plan *plan, size_t number, double *b)
{
    cull_status             status = CULL_OK;
    cull_omp_problem       *problem = plan->problem + number;
    const cull_target      *target = &plan->signals->target;
    const cull_sel_classes *classes = plan->validation ? &plan->target : &plan->own;
    cull_tensor             p = plan->validation ? target->p : plan->signals->p;
    size_t                  rows = plan->validation ? target->count : plan->signals->count;
    cull_op_args            args = {0};

    problem->h = plan->signals->h;
    problem->p = plan->signals->p;
    problem->b = b;
    args.gradient.h = plan->validation ? &target->h : &plan->signals->h;
    args.gradient.p = &p;
    args.gradient.rows = rows;
    args.gradient.b = b;
    if (plan->by_class) {
        size_t c = plan->class[number];
        args.gradient.row = classes->row + classes->start[c];
        args.gradient.rows = classes->size[c];
        if (plan->one_row) {
            p.data = (char *)p.data + c * cull_dtype_size(p.dtype);
            p.shape[1] = 1;
        }
    }
    TRY(cull_kit_run(&plan->kit, CULL_OP_GRADIENT, rows, &args));
    TRY(cull_sel_cancel(&args, plan->validation ? "target example" : "example"));
done:
    return status;
}

/* The targets of one lot make room for the next: what it lacks is filled while they are there. */
static cull_status solve(struct plan *plan)
{
    cull_status status = CULL_OK;
    size_t      most = 0;

    for (size_t i = 0; i < plan->problems; i++)
        if (plan->problem[i].count > most) most = plan->problem[i].count;
    for (size_t first = 0; first < plan->problems; first += plan->together) {
        size_t left = plan->problems - first, count = left < plan->together ? left : plan->together;
        cull_op_args args = {.omp = {plan->problem + first, count, plan->options}};

        for (size_t i = 0; i < count; i++)
            TRY(make_target(plan, first + i, plan->b + i * plan->b_size));
        TRY(cull_kit_run(&plan->kit, CULL_OP_OMP, most, &args));
        TRY(cull_match_fill(&plan->how, &plan->filler, plan->options, plan->problem + first,
                            count));
    }
done:
    return status;
}

static cull_status match_examples(struct plan *plan, size_t budget, cull_subset *out)
{
    cull_status      status = CULL_OK;
    const cull_self *self = plan->self;
    size_t           at = 0;

    plan->how = (cull_match_settle){.backend = self->setting->backend,
                                    .place = plan->signals->place,
                                    .key = cull_key_make(self->setting->seed, "fill"),
                                    .step = plan->signals->epoch,
                                    .fill = !cull_value_is(self->values, "short", "accept")};
    TRY(plan->by_class ? plan_classes(plan, budget) : plan_all(plan, budget));
    TRY(plan_targets(plan));
    TRY(cull_subset_resize(out, budget));
    for (size_t i = 0; i < plan->problems; i++) {
        plan->problem[i].index = out->index + at;
        plan->problem[i].weight = out->weight + at;
        at += plan->problem[i].budget;
    }
    TRY(solve(plan));
    cull_match_finish(&plan->how, plan->problem, plan->problems, out);
done:
    return status;
}

static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    cull_status status = CULL_OK;
    struct plan plan = {.self = self,
                        .signals = signals,
                        .options = self->state,
                        .kit.backend = self->setting->backend};

    plan.one_row = cull_value_is(self->values, "scope", "class-gradient");
    plan.by_class = plan.one_row || cull_value_is(self->values, "scope", "class");
    plan.validation = cull_value_is(self->values, "match", "validation");
    TRY(cull_value_is(self->values, "scope", "batch")
            ? cull_sel_match_batches(self, signals, plan.options, budget, out)
            : match_examples(&plan, budget, out));
done:
    cull_kit_clear(&plan.kit);
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
    .traits = CULL_HOST_SIGNALS,
    .signals = CULL_SIGNAL_H | CULL_SIGNAL_P,
    .options = options,
    .state_size = sizeof(cull_omp_options),
    .create = create_grad_match,
    .needs = needs,
    .decide = decide,
};
