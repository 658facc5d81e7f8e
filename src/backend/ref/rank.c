/* backend/ref/rank.c - percentile_i = (#smaller + 1/2 #equal) / n, counted pair by pair. */
#include "backend/ref/ref.h"

static cull_status run(cull_op *op, const cull_op_args *args)
{
    size_t        n = args->rank.rows;
    const double *x = args->rank.x;

    (void)op;
    for (size_t i = 0; i < n; i++) {
        size_t smaller = 0, equal = 0;
        for (size_t j = 0; j < n; j++) {
            smaller += x[j] < x[i];
            equal += x[j] == x[i];
        }
        args->rank.percentile[i] = ((double)smaller + 0.5 * (double)equal) / (double)n;
    }
    return CULL_OK;
}

const cull_op_class cull_ref_rank = {cull_host_create, run, cull_host_destroy};
