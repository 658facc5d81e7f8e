/* probe_print.h - a probe's result as a person or a program reads it. */
#ifndef CULL_PROBE_PRINT_H
#define CULL_PROBE_PRINT_H

#include "cull_lab.h"
#include "program.h"

/* A table: error, wins against random, cosine, sign; picks of wrong labels where there are any. */
void print_probe(const cull_probe_result *result);

/* One JSON line an arm. Returns an exit status. */
int print_probe_json(const cull_probe_result *result);

/* Numbers with commas between; *out is the caller's to free. Returns an exit status. */
int take_keeps(const char *text, double **out, size_t *count);
/* Texts with commas between; *out points into *copy; both are the caller's to free. */
int take_list(const char *text, char **copy, const char ***out, size_t *count);

#endif
