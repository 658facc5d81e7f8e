/* report/table_comparison.c - the tables of a comparison. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/figure.h"

static void put_percent(cull_rep_text *html, double share, int digits)
{
    cull_rep_number(html, 100 * share, digits);
    if (isfinite(share)) cull_rep_put(html, "&nbsp;%");
}

static void put_name(cull_rep_page *page, const cull_rep_arm *arm)
{
    cull_rep_name_cell(page, &arm->style, arm->is->name[0] ? arm->is->name : "(no name)");
}

/* By more than is shown as 100.0 %. */
static bool costs_more(const cull_rep_arm *arm)
{
    return arm->is->cost >= 1.0005;
}

/* The arm's name, with a mark where it cannot pay. */
static void put_arm(cull_rep_page *page, const cull_rep_arm *arm)
{
    put_name(page, arm);
    if (costs_more(arm))
        cull_rep_put(&page->html, "<small class=\"over\">▲&nbsp;costs more than full training"
                                  "</small>");
}

static void put_cost(cull_rep_text *html, const cull_rep_arm *arm)
{
    if (costs_more(arm)) cull_rep_put(html, "<b class=\"over\">");
    put_percent(html, arm->is->cost, 1);
    if (costs_more(arm)) cull_rep_put(html, "</b>");
}

/* 90.12 ± 0.20 */
static void put_accuracy(cull_rep_text *html, const cull_rep_arm *arm)
{
    cull_rep_number(html, arm->is->mean, 2);
    if (isfinite(arm->is->mean) && isfinite(arm->is->sd)) {
        cull_rep_put(html, "&nbsp;<small>±&nbsp;");
        cull_rep_number(html, arm->is->sd, 2);
        cull_rep_put(html, "</small>");
    }
    if (arm->finished < arm->is->runs)
        cull_rep_print(html, " <small class=\"warn\">(%zu of %zu runs)</small>", arm->finished,
                       arm->is->runs);
}

static void put_interval(cull_rep_text *html, const cull_records_versus *v)
{
    if (!v || !isfinite(v->low) || !isfinite(v->high)) {
        cull_rep_put(html, "–");
        return;
    }
    cull_rep_signed(html, v->low, 2);
    cull_rep_put(html, " to ");
    cull_rep_signed(html, v->high, 2);
}

static void put_p(cull_rep_text *html, double p)
{
    if (p >= 0 && p < 0.0001)
        cull_rep_put(html, "&lt;&thinsp;.0001");
    else
        cull_rep_number(html, p, p < 0.01 ? 4 : 3);
}

static void put_verdict(cull_rep_text *html, const cull_rep_arm *arm, const cull_records_versus *v)
{
    static const struct {
        const char *word, *mark, *class;
    } words[] = {{"better", "▲", "better"},
                 {"worse", "▼", "worse"},
                 {"no different", "=", "same"},
                 {"undecided", "?", "open"},
                 {"untested", "–", "open"}};

    for (size_t i = 0; v && i < sizeof words / sizeof *words; i++) {
        if (strcmp(v->verdict, words[i].word) != 0) continue;
        cull_rep_print(html, "<span class=\"pill %s\">%s&nbsp;%s</span>", words[i].class,
                       words[i].mark, words[i].word);
        if (i == 3 && v->more_seeds > 0) {
            cull_rep_put(html, " <small>about ");
            cull_rep_count(html, v->more_seeds);
            cull_rep_put(html, v->more_seeds < 1.5 ? " more seed</small>" : " more seeds</small>");
        }
        return;
    }
    cull_rep_put(html, strcmp(arm->is->verdict, "control") == 0
                           ? "<span class=\"pill same\">–&nbsp;control</span>"
                           : "<span class=\"pill open\">–&nbsp;none yet</span>");
}

