/* backend/ref/top.c - the m largest or smallest: an element stays if fewer than m beat it. */
#include "backend/ref/ref.h"

static bool beats(const cull_op_args *args, size_t j, size_t i)
{
    double a = args->top.x[j], b = args->top.x[i];

    if (a == b) return j < i;
    return args->top.largest ? a > b : a < b;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    size_t kept = 0;

    (void)op;
    for (size_t i = 0; i < args->top.rows; i++) {
        size_t better = 0;
        for (size_t j = 0; j < args->top.rows; j++) better += beats(args, j, i);
        if (better < args->top.m) args->top.index[kept++] = (uint32_t)i;
    }
    return CULL_OK;
}

const cull_op_class cull_ref_top = {cull_host_create, run, cull_host_destroy};
