/*
 * select/glister.c - GLISTER: greedily lower the validation loss (Killamsetty et al. 2021).
 *
 *     P_v    = softmax(z_v) - onehot(y_v)                     z (V, C) validation logits
 *     Gbar   = mean over v of P_v (x) [h_v; 1]                (C, D+1)
 *     gain_j = p_j^T Gbar [h_j; 1]        = g_j . Gbar, what a step of -eta g_j wins
 *     picks  = the largest gains, ties to the lower row; weights 1
 *     z_v   -= eta (h_v . h_j + 1) p_j    summed over the picks j of a round
 *
 * A round is one pick, or k/r of them under greedy=r-greedy; after it P_v and Gbar are taken
 * again. A round costs V C D, and C D for each candidate looked at: all that are left, or
 * under greedy=stochastic (N/k) ln(1/sample) of them. Stochastic is the default: it alone
 * both follows the rule pick by pick and looks at no more than N ln(1/sample) gains in all.
 */
#include <math.h>
#include <string.h>

#include "select/desk.h"

static const cull_option_spec options[] = {
    {"greedy", CULL_OPTION_CHOICE, "stochastic", 0, 0, "naive|stochastic|r-greedy",
     "look at all gains for each pick, at a random few, or pick many at once in r rounds"},
    {"eta", CULL_OPTION_REAL, "0.01", 0, 1e9, NULL,
     "learning rate of the step that a pick stands for"},
    {"r", CULL_OPTION_INT, "15", 1, 1e9, NULL, "greedy=r-greedy: rounds, of k/r picks each"},
    {"sample", CULL_OPTION_REAL, "0.01", 1e-300, 0.999, NULL,
     "greedy=stochastic: look at (n/k) ln(1/sample) candidates a pick"},
    {.key = NULL}};

static cull_status create_glister(cull_self *self)
{
    cull_status status = CULL_OK;

    if (cull_values_given(self->values, "r") && !cull_value_is(self->values, "greedy", "r-greedy"))
        FAIL(CULL_BAD_OPTION, "glister: r goes with greedy=r-greedy only");
    if (cull_values_given(self->values, "sample") &&
        !cull_value_is(self->values, "greedy", "stochastic"))
        FAIL(CULL_BAD_OPTION, "glister: sample goes with greedy=stochastic only");
done:
    return status;
}

static void needs(const cull_self *self, uint64_t step, uint64_t epoch, cull_needs *out)
{
    (void)self;
    (void)step;
    (void)epoch;
    out->target = CULL_SIGNAL_H | CULL_SIGNAL_LABEL | CULL_SIGNAL_LOGITS;
}

/* Signals stay where they are; validation logits, the rows that are left and all small things are
 * looked at on the host. */
struct search {
    const cull_signals *signals;
    cull_sel_desk       desk;
    size_t              most; /* rows of an operation */
    double              eta;
    size_t              classes, width; /* C, D+1                                       */
    double             *z;              /* (V, C) logits                                */
    cull_tensor         label;          /* [V] on the host                              */
    cull_sel_both       pv, shift;      /* (V, C) their gradients, their change         */
    cull_sel_both       mean;           /* (C, D+1) Gbar                                */
    cull_sel_both       step;           /* (C, D+1) gradients of a round's picks        */
    cull_sel_both       score;          /* [N] gains of the candidates looked at        */
    cull_sel_both       left;           /* [N] rows not yet picked                      */
    cull_sel_both       place;          /* [N] where in `left` a round's picks are      */
    cull_sel_both       picks;          /* [N] rows of a round's picks                  */
    size_t              remaining;
};

