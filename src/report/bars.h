/*
 * report/bars.h - a figure of bars that lie one below the other, each made of parts: time by phase,
 * energy, whatever adds up.
 */
#ifndef CULL_REPORT_BARS_H
#define CULL_REPORT_BARS_H

#include "report/figure.h"

enum { CULL_REP_BARS = 128, CULL_REP_PARTS = 12 };

typedef struct cull_rep_bar {
    char   name[CULL_REP_NAME];
    char   remark[CULL_REP_NAME]; /* behind it, in place of the sum; "": the sum */
    double part[CULL_REP_PARTS];  /* NaN: none                                   */
} cull_rep_bar;

typedef struct cull_rep_bars {
    const char  *axis, *unit;            /* " s" behind the sums                          */
    const char  *part[CULL_REP_PARTS];   /* [parts] names, of the legend and of tooltips  */
    int          colour[CULL_REP_PARTS]; /* codes of figure.h: CULL_REP_PHASE + a phase   */
    size_t       parts;
    double       scale; /* of every number; 0: 1                         */
    bool         full;  /* an upright line at 100                        */
    bool         fine;  /* sums to three digits */
    cull_rep_bar bar[CULL_REP_BARS];
    size_t       bars;
} cull_rep_bars;

/* A row that is written to; NULL: there are enough. */
cull_rep_bar *cull_rep_bars_add(cull_rep_bars *bars, const char *name);

/* Names down the left side, in rows 0, 1, ... from the top: first their number, then each. */
void cull_rep_rows_begin(cull_rep_figure *figure, size_t rows);
void cull_rep_row_name(cull_rep_figure *figure, size_t row, const char *name);
void cull_rep_rows_end(cull_rep_figure *figure);
/* Of a figure with so many rows. */
int cull_rep_rows_height(size_t rows);

/* Onto the page; nothing where there are no bars. */
cull_status cull_rep_bars_draw(cull_rep_page *page, const cull_rep_bars *bars, const char *what,
                               const char *caption);

#endif
