/* backend/settle.c - settle: a subset's rows in order, with their places. */
#include "backend/backend.h"

static bool in_order(const cull_op_args *s, size_t a, size_t b)
{
    if (s->settle.group[a] != s->settle.group[b]) return s->settle.group[a] < s->settle.group[b];
    if (s->settle.index[a] != s->settle.index[b]) return s->settle.index[a] < s->settle.index[b];
    return s->settle.place[a] <= s->settle.place[b];
}

static void swap_numbers(uint32_t *x, size_t a, size_t b)
{
    uint32_t before = x[a];

    x[a] = x[b];
    x[b] = before;
}

static void swap(const cull_op_args *s, size_t a, size_t b)
{
    double weight = s->settle.weight[a];

    swap_numbers(s->settle.index, a, b);
    swap_numbers(s->settle.place, a, b);
    swap_numbers(s->settle.group, a, b);
    s->settle.weight[a] = s->settle.weight[b];
    s->settle.weight[b] = weight;
}

static void sift(const cull_op_args *s, size_t root, size_t end)
{
    for (size_t child; (child = 2 * root + 1) < end; root = child) {
        if (child + 1 < end && in_order(s, child, child + 1)) child++;
        if (in_order(s, child, root)) return;
        swap(s, root, child);
    }
}

/* Heapsort: in place over four arrays, and most rules hand in sorted rows anyway. */
static void sort(const cull_op_args *s)
{
    size_t sorted = 1, count = s->settle.count;

    while (sorted < count && in_order(s, sorted - 1, sorted)) sorted++;
    if (sorted >= count) return;
    for (size_t root = count / 2; root-- > 0;) sift(s, root, count);
    for (size_t end = count; end-- > 1;) {
        swap(s, 0, end);
        sift(s, 0, end);
    }
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    const uint32_t *from = args->settle.from;

    (void)op;
    for (size_t i = 0; args->settle.all && i < args->settle.count; i++) {
        args->settle.index[i] = (uint32_t)i;
        args->settle.weight[i] = 1;
    }
    for (size_t i = 0; i < args->settle.count; i++) {
        uint32_t row = args->settle.index[i];
        if (row < args->settle.rows) args->settle.place[i] = from ? from[row] : row;
    }
    sort(args);
    return CULL_OK;
}

const cull_op_class cull_host_settle = {cull_host_create, run, cull_host_destroy};
