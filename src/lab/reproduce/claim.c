/* lab/reproduce/claim.c - claims, decided by intervals, and the sentences that say so. */
#include "lab/reproduce/claim.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "records/judge/statistics.h"

cull_held cull_claim_side(const cull_claim *rule, double low, double high)
{
    double m = rule->margin;

    if (isnan(low) || isnan(high)) return CULL_HELD_OPEN;
    switch (rule->way) {
    case CULL_CLAIM_ABOVE: return low > m ? CULL_HELD : high <= m ? CULL_HELD_NOT : CULL_HELD_OPEN;
    case CULL_CLAIM_BELOW:
        return high < -m ? CULL_HELD : low >= -m ? CULL_HELD_NOT : CULL_HELD_OPEN;
    case CULL_CLAIM_WITHIN:
        return low > -m && high < m     ? CULL_HELD
               : low >= m || high <= -m ? CULL_HELD_NOT
                                        : CULL_HELD_OPEN;
    }
    return CULL_HELD_OPEN;
}

/* By p, where that is what is claimed: a small one on the right side, a small one on the other. */
static cull_held judge_ranks(const cull_claim *rule, const double *difference, size_t pairs,
                             double mean)
{
    double p = cull_stat_wilcoxon(difference, pairs);

    if (!(p <= rule->to)) return CULL_HELD_OPEN;
    return mean > 0 ? CULL_HELD : CULL_HELD_NOT;
}

/* Of a target that is never met. */
static size_t count_infinite(const double *difference, size_t pairs)
{
    size_t never = 0;

    for (size_t i = 0; i < pairs; i++) never += isinf(difference[i]) != 0;
    return never;
}

cull_claimed cull_claim_judge(const cull_claim *rule, const double *difference, size_t pairs,
                              double resolution)
{
    cull_claimed     c = {.held = CULL_HELD_OPEN, .low = NAN, .high = NAN, .pairs = pairs};
    cull_stat_paired test = cull_stat_test(difference, pairs, resolution);

    c.mean = cull_stat_mean(difference, pairs);
    if (pairs > 1) cull_stat_interval(&test, .95, &c.low, &c.high);
    if (isinf(c.mean)) /* only what all seeds say is sure */
        c.low = c.high = pairs > 1 && count_infinite(difference, pairs) == pairs ? c.mean : NAN;
    if (rule->of == CULL_CLAIM_RANKS)
        c.held = judge_ranks(rule, difference, pairs, c.mean);
    else
        c.held = cull_claim_side(rule, c.low, c.high);
    return c;
}

cull_held cull_claim_join(cull_held a, cull_held b)
{
    if (a == CULL_HELD_NONE || b == CULL_HELD_NONE) return a == CULL_HELD_NONE ? b : a;
    if (a == CULL_HELD_NOT || b == CULL_HELD_NOT) return CULL_HELD_NOT;
    return a == CULL_HELD_OPEN || b == CULL_HELD_OPEN ? CULL_HELD_OPEN : CULL_HELD;
}

/* ---- words ---- */

struct text {
    char  *to;
    size_t room, length;
};

static void say(struct text *t, const char *format, ...) CULL_PRINTF(2, 3);
static void say(struct text *t, const char *format, ...)
{
    va_list args;
    int     length = 0;

    if (t->length + 1 >= t->room) return;
    va_start(args, format);
    length = vsnprintf(t->to + t->length, t->room - t->length, format, args);
    va_end(args);
    if (length > 0) t->length += (size_t)length;
}

/* What the difference is of, and its unit. */
static const struct {
    const char *what, *unit;
    int         digits;
} words[] = {
    [CULL_CLAIM_BEST] = {"maximum", " points", 2},
    [CULL_CLAIM_TUNED] = {"maximum, each at its own best value", " points", 2},
    [CULL_CLAIM_END] = {"at the end", " points", 2},
    [CULL_CLAIM_SPEED] = {"times as fast as full training", "", 2},
    [CULL_CLAIM_ENERGY] = {"times as thrifty as full training", "", 2},
    [CULL_CLAIM_SOONER] = {"times as soon at the target as full training", "", 2},
    [CULL_CLAIM_UPDATES] = {"times fewer updates to the target than full training", "", 2},
    [CULL_CLAIM_TRAINED] = {"examples trained until the target, of full training's", "", 2},
    [CULL_CLAIM_FRONT] = {"share of its seed’s frontier", " %", 1},
    [CULL_CLAIM_RANKS] = {"at the end", " points", 2},
    [CULL_CLAIM_WINS] = {"minibatches with an error below random's", " %", 1},
    [CULL_CLAIM_POINTS] = {"as drawn", "", 4},
    [CULL_CLAIM_BARS] = {"by its bars", "", 3},
};

