/* records/fields.c - structs to JSON and back, field by field. */
#include "records/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "records/phase.h"

/* Nothing that is measured is larger; and what is smaller stays finite in sums and products. */
#define MOST_NUMBER 1e30
#define MOST_COUNT  9e15 /* every whole number up to here is exact */

enum { MOST_KEY = 64 };

const char *cull_phase_name(cull_phase phase)
{
    static const char *const names[CULL_PHASES] = {"load",  "score",    "select",    "learn",
                                                   "optim", "evaluate", "checkpoint"};
    return names[phase];
}

/* ---- writing ---- */

static void put_null(cull_json *json, const char *key)
{
    cull_json_number(json, key, NAN);
}

static bool any_known(const double *phases)
{
    for (int i = 0; i < CULL_PHASES; i++)
        if (!isnan(phases[i])) return true;
    return false;
}

static void put_phases(cull_json *json, const char *key, const double *phases)
{
    bool any = any_known(phases);

    cull_json_open(json, key, '{');
    for (int i = 0; any && i < CULL_PHASES; i++)
        cull_json_number(json, cull_phase_name((cull_phase)i), phases[i]);
    cull_json_close(json, '}');
}

static void put_each_phase(cull_json *json, const char *key, const double *phases)
{
    bool any = any_known(phases);
    char name[MOST_KEY];

    for (int i = 0; any && i < CULL_PHASES; i++) {
        (void)snprintf(name, sizeof name, "%s_%s", key, cull_phase_name((cull_phase)i));
        cull_json_number(json, name, phases[i]);
    }
}

static void put_text(cull_json *json, const cull_records_field *field, const char *text)
{
    if (text[0] || field->kind == CULL_FIELD_TEXT)
        cull_json_text(json, field->key, text);
    else if (field->kind == CULL_FIELD_TEXT_OR_NULL)
        put_null(json, field->key);
}

static void put_field(cull_json *json, const cull_records_field *field, const void *value)
{
    const double *number = value;
    const bool   *truth = value;

    switch (field->kind) {
    case CULL_FIELD_TEXT:
    case CULL_FIELD_TEXT_IF:
    case CULL_FIELD_TEXT_OR_NULL: put_text(json, field, *(const char *const *)value); break;
    case CULL_FIELD_NUMBER: cull_json_number(json, field->key, *number); break;
    case CULL_FIELD_COUNT:
        if (!isnan(*number)) cull_json_count(json, field->key, (uint64_t)*number);
        break;
    case CULL_FIELD_BOOL: cull_json_bool(json, field->key, *truth); break;
    case CULL_FIELD_BOOL_IF:
        if (*truth) cull_json_bool(json, field->key, true);
        break;
    case CULL_FIELD_TRUTH:
        if (!isnan(*number)) cull_json_bool(json, field->key, *number != 0);
        break;
    case CULL_FIELD_PHASES: put_phases(json, field->key, number); break;
    case CULL_FIELD_PHASES_NULL:
        if (any_known(number))
            put_phases(json, field->key, number);
        else
            put_null(json, field->key);
        break;
    case CULL_FIELD_EACH_PHASE: put_each_phase(json, field->key, number); break;
    }
}

void cull_records_put(cull_json *json, const cull_records_field *fields, size_t count,
                      const void *from)
{
    for (size_t i = 0; i < count; i++)
        put_field(json, &fields[i], (const char *)from + fields[i].at);
}

void cull_records_put_list(cull_json *json, const char *key, const cull_records_field *fields,
                           size_t count, const void *list, size_t length, size_t size)
{
    cull_json_open(json, key, '[');
    for (size_t i = 0; i < length; i++) {
        cull_json_open(json, NULL, '{');
        cull_records_put(json, fields, count, (const char *)list + i * size);
        cull_json_close(json, '}');
    }
    cull_json_close(json, ']');
}

/* ---- reading ---- */

double cull_records_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    double        number = json_is_number(value) ? json_number_value(value) : NAN;

    return fabs(number) < MOST_NUMBER ? number : NAN;
}

const char *cull_records_word(const json_t *object, const char *key)
{
    const char *word = json_string_value(json_object_get(object, key));

    return word ? word : "";
}

static void take_phases(const json_t *object, const cull_records_field *field, double *out)
{
    const json_t *phases = json_object_get(object, field->key);
    char          name[MOST_KEY];

    for (int i = 0; i < CULL_PHASES; i++) {
        (void)snprintf(name, sizeof name, "%s_%s", field->key, cull_phase_name((cull_phase)i));
        out[i] = field->kind == CULL_FIELD_EACH_PHASE
                     ? cull_records_number(object, name)
                     : cull_records_number(phases, cull_phase_name((cull_phase)i));
    }
}

