/* report/warnings.c - what a person should know of the data, as runs were told it: each sentence
 * once, with how many runs had it. */
#include <string.h>

#include "report/page.h"

static bool is_same(const cull_rep_warnings *w, const char *a, const char *b)
{
    return w->one_set ? cull_records_texts_alike(a, b) : strcmp(a, b) == 0;
}

static void add(cull_rep_warnings *w, const char *text, size_t runs)
{
    for (size_t i = 0; i < w->count; i++)
        if (is_same(w, w->of[i].text, text)) {
            w->of[i].runs += runs;
            return;
        }
    if (w->count < CULL_RECORDS_TEXTS) {
        w->of[w->count].text = text;
        w->of[w->count++].runs = runs;
    }
}

void cull_rep_warn(cull_rep_warnings *w, const cull_rep_run *run)
{
    const cull_records_texts *texts = &run->record.info.warnings;

    if (!run->there) return;
    w->runs++;
    for (size_t i = 0; i < texts->count; i++) add(w, texts->text[i], 1);
}

void cull_rep_warn_all(cull_rep_warnings *w, const cull_records_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) add(w, texts->text[i], 0);
}

/* "(all 12 runs)"; nothing of one run by itself, or where no run was read. */
static void put_runs(cull_rep_text *html, size_t runs, size_t all)
{
    if (all < 2 || runs == 0) return;
    if (runs == all)
        cull_rep_print(html, " <small>(all %zu runs)</small>", all);
    else
        cull_rep_print(html, " <small>(%zu of %zu runs)</small>", runs, all);
}

void cull_rep_put_warnings(cull_rep_page *page, const cull_rep_warnings *w)
{
    cull_rep_text *html = &page->html;

    if (!w->count) return;
    cull_rep_put(html, "<div class=\"note\"><b>About the data:</b><ul class=\"warnings\">");
    for (size_t i = 0; i < w->count; i++) {
        cull_rep_put(html, "<li>");
        cull_rep_sentence(html, w->of[i].text, CULL_REP_SENTENCE);
        put_runs(html, w->of[i].runs, w->runs);
        cull_rep_put(html, "</li>\n");
    }
    cull_rep_put(html, "</ul></div>\n");
}
