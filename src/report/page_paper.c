/* report/page_paper.c - the page of a paper: its figures in their order, each claim beside our
 * drawing of it, with what became of it and at what scale. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sized.h"
#include "report/picture.h"
#include "report/probes.h"
#include "report/view.h"

enum { MOST_PROBLEMS = 200, LONG = 4000, OUTCOMES = CULL_HELD_OPEN + 1 };

static const struct outcome {
    const char *words, *class;
} outcomes[OUTCOMES] = {
    [CULL_HELD_NONE] = {"not judged", "pill same"},
    [CULL_HELD] = {"held", "pill better"},
    [CULL_HELD_NOT] = {"not held", "pill worse"},
    [CULL_HELD_OPEN] = {"undecided", "pill"},
};

static void put_outcome(cull_rep_text *html, cull_held held)
{
    cull_rep_print(html, "<span class=\"%s\">%s</span>", outcomes[held].class,
                   outcomes[held].words);
}

/* A paragraph of a sentence or several; nothing where there is none. */
static void put_words(cull_rep_text *html, const char *class, const char *words)
{
    if (!words[0]) return;
    cull_rep_print(html, "<p class=\"%s\">", class);
    cull_rep_sentence(html, words, LONG);
    cull_rep_put(html, "</p>\n");
}

/* A paragraph for each line. */
static void put_lines(cull_rep_text *html, const char *class, const char *lines)
{
    char   line[LONG];
    size_t length = 0;

    for (; *lines; lines += length + (lines[length] == '\n')) {
        length = strcspn(lines, "\n");
        (void)snprintf(line, sizeof line, "%.*s", (int)length, lines);
        put_words(html, class, line);
    }
}

/* ---- the whole ---- */

/* "Of 9 figures' claims 4 held here, 2 did not, 1 is undecided." */
static void put_sum(cull_rep_page *page, const cull_paper *paper)
{
    cull_rep_text *html = &page->html;
    size_t         count[OUTCOMES] = {0}, judged = 0;

    for (size_t i = 0; i < paper->figures; i++) count[paper->figure[i].held]++;
    judged = paper->figures - count[CULL_HELD_NONE];
    cull_rep_put(html, "<p class=\"verdict\">");
    if (!judged)
        cull_rep_print(html, "None of the claims of %zu figures and tables is judged yet.",
                       paper->figures);
    else
        cull_rep_print(html,
                       "Of %zu claim%s that %s judged here, %zu held, %zu did not, and %zu "
                       "%s undecided.",
                       judged, judged == 1 ? "" : "s", judged == 1 ? "was" : "were",
                       count[CULL_HELD], count[CULL_HELD_NOT], count[CULL_HELD_OPEN],
                       count[CULL_HELD_OPEN] == 1 ? "is" : "are");
    cull_rep_put(html,
                 "</p>\n<p class=\"sure\"><b>How sure:</b> claims are in our words, and judged "
                 "by the numbers beside them, at the scale that is said with each.");
    if (judged && count[CULL_HELD_NONE])
        cull_rep_print(html, " %zu more %s not judged.", count[CULL_HELD_NONE],
                       count[CULL_HELD_NONE] == 1 ? "is" : "are");
    if (paper->setup[0]) cull_rep_put(html, " ");
    cull_rep_sentence(html, paper->setup, LONG);
    cull_rep_put(html, "</p>\n");
}

static void put_contents(cull_rep_page *page, const cull_paper *paper)
{
    static const cull_rep_column columns[] = {
        {"Figure", NULL, true},
        {"What it shows", NULL, true},
        {"Runs", "that are there, of all that it asks for", false},
        {"Its claim", "what became of it here", true},
    };

    cull_rep_table_begin(page, "Figures and tables", columns, sizeof columns / sizeof *columns,
                         true);
    for (size_t i = 0; i < paper->figures; i++) {
        const cull_paper_figure *f = &paper->figure[i];
        cull_rep_text           *cell = cull_rep_cell(page);

        cull_rep_print(cell, "<a href=\"#figure-%zu\">", i + 1);
        cull_rep_escape(cell, f->number, CULL_REP_NAME);
        cull_rep_put(cell, "</a>");
        cull_rep_escape(cull_rep_cell(page), f->title, CULL_REP_SENTENCE);
        if (f->of)
            cull_rep_print(cull_rep_cell(page), "%zu of %zu", f->runs, f->of);
        else
            cull_rep_put(cull_rep_cell(page), "–");
        put_outcome(cull_rep_cell(page), f->held);
    }
    cull_rep_table_end(page);
}