static void take_field(const json_t *object, const cull_records_field *field, void *value)
{
    const json_t *found = json_object_get(object, field->key);

    switch (field->kind) {
    case CULL_FIELD_TEXT:
    case CULL_FIELD_TEXT_IF:
    case CULL_FIELD_TEXT_OR_NULL:
        *(const char **)value = cull_records_word(object, field->key);
        break;
    case CULL_FIELD_TRUTH:
    case CULL_FIELD_NUMBER:
    case CULL_FIELD_COUNT:
        *(double *)value = json_is_boolean(found) && field->kind == CULL_FIELD_TRUTH
                               ? json_is_true(found)
                               : cull_records_number(object, field->key);
        break;
    case CULL_FIELD_BOOL:
    case CULL_FIELD_BOOL_IF: *(bool *)value = json_is_true(found); break;
    case CULL_FIELD_PHASES:
    case CULL_FIELD_PHASES_NULL:
    case CULL_FIELD_EACH_PHASE: take_phases(object, field, value); break;
    }
}

void cull_records_take(const json_t *object, const cull_records_field *fields, size_t count,
                       void *out)
{
    for (size_t i = 0; i < count; i++) take_field(object, &fields[i], (char *)out + fields[i].at);
}

cull_status cull_records_take_list(const json_t *array, const cull_records_field *fields,
                                   size_t count, size_t size, size_t most, void *out,
                                   size_t *length)
{
    cull_status status = CULL_OK;
    size_t      all = json_array_size(array);
    char       *list = NULL;

    if (all > most) all = most;
    TRY(cull_base_alloc(all, size, "a list", &list));
    for (size_t i = 0; i < all; i++)
        cull_records_take(json_array_get(array, i), fields, count, list + i * size);
    *(void **)out = list;
    *length = all;
done:
    return status;
}

bool cull_records_known(const cull_records_field *fields, size_t count, const void *value)
{
    for (size_t i = 0; i < count; i++) {
        const double *number = (const void *)((const char *)value + fields[i].at);
        bool          count_of = fields[i].kind == CULL_FIELD_COUNT;

        if (!count_of && fields[i].kind != CULL_FIELD_NUMBER) continue;
        if (!(*number >= 0) || (count_of && *number > MOST_COUNT)) return false;
    }
    return true;
}

cull_status cull_records_parse(const char *name, const void *data, size_t bytes, json_t **out)
{
    cull_status  status = CULL_OK;
    json_error_t error = {0};
    json_t      *root = json_loadb(data, bytes, JSON_REJECT_DUPLICATES, &error);

    if (!root && json_error_code(&error) == json_error_out_of_memory)
        FAIL(CULL_NO_MEMORY, "no memory for %s", name);
    if (!root) FAIL(CULL_BAD_FILE, "%s: line %d is no JSON: %.100s", name, error.line, error.text);
    if (!json_is_object(root)) FAIL(CULL_BAD_FILE, "%s: is no JSON object", name);
    *out = root;
    root = NULL;
done:
    json_decref(root);
    return status;
}

cull_status cull_records_load(const char *path, json_t **out)
{
    cull_status status = CULL_OK;
    void       *data = NULL;
    size_t      bytes = 0;

    TRY(cull_file_read(path, &data, &bytes));
    TRY(cull_records_parse(path, data, bytes, out));
done:
    cull_bytes_release(data);
    return status;
}

void cull_records_lines_clear(cull_records_lines *lines)
{
    json_decref(lines->line);
    lines->line = NULL;
}

bool cull_records_next(cull_records_lines *lines)
{
    json_error_t error = {0};
    const char  *stop = NULL;
    json_t      *line = NULL;

    cull_records_lines_clear(lines);
    if (!lines->at || lines->at >= lines->end) return false;
    stop = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
    if (!stop) stop = lines->end;
    line = json_loadb(lines->at, (size_t)(stop - lines->at), 0, &error);
    if (!line && json_error_code(&error) == json_error_out_of_memory) {
        lines->status = cull_fail(CULL_NO_MEMORY, "no memory for a line");
        return false;
    }
    lines->at = stop + 1;
    lines->number++;
    if (json_is_object(line)) {
        lines->line = line;
    } else {
        json_decref(line);
        if (lines->broken++ == 0) lines->first = lines->number;
    }
    return true;
}
