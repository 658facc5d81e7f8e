/* nn/layer_options.c - the options of a layer in a list: checked, and each value in one form. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "nn/layer_list.h"

enum { VALUE = CULL_LIST_VALUE };

const cull_option_spec *cull_nn_list_option(const cull_list_kind *kind, const char *key)
{
    for (const cull_option_spec *spec = kind->option; spec->key; spec++)
        if (strcmp(spec->key, key) == 0) return spec;
    return NULL;
}

static const char *find_given(const cull_list_given *g, const char *key)
{
    for (size_t i = 0; i < g->count; i++)
        if (strcmp(g->option[i].key, key) == 0) return g->option[i].value;
    return NULL;
}

static cull_status unknown(const cull_list_given *g, const char *owner, const char *key)
{
    char all[160] = "";
    int  at = 0;

    for (const cull_option_spec *spec = g->kind->option; spec->key; spec++)
        at += snprintf(all + at, sizeof all - (size_t)at, "%s%s", at ? ", " : "", spec->key);
    if (!at) return cull_fail(CULL_BAD_OPTION, "%s: has no options, and so no '%.40s'", owner, key);
    return cull_fail(CULL_BAD_OPTION, "%s: no option is called '%.40s'; there are %s", owner, key,
                     all);
}

/* The fewest digits that are this number, but enough for any whole one that a layer takes. */
static void put_number(double number, char out[CULL_NUMBER_ROOM])
{
    double same = NAN;

    for (int digits = 9; digits <= 17 && same != number; digits++) {
        (void)cull_base_write_number(number + 0, digits, out); /* one zero, not two */
        (void)cull_base_read_number(out, &same);
    }
}

/* "3" or "3,5" as numbers; how many there are, or 0 where one is no whole number. */
static size_t read_axes(const char *text, double number[2])
{
    size_t length = 0, count = 0;
    char   one[VALUE];

    for (const char *item = NULL; (item = cull_list_next(&text, &length)); count++) {
        double value = 0;

        (void)snprintf(one, sizeof one, "%.*s", (int)length, item);
        if (!cull_base_read_number(one, &value) || floor(value) != value) return 0;
        if (count < 2) number[count] = value;
    }
    if (count == 1) number[1] = number[0];
    return count;
}

/* One number, or height and width where they differ. */
static void put_axes(const double number[2], char out[VALUE])
{
    char height[CULL_NUMBER_ROOM], width[CULL_NUMBER_ROOM];

    put_number(number[0], height);
    put_number(number[1], width);
    if (number[0] == number[1])
        (void)snprintf(out, VALUE, "%.38s", height);
    else
        (void)snprintf(out, VALUE, "%.38s,%.38s", height, width);
}

static cull_status settle_axes(const char *owner, const char *key, char value[VALUE])
{
    cull_status status = CULL_OK;
    double      number[2] = {0};
    size_t      count = read_axes(value, number);

    if (count == 0) FAIL(CULL_BAD_OPTION, "%s: %s=%s is not a whole number", owner, key, value);
    if (count > 2)
        FAIL(CULL_BAD_OPTION, "%s: %s=[%s] is not one number or two, height and width", owner, key,
             value);
    put_axes(number, value);
done:
    return status;
}

static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const cull_node *node = NULL;

    return text[0] && strchr(letters, text[0]) && strspn(text, others) == strlen(text) &&
           strlen(text) < sizeof node->name && strcmp(text, "null") != 0;
}

/* A value alone, in the form in which it is kept. */
static cull_status settle(cull_list_given *g, const char *owner, size_t i)
{
    const cull_option_spec *spec = cull_nn_list_option(g->kind, g->option[i].key);
    cull_option_tables      tables = {{g->kind->option}};
    cull_status             status = CULL_OK;
    char                   *value = g->value[i];
    double                  number = 0;
    bool same = strcmp(spec->key, "padding") == 0 && strcmp(value, "same") == 0 &&
                cull_nn_list_option(g->kind, "dilation");

    if (same) goto done; /* when the kernel is known */
    if (spec->type == CULL_OPTION_TEXT && !is_name(value))
        FAIL(CULL_BAD_OPTION,
             "%s: %s='%s' is not a letter followed by up to 46 letters, digits, '.', '_' and '-'",
             owner, spec->key, value);
    if (spec->type == CULL_OPTION_LIST) TRY(settle_axes(owner, spec->key, value));
    TRY(cull_values_check(owner, &tables, &g->option[i]));
    if ((spec->type == CULL_OPTION_INT || spec->type == CULL_OPTION_REAL) &&
        cull_base_read_number(value, &number))
        put_number(number, value);
done:
    return status;
}

