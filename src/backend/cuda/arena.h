/* backend/cuda/arena.h - one block of device memory, laid out in pieces: first without it, to learn
 * how much is needed, and then with it. */
#ifndef CULL_BACKEND_CUDA_ARENA_H
#define CULL_BACKEND_CUDA_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct cull_cuda_arena {
    char  *base; /* NULL: it only counts                              */
    size_t used; /* half of all numbers: more than any memory         */
} cull_cuda_arena;

static inline void *cull_cuda_take(cull_cuda_arena *arena, size_t count, size_t size)
{
    enum { BORDER = 64 };
    void  *piece = arena->base ? arena->base + arena->used : NULL;
    size_t bytes = 0;

    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(arena->used, bytes, &bytes) || bytes > SIZE_MAX / 2 - BORDER)
        arena->used = SIZE_MAX / 2;
    else
        arena->used = (bytes + BORDER - 1) / BORDER * BORDER;
    return piece;
}

#endif
