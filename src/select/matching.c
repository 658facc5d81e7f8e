/* select/matching.c - options that matching strategies share, and one minibatch matched. */
#include "select/matching.h"

#include <stdlib.h>
#include <string.h>

cull_status cull_sel_matching_options(const char *owner, const cull_values *values,
                                      cull_omp_options *out)
{
    cull_status status = CULL_OK;
    bool        nonnegative = cull_value_is(values, "nonnegative", "omp");
    const char *ridge = cull_value_text(values, "ridge");
    size_t      word = strlen(CULL_MATCHING_ABSOLUTE);
    bool        absolute = strncmp(ridge, CULL_MATCHING_ABSOLUTE, word) == 0;

    *out = (cull_omp_options){.ridge = absolute ? strtod(ridge + word, NULL)
                                                : cull_value_real(values, "ridge"),
                              .absolute = absolute,
                              .tolerance = cull_value_real(values, "tolerance"),
                              .nonnegative = nonnegative};
    if (nonnegative && cull_value_is(values, "pick", "abs"))
        FAIL(CULL_BAD_OPTION, "%s: pick=abs goes with nonnegative=clip only", owner);
    out->pick =
        nonnegative || cull_value_is(values, "pick", "signed") ? CULL_PICK_SIGNED : CULL_PICK_ABS;
done:
    return status;
}

void cull_sel_matching_needs(const cull_self *self, uint64_t step, uint64_t epoch, cull_needs *out)
{
    (void)step;
    (void)epoch;
    if (cull_value_is(self->values, "match", "validation"))
        out->target |= CULL_SIGNAL_H | CULL_SIGNAL_P;
}

cull_status cull_sel_match(cull_self *self, const cull_signals *signals,
                           const cull_omp_options *options, cull_match_weights weights,
                           size_t budget, cull_subset *out)
{
    cull_status  status = CULL_OK;
    cull_op_desc desc = {.kind = CULL_OP_MATCH,
                         .rows = signals->count,
                         .width = (size_t)signals->h.shape[1],
                         .classes = (size_t)signals->p.shape[1],
                         .picks = budget};
    cull_op_args args = {.match = {.rows = signals->count,
                                   .budget = budget,
                                   .h = signals->h,
                                   .p = signals->p,
                                   .place = signals->place,
                                   .options = *options,
                                   .weights = weights,
                                   .fill = !cull_value_is(self->values, "short", "accept"),
                                   .key = cull_key_make(self->setting->seed, "fill"),
                                   .step = signals->step,
                                   .now = self->watch->moment,
                                   .trouble = self->watch->trouble}};

    if (cull_value_is(self->values, "match", "validation")) {
        args.match.target_h = signals->target.h;
        args.match.target_p = signals->target.p;
        args.match.targets = signals->target.count;
    }
    TRY(cull_subset_resize(out, budget));
    TRY(cull_sel_subset_late(out));
    args.match.index = out->index;
    args.match.weight = out->weight;
    args.match.outcome = out->outcome;
    TRY(cull_kit_run_for(cull_sel_kit(self), &desc, &args));
done:
    return status;
}

cull_status cull_sel_cancel(const cull_op_args *args, const char *whose)
{
    size_t broken = SIZE_MAX;

    cull_match_cancel(args, &broken);
    if (broken == SIZE_MAX) return CULL_OK;
    return cull_fail(CULL_NOT_FINITE, "the gradient of %s %zu is too large for float64", whose,
                     broken);
}
