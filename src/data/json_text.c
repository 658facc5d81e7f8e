/* data/json_text.c - JSON files by jansson, and members that must be of a type. */
#include "data/json_text.h"

#include "base/alloc.h"

enum { MOST_TEXT = 1 << 26 };

cull_status cull_data_json_read(const cull_data_source *source, json_t **out)
{
    cull_status  status = CULL_OK;
    char        *text = NULL;
    json_error_t error = {0};
    json_t      *root = NULL;

    if (source->size > MOST_TEXT)
        FAIL(CULL_BAD_FILE, "%s: %llu bytes of JSON; %d are read", source->name,
             (unsigned long long)source->size, MOST_TEXT);
    TRY(cull_base_alloc((size_t)source->size, 1, "a JSON file", &text));
    TRY(cull_data_source_read(source, 0, text, (size_t)source->size));
    root = json_loadb(text, (size_t)source->size, JSON_REJECT_DUPLICATES, &error);
    if (!root && json_error_code(&error) == json_error_out_of_memory)
        FAIL(CULL_NO_MEMORY, "no memory for a JSON file");
    if (!root)
        FAIL(CULL_BAD_FILE, "%s: no JSON: line %d: %s", source->name, error.line, error.text);
    if (!json_is_object(root)) FAIL(CULL_BAD_FILE, "%s: not one JSON object", source->name);
    *out = root;
    root = NULL;
done:
    json_decref(root);
    cull_base_free(text);
    return status;
}

cull_status cull_data_json_count(const char *file, const json_t *object, const char *key,
                                 uint64_t most, uint64_t *out)
{
    const json_t *member = json_object_get(object, key);
    json_int_t    value = json_integer_value(member);

    if (!json_is_integer(member) || value < 0 || (uint64_t)value > most)
        return cull_fail(CULL_BAD_FILE, "%s: \"%s\" is no whole number of 0 to %llu", file, key,
                         (unsigned long long)most);
    *out = (uint64_t)value;
    return CULL_OK;
}

cull_status cull_data_json_string(const char *file, const json_t *object, const char *key,
                                  const char **out)
{
    const char *text = json_string_value(json_object_get(object, key));

    if (!text) return cull_fail(CULL_BAD_FILE, "%s: \"%s\" is no text", file, key);
    *out = text;
    return CULL_OK;
}

cull_status cull_data_json_list(const char *file, const json_t *object, const char *key,
                                size_t least, size_t most, const json_t **out)
{
    const json_t *list = json_object_get(object, key);
    size_t        count = json_array_size(list);

    if (!json_is_array(list) || count < least || count > most)
        return cull_fail(CULL_BAD_FILE, "%s: \"%s\" is no list of %zu to %zu elements", file, key,
                         least, most);
    *out = list;
    return CULL_OK;
}
