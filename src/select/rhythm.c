/*
 * select/rhythm.c - when a selector runs and how much it is to keep.
 *
 * A window [start, end) of the run's steps (over the pool: epochs), every n-th of them; stale
 * epochs; a decision over the pool each epoch, every R epochs or once; a warm start of full epochs
 * before that.
 */
#include <math.h>
#include <stdio.h>

#include "base/sized.h"
#include "select/frame.h"

/* More epochs than this are counted by one that stands for the others. */
enum { MOST_EPOCHS = 1000000 };

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

static size_t plan_candidates(const cull_setting *setting, double keep, bool scaled, bool pool)
{
    double wide = scaled ? round((double)setting->batch / keep) : (double)setting->batch;

    return pool || wide >= (double)setting->pool ? setting->pool : (size_t)wide;
}

void cull_sel_plan(const cull_self *self, size_t *candidates, size_t *budget)
{
    double keep = cull_values_has(self->values, "keep") ? cull_value_real(self->values, "keep") : 1;
    bool   pool = cull_value_is(self->values, "scope", "pool");
    bool   scaled = !pool && cull_value_is(self->values, "mode", "scaled");

    *candidates = plan_candidates(self->setting, keep, scaled, pool);
    *budget = scaled ? self->setting->batch : cull_budget(keep, *candidates);
}

static size_t candidates_of(const cull_selector *s)
{
    return plan_candidates(&s->setting, s->keep, s->scaled, cull_sel_over_pool(s));
}

size_t cull_sel_own_budget(const cull_selector *s, size_t count)
{
    if (s->strategy->traits & CULL_NO_BUDGET) return count;
    if (s->scaled && count == candidates_of(s)) return s->setting.batch;
    return cull_budget(s->keep, count);
}

/* What runs every R epochs, or once, has a warm start; all else has a window. */
static bool has_window(const cull_selector *s)
{
    return s->strategy->runs == CULL_RUNS_STEP || s->strategy->runs == CULL_RUNS_EPOCH;
}

bool cull_sel_plain(const cull_selector *s, uint64_t step, uint64_t epoch)
{
    uint64_t now = cull_sel_over_pool(s) ? epoch : step;

    if (!has_window(s)) return epoch < s->warm_epochs;
    return now < s->first || now >= s->last || (now - s->first) % s->every != 0;
}

bool cull_sel_scores_now(const cull_selector *s, uint64_t epoch)
{
    return epoch < s->stale_first || (epoch - s->stale_first) % s->stale_every == 0;
}

static unsigned signals_of_rule(const cull_selector *s, uint64_t epoch)
{
    unsigned others = s->strategy->signals & ~(unsigned)CULL_SIGNAL_LOSS;

    if (s->source == CULL_LOSSES_SCORED) return s->strategy->signals;
    if (s->source == CULL_LOSSES_REMEMBERED || !cull_sel_scores_now(s, epoch)) return others;
    return others | CULL_SIGNAL_LOSS; /* to be stored, whatever the rule reads */
}

/* The first of `total` moments that lies at or behind a share of them; as in cull_budget(),
 * a product that falls just beside a whole number is that number. */
static uint64_t moment(double share, double total)
{
    double at = ceil(share * total - 1e-9 * total);

    return at < 0x1p63 ? (uint64_t)fmax(at, 0) : UINT64_MAX;
}

/* Steps that meet `left` examples, `done` steps of the window having been made: every n-th takes
 * `wide` of them, the others a batch. */
static uint64_t steps_over(const cull_selector *s, size_t wide, uint64_t done, uint64_t left)
{
    uint64_t batch = s->setting.batch, plain = (s->every - done % s->every) % s->every;
    uint64_t round = wide + (s->every - 1) * batch, steps = 0;

    if (plain * batch >= left) return (left + batch - 1) / batch;
    left -= plain * batch;
    steps = plain + left / round * s->every;
    left %= round;
    if (left == 0) return steps;
    return steps + 1 + (left > wide ? (left - wide + batch - 1) / batch : 0);
}

