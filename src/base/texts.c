/* base/texts.c - a list of texts of its own. */
#include "base/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

cull_status cull_text_copy(const char *text, size_t length, char **out)
{
    cull_status status = CULL_OK;

    TRY(cull_base_alloc(length + 1, 1, "a text", out));
    memcpy(*out, text, length);
done:
    return status;
}

cull_status cull_texts_add(cull_texts *texts, const char *text, size_t length)
{
    cull_status status = CULL_OK;
    char       *copy = NULL;

    TRY(cull_text_copy(text, length, &copy));
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

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void cull_texts_sort(cull_texts *texts)
{
    if (texts->count) qsort(texts->text, texts->count, sizeof *texts->text, by_bytes);
}

size_t cull_texts_find(const cull_texts *texts, const char *text)
{
    size_t i = 0;

    while (i < texts->count && strcmp(texts->text[i], text) != 0) i++;
    return i;
}

/* Bytes of the character at text, 0: none that is well formed (RFC 3629). */
static size_t measure_character(const unsigned char *text, size_t length)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t              code = text[0];
    size_t bytes = code < 0x80 ? 1 : code < 0xc2 ? 0 : code < 0xe0 ? 2 : code < 0xf0 ? 3 : 4;

    if (code > 0xf4 || bytes == 0 || bytes > length) return 0;
    if (bytes == 1) return 1;
    code &= 0x7fu >> bytes;
    for (size_t i = 1; i < bytes; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    if (code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
    return bytes;
}

/* C0, DEL and, in UTF-8, C1. */
static bool is_control(const unsigned char *text, size_t bytes)
{
    return text[0] < 0x20 || text[0] == 0x7f || (bytes == 2 && text[0] == 0xc2 && text[1] < 0xa0);
}

bool cull_text_clean(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t               bytes = 0;

    for (size_t i = 0; i < length; i += bytes) {
        bytes = measure_character(at + i, length - i);
        if (bytes == 0 || is_control(at + i, bytes)) return false;
    }
    return true;
}

const char *cull_text_show(const char *text, size_t length, char out[CULL_TEXT_SHOWN])
{
    enum { MOST = CULL_TEXT_SHOWN - 4 };
    const unsigned char *from = (const unsigned char *)text;
    size_t               at = 0, i = 0;

    while (i < length) {
        size_t bytes = measure_character(from + i, length - i);
        bool   shown = bytes > 0 && !is_control(from + i, bytes);

        if (at + (shown ? bytes : 1) > MOST) break;
        if (shown)
            memcpy(out + at, text + i, bytes);
        else
            out[at] = '?';
        at += shown ? bytes : 1;
        i += bytes ? bytes : 1;
    }
    memcpy(out + at, i < length ? "..." : "", i < length ? 4 : 1);
    return out;
}

void cull_text_tame(char *text)
{
    size_t left = strlen(text), bytes = 0;

    for (; left; text += bytes, left -= bytes) {
        bytes = measure_character((unsigned char *)text, left);
        if (bytes && !is_control((unsigned char *)text, bytes)) continue;
        *text = '?';
        bytes = 1;
    }
}