static cull_status take_room(struct search *s, size_t n, size_t v)
{
    cull_status    status = CULL_OK;
    cull_sel_desk *desk = &s->desk;
    size_t         size = s->classes * s->width, real = sizeof(double), number = sizeof(uint32_t);

    TRY(cull_kit_allocate(cull_sel_desk_host(desk), v, s->classes * real, "validation logits",
                          &s->z));
    TRY(cull_sel_desk_allocate(desk, v * s->classes, real, "validation gradients", &s->pv));
    TRY(cull_sel_desk_allocate(desk, v * s->classes, real, "validation logits", &s->shift));
    TRY(cull_sel_desk_allocate(desk, size, real, "a mean gradient", &s->mean));
    TRY(cull_sel_desk_allocate(desk, size, real, "a gradient", &s->step));
    TRY(cull_sel_desk_allocate(desk, n, real, "gains", &s->score));
    TRY(cull_sel_desk_allocate(desk, n, number, "candidates", &s->left));
    TRY(cull_sel_desk_allocate(desk, n, number, "candidates", &s->place));
    TRY(cull_sel_desk_allocate(desk, n, number, "candidates", &s->picks));
done:
    return status;
}

static cull_status search_make(const cull_self *self, const cull_signals *signals, struct search *s)
{
    cull_status status = CULL_OK;
    size_t      n = signals->count, v = signals->target.count;
    cull_tensor logits = {0};

    *s = (struct search){
        .signals = signals, .most = n > v ? n : v, .eta = cull_value_real(self->values, "eta")};
    cull_sel_desk_open(&s->desk, self->setting->backend);
    s->classes = (size_t)signals->p.shape[1];
    s->width = (size_t)signals->h.shape[1] + 1;
    s->remaining = n;
    TRY(cull_sel_watch_look(self));
    TRY(take_room(s, n, v));
    TRY(cull_sel_desk_bring(&s->desk, &signals->target.label, v, &s->label));
    TRY(cull_sel_desk_bring(&s->desk, &signals->target.logits, v, &logits));
    for (size_t i = 0; i < n; i++) ((uint32_t *)s->left.here)[i] = (uint32_t)i;
    for (size_t i = 0; i < v; i++) {
        cull_tensor row = cull_tensor_line(&logits, i);

        cull_tensor_to_double(&row, s->classes, s->z + i * s->classes);
    }
done:
    return status;
}

/* softmax - onehot, from differences to the largest logit; at the label as minus the others'
 * share, which is exact where 1 - softmax would round to zero. */
static void differentiate(const double *z, size_t classes, size_t label, double *p)
{
    double most = z[0], sum = 0, others = 0;

    for (size_t c = 1; c < classes; c++) most = z[c] > most ? z[c] : most;
    for (size_t c = 0; c < classes; c++) {
        p[c] = exp(z[c] - most);
        sum += p[c];
        others += c == label ? 0 : p[c];
    }
    p[label] = -others;
    for (size_t c = 0; c < classes; c++) p[c] /= sum;
}

/* P_v and Gbar at the logits as they are now. */
static cull_status take_mean(struct search *s)
{
    cull_status        status = CULL_OK;
    const cull_target *target = &s->signals->target;
    size_t             v = target->count, size = s->classes * s->width;
    cull_tensor        p = cull_matrix(s->pv.there, CULL_F64, v, s->classes);
    double            *pv = s->pv.here, *mean = s->mean.here;
    cull_op_args       args = {.gradient = {&target->h, &p, NULL, v, s->mean.there}};

    for (size_t i = 0; i < v; i++)
        differentiate(s->z + i * s->classes, s->classes, (size_t)cull_tensor_get(&s->label, i),
                      pv + i * s->classes);
    TRY(cull_sel_desk_send(&s->desk, &s->pv, 0, v * s->classes));
    TRY(cull_kit_run(&s->desk.there, CULL_OP_GRADIENT, s->most, &args));
    TRY(cull_sel_desk_fetch(&s->desk, &s->mean, 0, size));
    for (size_t i = 0; i < size; i++) mean[i] /= (double)v;
    TRY(cull_sel_desk_send(&s->desk, &s->mean, 0, size));
done:
    return status;
}

/* One row of a matrix, wherever it lies, as doubles on the host; `line` is room for it. */
static cull_status get_row(struct search *s, const cull_tensor *from, size_t j, void *line,
                           double *out)
{
    cull_status status = CULL_OK;
    size_t      width = (size_t)from->shape[1];
    cull_tensor row = cull_tensor_line(from, j);

    if (cull_sel_desk_apart(&s->desk)) {
        TRY(cull_backend_download(s->desk.backend, line, row.data,
                                  width * cull_dtype_size(row.dtype)));
        row.data = line;
    }
    cull_tensor_to_double(&row, width, out);
done:
    return status;
}

