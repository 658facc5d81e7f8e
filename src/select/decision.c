/*
 * select/decision.c - a decision from end to end: select, observe, flush.
 *
 * The frame checks what comes in, applies windows and loss sources, asks the rule, checks and
 * sorts what comes out. A rule therefore sees only finite signals of the right shape and a
 * budget in range. Elsewhere than on the host it sees them before anybody knows, and what it makes
 * of broken ones is in range.
 */
#include <math.h>

#include "base/sized.h"
#include "select/frame.h"

/* The signals as the rule sees them: with the losses of this epoch's source, and randomness
 * over the pool counted by epochs, whatever steps the caller counts. */
static cull_status apply_source(cull_selector *s, const cull_signals *signals, cull_signals *out)
{
    cull_status status = CULL_OK;

    *out = *signals;
    if (cull_sel_over_pool(s)) out->step = signals->epoch;
    if (s->source == CULL_LOSSES_SCORED) return CULL_OK;
    if (s->source == CULL_LOSSES_STALE && cull_sel_scores_now(s, signals->epoch)) return CULL_OK;
    TRY(cull_kit_grow(&s->kit, signals->count, sizeof *s->recalled, "recalled losses",
                      &s->recalled_room, &s->recalled));
    TRY(cull_kit_grow(&s->kit, signals->count, 1, "recalled losses", &s->unseen_room, &s->unseen));
    TRY(cull_sel_losses_recall(s->self.base.losses, signals->place, signals->count, signals->epoch,
                               &s->watch, s->recalled, s->unseen));
    out->loss = cull_vector(s->recalled, CULL_F64, signals->count);
    out->loss.device = signals->device;
    out->unseen = s->unseen;
done:
    return status;
}

/* One entry of what a rule, ours or a stranger's, put together. */
static cull_status check_entry(const cull_selector *s, size_t rows, const cull_subset *out,
                               size_t i)
{
    cull_status status = CULL_OK;
    uint32_t    row = out->index[i];

    if (row == CULL_NO_ROW ? out->place[i] >= s->setting.pool : row >= rows)
        FAIL(CULL_BAD_ARGUMENT, "%s chose row %u of %zu", s->name, row, rows);
    if (!(out->weight[i] >= 0) || isinf(out->weight[i]))
        FAIL(CULL_BAD_ARGUMENT, "%s gave row %u the weight %g", s->name, row, out->weight[i]);
    if (out->group[i] != 0 && out->group[i] >= out->groups)
        FAIL(CULL_BAD_ARGUMENT, "%s put row %u into group %u of %zu", s->name, row, out->group[i],
             out->groups);
done:
    return status;
}

/* Whole training batches are as many as come nearest to the budget, at least one. */
static size_t most_of(const cull_selector *s, size_t budget, const cull_subset *out)
{
    size_t batch = s->setting.batch;

    if (s->strategy->traits & CULL_NO_BUDGET) return SIZE_MAX;
    if (out->groups == 0) return budget;
    return budget + batch / 2 > batch ? budget + batch / 2 : batch;
}

/* All rows with weights 1, or those that are there in order; and their places. signals is NULL for
 * what a flush brings. */
static cull_status settle(cull_selector *s, const cull_signals *signals, bool all, cull_subset *out)
{
    cull_op_args args = {.settle = {.count = out->count,
                                    .rows = signals ? signals->count : 0,
                                    .all = all,
                                    .from = signals ? signals->place : NULL,
                                    .index = out->index,
                                    .place = out->place,
                                    .group = out->group,
                                    .weight = out->weight}};

    return cull_op_run(s->kit.op[CULL_OP_SETTLE], &args);
}

/* Everything the header promises of a subset on the host, before anybody trains on it. */
static cull_status check_entries(const cull_selector *s, size_t rows, size_t most,
                                 const cull_subset *out)
{
    cull_status status = CULL_OK;

    if (out->count > most)
        FAIL(CULL_BAD_ARGUMENT, "%s chose %zu examples, %zu are the most", s->name, out->count,
             most);
    for (size_t i = 0; i < out->count; i++) TRY(check_entry(s, rows, out, i));
done:
    return status;
}

static cull_status check_repeats(const cull_selector *s, const cull_subset *out)
{
    cull_status status = CULL_OK;

    if (s->strategy->traits & CULL_SAMPLES) return CULL_OK;
    for (size_t i = 1; i < out->count; i++)
        if (out->index[i] == out->index[i - 1] && out->index[i] != CULL_NO_ROW)
            FAIL(CULL_BAD_ARGUMENT, "%s chose row %u twice", s->name, out->index[i]);
done:
    return status;
}

/* Only what lies on the host can be looked at: rules that write elsewhere are the library's. */
static cull_status finish(cull_selector *s, const cull_signals *signals, size_t most,
                          cull_subset *out)
{
    cull_status status = CULL_OK;
    bool        here = out->backend == NULL;

    if (here) TRY(check_entries(s, signals ? signals->count : 0, most, out));
    TRY(settle(s, signals, false, out));
    if (here) TRY(check_repeats(s, out));
done:
    return status;
}

