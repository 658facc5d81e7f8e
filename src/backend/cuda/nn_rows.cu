/*
 * backend/cuda/nn_rows.cu - passes over rows of channels: a bias added, columns summed, parts of
 * sums put together, types changed.
 *
 * Sums are cut into parts by size alone and added in one order, so they repeat to the bit.
 */
#include "backend/cuda/device.cuh"
#include "backend/cuda/nn_rows.h"

enum { THREADS = 256, ACROSS = 32, DOWN = 8, DOWN_PARTS = 32, EACH = 4, MOST_PARTS = 256 };

/* ---- a bias ---- */
template <typename T, typename B>
__global__ void add_bias(size_t count, unsigned channels, T *x, const B *b)
{
    size_t step = static_cast<size_t>(gridDim.x) * THREADS;

    for (size_t i = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x; i < count; i += step)
        cull_store(x, i, cull_load(x, i) + b[i % channels]);
}

/* Blocks that go over so many elements, EACH a thread. */
static unsigned blocks_of(size_t count)
{
    size_t blocks = (count + THREADS * EACH - 1) / (THREADS * EACH);

    return blocks > 65536 ? 65536u : blocks < 1 ? 1u : static_cast<unsigned>(blocks);
}

cudaError_t cull_rows_bias(cudaStream_t stream, cull_dtype dtype, size_t rows, size_t channels,
                           void *x, const void *b)
{
    size_t   count = rows * channels;
    unsigned blocks = blocks_of(count), c = static_cast<unsigned>(channels);

    if (dtype == CULL_F32)
        return CULL_LAUNCH((add_bias<float, float>), blocks, THREADS, 0, stream, count, c,
                           static_cast<float *>(x), static_cast<const float *>(b));
    if (dtype == CULL_F64)
        return CULL_LAUNCH((add_bias<double, double>), blocks, THREADS, 0, stream, count, c,
                           static_cast<double *>(x), static_cast<const double *>(b));
    return CULL_LAUNCH((add_bias<cull_bf16, float>), blocks, THREADS, 0, stream, count, c,
                       static_cast<cull_bf16 *>(x), static_cast<const float *>(b));
}

/* ---- parts put together: 32 sums a block, each by 32 threads, one after the other ---- */
template <typename A>
__global__ void add_parts(size_t parts, size_t count, const A *part, A *out)
{
    __shared__ A sums[DOWN_PARTS][ACROSS + 1];
    unsigned     x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
    size_t       i = static_cast<size_t>(blockIdx.x) * ACROSS + x;
    A            sum = 0;

    for (size_t k = y; i < count && k < parts; k += DOWN_PARTS) sum += part[k * count + i];
    sums[y][x] = sum;
    __syncthreads();
    if (y > 0 || i >= count) return;
    sum = 0;
    for (unsigned k = 0; k < DOWN_PARTS; k++) sum += sums[k][x];
    out[i] = sum;
}

cudaError_t cull_rows_parts(cudaStream_t stream, bool double_sums, size_t parts, size_t count,
                            const void *part, void *out)
{
    unsigned blocks = cull_cuda_blocks(count, ACROSS);

    if (double_sums)
        return CULL_LAUNCH(add_parts<double>, blocks, ACROSS * DOWN_PARTS, 0, stream, parts, count,
                           static_cast<const double *>(part), static_cast<double *>(out));
    return CULL_LAUNCH(add_parts<float>, blocks, ACROSS * DOWN_PARTS, 0, stream, parts, count,
                       static_cast<const float *>(part), static_cast<float *>(out));
}

/* ---- columns summed ---- */
template <typename T, typename A>
__global__ void sum_columns(size_t rows, size_t channels, size_t share, const T *x, A *part)
{
    __shared__ A sums[DOWN][ACROSS + 1];
    unsigned     lane = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
    size_t       c = static_cast<size_t>(blockIdx.x) * ACROSS + lane;
    size_t       first = blockIdx.y * share, last = first + share < rows ? first + share : rows;
    A            sum = 0;

    for (size_t i = first + y; c < channels && i < last; i += DOWN)
        sum += cull_load(x, i * channels + c);
    sums[y][lane] = sum;
    __syncthreads();
    if (y > 0 || c >= channels) return;
    sum = 0;
    for (unsigned k = 0; k < DOWN; k++) sum += sums[k][lane];
    part[blockIdx.y * channels + c] = sum;
}

