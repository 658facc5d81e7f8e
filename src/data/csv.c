/*
 * data/csv.c - bytes to fields.
 *
 * A record is looked for in a window of the file. Where the window ends before it does, the window
 * moves on to the record's first byte, grows if it must, and the record is looked for again.
 */
#include "data/csv.h"

#include <string.h>

#include "base/alloc.h"

enum { FIRST_ROOM = 1 << 16, FIRST_FIELDS = 64 };

/* What became of a look for a record. */
enum look { WHOLE, CUT };

/* A record being taken apart. */
struct cursor {
    size_t   at;
    uint64_t line;
    bool     doubled; /* quotes stand twice somewhere */
};

/* More of the file behind what is left of the window, which moves to its beginning. */
static cull_status refill(cull_csv *c)
{
    cull_status status = CULL_OK;
    size_t      got = 0;

    memmove(c->window, c->window + c->at, c->end - c->at);
    c->end -= c->at;
    c->at = 0;
    if (c->end == c->room) {
        if (c->room >= CULL_CSV_RECORD)
            FAIL(CULL_BAD_FILE,
                 "%s: line %llu is longer than %d bytes, or a quote in it never ends", c->name,
                 (unsigned long long)c->next_line, CULL_CSV_RECORD);
        TRY(cull_base_grow(c->room * 2, 1, "a table", &c->window));
        c->room *= 2;
    }
    TRY(cull_data_stream_some(&c->stream, c->window + c->end, c->room - c->end, &got));
    if (got && memchr(c->window + c->end, 0, got))
        FAIL(CULL_BAD_FILE, "%s: has zero bytes, so it is no text; save it as UTF-8", c->name);
    c->end += got;
    c->ended = got == 0;
done:
    return status;
}

static cull_status add_field(cull_csv *c, size_t from, size_t end, bool quoted)
{
    cull_status status = CULL_OK;

    if (end - from > c->most)
        FAIL(CULL_BAD_FILE, "%s: line %llu has a field longer than %zu bytes", c->name,
             (unsigned long long)c->line, c->most);
    if (c->fields == c->field_room) {
        if (c->fields == CULL_CSV_FIELDS)
            FAIL(CULL_BAD_FILE, "%s: line %llu has more than %d columns", c->name,
                 (unsigned long long)c->line, CULL_CSV_FIELDS);
        TRY(cull_base_grow(c->field_room * 2, sizeof *c->field, "a table", &c->field));
        c->field_room *= 2;
    }
    c->field[c->fields++] = (cull_csv_field){c->window + from, end - from, quoted};
done:
    return status;
}

static bool is_blank(const cull_csv *c, char byte)
{
    return byte == ' ' || (byte == '\t' && c->separator != '\t');
}

/* A field without quotes: up to a separator or the end of the line. */
static cull_status take_plain(cull_csv *c, struct cursor *k)
{
    const char *w = c->window;
    size_t      from = k->at, end = 0;

    while (k->at < c->end && w[k->at] != c->separator && w[k->at] != '\n' && w[k->at] != '\r')
        k->at++;
    for (end = k->at; end > from && is_blank(c, w[end - 1]);) end--;
    return add_field(c, from, end, false);
}

/* A field in quotes, of which the first is next. */
static cull_status take_quoted(cull_csv *c, struct cursor *k, bool *cut)
{
    cull_status status = CULL_OK;
    const char *w = c->window;
    size_t      from = ++k->at;

    for (;; k->at++) {
        const char *quote = memchr(w + k->at, '"', c->end - k->at);
        *cut = !quote && !c->ended;
        if (*cut) goto done;
        if (!quote)
            FAIL(CULL_BAD_FILE, "%s: a quote that begins in line %llu does not end", c->name,
                 (unsigned long long)k->line);
        for (const char *b = w + k->at; b < quote; b++) k->line += *b == '\n';
        k->at = (size_t)(quote - w);
        if (k->at + 1 == c->end || w[k->at + 1] != '"') break;
        k->doubled = true;
        k->at++;
    }
    TRY(add_field(c, from, k->at, true));
    for (k->at++; k->at < c->end && is_blank(c, w[k->at]);) k->at++;
    if (k->at < c->end && w[k->at] != c->separator && w[k->at] != '\n' && w[k->at] != '\r')
        FAIL(CULL_BAD_FILE,
             "%s: line %llu has text behind a closing quote; double quotes inside of "
             "a field",
             c->name, (unsigned long long)k->line);
done:
    return status;
}

