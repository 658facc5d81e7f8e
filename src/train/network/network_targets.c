/* train/network/network_targets.c - what examples are to be held against, as a caller has it. */
#include <math.h>

#include "tensor/tensor.h"
#include "train/network/network.h"

static bool by_class(const cull_network *n)
{
    return n->loss.kind == CULL_LOSS_CROSS_ENTROPY;
}

cull_status cull_network_check_targets(const cull_network *n, const cull_examples *e)
{
    cull_status status = CULL_OK;
    size_t      count = (size_t)e->inputs.shape[0], outputs = n->model->classes;
    bool        many = n->loss.kind == CULL_LOSS_BINARY;
    int         dims = outputs == 1 && e->target.dims == 1 ? 1 : 2;

    if (by_class(n)) return cull_tensor_check(&e->label, "label", 1, count, true);
    TRY(cull_tensor_check(&e->target, "target", dims, count, many));
    if (dims == 2 && (size_t)e->target.shape[1] != outputs)
        FAIL(CULL_BAD_ARGUMENT, "target has %lld columns, %s has %zu outputs",
             (long long)e->target.shape[1], n->model->name, outputs);
done:
    return status;
}

static cull_status take_label(const cull_network *n, const cull_examples *e, size_t from, size_t to)
{
    double label = cull_tensor_get(&e->label, from);

    if (!(label >= 0 && label < (double)n->model->classes))
        return cull_fail(CULL_BAD_ARGUMENT, "example %zu has label %.0f, %s knows 0 to %zu", from,
                         label, n->model->name, n->model->classes - 1);
    cull_tray_aim(&n->tray, to, 0, label);
    return CULL_OK;
}

/* A number as it is learned. */
static double scaled(const cull_card *card, size_t k, double number)
{
    if (!card->target_mean) return number;
    return (number - card->target_mean[k]) / card->target_deviation[k];
}

cull_status cull_network_take_target(const cull_network *n, const cull_examples *e, size_t from,
                                     size_t to)
{
    cull_status status = CULL_OK;
    bool        many = n->loss.kind == CULL_LOSS_BINARY, lone = e->target.dims == 1;
    cull_tensor row = {0};

    if (by_class(n)) return take_label(n, e, from, to);
    if (!lone) row = cull_tensor_line(&e->target, from);
    for (size_t k = 0; k < n->model->classes; k++) {
        double number = lone ? cull_tensor_get(&e->target, from) : cull_tensor_get(&row, k);

        if (many && number != 0 && number != 1)
            FAIL(CULL_BAD_ARGUMENT, "example %zu has %.0f for label %zu; 0 and 1 are possible",
                 from, number, k);
        if (!isfinite(number))
            FAIL(CULL_NOT_FINITE, "target: number %zu of example %zu is not finite", k, from);
        cull_tray_aim(&n->tray, to, k, scaled(&n->card, k, number));
    }
done:
    return status;
}
