/*
 * data/array_folder.c - data sets as a folder of .npy arrays, which are mapped and not read.
 *
 * With a set.json nothing of the inputs is read when the set is opened; without one they are looked
 * through once, to be measured.
 */
#include "data/array_folder.h"

#include <dirent.h>
#include <string.h>

#include "base/alloc.h"
#include "data/format.h"
#include "data/labels.h"
#include "data/npy.h"
#include "data/set_file.h"
#include "data/tokens.h"
#include "tensor/tensor.h"

enum { MOST_LOOKED_AT = 10000 };

/* One array in a file of its own. */
struct array {
    char             path[CULL_DATA_PATH];
    cull_data_source source;
    cull_tensor      view;
};

static void close_array(void *self)
{
    struct array *a = self;

    if (!a) return;
    if (!cull_data_source_holds(&a->source, a->view.data)) cull_base_free_aligned(a->view.data);
    cull_data_source_close(&a->source);
    cull_base_free(a);
}

static cull_status open_array(const cull_data_folder *folder, const char *name, bool map,
                              struct array **out)
{
    cull_status      status = CULL_OK;
    struct array    *a = NULL;
    cull_data_stream whole = {0};

    TRY(cull_base_alloc(1, sizeof *a, "an array", &a));
    a->source.fd = -1;
    if (!cull_data_folder_has(folder, name))
        FAIL(CULL_BAD_FILE,
             "%s: " CULL_DATA_SET_FILE " promises %s, which is not there; was it "
             "being made? Convert it anew",
             folder->path, name);
    TRY(cull_data_folder_open(folder, name, a->path, &a->source));
    if (map) cull_data_source_map(&a->source);
    whole = cull_data_part(&a->source, 0, a->source.size);
    TRY(cull_data_npy_read(&whole, &a->view));
    *out = a;
    a = NULL;
done:
    close_array(a);
    return status;
}

static void bring_row(const cull_data_rows *rows, uint32_t row)
{
    const struct array *a = rows->self;
    size_t              bytes = (size_t)a->view.stride[0] * cull_dtype_size(a->view.dtype);

    cull_data_source_ahead(&a->source, (const char *)rows->base + row * bytes, bytes);
}

/* (count, C, H, W), or (count, C) where an example is a row of features. */
static cull_status check_inputs(const struct array *a, const cull_dataset *into, uint64_t count)
{
    const cull_tensor *x = &a->view;
    bool               flat = x->dims == 2 && into->height * into->width == 1;

    if (x->dtype == into->dtype && (uint64_t)x->shape[0] == count && count > 0 &&
        (flat || x->dims == 4) && (size_t)x->shape[1] == into->channels &&
        (flat || ((size_t)x->shape[2] == into->height && (size_t)x->shape[3] == into->width)))
        return CULL_OK;
    return cull_fail(CULL_BAD_FILE,
                     "%s: not the (%llu, %zu, %zu, %zu) of %s that " CULL_DATA_SET_FILE " promises",
                     a->path, (unsigned long long)count, into->channels, into->height, into->width,
                     cull_dtype_name(into->dtype));
}

static cull_status take_inputs(const cull_data_folder *folder, const char *name, uint64_t count,
                               cull_dataset *into)
{
    static const cull_data_rows_class near = {.close = close_array},
                                      far = {.close = close_array, .ahead = bring_row};
    cull_status     status = CULL_OK;
    struct array   *a = NULL;
    cull_data_rows *rows = NULL;
    bool            scattered = false;

    TRY(open_array(folder, name, true, &a));
    TRY(check_inputs(a, into, count));
    scattered = cull_data_source_scatter(&a->source);
    TRY(cull_data_rows_create(scattered ? &far : &near, a, a->view.data, (size_t)count, &rows));
    a = NULL;
    TRY(cull_data_hold(into, folder->path, rows));
done:
    cull_data_rows_release(rows);
    close_array(a);
    return status;
}

static cull_status check_labels(const char *path, const cull_dataset *into, size_t count)
{
    const int32_t *labels = cull_data_labels(into);

    for (size_t i = 0; labels && i < count; i++)
        if (labels[i] < 0 || (size_t)labels[i] >= into->classes)
            return cull_fail(CULL_BAD_FILE,
                             "%s: label %d of example %zu; " CULL_DATA_SET_FILE
                             " says %zu classes, from 0",
                             path, labels[i], i, into->classes);
    return CULL_OK;
}

