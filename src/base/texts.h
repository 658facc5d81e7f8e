/* base/texts.h - a list of texts of its own. */
#ifndef CULL_BASE_TEXTS_H
#define CULL_BASE_TEXTS_H

#include "base/status.h"

typedef struct cull_texts {
    char **text; /* [count] */
    size_t count;
} cull_texts;

/* A copy of `length` bytes behind the last, ended by a zero. */
cull_status cull_texts_add(cull_texts *texts, const char *text, size_t length);
cull_status cull_texts_copy(cull_texts *to, const cull_texts *from); /* behind what `to` has */
void        cull_texts_clear(cull_texts *texts);

/* Which one is this? count when none is. */
size_t cull_texts_find(const cull_texts *texts, const char *text);

#endif