/* shift = [h_v; 1] . [h_j; 1], then z_v -= eta shift_v p_j: what one pick costs. */
static cull_status move_by_one(struct search *s, uint32_t j)
{
    cull_status        status = CULL_OK;
    const cull_tensor *h = &s->signals->h, *p = &s->signals->p;
    double            *step = s->step.here, *shift = s->shift.here;
    size_t             v = s->signals->target.count;
    cull_op_args       args = {
              .gain = {&s->signals->target.h, NULL, NULL, v, 1, s->step.there, s->shift.there}};

    /* what was in mean and shift is not needed any more */
    TRY(get_row(s, h, j, s->mean.here, step));
    step[s->width - 1] = 1;
    TRY(cull_sel_desk_send(&s->desk, &s->step, 0, s->width));
    TRY(cull_kit_run(&s->desk.there, CULL_OP_GAIN, s->most, &args));
    TRY(cull_sel_desk_fetch(&s->desk, &s->shift, 0, v));
    TRY(get_row(s, p, j, s->mean.here, step));
    for (size_t i = 0; i < v; i++)
        for (size_t c = 0; c < s->classes; c++)
            s->z[i * s->classes + c] -= s->eta * shift[i] * step[c];
done:
    return status;
}

/* The same for many at once: z_v -= eta (sum of g_j) [h_v; 1]. */
static cull_status move_by_many(struct search *s, const uint32_t *row, size_t count)
{
    cull_status        status = CULL_OK;
    const cull_target *target = &s->signals->target;
    const double      *shift = s->shift.here;
    cull_op_args       sum = {
              .gradient = {&s->signals->h, &s->signals->p, s->picks.there, count, s->step.there}};
    cull_op_args product = {
        .gain = {&target->h, NULL, NULL, target->count, s->classes, s->step.there, s->shift.there}};

    memcpy(s->picks.here, row, count * sizeof *row);
    TRY(cull_sel_desk_send(&s->desk, &s->picks, 0, count));
    TRY(cull_kit_run(&s->desk.there, CULL_OP_GRADIENT, s->most, &sum));
    TRY(cull_kit_run(&s->desk.there, CULL_OP_GAIN, s->most, &product));
    TRY(cull_sel_desk_fetch(&s->desk, &s->shift, 0, target->count * s->classes));
    for (size_t i = 0; i < target->count * s->classes; i++) s->z[i] -= s->eta * shift[i];
done:
    return status;
}

static cull_status move_logits(struct search *s, const uint32_t *row, size_t count)
{
    cull_status status = CULL_OK;

    TRY(count == 1 ? move_by_one(s, row[0]) : move_by_many(s, row, count));
    for (size_t i = 0; i < s->signals->target.count * s->classes; i++)
        if (!isfinite(s->z[i]))
            FAIL(CULL_NOT_FINITE, "glister: eta=%g moves a validation logit beyond all numbers",
                 s->eta);
done:
    return status;
}

/* Gains of the first `count` of the rows left. */
static cull_status score(struct search *s, size_t count)
{
    cull_status         status = CULL_OK;
    const cull_signals *signals = s->signals;
    const double       *gain = s->score.here;
    cull_op_args        args = {.gain = {&signals->h, &signals->p, s->left.there, count, s->classes,
                                         s->mean.there, s->score.there}};

    TRY(cull_sel_desk_send(&s->desk, &s->left, 0, count));
    TRY(cull_kit_run(&s->desk.there, CULL_OP_GAIN, s->most, &args));
    TRY(cull_sel_desk_fetch(&s->desk, &s->score, 0, count));
    for (size_t i = 0; i < count; i++)
        if (!isfinite(gain[i]))
            FAIL(CULL_NOT_FINITE, "glister: the gain of example %u is beyond all numbers",
                 ((uint32_t *)s->left.here)[i]);
done:
    return status;
}

