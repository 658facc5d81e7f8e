/* records/judge/advice.c - the cheapest choice that keeps up with full training, or what saves. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "records/judge/advice_parts.h"
#include "records/judge/verdict.h"

#define ALIKE  .03 /* costs this near are the same, as controls share them */
#define LITTLE .01 /* of what is missing: results of chance stray by as much */

/* ---- who may be advised ---- */

bool cull_choice_is_arm(const cull_records_arm *arm)
{
    return strcmp(arm->role, "arm") == 0;
}

bool cull_choice_is_better(const cull_records_arm *arm)
{
    const cull_records_versus *v = cull_records_primary(arm);

    return cull_choice_is_arm(arm) && v &&
           strcmp(v->verdict, cull_verdict_name(CULL_VERDICT_BETTER)) == 0;
}

static cull_choice_kind kind_of(const cull_records_arm *arm)
{
    if (strcmp(arm->role, "shortened") == 0) return CULL_CHOICE_SHORTENED;
    if (strcmp(arm->role, "early-stop") == 0) return CULL_CHOICE_STOPPED;
    if (arm->uniform || strcmp(arm->role, "same-m") == 0 || strcmp(arm->role, "whole-budget") == 0)
        return CULL_CHOICE_UNIFORM;
    return CULL_CHOICE_STRATEGY;
}

bool cull_choice_is_failed(const cull_records_compared *run)
{
    return strcmp(run->status, "failed") == 0 || strcmp(run->status, "corrupt") == 0;
}

bool cull_choice_has_failed(const cull_records_arm *arm)
{
    for (size_t i = 0; i < arm->runs; i++)
        if (cull_choice_is_failed(&arm->run[i])) return true;
    return false;
}

static bool is_ahead(const cull_choices *t, const cull_choice *a, const cull_choice *b)
{
    return cull_yardstick_gain(t->by, a->arm->mean, b->arm->mean) > 0;
}

/* Would something simple that costs no more do as well? */
static bool is_outdone(const cull_choices *t, const cull_choice *strategy)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->choice[i].kind < CULL_CHOICE_STRATEGY &&
            t->choice[i].arm->cost <= (1 + ALIKE) * strategy->arm->cost &&
            is_ahead(t, &t->choice[i], strategy))
            return true;
    return false;
}

static void gather(cull_choices *t)
{
    for (size_t i = 0; i < t->c->arms && t->count < CULL_ADVICE_MOST; i++) {
        const cull_records_arm *arm = &t->c->arm[i];
        cull_choice             one = {.arm = arm, .kind = kind_of(arm)};

        if (arm == t->full || !(arm->cost > 0 && arm->cost < 1)) continue;
        t->cheaper++;
        if (cull_choice_has_failed(arm) || !isfinite(arm->mean)) continue;
        one.full = cull_against_full(t->c, t->by, arm);
        one.may = one.kind != CULL_CHOICE_STRATEGY || cull_choice_is_better(arm);
        if (one.full.pairs >= 2) t->choice[t->count++] = one;
    }
    for (size_t i = 0; i < t->count; i++)
        if (t->choice[i].kind == CULL_CHOICE_STRATEGY && is_outdone(t, &t->choice[i]))
            t->choice[i].may = false;
}

/* ---- who keeps up ---- */

static bool is_like(const cull_records_arm *a, const cull_records_arm *b)
{
    bool same = strcmp(a->strategy, b->strategy) == 0 && strcmp(a->pass, b->pass) == 0 &&
                a->options == b->options;

    for (size_t i = 0; same && i < a->options; i++)
        same = strcmp(a->option[i].key, b->option[i].key) == 0 &&
               strcmp(a->option[i].value, b->option[i].value) == 0;
    return same;
}

bool cull_choice_keeps_up(const cull_choices *t, const cull_choice *one)
{
    return one->full.low >= -t->c->margin;
}

/* Those of a kind differ in how many they keep alone. Asked are also those that may not be advised,
 * or who is asked would depend on what is answered. */
const cull_choice *cull_choice_stopped_by(const cull_choices *all, const cull_choice *one)
{
    for (size_t i = 0; i < all->count; i++) {
        const cull_choice *other = &all->choice[i];

        if (other != one && other->kind == one->kind && is_like(other->arm, one->arm) &&
            other->arm->cost >= one->arm->cost && !cull_choice_keeps_up(all, other))
            return other;
    }
    return NULL;
}

/* It and all of its kind that cost more. */
static bool all_keep_up(const cull_choices *t, const cull_choice *one)
{
    return cull_choice_keeps_up(t, one) && !cull_choice_stopped_by(t, one);
}

/* The best mean of the cheapest of them; NULL: nobody. */
static const cull_choice *find_keeper(const cull_choices *t)
{
    const cull_choice *best = NULL;
    double             least = INFINITY;

    for (size_t i = 0; i < t->count; i++)
        if (t->choice[i].may && all_keep_up(t, &t->choice[i]))
            least = fmin(least, t->choice[i].arm->cost);
    for (size_t i = 0; i < t->count; i++) {
        const cull_choice *one = &t->choice[i];

        if (one->may && one->arm->cost <= (1 + ALIKE) * least && all_keep_up(t, one) &&
            (!best || is_ahead(t, one, best)))
            best = one;
    }
    return best;
}

