/* flags.c - parsing flags against a table, strictly. */
#include "flags.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pages/pages.h"

enum { MOST_HINT = 160, LEAST_COLUMN = 24 };

/* Keys of a recipe are no flags, but are tried as such: --epochs 3. */
static const char *as_key(const command *self, const char *word, char *out, size_t room)
{
    char   name[MOST_HINT];
    search s = {0};

    if (!strstr(self->usage, "RECIPE") || strncmp(word, "--", 2) != 0) return NULL;
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    s = nearest_key(name);
    if (!s.best || s.edits > 0) return NULL;
    (void)snprintf(out, room, "%s=VALUE", s.best);
    return out;
}

/* "-o" and "--out" */
static bool is_short_for(const char *one, const char *two)
{
    return strlen(one) == 2 && strncmp(two, "--", 2) == 0 && two[2] == one[1];
}

static int unknown_flag(const command *self, const flag *flags, const char *word)
{
    search s = {.wrong = word};
    char   where[MOST_HINT], key[MOST_HINT];

    for (const flag *f = flags; f->name; f++) try_word(&s, f->name);
    try_word(&s, "--help");
    for (const flag *f = flags; f->name && !s.best; f++)
        if (is_short_for(f->name, word) || is_short_for(word, f->name)) s.best = f->name;
    /* a flag that is spelt nearly so is meant before a key that is spelt just so */
    if (!(s.best && 3 * s.edits < strlen(word)) && as_key(self, word, key, sizeof key))
        s.best = key;
    (void)snprintf(where, sizeof where, "cull %s --help", self->name);
    return complain_near(&s, "", where, "there is no flag '%s'", word);
}

CULL_PRINTF(2, 3) static int see_help(const command *self, const char *format, ...)
{
    char    hint[MOST_HINT];
    va_list args;
    int     end = END_USAGE;

    (void)snprintf(hint, sizeof hint, "See cull %s --help.", self->name);
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

static int take_flag(const command *self, flag *f, const char *value)
{
    if (f->given) return see_help(self, "%s is given twice", f->name);
    f->given = true;
    switch (f->kind) {
    case FLAG_SWITCH: *(bool *)f->out = true; return END_WELL;
    case FLAG_TEXT:
        if (value[0] == '\0') return see_help(self, "%s is empty", f->name);
        *(const char **)f->out = value;
        return END_WELL;
    case FLAG_NUMBER:
        if (parse_number(value, f->out)) return END_WELL;
        return see_help(self, "%s takes a whole number from 0 on, not '%s'", f->name, value);
    }
    return END_FAILED;
}

/* "--name=value" and "--name value" alike; a switch takes no value. `help` is one of them, and -h
 * another word for it. */
static flag *find_flag(flag *flags, flag *help, const char *word, const char **value)
{
    const char *equals = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    size_t      length = equals ? (size_t)(equals - word) : strlen(word);
    flag       *f = flags;

    *value = equals ? equals + 1 : NULL;
    while (f->name && (strlen(f->name) != length || memcmp(f->name, word, length) != 0)) f++;
    if (f->name) return f;
    if (strcmp(word, "-h") == 0) return help;
    return length == strlen(help->name) && memcmp(help->name, word, length) == 0 ? help : NULL;
}

static int parse(const command *self, flag *flags, flag *help, int argc, char **argv, size_t *count)
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
        f = find_flag(flags, help, word, &value);
        if (!f) return unknown_flag(self, flags, word);
        if (f->kind == FLAG_SWITCH && value) return see_help(self, "%s takes no value", f->name);
        if (f->kind != FLAG_SWITCH && !value) {
            const char *ignored = NULL;
            if (i + 1 == argc || find_flag(flags, help, argv[i + 1], &ignored))
                return see_help(self, "%s needs %s behind it", f->name, f->value);
            value = argv[++i];
        }
        end = take_flag(self, f, value);
        if (end) return end;
    }
    return GO_ON;
}

