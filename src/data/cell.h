/*
 * data/cell.h - one example's inputs as they lie inside of a container, and as a row of a set.
 *
 * What the first cell is fixes what all of them must be.
 */
#ifndef CULL_DATA_CELL_H
#define CULL_DATA_CELL_H

#include "data/dataset.h"
#include "data/npy_form.h"

typedef enum cull_cell_kind {
    CULL_CELL_NUMBERS, /* elements, one behind the other; form and shape are known */
    CULL_CELL_NPY      /* the bytes of a .npy file                                 */
} cull_cell_kind;

/* Borrowed bytes. */
typedef struct cull_cell {
    const char          *name; /* begins every sentence */
    cull_cell_kind       kind;
    const unsigned char *data;
    size_t               bytes;
    const cull_npy_form *form; /* of numbers, ... */
    int                  dims;
    int64_t              shape[CULL_MAX_DIMS]; /* ... whose product times the form's is `bytes` */
} cull_cell;

/* What all cells of a set are. */
typedef struct cull_cell_frame {
    cull_dtype dtype; /* in memory, before it is a row */
    int        dims;
    int64_t    shape[CULL_MAX_DIMS];
    bool       turned;                          /* images have their channels last */
    size_t     channels, area;                  /* of a row                        */
    cull_dtype to;
} cull_cell_frame;

/* Fix shape and type of an empty set by its first cell: (D), (H, W), (C, H, W) or (H, W, C), where
 * channels are found as in arrays of images (data/channels.h). uint8 and bool are images, all else
 * becomes float32. */
cull_status cull_data_cell_look(const cull_cell *cell, const cull_data_request *request,
                                cull_dataset *into, cull_cell_frame *out);

/* A row. CULL_BAD_FILE when the cell is something else than the first was. */
cull_status cull_data_cell_make(const cull_cell *cell, const cull_cell_frame *frame, void *out);

#endif
