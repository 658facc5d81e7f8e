/* run_parts.c - changes to recipes, complaints about runs, the keys as help. */
#include "train/run_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_TEXT = 256, MOST_KEYS = 256, MOST_FOLDER = 1200 };

/* Copies words[*i]; and, where a shell cut a list as [60, 120] at its blanks, the rest of it, of
 * which *i becomes the last. */
static void take_word(char *const *words, size_t count, size_t *i, char *to)
{
    const char *equals = strchr(words[*i], '=');
    size_t      last = *i;

    if (equals && equals[1] == '[')
        while (last < count && !strchr(words[last], ']')) last++;
    if (last == count) last = *i; /* it is never closed, and refused as it stands */
    to = stpcpy(to, words[*i]);
    while (*i < last) {
        *to++ = ' ';
        to = stpcpy(to, words[++*i]);
    }
}

int take_changes(const char *command, char *const *words, size_t count, changes *out,
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
            (void)snprintf(hint, sizeof hint, "Changes are written key=value. See cull %s --help.",
                           command);
            return complain(END_USAGE, hint, "'%s' is not understood", words[i]);
        } else {
            *path = words[i];
        }
        next += length + 1;
    }
    return END_WELL;
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

/* The option of any strategy nearest to a key of the section select, or NULL. */
static const char *nearest_of_select(const char *wrong)
{
    const char             *names[MOST_KEYS] = {NULL};
    const cull_strategy    *strategy = NULL;
    const cull_option_spec *option = NULL;
    size_t                  count = 0;

    for (size_t s = 0; (strategy = cull_strategy_at(s)); s++)
        for (size_t i = 0; count + 1 < MOST_KEYS && (option = cull_strategy_option_at(strategy, i));
             i++)
            names[count++] = option->key;
    return nearest(wrong, names);
}

static const char *nearest_key(const char *wrong)
{
    const char             *names[MOST_KEYS] = {NULL};
    const cull_option_spec *option = NULL;

    for (size_t i = 0; i + 1 < MOST_KEYS && (option = cull_recipe_option_at(i)); i++)
        names[i] = option->key;
    return nearest(wrong, names);
}

/* What was probably meant by a wrong key or strategy, or where to look. */
static void recipe_hint(cull_status status, char *hint, size_t room)
{
    static const char section[] = "select.";
    const char       *wrong = cull_last_subject(), *near = NULL, *before = "";
    const char       *where = "cull train --help for every key of a recipe";
    bool              of_strategy = strncmp(wrong, section, strlen(section)) == 0;

    if (status == CULL_UNKNOWN_STRATEGY) {
        near = nearest_strategy(wrong);
        where = "cull select --list";
    } else if (status == CULL_UNKNOWN_OPTION && of_strategy) {
        near = nearest_of_select(wrong + strlen(section));
        before = section;
        where = "cull select --list: options belong to their strategy";
        if (near && strcmp(near, wrong + strlen(section)) == 0) near = NULL; /* another's */
    } else if (status == CULL_UNKNOWN_OPTION) {
        near = nearest_key(wrong);
    }
    (void)snprintf(hint, room, "%s%s%s%sSee %s.", near ? "Did you mean " : "", near ? before : "",
                   near ? near : "", near ? "? " : "", where);
}

static int complain_recipe(cull_status status)
{
    char hint[2 * MOST_TEXT];

    recipe_hint(status, hint, sizeof hint);
    return complain(END_USAGE, hint, "%s", cull_last_error());
}

static int complain_model(void)
{
    char hint[2 * MOST_TEXT];

    (void)snprintf(hint, sizeof hint, "There are %s.", cull_recipe_option("model.name")->doc);
    return complain(END_USAGE, hint, "%s", cull_last_error());
}

int complain_run(cull_status status)
{
    const char *why = cull_last_error();

    switch (status) {
    case CULL_OK: return END_WELL;
    case CULL_BAD_OPTION:
    case CULL_BAD_ARGUMENT:
    case CULL_UNKNOWN_OPTION:
    case CULL_UNKNOWN_STRATEGY:
    case CULL_UNKNOWN_SET:
    case CULL_NO_SAVING: return complain_recipe(status);
    case CULL_UNKNOWN_MODEL: return complain_model();
    case CULL_EXISTS:
        return complain(END_USAGE, "Give --resume to go on with it, or another --out.", "%s", why);
    case CULL_BUSY:
        return complain(END_USAGE, "Wait until it has ended, or give another --out.", "%s", why);
    case CULL_DIFFERS:
        return complain(END_USAGE,
                        "Resume with the recipe it was begun with, or give another --out.", "%s",
                        why);
    case CULL_NOT_FINITE:
        return complain(END_FAILED,
                        "Lower optim.lr, set optim.clip or schedule.warmup, and begin anew; the "
                        "latest checkpoint is untouched.",
                        "%s", why);
    case CULL_NO_MEMORY:
    case CULL_TOO_LARGE:
        return complain(END_FAILED, "Lower train.batch or train.evaluate_batch.", "%s", why);
    case CULL_NOT_FOUND: /* nothing is wrong with the disk */
        return complain(END_FAILED, "See cull data list for what is found, and where.", "%s", why);
    case CULL_IO:
        return complain(END_FAILED,
                        "Check the path, its permissions and the space left; what was committed "
                        "before is whole.",
                        "%s", why);
    case CULL_BAD_FILE:
        return complain(END_FAILED, "docs/formats.md says what is read.", "%s", why);
    case CULL_BAD_STATE: return complain(END_FAILED, "Begin anew in another folder.", "%s", why);
    case CULL_UNSUPPORTED: break;
    }
    return complain(END_FAILED, "See cull doctor for what this machine can do.", "%s", why);
}

int complain_opening(cull_status status)
{
    if (status != CULL_IO) return complain_run(status);
    return complain(END_USAGE, "Give the path of a recipe; recipes/ holds some.", "%s",
                    cull_last_error());
}

static void describe(const cull_option_spec *option, char *out, size_t room)
{
    switch (option->type) {
    case CULL_OPTION_INT:
    case CULL_OPTION_REAL:
        (void)snprintf(out, room, "%.16g to %.16g", option->low, option->high);
        return;
    case CULL_OPTION_BOOL: (void)snprintf(out, room, "true|false"); return;
    case CULL_OPTION_CHOICE: (void)snprintf(out, room, "%s", option->words); return;
    case CULL_OPTION_LIST: (void)snprintf(out, room, "a list"); return;
    case CULL_OPTION_TEXT: (void)snprintf(out, room, "text"); return;
    }
}

void print_recipe_keys(FILE *to)
{
    const cull_option_spec *option = NULL;
    char                    values[MOST_TEXT];

    for (size_t i = 0; (option = cull_recipe_option_at(i)); i++) {
        describe(option, values, sizeof values);
        (void)fprintf(to, "  %s=%s  (%s)\n      %s\n", option->key, option->fallback, values,
                      option->doc);
    }
}
