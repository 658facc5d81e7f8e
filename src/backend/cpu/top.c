/*
 * backend/cpu/top.c - the m largest or smallest, ties to the lower index, ascending by index.
 *
 * Digit by digit the m-th value in order is narrowed down: a histogram of the rows that share
 * the digits found so far says which value the next digit has. One last pass keeps what comes
 * before it and as many equals as fit.
 */
#include "backend/cpu/cpu.h"
#include "backend/cpu/order.h"
#include "base/alloc.h"

enum { DIGIT = 8, VALUES = 1 << DIGIT };

struct top {
    cull_op   base;
    uint64_t *image; /* [rows] */
};

static void destroy(cull_op *op)
{
    struct top *top = (struct top *)op;

    cull_base_free(top->image);
    cull_base_free(top);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status status = CULL_OK;
    struct top *top = NULL;

    (void)backend;
    TRY(cull_base_alloc(1, sizeof *top, "an operation", &top));
    TRY(cull_base_alloc(desc->rows, sizeof *top->image, "choosing the largest", &top->image));
    *out = &top->base;
    top = NULL;
done:
    if (top) destroy(&top->base);
    return status;
}

/* An image that the m first do not exceed, and how many of those equal to it are wanted. `bits`:
 * all that any image has. */
static uint64_t threshold(const uint64_t *image, size_t n, size_t m, uint64_t bits, size_t *wanted)
{
    uint64_t found = 0, mask = 0;
    int      shift = 0;

    while (shift + DIGIT < 64 && bits >> (shift + DIGIT)) shift++;
    for (;; shift = shift > DIGIT ? shift - DIGIT : 0) {
        uint32_t histogram[VALUES] = {0}, value = 0;
        for (size_t i = 0; i < n; i++)
            if ((image[i] & mask) == found) histogram[(image[i] >> shift) & (VALUES - 1)]++;
        for (; histogram[value] < m; value++) m -= histogram[value];
        found |= (uint64_t)value << shift;
        mask |= UINT64_MAX << shift;
        if (histogram[value] == m) { /* all of them, whatever their other digits */
            found |= ~mask;
            break;
        }
        if (shift == 0) break;
    }
    *wanted = m;
    return found;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    struct top *top = (struct top *)op;
    size_t      n = args->top.rows, kept = 0, wanted = 0;
    uint64_t    bits = cull_cpu_images(args->top.x, n, args->top.largest, top->image);
    uint64_t    last = threshold(top->image, n, args->top.m, bits, &wanted);

    for (size_t i = 0; i < n; i++) {
        if (top->image[i] > last) continue;
        if (top->image[i] == last) {
            if (wanted == 0) continue;
            wanted--;
        }
        args->top.index[kept++] = (uint32_t)i;
    }
    return CULL_OK;
}

const cull_op_class cull_cpu_top = {create, run, destroy};
