/* reproduce_parts.c - words and lists of the ways to do a paper's figure again. */
#include "reproduce/reproduce_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int add_word(words *all, const char *format, ...)
{
    char    text[MOST_WORD];
    va_list args;
    int     length = 0;

    va_start(args, format);
    length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof text || all->count == MOST_WORDS)
        return complain(END_FAILED, "Ask for less at once.", "the command becomes too long");
    all->word[all->count] = calloc((size_t)length + 1, 1);
    if (!all->word[all->count]) return complain(END_FAILED, "Ask for less at once.", "no memory");
    memcpy(all->word[all->count++], text, (size_t)length);
    return END_WELL;
}

void clear_words(words *all)
{
    for (size_t i = 0; i < all->count; i++) free(all->word[i]);
    *all = (words){0};
}

static size_t split(char *const *word, char *text, size_t *at, cull_option *option, size_t count)
{
    for (; word && *word && count < 2 * MOST_WORDS; word++) {
        size_t length = strlen(*word) + 1;
        char  *copy = text + *at, *equals = NULL;

        memcpy(copy, *word, length);
        *at += length;
        equals = strchr(copy, '=');
        if (equals) *equals = '\0';
        option[count++] = (cull_option){copy, equals ? equals + 1 : ""};
    }
    return count;
}

cull_status open_changed(const reproduction *r, char *const *more, cull_recipe **out)
{
    cull_option option[2 * MOST_WORDS];
    char       *text = NULL;
    size_t      count = 0, at = 0, bytes = 1;
    cull_status status = CULL_OK;

    for (size_t i = 0; i < r->changes.count; i++) bytes += strlen(r->changes.word[i]) + 1;
    for (size_t i = 0; more && more[i]; i++) bytes += strlen(more[i]) + 1;
    text = calloc(bytes, 1);
    if (!text) return cull_fail(CULL_NO_MEMORY, "no memory for a recipe");
    count = split(r->changes.word, text, &at, option, 0);
    count = split(more, text, &at, option, count);
    status = cull_recipe_open(r->recipe, option, count, out);
    free(text);
    return status;
}

bool list_part(const char *list, size_t i, char *out, size_t room)
{
    for (; i > 0; i--) {
        list = strchr(list, ',');
        if (!list) return false;
        list++;
    }
    (void)snprintf(out, room, "%.*s", (int)strcspn(list, ","), list);
    return true;
}

/* The default of an option of a strategy that is written with others; NULL: it has none. */
static const char *default_of(const char *strategy, const char *key)
{
    char                    name[64];
    const cull_strategy    *found = NULL;
    const cull_option_spec *spec = NULL;

    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(strategy, " "), strategy);
    found = cull_strategy_find(name);
    for (size_t i = 0; found && (spec = cull_strategy_option_at(found, i)); i++)
        if (strcmp(spec->key, key) == 0) return spec->fallback;
    return NULL;
}

void scaled_strategy(const reproduction *r, const char *strategy, char *out, size_t room)
{
    const char *period = default_of(strategy, "period"), *given = strstr(strategy, " period=");
    char       *rest = NULL;
    double      epochs = 0;
    size_t      before = given ? (size_t)(given - strategy) : strlen(strategy);

    if (!period || r->scale == 1) {
        (void)snprintf(out, room, "%s", strategy);
        return;
    }
    epochs = strtod(given ? given + strlen(" period=") : period, &rest);
    (void)snprintf(out, room, "%.*s period=%.0f%s", (int)before, strategy,
                   fmax(1, round(epochs * r->scale)), given ? rest : "");
}

int add_strategy(words *all, const char *strategy)
{
    char  copy[MOST_WORD / 2], name[64] = "", *rest = NULL;
    int   end = END_WELL;
    char *word = NULL;

    (void)snprintf(copy, sizeof copy, "%s", strategy);
    for (word = strtok_r(copy, " ", &rest); word && !end; word = strtok_r(NULL, " ", &rest)) {
        size_t length = strlen(name);

        if (strchr(word, '='))
            end = add_word(all, "select.%s", word);
        else
            (void)snprintf(name + length, sizeof name - length, "%s%s", length ? " " : "", word);
    }
    return end ? end : add_word(all, "select.strategy=%s", name);
}
