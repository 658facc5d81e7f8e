/* data/csv_header.c - columns by their names. */
#include "data/csv_header.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"

static const char *show(const char *name, char out[CULL_TEXT_SHOWN])
{
    return cull_text_show(name, strlen(name), out);
}

/* Is a name that of another column, or of a category it may have, as in "a" and "a=b"? */
static cull_status check_names(const cull_csv *csv, const cull_texts *names)
{
    cull_status     status = CULL_OK;
    cull_categories all = {0};
    size_t          number = 0, before = 0;
    char            shown[CULL_TEXT_SHOWN];

    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->text[i];
        if (!cull_text_clean(name, strlen(name)))
            FAIL(CULL_BAD_FILE,
                 "%s: the name of column %zu has control characters, or is not UTF-8", csv->name,
                 i + 1);
        before = all.texts.count;
        if (*name) TRY(cull_categories_take(&all, name, strlen(name), &number));
        if (*name && number < before)
            FAIL(CULL_BAD_FILE, "%s: two columns are called '%s'", csv->name, show(name, shown));
    }
    for (size_t i = 0; i < names->count; i++)
        for (const char *e = strchr(names->text[i], '='); e; e = strchr(e + 1, '='))
            if (cull_categories_find(&all, names->text[i], (size_t)(e - names->text[i])) <
                all.texts.count)
                FAIL(
                    CULL_BAD_FILE,
                    "%s: column '%s' is called as a category of another column would be; rename it",
                    csv->name, show(names->text[i], shown));
done:
    cull_categories_clear(&all);
    return status;
}

cull_status cull_csv_header_read(cull_csv *csv, cull_csv_header *h)
{
    cull_status status = CULL_OK;
    bool        more = false;
    size_t      numbers = 0;
    double      value = 0;

    *h = (cull_csv_header){0};
    TRY(cull_csv_next(csv, &more));
    if (!more) FAIL(CULL_BAD_FILE, "%s: is empty", csv->name);
    for (size_t i = 0; i < csv->fields; i++) {
        const cull_csv_field *f = &csv->field[i];
        TRY(cull_texts_add(&h->names, f->text, f->length));
        numbers += cull_base_scan_number(f->text, f->length, &value) != CULL_NUMBER_NONE;
    }
    if (numbers == csv->fields)
        FAIL(CULL_BAD_FILE, "%s: line %llu has numbers alone; the first line must name the columns",
             csv->name, (unsigned long long)csv->line);
    TRY(check_names(csv, &h->names));
    TRY(cull_base_alloc(csv->fields, sizeof *h->column, "a table", &h->column));
    h->columns = csv->fields;
    for (size_t i = 0; i < h->columns; i++) {
        h->column[i].name = h->names.text[i];
        h->column[i].number = i + 1;
    }
done:
    return status;
}

void cull_csv_header_clear(cull_csv_header *h)
{
    for (size_t i = 0; i < h->columns; i++) cull_csv_column_clear(&h->column[i]);
    cull_base_free(h->column);
    cull_base_free(h->label);
    cull_texts_clear(&h->names);
    *h = (cull_csv_header){0};
}

static cull_status add_label(cull_csv_header *h, size_t column, cull_dataset *into)
{
    cull_status status = CULL_OK;

    TRY(cull_base_grow(h->labels + 1, sizeof *h->label, "a table", &h->label));
    h->column[column].role = CULL_CSV_LABEL;
    h->column[column].slot = h->labels;
    h->label[h->labels++] = column;
    TRY(cull_texts_add(&into->label_names, h->names.text[column], strlen(h->names.text[column])));
done:
    return status;
}

/* By `length` bytes of a list of names, or all of a name. */
static cull_status ask_for(const cull_csv *csv, const char *name, size_t length, cull_csv_header *h,
                           cull_dataset *into)
{
    cull_status status = CULL_OK;
    size_t      i = 0;
    char        shown[CULL_TEXT_SHOWN];

    while (i < h->columns &&
           (strncmp(h->names.text[i], name, length) != 0 || h->names.text[i][length] != '\0'))
        i++;
    if (length == 0 || i == h->columns)
        FAIL_OPTION("data.label", "%s has no column '%s'", csv->name,
                    cull_text_show(name, length, shown));
    if (h->column[i].role == CULL_CSV_LABEL)
        FAIL_OPTION("data.label", "names column '%s' twice", cull_text_show(name, length, shown));
    TRY(add_label(h, i, into));
done:
    return status;
}

