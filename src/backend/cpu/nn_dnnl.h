/*
 * backend/cpu/nn_dnnl.h - convolutions by oneDNN; the one file that knows its versions is
 * nn_dnnl.c.
 *
 * Each way of a convolution is a primitive of its own, prepared for one batch size and layout.
 * Weights come and go in canonical order: where the primitive wants another, every run reorders
 * them, since parameters change with every step.
 */
#ifndef CULL_BACKEND_CPU_NN_DNNL_H
#define CULL_BACKEND_CPU_NN_DNNL_H

#include "backend/layer.h"

typedef enum cull_dnnl_way {
    CULL_DNNL_FORWARD, /* y from x, W, b    */
    CULL_DNNL_DATA,    /* dx from dy, W     */
    CULL_DNNL_WEIGHTS, /* dW, db from x, dy */
    CULL_DNNL_WAYS
} cull_dnnl_way;

typedef struct cull_dnnl cull_dnnl;

/* threads: what oneDNN's runtime is given at every run. */
cull_status cull_dnnl_create(const cull_layer_desc *desc, cull_dnnl_way way, unsigned threads,
                             cull_dnnl **out);
void        cull_dnnl_destroy(cull_dnnl *dnnl); /* NULL is fine */

/* x and y, or their gradients; w and b, or theirs. What is read is not written. */
cull_status cull_dnnl_run(cull_dnnl *dnnl, const void *x, const void *w, const void *b,
                          const void *y);

const char *cull_dnnl_name(const cull_dnnl *dnnl); /* "jit:avx2" */
int         cull_dnnl_major(void);                 /* version of the library in use: 2 or 3 */
int64_t     cull_dnnl_width(void);                 /* floats of its vectors: 8 or 16        */

#endif
