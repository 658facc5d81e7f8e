/*
 * data/cells.h - examples as they lie inside of a container, one by one, and as rows of a set.
 *
 *     look at every cell -> settle: what all of them become -> make any of them, as often as wanted
 *
 * A cell is an array (its elements, or a .npy file) or a picture. The first one says what all must
 * be; pictures of any size are scaled where data.size asks for it.
 */
#ifndef CULL_DATA_CELLS_H
#define CULL_DATA_CELLS_H

#include "data/dataset.h"
#include "data/npy_form.h"
#include "data/picture_file.h"

typedef enum cull_cell_kind {
    CULL_CELL_NUMBERS, /* elements, one behind the other; form and shape are known */
    CULL_CELL_NPY,     /* the bytes of a .npy file                                 */
    CULL_CELL_PICTURE
} cull_cell_kind;

/* Borrowed bytes. */
typedef struct cull_cell {
    const char          *name; /* begins every sentence */
    cull_cell_kind       kind;
    const unsigned char *data;
    size_t               bytes;

    /* Of numbers; the product of the shape times the form's bytes is `bytes`. */
    const cull_npy_form *form;
    int                  dims;
    int64_t              shape[CULL_MAX_DIMS];

    const cull_picture_kind *picture; /* NULL: told by the first bytes */
} cull_cell;

/* What all cells of a set are; zeroed before the first look. */
typedef struct cull_cells {
    bool               seen;
    cull_cell_kind     kind;
    cull_tensor        array; /* of arrays: shape, and type in memory; no data */
    bool               turned;
    bool               colour; /* of pictures */
    size_t             width, height;
    char               first[CULL_DATA_NAME]; /* its name */
    cull_picture_frame frame;
    size_t             channels, area; /* of a row */
    cull_dtype         dtype;
} cull_cells;

/* CULL_BAD_FILE when it is no picture or array that is read, or not as those before;
 * CULL_BAD_OPTION, about data.size, when pictures differ in size. Arrays beyond the first are left
 * to be made. */
cull_status cull_data_cells_look(cull_cells *cells, const cull_cell *cell,
                                 const cull_data_request *request);

/* Would colours in the set beside this one matter? Both are grey or neither is, unless somebody
 * said what is wanted. */
bool cull_data_cells_grey(const cull_cells *cells, const cull_data_request *request,
                          const cull_dataset *into);

/* Fix shape and type of an empty set. (D), (H, W), (C, H, W) or (H, W, C), where channels are found
 * as in arrays of images; uint8 and bool are images, all else becomes float32. CULL_BAD_OPTION when
 * what the request says does not fit. */
cull_status cull_data_cells_settle(cull_cells *cells, const cull_data_request *request,
                                   cull_dataset *into);

/* A row. By several threads at once. */
cull_status cull_data_cells_make(const cull_cells *cells, const cull_cell *cell, void *out);

#endif
