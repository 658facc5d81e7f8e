/* data/labels.c - arrays of labels as targets, every element checked. */
#include "data/labels.h"

#include <math.h>

#include "base/alloc.h"
#include "data/categories.h"
#include "data/reader.h"
#include "tensor/tensor.h"

static bool is_one_hot(const cull_tensor *y)
{
    return y->dims == 2 && y->shape[1] > 1;
}

/* Numbers that y has for one example. */
static size_t width_of(const cull_tensor *y)
{
    return y->dims == 2 ? (size_t)y->shape[1] : 1;
}

/* (N, W) where y is (N). */
static cull_tensor as_matrix(const cull_tensor *y)
{
    return cull_matrix(y->data, y->dtype, (size_t)y->shape[0], width_of(y));
}

cull_status cull_data_labels_aim(const char *path, const cull_tensor *y, cull_target_kind kind,
                                 cull_dataset *into)
{
    cull_status status = CULL_OK;

    if (y->dims < 1 || y->dims > 2 || width_of(y) < 1)
        FAIL(CULL_BAD_FILE, "%s: labels of %d dimensions; (N), (N, 1) or (N, C) are read", path,
             y->dims);
    if (width_of(y) > CULL_DATA_MOST_CLASSES)
        FAIL(CULL_BAD_FILE, "%s: labels of %zu numbers each; %d are the most", path, width_of(y),
             CULL_DATA_MOST_CLASSES);
    cull_data_aim(into, kind, kind == CULL_TARGET_CLASS ? 1 : width_of(y));
done:
    return status;
}

void cull_data_labels_leave(cull_target_kind kind, cull_dataset *into)
{
    const cull_dataset *like = into->like;

    cull_data_aim(into, kind, kind != CULL_TARGET_CLASS && like ? like->target.width : 1);
    into->classes = like ? like->classes : CULL_DATA_FEWEST_CLASSES;
    into->unlabelled = true;
}

cull_status cull_data_labels_copy(const char *path, const cull_tensor *y, int64_t base,
                                  int64_t most, cull_dataset *into, int64_t *top)
{
    cull_status status = CULL_OK;
    int32_t    *labels = cull_data_labels(into) + into->count;

    for (size_t i = 0; i < (size_t)y->shape[0]; i++) {
        double label = cull_tensor_get(y, i);
        if (!(label >= (double)base && label <= (double)(base + most - 1)))
            FAIL(CULL_BAD_FILE, "%s: label %.15g of example %zu; %lld to %lld are labels", path,
                 label, i, (long long)base, (long long)(base + most - 1));
        if (label != floor(label))
            FAIL(CULL_BAD_FILE,
                 "%s: label %.15g of example %zu is no whole number; real numbers are learned with "
                 "model.loss=squared-error",
                 path, label, i);
        labels[i] = (int32_t)((int64_t)label - base);
        if (labels[i] > *top) *top = labels[i];
    }
done:
    return status;
}

/* The place of the only 1. */
static cull_status find_one(const char *path, const cull_tensor *row, size_t example, int32_t *out)
{
    size_t ones = 0, others = 0;

    for (size_t k = 0; k < (size_t)row->shape[0]; k++) {
        double x = cull_tensor_get(row, k);
        if (x == 1) *out = (int32_t)k;
        ones += x == 1;
        others += x != 1 && x != 0;
    }
    if (ones == 1 && others == 0) return CULL_OK;
    return cull_fail(
        CULL_BAD_FILE,
        "%s: labels of %lld numbers each, but those of example %zu are not one 1 and "
        "zeros; several classes are learned with model.loss=binary-cross-entropy, real "
        "numbers with squared-error",
        path, (long long)row->shape[0], example);
}

static cull_status take_one_hot(const char *path, const cull_tensor *y, cull_dataset *into)
{
    cull_status status = CULL_OK;
    int32_t    *labels = cull_data_labels(into) + into->count;

    for (size_t i = 0; i < (size_t)y->shape[0]; i++) {
        cull_tensor row = cull_tensor_line(y, i);
        TRY(find_one(path, &row, i, &labels[i]));
    }
    if (width_of(y) > into->classes) into->classes = width_of(y);
    TRY(cull_data_remark(into,
                         "%s: labels are one-hot rows of %zu; the place of the 1 is the class",
                         path, width_of(y)));
done:
    return status;
}

static cull_status take_classes(const char *path, const cull_tensor *y, cull_dataset *into)
{
    cull_status status = CULL_OK;
    cull_tensor matrix = as_matrix(y);
    uint8_t    *to = into->target.data;

    to += into->count * into->target.width;
    for (size_t i = 0; i < (size_t)y->shape[0]; i++) {
        cull_tensor row = cull_tensor_line(&matrix, i);
        for (size_t k = 0; k < into->target.width; k++) {
            double x = cull_tensor_get(&row, k);
            if (x != 0 && x != 1)
                FAIL(CULL_BAD_FILE, "%s: label %.15g of example %zu, class %zu; each is 0 or 1",
                     path, x, i, k);
            *to++ = x == 1;
        }
    }
done:
    return status;
}

static cull_status take_real(const char *path, const cull_tensor *y, cull_dataset *into)
{
    cull_status status = CULL_OK;
    cull_tensor matrix = as_matrix(y);
    float      *to = into->target.data;

    to += into->count * into->target.width;
    for (size_t i = 0; i < (size_t)y->shape[0]; i++) {
        cull_tensor row = cull_tensor_line(&matrix, i);
        for (size_t k = 0; k < into->target.width; k++) {
            *to = (float)cull_tensor_get(&row, k);
            if (!isfinite(*to++))
                FAIL(CULL_BAD_FILE, "%s: target %zu of example %zu is not finite", path, k, i);
        }
    }
done:
    return status;
}

cull_status cull_data_labels_take(const char *path, const cull_tensor *y, cull_dataset *into)
{
    cull_status status = CULL_OK;
    int64_t     top = CULL_DATA_FEWEST_CLASSES - 1;

    if (into->target.kind == CULL_TARGET_CLASS) {
        if (is_one_hot(y))
            TRY(take_one_hot(path, y, into));
        else
            TRY(cull_data_labels_copy(path, y, 0, CULL_DATA_MOST_CLASSES, into, &top));
        if ((size_t)top + 1 > into->classes) into->classes = (size_t)top + 1;
        goto done;
    }
    into->classes = into->target.width;
    TRY(into->target.kind == CULL_TARGET_CLASSES ? take_classes(path, y, into)
                                                 : take_real(path, y, into));
done:
    return status;
}

cull_status cull_data_labels_sort(cull_dataset *set)
{
    cull_status     status = CULL_OK;
    cull_categories met = {.texts = set->class_names}; /* borrowed */
    size_t          count = met.texts.count;
    int32_t        *labels = cull_data_labels(set);
    uint32_t       *place = NULL;
    char          **sorted = NULL;

    TRY(cull_categories_sort(&met, &place));
    TRY(cull_base_alloc(count, sizeof *sorted, "names of classes", &sorted));
    for (size_t k = 0; k < count; k++) sorted[place[k]] = met.texts.text[k];
    for (size_t i = 0; i < set->count; i++) labels[i] = (int32_t)place[labels[i]];
    set->class_names.text = sorted;
    sorted = met.texts.text;
done:
    cull_base_free(sorted);
    cull_base_free(place);
    return status;
}
