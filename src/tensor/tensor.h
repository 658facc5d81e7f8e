/* tensor/tensor.h - reading views: rows, conversion to double, checks. */
#ifndef CULL_TENSOR_TENSOR_H
#define CULL_TENSOR_TENSOR_H

#include "base/status.h"

static inline bool cull_tensor_present(const cull_tensor *t)
{
    return t->data != NULL;
}

static inline bool cull_tensor_is_float(const cull_tensor *t)
{
    return t->dtype == CULL_F32 || t->dtype == CULL_F64;
}

/* Address of row i of a vector (its element) or matrix. */
static inline const void *cull_tensor_row(const cull_tensor *t, size_t i)
{
    return (const char *)t->data + (int64_t)i * t->stride[0] * (int64_t)cull_dtype_size(t->dtype);
}

/* Element i of a vector as a double; any dtype. */
double cull_tensor_get(const cull_tensor *t, size_t i);

/* `count` elements of a vector, from the first, into out. */
void cull_tensor_to_double(const cull_tensor *t, size_t count, double *out);

/*
 * Check that a view is what a caller promised: `dims` dimensions, `rows` rows, a float
 * (or, for `integral`, an integer) type, a dense last dimension, at least one column.
 * `name` begins the sentence. Absent is an error too.
 */
cull_status cull_tensor_check(const cull_tensor *t, const char *name, int dims, size_t rows,
                              bool integral);

/* The first row with a NaN or infinity, or `rows` when there is none. */
size_t cull_tensor_first_not_finite(const cull_tensor *t, size_t rows);

#endif