/* "--out DIR" */
static void name_flag(const flag *f, char *out, size_t room)
{
    (void)snprintf(out, room, "%s%s%s", f->name, f->value ? " " : "", f->value ? f->value : "");
}

static int width_of(const flag *flags)
{
    size_t widest = LEAST_COLUMN;
    char   left[MOST_HINT];

    for (; flags->name; flags++) {
        name_flag(flags, left, sizeof left);
        if (strlen(left) > widest) widest = strlen(left);
    }
    return (int)widest;
}

static void print_flag(const flag *f, int width)
{
    char left[MOST_HINT];

    name_flag(f, left, sizeof left);
    (void)printf("  %-*s %s\n", width, left, f->doc);
}

static int print_help(const command *self, const flag *flags, const flag *help)
{
    int width = width_of(flags);

    (void)fputs(self->usage, stdout);
    for (; flags->name; flags++) print_flag(flags, width);
    print_flag(help, width);
    if (self->more) self->more(stdout);
    if (self->recipe_keys) print_recipe_keys(stdout);
    return end_output(END_WELL);
}

static int tell_tables(const command *self, const flag *flags, int argc, char **argv)
{
    if (argc > 0 && strcmp(argv[0], TABLES_OFFER) == 0)
        return pages_offer(self, flags, argc - 1, argv + 1);
    return pages_print(self, flags);
}

int take_line(const command *self, flag *flags, int argc, char **argv, size_t *count)
{
    bool asked = false;
    flag help = {"--help", FLAG_SWITCH, NULL, "this text", &asked, 0};
    int  end = END_WELL;

    if (argc > 0 && strcmp(argv[0], TABLES) == 0)
        return tell_tables(self, flags, argc - 1, argv + 1);
    end = parse(self, flags, &help, argc, argv, count);
    return end == GO_ON && asked ? print_help(self, flags, &help) : end;
}

/* ---- keys of a recipe ---- */

void describe_option(const cull_option_spec *option, char *out, size_t room)
{
    switch (option->type) {
    case CULL_OPTION_INT:
    case CULL_OPTION_REAL:
        (void)snprintf(out, room, "%.16g to %.16g", option->low, option->high);
        return;
    case CULL_OPTION_BOOL: (void)snprintf(out, room, "true|false"); return;
    case CULL_OPTION_CHOICE: (void)snprintf(out, room, "%s", option->words); return;
    case CULL_OPTION_LIST: (void)snprintf(out, room, "a list"); return;
    case CULL_OPTION_LAYERS: (void)snprintf(out, room, "a list of layers, or none"); return;
    case CULL_OPTION_TEXT:
        (void)snprintf(out, room, "%s%s", option->words ? "a " : "text",
                       option->words ? option->words : "");
        return;
    }
}

/* What model.layers may list, options with a default as key: default. */
static void print_layers(FILE *to)
{
    const cull_option_spec *option = NULL;
    const char             *layer = NULL;

    (void)fprintf(to, "\nlayers of model.layers, with their options:\n");
    for (size_t i = 0; (layer = cull_recipe_layer_at(i)); i++) {
        (void)fprintf(to, "  %s", layer);
        for (size_t k = 0; (option = cull_recipe_layer_option_at(layer, k)); k++)
            (void)fprintf(to, "%s%s%s%s", k ? ", " : ": {", option->key,
                          *option->fallback ? ": " : "", option->fallback);
        (void)fprintf(to, "%s\n      %s\n", cull_recipe_layer_option_at(layer, 0) ? "}" : "",
                      cull_recipe_layer_doc(layer));
    }
}

void print_recipe_keys(FILE *to)
{
    const cull_option_spec *option = NULL;
    char                    values[MOST_HINT];

    (void)fprintf(to, "\nkeys of a recipe, with their defaults:\n");
    for (size_t i = 0; (option = cull_recipe_option_at(i)); i++) {
        describe_option(option, values, sizeof values);
        (void)fprintf(to, "  %s=%s  (%s)\n      %s\n", option->key, option->fallback, values,
                      option->doc);
    }
    print_layers(to);
}
