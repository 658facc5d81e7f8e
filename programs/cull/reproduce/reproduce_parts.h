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
    const char              *out; /* the folder for its files             */
    char                     recipe[MOST_WORD];
    uint64_t                 epochs, seeds, batches; /* asked for; 0: as the entry has it */
    double                   subset;                 /* share of the training examples       */
    double                   scale;                  /* epochs asked for / the paper's       */
    bool                     plan;                   /* say what would run, and run nothing  */
    words                    changes;
} reproduction;

/* The recipe with its changes and others, "key=value" each; NULL: none. Returns an exit status. */
int open_changed(const reproduction *r, const words *more, cull_recipe **out);

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

/* One way each. Exit statuses. */
int reproduce_compare(const reproduction *r);
int reproduce_probe(const reproduction *r);
int reproduce_watch(const reproduction *r);
int reproduce_time(const reproduction *r);

/* comparison.json of a folder, as the entry wants it shown. */
int print_comparison(const reproduction *r, const char *folder);

#endif
