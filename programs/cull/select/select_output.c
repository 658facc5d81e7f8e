/* select_output.c - a subset as text, JSON or .npz. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "select/select_parts.h"

enum { MOST_ARRAYS = 16 };

static const struct {
    unsigned    flag;
    const char *word;
} flag_words[] = {
    {CULL_SUBSET_FILLED, "filled"},
    {CULL_SUBSET_FALLBACK, "fallback"},
    {CULL_SUBSET_SHORT, "short"},
};
enum { FLAGS = sizeof flag_words / sizeof *flag_words };

/* -1 for an example carried over from earlier signals. */
static int64_t row_of(const cull_subset *s, size_t i)
{
    return s->index[i] == CULL_NO_ROW ? -1 : (int64_t)s->index[i];
}

static void summarise(const decision *d)
{
    const cull_subset *s = d->subset;
    double             sum = 0;

    for (size_t i = 0; i < s->count; i++) sum += s->weight[i];
    (void)fprintf(stderr, "%s: %zu ", cull_selector_name(d->selector), s->count);
    if (d->flushed)
        (void)fprintf(stderr, "left over");
    else
        (void)fprintf(stderr, "of %zu", d->signals->count);
    (void)fprintf(stderr, ", weights sum to %g", sum);
    for (size_t i = 0; i < FLAGS; i++)
        if (s->flags & flag_words[i].flag) (void)fprintf(stderr, ", %s", flag_words[i].word);
    (void)fprintf(stderr, "%s\n", d->plain ? "; a plain step, at which nothing is selected" : "");
    if (!d->diagnosis) return;
    (void)fprintf(stderr,
                  "gradient error %g (full %g), cosine %g, effective sample size %g, overlap %g\n",
                  d->diagnosis->error, d->diagnosis->full, d->diagnosis->cosine,
                  d->diagnosis->effective, d->diagnosis->overlap);
    for (size_t c = 0; c < d->diagnosis->classes; c++)
        (void)fprintf(stderr, "class %zu: %zu of %zu\n", c, d->diagnosis->chosen[c],
                      d->diagnosis->available[c]);
}

int select_print_text(const decision *d)
{
    const cull_subset *s = d->subset;

    for (size_t i = 0; i < s->count; i++) {
        (void)printf("%lld %u %.17g", (long long)row_of(s, i), s->place[i], s->weight[i]);
        if (s->groups) (void)printf(" %u", s->group[i]);
        (void)putchar('\n');
    }
    if (end_output(END_WELL)) return END_FAILED;
    summarise(d);
    return END_WELL;
}

/* "key=value key=value", typed: a number, true or false where the text is one, else text. */
static json_t *options_json(const char *text)
{
    json_t *object = json_object();

    while (*text) {
        size_t key = strcspn(text, "="), length = key + strcspn(text + key, " ");
        char   name[64], value[128], *end = NULL;
        double number = 0;

        (void)snprintf(name, sizeof name, "%.*s", (int)key, text);
        (void)snprintf(value, sizeof value, "%.*s", (int)(length - key - (text[key] == '=')),
                       text + key + (text[key] == '='));
        number = strtod(value, &end);
        if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
            (void)json_object_set_new(object, name, json_boolean(value[0] == 't'));
        else if (end != value && *end == '\0')
            (void)json_object_set_new(object, name, json_number(number));
        else
            (void)json_object_set_new(object, name, json_string(value));
        text += length + (text[length] == ' ');
    }
    return object;
}

static json_t *counts_json(const size_t *counts, size_t count)
{
    json_t *array = count ? json_array() : NULL;

    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(array, json_integer((json_int_t)counts[i]));
    return array;
}

static json_t *diagnosis_json(const cull_diagnosis *g)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o*, s:o*}", "error", json_number(g->error),
                     "full", json_number(g->full), "cosine", json_number(g->cosine), "effective",
                     json_number(g->effective), "overlap", json_number(g->overlap), "available",
                     counts_json(g->available, g->classes), "chosen",
                     counts_json(g->chosen, g->classes));
}

