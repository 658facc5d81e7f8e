/* data/text_labels.c - texts as classes. */
#include "data/text_labels.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "data/json_text.h"
#include "data/labels.h"

enum { MOST_DIGITS = 5 };

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
    if (length >= CULL_DATA_LABEL || !cull_text_clean(text, length))
        FAIL(CULL_BAD_FILE, "%s: '%s' is neither a number nor the name of a class", name,
             cull_text_show(text, length, shown));
    TRY(cull_categories_take(met, text, length, &number));
    if (number >= CULL_DATA_MOST_CLASSES)
        FAIL(CULL_BAD_FILE, "%s: more than %d classes", name, CULL_DATA_MOST_CLASSES);
    cull_data_labels(into)[i] = (int32_t)number;
done:
    return status;
}

/* A member as text; empty: it is none that could be a label. */
static void print_label(const json_t *member, char out[CULL_DATA_LABEL])
{
    double value = json_real_value(member);

    out[0] = '\0';
    if (json_is_string(member) && json_string_length(member) < CULL_DATA_LABEL)
        memcpy(out, json_string_value(member), json_string_length(member) + 1);
    else if (json_is_integer(member))
        (void)snprintf(out, CULL_DATA_LABEL, "%lld", (long long)json_integer_value(member));
    else if (json_is_real(member) && value >= 0 && value < CULL_DATA_MOST_CLASSES &&
             value == (double)(int32_t)value)
        (void)snprintf(out, CULL_DATA_LABEL, "%d", (int)value);
}

cull_status cull_data_json_label(const cull_data_source *file, const char *key,
                                 char out[CULL_DATA_LABEL])
{
    static const char *const names[] = {"label", "class", "cls", "target", "y", "category"};
    cull_status              status = CULL_OK;
    json_t                  *root = NULL;
    const json_t            *member = NULL;

    TRY(cull_data_json_read(file, &root));
    if (key) member = json_object_get(root, key);
    for (size_t i = 0; !key && !member && i < sizeof names / sizeof *names; i++)
        member = json_object_get(root, names[i]);
    if (!member && key) FAIL(CULL_BAD_FILE, "%s: holds no \"%.64s\"", file->name, key);
    if (!member)
        FAIL_ABOUT(CULL_BAD_FILE, "data.label",
                   "%s: holds no \"label\", \"class\", \"target\" or the like; name the member by "
                   "data.label",
                   file->name);
    print_label(member, out);
    if (!out[0]) FAIL(CULL_BAD_FILE, "%s: its label is neither a text nor a number", file->name);
done:
    json_decref(root);
    return status;
}

bool cull_data_class_number(const char *text, int32_t *out)
{
    size_t  length = 0;
    int32_t value = 0;

    for (; text[length] >= '0' && text[length] <= '9' && length <= MOST_DIGITS; length++)
        value = 10 * value + (text[length] - '0');
    *out = value;
    return length > 0 && text[length] == '\0' && value < CULL_DATA_MOST_CLASSES;
}

/* Numbers that are no classes would be as many names. */
static cull_status check_names(const cull_categories *met, const char *name)
{
    double value = 0;
    char   shown[CULL_TEXT_SHOWN];

    for (size_t k = 0; k < met->texts.count; k++)
        if (cull_base_scan_number(met->texts.text[k], strlen(met->texts.text[k]), &value) !=
            CULL_NUMBER_READ)
            return CULL_OK;
    for (size_t k = 0; k < met->texts.count; k++) {
        const char *text = met->texts.text[k];
        int32_t     unused = 0;
        if (!cull_data_class_number(text, &unused))
            return cull_fail(CULL_BAD_FILE,
                             "%s: label '%s' is no class; labels are whole numbers of 0 to %d, or "
                             "names",
                             name, cull_text_show(text, strlen(text), shown),
                             CULL_DATA_MOST_CLASSES - 1);
    }
    return CULL_OK;
}

cull_status cull_data_text_labels_settle(cull_categories *met, const char *name, bool named,
                                         cull_dataset *into)
{
    cull_status status = CULL_OK;
    int32_t    *value = NULL, *labels = cull_data_labels(into), top = CULL_DATA_FEWEST_CLASSES - 1;
    bool        numbers = !named && !(into->like && into->like->class_names.count);

    TRY(cull_base_alloc(met->texts.count, sizeof *value, "names of classes", &value));
    for (size_t k = 0; k < met->texts.count; k++) {
        numbers = numbers && cull_data_class_number(met->texts.text[k], &value[k]);
        if (numbers && value[k] > top) top = value[k];
    }
    if (numbers) {
        for (size_t i = 0; i < into->count; i++) labels[i] = value[labels[i]];
        into->classes = (size_t)top + 1;
        goto done;
    }
    if (!named) TRY(check_names(met, name));
    TRY(cull_texts_copy(&into->class_names, &met->texts));
    into->classes = met->texts.count;
    TRY(cull_data_labels_sort(into));
done:
    cull_base_free(value);
    return status;
}
