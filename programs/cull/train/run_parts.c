/* run_parts.c - changes to recipes, complaints about runs, the keys as help. */
#include "train/run_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_TEXT = 256, MOST_FOLDER = 1200 };

/* How many brackets a word leaves open, less those it closes. */
static int brackets(const char *word)
{
    int open = 0;

    for (; *word; word++) open += (*word == '[') - (*word == ']');
    return open;
}

/* Copies words[*i]; and, where a shell cut a list as [60, 120] at its blanks, the rest of it, of
 * which *i becomes the last. */
static void take_word(char *const *words, size_t count, size_t *i, char *to)
{
    const char *equals = strchr(words[*i], '=');
    size_t      last = *i;
    int         open = brackets(words[*i]);

    if (equals && equals[1] == '[')
        while (open > 0 && ++last < count) open += brackets(words[last]);
    if (last == count) last = *i; /* it is never closed, and refused as it stands */
    to = stpcpy(to, words[*i]);
    while (*i < last) {
        *to++ = ' ';
        to = stpcpy(to, words[++*i]);
    }
}

int take_changes(const char *name, const char *what, char *const *words, size_t count, changes *out,
                 const char **path)
{
    size_t bytes = 1;
    char  *next = NULL, hint[MOST_TEXT];

    for (size_t i = 0; i < count; i++) bytes += strlen(words[i]) + 1;
    out->option = calloc(count + 1, sizeof *out->option);
    out->text = next = calloc(bytes, 1);
    if (!out->option || !next) return complain(END_FAILED, "Give fewer arguments.", "no memory");
    for (size_t i = 0; i < count; i++) {
        char  *equals = NULL;
        size_t length = 0;

        take_word(words, count, &i, next);
        length = strlen(next);
        equals = strchr(next, '=');
        if (equals) {
            *equals = '\0';
            out->option[out->count++] = (cull_option){next, equals + 1};
        } else if (*path) {
            (void)snprintf(hint, sizeof hint, "%s are written key=value. See cull %s --help.", what,
                           name);
            return complain(END_USAGE, hint, "'%s' is not understood", words[i]);
        } else {
            *path = words[i];
        }
        next += length + 1;
    }
    return END_WELL;
}

int take_changed(const command *self, flag *flags, int argc, char **argv, changes *out,
                 const char **path)
{
    size_t count = 0;
    int    end = take_line(self, flags, argc, argv, &count);

    if (end != GO_ON) return end;
    end = take_changes(self->name, "Changes", argv, count, out, path);
    if (!end && !*path && self->missing) {
        end = complain(END_USAGE, self->give, "%s", self->missing);
        if (strstr(self->usage, " RECIPE")) print_recipes();
    }
    if (end) clear_changes(out);
    return end ? end : GO_ON;
}

int make_folders(const char *path)
{
    char        copy[MOST_FOLDER];
    struct stat info = {0};

    (void)snprintf(copy, sizeof copy, "%s/", path);
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0777) && errno != EEXIST)
            return complain(END_FAILED, "Give another --out.", "%s: cannot create: %s", copy,
                            strerror(errno));
        *slash = '/';
    }
    if (stat(path, &info) || !S_ISDIR(info.st_mode))
        return complain(END_FAILED, "Give another --out.", "%s is not a folder", path);
    return END_WELL;
}

void clear_changes(changes *all)
{
    free(all->option);
    free(all->text);
    *all = (changes){0};
}

void name_folder(const char *given, const char *root, const char *recipe, char *out, size_t room)
{
    const char *slash = strrchr(recipe, '/'), *name = slash ? slash + 1 : recipe;
    size_t      length = strcspn(name, ".");

    if (given)
        (void)snprintf(out, room, "%s", given);
    else
        (void)snprintf(out, room, "%s/%.*s", root, (int)(length ? length : 1), name);
}

void print_word(FILE *to, const char *word)
{
    if (word[0] && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "._/+-=,:@%") == strlen(word)) {
        (void)fprintf(to, " %s", word);
        return;
    }
    (void)fputs(" '", to);
    for (; *word; word++) (void)fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, to);
    (void)fputs("'", to);
}

/* A key of the section select that no strategy, or another one, has. */
static int complain_select(const char *section, const char *wrong)
{
    search                  s = {.wrong = wrong};
    const cull_strategy    *strategy = NULL;
    const cull_option_spec *option = NULL;

    for (size_t i = 0; (strategy = cull_strategy_at(i)); i++)
        for (size_t k = 0; (option = cull_strategy_option_at(strategy, k)); k++)
            try_word(&s, option->key);
    /* spelt right, with its section: another strategy's */
    if (s.best && strcmp(s.best, wrong) == 0 && strcmp(cull_last_subject(), wrong) != 0)
        s.best = NULL;
    return complain_near(&s, section, "cull select --list: options belong to their strategy", "%s",
                         cull_last_error());
}

