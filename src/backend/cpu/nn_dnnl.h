/*
 * backend/cpu/nn_dnnl.h - convolutions by oneDNN; what differs between its versions is in
 * nn_dnnl.c, nn_reorder.c and nn_layout.h.
 *
 * Each way of a convolution is a primitive of its own, prepared for one batch size and layout, and
 * runs on the thread that calls it: nn_split.c shares a batch out among ours. Weights may have an
 * order of the primitive's own, to which the canonical one is brought (or from it).
 */
#ifndef CULL_BACKEND_CPU_NN_DNNL_H
#define CULL_BACKEND_CPU_NN_DNNL_H

#include "backend/layer.h"

typedef enum cull_dnnl_way {
    CULL_DNNL_FORWARD, /* y from x, W, b    */
    CULL_DNNL_DATA,    /* dx from dy, W     */
    CULL_DNNL_WEIGHTS, /* dW, db from x, dy */
    CULL_DNNL_INT8,    /* whole sums (int32, NHWC) from unsigned x (NHWC) and signed W of 8 bits */
    CULL_DNNL_WAYS
} cull_dnnl_way;

enum { CULL_DNNL_PIECES = 4 }; /* most pieces that weights are cut into */

typedef struct cull_dnnl cull_dnnl;

cull_status cull_dnnl_create(const cull_layer_desc *desc, cull_dnnl_way way, cull_dnnl **out);
void        cull_dnnl_destroy(cull_dnnl *dnnl); /* NULL is fine */
/* Would it be more than plain loops? Prepares nothing. */
bool cull_dnnl_fast(const cull_layer_desc *desc, cull_dnnl_way way);

/* Bytes of the weights in the primitive's own order, at least those of the canonical one. */
size_t cull_dnnl_weights(const cull_dnnl *dnnl);
bool   cull_dnnl_alike(const cull_dnnl *a, const cull_dnnl *b); /* is that order the same? */
/* From canonical to own order, or for the weights' gradient from own to canonical, in pieces that
 * different threads may take on. Both addresses are those of the whole. */
size_t      cull_dnnl_pieces(const cull_dnnl *dnnl);
cull_status cull_dnnl_bring(cull_dnnl *dnnl, size_t piece, void *canonical, void *own);
/* x and y, or their gradients; w (in own order) and b, or theirs. What is read is not written. */
cull_status cull_dnnl_run(cull_dnnl *dnnl, const void *x, void *w, const void *b, const void *y);

const char *cull_dnnl_name(const cull_dnnl *dnnl); /* "jit:avx2" */
int         cull_dnnl_major(void);                 /* version of the library in use: 2 or 3 */
int64_t     cull_dnnl_width(void);                 /* floats of its vectors: 8 or 16        */
int         cull_dnnl_largest_weight(void);        /* in 8 bits with which sums are exact   */

#endif
