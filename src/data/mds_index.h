/* data/mds_index.h - index.json of MDS shards: which columns samples have, which files there are.
 */
#ifndef CULL_DATA_MDS_INDEX_H
#define CULL_DATA_MDS_INDEX_H

#include "data/source.h"

enum { CULL_MDS_COLUMNS = 64, CULL_MDS_SHARDS = 1 << 16, CULL_MDS_DIMS = 8 };

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

/* Numbers in cells, as NDArray's codes name them: the bits, and 0 unsigned, 1 signed, 2 real. */
typedef enum cull_mds_element {
    CULL_MDS_NONE = 0,
    CULL_MDS_U8 = 8,
    CULL_MDS_I8 = 9,
    CULL_MDS_U16 = 16,
    CULL_MDS_I16 = 17,
    CULL_MDS_F16 = 18,
    CULL_MDS_U32 = 32,
    CULL_MDS_I32 = 33,
    CULL_MDS_F32 = 34,
    CULL_MDS_U64 = 64,
    CULL_MDS_I64 = 65,
    CULL_MDS_F64 = 66
} cull_mds_element;

/* Bytes of one; 0 where there is no such type. */
size_t cull_mds_element_size(unsigned element);

typedef struct cull_mds_column {
    char            *name, *encoding;
    cull_mds_kind    kind;
    cull_mds_element element;              /* of NUMBER; of ARRAY, or NONE: each cell says  */
    size_t           dims;                 /* of ARRAY; 0: each cell says                   */
    uint64_t         shape[CULL_MDS_DIMS]; /* [dims]                                        */
    uint32_t         size;                 /* bytes of a cell; 0: each sample says          */
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