/* What was probably meant by a wrong key or strategy, or where to look. */
static int complain_recipe(cull_status status)
{
    static const char section[] = "select.";
    const char       *wrong = cull_last_subject(), *where = "cull select --list";
    search            s = {.wrong = wrong};

    if (status == CULL_UNKNOWN_STRATEGY) {
        s = nearest_strategy(wrong);
    } else {
        if (status == CULL_UNKNOWN_OPTION && strncmp(wrong, section, strlen(section)) == 0)
            return complain_select(section, wrong + strlen(section));
        where = "cull train --help for every key of a recipe";
        if (status == CULL_UNKNOWN_OPTION) s = nearest_key(wrong);
        if (!s.best && status == CULL_UNKNOWN_OPTION && is_of_strategy(wrong))
            return complain_select(section, wrong);
    }
    return complain_near(&s, "", where, "%s", cull_last_error());
}

static int complain_model(void)
{
    search s = nearest_model(cull_last_subject());
    char   hint[3 * MOST_TEXT];

    (void)snprintf(hint, sizeof hint, "%s%s%sThere are %s.", s.best ? "Did you mean " : "",
                   s.best ? s.best : "", s.best ? "? " : "", cull_recipe_option("model.name")->doc);
    return complain_last(END_USAGE, hint);
}

int complain_run(cull_status status)
{
    static const char   smaller[] = "Lower train.batch or train.evaluate_batch.";
    static const remedy remedies[] = {
        {CULL_EXISTS, END_USAGE, "Give --resume to go on with it, or another --out."},
        {CULL_BUSY, END_USAGE, "Wait until it has ended, or give another --out."},
        {CULL_DIFFERS, END_USAGE,
         "Resume with the recipe and the data it was begun with, or give another --out."},
        {CULL_NOT_FINITE, END_FAILED,
         "Lower optim.lr, set optim.clip or schedule.warmup, and begin anew; the latest checkpoint "
         "is untouched."},
        {CULL_NO_MEMORY, END_FAILED, smaller},
        {CULL_TOO_LARGE, END_FAILED, smaller},
        /* nothing is wrong with the disk */
        {CULL_NOT_FOUND, END_FAILED, "See cull data list for what is found, and where."},
        {CULL_IO, END_FAILED,
         "Check the path, its permissions and the space left; what was committed before is whole."},
        {CULL_BAD_FILE, END_FAILED, "docs/formats.md says what is read."},
        {CULL_BAD_STATE, END_FAILED, "Begin anew in another folder."},
        {CULL_UNSUPPORTED, END_FAILED, "See cull doctor for what this machine can do."},
        {CULL_DEVICE, END_FAILED,
         "The latest checkpoint is whole: go on from it with --resume, and see cull doctor where "
         "the device fails again."},
        {CULL_OK, END_FAILED, NULL}};
    int end = END_WELL;

    if (status == CULL_NO_MEMORY && strcmp(cull_last_subject(), "data.name") == 0)
        return complain_last(
            END_FAILED, "Give a set that fits, a device with more memory, or train.backend=cpu.");
    if (status == CULL_IO && strncmp(cull_last_subject(), "data.", 5) == 0)
        return complain_last(END_FAILED, "Give the path of your data, as data.name=PATH; cull data "
                                         "info PATH says what is in it.");
    end = complain_by(remedies, status);
    if (end || status == CULL_OK) return end;
    if (status == CULL_UNKNOWN_SET) return complain_set();
    return status == CULL_UNKNOWN_MODEL ? complain_model() : complain_recipe(status);
}

/* With its ending, or without it, as one may call it. */
static void try_recipe(void *context, const char *folder, const char *name)
{
    search     *s = context;
    const char *before = s->best;
    char        bare[MOST_TEXT];
    size_t      length = strlen(name) - strlen(".yaml");

    (void)folder;
    (void)snprintf(bare, sizeof bare, "%.*s", (int)length, name);
    try_word(s, name);
    if (!strchr(s->wrong, '.')) try_word(s, bare);
    if (s->best == before) return;
    free((void *)(uintptr_t)before);
    s->best = strdup(name); /* the name is the caller's */
}

int complain_opening(cull_status status, const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    search      s = {.wrong = slash ? slash + 1 : path ? path : ""};
    int         end = END_USAGE;

    if (status != CULL_IO) return complain_run(status);
    each_recipe(&s, try_recipe);
    end = complain_near(&s, "", "cull train without a recipe for a list", "%s", cull_last_error());
    free((void *)(uintptr_t)s.best);
    return end;
}

int open_recipe(const char *path, const changes *all, cull_recipe **out)
{
    char room[MOST_FOLDER];

    if (path) path = find_recipe(path, room, sizeof room);
    return complain_opening(cull_recipe_open(path, all->option, all->count, out), path);
}

void say_warning(void *context, const char *warning)
{
    size_t length = strlen(warning);

    (void)context;
    (void)fprintf(stderr, "cull: warning: %s%s\n", warning,
                  length && strchr(".?!", warning[length - 1]) ? "" : ".");
}
