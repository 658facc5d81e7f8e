/* select/signals.c - what a rule may rely on: shapes, types, ranges, finite numbers. */
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

static cull_status check_places(const cull_signals *signals, size_t pool)
{
    cull_status status = CULL_OK;

    if (signals->count < 1) FAIL(CULL_BAD_ARGUMENT, "there are no examples to select from");
    if (signals->count >= CULL_NO_ROW)
        FAIL(CULL_BAD_ARGUMENT, "%zu examples in one call, %u are the most", signals->count,
             CULL_NO_ROW - 1);
    if (!signals->place && signals->count > pool)
        FAIL(CULL_BAD_ARGUMENT, "%zu examples, but the pool has %zu", signals->count, pool);
    for (size_t i = 0; signals->place && i < signals->count; i++)
        if (signals->place[i] >= pool)
            FAIL(CULL_BAD_ARGUMENT, "example %zu has place %u, but the pool has %zu", i,
                 signals->place[i], pool);
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

    TRY(cull_tensor_check(&signals->loss, "loss", 1, signals->count, false));
    if (!signals->unseen)
        return check_finite(signals, &signals->loss, "loss", false, signals->count);
    for (size_t i = 0; i < signals->count; i++) {
        double loss = cull_tensor_get(&signals->loss, i);
        if (!signals->unseen[i] && loss - loss != 0)
            FAIL(CULL_NOT_FINITE, "loss of example %zu (place %u) is not finite", i,
                 cull_sel_place(signals, i));
    }
done:
    return status;
}

static cull_status check_matrix(const cull_signals *signals, const cull_tensor *t, const char *name,
                                bool target, size_t rows)
{
    cull_status status = CULL_OK;

    TRY(cull_tensor_check(t, name, 2, rows, false));
    TRY(check_finite(signals, t, name, target, rows));
done:
    return status;
}

static cull_status check_labels(const cull_tensor *label, const char *name, size_t rows,
                                const cull_tensor *p)
{
    cull_status status = CULL_OK;
    double      classes = cull_tensor_present(p) && p->dims == 2 ? (double)p->shape[1] : INT32_MAX;

    TRY(cull_tensor_check(label, name, 1, rows, true));
    for (size_t i = 0; i < rows; i++) {
        double class = cull_tensor_get(label, i);
        if (class < 0 || class >= classes)
            FAIL(CULL_BAD_ARGUMENT, "%s of example %zu is %.0f, outside 0 to %.0f", name, i, class,
                 classes - 1);
    }
done:
    return status;
}

static cull_status check_target(const cull_signals *signals, unsigned wanted)
{
    cull_status        status = CULL_OK;
    const cull_target *target = &signals->target;

    if (target->count < 1) FAIL(CULL_BAD_ARGUMENT, "a target block is needed and missing");
    if (wanted & CULL_SIGNAL_H) {
        TRY(check_matrix(signals, &target->h, "target h", true, target->count));
        if (target->h.shape[1] != signals->h.shape[1])
            FAIL(CULL_BAD_ARGUMENT, "target h has %lld columns, h has %lld",
                 (long long)target->h.shape[1], (long long)signals->h.shape[1]);
    }
    if (wanted & CULL_SIGNAL_P) {
        TRY(check_matrix(signals, &target->p, "target p", true, target->count));
        if (target->p.shape[1] != signals->p.shape[1])
            FAIL(CULL_BAD_ARGUMENT, "target p has %lld columns, p has %lld",
                 (long long)target->p.shape[1], (long long)signals->p.shape[1]);
    }
    if (wanted & CULL_SIGNAL_LOGITS) {
        TRY(check_matrix(signals, &target->logits, "target logits", true, target->count));
        if (target->logits.shape[1] != signals->p.shape[1])
            FAIL(CULL_BAD_ARGUMENT, "target logits have %lld columns, p has %lld",
                 (long long)target->logits.shape[1], (long long)signals->p.shape[1]);
    }
    if (wanted & CULL_SIGNAL_LABEL)
        TRY(check_labels(&target->label, "target label", target->count, &signals->p));
done:
    return status;
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

cull_status cull_sel_check(const cull_signals *signals, unsigned wanted, unsigned target,
                           size_t pool)
{
    cull_status status = CULL_OK;

    TRY(check_lent(signals));
    TRY(check_places(signals, pool));
    if (wanted & CULL_SIGNAL_LOSS) TRY(check_loss(signals));
    if (wanted & CULL_SIGNAL_H) TRY(check_matrix(signals, &signals->h, "h", false, signals->count));
    if (wanted & CULL_SIGNAL_P) TRY(check_matrix(signals, &signals->p, "p", false, signals->count));
    if (wanted & CULL_SIGNAL_LABEL)
        TRY(check_labels(&signals->label, "label", signals->count, &signals->p));
    if (wanted & CULL_SIGNAL_IRREDUCIBLE) {
        TRY(cull_tensor_check(&signals->irreducible, "irreducible", 1, signals->count, false));
        TRY(check_finite(signals, &signals->irreducible, "irreducible", false, signals->count));
    }
    if (target) TRY(check_target(signals, target));
done:
    return status;
}
