/* lab/compare/compare_judge.c - from runs to figures: means, paired differences, verdicts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/compare/compare.h"
#include "records/judge/statistics.h"

enum { WILCOXON_FROM = 6 };
#define OFF .03 /* a run whose counted work is off by more was not matched */

const double cull_compare_factor[CULL_COMPARE_FACTORS] = {1.1, 1.2, 1.4};

/* The full run's accuracy nearest to a share of its steps, if one was taken within a step. */
static void read_early_stop(const cull_comparison *c, size_t arm, uint64_t seed)
{
    const cull_compared      *full = cull_compared_at(c, 0, seed);
    const cull_records_curve *test = &full->record.curves.of[CULL_RECORDS_TEST];
    cull_compared            *out = cull_compared_at(c, arm, seed);
    double                    step = c->arms.arm[arm].share * (double)c->arms.arm[0].price.steps;

    *out = (cull_compared){.record.state = full->record.state, .accuracy = NAN, .best = NAN};
    memcpy(out->record.why, full->record.why, sizeof out->record.why);
    if (!cull_compared_finished(full)) return;
    for (size_t i = 0; i < test->count; i++) {
        if (test->look[i].step > step + 1) break;
        out->best = fmax(out->best, test->look[i].accuracy);
        if (fabs(test->look[i].step - step) <= 1) out->accuracy = test->look[i].accuracy;
    }
    out->record.info.work.trained = full->record.info.work.trained * c->arms.arm[arm].share;
    out->record.info.work.thirds = full->record.info.work.thirds * c->arms.arm[arm].share;
    out->record.info.work.tokens_trained =
        full->record.info.work.tokens_trained * c->arms.arm[arm].share;
    out->record.info.work.token_thirds =
        full->record.info.work.token_thirds * c->arms.arm[arm].share;
    if (isnan(out->accuracy))
        cull_records_run_doubt(&out->record, "the full run was not evaluated at this cost");
}

/* Means over the seeds that are there; the cost, where the rule decides how many are kept, by what
 * was counted. */
static cull_status sum_up(cull_comparison *c, size_t arm)
{
    const cull_arm    *a = &c->arms.arm[arm], *full = &c->arms.arm[0];
    cull_records_arm  *j = &c->value.is.arm[arm];
    cull_status        status = CULL_OK;
    cull_compared_mean mean;

    cull_compare_mean(c, arm, &mean);
    j->mean = cull_stat_mean(mean.accuracy, mean.runs);
    j->sd = cull_stat_sd(mean.accuracy, mean.runs);
    j->best = mean.runs ? mean.best : NAN;
    j->measured = mean.runs ? mean.seconds : NAN; /* until full's is known */
    j->cost = a->price.seconds / full->price.seconds;
    j->counted = a->price.thirds / full->price.thirds;
    if (mean.runs == 0) goto done;
    /* a shortened run ends at the nearest step */
    if ((c->settled || !cull_compare_is_guess(a)) &&
        fabs(mean.thirds - a->price.thirds) >
            fmax(OFF * a->price.thirds, 3. * (double)full->recipe->setup.batch))
        TRY(cull_records_say(&c->value.is.problems,
                             "%s took %.3f of full training's counted work and was matched at %.3f",
                             a->name, mean.thirds / full->price.thirds, j->counted));
    j->counted = mean.thirds / full->price.thirds;
    if (!a->price.fixed) j->cost *= mean.thirds / a->price.thirds;
done:
    return status;
}

/* Where scaled batches are chosen from in a part of the run only, the rest of the control is
 * trained in batches as wide. */
static cull_status check_steps(cull_comparison *c, const cull_arm *a, const cull_arm *control)
{
    double steps = (double)a->price.steps, others = (double)control->price.steps;

    if (!a->price.fixed || a->price.pool || control == c->arms.arm ||
        fabs(steps - others) <= OFF * steps)
        return CULL_OK;
    return cull_records_say(&c->value.is.problems, "%s makes %.0f steps, but its control %s %.0f",
                            a->name, steps, control->name, others);
}

/* Batches of some sizes are so slow, or a pool so small, that no uniform choice costs the same. */
static cull_status check_match(cull_comparison *c, size_t arm)
{
    const cull_arm *a = &c->arms.arm[arm], *control = NULL;
    double          full = c->arms.arm[0].price.seconds, ratio = 0;
    cull_status     status = CULL_OK;

    if (a->role != CULL_ROLE_ARM || a->uniform || (!c->settled && cull_compare_is_guess(a)))
        goto done;
    control = &c->arms.arm[a->control[CULL_ROLE_WHOLE_BUDGET]];
    TRY(check_steps(c, a, control));
    ratio = control->price.seconds / a->price.seconds;
    if (ratio <= 1 + OFF && (ratio * (1 + OFF) >= 1 || control == c->arms.arm)) goto done;
    TRY(cull_records_say(&c->value.is.problems,
                         "%s costs %.3f of full training, and the nearest uniform choice, %s, %.3f",
                         a->name, a->price.seconds / full, control->name,
                         control->price.seconds / full));
done:
    return status;
}

