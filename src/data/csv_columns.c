/* data/csv_columns.c - cells as numbers, and which columns cannot be. */
#include "data/csv_columns.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"

bool cull_csv_is_missing(const cull_csv_field *f)
{
    static const char *const words[] = {"na",   "n/a",  "#n/a", "nan", "-nan",
                                        "null", "none", "<na>", "?"};

    if (f->length == 0) return true;
    if (f->length > 4) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (cull_text_is(f->text, f->length, words[i])) return true;
    return false;
}

cull_status cull_csv_fail(const cull_csv *csv, const char *column, const cull_csv_field *field,
                          const char *what)
{
    char name[CULL_TEXT_SHOWN], text[CULL_TEXT_SHOWN];

    return cull_fail(CULL_BAD_FILE, "%s: line %llu, column '%s': '%s' %s", csv->name,
                     (unsigned long long)csv->line, cull_text_show(column, strlen(column), name),
                     cull_text_show(field->text, field->length, text), what);
}

static bool is_infinite(const cull_csv_field *f)
{
    size_t sign = f->length > 0 && (f->text[0] == '-' || f->text[0] == '+');

    return cull_text_is(f->text + sign, f->length - sign, "inf") ||
           cull_text_is(f->text + sign, f->length - sign, "infinity");
}

static void note_number(cull_csv_column *c, double value)
{
    if (c->values == 0)
        c->counts = value == 0 || value == 1;
    else if (value != c->last + 1)
        c->counts = false;
    c->last = value;
    c->values++;
}

/* What the texts of a column are. */
struct texts {
    size_t      numbers, commas, others;
    const char *comma; /* the first number with a decimal comma */
    const char *other; /* the first that is no number           */
};

/* A number that has one comma where a point should be. */
static bool has_comma(const char *text, size_t length)
{
    char        point[64];
    const char *comma = memchr(text, ',', length);
    double      value = 0;

    if (!comma || length >= sizeof point) return false;
    memcpy(point, text, length);
    point[comma - text] = '.';
    return cull_base_scan_number(point, length, &value) == CULL_NUMBER_READ;
}

static struct texts look_at_texts(const cull_csv_column *c)
{
    struct texts t = {0};
    double       value = 0;

    for (size_t i = 0; i < c->categories.texts.count; i++) {
        const char *text = c->categories.texts.text[i];
        size_t      length = strlen(text);

        if (cull_base_scan_number(text, length, &value) != CULL_NUMBER_NONE) {
            t.numbers++;
        } else if (has_comma(text, length)) {
            if (t.commas++ == 0) t.comma = text;
        } else if (t.others++ == 0) {
            t.other = text;
        }
    }
    return t;
}

/* Texts that are numbers after all, but for how they are written. */
static cull_status check_texts(const cull_csv *csv, const cull_csv_column *c, const struct texts *t)
{
    cull_status status = CULL_OK;
    char        name[CULL_TEXT_SHOWN], text[CULL_TEXT_SHOWN];

    (void)cull_text_show(c->name, strlen(c->name), name);
    if (t->others == 0 && t->commas > 0)
        FAIL(CULL_BAD_FILE,
             "%s: column '%s' has numbers with a decimal comma ('%s'); write a point", csv->name,
             name, cull_text_show(t->comma, strlen(t->comma), text));
    if (t->others > 0 && t->numbers > 0 && c->categories.texts.count > CULL_CSV_MIXED)
        FAIL(CULL_BAD_FILE,
             "%s: column '%s' has numbers, and texts as well ('%s'; the first in line %llu): mend "
             "them, or write NA where a number is missing",
             csv->name, name, cull_text_show(t->other, strlen(t->other), text),
             (unsigned long long)c->text_line);
done:
    return status;
}

/* There are more categories than a column may have. */
static cull_status check_many(const cull_csv *csv, cull_csv_column *c)
{
    cull_status  status = CULL_OK;
    struct texts texts = look_at_texts(c);
    char         name[CULL_TEXT_SHOWN];

    TRY(check_texts(csv, c, &texts));
    if (c->repeats)
        FAIL(CULL_BAD_FILE,
             "%s: column '%s' has more than %d different texts, too many for categories; leave it "
             "out, or put them into fewer groups",
             csv->name, cull_text_show(c->name, strlen(c->name), name), CULL_CSV_CATEGORIES);
    c->role = CULL_CSV_LEFT_OUT;
done:
    return status;
}

static cull_status take_category(const cull_csv *csv, cull_csv_column *c,
                                 const cull_csv_field *field, cull_csv_cell *out)
{
    cull_status status = CULL_OK;
    size_t      before = c->categories.texts.count, number = 0;

    if (c->trained) {
        number = cull_categories_find(&c->categories, field->text, field->length);
        if (number == before)
            TRY(cull_csv_fail(csv, c->name, field, "is none of the categories trained on"));
    } else {
        TRY(cull_categories_take(&c->categories, field->text, field->length, &number));
        c->repeats = c->repeats || number < before;
        if (number == CULL_CSV_CATEGORIES) TRY(check_many(csv, c));
    }
    out->category = (uint32_t)number;
    c->values++;
done:
    return status;
}

