/* report/page.c - the page: its frame, the part of a comparison, the list of problems. */
#include "report/page.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "report/picture.h"
#include "report/probes.h"

enum { MOST_GALLERIES = 4, MOST_AUDITS = 512 };

void cull_rep_page_begin(cull_rep_page *page, const char *title)
{
    cull_rep_text *html = &page->html;

    cull_rep_put(html, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                       "style-src 'unsafe-inline'; img-src data:\">"
                       "<meta name=\"generator\" content=\"cull\">"
                       "<link rel=\"icon\" href=\"data:,\"><title>");
    cull_rep_escape(html, title, CULL_REP_NAME);
    cull_rep_put(html, "</title>\n<style>\n");
    cull_rep_put(html, (const char *)cull_rep_style_sheet);
    cull_rep_put(html, "</style></head><body>\n");
    cull_rep_put_symbols(html);
    cull_rep_put(html, "<main>\n");
}

void cull_rep_page_clear(cull_rep_page *page)
{
    cull_rep_text_clear(&page->html);
    cull_rep_text_clear(&page->table.text);
    cull_base_free(page->table.cell);
    cull_records_list_clear(&page->problems);
    *page = (cull_rep_page){0};
}

void cull_rep_page_end(cull_rep_page *page)
{
    cull_rep_print(&page->html,
                   "</main><footer>Written by cull %s. All on this page is in this file.</footer>"
                   "</body></html>\n",
                   cull_version());
}

void cull_rep_heading(cull_rep_page *page, int below, const char *words)
{
    cull_rep_print(&page->html, "<h%d>%s</h%d>\n", page->level + below, words, page->level + below);
}

void cull_rep_title(cull_rep_page *page, const char *words, const char *folder)
{
    cull_rep_print(&page->html, "<h%d>", page->level);
    cull_rep_escape(&page->html, words, CULL_REP_SENTENCE);
    if (folder && page->level > 1) {
        cull_rep_put(&page->html, " <small>");
        cull_rep_escape(&page->html, folder, CULL_REP_SENTENCE);
        cull_rep_put(&page->html, "</small>");
    }
    cull_rep_print(&page->html, "</h%d>\n", page->level);
}

/* What to do, large; the verdict on selection behind it. */
static void put_headline(cull_rep_page *page, const cull_rep_comparison *c)
{
    cull_rep_text *html = &page->html;

    cull_rep_put(html, strlen(c->advice.what) > 280 ? "<p class=\"verdict long\">"
                                                    : "<p class=\"verdict\">");
    cull_rep_sentence(html, c->advice.what, CULL_ADVICE_WHAT);
    cull_rep_put(html, "</p>\n");
    if (c->advice.more[0]) {
        cull_rep_put(html, "<p class=\"more\">");
        cull_rep_sentence(html, c->advice.more, CULL_ADVICE_MORE);
        cull_rep_put(html, "</p>\n");
    }
    cull_rep_put(html, "<p class=\"found\"><b>Does selection pay?</b> ");
    cull_rep_sentence(html, c->verdict[0] ? c->verdict : "There is no verdict yet.",
                      2 * CULL_REP_SENTENCE);
    cull_rep_put(html, "</p>\n");
}

static size_t count_failed(const cull_records_arm *arm)
{
    size_t failed = 0;

    for (size_t i = 0; i < arm->runs; i++) failed += strcmp(arm->run[i].status, "failed") == 0;
    return failed;
}

