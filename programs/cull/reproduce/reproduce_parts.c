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
    size_t      length = 0;
    const char *item = cull_list_next(&list, &length);

    for (; item && i > 0; i--) item = cull_list_next(&list, &length);
    if (item) (void)snprintf(out, room, "%.*s", (int)length, item);
    return item != NULL;
}

int scaled_strategy(const reproduction *r, const char *strategy, char *out, size_t room)
{
    const cull_strategy    *found = cull_strategy_of(strategy);
    const cull_option_spec *period = found ? cull_strategy_option(found, "period") : NULL;
    cull_strategy_text      text = {0};
    const char             *given = NULL;
    char                    number[32], *rest = NULL;
    size_t                  length = 0;

    if (cull_strategy_text_read(strategy, &text)) return complain_status(CULL_BAD_OPTION);
    given = cull_strategy_text_value(&text, "period");
    if (period && r->scale != 1) {
        double epochs = strtod(given ? given : period->fallback, &rest);

        (void)snprintf(number, sizeof number, "%.0f", fmax(1, round(epochs * r->scale)));
        for (size_t i = 0; i < text.options; i++)
            if (text.option[i].value == given) text.option[i].value = number;
    }
    length = cull_strategy_text_write(&text, out, room);
    if (period && r->scale != 1 && !given && length < room)
        (void)snprintf(out + length, room - length, " period=%s", number);
    cull_strategy_text_clear(&text);
    return END_WELL;
}

int add_strategy(words *all, const char *strategy)
{
    cull_strategy_text text = {0};
    char               name[MOST_WORD / 2];
    int                end = END_WELL;

    if (cull_strategy_text_read(strategy, &text)) return complain_status(CULL_BAD_OPTION);
    for (size_t i = 0; i < text.options && !end; i++)
        end = add_word(all, "select.%s=%s", text.option[i].key, text.option[i].value);
    text.options = 0;
    (void)cull_strategy_text_write(&text, name, sizeof name);
    cull_strategy_text_clear(&text);
    return end ? end : add_word(all, "select.strategy=%s", name);
}

double option_of(const char *strategy, const char *key, double otherwise)
{
    cull_strategy_text text = {0};
    const char        *given = NULL;
    double             value = otherwise;
    char              *rest = NULL;

    if (cull_strategy_text_read(strategy, &text)) return otherwise;
    given = cull_strategy_text_value(&text, key);
    if (given) value = strtod(given, &rest);
    cull_strategy_text_clear(&text);
    return value;
}
