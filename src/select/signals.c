/* select/signals.c - what a rule may rely on: shapes, types, ranges, finite numbers. */
#include <float.h>

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

/* What all parts of one check share. */
struct look {
    cull_kit    *kit;
    cull_op_args args;
};

/* Numbers from low to high. */
static cull_status look_at(struct look *look, const cull_tensor *x, size_t rows, uint64_t which,
                           double low, double high)
{
    look->args.check.x = *x;
    look->args.check.rows = rows;
    look->args.check.which = which;
    look->args.check.low = low;
    look->args.check.high = high;
    return cull_kit_run(look->kit, CULL_OP_CHECK, 0, &look->args);
}

static cull_status look_at_finite(struct look *look, const cull_tensor *x, size_t rows,
                                  uint64_t which)
{
    return look_at(look, x, rows, which, -DBL_MAX, DBL_MAX);
}

static cull_status look_at_labels(struct look *look, const cull_tensor *label, size_t rows,
                                  const cull_tensor *p, uint64_t which)
{
    double classes = cull_tensor_present(p) && p->dims == 2 ? (double)p->shape[1] : INT32_MAX;

    return look_at(look, label, rows, which, 0, classes - 1);
}

static cull_status look_at_target(struct look *look, const cull_signals *s, unsigned wanted)
{
    cull_status        status = CULL_OK;
    const cull_target *target = &s->target;
    size_t             n = target->count;
    uint64_t           bit = CULL_TROUBLE_TARGET;

    look->args.check.place = NULL;
    if (wanted & CULL_SIGNAL_H) TRY(look_at_finite(look, &target->h, n, bit | CULL_SIGNAL_H));
    if (wanted & CULL_SIGNAL_P) TRY(look_at_finite(look, &target->p, n, bit | CULL_SIGNAL_P));
    if (wanted & CULL_SIGNAL_LOGITS)
        TRY(look_at_finite(look, &target->logits, n, bit | CULL_SIGNAL_LOGITS));
    if (wanted & CULL_SIGNAL_LABEL)
        TRY(look_at_labels(look, &target->label, n, &s->p, bit | CULL_SIGNAL_LABEL));
done:
    return status;
}

/* A loss nobody knows may be anything; all others must be finite. */
static cull_status look_at_loss(struct look *look, const cull_signals *s)
{
    cull_status status = CULL_OK;

    look->args.check.unseen = s->unseen;
    TRY(look_at_finite(look, &s->loss, s->count, CULL_SIGNAL_LOSS));
    look->args.check.unseen = NULL;
done:
    return status;
}

cull_status cull_sel_check_values(cull_kit *kit, const cull_signals *signals,
                                  const cull_needs *read, size_t pool, const cull_sel_watch *watch)
{
    cull_status         status = CULL_OK;
    const cull_signals *s = signals;
    unsigned            wanted = read->signals;
    size_t              n = s->count;
    struct look         look = {
                kit, {.check = {.place = s->place, .now = watch->moment, .trouble = watch->trouble}}};

    look.args.check.pool = pool;
    if (s->place) TRY(look_at(&look, &(cull_tensor){0}, n, 0, 0, 0));
    look.args.check.pool = 0;
    if (wanted & CULL_SIGNAL_LOSS) TRY(look_at_loss(&look, s));
    if (wanted & CULL_SIGNAL_H) TRY(look_at_finite(&look, &s->h, n, CULL_SIGNAL_H));
    if (wanted & CULL_SIGNAL_P) TRY(look_at_finite(&look, &s->p, n, CULL_SIGNAL_P));
    if (wanted & CULL_SIGNAL_LABEL)
        TRY(look_at_labels(&look, &s->label, n, &s->p, CULL_SIGNAL_LABEL));
    if (wanted & CULL_SIGNAL_IRREDUCIBLE)
        TRY(look_at_finite(&look, &s->irreducible, n, CULL_SIGNAL_IRREDUCIBLE));
    if (read->target) TRY(look_at_target(&look, s, read->target));
done:
    return status;
}
