/* lab/compare/advice.c - the cheapest choice that keeps up with full training, or what saving
 * costs; in words. */
#include "lab/compare/advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/compare/sentence.h"
#include "lab/compare/verdict.h"

#define ALIKE .03 /* costs this near are the same, as controls share them */

enum { MOST = 512, NAMED = 3 };

enum kind { SHORTER, STOPPED, UNIFORM, STRATEGY, NONE }; /* simple ones first */

struct choice {
    const cull_records_arm *arm;
    enum kind               kind;
    cull_against            full;
};

struct table {
    const cull_records_comparison *c;
    const cull_yardstick          *measure;
    const cull_records_arm        *full;
    struct choice                  choice[MOST];
    size_t                         count;
    size_t cheaper; /* arms and controls that cost less than full training */
};

/* ---- who may be advised ---- */

static bool is_arm(const cull_records_arm *arm)
{
    return strcmp(arm->role, "arm") == 0;
}

static bool is_better(const cull_records_arm *arm)
{
    const cull_records_versus *v = cull_records_primary(arm);

    return is_arm(arm) && v && strcmp(v->verdict, cull_verdict_name(CULL_VERDICT_BETTER)) == 0;
}

static enum kind kind_of(const cull_records_arm *arm)
{
    if (strcmp(arm->role, "shortened") == 0) return SHORTER;
    if (strcmp(arm->role, "early-stop") == 0) return STOPPED;
    if (arm->uniform || strcmp(arm->role, "same-m") == 0 || strcmp(arm->role, "whole-budget") == 0)
        return UNIFORM;
    return is_better(arm) ? STRATEGY : NONE;
}

static bool has_failed(const cull_records_arm *arm)
{
    for (size_t i = 0; i < arm->runs; i++)
        if (strcmp(arm->run[i].status, "failed") == 0 || strcmp(arm->run[i].status, "corrupt") == 0)
            return true;
    return false;
}

static bool is_ahead(const struct table *t, const struct choice *a, const struct choice *b)
{
    return cull_yardstick_gain(t->measure, a->arm->mean, b->arm->mean) > 0;
}

/* Would something simple that costs no more do as well? */
static bool is_outdone(const struct table *t, const struct choice *strategy)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->choice[i].kind < STRATEGY &&
            t->choice[i].arm->cost <= (1 + ALIKE) * strategy->arm->cost &&
            is_ahead(t, &t->choice[i], strategy))
            return true;
    return false;
}

static void gather(struct table *t)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->c->arms && t->count < MOST; i++) {
        const cull_records_arm *arm = &t->c->arm[i];
        struct choice           one = {.arm = arm, .kind = kind_of(arm)};

        if (arm == t->full || !(arm->cost > 0 && arm->cost < 1)) continue;
        t->cheaper++;
        if (one.kind == NONE || has_failed(arm) || !isfinite(arm->mean)) continue;
        one.full = cull_against_full(t->c, t->measure, arm);
        if (one.full.pairs >= 2) t->choice[t->count++] = one;
    }
    for (size_t i = 0; i < t->count; i++)
        if (t->choice[i].kind != STRATEGY || !is_outdone(t, &t->choice[i]))
            t->choice[kept++] = t->choice[i];
    t->count = kept;
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

static bool keeps_up(const struct table *t, const struct choice *one)
{
    return one->full.low >= -t->c->margin;
}

/* It and all of its kind that cost more: that differ from it in how many they keep alone. */
static bool all_keep_up(const struct table *t, const struct choice *one)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct choice *other = &t->choice[i];

        if (other->kind == one->kind && is_like(other->arm, one->arm) &&
            other->arm->cost >= one->arm->cost && !keeps_up(t, other))
            return false;
    }
    return true;
}

/* The cheapest of them; NULL: nobody. */
static const struct choice *find_keeper(const struct table *t)
{
    const struct choice *best = NULL;

    for (size_t i = 0; i < t->count; i++) {
        const struct choice *one = &t->choice[i];
        double               cost = one->arm->cost;

        if (!all_keep_up(t, one)) continue;
        if (!best || cost * (1 + ALIKE) < best->arm->cost ||
            (cost <= best->arm->cost * (1 + ALIKE) && is_ahead(t, one, best)))
            best = one;
    }
    return best;
}

