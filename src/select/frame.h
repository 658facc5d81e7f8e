/* select/frame.h - the selector itself, as the files of the frame share it. */
#ifndef CULL_SELECT_FRAME_H
#define CULL_SELECT_FRAME_H

#include "select/course.h"

typedef enum cull_sel_source {
    CULL_LOSSES_SCORED,
    CULL_LOSSES_STALE,
    CULL_LOSSES_REMEMBERED
} cull_sel_source;

struct cull_selector {
    const cull_strategy *strategy;
    void                *plugin;  /* shared object the strategy came from, or NULL */
    cull_backend        *backend; /* opened here, or NULL                          */
    cull_backend        *home;    /* as it was set: signals lie there or on the host */
    cull_setting         setting; /* as the rule sees it: its backend is where it works */
    cull_values         *values;
    cull_sel_self        self;
    char                 name[64];

    /* resolved options of the frame */
    cull_runs       runs; /* remembered over the pool runs each epoch */
    cull_sel_source source;
    double          keep;
    bool            scaled;
    uint64_t        first, last; /* window, in steps (over the pool: epochs); last is exclusive */
    uint64_t        every, stale_every, stale_first, period, warm_epochs, epochs;

    cull_sel_decision decided; /* history, as is what self holds */

    /* the frame's own operations; room for recalled losses */
    cull_kit kit;
    double  *recalled;
    uint8_t *unseen;
    size_t   recalled_room, unseen_room;

    /* what a decision is told, and tells: by somebody else's block and word, or its own */
    const cull_moment *moment;
    cull_trouble      *owner, *word;
    cull_sel_watch     watch;

    /* for what does not lie where the rule works */
    cull_sel_load fetched;
    cull_signals  seen;
    cull_subset   made;
};

/* Does the rule work there? */
static inline bool cull_sel_is_here(const cull_selector *s, cull_device device)
{
    return cull_device_same(device, cull_backend_device(s->setting.backend));
}

/* fetch.c: of signals whose shapes were checked, what is read, where the rule works: the signals
 * themselves or a copy, valid until the next call. */
cull_status cull_sel_fetch(cull_selector *s, const cull_signals *signals, const cull_needs *read,
                           const cull_signals **out);

/* watch.c: a decision begins, and what was found wrong in it until now fails here,
 * unless that is somebody else's to read: elsewhere than on the host this waits. */
cull_status cull_sel_watch_begin(cull_selector *s);
cull_status cull_sel_watch_end(cull_selector *s);

/* selector.c: the part of a selector that is history. */
cull_status cull_sel_state_make(const cull_selector *s, cull_sel_self *out);
void        cull_sel_state_drop(const cull_selector *s, cull_sel_self *self);

/* rhythm.c */
cull_status cull_sel_rhythm(cull_selector *s); /* resolve and check the frame's options */
/* Nothing is selected: outside the window, between its n-th steps, in a warm epoch. */
bool cull_sel_plain(const cull_selector *s, uint64_t step, uint64_t epoch);
/* Stale losses: is this epoch one that scores? */
bool   cull_sel_scores_now(const cull_selector *s, uint64_t epoch);
size_t cull_sel_own_budget(const cull_selector *s, size_t count);
/* May a subset hold examples of earlier signals? */
static inline bool cull_sel_carries(const cull_selector *s)
{
    return s->strategy->flush != NULL;
}
/* May a subset hold fewer than its budget? */
static inline bool cull_sel_falls_short(const cull_selector *s)
{
    return (s->strategy->traits & CULL_COMES_SHORT) || cull_value_is(s->values, "short", "accept");
}
/* As cull_selector_needs(), `decided` being the latest choice from the pool. */
void cull_sel_needs(const cull_selector *s, cull_sel_decision decided, uint64_t step,
                    uint64_t epoch, cull_needs *out);
/* The same with what the rule reads even where the plan is not to ask it. */
void cull_sel_rule_needs(const cull_selector *s, cull_sel_decision decided, uint64_t step,
                         uint64_t epoch, cull_needs *out);

/* Does the selector choose from the pool, not from each batch? */
static inline bool cull_sel_over_pool(const cull_selector *s)
{
    return s->runs != CULL_RUNS_STEP;
}
/* And from its minibatches, which are trained as they were cut? */
static inline bool cull_sel_takes_minibatches(const cull_selector *s)
{
    return cull_sel_over_pool(s) && cull_value_is(s->values, "scope", "batch");
}

#endif
