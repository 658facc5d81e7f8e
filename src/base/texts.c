/* base/texts.c - a list of texts of its own. */
#include "base/texts.h"

#include <string.h>

#include "base/alloc.h"

cull_status cull_texts_add(cull_texts *texts, const char *text, size_t length)
{
    cull_status status = CULL_OK;
    char       *copy = NULL;

    TRY(cull_base_alloc(length + 1, 1, "a text", &copy));
    memcpy(copy, text, length);
    TRY(cull_base_grow(texts->count + 1, sizeof *texts->text, "a list of texts", &texts->text));
    texts->text[texts->count++] = copy;
    copy = NULL;
done:
    cull_base_free(copy);
    return status;
}

cull_status cull_texts_copy(cull_texts *to, const cull_texts *from)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; i < from->count; i++)
        TRY(cull_texts_add(to, from->text[i], strlen(from->text[i])));
done:
    return status;
}

void cull_texts_clear(cull_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) cull_base_free(texts->text[i]);
    cull_base_free(texts->text);
    *texts = (cull_texts){0};
}

size_t cull_texts_find(const cull_texts *texts, const char *text)
{
    size_t i = 0;

    while (i < texts->count && strcmp(texts->text[i], text) != 0) i++;
    return i;
}