/* The best mean of those cheaper than `than`: of strategies, or of the simple ones. */
static const struct choice *find_best(const struct table *t, double than, bool strategies)
{
    const struct choice *best = NULL;

    for (size_t i = 0; i < t->count; i++) {
        const struct choice *one = &t->choice[i];

        if ((one->kind == STRATEGY) != strategies || one->arm->cost * (1 + ALIKE) > than) continue;
        if (!best || is_ahead(t, one, best) ||
            (!is_ahead(t, best, one) && one->arm->cost < best->arm->cost))
            best = one;
    }
    return best;
}

/* ---- in words ---- */

#define say cull_sentence_say

static void name_choice(cull_sentence *s, const struct choice *one)
{
    if (one->kind == SHORTER)
        say(s, "full training on a shortened schedule");
    else if (one->kind == STOPPED)
        say(s, "full training stopped early");
    else if (one->kind == UNIFORM)
        say(s, "uniform choice (%.100s)", one->arm->name);
    else
        say(s, "%.100s", one->arm->name);
}

/* "gives up 1.20 points of accuracy (0.90 to 1.50)" */
static void say_loss(cull_sentence *s, const struct table *t, const struct choice *one)
{
    const cull_against   *f = &one->full;
    const cull_yardstick *m = t->measure;

    if (f->high < 0)
        say(s, "gives up %.*f %s of %s (95 %% interval %.*f to %.*f)", m->digits, -f->gain,
            m->points, m->name, m->digits, -f->high, m->digits, -f->low);
    else if (f->low > 0)
        say(s, "gains %.*f %s of %s (95 %% interval %.*f to %.*f)", m->digits, f->gain, m->points,
            m->name, m->digits, f->low, m->digits, f->high);
    else
        say(s, "comes out %.*f %s %s full training (95 %% interval %+.*f to %+.*f)", m->digits,
            fabs(f->gain), m->points, f->gain < 0 ? "below" : "above", m->digits, f->low, m->digits,
            f->high);
}

static void say_keeper(cull_sentence *s, const struct table *t, const struct choice *one)
{
    const cull_against   *f = &one->full;
    const cull_yardstick *m = t->measure;

    if (one->kind == SHORTER)
        say(s, "train in full, but not as long:");
    else if (one->kind == STOPPED)
        say(s, "train in full, but stop early:");
    else if (one->kind == UNIFORM)
        say(s, "choose examples uniformly (%.100s):", one->arm->name);
    else
        say(s, "use %.100s:", one->arm->name);
    if (f->low > 0)
        say(s, " %s is above full training's, by %.*f %s (95 %% interval %+.*f to %+.*f)", m->name,
            m->digits, f->gain, m->points, m->digits, f->low, m->digits, f->high);
    else
        say(s, " %s stays within %.2g %s of full training's (%+.*f, 95 %% interval %+.*f to %+.*f)",
            m->name, t->c->margin, m->points, m->digits, f->gain, m->digits, f->low, m->digits,
            f->high);
    say(s, ", at %.0f %% of the cost.", 100 * one->arm->cost);
}

/* How a strategy that pays stands beside uniform choice, which is why it is named at all. */
static void say_uniform(cull_sentence *s, const struct table *t, const struct choice *one)
{
    say(s, "Uniform choice at the same cost is %.*f %s %s.", t->measure->digits,
        fabs(cull_records_primary(one->arm)->difference), t->measure->points,
        t->measure->lower ? "higher" : "lower");
}

static void say_seeds(cull_sentence *s, const struct table *t, const struct choice *one)
{
    uint64_t more = cull_verdict_seeds_within(one->full.sd, one->full.gain + t->c->margin);

    if (!(one->full.gain > -t->c->margin) || keeps_up(t, one) || more == 0) return;
    more = more > one->full.pairs ? more - one->full.pairs : 1;
    say(s, " Whether it stays within %.2g %s, about %llu more seed%s would tell.", t->c->margin,
        t->measure->points, (unsigned long long)more, more == 1 ? "" : "s");
}

static void say_saving(cull_sentence *s, const struct table *t, const struct choice *one, bool more)
{
    say(s, "%sTo save%s, ", s->length ? " " : "", more ? " more" : "");
    name_choice(s, one);
    say(s, " takes %.0f %% of the cost and ", 100 * one->arm->cost);
    say_loss(s, t, one);
    say(s, ".");
    if (one->kind == STRATEGY) {
        say(s, " ");
        say_uniform(s, t, one);
    }
    say_seeds(s, t, one);
}

/* The best of the strategies that are shown to be above full training, whatever they cost, where
 * that is more than what is advised gives: somebody may want it. */