/* Seeds, margin and test in a line, and what is missing. */
static void put_sureness(cull_rep_page *page, const cull_rep_comparison *c)
{
    size_t         planned = 0, there = 0, failed = 0, arms = 0;
    cull_rep_text *html = &page->html;
    bool           final = cull_advice_is_final(&c->is);

    for (size_t i = 0; i < c->arms; i++) {
        arms += cull_rep_is_arm(&c->arm[i]) && cull_records_primary(c->arm[i].is);
        if (strcmp(c->arm[i].is->role, "early-stop") == 0) continue;
        planned += c->arm[i].is->runs;
        there += c->arm[i].finished;
        failed += count_failed(c->arm[i].is);
    }
    cull_rep_print(html, "<p class=\"sure\"><b>How sure:</b> ");
    if (c->is.seeds)
        cull_rep_print(html, "%zu %s; ", c->is.seeds, c->is.seeds == 1 ? "seed" : "seeds");
    if (c->is.seeds == 0)
        cull_rep_put(html, "how many seeds were run is not recorded");
    else if (c->is.seeds == 1)
        cull_rep_put(html, "with one there is no spread to test against, so nothing is decided");
    else
        cull_rep_print(html,
                       "against uniform choice at the same cost paired t-tests, adjusted after "
                       "Holm over %zu %s; against full training plain 95 %% intervals; differences "
                       "within ",
                       arms, arms == 1 ? "arm" : "arms");
    if (c->is.seeds >= 2 && isfinite(c->is.margin))
        cull_rep_print(html, "±%.3g %s count as none", c->is.margin, c->by->points);
    else if (c->is.seeds >= 2)
        cull_rep_put(html, "the margin count as none");
    cull_rep_put(html, ".</p>\n");
    if (!final || there < planned) {
        cull_rep_print(html, "<p class=\"note\">%s: %zu of %zu runs are there",
                       final ? "Some runs are missing" : "Not finished", there, planned);
        if (failed) cull_rep_print(html, ", %zu failed", failed);
        cull_rep_put(html, ". What is said below is about those that are there.</p>\n");
    }
}

static cull_status put_galleries(cull_rep_page *page, const cull_rep_comparison *c)
{
    cull_status status = CULL_OK;
    size_t      shown = 0;

    for (size_t i = 0; i < c->arms && c->folder && shown < MOST_GALLERIES; i++) {
        bool there = false;

        for (size_t j = 0; j < c->arm[i].is->runs && !there; j++) {
            char   path[CULL_DATA_PATH], heading[CULL_REP_NAME];
            size_t before = page->html.size;

            if (!c->arm[i].run[j].there) continue;
            (void)snprintf(path, sizeof path, "%.500s/%.500s", c->folder,
                           c->arm[i].is->run[j].folder);
            cull_rep_print(&page->html, "<h%d>Easiest and hardest for ", page->level + 2);
            cull_rep_arm_name(&c->arm[i], CULL_REP_NAME, heading);
            cull_rep_escape(&page->html, heading, CULL_REP_NAME);
            cull_rep_print(&page->html, "</h%d>\n", page->level + 2);
            status =
                cull_rep_forgive(cull_rep_pictures(&page->html, path, &there), &page->problems);
            if (!there && page->html.data) page->html.size = before;
            TRY(status);
        }
        shown += there;
    }
done:
    return status;
}

/* What its strategies picked, and how whole their subsets are. */
static cull_status put_audits(cull_rep_page *page, const cull_rep_comparison *c)
{
    cull_status  status = CULL_OK;
    cull_rep_row row[MOST_AUDITS] = {{0}};
    size_t       rows = 0;

    for (size_t i = 0; i < c->arms && rows < MOST_AUDITS; i++)
        if (cull_rep_is_arm(&c->arm[i]))
            row[rows++] = (cull_rep_row){c->arm[i].is->name, &c->arm[i].style, c->arm[i].run,
                                         c->arm[i].is->runs};
    if (cull_rep_table_picks(page, row, rows)) {
        cull_rep_put(&page->html, "<div class=\"figures\">");
        TRY(cull_rep_draw_picks(page, c));
        cull_rep_put(&page->html, "</div>");
    }
    cull_rep_table_whole(page, row, rows);
done:
    return status;
}

static cull_status put_figures(cull_rep_page *page, const cull_rep_comparison *c)
{
    cull_status status = CULL_OK;
    size_t      before = page->html.size, drawn = page->figures;

    cull_rep_heading(page, 1, "In pictures");
    cull_rep_put(&page->html, "<div class=\"figures\">\n");
    TRY(cull_rep_draw_cost(page, c));
    TRY(cull_rep_draw_differences(page, c));
    TRY(cull_rep_draw_phases(page, c, false));
    TRY(cull_rep_draw_keep(page, c));
    TRY(cull_rep_draw_errors(page, c));
    TRY(cull_rep_draw_phases(page, c, true));
    cull_rep_put(&page->html, "</div>\n");
    if (page->figures == drawn) page->html.size = before; /* nothing to show, no heading */
done:
    return status;
}

/* "runs/a/seed-1: ..." is not about runs/a/seed-10, nor the other way round. */
static bool speaks_of(const char *problem, const char *folder)
{
    const char *at = strstr(problem, folder);

    for (; at; at = strstr(at + 1, folder))
        if (!isalnum((unsigned char)at[strlen(folder)])) return true;
    return false;
}

