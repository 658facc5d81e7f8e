/*
 * select/sb_stream.c - Selective-Backprop as a stream (Jiang et al. 2019, Algorithms 1 and 2).
 *
 * The losses of a forward batch join a queue of the last R; then
 *
 *     percentile_i = (#smaller + 1/2 #equal) / length      over the queue
 *     kept with probability percentile_i ^ beta            independently
 *
 * Kept examples collect until a training batch is full; one call may fill none or several
 * (subset.group), what is left carries over to later calls, as CULL_NO_ROW with its place,
 * and the end of the run flushes it. An example no loss is known of is kept and not queued.
 */
#include <math.h>
#include <string.h>

#include "base/exact.h"
#include "select/select.h"

struct stream {
    size_t history; /* R */
    double beta;
    bool   prime;

    double   *queue; /* [history] oldest first */
    size_t    length;
    uint32_t *waiting; /* [batch] places kept and not yet trained */
    size_t    waiting_count;
    bool      begun;
    uint64_t  first_epoch;

    /* room of a call */
    double   *next, *percentile; /* [history] */
    uint32_t *kept;              /* rows      */
    size_t    kept_room;
};

static const cull_option_spec options[] = {
    {"history", CULL_OPTION_INT, "1024", 1, 1e7, NULL,
     "R: how many recent losses a percentile is taken over, at least a batch"},
    {"beta", CULL_OPTION_REAL, "1", 0, 100, NULL,
     "exponent of the percentile: about 1/(beta+1) are kept"},
    {"prime", CULL_OPTION_BOOL, "false", 0, 0, NULL,
     "keep everything in the first epoch, which fills the history"},
    {.key = NULL},
};

static cull_status create_sb_stream(cull_self *self)
{
    cull_status    status = CULL_OK;
    struct stream *s = self->state;
    cull_kit      *kit = cull_sel_kit(self);
    size_t         candidates = 0, budget = 0;

    cull_sel_plan(self, &candidates, &budget);
    s->history = (size_t)cull_value_int(self->values, "history");
    s->beta = cull_value_real(self->values, "beta");
    s->prime = cull_value_bool(self->values, "prime");
    if (s->history < candidates)
        FAIL(CULL_BAD_OPTION, "sb-stream: history=%zu is shorter than a batch of %zu", s->history,
             candidates);
    TRY(cull_kit_allocate(kit, s->history, sizeof *s->queue, "the history of losses", &s->queue));
    TRY(cull_kit_allocate(kit, s->history, sizeof *s->next, "the history of losses", &s->next));
    TRY(cull_kit_allocate(kit, s->history, sizeof *s->percentile, "percentiles", &s->percentile));
    TRY(cull_kit_allocate(kit, self->setting->batch, sizeof *s->waiting, "a batch", &s->waiting));
done:
    return status;
}

static bool is_unseen(const cull_signals *signals, size_t row)
{
    return signals->unseen && signals->unseen[row];
}

/* The queue with this batch's `fresh` losses behind it, in next[]; returns its length. */
static size_t append(struct stream *s, const cull_signals *signals, size_t *fresh_out)
{
    size_t fresh = 0, old = 0, length = 0;

    for (size_t i = 0; i < signals->count; i++) fresh += !is_unseen(signals, i);
    *fresh_out = fresh;
    old = s->length < s->history - fresh ? s->length : s->history - fresh;
    memcpy(s->next, s->queue + (s->length - old), old * sizeof *s->next);
    length = old;
    for (size_t i = 0; i < signals->count; i++)
        if (!is_unseen(signals, i)) s->next[length++] = cull_tensor_get(&signals->loss, i);
    return length;
}

/* The rows that are kept, ascending, in kept[]; percentile[] has those of the seen ones. */
static size_t toss(struct stream *s, const cull_self *self, const cull_signals *signals,
                   const double *percentile)
{
    cull_key key = cull_key_make(self->setting->seed, "sb-stream");
    bool     all = s->prime && (!s->begun || signals->epoch == s->first_epoch);
    size_t   kept = 0;

    for (size_t i = 0; i < signals->count; i++) {
        bool keep = all || is_unseen(signals, i);

        if (!is_unseen(signals, i)) {
            double u = cull_key_uniform(key, signals->step, cull_sel_place(signals, i));
            keep = keep || u < cull_exact_pow(*percentile, s->beta);
            percentile++;
        }
        if (keep) s->kept[kept++] = (uint32_t)i;
    }
    return kept;
}

