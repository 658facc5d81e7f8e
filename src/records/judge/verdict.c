/* records/judge/verdict.c - better, worse, no different, or how many seeds it would take to know.
 */
#include "records/judge/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "records/judge/sentence.h"

#define ALPHA .05

enum { FEW = 6 }; /* below this a comparison says that seeds are few */

const char *cull_verdict_name(cull_verdict_kind kind)
{
    static const char *const names[] = {"untested", "better", "worse", "no different", "undecided"};

    return names[kind];
}

/* Falls as n grows: so does t, and so does s/sqrt(n). */
static double half_width(double sd, uint64_t n)
{
    return cull_stat_t_quantile(ALPHA, (double)(n - 1)) * sd / sqrt((double)n);
}

uint64_t cull_verdict_seeds_within(double sd, double width)
{
    uint64_t low = 1, high = CULL_VERDICT_MOST_SEEDS; /* too few; enough */

    if (isnan(width) || !(half_width(sd, high) < width)) return 0;
    while (high - low > 1) {
        uint64_t n = low + (high - low) / 2;

        if (half_width(sd, n) < width)
            high = n;
        else
            low = n;
    }
    return high;
}

uint64_t cull_verdict_seeds(const cull_stat_paired *test, double margin)
{
    double d = fabs(test->mean);

    return test->n < 2 ? 0 : cull_verdict_seeds_within(test->sd, fmax(d, margin - d));
}

static cull_verdict_kind kind_of(const cull_stat_paired *test, double adjusted, double margin)
{
    double low = NAN, high = NAN;

    if (test->n == 0 || isnan(test->mean)) return CULL_VERDICT_UNTESTED;
    if (test->n < 2) return CULL_VERDICT_UNDECIDED;
    if (adjusted < ALPHA) return test->mean > 0 ? CULL_VERDICT_BETTER : CULL_VERDICT_WORSE;
    cull_stat_interval(test, .9, &low, &high);
    return low >= -margin && high <= margin ? CULL_VERDICT_NO_DIFFERENT : CULL_VERDICT_UNDECIDED;
}

static void say_undecided(const cull_stat_paired *test, const char *arm, const char *control,
                          cull_verdict *out)
{
    size_t room = sizeof out->sentence;

    if (test->n < 2)
        (void)snprintf(out->sentence, room,
                       "Undecided: one seed shows a difference of %+.2f points between %s and %s, "
                       "but not how much seeds differ. Run at least three.",
                       test->mean, arm, control);
    else if (out->more == 0)
        (void)snprintf(out->sentence, room,
                       "Undecided: %s and %s differ by %+.2f points over %zu seeds, and no number "
                       "of seeds up to %d would settle it.",
                       arm, control, test->mean, test->n, CULL_VERDICT_MOST_SEEDS);
    else
        (void)snprintf(out->sentence, room,
                       "Undecided: about %llu more seed%s needed to tell %s from %s (%+.2f points "
                       "over %zu seeds).",
                       (unsigned long long)out->more, out->more == 1 ? "" : "s", arm, control,
                       test->mean, test->n);
}

static void say_decided(const cull_stat_paired *test, double adjusted, double margin,
                        const char *arm, const char *control, cull_verdict *out)
{
    size_t room = sizeof out->sentence;

    if (out->kind == CULL_VERDICT_NO_DIFFERENT)
        (void)snprintf(out->sentence, room,
                       "No different: %s is within %.3g points of %s (%+.2f over %zu seeds).", arm,
                       margin, control, test->mean, test->n);
    else
        (void)snprintf(out->sentence, room, "%s: %s is %.2f points %s %s (%zu seeds, p %s%.2g).",
                       out->kind == CULL_VERDICT_BETTER ? "Better" : "Worse", arm, fabs(test->mean),
                       out->kind == CULL_VERDICT_BETTER ? "above" : "below", control, test->n,
                       adjusted < 1e-4 ? "< " : "= ", fmax(adjusted, 1e-4));
}

