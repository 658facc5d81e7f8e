/* report/page_runs.c - the part of a page that is about runs by themselves. */
#include <math.h>
#include <string.h>

#include "report/page.h"
#include "report/picture.h"
#include "report/probes.h"

enum { MOST_AUDITS = 512, MOST_RECIPES = 8 };

/* "Test accuracy 91.23 % after 3 epochs of lenet5 on fashion-mnist, strategy full." */
static void put_outcome(cull_rep_page *page, const cull_rep_single *s)
{
    cull_rep_text           *html = &page->html;
    const cull_records_info *info = &s->run.record.info;
    const cull_yardstick    *by = cull_rep_yardstick(info->metric);
    bool                     ended = isfinite(info->test);
    char                     value[CULL_REP_NAME];

    cull_rep_put(html, "<p class=\"verdict\">");
    if (s->run.record.state != CULL_RECORDS_FINISHED)
        cull_rep_print(html, "The run is %s. ", cull_records_state_name(s->run.record.state));
    if (ended || isfinite(info->accuracy)) {
        cull_rep_value(by, by->scale * (ended ? info->test : info->accuracy), value);
        cull_rep_print(html, ended ? "Test %s %s" : "So far, %s is %s", by->name, value);
    } else {
        cull_rep_print(html, "No %s is known", by->name);
    }
    if (isfinite(info->epoch)) {
        cull_rep_put(html, " after ");
        cull_rep_number(html, info->epoch, floor(info->epoch) == info->epoch ? 0 : 2);
        cull_rep_put(html, info->epoch == 1 ? " epoch" : " epochs");
    }
    if (info->model[0]) {
        cull_rep_put(html, " of ");
        cull_rep_escape(html, info->model, CULL_REP_NAME);
    }
    if (info->data.name[0]) {
        cull_rep_put(html, " on ");
        cull_rep_escape(html, info->data.name, CULL_REP_NAME);
    }
    if (info->strategy[0]) {
        cull_rep_put(html, ", strategy ");
        cull_rep_escape(html, info->strategy, CULL_REP_NAME);
    }
    cull_rep_put(html, ".</p>\n<p class=\"sure\"><b>How sure:</b> one seed says how this run went, "
                       "not whether its strategy pays: for that, cull compare.</p>\n");
}

static double test_of(const cull_rep_single *s)
{
    return s->run.record.info.test;
}

/* Of several runs, the one that did best on the test set. */
static void put_highest(cull_rep_page *page, const cull_rep_single *runs, size_t count)
{
    const cull_yardstick  *by = cull_rep_yardstick_of(runs, count);
    const cull_rep_single *best = NULL;
    cull_rep_text         *html = &page->html;
    char                   value[CULL_REP_NAME];

    for (size_t i = 0; by->key && i < count; i++)
        if (isfinite(test_of(&runs[i])) &&
            (!best || cull_yardstick_gain(by, test_of(&runs[i]), test_of(best)) > 0))
            best = &runs[i];
    cull_rep_put(html, "<p class=\"verdict\">");
    if (best) {
        cull_rep_value(by, by->scale * test_of(best), value);
        cull_rep_print(html, "Of %zu runs, the best test %s is %s, of ", count, by->name, value);
        cull_rep_escape(html, best->folder, CULL_REP_NAME);
    } else {
        cull_rep_print(html,
                       by->key ? "%zu runs, none with a test %s yet"
                               : "%zu runs, each with a %s of its own kind: what they are judged "
                                 "by differs",
                       count, by->name);
    }
    cull_rep_put(html, ".</p>\n<p class=\"sure\"><b>How sure:</b> runs side by side show how each "
                       "went, not which strategy pays: for that, cull compare.</p>\n");
}