/* Fields up to the end of the line, which is stepped over; CUT: the window ends before it. */
static cull_status take_fields(cull_csv *c, struct cursor *k, enum look *out)
{
    cull_status status = CULL_OK;
    const char *w = c->window;
    bool        cut = false;

    *out = CUT;
    for (c->fields = 0;; k->at++) {
        while (k->at < c->end && is_blank(c, w[k->at])) k->at++;
        TRY(k->at < c->end && w[k->at] == '"' ? take_quoted(c, k, &cut) : take_plain(c, k));
        if (cut || (k->at == c->end && !c->ended)) goto done;
        if (k->at == c->end || w[k->at] != c->separator) break;
    }
    if (k->at < c->end && w[k->at] == '\r') {
        if (k->at + 1 == c->end && !c->ended) goto done; /* a line feed may follow */
        k->at += k->at + 1 < c->end && w[k->at + 1] == '\n';
    }
    k->at += k->at < c->end;
    k->line++;
    *out = WHOLE;
done:
    return status;
}

/* Doubled quotes become one; only now, as a record that is cut is looked at twice. */
static void undouble(cull_csv *c)
{
    for (size_t f = 0; f < c->fields; f++) {
        cull_csv_field *field = &c->field[f];
        char           *text = c->window + (field->text - c->window);
        size_t          to = 0;

        for (size_t i = 0; field->quoted && i < field->length; i++) {
            text[to++] = text[i];
            i += text[i] == '"';
        }
        if (field->quoted) field->length = to;
    }
}

cull_status cull_csv_next(cull_csv *c, bool *more)
{
    cull_status status = CULL_OK;

    *more = true;
    for (;;) {
        struct cursor k = {.at = c->at, .line = c->next_line};
        enum look     look = CUT;

        c->line = c->next_line;
        if (c->at < c->end) TRY(take_fields(c, &k, &look));
        if (look == CUT && c->ended) {
            *more = false;
            goto done;
        }
        if (look == CUT) {
            TRY(refill(c));
            continue;
        }
        c->at = k.at;
        c->next_line = k.line;
        if (k.doubled) undouble(c);
        if (c->fields > 1 || c->field[0].length > 0 || c->field[0].quoted) goto done;
    }
done:
    return status;
}

/* The line at `at`, with or without its end in the window: does it end there, and which separators
 * stand in it outside of quotes? */
static bool look_for_separators(const cull_csv *c, size_t at, size_t seen[3])
{
    static const char separators[] = ",;\t";
    bool              quoted = false;

    memset(seen, 0, 3 * sizeof *seen);
    for (; at < c->end; at++) {
        char byte = c->window[at];
        if (byte == '"') quoted = !quoted;
        if (!quoted && (byte == '\n' || byte == '\r')) return true;
        for (size_t s = 0; s < 3; s++) seen[s] += !quoted && byte == separators[s];
    }
    return c->ended;
}

static cull_status tell_separator(cull_csv *c)
{
    cull_status status = CULL_OK;
    size_t      seen[3] = {0};

    for (;;) {
        while (c->at < c->end && (c->window[c->at] == '\n' || c->window[c->at] == '\r')) {
            c->next_line += c->window[c->at] == '\n';
            c->at++;
        }
        if (look_for_separators(c, c->at, seen)) break;
        TRY(refill(c));
    }
    if ((seen[0] > 0) + (seen[1] > 0) + (seen[2] > 0) > 1)
        FAIL(
            CULL_BAD_FILE,
            "%s: line %llu has %zu commas, %zu semicolons and %zu tabs, so what is between columns "
            "is not told; put names that hold one in quotes",
            c->name, (unsigned long long)c->next_line, seen[0], seen[1], seen[2]);
    c->separator = ',';
    if (seen[1]) c->separator = ';';
    if (seen[2]) c->separator = '\t';
done:
    return status;
}

cull_status cull_csv_open(const cull_data_source *source, cull_csv *c)
{
    cull_status status = CULL_OK;

    *c = (cull_csv){.name = source->name, .most = CULL_CSV_FIELD, .next_line = 1};
    TRY(cull_data_stream_open(source, &c->stream));
    TRY(cull_base_alloc(FIRST_ROOM, 1, "a table", &c->window));
    c->room = FIRST_ROOM;
    TRY(cull_base_alloc(FIRST_FIELDS, sizeof *c->field, "a table", &c->field));
    c->field_room = FIRST_FIELDS;
    TRY(refill(c));
    if (c->end >= 2 &&
        (memcmp(c->window, "\xff\xfe", 2) == 0 || memcmp(c->window, "\xfe\xff", 2) == 0))
        FAIL(CULL_BAD_FILE, "%s: is UTF-16; save it as UTF-8", c->name);
    if (c->end >= 3 && memcmp(c->window, "\xef\xbb\xbf", 3) == 0) c->at = 3;
    TRY(tell_separator(c));
done:
    return status;
}

void cull_csv_close(cull_csv *c)
{
    cull_data_stream_end(&c->stream);
    cull_base_free(c->window);
    cull_base_free(c->field);
    *c = (cull_csv){0};
}