void cull_verdict_judge(const cull_stat_paired *test, double adjusted, double margin,
                        const char *arm, const char *control, cull_verdict *out)
{
    uint64_t total = 0;

    *out = (cull_verdict){.kind = kind_of(test, adjusted, margin)};
    switch (out->kind) {
    case CULL_VERDICT_UNTESTED:
        (void)snprintf(out->sentence, sizeof out->sentence,
                       "Not tested: no seed has both a run of %s and one of %s.", arm, control);
        break;
    case CULL_VERDICT_UNDECIDED:
        total = cull_verdict_seeds(test, margin);
        if (total) out->more = total > test->n ? total - test->n : 1;
        say_undecided(test, arm, control, out);
        break;
    case CULL_VERDICT_BETTER:
    case CULL_VERDICT_WORSE:
    case CULL_VERDICT_NO_DIFFERENT: say_decided(test, adjusted, margin, arm, control, out); break;
    }
}

/* ---- the verdict on all ---- */

/* What the headline tells apart. Better than full training at a higher cost is no saving. */
enum group { PAYS, BARRED, DEARER, WORSE, ALIKE, OPEN, UNTESTED, GROUPS };

enum { NAMED = 2, MOST_NAMES = 110 }; /* arms of a group that are named; letters of all names */

static enum group group_of(const cull_verdict_arm *arm)
{
    switch (arm->kind) {
    case CULL_VERDICT_BETTER:
        if (!(arm->cost < 1)) return DEARER;
        return arm->bar == CULL_BAR_NONE ? PAYS : BARRED;
    case CULL_VERDICT_WORSE: return WORSE;
    case CULL_VERDICT_NO_DIFFERENT: return ALIKE;
    case CULL_VERDICT_UNDECIDED: return OPEN;
    case CULL_VERDICT_UNTESTED: break;
    }
    return UNTESTED;
}

struct headline {
    const cull_verdict_arm *arms;
    size_t                  count, of[GROUPS];
    double                  margin;
    cull_sentence           to;
    size_t                  names; /* letters */
};

#define say(h, ...) cull_sentence_say(&(h)->to, __VA_ARGS__)

/* " (a, b)" */
static void say_names(struct headline *h, enum group group)
{
    size_t letters = 0, said = 0;

    for (size_t i = 0; i < h->count; i++)
        if (group_of(&h->arms[i]) == group) letters += strlen(h->arms[i].name);
    if (group == UNTESTED || h->of[group] > NAMED || h->names + letters > MOST_NAMES) return;
    h->names += letters;
    for (size_t i = 0; i < h->count; i++)
        if (group_of(&h->arms[i]) == group) say(h, "%s%s", said++ ? ", " : " (", h->arms[i].name);
    say(h, ")");
}

/* "1 of 8 is worse (a), 7 are undecided", from this group on. */
static void say_groups(struct headline *h, enum group first, bool of)
{
    static const char *const words[GROUPS] = {"better",
                                              "better but not what to do",
                                              "better but dearer than full training",
                                              "worse",
                                              "no different",
                                              "undecided",
                                              "not tested yet"};
    bool                     begun = false;

    for (enum group g = first; g < GROUPS; g++) {
        if (h->of[g] == 0) continue;
        say(h, "%s%zu", begun ? ", " : "", h->of[g]);
        if (of && !begun) say(h, " of %zu", h->count);
        say(h, " %s %s", h->of[g] == 1 ? "is" : "are", words[g]);
        say_names(h, g);
        begun = true;
    }
}

static void say_one(struct headline *h)
{
    const cull_verdict_arm *arm = h->arms;
    const char             *rival =
        arm->cost < 1 ? "uniform choice at the same cost" : "full training, which costs no more";

    switch (group_of(arm)) {
    case DEARER:
        say(h, "%s beats full training by %.2f points, but costs %.2f times as much.", arm->name,
            arm->difference, arm->cost);
        break;
    case WORSE:
        say(h, "%s is worse than %s, by %.2f points.", arm->name, rival, -arm->difference);
        break;
    case ALIKE:
        say(h, "%s is no different from %s, within %.3g points.", arm->name, rival, h->margin);
        break;
    default: say(h, "It is undecided whether %s differs from %s.", arm->name, rival);
    }
}

/* Who of a group beats uniform choice, and the most of them by how much. */
static const cull_verdict_arm *say_beaten(struct headline *h, enum group group)
{
    const cull_verdict_arm *best = NULL;

    for (size_t i = 0; i < h->count; i++)
        if (group_of(&h->arms[i]) == group && (!best || h->arms[i].difference > best->difference))
            best = &h->arms[i];
    h->names += strlen(best->name);
    if (h->of[group] == 1)
        say(h, "%s beats uniform choice at the same cost by %.2f points", best->name,
            best->difference);
    else
        say(h, "%zu of %zu arms beat uniform choice at the same cost, the most %s by %.2f points",
            h->of[group], h->count, best->name, best->difference);
    say(h, ", for %.0f %% of the cost of full training", 100 * best->cost);
    if (best->failed) say(h, " (%zu of its runs failed, and count for nothing here)", best->failed);
    return best;
}

