/* reproduce_watch.h - a run that is looked at, and the looks. */
#ifndef CULL_REPRODUCE_WATCH_H
#define CULL_REPRODUCE_WATCH_H

#include "reproduce/reproduce_parts.h"

struct watch {
    const reproduction *r;
    const char         *strategy;
    cull_recipe        *recipe;
    char                folder[MOST_WORD], weights[2 * MOST_WORD], audit[2 * MOST_WORD];
    progress            bar;
    bool                every_epoch, due; /* due: an epoch has ended                   */
    bool                ended, last;      /* before its time; it is the end of the run */
    uint64_t            epoch, epochs;
    double              beta;
    double             *before; /* [count] chances an epoch ago; NULL: none       */
    size_t              count;
};

cull_point watch_point(const char *panel, const char *series, double x, double y);

/* reproduce_look.c: by audits at the run's latest weights. Exit statuses. */
int look_chances(struct watch *w);
int look_losses(struct watch *w);
int look_selections(struct watch *w);
int look_confidence(struct watch *w);
int look_examples(struct watch *w);

#endif
