/* reproduce_parts.h - what the ways to do a paper's figure again share. */
#ifndef CULL_REPRODUCE_PARTS_H
#define CULL_REPRODUCE_PARTS_H

#include "cull_lab.h"
#include "train/run_parts.h"

enum { MOST_WORDS = 64, MOST_WORD = 1200 };

/* Changes to a recipe, or arguments of a command: words that are written one behind the other. */
typedef struct words {
    char  *word[MOST_WORDS + 1]; /* ends with NULL */
    size_t count;
} words;

int  add_word(words *all, const char *format, ...) CULL_PRINTF(2, 3);
void clear_words(words *all);

/* A figure that is being done again. */
typedef struct reproduction {
    const cull_reproduction *entry;
    const char              *recipes; /* the folder that the papers' recipes lie in   */
    const char              *root;    /* the paper's folder                           */
    cull_figure_state        state;   /* how it is scaled, the folder of its own files */
    char                     recipe[MOST_WORD];
    double                   until;          /* by compare_now(); 0: whenever                */
    bool                     plan, controls; /* run nothing; with the referee's controls     */
    const cull_reproduction *whose;          /* all of its runs are there as this one's      */
    words                    changes;        /* to the recipe, of figures without arms       */
} reproduction;

/* Is there an end to come to: has somebody asked for it, or is the time used up? */
bool must_end(const reproduction *r);

/* The recipe with its changes and others, "key=value" each; NULL: none. Returns an exit status. */
int open_changed(const reproduction *r, const words *more, cull_recipe **out);

/* What a recipe needs and is not on this machine: a data set by its name, or a path, which *path
 * tells apart; NULL: all is there. The recipe's own text. */
const char *missing_of(const cull_recipe *recipe, bool *path);

/* Part i of a list with commas; false when there are fewer. */
bool list_part(const char *list, size_t i, char *out, size_t room);

/* "key=60,120,160" with every number scaled; an empty list adds nothing. */
int add_scaled(words *all, const char *key, const char *list, double scale);

/* A strategy of the entry, with the period between selections scaled as the epochs are. */
int scaled_strategy(const reproduction *r, const char *strategy, char *out, size_t room);

/* "sb-stream beta=2" as changes: select.strategy=sb-stream, select.beta=2. */
int add_strategy(words *all, const char *strategy);

/* The number that a strategy's text gives to an option. */
double option_of(const char *strategy, const char *key, double otherwise);

/* Points of the figure; anew: those that are there are dropped. Returns an exit status. */
int put_points(const reproduction *r, const cull_point *point, size_t count, bool anew);

/* One way each; *done: all of it is there. Exit statuses. */
int reproduce_train(const reproduction *r, bool *done);
int reproduce_compare(const reproduction *r); /* the same with controls, by cull compare */
int reproduce_probe(const reproduction *r, bool *done);
int reproduce_watch(const reproduction *r, bool *done);
int reproduce_time(const reproduction *r, bool *done);

/* reproduce_plan.c: what steps of each set-up cost, measured when they are first asked for. */
typedef struct prices {
    cull_figure_costs *costs;
    size_t             count, room;
    double             until; /* what is not measured by then takes for ever; 0: whenever */
    char             **run;   /* [runs] folders of runs that were priced once             */
    size_t             runs, run_room;
} prices;

void clear_prices(prices *p);
/* Seconds that a figure's runs which are not finished will take, or what is done in their place;
 * once: without runs that were priced so before. */
int price_figure(const cull_figure *figure, prices *p, bool once, double *out);
/* The table of a plan: arms, runs, what they will take. */
int print_plan(const reproduction *r, prices *p);

/* reproduce_page.c: the paper's page, and what became of these entries' claims; entry NULL: of all
 * that were begun. */
int make_page(const char *paper, const char *recipes, const char *root,
              const cull_reproduction *entry);

/* reproduce_all.c: one figure after the other, the smallest first, as long as there is time. */
typedef struct all_wish {
    const char             *recipes, *out; /* NULL: as usual                       */
    const char             *paper;         /* NULL: every one                      */
    cull_reproduction_scale scale;
    bool                    scaled;         /* by the user                          */
    double                  seconds, until; /* for all of it; 0: whenever           */
    bool                    plan;
} all_wish;

int reproduce_all(const all_wish *wish);

/* cmd_reproduce.c: one figure, begun and done as far as time allows. Exit statuses. */
int  open_entry(const cull_reproduction *entry, const all_wish *wish, reproduction *r);
int  do_entry(reproduction *r, bool *done);
void paper_of(const cull_reproduction *entry, char *out, size_t room);
void root_of(const all_wish *wish, const char *paper, char *out, size_t room);

#endif
