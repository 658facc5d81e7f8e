/* train/folder/weights.c - parameters to and from named tensors. */
#include "train/folder/weights.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { PER_NODE = 8 };

/* Norms of images are of (c, h, w); those of texts of their features alone. */
static void shape_of(const cull_model *model, const cull_node *node, int param, cull_tensor *t)
{
    const cull_layer_desc *d = &node->desc;

    t->dims = 1;
    t->shape[0] = (int64_t)node->param_count[param];
    if (d->kind == CULL_LAYER_EMBED || d->kind == CULL_LAYER_POSITIONS) {
        t->dims = 2;
        t->shape[0] = d->rows, t->shape[1] = d->y.c;
    } else if (d->kind == CULL_LAYER_LAYERNORM && model->node[0].dtype != CULL_I32) {
        t->dims = 3;
        t->shape[0] = d->x.c, t->shape[1] = d->x.h, t->shape[2] = d->x.w;
    } else if (param == 0 && d->kind == CULL_LAYER_DENSE) {
        t->dims = 2;
        t->shape[0] = d->y.c, t->shape[1] = d->x.c;
    } else if (param == 0 && d->kind == CULL_LAYER_CONV) {
        t->dims = 4;
        t->shape[0] = d->y.c, t->shape[1] = d->x.c / d->groups;
        t->shape[2] = d->kernel[0], t->shape[3] = d->kernel[1];
    }
}

static void *element(void *block, cull_dtype dtype, size_t at)
{
    return (char *)block + at * cull_dtype_size(dtype);
}

static cull_safetensor *add(cull_safetensor *next, const cull_node *node, const char *suffix,
                            cull_dtype dtype, void *data)
{
    (void)snprintf(next->name, sizeof next->name, "%s.%s", node->name, suffix);
    next->tensor.dtype = dtype;
    next->tensor.data = data;
    return next + 1;
}

static void set_strides(cull_tensor *t)
{
    for (int d = t->dims - 1; d >= 0; d--)
        t->stride[d] = d + 1 < t->dims ? t->stride[d + 1] * t->shape[d + 1] : 1;
}

/* Of a convolution's weight that lies with its channels last. */
static void turn_strides(const cull_params *params, cull_tensor *t)
{
    for (size_t i = 0; i < params->turns; i++) {
        if (t->data != element(params->value, params->dtype, params->turned[i].at)) continue;
        t->stride[1] = 1;
        t->stride[3] = t->shape[1];
        t->stride[2] = t->shape[3] * t->stride[3];
        t->stride[0] = t->shape[2] * t->stride[2];
    }
}

/* A parameter as the tensors that files have of it: one, or equal parts of its rows. */
static cull_safetensor *add_param(cull_safetensor *next, const cull_model *model, int n, int param,
                                  cull_dtype dtype, char *data)
{
    static const char *const suffixes[] = {"weight", "bias"};
    const cull_node         *node = &model->node[n];
    const char              *part = node->parts;
    int64_t                  parts = 1, count = (int64_t)node->param_count[param];
    char                     suffix[32];

    for (const char *at = part; at && *at; at++) parts += *at == ',';
    for (int64_t i = 0; i < parts; i++) {
        int length = part ? (int)strcspn(part, ",") : 0;

        (void)snprintf(suffix, sizeof suffix, "%.*s%s%s", length, part ? part : "", part ? "." : "",
                       suffixes[param]);
        shape_of(model, node, param, &next->tensor);
        next->tensor.shape[0] /= parts;
        next = add(next, node, suffix, dtype,
                   data + (size_t)(i * count / parts) * cull_dtype_size(dtype));
        if (part) part += length + 1;
    }
    return next;
}

