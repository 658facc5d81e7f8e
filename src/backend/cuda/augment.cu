/*
 * backend/cuda/augment.cu - a thread makes a few neighbours of what is written, 16 bytes or less.
 *
 * Each thread draws what happens to its example by itself: that costs less than telling the others.
 * Draws, formulas and roundings are those of backend/augment.c; what differs by channel alone
 * (scale and shift of images) is worked out once a block.
 */
#include "backend/cuda/augment.h"
#include "backend/cuda/pack.cuh"
#include "base/philox.h"

enum { THREADS = 128, TABLE = 512 }; /* channels whose scale and shift are kept */

/* What is done to one example; a window of the padded image begins at (top, left). */
struct draw {
    uint32_t top, left;
    bool     moved, mirrored;
    uint32_t y0, y1, x0, x1; /* the hole; empty without cutout */
};

static __device__ __forceinline__ uint32_t below(uint32_t word, uint32_t bound)
{
    return static_cast<uint32_t>(static_cast<uint64_t>(word) * bound >> 32);
}

static __device__ __forceinline__ draw draw_for(const cull_cuda_batch &a, uint32_t place)
{
    draw           d = {};
    const uint64_t epoch = a.now ? a.now->epoch : a.epoch;
    const uint32_t counter[4] = {place, 0, static_cast<uint32_t>(epoch),
                                 static_cast<uint32_t>(epoch >> 32)};
    uint32_t       word[4], half = a.cutout / 2;

    if (!a.augmented) return d;
    cull_philox(a.move, counter, word);
    d.top = below(word[0], 2 * a.pad + 1);
    d.left = below(word[1], 2 * a.pad + 1);
    d.mirrored = a.flip && word[2] >> 31;
    d.moved = d.mirrored || d.top != a.pad || d.left != a.pad;
    if (!a.cutout) return d;
    cull_philox(a.hole, counter, word);
    uint32_t y = below(word[0], a.height), x = below(word[1], a.width);
    d.y0 = y > half ? y - half : 0;
    d.x0 = x > half ? x - half : 0;
    d.y1 = y + a.cutout - half < a.height ? y + a.cutout - half : a.height;
    d.x1 = x + a.cutout - half < a.width ? x + a.cutout - half : a.width;
    return d;
}

/* Where `at` of the padded axis lies in the image of `length`; length itself: in the padding. */
static __device__ __forceinline__ uint32_t source_of(uint32_t at, uint32_t pad, uint32_t length,
                                                     bool reflect)
{
    if (at >= pad && at < pad + length) return at - pad;
    if (!reflect) return length;
    return at < pad ? pad - at : 2 * (length - 1) - (at - pad);
}

/* ---- from stored numbers to normalised ones: float, or double where that is written ---- */

template <typename To> struct real {
    typedef float type;
};
template <> struct real<double> {
    typedef double type;
};

static __device__ __forceinline__ void set(float &to, double x) { to = static_cast<float>(x); }
static __device__ __forceinline__ void set(double &to, double x) { to = x; }
static __device__ __forceinline__ void set(cull_bf16 &to, double x)
{
    to = cull_narrow(static_cast<float>(x));
}
static __device__ __forceinline__ void set(float &to, float x) { to = x; }
static __device__ __forceinline__ void set(cull_bf16 &to, float x) { to = cull_narrow(x); }

template <typename R> struct line {
    R scale, shift;
};

template <typename R>
static __device__ __forceinline__ line<R> line_of(const cull_cuda_batch &a, uint32_t c)
{
    double mean = a.mean[c], deviation = a.deviation[c];

    return {static_cast<R>(1 / (255 * deviation)), static_cast<R>(-mean / deviation)};
}

/* How one example's numbers become those that are written. */
template <typename To> struct maker {
    typedef typename real<To>::type R;

    const cull_cuda_batch &a;
    const line<R>         *table; /* NULL: too many channels */
    bool                   flat;  /* one pixel a channel, not moved: all in double */

    __device__ __forceinline__ void make(uint32_t c, float x, To &to) const
    {
        set(to, (static_cast<double>(x) - a.mean[c]) / a.deviation[c]);
    }

    __device__ __forceinline__ void make(uint32_t c, uint8_t x, To &to) const
    {
        if (flat) {
            set(to, (x / 255. - a.mean[c]) / a.deviation[c]);
            return;
        }
        line<R> l = table ? table[c] : line_of<R>(a, c);
        set(to, static_cast<R>(x) * l.scale + l.shift);
    }
};

/* Element e of what is written of an example, and how to go on to the next. */
struct position {
    uint32_t c, y, x;
};

static __device__ __forceinline__ position position_of(const cull_cuda_batch &a, uint32_t e)
{
    uint32_t area = a.height * a.width;
    uint32_t c = a.channels_last ? e % a.channels : e / area;
    uint32_t pixel = a.channels_last ? e / a.channels : e % area;

    return {c, pixel / a.width, pixel % a.width};
}

static __device__ __forceinline__ void go_on(const cull_cuda_batch &a, position &p)
{
    if (a.channels_last) {
        if (++p.c < a.channels) return;
        p.c = 0;
    }
    if (++p.x < a.width) return;
    p.x = 0;
    if (++p.y < a.height || a.channels_last) return;
    p.y = 0;
    p.c++;
}