static json_t *decision_json(const decision *d)
{
    const cull_subset *s = d->subset;
    json_t            *object = NULL, *index = json_array(), *place = json_array();
    json_t            *group = s->groups ? json_array() : NULL, *flags = json_array();

    for (size_t i = 0; i < s->count; i++) {
        (void)json_array_append_new(index,
                                    row_of(s, i) < 0 ? json_null() : json_integer(row_of(s, i)));
        (void)json_array_append_new(place, json_integer(s->place[i]));
        if (s->groups) (void)json_array_append_new(group, json_integer(s->group[i]));
    }
    for (size_t i = 0; i < FLAGS; i++)
        if (s->flags & flag_words[i].flag)
            (void)json_array_append_new(flags, json_string(flag_words[i].word));
    object =
        json_pack("{s:s, s:o, s:I, s:o, s:o, s:o, s:o*, s:o*, s:I, s:o, s:o*}", "strategy",
                  cull_selector_name(d->selector), "options",
                  options_json(cull_selector_options(d->selector)), "count", (json_int_t)s->count,
                  "index", index, "place", place, "weight", json_numbers(s->weight, s->count),
                  "groups", s->groups ? json_integer((json_int_t)s->groups) : NULL, "group", group,
                  "picked", (json_int_t)s->picked, "flags", flags, "diagnosis",
                  d->diagnosis ? diagnosis_json(d->diagnosis) : NULL);
    /* A part that found no memory is missing from the object: better nothing than that. */
    if (json_array_size(json_object_get(object, "index")) == s->count &&
        json_array_size(json_object_get(object, "weight")) == s->count)
        return object;
    json_decref(object);
    return NULL;
}

int select_print_json(const decision *d)
{
    return print_json(decision_json(d));
}

int select_write_json(const decision *d, const char *path)
{
    json_t     *object = decision_json(d);
    char       *text = object ? json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    cull_status status = CULL_OK;

    json_decref(object);
    if (!text) return complain(END_FAILED, "Give fewer examples at once.", "no memory for JSON");
    status = cull_file_write(path, text, strlen(text));
    free(text);
    return complain_status(status);
}

/* The diagnosis as arrays, behind the `count` there are; returns how many there are then. */
static size_t add_diagnosis(const cull_diagnosis *g, int64_t *classes, cull_array *array,
                            size_t count)
{
    array[count++] = (cull_array){"error", cull_vector(&g->error, CULL_F64, 1)};
    array[count++] = (cull_array){"full", cull_vector(&g->full, CULL_F64, 1)};
    array[count++] = (cull_array){"cosine", cull_vector(&g->cosine, CULL_F64, 1)};
    array[count++] = (cull_array){"effective", cull_vector(&g->effective, CULL_F64, 1)};
    array[count++] = (cull_array){"overlap", cull_vector(&g->overlap, CULL_F64, 1)};
    if (g->classes == 0) return count;
    for (size_t c = 0; c < g->classes; c++) {
        classes[c] = (int64_t)g->available[c];
        classes[g->classes + c] = (int64_t)g->chosen[c];
    }
    array[count++] = (cull_array){"available", cull_vector(classes, CULL_I64, g->classes)};
    array[count++] =
        (cull_array){"chosen", cull_vector(classes + g->classes, CULL_I64, g->classes)};
    return count;
}

int select_write_npz(const decision *d, const char *path)
{
    const cull_subset *s = d->subset;
    size_t      m = s->count, used = 0, classes = d->diagnosis ? 2 * d->diagnosis->classes : 0;
    int64_t    *column = calloc(3 * m + classes + 2, sizeof *column), *scalar = NULL;
    cull_array  array[MOST_ARRAYS];
    cull_status status = CULL_OK;

    if (!column) return complain(END_FAILED, "Give fewer examples.", "no memory for the output");
    scalar = column + 3 * m + classes;
    for (size_t i = 0; i < m; i++) {
        column[i] = row_of(s, i);
        column[m + i] = s->place[i];
        column[2 * m + i] = s->group[i];
    }
    scalar[0] = (int64_t)s->picked;
    scalar[1] = (int64_t)s->flags;
    array[used++] = (cull_array){"index", cull_vector(column, CULL_I64, m)};
    array[used++] = (cull_array){"place", cull_vector(column + m, CULL_I64, m)};
    /* No weights, no array: then any address will do for a view of nothing. */
    array[used++] =
        (cull_array){"weight", cull_vector(m ? (const void *)s->weight : column, CULL_F64, m)};
    if (s->groups) array[used++] = (cull_array){"group", cull_vector(column + 2 * m, CULL_I64, m)};
    array[used++] = (cull_array){"picked", cull_vector(scalar, CULL_I64, 1)};
    array[used++] = (cull_array){"flags", cull_vector(scalar + 1, CULL_I64, 1)};
    if (d->diagnosis) used = add_diagnosis(d->diagnosis, column + 3 * m, array, used);
    status = cull_arrays_write(path, array, used);
    free(column);
    return complain_status(status);
}