/* A text where numbers were so far. */
static cull_status take_text(const cull_csv *csv, cull_csv_column *c, const cull_csv_field *field,
                             cull_csv_cell *out, bool *again)
{
    cull_status status = CULL_OK;

    if (is_infinite(field)) TRY(cull_csv_fail(csv, c->name, field, "is not finite"));
    if (c->trained)
        TRY(cull_csv_fail(csv, c->name, field, "is no number, as all were that were trained on"));
    *again = *again || c->kind == CULL_CSV_NUMBER;
    c->counts = false;
    if (!c->text_line) c->text_line = csv->line;
    if (c->kind == CULL_CSV_EMPTY) {
        c->kind = CULL_CSV_CATEGORY;
        TRY(take_category(csv, c, field, out));
    }
done:
    return status;
}

cull_status cull_csv_take_cell(const cull_csv *csv, cull_csv_column *c, const cull_csv_field *field,
                               cull_csv_cell *out, bool *again)
{
    cull_status status = CULL_OK;
    double      value = 0;
    cull_number read = CULL_NUMBER_NONE;

    out->category = CULL_CSV_NONE;
    if (c->kind != CULL_CSV_CATEGORY)
        read = cull_base_scan_number(field->text, field->length, &value);
    if (read == CULL_NUMBER_READ && isfinite((float)value)) {
        c->kind = CULL_CSV_NUMBER;
        note_number(c, value);
        out->number = (float)value;
    } else if (read != CULL_NUMBER_NONE) {
        TRY(cull_csv_fail(csv, c->name, field, "is beyond the range of float32"));
    } else if (cull_csv_is_missing(field)) {
        if (c->missing++ == 0) c->missing_line = csv->line;
    } else if (c->kind == CULL_CSV_CATEGORY) {
        TRY(take_category(csv, c, field, out));
    } else {
        TRY(take_text(csv, c, field, out, again));
    }
done:
    return status;
}

/* A column without a name is the numbers of rows that tools write, or nothing at all. */
static cull_status judge_nameless(const cull_csv *csv, cull_csv_column *c, cull_dataset *into)
{
    cull_status status = CULL_OK;

    if (c->kind != CULL_CSV_EMPTY && !c->counts)
        FAIL(CULL_BAD_FILE,
             "%s: column %zu has no name; give it one in the first line, or leave it out",
             csv->name, c->number);
    c->role = CULL_CSV_LEFT_OUT;
    TRY(cull_data_remark(into, "%s: column %zu, which has no name and %s, is left out", csv->name,
                         c->number, c->counts ? "counts the rows" : "nothing in it"));
done:
    return status;
}

static cull_status judge_categories(const cull_csv *csv, cull_csv_column *c, cull_dataset *into)
{
    cull_status  status = CULL_OK;
    struct texts texts = look_at_texts(c);
    char         name[CULL_TEXT_SHOWN];

    (void)cull_text_show(c->name, strlen(c->name), name);
    if (c->role == CULL_CSV_FEATURE) TRY(check_texts(csv, c, &texts));
    if (!c->repeats && c->values > CULL_CSV_ALONE && texts.numbers == 0) {
        c->role = CULL_CSV_LEFT_OUT;
        TRY(cull_data_remark(into, "%s: column '%s' has another text in every row and is left out",
                             csv->name, name));
        goto done;
    }
    if (texts.numbers > 0)
        TRY(cull_data_remark(into,
                             "%s: column '%s' has numbers, but a text in line %llu, and is read as "
                             "%zu categories",
                             csv->name, name, (unsigned long long)c->text_line,
                             c->categories.texts.count));
    for (size_t i = 0; i < c->categories.texts.count; i++)
        if (!cull_text_clean(c->categories.texts.text[i], strlen(c->categories.texts.text[i])))
            FAIL(CULL_BAD_FILE,
                 "%s: column '%s' has categories with control characters, or that are not UTF-8",
                 csv->name, name);
    TRY(cull_categories_sort(&c->categories, &c->order));
done:
    return status;
}

cull_status cull_csv_judge(const cull_csv *csv, cull_csv_column *c, cull_dataset *into)
{
    cull_status status = CULL_OK;
    char        name[CULL_TEXT_SHOWN];

    (void)cull_text_show(c->name, strlen(c->name), name);
    if (c->role == CULL_CSV_LABEL || c->trained) goto done;
    if (c->name[0] == '\0') {
        TRY(judge_nameless(csv, c, into));
    } else if (c->kind == CULL_CSV_CATEGORY) {
        TRY(judge_categories(csv, c, into));
    } else if (c->kind == CULL_CSV_EMPTY) {
        c->role = CULL_CSV_LEFT_OUT;
        TRY(cull_data_remark(into, "%s: column '%s' is empty and left out", csv->name, name));
    } else if (c->counts && c->values > 2) {
        TRY(cull_data_remark(into,
                             "%s: column '%s' counts the rows and is an input like the others; "
                             "should it say nothing of them, leave it out",
                             csv->name, name));
    }
done:
    return status;
}

void cull_csv_column_again(cull_csv_column *c)
{
    if (!c->trained) cull_categories_clear(&c->categories);
    if (c->text_line) c->kind = CULL_CSV_CATEGORY;
    c->values = c->missing = 0;
    c->repeats = false;
    if (c->role == CULL_CSV_LEFT_OUT && !c->trained) c->role = CULL_CSV_FEATURE;
}

void cull_csv_column_clear(cull_csv_column *c)
{
    cull_categories_clear(&c->categories);
    cull_base_free(c->order);
    c->order = NULL;
}