static cull_status price_at(const cull_comparison *c, size_t arm, const uint64_t *step,
                            size_t count, double *cost)
{
    cull_status     status = CULL_OK;
    const cull_arm *a = &c->arms.arm[arm];
    double          full = c->arms.arm[0].price.seconds;
    cull_price      price = {0};
    cull_priced     run = cull_arm_priced(a->recipe);

    run.own = a->own;
    TRY(cull_costs_price(&c->costs, &run, step, count, cost, &price));
    /* What was known only afterwards is spread over the run. */
    if (!a->price.fixed && count) full = cost[count - 1] / c->value.is.arm[arm].cost;
    for (size_t i = 0; i < count; i++) cost[i] /= full;
done:
    return status;
}

/* The mean error at a step over the runs that were looked at there. */
static double mean_error(const cull_comparison *c, size_t arm, double step)
{
    double error = 0;
    size_t runs = 0;

    for (uint64_t seed = 1; seed <= c->seeds; seed++) {
        const cull_compared      *run = cull_compared_at(c, arm, seed);
        const cull_records_curve *test = &run->record.curves.of[CULL_RECORDS_TEST];

        for (size_t k = 0; cull_compared_finished(run) && k < test->count; k++)
            if (test->look[k].step == step) {
                error += 100 - 100 * test->look[k].accuracy;
                runs++;
            }
    }
    return error / (double)runs;
}

/* Cost to reach so many times the full run's final error, on the mean curve. */
static cull_status reach(cull_comparison *c, size_t arm)
{
    cull_status               status = CULL_OK;
    const cull_records_curve *first = NULL;
    double                   *cost = NULL, *error = NULL, full = 100 - c->value.is.arm[0].mean;
    uint64_t                 *step = NULL;
    cull_records_arm         *j = &c->value.is.arm[arm];

    for (size_t f = 0; f < CULL_COMPARE_FACTORS; f++) j->to_error[f] = NAN;
    for (uint64_t seed = c->seeds; seed >= 1; seed--)
        if (cull_compared_finished(cull_compared_at(c, arm, seed)))
            first = &cull_compared_at(c, arm, seed)->record.curves.of[CULL_RECORDS_TEST];
    if (!first || !c->arms.arm[arm].recipe || isnan(full)) goto done;
    TRY(cull_base_alloc(first->count, sizeof *cost, "a curve", &cost));
    TRY(cull_base_alloc(first->count, sizeof *error, "a curve", &error));
    TRY(cull_base_alloc(first->count, sizeof *step, "a curve", &step));
    for (size_t i = 0; i < first->count; i++) {
        step[i] = (uint64_t)first->look[i].step;
        error[i] = mean_error(c, arm, first->look[i].step);
    }
    TRY(price_at(c, arm, step, first->count, cost));
    for (size_t f = 0; f < CULL_COMPARE_FACTORS; f++)
        j->to_error[f] = cull_stat_reach(cost, error, first->count, cull_compare_factor[f] * full);
done:
    cull_base_free(cost);
    cull_base_free(error);
    cull_base_free(step);
    return status;
}

static void compare_with(const cull_comparison *c, size_t arm, size_t control,
                         cull_records_versus *v)
{
    cull_stat_paired test = {0};
    double           values[CULL_COMPARE_SEEDS];
    size_t           pairs = 0;

    for (uint64_t seed = 1; seed <= c->seeds; seed++) {
        const cull_compared *a = cull_compared_at(c, arm, seed);
        const cull_compared *b = cull_compared_at(c, control, seed);
        if (cull_compared_finished(a) && cull_compared_finished(b))
            values[pairs++] = 100 * (a->accuracy - b->accuracy);
    }
    test = cull_stat_test(values, pairs,
                          cull_yardstick_step(cull_compare_yardstick(c), (double)c->costs.test));
    cull_stat_interval(&test, .95, &v->low, &v->high);
    v->pairs = (double)test.n;
    v->difference = test.mean;
    v->sd = test.sd;
    v->p = test.p;
    v->wilcoxon = pairs >= WILCOXON_FROM ? cull_stat_wilcoxon(values, pairs) : NAN;
}

