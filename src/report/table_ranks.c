/*
 * report/table_ranks.c - Wilcoxon's signed-rank test between strategies, as a table of all against
 * all: runs of both at the same share and with the same seed are a pair.
 *
 * The smallest p that n pairs can have is 2^(1 - n): a level can be reached from 6 (.05), 8 (.01)
 * and 9 (.005) pairs on. Where there are fewer it is said how many are missing.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "records/judge/statistics.h"
#include "report/view.h"

enum { MOST_SERIES = 15, MOST_PAIRS = 4096 };

static const double      level[] = {.05, .01, .005};
static const char *const words[] = {".05", ".01", ".005"};
static const size_t      least[] = {6, 8, 9};
enum { LEVELS = sizeof level / sizeof *level };

/* What a table is made of. */
struct ranks {
    const cull_rep_view     *view;
    const cull_rep_view_arm *series[MOST_SERIES]; /* the first arm of each */
    size_t                   count;
    double                  *gain;   /* [MOST_PAIRS] of the test that is looked at */
    size_t                   common; /* pairs of every test; 0: they differ        */
};

static bool at_one_place(const cull_paper_arm *a, const cull_paper_arm *b)
{
    return (a->x == b->x || (isnan(a->x) && isnan(b->x))) && strcmp(a->value, b->value) == 0;
}

static double result_of(const cull_rep_view_arm *arm, unsigned seed)
{
    for (size_t i = 0; i < arm->is->runs; i++)
        if (arm->is->seed[i] == seed && arm->run[i].there) return arm->run[i].end;
    return NAN;
}

/* How much better runs of one arm are than those of another, behind `count` others. */
static size_t add_pairs(const struct ranks *r, const cull_rep_view_arm *one,
                        const cull_rep_view_arm *other, size_t count)
{
    for (size_t i = 0; i < one->is->runs && count < MOST_PAIRS; i++) {
        double theirs = result_of(other, one->is->seed[i]);
        double gain =
            one->run[i].there ? cull_yardstick_gain(r->view->by, one->run[i].end, theirs) : NAN;

        if (isfinite(gain)) r->gain[count++] = gain;
    }
    return count;
}

/* Pairs of two series, into r->gain. */
static size_t pair_up(const struct ranks *r, size_t row, size_t column)
{
    const cull_rep_view *view = r->view;
    size_t               count = 0;

    for (size_t a = 0; a < view->arms; a++)
        for (size_t b = 0; b < view->arms; b++)
            if (cull_rep_view_joined(r->series[row], &view->arm[a]) &&
                cull_rep_view_joined(r->series[column], &view->arm[b]) &&
                at_one_place(view->arm[a].is, view->arm[b].is))
                count = add_pairs(r, &view->arm[a], &view->arm[b], count);
    return count;
}

/* "+0.42", and below it "p = 0.031", "below .05"; where tests differ in them also "7 pairs" and
 * ".01 needs 1 more". */
static void put_test(cull_rep_text *cell, const struct ranks *r, size_t row, size_t column)
{
    size_t      count = pair_up(r, row, column);
    double      p = cull_stat_wilcoxon(r->gain, count);
    const char *below = NULL;
    int         missing = 0;

    if (!count) return;
    cull_rep_signed(cell, cull_stat_mean(r->gain, count), r->view->by->digits);
    for (int i = 0; i < LEVELS; i++)
        if (p <= level[i]) below = words[i];
    cull_rep_print(cell, "<small class=\"range\">p = %.2g</small>", isnan(p) ? 1 : p);
    if (below) cull_rep_print(cell, "<small class=\"range\"><b>below %s</b></small>", below);
    if (r->common) return;
    cull_rep_print(cell, "<small class=\"range\">%zu pair%s</small>", count, count == 1 ? "" : "s");
    while (missing < LEVELS && count >= least[missing]) missing++;
    if (missing < LEVELS)
        cull_rep_print(cell, "<small class=\"range\">%s needs %zu more</small>", words[missing],
                       least[missing] - count);
}

