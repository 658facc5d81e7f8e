/*
 * backend/cuda/gather.cu - to[i] = from[index[i]], of many arrays in one launch.
 *
 * A row is so many units, the largest that its bytes and both arrays' borders allow. What is
 * written of an array is cut into pieces of PIECE units, a block each; the list of arrays, with the
 * first block of each, is the kernel's argument, so that nothing is uploaded and a recorded step
 * keeps it.
 */
#include "backend/cuda/gather.h"
#include "backend/cuda/device.cuh"

enum { THREADS = 256, EACH = 4, PIECE = THREADS * EACH };

struct alignas(16) unit16 {
    uint64_t at[2];
};

struct entry {
    const unsigned char *from;
    unsigned char       *to;
    uint32_t             units, unit; /* of a row; bytes of one */
    uint32_t             first;       /* block                  */
};

template <int MOST> struct entries {
    const uint32_t *index;
    uint64_t        rows, held;
    uint32_t        count;
    entry           at[MOST];
};

/* One piece, from unit `base` of what is written. All is read before anything is written. */
template <typename Unit, int MOST>
static __device__ __forceinline__ void copy(const entries<MOST> &all, const entry &e, uint64_t base)
{
    const Unit *from = reinterpret_cast<const Unit *>(e.from);
    Unit       *to = reinterpret_cast<Unit *>(e.to);
    uint64_t    first = base / e.units;
    uint32_t    begin = static_cast<uint32_t>(base - first * e.units) + threadIdx.x;
    Unit        taken[EACH];

#pragma unroll
    for (int k = 0; k < EACH; k++) {
        uint32_t at = begin + k * THREADS;
        uint64_t i = first + at / e.units;
        uint32_t row = i < all.rows ? all.index[i] : CULL_NO_ROW;

        taken[k] = Unit{};
        if (row < all.held) taken[k] = from[static_cast<uint64_t>(row) * e.units + at % e.units];
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        uint64_t at = base + threadIdx.x + k * THREADS;

        if (at < all.rows * e.units) to[at] = taken[k];
    }
}

template <int MOST>
static __global__ void __launch_bounds__(THREADS) take(const __grid_constant__ entries<MOST> all)
{
    uint32_t low = 0, high = all.count;

    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;

        if (all.at[middle].first <= blockIdx.x)
            low = middle;
        else
            high = middle;
    }
    const entry &e = all.at[low];
    uint64_t     base = static_cast<uint64_t>(blockIdx.x - e.first) * PIECE;

    switch (e.unit) {
    case 16: copy<unit16>(all, e, base); break;
    case 8: copy<uint64_t>(all, e, base); break;
    case 4: copy<uint32_t>(all, e, base); break;
    case 2: copy<uint16_t>(all, e, base); break;
    default: copy<uint8_t>(all, e, base); break;
    }
}

/* The largest of 16, 8, 4, 2 and 1 that divides all of these. */
static uint32_t unit_of(const cull_gathered *array)
{
    uintptr_t both = reinterpret_cast<uintptr_t>(array->from) |
                     reinterpret_cast<uintptr_t>(array->to) | array->bytes | 16;

    return static_cast<uint32_t>(both & (~both + 1));
}

template <int MOST>
static cudaError_t launch(cudaStream_t stream, const cull_gathered *list, size_t count,
                          const uint32_t *index, size_t rows, size_t held)
{
    entries<MOST> all = {};
    uint64_t      blocks = 0;

    all.index = index;
    all.rows = rows;
    all.held = held;
    for (size_t i = 0; i < count; i++) {
        entry *e = &all.at[all.count];

        if (list[i].bytes == 0) continue;
        e->from = static_cast<const unsigned char *>(list[i].from);
        e->to = static_cast<unsigned char *>(list[i].to);
        e->unit = unit_of(&list[i]);
        e->units = static_cast<uint32_t>(list[i].bytes / e->unit);
        e->first = static_cast<uint32_t>(blocks);
        blocks += (rows * e->units + PIECE - 1) / PIECE;
        all.count++;
    }
    if (blocks == 0) return cudaSuccess;
    return CULL_LAUNCH(take<MOST>, static_cast<unsigned>(blocks), THREADS, 0, stream, all);
}

cudaError_t cull_cuda_gather_rows(cudaStream_t stream, const cull_gathered *list, size_t count,
                                  const uint32_t *index, size_t rows, size_t held)
{
    if (count == 1) return launch<1>(stream, list, count, index, rows, held);
    return launch<CULL_CUDA_GATHER_MOST>(stream, list, count, index, rows, held);
}
