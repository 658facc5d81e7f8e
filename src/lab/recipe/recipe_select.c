/* lab/recipe/recipe_select.c - a strategy's options as keys of a recipe: option `keep` is
 * select.keep. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/recipe/recipe.h"
#include "select/select.h"

#define PREFIX "select."

/* A modifier is a value of `losses`, which is then no key of its own. */
static cull_status check_modifier(const cull_strategy *strategy, const char *modifier)
{
    cull_status        status = CULL_OK;
    cull_option_tables tables;
    cull_values       *values = NULL;

    if (!modifier) return CULL_OK;
    cull_sel_tables(strategy, &tables);
    TRY(cull_values_create(strategy->name, &tables, &(cull_option){"losses", modifier}, 1,
                           &values));
done:
    cull_values_destroy(values);
    return status;
}

static cull_status copy_table(bool modified, cull_recipe_select *s)
{
    cull_status             status = CULL_OK;
    size_t                  count = 0;
    const cull_option_spec *spec = NULL;

    while (cull_strategy_option_at(s->strategy, count)) count++;
    TRY(cull_base_alloc(count, CULL_RECIPE_KEY, "a recipe", &s->key));
    TRY(cull_base_alloc(count + 1, sizeof *s->spec, "a recipe", &s->spec));
    TRY(cull_base_alloc(count, sizeof *s->option, "a recipe", &s->option));
    for (size_t i = 0; (spec = cull_strategy_option_at(s->strategy, i)); i++) {
        char *key = s->key + s->count * CULL_RECIPE_KEY;

        if (modified && strcmp(spec->key, "losses") == 0) continue;
        (void)snprintf(key, CULL_RECIPE_KEY, PREFIX "%s", spec->key);
        s->spec[s->count] = *spec;
        s->spec[s->count++].key = key;
    }
done:
    return status;
}

cull_status cull_recipe_select_open(const char *text, cull_recipe_select *out)
{
    cull_status        status = CULL_OK;
    cull_recipe_select s = {0};
    const char        *modifier = NULL;

    status = cull_sel_strategy_open(text, &s.strategy, &s.plugin, &modifier);
    if (status == CULL_OK) status = check_modifier(s.strategy, modifier);
    if (status == CULL_UNKNOWN_STRATEGY)
        FAIL_ABOUT(status, cull_last_subject(), "select.strategy: %s", cull_last_error());
    if (status != CULL_OK && status != CULL_NO_MEMORY)
        FAIL_ABOUT(CULL_BAD_OPTION, "select.strategy", "select.strategy: %s", cull_last_error());
    TRY(status);
    TRY(copy_table(modifier != NULL, &s));
    *out = s;
    s = (cull_recipe_select){0};
done:
    cull_recipe_select_close(&s);
    return status;
}

void cull_recipe_select_close(cull_recipe_select *s)
{
    cull_base_free(s->option);
    cull_base_free(s->spec);
    cull_base_free(s->key);
    cull_sel_plugin_close(s->plugin);
    *s = (cull_recipe_select){0};
}

/* As take_scalar() has it for the keys that are always there. */
static cull_status check_quotes(const cull_recipe_select *s, const cull_recipe_pair *pair)
{
    for (const cull_option_spec *spec = s->spec; pair->quoted && spec->key; spec++)
        if (strcmp(spec->key, pair->key) == 0 && spec->type != CULL_OPTION_TEXT &&
            spec->type != CULL_OPTION_CHOICE)
            return cull_fail_about(
                CULL_BAD_OPTION, pair->key,
                "%s: %s=\"%.40s\" is a text in quotes, not a number or a truth value", pair->where,
                pair->key, pair->value);
    return CULL_OK;
}

cull_status cull_recipe_select_check(const cull_recipe_select *s, const cull_recipe_pairs *pairs)
{
    cull_option_tables tables = {{cull_recipe_table, s->spec}};
    cull_status        status = CULL_OK;

    for (size_t i = 0; i < pairs->count; i++) {
        const cull_recipe_pair *pair = &pairs->pair[i];

        if (strncmp(pair->key, PREFIX, strlen(PREFIX)) != 0) continue;
        TRY(check_quotes(s, pair));
        TRY(cull_values_check(pair->where, &tables, &(cull_option){pair->key, pair->value}));
    }
done:
    return status;
}

void cull_recipe_select_fill(cull_recipe_select *s, const cull_values *values)
{
    for (size_t i = 0; i < s->count; i++)
        s->option[i] =
            (cull_option){s->spec[i].key + strlen(PREFIX), cull_value_text(values, s->spec[i].key)};
}
