/* select/signals.c - what a rule may rely on: shapes, types, ranges, finite numbers. */
#include <math.h>

#include "select/select.h"

/* Arrays that another pass has overwritten are of other examples than their places say. */
static cull_status check_lent(const cull_signals *signals)
{
    if (!signals->passes || *signals->passes == signals->lent) return CULL_OK;
    return cull_fail(CULL_BAD_ARGUMENT,
                     "these signals were lent by pass %llu of a network, and pass %llu has "
                     "overwritten them: use or copy them before the next",
                     (unsigned long long)signals->lent, (unsigned long long)*signals->passes);
}

static cull_status check_count(const cull_signals *signals, size_t pool)
{
    cull_status status = CULL_OK;

    if (signals->count < 1) FAIL(CULL_BAD_ARGUMENT, "there are no examples to select from");
    if (signals->count >= CULL_NO_ROW)
        FAIL(CULL_BAD_ARGUMENT, "%zu examples in one call, %u are the most", signals->count,
             CULL_NO_ROW - 1);
    if (!signals->place && signals->count > pool)
        FAIL(CULL_BAD_ARGUMENT, "%zu examples, but the pool has %zu", signals->count, pool);
done:
    return status;
}

cull_status cull_sel_check_places(const char *name, const char *what, const cull_signals *signals,
                                  size_t pool)
{
    if (signals->place || signals->count == pool) return CULL_OK;
    return cull_fail(CULL_BAD_ARGUMENT,
                     "%s keeps %s by place, but %zu examples of a pool of %zu came without "
                     "places",
                     name, what, signals->count, pool);
}

unsigned cull_sel_present(const cull_signals *signals)
{
    unsigned present = 0;

    if (cull_tensor_present(&signals->loss)) present |= CULL_SIGNAL_LOSS;
    if (cull_tensor_present(&signals->h)) present |= CULL_SIGNAL_H;
    if (cull_tensor_present(&signals->p)) present |= CULL_SIGNAL_P;
    if (cull_tensor_present(&signals->label)) present |= CULL_SIGNAL_LABEL;
    if (cull_tensor_present(&signals->irreducible)) present |= CULL_SIGNAL_IRREDUCIBLE;
    return present;
}

/* A view of what lies on the device of all these signals. */
static cull_status check_view(const cull_signals *signals, const cull_tensor *t, const char *name,
                              int dims, size_t rows, bool integral)
{
    cull_status status = CULL_OK;
    cull_tensor view = *t;

    if (cull_tensor_present(t)) TRY(cull_device_check(t->device, signals->device, name));
    view.device = (cull_device){0};
    TRY(cull_tensor_check(&view, name, dims, rows, integral));
done:
    return status;
}

/* The target block is as wide as the examples are. */
static cull_status check_wide(const cull_signals *signals, const cull_tensor *t, const char *name,
                              const cull_tensor *as, const char *as_name)
{
    cull_status status = CULL_OK;

    TRY(check_view(signals, t, name, 2, signals->target.count, false));
    if (t->shape[1] != as->shape[1])
        FAIL(CULL_BAD_ARGUMENT, "%s %s %lld columns, %s has %lld", name,
             t == &signals->target.logits ? "have" : "has", (long long)t->shape[1], as_name,
             (long long)as->shape[1]);
done:
    return status;
}

static cull_status check_target_shapes(const cull_signals *s, unsigned wanted)
{
    cull_status        status = CULL_OK;
    const cull_target *target = &s->target;

    if (target->count < 1) FAIL(CULL_BAD_ARGUMENT, "a target block is needed and missing");
    if (wanted & CULL_SIGNAL_H) TRY(check_wide(s, &target->h, "target h", &s->h, "h"));
    if (wanted & CULL_SIGNAL_P) TRY(check_wide(s, &target->p, "target p", &s->p, "p"));
    if (wanted & CULL_SIGNAL_LOGITS)
        TRY(check_wide(s, &target->logits, "target logits", &s->p, "p"));
    if (wanted & CULL_SIGNAL_LABEL)
        TRY(check_view(s, &target->label, "target label", 1, target->count, true));
done:
    return status;
}

