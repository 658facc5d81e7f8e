/* reproduce_parts.c - words and lists of the ways to do a paper's figure again. */
#include "reproduce/reproduce_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare/compare_parts.h"

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

int open_changed(const reproduction *r, const words *more, cull_recipe **out)
{
    char       *word[2 * MOST_WORDS];
    const char *path = r->recipe;
    changes     all = {0};
    size_t      count = 0;
    int         end = END_WELL;

    for (size_t i = 0; i < r->changes.count; i++) word[count++] = r->changes.word[i];
    for (size_t i = 0; more && i < more->count; i++) word[count++] = more->word[i];
    end = take_changes("reproduce", "Changes", word, count, &all, &path);
    if (!end) end = complain_run(cull_recipe_open(path, all.option, all.count, out));
    clear_changes(&all);
    return end;
}

const char *missing_of(const cull_recipe *recipe, bool *path)
{
    static const char *const paths[] = {"data.name", "data.tokenizer", "model.path"};

    const char       *name = cull_recipe_value(recipe, "data.name");
    const char       *root = cull_recipe_value(recipe, "data.root");
    cull_data_listing listing = {0};
    bool              listed = false;

    for (size_t i = 0; !listed && cull_data_list(root[0] ? root : NULL, i, &listing); i++)
        listed = strcmp(listing.name, name) == 0;
    *path = false;
    if (listed && !(listing.train && listing.test)) return name;
    *path = true;
    for (size_t i = listed; i < sizeof paths / sizeof *paths; i++) {
        const char *value = cull_recipe_value(recipe, paths[i]);

        if (value[0] && access(value, R_OK) != 0) return value;
    }
    return NULL;
}

bool list_part(const char *list, size_t i, char *out, size_t room)
{
    size_t      length = 0;
    const char *item = cull_list_next(&list, &length);

    for (; item && i > 0; i--) item = cull_list_next(&list, &length);
    if (item) (void)snprintf(out, room, "%.*s", (int)length, item);
    return item != NULL;
}

int add_scaled(words *all, const char *key, const char *list, double scale)
{
    char  text[MOST_WORD / 2] = "", part[64];
    char *rest = NULL;

    for (size_t i = 0; list[0] && list_part(list, i, part, sizeof part); i++) {
        size_t length = strlen(text);
        (void)snprintf(text + length, sizeof text - length, "%s%.6g", i ? "," : "",
                       strtod(part, &rest) * scale);
    }
    return text[0] ? add_word(all, "%s=%s", key, text) : END_WELL;
}

int scaled_strategy(const reproduction *r, const char *strategy, char *out, size_t room)
{
    double                  scale = r->state.scale.epochs;
    const cull_strategy    *found = cull_strategy_of(strategy);
    const cull_option_spec *period = found ? cull_strategy_option(found, "period") : NULL;
    cull_strategy_text      text = {0};
    const char             *given = NULL;
    char                    number[32], *rest = NULL;
    size_t                  length = 0;

    if (cull_strategy_text_read(strategy, &text)) return complain_status(CULL_BAD_OPTION);
    given = cull_strategy_text_value(&text, "period");
    if (period && scale != 1) {
        double epochs = strtod(given ? given : period->fallback, &rest);

        (void)snprintf(number, sizeof number, "%.0f", fmax(1, round(epochs * scale)));
        for (size_t i = 0; i < text.options; i++)
            if (text.option[i].value == given) text.option[i].value = number;
    }
    length = cull_strategy_text_write(&text, out, room);
    if (period && scale != 1 && !given && length < room)
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

bool must_end(const reproduction *r)
{
    return compare_asked_to_end() || (r->until > 0 && compare_now() > r->until);
}

int put_points(const reproduction *r, const cull_point *point, size_t count, bool anew)
{
    if (cull_points_write(r->state.folder, point, count, anew) == CULL_OK) return END_WELL;
    return complain_last(END_FAILED, "Give another --out.");
}
