/*
 * tests/far/far_ops.c - every operation of `ref`, run later: the arguments are copied at the call.
 *
 * Arguments are copied as they are. What of them points somewhere is told by a table, one line a
 * kind: arrays, whose addresses must be the backend's, and things on the host (tensors, problems,
 * options), which are copied too; a problem goes back to the caller's when it was run, with what
 * the solver reports. A kind without a line has by-value arguments and arrays that nobody checks.
 */
#include <string.h>

#include "base/alloc.h"
#include "far.h"

enum { MOST = 16 }; /* pointers of one thing or kind, and a zero */

/* Something on the host that arguments point at. */
struct thing {
    size_t bytes;
    bool   reports;     /* it goes back          */
    size_t array[MOST]; /* where, from 1: AT()   */
};

/* A pointer of the arguments: an array, or so many things. */
struct pointer {
    size_t              at, count; /* where they lie, from 1: AT(); count 0: one */
    const struct thing *thing;     /* NULL: an array */
};

#define AT(type, member) (offsetof(type, member) + 1)
#define ARG(member)      AT(cull_op_args, member)
#define ARRAY(member)                                                                              \
    {                                                                                              \
        ARG(member), 0, NULL                                                                       \
    }
#define ONE(member, thing)                                                                         \
    {                                                                                              \
        ARG(member), 0, &(thing)                                                                   \
    }
#define MANY(member, number, thing)                                                                \
    {                                                                                              \
        ARG(member), ARG(number), &(thing)                                                         \
    }

static const struct thing tensor = {sizeof(cull_tensor), false, {AT(cull_tensor, data)}};
static const struct thing target = {sizeof(cull_target),
                                    false,
                                    {AT(cull_target, h.data), AT(cull_target, p.data),
                                     AT(cull_target, label.data), AT(cull_target, logits.data)}};
static const struct thing omp_problem = {
    sizeof(cull_omp_problem),
    true,
    {AT(cull_omp_problem, k.data), AT(cull_omp_problem, t), AT(cull_omp_problem, h.data),
     AT(cull_omp_problem, p.data), AT(cull_omp_problem, row), AT(cull_omp_problem, b),
     AT(cull_omp_problem, index), AT(cull_omp_problem, weight)}};
static const struct thing omp_options = {.bytes = sizeof(cull_omp_options)};
static const struct thing facility_problem = {
    sizeof(cull_facility_problem),
    true,
    {AT(cull_facility_problem, similarity.data), AT(cull_facility_problem, h.data),
     AT(cull_facility_problem, p.data), AT(cull_facility_problem, row),
     AT(cull_facility_problem, index), AT(cull_facility_problem, weight)}};
static const struct thing facility_options = {.bytes = sizeof(cull_facility_options)};

static const struct thing gathered = {
    sizeof(cull_gathered), false, {AT(cull_gathered, from), AT(cull_gathered, to)}};

