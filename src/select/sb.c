/*
 * select/sb.c - Selective-Backprop at a fixed budget: m of M by rank of loss.
 *
 *     percentile_i = (#smaller + 1/2 #equal) / M      the example itself among the equal
 *     weight_i     = percentile_i ^ beta              beta = M/m - 1, or M/m (Balles), or given
 *
 * and m are drawn without replacement by weight (exponential keys, the m smallest). Examples
 * no loss is known of rank above all others, in random order. Nothing is kept between calls.
 *
 * With remembered losses, two options look at the whole pool as it stood when the epoch began
 * (standing.c): `percentile=pool` takes the percentiles from there, and `trim=q` gives a known
 * example whose percentile there exceeds 1 - q the weight `trim-weight` instead of the power.
 * As the never-trained rank highest, nothing is trimmed while they are more than the share q.
 */
#include <math.h>

#include "select/select.h"

struct sb {
    double          given; /* beta as an option; NaN: from the budget */
    bool            balles;
    cull_sel_scores scores;
    double         *weight; /* [rows] percentiles, then what is drawn by */
    size_t          room;

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
    {.key = NULL},
};

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

static cull_status create_sb(cull_self *self)
{
    cull_status status = CULL_OK;
    struct sb  *sb = self->state;

    TRY(check_options(self));
    sb->given = cull_value_real(self->values, "beta");
    sb->balles = cull_value_is(self->values, "beta", "balles");
    sb->over_pool = cull_value_is(self->values, "percentile", "pool");
    sb->trim = cull_value_real(self->values, "trim");
    sb->trim_weight = fmax(cull_value_real(self->values, "trim-weight"), CULL_CHANCE_LEAST);
    sb->looks = sb->over_pool || sb->trim > 0;
    if (sb->looks) TRY(cull_sel_standing_create(self, &sb->standing));
done:
    return status;
}

static double exponent(const struct sb *sb, size_t rows, size_t m)
{
    double ratio = (double)rows / (double)m;

    if (!isnan(sb->given)) return sb->given;
    return sb->balles ? ratio : ratio - 1;
}

/* By rank among the candidates. */
static cull_status rank(struct sb *sb, cull_self *self, const cull_signals *signals)
{
    cull_status  status = CULL_OK;
    cull_op_args args = {.rank = {.rows = signals->count, .percentile = sb->weight}};

    TRY(cull_sel_scores_take(&sb->scores, self, signals, false));
    args.rank.x = sb->scores.x;
    TRY(cull_kit_run(cull_sel_kit(self), CULL_OP_RANK, signals->count, &args));
done:
    return status;
}

/* The pool as the epoch began, or nothing where no option looks at it. */
static cull_status look(struct sb *sb, cull_self *self, uint64_t epoch, const cull_sel_look **out)
{
    static const cull_sel_look nothing = {0};

    *out = &nothing;
    return sb->looks ? cull_sel_standing_take(&sb->standing, self, epoch, out) : CULL_OK;
}

static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    cull_status          status = CULL_OK;
    struct sb           *sb = self->state;
    cull_kit            *kit = cull_sel_kit(self);
    size_t               rows = signals->count;
    const cull_sel_look *stands = NULL;
    cull_op_args         chance = {0}, draw = {0};

    TRY(cull_subset_resize(out, budget));
    TRY(cull_kit_grow(kit, rows, sizeof *sb->weight, "weights", &sb->room, &sb->weight));
    TRY(look(sb, self, signals->epoch, &stands));
    if (!sb->over_pool) TRY(rank(sb, self, signals));
    chance = (cull_op_args){.chance = {.rows = rows,
                                       .place = signals->place,
                                       .percentile = sb->over_pool ? NULL : sb->weight,
                                       .standing = stands->at,
                                       .fresh = stands->fresh,
                                       .pool = self->setting->pool,
                                       .beta = exponent(sb, rows, budget),
                                       .trim = sb->trim,
                                       .trimmed = sb->trim_weight,
                                       .weight = sb->weight}};
    TRY(cull_kit_run(kit, CULL_OP_CHANCE, rows, &chance));
    draw = cull_sel_draw(self, "sb", signals, sb->weight, budget, out->index);
    TRY(cull_kit_run(kit, CULL_OP_DRAW, rows, &draw));
    TRY(cull_sel_standing_keep(&sb->standing));
done:
    return status;
}

/* Before the frame records these losses: an epoch may begin with steps that select nothing. */
static cull_status observe(cull_self *self, const cull_signals *trained)
{
    cull_status          status = CULL_OK;
    struct sb           *sb = self->state;
    const cull_sel_look *stands = NULL;

    TRY(look(sb, self, trained->epoch, &stands));
    TRY(cull_sel_standing_keep(&sb->standing));
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
    .traits = CULL_TAKES_STALE | CULL_TAKES_REMEMBERED,
    .signals = CULL_SIGNAL_LOSS,
    .options = options,
    .state_size = sizeof(struct sb),
    .create = create_sb,
    .decide = decide,
    .observe = observe,
    .save = save,
    .restore = restore,
};
