/*
 * backend/cuda/crew.h - what a crew (crew.cuh) costs: the room that it talks in, and clocks, by
 * which it is decided how many blocks a problem gets.
 */
#ifndef CULL_BACKEND_CUDA_CREW_H
#define CULL_BACKEND_CUDA_CREW_H

#include <stddef.h>
#include <stdint.h>

enum {
    CULL_CREW_BYTES = 3072, /* of a block's shared memory                              */
    CULL_CREW_SAID = 48,    /* at most, of one thing said                              */
    CULL_CREW_NEAR = 16     /* blocks that can be a cluster, which meets sooner        */
};

/* Clocks: of a barrier and all around it; of a meeting of a cluster, and of all blocks; and of a
 * number that a block reads from its shared memory, or from the second cache. */
#define CULL_CLOCKS_WAIT      600.0
#define CULL_CLOCKS_MEET_NEAR 1600.0
#define CULL_CLOCKS_MEET      4500.0
#define CULL_CLOCKS_NEAR      0.0625
#define CULL_CLOCKS_FAR       0.15

static inline double cull_crew_clocks(uint32_t blocks)
{
    if (blocks == 1) return CULL_CLOCKS_WAIT;
    return blocks <= CULL_CREW_NEAR ? CULL_CLOCKS_MEET_NEAR : CULL_CLOCKS_MEET;
}

/* Blocks of a crew over n rows, of which `worth` are worth one, `most` at most; two or more. */
static inline uint32_t cull_crew_blocks(size_t n, size_t worth, size_t most)
{
    size_t blocks = (n + worth - 1) / worth;

    if (blocks > most) blocks = most;
    return blocks > 2 ? (uint32_t)blocks : 2;
}

/* Bytes of what so many blocks say to each other. */
static inline size_t cull_crew_said(size_t blocks)
{
    return 2 * (blocks > 2 ? blocks : 2) * CULL_CREW_SAID;
}

#endif
