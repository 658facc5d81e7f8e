/*
 * select/rhythm.c - when a selector runs and how much it is to keep.
 *
 * A window [start, end) of the run's steps, every n-th step in it; stale epochs; a decision
 * over the pool each epoch, every R epochs or once; a warm start of full epochs before that.
 */
#include <math.h>

#include "select/frame.h"

/* T_f = kappa T rho full epochs, then T_s = (1 - kappa) T on the subset, each to the nearest
 * epoch. A share that was asked for gets at least one epoch, so that neither part is empty. */
void cull_sel_warm_start(uint64_t epochs, double keep, double kappa, uint64_t *full,
                         uint64_t *subset)
{
    *full = (uint64_t)llround(kappa * (double)epochs * keep);
    *subset = (uint64_t)llround((1 - kappa) * (double)epochs);
    if (kappa > 0 && epochs > 0 && *full == 0) *full = 1;
    if (kappa < 1 && epochs > 0 && *subset == 0) *subset = 1;
}

size_t cull_sel_candidates(const cull_selector *s)
{
    size_t batch = s->setting.batch;
    double scaled = 0;

    if (s->runs != CULL_RUNS_STEP) return s->setting.pool;
    if (!s->scaled) return batch;
    scaled = round((double)batch / s->keep);
    return scaled >= (double)s->setting.pool ? s->setting.pool : (size_t)scaled;
}

size_t cull_sel_own_budget(const cull_selector *s, size_t count)
{
    if (s->strategy->traits & CULL_NO_BUDGET) return count;
    if (s->runs == CULL_RUNS_STEP && s->scaled && count == cull_sel_candidates(s))
        return s->setting.batch < count ? s->setting.batch : count;
    return cull_budget(s->keep, count);
}

bool cull_sel_in_window(const cull_selector *s, uint64_t step)
{
    if ((double)step < s->first || (double)step >= s->last) return false;
    return (step - (uint64_t)ceil(s->first)) % s->every == 0;
}

static uint64_t first_epoch(const cull_selector *s)
{
    return s->epochs ? (uint64_t)floor(cull_value_real(s->values, "start") * (double)s->epochs) : 0;
}

bool cull_sel_scores_now(const cull_selector *s, uint64_t epoch)
{
    uint64_t first = first_epoch(s);

    return epoch < first || (epoch - first) % s->stale_every == 0;
}

unsigned cull_sel_wanted(const cull_selector *s, uint64_t epoch)
{
    unsigned wanted = s->strategy->signals;

    if (s->source == CULL_LOSSES_REMEMBERED ||
        (s->source == CULL_LOSSES_STALE && !cull_sel_scores_now(s, epoch)))
        wanted &= ~(unsigned)CULL_SIGNAL_LOSS;
    return wanted;
}

static cull_status resolve_window(cull_selector *s)
{
    cull_status status = CULL_OK;
    double   start = cull_value_real(s->values, "start"), end = cull_value_real(s->values, "end");
    size_t   candidates = cull_sel_candidates(s);
    uint64_t steps = s->setting.steps;
    double   total = 0;

    s->every = (uint64_t)cull_value_int(s->values, "every");
    if (start >= end)
        FAIL(CULL_BAD_OPTION, "%s: the window from start=%g to end=%g is empty", s->name, start,
             end);
    if ((start > 0 || end < 1) && s->setting.epochs == 0)
        FAIL(CULL_BAD_OPTION, "%s: start and end need the run's epochs, which are not known",
             s->name);
    if (steps == 0) steps = (s->setting.pool + candidates - 1) / candidates;
    total = (double)s->setting.epochs * (double)steps;
    s->first = start > 0 ? start * total : 0;
    s->last = end < 1 ? end * total : INFINITY;
done:
    return status;
}

static void resolve_losses(cull_selector *s)
{
    s->source = CULL_LOSSES_SCORED;
    if (cull_value_is(s->values, "losses", "stale")) s->source = CULL_LOSSES_STALE;
    if (cull_value_is(s->values, "losses", "remembered")) s->source = CULL_LOSSES_REMEMBERED;
    s->stale_every =
        s->source == CULL_LOSSES_STALE ? (uint64_t)cull_value_int(s->values, "stale-every") : 1;
    if (s->source == CULL_LOSSES_REMEMBERED && cull_value_is(s->values, "scope", "pool"))
        s->runs = CULL_RUNS_EPOCH;
}

