/* report/chart.c - lines over two axes: gathered, measured, and written as a script. */
#include "report/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* Plots of a figure; characters side by side below it, of a title there, and of one that stands. */
enum { MOST_PLOTS = CULL_REP_LABELS / 2, ABREAST = 46, TITLE = 54, UPRIGHT = 38, SOME = 8 };

#define SHORT .4 /* powers of ten */

/* From the least to the largest along an axis; of a long one the powers of ten. */
struct span {
    double low, high;
};

/* ---- gathering ---- */

cull_rep_line *cull_rep_chart_line(cull_rep_chart *chart, const char *name,
                                   const cull_rep_style *style)
{
    cull_rep_line *line = &chart->spare;

    if (chart->status == CULL_OK)
        chart->status = cull_records_room(chart->lines, &chart->room, sizeof *chart->line,
                                          "a figure", &chart->line);
    if (chart->status == CULL_OK) line = &chart->line[chart->lines++];
    *line = (cull_rep_line){.style = *style};
    (void)snprintf(line->name, sizeof line->name, "%s", name ? name : "");
    return line;
}

static bool fits(const cull_rep_scale *scale, double value)
{
    return isfinite(value) && (!scale->log || value > 0);
}

/* Where these words are kept; what stands first is nothing. */
static size_t keep_words(cull_rep_chart *chart, const char *says)
{
    size_t at = 0;

    if (!says) return 0;
    if (chart->words.size == 0) cull_rep_bytes(&chart->words, "", 1);
    at = chart->words.size;
    cull_rep_bytes(&chart->words, says, strlen(says) + 1);
    return at;
}

void cull_rep_chart_spot(cull_rep_chart *chart, double x, double y, double low, double high,
                         const char *says)
{
    cull_rep_line *line = chart->lines ? &chart->line[chart->lines - 1] : &chart->spare;
    bool           banded = fits(&chart->y, low) && fits(&chart->y, high);

    if (chart->status != CULL_OK || !fits(&chart->x, x) || !fits(&chart->y, y)) return;
    chart->status =
        cull_records_room(line->count, &line->room, sizeof *line->spot, "a figure", &line->spot);
    if (chart->status != CULL_OK) return;
    line->spot[line->count++] =
        (cull_rep_spot){x, y, banded ? low : NAN, banded ? high : NAN, keep_words(chart, says)};
    chart->status = chart->words.status;
}

size_t cull_rep_chart_spots(const cull_rep_chart *chart)
{
    size_t count = 0;

    for (size_t i = 0; i < chart->lines; i++) count += chart->line[i].count;
    return count;
}

void cull_rep_chart_clear(cull_rep_chart *chart)
{
    for (size_t i = 0; i < chart->lines; i++) cull_base_free(chart->line[i].spot);
    cull_base_free(chart->line);
    cull_rep_text_clear(&chart->words);
    *chart = (cull_rep_chart){0};
}

/* ---- axes ---- */

static void stretch(struct span *span, double value)
{
    if (!isfinite(value)) return;
    span->low = fmin(span->low, value);
    span->high = fmax(span->high, value);
}

static void measure(const cull_rep_chart *chart, struct span *x, struct span *y)
{
    *x = *y = (struct span){INFINITY, -INFINITY};
    for (size_t i = 0; i < chart->lines; i++)
        for (size_t j = 0; j < chart->line[i].count; j++) {
            const cull_rep_line *line = &chart->line[i];
            const cull_rep_spot *spot = &line->spot[j];

            if (!line->across) stretch(x, spot->x);
            stretch(y, spot->y);
            if (line->band) stretch(y, spot->low);
            if (line->band) stretch(y, spot->high);
        }
}

/* So much of it is left free at either end. */
static void widen(struct span *span, const cull_rep_scale *scale, double share)
{
    double margin = 0;

    if (!(span->low <= span->high)) *span = (struct span){scale->log ? 1 : 0, scale->log ? 10 : 1};
    if (scale->log) *span = (struct span){log10(span->low), log10(span->high)};
    margin = share * (span->high - span->low);
    if (!(margin > 0)) margin = scale->log ? .1 : fmax(.05 * fabs(span->high), 1e-9);
    span->low -= margin;
    span->high += margin;
    if (scale->zero && !scale->log) span->low = 0;
}

/* Steps between powers of ten that an axis of so many of them has room for. */
static size_t fine_steps(double powers, const double **out)
{
    static const double many[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8}, some[] = {1, 2, 3, 5, 7},
                        few[] = {1, 2, 5}, two[] = {1, 3};

    *out = powers < .95 ? many : powers < 1.5 ? some : powers < 2.5 ? few : two;
    return powers < .95 ? 10 : powers < 1.5 ? 5 : powers < 2.5 ? 3 : powers < 4 ? 2 : 1;
}

/* One more, where it lies on the axis. */
static void put_tick(cull_rep_text *script, double at, double low, double high, size_t *count)
{
    if (log10(at) < low || log10(at) > high) return;
    cull_rep_print(script, "%s'%g' %.6g", *count ? "," : "", at, at);
    ++*count;
}

