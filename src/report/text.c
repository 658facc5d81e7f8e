/* report/text.c - text that grows, escapes what files say, and prints numbers for people. */
#include "report/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static bool make_room(cull_rep_text *text, size_t bytes)
{
    size_t room = 0;

    if (text->status != CULL_OK) return false;
    if (bytes < text->room - text->size) return true;
    room = 2 * (text->size + bytes) + 256;
    text->status = cull_base_grow(room, 1, "the page", &text->data);
    if (text->status == CULL_OK) text->room = room;
    return text->status == CULL_OK;
}

void cull_rep_bytes(cull_rep_text *text, const void *data, size_t bytes)
{
    if (!make_room(text, bytes)) return;
    if (bytes) memcpy(text->data + text->size, data, bytes);
    text->size += bytes;
    text->data[text->size] = '\0';
}

void cull_rep_put(cull_rep_text *text, const char *words)
{
    cull_rep_bytes(text, words, strlen(words));
}

void cull_rep_print(cull_rep_text *text, const char *format, ...)
{
    va_list args, again;
    int     length = 0;

    va_start(args, format);
    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    if (length > 0 && make_room(text, (size_t)length)) {
        (void)vsnprintf(text->data + text->size, (size_t)length + 1, format, again);
        text->size += (size_t)length;
    }
    va_end(again);
    va_end(args);
}

/* Bytes of the UTF-8 character that begins here, and its number; 0: none does. */
static size_t character(const unsigned char *at, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t                length = at[0] < 0x80 ? 1 : at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;

    *code = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    if (at[0] >= 0xf8 || (at[0] >= 0x80 && at[0] < 0xc0)) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0; /* the ending zero among them */
        *code = *code << 6 | (at[i] & 0x3fu);
    }
    if (*code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000)) return 0;
    return length;
}

/* Is no sign, or turns the direction of writing, or hides: with these a name could show as
 * another. */
static bool misleads(uint32_t code)
{
    static const uint32_t ranges[][2] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},
                                         {0x61c, 0x61c},   {0x200b, 0x200f}, {0x2028, 0x202e},
                                         {0x2060, 0x206f}, {0xfeff, 0xfeff}};

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1]) return true;
    return false;
}

static const char *entity(unsigned char c)
{
    switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

void cull_rep_escape(cull_rep_text *text, const char *words, size_t most)
{
    const unsigned char *at = (const unsigned char *)(words ? words : "");

    for (size_t count = 0; *at; count++) {
        uint32_t    code = 0;
        size_t      length = character(at, &code);
        const char *name = entity(*at);

        if (count == most) {
            cull_rep_put(text, "…");
            return;
        }
        if (name)
            cull_rep_put(text, name);
        else if (length == 0)
            cull_rep_put(text, "?");
        else if (misleads(code))
            cull_rep_put(text, " ");
        else
            cull_rep_bytes(text, at, length);
        at += length ? length : 1;
    }
}

void cull_rep_sentence(cull_rep_text *text, const char *words, size_t most)
{
    char   set[4096];
    size_t length = 0;

    for (const char *at = words; *at && length + 4 < sizeof set; at++) {
        bool        open = at == words || strchr(" (", at[-1]) != NULL;
        const char *as = *at == ' ' && at[1] == '%'                           ? "\u00a0"
                         : *at == '-' && open && at[1] >= '0' && at[1] <= '9' ? "−"
                         : *at == '\''                                        ? "’"
                                                                              : NULL;

        if (as)
            for (; *as; as++) set[length++] = *as;
        else
            set[length++] = *at;
    }
    set[length] = '\0';
    cull_rep_escape(text, set, most);
}

static bool inside_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

void cull_rep_shorten(const char *words, size_t most, char *out, size_t room)
{
    static const char gap[] = "…";
    size_t            bytes = strlen(words), count = 0, head = 0, tail = bytes;

    for (size_t i = 0; i < bytes; i++) count += !inside_character(words[i]);
    if (count <= most && bytes < room) {
        memcpy(out, words, bytes + 1);
        return;
    }
    for (size_t taken = 1; taken < most; taken++) {
        size_t first = head, last = tail;

        if (taken % 2)
            for (first++; inside_character(words[first]);) first++;
        else
            for (last--; last > first && inside_character(words[last]);) last--;
        if (first + (bytes - last) + sizeof gap > room) break;
        head = first;
        tail = last;
    }
    (void)snprintf(out, room, "%.*s%s%s", (int)head, words, gap, words + tail);
}

static void number(cull_rep_text *text, double value, int digits, bool always)
{
    char   words[64];
    double least = 0.5 * pow(10, -digits);

    if (!isfinite(value)) {
        cull_rep_put(text, "–");
        return;
    }
    if (fabs(value) < least) value = 0; /* no "−0.0" */
    if (value < 0)
        cull_rep_put(text, "−");
    else if (always && value > 0)
        cull_rep_put(text, "+");
    if (fabs(value) < 1e9)
        (void)snprintf(words, sizeof words, "%.*f", digits, fabs(value));
    else
        (void)snprintf(words, sizeof words, "%.3g", fabs(value));
    cull_rep_put(text, words);
}

void cull_rep_number(cull_rep_text *text, double value, int digits)
{
    number(text, value, digits, false);
}

void cull_rep_signed(cull_rep_text *text, double value, int digits)
{
    number(text, value, digits, true);
}

void cull_rep_seconds(cull_rep_text *text, double seconds)
{
    int digits = 1;

    for (double below = 10; seconds > 1e-4 && seconds < below; below /= 10) digits++;
    cull_rep_number(text, seconds, digits);
}

void cull_rep_count(cull_rep_text *text, double value)
{
    char   digits[32];
    size_t length = 0;

    if (!(fabs(value) < 1e18)) {
        cull_rep_put(text, "–");
        return;
    }
    if (value < 0) cull_rep_put(text, "−");
    length = (size_t)snprintf(digits, sizeof digits, "%.0f", fabs(value));
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) cull_rep_put(text, ",");
        cull_rep_bytes(text, digits + i, 1);
    }
}

void cull_rep_text_clear(cull_rep_text *text)
{
    cull_base_free(text->data);
    *text = (cull_rep_text){0};
}
