/*
 * backend/cpu/rank.c - percentile_i = (#smaller + 1/2 #equal) / n.
 *
 * Sorted by eight digits of eight bits, lowest first, leaving out digits that all rows share
 * (losses that were float32 have three of those). Even at 128 rows this is quicker than
 * comparing pairs with vectors.
 */
#include "backend/cpu/cpu.h"
#include "backend/cpu/order.h"
#include "base/alloc.h"

enum { DIGITS = 8, VALUES = 256 };

struct item {
    uint64_t image;
    uint64_t row;
};

struct rank {
    cull_op      base;
    struct item *item, *other; /* [rows] each */
};

static void destroy(cull_op *op)
{
    struct rank *rank = (struct rank *)op;

    cull_base_free(rank->other);
    cull_base_free(rank->item);
    cull_base_free(rank);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status  status = CULL_OK;
    struct rank *rank = NULL;

    (void)backend;
    TRY(cull_base_alloc(1, sizeof *rank, "an operation", &rank));
    TRY(cull_base_alloc(desc->rows, sizeof *rank->item, "ranking", &rank->item));
    TRY(cull_base_alloc(desc->rows, sizeof *rank->other, "ranking", &rank->other));
    *out = &rank->base;
    rank = NULL;
done:
    if (rank) destroy(&rank->base);
    return status;
}

/* One pass: stable by one digit, from -> to. start[] holds where each value begins. */
static void place(const struct item *from, struct item *to, size_t n, int digit, uint32_t *start)
{
    for (size_t i = 0; i < n; i++) {
        size_t value = (from[i].image >> (8 * digit)) & (VALUES - 1);
        to[start[value]++] = from[i];
    }
}

static struct item *sort(struct rank *rank, size_t n, uint32_t histogram[DIGITS][VALUES])
{
    struct item *from = rank->item, *to = rank->other;

    for (int digit = 0; digit < DIGITS; digit++) {
        uint32_t *start = histogram[digit], sum = 0;
        if (start[(from[0].image >> (8 * digit)) & (VALUES - 1)] == n) continue;
        for (size_t value = 0; value < VALUES; value++) {
            uint32_t here = start[value];
            start[value] = sum;
            sum += here;
        }
        place(from, to, n, digit, start);
        struct item *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    struct rank  *rank = (struct rank *)op;
    size_t        n = args->rank.rows;
    const double *x = args->rank.x;
    uint32_t      histogram[DIGITS][VALUES] = {{0}};
    struct item  *sorted = NULL;

    for (size_t i = 0; i < n; i++) {
        uint64_t image = cull_cpu_image(x[i]);
        rank->item[i] = (struct item){image, i};
        for (int digit = 0; digit < DIGITS; digit++)
            histogram[digit][(image >> (8 * digit)) & (VALUES - 1)]++;
    }
    sorted = sort(rank, n, histogram);
    for (size_t first = 0, end = 0; first < n; first = end) {
        while (end < n && sorted[end].image == sorted[first].image) end++;
        double percentile = ((double)first + 0.5 * (double)(end - first)) / (double)n;
        for (size_t i = first; i < end; i++) args->rank.percentile[sorted[i].row] = percentile;
    }
    return CULL_OK;
}

const cull_op_class cull_cpu_rank = {create, run, destroy};
