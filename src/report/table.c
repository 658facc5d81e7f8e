/* report/table.c - the frame of every table, and the tables of what was picked. */
#include <math.h>
#include <string.h>

#include "report/figure.h"

void cull_rep_table_begin(cull_rep_page *page, const char *name, const cull_rep_column *columns,
                          size_t count, bool cards)
{
    page->columns = columns;
    page->count = count;
    page->next = 0;
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

cull_rep_text *cull_rep_cell(cull_rep_page *page)
{
    const cull_rep_column *column = &page->columns[page->next];
    cull_rep_text         *html = &page->html;

    if (page->row) cull_rep_put(html, page->next == 1 ? "</th>" : "</span></td>");
    if (page->next == 0)
        cull_rep_print(html, "%s<tr%s><th scope=\"row\" class=\"w\"%s>", page->row ? "</tr>\n" : "",
                       page->cards ? " role=\"row\"" : "",
                       page->cards ? " role=\"rowheader\"" : "");
    else
        cull_rep_print(html, "<td%s%s data-label=\"%s\"><span>",
                       column->words ? " class=\"w\"" : "", page->cards ? " role=\"cell\"" : "",
                       column->title);
    page->row = true;
    page->next = (page->next + 1) % page->count;
    return html;
}

void cull_rep_name_cell(cull_rep_page *page, const cull_rep_style *style, const char *name)
{
    cull_rep_text *html = cull_rep_cell(page);

    if (style) cull_rep_swatch(html, style, false, false);
    cull_rep_escape(html, name, CULL_REP_NAME);
}

void cull_rep_table_end(cull_rep_page *page)
{
    cull_rep_text *html = &page->html;
    size_t         explained = 0;

    cull_rep_put(html, page->row ? "</span></td></tr>\n</tbody></table></div>\n"
                                 : "</tbody></table></div>\n");
    for (size_t i = 0; i < page->count; i++) {
        const cull_rep_column *column = &page->columns[i];

        if (column->explain)
            cull_rep_print(html, "%s<div><dt>%s</dt><dd>%s</dd></div>",
                           explained++ ? "" : "<dl class=\"columns\">", column->title,
                           column->explain);
    }
    if (explained) cull_rep_put(html, "</dl>\n");
}

const cull_records_picks *cull_rep_first_picks(const cull_rep_run *run, size_t runs)
{
    for (size_t i = 0; i < runs; i++)
        if (run[i].picks.there) return &run[i].picks;
    return NULL;
}

/* 12 (3.4 %) */
static void put_of(cull_rep_text *html, double part, double whole)
{
    cull_rep_count(html, part);
    cull_rep_print(html, " <small>(%.1f %%)</small>", 100 * part / whole);
}

/* Of labels that were changed; "–" where that is not known. */
static void put_rate(cull_rep_text *html, const cull_records_picks *picks, double rate)
{
    cull_rep_number(html, picks->corruption ? 100 * rate : NAN, 1);
    cull_rep_put(html, picks->corruption ? " %" : "");
}

bool cull_rep_table_picks(cull_rep_page *page, const cull_rep_row *row, size_t count)
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
    bool any = false, labels = false;

    for (size_t i = 0; i < count; i++) {
        const cull_records_picks *picks = cull_rep_first_picks(row[i].run, row[i].runs);

        any = any || picks;
        labels = labels || (picks && picks->corruption);
    }
    if (!any) return false;
    cull_rep_heading(page, 1, "What was picked");
    cull_rep_table_begin(page, "What was picked", columns, labels ? COLUMNS : COLUMNS - 3, false);
    for (size_t i = 0; i < count; i++) {
        const cull_records_picks *picks = cull_rep_first_picks(row[i].run, row[i].runs);

        if (!picks) continue;
        cull_rep_name_cell(page, row[i].style, row[i].name);
        cull_rep_count(cull_rep_cell(page), (double)picks->examples);
        put_of(cull_rep_cell(page), (double)picks->never, (double)picks->examples);
        cull_rep_count(cull_rep_cell(page), (double)picks->median);
        cull_rep_count(cull_rep_cell(page), (double)picks->most);
        if (!labels) continue;
        put_rate(cull_rep_cell(page), picks, picks->base_rate);
        put_rate(cull_rep_cell(page), picks, picks->picked_rate);
        cull_rep_number(cull_rep_cell(page),
                        picks->corruption ? picks->picked_rate / picks->base_rate : NAN, 2);
    }
    cull_rep_table_end(page);
    return true;
}

/* Of the first run that chose subsets; NULL: none. */
static const cull_records_work *find_work(const cull_rep_row *row)
{
    for (size_t i = 0; i < row->runs; i++)
        if (row->run[i].record.curves.latest.subsets > 0) return &row->run[i].record.curves.latest;
    return NULL;
}

void cull_rep_table_whole(cull_rep_page *page, const cull_rep_row *row, size_t count)
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
    bool any = false;

    for (size_t i = 0; i < count; i++) {
        const cull_records_work *m = find_work(&row[i]);
        any = any ||
              (m && (m->subsets_filled > 0 || m->subsets_short > 0 || m->subsets_fallback > 0));
    }
    if (!any) return;
    cull_rep_heading(page, 1, "What was filled up");
    cull_rep_table_begin(page, "What was filled up", columns, sizeof columns / sizeof *columns,
                         false);
    for (size_t i = 0; i < count; i++) {
        const cull_records_work *m = find_work(&row[i]);

        if (!m) continue;
        cull_rep_name_cell(page, row[i].style, row[i].name);
        cull_rep_count(cull_rep_cell(page), m->subsets);
        put_of(cull_rep_cell(page), m->subsets_filled, m->subsets);
        cull_rep_number(cull_rep_cell(page),
                        m->subsets_filled > 0 ? m->filled / m->subsets_filled : NAN, 1);
        put_of(cull_rep_cell(page), m->subsets_short, m->subsets);
        put_of(cull_rep_cell(page), m->subsets_fallback, m->subsets);
    }
    cull_rep_table_end(page);
}