/* ---- a figure ---- */

/* Histograms and their table. */
static cull_status draw_errors(cull_rep_page *page, const cull_rep_view *view)
{
    cull_status         status = CULL_OK;
    cull_rep_probes     probes = {0};
    cull_records_probes lines = {0};
    bool                there = false;

    TRY(cull_rep_forgive(cull_records_probes_read(view->is->folder, &lines, &there, view->problems),
                         view->problems));
    TRY(cull_rep_probes_add(&probes, &lines, NULL));
    TRY(cull_rep_put_probes(page, &probes));
done:
    cull_rep_probes_clear(&probes);
    cull_records_probes_clear(&lines);
    return status;
}

static cull_status draw_examples(cull_rep_page *page, const cull_rep_view *view)
{
    bool shown = false;

    return cull_rep_forgive(cull_rep_pictures(&page->html, view->is->folder, &shown),
                            view->problems);
}

static cull_status draw(cull_rep_page *page, const cull_rep_view *view, cull_rep_names *names)
{
    switch (view->is->drawing) {
    case CULL_DRAW_BY_KEEP:
    case CULL_DRAW_BY_VALUE: return cull_rep_draw_by_value(page, view);
    case CULL_DRAW_UPDATES:
    case CULL_DRAW_TIME:
    case CULL_DRAW_COURSE: return cull_rep_draw_along(page, view);
    case CULL_DRAW_PHASES: return cull_rep_draw_spent(page, view);
    case CULL_DRAW_FRONTIER: return cull_rep_draw_frontier(page, view);
    case CULL_DRAW_SPEEDUP:
    case CULL_DRAW_ENERGY: return cull_rep_draw_speedup(page, view);
    case CULL_DRAW_TARGETS: return cull_rep_table_targets(page, view);
    case CULL_DRAW_RANKS: return cull_rep_table_ranks(page, view);
    case CULL_DRAW_ERRORS: return draw_errors(page, view);
    case CULL_DRAW_LINES:
    case CULL_DRAW_BARS: return cull_rep_draw_points(page, view, names);
    case CULL_DRAW_EXAMPLES: return draw_examples(page, view);
    }
    return CULL_OK;
}

/* Both sides of it: the paper's, and ours. */
static void put_claim(cull_rep_page *page, const cull_paper_figure *f)
{
    cull_rep_text *html = &page->html;

    cull_rep_put(html, "<div class=\"claim\"><div>");
    cull_rep_heading(page, 1, "The paper says");
    put_words(html, "said", f->claim);
    cull_rep_put(html, "</div><div>");
    cull_rep_heading(page, 1, "Here");
    cull_rep_put(html, "<p>");
    put_outcome(html, f->held);
    cull_rep_put(html, "</p>\n");
    put_lines(html, "finding", f->finding);
    put_words(html, "small", f->scale);
    if (f->runs < f->of)
        cull_rep_print(html, "<p class=\"small\">%zu of %zu runs are there.</p>\n", f->runs, f->of);
    cull_rep_put(html, "</div></div>\n");
}

static cull_status put_drawing(cull_rep_page *page, const cull_paper_figure *f,
                               cull_rep_names *names)
{
    cull_status   status = CULL_OK;
    cull_rep_view view = {0};
    size_t        before = 0;

    TRY(cull_rep_view_read(f, names, &page->problems, &view));
    cull_rep_put(&page->html, "<div class=\"ours\">\n");
    before = page->html.size;
    if (f->missing[0])
        put_words(&page->html, "note", f->missing);
    else
        TRY(draw(page, &view, names));
    if (page->html.status == CULL_OK && page->html.size == before)
        cull_rep_put(&page->html, "<p class=\"note\">There is nothing to draw yet.</p>\n");
    cull_rep_put(&page->html, "</div>\n");
done:
    cull_rep_view_clear(&view);
    return status;
}

