/* data/wordpiece.c - normalising, splitting, and the longest pieces that fit. */
#include "data/wordpiece.h"

#include <string.h>

#include "base/alloc.h"
#include "data/unicode.h"

enum { MOST_WORD = 100, MOST_PIECES = 1 << 24, MARKS = 5 };

/* Numbered as the marks below. */
enum { PAD, UNK, CLS, SEP, MASK };
static const char *const marks[MARKS] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

struct piece {
    const char *text;
    size_t      length;
    int32_t     number;
};

struct cull_wordpiece {
    char         *bytes; /* the vocabulary's                                    */
    struct piece *slot;  /* [slots] by hash, .text NULL where empty              */
    size_t        slots; /* a power of two, more than twice the pieces           */
    size_t        count;
    size_t        longest;     /* bytes of a piece */
    int32_t       mark[MARKS]; /* numbers; -1: not there */
};

/* FNV-1a, so that a prefix's hash goes on to the next byte's. */
static uint64_t hash_on(uint64_t hash, char byte)
{
    return (hash ^ (unsigned char)byte) * UINT64_C(0x100000001b3);
}

static const uint64_t hash_start = UINT64_C(0xcbf29ce484222325);

static struct piece *slot_of(const cull_wordpiece *w, uint64_t hash, const char *text,
                             size_t length)
{
    size_t at = (size_t)(hash ^ hash >> 29) & (w->slots - 1);

    while (w->slot[at].text &&
           (w->slot[at].length != length || memcmp(w->slot[at].text, text, length) != 0))
        at = (at + 1) & (w->slots - 1);
    return &w->slot[at];
}

static const struct piece *look_up(const cull_wordpiece *w, const char *text, size_t length)
{
    uint64_t            hash = hash_start;
    const struct piece *slot = NULL;

    for (size_t i = 0; i < length; i++) hash = hash_on(hash, text[i]);
    slot = slot_of(w, hash, text, length);
    return slot->text ? slot : NULL;
}

int32_t cull_wordpiece_find(const cull_wordpiece *w, const char *piece)
{
    const struct piece *found = look_up(w, piece, strlen(piece));

    return found ? found->number : -1;
}

size_t cull_wordpiece_count(const cull_wordpiece *w)
{
    return w->count;
}

/* ---- the vocabulary ---- */

static cull_status add_piece(const char *name, cull_wordpiece *w, const char *text, size_t length)
{
    uint64_t      hash = hash_start;
    struct piece *slot = NULL;

    for (size_t i = 0; i < length; i++) hash = hash_on(hash, text[i]);
    slot = slot_of(w, hash, text, length);
    if (slot->text)
        return cull_fail(CULL_BAD_FILE, "%s: line %zu has the piece of line %d again", name,
                         w->count + 1, slot->number + 1);
    *slot = (struct piece){text, length, (int32_t)w->count++};
    if (length > w->longest) w->longest = length;
    return CULL_OK;
}

static cull_status add_lines(const char *name, cull_wordpiece *w, size_t bytes)
{
    cull_status status = CULL_OK;

    for (size_t at = 0; at < bytes;) {
        const char *line = w->bytes + at, *end = memchr(line, '\n', bytes - at);
        size_t      length = end ? (size_t)(end - line) : bytes - at;

        at += length + 1;
        if (length > 0 && line[length - 1] == '\r') length--;
        TRY(add_piece(name, w, line, length));
    }
    for (size_t m = 0; m < MARKS; m++) {
        w->mark[m] = cull_wordpiece_find(w, marks[m]);
        if (w->mark[m] < 0 && m != MASK)
            FAIL(CULL_BAD_FILE, "%s: no piece is %s: this is no vocabulary of BERT's", name,
                 marks[m]);
    }
done:
    return status;
}

cull_status cull_wordpiece_parse(const char *name, const void *data, size_t bytes,
                                 cull_wordpiece **out)
{
    cull_status     status = CULL_OK;
    cull_wordpiece *w = NULL;
    size_t          lines = 1;

    TRY(cull_base_alloc(1, sizeof *w, "a vocabulary", &w));
    TRY(cull_base_alloc(bytes, 1, "a vocabulary", &w->bytes));
    if (bytes) memcpy(w->bytes, data, bytes);
    for (size_t i = 0; i < bytes; i++) lines += w->bytes[i] == '\n';
    if (lines > MOST_PIECES)
        FAIL(CULL_BAD_FILE, "%s: %zu lines; %d pieces are the most", name, lines, MOST_PIECES);
    for (w->slots = 16; w->slots < 3 * lines;) w->slots *= 2;
    TRY(cull_base_alloc(w->slots, sizeof *w->slot, "a vocabulary", &w->slot));
    TRY(add_lines(name, w, bytes));
    *out = w;
    w = NULL;
done:
    cull_wordpiece_close(w);
    return status;
}

cull_status cull_wordpiece_open(const char *path, cull_wordpiece **out)
{
    cull_status status = CULL_OK;
    void       *data = NULL;
    size_t      bytes = 0;

    TRY(cull_file_read(path, &data, &bytes));
    TRY(cull_wordpiece_parse(path, data, bytes, out));
done:
    cull_bytes_release(data);
    return status;
}

void cull_wordpiece_close(cull_wordpiece *w)
{
    if (!w) return;
    cull_base_free(w->slot);
    cull_base_free(w->bytes);
    cull_base_free(w);
}

/* ---- a text ---- */

/* Numbers so far; those behind the room are only counted. */
struct numbers {
    int32_t *out;
    size_t   room, count;
};

static void put(struct numbers *n, int32_t number)
{
    if (n->count < n->room) n->out[n->count] = number;
    n->count++;
}

/* The longest piece that text[from, end) begins with, as it stands or, inside a word, behind "##".
 */
