/*
 * nn/params_host.c - parameters between the host and a backend: the order of their weights, and the
 * narrow copy of them that layers read where values are bfloat16.
 *
 * The host's order is the one of layer.h and of files. A device that wants its channels last has
 * convolutions' weights so too, and every other block that goes with them: gradients, momenta.
 */
#include <string.h>

#include "base/alloc.h"
#include "nn/nn.h"
#include "tensor/tensor.h"

/* ---- order ---- */

/* One weight, from (outputs, rows, columns) to (outputs, columns, rows). */
static void transpose(const char *from, char *to, size_t size, size_t outputs, size_t rows,
                      size_t columns)
{
    for (size_t o = 0; o < outputs; o++)
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < columns; c++)
                memcpy(to + ((o * columns + c) * rows + r) * size,
                       from + ((o * rows + r) * columns + c) * size, size);
}

/* All weights of a block on the host that lie in another order there; away: from here to there. */
static cull_status turn(const cull_params *params, void *block, bool away)
{
    cull_status status = CULL_OK;
    size_t      size = cull_dtype_size(params->dtype), most = 0;
    char       *copy = NULL;

    for (size_t i = 0; i < params->turns; i++) {
        const cull_turned *t = &params->turned[i];
        size_t             count = t->outputs * t->channels * t->taps;

        if (count > most) most = count;
    }
    if (most) TRY(cull_base_alloc(most, size, "a weight", &copy));
    for (size_t i = 0; i < params->turns; i++) {
        const cull_turned *t = &params->turned[i];
        char              *weight = (char *)block + t->at * size;

        memcpy(copy, weight, t->outputs * t->channels * t->taps * size);
        transpose(copy, weight, size, t->outputs, away ? t->channels : t->taps,
                  away ? t->taps : t->channels);
    }
done:
    cull_base_free(copy);
    return status;
}

cull_status cull_nn_params_download(const cull_params *params, const void *block, void *host)
{
    cull_status status = CULL_OK;

    TRY(cull_backend_download(params->backend, host, block,
                              params->count * cull_dtype_size(params->dtype)));
    TRY(turn(params, host, false));
done:
    return status;
}

cull_status cull_nn_params_upload(const cull_params *params, void *block, const void *host)
{
    cull_status status = CULL_OK;
    size_t      size = cull_dtype_size(params->dtype);
    void       *copy = NULL;

    if (cull_nn_params_straight(params))
        return cull_backend_upload(params->backend, block, host, params->count * size);
    TRY(cull_base_alloc(params->count, size, "parameters", &copy));
    memcpy(copy, host, params->count * size);
    TRY(turn(params, copy, true));
    TRY(cull_backend_upload(params->backend, block, copy, params->count * size));
done:
    cull_base_free(copy);
    return status;
}

/* ---- the narrow copy ---- */

/* As the values are now; updates write it from then on. Values of another type have none. */
static cull_status write_narrow(cull_params *params)
{
    cull_status status = CULL_OK;
    size_t      count = params->count;
    float      *wide = NULL;
    uint16_t   *narrow = NULL;

    if (!params->narrow) return CULL_OK;
    TRY(cull_base_alloc(count, sizeof *wide, "parameters", &wide));
    TRY(cull_base_alloc(count, sizeof *narrow, "parameters", &narrow));
    TRY(cull_backend_download(params->backend, wide, params->value, count * sizeof *wide));
    for (size_t i = 0; i < count; i++) narrow[i] = cull_bf16_of(wide[i]);
    TRY(cull_backend_upload(params->backend, params->narrow, narrow, count * sizeof *narrow));
done:
    cull_base_free(wide);
    cull_base_free(narrow);
    return status;
}

cull_status cull_nn_params_narrow(cull_params *params)
{
    cull_status status = CULL_OK;

    if (params->narrow) return CULL_OK;
    if (params->dtype != CULL_F32 || !cull_layer_mixes(params->backend))
        FAIL(CULL_UNSUPPORTED, "networks on the %s backend have no bfloat16",
             params->backend->class->name);
    TRY(cull_backend_allocate(params->backend, params->count, cull_dtype_size(CULL_BF16),
                              "parameters", &params->narrow));
    atomic_fetch_add(&params->backend->ended, 1); /* updates of recorded steps do not write it */
    TRY(write_narrow(params));
done:
    return status;
}

cull_status cull_nn_params_compute(cull_params *params, cull_arithmetic arithmetic)
{
    cull_status status = CULL_OK;

    if (arithmetic.values == params->dtype) arithmetic.values = 0;
    if (arithmetic.values && arithmetic.values != CULL_BF16)
        FAIL(CULL_BAD_ARGUMENT, "values of %s", cull_dtype_name(arithmetic.values));
    if (arithmetic.tf32 && (params->dtype != CULL_F32 || !cull_layer_mixes(params->backend)))
        FAIL(CULL_UNSUPPORTED, "networks on the %s backend have no TF32",
             params->backend->class->name);
    if (arithmetic.values) TRY(cull_nn_params_narrow(params));
    params->arithmetic = arithmetic;
done:
    return status;
}

/* ---- all of them ---- */

cull_status cull_nn_params_borrow(const cull_params *params, cull_params *host)
{
    cull_status status = CULL_OK;
    size_t      size = cull_dtype_size(params->dtype);

    *host = *params;
    if (cull_backend_on_host(params->backend)) return CULL_OK;
    host->value = host->running = host->gradient = host->narrow = NULL;
    host->turns = 0;
    TRY(cull_base_alloc_aligned(params->count, size, "parameters", &host->value));
    TRY(cull_base_alloc_aligned(params->running_count, size, "averages", &host->running));
    TRY(cull_nn_params_download(params, params->value, host->value));
    TRY(cull_backend_download(params->backend, host->running, params->running,
                              params->running_count * size));
done:
    return status;
}

cull_status cull_nn_params_return(cull_params *params, const cull_params *host)
{
    cull_status status = CULL_OK;
    size_t      size = cull_dtype_size(params->dtype);

    if (host->value == params->value) return CULL_OK;
    TRY(cull_nn_params_upload(params, params->value, host->value));
    TRY(write_narrow(params));
    TRY(cull_backend_upload(params->backend, params->running, host->running,
                            params->running_count * size));
done:
    return status;
}

void cull_nn_params_drop(const cull_params *params, cull_params *host)
{
    if (host->value != params->value) cull_base_free_aligned(host->value);
    if (host->running != params->running) cull_base_free_aligned(host->running);
    *host = (cull_params){0};
}

cull_status cull_nn_params_copy(cull_params *to, const cull_params *from)
{
    cull_status status = CULL_OK;
    size_t      size = cull_dtype_size(from->dtype);
    cull_params host = {0};

    if (to->backend == from->backend) {
        TRY(cull_backend_copy(to->backend, to->value, from->value, from->count * size));
        TRY(cull_backend_copy(to->backend, to->running, from->running, from->running_count * size));
        TRY(write_narrow(to));
        goto done;
    }
    TRY(cull_nn_params_borrow(from, &host));
    TRY(cull_nn_params_upload(to, to->value, host.value));
    TRY(write_narrow(to));
    TRY(cull_backend_upload(to->backend, to->running, host.running, from->running_count * size));
done:
    cull_nn_params_drop(from, &host);
    return status;
}
