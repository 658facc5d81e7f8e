/* select/scores.c - what the rows of signals are chosen by. */
#include "select/select.h"

cull_status cull_sel_scores_take(cull_sel_scores *scores, cull_self *self,
                                 const cull_signals *signals, bool reducible)
{
    cull_status  status = CULL_OK;
    cull_kit    *kit = cull_sel_kit(self);
    size_t       rows = signals->count;
    cull_op_args args = {.score = {.rows = rows,
                                   .loss = signals->loss,
                                   .unseen = signals->unseen,
                                   .place = signals->place,
                                   .key = cull_key_make(self->setting->seed, "unseen"),
                                   .step = signals->step,
                                   .now = self->watch->step}};

    TRY(cull_kit_grow(kit, rows, sizeof *scores->x, "scores", &scores->room, &scores->x));
    if (reducible) args.score.less = signals->irreducible;
    args.score.out = scores->x;
    TRY(cull_kit_run(kit, CULL_OP_SCORE, 0, &args));
done:
    return status;
}
