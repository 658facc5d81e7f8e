/* candidates.c - what a word that is being typed may become. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cull_lab.h"
#include "pages/pages.h"
#include "train/run_parts.h"

enum { MOST_PATH = 1024 };

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

void offer(const asking *a, const char *word, const char *what)
{
    if (!begins(word, a->typed + a->before)) return;
    (void)printf("%.*s%s\t%s\n", (int)a->before, a->typed, word, what);
}

/* ---- names ---- */

static void offer_strategies(const asking *a)
{
    const cull_strategy *s = NULL;

    for (size_t i = 0; (s = cull_strategy_at(i)); i++) {
        static const struct {
            unsigned    trait;
            const char *name;
        } modifiers[] = {{CULL_TAKES_STALE, "stale"}, {CULL_TAKES_REMEMBERED, "remembered"}};

        offer(a, s->name, s->doc);
        for (size_t k = 0; k < sizeof modifiers / sizeof *modifiers; k++) {
            char modified[USAGE_WORD];

            (void)snprintf(modified, sizeof modified, "%s %s", s->name, modifiers[k].name);
            /* only where a name is there to be modified */
            if (s->traits & modifiers[k].trait && begins(a->typed + a->before, s->name))
                offer(a, modified, s->doc);
        }
    }
}

static void offer_sets(const asking *a)
{
    cull_data_listing set = {0};

    for (size_t i = 0; cull_data_list(NULL, i, &set); i++) offer(a, set.name, set.doc);
}

static void offer_models(const asking *a)
{
    for (size_t i = 0; cull_model_name_at(i); i++) offer(a, cull_model_name_at(i), "a model");
}

static void offer_figures(const asking *a)
{
    const cull_reproduction *figure = NULL;

    for (size_t i = 0; (figure = cull_reproduction_at(i)); i++)
        offer(a, figure->name, figure->title);
}

static void offer_commands(const asking *a)
{
    for (size_t i = 0; command_at(i); i++) offer(a, command_at(i)->name, command_at(i)->doc);
}

/* "a|b|c" */
static void offer_words(const asking *a, const char *words)
{
    while (*words) {
        size_t length = strcspn(words, "|");
        char   word[USAGE_WORD];

        (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(words, "|["), words);
        offer(a, word, "");
        words += length + (words[length] == '|');
    }
}

/* ---- paths ---- */

