/*
 * data/wordpiece.h - text as numbers of word pieces, as BERT's models take it; by default as the
 * uncased ones do.
 *
 *     [CLS]-like marks in the text stand for themselves
 *     clean      control characters and U+FFFD go, all white space is a blank
 *     Chinese    characters are words of their own
 *     accents    canonical decomposition, nonspacing marks go; then lower case
 *     split      at blanks, and around each mark of punctuation
 *     pieces     of each word the longest that the vocabulary has, then the longest that goes on
 *                ("##ing"); a word with a rest that nothing fits, or of more than 100 characters,
 *                is [UNK]
 *
 * Equal to the `tokenizers` library's BertNormalizer, BertPreTokenizer and WordPiece; where tables
 * of Unicode differ in age, a character that one of them does not know yet may differ
 * (docs/formats.md). Bytes that are no UTF-8 count as U+FFFD each.
 */
#ifndef CULL_DATA_WORDPIECE_H
#define CULL_DATA_WORDPIECE_H

#include "base/status.h"

typedef struct cull_wordpiece cull_wordpiece;

/* From a tokenizer.json, a vocabulary (one piece a line, numbered by its line from 0), or a folder
 * that holds either, as docs/formats.md says. CULL_BAD_FILE: a piece is there twice, a mark is
 * missing, or it is a tokenizer of another kind. */
cull_status cull_wordpiece_open(const char *path, cull_wordpiece **out);
/* A vocabulary from bytes; `name` begins the sentence. */
cull_status cull_wordpiece_parse(const char *name, const void *data, size_t bytes,
                                 cull_wordpiece **out);
void        cull_wordpiece_close(cull_wordpiece *w);

/* Every number of a piece is below. */
size_t cull_wordpiece_count(const cull_wordpiece *w);
/* The number of a piece; -1: there is none. */
int32_t cull_wordpiece_find(const cull_wordpiece *w, const char *piece);

/*
 * A text as numbers: [CLS], its pieces, [SEP].
 *
 * most      room in out, at least 2: a longer text is cut so that [SEP] fits.
 * *count    numbers written.
 * *whole    numbers that the whole text has; may be NULL.
 *
 * Any number of threads may ask at once.
 */
cull_status cull_wordpiece_encode(const cull_wordpiece *w, const char *text, size_t bytes,
                                  size_t most, int32_t *out, size_t *count, size_t *whole);

#endif
