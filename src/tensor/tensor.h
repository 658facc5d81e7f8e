/* tensor/tensor.h - reading views: where they lie, rows, conversion to double, checks. */
#ifndef CULL_TENSOR_TENSOR_H
#define CULL_TENSOR_TENSOR_H

#include "base/status.h"

static inline bool cull_tensor_present(const cull_tensor *t)
{
    return t->data != NULL;
}

static inline bool cull_tensor_is_float(const cull_tensor *t)
{
    return t->dtype == CULL_F32 || t->dtype == CULL_F64 || t->dtype == CULL_BF16;
}

/* The nearest bfloat16, ties to even, as its bits; and back. What is no number stays none. */
uint16_t cull_bf16_of(float x);
float    cull_bf16_wide(uint16_t bits);

enum { CULL_DEVICE_NAME = 32 };

/* Is it one memory? Pinned host memory is the host's: what DLPack calls 1, 3 and 11, and 0. */
bool cull_device_same(cull_device a, cull_device b);

/* "host", "cuda:0". Returns the buffer. */
const char *cull_device_name(cull_device device, char out[CULL_DEVICE_NAME]);

/* CULL_UNSUPPORTED, naming both, unless what `name` begins the sentence of lies on `wanted`. */
cull_status cull_device_check(cull_device device, cull_device wanted, const char *name);

/* Address of row i of a vector (its element) or matrix. */
static inline const void *cull_tensor_row(const cull_tensor *t, size_t i)
{
    return (const char *)t->data + (int64_t)i * t->stride[0] * (int64_t)cull_dtype_size(t->dtype);
}

/* Row i of a matrix as a vector. */
static inline cull_tensor cull_tensor_line(const cull_tensor *t, size_t i)
{
    return cull_vector(cull_tensor_row(t, i), t->dtype, (size_t)t->shape[1]);
}

/* Element i of a vector as a double, whatever its type. */
double cull_tensor_get(const cull_tensor *t, size_t i);

/* `count` elements of a vector, from the first, into out. */
void cull_tensor_to_double(const cull_tensor *t, size_t count, double *out);

/*
 * Check that a view is what a caller promised: on the host, `dims` dimensions, `rows` rows, float32
 * or float64 (or, for `integral`, an integer type), a dense last dimension, at least one column.
 * `name` begins the sentence. Absent is an error too.
 */
cull_status cull_tensor_check(const cull_tensor *t, const char *name, int dims, size_t rows,
                              bool integral);
/* The same of one that lies on `device`, where floats may be bfloat16 too. */
cull_status cull_tensor_check_on(const cull_tensor *t, const char *name, cull_device device,
                                 int dims, size_t rows, bool integral);

/* The first row with a NaN or infinity, or `rows` when there is none. */
size_t cull_tensor_first_not_finite(const cull_tensor *t, size_t rows);

#endif
