/* compare_parts.h - the parts of cull compare: measuring, running, printing. */
#ifndef CULL_COMPARE_PARTS_H
#define CULL_COMPARE_PARTS_H

#include "program.h"

/* Whether somebody asked the program to end; the signal, or 0. */
int  compare_asked_to_end(void);
void compare_listen(void);

/* Measure all that the comparison asks for, in `jobs` processes at once. Exit status. */
int compare_measure(cull_comparison *comparison, unsigned jobs, bool quiet);

/* The command that those processes are: answers to the recipes on standard input. Exit status. */
#define COMPARE_ANSWER "compare-answer"
int compare_answer(void);

/* Seconds by the clock that `until` is read from; and --until TIME: "9m", from now on, NULL: 0. */
double compare_now(void);
int    compare_read_until(const char *text, double *out);

/* Train every run that is not finished, `jobs` at a time, and judge after each; none is begun that
 * will not be done by then (0: whenever). Exit status. */
int compare_train(cull_comparison *comparison, unsigned jobs, double until, bool quiet);

/* "4 minutes" */
void compare_clock(double seconds, char *out, size_t room);

/* A blank and a number of `digits` behind the point, or a dash; sign "+": with its sign. */
void compare_put(double value, int width, int digits, const char *sign);
/* In so many columns; a name that is too long has a line of its own. */
void compare_put_name(const char *name, int width);

/* The plan, and the result, as tables within 80 columns. */
int compare_print_plan(const cull_comparison *comparison, bool whole);
int compare_print_result(const cull_comparison *comparison);

#endif
