/* program.h - what the commands of the program share: how they speak and how they end. */
#ifndef CULL_PROGRAM_H
#define CULL_PROGRAM_H

#include <cull.h>
#include <jansson.h>
#include <stdarg.h>

enum { END_WELL = 0, END_FAILED = 1, END_USAGE = 2 };

/* One file each; argv without the names of program and command. Exit statuses. */
int cmd_train(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_eval(int argc, char **argv);
int cmd_predict(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_select(int argc, char **argv);
int cmd_data(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_reproduce(int argc, char **argv);
int cmd_audit(int argc, char **argv);
int cmd_probe(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_help(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* A command as the program lists it: help, pages and completion go through the same list. */
typedef struct command_entry {
    const char *name, *doc;
    int (*run)(int argc, char **argv);
    bool trains; /* runs networks */
} command_entry;

const command_entry *command_at(size_t i); /* i = 0, 1, ... until NULL */

/* Say on stderr what happened, then what to do about it; returns `end`. */
int complain(int end, const char *hint, const char *format, ...) CULL_PRINTF(3, 4);
int complain_list(int end, const char *hint, const char *format, va_list args) CULL_PRINTF(3, 0);
/* The same of a failure of the library: its sentence, and this hint. */
int complain_last(int end, const char *hint);

/* What to do about failures of the library; a hint of NULL ends a table. */
typedef struct remedy {
    cull_status status;
    int         end;
    const char *hint;
} remedy;

/* The library's sentence with the hint of its status; 0, and nothing said, where there is none. */
int complain_by(const remedy *remedies, cull_status status);
/* The same by what fits most commands: there is a word for every failure. */
int complain_status(cull_status status);

/* Everything printed has arrived, or a complaint: a full disk is no success. */
int end_output(int end);

/* Does a text end so, and begin with something else? */
bool ends_in(const char *text, const char *end);

/* Are these the same file, by whatever names? NULL is none. */
bool same_file(const char *a, const char *b);

/* The nearest of the words that are tried to a wrong one; .best NULL: none is near. */
typedef struct search {
    const char *wrong, *best;
    size_t      edits; /* from one to the other */
} search;

void   try_word(search *s, const char *word);
void   try_key(search *s, const char *key); /* also where the section is left out */
search nearest_strategy(const char *wrong); /* of the built-in ones */
search nearest_model(const char *wrong);
search nearest_set(const char *wrong);
bool   is_of_strategy(const char *key);
search nearest_key(const char *wrong); /* of a recipe, a strategy's options left out */

/* Wrong usage: "Did you mean " `before` and what was found, if anything was, and where to look. */
int complain_near(const search *s, const char *before, const char *where, const char *format, ...)
    CULL_PRINTF(4, 5);

/* The library knows no set of the name that was its subject. */
int complain_set(void);

/* A run's folder names no weights: say why. */
int complain_weights(const char *folder, const cull_run_record *run);

/* A number, or null where JSON has none. */
json_t *json_number(double value);
json_t *json_numbers(const double *values, size_t count);

/* Print one JSON value and a line end on stdout, and release it; NULL is no memory. */
int print_json(json_t *value);

#endif
