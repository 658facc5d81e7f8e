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
int cmd_select(int argc, char **argv);
int cmd_data(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_reproduce(int argc, char **argv);
int cmd_audit(int argc, char **argv);
int cmd_probe(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

/* Say on stderr what happened, then what to do about it; returns `end`. */
int complain(int end, const char *hint, const char *format, ...) CULL_PRINTF(3, 4);
int complain_list(int end, const char *hint, const char *format, va_list args) CULL_PRINTF(3, 0);

/* The same for a failure of the library: its sentence, and a hint that fits the status. */
int complain_status(cull_status status);

/* Everything printed has arrived, or a complaint: a full disk is no success. */
int end_output(int end);

/* The word of a NULL-ended list nearest to `wrong`, or NULL when none is near. */
const char *nearest(const char *wrong, const char *const *words);
const char *nearest_strategy(const char *wrong); /* the same of the built-in strategies */

/* A run's folder names no weights: say why. */
int complain_weights(const char *folder, const cull_run_record *run);

/* A number, or null where JSON has none. */
json_t *json_number(double value);

/* Print one JSON value and a line end on stdout, and release it; NULL is no memory. */
int print_json(json_t *value);

#endif
