/* backend/cuda/sums.h - what a step says of itself, between C and the device's language. */
#ifndef CULL_BACKEND_CUDA_SUMS_H
#define CULL_BACKEND_CUDA_SUMS_H

#include <cuda_runtime_api.h>

#include "backend/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What blocks tell the last of them; zeros between runs. */
typedef struct cull_cuda_counted {
    unsigned long long correct;
    uint64_t           first; /* row whose loss ends the sum's being a number */
    double             sum;
    unsigned           done; /* blocks */
} cull_cuda_counted;

/* As the arguments of the operations. */
typedef struct cull_cuda_summing {
    size_t              rows, classes;
    const double       *loss;
    const void         *p;
    const int32_t      *label; /* NULL: nothing is counted             */
    double              share; /* of the label in what p is less than softmax */
    const uint32_t     *place;
    bool                add;
    cull_seen          *out;
    const cull_moment  *now;
    cull_trouble       *trouble;
    const cull_outcome *became;
    cull_outcome       *outcomes;
    cull_cuda_counted  *counted;
} cull_cuda_summing;

typedef struct cull_cuda_tallying {
    size_t             rows;
    const uint32_t    *place;
    const double      *loss, *weight;
    const cull_moment *now;
    int32_t           *count, *first;
    double            *weights;
    float             *latest;
} cull_cuda_tallying;

cudaError_t cull_cuda_sum_up(cudaStream_t stream, const cull_cuda_summing *s, cull_dtype dtype);
cudaError_t cull_cuda_count_places(cudaStream_t stream, const cull_cuda_tallying *t);

#ifdef __cplusplus
}
#endif
#endif
