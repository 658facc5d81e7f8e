/*
 * select/kath18.c - importance sampling with a variable start (Katharopoulos & Fleuret 2018).
 *
 * Of B candidates, b are drawn with replacement in proportion to a score s:
 *
 *     loss         the loss                          Jiang's version, with weights=unit
 *     gnorm        |p|                               bound on the gradient's norm
 *     gnorm-last   |p| sqrt(1 + |h|^2)               norm of the last layer's gradient
 *
 *     weight_i = mean(s) / s_i                       (1/b) sum w l estimates the mean loss
 *
 * All scores zero: uniform, weights 1. With `variable`, sampling is on only while
 *
 *     tau = sqrt(n sum g^2), g = s / sum s           over the n scores it is fed
 *     0.9 tau_ema + 0.1 tau, from 0                  > (B + 3b) / 3b
 *
 * fed by the B scores of a draw while on, by those of the examples trained while off; then
 * b examples are trained plainly and nothing is scored. An example never trained has the
 * largest score known among the candidates; all have 1 when none is known.
 */
#include <math.h>

#include "select/select.h"

#define TAU_KEPT 0.9

struct kath18 {
    bool     variable, unit, pool, remembered;
    unsigned reads; /* CULL_SIGNAL_* the score is made of */
    double   threshold;

    double   tau;     /* moving average          */
    bool     drew;    /* by score, lately: and   */
    uint64_t drew_at; /* the moment of that draw */

    double *score, *sum; /* [rows] */
    size_t  score_room, sum_room;
};

static const cull_option_spec options[] = {
    {"keep", CULL_OPTION_REAL, "0.333333333333", 1e-9, 1, NULL,
     "rho: share of the candidates to draw, b/B"},
    {"mode", CULL_OPTION_CHOICE, "scaled", 0, 0, "fixed|scaled",
     "fixed: score a batch, draw rho of it; scaled: score batch/rho, draw a batch"},
    {"score", CULL_OPTION_CHOICE, "gnorm", 0, 0, "loss|gnorm|gnorm-last",
     "what examples are drawn by"},
    {"weights", CULL_OPTION_CHOICE, "unbiased", 0, 0, "unbiased|unit",
     "unbiased: mean score / score; unit: 1"},
    {"variable", CULL_OPTION_BOOL, "true", 0, 0, NULL,
     "sample only while it is expected to pay, train plainly until then"},
    {.key = NULL},
};

static cull_status create_kath18(cull_self *self)
{
    cull_status    status = CULL_OK;
    struct kath18 *s = self->state;
    size_t         candidates = 0, budget = 0;

    s->variable = cull_value_bool(self->values, "variable");
    s->unit = cull_value_is(self->values, "weights", "unit");
    s->pool = cull_value_is(self->values, "scope", "pool");
    s->remembered = cull_value_is(self->values, "losses", "remembered");
    s->reads = CULL_SIGNAL_P;
    if (cull_value_is(self->values, "score", "loss")) s->reads = CULL_SIGNAL_LOSS;
    if (cull_value_is(self->values, "score", "gnorm-last")) s->reads |= CULL_SIGNAL_H;
    if (s->remembered && s->reads != CULL_SIGNAL_LOSS)
        FAIL(CULL_BAD_OPTION, "kath18: losses=remembered goes with score=loss only");
    cull_sel_plan(self, &candidates, &budget);
    s->threshold = ((double)candidates + 3 * (double)budget) / (3 * (double)budget);
done:
    return status;
}

static uint64_t moment(const struct kath18 *s, uint64_t step, uint64_t epoch)
{
    return s->pool ? epoch : step;
}

/* A step that began with a draw stays on to its end, though its own scores may turn the next
 * one off. */
static bool is_on(const struct kath18 *s, uint64_t now)
{
    return !s->variable || s->tau > s->threshold || (s->drew && s->drew_at == now);
}

static void needs(const cull_self *self, uint64_t step, uint64_t epoch, cull_needs *out)
{
    const struct kath18 *s = self->state;

    out->signals |=
        s->remembered ? 0 : s->reads; /* of a step trained plainly the frame asks none */
    if (is_on(s, moment(s, step, epoch))) return;
    out->observe |= s->reads;
    if (out->action != CULL_SELECT_BATCH) return;
    out->action = CULL_TRAIN_ALL;
    out->candidates = out->budget;
}

static double norm2(const cull_tensor *t, size_t i)
{
    cull_tensor row = cull_tensor_line(t, i);
    double      sum = 0;

    for (size_t j = 0; j < (size_t)t->shape[1]; j++) {
        double x = cull_tensor_get(&row, j);
        sum += x * x;
    }
    return fmin(sum, 0x1p1000);
}

static double score_of(const struct kath18 *s, const cull_signals *signals, size_t i)
{
    if (s->reads == CULL_SIGNAL_LOSS) return cull_tensor_get(&signals->loss, i);
    if (s->reads == CULL_SIGNAL_P) return sqrt(norm2(&signals->p, i));
    return sqrt(norm2(&signals->p, i)) * sqrt(1 + norm2(&signals->h, i));
}

