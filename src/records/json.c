/* records/json.c - the one writer of JSON in the library. */
#include "records/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

static void put(cull_json *json, const char *text, size_t bytes)
{
    if (json->status == CULL_OK) json->status = cull_write(&json->bytes, text, bytes);
}

static void put_quoted(cull_json *json, const char *text)
{
    put(json, "\"", 1);
    for (; *text; text++) {
        char   escaped[8];
        size_t length = 1;

        escaped[0] = *text;
        if (*text == '"' || *text == '\\')
            length = (size_t)snprintf(escaped, sizeof escaped, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            length = (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)*text);
        put(json, escaped, length);
    }
    put(json, "\"", 1);
}

static void begin_value(cull_json *json, const char *key)
{
    if (json->inside) put(json, ",", 1);
    json->inside = true;
    if (!key) return;
    put_quoted(json, key);
    put(json, ":", 1);
}

void cull_json_open(cull_json *json, const char *key, char bracket)
{
    begin_value(json, key);
    put(json, &bracket, 1);
    json->inside = false;
}

void cull_json_close(cull_json *json, char bracket)
{
    put(json, &bracket, 1);
    json->inside = true;
}

void cull_json_text(cull_json *json, const char *key, const char *value)
{
    begin_value(json, key);
    put_quoted(json, value);
}

void cull_json_count(cull_json *json, const char *key, uint64_t value)
{
    char text[24];

    begin_value(json, key);
    put(json, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, value));
}

void cull_json_bool(cull_json *json, const char *key, bool value)
{
    begin_value(json, key);
    put(json, value ? "true" : "false", value ? 4 : 5);
}

void cull_json_number(cull_json *json, const char *key, double value)
{
    char text[CULL_NUMBER_ROOM];

    begin_value(json, key);
    if (isfinite(value))
        put(json, text, cull_base_write_number(value, 17, text));
    else
        put(json, "null", 4);
}

void cull_json_line(cull_json *json)
{
    put(json, "\n", 1);
    json->inside = false;
}

void cull_json_reset(cull_json *json)
{
    json->bytes.size = 0;
    json->status = CULL_OK;
    json->inside = false;
}

void cull_json_clear(cull_json *json)
{
    cull_writer_clear(&json->bytes);
    *json = (cull_json){0};
}
