/* run_parts.c - changes to recipes, complaints about runs, the keys as help. */
#include "run_parts.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 256, MOST_KEYS = 256 };

int take_changes(const char *command, const char *const *words, size_t count, changes *out,
                 const char **path)
{
    size_t bytes = 1;
    char  *next = NULL, hint[MOST_TEXT];

    for (size_t i = 0; i < count; i++) bytes += strlen(words[i]) + 1;
    out->option = calloc(count + 1, sizeof *out->option);
    out->text = next = calloc(bytes, 1);
    if (!out->option || !next) return complain(END_FAILED, "Give fewer arguments.", "no memory");
    for (size_t i = 0; i < count; i++) {
        char *equals = NULL;
        memcpy(next, words[i], strlen(words[i]));
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
        next += strlen(words[i]) + 1;
    }
    return END_WELL;
}

void clear_changes(changes *all)
{
    free(all->option);
    free(all->text);
    *all = (changes){0};
}

/* The key of a recipe nearest to the one that a sentence says there is not, or NULL. */
static const char *nearest_key(const char *why)
{
    static const char       before[] = "no option is called '";
    const char             *names[MOST_KEYS] = {NULL}, *at = strstr(why, before);
    const cull_option_spec *option = NULL;
    char                    wrong[MOST_TEXT];

    if (!at) return NULL;
    at += strlen(before);
    (void)snprintf(wrong, sizeof wrong, "%.*s", (int)strcspn(at, "'"), at);
    for (size_t i = 0; i + 1 < MOST_KEYS && (option = cull_recipe_option_at(i)); i++)
        names[i] = option->key;
    return nearest(wrong, names);
}

static int complain_recipe(const char *why)
{
    const char *near = nearest_key(why);
    char        hint[MOST_TEXT];

    (void)snprintf(hint, sizeof hint, "%s%s%sSee cull train --help for every key of a recipe.",
                   near ? "Did you mean " : "", near ? near : "", near ? "? " : "");
    return complain(END_USAGE, hint, "%s", why);
}

int complain_run(cull_status status)
{
    const char *why = cull_last_error();

    switch (status) {
    case CULL_OK: return END_WELL;
    case CULL_BAD_OPTION:
    case CULL_BAD_ARGUMENT: return complain_recipe(why);
    case CULL_NOT_FINITE:
        return complain(END_FAILED,
                        "Lower optim.lr, set optim.clip or schedule.warmup, and begin anew; the "
                        "latest checkpoint is untouched.",
                        "%s", why);
    case CULL_NO_MEMORY:
    case CULL_TOO_LARGE:
        return complain(END_FAILED, "Lower train.batch or train.evaluate_batch.", "%s", why);
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
