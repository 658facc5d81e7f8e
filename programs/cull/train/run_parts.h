/* run_parts.h - what the commands that read recipes share. */
#ifndef CULL_RUN_PARTS_H
#define CULL_RUN_PARTS_H

#include <stdio.h>

#include "program.h"

/* key=value words of a command line, taken apart. */
typedef struct changes {
    cull_option *option;
    size_t       count;
    char        *text; /* what the options point into */
} changes;

/* Words with '=' are changes; the one other word, if any, is *path. */
int  take_changes(const char *command, char *const *words, size_t count, changes *out,
                  const char **path);
void clear_changes(changes *all);

/* A folder and those above it. Returns an exit status. */
int make_folders(const char *path);

/* A failure of a run: its sentence, and a hint. Wrong recipes exit with 2, all else with 1. */
int complain_run(cull_status status);
/* The same where a recipe is opened: no such file is a wrong command. */
int complain_opening(cull_status status);

/* Every key of a recipe with its default, bounds and line of help. */
void print_recipe_keys(FILE *to);

/* A progress line on a terminal, a plain line per epoch. */
typedef struct progress {
    bool   terminal, quiet, shown;
    double next;          /* when the line is drawn again            */
    double start, before; /* seconds and examples when this sitting began */
    bool   begun;
} progress;

/* Over the line before it on a terminal's stderr, cut where the terminal ends: a line that goes on
 * below cannot be drawn over. */
void draw_line(const char *text);

void progress_tell(progress *p, const cull_run_news *news);
void progress_end(progress *p); /* clears the line */

#endif