static void say_others(struct headline *h, enum group told, enum group first)
{
    if (h->of[told] < h->count) {
        say(h, "; of the others ");
        say_groups(h, first, false);
    }
    say(h, ".");
}

static void say_who_pays(struct headline *h)
{
    say(h, "Selection pays here: ");
    (void)say_beaten(h, PAYS);
    say_others(h, PAYS, BARRED);
}

/* Better than uniform choice, and yet something else is what to do. */
static void say_who_is_barred(struct headline *h)
{
    static const char *const reasons[] = {
        [CULL_BAR_OUTDONE] = "something simple that costs no more does better",
        [CULL_BAR_NEEDLESS] = "something simple that costs less keeps up with full training",
        [CULL_BAR_DEAR] = "that is about what full training costs",
        [CULL_BAR_FAILED] = "where runs fail nothing is advised",
        [CULL_BAR_FEW] = "fewer than two of its seeds stand beside full training's",
        [CULL_BAR_HINDERED] = "nothing can be advised here"};
    bool sure = true;

    for (size_t i = 0; i < h->count; i++)
        if (group_of(&h->arms[i]) == BARRED) sure = sure && h->arms[i].bar < CULL_BAR_FAILED;
    say(h, sure ? "Selection does not pay here: " : "Whether selection pays cannot be said: ");
    say(h, ", but %s", reasons[say_beaten(h, BARRED)->bar]);
    say_others(h, BARRED, DEARER);
}

static void say_who_does_not(struct headline *h)
{
    if (h->of[ALIKE] == h->count) {
        say(h,
            "All %zu arms are no different from uniform choice at the same cost, within %.3g "
            "points.",
            h->count, h->margin);
    } else if (h->of[WORSE] == h->count) {
        say(h, "All %zu arms are worse than uniform choice at the same cost.", h->count);
    } else if (h->of[OPEN] == h->count) {
        say(h,
            "No strategy is shown to differ from uniform choice at the same cost: all %zu arms "
            "are undecided.",
            h->count);
    } else {
        say(h, "No strategy is shown to beat uniform choice at the same cost: ");
        say_groups(h, DEARER, true);
        say(h, ".");
    }
}

/* A run that diverged is a finding too, and no p knows of it. */
static void say_failed(struct headline *h)
{
    size_t runs = 0, arms = 0;

    for (size_t i = 0; i < h->count; i++) {
        runs += h->arms[i].failed;
        arms += h->arms[i].failed > 0;
    }
    if (runs)
        say(h, " %zu run%s of %zu arm%s failed, and %s left out.", runs, runs == 1 ? "" : "s", arms,
            arms == 1 ? "" : "s", runs == 1 ? "is" : "are");
}

void cull_verdict_all(const cull_verdict_arm *arms, size_t count, size_t seeds, double margin,
                      bool finished, char out[CULL_VERDICT_SENTENCE])
{
    struct headline h = {.arms = arms,
                         .count = count,
                         .margin = margin,
                         .to = {.out = out, .room = CULL_VERDICT_SENTENCE}};

    out[0] = '\0';
    for (size_t i = 0; i < count; i++) h.of[group_of(&arms[i])]++;
    if (h.of[UNTESTED] == count) {
        if (count)
            say(&h, "Nothing can be said%s: no arm has a finished run beside its control.",
                finished ? "" : " yet");
        else
            say(&h, "There is nothing to judge: every arm is uniform choice itself.");
        say_failed(&h);
        return;
    }
    if (h.of[PAYS])
        say_who_pays(&h);
    else if (h.of[BARRED])
        say_who_is_barred(&h);
    else if (count == 1)
        say_one(&h);
    else
        say_who_does_not(&h);
    if (!finished) say(&h, " Not all runs are done.");
    say_failed(&h);
    if (seeds > 0 && seeds < FEW)
        say(&h, " %zu seed%s decide%s little.", seeds, seeds == 1 ? "" : "s",
            seeds == 1 ? "s" : "");
}
