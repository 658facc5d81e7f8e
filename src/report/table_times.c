/*
 * report/table_times.c - the step times that costs are counted by: those of each arm, and what a
 * batch of each size takes to learn.
 *
 * comparison.json has a row for each: "learn 38", "score an example: NAME", "optimizer". Rows of
 * another kind are shown as they are.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/figure.h"

/* Rows: of an arm, what a batch takes, others, and those that say nothing. */
enum { KINDS = 5, LEARN = KINDS, OTHER, NOTHING };

static const struct {
    const char *what, *title, *explain;
} kinds[KINDS] = {
    {"score an example: ", "Score an example", "forward passes that choose, by example"},
    {"decide: ", "Decide", "which of a scored batch are trained, once a step"},
    {"learn from kept: ", "Learn from kept", "a step that goes on from the scoring pass"},
    {"score the pool: ", "Score the pool", "all examples, once a choice"},
    {"solve the pool: ", "Solve the pool", "which of all examples are trained, once a choice"},
};

struct arm_times {
    const char *name; /* borrowed */
    double      seconds[KINDS];
};

struct times {
    struct arm_times *arm;
    size_t            arms;
    bool              used[NOTHING + 1]; /* there are rows of this kind */
};

/* 31.5 µs, 4.85 ms, 1.98 s */
static void put_time(cull_rep_text *html, double seconds)
{
    static const struct {
        double      scale;
        const char *unit;
    } units[] = {{1e6, "µs"}, {1e3, "ms"}, {1, "s"}};
    size_t i = seconds < 999.5e-6 ? 0 : seconds < 999.5e-3 ? 1 : 2;
    double value = seconds * units[i].scale;

    cull_rep_number(html, value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
    if (isfinite(seconds)) cull_rep_print(html, "&nbsp;%s", units[i].unit);
}

static struct arm_times *find_arm(struct times *t, const char *name)
{
    for (size_t i = 0; i < t->arms; i++)
        if (strcmp(t->arm[i].name, name) == 0) return &t->arm[i];
    t->arm[t->arms] = (struct arm_times){.name = name};
    for (int k = 0; k < KINDS; k++) t->arm[t->arms].seconds[k] = NAN;
    return &t->arm[t->arms++];
}

static int kind_of(const cull_records_time *row)
{
    const char *what = row->what;

    for (int k = 0; k < KINDS; k++)
        if (strncmp(what, kinds[k].what, strlen(kinds[k].what)) == 0) return k;
    if (strncmp(what, "learn ", 6) == 0 && isdigit((unsigned char)what[6]) &&
        strspn(what + 6, "0123456789") == strlen(what + 6))
        return LEARN;
    return what[0] ? OTHER : NOTHING;
}

static void sort_row(struct times *t, const cull_records_time *row)
{
    int k = kind_of(row);

    t->used[k] = true;
    if (k < KINDS) find_arm(t, row->what + strlen(kinds[k].what))->seconds[k] = row->seconds;
}

static void put_arms(cull_rep_page *page, const cull_rep_comparison *c, const struct times *t)
{
    cull_rep_column columns[1 + KINDS] = {{"Arm", NULL, true}};
    size_t          count = 1;

    for (int k = 0; k < KINDS; k++)
        if (t->used[k])
            columns[count++] = (cull_rep_column){kinds[k].title, kinds[k].explain, false};
    cull_rep_table_begin(page, "Step times of arms", columns, count, false);
    for (size_t i = 0; i < t->arms; i++) {
        const cull_rep_arm *arm = cull_rep_find_arm(c, t->arm[i].name);

        cull_rep_name_cell(page, arm ? &arm->style : NULL, t->arm[i].name);
        for (int k = 0; k < KINDS; k++)
            if (t->used[k]) put_time(cull_rep_cell(page), t->arm[i].seconds[k]);
    }
    cull_rep_table_end(page);
}

/* Many sizes, few words: a grid. */
static void put_learn(cull_rep_page *page, const cull_records_comparison *c)
{
    cull_rep_text *html = &page->html;

    cull_rep_put(html, "<p class=\"small\">Learning from a batch of so many examples (forward, "
                       "backward and gradients), and for each of them:</p>\n<dl class=\"pairs "
                       "times\">");
    for (size_t i = 0; i < c->times; i++) {
        double batch = 0, seconds = c->time[i].seconds;

        if (kind_of(&c->time[i]) != LEARN) continue;
        batch = strtod(c->time[i].what + 6, NULL);
        cull_rep_put(html, "<div><dt>");
        cull_rep_count(html, batch);
        cull_rep_put(html, "</dt><dd>");
        put_time(html, seconds);
        cull_rep_put(html, " <small>(");
        put_time(html, seconds / batch);
        cull_rep_put(html, ")</small></dd></div>");
    }
    cull_rep_put(html, "</dl>\n");
}

static void put_others(cull_rep_page *page, const cull_records_comparison *c)
{
    cull_rep_text *html = &page->html;
    bool           any = false;

    cull_rep_put(html, "<p class=\"small\">Medians, measured once before the runs and frozen: what "
                       "Cost is counted by.");
    for (size_t i = 0; i < c->times; i++) {
        if (kind_of(&c->time[i]) != OTHER) continue;
        cull_rep_put(html, any ? "; " : " ");
        cull_rep_escape(html, c->time[i].what, CULL_REP_NAME);
        cull_rep_put(html, ": ");
        put_time(html, c->time[i].seconds);
        any = true;
    }
    if (any) cull_rep_put(html, ".");
    if (isfinite(c->full_step)) {
        cull_rep_put(html, " A step of full training: ");
        put_time(html, c->full_step);
        cull_rep_put(html, ".");
    }
    cull_rep_put(html, "</p>\n");
}

cull_status cull_rep_table_times(cull_rep_page *page, const cull_rep_comparison *c)
{
    cull_status  status = CULL_OK;
    size_t       count = c->is.times;
    struct times t = {0};

    if (!count) goto done;
    TRY(cull_base_alloc(count, sizeof *t.arm, "step times", &t.arm));
    for (size_t i = 0; i < count; i++) sort_row(&t, &c->is.time[i]);
    cull_rep_heading(page, 2, "Step times that costs are counted by");
    put_others(page, &c->is);
    if (t.arms) put_arms(page, c, &t);
    if (t.used[LEARN]) put_learn(page, &c->is);
    status = page->html.status;
done:
    cull_base_free(t.arm);
    return status;
}
