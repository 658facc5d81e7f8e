/* report/probes.c - gathers gradient errors over minibatches, and says how often each strategy
 * wins. */
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
    const cull_strategy *found = cull_strategy_of(strategy);
    int                  turn = 0;

    if (found && (found->traits & CULL_UNIFORM)) return (cull_rep_style){0, 0, false};
    for (size_t i = 0; c && i < c->arms; i++)
        if (strcmp(c->arm[i].series, strategy) == 0 && cull_rep_is_arm(&c->arm[i]))
            return (cull_rep_style){c->arm[i].style.colour, c->arm[i].style.marker, false};
    for (size_t i = 0; i < probes->count; i++) {
        if (strcmp(probes->group[i].strategy, strategy) == 0) return probes->group[i].style;
        if (probes->group[i].style.colour - 1 > turn) turn = probes->group[i].style.colour - 1;
    }
    return (cull_rep_style){2 + turn % 6, (turn + 1) % 6, false};
}

/* The group of a probe, a new one if need be; NULL where there are too many. */
static cull_status find_group(cull_rep_probes *probes, const cull_records_probe *probe,
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

cull_status cull_rep_probes_add(cull_rep_probes *probes, const cull_records_probes *from,
                                const cull_rep_comparison *c)
{
    cull_status           status = CULL_OK;
    cull_rep_probe_group *group = NULL;

    for (size_t i = 0; i < from->count; i++) {
        const cull_records_probe *probe = &from->probe[i];
        const cull_probe_pick    *pick = &probe->pick;

        if (!isfinite(probe->keep)) continue;
        TRY(find_group(probes, probe, c, &group));
        if (!group) continue;
        group->batches++;
        group->picked += pick->kept == SIZE_MAX ? NAN : (double)pick->kept;
        group->corrupted += pick->corrupted == SIZE_MAX ? NAN : (double)pick->corrupted;
        if (!(pick->data->error > 0)) continue;
        TRY(cull_records_room(group->count, &group->room, sizeof *group->error, "probes",
                              &group->error));
        group->error[group->count++] = pick->data->error;
        group->cosine += pick->data->cosine;
        group->full += probe->full;
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

static void sort_groups(cull_rep_probes *probes)
{
    if (!probes->count) return;
    qsort(probes->group, probes->count, sizeof *probes->group, by_keep);
    for (size_t i = 0; i < probes->count; i++)
        if (probes->group[i].count)
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

static bool contested(const cull_rep_probe_group *g)
{
    return g->contests && g->style.colour != 0;
}

static bool knows_labels(const cull_rep_probe_group *g)
{
    return g->picked > 0 && g->corrupted >= 0 && g->corrupted <= g->picked;
}

/* 85 % (71 to 93) */
static void put_share(cull_rep_text *html, double hits, double trials, int digits)
{
    double low = 0, high = 0;

    wilson(hits, trials, &low, &high);
    cull_rep_print(html, "%.*f %% <small>(%.*f to %.*f)</small>", digits, 100 * hits / trials,
                   digits, 100 * low, digits, 100 * high);
}

static void put_share_cell(cull_rep_page *page, bool known, double hits, double trials, int digits)
{
    if (known)
        put_share(cull_rep_cell(page), hits, trials, digits);
    else
        cull_rep_put(cull_rep_cell(page), "–");
}

static void put_group(cull_rep_page *page, const cull_rep_probe_group *g, bool gradients,
                      bool labels)
{
    cull_rep_name_cell(page, &g->style, g->strategy);
    cull_rep_print(cull_rep_cell(page), "%.3g", g->keep);
    cull_rep_count(cull_rep_cell(page), (double)g->batches);
    if (gradients) {
        double sum = 0;

        for (size_t i = 0; i < g->count; i++) sum += g->error[i];
        cull_rep_print(cull_rep_cell(page), g->count ? "%.3g" : "–",
                       g->count ? g->error[g->count / 2] : 0);
        cull_rep_number(cull_rep_cell(page), sum / g->full, sum < 9.95 * g->full ? 2 : 1);
        cull_rep_number(cull_rep_cell(page), g->cosine / (double)g->count, 3);
        put_share_cell(page, contested(g), (double)g->wins, (double)g->contests, 0);
    }
    if (labels) put_share_cell(page, knows_labels(g), g->corrupted, g->picked, 1);
}

static void put_table(cull_rep_page *page, const cull_rep_probes *probes, bool gradients)
{
    static const cull_rep_column usual[] = {
        {"Strategy", "what chose the subset", true},
        {"ρ", "share of the minibatch that is kept", false},
        {"Minibatches", "how many were probed", false},
        {"Median error", "squared distance to the full-data gradient", false},
        {"÷ ‖g‖²", "mean error as a multiple of the full-data gradient’s squared norm", false},
        {"Cosine", "mean, of the angle between the two gradients", false},
        {"Below uniform",
         "share of minibatches on which the error is below uniform’s, with its 95 "
         "% interval (Wilson)",
         false},
        {"Wrong labels",
         "share of the picks whose label was changed on purpose, with its 95 % interval (Wilson)",
         false},
    };
    enum { COLUMNS = sizeof usual / sizeof *usual, FIRST = 3, OF_GRADIENTS = 4 };
    cull_rep_column columns[COLUMNS];
    size_t          count = 0;
    bool            labels = false;

    for (size_t i = 0; i < probes->count; i++)
        labels = labels || (probes->group[i].corrupted > 0 && probes->group[i].picked > 0);
    for (size_t i = 0; i < COLUMNS; i++)
        if (i < FIRST || (i < FIRST + OF_GRADIENTS ? gradients : labels))
            columns[count++] = usual[i];
    cull_rep_table_begin(page, "Probed minibatches", columns, count, false);
    for (size_t i = 0; i < probes->count; i++)
        put_group(page, &probes->group[i], gradients, labels);
    cull_rep_table_end(page);
}

static bool have_gradients(const cull_rep_probes *probes)
{
    bool any = false;

    for (size_t i = 0; i < probes->count; i++) any = any || probes->group[i].count > 0;
    return any;
}

cull_status cull_rep_put_probes(cull_rep_page *page, cull_rep_probes *probes)
{
    cull_status status = CULL_OK;
    bool        gradients = have_gradients(probes);

    if (!probes->count) goto done;
    sort_groups(probes);
    cull_rep_heading(page, 1,
                     gradients ? "How true the subsets’ gradients are" : "What the subsets hold");
    if (gradients) {
        cull_rep_put(&page->html, "<div class=\"figures\">");
        TRY(cull_rep_draw_probes(page, probes->group, probes->count));
        cull_rep_put(&page->html, "</div>");
    }
    put_table(page, probes, gradients);
done:
    return status;
}

/* Without gradients: the strategy that wrong labels draw most, and uniform beside it. */
static void put_labels(cull_rep_text *html, const cull_rep_probes *probes)
{
    const cull_rep_probe_group *most = NULL;

    for (size_t i = 0; i < probes->count; i++) {
        const cull_rep_probe_group *g = &probes->group[i];

        if (g->style.colour == 0 || !knows_labels(g) || !(g->corrupted > 0)) continue;
        if (!most || g->corrupted / g->picked > most->corrupted / most->picked) most = g;
    }
    if (!most) {
        cull_rep_put(html, "Minibatches were probed, and none compared with uniform choice.</p>\n");
        return;
    }
    cull_rep_put(html, "Wrong labels are picked most by ");
    cull_rep_escape(html, most->strategy, CULL_REP_NAME);
    cull_rep_print(html, " at ρ = %.3g: %.1f %% of its picks", most->keep,
                   100 * most->corrupted / most->picked);
    for (size_t i = 0; i < probes->count; i++) {
        const cull_rep_probe_group *g = &probes->group[i];

        if (g->style.colour == 0 && g->keep == most->keep && knows_labels(g))
            cull_rep_print(html, ", of uniform’s %.1f %%", 100 * g->corrupted / g->picked);
    }
    cull_rep_put(html, ".</p>\n");
}

/* The strategy that is below uniform's error most surely, and on how many minibatches. */
static void put_finding(cull_rep_page *page, const cull_rep_probes *probes)
{
    const cull_rep_probe_group *best = NULL;
    cull_rep_text              *html = &page->html;
    double                      surest = -1, low = 0, high = 0;

    for (size_t i = 0; i < probes->count; i++) {
        const cull_rep_probe_group *g = &probes->group[i];

        if (!contested(g)) continue;
        wilson((double)g->wins, (double)g->contests, &low, &high);
        if (low > surest) surest = low, best = g;
    }
    cull_rep_put(html, "<p class=\"verdict\">");
    if (!best) {
        put_labels(html, probes);
        return;
    }
    cull_rep_put(html, surest > .5 ? "The subsets’ gradients are truer than uniform choice’s with "
                                   : "No strategy’s gradients are shown to be truer than uniform "
                                     "choice’s; best is ");
    cull_rep_escape(html, best->strategy, CULL_REP_NAME);
    cull_rep_print(html, " at ρ = %.3g: a smaller error on %.0f %% of %zu minibatch%s.</p>\n",
                   best->keep, 100 * (double)best->wins / (double)best->contests, best->contests,
                   best->contests == 1 ? "" : "es");
    cull_rep_put(html, "<p class=\"sure\"><b>How sure:</b> a probe looks at one network at one "
                       "moment. Truer gradients are no higher accuracy yet: for that, cull "
                       "compare.</p>\n");
}

cull_status cull_rep_put_probed(cull_rep_page *page, const cull_rep_probed *probed)
{
    cull_status     status = CULL_OK;
    cull_rep_probes probes = {0};

    TRY(cull_rep_probes_add(&probes, &probed->probes, NULL));
    cull_rep_title(page, probed->folder, NULL);
    put_finding(page, &probes);
    TRY(cull_rep_put_probes(page, &probes));
    status = page->html.status;
done:
    cull_rep_probes_clear(&probes);
    return status;
}
