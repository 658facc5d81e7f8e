/* probe_print.h - a probe's result as a person or a program reads it. */
#ifndef CULL_PROBE_PRINT_H
#define CULL_PROBE_PRINT_H

#include "cull_lab.h"
#include "program.h"

/* A table: error, wins against random, cosine, sign; picks of wrong labels where there are any. */
void print_probe(const cull_probe_result *result);

/* One JSON line an arm. Returns an exit status. */
int print_probe_json(const cull_probe_result *result);

/* Strategies and shares to keep, with commas between each, into the options, which are cleared also
 * after a failure. Returns an exit status. */
int  take_probe(const char *strategies, const char *keep, cull_probe_options *out);
void clear_probe(cull_probe_options *options);

/* How far it is, on a terminal; the context is a bool: is there one? */
void tell_passes(void *context, size_t done, size_t all);

#endif
