/* lab/verdict.c - better, worse, no different, or how many seeds it would take to know. */
#include "lab/verdict.h"

#include <math.h>
#include <stdio.h>

#define ALPHA .05

enum { FEW = 6 }; /* below this a comparison says that seeds are few */

const char *cull_verdict_name(cull_verdict_kind kind)
{
    static const char *const names[] = {"untested", "better", "worse", "no different", "undecided"};

    return names[kind];
}

uint64_t cull_verdict_seeds(const cull_stat_paired *test, double margin)
{
    double d = fabs(test->mean), target = fmax(d, margin - d);

    if (test->n < 2 || isnan(target)) return 0;
    for (uint64_t n = 2; n <= CULL_VERDICT_MOST_SEEDS; n++)
        if (cull_stat_t_quantile(ALPHA, (double)(n - 1)) * test->sd / sqrt((double)n) < target)
            return n;
    return 0;
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
    const char *certain =
        test->sd == 0 ? " All seeds differ by the same, which the test takes as certain." : "";
    size_t room = sizeof out->sentence;

    if (out->kind == CULL_VERDICT_NO_DIFFERENT)
        (void)snprintf(out->sentence, room,
                       "No different: %s is within %.2g points of %s (%+.2f over %zu seeds).%s",
                       arm, margin, control, test->mean, test->n, certain);
    else
        (void)snprintf(out->sentence, room, "%s: %s is %.2f points %s %s (%zu seeds, p %s%.2g).%s",
                       out->kind == CULL_VERDICT_BETTER ? "Better" : "Worse", arm, fabs(test->mean),
                       out->kind == CULL_VERDICT_BETTER ? "above" : "below", control, test->n,
                       adjusted < 1e-4 ? "< " : "= ", fmax(adjusted, 1e-4), certain);
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

static const cull_verdict_arm *best_of(const cull_verdict_arm *arms, size_t count,
                                       cull_verdict_kind kind)
{
    const cull_verdict_arm *best = NULL;

    for (size_t i = 0; i < count; i++)
        if (!arms[i].uniform && arms[i].kind == kind &&
            (!best || arms[i].difference > best->difference))
            best = &arms[i];
    return best;
}

static size_t count_of(const cull_verdict_arm *arms, size_t count, cull_verdict_kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) n += !arms[i].uniform && arms[i].kind == kind;
    return n;
}

void cull_verdict_all(const cull_verdict_arm *arms, size_t count, size_t seeds, double margin,
                      const char *subject, char out[CULL_VERDICT_SENTENCE])
{
    const cull_verdict_arm *better = best_of(arms, count, CULL_VERDICT_BETTER);
    const cull_verdict_arm *open = best_of(arms, count, CULL_VERDICT_UNDECIDED);
    size_t                  judged = count, untested = 0, undecided = 0;
    char                    few[80] = "";

    for (size_t i = 0; i < count; i++) judged -= arms[i].uniform;
    untested = count_of(arms, count, CULL_VERDICT_UNTESTED);
    undecided = count_of(arms, count, CULL_VERDICT_UNDECIDED);
    if (seeds > 0 && seeds < FEW)
        (void)snprintf(few, sizeof few, " %zu seed%s decide%s little.", seeds,
                       seeds == 1 ? "" : "s", seeds == 1 ? "s" : "");
    if (judged == 0 || untested == judged)
        (void)snprintf(out, CULL_VERDICT_SENTENCE, "Nothing can be said yet on %s: %s.", subject,
                       judged ? "no arm has a finished run beside its control"
                              : "no arm but uniform choice was run");
    else if (better)
        (void)snprintf(out, CULL_VERDICT_SENTENCE,
                       "Selection pays here: %s beats uniform choice at the same cost by %.2f "
                       "points, for %.0f %% of the cost of full training (%s).%s",
                       better->name, better->difference, 100 * better->cost, subject, few);
    else if (open)
        (void)snprintf(out, CULL_VERDICT_SENTENCE,
                       "No strategy is shown to beat uniform choice at the same cost on %s; %zu of "
                       "%zu %s undecided, best %s at %+.2f points.%s",
                       subject, undecided, judged, undecided == 1 ? "is" : "are", open->name,
                       open->difference, few);
    else
        (void)snprintf(out, CULL_VERDICT_SENTENCE,
                       "Selection does not pay here: at the same cost no strategy beats uniform "
                       "choice by more than %.2g points on %s.%s",
                       margin, subject, few);
}