static void axes_given(const cull_list_given *g, const char *key, double number[2])
{
    const char *text = find_given(g, key);

    number[0] = number[1] = 1;
    if (text) (void)read_axes(text, number);
}

/* As much padding as leaves the extent what it is. */
static cull_status settle_same(cull_list_given *g, const char *owner)
{
    cull_status status = CULL_OK;
    double      kernel[2], stride[2], dilation[2], padding[2];
    char       *value = NULL;

    for (size_t i = 0; i < g->count; i++)
        if (strcmp(g->value[i], "same") == 0 && strcmp(g->option[i].key, "padding") == 0)
            value = g->value[i];
    if (!value) return CULL_OK;
    axes_given(g, "kernel", kernel);
    axes_given(g, "stride", stride);
    axes_given(g, "dilation", dilation);
    for (int i = 0; i < 2; i++) {
        if (stride[i] != 1)
            FAIL(CULL_BAD_OPTION, "%s: padding=same keeps the extent, so stride is 1", owner);
        padding[i] = (kernel[i] - 1) * dilation[i] / 2;
        if (floor(padding[i]) != padding[i])
            FAIL(CULL_BAD_OPTION, "%s: padding=same needs a kernel with a middle, an odd one",
                 owner);
    }
    put_axes(padding, value);
done:
    return status;
}

static cull_status take(cull_list_given *g, const char *owner, const char *key, const char *value)
{
    const cull_option_spec *spec = cull_nn_list_option(g->kind, key);
    cull_status             status = CULL_OK;

    if (!spec) TRY(unknown(g, owner, key));
    if (find_given(g, key)) FAIL(CULL_BAD_OPTION, "%s: %s is given twice", owner, key);
    if (strlen(value) >= VALUE)
        FAIL(CULL_BAD_OPTION, "%s: %s='%.40s...' is too long", owner, key, value);
    (void)snprintf(g->value[g->count], VALUE, "%s", value);
    g->option[g->count] = (cull_option){spec->key, g->value[g->count]};
    TRY(settle(g, owner, g->count));
    g->count++;
done:
    return status;
}

/* Whatever is wrong with an option is wrong with the list. */
static cull_status blame(cull_status status)
{
    if (status != CULL_BAD_OPTION) return status;
    return cull_fail_about(status, CULL_LIST_KEY, "%s", cull_last_error());
}

cull_status cull_nn_list_give(cull_list_given *given, const char *owner, const char *key,
                              const char *value)
{
    return blame(take(given, owner, key, value));
}

static cull_status check_needed(const cull_list_given *g, const char *owner)
{
    for (const cull_option_spec *spec = g->kind->option; spec->key; spec++)
        if (spec->type != CULL_OPTION_TEXT && !*spec->fallback && !find_given(g, spec->key))
            return cull_fail(CULL_BAD_OPTION, "%s: needs %s: %s", owner, spec->key, spec->doc);
    return CULL_OK;
}

cull_status cull_nn_list_set(cull_layer_list *list, const char *owner, cull_list_given *g)
{
    cull_listed       *layer = &list->layer[list->count - 1];
    cull_option_tables tables = {{layer->kind->option}};
    cull_status        status = CULL_OK;

    TRY(check_needed(g, owner));
    TRY(settle_same(g, owner));
    TRY(cull_values_create(owner, &tables, g->option, g->count, &layer->values));
    if (layer->kind->check) TRY(layer->kind->check(owner, layer->values));
done:
    return blame(status);
}
