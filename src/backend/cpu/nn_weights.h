/*
 * backend/cpu/nn_weights.h - the weight gradient of a convolution, where both sides are in blocks
 * as wide as a vector, or where every channel has its own kernel (in any layout).
 *
 *     dW[o, c, r, s] = sum over n, p, q of dy[n, o, p, q] x[n, c, p S - P + r D, q S - P + s D]
 *
 * For a block of o, a block of c and a tap this is a sum of outer products over the pixels that
 * meet; those under the padding are left out, which is a third of them in a 4x4 image. Threads
 * share out pairs of blocks (and, where there are few, parts of the batch that are added in order),
 * so no result depends on their number.
 */
#ifndef CULL_BACKEND_CPU_NN_WEIGHTS_H
#define CULL_BACKEND_CPU_NN_WEIGHTS_H

#include "backend/layer.h"

typedef struct cull_cpu_weights cull_cpu_weights;

bool        cull_cpu_weights_suit(const cull_backend *backend, const cull_layer_desc *desc);
cull_status cull_cpu_weights_create(cull_backend *backend, const cull_layer_desc *desc,
                                    cull_cpu_weights **out);
void        cull_cpu_weights_destroy(cull_cpu_weights *weights); /* NULL is fine */
void cull_cpu_weights_run(cull_cpu_weights *weights, const float *x, const float *dy, float *dw);

#endif
