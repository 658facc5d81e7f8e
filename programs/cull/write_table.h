/* write_table.h - CSV as programs read it back: to a file that appears when it is whole, or out. */
#ifndef CULL_WRITE_TABLE_H
#define CULL_WRITE_TABLE_H

#include <stdio.h>

#include "program.h"

typedef struct table {
    FILE       *to;
    const char *path; /* NULL: standard output */
    char        part[1200];
    bool        inside; /* a line is begun */
} table;

/* Returns an exit status, having complained. path NULL: standard output. */
int table_open(table *t, const char *path);

/* Fields of a line; words are quoted where they must be. */
void table_word(table *t, const char *word);
void table_count(table *t, size_t count);
void table_number(table *t, double number); /* as many digits as a float has */
void table_end(table *t);

bool table_goes_on(const table *t); /* is it of use to write more? */

/* end 0: the file takes its name; else it goes. Returns `end`, or that writing failed. */
int table_close(table *t, int end);

/* Does the path end so? */
bool table_is(const char *path, const char *ending);

#endif