static const struct pointer pointers[CULL_OP_KINDS][MOST] = {
    [CULL_OP_RANK] = {ARRAY(rank.x), ARRAY(rank.percentile)},
    [CULL_OP_KEYS] = {ARRAY(keys.place), ARRAY(keys.weight), ARRAY(keys.out)},
    [CULL_OP_TOP] = {ARRAY(top.x), ARRAY(top.index)},
    [CULL_OP_GRAM] = {ONE(gram.h, tensor), ONE(gram.p, tensor), ONE(gram.target, target),
                      ARRAY(gram.k), ARRAY(gram.t), ARRAY(gram.b2)},
    [CULL_OP_OMP] = {MANY(omp.problems, omp.count, omp_problem), ONE(omp.options, omp_options)},
    [CULL_OP_REFIT] = {MANY(omp.problems, omp.count, omp_problem), ONE(omp.options, omp_options)},
    [CULL_OP_FACILITY] = {MANY(facility.problems, facility.count, facility_problem),
                          ONE(facility.options, facility_options)},
    [CULL_OP_GRADIENT] = {ONE(gradient.h, tensor), ONE(gradient.p, tensor), ARRAY(gradient.row),
                          ARRAY(gradient.b)},
    [CULL_OP_CANCEL] = {ONE(cancel.h, tensor), ONE(cancel.p, tensor), ARRAY(cancel.row),
                        ARRAY(cancel.b), ARRAY(cancel.trouble)},
    [CULL_OP_AUGMENT] = {ARRAY(augment.desc.mean), ARRAY(augment.desc.deviation),
                         ARRAY(augment.call.places), ARRAY(augment.call.raw),
                         ARRAY(augment.call.row), ARRAY(augment.call.out), ARRAY(augment.now),
                         ARRAY(augment.held), ARRAY(augment.index)},
    [CULL_OP_RESIZE] = {ARRAY(resize.from), ARRAY(resize.to)},
    [CULL_OP_GATHER] = {ARRAY(gather.from), ARRAY(gather.to), ARRAY(gather.index)},
    [CULL_OP_GATHER_ALL] = {MANY(gather_all.list, gather_all.count, gathered),
                            ARRAY(gather_all.index)},
    [CULL_OP_KEPT] = {ARRAY(kept.index), ARRAY(kept.chosen), ARRAY(kept.from_p),
                      ARRAY(kept.from_loss), ARRAY(kept.from_target), ARRAY(kept.from_place),
                      ARRAY(kept.p), ARRAY(kept.gradient), ARRAY(kept.loss), ARRAY(kept.share),
                      ARRAY(kept.target), ARRAY(kept.place)},
    [CULL_OP_UPDATE] = {ARRAY(update.value), ARRAY(update.gradient), ARRAY(update.narrow),
                        ARRAY(update.buffer[0]), ARRAY(update.buffer[1]), ARRAY(update.range),
                        ARRAY(update.partial), ARRAY(update.norm), ARRAY(update.now),
                        ARRAY(update.trouble)},
    [CULL_OP_SUMMARY] = {ARRAY(summary.loss), ARRAY(summary.p), ARRAY(summary.target),
                         ARRAY(summary.place), ARRAY(summary.out), ARRAY(summary.now),
                         ARRAY(summary.trouble), ARRAY(summary.became), ARRAY(summary.outcomes)},
    [CULL_OP_TALLY] = {ARRAY(tally.place), ARRAY(tally.loss), ARRAY(tally.weight), ARRAY(tally.now),
                       ARRAY(tally.count), ARRAY(tally.first), ARRAY(tally.weights),
                       ARRAY(tally.latest)},
    [CULL_OP_GAIN] = {ONE(gain.h, tensor), ONE(gain.p, tensor), ARRAY(gain.row), ARRAY(gain.b),
                      ARRAY(gain.out)},
    [CULL_OP_CHECK] = {ARRAY(check.place), ARRAY(check.x.data), ARRAY(check.unseen),
                       ARRAY(check.now), ARRAY(check.trouble)},
    [CULL_OP_SCORE] = {ARRAY(score.loss.data), ARRAY(score.less.data), ARRAY(score.unseen),
                       ARRAY(score.place), ARRAY(score.now), ARRAY(score.out)},
    [CULL_OP_CHANCE] = {ARRAY(chance.place), ARRAY(chance.percentile), ARRAY(chance.standing),
                        ARRAY(chance.fresh), ARRAY(chance.weight)},
    [CULL_OP_DRAW] = {ARRAY(draw.place), ARRAY(draw.weight), ARRAY(draw.now), ARRAY(draw.index)},
    [CULL_OP_SETTLE] = {ARRAY(settle.from), ARRAY(settle.index), ARRAY(settle.place),
                        ARRAY(settle.group), ARRAY(settle.weight)},
    [CULL_OP_RECORD] = {ARRAY(record.place), ARRAY(record.loss.data), ARRAY(record.unseen),
                        ARRAY(record.ledger.known), ARRAY(record.ledger.value),
                        ARRAY(record.ledger.slope), ARRAY(record.ledger.epoch), ARRAY(record.now),
                        ARRAY(record.trouble)},
    [CULL_OP_RECALL] = {ARRAY(recall.place), ARRAY(recall.ledger.known), ARRAY(recall.ledger.value),
                        ARRAY(recall.ledger.slope), ARRAY(recall.ledger.epoch), ARRAY(recall.now),
                        ARRAY(recall.loss), ARRAY(recall.unseen)},
    [CULL_OP_SAMPLE] = {ARRAY(sample.loss.data), ARRAY(sample.h.data), ARRAY(sample.p.data),
                        ARRAY(sample.unseen), ARRAY(sample.place), ARRAY(sample.now),
                        ARRAY(sample.index), ARRAY(sample.weight), ARRAY(sample.sampled),
                        ARRAY(sample.moment), ARRAY(sample.trouble)},
    [CULL_OP_MATCH] = {ARRAY(match.h.data), ARRAY(match.p.data), ARRAY(match.target_h.data),
                       ARRAY(match.target_p.data), ARRAY(match.place), ARRAY(match.now),
                       ARRAY(match.index), ARRAY(match.weight), ARRAY(match.outcome),
                       ARRAY(match.trouble)},
    [CULL_OP_WIDEN] = {ARRAY(widen.index[0]), ARRAY(widen.index[1]), ARRAY(widen.index[2]),
                       ARRAY(widen.to[0]), ARRAY(widen.to[1]), ARRAY(widen.to[2]),
                       ARRAY(widen.weight), ARRAY(widen.to_weight)},
    [CULL_OP_NARROW] = {ARRAY(narrow.from.data), ARRAY(narrow.to)},
};