void cull_rep_table_verdicts(cull_rep_page *page, const cull_rep_comparison *c)
{
    static const cull_rep_column usual[] = {
        {"Arm", "strategy, share kept and how it scores", true},
        {"Verdict",
         "better or worse: adjusted p below .05; no different: the 90 % interval lies "
         "inside the margin; else undecided; untested: fewer than two pairs",
         true},
        {"Difference",
         "in points, to uniform sampling that may spend the same cost on more "
         "examples; mean over pairs of the same seed",
         false},
        {"Interval", "of that difference, from the paired t distribution", false},
        {"p", "of the paired t-test, adjusted over all arms after Holm", false},
        {"Accuracy %",
         "on the test set at the end of the run, mean ± standard deviation over "
         "seeds",
         false},
        {"Cost",
         "time of the run as a share of the full run’s, by the step times measured "
         "beforehand",
         false},
        {"Work", "the same in counted work: a forward pass ⅓, a backward pass ⅔ of an example",
         false},
        {"ρ", "share of every minibatch that is trained on", false},
        {"Pass",
         "separate: scoring costs a forward pass of its own; reuse: learning goes on "
         "from it; none: nothing is scored",
         true},
    };
    enum { COLUMNS = sizeof usual / sizeof *usual, INTERVAL = 3 };
    cull_rep_column columns[COLUMNS];
    char            interval[40] = "Interval";

    memcpy(columns, usual, sizeof usual);
    for (size_t i = 0; i < c->arms; i++) {
        const cull_records_versus *v = cull_records_primary(c->arm[i].is);
        if (!v || !(v->level > 0 && v->level < 1)) continue;
        (void)snprintf(interval, sizeof interval, "%.3g %% interval", 100 * v->level);
        break;
    }
    columns[INTERVAL].title = interval;

    cull_rep_table_begin(page, "Verdicts", columns, COLUMNS, true);
    for (size_t i = 0; i < c->arms; i++) {
        const cull_rep_arm        *arm = &c->arm[i];
        const cull_records_versus *v = cull_records_primary(arm->is);

        if (!cull_rep_is_arm(arm)) continue;
        put_arm(page, arm);
        put_verdict(cull_rep_cell(page), arm, v);
        cull_rep_signed(cull_rep_cell(page), v ? v->difference : NAN, 2);
        put_interval(cull_rep_cell(page), v);
        put_p(cull_rep_cell(page), v ? (isfinite(v->p_holm) ? v->p_holm : v->p) : NAN);
        put_accuracy(cull_rep_cell(page), arm);
        put_cost(cull_rep_cell(page), arm);
        put_percent(cull_rep_cell(page), arm->is->counted, 1);
        cull_rep_number(cull_rep_cell(page), arm->is->keep, arm->is->keep < .1 ? 3 : 2);
        cull_rep_escape(cull_rep_cell(page), arm->is->pass[0] ? arm->is->pass : "none", 20);
    }
    cull_rep_table_end(page);
}

static void put_against(cull_rep_text *html, const cull_rep_arm *arm, const char *kind)
{
    for (size_t i = 0; i < arm->is->controls; i++) {
        const cull_records_versus *v = &arm->is->versus[i];

        if (strcmp(v->kind, kind) != 0) continue;
        cull_rep_signed(html, v->difference, 2);
        if (isfinite(v->low) && isfinite(v->high)) {
            cull_rep_put(html, " <small>(");
            put_interval(html, v);
            cull_rep_put(html, ")</small>");
        }
        return;
    }
    cull_rep_put(html, "–");
}

void cull_rep_table_controls(cull_rep_page *page, const cull_rep_comparison *c)
{
    static const cull_rep_column columns[] = {
        {"Arm", NULL, true},
        {"Uniform, same m",
         "uniform sampling of as many examples a step: cheaper than the arm "
         "where scoring is paid for",
         false},
        {"Full, shortened",
         "full training on a schedule that ends, fully decayed, at the arm’s "
         "cost",
         false},
        {"Full, stopped early", "the full run, read off where it has spent the arm’s cost", false},
        {"Wilcoxon p", "signed-rank test against uniform with the whole budget, from 6 pairs on",
         false},
    };

    cull_rep_table_begin(page, "Other controls", columns, sizeof columns / sizeof *columns, false);
    for (size_t i = 0; i < c->arms; i++) {
        const cull_rep_arm        *arm = &c->arm[i];
        const cull_records_versus *v = cull_records_primary(arm->is);

        if (!cull_rep_is_arm(arm)) continue;
        put_name(page, arm);
        put_against(cull_rep_cell(page), arm, "same-m");
        put_against(cull_rep_cell(page), arm, "shortened");
        put_against(cull_rep_cell(page), arm, "early-stop");
        put_p(cull_rep_cell(page), v ? v->wilcoxon : NAN);
    }
    cull_rep_table_end(page);
}

