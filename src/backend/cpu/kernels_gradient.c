/* backend/cpu/kernels_gradient.c - sums of outer products (see kernels.h). */
#include <string.h>

#include "backend/cpu/kernel_name.h"
#include "backend/cpu/kernels.h"

/* The compiler breaks these up where registers are shorter. Four of them, 32 numbers, are
 * enough independent sums to keep the multiply-adds busy. */
typedef double eight __attribute__((vector_size(64)));
enum { COLUMNS = 32 };

#define LOAD(x, from)  memcpy(&(x), (from), sizeof(eight))
#define STORE(to, x)   memcpy((to), &(x), sizeof(eight))
#define ADD(sum, from) (LOAD(x, from), (sum) += factor * x)

/* 32 sums of one class stay in registers while the rows pass by. */
static void add_rows(size_t m, const double *p, size_t ldp, const double *a, size_t lda, double *b)
{
    eight s0, s1, s2, s3, x;

    LOAD(s0, b);
    LOAD(s1, b + 8);
    LOAD(s2, b + 16);
    LOAD(s3, b + 24);
    for (size_t i = 0; i < m; i++, p += ldp, a += lda) {
        double factor = *p;
        ADD(s0, a);
        ADD(s1, a + 8);
        ADD(s2, a + 16);
        ADD(s3, a + 24);
    }
    STORE(b, s0);
    STORE(b + 8, s1);
    STORE(b + 16, s2);
    STORE(b + 24, s3);
}

static void outer(size_t m, size_t c, const double *p, const double *a, double *b)
{
    for (size_t j = 0; j < CULL_STRIP; j += COLUMNS)
        for (size_t k = 0; k < c; k++)
            add_rows(m, p + k, c, a + j, CULL_STRIP, b + k * CULL_STRIP + j);
}

static void widen(size_t n, const float *x, double *out)
{
    for (size_t i = 0; i < n; i++) out[i] = (double)x[i];
}

const cull_sums KERNEL_NAME(cull_sums_) = {outer, widen};
