/*
 * backend/cpu/nn_split.h - a convolution shared out among our threads by parts of the batch.
 *
 * The parts depend on the batch alone, every part is one oneDNN primitive on one thread, and
 * weight gradients are added part by part in order: so no result depends on the number of threads,
 * no second pool of threads waits beside ours, and a thread that is held up holds up nobody else.
 */
#ifndef CULL_BACKEND_CPU_NN_SPLIT_H
#define CULL_BACKEND_CPU_NN_SPLIT_H

#include "backend/cpu/nn_dnnl.h"

typedef struct cull_cpu_split cull_cpu_split;

cull_status cull_cpu_split_create(cull_backend *backend, const cull_layer_desc *desc,
                                  cull_dnnl_way way, cull_cpu_split **out);
void        cull_cpu_split_destroy(cull_cpu_split *split);    /* NULL is fine */
const char *cull_cpu_split_name(const cull_cpu_split *split); /* "long parts|short parts" */

/* y = conv(x); dx [+]= ...; dW and db. Weights in canonical order. */
cull_status cull_cpu_split_forward(cull_cpu_split *split, const float *x, const float *w,
                                   const float *b, float *y);
cull_status cull_cpu_split_data(cull_cpu_split *split, const float *dy, const float *w, float *dx,
                                bool accumulate);
cull_status cull_cpu_split_weights(cull_cpu_split *split, const float *x, const float *dy,
                                   float *dw, float *db);

#endif
