/* usage.c - usage lines as a table of what a command takes. */
#include <string.h>

#include "pages/pages.h"

/* Behind blanks; where a line is broken, on the indented rest of it. */
static const char *skip(const char *at)
{
    size_t blanks = 0;

    at += strspn(at, " ");
    if (*at == '\n') blanks = strspn(at + 1, " ");
    return blanks && strncmp(at + 1 + blanks, "cull ", 5) != 0 ? at + 1 + blanks : at;
}

/* The next word of a line, without the brackets around it; false at the line's end. */
static bool next_word(const char **at, char *out, size_t room, bool *optional)
{
    size_t length = 0;

    *at = skip(*at);
    if (**at == '[') {
        *optional = true;
        ++*at;
    }
    length = strcspn(*at, " \n");
    if (length == 0) return false;
    (void)snprintf(out, room, "%.*s", (int)length, *at);
    *at += length;
    return true;
}

static bool takes_value(const flag *flags, const char *name)
{
    for (; flags->name; flags++)
        if (strcmp(flags->name, name) == 0) return flags->kind != FLAG_SWITCH;
    return false;
}

/* What stands behind a word: the end of its brackets, and that it may come again. */
static bool cut_end(char *word, const char *end)
{
    size_t length = strlen(word), tail = strlen(end);

    if (length < tail || strcmp(word + length - tail, end) != 0) return false;
    word[length - tail] = '\0';
    return true;
}

static void add(usage_line *line, const char *word, bool optional, bool repeats)
{
    if (line->count == USAGE_WORDS || !word[0]) return;
    (void)snprintf(line->word[line->count].text, USAGE_WORD, "%s", word);
    line->word[line->count].optional = optional;
    line->word[line->count++].repeats = repeats;
}

bool usage_next(const char **at, const flag *flags, usage_line *out)
{
    char word[USAGE_WORD];
    bool optional = false, of_flag = false;

    *out = (usage_line){0};
    *at += strcspn(*at, "c\n"); /* "usage: " or the blanks below it */
    if (strncmp(*at, "cull ", 5) != 0) return false;
    for (int i = 0; i < 2; i++) (void)next_word(at, word, sizeof word, &optional);
    while (next_word(at, word, sizeof word, &optional)) {
        bool ends = cut_end(word, "]"), repeats = cut_end(word, "...");

        if (word[0] == '\0' && out->count) out->word[out->count - 1].repeats = true;
        if (!of_flag && word[0] != '-' && strcmp(word, "FLAGS") != 0)
            add(out, word, optional, repeats);
        of_flag = !of_flag && word[0] == '-' && takes_value(flags, word);
        if (ends) optional = false;
    }
    *at += **at == '\n';
    return true;
}
