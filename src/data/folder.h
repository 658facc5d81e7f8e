/* data/folder.h - files of one folder, by their names: on disk, or bytes that stand for them. */
#ifndef CULL_DATA_FOLDER_H
#define CULL_DATA_FOLDER_H

#include "data/source.h"

typedef struct cull_data_folder cull_data_folder;

struct cull_data_folder {
    const char *path; /* begins the names of its files; borrowed */

    /* The bytes of a file, borrowed; NULL: it is not there. Where this is NULL, files are on disk.
     */
    const void *(*find)(const cull_data_folder *folder, const char *name, size_t *bytes);
    const void *self;
};

/* Is there a file of this name? */
bool cull_data_folder_has(const cull_data_folder *folder, const char *name);

/* Open it; `path` becomes its name, which the source borrows. */
cull_status cull_data_folder_open(const cull_data_folder *folder, const char *name,
                                  char path[CULL_DATA_PATH], cull_data_source *out);

#endif