cull_status cull_rep_gather_problems(cull_rep_page *page, const cull_rep_comparison *c)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; i < c->is.problems.count; i++)
        TRY(cull_records_say(&page->problems, "%s", c->is.problems.text[i]));
    for (size_t i = 0; i < c->arms; i++)
        for (size_t j = 0; j < c->arm[i].is->runs; j++) {
            const cull_records_compared *run = &c->arm[i].is->run[j];
            bool said = !run->why[0] || strcmp(c->arm[i].is->role, "early-stop") == 0;

            for (size_t k = 0; k < page->problems.count && run->folder[0]; k++)
                said = said || speaks_of(page->problems.text[k], run->folder);
            if (!said)
                TRY(cull_records_say(&page->problems, "%.200s: %.40s: %.600s", run->folder,
                                     run->status, run->why));
        }
done:
    return status;
}

void cull_rep_point_to_problems(cull_rep_page *page)
{
    size_t count = page->problems.count + page->problems.unsaid;

    if (count)
        cull_rep_print(
            &page->html,
            "<p class=\"note\">%zu %s, <a href=\"#problems\">listed at the end</a>.</p>\n", count,
            count == 1 ? "problem" : "problems");
}

static void put_warnings(cull_rep_page *page, const cull_rep_comparison *c)
{
    cull_rep_warnings warnings = {.one_set = true};

    cull_rep_warn_all(&warnings, &c->is.warnings); /* in the words of whoever began it */
    for (size_t i = 0; i < c->arms; i++)
        for (size_t j = 0; j < c->arm[i].is->runs; j++) cull_rep_warn(&warnings, &c->arm[i].run[j]);
    cull_rep_put_warnings(page, &warnings);
}

cull_status cull_rep_put_comparison(cull_rep_page *page, const cull_rep_comparison *c)
{
    cull_status     status = CULL_OK;
    cull_rep_text  *html = &page->html;
    cull_rep_probes probes = {0};
    bool            any = false;

    for (size_t i = 0; i < c->arms; i++) any = any || cull_rep_is_arm(&c->arm[i]);
    cull_rep_title(page, c->is.title[0] ? c->is.title : "A comparison", c->folder);
    put_headline(page, c);
    put_sureness(page, c);
    put_warnings(page, c);
    if (page->level == 1) cull_rep_point_to_problems(page);
    cull_rep_table_choices(page, c);
    TRY(put_figures(page, c));
    if (any) {
        cull_rep_heading(page, 1, "Against the other controls");
        cull_rep_print(
            html,
            "<p class=\"small\">Differences in %s with plain 95 %% intervals; no verdict "
            "hangs on them.</p>\n",
            c->by->points);
        cull_rep_table_controls(page, c);
        cull_rep_heading(page, 1, "What it costs to get there");
        cull_rep_table_costs(page, c);
    }
    for (size_t i = 0; i < c->arms; i++)
        for (size_t j = 0; j < c->arm[i].is->runs; j++)
            TRY(cull_rep_probes_add(&probes, &c->arm[i].run[j].probes, c));
    TRY(cull_rep_put_probes(page, &probes));
    TRY(put_audits(page, c));
    TRY(put_galleries(page, c));
    if (c->arms) {
        cull_rep_heading(page, 1, "Every arm and control");
        cull_rep_table_every(page, c);
    }
    TRY(cull_rep_table_setup(page, c));
    status = html->status;
done:
    cull_rep_probes_clear(&probes);
    return status;
}

void cull_rep_put_problems(cull_rep_page *page)
{
    cull_rep_text *html = &page->html;

    if (page->undrawn) {
        cull_rep_print(html, "<p class=\"note\">%zu %s not drawn: ", page->undrawn,
                       page->undrawn == 1 ? "figure was" : "figures were");
        cull_rep_escape(html, page->why, CULL_REP_SENTENCE);
        cull_rep_put(html, ".</p>\n");
    }
    if (!page->problems.count) return;
    cull_rep_put(html, "<h2 id=\"problems\">Problems</h2>\n<ul class=\"problems\">");
    for (size_t i = 0; i < page->problems.count; i++) {
        cull_rep_put(html, "<li>");
        cull_rep_escape(html, page->problems.text[i], CULL_REP_SENTENCE);
        cull_rep_put(html, "</li>\n");
    }
    if (page->problems.unsaid)
        cull_rep_print(html, "<li>and %zu more</li>\n", page->problems.unsaid);
    cull_rep_put(html, "</ul>\n");
}
