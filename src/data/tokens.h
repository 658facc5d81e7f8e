/*
 * data/tokens.h - examples that are numbers of word pieces: int32, in a row of (1, L, 1), each
 * below the set's vocabulary, and -1 behind the last.
 */
#ifndef CULL_DATA_TOKENS_H
#define CULL_DATA_TOKENS_H

#include "data/dataset.h"

enum { CULL_TOKEN_NONE = -1 };

/* Tokens that a row of so many numbers has before the first that is none. */
size_t cull_data_tokens(const int32_t *row, size_t length);

/* All rows of a set that was stored: CULL_BAD_FILE, beginning with `path`, names an example with no
 * token, one behind the last, or one that the vocabulary has not. */
cull_status cull_data_tokens_check(const cull_dataset *set, const char *path);

/* How many tokens its examples have: all together, and the most of one. */
cull_status cull_data_tokens_count(const cull_dataset *set, uint64_t *all, size_t *most);

#endif