/* The arm's comparison that the verdict is on; only uniform choice of as many stands before it. */
static cull_records_versus *primary(const cull_comparison *c, size_t arm)
{
    return &c->value.is.arm[arm].versus[c->arms.arm[arm].control[CULL_ROLE_SAME_M] != SIZE_MAX];
}

static bool has_failed(const cull_compared *run)
{
    return run->record.state == CULL_RECORDS_FAILED || run->record.state == CULL_RECORDS_CORRUPT;
}

static void give_verdict(cull_comparison *c, size_t arm, double holm)
{
    cull_records_arm    *j = &c->value.is.arm[arm];
    cull_verdict        *verdict = &c->value.verdict[arm];
    cull_records_versus *v = primary(c, arm);
    cull_stat_paired test = {.n = (size_t)v->pairs, .mean = v->difference, .sd = v->sd, .p = v->p};
    char             name[CULL_ARM_NAME + 40];

    (void)snprintf(name, sizeof name, "%s%s", v->control,
                   c->arms.arm[arm].control[CULL_ROLE_WHOLE_BUDGET] ? " at the same cost"
                   : j->cost < 1                                    ? " training"
                                 : " training, which costs no more");
    cull_verdict_judge(&test, holm, c->margin, j->name, name, verdict);
    v->p_holm = holm;
    v->verdict = j->verdict = cull_verdict_name(verdict->kind);
    v->more_seeds = verdict->more ? (double)verdict->more : NAN;
    v->sentence = verdict->sentence;
}

/* Holm over the arms' primary comparisons, then a verdict each. */
static void give_verdicts(cull_comparison *c)
{
    double p[CULL_ARM_MOST] = {0};
    size_t who[CULL_ARM_MOST], count = 0;

    for (size_t i = 0; i < c->arms.count; i++)
        if (c->arms.arm[i].role == CULL_ROLE_ARM && !c->arms.arm[i].uniform) {
            who[count] = i;
            p[count++] = primary(c, i)->p;
        }
    cull_stat_holm(p, count, p);
    for (size_t k = 0; k < count; k++) give_verdict(c, who[k], p[k]);
}

static void mark_frontier(cull_comparison *c)
{
    double cost[CULL_ARM_MOST], mean[CULL_ARM_MOST];
    bool   on[CULL_ARM_MOST];

    for (size_t i = 0; i < c->arms.count; i++) {
        cost[i] = c->value.is.arm[i].cost;
        mean[i] = c->value.is.arm[i].mean;
    }
    cull_stat_pareto(cost, mean, c->arms.count, on);
    for (size_t i = 0; i < c->arms.count; i++) c->value.is.arm[i].pareto = on[i];
}

static cull_status name_problems(cull_comparison *c)
{
    cull_status status = CULL_OK;

    for (size_t arm = 0; arm < c->arms.count; arm++)
        for (uint64_t seed = 1; c->arms.arm[arm].recipe && seed <= c->seeds; seed++) {
            const cull_records_run *run = &cull_compared_at(c, arm, seed)->record;

            if (has_failed(cull_compared_at(c, arm, seed)))
                TRY(cull_records_say(&c->value.is.problems, "runs/%s/seed-%llu: %s",
                                     c->arms.arm[arm].folder, (unsigned long long)seed, run->why));
        }
done:
    return status;
}

cull_status cull_compare_judge(cull_comparison *c)
{
    cull_status       status = CULL_OK;
    double            full = 0;
    cull_records_arm *arm = c->value.is.arm;

    c->verdict[0] = c->advice[0] = '\0';
    TRY(cull_compare_name_left(c));
    TRY(name_problems(c));
    for (size_t i = 0; i < c->arms.count; i++) {
        for (uint64_t seed = 1; seed <= c->seeds; seed++)
            if (!c->arms.arm[i].recipe) read_early_stop(c, i, seed);
        TRY(sum_up(c, i));
        TRY(check_match(c, i));
    }
    full = arm[0].measured;
    for (size_t i = 0; i < c->arms.count; i++) {
        size_t k = 0;

        arm[i].measured = c->arms.arm[i].recipe && full > 0 ? 1 - arm[i].measured / full : NAN;
        TRY(reach(c, i));
        for (cull_role role = CULL_ROLE_SAME_M; role < CULL_ROLES; role++)
            if (c->arms.arm[i].control[role] != SIZE_MAX)
                compare_with(c, i, c->arms.arm[i].control[role], &arm[i].versus[k++]);
    }
    give_verdicts(c);
    mark_frontier(c);
done:
    return status;
}