void cull_rep_log_axis(cull_rep_figure *f, char axis, double low, double high)
{
    const double *steps = NULL;
    size_t        fine = fine_steps(high - low, &steps), count = 0;
    double        first = floor(low), step = ceil((high - low) / 8);
    double        even = cull_rep_step(pow(10, low), pow(10, high));
    double        least = ceil(pow(10, low) / even);

    cull_rep_figure_range(f, axis, pow(10, low), pow(10, high));
    cull_rep_print(&f->script, "set logscale %c\nset %ctics (", axis, axis);
    if (high - low < SHORT) /* as if it were none */
        for (int turn = 0; even * (least + turn) <= pow(10, high); turn++)
            put_tick(&f->script, even * (least + turn), low, high, &count);
    else
        for (int turn = 0; first + turn * step <= high; turn++)
            for (size_t i = 0; i < fine; i++)
                put_tick(&f->script, steps[i] * pow(10, first + turn * step), low, high, &count);
    if (!count) cull_rep_print(&f->script, "'%.3g' %.6g", pow(10, low), pow(10, low));
    cull_rep_put(&f->script, ")\n");
}

/* Words that have to stand side by side are cut to fit. */
static void name_places(cull_rep_figure *f, char axis, const cull_rep_scale *scale)
{
    size_t fits = scale->places ? ABREAST / scale->places : ABREAST;

    cull_rep_print(&f->script, "set %ctics scale 0 (", axis);
    for (size_t i = 0; i < scale->places; i++) {
        char word[CULL_REP_NAME];

        cull_rep_shorten(scale->place[i], fits > 4 ? fits : 4, word, sizeof word);
        cull_rep_print(&f->script, "%s'~k%d~' %zu", i ? "," : "",
                       cull_rep_figure_label(f, word, false), i + 1);
    }
    cull_rep_put(&f->script, ")\n");
}

static void set_axis(cull_rep_figure *f, char axis, const cull_rep_scale *scale, struct span *span)
{
    char title[CULL_REP_NAME];

    cull_rep_shorten(scale->title, axis == 'x' ? TITLE : UPRIGHT, title, sizeof title);
    cull_rep_print(&f->script, "set %clabel '~k%d~' offset %s\n", axis,
                   cull_rep_figure_label(f, title, true), axis == 'x' ? "0,.5" : ".6,0");
    if (scale->places) {
        *span = (struct span){.5, (double)scale->places + .5};
        cull_rep_figure_range(f, axis, span->low, span->high);
        name_places(f, axis, scale);
        return;
    }
    widen(span, scale, .05);
    if (scale->log)
        cull_rep_log_axis(f, axis, span->low, span->high);
    else
        cull_rep_figure_range(f, axis, span->low, span->high);
    if (axis == 'x' && !scale->log)
        cull_rep_print(&f->script, "set xtics %.6g\n", cull_rep_step(span->low, span->high));
}

/* ---- lines ---- */

static int colour_of(const cull_rep_line *line)
{
    return line->quiet ? CULL_REP_FRONT : CULL_REP_SERIES + line->style.colour;
}

/* The points, at most as many as a line has pixels, and its last. */
static void write_rows(cull_rep_figure *f, const cull_rep_line *line, double shift)
{
    cull_rep_figure_rows(f);
    for (size_t i = 0; i < line->count; i++) {
        const cull_rep_spot *spot = &line->spot[i];
        bool                 band = isfinite(spot->low) && isfinite(spot->high);

        if (i % cull_rep_figure_stride(line->count) && i + 1 < line->count) continue;
        cull_rep_print(&f->script, "%.9g %.9g %.9g %.9g\n", spot->x + shift, spot->y,
                       band ? spot->low : spot->y, band ? spot->high : spot->y);
    }
}

static void plot_band(cull_rep_figure *f, const cull_rep_line *line, bool whiskers)
{
    if (whiskers)
        cull_rep_print(cull_rep_figure_plot_rows(f, NULL),
                       "using 1:2:3:4 with yerrorbars lw 1.2 pt 0 lc rgb '#0102%02x'",
                       colour_of(line));
    else
        cull_rep_print(cull_rep_figure_plot_rows(f, NULL),
                       "using 1:3:4 with filledcurves fs transparent solid .13 noborder lc rgb "
                       "'#0102%02x'",
                       colour_of(line));
}

static void plot_mark(cull_rep_figure *f, const cull_rep_chart *chart, const cull_rep_line *line,
                      size_t i, double shift)
{
    const cull_rep_spot *spot = &line->spot[i];
    const char          *says = spot->says ? chart->words.data + spot->says : NULL;

    if (f->plots >= MOST_PLOTS) return;
    cull_rep_figure_rows(f);
    cull_rep_print(&f->script, "%.9g %.9g\n", spot->x + shift, spot->y);
    cull_rep_print(cull_rep_figure_plot_rows(f, says ? says : line->name),
                   "using 1:2 with points pt %d ps %s lw 1 lc rgb '#0102%02x'",
                   cull_rep_marker(&line->style), line->dotted ? ".55" : ".95", colour_of(line));
}

