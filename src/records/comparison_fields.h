/* records/comparison_fields.h - what the files of a comparison have in common. */
#ifndef CULL_RECORDS_COMPARISON_FIELDS_H
#define CULL_RECORDS_COMPARISON_FIELDS_H

#include "records/fields.h"
#include "records/files.h"

enum { CULL_RECORDS_VERSION = 1, CULL_RECORDS_WHO = 6 };

extern const cull_records_field cull_records_who_fields[CULL_RECORDS_WHO];

void cull_records_put_problems(cull_json *json, const cull_records_list *problems);

/* The end of a file: a last bracket, a line end and a zero. */
cull_status cull_records_end(cull_json *json);

/* A file of the version that is read here. */
cull_status cull_records_load_version(const char *path, json_t **out);
cull_status cull_records_check_version(const char *name, const json_t *root);

#endif
