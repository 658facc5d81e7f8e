/* records/judge/advice_words.c - advice as sentences, for people at a terminal and at a page. */
#include <math.h>
#include <stdio.h>

#include "records/judge/advice_parts.h"
#include "records/judge/sentence.h"
#include "records/judge/verdict.h"

enum { NAMED = 3 }; /* of those that failed */

#define say cull_sentence_say

static void name_choice(cull_sentence *s, const cull_choice *one)
{
    if (one->kind == CULL_CHOICE_SHORTENED)
        say(s, "full training on a shortened schedule");
    else if (one->kind == CULL_CHOICE_STOPPED)
        say(s, "full training stopped early");
    else if (one->kind == CULL_CHOICE_UNIFORM)
        say(s, "uniform choice (%.100s)", one->arm->name);
    else
        say(s, "%.100s", one->arm->name);
}

/* As it is shown: nothing that is cut to nothing has a sign. */
static double cut(const cull_yardstick *m, double points)
{
    return fabs(points) < .5 * pow(10, -m->digits) ? 0 : points;
}

/* "gives up 1.20 points of accuracy (0.90 to 1.50)" */
static void say_loss(cull_sentence *s, const cull_choices *t, const cull_choice *one)
{
    const cull_against   *f = &one->full;
    const cull_yardstick *m = t->by;

    if (f->high < 0)
        say(s, "gives up %.*f %s of %s (95 %% interval %.*f to %.*f)", m->digits, -f->gain,
            m->points, m->name, m->digits, -f->high, m->digits, -f->low);
    else if (f->low > 0)
        say(s, "gains %.*f %s of %s (95 %% interval %.*f to %.*f)", m->digits, f->gain, m->points,
            m->name, m->digits, f->low, m->digits, f->high);
    else if (cut(m, f->gain) == 0)
        say(s, "comes out level with full training (95 %% interval %+.*f to %+.*f)", m->digits,
            cut(m, f->low), m->digits, cut(m, f->high));
    else
        say(s, "comes out %.*f %s %s full training (95 %% interval %+.*f to %+.*f)", m->digits,
            fabs(f->gain), m->points, f->gain < 0 ? "below" : "above", m->digits, cut(m, f->low),
            m->digits, cut(m, f->high));
}

static void say_keeper(cull_sentence *s, const cull_choices *t, const cull_choice *one)
{
    const cull_against   *f = &one->full;
    const cull_yardstick *m = t->by;

    if (one->kind == CULL_CHOICE_SHORTENED)
        say(s, "train in full, but not as long:");
    else if (one->kind == CULL_CHOICE_STOPPED)
        say(s, "train in full, but stop early:");
    else if (one->kind == CULL_CHOICE_UNIFORM)
        say(s, "choose examples uniformly (%.100s):", one->arm->name);
    else
        say(s, "use %.100s:", one->arm->name);
    if (f->low > 0)
        say(s, " %s is above full training's, by %.*f %s (95 %% interval %+.*f to %+.*f)", m->name,
            m->digits, f->gain, m->points, m->digits, f->low, m->digits, f->high);
    else
        say(s, " %s stays within %.3g %s of full training's (%+.*f, 95 %% interval %+.*f to %+.*f)",
            m->name, t->c->margin, m->points, m->digits, cut(m, f->gain), m->digits, cut(m, f->low),
            m->digits, cut(m, f->high));
    say(s, ", at %.0f %% of the cost.", 100 * one->arm->cost);
}

/* How a strategy that pays stands beside uniform choice, which is why it is named at all. */
static void say_uniform(cull_sentence *s, const cull_choices *t, const cull_choice *one)
{
    say(s, "%sUniform choice at the same cost is %.*f %s %s.", s->length ? " " : "", t->by->digits,
        fabs(cull_records_primary(one->arm)->difference), t->by->points,
        t->by->lower ? "higher" : "lower");
}

static void say_seeds(cull_sentence *s, const cull_choices *t, const cull_choice *one)
{
    uint64_t more = cull_verdict_seeds_within(one->full.sd, one->full.gain + t->c->margin);

    if (!(one->full.gain > -t->c->margin) || cull_choice_keeps_up(t, one) || more == 0) return;
    more = more > one->full.pairs ? more - one->full.pairs : 1;
    say(s, " Whether it stays within %.3g %s, about %llu more seed%s would tell.", t->c->margin,
        t->by->points, (unsigned long long)more, more == 1 ? "" : "s");
}

/* Its interval seems to say that it keeps up, beside a sentence by which nothing does. */
static void say_stopped(cull_sentence *s, const cull_choices *t, const cull_choice *one)
{
    const cull_choice *by = cull_choice_stopped_by(t, one);

    if (!by || !cull_choice_keeps_up(t, one)) return;
    say(s,
        " By itself that would do; but of many that are tried some do by chance, so it counts only "
        "where all of its kind that cost more keep up too, and %.100s is not shown to.",
        by->arm->name);
}

