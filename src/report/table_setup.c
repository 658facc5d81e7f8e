/* report/table_setup.c - what was run and where: command, machine, recipe; and runs. */
#include <math.h>
#include <string.h>

#include "report/figure.h"

enum { MOST_ROWS = 200, MOST_COMMAND = 8000 };

/* A value of any kind as text. */
static void put_value(cull_rep_text *html, const json_t *value)
{
    if (json_is_string(value))
        cull_rep_escape(html, json_string_value(value), CULL_REP_NAME);
    else if (json_is_integer(value))
        cull_rep_print(html, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        cull_rep_print(html, "%.6g", json_real_value(value));
    else if (json_is_boolean(value))
        cull_rep_put(html, json_is_true(value) ? "true" : "false");
    else if (json_is_array(value))
        for (size_t i = 0; i < json_array_size(value) && i < 16; i++) {
            if (i) cull_rep_put(html, " ");
            if (!json_is_array(json_array_get(value, i))) put_value(html, json_array_get(value, i));
        }
    else
        cull_rep_put(html, "–");
}

static void put_pairs(cull_rep_text *html, json_t *object, const char *class)
{
    const char *key = NULL;
    json_t     *value = NULL;
    size_t      rows = 0;

    cull_rep_print(html, "<dl class=\"%s\">", class);
    json_object_foreach(object, key, value)
    {
        if (rows++ == MOST_ROWS) break;
        cull_rep_put(html, "<div><dt>");
        cull_rep_escape(html, key, CULL_REP_NAME);
        cull_rep_put(html, "</dt><dd>");
        put_value(html, value);
        cull_rep_put(html, "</dd></div>");
    }
    cull_rep_put(html, "</dl>\n");
}

void cull_rep_table_machine(cull_rep_page *page, const json_t *machine)
{
    if (!json_is_object(machine)) return;
    cull_rep_heading(page, 2, "Machine");
    put_pairs(&page->html, (json_t *)(uintptr_t)machine, "pairs");
}

cull_status cull_rep_table_setup(cull_rep_page *page, const cull_rep_comparison *c)
{
    cull_status    status = CULL_OK;
    cull_rep_text *html = &page->html;

    cull_rep_heading(page, 1, "Set-up");
    if (c->command[0]) {
        cull_rep_heading(page, 2, "Command");
        cull_rep_put(html, "<pre class=\"command\"><code>");
        cull_rep_escape(html, c->command, MOST_COMMAND);
        cull_rep_put(html, "</code></pre>\n");
    }
    cull_rep_table_machine(page, c->machine);
    cull_rep_put(html, "<p class=\"small\">");
    if (isfinite(c->threads) && isfinite(c->jobs))
        cull_rep_print(html, "%.0f %s a run, %.0f %s at a time. ", c->threads,
                       c->threads == 1 ? "thread" : "threads", c->jobs,
                       c->jobs == 1 ? "run" : "runs");
    if (c->created[0]) {
        cull_rep_put(html, "Begun ");
        cull_rep_escape(html, c->created, 40);
        cull_rep_put(html, ". ");
    }
    if (c->folder) {
        cull_rep_put(html, "Folder: ");
        cull_rep_escape(html, c->folder, CULL_REP_SENTENCE);
    }
    cull_rep_put(html, "</p>\n");
    TRY(cull_rep_table_times(page, c));
    if (!c->recipe) goto done;
    cull_rep_heading(page, 2, "Recipe");
    put_pairs(html, c->recipe, "pairs recipe");
done:
    return status;
}

void cull_rep_table_runs(cull_rep_page *page, const cull_rep_single *runs, size_t count)
{
    static const cull_rep_column columns[] = {
        {"Run", "its folder", true},
        {"Status", "finished, or how it stands", true},
        {"Strategy", "what chose the examples", true},
        {"Seed", NULL, false},
        {"Epochs", "trained", false},
        {"Test %", "accuracy on the test set at the end; –: not ended", false},
        {"Watched %", "latest accuracy on the set that was watched (validation, else test)", false},
        {"Best %", "highest accuracy there, and after which epoch", false},
        {"Time s", "loading, scoring, selecting, learning and optimizer", false},
    };
    enum { COLUMNS = sizeof columns / sizeof *columns };
    cull_rep_text *html = &page->html;

    cull_rep_table_begin(page, "Runs", columns, COLUMNS, true);
    for (size_t i = 0; i < count; i++) {
        const cull_rep_single *s = &runs[i];
        double                 seconds = 0;

        for (int p = 0; p < CULL_REP_PHASES; p++) seconds += s->run.seconds[p];
        cull_rep_cell(page, &columns[0]);
        cull_rep_escape(html, s->folder, CULL_REP_NAME);
        cull_rep_cell(page, &columns[1]);
        cull_rep_escape(html, s->run.status, 40);
        if (s->run.why[0]) {
            cull_rep_put(html, " <small>");
            cull_rep_escape(html, s->run.why, CULL_REP_SENTENCE);
            cull_rep_put(html, "</small>");
        }
        cull_rep_cell(page, &columns[2]);
        cull_rep_escape(html, s->strategy, CULL_REP_NAME);
        cull_rep_cell(page, &columns[3]);
        cull_rep_number(html, s->run.seed, 0);
        cull_rep_cell(page, &columns[4]);
        cull_rep_number(html, s->epoch, floor(s->epoch) == s->epoch ? 0 : 2);
        cull_rep_cell(page, &columns[5]);
        cull_rep_number(html, 100 * s->test, 2);
        cull_rep_cell(page, &columns[6]);
        cull_rep_number(html, 100 * s->run.accuracy, 2);
        cull_rep_cell(page, &columns[7]);
        cull_rep_number(html, 100 * s->run.best, 2);
        if (s->best_epoch > 0) cull_rep_print(html, " <small>(%.0f)</small>", s->best_epoch);
        cull_rep_cell(page, &columns[8]);
        cull_rep_number(html, seconds, 1);
    }
    cull_rep_table_end(page, columns, COLUMNS);
}
