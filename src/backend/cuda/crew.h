/*
 * backend/cuda/crew.h - what a crew (crew.cuh) costs: the room that it talks in, and clocks, by
 * which it is decided how many blocks a problem gets.
 */
#ifndef CULL_BACKEND_CUDA_CREW_H
#define CULL_BACKEND_CUDA_CREW_H

#include <stddef.h>
#include <stdint.h>

enum {
    CULL_CREW_BYTES = 3072,
    CULL_CREW_SAID = 48
}; /* of a block's shared memory; of one thing said */

/* Clocks: of a barrier and all around it, of a meeting of all blocks; and of a number that a block
 * reads from its shared memory, or from the second cache. */
#define CULL_CREW_WAITS 600.0
#define CULL_CREW_MEETS 4500.0
#define CULL_CREW_NEAR  0.0625
#define CULL_CREW_FAR   0.15

/* Bytes of what so many blocks say to each other. */
static inline size_t cull_crew_said(uint32_t blocks)
{
    return 2 * (size_t)blocks * CULL_CREW_SAID;
}

#endif
