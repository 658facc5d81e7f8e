/* backend/check.c - check: what operations of selection may rely on, or else the error word. */
#include <float.h>

#include "backend/backend.h"
#include "tensor/tensor.h"

static uint64_t place_of(const cull_op_args *args, size_t row)
{
    return args->check.place ? args->check.place[row] : row;
}

static void tell(const cull_op_args *args, uint64_t which, size_t row, double found)
{
    if (args->check.trouble->what != CULL_WRONG_NOTHING) return;
    *args->check.trouble = (cull_trouble){.what = CULL_WRONG_SIGNAL,
                                          .which = which,
                                          .row = row,
                                          .place = place_of(args, row),
                                          .step = args->check.now ? args->check.now->step : 0,
                                          .epoch = args->check.now ? args->check.now->epoch : 0,
                                          .found = found,
                                          .most = args->check.high};
}

static void check_places(const cull_op_args *args)
{
    for (size_t i = 0; args->check.place && i < args->check.rows; i++)
        if (args->check.place[i] >= args->check.pool) {
            tell(args, CULL_TROUBLE_PLACE, i, 0);
            return;
        }
}

/* The first row with a number out of bounds, and the number; `rows`: none. */
static size_t first_outside(const cull_op_args *args, double *found)
{
    const cull_tensor *x = &args->check.x;
    size_t             rows = args->check.rows, columns = x->dims == 2 ? (size_t)x->shape[1] : 1;

    for (size_t i = 0; i < rows; i++) {
        cull_tensor row = cull_vector(cull_tensor_row(x, i), x->dtype, columns);

        if (args->check.unseen && args->check.unseen[i]) continue;
        for (size_t j = 0; j < columns; j++) {
            *found = cull_tensor_get(&row, j);
            if (!(*found >= args->check.low && *found <= args->check.high)) return i;
        }
    }
    return rows;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    bool   finite = args->check.low == -DBL_MAX && args->check.high == DBL_MAX;
    double found = 0;
    size_t row = args->check.rows;

    (void)op;
    if (args->check.pool) check_places(args);
    if (!cull_tensor_present(&args->check.x)) return CULL_OK;
    if (finite && !args->check.unseen && cull_tensor_is_float(&args->check.x))
        row = cull_tensor_first_not_finite(&args->check.x, row);
    else
        row = first_outside(args, &found);
    if (row < args->check.rows) tell(args, args->check.which, row, finite ? 0 : found);
    return CULL_OK;
}

const cull_op_class cull_host_check = {cull_host_create, run, cull_host_destroy};
