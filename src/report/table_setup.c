/* report/table_setup.c - what was run and where: command, machine, recipe; and runs. */
#include <math.h>
#include <stdio.h>

#include "report/figure.h"

enum { MOST_ROWS = 200, MOST_COMMAND = 8000 };

void cull_rep_table_pairs(cull_rep_page *page, const char *title, const char *class,
                          const cull_option *pairs, size_t count)
{
    cull_rep_text *html = &page->html;
    size_t         rows = 0;

    for (size_t i = 0; i < count && rows < MOST_ROWS; i++) {
        if (!pairs[i].value || !pairs[i].value[0]) continue;
        if (rows++ == 0) {
            cull_rep_heading(page, 2, title);
            cull_rep_print(html, "<dl class=\"%s\">", class);
        }
        cull_rep_put(html, "<div><dt>");
        cull_rep_escape(html, pairs[i].key, CULL_REP_NAME);
        cull_rep_put(html, "</dt><dd>");
        cull_rep_escape(html, pairs[i].value, CULL_REP_NAME);
        cull_rep_put(html, "</dd></div>");
    }
    if (rows) cull_rep_put(html, "</dl>\n");
}

void cull_rep_table_machine(cull_rep_page *page, double cores, char words[24], cull_option *pairs,
                            size_t count)
{
    if (isfinite(cores)) (void)snprintf(words, 24, "%.6g", cores);
    cull_rep_table_pairs(page, "Machine", "pairs", pairs, count);
}

static void put_machine(cull_rep_page *page, const cull_records_comparison *c)
{
    char        cores[24] = "";
    cull_option pairs[] = {{"cpu", c->machine.cpu},
                           {"cores", cores},
                           {"backend", c->machine.backend},
                           {"version", c->machine.version}};

    cull_rep_table_machine(page, c->machine.cores, cores, pairs, sizeof pairs / sizeof *pairs);
}

cull_status cull_rep_table_setup(cull_rep_page *page, const cull_rep_comparison *c)
{
    cull_status    status = CULL_OK;
    cull_rep_text *html = &page->html;

    cull_rep_heading(page, 1, "Set-up");
    if (c->is.command[0]) {
        cull_rep_heading(page, 2, "Command");
        cull_rep_put(html, "<pre class=\"command\"><code>");
        cull_rep_escape(html, c->is.command, MOST_COMMAND);
        cull_rep_put(html, "</code></pre>\n");
    }
    put_machine(page, &c->is);
    cull_rep_put(html, "<p class=\"small\">");
    if (isfinite(c->is.threads) && isfinite(c->is.jobs))
        cull_rep_print(html, "%.0f %s a run, %.0f %s at a time. ", c->is.threads,
                       c->is.threads == 1 ? "thread" : "threads", c->is.jobs,
                       c->is.jobs == 1 ? "run" : "runs");
    if (isfinite(c->is.tokens))
        cull_rep_print(html,
                       "Work is counted and matched in tokens, padding included: an example is "
                       "%.0f of them. ",
                       c->is.tokens);
    if (c->is.created[0]) {
        cull_rep_put(html, "Begun ");
        cull_rep_escape(html, c->is.created, 40);
        cull_rep_put(html, ". ");
    }
    if (c->folder) {
        cull_rep_put(html, "Folder: ");
        cull_rep_escape(html, c->folder, CULL_REP_SENTENCE);
    }
    cull_rep_put(html, "</p>\n");
    TRY(cull_rep_table_times(page, c));
    cull_rep_table_pairs(page, "Recipe", "pairs recipe", c->is.recipe, c->is.pairs);
done:
    return status;
}

void cull_rep_table_runs(cull_rep_page *page, const cull_rep_single *runs, size_t count)
{
    const cull_yardstick *by = cull_rep_yardstick_of(runs, count);
    char                  result[CULL_REP_NAME];
    cull_rep_column       columns[] = {
              {"Run", "its folder", true},
              {"Status", "finished, or how it stands", true},
              {"Strategy", "what chose the examples", true},
              {"Seed", NULL, false},
              {"Epochs", "trained", false},
              {result, "on the test set at the end; –: not ended", false},
              {"Watched", "the latest on the set that was watched (validation, else test)", false},
              {"Best", "of those, and after which epoch", false},
              {"Time s", "loading, scoring, selecting, learning and optimizer", false},
    };
    cull_rep_text *html = NULL;

    cull_rep_column_name(by, result);
    cull_rep_table_begin(page, "Runs", columns, sizeof columns / sizeof *columns, true);
    for (size_t i = 0; i < count; i++) {
        const cull_rep_single   *s = &runs[i];
        const cull_records_info *info = &s->run.record.info;

        cull_rep_escape(cull_rep_cell(page), s->folder, CULL_REP_NAME);
        html = cull_rep_cell(page);
        cull_rep_put(html, cull_records_state_name(s->run.record.state));
        if (s->run.record.why[0]) {
            cull_rep_put(html, " <small>");
            cull_rep_escape(html, s->run.record.why, CULL_REP_SENTENCE);
            cull_rep_put(html, "</small>");
        }
        cull_rep_escape(cull_rep_cell(page), info->strategy, CULL_REP_NAME);
        cull_rep_number(cull_rep_cell(page), info->seed, 0);
        cull_rep_number(cull_rep_cell(page), info->epoch,
                        floor(info->epoch) == info->epoch ? 0 : 2);
        cull_rep_number(cull_rep_cell(page), by->scale * info->test, by->digits);
        cull_rep_number(cull_rep_cell(page), by->scale * info->accuracy, by->digits);
        html = cull_rep_cell(page);
        cull_rep_number(html, by->scale * info->best, by->digits);
        if (info->best_epoch > 0) cull_rep_print(html, " <small>(%.0f)</small>", info->best_epoch);
        cull_rep_seconds(cull_rep_cell(page), cull_records_spent(&info->work));
    }
    cull_rep_table_end(page);
}
