/*
 * train/network/network_predict.c - what a network makes of examples without labels.
 *
 *     one class            p_k = exp(z_k - max z) / sum_j exp(z_j - max z)
 *     several              p_k = 1 / (1 + exp -z_k)
 *     real numbers         z_k deviation_k + mean_k, in place of z: as the data counts them
 */
#include <math.h>

#include "base/alloc.h"
#include "tensor/tensor.h"
#include "train/network/network.h"

enum { PREDICT = 256 }; /* examples at once, where it does not matter how many */

static double logit(const cull_tensor *logits, size_t row, size_t k)
{
    size_t at = row * (size_t)logits->shape[1] + k;

    return logits->dtype == CULL_F32 ? (double)((const float *)logits->data)[at]
                                     : ((const double *)logits->data)[at];
}

/* Softmax of one row, shifted by its largest so that nothing overflows. */
static void soften(const cull_tensor *logits, size_t row, size_t classes, float *out)
{
    double top = logit(logits, row, 0), sum = 0;

    for (size_t k = 1; k < classes; k++) top = fmax(top, logit(logits, row, k));
    for (size_t k = 0; k < classes; k++) sum += exp(logit(logits, row, k) - top);
    for (size_t k = 0; k < classes; k++) out[k] = (float)(exp(logit(logits, row, k) - top) / sum);
}

/* What each label of its own is likely to be. */
static void squash(const cull_tensor *logits, size_t row, size_t labels, float *out)
{
    for (size_t k = 0; k < labels; k++) out[k] = (float)(1 / (1 + exp(-logit(logits, row, k))));
}

/* Logits of the latest pass where the host reads them: where they are, or copied. */
static cull_status read_logits(cull_network *n, const cull_plan *plan, size_t count,
                               cull_tensor *out)
{
    cull_status status = CULL_OK;
    size_t      numbers = count * n->model->classes, size = cull_dtype_size(n->params->dtype);
    const void *logits = cull_nn_plan_logits(plan);

    if (!cull_backend_on_host(n->backend)) {
        if (numbers > n->logits_room) {
            TRY(cull_base_grow(numbers, size, "logits", &n->logits));
            n->logits_room = numbers;
        }
        TRY(cull_backend_download(n->backend, n->logits, logits, numbers * size));
        logits = n->logits;
    }
    *out = cull_matrix(logits, n->params->dtype, count, n->model->classes);
done:
    return status;
}

/* One pass over `count` examples. */
static cull_status predict(cull_network *n, const cull_tensor *x, size_t from, size_t count,
                           cull_statistics statistics, cull_tensor *logits)
{
    cull_status    status = CULL_OK;
    cull_plan     *plan = NULL;
    cull_data_form form = {0};
    cull_signals   unused = {0};
    cull_batch     batch = {.key = n->key};

    cull_network_pass(n);
    TRY(cull_network_plan(n, CULL_PLAN_SCORE, count, &plan));
    TRY(cull_plan_form(plan, &form));
    TRY(cull_tray_room(&n->tray, count));
    for (size_t i = 0; i < count; i++) {
        TRY(cull_network_take(n, x, form, from + i, i));
        for (size_t k = 0; k < n->model->classes; k++) cull_tray_aim(&n->tray, i, k, 0);
        n->tray.here.weight[i] = 1;
        n->tray.here.place[i] = (uint32_t)i;
    }
    TRY(cull_tray_send(&n->tray, count, &batch));
    TRY(cull_nn_score(plan, &batch, statistics, 0, &unused));
    TRY(read_logits(n, plan, count, logits));
done:
    return status;
}

/* Row i of the latest pass as numbers of another type. */
static void write_row(const cull_card *card, const cull_tensor *logits, size_t i, cull_dtype dtype,
                      void *out)
{
    for (size_t k = 0; k < (size_t)logits->shape[1]; k++) {
        double number = logit(logits, i, k);

        if (card->target_mean) number = number * card->target_deviation[k] + card->target_mean[k];
        if (dtype == CULL_F32)
            ((float *)out)[k] = (float)number;
        else
            ((double *)out)[k] = number;
    }
}

cull_status cull_network_predict(cull_network *n, const cull_tensor *inputs, float *logits,
                                 float *probabilities)
{
    cull_status status = CULL_OK;
    size_t      classes = n->model->classes, total = 0, count = 0;
    bool        many = n->loss.kind == CULL_LOSS_BINARY;

    if (probabilities && n->loss.kind == CULL_LOSS_SQUARED)
        FAIL(CULL_BAD_ARGUMENT,
             "a network of model.loss=squared-error tells numbers, which have no "
             "probabilities");
    TRY(cull_network_check(n, inputs));
    total = (size_t)inputs->shape[0];
    for (size_t at = 0; at < total; at += count) {
        cull_tensor seen = {0};

        count = total - at < PREDICT ? total - at : PREDICT;
        TRY(predict(n, inputs, at, count, CULL_STATS_RUNNING, &seen));
        for (size_t i = 0; i < count; i++) {
            if (logits) write_row(&n->card, &seen, i, CULL_F32, logits + (at + i) * classes);
            if (probabilities)
                (many ? squash : soften)(&seen, i, classes, probabilities + (at + i) * classes);
        }
    }
done:
    return status;
}

static cull_status check_out(const cull_network *n, size_t count, const cull_tensor *out)
{
    cull_status status = CULL_OK;

    if (!out->data || (out->dtype != CULL_F32 && out->dtype != CULL_F64))
        FAIL(CULL_BAD_ARGUMENT, "logits: a place of float32 or float64 is needed");
    TRY(cull_device_check(out->device, (cull_device){0}, "the place of the logits"));
    if (out->dims != 2 || out->shape[0] != (int64_t)count ||
        out->shape[1] != (int64_t)n->model->classes || out->stride[1] != 1 ||
        out->stride[0] != out->shape[1])
        FAIL(CULL_BAD_ARGUMENT, "logits: the place is not %zu dense rows of %zu", count,
             n->model->classes);
done:
    return status;
}

cull_status cull_network_logits(cull_network *n, const cull_tensor *inputs, bool running,
                                const cull_tensor *out)
{
    cull_status     status = CULL_OK;
    cull_statistics statistics = running ? CULL_STATS_RUNNING : CULL_STATS_BATCH;
    size_t          total = 0, most = 0, count = 0;

    TRY(cull_network_check(n, inputs));
    total = (size_t)inputs->shape[0];
    TRY(check_out(n, total, out));
    most = running ? PREDICT : total;
    for (size_t at = 0; at < total; at += count) {
        cull_tensor seen = {0};

        count = total - at < most ? total - at : most;
        TRY(predict(n, inputs, at, count, statistics, &seen));
        for (size_t i = 0; i < count; i++)
            write_row(&n->card, &seen, i, out->dtype,
                      (char *)out->data +
                          (at + i) * n->model->classes * cull_dtype_size(out->dtype));
    }
done:
    return status;
}
