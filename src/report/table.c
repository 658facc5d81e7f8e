/* report/table.c - the frame of every table, and the tables of what was picked. */
#include <math.h>
#include <string.h>

#include "report/figure.h"

void cull_rep_table_begin(cull_rep_page *page, const char *name, const cull_rep_column *columns,
                          size_t count, bool cards)
{
    page->columns = columns;
    page->row = false;
    page->cards = cards;
    cull_rep_print(&page->html,
                   "<div class=\"scroll\" role=\"region\" aria-label=\"%s\" tabindex=\"0\">"
                   "<table%s><thead%s><tr%s>",
                   name,
                   cards       ? " class=\"cards\" role=\"table\""
                   : count < 3 ? " class=\"slim\""
                               : "",
                   cards ? " role=\"rowgroup\"" : "", cards ? " role=\"row\"" : "");
    for (size_t i = 0; i < count; i++)
        cull_rep_print(&page->html, "<th scope=\"col\"%s%s>%s</th>",
                       columns[i].words ? " class=\"w\"" : "",
                       cards ? " role=\"columnheader\"" : "", columns[i].title);
    cull_rep_print(&page->html, "</tr></thead><tbody%s>\n", cards ? " role=\"rowgroup\"" : "");
}

void cull_rep_cell(cull_rep_page *page, const cull_rep_column *column)
{
    bool           first = column == page->columns;
    cull_rep_text *html = &page->html;

    if (page->row) cull_rep_put(html, column - page->columns == 1 ? "</th>" : "</span></td>");
    if (first)
        cull_rep_print(html, "%s<tr%s><th scope=\"row\" class=\"w\"%s>", page->row ? "</tr>\n" : "",
                       page->cards ? " role=\"row\"" : "",
                       page->cards ? " role=\"rowheader\"" : "");
    else
        cull_rep_print(html, "<td%s%s data-label=\"%s\"><span>",
                       column->words ? " class=\"w\"" : "", page->cards ? " role=\"cell\"" : "",
                       column->title);
    page->row = true;
}

void cull_rep_table_end(cull_rep_page *page, const cull_rep_column *columns, size_t count)
{
    cull_rep_text *html = &page->html;
    size_t         explained = 0;

    cull_rep_put(html, page->row ? "</span></td></tr>\n</tbody></table></div>\n"
                                 : "</tbody></table></div>\n");
    page->columns = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!columns[i].explain) continue;
        cull_rep_print(html, "%s<div><dt>%s</dt><dd>%s</dd></div>",
                       explained++ ? "" : "<dl class=\"columns\">", columns[i].title,
                       columns[i].explain);
    }
    if (explained) cull_rep_put(html, "</dl>\n");
}

void cull_rep_table_audit(cull_rep_page *page, const cull_rep_picked *row, size_t count)
{
    static const cull_rep_column columns[] = {
        {"Run", "the first seed of the arm, or the run", true},
        {"Examples", "in the training pool", false},
        {"Never picked", "examples that were not trained once", false},
        {"Median", "how often the middle example was trained", false},
        {"Most", "how often the most frequent one was", false},
        {"Wrong labels", "share of the pool whose label was changed on purpose", false},
        {"Among picks", "share of what was trained that has such a label", false},
        {"Ratio", "above 1: the strategy is drawn to wrong labels", false},
    };
    enum { COLUMNS = sizeof columns / sizeof *columns };
    cull_rep_text *html = &page->html;
    bool           any = false;

    for (size_t i = 0; i < count; i++) any = any || row[i].picks->corruption;
    cull_rep_table_begin(page, "What was picked", columns, any ? COLUMNS : COLUMNS - 3, false);
    for (size_t i = 0; i < count; i++) {
        const cull_records_picks *a = row[i].picks;

        cull_rep_cell(page, &columns[0]);
        if (row[i].style) cull_rep_swatch(html, row[i].style, false, false);
        cull_rep_escape(html, row[i].name, CULL_REP_NAME);
        cull_rep_cell(page, &columns[1]);
        cull_rep_count(html, (double)a->examples);
        cull_rep_cell(page, &columns[2]);
        cull_rep_count(html, (double)a->never);
        cull_rep_print(html, " <small>(%.1f %%)</small>",
                       100 * (double)a->never / (double)a->examples);
        cull_rep_cell(page, &columns[3]);
        cull_rep_count(html, (double)a->median);
        cull_rep_cell(page, &columns[4]);
        cull_rep_count(html, (double)a->most);
        if (!any) continue;
        cull_rep_cell(page, &columns[5]);
        cull_rep_number(html, a->corruption ? 100 * a->base_rate : NAN, 1);
        cull_rep_put(html, a->corruption ? " %" : "");
        cull_rep_cell(page, &columns[6]);
        cull_rep_number(html, a->corruption ? 100 * a->picked_rate : NAN, 1);
        cull_rep_put(html, a->corruption ? " %" : "");
        cull_rep_cell(page, &columns[7]);
        cull_rep_number(html, a->corruption ? a->picked_rate / a->base_rate : NAN, 2);
    }
    cull_rep_table_end(page, columns, any ? COLUMNS : COLUMNS - 3);
}

/* 12 (3.4 %) */
static void put_of(cull_rep_text *html, double part, double whole)
{
    cull_rep_count(html, part);
    cull_rep_print(html, " <small>(%.1f %%)</small>", 100 * part / whole);
}

void cull_rep_table_whole(cull_rep_page *page, const cull_rep_whole *row, size_t count)
{
    static const cull_rep_column columns[] = {
        {"Run", "the first seed of the arm, or the run", true},
        {"Subsets", "chosen, of a batch or of the pool", false},
        {"Filled", "where the rule ended short and random examples took the rest of the places",
         false},
        {"Examples", "random ones in those, for each of them", false},
        {"Short", "smaller than asked for", false},
        {"Fell back", "random altogether: nothing could be matched", false},
    };
    enum { COLUMNS = sizeof columns / sizeof *columns };
    cull_rep_text *html = &page->html;
    bool           any = false;

    for (size_t i = 0; i < count; i++) {
        const cull_records_work *m = row[i].work;
        any = any || m->subsets_filled > 0 || m->subsets_short > 0 || m->subsets_fallback > 0;
    }
    if (!any) return;
    cull_rep_heading(page, 1, "What was filled up");
    cull_rep_table_begin(page, "What was filled up", columns, COLUMNS, false);
    for (size_t i = 0; i < count; i++) {
        const cull_records_work *m = row[i].work;

        cull_rep_cell(page, &columns[0]);
        if (row[i].style) cull_rep_swatch(html, row[i].style, false, false);
        cull_rep_escape(html, row[i].name, CULL_REP_NAME);
        cull_rep_cell(page, &columns[1]);
        cull_rep_count(html, m->subsets);
        cull_rep_cell(page, &columns[2]);
        put_of(html, m->subsets_filled, m->subsets);
        cull_rep_cell(page, &columns[3]);
        cull_rep_number(html, m->subsets_filled > 0 ? m->filled / m->subsets_filled : NAN, 1);
        cull_rep_cell(page, &columns[4]);
        put_of(html, m->subsets_short, m->subsets);
        cull_rep_cell(page, &columns[5]);
        put_of(html, m->subsets_fallback, m->subsets);
    }
    cull_rep_table_end(page, columns, COLUMNS);
}
