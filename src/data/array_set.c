/*
 * data/array_set.c - data sets kept as arrays: .npz and .npy of one's own, and ImageNet-32's
 * batches, as docs/formats.md says.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/format.h"
#include "data/labels.h"
#include "data/npy.h"
#include "tensor/tensor.h"

enum { IMAGENET_ROW = 3 * 32 * 32, IMAGENET_CLASSES = 1000 };

static bool has_array(const cull_arrays *arrays, const char *name)
{
    const char *there = NULL;

    for (size_t i = 0; (there = cull_arrays_name(arrays, i)); i++)
        if (strcmp(there, name) == 0) return true;
    return false;
}

/* Both of inputs and labels under the first pair of names that is there. */
static cull_status get_pair(cull_arrays *arrays, const char *path, cull_data_role role,
                            cull_tensor *x, cull_tensor *y)
{
    static const char *const names[][2] = {
        {"x_train", "y_train"}, {"x", "y"}, {"data", "labels"}, {"x_test", "y_test"}};
    cull_status status = CULL_OK;
    size_t      first = role == CULL_DATA_TEST ? 3 : 0, end = role == CULL_DATA_TEST ? 4 : 3;

    for (size_t i = first; i < end; i++) {
        if (!has_array(arrays, names[i][0]) || !has_array(arrays, names[i][1])) continue;
        TRY(cull_arrays_get(arrays, names[i][0], x));
        TRY(cull_arrays_get(arrays, names[i][1], y));
        goto done;
    }
    if (role == CULL_DATA_TEST)
        FAIL(CULL_BAD_FILE, "%s: holds no test set (x_test and y_test); name another file for it",
             path);
    FAIL(CULL_BAD_FILE, "%s: holds neither x_train and y_train nor x and y nor data and labels",
         path);
done:
    return status;
}

static cull_status check_finite(const char *path, const float *x, size_t row, size_t count)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; i < row * count; i++)
        if (!isfinite(x[i]))
            FAIL(CULL_BAD_FILE, "%s: number %zu of example %zu is not finite", path, i % row,
                 i / row);
done:
    return status;
}

static void copy_inputs(const cull_tensor *x, cull_dataset *into)
{
    size_t numbers = cull_data_row(into) * (size_t)x->shape[0];
    float *to = cull_data_end(into);

    if (x->dtype == CULL_F64)
        for (size_t i = 0; i < numbers; i++) to[i] = (float)((const double *)x->data)[i];
    else
        memcpy(to, x->data, numbers * cull_dtype_size(x->dtype));
}

static void close_arrays(void *self)
{
    cull_arrays_close(self);
}

/* The set's rows are x, which lies in *arrays: those become the rows' own. */
static cull_status keep_inputs(const char *path, const cull_tensor *x, cull_arrays **arrays,
                               cull_dataset *into)
{
    static const cull_data_rows_class class = {.close = close_arrays};
    cull_status     status = CULL_OK;
    cull_data_rows *rows = NULL;

    TRY(cull_data_rows_create(&class, *arrays, x->data, (size_t)x->shape[0], &rows));
    *arrays = NULL;
    TRY(cull_data_hold(into, path, rows));
done:
    cull_data_rows_release(rows);
    return status;
}

/* Copied, or, where they can be the set's rows as they are and *arrays may be taken, not. */
static cull_status take_inputs(const char *path, const cull_tensor *x, cull_arrays **arrays,
                               cull_dataset *into)
{
    cull_status status = CULL_OK;

    if (arrays && x->dtype == into->dtype) {
        TRY(keep_inputs(path, x, arrays, into));
    } else {
        TRY(cull_data_extend(into, path, (uint64_t)x->shape[0]));
        copy_inputs(x, into);
    }
    if (into->dtype == CULL_F32)
        TRY(check_finite(path, cull_data_end(into), cull_data_row(into), (size_t)x->shape[0]));
done:
    return status;
}

static cull_status check_pair(const char *path, const cull_tensor *x, const cull_tensor *y)
{
    cull_status status = CULL_OK;

    if (x->dtype != CULL_U8 && x->dtype != CULL_F32 && x->dtype != CULL_F64)
        FAIL(CULL_BAD_FILE, "%s: inputs of %s; uint8, float32 and float64 are read", path,
             cull_dtype_name(x->dtype));
    if (x->dims < 2)
        FAIL(CULL_BAD_FILE, "%s: inputs of %d dimension; (N, D), (N, H, W) or (N, C, H, W)", path,
             x->dims);
    if (x->shape[0] != y->shape[0] || x->shape[0] == 0)
        FAIL(CULL_BAD_FILE, "%s: %lld inputs and %lld labels", path, (long long)x->shape[0],
             (long long)y->shape[0]);
done:
    return status;
}

/* *arrays, which hold x, may be taken over; NULL: they are the caller's. */
static cull_status take_pair(const char *path, const cull_tensor *x, const cull_tensor *y,
                             cull_arrays **arrays, cull_dataset *into)
{
    cull_status status = CULL_OK;
    cull_dtype  dtype = x->dtype == CULL_U8 ? CULL_U8 : CULL_F32;
    size_t      shape[CULL_MAX_DIMS] = {0};

    TRY(check_pair(path, x, y));
    TRY(cull_data_labels_aim(path, y, CULL_TARGET_CLASS, into));
    for (int d = 0; d < x->dims; d++) shape[d] = (size_t)x->shape[d];
    if (x->dims == 2)
        TRY(cull_data_shape(into, path, dtype, shape[1], 1, 1));
    else if (x->dims == 3)
        TRY(cull_data_shape(into, path, dtype, 1, shape[1], shape[2]));
    else
        TRY(cull_data_shape(into, path, dtype, shape[1], shape[2], shape[3]));
    TRY(take_inputs(path, x, arrays, into));
    TRY(cull_data_labels_take(path, y, into));
    into->count += shape[0];
done:
    return status;
}

