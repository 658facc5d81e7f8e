/* data/csv_labels.c - cells as targets. */
#include "data/csv_labels.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "data/labels.h"
#include "data/reader.h"

static bool is_class_number(double value)
{
    return value >= 0 && value < CULL_DATA_MOST_CLASSES && value == floor(value);
}

cull_status cull_csv_labels_begin(const cull_csv *csv, const cull_data_request *request,
                                  size_t columns, cull_dataset *into, cull_csv_labels *out)
{
    cull_status      status = CULL_OK;
    cull_target_kind kind = request->target;
    size_t           number = 0, width = request->unlabelled ? 0 : columns;

    *out = (cull_csv_labels){.kind = kind, .width = width, .like = into->like};
    if (width > CULL_DATA_MOST_CLASSES)
        FAIL(CULL_BAD_FILE, "%s: %zu columns of labels; %d are the most", csv->name, width,
             CULL_DATA_MOST_CLASSES);
    if (width == 0)
        cull_data_labels_leave(kind, into);
    else
        cull_data_aim(into, kind, kind == CULL_TARGET_CLASS ? 1 : width);
    if (!out->like || kind != CULL_TARGET_CLASS) goto done;
    for (size_t i = 0; i < out->like->class_names.count; i++) {
        const char *name = out->like->class_names.text[i];
        TRY(cull_categories_take(&out->texts, name, strlen(name), &number));
    }
done:
    return status;
}

void cull_csv_labels_clear(cull_csv_labels *l)
{
    cull_categories_clear(&l->texts);
    cull_base_free(l->value);
    cull_base_free(l->data);
    *l = (cull_csv_labels){0};
}

cull_status cull_csv_labels_grow(cull_csv_labels *l, size_t rows)
{
    static const size_t sizes[] = {[CULL_TARGET_CLASS] = sizeof(int32_t),
                                   [CULL_TARGET_CLASSES] = sizeof(uint8_t),
                                   [CULL_TARGET_REAL] = sizeof(float)};
    cull_status         status = CULL_OK;

    TRY(cull_base_grow(rows, l->width * sizes[l->kind], "the targets of a data set", &l->data));
    l->room = rows;
done:
    return status;
}

/* A class that is met for the first time. */
static cull_status take_new(const cull_csv *csv, cull_csv_labels *l, const char *column,
                            const cull_csv_field *field)
{
    cull_status status = CULL_OK;
    size_t      last = l->texts.texts.count - 1;
    double      value = 0;

    if (l->texts.texts.count > CULL_DATA_MOST_CLASSES)
        FAIL(CULL_BAD_FILE,
             "%s: column '%.40s' has more than %d different labels; real numbers are learned with "
             "model.loss=squared-error",
             csv->name, column, CULL_DATA_MOST_CLASSES);
    TRY(cull_base_grow(last + 1, sizeof *l->value, "labels", &l->value));
    if (cull_base_scan_number(field->text, field->length, &value) != CULL_NUMBER_READ) value = NAN;
    l->value[last] = value;
    if (value != floor(value) && !isnan(value) && !l->fraction_line) {
        l->fraction_line = csv->line;
        l->fraction = last;
    }
    if (l->like && !is_class_number(value))
        TRY(cull_csv_fail(csv, column, field, "is no class; 0 and up were trained on"));
done:
    return status;
}

static cull_status take_class(const cull_csv *csv, cull_csv_labels *l, const char *column,
                              const cull_csv_field *field, size_t row)
{
    cull_status status = CULL_OK;
    size_t      before = l->texts.texts.count, number = 0;

    l->column = column;
    if (l->like && l->like->class_names.count) {
        number = cull_categories_find(&l->texts, field->text, field->length);
        if (number == before)
            TRY(cull_csv_fail(csv, column, field, "is none of the classes trained on"));
    } else {
        TRY(cull_categories_take(&l->texts, field->text, field->length, &number));
        if (number == before) TRY(take_new(csv, l, column, field));
    }
    ((int32_t *)l->data)[row] = (int32_t)number;
done:
    return status;
}