/* Marks that stand for so many that none is pointed at. */
static void plot_cloud(cull_rep_figure *f, const cull_rep_line *line)
{
    cull_rep_print(cull_rep_figure_plot_rows(f, NULL),
                   "using 1:2 with points pt %d ps .35 lw .6 lc rgb '#0102%02x'",
                   cull_rep_marker(&line->style), colour_of(line));
}

static void plot_across(cull_rep_figure *f, const cull_rep_chart *chart, const cull_rep_line *line)
{
    const cull_rep_spot *spot = &line->spot[0];

    cull_rep_print(
        cull_rep_figure_plot(f, spot->says ? chart->words.data + spot->says : line->name),
        "%.9g with lines lw %s dt (3,4) lc rgb '#0102%02x'", spot->y, line->dotted ? "1" : "2",
        colour_of(line));
}

static void put_key(cull_rep_figure *f, const cull_rep_line *line)
{
    if (line->name[0])
        cull_rep_figure_key(f, line->name,
                            &(cull_rep_key){.style = line->style,
                                            .line = !line->bare && !line->faint,
                                            .dashed = line->style.hollow || line->across,
                                            .phase = -1});
}

/* Points from one mark to the next. */
static size_t marks_apart(const cull_rep_line *line)
{
    if (line->marks == CULL_REP_MARK_LAST) return line->count;
    return line->marks == CULL_REP_MARK_SOME && line->count > SOME ? line->count / SOME : 1;
}

/* shift: beside the others, where they stand at words. */
static void plot_line(cull_rep_figure *f, const cull_rep_chart *chart, const cull_rep_line *line,
                      double shift)
{
    bool   placed = chart->x.places > 0;
    bool   joined = !line->bare && !line->faint && !placed;
    size_t step = marks_apart(line);

    put_key(f, line);
    if (line->across) {
        plot_across(f, chart, line);
        return;
    }
    if (line->band || line->faint || joined) write_rows(f, line, shift);
    if (line->band) plot_band(f, line, placed);
    if (line->faint) plot_cloud(f, line);
    if (joined)
        cull_rep_print(cull_rep_figure_plot_rows(f, line->name[0] ? line->name : NULL),
                       "using 1:2 with lines lw %s lc rgb '#0102%02x'%s",
                       line->dotted || line->quiet ? "1" : "1.8", colour_of(line),
                       line->dotted         ? " dt (2,3)"
                       : line->style.hollow ? " dt (8,5)"
                                            : "");
    if (line->faint || line->marks == CULL_REP_MARK_NONE) return;
    for (size_t i = 0; i < line->count; i++)
        if ((line->count - 1 - i) % step == 0) plot_mark(f, chart, line, i, shift);
}

static bool look_alike(const cull_rep_line *a, const cull_rep_line *b)
{
    return a->style.colour == b->style.colour && a->style.marker == b->style.marker &&
           a->style.hollow == b->style.hollow;
}

/* Which of those that stand side by side a line is; *beside: how many there are. */
static size_t turn_of(const cull_rep_chart *chart, size_t of, size_t *beside)
{
    size_t turn = 0;

    *beside = 0;
    for (size_t i = 0; i < chart->lines; i++) {
        bool again = !chart->line[i].count || chart->line[i].across;

        for (size_t j = 0; j < i && !again; j++)
            again = look_alike(&chart->line[j], &chart->line[i]) && !chart->line[j].across;
        if (again) continue;
        if (look_alike(&chart->line[i], &chart->line[of])) turn = *beside;
        ++*beside;
    }
    return turn;
}

static void plot_lines(cull_rep_figure *f, const cull_rep_chart *chart)
{
    for (size_t i = 0; i < chart->lines && f->plots < MOST_PLOTS; i++) {
        size_t beside = 0, turn = turn_of(chart, i, &beside);
        double step = fmin(.16, .8 / (double)(beside + 1));

        if (chart->line[i].count)
            plot_line(f, chart, &chart->line[i],
                      chart->x.places ? ((double)turn - .5 * ((double)beside - 1)) * step : 0);
    }
}

cull_status cull_rep_chart_draw(cull_rep_page *page, cull_rep_chart *chart, const char *what,
                                const char *caption)
{
    cull_status     status = CULL_OK;
    struct span     x, y;
    cull_rep_text   said = {0};
    cull_rep_figure f = {0};

    TRY(chart->status);
    if (cull_rep_chart_spots(chart) == 0) goto done;
    if (chart->about[0]) {
        cull_rep_put(&said, "<b>");
        cull_rep_escape(&said, chart->about, CULL_REP_NAME);
        cull_rep_put(&said, ".</b> ");
    }
    cull_rep_put(&said, caption);
    TRY(said.status);
    measure(chart, &x, &y);
    cull_rep_figure_begin(&f, "", "", 0);
    set_axis(&f, 'x', &chart->x, &x);
    set_axis(&f, 'y', &chart->y, &y);
    plot_lines(&f, chart);
    status = cull_rep_figure_draw(page, &f, what, said.data);
done:
    cull_rep_text_clear(&said);
    cull_rep_chart_clear(chart);
    return status;
}
