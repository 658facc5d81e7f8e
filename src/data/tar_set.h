/* data/tar_set.h - tar archives as a data set. */
#ifndef CULL_DATA_TAR_SET_H
#define CULL_DATA_TAR_SET_H

#include "data/tar_files.h"

/* The examples of archives into an empty set. *files become the set's, or are cleared: they are
 * zeros then. most: bytes of rows that are kept in memory, which are measured then. */
cull_status cull_data_tar_read(cull_tar_files *files, const cull_data_request *request,
                               uint64_t most, cull_dataset *into, bool *measured);

#endif