/* Where keeping all is the rule's answer anyway. */
static bool keeps_all(const cull_selector *s, const cull_signals *signals, size_t budget)
{
    return budget == signals->count && !(s->strategy->traits & (CULL_SAMPLES | CULL_NO_BUDGET));
}

/* What is read: nothing on a plain step; only what is to be stored when all is kept, though what
 * is there is looked at. */
static void what_is_read(const cull_selector *s, const cull_signals *signals, bool plain, bool all,
                         cull_needs *read)
{
    unsigned stored = s->source == CULL_LOSSES_STALE ? CULL_SIGNAL_LOSS : 0;

    if (!plain) cull_sel_rule_needs(s, s->decided, signals->step, signals->epoch, read);
    if (read->action == CULL_TRAIN_ALL) read->signals = read->target = 0;
    if (!all) return;
    read->signals &= cull_sel_present(signals) | stored;
    read->target = 0;
}

/* All that can be said of signals without looking into their arrays. */
static cull_status check_shapes(const cull_selector *s, const cull_signals *signals,
                                const cull_needs *read)
{
    cull_status status = CULL_OK;

    if (!cull_device_same(signals->device, (cull_device){0}))
        TRY(cull_device_check(signals->device, cull_backend_device(s->home), "the signals"));
    TRY(cull_sel_check_shapes(signals, read, s->setting.pool));
done:
    return status;
}

/* What the signals hold. On the host that is known at once. */
static cull_status look_over(cull_selector *s, const cull_signals *signals, const cull_needs *read)
{
    cull_status status = CULL_OK;

    TRY(cull_sel_watch_begin(s));
    TRY(cull_sel_check_values(&s->kit, signals, read, s->setting.pool, &s->watch));
    if (cull_backend_on_host(s->setting.backend)) TRY(cull_sel_watch_end(s));
done:
    return status;
}

static cull_status check_budget(const cull_selector *s, const cull_signals *signals, size_t budget)
{
    cull_status status = CULL_OK;

    if (budget > signals->count)
        FAIL(CULL_BAD_ARGUMENT, "a budget of %zu for %zu examples", budget, signals->count);
    if ((s->strategy->traits & CULL_NO_BUDGET) && budget < signals->count)
        FAIL(CULL_BAD_ARGUMENT, "%s keeps as many as its rule says, not a budget of %zu", s->name,
             budget);
done:
    return status;
}

/* Without a budget: what was brought for a step that is trained plainly is kept whole, of the
 * number that was asked for as many as were told. */
static size_t default_budget(const cull_selector *s, const cull_signals *signals)
{
    cull_needs needs = {0};

    cull_sel_rule_needs(s, s->decided, signals->step, signals->epoch, &needs);
    if (needs.action == CULL_TRAIN_ALL && signals->count <= needs.candidates) return signals->count;
    if (needs.budget && signals->count == needs.candidates) return needs.budget;
    return cull_sel_own_budget(s, signals->count);
}

/* Elsewhere a rule finds all that it writes in range, whatever becomes of its operations. */
static cull_status prepare(cull_selector *s, const cull_signals *signals, size_t budget,
                           cull_subset *out)
{
    cull_status status = CULL_OK;

    if (!out->backend) return CULL_OK;
    TRY(cull_subset_resize(out, budget));
    TRY(cull_backend_fill(out->backend, out->group, 0, budget * sizeof *out->group));
    TRY(settle(s, signals, true, out));
done:
    return status;
}

/* What the rule makes of signals that lie where it works. Who may wait does, and knows all. */
static cull_status decide(cull_selector *s, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    cull_status  status = CULL_OK;
    cull_signals seen = {0};

    TRY(apply_source(s, signals, &seen));
    TRY(prepare(s, signals, budget, out));
    TRY(s->strategy->decide(&s->self.base, &seen, budget, out));
    TRY(cull_sel_watch_end(s));
    if (s->watch.trouble == s->word || cull_sel_falls_short(s)) TRY(cull_sel_subset_outcome(out));
    TRY(finish(s, signals, most_of(s, budget, out), out));
done:
    return status;
}

static cull_status choose(cull_selector *s, const cull_signals *signals, bool all, size_t budget,
                          cull_subset *out)
{
    cull_status status = CULL_OK;

    cull_sel_subset_aim(out, s->setting.backend);
    /* before a rule changes its history: what came, and what may have been carried over */
    TRY(cull_kit_ready(&s->kit, CULL_OP_SETTLE, signals->count + s->setting.batch));
    if (!all) return decide(s, signals, budget, out);
    TRY(cull_subset_resize(out, signals->count));
    if (out->backend)
        TRY(cull_backend_fill(out->backend, out->group, 0, out->count * sizeof *out->group));
    TRY(settle(s, signals, true, out));
    TRY(cull_sel_watch_end(s));
done:
    return status;
}

/* Before a rule changes its history: for a subset that is to be copied, of what came and what may
 * have been carried over. */