cull_status cull_sel_check_shapes(const cull_signals *signals, const cull_needs *read, size_t pool)
{
    cull_status status = CULL_OK;
    unsigned    wanted = read->signals;
    size_t      count = signals->count;

    TRY(check_lent(signals));
    TRY(check_count(signals, pool));
    if (wanted & CULL_SIGNAL_LOSS)
        TRY(check_view(signals, &signals->loss, "loss", 1, count, false));
    if (wanted & CULL_SIGNAL_H) TRY(check_view(signals, &signals->h, "h", 2, count, false));
    if (wanted & CULL_SIGNAL_P) TRY(check_view(signals, &signals->p, "p", 2, count, false));
    if (wanted & CULL_SIGNAL_LABEL)
        TRY(check_view(signals, &signals->label, "label", 1, count, true));
    if (wanted & CULL_SIGNAL_IRREDUCIBLE)
        TRY(check_view(signals, &signals->irreducible, "irreducible", 1, count, false));
    if (read->target) TRY(check_target_shapes(signals, read->target));
done:
    return status;
}

static cull_status check_places(const cull_signals *signals, size_t pool)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; signals->place && i < signals->count; i++)
        if (signals->place[i] >= pool)
            FAIL(CULL_BAD_ARGUMENT, "example %zu has place %u, but the pool has %zu", i,
                 signals->place[i], pool);
done:
    return status;
}

static cull_status check_finite(const cull_signals *signals, const cull_tensor *t, const char *name,
                                bool target, size_t rows)
{
    size_t bad = cull_tensor_first_not_finite(t, rows);

    if (bad == rows) return CULL_OK;
    if (target)
        return cull_fail(CULL_NOT_FINITE, "%s of target example %zu is not finite", name, bad);
    return cull_fail(CULL_NOT_FINITE, "%s of example %zu (place %u) is not finite", name, bad,
                     cull_sel_place(signals, bad));
}

/* A loss nobody knows may be anything; all others must be finite. */
static cull_status check_loss(const cull_signals *signals)
{
    cull_status status = CULL_OK;

    if (!signals->unseen)
        return check_finite(signals, &signals->loss, "loss", false, signals->count);
    for (size_t i = 0; i < signals->count; i++) {
        double loss = cull_tensor_get(&signals->loss, i);
        if (!signals->unseen[i] && !isfinite(loss))
            FAIL(CULL_NOT_FINITE, "loss of example %zu (place %u) is not finite", i,
                 cull_sel_place(signals, i));
    }
done:
    return status;
}

static cull_status check_labels(const cull_tensor *label, const char *name, size_t rows,
                                const cull_tensor *p)
{
    cull_status status = CULL_OK;
    double      classes = cull_tensor_present(p) && p->dims == 2 ? (double)p->shape[1] : INT32_MAX;

    for (size_t i = 0; i < rows; i++) {
        double class = cull_tensor_get(label, i);
        if (class < 0 || class >= classes)
            FAIL(CULL_BAD_ARGUMENT, "%s of example %zu is %.0f, outside 0 to %.0f", name, i, class,
                 classes - 1);
    }
done:
    return status;
}

static cull_status check_target(const cull_signals *s, unsigned wanted)
{
    cull_status        status = CULL_OK;
    const cull_target *target = &s->target;
    size_t             count = target->count;

    if (wanted & CULL_SIGNAL_H) TRY(check_finite(s, &target->h, "target h", true, count));
    if (wanted & CULL_SIGNAL_P) TRY(check_finite(s, &target->p, "target p", true, count));
    if (wanted & CULL_SIGNAL_LOGITS)
        TRY(check_finite(s, &target->logits, "target logits", true, count));
    if (wanted & CULL_SIGNAL_LABEL) TRY(check_labels(&target->label, "target label", count, &s->p));
done:
    return status;
}

cull_status cull_sel_check_values(const cull_signals *signals, const cull_needs *read, size_t pool)
{
    cull_status status = CULL_OK;
    unsigned    wanted = read->signals;
    size_t      count = signals->count;

    TRY(check_places(signals, pool));
    if (wanted & CULL_SIGNAL_LOSS) TRY(check_loss(signals));
    if (wanted & CULL_SIGNAL_H) TRY(check_finite(signals, &signals->h, "h", false, count));
    if (wanted & CULL_SIGNAL_P) TRY(check_finite(signals, &signals->p, "p", false, count));
    if (wanted & CULL_SIGNAL_LABEL) TRY(check_labels(&signals->label, "label", count, &signals->p));
    if (wanted & CULL_SIGNAL_IRREDUCIBLE)
        TRY(check_finite(signals, &signals->irreducible, "irreducible", false, count));
    if (read->target) TRY(check_target(signals, read->target));
done:
    return status;
}
