/* report/probes.c - gathers gradient errors over runs, and says how often each strategy wins. */
#include "report/probes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/figure.h"

enum { MOST_GROUPS = 64 };

static cull_rep_style find_style(const char *strategy, const cull_rep_comparison *c,
                                 const cull_rep_probes *probes)
{
    int turn = 0;

    if (strcmp(strategy, "random") == 0) return (cull_rep_style){0, 0, false};
    for (size_t i = 0; c && i < c->arms; i++)
        if (strcmp(c->arm[i].strategy, strategy) == 0 && cull_rep_is_arm(&c->arm[i]))
            return (cull_rep_style){c->arm[i].style.colour, c->arm[i].style.marker, false};
    for (size_t i = 0; i < probes->count; i++) {
        if (strcmp(probes->group[i].strategy, strategy) == 0) return probes->group[i].style;
        if (probes->group[i].style.colour - 1 > turn) turn = probes->group[i].style.colour - 1;
    }
    return (cull_rep_style){2 + turn % 6, (turn + 1) % 6, false};
}

/* The group of a probe, a new one if need be; NULL where there are too many. */
static cull_status find_group(cull_rep_probes *probes, const cull_rep_probe *probe,
                              const cull_rep_comparison *c, cull_rep_probe_group **out)
{
    cull_status           status = CULL_OK;
    cull_rep_probe_group *group = NULL;

    *out = NULL;
    for (size_t i = 0; i < probes->count && !*out; i++)
        if (probes->group[i].keep == probe->keep &&
            strcmp(probes->group[i].strategy, probe->strategy) == 0)
            *out = &probes->group[i];
    if (*out || probes->count == MOST_GROUPS) goto done;
    if (!probes->group)
        TRY(cull_base_alloc(MOST_GROUPS, sizeof *probes->group, "probes", &probes->group));
    group = &probes->group[probes->count];
    group->strategy = probe->strategy;
    group->keep = probe->keep;
    group->style = find_style(probe->strategy, c, probes);
    probes->count++;
    *out = group;
done:
    return status;
}

cull_status cull_rep_probes_add(cull_rep_probes *probes, const cull_rep_metrics *metrics,
                                const cull_rep_comparison *c)
{
    cull_status           status = CULL_OK;
    cull_rep_probe_group *group = NULL;

    for (size_t i = 0; i < metrics->probes; i++) {
        const cull_rep_probe *probe = &metrics->probe[i];

        if (!(probe->error > 0) || !isfinite(probe->keep)) continue;
        TRY(find_group(probes, probe, c, &group));
        if (!group) continue;
        if (group->count == group->room) {
            size_t room = 2 * group->room + 64;
            TRY(cull_base_grow(room, sizeof *group->error, "probes", &group->error));
            group->room = room;
        }
        group->error[group->count++] = probe->error;
        group->contests += isfinite(probe->win) != 0;
        group->wins += probe->win > 0;
    }
done:
    return status;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int by_keep(const void *a, const void *b)
{
    const cull_rep_probe_group *x = a, *y = b;

    if (x->keep != y->keep) return x->keep < y->keep ? -1 : 1;
    return x->style.colour - y->style.colour;
}

void cull_rep_probes_sort(cull_rep_probes *probes)
{
    if (!probes->count) return;
    qsort(probes->group, probes->count, sizeof *probes->group, by_keep);
    for (size_t i = 0; i < probes->count; i++)
        qsort(probes->group[i].error, probes->group[i].count, sizeof(double), by_value);
}

void cull_rep_probes_clear(cull_rep_probes *probes)
{
    for (size_t i = 0; i < probes->count; i++) cull_base_free(probes->group[i].error);
    cull_base_free(probes->group);
    *probes = (cull_rep_probes){0};
}

/* Wilson's 95 % interval of a share k/n. */
static void wilson(double k, double n, double *low, double *high)
{
    const double z = 1.959963984540054;
    double       share = k / n, scale = 1 + z * z / n, centre = (share + z * z / (2 * n)) / scale;
    double       half = z / scale * sqrt(share * (1 - share) / n + z * z / (4 * n * n));

    *low = centre - half;
    *high = centre + half;
}

static void put_table(cull_rep_page *page, const cull_rep_probes *probes)
{
    static const cull_rep_column columns[] = {
        {"Strategy", "what chose the subset", true},
        {"ρ", "share of the minibatch that is kept", false},
        {"Minibatches", "how many were probed", false},
        {"Median error", "squared distance to the full-data gradient", false},
        {"Below uniform",
         "share of minibatches on which the error is below uniform’s, with its 95 "
         "% interval (Wilson)",
         false},
    };
    enum { COLUMNS = sizeof columns / sizeof *columns };
    cull_rep_text *html = &page->html;

    cull_rep_table_begin(page, "Gradient errors", columns, COLUMNS, false);
    for (size_t i = 0; i < probes->count; i++) {
        const cull_rep_probe_group *g = &probes->group[i];
        double                      low = 0, high = 0;

        cull_rep_cell(page, &columns[0]);
        cull_rep_swatch(html, &g->style, false, false);
        cull_rep_escape(html, g->strategy, CULL_REP_NAME);
        cull_rep_cell(page, &columns[1]);
        cull_rep_print(html, "%.3g", g->keep);
        cull_rep_cell(page, &columns[2]);
        cull_rep_count(html, (double)g->count);
        cull_rep_cell(page, &columns[3]);
        cull_rep_print(html, "%.3g", g->error[g->count / 2]);
        cull_rep_cell(page, &columns[4]);
        if (g->contests && g->style.colour != 0) {
            wilson((double)g->wins, (double)g->contests, &low, &high);
            cull_rep_print(html, "%.0f %% <small>(%.0f to %.0f)</small>",
                           100 * (double)g->wins / (double)g->contests, 100 * low, 100 * high);
        } else {
            cull_rep_put(html, "–");
        }
    }
    cull_rep_table_end(page, columns, COLUMNS);
}

cull_status cull_rep_put_probes(cull_rep_page *page, cull_rep_probes *probes)
{
    cull_status status = CULL_OK;

    if (!probes->count) goto done;
    cull_rep_probes_sort(probes);
    cull_rep_heading(page, 1, "How true the subsets’ gradients are");
    cull_rep_put(&page->html, "<div class=\"figures\">");
    TRY(cull_rep_draw_probes(page, probes->group, probes->count));
    cull_rep_put(&page->html, "</div>");
    put_table(page, probes);
done:
    return status;
}
