/* data/text_labels.c - texts as classes. */
#include "data/text_labels.h"

#include "base/alloc.h"
#include "data/labels.h"

enum { MOST_LABEL = 1024, MOST_DIGITS = 5 };

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

cull_status cull_data_text_label(cull_categories *met, const char *name, const char *text,
                                 size_t length, size_t i, cull_dataset *into)
{
    cull_status status = CULL_OK;
    size_t      number = 0;
    char        shown[CULL_TEXT_SHOWN];

    while (length && is_blank(text[length - 1])) length--;
    while (length && is_blank(*text)) {
        text++;
        length--;
    }
    if (length == 0) FAIL(CULL_BAD_FILE, "%s: there is no label", name);
    if (length > MOST_LABEL || !cull_text_clean(text, length))
        FAIL(CULL_BAD_FILE, "%s: '%s' is neither a number nor the name of a class", name,
             cull_text_show(text, length, shown));
    TRY(cull_categories_take(met, text, length, &number));
    if (number >= CULL_DATA_MOST_CLASSES)
        FAIL(CULL_BAD_FILE, "%s: more than %d classes", name, CULL_DATA_MOST_CLASSES);
    cull_data_labels(into)[i] = (int32_t)number;
done:
    return status;
}

/* 0 to 65535, written as one writes it. */
static bool is_class(const char *text, int32_t *out)
{
    size_t  length = 0;
    int32_t value = 0;

    for (; text[length] >= '0' && text[length] <= '9' && length <= MOST_DIGITS; length++)
        value = 10 * value + (text[length] - '0');
    *out = value;
    return length > 0 && text[length] == '\0' && value < CULL_DATA_MOST_CLASSES;
}

cull_status cull_data_text_labels_settle(cull_categories *met, const char *name, bool named,
                                         cull_dataset *into)
{
    cull_status status = CULL_OK;
    int32_t    *value = NULL, *labels = cull_data_labels(into), top = CULL_DATA_FEWEST_CLASSES - 1;
    bool        numbers = !named;

    TRY(cull_base_alloc(met->texts.count, sizeof *value, "names of classes", &value));
    for (size_t k = 0; k < met->texts.count; k++) {
        numbers = numbers && is_class(met->texts.text[k], &value[k]);
        if (numbers && value[k] > top) top = value[k];
    }
    if (numbers) {
        for (size_t i = 0; i < into->count; i++) labels[i] = value[labels[i]];
        into->classes = (size_t)top + 1;
        goto done;
    }
    if (met->texts.count < CULL_DATA_FEWEST_CLASSES && !into->like)
        FAIL(CULL_BAD_FILE, "%s: all examples are of one class, '%s'", name, met->texts.text[0]);
    TRY(cull_texts_copy(&into->class_names, &met->texts));
    into->classes = met->texts.count;
    TRY(cull_data_labels_sort(into));
done:
    cull_base_free(value);
    return status;
}
