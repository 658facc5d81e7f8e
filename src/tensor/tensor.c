/* tensor/tensor.c - making, reading and checking views. */
#include "tensor/tensor.h"

#include <math.h>
#include <string.h>

cull_tensor cull_vector(const void *data, cull_dtype dtype, size_t count)
{
    return (cull_tensor){.data = (void *)(uintptr_t)data,
                         .dtype = dtype,
                         .dims = 1,
                         .shape = {(int64_t)count},
                         .stride = {1}};
}

cull_tensor cull_matrix(const void *data, cull_dtype dtype, size_t rows, size_t columns)
{
    return (cull_tensor){.data = (void *)(uintptr_t)data,
                         .dtype = dtype,
                         .dims = 2,
                         .shape = {(int64_t)rows, (int64_t)columns},
                         .stride = {(int64_t)columns, 1}};
}

cull_tensor cull_images(const void *data, cull_dtype dtype, size_t count, size_t channels,
                        size_t height, size_t width)
{
    return (cull_tensor){
        .data = (void *)(uintptr_t)data,
        .dtype = dtype,
        .dims = 4,
        .shape = {(int64_t)count, (int64_t)channels, (int64_t)height, (int64_t)width},
        .stride = {(int64_t)(channels * height * width), (int64_t)(height * width), (int64_t)width,
                   1}};
}

size_t cull_dtype_size(cull_dtype dtype)
{
    switch (dtype) {
    case CULL_F32: return 4;
    case CULL_F64: return 8;
    case CULL_I32: return 4;
    case CULL_I64: return 8;
    case CULL_U8: return 1;
    case CULL_BF16: return 2;
    }
    return 0;
}

const char *cull_dtype_name(cull_dtype dtype)
{
    switch (dtype) {
    case CULL_F32: return "float32";
    case CULL_F64: return "float64";
    case CULL_I32: return "int32";
    case CULL_I64: return "int64";
    case CULL_U8: return "uint8";
    case CULL_BF16: return "bfloat16";
    }
    return "unknown";
}

/* bfloat16 is the upper half of a float32. */
float cull_bf16_wide(uint16_t bits)
{
    uint32_t word = (uint32_t)bits << 16;
    float    x = 0;

    memcpy(&x, &word, sizeof x);
    return x;
}

uint16_t cull_bf16_of(float x)
{
    uint32_t word = 0;

    memcpy(&word, &x, sizeof word);
    if ((word & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(word >> 16 | 0x40u);
    return (uint16_t)((word + 0x7fffu + (word >> 16 & 1u)) >> 16);
}

double cull_tensor_get(const cull_tensor *t, size_t i)
{
    const void *at = cull_tensor_row(t, i);

    switch (t->dtype) {
    case CULL_F32: return (double)*(const float *)at;
    case CULL_F64: return *(const double *)at;
    case CULL_I32: return (double)*(const int32_t *)at;
    case CULL_I64: return (double)*(const int64_t *)at;
    case CULL_U8: return (double)*(const uint8_t *)at;
    case CULL_BF16: return (double)cull_bf16_wide(*(const uint16_t *)at);
    }
    return NAN;
}

void cull_tensor_to_double(const cull_tensor *t, size_t count, double *out)
{
    if (t->dtype == CULL_F32 && t->stride[0] == 1) {
        const float *x = t->data;
        for (size_t i = 0; i < count; i++) out[i] = (double)x[i];
        return;
    }
    for (size_t i = 0; i < count; i++) out[i] = cull_tensor_get(t, i);
}

static bool is_of_type(const cull_tensor *t, bool host, bool integral)
{
    if (integral) return cull_dtype_size(t->dtype) != 0 && !cull_tensor_is_float(t);
    return t->dtype == CULL_F32 || t->dtype == CULL_F64 || (!host && t->dtype == CULL_BF16);
}

cull_status cull_tensor_check(const cull_tensor *t, const char *name, int dims, size_t rows,
                              bool integral)
{
    return cull_tensor_check_on(t, name, (cull_device){0}, dims, rows, integral);
}

cull_status cull_tensor_check_on(const cull_tensor *t, const char *name, cull_device device,
                                 int dims, size_t rows, bool integral)
{
    cull_status status = CULL_OK;

    if (!cull_tensor_present(t)) FAIL(CULL_BAD_ARGUMENT, "%s is missing", name);
    TRY(cull_device_check(t->device, device, name));
    if (t->dims != dims)
        FAIL(CULL_BAD_ARGUMENT, "%s has %d dimensions, %d expected", name, t->dims, dims);
    if (t->shape[0] < 0 || (size_t)t->shape[0] != rows)
        FAIL(CULL_BAD_ARGUMENT, "%s has %lld rows, %zu expected", name, (long long)t->shape[0],
             rows);
    if (!is_of_type(t, cull_device_same(device, (cull_device){0}), integral))
        FAIL(CULL_BAD_ARGUMENT, "%s is %s, %s expected", name, cull_dtype_name(t->dtype),
             integral ? "an integer type" : "float32 or float64");
    if (dims == 2 && (t->shape[1] < 1 || t->stride[1] != 1 || t->stride[0] < t->shape[1]))
        FAIL(CULL_BAD_ARGUMENT, "%s needs at least one column and dense rows", name);
    if (dims == 1 && t->stride[0] < 1) FAIL(CULL_BAD_ARGUMENT, "%s has a stride below one", name);
done:
    return status;
}

/* An exponent of all ones is a NaN or an infinity; read as integers, so that the loop is
 * a plain OR over vectors. */
static bool are_finite(const char *x, cull_dtype dtype, size_t count)
{
    uint64_t broken = 0;

    if (dtype == CULL_F32) {
        const uint32_t exponent = 0x7f800000u;
        uint32_t       broken32 = 0;
        for (size_t j = 0; j < count; j++) {
            uint32_t bits;
            memcpy(&bits, x + j * sizeof bits, sizeof bits);
            broken32 |= (uint32_t)((bits & exponent) == exponent);
        }
        return broken32 == 0;
    }
    if (dtype == CULL_BF16) {
        const uint16_t exponent = 0x7f80u;
        for (size_t j = 0; j < count; j++) {
            uint16_t bits;
            memcpy(&bits, x + j * sizeof bits, sizeof bits);
            broken |= (uint64_t)((bits & exponent) == exponent);
        }
        return broken == 0;
    }
    for (size_t j = 0; j < count; j++) {
        const uint64_t exponent = 0x7ff0000000000000u;
        uint64_t       bits;
        memcpy(&bits, x + j * sizeof bits, sizeof bits);
        broken |= (uint64_t)((bits & exponent) == exponent);
    }
    return broken == 0;
}

size_t cull_tensor_first_not_finite(const cull_tensor *t, size_t rows)
{
    size_t columns = t->dims == 2 ? (size_t)t->shape[1] : 1;

    if (!cull_tensor_is_float(t)) return rows;
    if (t->stride[0] == (int64_t)columns && are_finite(t->data, t->dtype, rows * columns))
        return rows;
    for (size_t i = 0; i < rows; i++)
        if (!are_finite(cull_tensor_row(t, i), t->dtype, columns)) return i;
    return rows;
}