static cull_status check_own(const char *name, const cull_tensor *t, const char *what)
{
    cull_status status = CULL_OK;

    if (!t->data || t->dims < 1 || t->dims > CULL_MAX_DIMS)
        FAIL(CULL_BAD_ARGUMENT, "%s: there are no %s", name, what);
    TRY(cull_device_check(t->device, (cull_device){0}, what));
    for (int d = 0; d < t->dims; d++)
        if (t->shape[d] < 1 || t->shape[d] > CULL_DATA_MOST_ROW)
            FAIL(CULL_BAD_ARGUMENT, "%s: %s have %lld in dimension %d", name, what,
                 (long long)t->shape[d], d);
    if (!cull_data_npy_dense(t)) FAIL(CULL_BAD_ARGUMENT, "%s: the %s are not dense", name, what);
done:
    return status;
}

cull_status cull_data_take(const char *name, const cull_tensor *x, const cull_tensor *y,
                           cull_dataset **out)
{
    cull_status   status = CULL_OK;
    cull_dataset *set = NULL;
    char          why[256];

    TRY(check_own(name, x, "inputs"));
    TRY(check_own(name, y, "labels"));
    TRY(cull_data_create(name, &set));
    status = take_pair(name, x, y, NULL, set);
    if (status == CULL_BAD_FILE) {
        (void)snprintf(why, sizeof why, "%s", cull_last_error());
        FAIL(CULL_BAD_ARGUMENT, "%s", why);
    }
    TRY(status);
    TRY(cull_data_measure(set));
    *out = set;
    set = NULL;
done:
    cull_data_close(set);
    return status;
}

static cull_status read_npy_pair(const char *path, cull_arrays **inputs, cull_data_role role,
                                 cull_dataset *into)
{
    cull_status  status = CULL_OK;
    cull_arrays *labels = NULL;
    cull_tensor  x = {0}, y = {0};
    char         beside[CULL_DATA_PATH];
    size_t       length = strlen(path);

    if (role == CULL_DATA_TEST)
        FAIL(CULL_BAD_FILE, "%s: holds no test set; name another file for it", path);
    if (length < 4 || strcmp(path + length - 4, ".npy") != 0)
        FAIL(CULL_BAD_FILE, "%s: a .npy file by another name, so its labels cannot be found", path);
    if ((size_t)snprintf(beside, sizeof beside, "%.*s_labels.npy", (int)(length - 4), path) >=
        sizeof beside)
        FAIL(CULL_BAD_ARGUMENT, "%.64s...: the path is too long", path);
    TRY(cull_arrays_open(beside, &labels));
    TRY(cull_arrays_get(*inputs, NULL, &x));
    TRY(cull_arrays_get(labels, NULL, &y));
    TRY(take_pair(path, &x, &y, inputs, into));
done:
    cull_arrays_close(labels);
    return status;
}

cull_status cull_data_array_set_read(const char *path, cull_data_role role, uint64_t map_from,
                                     cull_dataset *into)
{
    cull_status  status = CULL_OK;
    cull_arrays *arrays = NULL;
    cull_tensor  x = {0}, y = {0};
    const char  *first = NULL;

    TRY(cull_data_arrays_open(path, map_from, &arrays));
    first = cull_arrays_name(arrays, 0);
    if (first && first[0] == '\0') {
        TRY(read_npy_pair(path, &arrays, role, into));
        goto done;
    }
    TRY(get_pair(arrays, path, role, &x, &y));
    TRY(take_pair(path, &x, &y, &arrays, into));
done:
    cull_arrays_close(arrays);
    return status;
}

static bool is_arrays(const char *path)
{
    return cull_data_ends_with(path, ".npz") || cull_data_ends_with(path, ".npy");
}

static cull_status read_arrays(const cull_data_request *request, cull_dataset *into, bool *measured)
{
    (void)measured;
    return cull_data_array_set_read(request->name, request->role, CULL_DATA_MAP_FROM, into);
}

const cull_data_format cull_data_arrays_format = {
    .doc = "paths ending in .npz or .npy", .fits = is_arrays, .read = read_arrays};

cull_status cull_data_imagenet32_parse(const cull_data_source *file, cull_dataset *into)
{
    cull_status  status = CULL_OK;
    const char  *path = file->name; /* arrays open it themselves */
    cull_arrays *arrays = NULL;
    cull_tensor  x = {0}, y = {0};
    int64_t      top = 0;

    TRY(cull_arrays_open(path, &arrays));
    TRY(cull_arrays_get(arrays, "data", &x));
    TRY(cull_arrays_get(arrays, "labels", &y));
    TRY(check_pair(path, &x, &y));
    if (y.dims != 1) FAIL(CULL_BAD_FILE, "%s: labels are not (N) whole numbers", path);
    if (x.dtype != CULL_U8 || x.dims != 2 || x.shape[1] != IMAGENET_ROW)
        FAIL(CULL_BAD_FILE, "%s: data is not (N, 3072) of uint8", path);
    TRY(cull_data_shape(into, path, CULL_U8, 3, 32, 32));
    TRY(take_inputs(path, &x, NULL, into));
    TRY(cull_data_labels_copy(path, &y, 1, IMAGENET_CLASSES, into, &top));
    into->count += (size_t)x.shape[0];
    into->classes = IMAGENET_CLASSES;
done:
    cull_arrays_close(arrays);
    return status;
}
