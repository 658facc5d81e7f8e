/* base/options.h - text options checked whole against tables, before anything runs. */
#ifndef CULL_BASE_OPTIONS_H
#define CULL_BASE_OPTIONS_H

#include "base/status.h"

enum { CULL_OPTION_TABLES = 4 };

/* The tables an object takes its options from, in the order they are listed; a key of an
 * earlier table hides the same key of a later one, so that a strategy can change a shared
 * option's default. */
typedef struct cull_option_tables {
    const cull_option_spec *table[CULL_OPTION_TABLES];
} cull_option_tables;

/* Option i over all tables, NULL at the end. */
const cull_option_spec *cull_base_option_at(const cull_option_tables *tables, size_t i);

/* Check every pair and fill in the defaults; `owner` begins the sentence of a failure.
 * CULL_UNKNOWN_OPTION: no table has the key; CULL_BAD_OPTION: a repeated key, a wrong type, out of
 * bounds. Both are about the key. */
cull_status cull_values_create(const char *owner, const cull_option_tables *tables,
                               const cull_option *options, size_t count, cull_values **out);
void        cull_values_destroy(cull_values *values);

/* The same for one pair alone, keeping nothing. */
cull_status cull_values_check(const char *owner, const cull_option_tables *tables,
                              const cull_option *option);

/* Of every key and value, numbers by what they are and not by how they are written. */
uint64_t cull_values_hash(const cull_values *values);

/* False: the key stands at its default, given or not, so that resolved options may be given
 * back whole. */
bool cull_values_given(const cull_values *values, const char *key);

/* False: no table has the key. */
bool cull_values_has(const cull_values *values, const char *key);

/* The numbers of a list, at most `room` of them into out; returns how many there are. */
size_t cull_values_list(const cull_values *values, const char *key, double *out, size_t room);

/* "key=value key=value ...", every option in table order; owned by values. */
const char *cull_values_describe(const cull_values *values);

#endif