/* Whole training batches to out, in the order of arrival; the rest waits. */
static void deal(struct stream *s, const cull_self *self, const cull_signals *signals, size_t kept,
                 cull_subset *out)
{
    size_t batch = self->setting->batch, waited = s->waiting_count;

    for (size_t i = 0; i < out->count; i++) {
        bool carried = i < waited;

        out->index[i] = carried ? CULL_NO_ROW : s->kept[i - waited];
        if (carried) out->place[i] = s->waiting[i];
        out->group[i] = (uint32_t)(i / batch);
    }
    out->groups = out->count / batch;
    if (out->count) s->waiting_count = 0;
    for (size_t i = out->count ? out->count - waited : 0; i < kept; i++)
        s->waiting[s->waiting_count++] = cull_sel_place(signals, s->kept[i]);
}

static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    cull_status    status = CULL_OK;
    struct stream *s = self->state;
    cull_op_args   args = {0};
    size_t         length = 0, fresh = 0, kept = 0, total = 0;
    double        *queue = s->queue;

    (void)budget;
    if (signals->count > s->history)
        FAIL(CULL_BAD_ARGUMENT, "sb-stream: %zu examples, but history=%zu", signals->count,
             s->history);
    TRY(cull_kit_grow(cull_sel_kit(self), signals->count, sizeof *s->kept, "kept rows",
                      &s->kept_room, &s->kept));
    length = append(s, signals, &fresh);
    if (length > 0) {
        args.rank.rows = length;
        args.rank.x = s->next;
        args.rank.percentile = s->percentile;
        TRY(cull_kit_run(cull_sel_kit(self), CULL_OP_RANK, s->history, &args));
    }
    kept = toss(s, self, signals, s->percentile + (length - fresh));
    total = s->waiting_count + kept;
    TRY(cull_subset_resize(out, total - total % self->setting->batch));
    deal(s, self, signals, kept, out);
    s->queue = s->next;
    s->next = queue;
    s->length = length;
    if (!s->begun) s->first_epoch = signals->epoch;
    s->begun = true;
done:
    return status;
}

static cull_status flush(cull_self *self, cull_subset *out)
{
    cull_status    status = CULL_OK;
    struct stream *s = self->state;

    TRY(cull_subset_resize(out, s->waiting_count));
    for (size_t i = 0; i < out->count; i++) {
        out->index[i] = CULL_NO_ROW;
        out->place[i] = s->waiting[i];
    }
    out->groups = out->count ? 1 : 0;
    s->waiting_count = 0;
done:
    return status;
}

static cull_status save(const cull_self *self, cull_writer *writer)
{
    cull_status          status = CULL_OK;
    const struct stream *s = self->state;
    uint64_t             head[4] = {s->length, s->waiting_count, s->begun, s->first_epoch};

    TRY(cull_write(writer, head, sizeof head));
    TRY(cull_write(writer, s->queue, s->length * sizeof *s->queue));
    TRY(cull_write(writer, s->waiting, s->waiting_count * sizeof *s->waiting));
done:
    return status;
}

static cull_status restore(cull_self *self, cull_reader *reader)
{
    cull_status    status = CULL_OK;
    struct stream *s = self->state;
    uint64_t       head[4] = {0};

    TRY(cull_read(reader, head, sizeof head));
    if (head[0] > s->history || head[1] >= self->setting->batch || head[2] > 1)
        FAIL(CULL_BAD_STATE, "sb-stream: saved state is larger than its history and batch");
    s->length = (size_t)head[0];
    s->waiting_count = (size_t)head[1];
    s->begun = head[2] == 1;
    s->first_epoch = head[3];
    TRY(cull_read(reader, s->queue, s->length * sizeof *s->queue));
    TRY(cull_read(reader, s->waiting, s->waiting_count * sizeof *s->waiting));
    for (size_t i = 0; i < s->length; i++)
        if (!isfinite(s->queue[i])) FAIL(CULL_BAD_STATE, "sb-stream: a saved loss is not finite");
    for (size_t i = 0; i < s->waiting_count; i++)
        if (s->waiting[i] >= self->setting->pool)
            FAIL(CULL_BAD_STATE, "sb-stream: saved state has place %u, the pool %zu", s->waiting[i],
                 self->setting->pool);
done:
    return status;
}

const cull_strategy cull_strategy_sb_stream = {
    .abi = CULL_STRATEGY_ABI,
    .name = "sb-stream",
    .doc = "Selective-Backprop as a stream: each kept by percentile among recent losses, collected "
           "into whole batches",
    .runs = CULL_RUNS_STEP,
    .traits =
        CULL_HOST_SIGNALS | CULL_TAKES_STALE | CULL_NO_BUDGET | CULL_SAMPLES | CULL_KEEPS_BY_POWER,
    .signals = CULL_SIGNAL_LOSS,
    .options = options,
    .state_size = sizeof(struct stream),
    .create = create_sb_stream,
    .decide = decide,
    .flush = flush,
    .save = save,
    .restore = restore,
};
