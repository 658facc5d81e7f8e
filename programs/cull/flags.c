/* flags.c - parsing flags against a table, strictly. */
#include "flags.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FLAGS = 64, MOST_HINT = 160 };

static int unknown_flag(const char *command, const flag *flags, const char *word)
{
    const char *names[MOST_FLAGS] = {NULL};
    char        hint[MOST_HINT];
    const char *near = NULL;
    size_t      count = 0;

    for (const flag *f = flags; f->name && count < MOST_FLAGS - 1; f++) names[count++] = f->name;
    near = nearest(word, names);
    (void)snprintf(hint, sizeof hint, "%s%s%sSee cull %s --help.", near ? "Did you mean " : "",
                   near ? near : "", near ? "? " : "", command);
    return complain(END_USAGE, hint, "there is no flag '%s'", word);
}

CULL_PRINTF(2, 3) static int see_help(const char *command, const char *format, ...)
{
    char    hint[MOST_HINT];
    va_list args;
    int     end = END_USAGE;

    (void)snprintf(hint, sizeof hint, "See cull %s --help.", command);
    va_start(args, format);
    end = complain_list(END_USAGE, hint, format, args);
    va_end(args);
    return end;
}

/* strtoull takes signs and spaces; a count has neither. */
static bool parse_number(const char *text, uint64_t *out)
{
    char *end = NULL;

    if (text[0] < '0' || text[0] > '9') return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

static int take_flag(const char *command, flag *f, const char *value)
{
    if (f->given) return see_help(command, "%s is given twice", f->name);
    f->given = true;
    switch (f->kind) {
    case FLAG_SWITCH: *(bool *)f->out = true; return END_WELL;
    case FLAG_TEXT:
        if (value[0] == '\0') return see_help(command, "%s is empty", f->name);
        *(const char **)f->out = value;
        return END_WELL;
    case FLAG_NUMBER:
        if (parse_number(value, f->out)) return END_WELL;
        return see_help(command, "%s takes a whole number from 0 on, not '%s'", f->name, value);
    }
    return END_FAILED;
}

/* "--name=value" and "--name value" alike; a switch takes no value. */
static flag *find_flag(flag *flags, const char *word, const char **value)
{
    const char *equals = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    size_t      length = equals ? (size_t)(equals - word) : strlen(word);

    *value = equals ? equals + 1 : NULL;
    for (flag *f = flags; f->name; f++)
        if (strlen(f->name) == length && memcmp(f->name, word, length) == 0) return f;
    return NULL;
}

int parse_flags(const char *command, flag *flags, int argc, char **argv, size_t *count)
{
    bool only_words = false;

    *count = 0;
    for (int i = 0; i < argc; i++) {
        char       *word = argv[i];
        const char *value = NULL;
        flag       *f = NULL;
        int         end = END_WELL;

        if (only_words || word[0] != '-' || word[1] == '\0') {
            argv[(*count)++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            only_words = true;
            continue;
        }
        f = find_flag(flags, word, &value);
        if (!f) return unknown_flag(command, flags, word);
        if (f->kind == FLAG_SWITCH && value) return see_help(command, "%s takes no value", f->name);
        if (f->kind != FLAG_SWITCH && !value) {
            const char *ignored = NULL;
            if (i + 1 == argc || find_flag(flags, argv[i + 1], &ignored))
                return see_help(command, "%s needs %s behind it", f->name, f->value);
            value = argv[++i];
        }
        end = take_flag(command, f, value);
        if (end) return end;
    }
    return END_WELL;
}

void print_flags(FILE *to, const flag *flags)
{
    for (; flags->name; flags++) {
        char left[MOST_HINT];
        (void)snprintf(left, sizeof left, "%s%s%s", flags->name, flags->value ? " " : "",
                       flags->value ? flags->value : "");
        (void)fprintf(to, "  %-24s %s\n", left, flags->doc);
    }
}