/* The column of this name, or those of a list with commas between. */
static cull_status ask_for_all(const cull_csv *csv, const char *names, cull_csv_header *h,
                               cull_dataset *into)
{
    cull_status status = CULL_OK;

    if (cull_texts_find(&h->names, names) < h->columns) {
        TRY(ask_for(csv, names, strlen(names), h, into));
        goto done;
    }
    for (const char *next = names;; next++) {
        size_t length = 0;

        while (*next == ' ') next++;
        length = strcspn(next, ",");
        while (length && next[length - 1] == ' ') length--;
        TRY(ask_for(csv, next, length, h, into));
        next += strcspn(next, ",");
        if (*next == '\0') break;
    }
done:
    return status;
}

/* As the training set has them; what is only predicted may lack some. */
static cull_status find_trained(const cull_csv *csv, bool may_lack, cull_csv_header *h,
                                cull_dataset *into)
{
    cull_status       status = CULL_OK;
    const cull_texts *names = &into->like->label_names;
    char              shown[CULL_TEXT_SHOWN];

    for (size_t i = 0; i < names->count; i++) {
        size_t c = cull_texts_find(&h->names, names->text[i]);
        if (c == h->columns && !may_lack)
            FAIL(CULL_BAD_FILE, "%s: has no column '%s', which was learned", csv->name,
                 show(names->text[i], shown));
        if (c < h->columns) TRY(add_label(h, c, into));
    }
done:
    return status;
}

static cull_status guess(const cull_csv *csv, bool may_lack, cull_csv_header *h, cull_dataset *into)
{
    static const char *const known[] = {"label", "class", "target", "y"};
    cull_status              status = CULL_OK;
    size_t                   last = h->columns;
    char                     shown[CULL_TEXT_SHOWN];

    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        for (size_t i = 0; i < h->columns; i++)
            if (cull_text_is(h->names.text[i], strlen(h->names.text[i]), known[k])) {
                TRY(add_label(h, i, into));
                goto done;
            }
    if (may_lack) goto done;
    while (last > 0 && h->names.text[last - 1][0] == '\0') last--;
    if (last == 0) FAIL(CULL_BAD_FILE, "%s: no column has a name", csv->name);
    TRY(add_label(h, last - 1, into));
    TRY(cull_data_remark(into, "%s: the last column, '%s', is learned (data.label names another)",
                         csv->name, show(h->names.text[last - 1], shown)));
done:
    return status;
}

cull_status cull_csv_header_find_labels(const cull_csv *csv, const cull_data_request *request,
                                        cull_csv_header *h, cull_dataset *into)
{
    cull_status status = CULL_OK;

    if (into->like && into->like->label_names.count)
        TRY(find_trained(csv, request->unlabelled, h, into));
    else if (request->label)
        TRY(ask_for_all(csv, request->label, h, into));
    else
        TRY(guess(csv, request->unlabelled, h, into));
    if (h->labels > 1 && request->target == CULL_TARGET_CLASS && !request->unlabelled)
        FAIL_OPTION("data.label",
                    "%zu columns; a class is one, several are learned with "
                    "model.loss=binary-cross-entropy or squared-error",
                    h->labels);
done:
    return status;
}

/* Features of the training set: where those of each column begin. */
struct known {
    cull_categories whole, before; /* names; and what stands before each "=" in them */
    size_t         *first;         /* [before] the first feature of it               */
};

static cull_status know_features(const cull_texts *names, struct known *k)
{
    cull_status status = CULL_OK;
    size_t      number = 0;

    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->text[i];
        TRY(cull_categories_take(&k->whole, name, strlen(name), &number));
        for (const char *e = strchr(name, '='); e; e = strchr(e + 1, '=')) {
            size_t before = k->before.texts.count;
            TRY(cull_categories_take(&k->before, name, (size_t)(e - name), &number));
            if (number < before) continue;
            TRY(cull_base_grow(number + 1, sizeof *k->first, "a table", &k->first));
            k->first[number] = i;
        }
    }
done:
    return status;
}

