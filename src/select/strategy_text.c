/*
 * select/strategy_text.c - a strategy with its modifier and options, as a user writes it.
 *
 *     text     = head { blank key=value }
 *     head     = name [ (blank | '+') modifier ]    or    path, which has a slash
 *
 * An option's key has no slash, so that a path may hold '='.
 */
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "select/select.h"

#define BLANKS " \t"

/* The word that begins here, its brackets with what is between them; ends before a blank. */
static size_t length_of(const char *word)
{
    size_t length = 0;

    for (int depth = 0; word[length] && (depth > 0 || !strchr(BLANKS, word[length])); length++)
        depth += (word[length] == '[') - (word[length] == ']');
    return length;
}

static bool is_option(const char *word, size_t length)
{
    const char *equals = memchr(word, '=', length);

    return equals && !memchr(word, '/', (size_t)(equals - word));
}

/* The letters before the first option, without blanks behind them; *words: what follows. */
static size_t length_of_head(const char *text, const char **words)
{
    const char *end = text;

    for (*words = text; **words; *words += strspn(*words, BLANKS)) {
        size_t length = length_of(*words);

        if (is_option(*words, length)) break;
        end = *words += length;
    }
    return (size_t)(end - text);
}

/* "sb remembered" and "sb+remembered" in place; a path stays as it is. */
static cull_status split_head(cull_strategy_text *t)
{
    cull_status status = CULL_OK;
    size_t      length = strcspn(t->name, BLANKS "+");

    t->modifier = "";
    if (t->name[0] == '\0') FAIL(CULL_BAD_OPTION, "a strategy's name is needed");
    if (strchr(t->name, '/') || t->name[length] == '\0') goto done;
    t->name[length] = '\0';
    t->modifier = t->name + length + 1;
    t->modifier += strspn(t->modifier, BLANKS);
    if (strcmp(t->modifier, "stale") != 0 && strcmp(t->modifier, "remembered") != 0)
        FAIL(CULL_BAD_OPTION, "'%.40s' is no modifier: stale and remembered are", t->modifier);
done:
    return status;
}

static cull_status take_options(cull_strategy_text *t, char *words)
{
    cull_status status = CULL_OK;

    while (*words) {
        size_t length = length_of(words);
        char  *next = words + length;

        if (!is_option(words, length))
            FAIL(CULL_BAD_OPTION, "'%.*s': a modifier stands before the options", (int)length,
                 words);
        next += strspn(next, BLANKS);
        words[length] = '\0';
        t->option[t->options].key = words;
        words = strchr(words, '=');
        *words = '\0';
        t->option[t->options++].value = words + 1;
        words = next;
    }
done:
    return status;
}

cull_status cull_strategy_text_read(const char *text, cull_strategy_text *out)
{
    cull_status        status = CULL_OK;
    cull_strategy_text t = {0}, room, *given = out;
    const char        *words = NULL;
    size_t             head = 0, most = 1, letters = 0;

    SIZED_RESULT(cull_strategy_text, out, room);
    text = text ? text + strspn(text, BLANKS) : "";
    head = length_of_head(text, &words);
    letters = strlen(words);
    for (const char *at = words; *at; at++) most += *at == '=';
    TRY(cull_base_alloc(head + letters + 2, 1, "a strategy", &t.name));
    TRY(cull_base_alloc(most, sizeof *t.option, "a strategy", &t.option));
    memcpy(t.name, text, head);
    memcpy(t.name + head + 1, words, letters);
    TRY(split_head(&t));
    TRY(take_options(&t, t.name + head + 1));
    *out = t;
    t = (cull_strategy_text){0};
    cull_sized_give(given, out, sizeof *out);
done:
    cull_strategy_text_clear(&t);
    return status;
}

void cull_strategy_text_clear(cull_strategy_text *text)
{
    cull_strategy_text held;

    if (cull_sized_read("cull_strategy_text", text, sizeof held, &held) != CULL_OK) return;
    cull_base_free(held.name);
    cull_base_free(held.option);
    cull_sized_clear(text, sizeof *text);
}

const char *cull_strategy_text_value(const cull_strategy_text *text, const char *key)
{
    for (size_t i = 0; i < text->options; i++)
        if (strcmp(text->option[i].key, key) == 0) return text->option[i].value;
    return NULL;
}

size_t cull_strategy_text_write(const cull_strategy_text *text, char *out, size_t room)
{
    size_t length = (size_t)snprintf(out, room, "%s%s%s", text->name, text->modifier[0] ? " " : "",
                                     text->modifier);

    for (size_t i = 0; i < text->options; i++) {
        size_t at = length < room ? length : room;

        length += (size_t)snprintf(out + at, room - at, " %s=%s", text->option[i].key,
                                   text->option[i].value);
    }
    return length;
}

cull_status cull_sel_strategy_open(const char *text, const cull_strategy **out, void **plugin,
                                   const char **modifier)
{
    cull_status        status = CULL_OK;
    cull_strategy_text t = {0};

    TRY(cull_strategy_text_read(text, &t));
    if (t.options)
        FAIL_ABOUT(CULL_BAD_OPTION, t.option[0].key,
                   "'%s=%.40s' is no modifier: stale and remembered are", t.option[0].key,
                   t.option[0].value);
    *modifier = strcmp(t.modifier, "stale") == 0 ? "stale" : t.modifier[0] ? "remembered" : NULL;
    if (strchr(t.name, '/'))
        TRY(cull_sel_plugin_open(t.name, plugin, out));
    else if (!(*out = cull_strategy_find(t.name)))
        FAIL_ABOUT(CULL_UNKNOWN_STRATEGY, t.name, "no strategy is called '%.40s'", t.name);
done:
    cull_strategy_text_clear(&t);
    return status;
}
