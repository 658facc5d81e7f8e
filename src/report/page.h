/* report/page.h - the page while it is written, and the parts it is made of. */
#ifndef CULL_REPORT_PAGE_H
#define CULL_REPORT_PAGE_H

#include "report/shown.h"
#include "report/text.h"

typedef struct cull_rep_column {
    const char *title, *explain; /* our own words; explain: one line below the table */
    bool        words;           /* left-aligned                                     */
} cull_rep_column;

/* The table that is being written: its cells are kept until it ends, since a column that turns out
 * to hold nothing is left out. */
typedef struct cull_rep_table {
    const char            *name;
    const cull_rep_column *column; /* [columns] */
    size_t                 columns;
    bool                   cards;
    cull_rep_text          text; /* the cells, one behind the other */
    struct cull_rep_cell {
        size_t at;         /* where it begins there                           */
        const char *class; /* of its row, told by the row's first; NULL: none */
    } * cell;              /* [cells] */
    size_t cells, room;
    const char *class; /* of the row that comes next */
} cull_rep_table;

typedef struct cull_rep_page {
    cull_rep_text     html;
    cull_records_list problems;
    const char       *gnuplot; /* the program that draws */
    size_t            figures, undrawn;
    char              why[256]; /* the first of those was not drawn           */
    bool              unable;   /* there is no such program: not asked again  */
    int               level;    /* of a part's first heading                  */
    cull_rep_table    table;
} cull_rep_page;

void cull_rep_page_clear(cull_rep_page *page);

/* The frame around all parts. */
void cull_rep_page_begin(cull_rep_page *page, const char *title);
void cull_rep_page_end(cull_rep_page *page);

/* CULL_BAD_ARGUMENT: the page would take the place of what it is about in this folder. */
cull_status cull_rep_spare_source(const char *folder, const char *output);

/* A heading, `below` levels under the part's first; our own words. */
void cull_rep_heading(cull_rep_page *page, int below, const char *words);
/* A part's first heading, words of a file; with its folder where it is one of several. */
void cull_rep_title(cull_rep_page *page, const char *words, const char *folder);

/* Parts. */
cull_status cull_rep_put_comparison(cull_rep_page *page, const cull_rep_comparison *comparison);
cull_status cull_rep_put_runs(cull_rep_page *page, const cull_rep_single *runs, size_t count);
cull_status cull_rep_put_probed(cull_rep_page *page, const cull_rep_probed *probed);
void        cull_rep_put_problems(cull_rep_page *page);

/* What a comparison says went wrong joins the page's problems; and a line that points to them. */
cull_status cull_rep_gather_problems(cull_rep_page *page, const cull_rep_comparison *comparison);
void        cull_rep_point_to_problems(cull_rep_page *page);

/* Warnings about the data, each once; texts are borrowed. */
typedef struct cull_rep_warnings {
    bool one_set; /* all are about the same files, by whatever paths they are called */
    struct {
        const char *text;
        size_t      runs; /* that had it; 0: not known */
    } of[CULL_RECORDS_TEXTS];
    size_t count, runs; /* sentences; runs that were asked */
} cull_rep_warnings;

void cull_rep_warn(cull_rep_warnings *warnings, const cull_rep_run *run);
void cull_rep_warn_all(cull_rep_warnings *warnings, const cull_records_texts *texts);
/* A box; nothing where there is no warning. */
void cull_rep_put_warnings(cull_rep_page *page, const cull_rep_warnings *warnings);

/* Tables of a comparison. */
void cull_rep_table_choices(cull_rep_page *page, const cull_rep_comparison *c);
void cull_rep_table_controls(cull_rep_page *page, const cull_rep_comparison *c);
void cull_rep_table_costs(cull_rep_page *page, const cull_rep_comparison *c);
void cull_rep_table_every(cull_rep_page *page, const cull_rep_comparison *c);

/* What cells of these tables share: 90.12 ± 0.20, 44.1 %, .0123. */
bool cull_rep_costs_more(const cull_rep_arm *arm); /* than full training, by what is shown */
void cull_rep_put_result(cull_rep_text *html, const cull_rep_comparison *c,
                         const cull_rep_arm *arm);
void cull_rep_put_cost(cull_rep_text *html, const cull_rep_arm *arm);
void cull_rep_put_p(cull_rep_text *html, double p);

/* What a comparison was made with: the command, the machine, step times, the recipe. */
cull_status cull_rep_table_setup(cull_rep_page *page, const cull_rep_comparison *c);
cull_status cull_rep_table_times(cull_rep_page *page, const cull_rep_comparison *c);
/* Of runs. */
void cull_rep_table_runs(cull_rep_page *page, const cull_rep_single *runs, size_t count);
/* Those with a value, "" being none, under a heading; nothing where there are none. */
void cull_rep_table_pairs(cull_rep_page *page, const char *title, const char *class,
                          const cull_option *pairs, size_t count);
