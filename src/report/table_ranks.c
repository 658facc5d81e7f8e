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
#include "lab/compare/statistics.h"
#include "report/view.h"

enum { MOST_SERIES = 15, MOST_PAIRS = 4096 };

static const double level[] = {.05, .01, .005};
static const char  *words[] = {".05", ".01", ".005"};
static const size_t least[] = {6, 8, 9};
enum { LEVELS = sizeof level / sizeof *level };

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

/* How much better runs of one series are than those of another, pair by pair. */
static size_t pair_up(const cull_rep_view *view, const cull_rep_view_arm *of,
                      const cull_rep_view_arm *to, double *out)
{
    size_t count = 0;

    for (size_t a = 0; a < view->arms; a++)
        for (size_t b = 0; b < view->arms; b++) {
            const cull_rep_view_arm *one = &view->arm[a], *other = &view->arm[b];

            if (!cull_rep_view_joined(of, one) || !cull_rep_view_joined(to, other) ||
                !at_one_place(one->is, other->is))
                continue;
            for (size_t i = 0; i < one->is->runs && count < MOST_PAIRS; i++) {
                double gain = one->run[i].there
                                  ? cull_yardstick_gain(view->by, one->run[i].end,
                                                        result_of(other, one->is->seed[i]))
                                  : NAN;

                if (isfinite(gain)) out[count++] = gain;
            }
        }
    return count;
}

/* "+0.42", and below it "p = 0.031, n = 7", "below .05", ".01 needs 1 more". */
static void put_test(cull_rep_text *cell, const cull_yardstick *by, const double *gain,
                     size_t count)
{
    double      p = cull_stat_wilcoxon(gain, count);
    const char *below = NULL;

    if (!count) return;
    cull_rep_signed(cell, cull_stat_mean(gain, count), by->digits);
    for (int i = 0; i < LEVELS; i++)
        if (p <= level[i]) below = words[i];
    cull_rep_print(cell, "<small class=\"range\">p = %.2g, n = %zu</small>", isnan(p) ? 1 : p,
                   count);
    if (below) cull_rep_print(cell, "<small class=\"range\"><b>below %s</b></small>", below);
    for (int i = 0; i < LEVELS; i++)
        if (count < least[i]) {
            cull_rep_print(cell, "<small class=\"range\">%s needs %zu more</small>", words[i],
                           least[i] - count);
            break;
        }
}

/* The first arm of each series. */
static size_t find_series(const cull_rep_view *view, const cull_rep_view_arm *out[MOST_SERIES])
{
    size_t count = 0;

    for (size_t a = 0; a < view->arms && count < MOST_SERIES; a++) {
        bool again = view->arm[a].is->full && !isfinite(view->arm[a].is->x);

        for (size_t i = 0; i < count; i++)
            again = again || cull_rep_view_joined(out[i], &view->arm[a]);
        if (!again) out[count++] = &view->arm[a];
    }
    return count;
}

/* Names of the columns, safe inside HTML, one behind the other. */
static cull_status name_columns(const cull_rep_view_arm *const *series, size_t count,
                                cull_rep_text *names, cull_rep_column *columns)
{
    size_t at[MOST_SERIES];

    for (size_t i = 0; i < count; i++) {
        char name[CULL_REP_NAME];

        at[i] = names->size;
        cull_rep_view_called(series[i], name);
        cull_rep_escape(names, name, CULL_REP_NAME);
        cull_rep_bytes(names, "", 1);
    }
    columns[0] = (cull_rep_column){"Strategy", NULL, true};
    for (size_t i = 0; i < count && names->status == CULL_OK; i++)
        columns[i + 1] = (cull_rep_column){names->data + at[i], NULL, false};
    return names->status;
}

static cull_status put_all(cull_rep_page *page, const cull_rep_view *view,
                           const cull_rep_view_arm *const *series, size_t count, double *gain)
{
    cull_status     status = CULL_OK;
    cull_rep_text   names = {0};
    cull_rep_column columns[MOST_SERIES + 1];

    TRY(name_columns(series, count, &names, columns));
    cull_rep_table_begin(page, "Signed-rank tests between strategies", columns, count + 1, false);
    for (size_t i = 0; i < count; i++) {
        char name[CULL_REP_NAME];

        cull_rep_view_called(series[i], name);
        cull_rep_name_cell(page, &series[i]->style, name);
        for (size_t j = 0; j < count; j++) {
            cull_rep_text *cell = cull_rep_cell(page);

            if (i == j)
                cull_rep_put(cell, "–");
            else
                put_test(cell, view->by, gain, pair_up(view, series[i], series[j], gain));
        }
    }
    cull_rep_table_end(page);
    cull_rep_print(
        &page->html,
        "<p class=\"small\">Row less column, in %s at the end of training: the mean over "
        "n pairs of runs with the same share and seed, and the two-sided p of Wilcoxon’s "
        "signed-rank test, which n pairs cannot bring below 2<sup>1−n</sup>. Levels: .05, "
        ".01 and .005; of the first that is out of reach it says how many pairs are "
        "missing. p is not adjusted for the number of tests.</p>\n",
        view->by->points);
    status = page->html.status;
done:
    cull_rep_text_clear(&names);
    return status;
}

cull_status cull_rep_table_ranks(cull_rep_page *page, const cull_rep_view *view)
{
    cull_status              status = CULL_OK;
    const cull_rep_view_arm *series[MOST_SERIES];
    size_t                   count = find_series(view, series);
    double                  *gain = NULL;

    if (count < 2) return CULL_OK;
    TRY(cull_base_alloc(MOST_PAIRS, sizeof *gain, "pairs", &gain));
    TRY(put_all(page, view, series, count, gain));
done:
    cull_base_free(gain);
    return status;
}
