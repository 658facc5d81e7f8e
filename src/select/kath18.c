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

struct kath18 {
    bool     variable, unit, pool, remembered;
    unsigned reads; /* CULL_SIGNAL_* the score is made of */
    double   threshold;

    cull_sampled *sampled; /* where the rule works              */
    cull_sampled  known;   /* the same, as it was last looked at */
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

/* What the operations have made of it, for the host to go by. */
static cull_status heed(cull_self *self)
{
    struct kath18 *s = self->state;

    return cull_backend_download(cull_sel_kit(self)->backend, &s->known, s->sampled,
                                 sizeof s->known);
}

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
    TRY(cull_kit_allocate(cull_sel_kit(self), 1, sizeof *s->sampled, "tau", &s->sampled));
    if (s->variable) ((cull_sel_self *)self)->heed = heed; /* else it is always on */
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
    return !s->variable || s->known.tau > s->threshold ||
           (s->known.drew && s->known.drew_at == now);
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

/* What a score is made of, as an operation: of m rows drawn, or of none. */
static cull_op_args sample(const struct kath18 *s, const cull_self *self,
                           const cull_signals *signals, size_t m)
{
    const cull_sel_watch *watch = self->watch;
    cull_op_args          args = {.sample = {.rows = signals->count,
                                             .m = m,
                                             .unseen = signals->unseen,
                                             .place = signals->place,
                                             .unit = s->unit,
                                             .key = cull_key_make(self->setting->seed, "kath18"),
                                             .step = signals->step,
                                             .now = watch->step,
                                             .sampled = s->sampled,
                                             .moment = watch->moment,
                                             .trouble = watch->trouble}};

    if (s->reads & CULL_SIGNAL_LOSS) args.sample.loss = signals->loss;
    if (s->reads & CULL_SIGNAL_H) args.sample.h = signals->h;
    if (s->reads & CULL_SIGNAL_P) args.sample.p = signals->p;
    return args;
}

static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    cull_status    status = CULL_OK;
    struct kath18 *s = self->state;
    cull_op_args   args = {0};

    TRY(cull_subset_resize(out, budget));
    /* plain: b uniformly, all of them when b were brought */
    if (!is_on(s, moment(s, signals->step, signals->epoch))) {
        args = cull_sel_draw(self, "kath18 off", signals, NULL, budget, out->index);
        return cull_kit_run(cull_sel_kit(self), CULL_OP_DRAW, signals->count, &args);
    }
    args = sample(s, self, signals, budget);
    args.sample.index = out->index;
    args.sample.weight = out->weight;
    TRY(cull_kit_run(cull_sel_kit(self), CULL_OP_SAMPLE, signals->count, &args));
done:
    return status;
}

static cull_status observe(cull_self *self, const cull_signals *trained)
{
    cull_status    status = CULL_OK;
    struct kath18 *s = self->state;
    cull_op_args   args = {0};

    if (is_on(s, moment(s, trained->step, trained->epoch))) return CULL_OK;
    args = sample(s, self, trained, 0);
    TRY(cull_kit_run(cull_sel_kit(self), CULL_OP_SAMPLE, trained->count, &args));
done:
    return status;
}

static cull_status save(const cull_self *self, cull_writer *writer)
{
    const struct kath18 *s = self->state;

    return cull_backend_save(self->setting->backend, s->sampled, sizeof *s->sampled, writer);
}

static cull_status restore(cull_self *self, cull_reader *reader)
{
    cull_status    status = CULL_OK;
    struct kath18 *s = self->state;
    cull_sampled   saved = {0};

    TRY(cull_read(reader, &saved, sizeof saved));
    if (!isfinite(saved.tau) || saved.tau < 0 || saved.drew > 1)
        FAIL(CULL_BAD_STATE, "kath18: saved state has no sound tau");
    TRY(cull_backend_upload(self->setting->backend, s->sampled, &saved, sizeof saved));
    s->known = saved;
done:
    return status;
}

const cull_strategy cull_strategy_kath18 = {
    .abi = CULL_STRATEGY_ABI,
    .name = "kath18",
    .doc = "importance sampling: b of B with replacement by score, weights keep it unbiased",
    .runs = CULL_RUNS_STEP,
    .traits = CULL_TAKES_REMEMBERED | CULL_SAMPLES,
    .options = options,
    .state_size = sizeof(struct kath18),
    .create = create_kath18,
    .needs = needs,
    .decide = decide,
    .observe = observe,
    .save = save,
    .restore = restore,
};