/* The same of a machine; words: room for the number of its cores. */
void cull_rep_table_machine(cull_rep_page *page, double cores, char words[24], cull_option *pairs,
                            size_t count);
/* A row of the two below: of an arm's runs the first that tells it is shown. */
typedef struct cull_rep_row {
    const char           *name;
    const cull_rep_style *style; /* NULL: none */
    const cull_rep_run   *run;   /* [runs]     */
    size_t                runs;
} cull_rep_row;
/* What was picked, under a heading; false: no row tells it. */
bool cull_rep_table_picks(cull_rep_page *page, const cull_rep_row *row, size_t count);
/* How many subsets a rule could not make whole; nothing where every one was. */
void cull_rep_table_whole(cull_rep_page *page, const cull_rep_row *row, size_t count);

/* A table's frame. Where `cards`, a narrow screen shows a card for every row; other tables scroll
 * inside their box. Columns whose cells are all blank or "–" are left out, and so is a table
 * without rows; the first column stays. Columns are borrowed until the end. */
void cull_rep_table_begin(cull_rep_page *page, const char *name, const cull_rep_column *columns,
                          size_t count, bool cards);
void cull_rep_table_end(cull_rep_page *page);
/* The next row is of this class; our own words. */
void cull_rep_row_class(cull_rep_page *page, const char *class);
/* Begin the next cell, behind the last column in a new row; what it shows is written to what this
 * returns. */
cull_rep_text *cull_rep_cell(cull_rep_page *page);
/* The same with a name of a file in it, and the mark of its style; NULL: none. */
cull_rep_text *cull_rep_name_cell(cull_rep_page *page, const cull_rep_style *style,
                                  const char *name);

/* Figures of a comparison and of runs; those without data draw nothing. */
cull_status cull_rep_draw_differences(cull_rep_page *page, const cull_rep_comparison *c);
cull_status cull_rep_draw_keep(cull_rep_page *page, const cull_rep_comparison *c);
cull_status cull_rep_draw_cost(cull_rep_page *page, const cull_rep_comparison *c);
cull_status cull_rep_draw_errors(cull_rep_page *page, const cull_rep_comparison *c);
cull_status cull_rep_draw_phases(cull_rep_page *page, const cull_rep_comparison *c, bool energy);
cull_status cull_rep_draw_picks(cull_rep_page *page, const cull_rep_comparison *c);
cull_status cull_rep_draw_run_curves(cull_rep_page *page, const cull_rep_single *runs,
                                     size_t count);
cull_status cull_rep_draw_run_phases(cull_rep_page *page, const cull_rep_single *runs,
                                     size_t count);
cull_status cull_rep_draw_run_picks(cull_rep_page *page, const cull_rep_single *runs, size_t count);

/* measured.c: what all of these runs are judged by; a result without a key where they differ. */
const cull_yardstick *cull_rep_yardstick_of(const cull_rep_single *runs, size_t count);
/* measured.c: what is measured, for axes ("test accuracy (%)"), columns ("Accuracy %") and as a
 * value
 * ("80.37 %"); and a mark in a figure: "sb 0.1: 80.37 % at 44 % of the cost". */
enum { CULL_REP_MARK = 2 * CULL_REP_NAME };
void cull_rep_capital(char *words);
void cull_rep_axis(const cull_yardstick *by, const char *before, char out[CULL_REP_NAME]);
/* Title i of "a; b"; the last counts on. */
void cull_rep_axis_of(const char *titles, size_t i, char out[CULL_REP_NAME]);
void cull_rep_column_name(const cull_yardstick *by, char out[CULL_REP_NAME]);
void cull_rep_value(const cull_yardstick *by, double value, char out[CULL_REP_NAME]);
void cull_rep_mark_name(const cull_yardstick *by, const cull_rep_arm *arm, char out[CULL_REP_MARK]);

/* The arm of this name; NULL: none. */
const cull_rep_arm *cull_rep_find_arm(const cull_rep_comparison *c, const char *name);

/* What a role is called; NULL: it is none. */
const char *cull_rep_role_words(const cull_rep_arm *arm);

/* An arm's series with its share and pass, in so many characters; options give way to the share,
 * which tells bars of a series apart. */
void cull_rep_arm_name(const cull_rep_arm *arm, size_t most, char out[CULL_REP_NAME]);

/* The same without its share: a line of figures. And one that says which are uniform. */
void cull_rep_line_name(const cull_rep_arm *arm, char out[CULL_REP_NAME]);
void cull_rep_series_name(const cull_rep_arm *arm, char out[CULL_REP_NAME]);

/* What the first of these runs that tells it picked; NULL: none. */
const cull_records_picks *cull_rep_first_picks(const cull_rep_run *run, size_t runs);

/* page.css; and the shapes that figures choose from, by the names of gnuplot's markers, once a
 * page. */
extern const unsigned char cull_rep_style_sheet[];
void                       cull_rep_put_symbols(cull_rep_text *html);

#endif
