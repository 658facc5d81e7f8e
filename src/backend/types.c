/* backend/types.c - widen: a subset in the types of callers' arrays; narrow: their integers as
 * places. */
#include "backend/backend.h"
#include "tensor/tensor.h"

static void widen_numbers(const uint32_t *from, int64_t *to, size_t count)
{
    for (size_t i = 0; from && i < count; i++)
        to[i] = from[i] == CULL_NO_ROW ? -1 : (int64_t)from[i];
}

static cull_status widen(cull_op *op, const cull_op_args *args)
{
    size_t count = args->widen.count;

    (void)op;
    for (int k = 0; k < 3; k++) widen_numbers(args->widen.index[k], args->widen.to[k], count);
    for (size_t i = 0; args->widen.weight && i < count; i++) {
        double weight = args->widen.weight[i] * args->widen.scale;

        if (args->widen.dtype == CULL_F64)
            ((double *)args->widen.to_weight)[i] = weight;
        else
            ((float *)args->widen.to_weight)[i] = (float)weight;
    }
    return CULL_OK;
}

static cull_status narrow(cull_op *op, const cull_op_args *args)
{
    const cull_tensor *from = &args->narrow.from;

    (void)op;
    for (size_t i = 0; i < (size_t)from->shape[0]; i++) {
        const void *at = cull_tensor_row(from, i);
        int64_t     x = from->dtype == CULL_I64   ? *(const int64_t *)at
                        : from->dtype == CULL_I32 ? *(const int32_t *)at
                                                  : *(const uint8_t *)at;

        args->narrow.to[i] = x < 0 || x > CULL_NO_ROW ? CULL_NO_ROW : (uint32_t)x;
    }
    return CULL_OK;
}

const cull_op_class cull_host_widen = {cull_host_create, widen, cull_host_destroy};
const cull_op_class cull_host_narrow = {cull_host_create, narrow, cull_host_destroy};
