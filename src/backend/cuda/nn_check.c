/*
 * backend/cuda/nn_check.c - whether a library's way computes what our own kernel does.
 *
 * What an engine says of its precision is not taken for granted: the first and last values of its
 * result are held against the trusted way's, on the same arrays, as a share of their norm. Every
 * byte of the result is set before, so that what is not written is NaN, which is never near.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "backend/cuda/nn_state.h"
#include "base/alloc.h"
#include "tensor/tensor.h"

enum { LOOKED_AT = 16384, UNWRITTEN = 0xff }; /* values at either end */

double cull_nn_apart(cull_dtype values, bool tf32)
{
    if (values == CULL_BF16) return 1e-2; /* a rounding of the result is 2e-3 */
    return tf32 ? 2e-3 : 5e-5;            /* ten bits of the factors would be 4e-4 */
}

static double value_at(const char *data, cull_dtype dtype, size_t i)
{
    float    single = 0;
    double   wide = 0;
    uint16_t bits = 0;

    switch (dtype) {
    case CULL_F32: memcpy(&single, data + i * sizeof single, sizeof single); return (double)single;
    case CULL_F64: memcpy(&wide, data + i * sizeof wide, sizeof wide); return wide;
    default:
        memcpy(&bits, data + i * sizeof bits, sizeof bits);
        return (double)cull_bf16_wide(bits);
    }
}

/* What a way leaves, the ends of it: *out is the caller's. */
static cull_status look(const cull_nn_contest *contest, const cull_nn_way *way, void *room,
                        const cull_nn_result *result, char **out)
{
    cull_status status = CULL_OK;
    size_t      size = cull_dtype_size(result->dtype), most = LOOKED_AT * size;
    size_t      bytes = result->count * size, head = bytes < most ? bytes : most;
    char       *data = NULL;

    TRY(cull_base_alloc(2 * most, 1, "a way's results", &data));
    TRY(cull_backend_fill(contest->backend, result->data, UNWRITTEN, bytes));
    TRY(contest->run(contest->context, way, room));
    TRY(cull_backend_download(contest->backend, data, result->data, head));
    TRY(cull_backend_download(contest->backend, data + head,
                              (const char *)result->data + bytes - head, head));
    *out = data;
    data = NULL;
done:
    cull_base_free(data);
    return status;
}

cull_status cull_nn_check(cull_nn_contest *contest, const cull_nn_way *way, void *room,
                          double *apart)
{
    cull_status    status = CULL_OK;
    cull_nn_result result = {0};
    char          *got = NULL;
    double         off = 0, all = 0;
    size_t         count = 0;

    contest->result(contest->context, &result);
    count = result.count < LOOKED_AT ? result.count : LOOKED_AT;
    if (!contest->want) TRY(look(contest, &contest->trusted, room, &result, &contest->want));
    TRY(look(contest, way, room, &result, &got));
    for (size_t i = 0; i < 2 * count; i++) {
        double want = value_at(contest->want, result.dtype, i);
        double apart_by = value_at(got, result.dtype, i) - want;

        off += apart_by * apart_by;
        all += want * want;
    }
    *apart = off > 0 || isnan(off) ? sqrt(off / all) : 0;
done:
    cull_base_free(got);
    return status;
}
