/*
 * backend/cpu/rank.c - percentile_i = (#smaller + 1/2 #equal) / n.
 *
 * Sorted by digits, lowest first, from the lowest bit in which rows differ to the highest (losses
 * that were float32 differ in about 30). Even at 128 rows this is quicker than comparing pairs with
 * vectors.
 */
#include "backend/cpu/cpu.h"
#include "backend/cpu/order.h"
#include "base/alloc.h"

enum { DIGIT = 7, VALUES = 1 << DIGIT };

struct item {
    uint64_t image;
    uint64_t row;
};

struct rank {
    cull_op      base;
    uint64_t    *image;        /* [rows]      */
    struct item *item, *other; /* [rows] each */
};

static void destroy(cull_op *op)
{
    struct rank *rank = (struct rank *)op;

    cull_base_free(rank->other);
    cull_base_free(rank->item);
    cull_base_free(rank->image);
    cull_base_free(rank);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status  status = CULL_OK;
    struct rank *rank = NULL;

    (void)backend;
    TRY(cull_base_alloc(1, sizeof *rank, "an operation", &rank));
    TRY(cull_base_alloc(desc->rows, sizeof *rank->image, "ranking", &rank->image));
    TRY(cull_base_alloc(desc->rows, sizeof *rank->item, "ranking", &rank->item));
    TRY(cull_base_alloc(desc->rows, sizeof *rank->other, "ranking", &rank->other));
    *out = &rank->base;
    rank = NULL;
done:
    if (rank) destroy(&rank->base);
    return status;
}

/* One pass: stable by the digit at `shift`, from -> to. */
static void pass(const struct item *from, struct item *to, size_t n, int shift)
{
    uint32_t start[VALUES] = {0}, sum = 0; /* how many, then where each value begins */

    for (size_t i = 0; i < n; i++) start[(from[i].image >> shift) & (VALUES - 1)]++;
    for (size_t value = 0; value < VALUES; value++) {
        uint32_t here = start[value];
        start[value] = sum;
        sum += here;
    }
    for (size_t i = 0; i < n; i++) to[start[(from[i].image >> shift) & (VALUES - 1)]++] = from[i];
}

static struct item *sort(struct rank *rank, size_t n, uint64_t bits)
{
    struct item *from = rank->item, *to = rank->other;
    int          shift = 0;

    while (bits && !(bits >> shift & 1)) shift++;
    for (; shift < 64 && bits >> shift; shift += DIGIT) {
        pass(from, to, n, shift);
        struct item *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    struct rank *rank = (struct rank *)op;
    size_t       n = args->rank.rows;
    uint64_t     bits = cull_cpu_images(args->rank.x, n, false, rank->image);
    struct item *sorted = NULL;

    for (size_t i = 0; i < n; i++) rank->item[i] = (struct item){rank->image[i], i};
    sorted = sort(rank, n, bits);
    for (size_t first = 0, end = 0; first < n; first = end) {
        while (end < n && sorted[end].image == sorted[first].image) end++;
        double percentile = ((double)first + 0.5 * (double)(end - first)) / (double)n;
        for (size_t i = first; i < end; i++) args->rank.percentile[sorted[i].row] = percentile;
    }
    return CULL_OK;
}

const cull_op_class cull_cpu_rank = {create, run, destroy};
