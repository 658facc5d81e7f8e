/*
 * backend/cpu/kernels.h - the inner loops, compiled once per instruction set.
 *
 * kernels_*.c hold one source each; the build compiles them for plain x86-64 (or whatever
 * the machine is), AVX2 and AVX-512, and dispatch.c picks a set when a backend opens. All
 * matrices are row-major; ld* is the distance between rows in elements. A result never
 * depends on how the caller splits the rows among threads.
 */
#ifndef CULL_BACKEND_CPU_KERNELS_H
#define CULL_BACKEND_CPU_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Matrix products, kernels_product.c. Products of doubles are summed in blocks of so many along
 * k, and the blocks in their order. */
enum { CULL_PRODUCT_BLOCK = 256 };

typedef struct cull_products {
    /* C (m, n) = A (m, k) B (n, k)^T */
    void (*multiply_f32)(size_t m, size_t n, size_t k, const float *a, size_t lda, const float *b,
                         size_t ldb, float *c, size_t ldc);
    void (*multiply_f64)(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b,
                         size_t ldb, double *c, size_t ldc);
    /* C (m, n) += A (m, k) B (n, k)^T: what further blocks of k add */
    void (*add_f64)(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b,
                    size_t ldb, double *c, size_t ldc);
    /* y (m) = A (m, k) x, summed in double whatever A is */
    void (*apply_f32)(size_t m, size_t k, const float *a, size_t lda, const double *x, double *y);
    void (*apply_f64)(size_t m, size_t k, const double *a, size_t lda, const double *x, double *y);
} cull_products;

/* Sums of outer products, kernels_gradient.c. */
enum { CULL_STRIP = 128 };

typedef struct cull_sums {
    /* B (c, STRIP) += P (m, c)^T A (m, STRIP), each sum in the order of the m rows */
    void (*outer)(size_t m, size_t c, const double *p, const double *a, double *b);
    /* out (n) = x */
    void (*widen)(size_t n, const float *x, double *out);
} cull_sums;

/* Inner loops of matching pursuit, kernels_pursuit.c; the struct is defined there. */
typedef struct cull_pursuit cull_pursuit;

/* Inner loops of the layers, kernels_layer.h. */
typedef struct cull_layer_loops cull_layer_loops;
typedef struct cull_conv_loops  cull_conv_loops;
typedef struct cull_int8_loops  cull_int8_loops;

/* Those of sequences, kernels_sequence.h. */
typedef struct cull_sequence_loops cull_sequence_loops;

typedef struct cull_kernels {
    const char                *name; /* "base", "avx2", "avx512" */
    const cull_products       *products;
    const cull_pursuit        *pursuit;
    const cull_sums           *sums;
    const cull_layer_loops    *layer;
    const cull_conv_loops     *conv;
    const cull_int8_loops     *int8;
    const cull_sequence_loops *sequence;
} cull_kernels;

extern const cull_products cull_products_base, cull_products_avx2, cull_products_avx512;
extern const cull_pursuit  cull_pursuit_base, cull_pursuit_avx2, cull_pursuit_avx512;
extern const cull_sums     cull_sums_base, cull_sums_avx2, cull_sums_avx512;

/* The best set this machine runs; CULL_KERNELS=base|avx2|avx512 in the environment asks for
 * a lesser one (for tests). */
const cull_kernels *cull_kernels_choose(void);

#endif
