/* records/json.h - writing JSON: one object after the other, into a growing block of bytes. */
#ifndef CULL_RECORDS_JSON_H
#define CULL_RECORDS_JSON_H

#include "base/bytes.h"

/* The first failure is kept, later calls do nothing: a record is written without a check each. */
typedef struct cull_json {
    cull_writer bytes;
    cull_status status;
    bool        inside; /* something stands before in the object or array */
} cull_json;

/* '{' and '}', '[' and ']'; key NULL: an element of an array, or the whole. */
void cull_json_open(cull_json *json, const char *key, char bracket);
void cull_json_close(cull_json *json, char bracket);
void cull_json_text(cull_json *json, const char *key, const char *value);
void cull_json_count(cull_json *json, const char *key, uint64_t value);
void cull_json_bool(cull_json *json, const char *key, bool value);
/* 17 digits, so that it is read back as it was; null where JSON has no number. */
void cull_json_number(cull_json *json, const char *key, double value);
void cull_json_line(cull_json *json); /* ends a line */

/* Forget what was written, keep the room. */
void cull_json_reset(cull_json *json);
void cull_json_clear(cull_json *json);

#endif
