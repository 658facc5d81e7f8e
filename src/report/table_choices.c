/* report/table_choices.c - the first table: full training, what is advised, and every arm, with
 * what each gives up and what its verdict is. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/figure.h"

/* ±x.xx to ±x.xx, small, with its level where one points at it. */
static void put_interval(cull_rep_text *html, double low, double high, double level, int digits)
{
    if (!isfinite(low) || !isfinite(high)) return;
    cull_rep_print(html, " <small class=\"range\" title=\"%.3g %% interval\">", 100 * level);
    cull_rep_signed(html, low, digits);
    cull_rep_put(html, " to ");
    cull_rep_signed(html, high, digits);
    cull_rep_put(html, "</small>");
}

static void put_against_full(cull_rep_text *html, const cull_rep_comparison *c,
                             const cull_rep_arm *arm)
{
    if (strcmp(arm->is->role, "full") == 0) {
        cull_rep_put(html, "–");
        return;
    }
    cull_rep_signed(html, arm->full.gain, c->by->digits);
    put_interval(html, arm->full.low, arm->full.high, CULL_AGAINST_LEVEL, c->by->digits);
}

static void put_against_uniform(cull_rep_text *html, const cull_rep_comparison *c,
                                const cull_rep_arm *arm)
{
    const cull_records_versus *v = cull_records_primary(arm->is);

    cull_rep_signed(html, v ? v->difference : NAN, c->by->digits);
    put_interval(html, arm->adjusted.low, arm->adjusted.high, arm->adjusted.level, c->by->digits);
}

void cull_rep_put_p(cull_rep_text *html, double p)
{
    if (p >= 0 && p < 0.0001)
        cull_rep_put(html, "&lt;&thinsp;.0001");
    else
        cull_rep_number(html, p, p < 0.01 ? 4 : 3);
}

static void put_seeds(cull_rep_text *html, double more)
{
    cull_rep_put(html, " <small>about ");
    cull_rep_count(html, more);
    cull_rep_put(html, more < 1.5 ? " more seed</small>" : " more seeds</small>");
}

static void put_verdict(cull_rep_text *html, const cull_rep_arm *arm)
{
    static const struct {
        const char *word, *mark, *class;
    } words[] = {{"better", "▲", "better"},
                 {"worse", "▼", "worse"},
                 {"no different", "=", "same"},
                 {"undecided", "?", "open"},
                 {"untested", "–", "open"}};
    const cull_records_versus *v = cull_records_primary(arm->is);

    for (size_t i = 0; v && i < sizeof words / sizeof *words; i++) {
        if (strcmp(v->verdict, words[i].word) != 0) continue;
        cull_rep_print(html, "<span class=\"pill %s\">%s&nbsp;%s</span>", words[i].class,
                       words[i].mark, words[i].word);
        if (i == 3 && v->more_seeds > 0) put_seeds(html, v->more_seeds);
        return;
    }
    if (!cull_rep_is_arm(arm) || strcmp(arm->is->verdict, "control") == 0)
        cull_rep_put(html, "–");
    else
        cull_rep_put(html, "<span class=\"pill open\">–&nbsp;none yet</span>");
}

/* The name, and whether it is advised, saves at a price, or cannot pay. */
static void put_choice(cull_rep_page *page, const cull_rep_comparison *c, const cull_rep_arm *arm)
{
    const char    *role = cull_rep_role_words(arm);
    cull_rep_text *html = NULL;
    bool           advised = c->advice.chosen == arm->is;

    if (advised) cull_rep_row_class(page, "advised");
    html = cull_rep_name_cell(page, &arm->style, arm->is->name[0] ? arm->is->name : "(no name)");
    if (strcmp(arm->is->role, "full") == 0) cull_rep_put(html, " <small>(all examples)</small>");
    if (!cull_rep_is_arm(arm) && strcmp(arm->is->role, "full") != 0 && role)
        cull_rep_print(html, " <small>(%s)</small>", role);
    if (advised)
        cull_rep_put(html, "<small class=\"mark\">◀&nbsp;advised</small>");
    else if (c->advice.saving == arm->is)
        cull_rep_put(html, "<small class=\"mark\">◁&nbsp;to save</small>");
    if (cull_rep_costs_more(arm))
        cull_rep_put(html, "<small class=\"over\">▲&nbsp;costs more than full training</small>");
}

static void put_row(cull_rep_page *page, const cull_rep_comparison *c, const cull_rep_arm *arm)
{
    const cull_records_versus *v = cull_records_primary(arm->is);

    put_choice(page, c, arm);
    cull_rep_put_result(cull_rep_cell(page), c, arm);
    cull_rep_put_cost(cull_rep_cell(page), arm);
    put_against_full(cull_rep_cell(page), c, arm);
    put_against_uniform(cull_rep_cell(page), c, arm);
    cull_rep_put_p(cull_rep_cell(page), v ? (isfinite(v->p_holm) ? v->p_holm : v->p) : NAN);
    put_verdict(cull_rep_cell(page), arm);
}

/* Full training and controls that the advice names come first, then the arms. */
static bool is_of_turn(const cull_rep_comparison *c, const cull_rep_arm *arm, int turn)
{
    bool named = c->advice.chosen == arm->is || c->advice.saving == arm->is;
    bool full = strcmp(arm->is->role, "full") == 0;

    return turn == 0   ? full
           : turn == 1 ? !full && !cull_rep_is_arm(arm) && named
                       : cull_rep_is_arm(arm);
}

void cull_rep_table_choices(cull_rep_page *page, const cull_rep_comparison *c)
{
    char            result[CULL_REP_NAME], is[240], full[240], uniform[480];
    cull_rep_column columns[] = {
        {"Choice", "strategy, share kept and how it scores", true},
        {result, is, false},
        {"Cost",
         "time of the run as a share of the full run’s, by the step times measured beforehand",
         false},
        {"Against full", full, false},
        {"Against uniform", uniform, false},
        {"p", "of the difference to uniform: paired t-test, adjusted over all arms after Holm",
         false},
        {"Verdict",
         "on the difference to uniform. Better or worse: adjusted p below .05; no different: the "
         "90 % interval lies inside the margin; else undecided; untested: fewer than two pairs",
         true},
    };

    cull_rep_column_name(c->by, result);
    (void)snprintf(
        is, sizeof is,
        "%s; on the test set at the end of the run, mean ± standard deviation over seeds",
        c->by->what);
    (void)snprintf(full, sizeof full,
                   "what one would give up: %s above full training, mean over pairs of the same "
                   "seed, with its plain 95 %% interval",
                   c->by->points);
    (void)snprintf(uniform, sizeof uniform,
                   "%s above uniform choice that may spend the same cost on more examples, with "
                   "the interval at the level at which Holm’s procedure tests it: it leaves zero "
                   "out exactly where p is below .05",
                   c->by->points);
    cull_rep_table_begin(page, "What to choose", columns, sizeof columns / sizeof *columns, true);
    for (int turn = 0; turn < 3; turn++)
        for (size_t i = 0; i < c->arms; i++)
            if (is_of_turn(c, &c->arm[i], turn)) put_row(page, c, &c->arm[i]);
    cull_rep_table_end(page);
}
