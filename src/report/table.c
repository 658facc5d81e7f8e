/* report/table.c - the frame of every table, and the tables of what was picked. */
#include <math.h>
#include <string.h>

#include "report/figure.h"

enum { MOST_COLUMNS = 16 };

void cull_rep_table_begin(cull_rep_page *page, const char *name, const cull_rep_column *columns,
                          size_t count, bool cards)
{
    cull_rep_table *t = &page->table;

    t->name = name;
    t->column = columns;
    t->columns = count;
    t->cards = cards;
    t->cells = t->text.size = 0;
    t->class = NULL;
}

void cull_rep_row_class(cull_rep_page *page, const char *class)
{
    page->table.class = class;
}

cull_rep_text *cull_rep_cell(cull_rep_page *page)
{
    cull_rep_table *t = &page->table;
    cull_status     status =
        cull_records_room(t->cells, &t->room, sizeof *t->cell, "a table", &t->cell);

    if (status != CULL_OK && t->text.status == CULL_OK) t->text.status = status;
    if (status == CULL_OK)
        t->cell[t->cells++] = (struct cull_rep_cell){.at = t->text.size, .class = t->class};
    t->class = NULL;
    return &t->text;
}

cull_rep_text *cull_rep_name_cell(cull_rep_page *page, const cull_rep_style *style,
                                  const char *name)
{
    cull_rep_text *text = cull_rep_cell(page);

    if (style) cull_rep_swatch(text, style, false, false);
    cull_rep_escape(text, name, CULL_REP_NAME);
    return text;
}

/* What a cell holds, and how much of it. */
static const char *cell_at(const cull_rep_table *t, size_t i, size_t *bytes)
{
    size_t end = i + 1 < t->cells ? t->cell[i + 1].at : t->text.size;

    *bytes = end - t->cell[i].at;
    return *bytes ? t->text.data + t->cell[i].at : "";
}

static bool is_blank(const cull_rep_table *t, size_t i)
{
    size_t      bytes = 0;
    const char *data = cell_at(t, i, &bytes);

    return bytes == 0 || (bytes == strlen("–") && memcmp(data, "–", bytes) == 0);
}

static bool holds_something(const cull_rep_table *t, size_t column)
{
    if (column == 0) return true;
    for (size_t i = column; i < t->cells; i += t->columns)
        if (!is_blank(t, i)) return true;
    return false;
}

static void put_head(cull_rep_text *html, const cull_rep_table *t, const bool *shown, size_t count)
{
    cull_rep_print(html,
                   "<div class=\"scroll\" role=\"region\" aria-label=\"%s\" tabindex=\"0\">"
                   "<table%s><thead%s><tr%s>",
                   t->name,
                   t->cards    ? " class=\"cards\" role=\"table\""
                   : count < 3 ? " class=\"slim\""
                               : "",
                   t->cards ? " role=\"rowgroup\"" : "", t->cards ? " role=\"row\"" : "");
    for (size_t i = 0; i < t->columns; i++)
        if (shown[i])
            cull_rep_print(html, "<th scope=\"col\"%s%s>%s</th>",
                           t->column[i].words ? " class=\"w\"" : "",
                           t->cards ? " role=\"columnheader\"" : "", t->column[i].title);
    cull_rep_print(html, "</tr></thead><tbody%s>\n", t->cards ? " role=\"rowgroup\"" : "");
}

static void put_row(cull_rep_text *html, const cull_rep_table *t, const bool *shown, size_t first)
{
    const char *class = t->cell[first].class;

    cull_rep_print(html, "<tr%s%s%s%s><th scope=\"row\" class=\"w\"%s>", class ? " class=\"" : "",
                   class ? class : "", class ? "\"" : "", t->cards ? " role=\"row\"" : "",
                   t->cards ? " role=\"rowheader\"" : "");
    for (size_t i = 0; i < t->columns && first + i < t->cells; i++) {
        size_t      bytes = 0;
        const char *data = cell_at(t, first + i, &bytes);

        if (!shown[i]) continue;
        if (i)
            cull_rep_print(html, "<td class=\"%s%s\"%s data-label=\"%s\"><span>",
                           t->column[i].words ? "w" : "n", is_blank(t, first + i) ? " none" : "",
                           t->cards ? " role=\"cell\"" : "", t->column[i].title);
        cull_rep_bytes(html, data, bytes);
        cull_rep_put(html, i ? "</span></td>" : "</th>");
    }
    cull_rep_put(html, "</tr>\n");
}

static void put_explained(cull_rep_text *html, const cull_rep_table *t, const bool *shown)
{
    size_t explained = 0;

    for (size_t i = 0; i < t->columns; i++)
        if (shown[i] && t->column[i].explain)
            cull_rep_print(html, "%s<div><dt>%s</dt><dd>%s</dd></div>",
                           explained++ ? "" : "<dl class=\"columns\">", t->column[i].title,
                           t->column[i].explain);
    if (explained) cull_rep_put(html, "</dl>\n");
}

void cull_rep_table_end(cull_rep_page *page)
{
    cull_rep_table *t = &page->table;
    cull_rep_text  *html = &page->html;
    bool            shown[MOST_COLUMNS] = {false};
    size_t          count = 0;

    if (t->text.status != CULL_OK) html->status = t->text.status;
    if (html->status != CULL_OK || t->cells == 0) return;
    for (size_t i = 0; i < t->columns; i++) count += shown[i] = holds_something(t, i);
    put_head(html, t, shown, count);
    for (size_t i = 0; i < t->cells; i += t->columns) put_row(html, t, shown, i);
    cull_rep_put(html, "</tbody></table></div>\n");
    put_explained(html, t, shown);
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
    bool any = false;

    for (size_t i = 0; i < count; i++) any = any || cull_rep_first_picks(row[i].run, row[i].runs);
    if (!any) return false;
    cull_rep_heading(page, 1, "What was picked");
    cull_rep_table_begin(page, "What was picked", columns, sizeof columns / sizeof *columns, false);
    for (size_t i = 0; i < count; i++) {
        const cull_records_picks *picks = cull_rep_first_picks(row[i].run, row[i].runs);

        if (!picks) continue;
        cull_rep_name_cell(page, row[i].style, row[i].name);
        cull_rep_count(cull_rep_cell(page), (double)picks->examples);
        put_of(cull_rep_cell(page), (double)picks->never, (double)picks->examples);
        cull_rep_count(cull_rep_cell(page), (double)picks->median);
        cull_rep_count(cull_rep_cell(page), (double)picks->most);
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
