/*
 * select/sb.c - Selective-Backprop at a fixed budget: m of M by rank of loss.
 *
 *     percentile_i = (#smaller + 1/2 #equal) / M      the example itself among the equal
 *     weight_i     = percentile_i ^ beta              beta = M/m - 1, or M/m (Balles), or given
 *
 * and m are drawn without replacement by weight (exponential keys, the m smallest). Examples
 * no loss is known of rank above all others, in random order. Nothing is kept between calls
 * but the powers of the percentiles last needed: there are only 2M of them.
 *
 * With remembered losses, two options look at the whole pool as it stood when the epoch began
 * (standing.c): `percentile=pool` takes the percentiles from there, and `trim=q` gives a known
 * example whose percentile there exceeds 1 - q the weight `trim-weight` instead of the power.
 * As the never-trained rank highest, nothing is trimmed while they are more than the share q.
 */
#include <math.h>

#include "select/select.h"

enum { MOST_POWERS = 1 << 13 };

struct sb {
    double        given; /* beta as an option; NaN: from the budget */
    bool          balles;
    cull_op      *rank;
    cull_sel_draw draw;
    double       *score, *weight;
    size_t        score_room, weight_room;

    double *power; /* [2 rows + 1] (i / 2 rows)^beta, or below 0: not yet needed */
    size_t  power_room, power_rows;
    double  power_beta;

    bool              over_pool, looks; /* percentile=pool; or trim above 0 */
    double            trim, trim_weight;
    cull_sel_standing standing;
};

static const cull_option_spec options[] = {
    {"beta", CULL_OPTION_REAL, "auto", 0, 100, "auto|balles",
     "exponent of the percentile; auto: 1/rho - 1, balles: 1/rho, rho = m/M"},
    {"percentile", CULL_OPTION_CHOICE, "batch", 0, 0, "batch|pool",
     "losses=remembered: rank among the candidates, or in the whole pool as each epoch begins"},
    {"trim", CULL_OPTION_REAL, "0", 0, 1, NULL,
     "losses=remembered: share of the pool, its largest known losses as each epoch begins, that "
     "weighs trim-weight (wrong labels are among them)"},
    {"trim-weight", CULL_OPTION_REAL, "0.05", 0, 1, NULL,
     "trim above 0: what stands in for the power of the percentile"},
    {NULL, CULL_OPTION_INT, NULL, 0, 0, NULL, NULL},
};

/* A weight too small for a double would leave the draw to row order. */
static const double least = 1e-290;

/* What looks at remembered losses is a mistake without them. */
static cull_status check_options(const cull_self *self)
{
    static const char *const keys[] = {"percentile", "trim", "trim-weight"};
    cull_status              status = CULL_OK;
    bool                     remembered = cull_value_is(self->values, "losses", "remembered");

    for (size_t i = 0; !remembered && i < sizeof keys / sizeof *keys; i++)
        if (cull_values_given(self->values, keys[i]))
            FAIL(CULL_BAD_OPTION, "sb: %s goes with losses=remembered only", keys[i]);
    if (cull_value_real(self->values, "trim") == 0 &&
        cull_values_given(self->values, "trim-weight"))
        FAIL(CULL_BAD_OPTION, "sb remembered: trim-weight goes with a trim above 0 only");
done:
    return status;
}

static cull_status create(cull_self *self)
{
    cull_status status = CULL_OK;
    struct sb  *sb = self->state;

    TRY(check_options(self));
    sb->given = cull_value_real(self->values, "beta");
    sb->balles = cull_value_is(self->values, "beta", "balles");
    sb->over_pool = cull_value_is(self->values, "percentile", "pool");
    sb->trim = cull_value_real(self->values, "trim");
    sb->trim_weight = fmax(cull_value_real(self->values, "trim-weight"), least);
    sb->looks = sb->over_pool || sb->trim > 0;
    if (sb->looks) TRY(cull_sel_standing_create(self->setting->pool, &sb->standing));
done:
    return status;
}

static void destroy(cull_self *self)
{
    struct sb *sb = self->state;

    cull_op_destroy(sb->rank);
    cull_sel_draw_clear(&sb->draw);
    cull_base_free(sb->score);
    cull_base_free(sb->weight);
    cull_base_free(sb->power);
    cull_sel_standing_clear(&sb->standing);
}

static double exponent(const struct sb *sb, size_t rows, size_t m)
{
    double ratio = (double)rows / (double)m;

    if (!isnan(sb->given)) return sb->given;
    return sb->balles ? ratio : ratio - 1;
}

/* A power too small for a double keeps its rank. */
static double power(double percentile, double beta)
{
    double weight = pow(percentile, beta);

    return weight > least ? weight : least * percentile;
}

static cull_status ready_powers(struct sb *sb, size_t rows, double beta)
{
    cull_status status = CULL_OK;

    if (sb->power_rows == rows && sb->power_beta == beta) return CULL_OK;
    sb->power_rows = 0;
    TRY(cull_sel_room(&sb->power, &sb->power_room, 2 * rows + 1));
    for (size_t i = 0; i < 2 * rows + 1; i++) sb->power[i] = -1;
    sb->power_rows = rows;
    sb->power_beta = beta;
done:
    return status;
}