static cull_status make_room(const cull_selector *s, const cull_signals *signals, cull_subset *out)
{
    bool there = !cull_device_same(signals->device, (cull_device){0});

    cull_sel_subset_aim(out, there ? s->home : cull_backend_host(s->home));
    return cull_subset_resize(out, signals->count + s->setting.batch);
}

cull_status cull_select(cull_selector *selector, const cull_signals *signals, size_t budget,
                        cull_subset *out)
{
    cull_status         status = CULL_OK;
    cull_selector      *s = selector;
    const cull_signals *here = NULL;
    cull_needs          read = {0};
    cull_signals        room;
    cull_subset         own, *given = out;
    bool                plain = false, all = false;

    SIZED(cull_signals, signals, room);
    SIZED(cull_subset, out, own);
    if (out) out->count = 0;
    if (!s || !signals || !out)
        FAIL(CULL_BAD_ARGUMENT, "select: a selector, signals and a place are needed");
    if (budget == 0) budget = default_budget(s, signals);
    plain = cull_sel_plain(s, signals->step, signals->epoch);
    all = plain || keeps_all(s, signals, budget);
    what_is_read(s, signals, plain, all, &read);
    TRY(check_shapes(s, signals, &read));
    if (!plain && s->source != CULL_LOSSES_SCORED)
        TRY(cull_sel_check_places(s->name, "losses", signals, s->setting.pool));
    if (!plain && cull_sel_carries(s))
        TRY(cull_sel_check_places(s->name, "examples", signals, s->setting.pool));
    TRY(check_budget(s, signals, budget));
    TRY(cull_sel_fetch(s, signals, &read, &here));
    TRY(look_over(s, here, &read));
    if (cull_sel_is_here(s, signals->device)) {
        TRY(choose(s, here, all, budget, out));
    } else {
        TRY(make_room(s, signals, out));
        TRY(choose(s, here, all, budget, &s->made));
        TRY(cull_sel_deliver(&s->made, out));
    }
    if (plain) goto done;
    if (s->source == CULL_LOSSES_STALE && cull_sel_scores_now(s, signals->epoch))
        TRY(cull_sel_losses_record(s->self.base.losses, here, &s->watch));
    if (cull_sel_over_pool(s)) s->decided = (cull_sel_decision){true, signals->epoch};
done:
    if (status != CULL_OK && out) out->count = 0;
    cull_sized_give(given, out, sizeof *out);
    return status;
}

cull_status cull_observe(cull_selector *selector, const cull_signals *trained)
{
    cull_status         status = CULL_OK;
    cull_selector      *s = selector;
    const cull_signals *here = NULL;
    cull_needs          needs = {0};
    cull_signals        room;

    SIZED(cull_signals, trained, room);
    if (!s || !trained) FAIL(CULL_BAD_ARGUMENT, "observe: a selector and signals are needed");
    cull_sel_rule_needs(s, s->decided, trained->step, trained->epoch, &needs);
    if (!needs.observe || trained->count == 0) return CULL_OK;
    needs = (cull_needs){.signals = needs.observe};
    TRY(check_shapes(s, trained, &needs));
    if (s->source == CULL_LOSSES_REMEMBERED)
        TRY(cull_sel_check_places(s->name, "losses", trained, s->setting.pool));
    TRY(cull_sel_fetch(s, trained, &needs, &here));
    TRY(look_over(s, here, &needs));
    if (s->strategy->observe) TRY(s->strategy->observe(&s->self.base, here));
    if (s->source == CULL_LOSSES_REMEMBERED)
        TRY(cull_sel_losses_record(s->self.base.losses, here, &s->watch));
    TRY(cull_sel_watch_end(s));
done:
    return status;
}

/* The rule's own part of a flush, where it works. */
static cull_status empty(cull_selector *s, cull_subset *out)
{
    cull_status status = CULL_OK;

    cull_sel_subset_aim(out, s->setting.backend);
    TRY(cull_subset_resize(out, 0));
    TRY(cull_kit_ready(&s->kit, CULL_OP_SETTLE, s->setting.batch));
    if (s->strategy->flush) TRY(s->strategy->flush(&s->self.base, out));
    TRY(finish(s, NULL, SIZE_MAX, out));
done:
    return status;
}

cull_status cull_flush(cull_selector *selector, cull_subset *out)
{
    cull_status status = CULL_OK;
    cull_subset room, *given = out;

    SIZED(cull_subset, out, room);
    if (out) out->count = 0;
    if (!selector || !out) FAIL(CULL_BAD_ARGUMENT, "flush: a selector and a place are needed");
    if (cull_sel_is_here(selector, out->device)) {
        TRY(empty(selector, out));
    } else {
        TRY(cull_subset_resize(out, selector->setting.batch));
        TRY(empty(selector, &selector->made));
        TRY(cull_sel_deliver(&selector->made, out));
    }
done:
    if (status != CULL_OK && out) out->count = 0;
    cull_sized_give(given, out, sizeof *out);
    return status;
}
