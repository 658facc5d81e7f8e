/*
 * select/sb.c - Selective-Backprop at a fixed budget: m of M by rank of loss.
 *
 *     percentile_i = (#smaller + 1/2 #equal) / M      the example itself among the equal
 *     weight_i     = percentile_i ^ beta              beta = M/m - 1, or M/m (Balles), or given
 *
 * and m are drawn without replacement by weight (exponential keys, the m smallest). Examples
 * no loss is known of rank above all others, in random order. Nothing is kept between calls
 * but the powers of the percentiles last needed: there are only 2M of them.
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
};

static const cull_option_spec options[] = {
    {"beta", CULL_OPTION_REAL, "auto", 0, 100, "auto|balles",
     "exponent of the percentile; auto: 1/rho - 1, balles: 1/rho, rho = m/M"},
    {NULL, CULL_OPTION_INT, NULL, 0, 0, NULL, NULL},
};

static cull_status create(cull_self *self)
{
    struct sb *sb = self->state;

    sb->given = cull_value_real(self->values, "beta");
    sb->balles = cull_value_is(self->values, "beta", "balles");
    return CULL_OK;
}

static void destroy(cull_self *self)
{
    struct sb *sb = self->state;

    cull_op_destroy(sb->rank);
    cull_sel_draw_clear(&sb->draw);
    cull_base_free(sb->score);
    cull_base_free(sb->weight);
    cull_base_free(sb->power);
}

static double exponent(const struct sb *sb, size_t rows, size_t m)
{
    double ratio = (double)rows / (double)m;

    if (!isnan(sb->given)) return sb->given;
    return sb->balles ? ratio : ratio - 1;
}

/* A power too small for a double keeps its rank: a zero would leave the draw to row order. */
static double power(double percentile, double beta)
{
    const double least = 1e-290;
    double       weight = pow(percentile, beta);

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

static cull_status weigh(struct sb *sb, cull_backend *backend, size_t rows, double beta)
{
    cull_status  status = CULL_OK;
    cull_op_args args = {0};

    TRY(cull_op_ready(backend, &(cull_op_desc){CULL_OP_RANK, rows}, &sb->rank));
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

static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    cull_status   status = CULL_OK;
    struct sb    *sb = self->state;
    cull_backend *backend = self->setting->backend;
    size_t        rows = signals->count;
    uint64_t      seed = self->setting->seed;

    TRY(cull_sel_room(&sb->score, &sb->score_room, rows));
    TRY(cull_sel_room(&sb->weight, &sb->weight_room, rows));
    cull_tensor_to_double(&signals->loss, rows, sb->score);
    cull_sel_unseen_first(sb->score, signals->unseen, rows, cull_key_make(seed, "unseen"),
                          signals->step, signals->place);
    TRY(weigh(sb, backend, rows, exponent(sb, rows, budget)));
    TRY(cull_subset_resize(out, budget));
    TRY(cull_sel_draw_run(&sb->draw, backend, cull_key_make(seed, "sb"), signals->step,
                          signals->place, sb->weight, rows, budget, out->index));
done:
    return status;
}

const cull_strategy cull_strategy_sb = {
    .abi = CULL_STRATEGY_ABI,
    .name = "sb",
    .doc = "Selective-Backprop: m of each batch, drawn by percentile of loss to the power beta",
    .runs = CULL_RUNS_STEP,
    .traits = CULL_TAKES_STALE | CULL_TAKES_REMEMBERED,
    .signals = CULL_SIGNAL_LOSS,
    .options = options,
    .state_size = sizeof(struct sb),
    .create = create,
    .destroy = destroy,
    .decide = decide,
};
