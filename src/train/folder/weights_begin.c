/*
 * train/folder/weights_begin.c - the weights that a run begins with.
 *
 * A file of another network must not pass for this one's, so every tensor is accounted for, and
 * what is wrong is told by the first that is.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "train/folder/weights.h"

#define REMEDY "model.name and the other model.* must be those that the weights were trained with"

static bool ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);

    return length > tail && strcmp(name + length - tail, end) == 0;
}

/* "(16, 3, 3, 3)" */
static void describe(const cull_tensor *t, char *out, size_t room)
{
    int length = snprintf(out, room, "(");

    for (int d = 0; d < t->dims; d++)
        length += snprintf(out + length, room - (size_t)length, "%s%lld", d ? ", " : "",
                           (long long)t->shape[d]);
    (void)snprintf(out + length, room - (size_t)length, ")");
}

static cull_status match(const char *path, const char *model, const cull_safetensors *file,
                         const cull_safetensor *wanted)
{
    cull_status            status = CULL_OK;
    const cull_safetensor *found = cull_safetensors_find(file, wanted->name);
    char                   theirs[100], own[100];

    if (!found && (ends_in(wanted->name, ".running_mean") || ends_in(wanted->name, ".running_var")))
        FAIL_OPTION("train.init",
                    "%s: no tensor '%s': BatchNorm's averages begin with the weights, so the "
                    "file must hold them",
                    path, wanted->name);
    if (!found)
        FAIL_OPTION("train.init", "%s: no tensor '%s', which %s has: " REMEDY, path, wanted->name,
                    model);
    if (found->tensor.dims != wanted->tensor.dims ||
        memcmp(found->tensor.shape, wanted->tensor.shape, sizeof wanted->tensor.shape) != 0) {
        describe(&found->tensor, theirs, sizeof theirs);
        describe(&wanted->tensor, own, sizeof own);
        FAIL_OPTION("train.init", "%s: %s is %s, %s's is %s: " REMEDY, path, wanted->name, theirs,
                    model, own);
    }
    if (found->tensor.dtype != wanted->tensor.dtype)
        FAIL_OPTION("train.init", "%s: %s is %s, runs are in %s", path, wanted->name,
                    cull_dtype_name(found->tensor.dtype), cull_dtype_name(wanted->tensor.dtype));
done:
    return status;
}

static bool is_listed(const cull_safetensor *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) return true;
    return false;
}

/* PyTorch counts the batches that a BatchNorm has seen; nothing here depends on it. */
static cull_status check_extra(const char *path, const char *model, const cull_safetensors *file,
                               const cull_safetensor *list, size_t count)
{
    for (size_t i = 0; i < file->count; i++) {
        const char *name = file->tensor[i].name;

        if (!ends_in(name, ".num_batches_tracked") && !is_listed(list, count, name))
            return cull_fail_about(
                CULL_BAD_OPTION, "train.init",
                "train.init: %s: has a tensor '%s', which %s does not have: " REMEDY, path, name,
                model);
    }
    return CULL_OK;
}

static cull_status copy(const char *path, const cull_safetensors *file, const cull_safetensor *to)
{
    cull_status            status = CULL_OK;
    const cull_safetensor *from = cull_safetensors_find(file, to->name);
    size_t                 count = 1;
    float                 *number = to->tensor.data;

    for (int d = 0; d < to->tensor.dims; d++) count *= (size_t)to->tensor.shape[d];
    memcpy(number, from->tensor.data, count * sizeof *number);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(number[i])) FAIL_OPTION("train.init", "%s: %s is not finite", path, to->name);
done:
    return status;
}

/* What is wrong with the file itself does not know whose file it is. */
static cull_status blame(cull_status status)
{
    char why[512];

    (void)snprintf(why, sizeof why, "%s", cull_last_error());
    return cull_fail(status, "train.init: %s", why);
}

static cull_status open_file(const char *path, void **data, size_t *bytes, cull_safetensors *file)
{
    cull_status status = CULL_OK;

    TRY(cull_file_read(path, data, bytes));
    TRY(cull_safetensors_parse(path, *data, *bytes, file));
done:
    return status == CULL_OK ? CULL_OK : blame(status);
}

cull_status cull_weights_begin(const char *path, const cull_model *model, cull_params *params,
                               uint64_t *hash)
{
    cull_status      status = CULL_OK;
    void            *data = NULL;
    size_t           bytes = 0, count = 0;
    cull_params      host = {0};
    cull_safetensors file = {0};
    cull_safetensor *list = NULL;

    TRY(open_file(path, &data, &bytes, &file));
    TRY(cull_nn_params_borrow(params, &host));
    TRY(cull_weights_list(model, &host, &list, &count));
    for (size_t i = 0; i < count; i++) TRY(match(path, model->name, &file, &list[i]));
    TRY(check_extra(path, model->name, &file, list, count));
    for (size_t i = 0; i < count; i++) TRY(copy(path, &file, &list[i]));
    TRY(cull_nn_params_return(params, &host));
    *hash = cull_base_hash(data, bytes);
done:
    cull_base_free(list);
    cull_nn_params_drop(params, &host);
    cull_safetensors_clear(&file);
    cull_bytes_release(data);
    return status;
}