/* A column's categories are the features from `first` on that begin with its name. */
static cull_status take_categories(const cull_texts *names, size_t first, cull_csv_column *c)
{
    cull_status status = CULL_OK;
    size_t      length = strlen(c->name), number = 0;

    for (size_t i = first; i < names->count; i++) {
        const char *name = names->text[i];
        if (strncmp(name, c->name, length) != 0 || name[length] != '=') break;
        TRY(cull_categories_take(&c->categories, name + length + 1, strlen(name + length + 1),
                                 &number));
    }
    c->kind = CULL_CSV_CATEGORY;
    c->channel = first;
done:
    return status;
}

static cull_status match(const struct known *k, const cull_texts *names, cull_csv_column *c)
{
    cull_status status = CULL_OK;
    size_t      whole = cull_categories_find(&k->whole, c->name, strlen(c->name));
    size_t      before = cull_categories_find(&k->before, c->name, strlen(c->name));

    c->trained = c->name[0] && (whole < names->count || before < k->before.texts.count);
    if (!c->trained) {
        c->role = CULL_CSV_LEFT_OUT;
    } else if (whole < names->count) {
        c->kind = CULL_CSV_NUMBER;
        c->channel = whole;
    } else {
        TRY(take_categories(names, k->first[before], c));
    }
done:
    return status;
}

static int by_channel(const void *a, const void *b)
{
    const cull_csv_column *x = *(cull_csv_column *const *)a, *y = *(cull_csv_column *const *)b;

    return (x->channel > y->channel) - (x->channel < y->channel);
}

/* Slots in the order of channels, of which each must belong to a column. */
static cull_status order_features(const cull_csv *csv, const cull_texts *names, cull_csv_header *h)
{
    cull_status       status = CULL_OK;
    cull_csv_column **sorted = NULL;
    size_t            next = 0, i = 0;
    char              shown[CULL_TEXT_SHOWN];

    TRY(cull_base_alloc(h->columns, sizeof *sorted, "a table", &sorted));
    for (size_t c = 0; c < h->columns; c++)
        if (h->column[c].role == CULL_CSV_FEATURE) sorted[h->slots++] = &h->column[c];
    if (h->slots) qsort(sorted, h->slots, sizeof *sorted, by_channel);
    for (; i < h->slots && sorted[i]->channel == next; i++) {
        sorted[i]->slot = i;
        next += sorted[i]->kind == CULL_CSV_CATEGORY ? sorted[i]->categories.texts.count : 1;
    }
    if (next < names->count)
        FAIL(CULL_BAD_FILE, "%s: has no column for '%s', which was trained on", csv->name,
             show(names->text[next], shown));
    if (i < h->slots)
        FAIL(CULL_BAD_FILE, "%s: two columns are '%s', as it was called in training", csv->name,
             show(names->text[sorted[i]->channel], shown));
done:
    cull_base_free(sorted);
    return status;
}

static cull_status find_trained_features(const cull_csv *csv, cull_csv_header *h,
                                         cull_dataset *into)
{
    cull_status       status = CULL_OK;
    const cull_texts *names = &into->like->feature_names;
    struct known      known = {0};
    char              shown[CULL_TEXT_SHOWN];

    TRY(know_features(names, &known));
    for (size_t i = 0; i < h->columns; i++) {
        if (h->column[i].role == CULL_CSV_LABEL) continue;
        TRY(match(&known, names, &h->column[i]));
        if (!h->column[i].trained && h->column[i].name[0])
            TRY(cull_data_remark(into, "%s: column '%s' was not trained on and is left out",
                                 csv->name, show(h->column[i].name, shown)));
    }
    TRY(order_features(csv, names, h));
done:
    cull_categories_clear(&known.whole);
    cull_categories_clear(&known.before);
    cull_base_free(known.first);
    return status;
}

cull_status cull_csv_header_find_features(const cull_csv *csv, cull_csv_header *h,
                                          cull_dataset *into)
{
    cull_status status = CULL_OK;

    if (into->like && into->like->feature_names.count) {
        TRY(find_trained_features(csv, h, into));
        goto done;
    }
    for (size_t i = 0; i < h->columns; i++)
        if (h->column[i].role == CULL_CSV_FEATURE) h->column[i].slot = h->slots++;
    if (h->slots == 0)
        FAIL(CULL_BAD_FILE,
             "%s: has one column alone; , ; or tab stand between a label and its features",
             csv->name);
done:
    return status;
}
