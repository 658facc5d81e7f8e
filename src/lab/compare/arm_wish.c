/* lab/compare/arm_wish.c - what a user asks for, as text: strategies with their options, shares to
 * keep. */
#include "lab/compare/arm_wish.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"

/* The next word, ended in place; a list in brackets is one with its blanks. NULL: none. */
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t"), *end = word;

    if (!*word) return NULL;
    for (int depth = 0; *end && (depth > 0 || (*end != ' ' && *end != '\t')); end++)
        depth += (*end == '[') - (*end == ']');
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

/* What is otherwise the same for all, given for this one. */
static cull_status take_own(const cull_arm_asked *a, const char *key, const char *value,
                            const char **out)
{
    if (*out) return cull_fail(CULL_BAD_OPTION, "%s: %s is given twice", a->strategy, key);
    *out = value;
    return CULL_OK;
}

static cull_status take_words(cull_arm_asked *a)
{
    cull_status status = CULL_OK;
    char       *rest = a->text, *word = NULL;

    while ((word = next_word(&rest))) {
        char  *equals = strchr(word, '=');
        size_t length = strlen(a->strategy);

        if (!equals) {
            if (a->options || a->keep || a->pass)
                FAIL(CULL_BAD_OPTION, "'%s': a modifier stands before the options", word);
            (void)snprintf(a->strategy + length, sizeof a->strategy - length, "%s%s",
                           length ? " " : "", word);
            continue;
        }
        if (a->options == CULL_ARM_OPTIONS - 4) FAIL(CULL_BAD_OPTION, "too many options");
        *equals = '\0';
        if (strcmp(word, "keep") == 0)
            TRY(take_own(a, word, equals + 1, &a->keep));
        else if (strcmp(word, "score.pass") == 0)
            TRY(take_own(a, word, equals + 1, &a->pass));
        else
            a->option[a->options++] = (cull_option){word, equals + 1};
    }
    if (!a->strategy[0]) FAIL(CULL_BAD_OPTION, "a strategy is missing between two commas");
    for (char *at = a->strategy; *at && !strchr(a->strategy, '/'); at++)
        if (*at == '+') *at = ' ';
done:
    return status;
}

/* Up to the next comma outside of brackets. */
static size_t length_of_item(const char *text)
{
    size_t length = 0;

    for (int depth = 0; text[length] && (depth > 0 || text[length] != ','); length++)
        depth += (text[length] == '[') - (text[length] == ']');
    return length;
}

bool cull_arm_next(const char **rest, char *out, size_t room)
{
    size_t length = 0;

    if (!*rest) return false;
    length = length_of_item(*rest);
    (void)snprintf(out, room, "%.*s", (int)(length < room ? length : room - 1), *rest);
    *rest = (*rest)[length] ? *rest + length + 1 : NULL;
    return true;
}

cull_status cull_arm_read_keeps(const char *text, double keep[CULL_ARM_KEEPS], size_t *count)
{
    cull_status status = CULL_OK;
    char        item[64];

    *count = 0;
    while (cull_arm_next(&text, item, sizeof item)) {
        if (*count == CULL_ARM_KEEPS)
            FAIL(CULL_BAD_OPTION, "more than %d shares to keep", CULL_ARM_KEEPS);
        if (!cull_base_read_number(item, &keep[*count]) || !(keep[*count] > 0) || keep[*count] > 1)
            FAIL(CULL_BAD_OPTION, "keep: '%s' is no share above 0 and up to 1", item);
        (*count)++;
    }
done:
    return status;
}

cull_status cull_arm_read(const char **rest, cull_arm_asked *out, bool *there)
{
    cull_status status = CULL_OK;

    *out = (cull_arm_asked){.keep = NULL};
    if (*rest && length_of_item(*rest) >= sizeof out->text)
        FAIL(CULL_BAD_OPTION, "'%.40s...': a strategy has at most %zu letters, options included",
             *rest, sizeof out->text - 1);
    *there = cull_arm_next(rest, out->text, sizeof out->text);
    if (*there) TRY(take_words(out));
done:
    return status;
}
