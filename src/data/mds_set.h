/* data/mds_set.h - MDS shards as a data set. */
#ifndef CULL_DATA_MDS_SET_H
#define CULL_DATA_MDS_SET_H

#include "data/folder.h"
#include "data/reader.h"

/* The samples of a folder's shards into an empty set; columns are chosen as docs/formats.md says.
 * most_kept: bytes of unpacked shards that are kept. */
cull_status cull_data_mds_read(const cull_data_folder *folder, const cull_data_request *request,
                               uint64_t most_kept, cull_dataset *into);

#endif