static bool saves_beside(const cull_choice *one, double than)
{
    return one->arm->cost * (1 + ALIKE) <= than;
}

/* The best mean of those cheaper than `than`: of strategies, or of the simple ones. */
static const cull_choice *find_best(const cull_choices *t, double than, bool strategies)
{
    const cull_choice *best = NULL;

    for (size_t i = 0; i < t->count; i++) {
        const cull_choice *one = &t->choice[i];

        if (!one->may || (one->kind == CULL_CHOICE_STRATEGY) != strategies ||
            !saves_beside(one, than))
            continue;
        if (!best || is_ahead(t, one, best) ||
            (!is_ahead(t, best, one) && one->arm->cost < best->arm->cost))
            best = one;
    }
    return best;
}

/* The result of one answer to everything. Older comparisons do not say: classes that are as
 * frequent as each other are the least there can be. NaN: not known. */
static double guess_of(const cull_choices *t)
{
    if (isfinite(t->c->guess)) return t->c->guess;
    if (t->by->counts && t->c->classes >= 2) return t->by->scale / t->c->classes;
    return t->by->bounded || t->by->lower ? NAN : 0;
}

/* A network that fell over during training says the same of everything: one class, or the mean. */
static bool only_guesses(const cull_choices *t)
{
    double guess = guess_of(t), near = 0;

    if (t->by->bounded) near = LITTLE * cull_yardstick_error(t->by, guess);
    return cull_yardstick_gain(t->by, t->full->mean, guess) <= near;
}

static const char *say_guess(const cull_choices *t, char out[CULL_ADVICE_HINDRANCE])
{
    const cull_yardstick *m = t->by;

    (void)snprintf(out, CULL_ADVICE_HINDRANCE,
                   "full training has learnt nothing; at %.*f %s %s it is no better than guessing, "
                   "as one answer to everything gets %.*f %s",
                   m->digits, t->full->mean, m->unit, m->name, m->digits, guess_of(t), m->unit);
    return out;
}

/* Why nothing can be advised, in the room where it has to be; NULL: something can. */
static const char *find_hindrance(const cull_choices *t, char room[CULL_ADVICE_HINDRANCE])
{
    size_t there = 0;

    for (size_t i = 0; t->full && i < t->full->runs; i++)
        there += cull_against_told(&t->full->run[i]);
    if (!(t->c->margin >= 0)) return "it is not recorded which differences count";
    if (there == 0) return "full training has no finished run, which all is measured by";
    if (only_guesses(t)) return say_guess(t, room);
    if (t->c->seeds == 1) return "one seed decides nothing. Run at least three";
    if (t->count == 0 && t->cheaper > 0)
        return "nothing cheaper than full training has two seeds beside it";
    return NULL;
}

void cull_choices_find(const cull_records_comparison *c, const cull_yardstick *by,
                       cull_choices *out)
{
    *out = (cull_choices){.c = c, .by = by, .full = cull_against_whom(c)};
    gather(out);
    out->why = find_hindrance(out, out->room);
    if (out->why) return;
    out->keeper = find_keeper(out);
    out->saving = find_best(out, out->keeper ? out->keeper->arm->cost : 1, true);
    if (!out->saving && !out->keeper) out->saving = find_best(out, 1, false);
}

cull_verdict_bar cull_choices_bar(const cull_choices *t, const cull_records_arm *arm)
{
    const cull_choice *one = NULL;

    if (t->why) return CULL_BAR_HINDERED;
    if (cull_choice_has_failed(arm)) return CULL_BAR_FAILED;
    for (size_t i = 0; i < t->count; i++)
        if (t->choice[i].arm == arm) one = &t->choice[i];
    if (!one) return CULL_BAR_FEW;
    if (!one->may) return CULL_BAR_OUTDONE;
    if (t->keeper && t->keeper->kind == CULL_CHOICE_STRATEGY) return CULL_BAR_NONE;
    if (saves_beside(one, t->keeper ? t->keeper->arm->cost : 1)) return CULL_BAR_NONE;
    if (!t->keeper) return CULL_BAR_DEAR;
    return one->full.low > 0 && is_ahead(t, one, t->keeper) ? CULL_BAR_NONE : CULL_BAR_NEEDLESS;
}

bool cull_advice_is_final(const cull_records_comparison *c)
{
    size_t failed = 0;

    if (c->finished) return true;
    for (size_t i = 0; i < c->arms; i++) {
        const cull_records_arm *arm = &c->arm[i];

        if (strcmp(arm->role, "early-stop") == 0) continue; /* read off full training */
        if (arm->runs < c->seeds) return false;
        for (size_t k = 0; k < arm->runs; k++) {
            bool fell = cull_choice_is_failed(&arm->run[k]);

            if (!fell && strcmp(arm->run[k].status, "finished") != 0) return false;
            failed += fell;
        }
    }
    return failed > 0;
}

void cull_advise(const cull_records_comparison *c, const cull_yardstick *by, cull_advice *out)
{
    cull_choices t;

    *out = (cull_advice){0};
    cull_choices_find(c, by, &t);
    if (t.why)
        cull_advice_say_why_not(&t, t.why, out);
    else
        cull_advice_say(&t, out);
}