void cull_rep_table_costs(cull_rep_page *page, const cull_rep_comparison *c)
{
    static const char *const explain[CULL_RECORDS_FACTORS] = {
        "cost, as a share of the full run’s, at which the arm’s error is down to so many times "
        "the full run’s final error; –: never",
        NULL, NULL, NULL};

    char            titles[CULL_RECORDS_FACTORS][32];
    cull_rep_column columns[3 + CULL_RECORDS_FACTORS] = {{"Arm", NULL, true}};
    size_t          factors = 0, count = 1;

    for (size_t i = 0; i < c->arms && !factors; i++)
        while (factors < CULL_RECORDS_FACTORS && isfinite(c->arm[i].is->factor[factors])) {
            (void)snprintf(titles[factors], sizeof titles[0], "× %.3g error",
                           c->arm[i].is->factor[factors]);
            columns[count++] = (cull_rep_column){titles[factors], explain[factors], false};
            factors++;
        }
    columns[count++] = (cull_rep_column){"Saving, predicted",
                                         "one less the cost: what the step times promised", false};
    columns[count++] = (cull_rep_column){
        "measured", "one less the run’s own seconds as a share of the full run’s", false};
    cull_rep_table_begin(page, "Cost to an error, and savings", columns, count, false);
    for (size_t i = 0; i < c->arms; i++) {
        const cull_rep_arm *arm = &c->arm[i];

        if (!cull_rep_is_arm(arm)) continue;
        put_arm(page, arm);
        for (size_t j = 0; j < factors; j++)
            put_percent(cull_rep_cell(page), arm->is->to_error[j], 0);
        put_percent(cull_rep_cell(page), arm->is->predicted, 1);
        put_percent(cull_rep_cell(page), arm->is->measured, 1);
    }
    cull_rep_table_end(page);
}

/* Of a run, where numbers lie that are summed. */
enum {
    TRAINED = offsetof(cull_records_compared, trained),
    SECONDS = offsetof(cull_records_compared, seconds),
    JOULES = offsetof(cull_records_compared, joules)
};

/* Mean over finished runs of so many numbers' sum. */
static double mean_of(const cull_rep_arm *arm, size_t at, size_t numbers)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < arm->is->runs; i++) {
        const double *number = (const void *)((const char *)&arm->is->run[i] + at);
        double        of_run = 0;

        if (!cull_rep_finished(arm, i)) continue;
        for (size_t k = 0; k < numbers; k++) of_run += number[k];
        sum += of_run;
        count++;
    }
    return count ? sum / (double)count : NAN;
}

void cull_rep_table_every(cull_rep_page *page, const cull_rep_comparison *c)
{
    static const cull_rep_column columns[] = {
        {"Arm or control", NULL, true},
        {"Role", NULL, true},
        {"Runs", "finished, of those planned", false},
        {"Cost", NULL, false},
        {"Work", NULL, false},
        {"Accuracy %", NULL, false},
        {"Least", "of the seeds", false},
        {"Most", "of the seeds", false},
        {"Best %", "highest accuracy in the course of the run, mean: what papers often report",
         false},
        {"Trained", "examples, mean over seeds", false},
        {"Time s", "loading, scoring, selecting, learning and optimizer; mean over seeds", false},
        {"Energy J",
         "of the same phases, by the machine's counters: what ran beside a run is in it", false},
    };
    enum { COLUMNS = sizeof columns / sizeof *columns };
    bool energy = false;

    for (size_t i = 0; i < c->arms; i++)
        energy = energy || isfinite(mean_of(&c->arm[i], JOULES, CULL_PHASES_OF_COST));
    cull_rep_table_begin(page, "Every arm and control", columns, energy ? COLUMNS : COLUMNS - 1,
                         false);
    for (size_t i = 0; i < c->arms; i++) {
        const cull_rep_arm *arm = &c->arm[i];
        const char         *words = cull_rep_role_words(arm);

        put_name(page, arm);
        cull_rep_put(cull_rep_cell(page), words ? words : "–");
        cull_rep_print(cull_rep_cell(page), "%s%zu of %zu%s",
                       arm->finished < arm->is->runs ? "<span class=\"warn\">" : "", arm->finished,
                       arm->is->runs, arm->finished < arm->is->runs ? "</span>" : "");
        put_cost(cull_rep_cell(page), arm);
        put_percent(cull_rep_cell(page), arm->is->counted, 1);
        cull_rep_number(cull_rep_cell(page), arm->is->mean, 2);
        cull_rep_number(cull_rep_cell(page), arm->low, 2);
        cull_rep_number(cull_rep_cell(page), arm->high, 2);
        cull_rep_number(cull_rep_cell(page), arm->is->best, 2);
        cull_rep_count(cull_rep_cell(page), mean_of(arm, TRAINED, 1));
        cull_rep_number(cull_rep_cell(page), mean_of(arm, SECONDS, CULL_PHASES_OF_COST), 1);
        if (energy)
            cull_rep_number(cull_rep_cell(page), mean_of(arm, JOULES, CULL_PHASES_OF_COST), 0);
    }
    cull_rep_table_end(page);
    if (!energy) cull_rep_put(&page->html, "<p class=\"small\">Energy: not available here.</p>\n");
}