/* As many as keep a device busy, of at least 64 rows. */
static size_t parts_of(size_t rows)
{
    size_t parts = (rows + 63) / 64;

    if (parts > MOST_PARTS) parts = MOST_PARTS;
    return parts < 1 ? 1 : parts;
}

size_t cull_rows_sum_room(size_t rows, size_t channels)
{
    return parts_of(rows) * channels * sizeof(double);
}

template <typename T, typename A>
static cudaError_t launch_sum(cudaStream_t stream, size_t rows, size_t channels, const void *x,
                              void *out, void *room)
{
    size_t parts = parts_of(rows), share = (rows + parts - 1) / parts;
    dim3   grid(cull_cuda_blocks(channels, ACROSS), static_cast<unsigned>(parts));
    A     *to = static_cast<A *>(parts > 1 ? room : out);

    cudaError_t error = CULL_LAUNCH((sum_columns<T, A>), grid, ACROSS * DOWN, 0, stream, rows,
                                    channels, share, static_cast<const T *>(x), to);
    if (error != cudaSuccess || parts == 1) return error;
    return cull_rows_parts(stream, sizeof(A) == sizeof(double), parts, channels, room, out);
}

cudaError_t cull_rows_sum(cudaStream_t stream, cull_dtype dtype, size_t rows, size_t channels,
                          const void *x, void *out, void *room)
{
    if (dtype == CULL_F64)
        return launch_sum<double, double>(stream, rows, channels, x, out, room);
    if (dtype == CULL_F32) return launch_sum<float, float>(stream, rows, channels, x, out, room);
    return launch_sum<cull_bf16, float>(stream, rows, channels, x, out, room);
}

/* ---- types changed ---- */
template <typename F, typename T>
__global__ void convert(size_t count, const F *from, T *to, bool add)
{
    size_t step = static_cast<size_t>(gridDim.x) * THREADS;

    for (size_t i = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x; i < count; i += step)
        cull_store(to, i, cull_load(from, i) + (add ? cull_load(to, i) : 0));
}

template <typename F, typename T>
static cudaError_t launch_convert(cudaStream_t stream, size_t count, const void *from, void *to,
                                  bool add)
{
    return CULL_LAUNCH((convert<F, T>), blocks_of(count), THREADS, 0, stream, count,
                       static_cast<const F *>(from), static_cast<T *>(to), add);
}

cudaError_t cull_rows_convert(cudaStream_t stream, size_t count, cull_dtype from_type,
                              const void *from, cull_dtype to_type, void *to, bool add)
{
    if (from_type == CULL_BF16 && to_type == CULL_F32)
        return launch_convert<cull_bf16, float>(stream, count, from, to, add);
    if (from_type == CULL_F32 && to_type == CULL_BF16)
        return launch_convert<float, cull_bf16>(stream, count, from, to, add);
    if (from_type == CULL_BF16)
        return launch_convert<cull_bf16, cull_bf16>(stream, count, from, to, add);
    if (from_type == CULL_F32) return launch_convert<float, float>(stream, count, from, to, add);
    return launch_convert<double, double>(stream, count, from, to, add);
}

template <typename T> __global__ void make_noise(size_t count, T *to)
{
    size_t step = static_cast<size_t>(gridDim.x) * THREADS;

    for (size_t i = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x; i < count; i += step) {
        uint32_t mixed = (static_cast<uint32_t>(i) + 1) * 2654435761u;

        mixed = (mixed ^ mixed >> 15) * 2246822519u;
        cull_store(to, i, static_cast<float>(mixed >> 8) / 8388608.0f - 1.0f);
    }
}

cudaError_t cull_rows_noise(cudaStream_t stream, cull_dtype dtype, size_t count, void *to)
{
    unsigned blocks = blocks_of(count);

    if (dtype == CULL_F32)
        return CULL_LAUNCH(make_noise<float>, blocks, THREADS, 0, stream, count,
                           static_cast<float *>(to));
    if (dtype == CULL_F64)
        return CULL_LAUNCH(make_noise<double>, blocks, THREADS, 0, stream, count,
                           static_cast<double *>(to));
    return CULL_LAUNCH(make_noise<cull_bf16>, blocks, THREADS, 0, stream, count,
                       static_cast<cull_bf16 *>(to));
}
