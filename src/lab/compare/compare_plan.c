/* lab/compare/compare_plan.c - what will be run, and what that will take. */
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "lab/compare/compare.h"

void cull_compare_clear_unmeasured(cull_comparison *c)
{
    for (size_t i = 0; i < c->waiting; i++) cull_recipe_close(c->unmeasured[i].recipe);
    c->waiting = 0;
}

void cull_compare_drop_runs(cull_comparison *c)
{
    for (size_t i = 0; c->run && i < c->arms.count * c->seeds; i++)
        cull_records_run_clear(&c->run[i].record);
    cull_base_free(c->run);
    c->run = NULL;
    cull_compare_clear_value(c);
}

static void make_title(cull_comparison *c)
{
    const cull_train_setup *s = &c->arms.arm[0].recipe->setup;
    const char             *slash = strrchr(s->data, '/');

    (void)snprintf(c->title, sizeof c->title, "%.40s on %.60s, %llu epoch%s, batch %zu", s->model,
                   slash ? slash + 1 : s->data, (unsigned long long)s->epochs,
                   s->epochs == 1 ? "" : "s", s->batch);
}

cull_status cull_compare_make_plan(cull_comparison *c)
{
    cull_status status = CULL_OK;

    cull_compare_clear_unmeasured(c);
    cull_compare_drop_runs(c);
    c->planned = false; /* until it is whole */
    TRY(cull_arms_control(&c->base, &c->costs, &c->arms));
    TRY(cull_base_alloc(c->arms.count * c->seeds, sizeof *c->run, "a comparison", &c->run));
    c->settled = c->settled || !cull_compare_guesses(c);
    make_title(c);
    TRY(cull_compare_make_value(c));
    TRY(cull_compare_print_plan(c));
    c->planned = true;
done:
    return status;
}

const char *cull_comparison_plan(const cull_comparison *c)
{
    return c->planned ? (const char *)c->plan.bytes.data : NULL;
}

/* Evaluations are no cost, but take their time; a forward pass is a third of learning. */
double cull_compare_run_seconds(const cull_comparison *c, size_t arm)
{
    const cull_arm         *a = &c->arms.arm[arm];
    const cull_train_setup *s = &c->arms.arm[0].recipe->setup;
    double looks = (double)(s->epochs / s->evaluate_every), batch = (double)s->batch;
    double forward = cull_costs_learn(&c->costs, batch) / batch / 3;

    if (a->role == CULL_ROLE_EARLY_STOP) return 0;
    if (arm == 0) looks += (double)s->moments;
    if (a->role == CULL_ROLE_SHORTENED) looks *= a->share;
    return c->costs.start + a->price.seconds +
           fmax(1, looks) * (double)(c->costs.test + c->costs.validation) *
               (forward + c->costs.load);
}

double cull_compare_seconds(const cull_comparison *c)
{
    double sum = 0;

    for (size_t i = 0; i < c->arms.count; i++) sum += cull_compare_run_seconds(c, i);
    return sum * (double)c->seeds / c->jobs;
}

double cull_compare_bytes(const cull_comparison *c)
{
    const cull_train_setup *s = &c->arms.arm[0].recipe->setup;
    /* weights, best weights, the optimizer's buffer; selection.npz, what is remembered; logs */
    double weights = (s->keeps ? 8. : 0) + (s->keeps_best ? 4. : 0);
    double run = weights * (double)c->costs.parameters + 48. * (double)c->costs.pool + 65536;
    size_t runs = 0;

    for (size_t i = 0; i < c->arms.count; i++) runs += c->arms.arm[i].recipe != NULL;
    return run * (double)(runs * c->seeds);
}

cull_status cull_compare_name_left(cull_comparison *c)
{
    cull_status status = CULL_OK;

    cull_records_list_clear(&c->value.is.problems);
    for (size_t i = 0; i < c->arms.lefts; i++)
        TRY(cull_records_say(&c->value.is.problems, "%s is left out: %s", c->arms.left[i].name,
                             c->arms.left[i].why));
    for (size_t i = 1; i < c->arms.count; i++)
        if (c->arms.arm[i].own.diverged)
            TRY(cull_records_say(&c->value.is.problems,
                                 "%s: the loss was no longer finite while steps were measured; "
                                 "they were measured at the first weights",
                                 c->arms.arm[i].name));
done:
    return status;
}