static const struct piece *longest(const cull_wordpiece *w, const char *text, size_t from,
                                   size_t end)
{
    uint64_t            hash = hash_start;
    const struct piece *best = NULL;
    char                key[2 + 4 * MOST_WORD];
    size_t              length = 0;

    if (from > 0) {
        key[0] = key[1] = '#';
        hash = hash_on(hash_on(hash, '#'), '#');
        length = 2;
    }
    for (size_t i = from; i < end && length < w->longest; i++) {
        const struct piece *slot = NULL;
        key[length++] = text[i];
        hash = hash_on(hash, text[i]);
        if (i + 1 < end && ((unsigned char)text[i + 1] & 0xc0) == 0x80) continue;
        slot = slot_of(w, hash, key, length);
        if (slot->text) best = slot;
    }
    return best;
}

static void put_word(const cull_wordpiece *w, const uint32_t *word, size_t length,
                     struct numbers *out)
{
    char   text[4 * MOST_WORD];
    size_t bytes = 0, before = out->count;

    if (length > MOST_WORD) {
        put(out, w->mark[UNK]);
        return;
    }
    for (size_t i = 0; i < length; i++) bytes += cull_unicode_put(word[i], text + bytes);
    for (size_t at = 0; at < bytes;) {
        const struct piece *piece = longest(w, text, at, bytes);
        if (!piece) { /* nothing of this word is left */
            out->count = before;
            put(out, w->mark[UNK]);
            return;
        }
        put(out, piece->number);
        at += piece->length - (at > 0 ? 2 : 0);
    }
}

/* Characters of a stretch of text, normalised. */
struct characters {
    uint32_t *c;
    size_t    count;
};

/* What stays of a decomposition, in canonical order: a part moves in front of those of a higher
 * class. A word that has more of them than may stand in one is [UNK], whatever their order. */
static void append(struct characters *s, uint32_t c)
{
    unsigned order = cull_unicode_order(c);
    size_t   at = s->count, last = at > MOST_WORD ? at - MOST_WORD : 0;

    if (cull_unicode_is_accent(c)) return;
    for (; order > 0 && at > last && cull_unicode_order(s->c[at - 1]) > order; at--)
        s->c[at] = s->c[at - 1];
    s->c[at] = c;
    s->count++;
}

static void normalise(const char *text, size_t bytes, struct characters *s)
{
    uint32_t parts[CULL_UNICODE_PARTS];
    size_t   used = 0;

    for (size_t at = 0; at < bytes; at += used) {
        uint32_t c = cull_unicode_next(text + at, bytes - at, &used);
        bool     chinese = cull_unicode_is_chinese(c);
        size_t   count = 0;

        if (c == 0 || c == CULL_UNICODE_REPLACEMENT || cull_unicode_is_control(c)) continue;
        if (cull_unicode_is_space(c)) c = ' ';
        if (chinese) append(s, ' ');
        count = cull_unicode_decompose(c, parts);
        for (size_t i = 0; i < count; i++) append(s, parts[i]);
        if (chinese) append(s, ' ');
    }
    for (size_t i = 0; i < s->count; i++) s->c[i] = cull_unicode_lower(s->c[i]);
}

static void put_stretch(const cull_wordpiece *w, const struct characters *s, struct numbers *out)
{
    size_t begin = 0;

    for (size_t i = 0; i <= s->count; i++) {
        bool blank = i == s->count || cull_unicode_is_space(s->c[i]);
        bool mark = !blank && cull_unicode_is_punctuation(s->c[i]);

        if (!blank && !mark) continue;
        if (i > begin) put_word(w, s->c + begin, i - begin, out);
        if (mark) put_word(w, s->c + i, 1, out);
        begin = i + 1;
    }
}

/* The first mark at or behind `from`: its place and which; `bytes`: none. */
static size_t find_mark(const cull_wordpiece *w, const char *text, size_t from, size_t bytes,
                        size_t *which)
{
    for (size_t at = from; at < bytes; at++) {
        const char *next = memchr(text + at, '[', bytes - at);

        if (!next) return bytes;
        at = (size_t)(next - text);
        for (size_t m = 0; m < MARKS; m++)
            if (w->mark[m] >= 0 && bytes - at >= strlen(marks[m]) &&
                memcmp(next, marks[m], strlen(marks[m])) == 0) {
                *which = m;
                return at;
            }
    }
    return bytes;
}

cull_status cull_wordpiece_encode(const cull_wordpiece *w, const char *text, size_t bytes,
                                  size_t most, int32_t *out, size_t *count, size_t *whole)
{
    cull_status       status = CULL_OK;
    struct characters s = {0};
    struct numbers    numbers = {.out = out, .room = most};

    if (most < 2) FAIL(CULL_BAD_ARGUMENT, "room for %zu numbers; 2 are the least", most);
    /* A byte gives at most this many characters: blanks around one, or the parts of one of two. */
    TRY(cull_base_alloc(bytes + 1, 3 * sizeof *s.c, "the characters of a text", &s.c));
    put(&numbers, w->mark[CLS]);
    for (size_t at = 0; at < bytes;) {
        size_t which = MARKS, end = find_mark(w, text, at, bytes, &which);

        s.count = 0;
        normalise(text + at, end - at, &s);
        put_stretch(w, &s, &numbers);
        if (which < MARKS) put(&numbers, w->mark[which]);
        at = which < MARKS ? end + strlen(marks[which]) : bytes;
    }
    put(&numbers, w->mark[SEP]);
    if (numbers.count > most) out[most - 1] = w->mark[SEP];
    *count = numbers.count < most ? numbers.count : most;
    if (whole) *whole = numbers.count;
done:
    cull_base_free(s.c);
    return status;
}
