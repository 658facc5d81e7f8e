/* data/mat.h - the matrices of a MATLAB level 5 file, one after the other. */
#ifndef CULL_DATA_MAT_H
#define CULL_DATA_MAT_H

#include "data/stream.h"

enum { CULL_DATA_MAT_NAME = 64, CULL_DATA_MAT_DIMS = 8 };

/* Types of stored elements, and the classes that matter here. */
enum {
    CULL_DATA_MI_INT8 = 1,
    CULL_DATA_MI_UINT8 = 2,
    CULL_DATA_MI_INT16 = 3,
    CULL_DATA_MI_UINT16 = 4,
    CULL_DATA_MI_INT32 = 5,
    CULL_DATA_MI_UINT32 = 6,
    CULL_DATA_MI_DOUBLE = 9,
    CULL_DATA_MI_MATRIX = 14,
    CULL_DATA_MI_PACKED = 15,
    CULL_DATA_MX_DOUBLE = 6,
    CULL_DATA_MX_UINT8 = 9,
    CULL_DATA_MX_LAST_NUMERIC = 15
};

/* A matrix, read up to where its elements begin. */
typedef struct cull_data_matrix {
    char     name[CULL_DATA_MAT_NAME];
    int      kind; /* its class */
    bool     complex;
    int      dims;
    uint32_t shape[CULL_DATA_MAT_DIMS];
    int      type;  /* how its elements are stored */
    uint64_t bytes; /* that they take              */
} cull_data_matrix;

typedef struct cull_data_mat {
    const cull_data_source *source;
    uint64_t                at;                              /* of the next element            */
    unsigned                seen;                            /* elements so far                */
    unsigned char           small[4], small_count, small_at; /* elements inside their tag */
    bool                    has_small;
    cull_data_stream        content; /* of the matrix being read */
} cull_data_mat;

/* Check the file's header. `mat` is zeros; end it with cull_data_mat_end(). */
cull_status cull_data_mat_begin(const cull_data_source *source, cull_data_mat *mat);
void        cull_data_mat_end(cull_data_mat *mat);

/* The head of the next matrix; *more is false at the end of the file. What was not read of
 * the one before is skipped, unchecked. */
cull_status cull_data_mat_next(cull_data_mat *mat, cull_data_matrix *out, bool *more);

/* The next bytes of the current matrix's elements. */
cull_status cull_data_mat_read(cull_data_mat *mat, void *dst, size_t bytes);

/* After its last element: the matrix ends here, undamaged. */
cull_status cull_data_mat_finish(cull_data_mat *mat, const cull_data_matrix *matrix);

#endif
