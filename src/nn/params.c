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

/* ---- on the host ---- */

cull_status cull_nn_params_borrow(const cull_params *params, cull_params *host)
{
    cull_status status = CULL_OK;
    size_t      size = cull_dtype_size(params->dtype);

    *host = *params;
    if (cull_backend_on_host(params->backend)) return CULL_OK;
    host->value = host->running = host->gradient = NULL;
    TRY(cull_base_alloc_aligned(params->count, size, "parameters", &host->value));
    TRY(cull_base_alloc_aligned(params->running_count, size, "averages", &host->running));
    TRY(cull_backend_download(params->backend, host->value, params->value, params->count * size));
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
    TRY(cull_backend_upload(params->backend, params->value, host->value, params->count * size));
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
        goto done;
    }
    TRY(cull_nn_params_borrow(from, &host));
    TRY(cull_backend_upload(to->backend, to->value, host.value, from->count * size));
    TRY(cull_backend_upload(to->backend, to->running, host.running, from->running_count * size));
done:
    cull_nn_params_drop(from, &host);
    return status;
}
