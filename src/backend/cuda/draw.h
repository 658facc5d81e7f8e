/* backend/cuda/draw.h - launchers of draw.cu. */
#ifndef CULL_BACKEND_CUDA_DRAW_H
#define CULL_BACKEND_CUDA_DRAW_H

#include <cuda_runtime_api.h>

#include "cull.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CULL_CUDA_CHOICE_BLOCK = 1024,
    CULL_CUDA_CHOICE_BLOCKS = 1024, /* most that choose together     */
    CULL_CUDA_CHOICE_ALONE = 16384, /* most rows that one block does */
    CULL_CUDA_CHOICE_DIGIT = 8,
    CULL_CUDA_CHOICE_VALUES = 1 << CULL_CUDA_CHOICE_DIGIT
};

/* What blocks that choose together tell each other: zeros, but for the kernel. */
typedef struct cull_cuda_choice_room {
    unsigned long long most, least; /* images; the least from the other end */
    unsigned           histogram[64 / CULL_CUDA_CHOICE_DIGIT][CULL_CUDA_CHOICE_VALUES];
    unsigned           part[2][CULL_CUDA_CHOICE_BLOCKS]; /* of each block: rows below and equal */
} cull_cuda_choice_room;

/* Exponential keys. */
typedef struct cull_cuda_keys_args {
    const uint32_t *place;  /* NULL: 0 .. rows-1 */
    const double   *weight; /* NULL: all 1       */
    cull_key        key;
    uint64_t        step;
    const uint64_t *now; /* instead of step, or NULL */
} cull_cuda_keys_args;

/* The m largest or smallest of x, or smallest of the keys. */
typedef struct cull_cuda_choice {
    size_t                 rows, m;
    const double          *x; /* NULL: keys */
    bool                   largest;
    cull_cuda_keys_args    keys;
    uint64_t              *image; /* [rows]; NULL, with room: one block does it */
    cull_cuda_choice_room *room;
    uint32_t              *index; /* [m] */
} cull_cuda_choice;

cudaError_t cull_cuda_keys_run(cudaStream_t stream, const cull_cuda_keys_args *args, size_t rows,
                               double *out);
/* Once before any choice: up to so many rows in one block, and how many of the others meet. */
cudaError_t cull_cuda_choice_ready(size_t alone, int *blocks);
cudaError_t cull_cuda_choice_alone(cudaStream_t stream, const cull_cuda_choice *choice);
cudaError_t cull_cuda_choice_together(cudaStream_t stream, const cull_cuda_choice *choice,
                                      unsigned blocks);
/* Bytes of shared memory that a block needs for so many rows of its own. */
size_t cull_cuda_choice_shared(size_t rows);

#ifdef __cplusplus
}
#endif

#endif