/* What they picked, the examples that were easiest and hardest, and how whole subsets are. */
static cull_status put_audits(cull_rep_page *page, const cull_rep_single *runs, size_t count)
{
    cull_status  status = CULL_OK;
    cull_rep_row row[MOST_AUDITS] = {{0}};
    size_t       rows = 0;

    for (; rows < count && rows < MOST_AUDITS; rows++)
        row[rows] = (cull_rep_row){runs[rows].folder, NULL, &runs[rows].run, 1};
    if (cull_rep_table_picks(page, row, rows)) {
        cull_rep_put(&page->html, "<div class=\"figures\">");
        TRY(cull_rep_draw_run_picks(page, runs, count));
        cull_rep_put(&page->html, "</div>");
    }
    for (size_t i = 0; i < count; i++) {
        bool shown = false;

        TRY(cull_rep_forgive(
            cull_rep_pictures(&page->html, runs[i].folder ? runs[i].folder : "", &shown),
            &page->problems));
    }
    cull_rep_table_whole(page, row, rows);
done:
    return status;
}

static void put_machine(cull_rep_page *page, const cull_records_info *info)
{
    char        cores[24] = "";
    cull_option pairs[] = {{"system", info->machine.system},
                           {"release", info->machine.release},
                           {"processor", info->machine.processor},
                           {"cores", cores},
                           {"backend", info->machine.backend}};

    cull_rep_table_machine(page, info->machine.cores, cores, pairs, sizeof pairs / sizeof *pairs);
}

static void put_recipe(cull_rep_text *html, char *recipe)
{
    cull_rep_put(html, "<pre>");
    for (char *line = recipe; line && *line;) {
        size_t length = strcspn(line, "\n");
        char   end = line[length];

        line[length] = '\0';
        cull_rep_escape(html, line, CULL_REP_SENTENCE);
        line[length] = end;
        cull_rep_put(html, "\n");
        line += length + (end != '\0');
    }
    cull_rep_put(html, "</pre>\n");
}

static void put_setup(cull_rep_page *page, const cull_rep_single *run, bool named)
{
    if (named) {
        cull_rep_put(&page->html, "<p><b>");
        cull_rep_escape(&page->html, run->folder, CULL_REP_SENTENCE);
        cull_rep_put(&page->html, "</b></p>\n");
    }
    put_machine(page, &run->run.record.info);
    if (!run->recipe) return;
    cull_rep_heading(page, 2, "Recipe");
    put_recipe(&page->html, run->recipe);
}

cull_status cull_rep_put_runs(cull_rep_page *page, const cull_rep_single *runs, size_t count)
{
    cull_status       status = CULL_OK;
    cull_rep_probes   probes = {0};
    cull_rep_warnings warnings = {0};

    cull_rep_title(page, count == 1 ? runs[0].folder : "Runs", NULL);
    if (count == 1)
        put_outcome(page, &runs[0]);
    else
        put_highest(page, runs, count);
    for (size_t i = 0; i < count; i++) cull_rep_warn(&warnings, &runs[i].run);
    cull_rep_put_warnings(page, &warnings);
    if (page->level == 1) cull_rep_point_to_problems(page);
    cull_rep_table_runs(page, runs, count);
    cull_rep_put(&page->html, "<div class=\"figures\">\n");
    TRY(cull_rep_draw_run_curves(page, runs, count));
    TRY(cull_rep_draw_run_phases(page, runs, count));
    cull_rep_put(&page->html, "</div>\n");
    for (size_t i = 0; i < count; i++) TRY(cull_rep_probes_add(&probes, &runs[i].run.probes, NULL));
    TRY(cull_rep_put_probes(page, &probes));
    TRY(put_audits(page, runs, count));
    cull_rep_heading(page, 1, "Set-up");
    for (size_t i = 0; i < count && i < MOST_RECIPES; i++) put_setup(page, &runs[i], count > 1);
    if (count > MOST_RECIPES)
        cull_rep_print(&page->html,
                       "<p class=\"small\">Set-ups are shown of the first %d of %zu runs; each "
                       "folder’s recipe.yaml has its own.</p>\n",
                       MOST_RECIPES, count);
    status = page->html.status;
done:
    cull_rep_probes_clear(&probes);
    return status;
}
