/* data/mds_index.h - index.json of MDS shards: which columns samples have, which files there are.
 */
#ifndef CULL_DATA_MDS_INDEX_H
#define CULL_DATA_MDS_INDEX_H

#include "data/npy_form.h"
#include "data/source.h"

enum { CULL_MDS_COLUMNS = 64, CULL_MDS_SHARDS = 1 << 16 };

/* What the bytes of a cell are. */
typedef enum cull_mds_kind {
    CULL_MDS_OTHER,  /* nothing that is read here: pickles, lists, JSON               */
    CULL_MDS_NUMBER, /* one number of `element`                                       */
    CULL_MDS_DIGITS, /* a whole number as text                                        */
    CULL_MDS_TEXT,   /* UTF-8                                                         */
    CULL_MDS_BYTES,  /* anything                                                      */
    CULL_MDS_ARRAY,  /* numbers of one type, maybe behind that type and their shape   */
    CULL_MDS_RAW,    /* width, height, mode and pixels, as PIL has them in memory     */
    CULL_MDS_PICTURE /* a compressed picture                                          */
} cull_mds_kind;

/* Elements by the code that an array's cell has for them; NULL: there are none of that code. */
const cull_npy_form *cull_mds_form(unsigned code);

typedef struct cull_mds_column {
    char                *name, *encoding;
    cull_mds_kind        kind;
    const cull_npy_form *form;                 /* of NUMBER; of ARRAY, or NULL: each cell says  */
    int                  dims;                 /* of ARRAY; 0: each cell says                   */
    int64_t              shape[CULL_MAX_DIMS]; /* [dims]                                        */
    uint32_t             size;                 /* bytes of a cell; 0: each sample says          */
} cull_mds_column;

typedef struct cull_mds_shard {
    char    *raw, *packed; /* files below the folder; packed may be NULL */
    uint64_t raw_bytes, packed_bytes;
    uint32_t samples;
    size_t   first; /* samples in the shards before */
} cull_mds_shard;

typedef struct cull_mds_index {
    cull_mds_column *column; /* [columns] the same in every shard */
    cull_mds_shard  *shard;  /* [shards] */
    size_t           columns, shards, samples;
} cull_mds_index;

/* CULL_BAD_FILE when it is not as docs/formats.md says. Zeroed before, and ended with clear after a
 * failure too. */
cull_status cull_mds_index_read(const cull_data_source *source, cull_mds_index *out);
void        cull_mds_index_clear(cull_mds_index *index);

#endif