static bool is_folder(const char *folder, const char *name)
{
    char        path[MOST_PATH];
    struct stat info = {0};

    (void)snprintf(path, sizeof path, "%.600s/%.300s", folder, name);
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Files that end so, and folders, which lead on. end NULL: no files. */
static void offer_paths(const asking *a, const char *end)
{
    const char          *typed = a->typed + a->before, *slash = strrchr(typed, '/');
    size_t               length = slash ? (size_t)(slash - typed) + 1 : 0;
    const char          *home = begins(typed, "~/") ? getenv("HOME") : NULL;
    char                 folder[MOST_PATH], word[MOST_PATH];
    const struct dirent *file = NULL;
    DIR                 *all = NULL;

    (void)snprintf(folder, sizeof folder, "%.300s%.*s", home ? home : "",
                   (int)(length - (home ? 1 : 0)), typed + (home ? 1 : 0));
    all = opendir(folder[0] ? folder : ".");
    while (all && (file = readdir(all))) {
        bool hidden = file->d_name[0] == '.' && typed[length] != '.';
        bool leads = is_folder(folder[0] ? folder : ".", file->d_name);

        if (hidden || strcmp(file->d_name, ".") == 0 || strcmp(file->d_name, "..") == 0) continue;
        if (!leads && !(end && ends_in(file->d_name, end))) continue;
        (void)snprintf(word, sizeof word, "%.*s%s%s", (int)length, typed, file->d_name,
                       leads ? "/" : "");
        offer(a, word, leads ? "folder" : "file");
    }
    if (all) (void)closedir(all);
}

static void offer_recipe(void *context, const char *folder, const char *name)
{
    (void)folder;
    offer(context, name, "a recipe that was installed");
}

/* ---- kinds ---- */

/* Any number of a kind: the last is being typed. */
static void offer_list(const asking *a, const char *kind)
{
    const char *comma = strrchr(a->typed + a->before, ',');
    asking      last = *a;
    char        one[USAGE_WORD];

    if (comma) last.before = (size_t)(comma - a->typed) + 1;
    (void)snprintf(one, sizeof one, "%.*s", (int)strcspn(kind, ","), kind);
    offer_kind(&last, one);
}

void offer_kind(const asking *a, const char *kind)
{
    if (ends_in(kind, ",...")) {
        offer_list(a, kind);
    } else if (strchr(kind, '|')) {
        offer_words(a, kind);
    } else if (strcmp(kind, "STRATEGY") == 0) {
        offer_strategies(a);
    } else if (strcmp(kind, "MODEL") == 0) {
        offer_models(a);
    } else if (strcmp(kind, "FIGURE") == 0) {
        offer_figures(a);
    } else if (strcmp(kind, "COMMAND") == 0) {
        offer_commands(a);
    } else if (strcmp(kind, "SET") == 0 || strcmp(kind, "DATA") == 0) {
        offer_sets(a);
        offer_paths(a, "");
    } else if (begins(kind, "RECIPE")) {
        offer_paths(a, ".yaml");
        each_recipe((void *)(uintptr_t)a, offer_recipe);
    } else if (strcmp(kind, "CHECKPOINT") == 0) {
        offer_paths(a, ".safetensors");
    } else if (strcmp(kind, "DIR") == 0 || strcmp(kind, "RUN") == 0) {
        offer_paths(a, NULL);
    } else if (begins(kind, "FILE")) {
        offer_paths(a, kind + strlen("FILE"));
    }
}

/* What the value of an option may be; numbers are left to who types. */
static void offer_values(const asking *a, const cull_option_spec *option)
{
    static const struct {
        const char *word, *kind;
    } kinds[] = {{"set", "SET"},
                 {"model", "MODEL"},
                 {"strategy", "STRATEGY"},
                 {"file", "FILE"},
                 {"folder", "DIR"}};

    if (option->type == CULL_OPTION_BOOL) offer_words(a, "true|false");
    if (option->type == CULL_OPTION_TEXT) {
        for (size_t i = 0; option->words && i < sizeof kinds / sizeof *kinds; i++)
            if (strcmp(option->words, kinds[i].word) == 0) offer_kind(a, kinds[i].kind);
    } else if (option->words) {
        offer_words(a, option->words);
    }
}

/* "key=", or what comes behind that. section: before the option's own key. */
static void offer_option(const asking *a, const char *section, const cull_option_spec *option)
{
    char   key[2 * USAGE_WORD];
    asking value = *a;
    size_t length = (size_t)snprintf(key, sizeof key, "%s%s=", section, option->key);

    if (length < sizeof key && begins(a->typed + a->before, key)) {
        value.before += length;
        offer_values(&value, option);
    } else if (length < sizeof key) {
        offer(a, key, option->doc);
    }
}

/* Is the option one of an earlier strategy too? Then it was offered. */
static bool is_told(size_t strategies, const char *key)
{
    for (size_t i = 0; i < strategies; i++)
        if (cull_strategy_option(cull_strategy_at(i), key)) return true;
    return false;
}

static void offer_section(const asking *a, const char *section, const char *name)
{
    const cull_strategy    *s = name ? cull_strategy_of(name) : NULL, *one = s;
    const cull_option_spec *option = NULL;

    for (size_t i = 0; s ? i == 0 : (one = cull_strategy_at(i)) != NULL; i++)
        for (size_t k = 0; (option = cull_strategy_option_at(one, k)); k++)
            if (s || !is_told(i, option->key)) offer_option(a, section, option);
}

void offer_options(const asking *a, const char *strategy)
{
    offer_section(a, "", strategy);
}

void offer_keys(const asking *a, const char *strategy)
{
    const cull_option_spec *option = NULL;

    for (size_t i = 0; (option = cull_recipe_option_at(i)); i++) offer_option(a, "", option);
    offer_section(a, "select.", strategy);
}
