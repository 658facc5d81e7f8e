/* lab/recipe/recipe.c - a recipe from a file and changes to it, and as text again. */
#include "lab/recipe/recipe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"

#define STRATEGY "select.strategy"
#define NAME     "model.name"
#define LAYERS   CULL_LIST_KEY

/* Changes go through the same checks, then take the place of what the file says. */
static cull_status merge(cull_recipe_pairs *file, const cull_recipe_pairs *changes,
                         cull_option **out, size_t *count)
{
    cull_status  status = CULL_OK;
    cull_option *all = NULL;
    size_t       n = 0;

    TRY(cull_base_alloc(file->count + changes->count + 1, sizeof *all, "a recipe", &all));
    for (size_t i = 0; i < changes->count; i++)
        all[n++] = (cull_option){changes->pair[i].key, changes->pair[i].value};
    for (size_t i = 0; i < file->count; i++) {
        bool replaced = false;
        for (size_t c = 0; c < changes->count; c++)
            replaced = replaced || strcmp(changes->pair[c].key, file->pair[i].key) == 0;
        if (!replaced) all[n++] = (cull_option){file->pair[i].key, file->pair[i].value};
    }
    *out = all;
    *count = n;
done:
    return status;
}

/* What a strategy takes is not known yet; brackets are for lists there too. */
static bool is_list(const cull_option *change)
{
    const cull_option_spec *spec = cull_recipe_option(change->key);

    if (spec) return spec->type == CULL_OPTION_LIST;
    return strncmp(change->key, "select.", strlen("select.")) == 0 && change->value[0] == '[';
}

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t';
}

/* The letters at *text without the blanks around them. */
static size_t trim(const char **text, size_t length)
{
    while (length && is_blank(**text)) ++*text, length--;
    while (length && is_blank((*text)[length - 1])) length--;
    return length;
}

/* The items of a list without what YAML does not count: brackets around them, blanks beside them, a
 * comma behind the last one in brackets. `out` has room for the value. */
static void strip_list(const char *value, char *out)
{
    size_t      length = trim(&value, strlen(value)), at = 0;
    bool        flow = length >= 2 && value[0] == '[' && value[length - 1] == ']';
    const char *rest = out, *item = NULL;

    memcpy(out, value + flow, length - 2 * flow);
    out[length - 2 * flow] = '\0';
    for (bool first = true; (item = cull_list_next(&rest, &length)); first = false) {
        length = trim(&item, length);
        if (flow && !rest && length == 0 && at > 0) break;
        if (!first) out[at++] = ',';
        memmove(out + at, item, length);
        at += length;
    }
    out[at] = '\0';
}

/* "[1, 2]", as the file says it, and "1,2" are the same list on a command line. */
static cull_status take_change(cull_recipe_pairs *changes, const cull_option *change)
{
    cull_status     status = CULL_OK;
    const char     *value = change->value;
    char           *list = NULL;
    cull_layer_list layers = {0};

    if (cull_recipe_is_layers(change->key)) {
        TRY(cull_recipe_layers_parse("command line", value, &layers));
        TRY(cull_recipe_layers_add(changes, "command line", change->key, &layers));
        goto done;
    }
    if (is_list(change)) {
        TRY(cull_base_alloc(strlen(value) + 1, 1, "a recipe", &list));
        strip_list(value, list);
        value = list;
    }
    TRY(cull_recipe_add(changes, "command line", change->key, value, strlen(value)));
done:
    cull_base_free(list);
    cull_nn_list_clear(&layers);
    return status;
}

static bool is_given(const cull_recipe_pairs *pairs, const char *key)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (strcmp(pairs->pair[i].key, key) == 0) return true;
    return false;
}

static const char *where_given(const cull_recipe_pairs *pairs, const char *about)
{
    const char *where = NULL;

    for (size_t i = 0; i < pairs->count; i++)
        if (strcmp(pairs->pair[i].key, about) == 0 || strcmp(pairs->pair[i].value, about) == 0)
            where = pairs->pair[i].where;
    return where;
}

/* What is wrong with a key, or with its value, is told where that was given. */
static cull_status blame(const char *name, const cull_recipe_pairs *file,
                         const cull_recipe_pairs *changes, const char *about, cull_status status)
{
    const char *where = where_given(changes, about);

    if (status == CULL_OK || status == CULL_NO_MEMORY) return status;
    if (!where) where = where_given(file, about);
    return cull_fail_about(status, cull_last_subject(), "%s: %s", where ? where : name,
                           cull_last_error());
}

static cull_option *find(cull_option *all, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].key, key) == 0) return &all[i];
    return NULL;
}