static void say_above(cull_sentence *s, const struct table *t, const cull_records_arm *chosen)
{
    const cull_records_arm *best = chosen;
    double                  gain = 0;

    for (size_t i = 0; i < t->c->arms; i++) {
        const cull_records_arm *arm = &t->c->arm[i];
        cull_against            against = {0};

        if (!is_better(arm) || has_failed(arm) ||
            !(cull_yardstick_gain(t->measure, arm->mean, best->mean) > 0))
            continue;
        against = cull_against_full(t->c, t->measure, arm);
        if (!(against.low > 0)) continue;
        best = arm;
        gain = against.gain;
    }
    if (best == chosen) return;
    say(s, "%sBetter than full training is %.100s, by %.*f %s, at ", s->length ? " " : "",
        best->name, t->measure->digits, gain, t->measure->points);
    if (best->cost < 1)
        say(s, "%.0f %% of its cost.", 100 * best->cost);
    else
        say(s, "%.2f times its cost.", best->cost);
}

static void say_failed(cull_sentence *s, const struct table *t)
{
    size_t failed = 0, said = 0;

    for (size_t i = 0; i < t->c->arms; i++)
        failed += is_arm(&t->c->arm[i]) && has_failed(&t->c->arm[i]);
    if (!failed) return;
    say(s, "%sLeft out, since a run failed: ", s->length ? " " : "");
    for (size_t i = 0; i < t->c->arms && said < NAMED; i++)
        if (is_arm(&t->c->arm[i]) && has_failed(&t->c->arm[i]))
            say(s, "%s%.100s", said++ ? ", " : "", t->c->arm[i].name);
    if (failed > said) say(s, " and %zu more", failed - said);
    say(s, ".");
}

/* A network that fell over during training says the same of everything. */
static bool only_guesses(const struct table *t)
{
    return t->measure->counts && t->c->classes >= 2 &&
           t->full->mean < 1.02 * t->measure->scale / t->c->classes;
}

/* Why nothing can be advised; NULL: something can. */
static const char *find_hindrance(const struct table *t)
{
    size_t there = 0;

    for (size_t i = 0; t->full && i < t->full->runs; i++)
        there += cull_against_told(&t->full->run[i]);
    if (!(t->c->margin >= 0)) return "it is not recorded which differences count";
    if (there == 0) return "full training has no finished run, which all is measured by";
    if (only_guesses(t)) return "full training has learnt nothing; it is no better than guessing";
    if (t->c->seeds == 1) return "one seed decides nothing. Run at least three";
    if (t->count == 0 && t->cheaper > 0)
        return "nothing cheaper than full training has two seeds beside it";
    return NULL;
}

static void say_full(cull_sentence *s, const struct table *t)
{
    if (t->cheaper == 0)
        say(s, "train in full: nothing that was tried costs less.");
    else
        say(s,
            "train in full, unless some %s may be given up: nothing cheaper is shown to stay "
            "within "
            "%.2g %s of it.",
            t->measure->name, t->c->margin, t->measure->points);
}

static void put_together(struct table *t, cull_advice *out)
{
    cull_sentence        what = {.out = out->what, .room = sizeof out->what};
    cull_sentence        more = {.out = out->more, .room = sizeof out->more};
    const struct choice *keeper = find_keeper(t), *saving = NULL;

    out->chosen = keeper ? keeper->arm : t->full;
    saving = find_best(t, keeper ? keeper->arm->cost : 1, true);
    if (!saving && !keeper) saving = find_best(t, 1, false);
    out->saving = saving ? saving->arm : NULL;
    if (!t->c->finished) say(&what, "So far: ");
    if (keeper)
        say_keeper(&what, t, keeper);
    else
        say_full(&what, t);
    if (t->c->finished) out->what[0] = (char)(out->what[0] - 'a' + 'A');
    if (keeper && keeper->kind == STRATEGY) say_uniform(&more, t, keeper);
    if (saving) say_saving(&more, t, saving, keeper != NULL);
    say_above(&more, t, out->chosen);
    say_failed(&more, t);
}

void cull_advise(const cull_records_comparison *c, const cull_yardstick *measure, cull_advice *out)
{
    struct table  t = {.c = c, .measure = measure, .full = cull_against_whom(c)};
    cull_sentence more = {.out = out->more, .room = sizeof out->more};
    const char   *why = NULL;

    *out = (cull_advice){0};
    gather(&t);
    why = find_hindrance(&t);
    if (!why) {
        put_together(&t, out);
        return;
    }
    (void)snprintf(out->what, sizeof out->what, "What to do cannot be said yet: %s.", why);
    say_failed(&more, &t);
}