/* Percentiles are whole multiples of 1 / 2 rows, so each power is taken once and looked up. */
static void raise(struct sb *sb, size_t rows, double beta)
{
    double twice = 2 * (double)rows;

    for (size_t i = 0; i < rows; i++) {
        double  percentile = sb->weight[i];
        double *known = &sb->power[(size_t)(percentile * twice + 0.5)];

        if (*known < 0) *known = power(percentile, beta);
        sb->weight[i] = *known;
    }
}

/* By rank among the candidates. */
static cull_status weigh(struct sb *sb, const cull_self *self, const cull_signals *signals,
                         double beta)
{
    cull_status   status = CULL_OK;
    cull_op_args  args = {0};
    cull_backend *backend = self->setting->backend;
    size_t        rows = signals->count;

    TRY(cull_sel_room(&sb->score, &sb->score_room, rows));
    cull_tensor_to_double(&signals->loss, rows, sb->score);
    cull_sel_unseen_first(sb->score, signals->unseen, rows,
                          cull_key_make(self->setting->seed, "unseen"), signals->step,
                          signals->place);
    TRY(cull_op_ready(backend, &(cull_op_desc){.kind = CULL_OP_RANK, .rows = rows}, &sb->rank));
    args.rank.rows = rows;
    args.rank.x = sb->score;
    args.rank.percentile = sb->weight;
    TRY(cull_op_run(sb->rank, &args));
    if (rows <= MOST_POWERS) {
        TRY(ready_powers(sb, rows, beta));
        raise(sb, rows, beta);
    } else {
        for (size_t i = 0; i < rows; i++) sb->weight[i] = power(sb->weight[i], beta);
    }
done:
    return status;
}

/* at[], the pool as the epoch began, or NULL where no option looks at it. */
static cull_status look(struct sb *sb, const cull_self *self, uint64_t epoch, const double **at)
{
    *at = NULL;
    if (!sb->looks) return CULL_OK;
    return cull_sel_standing_take(&sb->standing, self->losses, self->setting->backend,
                                  cull_key_make(self->setting->seed, "unseen"), epoch, at);
}

/* 1 - q and a percentile that are the same number may differ in their last bits. */
static void trim(const struct sb *sb, const cull_signals *signals, const double *at)
{
    for (size_t i = 0; i < signals->count; i++)
        if (at[cull_sel_place(signals, i)] > 1 - sb->trim + 1e-12) sb->weight[i] = sb->trim_weight;
}

static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    cull_status   status = CULL_OK;
    struct sb    *sb = self->state;
    size_t        rows = signals->count;
    double        beta = exponent(sb, rows, budget);
    const double *at = NULL;

    TRY(cull_sel_room(&sb->weight, &sb->weight_room, rows));
    TRY(look(sb, self, signals->epoch, &at));
    if (sb->over_pool) {
        for (size_t i = 0; i < rows; i++)
            sb->weight[i] = power(fabs(at[cull_sel_place(signals, i)]), beta);
    } else {
        TRY(weigh(sb, self, signals, beta));
    }
    if (sb->trim > 0) trim(sb, signals, at);
    TRY(cull_subset_resize(out, budget));
    TRY(cull_sel_draw_run(&sb->draw, self->setting->backend,
                          cull_key_make(self->setting->seed, "sb"), signals->step, signals->place,
                          sb->weight, rows, budget, out->index));
    cull_sel_standing_keep(&sb->standing);
done:
    return status;
}

/* Before the frame records these losses: an epoch may begin with steps that select nothing. */
static cull_status observe(cull_self *self, const cull_signals *trained)
{
    cull_status   status = CULL_OK;
    struct sb    *sb = self->state;
    const double *at = NULL;

    TRY(look(sb, self, trained->epoch, &at));
    cull_sel_standing_keep(&sb->standing);
done:
    return status;
}

static cull_status save(const cull_self *self, cull_writer *writer)
{
    const struct sb *sb = self->state;
    return sb->looks ? cull_sel_standing_save(&sb->standing, writer) : CULL_OK;
}

static cull_status restore(cull_self *self, cull_reader *reader)
{
    struct sb *sb = self->state;
    return sb->looks ? cull_sel_standing_restore(&sb->standing, reader) : CULL_OK;
}

const cull_strategy cull_strategy_sb = {
    .abi = CULL_STRATEGY_ABI,
    .name = "sb",
    .doc = "Selective-Backprop: m of each batch, drawn by percentile of loss to the power beta",
    .runs = CULL_RUNS_STEP,
    .traits = CULL_HOST_SIGNALS | CULL_TAKES_STALE | CULL_TAKES_REMEMBERED,
    .signals = CULL_SIGNAL_LOSS,
    .options = options,
    .state_size = sizeof(struct sb),
    .create = create,
    .destroy = destroy,
    .decide = decide,
    .observe = observe,
    .save = save,
    .restore = restore,
};