cull_status cull_csv_labels_take(const cull_csv *csv, cull_csv_labels *l, const char *column,
                                 const cull_csv_field *field, size_t row, size_t which)
{
    cull_status status = CULL_OK;
    double      value = NAN;

    if (cull_csv_is_missing(field))
        TRY(cull_csv_fail(csv, column, field, "is no label; leave rows out that have none"));
    if (l->kind == CULL_TARGET_CLASS) {
        TRY(take_class(csv, l, column, field, row));
        goto done;
    }
    if (cull_base_scan_number(field->text, field->length, &value) != CULL_NUMBER_READ ||
        !isfinite((float)value))
        TRY(cull_csv_fail(csv, column, field, "is no number that float32 can hold"));
    if (l->kind == CULL_TARGET_REAL) {
        ((float *)l->data)[row * l->width + which] = (float)value;
    } else {
        if (value != 0 && value != 1)
            TRY(cull_csv_fail(csv, column, field,
                              "is neither 0 nor 1, which say of each class "
                              "whether an example has it"));
        ((uint8_t *)l->data)[row * l->width + which] = value == 1;
    }
done:
    return status;
}

/* All labels are numbers of classes. */
static void finish_numbers(cull_csv_labels *l, size_t rows, cull_dataset *into)
{
    int32_t *to = cull_data_labels(into);

    into->classes = CULL_DATA_FEWEST_CLASSES;
    for (size_t i = 0; i < l->texts.texts.count; i++)
        if ((size_t)l->value[i] >= into->classes) into->classes = (size_t)l->value[i] + 1;
    for (size_t i = 0; i < rows; i++) to[i] = (int32_t)l->value[((int32_t *)l->data)[i]];
}

static cull_status check_names(const cull_csv *csv, const cull_csv_labels *l)
{
    cull_status       status = CULL_OK;
    const cull_texts *names = &l->texts.texts;
    char              name[CULL_TEXT_SHOWN];

    (void)cull_text_show(l->column, strlen(l->column), name);
    if (names->count < CULL_DATA_FEWEST_CLASSES)
        FAIL(CULL_BAD_FILE, "%s: column '%s' has one class only; data.label names another",
             csv->name, name);
    for (size_t i = 0; i < names->count; i++)
        if (!cull_text_clean(names->text[i], strlen(names->text[i])))
            FAIL(CULL_BAD_FILE,
                 "%s: column '%s' has classes with control characters, or that are not UTF-8",
                 csv->name, name);
done:
    return status;
}

static cull_status finish_classes(const cull_csv *csv, cull_csv_labels *l, size_t rows,
                                  cull_dataset *into)
{
    cull_status status = CULL_OK;
    bool        trained = l->like && l->like->class_names.count;
    size_t      numbers = 0, texts = 0;

    for (size_t i = 0; !trained && i < l->texts.texts.count; i++) {
        numbers += is_class_number(l->value[i]);
        texts += isnan(l->value[i]) != 0;
    }
    if (!trained && numbers == l->texts.texts.count) {
        finish_numbers(l, rows, into);
        goto done;
    }
    if (texts == 0 && l->fraction_line)
        FAIL(CULL_BAD_FILE,
             "%s: line %llu, column '%.40s': '%.40s' is no class; real numbers are learned with "
             "model.loss=squared-error",
             csv->name, (unsigned long long)l->fraction_line, l->column,
             l->texts.texts.text[l->fraction]);
    if (!trained) TRY(check_names(csv, l));
    memcpy(cull_data_labels(into), l->data, rows * sizeof(int32_t));
    into->class_names = l->texts.texts;
    l->texts.texts = (cull_texts){0};
    into->classes = into->class_names.count;
    if (!trained) TRY(cull_data_labels_sort(into));
done:
    return status;
}

cull_status cull_csv_labels_finish(const cull_csv *csv, cull_csv_labels *l, size_t rows,
                                   cull_dataset *into)
{
    cull_status status = CULL_OK;

    if (l->width == 0) { /* what is only predicted */
        memset(into->target.data, 0, rows * cull_data_target_bytes(into));
    } else if (l->kind == CULL_TARGET_CLASS) {
        TRY(finish_classes(csv, l, rows, into));
    } else {
        memcpy(into->target.data, l->data, rows * cull_data_target_bytes(into));
        into->classes = l->width;
        if (l->kind == CULL_TARGET_CLASSES)
            TRY(cull_texts_copy(&into->class_names, &into->label_names));
    }
done:
    return status;
}