/* Where a window of steps of two sizes ends: the first step with this share of the run behind it.
 * Each epoch ends with a short step, so they are counted one by one, the first MOST_EPOCHS. */
static uint64_t end_of_mixed(const cull_selector *s, double end)
{
    uint64_t batch = s->setting.batch, batches = (s->setting.pool + batch - 1) / batch;
    uint64_t epoch = s->first / batches, at = s->first % batches * batch, steps = 0;
    uint64_t goal = moment(end, (double)s->setting.epochs * (double)batches);
    uint64_t last = goal / batches, rest = goal % batches * batch, counted = epoch + MOST_EPOCHS;
    size_t   wide = candidates_of(s);
    double   more = 0;

    if (goal <= s->first) return goal;
    for (; epoch < last && epoch < counted; epoch++, at = 0)
        steps += steps_over(s, wide, steps, s->setting.pool - at);
    more = (double)(last - epoch) * (double)steps_over(s, wide, 0, s->setting.pool);
    if (more >= 0x1p62) return UINT64_MAX;
    steps += (uint64_t)more;
    if (rest > at) steps += steps_over(s, wide, steps, rest - at);
    return s->first + steps;
}

/* Steps outside of the window take a batch each, those in it may take more: shares of the run are
 * shares of its examples. (A rule that trains plainly inside of its window ends it sooner.) */
