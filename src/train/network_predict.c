/*
 * train/network_predict.c - what a network makes of examples without labels.
 *
 *     p_k = exp(z_k - max z) / sum_j exp(z_j - max z)
 */
#include <math.h>
#include <string.h>

#include "train/network.h"

enum { PREDICT = 256 }; /* examples at once */

/* Softmax of one row, shifted by its largest so that nothing overflows. */
static void soften(const float *logits, size_t classes, float *out)
{
    double top = (double)logits[0], sum = 0;

    for (size_t k = 1; k < classes; k++) top = fmax(top, (double)logits[k]);
    for (size_t k = 0; k < classes; k++) sum += exp((double)logits[k] - top);
    for (size_t k = 0; k < classes; k++) out[k] = (float)(exp((double)logits[k] - top) / sum);
}

static cull_status predict(cull_network *n, const cull_tensor *x, size_t from, size_t count,
                           const float **logits)
{
    cull_status    status = CULL_OK;
    cull_plan     *plan = NULL;
    cull_data_form form = {0};
    cull_signals   unused = {0};
    cull_batch     batch = {.count = count, .key = n->key};

    n->passes++;
    TRY(cull_network_plan(n, CULL_PLAN_SCORE, count, &plan));
    TRY(cull_network_form(plan, &form));
    TRY(cull_network_room(n, count));
    for (size_t i = 0; i < count; i++) {
        TRY(cull_network_take(n, x, form, from + i, i));
        n->label[i] = 0;
    }
    batch.inputs = n->inputs;
    batch.label = n->label;
    TRY(cull_nn_score(plan, &batch, CULL_STATS_RUNNING, 0, &unused));
    *logits = cull_nn_plan_logits(plan);
done:
    return status;
}

cull_status cull_network_predict(cull_network *n, const cull_tensor *inputs, float *logits,
                                 float *probabilities)
{
    cull_status status = CULL_OK;
    size_t      classes = n->model->classes, total = 0, count = 0;

    TRY(cull_network_check(n, inputs));
    total = (size_t)inputs->shape[0];
    for (size_t at = 0; at < total; at += count) {
        const float *seen = NULL;

        count = total - at < PREDICT ? total - at : PREDICT;
        TRY(predict(n, inputs, at, count, &seen));
        if (logits) memcpy(logits + at * classes, seen, count * classes * sizeof *logits);
        for (size_t i = 0; probabilities && i < count; i++)
            soften(seen + i * classes, classes, probabilities + (at + i) * classes);
    }
done:
    return status;
}
