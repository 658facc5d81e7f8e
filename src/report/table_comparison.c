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

bool cull_rep_costs_more(const cull_rep_arm *arm)
{
    return arm->is->cost >= 1.0005;
}

void cull_rep_put_cost(cull_rep_text *html, const cull_rep_arm *arm)
{
    bool over = cull_rep_costs_more(arm);

    if (over) cull_rep_put(html, "<b class=\"over\">");
    put_percent(html, arm->is->cost, 1);
    if (over) cull_rep_put(html, "</b>");
}

/* 90.12 ± 0.20 */
void cull_rep_put_result(cull_rep_text *html, const cull_rep_comparison *c, const cull_rep_arm *arm)
{
    cull_rep_number(html, arm->is->mean, c->by->digits);
    if (isfinite(arm->is->mean) && isfinite(arm->is->sd)) {
        cull_rep_put(html, " <small class=\"spread\">±&nbsp;");
        cull_rep_number(html, arm->is->sd, c->by->digits);
        cull_rep_put(html, "</small>");
    }
    if (arm->finished < arm->is->runs)
        cull_rep_print(html, " <small class=\"warn\">(%zu of %zu runs)</small>", arm->finished,
                       arm->is->runs);
}

static void put_against(cull_rep_text *html, const cull_rep_arm *arm, const char *kind, int digits)
{
    for (size_t i = 0; i < arm->is->controls; i++) {
        const cull_records_versus *v = &arm->is->versus[i];

        if (strcmp(v->kind, kind) != 0) continue;
        cull_rep_signed(html, v->difference, digits);
        if (isfinite(v->low) && isfinite(v->high)) {
            cull_rep_put(html, " <small>(");
            cull_rep_signed(html, v->low, digits);
            cull_rep_put(html, " to ");
            cull_rep_signed(html, v->high, digits);
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
        put_against(cull_rep_cell(page), arm, "same-m", c->by->digits);
        put_against(cull_rep_cell(page), arm, "shortened", c->by->digits);
        put_against(cull_rep_cell(page), arm, "early-stop", c->by->digits);
        cull_rep_put_p(cull_rep_cell(page), v ? v->wilcoxon : NAN);
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
        put_name(page, arm);
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
    char            result[CULL_REP_NAME];
    cull_rep_column columns[] = {
        {"Arm or control", NULL, true},
        {"Role", NULL, true},
        {"Runs", "finished, of those planned", false},
        {"Cost", NULL, false},
        {"Work", NULL, false},
        {result, NULL, false},
        {"Least", "of the seeds", false},
        {"Most", "of the seeds", false},
        {"Best", "in the course of the run, mean over seeds: what papers often report", false},
        {"Trained", "examples, mean over seeds", false},
        {"Time s", "loading, scoring, selecting, learning and optimizer; mean over seeds", false},
        {"Energy J",
         "of the same phases, by the machine's counters: what ran beside a run is in it", false},
    };
    bool energy = false;

    cull_rep_column_name(c->by, result);
    for (size_t i = 0; i < c->arms; i++)
        energy = energy || isfinite(mean_of(&c->arm[i], JOULES, CULL_PHASES_OF_COST));
    cull_rep_table_begin(page, "Every arm and control", columns, sizeof columns / sizeof *columns,
                         false);
    for (size_t i = 0; i < c->arms; i++) {
        const cull_rep_arm *arm = &c->arm[i];
        const char         *words = cull_rep_role_words(arm);

        put_name(page, arm);
        cull_rep_put(cull_rep_cell(page), words ? words : "–");
        cull_rep_print(cull_rep_cell(page), "%s%zu of %zu%s",
                       arm->finished < arm->is->runs ? "<span class=\"warn\">" : "", arm->finished,
                       arm->is->runs, arm->finished < arm->is->runs ? "</span>" : "");
        cull_rep_put_cost(cull_rep_cell(page), arm);
        put_percent(cull_rep_cell(page), arm->is->counted, 1);
        cull_rep_number(cull_rep_cell(page), arm->is->mean, c->by->digits);
        cull_rep_number(cull_rep_cell(page), arm->low, c->by->digits);
        cull_rep_number(cull_rep_cell(page), arm->high, c->by->digits);
        cull_rep_number(cull_rep_cell(page), arm->is->best, c->by->digits);
        cull_rep_count(cull_rep_cell(page), mean_of(arm, TRAINED, 1));
        cull_rep_seconds(cull_rep_cell(page), mean_of(arm, SECONDS, CULL_PHASES_OF_COST));
        cull_rep_number(cull_rep_cell(page), mean_of(arm, JOULES, CULL_PHASES_OF_COST), 0);
    }
    cull_rep_table_end(page);
    if (!energy) cull_rep_put(&page->html, "<p class=\"small\">Energy: not available here.</p>\n");
}
