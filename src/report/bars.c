/* report/bars.c - bars made of parts, and figures with a name for every row. */
#include "report/bars.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROW = 24, FRAME = 78 };

int cull_rep_rows_height(size_t rows)
{
    return FRAME + ROW * (int)rows;
}

void cull_rep_rows_begin(cull_rep_figure *f, size_t rows)
{
    cull_rep_print(&f->script,
                   "set lmargin at screen .38\nset yrange [%zu.6:0.4]\nunset grid\n"
                   "set grid x lt 1 lw 1 lc rgb '#0102%02x'\nset ytics scale 0 (",
                   rows, CULL_REP_GRID);
}

void cull_rep_row_name(cull_rep_figure *f, size_t row, const char *name)
{
    char fits[CULL_REP_NAME];

    cull_rep_shorten(name, CULL_REP_LABEL, fits, sizeof fits); /* names differ at their ends */
    cull_rep_print(&f->script, "%s'~k%d~' %zu", row ? "," : "",
                   cull_rep_figure_label(f, fits, false), row + 1);
}

void cull_rep_rows_end(cull_rep_figure *f)
{
    cull_rep_put(&f->script, ")\n");
}

cull_rep_bar *cull_rep_bars_add(cull_rep_bars *bars, const char *name)
{
    cull_rep_bar *bar = &bars->bar[bars->bars];

    if (bars->bars == CULL_REP_BARS) return NULL;
    bars->bars++;
    (void)snprintf(bar->name, sizeof bar->name, "%s", name);
    for (size_t i = 0; i < CULL_REP_PARTS; i++) bar->part[i] = NAN;
    return bar;
}

/* In the unit of the axis; parts that are not there have no length. */
static double part_of(const cull_rep_bars *bars, const cull_rep_bar *bar, size_t part)
{
    double value = bar->part[part] * (bars->scale > 0 ? bars->scale : 1);

    return value > 0 && isfinite(value) ? value : 0;
}

static double sum_to(const cull_rep_bars *bars, const cull_rep_bar *bar, size_t end)
{
    double sum = 0;

    for (size_t i = 0; i < end; i++) sum += part_of(bars, bar, i);
    return sum;
}

static void plot_part(cull_rep_figure *f, const cull_rep_bars *bars, size_t row, size_t part)
{
    const cull_rep_bar *bar = &bars->bar[row];
    double              from = sum_to(bars, bar, part), length = part_of(bars, bar, part);
    char                mark[CULL_REP_MARK];

    if (f->plots >= CULL_REP_LABELS / 2) return;
    (void)snprintf(mark, sizeof mark, "%.90s: %.90s %.3g%s", bar->name, bars->part[part], length,
                   bars->unit);
    cull_rep_figure_rows(f);
    cull_rep_print(&f->script, "%.9g %zu %.9g %.9g %g %g\n", from, row + 1, from, from + length,
                   (double)row + .64, (double)row + 1.36);
    cull_rep_print(cull_rep_figure_plot_rows(f, mark),
                   "using 1:2:3:4:5:6 with boxxyerror fs solid border rgb '#0102%02x' lw "
                   ".5 lc rgb '#0102%02x'",
                   CULL_REP_AXIS, bars->colour[part]);
}

/* Behind the point, of three in all. */
static int digits_of(double value)
{
    int digits = 2 - (value > 0 ? (int)floor(log10(value * 1.0005)) : 2);

    return digits < 0 ? 0 : digits > 6 ? 6 : digits;
}

/* What stands behind a bar: its sum, or its remark. */
static void plot_sums(cull_rep_figure *f, const cull_rep_bars *bars)
{
    cull_rep_figure_rows(f);
    for (size_t i = 0; i < bars->bars; i++) {
        const cull_rep_bar *bar = &bars->bar[i];
        double              all = sum_to(bars, bar, bars->parts);

        if (bar->remark[0])
            cull_rep_print(&f->script, "%.9g %zu ~k%d~\n", all, i + 1,
                           cull_rep_figure_label(f, bar->remark, true));
        else
            cull_rep_print(&f->script, "%.9g %zu \"%.*f%s\"\n", all, i + 1,
                           bars->fine ? digits_of(all) : all < 9.95, all, bars->unit);
    }
    cull_rep_print(cull_rep_figure_plot_rows(f, NULL),
                   "using 1:2:3 with labels left offset .4,0 tc rgb '#0102%02x'", CULL_REP_AXIS);
}

cull_status cull_rep_bars_draw(cull_rep_page *page, const cull_rep_bars *bars, const char *what,
                               const char *caption)
{
    double          most = 0, behind = .17; /* room for what stands behind a bar */
    cull_rep_figure f = {0};

    if (!bars->bars) return CULL_OK;
    cull_rep_figure_begin(&f, "", "", cull_rep_rows_height(bars->bars));
    cull_rep_print(&f.script, "set xlabel '~k%d~' offset 0,.5\n",
                   cull_rep_figure_label(&f, bars->axis, true));
    cull_rep_rows_begin(&f, bars->bars);
    for (size_t i = 0; i < bars->bars; i++) cull_rep_row_name(&f, i, bars->bar[i].name);
    cull_rep_rows_end(&f);
    if (bars->full) cull_rep_figure_full_cost(&f);
    for (size_t i = 0; i < bars->bars; i++) {
        most = fmax(most, sum_to(bars, &bars->bar[i], bars->parts));
        behind = fmax(behind, .045 * (double)strlen(bars->bar[i].remark));
    }
    cull_rep_print(&f.script,
                   "set xrange [0:*] noextend\nset xtics 0,%.6g\nset offsets 0, graph %.3g, 0, 0\n",
                   cull_rep_step(0, most), behind);
    for (size_t p = 0; p < bars->parts; p++) {
        for (size_t i = 0; i < bars->bars; i++) plot_part(&f, bars, i, p);
        cull_rep_figure_key(&f, bars->part[p],
                            &(cull_rep_key){.phase = bars->colour[p] - CULL_REP_PHASE});
    }
    plot_sums(&f, bars);
    return cull_rep_figure_draw(page, &f, what, caption);
}
