/*
 * lab/recipe/recipe_yaml.c - YAML as far as recipes go: mappings in mappings, plain values, lists
 * of them.
 *
 * Anchors, aliases, tags and second documents are refused: a recipe says what it says where it
 * says it. A key inside a mapping is joined with the mapping's own by a dot. Layers are the one
 * value that is more than these (recipe_layers.c).
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/recipe/recipe.h"
#include "lab/recipe/recipe_events.h"

enum { MOST_KEY = CULL_RECIPE_KEY, MOST_BYTES = 1 << 20, MOST_DEPTH = 8 };

struct scan {
    cull_recipe_events events;
    cull_recipe_pairs *pairs;
};

/* Checked when the strategy is known, which may be said later. */
static bool of_strategy(const char *key)
{
    return strncmp(key, "select.", strlen("select.")) == 0 && !cull_recipe_option(key);
}

/* What YAML would not give back as it was written, on one line. */
static bool is_lost(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
           (code >= 0xd800 && code < 0xe000) || code == 0xfeff || code == 0xfffe ||
           code == 0xffff || code > 0x10ffff;
}

/* How many of these bytes are one such character of UTF-8; 0: none. */
static size_t character(const unsigned char *at, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t                bytes = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    uint32_t              code = at[0];

    if (bytes > left || (bytes > 1 && (code < 0xc0 || code >= 0xf8))) return 0;
    if (bytes > 1) code &= 0x7fu >> bytes;
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (at[i] & 0x3fu);
    }
    return code < least[bytes] || is_lost(code) ? 0 : bytes;
}

bool cull_recipe_is_text(const char *value, size_t length)
{
    size_t at = 0, bytes = 1;

    for (; at < length && bytes; at += bytes)
        bytes = character((const unsigned char *)value + at, length - at);
    return bytes != 0;
}

cull_status cull_recipe_add(cull_recipe_pairs *pairs, const char *where, const char *key,
                            const char *value, size_t length)
{
    cull_option_tables tables = {{cull_recipe_table}};
    cull_status        status = CULL_OK;
    cull_recipe_pair  *pair = NULL;

    for (size_t i = 0; i < pairs->count; i++)
        if (strcmp(pairs->pair[i].key, key) == 0)
            FAIL_ABOUT(CULL_BAD_OPTION, key, "%s: %s is given twice, first at %s", where, key,
                       pairs->pair[i].where);
    if (!cull_recipe_is_text(value, length))
        FAIL_ABOUT(CULL_BAD_OPTION, key, "%s: %s holds a control character or is not UTF-8", where,
                   key);
    if (pairs->count == pairs->room) {
        size_t room = pairs->room ? pairs->room * 2 : 32;
        TRY(cull_base_grow(room, sizeof *pairs->pair, "a recipe", &pairs->pair));
        pairs->room = room;
    }
    pair = &pairs->pair[pairs->count];
    *pair = (cull_recipe_pair){0};
    TRY(cull_base_alloc(length + 1, 1, "a recipe", &pair->value));
    pairs->count++;
    memcpy(pair->value, value, length);
    (void)snprintf(pair->key, sizeof pair->key, "%s", key);
    (void)snprintf(pair->where, sizeof pair->where, "%s", where);
    if (!of_strategy(key)) TRY(cull_values_check(where, &tables, &(cull_option){key, pair->value}));
done:
    return status;
}

void cull_recipe_pairs_clear(cull_recipe_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) cull_base_free(pairs->pair[i].value);
    cull_base_free(pairs->pair);
    *pairs = (cull_recipe_pairs){0};
}

static unsigned long line_of(const struct scan *s)
{
    return cull_recipe_events_line(&s->events);
}

static cull_status next_event(struct scan *s)
{
    return cull_recipe_events_next(&s->events);
}

/* A quoted number or bool is a text, and so of the wrong type; so is nothing at all. */
static cull_status take_scalar(struct scan *s, const char *key, const char *where)
{
    cull_status             status = CULL_OK;
    const cull_option_spec *spec = cull_recipe_option(key);
    const char             *value = (const char *)s->events.event.data.scalar.value;
    size_t                  length = s->events.event.data.scalar.length;
    bool                    plain = s->events.event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;

    if (spec && cull_recipe_events_nothing(&s->events))
        FAIL_ABOUT(CULL_BAD_OPTION, key, "%s: %s has no value", where, key);
    if (spec && spec->type == CULL_OPTION_LAYERS && strcmp(value, spec->fallback) != 0)
        FAIL_ABOUT(CULL_BAD_OPTION, key, "%s: %s takes a list of layers, as [flatten, dense]",
                   where, key);
    if (spec && spec->type == CULL_OPTION_LIST)
        FAIL_ABOUT(CULL_BAD_OPTION, key, "%s: %s takes a list, as [1, 2]", where, key);
    if (spec && !plain &&
        (spec->type == CULL_OPTION_INT || spec->type == CULL_OPTION_REAL ||
         spec->type == CULL_OPTION_BOOL))
        FAIL_ABOUT(CULL_BAD_OPTION, key,
                   "%s: %s=\"%.40s\" is a text in quotes, not a number or a truth value", where,
                   key, value);
    TRY(cull_recipe_add(s->pairs, where, key, value, length));
    s->pairs->pair[s->pairs->count - 1].quoted = !plain;
done:
    return status;
}

