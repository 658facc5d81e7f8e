/* base/path.h - names of files inside folders, and folders that are made where they are missing. */
#ifndef CULL_BASE_PATH_H
#define CULL_BASE_PATH_H

#include "base/status.h"

/* "FOLDER/NAME". CULL_IO when that is too long. */
cull_status cull_base_join(const char *folder, const char *name, char out[CULL_DATA_PATH]);

bool cull_base_is_folder(const char *path);

/* The folder of a path and those above it; the last part too where it ends in a slash. */
cull_status cull_base_make_folders(const char *path);

#endif