/* An option that belongs to a source of losses which is not in use is a mistake. */
static cull_status check_idle(const cull_selector *s, const char *key, cull_sel_source source,
                              const char *word)
{
    if (!(s->strategy->traits & (CULL_TAKES_STALE | CULL_TAKES_REMEMBERED)) ||
        !cull_values_given(s->values, key) || s->source == source)
        return CULL_OK;
    return cull_fail(CULL_BAD_OPTION, "%s: %s goes with losses=%s only", s->name, key, word);
}

cull_status cull_sel_rhythm(cull_selector *s)
{
    cull_status status = CULL_OK;
    bool        budgeted = cull_values_has(s->values, "keep");
    uint64_t    subset = 0;

    s->runs = s->strategy->runs;
    s->keep = budgeted ? cull_value_real(s->values, "keep") : 1;
    s->scaled = cull_value_is(s->values, "mode", "scaled");
    s->epochs = s->setting.epochs;
    s->every = s->stale_every = 1;
    s->last = INFINITY;
    resolve_losses(s);
    TRY(check_idle(s, "stale-every", CULL_LOSSES_STALE, "stale"));
    TRY(check_idle(s, "predict", CULL_LOSSES_STALE, "stale"));
    TRY(check_idle(s, "scope", CULL_LOSSES_REMEMBERED, "remembered"));
    if (s->strategy->runs == CULL_RUNS_STEP) TRY(resolve_window(s));
    if (s->strategy->runs == CULL_RUNS_PERIOD) {
        double kappa = cull_value_real(s->values, "warm");

        s->period = (uint64_t)cull_value_int(s->values, "period");
        if (kappa > 0 && s->epochs == 0)
            FAIL(CULL_BAD_OPTION, "%s: warm needs the run's epochs, which are not known", s->name);
        if (kappa > 0) {
            cull_sel_warm_start(s->setting.epochs, s->keep, kappa, &s->warm_epochs, &subset);
            s->epochs = s->warm_epochs + subset;
        }
    }
done:
    return status;
}

uint64_t cull_selector_epochs(const cull_selector *selector)
{
    return selector->epochs;
}

/* Over the pool: is a decision due at this epoch? */
static cull_action pool_action(const cull_selector *s, uint64_t epoch)
{
    uint64_t due = 0;

    if (epoch < s->warm_epochs) return CULL_TRAIN_ALL;
    if (!s->decided) return CULL_SELECT_POOL;
    if (s->runs == CULL_RUNS_ONCE) return CULL_KEEP_SUBSET;
    due = s->runs == CULL_RUNS_EPOCH
              ? epoch
              : s->warm_epochs + (epoch - s->warm_epochs) / s->period * s->period;
    return s->decided_epoch < due ? CULL_SELECT_POOL : CULL_KEEP_SUBSET;
}

cull_status cull_selector_needs(const cull_selector *selector, uint64_t step, uint64_t epoch,
                                cull_needs *out)
{
    const cull_selector *s = selector;

    if (!s || !out) return cull_fail(CULL_BAD_ARGUMENT, "needs: a selector and a place are needed");
    *out = (cull_needs){.action = CULL_SELECT_BATCH,
                        .signals = cull_sel_wanted(s, epoch),
                        .observe = s->source == CULL_LOSSES_REMEMBERED ? CULL_SIGNAL_LOSS : 0,
                        .candidates = cull_sel_candidates(s)};
    out->budget =
        s->strategy->traits & CULL_NO_BUDGET ? 0 : cull_sel_own_budget(s, out->candidates);
    if (s->runs != CULL_RUNS_STEP || s->strategy->runs != CULL_RUNS_STEP) {
        out->action = pool_action(s, epoch);
        out->running = true;
    } else if (!cull_sel_in_window(s, step)) {
        out->action = CULL_TRAIN_ALL;
    }
    if (s->strategy->needs) s->strategy->needs(&s->self, step, epoch, out);
    if (out->action == CULL_TRAIN_ALL || out->action == CULL_KEEP_SUBSET) {
        out->signals = out->target = 0;
        out->running = false;
        if (out->action == CULL_TRAIN_ALL)
            out->candidates = out->budget =
                s->runs == CULL_RUNS_STEP ? s->setting.batch : s->setting.pool;
    }
    return CULL_OK;
}
