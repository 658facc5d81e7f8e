/* base/path.h - names of files inside folders, and folders that are made where they are missing. */
#ifndef CULL_BASE_PATH_H
#define CULL_BASE_PATH_H

#include "base/status.h"

/* "FOLDER/NAME". CULL_IO when that is too long. */
cull_status cull_base_join(const char *folder, const char *name, char out[CULL_DATA_PATH]);

bool cull_base_is_folder(const char *path);

/* Is this, which may still have to be made, the other file or folder, or would it lie inside? */
bool cull_base_lies_in(const char *path, const char *folder);

/* The folder of a path and those above it; the last part too where it ends in a slash. */
cull_status cull_base_make_folders(const char *path);

#endif