/* score[], scaled so that the largest is 1; all 1 when the known ones are all zero. */
static cull_status take_scores(struct kath18 *s, cull_self *self, const cull_signals *signals)
{
    cull_status    status = CULL_OK;
    const uint8_t *unseen = s->reads == CULL_SIGNAL_LOSS ? signals->unseen : NULL;
    double         largest = 0;

    TRY(cull_kit_grow(cull_sel_kit(self), signals->count, sizeof *s->score, "scores",
                      &s->score_room, &s->score));
    for (size_t i = 0; i < signals->count; i++) {
        s->score[i] = unseen && unseen[i] ? 0 : score_of(s, signals, i);
        if (s->score[i] < 0)
            FAIL(CULL_BAD_ARGUMENT, "kath18: loss of example %zu (place %u) is negative", i,
                 cull_sel_place(signals, i));
        largest = fmax(largest, s->score[i]);
    }
    for (size_t i = 0; i < signals->count; i++)
        s->score[i] = largest == 0 || (unseen && unseen[i]) ? 1 : s->score[i] / largest;
done:
    return status;
}

static void feed(struct kath18 *s, size_t n)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++) sum += s->score[i];
    for (size_t i = 0; i < n; i++) squares += s->score[i] / sum * (s->score[i] / sum);
    s->tau = TAU_KEPT * s->tau + (1 - TAU_KEPT) * sqrt((double)n * squares);
}

/* The first row whose cumulative score exceeds x; a row of score zero never does. */
static size_t find_row(const double *sum, size_t rows, double x)
{
    size_t low = 0, high = rows - 1;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sum[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    while (low > 0 && sum[low] == sum[low - 1]) low--; /* x rounded up to the whole sum */
    return low;
}

static cull_status draw_by_score(struct kath18 *s, cull_self *self, const cull_signals *signals,
                                 cull_subset *out)
{
    cull_status status = CULL_OK;
    size_t      rows = signals->count;
    cull_key    key = cull_key_make(self->setting->seed, "kath18");
    double      total = 0;

    TRY(cull_kit_grow(cull_sel_kit(self), rows, sizeof *s->sum, "scores", &s->sum_room, &s->sum));
    for (size_t i = 0; i < rows; i++) s->sum[i] = total += s->score[i];
    for (size_t j = 0; j < out->count; j++) {
        double u = cull_key_uniform(key, signals->step, j);
        size_t row = find_row(s->sum, rows, u * total);

        out->index[j] = (uint32_t)row;
        out->weight[j] = s->unit ? 1 : total / (double)rows / s->score[row];
    }
done:
    return status;
}

static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    cull_status    status = CULL_OK;
    struct kath18 *s = self->state;
    uint64_t       now = moment(s, signals->step, signals->epoch);
    cull_op_args   args = {0};

    TRY(cull_subset_resize(out, budget));
    if (!is_on(s, now)) { /* plain: b uniformly, all of them when b were brought */
        args = cull_sel_draw(self, "kath18 off", signals, NULL, budget, out->index);
        return cull_kit_run(cull_sel_kit(self), CULL_OP_DRAW, signals->count, &args);
    }
    TRY(take_scores(s, self, signals));
    TRY(draw_by_score(s, self, signals, out));
    feed(s, signals->count);
    s->drew = true;
    s->drew_at = now;
done:
    return status;
}

static cull_status observe(cull_self *self, const cull_signals *trained)
{
    cull_status    status = CULL_OK;
    struct kath18 *s = self->state;

    if (is_on(s, moment(s, trained->step, trained->epoch))) return CULL_OK;
    TRY(take_scores(s, self, trained));
    feed(s, trained->count);
done:
    return status;
}

static cull_status save(const cull_self *self, cull_writer *writer)
{
    cull_status          status = CULL_OK;
    const struct kath18 *s = self->state;
    uint64_t             drew[2] = {s->drew, s->drew_at};

    TRY(cull_write(writer, &s->tau, sizeof s->tau));
    TRY(cull_write(writer, drew, sizeof drew));
done:
    return status;
}

static cull_status restore(cull_self *self, cull_reader *reader)
{
    cull_status    status = CULL_OK;
    struct kath18 *s = self->state;
    uint64_t       drew[2] = {0};

    TRY(cull_read(reader, &s->tau, sizeof s->tau));
    TRY(cull_read(reader, drew, sizeof drew));
    if (!isfinite(s->tau) || s->tau < 0 || drew[0] > 1)
        FAIL(CULL_BAD_STATE, "kath18: saved state has no sound tau");
    s->drew = drew[0] == 1;
    s->drew_at = drew[1];
done:
    return status;
}

const cull_strategy cull_strategy_kath18 = {
    .abi = CULL_STRATEGY_ABI,
    .name = "kath18",
    .doc = "importance sampling: b of B with replacement by score, weights keep it unbiased",
    .runs = CULL_RUNS_STEP,
    .traits = CULL_HOST_SIGNALS | CULL_TAKES_REMEMBERED | CULL_SAMPLES,
    .options = options,
    .state_size = sizeof(struct kath18),
    .create = create_kath18,
    .needs = needs,
    .decide = decide,
    .observe = observe,
    .save = save,
    .restore = restore,
};
