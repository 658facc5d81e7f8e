/* lab/compare/costs_file.c - the table of costs, frozen in the comparison's folder. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/compare/compare.h"

static cull_records_own own_of(const cull_arm *arm)
{
    const cull_arm_costs *own = &arm->own;

    return (cull_records_own){.name = arm->name,
                              .score = own->score,
                              .decide = own->decide,
                              .learn_kept = own->learn_kept,
                              .pool_score = own->pool_score,
                              .pool_solve = own->pool_solve,
                              .share = own->share,
                              .diverged = own->diverged,
                              .scored = own->counted ? own->scored : NAN,
                              .trained = own->counted ? own->trained : NAN,
                              .thirds = own->counted ? own->thirds : NAN};
}

cull_status cull_costs_write(const cull_comparison *c, const char *path)
{
    cull_status        status = CULL_OK;
    const cull_costs  *k = &c->costs;
    cull_records_costs out = {.threads = c->threads,
                              .jobs = c->jobs,
                              .settled = c->settled,
                              .init = c->init,
                              .pool = (double)k->pool,
                              .validation = (double)k->validation,
                              .test = (double)k->test,
                              .classes = (double)k->classes,
                              .parameters = (double)k->parameters,
                              .start = k->start,
                              .waited = k->waited,
                              .load = k->load,
                              .optim = k->optim};

    TRY(cull_base_alloc(k->sizes, sizeof *out.learn, "costs", &out.learn));
    TRY(cull_base_alloc(c->arms.count, sizeof *out.arm, "costs", &out.arm));
    TRY(cull_base_alloc(c->arms.lefts, sizeof *out.left, "costs", &out.left));
    for (; out.sizes < k->sizes; out.sizes++)
        out.learn[out.sizes] =
            (cull_records_size){(double)k->learn[out.sizes].batch, k->learn[out.sizes].seconds};
    for (size_t i = 0; i < c->arms.count; i++)
        if (c->arms.arm[i].own.known) out.arm[out.arms++] = own_of(&c->arms.arm[i]);
    for (; out.lefts < c->arms.lefts; out.lefts++)
        out.left[out.lefts] =
            (cull_records_left){c->arms.left[out.lefts].name, c->arms.left[out.lefts].why};
    TRY(cull_records_costs_write(path, &out));
done:
    cull_records_costs_clear(&out);
    return status;
}

static cull_status take_shared(const char *path, const cull_records_costs *from, cull_costs *out)
{
    *out = (cull_costs){.pool = (size_t)from->pool,
                        .validation = (size_t)from->validation,
                        .test = (size_t)from->test,
                        .classes = (size_t)from->classes,
                        .parameters = (size_t)from->parameters,
                        .start = from->start,
                        .waited = from->waited,
                        .load = from->load,
                        .optim = from->optim};
    for (size_t i = 0; i < from->sizes; i++)
        if (!cull_costs_add(out, (size_t)from->learn[i].batch, from->learn[i].seconds))
            return cull_fail(CULL_BAD_FILE, "%s: more than %d sizes", path, CULL_COST_SIZES);
    return CULL_OK;
}

/* False: the table has no such arm. */
static bool take_own(const cull_records_costs *from, cull_arm *arm)
{
    for (size_t i = 0; i < from->arms; i++) {
        const cull_records_own *own = &from->arm[i];

        if (strcmp(own->name, arm->name) != 0) continue;
        arm->own = (cull_arm_costs){.known = true,
                                    .score = own->score,
                                    .decide = own->decide,
                                    .learn_kept = own->learn_kept,
                                    .pool_score = own->pool_score,
                                    .pool_solve = own->pool_solve,
                                    .share = own->share,
                                    .diverged = own->diverged,
                                    .counted = !isnan(own->trained),
                                    .scored = own->scored,
                                    .trained = own->trained,
                                    .thirds = own->thirds};
        return true;
    }
    return false;
}

/* What could not be measured is not in the table, and is left out again. */
static cull_status leave_out(cull_comparison *c, const cull_records_costs *from)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; i < from->lefts; i++)
        for (size_t k = c->arms.count; k-- > 1;)
            if (strcmp(c->arms.arm[k].name, from->left[i].name) == 0 && !c->arms.arm[k].uniform) {
                TRY(cull_arms_note_left(&c->arms, from->left[i].name, from->left[i].why));
                cull_arms_drop(&c->arms, k);
            }
    if (cull_arms_to_judge(&c->arms) == 0)
        FAIL(CULL_BAD_FILE, "%s: its costs leave no arm", c->folder);
done:
    return status;
}

cull_status cull_costs_read(cull_comparison *c, const char *path)
{
    cull_status        status = CULL_OK;
    cull_records_costs from = {0};
    cull_costs         costs = {0};

    TRY(cull_records_costs_read(path, &from));
    TRY(take_shared(path, &from, &costs));
    TRY(leave_out(c, &from));
    for (size_t i = 0; i < c->arms.count; i++)
        if (!c->arms.arm[i].uniform && !take_own(&from, &c->arms.arm[i]))
            FAIL(CULL_BAD_FILE, "%s: the costs of %s are missing or wrong", path,
                 c->arms.arm[i].name);
    if (from.init[0]) (void)snprintf(c->init, sizeof c->init, "%.16s", from.init);
    c->costs = costs;
    c->settled = from.settled;
done:
    cull_records_costs_clear(&from);
    return status;
}