static cull_status check_targets(const struct array *a, const cull_dataset *into, uint64_t count)
{
    const cull_data_target *target = &into->target;
    const cull_tensor      *y = &a->view;
    size_t                  width = y->dims == 2 ? (size_t)y->shape[1] : 1;

    if (y->dtype == target->dtype && y->dims <= 2 && width == target->width &&
        (uint64_t)y->shape[0] == count)
        return CULL_OK;
    return cull_fail(
        CULL_BAD_FILE, "%s: not the %llu targets of %zu %s that " CULL_DATA_SET_FILE " promises",
        a->path, (unsigned long long)count, target->width, cull_dtype_name(target->dtype));
}

/* Targets of what is only predicted are not looked at. */
static void leave_targets(cull_target_kind kind, cull_dataset *into)
{
    cull_texts_clear(&into->class_names);
    cull_texts_clear(&into->label_names);
    cull_data_labels_leave(kind, into);
}

/* y NULL: they are left. */
static cull_status take_targets(const struct array *y, size_t count, cull_dataset *into)
{
    size_t bytes = count * cull_data_target_bytes(into);

    if (!y) {
        memset(into->target.data, 0, bytes);
        return CULL_OK;
    }
    memcpy(into->target.data, y->view.data, bytes);
    return check_labels(y->path, into, count);
}

cull_status cull_data_array_folder_read(const cull_data_folder  *folder,
                                        const cull_data_request *request, cull_dataset *into)
{
    cull_status      status = CULL_OK;
    cull_data_source file = {.fd = -1};
    cull_data_role   role = request->role;
    struct array    *y = NULL;
    char             path[CULL_DATA_PATH];
    uint64_t         count[2] = {0};

    TRY(cull_data_folder_open(folder, CULL_DATA_SET_FILE, path, &file));
    TRY(cull_data_set_file_read(&file, into, count));
    if (into->like && count[CULL_DATA_TEST]) role = CULL_DATA_TEST;
    if (!count[role] && role == CULL_DATA_TEST) TRY(cull_data_say_no_test(folder->path, ""));
    if (!count[role]) FAIL(CULL_BAD_FILE, "%s: holds no training set", folder->path);
    if (request->unlabelled) {
        leave_targets(request->target, into);
    } else {
        TRY(open_array(folder, cull_data_set_arrays[role][1], false, &y));
        TRY(check_targets(y, into, count[role]));
    }
    TRY(take_inputs(folder, cull_data_set_arrays[role][0], count[role], into));
    TRY(take_targets(y, (size_t)count[role], into));
    into->count = (size_t)count[role];
    if (into->vocabulary) TRY(cull_data_tokens_check(into, folder->path));
done:
    close_array(y);
    cull_data_source_close(&file);
    return status;
}

/* Not all of a folder with millions of other files is gone through for it. */
static bool is_folder(const char *path)
{
    const struct dirent *file = NULL;
    DIR                 *folder = opendir(path);
    bool                 found = false;

    for (size_t i = 0; folder && !found && i < MOST_LOOKED_AT && (file = readdir(folder)); i++)
        found = strcmp(file->d_name, CULL_DATA_SET_FILE) == 0 ||
                (file->d_name[0] != '.' && cull_data_ends_with(file->d_name, ".npy"));
    if (folder) (void)closedir(folder);
    return found;
}

static cull_status read_folder(const cull_data_request *request, cull_dataset *into, bool *measured)
{
    cull_status      status = CULL_OK;
    cull_data_folder folder = {.path = request->name};
    cull_arrays     *arrays = NULL;

    if (cull_data_folder_has(&folder, CULL_DATA_SET_FILE)) {
        if (request->layout == CULL_LAYOUT_LAST)
            FAIL_OPTION("data.layout", "%s has its channels first, as " CULL_DATA_SET_FILE " says",
                        request->name);
        TRY(cull_data_array_folder_read(&folder, request, into));
        if (into->target.kind != request->target)
            FAIL_OPTION("model.loss", "%s holds other targets than this loss wants", request->name);
        *measured = true;
    } else {
        TRY(cull_data_arrays_folder(request->name, &arrays));
        TRY(cull_data_array_set_take(request, &arrays, into));
    }
done:
    cull_arrays_close(arrays);
    return status;
}

const cull_data_format cull_data_array_folder_format = {.doc = "folders of .npy arrays",
                                                        .takes = CULL_DATA_TAKES_LAYOUT |
                                                                 CULL_DATA_TAKES_TARGET,
                                                        .fits = is_folder,
                                                        .read = read_folder};
