/* lab/compare/costs_file.c - the table of costs, frozen in the comparison's folder. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/compare/compare.h"

cull_status cull_costs_write(const cull_comparison *c, const char *path)
{
    cull_status        status = CULL_OK;
    cull_records_costs out = {.threads = c->threads,
                              .jobs = c->jobs,
                              .settled = c->settled,
                              .init = c->init,
                              .fingerprint = c->print[CULL_DATA_TRAIN],
                              .test_fingerprint = c->print[CULL_DATA_TEST],
                              .table = c->costs};

    TRY(cull_base_alloc(c->arms.count, sizeof *out.arm, "costs", &out.arm));
    TRY(cull_base_alloc(c->arms.lefts, sizeof *out.left, "costs", &out.left));
    for (size_t i = 0; i < c->arms.count; i++)
        if (c->arms.arm[i].own.known) {
            out.arm[out.arms].name = c->arms.arm[i].name;
            out.arm[out.arms++].costs = c->arms.arm[i].own;
        }
    for (; out.lefts < c->arms.lefts; out.lefts++) {
        out.left[out.lefts].name = c->arms.left[out.lefts].name;
        out.left[out.lefts].why = c->arms.left[out.lefts].why;
    }
    TRY(cull_records_costs_write(path, &out));
done:
    cull_records_costs_clear(&out);
    return status;
}

/* False: the table has no such arm. */
static bool take_own(const cull_records_costs *from, cull_arm *arm)
{
    for (size_t i = 0; i < from->arms; i++)
        if (strcmp(from->arm[i].name, arm->name) == 0) {
            arm->own = from->arm[i].costs;
            return true;
        }
    return false;
}

/* What could not be measured is not in the table, and is left out again. */
static cull_status leave_out(cull_comparison *c, const cull_records_costs *from)
{
    cull_status status = CULL_OK;
    size_t      judged = cull_arms_to_judge(&c->arms); /* 0: uniform arms alone */

    for (size_t i = 0; i < from->lefts; i++)
        for (size_t k = c->arms.count; k-- > 1;)
            if (strcmp(c->arms.arm[k].name, from->left[i].name) == 0 && !c->arms.arm[k].uniform) {
                TRY(cull_arms_note_left(&c->arms, from->left[i].name, CULL_BAD_OPTION,
                                        from->left[i].why));
                cull_arms_drop(&c->arms, k);
            }
    if (judged > 0 && cull_arms_to_judge(&c->arms) == 0)
        FAIL(CULL_BAD_FILE, "%s: its costs leave no arm", c->folder);
done:
    return status;
}

cull_status cull_costs_read(cull_comparison *c, const char *path)
{
    cull_status        status = CULL_OK;
    cull_records_costs from = {0};

    TRY(cull_records_costs_read(path, &from));
    TRY(cull_compare_check_data(c, &from));
    TRY(leave_out(c, &from));
    for (size_t i = 0; i < c->arms.count; i++)
        if (!c->arms.arm[i].uniform && !take_own(&from, &c->arms.arm[i]))
            FAIL(CULL_BAD_FILE, "%s: the costs of %s are missing or wrong", path,
                 c->arms.arm[i].name);
    if (from.init[0]) (void)snprintf(c->init, sizeof c->init, "%.16s", from.init);
    c->costs = from.table;
    c->settled = from.settled;
done:
    cull_records_costs_clear(&from);
    return status;
}
