/*
 * report/chart.h - a figure of lines over two axes, as values: points with what they are called,
 * gathered from records first and drawn at once.
 *
 * All that is shown of a file (names of lines, of points and of places on an axis) is kept here as
 * it is, and made safe where it is drawn. The first failure stays in `status`.
 */
#ifndef CULL_REPORT_CHART_H
#define CULL_REPORT_CHART_H

#include "report/figure.h"

enum { CULL_REP_PLACES = 24 }; /* most words along an axis */

/* Which points of a line have a mark, and say what they are. */
typedef enum cull_rep_marks {
    CULL_REP_MARK_EACH,
    CULL_REP_MARK_SOME, /* about eight, back from the last */
    CULL_REP_MARK_LAST,
    CULL_REP_MARK_NONE
} cull_rep_marks;

typedef struct cull_rep_spot {
    double x, y, low, high; /* low and high: the band; NaN: none */
    size_t says;            /* where in `words`; 0: nothing      */
} cull_rep_spot;

typedef struct cull_rep_line {
    char name[CULL_REP_NAME]; /* in the legend, and when one points at it; "": not there */
    cull_rep_style style;
    cull_rep_marks marks;
    bool           band;   /* between low and high; with words along x: whiskers         */
    bool           dotted; /* a second line of the same style: thin, its marks small     */
    bool           bare;   /* marks that no line joins                                   */
    bool           faint;  /* behind the others: small marks, pale                       */
    bool           across; /* its one point says how high a line runs across             */
    bool           quiet;  /* no series, but what joins some: thin and grey              */
    cull_rep_spot *spot;   /* [count] */
    size_t         count, room;
} cull_rep_line;

typedef struct cull_rep_scale {
    char        title[CULL_REP_NAME];
    bool        log;
    bool        zero;                   /* begins there                       */
    const char *place[CULL_REP_PLACES]; /* words at 1, 2, ...; borrowed       */
    size_t      places;                 /* 0: numbers                         */
} cull_rep_scale;

typedef struct cull_rep_chart {
    cull_rep_scale x, y;
    char           about[CULL_REP_NAME]; /* words of a file, before the caption; "": none */
    cull_rep_line *line;                 /* [lines] */
    size_t         lines, room;
    cull_rep_line  spare; /* what is written to where there is no memory for another */
    cull_rep_text  words;
    cull_status    status;
} cull_rep_chart;

/* Begin a line; what it is besides is set on what this returns, which lasts until the next. */
cull_rep_line *cull_rep_chart_line(cull_rep_chart *chart, const char *name,
                                   const cull_rep_style *style);
/* A point of the latest line, with a band where both ends are finite; says: NULL: nothing. One that
 * is not finite is left out. */
void cull_rep_chart_spot(cull_rep_chart *chart, double x, double y, double low, double high,
                         const char *says);

/* Points of all lines. */
size_t cull_rep_chart_spots(const cull_rep_chart *chart);

/* Onto the page, with words for those who cannot see it and a caption, both our own; clears it.
 * Without points nothing is drawn. */
cull_status cull_rep_chart_draw(cull_rep_page *page, cull_rep_chart *chart, const char *what,
                                const char *caption);
void        cull_rep_chart_clear(cull_rep_chart *chart);

/* Of an axis ('x', 'y') whose ends are powers of ten: 1, 2, 5 or, where it is long, only powers. */
void cull_rep_log_axis(cull_rep_figure *figure, char axis, double low, double high);

#endif