/* What the source has for a position; black outside of it. */
template <typename From>
static __device__ __forceinline__ From stored(const cull_cuda_batch &a, const draw &d,
                                              const From *src, const position &p)
{
    uint32_t y = p.y, x = d.mirrored ? a.width - 1 - p.x : p.x;

    if (d.moved) {
        y = source_of(d.top + y, a.pad, a.height, a.reflect);
        x = source_of(d.left + x, a.pad, a.width, a.reflect);
        if (y == a.height || x == a.width) return 0;
    }
    return src[(p.c * a.height + y) * a.width + x];
}

template <typename From, typename To, int N>
static __device__ __forceinline__ cull_pack<To, N>
make_some(const cull_cuda_batch &a, const line<typename real<To>::type> *table, size_t i,
          uint32_t e, uint32_t size)
{
    uint32_t        place = a.places[i];
    size_t          from = a.packed ? i : a.row ? a.row[place] : place;
    const From     *src = static_cast<const From *>(a.raw) + from * size;
    draw            d = draw_for(a, place);
    maker<To>       m = {a, table, a.height * a.width == 1 && !d.moved};
    position        p = position_of(a, e);
    cull_pack<To, N> made = {};

#pragma unroll
    for (int k = 0; k < N; k++) {
        if (e + k >= size) break;
        if (p.y < d.y0 || p.y >= d.y1 || p.x < d.x0 || p.x >= d.x1)
            m.make(p.c, stored(a, d, src, p), made.at[k]);
        go_on(a, p);
    }
    return made;
}

template <typename From, typename To, int N>
static __global__ void __launch_bounds__(THREADS)
    make_batch(const __grid_constant__ cull_cuda_batch a, uint32_t each, bool whole)
{
    typedef line<typename real<To>::type> line_type;

    CULL_SHARED(line_type, table);
    uint64_t base = static_cast<uint64_t>(blockIdx.x) * THREADS, first = base / each;
    uint32_t at = static_cast<uint32_t>(base - first * each) + threadIdx.x;
    size_t   i = first + at / each;
    uint32_t size = a.channels * a.height * a.width, e = at % each * N;
    bool     lines = sizeof(From) == 1 && a.channels <= TABLE;

    for (uint32_t c = threadIdx.x; lines && c < a.channels; c += THREADS)
        table[c] = line_of<typename real<To>::type>(a, c);
    __syncthreads();
    if (i >= a.count) return;
    To      *out = static_cast<To *>(a.out) + i * size;
    uint32_t held = a.held ? a.index[i] : CULL_NO_ROW;

    if (held == CULL_NO_ROW)
        cull_put<To, N>(out, e, size, whole,
                        make_some<From, To, N>(a, lines ? table : nullptr, i, e, size));
    else
        cull_put<To, N>(out, e, size, whole,
                        cull_take<To, N>(static_cast<const To *>(a.held) +
                                             static_cast<size_t>(held) * size,
                                         e, size, whole));
}

template <typename From, typename To>
static cudaError_t launch(cudaStream_t stream, const cull_cuda_batch *a)
{
    enum { N = 16 / sizeof(To) };
    uint32_t size = a->channels * a->height * a->width, each = (size + N - 1) / N;
    bool     whole = size % N == 0 && cull_on_border(a->out) && cull_on_border(a->held);
    size_t   line_size = sizeof(line<typename real<To>::type>);
    size_t   shared = sizeof(From) == 1 && a->channels <= TABLE ? a->channels * line_size : 0;

    if (a->count == 0 || size == 0) return cudaSuccess;
    return CULL_LAUNCH((make_batch<From, To, N>), cull_cuda_blocks(a->count * each, THREADS),
                       THREADS, shared, stream, *a, each, whole);
}

template <typename From>
static cudaError_t launch_from(cudaStream_t stream, const cull_cuda_batch *a, cull_dtype to)
{
    if (to == CULL_BF16) return launch<From, cull_bf16>(stream, a);
    if (to == CULL_F32) return launch<From, float>(stream, a);
    return launch<From, double>(stream, a);
}

/* ---- tokens, as they are ---- */

static __global__ void __launch_bounds__(THREADS)
    copy_tokens(const __grid_constant__ cull_cuda_batch a, uint32_t stored)
{
    size_t at = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x, i = at / a.length;

    if (i >= a.count) return;
    uint32_t       t = static_cast<uint32_t>(at - i * a.length);
    uint32_t       held = a.held ? a.index[i] : CULL_NO_ROW;
    const int32_t *from = static_cast<const int32_t *>(a.raw);

    if (held != CULL_NO_ROW)
        from = static_cast<const int32_t *>(a.held) + static_cast<size_t>(held) * a.length;
    else if (a.packed)
        from += i * stored;
    else
        from += static_cast<size_t>(a.row ? a.row[a.places[i]] : a.places[i]) * stored;
    static_cast<int32_t *>(a.out)[at] = from[t];
}

static cudaError_t launch_tokens(cudaStream_t stream, const cull_cuda_batch *a)
{
    if (a->count == 0 || a->length == 0) return cudaSuccess;
    return CULL_LAUNCH(copy_tokens, cull_cuda_blocks(a->count * a->length, THREADS), THREADS, 0,
                       stream, *a, a->channels * a->height * a->width);
}

cudaError_t cull_cuda_make_batch(cudaStream_t stream, const cull_cuda_batch *batch, cull_dtype from,
                                 cull_dtype to)
{
    if (from == CULL_I32) return launch_tokens(stream, batch);
    if (from == CULL_U8) return launch_from<uint8_t>(stream, batch, to);
    return launch_from<float>(stream, batch, to);
}