/* Beside what is advised: what is cheaper still, or saves at a price. */
static void say_saving(cull_sentence *s, const cull_choices *t, const cull_choice *one, bool more)
{
    say(s, "%sTo save%s, ", s->length ? " " : "", more ? " more" : "");
    name_choice(s, one);
    say(s, " takes %.0f %% of the cost and ", 100 * one->arm->cost);
    say_loss(s, t, one);
    say(s, ".");
    if (one->kind == CULL_CHOICE_STRATEGY) say_uniform(s, t, one);
    say_stopped(s, t, one);
    say_seeds(s, t, one);
}

/* Advised for what it saves, though it is not shown to keep up. */
static void say_saver(cull_sentence *what, cull_sentence *more, const cull_choices *t,
                      const cull_choice *one)
{
    say(what, "to save %.0f %% of the cost, use %.100s: it ", 100 * (1 - one->arm->cost),
        one->arm->name);
    say_loss(what, t, one);
    say(what, ".");
    say(more,
        "Where that is too much, train in full: nothing cheaper is shown to stay within %.3g %s of "
        "it.",
        t->c->margin, t->by->points);
    say_uniform(more, t, one);
    say_stopped(more, t, one);
    say_seeds(more, t, one);
}

/* The best of the strategies that are shown to be above full training, whatever they cost, where
 * that is more than what is advised gives: somebody may want it. What saves has been told. */
static void say_above(cull_sentence *s, const cull_choices *t, const cull_records_arm *chosen,
                      const cull_records_arm *saving)
{
    const cull_records_arm *best = chosen;
    double                  gain = 0;

    for (size_t i = 0; i < t->c->arms; i++) {
        const cull_records_arm *arm = &t->c->arm[i];
        cull_against            against = {0};

        if (!cull_choice_is_better(arm) || cull_choice_has_failed(arm) ||
            !(cull_yardstick_gain(t->by, arm->mean, best->mean) > 0))
            continue;
        against = cull_against_full(t->c, t->by, arm);
        if (!(against.low > 0)) continue;
        best = arm;
        gain = against.gain;
    }
    if (best == chosen || best == saving) return;
    say(s, "%sBetter than full training is %.100s, by %.*f %s, at ", s->length ? " " : "",
        best->name, t->by->digits, gain, t->by->points);
    if (best->cost < 1)
        say(s, "%.0f %% of its cost.", 100 * best->cost);
    else
        say(s, "%.2f times its cost.", best->cost);
}

static void say_failed(cull_sentence *s, const cull_choices *t)
{
    size_t failed = 0, said = 0;

    for (size_t i = 0; i < t->c->arms; i++)
        failed += cull_choice_is_arm(&t->c->arm[i]) && cull_choice_has_failed(&t->c->arm[i]);
    if (!failed) return;
    say(s, "%sLeft out, since a run failed: ", s->length ? " " : "");
    for (size_t i = 0; i < t->c->arms && said < NAMED; i++)
        if (cull_choice_is_arm(&t->c->arm[i]) && cull_choice_has_failed(&t->c->arm[i]))
            say(s, "%s%.100s", said++ ? ", " : "", t->c->arm[i].name);
    if (failed > said) say(s, " and %zu more", failed - said);
    say(s, ".");
}

static void say_full(cull_sentence *s, const cull_choices *t)
{
    if (t->cheaper == 0)
        say(s, "train in full: nothing that was tried costs less.");
    else
        say(s,
            "train in full, unless some %s may be given up: nothing cheaper is shown to stay "
            "within "
            "%.3g %s of it.",
            t->by->name, t->c->margin, t->by->points);
}

void cull_advice_say(const cull_choices *all, cull_advice *out)
{
    const cull_choice *keeper = all->keeper, *saving = all->saving;
    bool               final = cull_advice_is_final(all->c);

    cull_sentence what = {.out = out->what, .room = sizeof out->what};
    cull_sentence more = {.out = out->more, .room = sizeof out->more};
    bool          saver = !keeper && saving && saving->kind == CULL_CHOICE_STRATEGY;

    out->chosen = keeper ? keeper->arm : saver ? saving->arm : all->full;
    out->saving = saving && !saver ? saving->arm : NULL;
    if (!final) say(&what, "So far: ");
    if (keeper)
        say_keeper(&what, all, keeper);
    else if (saver)
        say_saver(&what, &more, all, saving);
    else
        say_full(&what, all);
    if (final) out->what[0] = (char)(out->what[0] - 'a' + 'A');
    if (keeper && keeper->kind == CULL_CHOICE_STRATEGY) say_uniform(&more, all, keeper);
    if (out->saving) say_saving(&more, all, saving, keeper != NULL);
    say_above(&more, all, out->chosen, out->saving);
    say_failed(&more, all);
}

void cull_advice_say_why_not(const cull_choices *all, const char *why, cull_advice *out)
{
    cull_sentence more = {.out = out->more, .room = sizeof out->more};

    (void)snprintf(out->what, sizeof out->what, "What to do cannot be said yet: %s.", why);
    say_failed(&more, all);
}