/* The m largest gains of all that are left; `left` stays in ascending order. */
static cull_status pick_largest(struct search *s, size_t m, uint32_t *index)
{
    cull_status  status = CULL_OK;
    cull_op_args args = {.top = {s->remaining, m, s->score.there, true, s->place.there}};
    uint32_t    *left = s->left.here, *place = s->place.here;
    size_t       kept = 0, taken = 0;

    TRY(score(s, s->remaining));
    TRY(cull_kit_run(&s->desk.there, CULL_OP_TOP, s->signals->count, &args));
    TRY(cull_sel_desk_fetch(&s->desk, &s->place, 0, m));
    for (size_t i = 0; i < s->remaining; i++) {
        if (taken < m && place[taken] == i)
            index[taken++] = left[i];
        else
            left[kept++] = left[i];
    }
    s->remaining = kept;
done:
    return status;
}

/* The largest gain of `looked` random ones of those left, counted by pick. */
static cull_status pick_sampled(struct search *s, cull_key key, size_t pick, size_t looked,
                                uint32_t *index)
{
    cull_status   status = CULL_OK;
    uint32_t     *left = s->left.here;
    const double *gain = s->score.here;
    size_t        best = 0;

    if (looked > s->remaining) looked = s->remaining;
    for (size_t i = 0; i < looked; i++) {
        uint64_t place = (uint64_t)pick * s->signals->count + i;
        size_t   j = i + (size_t)cull_base_below(key, s->signals->epoch, place, s->remaining - i);
        uint32_t drawn = left[j];

        left[j] = left[i];
        left[i] = drawn;
    }
    TRY(score(s, looked));
    for (size_t i = 1; i < looked; i++)
        if (gain[i] > gain[best] || (gain[i] == gain[best] && left[i] < left[best])) best = i;
    *index = left[best];
    left[best] = left[--s->remaining];
done:
    return status;
}

static size_t sample_size(const cull_self *self, size_t count, size_t budget)
{
    double share = log(1 / cull_value_real(self->values, "sample")) / (double)budget;
    double size = ceil((double)count * share);

    if (!(size > 1)) return 1;
    return size < (double)count ? (size_t)size : count;
}

static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    cull_status   status = CULL_OK;
    struct search s = {0};
    cull_key      key = cull_key_make(self->setting->seed, "glister");
    bool          sampled = cull_value_is(self->values, "greedy", "stochastic");
    size_t        looked = sample_size(self, signals->count, budget), rounds = budget, done = 0;
    cull_subset   made = {0}, *to = out;

    if (cull_value_is(self->values, "greedy", "r-greedy") &&
        (uint64_t)cull_value_int(self->values, "r") < budget)
        rounds = (size_t)cull_value_int(self->values, "r");
    TRY(search_make(self, signals, &s));
    if (cull_sel_desk_apart(&s.desk)) to = &made;
    TRY(cull_subset_resize(to, budget));
    for (size_t round = 0; round < rounds; round++) {
        /* floor((round + 1) k / r) picks by the end of this round */
        size_t more = budget / rounds * (round + 1) + budget % rounds * (round + 1) / rounds - done;

        TRY(take_mean(&s));
        if (sampled)
            TRY(pick_sampled(&s, key, round, looked, to->index + done));
        else
            TRY(pick_largest(&s, more, to->index + done));
        done += more;
        if (done < budget) TRY(move_logits(&s, to->index + done - more, more));
    }
    if (to != out) TRY(cull_sel_deliver(to, out));
done:
    cull_sel_desk_clear(&s.desk);
    cull_subset_clear(&made);
    return status;
}

const cull_strategy cull_strategy_glister = {
    .abi = CULL_STRATEGY_ABI,
    .name = "glister",
    .doc = "examples whose gradients lower the loss of a validation set most",
    .runs = CULL_RUNS_PERIOD,
    .traits = CULL_SEL_WAITS,
    .signals = CULL_SIGNAL_H | CULL_SIGNAL_P,
    .options = options,
    .create = create_glister,
    .needs = needs,
    .decide = decide,
};
