/* select/scores.c - what the rows of signals are chosen by. */
#include "select/select.h"

cull_status cull_sel_scores_take(cull_sel_scores *scores, const cull_self *self,
                                 const cull_signals *signals, bool reducible)
{
    cull_status  status = CULL_OK;
    size_t       rows = signals->count;
    cull_op_args args = {.score = {.rows = rows,
                                   .loss = signals->loss,
                                   .unseen = signals->unseen,
                                   .place = signals->place,
                                   .key = cull_key_make(self->setting->seed, "unseen"),
                                   .step = signals->step,
                                   .now = self->watch->step}};

    TRY(cull_sel_room(self->setting->backend, rows, sizeof *scores->x, &scores->room, &scores->x));
    if (reducible) args.score.less = signals->irreducible;
    args.score.out = scores->x;
    TRY(cull_sel_run(self->setting->backend, &(cull_op_desc){.kind = CULL_OP_SCORE}, &args,
                     &scores->op));
done:
    return status;
}

void cull_sel_scores_clear(cull_sel_scores *scores, const cull_self *self)
{
    cull_op_destroy(scores->op);
    cull_backend_release(self->setting->backend, scores->x);
}
