/* backend/cpu/kernels_product.c - matrix products (see kernels.h). */
#include "backend/cpu/kernels.h"

#define PASTE(a, b)  a##b
#define EXPAND(a, b) PASTE(a, b)

static void multiply_f32(size_t m, size_t n, size_t k, const float *a, size_t lda, const float *b,
                         size_t ldb, float *c, size_t ldc)
{
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            float sum = 0;
            for (size_t l = 0; l < k; l++) sum += a[i * lda + l] * b[j * ldb + l];
            c[i * ldc + j] = sum;
        }
    }
}

static void multiply_f64(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b,
                         size_t ldb, double *c, size_t ldc)
{
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t l = 0; l < k; l++) sum += a[i * lda + l] * b[j * ldb + l];
            c[i * ldc + j] = sum;
        }
    }
}

static void apply_f32(size_t m, size_t k, const float *a, size_t lda, const double *x, double *y)
{
    for (size_t i = 0; i < m; i++) {
        double sum = 0;
        for (size_t l = 0; l < k; l++) sum += (double)a[i * lda + l] * x[l];
        y[i] = sum;
    }
}

static void apply_f64(size_t m, size_t k, const double *a, size_t lda, const double *x, double *y)
{
    for (size_t i = 0; i < m; i++) {
        double sum = 0;
        for (size_t l = 0; l < k; l++) sum += a[i * lda + l] * x[l];
        y[i] = sum;
    }
}

const cull_products EXPAND(cull_products_, CULL_KERNELS) = {multiply_f32, multiply_f64, apply_f32,
                                                            apply_f64};