/* A list of layers is the model, whose name then says so; another network cannot be asked for
 * beside it. The default, which nobody may have meant, gives way, but not where it is said later.
 */
static cull_status name_layers(const cull_recipe_pairs *changes, cull_option *all, size_t *count)
{
    cull_option *layers = find(all, *count, LAYERS), *name = find(all, *count, NAME);
    cull_status  status = CULL_OK;
    bool listed = layers && strcmp(layers->value, cull_recipe_option(LAYERS)->fallback) != 0;
    bool usual = name && strcmp(name->value, cull_recipe_option(NAME)->fallback) == 0;
    bool same = name && strcmp(name->value, CULL_TRAIN_LAYERS) == 0;

    if (same && !listed)
        FAIL_ABOUT(CULL_BAD_OPTION, NAME,
                   NAME "=" CULL_TRAIN_LAYERS ": " LAYERS " lists the layers, and there are none");
    if (!listed) goto done;
    if (name && !same && (!usual || (is_given(changes, NAME) && !is_given(changes, LAYERS))))
        FAIL_ABOUT(CULL_BAD_OPTION, NAME,
                   NAME "=%.40s and " LAYERS " are two networks: leave one out, as by " LAYERS
                        "=none or " NAME "=" CULL_TRAIN_LAYERS,
                   name->value);
    if (!name) name = &all[(*count)++];
    *name = (cull_option){NAME, CULL_TRAIN_LAYERS};
done:
    return status;
}

/* Plain where YAML reads back the same text, else in quotes. */
static bool is_plain(const char *text)
{
    static const char safe[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-";

    return text[0] && text[0] != '-' && strspn(text, safe) == strlen(text) &&
           strcmp(text, "null") != 0;
}

static cull_status put_text(cull_writer *out, const char *text)
{
    return cull_write(out, text, strlen(text));
}

static cull_status put_value(cull_writer *out, const cull_option_spec *spec, const char *text)
{
    cull_status status = CULL_OK;

    if (spec->type == CULL_OPTION_LIST) {
        TRY(put_text(out, "["));
        TRY(put_text(out, text));
        TRY(put_text(out, "]"));
    } else if (is_plain(text) || spec->type != CULL_OPTION_TEXT) {
        TRY(put_text(out, text));
    } else {
        TRY(put_text(out, "'"));
        for (const char *at = text; *at; at++) {
            if (*at == '\'') TRY(put_text(out, "'"));
            TRY(cull_write(out, at, 1));
        }
        TRY(put_text(out, "'"));
    }
done:
    return status;
}

static cull_status put_key(cull_writer *out, const cull_recipe *recipe,
                           const cull_option_spec *spec)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];
    const char *value = cull_recipe_whole(spec, cull_value_text(recipe->values, spec->key), path);

    TRY(put_text(out, "  "));
    TRY(put_text(out, strchr(spec->key, '.') + 1));
    TRY(put_text(out, ":"));
    if (spec->type == CULL_OPTION_LAYERS && recipe->layers) {
        TRY(cull_recipe_layers_print(recipe->layers, out));
    } else {
        TRY(put_text(out, " "));
        TRY(put_value(out, spec, value));
    }
    TRY(put_text(out, "\n"));
done:
    return status;
}

/* Every key, section by section; the strategy's options follow it. */
static cull_status print_recipe(cull_recipe *recipe)
{
    cull_status status = CULL_OK;
    cull_writer out = {0};
    char        section[64] = "";

    for (const cull_option_spec *spec = cull_recipe_table; spec->key; spec++) {
        size_t length = strcspn(spec->key, ".");

        if (strncmp(section, spec->key, length) != 0 || section[length]) {
            (void)snprintf(section, sizeof section, "%.*s", (int)length, spec->key);
            TRY(put_text(&out, section));
            TRY(put_text(&out, ":\n"));
        }
        TRY(put_key(&out, recipe, spec));
        for (size_t i = 0; strcmp(spec->key, STRATEGY) == 0 && i < recipe->select.count; i++)
            TRY(put_key(&out, recipe, &recipe->select.spec[i]));
    }
    TRY(cull_write(&out, "", 1));
    recipe->text = (char *)out.data;
    out = (cull_writer){0};
done:
    cull_writer_clear(&out);
    return status;
}

static const char *strategy_of(const cull_option *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].key, STRATEGY) == 0) return all[i].value;
    return cull_recipe_option(STRATEGY)->fallback;
}