cull_status cull_weights_list(const cull_model *model, const cull_params *params,
                              cull_safetensor **out, size_t *count)
{
    static const char *const averages[] = {"running_mean", "running_var"};
    cull_status              status = CULL_OK;
    cull_dtype               dtype = params->dtype;
    cull_safetensor         *list = NULL, *next = NULL;

    TRY(cull_base_alloc((size_t)model->nodes * PER_NODE, sizeof *list, "a list of weights", &list));
    next = list;
    for (int n = 1; n < model->nodes; n++) {
        const cull_node *node = &model->node[n];
        size_t           half = node->running_count / 2;

        for (int i = 0; i < node->params && i < CULL_NODE_PARAMS; i++)
            next = add_param(next, model, n, i, dtype,
                             element(params->value, dtype, node->param_at[i]));
        for (size_t i = 0; half && i < 2; i++) {
            next->tensor.dims = 1;
            next->tensor.shape[0] = (int64_t)half;
            next = add(next, node, averages[i], dtype,
                       element(params->running, dtype, node->running_at + i * half));
        }
    }
    *count = (size_t)(next - list);
    for (size_t i = 0; i < *count; i++) set_strides(&list[i].tensor);
    for (size_t i = 0; i < *count; i++) turn_strides(params, &list[i].tensor);
    *out = list;
done:
    return status;
}

cull_status cull_weights_encode(const cull_model *model, const cull_params *params,
                                const cull_card *card, cull_writer *out)
{
    cull_status      status = CULL_OK;
    cull_params      host = {0};
    cull_safetensor *list = NULL;
    size_t           count = 0;

    TRY(cull_nn_params_borrow(params, &host));
    TRY(cull_weights_list(model, &host, &list, &count));
    TRY(cull_safetensors_encode(list, count, model->name, card, out));
done:
    cull_base_free(list);
    cull_nn_params_drop(params, &host);
    return status;
}

static cull_status match(const char *path, const cull_safetensors *file,
                         const cull_safetensor *wanted, const cull_safetensor **out)
{
    cull_status            status = CULL_OK;
    const cull_tensor     *t = NULL;
    const cull_safetensor *found = cull_safetensors_find(file, wanted->name);

    if (!found) FAIL(CULL_BAD_FILE, "%s: no tensor '%s', which the model has", path, wanted->name);
    t = &found->tensor;
    if (t->dtype != wanted->tensor.dtype)
        FAIL(CULL_BAD_FILE, "%s: %s is %s, the model's is %s", path, wanted->name,
             cull_dtype_name(t->dtype), cull_dtype_name(wanted->tensor.dtype));
    if (t->dims != wanted->tensor.dims ||
        memcmp(t->shape, wanted->tensor.shape, sizeof t->shape) != 0)
        FAIL(CULL_BAD_FILE, "%s: %s has another shape than the model's", path, wanted->name);
    *out = found;
done:
    return status;
}

cull_status cull_weights_decode(const char *path, const void *data, size_t bytes,
                                const cull_model *model, cull_params *params)
{
    cull_status            status = CULL_OK;
    cull_params            host = {0};
    cull_safetensors       file = {0};
    cull_safetensor       *list = NULL;
    const cull_safetensor *found = NULL;
    size_t                 count = 0;

    TRY(cull_safetensors_parse(path, data, bytes, &file));
    TRY(cull_nn_params_borrow(params, &host));
    TRY(cull_weights_list(model, &host, &list, &count));
    for (size_t i = 0; i < count; i++) TRY(match(path, &file, &list[i], &found));
    for (size_t i = 0; i < count; i++) {
        size_t size = cull_dtype_size(list[i].tensor.dtype);

        TRY(match(path, &file, &list[i], &found));
        for (int d = 0; d < list[i].tensor.dims; d++) size *= (size_t)list[i].tensor.shape[d];
        memcpy(list[i].tensor.data, found->tensor.data, size);
    }
    TRY(cull_nn_params_return(params, &host));
done:
    cull_safetensors_clear(&file);
    cull_base_free(list);
    cull_nn_params_drop(params, &host);
    return status;
}

cull_status cull_weights_read(const char *path, const cull_model *model, cull_params *params)
{
    cull_status status = CULL_OK;
    void       *data = NULL;
    size_t      bytes = 0;

    TRY(cull_file_read(path, &data, &bytes));
    TRY(cull_weights_decode(path, data, bytes, model, params));
done:
    cull_bytes_release(data);
    return status;
}

cull_status cull_weights_card(const char *path, cull_card *out)
{
    cull_status      status = CULL_OK;
    cull_safetensors file = {0};
    void            *data = NULL;
    size_t           bytes = 0;

    TRY(cull_file_read(path, &data, &bytes));
    TRY(cull_safetensors_parse(path, data, bytes, &file));
    *out = file.card;
    file.card = (cull_card){0};
done:
    cull_safetensors_clear(&file);
    cull_bytes_release(data);
    return status;
}
