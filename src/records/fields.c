/* records/fields.c - structs to JSON and back, field by field. */
#include "records/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "records/files.h"
#include "records/phase.h"
#include "records/yardstick.h"

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

static bool is_known(cull_records_kind base, const void *value)
{
    size_t numbers = base == CULL_FIELD_PHASES || base == CULL_FIELD_EACH ? CULL_PHASES : 1;

    if (base == CULL_FIELD_TEXT) return (*(const char *const *)value)[0] != '\0';
    if (base == CULL_FIELD_BOOL) return *(const bool *)value;
    if (base == CULL_FIELD_SIZE) return *(const size_t *)value != SIZE_MAX;
    if (base == CULL_FIELD_TEXTS) return ((const cull_records_texts *)value)->count > 0;
    for (size_t i = 0; i < numbers; i++)
        if (!isnan(((const double *)value)[i])) return true;
    return false;
}

/* As an object, or each by itself behind the key. */
static void put_phases(cull_json *json, const char *key, bool each, const double *phases, bool any)
{
    char name[MOST_KEY];

    if (!each) cull_json_open(json, key, '{');
    for (int i = 0; any && i < CULL_PHASES; i++) {
        const char *phase = cull_phase_name((cull_phase)i);

        (void)snprintf(name, sizeof name, "%s_%s", key, phase);
        cull_json_number(json, each ? name : phase, phases[i]);
    }
    if (!each) cull_json_close(json, '}');
}

static void put_texts(cull_json *json, const char *key, const cull_records_texts *texts)
{
    cull_json_open(json, key, '[');
    for (size_t i = 0; i < texts->count; i++) cull_json_text(json, NULL, texts->text[i]);
    cull_json_close(json, ']');
}

static void put_field(cull_json *json, const cull_records_field *field, const void *value)
{
    cull_records_kind base = field->kind & CULL_FIELD_BASE;
    bool              known = is_known(base, value), number = base == CULL_FIELD_NUMBER;
    const char       *key = field->key;

    if (!known && (field->kind & CULL_FIELD_NULL || number)) {
        cull_json_number(json, key, NAN);
        return;
    }
    if (!known && field->kind & CULL_FIELD_IF) return;
    switch (base) {
    case CULL_FIELD_TEXT: cull_json_text(json, key, *(const char *const *)value); break;
    case CULL_FIELD_TEXTS: put_texts(json, key, value); break;
    case CULL_FIELD_BOOL: cull_json_bool(json, key, *(const bool *)value); break;
    case CULL_FIELD_NUMBER: cull_json_number(json, key, *(const double *)value); break;
    case CULL_FIELD_COUNT:
        if (known) cull_json_count(json, key, (uint64_t) * (const double *)value);
        break;
    case CULL_FIELD_SIZE:
        if (known) cull_json_count(json, key, *(const size_t *)value);
        break;
    case CULL_FIELD_TRUTH:
        if (known) cull_json_bool(json, key, *(const double *)value != 0);
        break;
    default: put_phases(json, key, base == CULL_FIELD_EACH, value, known); break;
    }
}

/* The field that ends an object, and whether anything in it is known. */
static size_t find_end(const cull_records_field *fields, size_t open, const char *from, bool *known)
{
    size_t i = open + 1;

    *known = false;
    for (; fields[i].kind != CULL_FIELD_CLOSE; i++)
        *known = *known || is_known(fields[i].kind & CULL_FIELD_BASE, from + fields[i].at);
    return i;
}

void cull_records_put(cull_json *json, const cull_records_field *fields, size_t count,
                      const void *from)
{
    for (size_t i = 0; i < count; i++) {
        bool known = true;

        if (fields[i].kind == CULL_FIELD_OPEN_IF) {
            size_t end = find_end(fields, i, from, &known);
            if (!known) i = end;
        }
        if (known && (fields[i].kind & CULL_FIELD_BASE) == CULL_FIELD_OPEN)
            cull_json_open(json, fields[i].key, '{');
        else if (known && fields[i].kind == CULL_FIELD_CLOSE)
            cull_json_close(json, '}');
        else if (known)
            put_field(json, &fields[i], (const char *)from + fields[i].at);
    }
}

