/* run_parts.h - what the commands that read recipes share. */
#ifndef CULL_RUN_PARTS_H
#define CULL_RUN_PARTS_H

#include <pthread.h>

#include "flags.h"

/* key=value words of a command line, taken apart. */
typedef struct changes {
    cull_option *option;
    size_t       count;
    char        *text; /* what the options point into */
} changes;

/* Words with '=' are changes; the one other word, if any, is *path. `what` begins a hint: "Changes
 * are written key=value". Returns an exit status; clear them also after a failure. */
int take_changes(const char *name, const char *what, char *const *words, size_t count, changes *out,
                 const char **path);
void clear_changes(changes *all);
/* A command line whose words are changes, and a path that the command may ask for: as take_line(),
 * and nothing is left to clear where it is over. */
int take_changed(const command *self, flag *flags, int argc, char **argv, changes *out,
                 const char **path);

/* The folder that is given, or ROOT/ and the recipe's name. */
void name_folder(const char *given, const char *root, const char *recipe, char *out, size_t room);
/* A blank, and a word as a shell takes it. */
void print_word(FILE *to, const char *word);

/* A folder and those above it. Returns an exit status. */
int make_folders(const char *path);

/* A failure of a run: its sentence, and a hint. Wrong recipes exit with 2, all else with 1. */
int complain_run(cull_status status);
/* The same where a recipe of this path is opened: no such file is a wrong command. */
int complain_opening(cull_status status, const char *path);
int open_recipe(const char *path, const changes *all, cull_recipe **out);

/* Something to know of the data, on stderr; the context is not looked at. */
void say_warning(void *context, const char *warning);

/* ---- find_recipe.c ---- */

/* The recipe of this path or name, with or without its ending: here, or where recipes were
 * installed, which is then said. In `room`, or the path itself, also where there is none. */
const char *find_recipe(const char *path, char *room, size_t bytes);
/* Where recipes were installed; false: nowhere. */
bool recipe_folder(char *out, size_t room);
/* Each recipe there, by name; and all of them as a list on stderr. */
void each_recipe(void *context, void (*take)(void *context, const char *folder, const char *name));
void print_recipes(void);

/* ---- outlook_print.c: on stderr ---- */

void    print_outlook(const cull_run_outlook *outlook);
void    print_prediction(const cull_run_outlook *outlook);
json_t *outlook_json(const cull_run_outlook *outlook);

/* ---- progress.c ---- */

enum { MOST_LINE = 200 };

/* A progress line on a terminal; else a plain line per epoch, and never ten seconds of silence from
 * open to close. */
typedef struct progress {
    bool   terminal, quiet, shown;
    double next;          /* when the line is drawn again            */
    double start, before; /* seconds and examples when this sitting began */
    bool   begun;

    bool            watched; /* a thread speaks where nobody else does   */
    pthread_t       watcher;
    pthread_mutex_t lock; /* of what follows                          */
    pthread_cond_t  ends;
    bool            over;
    char            latest[MOST_LINE]; /* what is to be said                       */
    double          opened, spoke;     /* when                                     */
} progress;

/* 75 -> "1:15" */
void clock_text(double seconds, char *out, size_t room);

void progress_open(progress *p, const char *what); /* what: is done before the first step */
void progress_close(progress *p);

/* Over the line before it on a terminal's stderr, cut where the terminal ends: a line that goes on
 * below cannot be drawn over. */
void draw_line(const char *text);

void progress_tell(void *context, const cull_run_news *news); /* the context is a progress */
void progress_end(progress *p);                               /* clears the line */

#endif