static cull_status resolve_window(cull_selector *s)
{
    cull_status status = CULL_OK;
    double start = cull_value_real(s->values, "start"), end = cull_value_real(s->values, "end");
    double steps = (double)s->setting.steps, total = (double)s->setting.epochs;
    bool   mixed =
        !cull_sel_over_pool(s) && !s->setting.steps && candidates_of(s) != s->setting.batch;

    s->every = (uint64_t)cull_value_int(s->values, "every");
    if ((start > 0 || end < 1) && s->setting.epochs == 0)
        FAIL(CULL_BAD_OPTION, "%s: start and end need the run's epochs, which are not known",
             s->name);
    if (steps == 0) steps = (double)((s->setting.pool + s->setting.batch - 1) / s->setting.batch);
    if (!cull_sel_over_pool(s)) total *= steps;
    s->first = moment(start, total);
    s->last = end < 1 ? moment(end, total) : UINT64_MAX;
    if (end < 1 && mixed) s->last = end_of_mixed(s, end);
    /* Stored losses serve once an epoch of the window has been scored from its beginning. */
    s->stale_first = moment(start, (double)s->setting.epochs);
    if (start >= end || s->first >= s->last)
        FAIL(CULL_BAD_OPTION, "%s: the window from start=%g to end=%g is empty", s->name, start,
             end);
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
    if (s->source != CULL_LOSSES_SCORED)
        (void)snprintf(s->name, sizeof s->name, "%.40s %.20s", s->strategy->name,
                       cull_value_text(s->values, "losses"));
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

static cull_status resolve_warm_start(cull_selector *s)
{
    cull_status status = CULL_OK;
    double      kappa = cull_value_real(s->values, "warm");
    uint64_t    subset = 0;

    s->period = (uint64_t)cull_value_int(s->values, "period");
    if (kappa == 0) return CULL_OK;
    if (s->epochs == 0)
        FAIL(CULL_BAD_OPTION, "%s: warm needs the run's epochs, which are not known", s->name);
    cull_sel_warm_start(s->setting.epochs, s->keep, kappa, &s->warm_epochs, &subset);
    s->epochs = s->warm_epochs + subset;
done:
    return status;
}

cull_status cull_sel_rhythm(cull_selector *s)
{
    cull_status status = CULL_OK;

    s->runs = s->strategy->runs;
    s->keep = cull_values_has(s->values, "keep") ? cull_value_real(s->values, "keep") : 1;
    s->epochs = s->setting.epochs;
    s->every = s->stale_every = 1;
    s->last = UINT64_MAX;
    resolve_losses(s);
    TRY(check_idle(s, "stale-every", CULL_LOSSES_STALE, "stale"));
    TRY(check_idle(s, "predict", CULL_LOSSES_STALE, "stale"));
    TRY(check_idle(s, "scope", CULL_LOSSES_REMEMBERED, "remembered"));
    s->scaled = !cull_sel_over_pool(s) && cull_value_is(s->values, "mode", "scaled");
    if (cull_sel_over_pool(s) && s->strategy->runs == CULL_RUNS_STEP &&
        cull_values_given(s->values, "mode"))
        FAIL(CULL_BAD_OPTION, "%s: mode goes with scope=batch only", s->name);
    if (has_window(s)) TRY(resolve_window(s));
    if (s->strategy->runs == CULL_RUNS_PERIOD) TRY(resolve_warm_start(s));
done:
    return status;
}

uint64_t cull_selector_epochs(const cull_selector *selector)
{
    return selector->epochs;
}

/* Over the pool: is a decision due at this epoch? */
static cull_action pool_action(const cull_selector *s, cull_sel_decision decided, uint64_t epoch)
{
    uint64_t due = 0;

    if (!decided.made) return CULL_SELECT_POOL;
    if (s->runs == CULL_RUNS_ONCE) return CULL_KEEP_SUBSET;
    due = s->runs == CULL_RUNS_EPOCH
              ? epoch
              : s->warm_epochs + (epoch - s->warm_epochs) / s->period * s->period;
    return decided.epoch < due ? CULL_SELECT_POOL : CULL_KEEP_SUBSET;
}

void cull_sel_rule_needs(const cull_selector *s, cull_sel_decision decided, uint64_t step,
                         uint64_t epoch, cull_needs *out)
{
    *out = (cull_needs){.action = CULL_SELECT_BATCH,
                        .signals = signals_of_rule(s, epoch),
                        .observe = s->source == CULL_LOSSES_REMEMBERED ? CULL_SIGNAL_LOSS : 0,
                        .running = cull_sel_over_pool(s),
                        .candidates = candidates_of(s)};
    out->budget = cull_sel_own_budget(s, out->candidates);
    if (s->strategy->traits & CULL_NO_BUDGET) out->budget = 0;
    if (cull_sel_plain(s, step, epoch)) {
        out->action = CULL_TRAIN_ALL;
        out->candidates = cull_sel_over_pool(s) ? s->setting.pool : s->setting.batch;
    } else if (cull_sel_over_pool(s)) {
        out->action = pool_action(s, decided, epoch);
    }
    if (s->strategy->needs) s->strategy->needs(&s->self.base, step, epoch, out);
}

void cull_sel_needs(const cull_selector *s, cull_sel_decision decided, uint64_t step,
                    uint64_t epoch, cull_needs *out)
{
    cull_sel_rule_needs(s, decided, step, epoch, out);
    if (out->action == CULL_TRAIN_ALL) out->budget = out->candidates;
    if (out->action == CULL_TRAIN_ALL || out->action == CULL_KEEP_SUBSET)
        out->signals = out->target = 0;
    if (!out->signals) out->running = false;
}

cull_status cull_selector_needs(const cull_selector *selector, uint64_t step, uint64_t epoch,
                                cull_needs *out)
{
    cull_status status = CULL_OK;
    cull_needs  room, *given = out;

    if (!selector || !out) FAIL(CULL_BAD_ARGUMENT, "needs: a selector and a place are needed");
    SIZED_RESULT(cull_needs, out, room);
    cull_sel_needs(selector, selector->decided, step, epoch, out);
    cull_sized_give(given, out, sizeof *out);
done:
    return status;
}

cull_status cull_selector_reads(const cull_selector *selector, cull_needs *out)
{
    cull_status status = CULL_OK;
    cull_needs  room, *given = out;

    if (!selector || !out) FAIL(CULL_BAD_ARGUMENT, "reads: a selector and a place are needed");
    SIZED_RESULT(cull_needs, out, room);
    /* epoch 0 scores, whatever follows it */
    cull_sel_rule_needs(selector, selector->decided, 0, 0, out);
    cull_sized_give(given, out, sizeof *out);
done:
    return status;
}
