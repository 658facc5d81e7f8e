/* records/judge/advice_verdict.c - the verdict on all arms of a comparison, beside its advice. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "records/judge/advice_parts.h"

static cull_verdict_kind kind_of(const cull_records_versus *v)
{
    for (int i = CULL_VERDICT_UNTESTED; v && i <= CULL_VERDICT_UNDECIDED; i++)
        if (strcmp(v->verdict, cull_verdict_name((cull_verdict_kind)i)) == 0)
            return (cull_verdict_kind)i;
    return CULL_VERDICT_UNTESTED;
}

/* Uniform choice itself is not; older comparisons say so by its verdict alone. */
static bool is_judged(const cull_records_arm *arm)
{
    return cull_choice_is_arm(arm) && !arm->uniform && strcmp(arm->verdict, "control") != 0;
}

static size_t count_failed(const cull_records_arm *arm)
{
    size_t failed = 0;

    for (size_t i = 0; i < arm->runs; i++) failed += cull_choice_is_failed(&arm->run[i]);
    return failed;
}

static cull_verdict_arm judged(const cull_choices *t, const cull_records_arm *arm)
{
    const cull_records_versus *v = cull_records_primary(arm);
    cull_verdict_arm           out = {.name = arm->name,
                                      .kind = kind_of(v),
                                      .difference = v ? v->difference : NAN,
                                      .cost = arm->cost,
                                      .failed = count_failed(arm)};

    if (out.kind == CULL_VERDICT_BETTER) out.bar = cull_choices_bar(t, arm);
    return out;
}

void cull_advise_verdict(const cull_records_comparison *c, const cull_yardstick *by,
                         char out[CULL_VERDICT_SENTENCE])
{
    cull_verdict_arm arm[CULL_ADVICE_MOST];
    cull_choices     t;
    size_t           count = 0, length = 0;
    double           fewest = INFINITY;

    cull_choices_find(c, by, &t);
    for (size_t i = 0; i < c->arms && count < CULL_ADVICE_MOST; i++) {
        const cull_records_versus *v = cull_records_primary(&c->arm[i]);

        if (!is_judged(&c->arm[i])) continue;
        arm[count++] = judged(&t, &c->arm[i]);
        fewest = fmin(fewest, v && v->pairs >= 0 ? v->pairs : 0);
    }
    cull_verdict_all(arm, count, fewest <= CULL_VERDICT_MOST_SEEDS ? (size_t)fewest : 0, c->margin,
                     cull_advice_is_final(c), out);
    length = strlen(out);
    if (by != &cull_yardstick_accuracy) /* which points are of unless something else is said */
        (void)snprintf(out + length, CULL_VERDICT_SENTENCE - length, " Points are of test %s.",
                       by->name);
}