struct op {
    cull_op  base;
    cull_op *inner; /* ref's */
};

/* The arguments as given, for they tell where results go; the things lie behind. */
struct asked {
    struct far_work work;
    cull_op        *inner;
    cull_op_args    args;
};

static void *pointer_at(const void *from, size_t at)
{
    void *pointer = NULL;

    memcpy(&pointer, (const char *)from + at - 1, sizeof pointer);
    return pointer;
}

static size_t bytes_of(const cull_op_args *args, const struct pointer *p)
{
    size_t count = 1;

    if (!p->thing || !pointer_at(args, p->at)) return 0;
    if (p->count) memcpy(&count, (const char *)args + p->count - 1, sizeof count);
    return count * p->thing->bytes;
}

/* With what follows it on the next border. */
static size_t room_of(const cull_op_args *args, const struct pointer *p)
{
    return (bytes_of(args, p) + FAR_STEP - 1) / FAR_STEP * FAR_STEP;
}

cull_status far_check_array(const struct far *far, const void *data, const char *where)
{
    cull_status status = CULL_OK;

    if (data && !far_memory_holds(&far->memory, data, 1))
        FAIL(CULL_BAD_ARGUMENT, "far: %s has an array that is not this backend's", where);
done:
    return status;
}

static cull_status check(const struct far *far, const cull_op_args *args, const struct pointer *p)
{
    cull_status  status = CULL_OK;
    const char  *data = pointer_at(args, p->at);
    const size_t bytes = bytes_of(args, p);

    if (!p->thing) TRY(far_check_array(far, data, "an operation"));
    for (size_t done = 0; done < bytes; done += p->thing->bytes)
        for (const size_t *at = p->thing->array; *at; at++)
            TRY(far_check_array(far, pointer_at(data + done, *at), "what an operation is given"));
done:
    return status;
}

static cull_status do_run(struct far_work *work)
{
    struct asked         *asked = (struct asked *)work;
    const struct pointer *list = pointers[asked->inner->desc.kind];
    cull_op_args          args = asked->args;
    char                 *thing = (char *)(asked + 1);
    cull_status           status = CULL_OK;

    for (const struct pointer *p = list; p->at; thing += room_of(&asked->args, p++))
        if (bytes_of(&asked->args, p)) memcpy((char *)&args + p->at - 1, &thing, sizeof thing);
    status = cull_op_run(asked->inner, &args);
    for (const struct pointer *p = list; p->at; p++)
        if (bytes_of(&asked->args, p) && p->thing->reports)
            memcpy(pointer_at(&asked->args, p->at), pointer_at(&args, p->at),
                   bytes_of(&asked->args, p));
    return status;
}

static cull_status run(cull_op *base, const cull_op_args *args)
{
    cull_status           status = CULL_OK;
    struct far           *far = far_enter(base->backend);
    const struct pointer *list = pointers[base->desc.kind];
    struct asked         *asked = NULL;
    size_t                bytes = sizeof *asked;
    char                 *thing = NULL;

    for (const struct pointer *p = list; p->at; p++) {
        TRY(check(far, args, p));
        bytes += room_of(args, p);
    }
    TRY(far_ask(far, do_run, bytes, &asked));
    asked->inner = ((struct op *)base)->inner;
    asked->args = *args;
    thing = (char *)(asked + 1);
    for (const struct pointer *p = list; p->at; thing += room_of(args, p++))
        if (bytes_of(args, p)) memcpy(thing, pointer_at(args, p->at), bytes_of(args, p));
done:
    far_leave(far);
    return status;
}

static void destroy(cull_op *base)
{
    struct op  *op = (struct op *)base;
    struct far *far = far_enter(base->backend);

    far_settle(far); /* which may still have it to run */
    far_leave(far);
    cull_op_destroy(op->inner);
    cull_base_free(op);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status status = CULL_OK;
    struct op  *op = NULL;

    if (!backend->host->class->op[desc->kind])
        FAIL(CULL_UNSUPPORTED, "ref has no operation of kind %d", (int)desc->kind);
    TRY(cull_base_alloc(1, sizeof *op, "an operation", &op));
    TRY(cull_op_ready(backend->host, desc, &op->inner));
    *out = &op->base;
    op = NULL;
done:
    cull_base_free(op);
    return status;
}

const cull_op_class far_op = {create, run, destroy};
