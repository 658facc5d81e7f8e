/*
 * backend/cuda/ledger.cu - record and recall: losses kept by place (backend/ledger.c says how).
 *
 * A place may come several times in one call, and what is kept of it then follows in the order of
 * the rows: the first of its rows does so for all of them. For that every row looks at the places
 * of all, some thousands at a time; a launch each, one after the other.
 */
#include <float.h>

#include "backend/cuda/ledger.h"
#include "backend/cuda/number.cuh"

namespace {

constexpr unsigned BLOCK = 128, SLICE = 4096;
#define AVERAGE_RATE 0.5

__device__ __forceinline__ double bounded(double x)
{
    x = x > -DBL_MAX ? x : -DBL_MAX; /* fmax and fmin: also of what is no number */
    return x < DBL_MAX ? x : DBL_MAX;
}

__device__ void keep(const cull_ledger &l, size_t place, double loss, uint64_t epoch)
{
    double before = l.value[place];
    bool   known = l.known[place] != 0;

    if (l.predict == CULL_PREDICT_AVERAGE && known)
        loss = bounded(before + AVERAGE_RATE * (loss - before));
    if (l.predict == CULL_PREDICT_TREND) {
        if (known && epoch > l.epoch[place]) {
            l.slope[place] =
                bounded((loss - before) / static_cast<double>(epoch - l.epoch[place]));
            l.known[place] = 2;
        }
        l.epoch[place] = epoch;
    }
    l.value[place] = loss;
    if (!known) l.known[place] = 1;
}

/* `rows` of them from row `first` on. Those that are not seen have no place here. */
static __global__ void __launch_bounds__(BLOCK)
    record(cull_cuda_record_args a, size_t first, unsigned rows)
{
    CULL_SHARED(uint4, places);
    uint32_t *place = &places->x;
    unsigned  i = blockIdx.x * BLOCK + threadIdx.x, fours = (rows + 3) / 4, same = 0, mine;
    uint64_t  epoch = a.now ? *a.now : a.epoch;

    if (a.trouble && a.trouble->what != CULL_WRONG_NOTHING) return;
    for (unsigned j = threadIdx.x; j < 4 * fours; j += BLOCK)
        place[j] =
            j >= rows || (a.unseen && a.unseen[first + j]) ? CULL_NO_ROW : a.place[first + j];
    __syncthreads();
    if (i >= rows || place[i] == CULL_NO_ROW) return;
    mine = place[i];
#pragma unroll 4
    for (unsigned j = 0; j < fours; j++) {
        uint4 four = places[j];

        same += (four.x == mine) + (four.y == mine) + (four.z == mine) + (four.w == mine);
    }
    for (unsigned j = 0; same > 1 && j < i; j++)
        if (place[j] == mine) return;
    for (unsigned j = i; same > 0; j++) {
        if (place[j] != mine) continue;
        keep(a.ledger, mine, cull_number_at(a.loss, first + j), epoch);
        same--;
    }
}

/* The places are the rows. */
static __global__ void __launch_bounds__(BLOCK) record_all(cull_cuda_record_args a)
{
    size_t i = cull_cuda_thread();

    if (a.trouble && a.trouble->what != CULL_WRONG_NOTHING) return;
    if (i >= a.rows || (a.unseen && a.unseen[i])) return;
    keep(a.ledger, i, cull_number_at(a.loss, i), a.now ? *a.now : a.epoch);
}

__device__ double predict(const cull_ledger &l, size_t place, uint64_t epoch)
{
    double loss = l.value[place];

    if (l.known[place] < 2 || epoch <= l.epoch[place]) return loss;
    loss += l.slope[place] * static_cast<double>(epoch - l.epoch[place]);
    return bounded(loss > 0 ? loss : 0);
}

static __global__ void __launch_bounds__(BLOCK) recall(cull_cuda_recall_args a)
{
    size_t i = cull_cuda_thread();

    if (i >= a.rows) return;
    size_t place = a.place ? a.place[i] : i;
    bool   known = place < a.ledger.pool && a.ledger.known[place];

    a.unseen[i] = !known;
    a.loss[i] = known ? predict(a.ledger, place, a.now ? *a.now : a.epoch) : 0;
}

} // namespace

cudaError_t cull_cuda_record_run(cudaStream_t stream, const cull_cuda_record_args *args)
{
    cudaError_t error = cudaSuccess;

    if (!args->place)
        return CULL_LAUNCH(record_all, cull_cuda_blocks(args->rows, BLOCK), BLOCK, 0, stream,
                           *args);
    for (size_t first = 0; first < args->rows && error == cudaSuccess; first += SLICE) {
        unsigned rows = static_cast<unsigned>(
            args->rows - first < SLICE ? args->rows - first : SLICE);

        error = CULL_LAUNCH(record, cull_cuda_blocks(rows, BLOCK), BLOCK,
                            (rows + 3) / 4 * sizeof(uint4), stream, *args, first, rows);
    }
    return error;
}

cudaError_t cull_cuda_recall_run(cudaStream_t stream, const cull_cuda_recall_args *args)
{
    return CULL_LAUNCH(recall, cull_cuda_blocks(args->rows, BLOCK), BLOCK, 0, stream, *args);
}
