/*
 * train/network/network_inputs.c - examples as a caller has them, made ready for a plan.
 *
 * Each row goes through the data sets' own transform into a block that the plan reads, so that a
 * network of a recipe sees what the recipe's run saw, bit for bit.
 */
#include <math.h>
#include <string.h>

#include "tensor/tensor.h"
#include "train/network/network.h"

cull_status cull_network_check(const cull_network *n, const cull_tensor *x)
{
    cull_status status = CULL_OK;
    int64_t     row = 1, want = cull_image_row(&n->model->input);
    bool        dense = true;

    if (!x->data || x->dims < 1 || x->dims > CULL_MAX_DIMS)
        FAIL(CULL_BAD_ARGUMENT, "inputs: there are none");
    TRY(cull_device_check(x->device, (cull_device){0}, "inputs"));
    if (n->model->node[0].dtype == CULL_I32 && x->dtype != CULL_I32)
        FAIL(CULL_BAD_ARGUMENT, "inputs of %s are tokens, of int32", n->model->name);
    if (n->model->node[0].dtype != CULL_I32 && x->dtype != CULL_F32 && x->dtype != CULL_F64 &&
        x->dtype != CULL_U8)
        FAIL(CULL_BAD_ARGUMENT, "inputs are float32, float64 or uint8");
    for (int d = x->dims - 1; d > 0; d--) {
        dense = dense && (x->stride[d] == row || x->shape[d] == 1);
        if (x->shape[d] < 1 || x->shape[d] > want / row) {
            row = 0;
            break;
        }
        row *= x->shape[d];
    }
    if (row != want)
        FAIL(CULL_BAD_ARGUMENT, "inputs: rows of another size than the %lldx%lldx%lld of %s",
             (long long)n->model->input.c, (long long)n->model->input.h,
             (long long)n->model->input.w, n->model->name);
    if (!dense) FAIL(CULL_BAD_ARGUMENT, "inputs: the rows are not dense");
    if (x->shape[0] < 1 || x->shape[0] > CULL_NETWORK_MOST)
        FAIL(CULL_BAD_ARGUMENT, "inputs: %lld examples; 1 to %d are possible",
             (long long)x->shape[0], CULL_NETWORK_MOST);
done:
    return status;
}

/* Doubles as they are: the data sets' own transform knows of none. */
static cull_status take_doubles(const cull_network *n, const double *x, cull_data_form form,
                                size_t from, double *out)
{
    cull_status status = CULL_OK;
    cull_image  image = n->model->input;
    size_t      area = (size_t)(image.h * image.w), channels = (size_t)image.c;

    for (size_t j = 0; j < channels * area; j++) {
        size_t c = j / area, to = form.channels_last ? j % area * channels + c : j;

        if (!isfinite(x[j]))
            FAIL(CULL_NOT_FINITE, "inputs: number %zu of example %zu is not finite", j, from);
        out[to] = (x[j] - n->card.mean[c]) / n->card.deviation[c];
    }
done:
    return status;
}

/* Tokens as they are; those that are none count for nothing. */
static cull_status take_tokens(const cull_network *n, const int32_t *x, size_t count, size_t from,
                               int32_t *out)
{
    int64_t known = INT32_MAX;

    for (int i = 1; i < n->model->nodes; i++) {
        const cull_layer_desc *d = &n->model->node[i].desc;
        if (d->kind == CULL_LAYER_EMBED && d->rows < known) known = d->rows;
    }
    for (size_t j = 0; j < count; j++)
        if (x[j] >= known)
            return cull_fail(CULL_BAD_ARGUMENT, "inputs: token %zu of example %zu is %d, of %lld",
                             j, from, x[j], (long long)known);
    memcpy(out, x, count * sizeof *out);
    return CULL_OK;
}

cull_status cull_network_take(cull_network *n, const cull_tensor *x, cull_data_form form,
                              size_t from, size_t to)
{
    cull_status       status = CULL_OK;
    cull_image        image = n->model->input;
    size_t            row = (size_t)cull_image_row(&image);
    const void       *data = cull_tensor_row(x, from);
    char             *out = (char *)n->tray.here.inputs + to * row * cull_dtype_size(form.dtype);
    cull_augment_desc desc = {.channels = (size_t)image.c,
                              .height = (size_t)image.h,
                              .width = (size_t)image.w,
                              .from = x->dtype == CULL_U8 ? CULL_U8 : CULL_F32,
                              .to = form.dtype,
                              .channels_last = form.channels_last,
                              .mean = n->card.mean,
                              .deviation = n->card.deviation};

    if (form.dtype == CULL_I32) return take_tokens(n, data, row, from, (int32_t *)(void *)out);
    if (x->dtype == CULL_F64 && form.dtype == CULL_F64)
        return take_doubles(n, data, form, from, (double *)(void *)out);
    if (x->dtype == CULL_F64)
        for (size_t j = 0; j < row; j++) n->row[j] = (float)((const double *)data)[j];
    else
        memcpy(n->row, data, row * cull_dtype_size(x->dtype));
    for (size_t j = 0; x->dtype != CULL_U8 && j < row; j++)
        if (!isfinite(n->row[j]))
            FAIL(CULL_NOT_FINITE, "inputs: number %zu of example %zu is not finite", j, from);
    cull_augment_row(&desc, n->row, 0, 0, false, out);
done:
    return status;
}
