/*
 * data/mds.h - samples in MDS shards, wherever they lie: mapped where shards are plain, unpacked
 * whole and kept for a while where they are packed.
 */
#ifndef CULL_DATA_MDS_H
#define CULL_DATA_MDS_H

#include "data/folder.h"
#include "data/mds_index.h"

typedef struct cull_mds cull_mds;

/* The columns of one sample. */
typedef struct cull_mds_sample {
    const char          *file;   /* for sentences: of the shard ...            */
    size_t               number; /* ... and which of its samples             */
    const unsigned char *cell[CULL_MDS_COLUMNS];
    uint32_t             bytes[CULL_MDS_COLUMNS];
    size_t               shard; /* to whom it is given back                  */
} cull_mds_sample;

/* Sizes of files are compared with the index; what is in them is not read yet. most_kept: bytes of
 * unpacked shards that are kept, though always one. */
cull_status cull_mds_open(const cull_data_folder *folder, uint64_t most_kept, cull_mds **out);
void        cull_mds_close(cull_mds *mds);

const cull_mds_index *cull_mds_index_of(const cull_mds *mds);

/* Are there packed shards, and more of them than are kept? Then samples in any order cost an
 * unpacking each. */
bool cull_mds_crowded(const cull_mds *mds);

/* Borrow a sample, and give it back. By several threads at once. CULL_BAD_FILE when the shard is
 * not what the index promises. */
cull_status cull_mds_borrow(cull_mds *mds, size_t sample, cull_mds_sample *out);
void        cull_mds_give_back(cull_mds *mds, const cull_mds_sample *sample);

#endif