/* Tables and several pictures take the whole width, and the claim stands above them. */
static bool is_wide(const cull_paper_figure *f, size_t drawn)
{
    return drawn > 1 || f->drawing == CULL_DRAW_TARGETS || f->drawing == CULL_DRAW_RANKS ||
           f->drawing == CULL_DRAW_ERRORS || f->drawing == CULL_DRAW_EXAMPLES;
}

static cull_status put_figure(cull_rep_page *page, const cull_paper_figure *f, size_t number,
                              cull_rep_names *names)
{
    static const char narrow[] = "     ", wide[] = " wide";

    cull_status    status = CULL_OK;
    cull_rep_text *html = &page->html;
    size_t class = 0, drawn = page->figures;

    cull_rep_put(html, "<section class=\"part paper");
    class = html->size;
    cull_rep_print(html, "%s\" id=\"figure-%zu\"><h2>", narrow, number);
    cull_rep_escape(html, f->number, CULL_REP_NAME);
    cull_rep_put(html, " <small>");
    cull_rep_escape(html, f->title, CULL_REP_SENTENCE);
    cull_rep_put(html, "</small></h2>\n<div class=\"beside\">\n");
    put_claim(page, f);
    TRY(put_drawing(page, f, names));
    cull_rep_put(html, "</div></section>\n");
    TRY(html->status);
    if (is_wide(f, page->figures - drawn) && !f->missing[0])
        memcpy(html->data + class, wide, sizeof wide - 1);
done:
    return status;
}

static cull_status write_page(const cull_paper *paper, cull_rep_names *names, cull_rep_page *page)
{
    cull_status status = CULL_OK;

    cull_rep_page_begin(page, paper->title);
    page->level = 1;
    cull_rep_title(page, paper->title, NULL);
    put_sum(page, paper);
    put_contents(page, paper);
    page->level = 2;
    for (size_t i = 0; i < paper->figures; i++)
        TRY(put_figure(page, &paper->figure[i], i + 1, names));
    cull_rep_put_problems(page);
    cull_rep_page_end(page);
    status = page->html.status;
done:
    return status;
}

cull_status cull_report_paper(const cull_paper *paper, const cull_report_options *options,
                              cull_report_result *out)
{
    cull_status         status = CULL_OK;
    cull_rep_names      names = {0};
    cull_rep_page       page = {.problems = {.most = MOST_PROBLEMS}};
    cull_report_options options_room;
    cull_report_result  room, *given = out;

    SIZED(cull_report_options, options, options_room);
    SIZED_RESULT(cull_report_result, out, room);
    page.gnuplot = options && options->gnuplot ? options->gnuplot : "gnuplot";
    *out = (cull_report_result){0};
    if (!paper || !options || !options->output)
        FAIL(CULL_BAD_ARGUMENT, "a paper's page needs a paper and a file to write");
    TRY(cull_rep_names_gather(paper, &names));
    for (size_t i = 0; i < names.folders; i++)
        TRY(cull_rep_spare_source(names.folder[i].name, options->output));
    for (size_t i = 0; i < paper->figures; i++)
        if (paper->figure[i].folder[0])
            TRY(cull_rep_spare_source(paper->figure[i].folder, options->output));
    TRY(write_page(paper, &names, &page));
    TRY(cull_file_write(options->output, page.html.data, page.html.size));
    out->runs = cull_rep_names_read(&names);
    out->figures = page.figures;
    out->undrawn = page.undrawn;
    out->no_gnuplot = page.unable;
    out->problems = page.problems.count + page.problems.unsaid;
    (void)snprintf(out->why, sizeof out->why, "%.255s", page.undrawn ? page.why : "");
done:
    cull_sized_give(given, out, sizeof *out);
    cull_rep_page_clear(&page);
    cull_rep_names_clear(&names);
    return status;
}
