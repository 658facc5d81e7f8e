/* data/unicode.h - what tokenising asks of characters: utf8proc's tables behind plain questions. */
#ifndef CULL_DATA_UNICODE_H
#define CULL_DATA_UNICODE_H

#include "base/status.h"

enum { CULL_UNICODE_REPLACEMENT = 0xfffd, CULL_UNICODE_PARTS = 18 };

/* The character at text, and how many bytes it takes (1 for a byte that is no UTF-8). */
uint32_t cull_unicode_next(const char *text, size_t bytes, size_t *used);
/* As UTF-8; returns how many of out's bytes it takes. */
size_t cull_unicode_put(uint32_t c, char out[4]);

bool cull_unicode_is_control(uint32_t c); /* also formats and private characters */
bool cull_unicode_is_space(uint32_t c);
bool cull_unicode_is_punctuation(uint32_t c); /* also ASCII's symbols */
bool cull_unicode_is_accent(uint32_t c);      /* a nonspacing mark */
bool cull_unicode_is_chinese(uint32_t c);

/* Canonical decomposition of one character; returns how many of out's it takes. */
size_t   cull_unicode_decompose(uint32_t c, uint32_t out[CULL_UNICODE_PARTS]);
unsigned cull_unicode_order(uint32_t c); /* canonical combining class */
uint32_t cull_unicode_lower(uint32_t c);

#endif
