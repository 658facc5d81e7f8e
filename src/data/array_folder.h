/* data/array_folder.h - sets of arrays in a folder that set.json describes. */
#ifndef CULL_DATA_ARRAY_FOLDER_H
#define CULL_DATA_ARRAY_FOLDER_H

#include "data/folder.h"
#include "data/reader.h"

/* Map the arrays of a role into an empty set; mean and deviation are set.json's. Named as a test
 * set of its own, a folder gives its test set if it has one. Targets are as they are
 * there, whatever the request's. */
cull_status cull_data_array_folder_read(const cull_data_folder  *folder,
                                        const cull_data_request *request, cull_dataset *into);

#endif
