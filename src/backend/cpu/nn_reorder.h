/*
 * backend/cpu/nn_reorder.h - the same weights in another order, by oneDNN, in pieces that different
 * threads may take on at once.
 */
#ifndef CULL_BACKEND_CPU_NN_REORDER_H
#define CULL_BACKEND_CPU_NN_REORDER_H

#include "backend/cpu/nn_dnnl.h"
#include "backend/cpu/nn_layout.h"

typedef struct cull_reorder cull_reorder;

/* Between two layouts of tensors of `size`. */
cull_status cull_reorder_create(dnnl_engine_t engine, cull_layout_ref from, cull_layout_ref to,
                                const dnnl_dims_t size, cull_reorder **out);
void        cull_reorder_destroy(cull_reorder *reorder);      /* NULL is fine */
size_t      cull_reorder_pieces(const cull_reorder *reorder); /* at most CULL_DNNL_PIECES */
/* Both addresses are those of the whole. */
cull_status cull_reorder_run(cull_reorder *reorder, size_t piece, const void *from, void *to);

#endif
