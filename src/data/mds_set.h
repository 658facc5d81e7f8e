/* data/mds_set.h - MDS shards as a data set. */
#ifndef CULL_DATA_MDS_SET_H
#define CULL_DATA_MDS_SET_H

#include "data/folder.h"
#include "data/reader.h"

/* Bytes of memory for shards that are unpacked whole, and for rows made of them. */
typedef struct cull_mds_room {
    uint64_t unpacked, rows;
} cull_mds_room;

/* The samples of a folder's shards into an empty set; columns are chosen as docs/formats.md says.
 * *measured: rows had room, and were. */
cull_status cull_data_mds_read(const cull_data_folder *folder, const cull_data_request *request,
                               cull_mds_room room, cull_dataset *into, bool *measured);

#endif
