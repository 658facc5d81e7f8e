/* report/page_runs.c - the part of a page that is about runs by themselves. */
#include <math.h>
#include <string.h>

#include "report/page.h"
#include "report/picture.h"
#include "report/probes.h"

enum { MOST_AUDITS = 512 };

/* "Test accuracy 91.23 % after 3 epochs of lenet5 on fashion-mnist, strategy full." */
static void put_outcome(cull_rep_page *page, const cull_rep_single *s)
{
    cull_rep_text *html = &page->html;
    bool           ended = isfinite(s->test);

    cull_rep_put(html, "<p class=\"verdict\">");
    if (strcmp(s->run.status, "finished") != 0) {
        cull_rep_put(html, "The run is ");
        cull_rep_escape(html, s->run.status[0] ? s->run.status : "of unknown status", 40);
        cull_rep_put(html, ". ");
    }
    if (ended || isfinite(s->run.accuracy)) {
        cull_rep_put(html, ended ? "Test accuracy " : "Accuracy so far ");
        cull_rep_number(html, 100 * (ended ? s->test : s->run.accuracy), 2);
        cull_rep_put(html, " %");
    } else {
        cull_rep_put(html, "No accuracy is known");
    }
    if (isfinite(s->epoch)) {
        cull_rep_put(html, " after ");
        cull_rep_number(html, s->epoch, floor(s->epoch) == s->epoch ? 0 : 2);
        cull_rep_put(html, s->epoch == 1 ? " epoch" : " epochs");
    }
    if (s->model[0]) {
        cull_rep_put(html, " of ");
        cull_rep_escape(html, s->model, CULL_REP_NAME);
    }
    if (s->data[0]) {
        cull_rep_put(html, " on ");
        cull_rep_escape(html, s->data, CULL_REP_NAME);
    }
    if (s->strategy[0]) {
        cull_rep_put(html, ", strategy ");
        cull_rep_escape(html, s->strategy, CULL_REP_NAME);
    }
    cull_rep_put(html, ".</p>\n<p class=\"sure\"><b>How sure:</b> one seed says how this run went, "
                       "not whether its strategy pays: for that, cull compare.</p>\n");
}

/* Of several runs, the one that did best on the test set. */
static void put_highest(cull_rep_page *page, const cull_rep_single *runs, size_t count)
{
    const cull_rep_single *best = NULL;
    cull_rep_text         *html = &page->html;

    for (size_t i = 0; i < count; i++)
        if (isfinite(runs[i].test) && (!best || runs[i].test > best->test)) best = &runs[i];
    cull_rep_put(html, "<p class=\"verdict\">");
    if (best) {
        cull_rep_print(html, "Of %zu runs, the highest test accuracy is ", count);
        cull_rep_number(html, 100 * best->test, 2);
        cull_rep_put(html, " %, of ");
        cull_rep_escape(html, best->folder, CULL_REP_NAME);
    } else {
        cull_rep_print(html, "%zu runs, none with a test accuracy yet", count);
    }
    cull_rep_put(html, ".</p>\n<p class=\"sure\"><b>How sure:</b> runs side by side show how each "
                       "went, not which strategy pays: for that, cull compare.</p>\n");
}

static void put_run_whole(cull_rep_page *page, const cull_rep_single *runs, size_t count)
{
    cull_rep_whole row[MOST_AUDITS];
    size_t         rows = 0;

    for (size_t i = 0; i < count && rows < MOST_AUDITS; i++)
        if (runs[i].run.metrics.subsets > 0)
            row[rows++] = (cull_rep_whole){runs[i].folder, NULL, &runs[i].run.metrics};
    cull_rep_table_whole(page, row, rows);
}

static cull_status put_run_audit(cull_rep_page *page, const cull_rep_single *runs, size_t count)
{
    cull_status     status = CULL_OK;
    cull_rep_picked row[MOST_AUDITS];
    size_t          rows = 0;

    for (size_t i = 0; i < count && rows < MOST_AUDITS; i++)
        if (runs[i].run.audit.there)
            row[rows++] = (cull_rep_picked){runs[i].folder, NULL, &runs[i].run.audit};
    if (rows) {
        cull_rep_heading(page, 1, "What was picked");
        cull_rep_table_audit(page, row, rows);
        cull_rep_put(&page->html, "<div class=\"figures\">");
        TRY(cull_rep_draw_run_picks(page, runs, count));
        cull_rep_put(&page->html, "</div>");
    }
    for (size_t i = 0; i < count; i++) {
        bool shown = false;

        status = cull_rep_pictures(&page->html, runs[i].folder ? runs[i].folder : "", &shown);
        if (status == CULL_NO_MEMORY) goto done;
        if (status != CULL_OK) TRY(cull_rep_problem(&page->problems, "%.500s", cull_last_error()));
    }
done:
    return status;
}

cull_status cull_rep_put_runs(cull_rep_page *page, const cull_rep_single *runs, size_t count)
{
    cull_status     status = CULL_OK;
    cull_rep_probes probes = {0};

    cull_rep_title(page, count == 1 ? runs[0].folder : "Runs");
    if (count == 1)
        put_outcome(page, &runs[0]);
    else
        put_highest(page, runs, count);
    if (page->level == 1) cull_rep_point_to_problems(page);
    cull_rep_table_runs(page, runs, count);
    cull_rep_put(&page->html, "<div class=\"figures\">\n");
    TRY(cull_rep_draw_run_curves(page, runs, count));
    TRY(cull_rep_draw_run_phases(page, runs, count));
    cull_rep_put(&page->html, "</div>\n");
    for (size_t i = 0; i < count; i++)
        TRY(cull_rep_probes_add(&probes, &runs[i].run.metrics, NULL));
    TRY(cull_rep_put_probes(page, &probes));
    TRY(put_run_audit(page, runs, count));
    put_run_whole(page, runs, count);
    cull_rep_heading(page, 1, "Set-up");
    for (size_t i = 0; i < count; i++) {
        if (count > 1) {
            cull_rep_put(&page->html, "<p><b>");
            cull_rep_escape(&page->html, runs[i].folder, CULL_REP_SENTENCE);
            cull_rep_put(&page->html, "</b></p>\n");
        }
        cull_rep_table_machine(page, runs[i].machine);
        if (!runs[i].recipe) continue;
        cull_rep_heading(page, 2, "Recipe");
        cull_rep_put(&page->html, "<pre>");
        for (char *line = runs[i].recipe; line && *line;) {
            size_t length = strcspn(line, "\n");
            char   end = line[length];

            line[length] = '\0';
            cull_rep_escape(&page->html, line, CULL_REP_SENTENCE);
            line[length] = end;
            cull_rep_put(&page->html, "\n");
            line += length + (end != '\0');
        }
        cull_rep_put(&page->html, "</pre>\n");
    }
    status = page->html.status;
done:
    cull_rep_probes_clear(&probes);
    return status;
}
