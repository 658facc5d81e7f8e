/*
 * data/set_file.h - set.json, which says what the arrays of a folder are.
 *
 * It takes its name before the arrays take theirs, so that a folder in which one is missing is not
 * taken for a set.
 */
#ifndef CULL_DATA_SET_FILE_H
#define CULL_DATA_SET_FILE_H

#include "data/dataset.h"
#include "data/source.h"

#define CULL_DATA_SET_FILE "set.json"

/* Files of inputs and of targets, by role. */
extern const char *const cull_data_set_arrays[2][2];

/* All but the examples into an empty set: shape, target, classes and their names, mean, deviation.
 * count: examples by role, 0 where there are none. CULL_BAD_FILE when it is not as docs/formats.md
 * says. */
cull_status cull_data_set_file_read(const cull_data_source *source, cull_dataset *into,
                                    uint64_t count[2]);

/* The same of a set that was written, as a file; `from` is what it was made of. */
cull_status cull_data_set_file_write(const char *path, const cull_dataset *set, const char *from,
                                     const uint64_t count[2]);

#endif
