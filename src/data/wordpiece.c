/* data/wordpiece.c - normalising, splitting, and the longest pieces that fit. */
#include <string.h>

#include "base/alloc.h"
#include "data/unicode.h"
#include "data/wordpiece_parts.h"

int32_t cull_wordpiece_find(const cull_wordpiece *w, const char *piece)
{
    const cull_piece *found = cull_vocabulary_find(&w->pieces, piece, strlen(piece));

    return found ? found->number : -1;
}

size_t cull_wordpiece_count(const cull_wordpiece *w)
{
    return w->pieces.count;
}

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
static const cull_piece *longest(const cull_wordpiece *w, const char *text, size_t from, size_t end)
{
    uint64_t          hash = CULL_VOCABULARY_START;
    const cull_piece *best = NULL;
    char              key[2 + 4 * CULL_WORDPIECE_MOST_WORD];
    size_t            length = 0;

    if (from > 0) {
        key[0] = key[1] = '#';
        hash = cull_vocabulary_on(cull_vocabulary_on(hash, '#'), '#');
        length = 2;
    }
    for (size_t i = from; i < end && length < w->pieces.longest; i++) {
        const cull_piece *slot = NULL;

        key[length++] = text[i];
        hash = cull_vocabulary_on(hash, text[i]);
        if (i + 1 < end && ((unsigned char)text[i + 1] & 0xc0) == 0x80) continue;
        slot = cull_vocabulary_slot(&w->pieces, hash, key, length);
        if (slot->text) best = slot;
    }
    return best;
}

static void put_word(const cull_wordpiece *w, const uint32_t *word, size_t length,
                     struct numbers *out)
{
    char   text[4 * CULL_WORDPIECE_MOST_WORD];
    size_t bytes = 0, before = out->count;

    if (length > w->rules.most_word) {
        put(out, w->unknown);
        return;
    }
    for (size_t i = 0; i < length; i++) bytes += cull_unicode_put(word[i], text + bytes);
    for (size_t at = 0; at < bytes;) {
        const cull_piece *piece = longest(w, text, at, bytes);
        if (!piece) { /* nothing of this word is left */
            out->count = before;
            put(out, w->unknown);
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
static void append(struct characters *s, uint32_t c, size_t most_word)
{
    unsigned order = cull_unicode_order(c);
    size_t   at = s->count, last = at > most_word ? at - most_word : 0;

    if (cull_unicode_is_accent(c)) return;
    for (; order > 0 && at > last && cull_unicode_order(s->c[at - 1]) > order; at--)
        s->c[at] = s->c[at - 1];
    s->c[at] = c;
    s->count++;
}

static void add_character(const cull_wordpiece_rules *rules, uint32_t c, struct characters *s)
{
    uint32_t parts[CULL_UNICODE_PARTS];
    size_t   count = 0;

    if (!rules->accents) {
        s->c[s->count++] = c;
        return;
    }
    count = cull_unicode_decompose(c, parts);
    for (size_t i = 0; i < count; i++) append(s, parts[i], rules->most_word);
}

static void normalise(const cull_wordpiece_rules *rules, const char *text, size_t bytes,
                      struct characters *s)
{
    size_t used = 0;

    for (size_t at = 0; at < bytes; at += used) {
        uint32_t c = cull_unicode_next(text + at, bytes - at, &used);
        bool     chinese = rules->chinese && cull_unicode_is_chinese(c);

        if (rules->clean && (c == 0 || c == CULL_UNICODE_REPLACEMENT || cull_unicode_is_control(c)))
            continue;
        if (rules->clean && cull_unicode_is_space(c)) c = ' ';
        if (chinese) add_character(rules, ' ', s);
        add_character(rules, c, s);
        if (chinese) add_character(rules, ' ', s);
    }
    for (size_t i = 0; rules->lower && i < s->count; i++) s->c[i] = cull_unicode_lower(s->c[i]);
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

/* The first mark at or behind `from`, of several the longest: its place, `bytes` where there is
 * none. */
static size_t find_mark(const cull_wordpiece *w, const char *text, size_t from, size_t bytes,
                        const cull_wordpiece_mark **which)
{
    *which = NULL;
    for (size_t at = from; at < bytes; at++) {
        if (!w->begins[(unsigned char)text[at]]) continue;
        for (size_t m = 0; m < w->marks; m++)
            if (bytes - at >= w->mark[m].length &&
                memcmp(text + at, w->mark[m].text, w->mark[m].length) == 0) {
                *which = &w->mark[m];
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
    put(&numbers, w->first);
    for (size_t at = 0; at < bytes;) {
        const cull_wordpiece_mark *which = NULL;
        size_t                     end = find_mark(w, text, at, bytes, &which);

        s.count = 0;
        normalise(&w->rules, text + at, end - at, &s);
        put_stretch(w, &s, &numbers);
        if (which) put(&numbers, which->number);
        at = end + (which ? which->length : 0);
    }
    put(&numbers, w->last);
    if (numbers.count > most) out[most - 1] = w->last;
    *count = numbers.count < most ? numbers.count : most;
    if (whole) *whole = numbers.count;
done:
    cull_base_free(s.c);
    return status;
}
