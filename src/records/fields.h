/*
 * records/fields.h - the fields of a JSON object as members of a struct: one list for both
 * directions, so that what is written is what is read.
 *
 * Read, a number that is missing, null, of another type or beyond 1e30 is NaN (a size SIZE_MAX); a
 * text that is missing or no text is "", else borrowed from the JSON.
 */
#ifndef CULL_RECORDS_FIELDS_H
#define CULL_RECORDS_FIELDS_H

#include <jansson.h>

#include "records/json.h"

typedef enum cull_records_kind {
    CULL_FIELD_TEXT,   /* const char *                                      */
    CULL_FIELD_NUMBER, /* double; null where it is not finite               */
    CULL_FIELD_COUNT,  /* double that is whole; left out where not known    */
    CULL_FIELD_SIZE,   /* size_t; left out where not known                  */
    CULL_FIELD_BOOL,   /* bool                                              */
    CULL_FIELD_TRUTH,  /* double, 0 or 1 as a bool; left out where not known */
    CULL_FIELD_PHASES, /* double[CULL_PHASES]: an object of those that are known */
    CULL_FIELD_EACH,   /* the same as fields "KEY_load", ...; left out where none is known */
    CULL_FIELD_OPEN,   /* the fields up to ...                              */
    CULL_FIELD_CLOSE,  /* ... this one are an object of this key            */
    CULL_FIELD_TEXTS,  /* cull_records_texts: an array                      */
    CULL_FIELD_BASE = 15,
    CULL_FIELD_IF = 16,   /* left out where it is "", false or not known: also objects */
    CULL_FIELD_NULL = 32, /* null where it is "" or not known                */
    CULL_FIELD_TEXT_IF = CULL_FIELD_TEXT | CULL_FIELD_IF,
    CULL_FIELD_TEXT_NULL = CULL_FIELD_TEXT | CULL_FIELD_NULL,
    CULL_FIELD_TEXTS_IF = CULL_FIELD_TEXTS | CULL_FIELD_IF,
    CULL_FIELD_BOOL_IF = CULL_FIELD_BOOL | CULL_FIELD_IF,
    CULL_FIELD_PHASES_IF = CULL_FIELD_PHASES | CULL_FIELD_IF,
    CULL_FIELD_PHASES_NULL = CULL_FIELD_PHASES | CULL_FIELD_NULL,
    CULL_FIELD_OPEN_IF = CULL_FIELD_OPEN | CULL_FIELD_IF
} cull_records_kind;

typedef struct cull_records_field {
    const char       *key;
    cull_records_kind kind;
    size_t            at; /* in the struct */
} cull_records_field;

// clang-format off
#define CULL_FIELD(type, key, kind, member) {key, CULL_FIELD_##kind, offsetof(type, member)}
#define CULL_OBJECT(key, kind)              {key, CULL_FIELD_##kind, 0}
// clang-format on

/* A list and its length, as the calls below take them. */
#define CULL_FIELDS(list) (list), sizeof(list) / sizeof *(list)

void cull_records_put(cull_json *json, const cull_records_field *fields, size_t count,
                      const void *from);
/* A copy of a list, in which `key` stands where "accuracy" did: what runs are judged by is told
 * under its own name. */
void cull_records_name(const cull_records_field *fields, size_t count, const char *key,
                       cull_records_field *out);
/* object NULL, or none: nothing is known. */
void cull_records_take(const json_t *object, const cull_records_field *fields, size_t count,
                       void *out);
/* Is every number there and not negative? */
bool cull_records_known(const cull_records_field *fields, size_t count, const void *value);

/* A list of structs of `size` bytes as an array of objects, and back: *out is a new block of
 * *length, at most `most`. */
void cull_records_put_list(cull_json *json, const char *key, const cull_records_field *fields,
                           size_t count, const void *list, size_t length, size_t size);
cull_status cull_records_take_list(const json_t *array, const cull_records_field *fields,
                                   size_t count, size_t size, size_t most, void *out,
                                   size_t *length);

double      cull_records_number(const json_t *object, const char *key);
const char *cull_records_word(const json_t *object, const char *key);

/* Bytes as one JSON object, no key twice, `name` beginning the sentence; flags: more of jansson's.
 * CULL_BAD_FILE: they are none. */
cull_status cull_records_parse(const char *name, const void *data, size_t bytes, size_t flags,
                               json_t **out);

/* A file of objects, one a line, from .at to .end. */
typedef struct cull_records_lines {
    const char *at, *end;
    json_t     *line;   /* the current one, owned; NULL: it is no JSON object      */
    size_t      number; /* of the current one, from 1                              */
    size_t      broken; /* so many were none, the first of them line .first        */
    size_t      first;
    cull_status status; /* CULL_NO_MEMORY                                          */
} cull_records_lines;

/* Go to the next line; false: there is none, or no memory. Clear what is left when it ends. */
bool cull_records_next(cull_records_lines *lines);
void cull_records_lines_clear(cull_records_lines *lines);

#endif
