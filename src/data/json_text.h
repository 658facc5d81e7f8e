/*
 * data/json_text.h - JSON that lies beside data, read whole and taken apart with every type
 * checked.
 *
 * Sentences begin with the name of the file.
 */
#ifndef CULL_DATA_JSON_TEXT_H
#define CULL_DATA_JSON_TEXT_H

#include <jansson.h>

#include "data/source.h"

/* The object that fills a file, no key twice; ends with json_decref(). CULL_BAD_FILE says where it
 * is none. */
cull_status cull_data_json_read(const cull_data_source *source, json_t **out);

/* A member that must be there: a whole number of 0 to `most`; a text; a list of `least` to `most`
 * elements. What is returned is borrowed. */
cull_status cull_data_json_count(const char *file, const json_t *object, const char *key,
                                 uint64_t most, uint64_t *out);
cull_status cull_data_json_string(const char *file, const json_t *object, const char *key,
                                  const char **out);
cull_status cull_data_json_list(const char *file, const json_t *object, const char *key,
                                size_t least, size_t most, const json_t **out);

#endif
