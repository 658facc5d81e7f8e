/* select/watch.c - what a decision's operations are told when they run, and what they find wrong.
 */
#include <stdio.h>

#include "select/frame.h"

void cull_sel_trouble(cull_selector *selector, cull_trouble *trouble)
{
    selector->owner = trouble;
}

void cull_sel_moment(cull_selector *selector, const cull_moment *moment)
{
    selector->moment = moment;
}

/* What needs to be heeded shows in the needs, unless losses are told of every step anyway. */
bool cull_sel_records(const cull_selector *selector)
{
    bool hidden = selector->self.heed && selector->source == CULL_LOSSES_REMEMBERED;

    return selector->setting.backend == selector->home && cull_backend_records(selector->home) &&
           !(selector->strategy->traits & CULL_SEL_WAITS) && !cull_sel_falls_short(selector) &&
           !hidden;
}

cull_status cull_sel_heed(cull_selector *selector)
{
    cull_sel_self *self = &selector->self;

    return self->heed ? self->heed(&self->base) : CULL_OK;
}

/* Is somebody else to read what is found wrong? */
static bool is_owned(const cull_selector *s)
{
    return s->owner && s->setting.backend == s->home;
}

cull_status cull_sel_watch_begin(cull_selector *s)
{
    cull_status        status = CULL_OK;
    cull_backend      *backend = s->setting.backend;
    const cull_moment *moment = backend == s->home ? s->moment : NULL;

    s->watch = (cull_sel_watch){.moment = moment, .trouble = s->owner};
    if (moment) {
        s->watch.epoch = &moment->epoch;
        s->watch.step = cull_sel_over_pool(s) ? &moment->epoch : &moment->step;
    }
    if (is_owned(s)) return CULL_OK;
    s->watch.trouble = s->word;
    TRY(cull_backend_fill(backend, s->word, 0, sizeof *s->word));
done:
    return status;
}

cull_status cull_sel_watch_end(cull_selector *s)
{
    cull_status  status = CULL_OK;
    cull_trouble trouble = {0};

    if (is_owned(s)) return CULL_OK;
    TRY(cull_backend_download(s->setting.backend, &trouble, s->word, sizeof trouble));
    TRY(cull_sel_trouble_fail(&trouble, s->setting.pool));
    TRY(cull_sel_heed(s));
done:
    return status;
}

cull_status cull_sel_watch_look(const cull_self *self)
{
    cull_status  status = CULL_OK;
    cull_trouble trouble = {0};

    TRY(cull_backend_download(self->setting->backend, &trouble, self->watch->trouble,
                              sizeof trouble));
    TRY(cull_sel_trouble_fail(&trouble, self->setting->pool));
done:
    return status;
}

static const char *name_of(uint64_t which, bool target)
{
    for (const cull_sel_array *a = cull_sel_arrays; a->name; a++)
        if (a->target == target && (which & a->signal)) return a->name;
    return "a signal";
}

cull_status cull_sel_trouble_fail(const cull_trouble *trouble, size_t pool)
{
    bool        target = trouble->which & CULL_TROUBLE_TARGET;
    const char *name = name_of(trouble->which, target);
    size_t      row = (size_t)trouble->row;
    char        whose[64];

    if (trouble->what != CULL_WRONG_SIGNAL) return CULL_OK;
    (void)snprintf(whose, sizeof whose, target ? "target example %zu" : "example %zu (place %u)",
                   row, (unsigned)trouble->place);
    if (trouble->which & CULL_TROUBLE_PLACE)
        return cull_fail(CULL_BAD_ARGUMENT, "example %zu has place %u, but the pool has %zu", row,
                         (unsigned)trouble->place, pool);
    if (trouble->which & CULL_TROUBLE_APART)
        return cull_fail(CULL_NOT_FINITE,
                         "the gradients are too large or too far apart to be matched");
    if (trouble->which & CULL_TROUBLE_SQUARE)
        return cull_fail(CULL_NOT_FINITE, "the gradient of %s is too large for float64", whose);
    if (trouble->which & CULL_TROUBLE_NEGATIVE)
        return cull_fail(CULL_BAD_ARGUMENT, "%s of %s is negative", name, whose);
    if (trouble->which & CULL_SIGNAL_LABEL)
        return cull_fail(CULL_BAD_ARGUMENT, "%s of example %zu is %.0f, outside 0 to %.0f", name,
                         row, trouble->found, trouble->most);
    return cull_fail(CULL_NOT_FINITE, "%s of %s is not finite", name, whose);
}