static void find_common(struct ranks *r)
{
    r->common = pair_up(r, 0, 1);
    for (size_t i = 0; i < r->count; i++)
        for (size_t j = 0; j < r->count; j++)
            if (i != j && pair_up(r, i, j) != r->common) r->common = 0;
}

static void find_series(struct ranks *r)
{
    for (size_t a = 0; a < r->view->arms && r->count < MOST_SERIES; a++) {
        const cull_rep_view_arm *arm = &r->view->arm[a];
        bool                     again = arm->is->full && !isfinite(arm->is->x);

        for (size_t i = 0; i < r->count; i++)
            again = again || cull_rep_view_joined(r->series[i], arm);
        if (!again) r->series[r->count++] = arm;
    }
}

/* Names of the columns, safe inside HTML, one behind the other. */
static cull_status name_columns(const struct ranks *r, cull_rep_text *names,
                                cull_rep_column *columns)
{
    size_t at[MOST_SERIES];

    for (size_t i = 0; i < r->count; i++) {
        char name[CULL_REP_NAME];

        at[i] = names->size;
        cull_rep_view_called(r->series[i], name);
        cull_rep_escape(names, name, CULL_REP_NAME);
        cull_rep_bytes(names, "", 1);
    }
    columns[0] = (cull_rep_column){"Strategy", NULL, true};
    for (size_t i = 0; i < r->count && names->status == CULL_OK; i++)
        columns[i + 1] = (cull_rep_column){names->data + at[i], NULL, false};
    return names->status;
}

/* How many pairs there are, and how many a level is short of. */
static void put_note(cull_rep_text *html, const struct ranks *r)
{
    cull_rep_print(
        html,
        "<p class=\"small\">Row less column, in %s at the end of training: the mean over "
        "pairs of runs with the same share and seed, and the two-sided p of Wilcoxon’s "
        "signed-rank test, not adjusted for the number of tests. Shares of one seed "
        "count as pairs of their own. n pairs cannot bring p below 2<sup>1−n</sup>; the "
        "levels are .05, .01 and .005.",
        r->view->by->points);
    if (r->common) {
        cull_rep_print(html, " Every test is over %zu pair%s", r->common,
                       r->common == 1 ? "" : "s");
        for (int i = 0; i < LEVELS; i++)
            if (r->common < least[i])
                cull_rep_print(html, "; %s needs %zu more", words[i], least[i] - r->common);
        cull_rep_put(html, ".");
    }
    cull_rep_put(html, "</p>\n");
}

static cull_status put_all(cull_rep_page *page, const struct ranks *r)
{
    cull_status     status = CULL_OK;
    cull_rep_text   names = {0};
    cull_rep_column columns[MOST_SERIES + 1];

    TRY(name_columns(r, &names, columns));
    cull_rep_table_begin(page, "Signed-rank tests between strategies", columns, r->count + 1,
                         false);
    for (size_t i = 0; i < r->count; i++) {
        char name[CULL_REP_NAME];

        cull_rep_view_called(r->series[i], name);
        cull_rep_name_cell(page, &r->series[i]->style, name);
        for (size_t j = 0; j < r->count; j++) {
            cull_rep_text *cell = cull_rep_cell(page);

            if (i == j)
                cull_rep_put(cell, "–");
            else
                put_test(cell, r, i, j);
        }
    }
    cull_rep_table_end(page);
    put_note(&page->html, r);
    status = page->html.status;
done:
    cull_rep_text_clear(&names);
    return status;
}

cull_status cull_rep_table_ranks(cull_rep_page *page, const cull_rep_view *view)
{
    cull_status  status = CULL_OK;
    struct ranks r = {.view = view};

    find_series(&r);
    if (r.count < 2) return CULL_OK;
    TRY(cull_base_alloc(MOST_PAIRS, sizeof *r.gain, "pairs", &r.gain));
    find_common(&r);
    TRY(put_all(page, &r));
done:
    cull_base_free(r.gain);
    return status;
}