static void say_asked(struct text *t, const cull_claim *rule)
{
    static const char *const ways[] = {"above", "below", "within"};
    double                   m = rule->way == CULL_CLAIM_BELOW ? 0 - rule->margin : rule->margin;

    if (rule->of == CULL_CLAIM_RANKS)
        say(t, "claimed: above 0 with p below %g", rule->to);
    else if (rule->right && rule->of != CULL_CLAIM_BARS)
        say(t, "claimed: %s %s%g", ways[rule->way], rule->way == CULL_CLAIM_WITHIN ? "±" : "", m);
    else if (rule->way == CULL_CLAIM_WITHIN)
        say(t, "claimed: %g, within ±%g", rule->to, m);
    else
        say(t, "claimed: %s %g", ways[rule->way], rule->to + m);
}

/* Differences are shown as such; what is held against a number as the number it is. */
static void say_number(struct text *t, const cull_claim *rule, const cull_claimed *c,
                       const double *difference)
{
    int    digits = words[rule->of].digits;
    bool   sign = rule->right && rule->of != CULL_CLAIM_BARS;
    double by = sign || rule->of == CULL_CLAIM_RANKS ? 0 : rule->to;

    if (isinf(c->mean)) {
        say(t, ": never there in %zu", count_infinite(difference, c->pairs));
        return;
    }
    if (isnan(c->mean)) { /* one never in one seed, the other never in another */
        say(t, ": sometimes the one is never there, sometimes the other");
        return;
    }
    say(t, sign ? ": %+.*f" : ": %.*f", digits, c->mean + by);
    if (!isnan(c->low)) say(t, " [%.*f, %.*f]", digits, c->low + by, digits, c->high + by);
    say(t, "%s", words[rule->of].unit);
    if (rule->of == CULL_CLAIM_RANKS)
        say(t, ", p = %.3g", cull_stat_wilcoxon(difference, c->pairs));
}

/* "grad-match@20" is that at 20. */
static void say_right(struct text *t, const char *right)
{
    size_t length = strcspn(right, "@");

    say(t, " against %.*s%s%s", (int)length, right, right[length] ? " at " : "",
        right[length] ? right + length + 1 : "");
}

static void say_rule(struct text *t, const cull_claim *rule, const cull_claimed *c,
                     const double *difference)
{
    static const char *const ends[] = {"", "held", "not held", "undecided"};
    bool                     points = rule->of == CULL_CLAIM_POINTS || rule->of == CULL_CLAIM_BARS;

    if (t->length) say(t, "\n");
    say(t, "%s", rule->left);
    if (rule->right) say_right(t, rule->right);
    if (rule->at) say(t, points ? ", %s" : ", at %s", rule->at);
    say(t, ", %s", words[rule->of].what);
    if (rule->target > 0)
        say(t, points ? " at %g" : " (%g times the error it ends at)", rule->target);
    if (c->pairs == 0)
        say(t,
            rule->target >= 1 && rule->of != CULL_CLAIM_POINTS
                ? ": no numbers, as runs are missing, full training is there at its first look, or "
                  "nobody comes there"
                : ": no numbers yet");
    else
        say_number(t, rule, c, difference);
    if (c->pairs > 0)
        say(t, "; %zu %s%s", c->pairs,
            rule->of == CULL_CLAIM_WINS ? "minibatch"
            : points                    ? "point"
                                        : "pair",
            c->pairs == 1                 ? ""
            : rule->of == CULL_CLAIM_WINS ? "es"
                                          : "s");
    say(t, "; ");
    say_asked(t, rule);
    say(t, ": %s.", ends[c->held]);
}

cull_status cull_claim_entry(const cull_reproduction *entry, const cull_claim_ground *ground,
                             cull_held *held, char out[CULL_CLAIM_TEXT])
{
    cull_status status = CULL_OK;
    struct text text = {out, CULL_CLAIM_TEXT, 0};
    double     *difference = NULL, resolution = 0;
    size_t      pairs = 0;

    out[0] = '\0';
    *held = CULL_HELD_NONE;
    for (size_t i = 0; i < CULL_CLAIMS && entry->rule[i].of != CULL_CLAIM_NONE; i++) {
        const cull_claim *rule = &entry->rule[i];
        cull_claimed      c = {0};

        if (rule->of == CULL_CLAIM_WINS) {
            c = cull_claim_wins(ground, rule);
        } else {
            TRY(cull_claim_differences(ground, rule, &difference, &pairs, &resolution));
            c = cull_claim_judge(rule, difference, pairs, resolution);
        }
        say_rule(&text, rule, &c, difference);
        *held = cull_claim_join(*held, c.held);
        cull_base_free(difference);
        difference = NULL;
    }
done:
    cull_base_free(difference);
    return status;
}
