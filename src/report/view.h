/*
 * report/view.h - a figure of a paper with the runs that its arms are of, as they were read.
 *
 * Lines are of series, each drawn alike on the whole page. Results are those of the test set, in
 * the unit of the yardstick.
 */
#ifndef CULL_REPORT_VIEW_H
#define CULL_REPORT_VIEW_H

#include "cull_lab.h"
#include "records/along.h"
#include "report/chart.h"

/* A run's folder; its highest result, and the one it ends at. */
typedef struct cull_rep_seen {
    bool             there;
    cull_records_run record;
    double           best, end;
} cull_rep_seen;

typedef struct cull_rep_view_arm {
    const cull_paper_arm *is;
    cull_rep_style        style;
    cull_rep_seen        *run; /* [is->runs] */
    size_t                there;
} cull_rep_view_arm;

typedef struct cull_rep_view {
    const cull_paper_figure *is;
    cull_rep_view_arm       *arm; /* [arms] */
    size_t                   arms;
    const cull_yardstick    *by;
    cull_records_list       *problems; /* borrowed: of the page */
} cull_rep_view;

/* How each series of a paper is drawn, and which folders were read: kept for the whole page. */
typedef struct cull_rep_names {
    struct cull_rep_named {
        char           series[CULL_REP_SERIES_NAME];
        cull_rep_style style;
    } * series;
    size_t count, room;
    struct cull_rep_folder {
        const char *name;
        bool        read, said;
    } * folder; /* [folders] by name, each once */
    size_t folders;
} cull_rep_names;

cull_status cull_rep_names_gather(const cull_paper *paper, cull_rep_names *out);
void        cull_rep_names_clear(cull_rep_names *names);
/* The colour of a series that is known, as a bit; 0: it is not. */
unsigned cull_rep_names_taken(const cull_rep_names *names, const char *series);
/* A series that came up first here has the next style, of a colour that is not among the bits of
 * `taken` while there is one. */
cull_status cull_rep_names_style(cull_rep_names *names, const char *series, unsigned taken,
                                 cull_rep_style *out);
size_t      cull_rep_names_read(const cull_rep_names *names); /* folders */

/* Read the runs of a figure's arms. What cannot be read is said once a page and left out. Clear it
 * also after a failure. */
cull_status cull_rep_view_read(const cull_paper_figure *figure, cull_rep_names *names,
                               cull_records_list *problems, cull_rep_view *out);
void        cull_rep_view_clear(cull_rep_view *view);

/* ---- what is asked of it ---- */

/* A number over the runs of an arm that were read and tell it. */
typedef struct cull_rep_mean {
    double mean, low, high;
    size_t runs;
} cull_rep_mean;

typedef double (*cull_rep_number_of)(const cull_rep_seen *run, const void *context);
cull_rep_mean cull_rep_view_mean(const cull_rep_view_arm *arm, cull_rep_number_of number,
                                 const void *context);
cull_rep_mean cull_rep_view_best(const cull_rep_view_arm *arm);
cull_rep_mean cull_rep_view_end(const cull_rep_view_arm *arm);

/* A full training that belongs to no value: it has none, or is the only one that the figure asks
 * for, whose runs are all there. */
bool cull_rep_view_common(const cull_rep_view *view, const cull_rep_view_arm *full);
/* The full training that an arm is held against: that of its value, or one that is of none; NULL:
 * there is neither. */
const cull_rep_view_arm *cull_rep_view_full(const cull_rep_view     *view,
                                            const cull_rep_view_arm *arm);
/* The error that it ends at, mean over its runs; NaN: it has none. */
double cull_rep_view_error(const cull_rep_view *view, const cull_rep_view_arm *full);
/* Is full training there at its first look? Nobody is then known to come there sooner. */
bool cull_rep_view_begins_at(const cull_rep_view *view, const cull_rep_view_arm *full,
                             double error);

/* Two arms of one line; they differ in x and value. */
bool cull_rep_view_joined(const cull_rep_view_arm *a, const cull_rep_view_arm *b);
/* "sb-stream stale", "full training"; with its value or share; and the latter where others of its
 * line are there too. */
void cull_rep_view_called(const cull_rep_view_arm *arm, char out[CULL_REP_NAME]);
void cull_rep_view_named(const cull_rep_view_arm *arm, char out[CULL_REP_NAME]);
void cull_rep_view_told(const cull_rep_view *view, const cull_rep_view_arm *arm,
                        char out[CULL_REP_NAME]);

/* ---- drawings; those without data draw nothing ---- */

cull_status cull_rep_draw_by_value(cull_rep_page *page, const cull_rep_view *view);
cull_status cull_rep_draw_along(cull_rep_page *page, const cull_rep_view *view);
cull_status cull_rep_draw_spent(cull_rep_page *page, const cull_rep_view *view);
cull_status cull_rep_draw_frontier(cull_rep_page *page, const cull_rep_view *view);
cull_status cull_rep_draw_speedup(cull_rep_page *page, const cull_rep_view *view);
cull_status cull_rep_draw_points(cull_rep_page *page, const cull_rep_view *view,
                                 cull_rep_names *names);
cull_status cull_rep_table_targets(cull_rep_page *page, const cull_rep_view *view);
cull_status cull_rep_table_ranks(cull_rep_page *page, const cull_rep_view *view);

#endif
