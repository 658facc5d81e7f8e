/* data/npy_form.h - what elements of a .npy file may be on disk, and what they are in memory. */
#ifndef CULL_DATA_NPY_FORM_H
#define CULL_DATA_NPY_FORM_H

#include "base/status.h"

typedef struct cull_npy_form {
    char       code[3]; /* "f4" */
    cull_dtype dtype;   /* in memory */
    size_t     bytes;   /* on disk   */

    /* NULL: they are read as they are. False: an element has no place in the wider type. */
    bool (*widen)(const unsigned char *from, size_t count, void *to);
} cull_npy_form;

/* Of a header's descr: "<f4", "|u1". NULL: of no type that is read. */
const cull_npy_form *cull_data_npy_form(const char *descr, size_t length);

#endif
