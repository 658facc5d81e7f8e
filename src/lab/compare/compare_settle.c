/*
 * lab/compare/compare_settle.c - costs that only an arm's own runs tell.
 *
 * Where a rule decides while it trains how many examples it keeps, or whether it selects at all,
 * the price before the first run is a guess, and controls made for a guess would be given more or
 * less than the arm took. Such arms, and the other arms beside them, are run first; then the mean
 * of what they did is priced by the table, frozen with it, and the controls are made for that.
 */
#include "lab/compare/compare.h"

bool cull_compare_is_guess(const cull_arm *arm)
{
    return arm->role == CULL_ROLE_ARM && !arm->uniform && !arm->price.fixed && !arm->own.counted;
}

bool cull_compare_guesses(const cull_comparison *c)
{
    for (size_t i = 0; i < c->arms.count; i++)
        if (cull_compare_is_guess(&c->arms.arm[i])) return true;
    return false;
}

/* All arms, so that the list of runs is another only when it was gone through. */
static bool all_tried(const cull_comparison *c)
{
    for (size_t i = 0; i < c->arms.count; i++)
        for (uint64_t seed = 1; c->arms.arm[i].role == CULL_ROLE_ARM && seed <= c->seeds; seed++) {
            cull_records_state state = cull_compared_at(c, i, seed)->record.state;
            if (state < CULL_RECORDS_FINISHED) return false;
        }
    return true;
}

/* The mean over the runs that are there; without any the guess stands, for an arm without result.
 */
static void count_runs(const cull_comparison *c, size_t i)
{
    cull_arm_costs    *own = &c->arms.arm[i].own;
    cull_compared_mean mean;

    cull_compare_mean(c, i, &mean);
    if (mean.runs == 0) return;
    own->counted = true;
    own->scored = mean.scored;
    own->trained = mean.trained;
    own->thirds = mean.thirds;
    own->examples = mean.examples;
}

cull_status cull_compare_settle(cull_comparison *c)
{
    cull_status status = CULL_OK;

    if (c->settled || !all_tried(c)) goto done;
    for (size_t i = 0; i < c->arms.count; i++)
        if (cull_compare_is_guess(&c->arms.arm[i])) count_runs(c, i);
    c->settled = true;
    TRY(cull_compare_make_plan(c));
    TRY(cull_compare_write_files(c));
    TRY(cull_compare_read_runs(c));
done:
    return status;
}
