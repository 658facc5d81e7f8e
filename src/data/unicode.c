/* data/unicode.c - categories, decompositions and cases from utf8proc. */
#include "data/unicode.h"

#include <utf8proc.h>

uint32_t cull_unicode_next(const char *text, size_t bytes, size_t *used)
{
    utf8proc_int32_t c = 0;
    size_t           look = bytes < 4 ? bytes : 4;
    utf8proc_ssize_t took =
        utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)look, &c);

    *used = took > 0 ? (size_t)took : 1;
    return took > 0 ? (uint32_t)c : CULL_UNICODE_REPLACEMENT;
}

size_t cull_unicode_put(uint32_t c, char out[4])
{
    return (size_t)utf8proc_encode_char((utf8proc_int32_t)c, (utf8proc_uint8_t *)out);
}

static utf8proc_category_t category_of(uint32_t c)
{
    return utf8proc_category((utf8proc_int32_t)c);
}

bool cull_unicode_is_control(uint32_t c)
{
    switch (category_of(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CS: return c != '\t' && c != '\n' && c != '\r';
    default: return false;
    }
}

bool cull_unicode_is_space(uint32_t c)
{
    switch (category_of(c)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return true;
    default: return (c >= '\t' && c <= '\r') || c == 0x85;
    }
}

bool cull_unicode_is_punctuation(uint32_t c)
{
    if ((c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
        (c >= '{' && c <= '~'))
        return true;
    switch (category_of(c)) {
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO: return true;
    default: return false;
    }
}

bool cull_unicode_is_accent(uint32_t c)
{
    return category_of(c) == UTF8PROC_CATEGORY_MN;
}

bool cull_unicode_is_chinese(uint32_t c)
{
    static const uint32_t block[][2] = {{0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df},
                                        {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf},
                                        {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};

    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        if (c >= block[i][0] && c <= block[i][1]) return true;
    return false;
}

size_t cull_unicode_decompose(uint32_t c, uint32_t out[CULL_UNICODE_PARTS])
{
    utf8proc_int32_t parts[CULL_UNICODE_PARTS];
    int              bounds = 0;
    utf8proc_ssize_t count = utf8proc_decompose_char((utf8proc_int32_t)c, parts, CULL_UNICODE_PARTS,
                                                     UTF8PROC_DECOMPOSE, &bounds);

    if (count < 1 || count > CULL_UNICODE_PARTS) {
        out[0] = c;
        return 1;
    }
    for (utf8proc_ssize_t i = 0; i < count; i++) out[i] = (uint32_t)parts[i];
    return (size_t)count;
}

unsigned cull_unicode_order(uint32_t c)
{
    return (unsigned)utf8proc_get_property((utf8proc_int32_t)c)->combining_class;
}

uint32_t cull_unicode_lower(uint32_t c)
{
    return (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
}
