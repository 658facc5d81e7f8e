/* select/signals.c - what a rule may rely on: shapes, types, ranges, finite numbers. */
#include <float.h>
#include <stddef.h>

#include "select/select.h"

#define OWN(array)    offsetof(cull_signals, array)
#define TARGET(array) offsetof(cull_signals, target.array)

const cull_sel_array cull_sel_arrays[] = {
    {"loss", CULL_SIGNAL_LOSS, false, OWN(loss), 1, false, 0},
    {"h", CULL_SIGNAL_H, false, OWN(h), 2, false, 0},
    {"p", CULL_SIGNAL_P, false, OWN(p), 2, false, 0},
    {"label", CULL_SIGNAL_LABEL, false, OWN(label), 1, true, 0},
    {"irreducible", CULL_SIGNAL_IRREDUCIBLE, false, OWN(irreducible), 1, false, 0},
    {"target h", CULL_SIGNAL_H, true, TARGET(h), 2, false, OWN(h)},
    {"target p", CULL_SIGNAL_P, true, TARGET(p), 2, false, OWN(p)},
    {"target logits", CULL_SIGNAL_LOGITS, true, TARGET(logits), 2, false, OWN(p)},
    {"target label", CULL_SIGNAL_LABEL, true, TARGET(label), 1, true, 0},
    {.name = NULL}};

static const cull_tensor *tensor_at(const cull_signals *signals, size_t offset)
{
    return (const cull_tensor *)((const char *)signals + offset);
}

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

    for (const cull_sel_array *a = cull_sel_arrays; a->name; a++)
        if (!a->target && cull_tensor_present(tensor_at(signals, a->at))) present |= a->signal;
    return present;
}

/* It lies on the device of all these signals, and is as wide as the examples where it says so. */
static cull_status check_shape(const cull_signals *signals, const cull_sel_array *a)
{
    cull_status        status = CULL_OK;
    const cull_tensor *t = tensor_at(signals, a->at), *as = tensor_at(signals, a->wide_as);
    cull_tensor        view = *t;

    if (cull_tensor_present(t)) TRY(cull_device_check(t->device, signals->device, a->name));
    view.device = (cull_device){0};
    if (view.dtype == CULL_BF16 && !a->integral) view.dtype = CULL_F32; /* signals may be either */
    TRY(cull_tensor_check(&view, a->name, a->dims, cull_sel_array_rows(signals, a), a->integral));
    if (a->wide_as && t->shape[1] != as->shape[1])
        FAIL(CULL_BAD_ARGUMENT, "%s %s %lld columns, %s has %lld", a->name,
             a->signal == CULL_SIGNAL_LOGITS ? "have" : "has", (long long)t->shape[1],
             as == &signals->h ? "h" : "p", (long long)as->shape[1]);
done:
    return status;
}

cull_status cull_sel_check_shapes(const cull_signals *signals, const cull_needs *read, size_t pool)
{
    cull_status status = CULL_OK;

    TRY(check_lent(signals));
    TRY(check_count(signals, pool));
    for (const cull_sel_array *a = cull_sel_arrays; a->name; a++) {
        if (!cull_sel_array_read(a, read)) continue;
        if (a->target && signals->target.count < 1)
            FAIL(CULL_BAD_ARGUMENT, "a target block is needed and missing");
        TRY(check_shape(signals, a));
    }
done:
    return status;
}

/* Labels are classes, all else is finite; but a loss nobody knows may be anything. */
static cull_status check_values(cull_kit *kit, const cull_signals *s, const cull_sel_array *a,
                                const cull_sel_watch *watch)
{
    cull_op_args args = {.check = {.rows = cull_sel_array_rows(s, a),
                                   .x = *tensor_at(s, a->at),
                                   .place = a->target ? NULL : s->place,
                                   .which = a->signal | (a->target ? CULL_TROUBLE_TARGET : 0),
                                   .low = -DBL_MAX,
                                   .high = DBL_MAX,
                                   .unseen = a->signal == CULL_SIGNAL_LOSS ? s->unseen : NULL,
                                   .now = watch->moment,
                                   .trouble = watch->trouble}};

    if (a->signal == CULL_SIGNAL_LABEL) {
        bool classes = cull_tensor_present(&s->p) && s->p.dims == 2;

        args.check.low = 0;
        args.check.high = (classes ? (double)s->p.shape[1] : INT32_MAX) - 1;
    }
    return cull_kit_run(kit, CULL_OP_CHECK, 0, &args);
}

cull_status cull_sel_check_values(cull_kit *kit, const cull_signals *signals,
                                  const cull_needs *read, size_t pool, const cull_sel_watch *watch)
{
    cull_status  status = CULL_OK;
    cull_op_args places = {.check = {.rows = signals->count,
                                     .place = signals->place,
                                     .pool = pool,
                                     .now = watch->moment,
                                     .trouble = watch->trouble}};

    if (signals->place) TRY(cull_kit_run(kit, CULL_OP_CHECK, 0, &places));
    for (const cull_sel_array *a = cull_sel_arrays; a->name; a++)
        if (cull_sel_array_read(a, read)) TRY(check_values(kit, signals, a, watch));
done:
    return status;
}
