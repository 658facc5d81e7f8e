/*
 * lab/recipe/recipe_paths.c - values that name files: where they are looked for, and as what they
 * are written down.
 *
 *     in a recipe's file        relative to that file; where nothing is there, to the current
 *                               folder, as recipes had it before
 *     on a command line         relative to the current folder
 *     in a recipe's own text    absolute, so that it can be read from anywhere
 *
 * What a text names is said by the `words` of its line in the table.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "lab/recipe/recipe.h"

static bool names(const cull_option_spec *spec, const char *what)
{
    return spec && spec->type == CULL_OPTION_TEXT && spec->words && strcmp(spec->words, what) == 0;
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Nothing that is known by its name. */
static bool is_strange_set(const cull_option_spec *spec, const char *value)
{
    return names(spec, "set") && value[0] && !cull_data_is_known(value) &&
           !cull_train_is_own_data(value);
}

bool cull_recipe_is_path(const cull_option_spec *spec, const char *value)
{
    if (names(spec, "file") || names(spec, "folder"))
        return value[0] && !cull_train_is_own_data(value);
    if (names(spec, "strategy")) return strchr(value, '/') != NULL;
    return is_strange_set(spec, value) && (strpbrk(value, "/.") || is_there(value));
}

/* Beside the recipe, or here. `sure` false: a word that may be the name of a set, misspelt. */
static bool place(const char *recipe, size_t folder, const char *value, bool sure,
                  char out[CULL_DATA_PATH])
{
    int length = snprintf(out, CULL_DATA_PATH, "%.*s%s", (int)folder, recipe, value);

    if (length < 0 || length >= CULL_DATA_PATH) return false;
    return is_there(out) || (sure && !is_there(value));
}

cull_status cull_recipe_place(const char *recipe, cull_recipe_pairs *pairs)
{
    cull_status status = CULL_OK;
    const char *slash = strrchr(recipe, '/');
    size_t      folder = slash ? (size_t)(slash - recipe) + 1 : 0;

    for (size_t i = 0; folder && i < pairs->count; i++) {
        cull_recipe_pair       *pair = &pairs->pair[i];
        const cull_option_spec *spec = cull_recipe_option(pair->key);
        bool                    sure = cull_recipe_is_path(spec, pair->value);
        char                   *copy = NULL, path[CULL_DATA_PATH];

        if (pair->value[0] == '/' || (!sure && !is_strange_set(spec, pair->value))) continue;
        if (!place(recipe, folder, pair->value, sure, path)) continue;
        TRY(cull_base_alloc(strlen(path) + 1, 1, "a recipe", &copy));
        memcpy(copy, path, strlen(path) + 1);
        cull_base_free(pair->value);
        pair->value = copy;
    }
done:
    return status;
}

const char *cull_recipe_whole(const cull_option_spec *spec, const char *value,
                              char out[CULL_DATA_PATH])
{
    const char *tail = value;
    char        here[CULL_DATA_PATH];

    if (value[0] == '/' || !cull_recipe_is_path(spec, value)) return value;
    while (strncmp(tail, "./", 2) == 0 && tail[2] && tail[2] != '/') tail += 2;
    /* In a folder of a name that no recipe could hold, the path stays a relative one. */
    if (!getcwd(here, sizeof here) || !cull_recipe_is_text(here, strlen(here))) return value;
    return cull_base_join(strcmp(here, "/") == 0 ? "" : here, tail, out) == CULL_OK ? out : value;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool cull_recipe_same_place(const cull_option_spec *spec, const char *a, const char *b)
{
    if (names(spec, "folder")) return true;
    return cull_recipe_is_path(spec, a) && cull_recipe_is_path(spec, b) &&
           strcmp(last_part(a), last_part(b)) == 0;
}
