/*
 * report/figure.h - a figure: a script for gnuplot, and the SVG that comes back, made to fit a
 * page.
 *
 * No word of a file ever stands in a script: labels are tokens there, and are put into the
 * SVG afterwards, escaped. Colours are codes that become CSS variables, so that a figure
 * follows the page's light or dark.
 */
#ifndef CULL_REPORT_FIGURE_H
#define CULL_REPORT_FIGURE_H

#include "report/page.h"

enum {
    CULL_REP_LABELS = 1024,
    CULL_REP_LABEL = 22, /* characters shown of a label inside a figure */
    CULL_REP_WIDTH = 480,
    CULL_REP_HEIGHT = 340
};

/* Colour codes: "#0102NN" in a script is var(--kN) on the page. */
enum {
    CULL_REP_AXIS = 1,
    CULL_REP_GRID = 2,
    CULL_REP_SHADE = 3,
    CULL_REP_FRONT = 4,
    CULL_REP_PHASE = 8,  /* + phase          */
    CULL_REP_SERIES = 16 /* + style's colour */
};

/* One line of the legend: a series, or a patch of a phase. */
typedef struct cull_rep_key {
    int            label;
    cull_rep_style style;
    bool           dashed, line;
    int            phase; /* -1: a series */
} cull_rep_key;

typedef struct cull_rep_figure {
    cull_rep_text script;  /* settings and data                           */
    cull_rep_text clauses; /* what follows "plot"                          */
    cull_rep_text words;   /* labels, escaped, each with its zero          */
    size_t        label[CULL_REP_LABELS];
    size_t        labels;
    int           title[CULL_REP_LABELS]; /* of each plot: its label, or -1 */
    size_t        plots, blocks;
    bool          open; /* rows of a block are being written */
    cull_rep_key  key[CULL_REP_LABELS];
    size_t        keys;
    int           height;
} cull_rep_figure;

/* Settings that all figures share; the axes' titles are our own words. height 0: the usual. */
void cull_rep_figure_begin(cull_rep_figure *figure, const char *x, const char *y, int height);

/* A label's token number, to be used as "~kN~"; whole: not cut to fit. */
int cull_rep_figure_label(cull_rep_figure *figure, const char *words, bool whole);

/* Begin a block of data, whose rows are written to figure->script; it ends where it is plotted. */
void cull_rep_figure_rows(cull_rep_figure *figure);

/* Begin one plot, of what is then written to the text returned, or of the latest block of data:
 * what is written says how. name: shows when one points at it; NULL: nothing does. */
cull_rep_text *cull_rep_figure_plot(cull_rep_figure *figure, const char *name);
cull_rep_text *cull_rep_figure_plot_rows(cull_rep_figure *figure, const char *name);

/* A line of the legend, once per label. */
void cull_rep_figure_key(cull_rep_figure *figure, const char *words, const cull_rep_key *key);

/* "set xrange" or "set yrange", never empty. */
void cull_rep_figure_range(cull_rep_figure *figure, char axis, double low, double high);

/* An upright line where a run costs as much as full training: at 100 of the x axis. */
void cull_rep_figure_full_cost(cull_rep_figure *figure);

/* Of so many rows one in this many is drawn; a line needs no more points than it has pixels. */
size_t cull_rep_figure_stride(size_t rows);

/* About five steps of 1, 2 or 5 times a power of ten across an axis. */
double cull_rep_step(double low, double high);

/* gnuplot's number of a marker; and the symbol as HTML. */
int  cull_rep_marker(const cull_rep_style *style);
void cull_rep_swatch(cull_rep_text *html, const cull_rep_style *style, bool line, bool dashed);

/* Draw onto the page, with a caption of our own words, and clear the figure. Where gnuplot is
 * missing or fails, page->undrawn says why and the page goes on. */
cull_status cull_rep_figure_draw(cull_rep_page *page, cull_rep_figure *figure, const char *what,
                                 const char *caption);
void        cull_rep_figure_clear(cull_rep_figure *figure);

/* gnuplot's SVG as a part of a page. CULL_BAD_FILE when it is no picture. */
cull_status cull_rep_svg(cull_rep_text *html, const cull_rep_figure *figure, const char *what,
                         const char *svg);

#endif
