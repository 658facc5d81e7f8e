/* records/comparison_fields.h - what the files of a comparison have in common. */
#ifndef CULL_RECORDS_COMPARISON_FIELDS_H
#define CULL_RECORDS_COMPARISON_FIELDS_H

#include "records/comparison.h"
#include "records/fields.h"

/* Who an arm is: its names, its strategy with the options, its share. */
void cull_records_put_who(cull_json *json, const cull_records_arm *arm);

/* A file's first bracket and its version; its last one, a line end and a zero. */
void        cull_records_begin(cull_json *json);
cull_status cull_records_end(cull_json *json);

void cull_records_put_controls(cull_json *json, const cull_records_arm *arm);
void cull_records_put_problems(cull_json *json, const cull_records_list *problems);

/* A file as an object of the version that is read here. */
cull_status cull_records_load(const char *path, json_t **out);

#endif
