/* backend/cpu/kernels_gradient.c - sums of outer products (see kernels.h). */
#include <string.h>

#include "backend/cpu/kernels.h"

#define PASTE(a, b)  a##b
#define EXPAND(a, b) PASTE(a, b)

/* The compiler breaks these up where registers are shorter. */
typedef double eight __attribute__((vector_size(64)));
enum { VECTORS = CULL_GRADIENT_WIDTH / 8 };

/* A strip of sums stays in registers while the rows pass by. */
static void outer(size_t m, size_t c, const double *p, const double *a, double *b, size_t ldb)
{
    for (size_t k = 0; k < c; k++) {
        eight sum[VECTORS], x[VECTORS];

        memcpy(sum, b + k * ldb, sizeof sum);
        for (size_t i = 0; i < m; i++) {
            double factor = p[i * c + k];
            memcpy(x, a + i * CULL_GRADIENT_WIDTH, sizeof x);
            for (size_t v = 0; v < VECTORS; v++) sum[v] += factor * x[v];
        }
        memcpy(b + k * ldb, sum, sizeof sum);
    }
}

const cull_sums EXPAND(cull_sums_, CULL_KERNELS) = {outer};
