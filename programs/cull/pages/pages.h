/*
 * pages.h - manual pages and completion, made from the tables that help is printed from.
 *
 * A command's tables live where it takes its line. Whoever wants them runs the command with a line
 * that begins with TABLES; take_line() then tells them in the form that is asked for, and the
 * command is over. So a new command, flag or key is on every page and in every shell by itself.
 *
 * What a word of a usage line or the value of a flag may be is said by the word itself:
 *
 *     test|validation        one of these
 *     STRATEGY, SET, MODEL, FIGURE, COMMAND    a name
 *     FILE, FILE.npz, DIR, RUN, CHECKPOINT, RECIPE.yaml    a path
 *     STRATEGY,...           any number, commas between
 *     key=value              a change of a recipe, or a strategy's option where there is no recipe
 */
#ifndef CULL_PAGES_H
#define CULL_PAGES_H

#include "flags.h"

#define PAGES_WRITE    "write-pages" /* cull write-pages DIR: cull.1, cull-train.1, ... */
#define PAGES_COMPLETE "complete"    /* cull complete WORD...: what the last may become */

int pages_write(int argc, char **argv);
int pages_complete(int argc, char **argv);

/* ---- usage.c: usage lines, taken apart ---- */

enum { USAGE_WORDS = 16, USAGE_WORD = 64 };

/* The words of one line that are neither flags nor their values. */
typedef struct usage_line {
    size_t count;
    struct {
        char text[USAGE_WORD];
        bool optional, repeats;
    } word[USAGE_WORDS];
} usage_line;

/* The line that begins at *at, which moves behind it; false where there is none. */
bool usage_next(const char **at, const flag *flags, usage_line *out);

/* ---- man.c, complete.c: what take_line() is asked for ---- */

int pages_print(const command *self, const flag *flags);
int pages_offer(const command *self, const flag *flags, int argc, char **argv);

/* ---- candidates.c: what may stand somewhere ---- */

/* A word that is being typed. */
typedef struct asking {
    const char *typed;  /* all of it                                            */
    size_t      before; /* of its letters, so many stand in front: "--out=", "a," */
} asking;

/* One line, if it goes on from what is typed: the word, a tab, what it is. */
void offer(const asking *a, const char *word, const char *what);
/* All that are of a kind, as above; unknown kinds have none. */
void offer_kind(const asking *a, const char *kind);
/* key= of a recipe, or the values of the key that is typed. strategy: whose options are keys; NULL:
 * any. */
void offer_keys(const asking *a, const char *strategy);
void offer_options(const asking *a, const char *strategy);

#endif
