/*
 * nn/params.c - the parameters of a model: one block of values, one of gradients, one of running
 * averages, and how they start.
 *
 *     torch    weight and bias uniform within 1/sqrt(fan_in)
 *     he       weight normal with sqrt(2/fan), fan in (bias as torch) or out (bias 0)
 *     norms    gamma 1, beta 0; running mean 0, variance 1
 */
#include <math.h>

#include "base/alloc.h"
#include "nn/nn.h"

#define TWO_PI 6.28318530717958647693

/* Weights that the backend has in an order of its own; of one channel or one tap there is but one.
 */
static cull_status list_turned(const cull_model *model, cull_params *params)
{
    cull_status status = CULL_OK;

    if (!cull_layer_weights_last(params->backend)) return CULL_OK;
    TRY(cull_base_alloc((size_t)model->nodes, sizeof *params->turned, "parameters",
                        &params->turned));
    for (int n = 1; n < model->nodes; n++) {
        const cull_node       *node = &model->node[n];
        const cull_layer_desc *d = &node->desc;
        cull_turned            one = {.at = node->param_at[0]};

        if (d->kind != CULL_LAYER_CONV || node->params < 1) continue;
        one.outputs = (size_t)d->y.c;
        one.channels = (size_t)(d->x.c / d->groups);
        one.taps = (size_t)(d->kernel[0] * d->kernel[1]);
        if (one.channels > 1 && one.taps > 1) params->turned[params->turns++] = one;
    }
done:
    return status;
}

cull_status cull_nn_params_create(cull_backend *backend, const cull_model *model, cull_dtype dtype,
                                  cull_params **out)
{
    cull_status  status = CULL_OK;
    cull_params *params = NULL;
    size_t       size = cull_dtype_size(dtype);

    if (dtype != CULL_F32 && dtype != CULL_F64)
        FAIL(CULL_BAD_ARGUMENT, "parameters are float32 or float64");
    TRY(cull_base_alloc(1, sizeof *params, "parameters", &params));
    params->backend = backend;
    params->dtype = dtype;
    params->count = model->param_count;
    params->running_count = model->running_count;
    TRY(list_turned(model, params));
    TRY(cull_backend_allocate(backend, params->count, size, "parameters", &params->value));
    TRY(cull_backend_allocate(backend, params->count, size, "gradients", &params->gradient));
    TRY(cull_backend_allocate(backend, params->running_count, size, "averages", &params->running));
    *out = params;
    params = NULL;
done:
    cull_nn_params_destroy(params);
    return status;
}

void cull_nn_params_destroy(cull_params *params)
{
    if (!params) return;
    cull_backend_release(params->backend, params->value);
    cull_backend_release(params->backend, params->gradient);
    cull_backend_release(params->backend, params->running);
    cull_backend_release(params->backend, params->narrow);
    cull_base_free(params->turned);
    cull_base_free(params);
}

static void set(void *block, cull_dtype dtype, size_t at, double value)
{
    if (dtype == CULL_F32)
        ((float *)block)[at] = (float)value;
    else
        ((double *)block)[at] = value;
}

static double normal(cull_key key, uint64_t stream, size_t i)
{
    double radius = sqrt(-2 * log(cull_key_uniform(key, stream, 2 * (uint64_t)i)));
    return radius * cos(TWO_PI * cull_key_uniform(key, stream, 2 * (uint64_t)i + 1));
}

static double uniform(cull_key key, uint64_t stream, size_t i)
{
    return 2 * cull_key_uniform(key, stream, i) - 1;
}

/* Elements of the weight that make one output. */
static double fan_in_of(const cull_node *node)
{
    return (double)(node->param_count[0] / (size_t)node->desc.y.c);
}

static double draw_weight(const cull_node *node, cull_key key, uint64_t stream, size_t i)
{
    const cull_layer_desc *d = &node->desc;
    bool                   conv = d->kind == CULL_LAYER_CONV;
    double                 area = conv ? (double)(d->kernel[0] * d->kernel[1]) : 1;
    double                 fan_in = fan_in_of(node);
    double                 fan_out = area * (double)d->y.c; /* PyTorch counts all groups */

    switch (node->init) {
    case CULL_INIT_TORCH:
    case CULL_INIT_UNIFORM: return uniform(key, stream, i) / sqrt(fan_in);
    case CULL_INIT_HE_OUT: return normal(key, stream, i) * sqrt(2 / fan_out);
    case CULL_INIT_HE_IN: return normal(key, stream, i) * sqrt(2 / fan_in);
    case CULL_INIT_NORMAL: return normal(key, stream, i) * node->init_value;
    case CULL_INIT_ONE: return node->init_value != 0 ? node->init_value : 1;
    default: return 0;
    }
}

static double draw_bias(const cull_node *node, cull_key key, uint64_t stream, size_t i)
{
    if (node->init != CULL_INIT_TORCH && node->init != CULL_INIT_HE_IN) return 0;
    return uniform(key, stream, i) / sqrt(fan_in_of(node));
}

/* Start values into two blocks of the host. */
static void draw_all(const cull_model *model, cull_dtype dtype, uint64_t seed, void *value,
                     void *running)
{
    cull_key key = cull_key_make(seed, "initial weights");

    for (int n = 1; n < model->nodes; n++) {
        const cull_node *node = &model->node[n];
        uint64_t         stream = 2 * (uint64_t)n;

        for (size_t i = 0; node->params > 0 && i < node->param_count[0]; i++)
            set(value, dtype, node->param_at[0] + i, draw_weight(node, key, stream, i));
        for (size_t i = 0; node->params > 1 && i < node->param_count[1]; i++)
            set(value, dtype, node->param_at[1] + i, draw_bias(node, key, stream + 1, i));
        for (size_t i = 0; i < node->running_count; i++)
            set(running, dtype, node->running_at + i, i >= node->running_count / 2 ? 1 : 0);
    }
}

cull_status cull_nn_params_init(cull_params *params, const cull_model *model, uint64_t seed)
{
    cull_status status = CULL_OK;
    cull_params host = {0};

    TRY(cull_nn_params_borrow(params, &host));
    draw_all(model, params->dtype, seed, host.value, host.running);
    TRY(cull_nn_params_return(params, &host));
done:
    cull_nn_params_drop(params, &host);
    return status;
}
