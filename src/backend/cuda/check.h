/* backend/cuda/check.h - launcher of check.cu. */
#ifndef CULL_BACKEND_CUDA_CHECK_H
#define CULL_BACKEND_CUDA_CHECK_H

#include <cuda_runtime_api.h>

#include "backend/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What blocks tell each other: zeros before and after a launch. */
typedef struct cull_cuda_check_room {
    unsigned long long least; /* of all, from the other end */
    unsigned           done;  /* blocks                     */
} cull_cuda_check_room;

typedef struct cull_cuda_check_args {
    size_t                rows;
    const uint32_t       *place; /* NULL: 0 .. rows-1                       */
    size_t                pool;  /* 0: places are not looked at             */
    cull_tensor           x;     /* absent: places alone                    */
    const uint8_t        *unseen;
    double                low, high;
    bool                  finite; /* low and high are all that is finite     */
    uint64_t              which;
    const cull_moment    *now;
    cull_trouble         *trouble;
    cull_cuda_check_room *room;
} cull_cuda_check_args;

cudaError_t cull_cuda_check_run(cudaStream_t stream, const cull_cuda_check_args *args,
                                int processors);

#ifdef __cplusplus
}
#endif

#endif