void cull_records_name(const cull_records_field *fields, size_t count, const char *key,
                       cull_records_field *out)
{
    memcpy(out, fields, count * sizeof *out);
    for (size_t i = 0; i < count; i++)
        if (out[i].key && strcmp(out[i].key, cull_yardstick_accuracy.key) == 0) out[i].key = key;
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

static void take_phases(const json_t *object, const char *key, bool each, double *out)
{
    char name[MOST_KEY];

    for (int i = 0; i < CULL_PHASES; i++) {
        const char *phase = cull_phase_name((cull_phase)i);

        (void)snprintf(name, sizeof name, "%s_%s", key, phase);
        out[i] = each ? cull_records_number(object, name)
                      : cull_records_number(json_object_get(object, key), phase);
    }
}

void cull_records_texts_add(cull_records_texts *texts, const char *text)
{
    for (size_t i = 0; i < texts->count; i++)
        if (strcmp(texts->text[i], text) == 0) return;
    if (texts->count < CULL_RECORDS_TEXTS) texts->text[texts->count++] = text;
}

/* Without the folders of the path that a sentence begins with. */
static const char *skip_folders(const char *text)
{
    const char *end = strstr(text, ": "), *from = text;

    for (const char *at = text; end && at < end; at++)
        if (*at == '/') from = at + 1;
    return from;
}

bool cull_records_texts_alike(const char *a, const char *b)
{
    return strcmp(skip_folders(a), skip_folders(b)) == 0;
}

static void take_texts(const json_t *array, cull_records_texts *out)
{
    size_t        i = 0;
    const json_t *text = NULL;

    *out = (cull_records_texts){0};
    json_array_foreach(array, i, text)
    {
        if (json_is_string(text)) cull_records_texts_add(out, json_string_value(text));
    }
}

static void take_field(const json_t *object, const cull_records_field *field, void *value)
{
    cull_records_kind base = field->kind & CULL_FIELD_BASE;
    const json_t     *found = json_object_get(object, field->key);
    double            number = cull_records_number(object, field->key);

    switch (base) {
    case CULL_FIELD_TEXT: *(const char **)value = cull_records_word(object, field->key); break;
    case CULL_FIELD_TEXTS: take_texts(found, value); break;
    case CULL_FIELD_BOOL: *(bool *)value = json_is_true(found); break;
    case CULL_FIELD_SIZE:
        *(size_t *)value = number >= 0 && number <= MOST_COUNT ? (size_t)number : SIZE_MAX;
        break;
    case CULL_FIELD_TRUTH:
        *(double *)value = json_is_boolean(found) ? json_is_true(found) : number;
        break;
    case CULL_FIELD_NUMBER:
    case CULL_FIELD_COUNT: *(double *)value = number; break;
    default: take_phases(object, field->key, base == CULL_FIELD_EACH, value); break;
    }
}

void cull_records_take(const json_t *object, const cull_records_field *fields, size_t count,
                       void *out)
{
    const json_t *inside = object;

    for (size_t i = 0; i < count; i++)
        if ((fields[i].kind & CULL_FIELD_BASE) == CULL_FIELD_OPEN)
            inside = json_object_get(object, fields[i].key);
        else if (fields[i].kind == CULL_FIELD_CLOSE)
            inside = object;
        else
            take_field(inside, &fields[i], (char *)out + fields[i].at);
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
        const void *at = (const char *)value + fields[i].at;

        if (fields[i].kind == CULL_FIELD_SIZE && !is_known(CULL_FIELD_SIZE, at)) return false;
        if (fields[i].kind == CULL_FIELD_NUMBER && !(*(const double *)at >= 0)) return false;
    }
    return true;
}

cull_status cull_records_parse(const char *name, const void *data, size_t bytes, size_t flags,
                               json_t **out)
{
    cull_status  status = CULL_OK;
    json_error_t error = {0};
    json_t      *root = json_loadb(data, bytes, JSON_REJECT_DUPLICATES | flags, &error);

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

void cull_records_lines_clear(cull_records_lines *lines)
{
    json_decref(lines->line);
    lines->line = NULL;
}

bool cull_records_next(cull_records_lines *lines)
{
    json_error_t error = {0};
    const char  *stop = NULL;

    cull_records_lines_clear(lines);
    if (!lines->at || lines->at >= lines->end) return false;
    stop = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
    if (!stop) stop = lines->end;
    lines->line = json_loadb(lines->at, (size_t)(stop - lines->at), 0, &error);
    if (!lines->line && json_error_code(&error) == json_error_out_of_memory) {
        lines->status = cull_fail(CULL_NO_MEMORY, "no memory for a line");
        return false;
    }
    lines->at = stop + 1;
    lines->number++;
    if (json_is_object(lines->line)) return true;
    cull_records_lines_clear(lines);
    if (lines->broken++ == 0) lines->first = lines->number;
    return true;
}
