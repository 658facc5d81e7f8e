/*
 * complete.c - cull complete WORD...: what the last word of a line may become, for shells.
 *
 * The words are those behind "cull". A line of the answer is a word, a tab and what it is; one that
 * ends in '=', ',' or '/' goes on. Which words a command takes is read from its usage lines and its
 * flags; programs/completion/ has the shells' side, which knows nothing of cull.
 */
#include <string.h>

#include "pages/pages.h"

enum { MOST_GIVEN = 64 };

/* What is on the line already. */
struct line {
    const flag *flags;
    const flag *open; /* whose value is being typed; NULL: none */
    const char *word[MOST_GIVEN];
    size_t      words; /* without flags, values and changes */
    const char *strategy, *given[MOST_GIVEN];
    size_t      givens; /* flags */
    bool        only_words, changed;
    const char *told; /* the kind of an earlier usage line for this place; NULL: none */
};

static const flag *find(const flag *flags, const char *name, size_t length)
{
    for (; flags->name; flags++)
        if (strlen(flags->name) == length && strncmp(flags->name, name, length) == 0) return flags;
    return NULL;
}

static void take_word(struct line *l, const char *word)
{
    static const char key[] = "select.strategy=";

    if (strncmp(word, key, strlen(key)) == 0) l->strategy = word + strlen(key);
    if (strchr(word, '='))
        l->changed = true;
    else if (l->words < MOST_GIVEN)
        l->word[l->words++] = word;
}

static void take_value(struct line *l, const flag *f, const char *value)
{
    if (f->value && strcmp(f->value, "STRATEGY") == 0) l->strategy = value;
}

/* All words but the last. */
static void read_line(struct line *l, int argc, char **argv)
{
    for (int i = 0; i + 1 < argc; i++) {
        const char *word = argv[i];
        const flag *f = find(l->flags, word, strcspn(word, "="));

        if (l->only_words || word[0] != '-') {
            take_word(l, word);
        } else if (strcmp(word, "--") == 0) {
            l->only_words = true;
        } else if (f) {
            if (l->givens < MOST_GIVEN) l->given[l->givens++] = f->name;
            if (f->kind == FLAG_SWITCH || strchr(word, '=')) continue;
            if (i + 2 == argc) l->open = f;
            if (++i + 1 < argc) take_value(l, f, argv[i]);
        }
    }
}

static void offer_flags(const struct line *l, const asking *a)
{
    for (const flag *f = l->flags; f->name; f++) {
        bool given = false;

        for (size_t i = 0; i < l->givens; i++) given = given || strcmp(l->given[i], f->name) == 0;
        if (!given) offer(a, f->name, f->doc);
    }
    offer(a, "--help", "what the command does, and all of its flags");
}

/* Small letters alone: a word that is meant as it stands. */
static bool is_literal(const char *word)
{
    return word[strspn(word, "abcdefghijklmnopqrstuvwxyz-")] == '\0';
}

static bool fits(const struct line *l, const usage_line *u)
{
    for (size_t i = 0; i < l->words && i < u->count; i++)
        if (is_literal(u->word[i].text) && strcmp(u->word[i].text, l->word[i]) != 0) return false;
    return true;
}

/* Folders are among the paths that were offered before. */
static bool is_told(const struct line *l, const char *kind)
{
    if (!l->told) return false;
    return strcmp(l->told, kind) == 0 || strcmp(kind, "RUN") == 0 || strcmp(kind, "DIR") == 0;
}

static bool takes_recipe(const command *self)
{
    return strstr(self->usage, "RECIPE") || strstr(self->usage, "CHECKPOINT") ||
           strstr(self->usage, "RUN");
}

/* The word of a usage line whose turn it is, and changes, which may stand anywhere: before anything
 * else is there, only when they are being typed. */
static void offer_usage(const command *self, struct line *l, const usage_line *u, const asking *a)
{
    size_t at = l->words;

    if (u->count && at >= u->count && u->word[u->count - 1].repeats) at = u->count - 1;
    if (at < u->count && strcmp(u->word[at].text, "key=value") != 0) {
        const char *kind = u->word[at].text;

        if (is_literal(kind))
            offer(a, kind, "");
        else if (!is_told(l, kind))
            offer_kind(a, kind);
        if (strpbrk(kind, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) l->told = "DIR";
    }
    for (size_t i = 0; i < u->count; i++) {
        bool now = l->words > 0 || l->changed || a->typed[0] || u->word[0].optional;

        if (strcmp(u->word[i].text, "key=value") != 0 || !now) continue;
        if (takes_recipe(self))
            offer_keys(a, l->strategy);
        else
            offer_options(a, l->strategy);
    }
}

int pages_offer(const command *self, const flag *flags, int argc, char **argv)
{
    struct line l = {.flags = flags};
    asking      a = {.typed = argc ? argv[argc - 1] : ""};
    const char *equals = strchr(a.typed, '='), *at = self->usage;
    const flag *f = NULL;
    usage_line  u;

    read_line(&l, argc, argv);
    if (a.typed[0] == '-' && equals) f = find(flags, a.typed, (size_t)(equals - a.typed));
    if (l.open) {
        if (l.open->value) offer_kind(&a, l.open->value);
    } else if (!l.only_words && f) {
        a.before = (size_t)(equals - a.typed) + 1;
        if (f->value) offer_kind(&a, f->value);
    } else if (!l.only_words && a.typed[0] == '-') {
        offer_flags(&l, &a);
    } else {
        while (usage_next(&at, flags, &u))
            if (fits(&l, &u)) offer_usage(self, &l, &u, &a);
    }
    return end_output(END_WELL);
}

int pages_complete(int argc, char **argv)
{
    asking a = {.typed = argc ? argv[0] : ""};
    char  *words[2 * MOST_GIVEN] = {TABLES, TABLES_OFFER};
    int    count = 2;

    if (argc <= 1) {
        offer_kind(&a, "COMMAND");
        offer(&a, "--help", "what there is");
        offer(&a, "--version", "the version");
        return end_output(END_WELL);
    }
    for (int i = 1; i < argc && count < 2 * MOST_GIVEN - 1; i++) words[count++] = argv[i];
    for (size_t i = 0; command_at(i); i++)
        if (strcmp(command_at(i)->name, argv[0]) == 0) return command_at(i)->run(count, words);
    return END_WELL;
}
