/* base/texts.h - a list of texts of its own. */
#ifndef CULL_BASE_TEXTS_H
#define CULL_BASE_TEXTS_H

#include "base/status.h"

typedef struct cull_texts {
    char **text; /* [count] */
    size_t count;
} cull_texts;

/* A copy of `length` bytes, ended by a zero; released with cull_base_free(). */
cull_status cull_text_copy(const char *text, size_t length, char **out);

/* One behind the last. */
cull_status cull_texts_add(cull_texts *texts, const char *text, size_t length);
cull_status cull_texts_copy(cull_texts *to, const cull_texts *from); /* behind what `to` has */
void        cull_texts_clear(cull_texts *texts);

/* By their bytes, so that an order does not depend on the disk or the place. */
void cull_texts_sort(cull_texts *texts);

/* Which one is this? count when none is. */
size_t cull_texts_find(const cull_texts *texts, const char *text);

/* A letter of ASCII made small; anything else as it is, whatever the locale. */
static inline char cull_text_small(char c)
{
    static const char small[] = "abcdefghijklmnopqrstuvwxyz";

    if (c < 'A' || c > 'Z') return c;
    return small[c - 'A'];
}

/* Are `length` bytes these letters, capitals or not? `small` has none. */
static inline bool cull_text_is(const char *text, size_t length, const char *small)
{
    for (size_t i = 0; i < length; i++)
        if (small[i] == '\0' || cull_text_small(text[i]) != small[i]) return false;
    return small[length] == '\0';
}

/* Is this UTF-8 without control characters: a name that can be shown, written to JSON, read again?
 */
bool cull_text_clean(const char *text, size_t length);

enum { CULL_TEXT_SHOWN = 44 };

/* A foreign text as a sentence may show it: cut after 40 bytes ("..." then), and what is not a
 * printed character of ASCII or part of UTF-8 as '?'. Returns out. */
const char *cull_text_show(const char *text, size_t length, char out[CULL_TEXT_SHOWN]);

/* The same in place and whole, byte by byte: for sentences that hold the names of files. */
void cull_text_tame(char *text);

#endif