static cull_status open_layers(cull_recipe *recipe, const char *name)
{
    cull_status status = CULL_OK;
    const char *text = cull_value_text(recipe->values, LAYERS);

    if (strcmp(text, cull_recipe_option(LAYERS)->fallback) == 0) goto done;
    TRY(cull_base_alloc(1, sizeof *recipe->layers, "layers", &recipe->layers));
    TRY(cull_recipe_layers_parse(name, text, recipe->layers));
done:
    return status;
}

static cull_status make_setup(cull_recipe *recipe, const char *name, const cull_option *all,
                              size_t count)
{
    cull_option_tables tables = {{cull_recipe_table, recipe->select.spec}};
    cull_status        status = CULL_OK;

    TRY(cull_values_create(name, &tables, all, count, &recipe->values));
    TRY(open_layers(recipe, name));
    TRY(cull_recipe_fill(recipe->values, recipe->layers, &recipe->setup));
    cull_recipe_select_fill(&recipe->select, recipe->values);
    recipe->setup.select = recipe->select.option;
    recipe->setup.selects = recipe->select.count;
done:
    return status;
}

cull_status cull_recipe_parse(const char *name, const void *yaml, size_t bytes,
                              const cull_option *changes, size_t count, cull_recipe **out)
{
    cull_status       status = CULL_OK;
    cull_recipe_pairs file = {0}, changed = {0};
    cull_recipe      *recipe = NULL;
    cull_option      *all = NULL;
    size_t            n = 0;

    if (yaml) TRY(cull_recipe_scan(name, yaml, bytes, &file));
    TRY(cull_recipe_place(name, &file));
    for (size_t i = 0; i < count; i++) TRY(take_change(&changed, &changes[i]));
    TRY(merge(&file, &changed, &all, &n));
    TRY(blame(name, &file, &changed, NAME, name_layers(&changed, all, &n)));
    TRY(cull_base_alloc(1, sizeof *recipe, "a recipe", &recipe));
    status = cull_recipe_select_open(strategy_of(all, n), &recipe->select);
    TRY(blame(name, &file, &changed, STRATEGY, status));
    TRY(cull_recipe_select_check(&recipe->select, &file));
    TRY(cull_recipe_select_check(&recipe->select, &changed));
    status = make_setup(recipe, name, all, n);
    TRY(blame(name, &file, &changed, cull_last_subject(), status));
    TRY(print_recipe(recipe));
    *out = recipe;
    recipe = NULL;
done:
    cull_recipe_close(recipe);
    cull_base_free(all);
    cull_recipe_pairs_clear(&file);
    cull_recipe_pairs_clear(&changed);
    return status;
}

cull_status cull_recipe_open(const char *path, const cull_option *changes, size_t count,
                             cull_recipe **out)
{
    cull_status status = CULL_OK;
    void       *yaml = NULL;
    size_t      bytes = 0;

    if (path) TRY(cull_file_read(path, &yaml, &bytes));
    TRY(cull_recipe_parse(path ? path : "recipe", yaml, bytes, changes, count, out));
done:
    cull_bytes_release(yaml);
    return status;
}

void cull_recipe_close(cull_recipe *recipe)
{
    if (!recipe) return;
    cull_values_destroy(recipe->values);
    cull_recipe_select_close(&recipe->select);
    cull_nn_model_destroy(recipe->model);
    if (recipe->layers) cull_nn_list_clear(recipe->layers);
    cull_base_free(recipe->layers);
    cull_base_free(recipe->text);
    cull_base_free(recipe);
}

const char *cull_recipe_text(const cull_recipe *recipe)
{
    return recipe->text;
}

const char *cull_recipe_value(const cull_recipe *recipe, const char *key)
{
    return cull_values_has(recipe->values, key) ? cull_value_text(recipe->values, key) : NULL;
}

static bool differs(const cull_recipe *a, const cull_recipe *b, const cull_option_spec *spec)
{
    bool        number = spec->type == CULL_OPTION_INT || spec->type == CULL_OPTION_REAL;
    double      x = number ? cull_value_real(a->values, spec->key) : 0;
    double      y = number ? cull_value_real(b->values, spec->key) : 0;
    const char *one = cull_value_text(a->values, spec->key);
    const char *two = cull_value_text(b->values, spec->key);

    /* a word in place of a number is read as NaN */
    if (number && !isnan(x) && !isnan(y)) return x != y;
    return strcmp(one, two) != 0 && !cull_recipe_same_place(spec, one, two);
}

const char *cull_recipe_difference(const cull_recipe *a, const cull_recipe *b)
{
    for (const cull_option_spec *spec = cull_recipe_table; spec->key; spec++)
        if (differs(a, b, spec)) return spec->key;
    for (const cull_option_spec *spec = a->select.spec; spec->key; spec++)
        if (differs(a, b, spec)) return spec->key;
    return NULL;
}