/* A list becomes its items with commas between. */
static cull_status take_list(struct scan *s, const char *key, const char *where)
{
    cull_status             status = CULL_OK;
    const cull_option_spec *spec = cull_recipe_option(key);
    char                    text[1024] = "";
    size_t                  at = 0;

    if (spec && spec->type != CULL_OPTION_LIST)
        FAIL_ABOUT(CULL_BAD_OPTION, key, "%s: %s takes one value, not a list", where, key);
    TRY(next_event(s));
    while (s->events.event.type != YAML_SEQUENCE_END_EVENT) {
        size_t length = 0;

        if (s->events.event.type != YAML_SCALAR_EVENT)
            FAIL_ABOUT(CULL_BAD_OPTION, key, "%s: %s is a list of more than values", where, key);
        length = s->events.event.data.scalar.length;
        if (at + length + 2 > sizeof text ||
            memchr(s->events.event.data.scalar.value, ',', length) ||
            memchr(s->events.event.data.scalar.value, '\0', length))
            FAIL_ABOUT(CULL_BAD_OPTION, key, "%s: %s is too long a list or holds no numbers", where,
                       key);
        if (at) text[at++] = ',';
        memcpy(text + at, s->events.event.data.scalar.value, length);
        at += length;
        if (length == 0) text[at++] = ','; /* an empty item is no number, and said to be none */
        TRY(next_event(s));
    }
    TRY(cull_recipe_add(s->pairs, where, key, text, at));
done:
    return status;
}

static cull_status take_layers(struct scan *s, const char *key, const char *where)
{
    cull_status     status = CULL_OK;
    cull_layer_list list = {0};

    TRY(cull_recipe_layers_take(&s->events, &list));
    TRY(cull_recipe_layers_add(s->pairs, where, key, &list));
done:
    cull_nn_list_clear(&list);
    return status;
}

static cull_status join_key(struct scan *s, const char *prefix, char out[MOST_KEY])
{
    cull_status status = CULL_OK;
    const char *word = NULL;
    int         length = 0;

    if (s->events.event.type != YAML_SCALAR_EVENT)
        FAIL(CULL_BAD_OPTION, "%s:%lu: a key is a plain word", s->events.name, line_of(s));
    word = (const char *)s->events.event.data.scalar.value;
    if (strlen(word) != s->events.event.data.scalar.length || word[0] == '\0')
        FAIL(CULL_BAD_OPTION, "%s:%lu: a key is a plain word", s->events.name, line_of(s));
    length = snprintf(out, MOST_KEY, "%s%s%s", prefix, prefix[0] ? "." : "", word);
    if (length < 0 || length >= MOST_KEY)
        FAIL_ABOUT(CULL_UNKNOWN_OPTION, out, "%s:%lu: no option is called '%.40s...'",
                   s->events.name, line_of(s), out);
done:
    return status;
}

/* The event is the start of a mapping; all of it is read. */
static cull_status take_mapping(struct scan *s, const char *prefix, int depth)
{
    cull_status status = CULL_OK;
    char        key[MOST_KEY] = "", where[CULL_RECIPE_WHERE] = "";

    if (depth > MOST_DEPTH)
        FAIL(CULL_BAD_OPTION, "%s:%lu: mappings too deep", s->events.name, line_of(s));
    TRY(next_event(s));
    while (s->events.event.type != YAML_MAPPING_END_EVENT) {
        TRY(join_key(s, prefix, key));
        cull_recipe_events_where(&s->events, line_of(s), where);
        TRY(next_event(s));
        if (s->events.event.type == YAML_MAPPING_START_EVENT) {
            if (cull_recipe_option(key))
                FAIL_ABOUT(CULL_BAD_OPTION, key, "%s: %s takes %s", where, key,
                           cull_recipe_is_layers(key) ? "a list of layers, each after a dash"
                                                      : "one value");
            TRY(take_mapping(s, key, depth + 1));
        } else if (s->events.event.type == YAML_SEQUENCE_START_EVENT) {
            TRY(cull_recipe_is_layers(key) ? take_layers(s, key, where) : take_list(s, key, where));
        } else {
            TRY(take_scalar(s, key, where));
        }
        TRY(next_event(s));
    }
done:
    return status;
}

cull_status cull_recipe_scan(const char *name, const void *yaml, size_t bytes,
                             cull_recipe_pairs *out)
{
    cull_status status = CULL_OK;
    struct scan s = {.pairs = out};

    if (bytes > MOST_BYTES)
        return cull_fail(CULL_BAD_OPTION, "%s: %zu bytes are no recipe", name, bytes);
    TRY(cull_recipe_events_open(name, true, yaml, bytes, &s.events));
    TRY(next_event(&s)); /* the stream's start */
    TRY(next_event(&s));
    if (s.events.event.type == YAML_STREAM_END_EVENT) goto done; /* nothing but defaults */
    TRY(next_event(&s));
    if (s.events.event.type == YAML_SCALAR_EVENT && s.events.event.data.scalar.length == 0) {
        TRY(next_event(&s)); /* a document of comments */
    } else {
        if (s.events.event.type != YAML_MAPPING_START_EVENT)
            FAIL(CULL_BAD_OPTION, "%s:%lu: a recipe is keys with values", name, line_of(&s));
        TRY(take_mapping(&s, "", 0));
        TRY(next_event(&s));
    }
    TRY(next_event(&s));
    if (s.events.event.type != YAML_STREAM_END_EVENT)
        FAIL(CULL_BAD_OPTION, "%s:%lu: a second document", name, line_of(&s));
done:
    cull_recipe_events_close(&s.events);
    return status;
}
