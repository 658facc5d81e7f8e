/*
 * data/mds_set.c - samples of MDS shards become examples: one column is the input, one the label.
 */
#include "data/mds_set.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "data/cells.h"
#include "data/format.h"
#include "data/kept_rows.h"
#include "data/labels.h"
#include "data/mds.h"
#include "data/raw_picture.h"
#include "data/set_words.h"
#include "data/text_labels.h"

enum { NAME = CULL_DATA_PATH + 32, SHOWN = 300, NOWHERE = CULL_MDS_COLUMNS };

#define INDEX "index.json"

static const uint64_t most_unpacked = (uint64_t)1 << 30;

/* What the rows of a set are made from. */
struct shards {
    cull_mds  *mds;
    size_t     input, label; /* columns; NOWHERE: there is none */
    cull_cells cells;
};

/* ---- columns ---- */

static bool can_be_input(const cull_mds_column *c)
{
    return c->kind == CULL_MDS_ARRAY || c->kind == CULL_MDS_RAW || c->kind == CULL_MDS_PICTURE ||
           c->kind == CULL_MDS_BYTES;
}

static bool can_be_label(const cull_mds_column *c)
{
    return c->kind == CULL_MDS_NUMBER || c->kind == CULL_MDS_DIGITS || c->kind == CULL_MDS_TEXT;
}

/* "image (jpeg), label (int)" */
static void list_columns(const cull_mds_index *index, char out[SHOWN])
{
    size_t at = 0;

    for (size_t i = 0; i < index->columns && at < SHOWN; i++) {
        int put = snprintf(out + at, SHOWN - at, "%s%.40s (%.40s)", i ? ", " : "",
                           index->column[i].name, index->column[i].encoding);
        at += put > 0 ? (size_t)put : 0;
    }
}

/* The first of the names that a fitting column has; capitals do not matter. */
static size_t find_column(const cull_mds_index *index, const char *const *names,
                          bool (*fits)(const cull_mds_column *c))
{
    for (; *names; names++)
        for (size_t i = 0; i < index->columns; i++) {
            const char *name = index->column[i].name;
            if (cull_text_is(name, strlen(name), *names) && fits(&index->column[i])) return i;
        }
    return NOWHERE;
}

/* Without a name that tells: the only one that fits. */
static size_t find_only(const cull_mds_index *index, bool (*fits)(const cull_mds_column *c))
{
    size_t found = NOWHERE;

    for (size_t i = 0; i < index->columns; i++) {
        if (!fits(&index->column[i])) continue;
        if (found != NOWHERE) return NOWHERE;
        found = i;
    }
    return found;
}

static cull_status choose_label(struct shards *s, const cull_data_request *r)
{
    static const char *const names[] = {"y", "label", "labels", "class", "target", "cls", NULL};
    cull_status              status = CULL_OK;
    const cull_mds_index    *index = cull_mds_index_of(s->mds);
    char                     shown[SHOWN] = "";

    list_columns(index, shown);
    s->label = NOWHERE;
    if (r->unlabelled) goto done;
    for (size_t i = 0; r->label && i < index->columns; i++)
        if (strcmp(index->column[i].name, r->label) == 0) s->label = i;
    if (r->label && (s->label == NOWHERE || !can_be_label(&index->column[s->label])))
        FAIL_OPTION("data.label", "%s has no column '%.64s' of labels; there are %s", r->name,
                    r->label, shown);
    if (!r->label) s->label = find_column(index, names, can_be_label);
    if (s->label == NOWHERE) s->label = find_only(index, can_be_label);
    if (s->label == NOWHERE)
        FAIL_OPTION("data.label", "%s does not tell which column is the label; there are %s",
                    r->name, shown);
done:
    return status;
}

static cull_status choose_input(struct shards *s, const cull_data_request *r)
{
    static const char *const names[] = {"x",      "image", "images", "img",     "input",
                                        "inputs", "data",  "pixels", "picture", NULL};
    cull_status              status = CULL_OK;
    const cull_mds_index    *index = cull_mds_index_of(s->mds);
    char                     shown[SHOWN] = "";

    s->input = find_column(index, names, can_be_input);
    if (s->input == NOWHERE) s->input = find_only(index, can_be_input);
    list_columns(index, shown);
    if (s->input == NOWHERE)
        FAIL(CULL_BAD_FILE,
             "%s: no column, or more than one, is an array or picture that could be the input; "
             "call it x or image; there are %s",
             r->name, shown);
done:
    return status;
}

/* ---- cells ---- */

/* An array's cell may begin with the type of its elements, and with its shape. */
static cull_status cut_array(const cull_mds_column *column, cull_cell *cell)
{
    cull_status          status = CULL_OK;
    const unsigned char *next = cell->data, *end = cell->data + cell->bytes;
    size_t               wide = 0, count = 0;

    cell->form = column->form;
    cell->dims = column->dims;
    memcpy(cell->shape, column->shape, sizeof cell->shape);
    if (!cell->form && next < end) cell->form = cull_mds_form(*next++);
    if (!cell->form) FAIL(CULL_BAD_FILE, "%s: an array of elements that are not known", cell->name);
    if (!cell->dims && next < end) {
        wide = (size_t)1 << (*next & 3);
        cell->dims = *next++ >> 2;
    }
    if (cell->dims < 1 || cell->dims > CULL_MAX_DIMS)
        FAIL(CULL_BAD_FILE, "%s: an array of %d axes; 1 to 3 are read", cell->name, cell->dims);
    if ((size_t)(end - next) < (size_t)cell->dims * wide)
        FAIL(CULL_BAD_FILE, "%s: the array is cut short", cell->name);
    count = cell->form->bytes;
    for (int d = 0; d < cell->dims; d++, next += wide) {
        uint64_t length = (uint64_t)cell->shape[d];
        if (wide) length = 0;
        for (size_t i = 0; i < wide; i++) length |= (uint64_t)next[i] << 8 * i;
        if (length < 1 || length > CULL_DATA_MOST_ROW ||
            __builtin_mul_overflow(count, length, &count))
            FAIL(CULL_BAD_FILE, "%s: an array with a side of %llu", cell->name,
                 (unsigned long long)length);
        cell->shape[d] = (int64_t)length;
    }
    if ((size_t)(end - next) != count)
        FAIL(CULL_BAD_FILE, "%s: an array of %zu bytes where its shape is %zu", cell->name,
             (size_t)(end - next), count);
    cell->data = next;
    cell->bytes = count;
done:
    return status;
}

/* The input of a sample. `name` is room for its name. */
static cull_status find_cell(const struct shards *s, const cull_mds_sample *sample, char name[NAME],
                             cull_cell *out)
{
    cull_status            status = CULL_OK;
    const cull_mds_column *column = &cull_mds_index_of(s->mds)->column[s->input];
    cull_picture_file      file = {.data = sample->cell[s->input], .size = sample->bytes[s->input]};
    bool                   bytes = column->kind == CULL_MDS_BYTES;

    (void)snprintf(name, NAME, "%s: sample %zu", sample->file, sample->number);
    *out = (cull_cell){.name = name, .data = file.data, .bytes = file.size};
    if (column->kind == CULL_MDS_RAW) out->picture = &cull_picture_raw;
    if (column->kind == CULL_MDS_ARRAY) {
        TRY(cut_array(column, out));
    } else if (!bytes || cull_data_picture_kind(&file)) {
        out->kind = CULL_CELL_PICTURE;
    } else {
        out->form = cull_data_npy_form("|u1", 3);
        out->dims = 1;
        out->shape[0] = (int64_t)out->bytes;
        if (out->bytes == 0) FAIL(CULL_BAD_FILE, "%s: is empty", name);
    }
done:
    return status;
}

/* ---- labels ---- */

static cull_status take_number(const cull_mds_column *column, const cull_mds_sample *sample,
                               const unsigned char *cell, int32_t *out)
{
    cull_status status = CULL_OK;
    union {
        int64_t i64;
        int32_t i32;
        double  f64;
        float   f32;
        uint8_t u8;
    } wide = {0};
    double value = -1;

    if (!column->form->widen)
        memcpy(&wide, cell, column->form->bytes);
    else if (!column->form->widen(cell, 1, &wide))
        wide.i64 = -1;
    switch (column->form->dtype) {
    case CULL_I64: value = (double)wide.i64; break;
    case CULL_I32: value = wide.i32; break;
    case CULL_F64: value = wide.f64; break;
    case CULL_F32: value = (double)wide.f32; break;
    case CULL_U8: value = wide.u8; break;
    case CULL_BF16: break; /* no cell has them */
    }
    if (!(value >= 0 && value < CULL_DATA_MOST_CLASSES) || value != (double)(int32_t)value)
        FAIL(CULL_BAD_FILE, "%s: sample %zu: label %g; whole numbers of 0 to %d are labels",
             sample->file, sample->number, value, CULL_DATA_MOST_CLASSES - 1);
    *out = (int32_t)value;
done:
    return status;
}

static cull_status take_label(const struct shards *s, const cull_mds_sample *sample, size_t i,
                              cull_categories *met, cull_dataset *into)
{
    const cull_mds_column *column = &cull_mds_index_of(s->mds)->column[s->label];
    const unsigned char   *cell = sample->cell[s->label];
    char                   name[NAME];

    if (column->kind == CULL_MDS_NUMBER)
        return take_number(column, sample, cell, &cull_data_labels(into)[i]);
    (void)snprintf(name, sizeof name, "%s: sample %zu", sample->file, sample->number);
    return cull_data_text_label(met, name, (const char *)cell, sample->bytes[s->label], i, into);
}

static cull_status settle_labels(const char *name, cull_categories *met, cull_dataset *into)
{
    const int32_t *labels = cull_data_labels(into);
    int32_t        top = CULL_DATA_FEWEST_CLASSES - 1;

    if (met->texts.count) return cull_data_text_labels_settle(met, name, false, into);
    for (size_t i = 0; i < into->count; i++)
        if (labels[i] > top) top = labels[i];
    into->classes = (size_t)top + 1;
    return CULL_OK;
}

/* ---- rows ---- */

static cull_status read_row(const cull_data_rows *rows, uint32_t row, void *out)
{
    const struct shards *s = rows->self;
    cull_status          status = CULL_OK;
    cull_mds_sample      sample = {0};
    cull_cell            cell = {0};
    char                 name[NAME];

    TRY(cull_mds_borrow(s->mds, row, &sample));
    status = find_cell(s, &sample, name, &cell);
    if (status == CULL_OK) status = cull_data_cells_make(&s->cells, &cell, out);
    cull_mds_give_back(s->mds, &sample);
done:
    return status;
}

static void close_shards(void *self)
{
    struct shards *s = self;

    if (!s) return;
    cull_mds_close(s->mds);
    cull_base_free(s);
}

/* What all inputs are. */
static cull_status look_at_all(struct shards *s, const cull_data_request *r)
{
    cull_status     status = CULL_OK;
    cull_mds_sample sample = {0};
    char            name[NAME];

    for (size_t i = 0; i < cull_mds_index_of(s->mds)->samples; i++) {
        cull_cell cell = {0};
        TRY(cull_mds_borrow(s->mds, i, &sample));
        status = find_cell(s, &sample, name, &cell);
        if (status == CULL_OK) status = cull_data_cells_look(&s->cells, &cell, r);
        cull_mds_give_back(s->mds, &sample);
        TRY(status);
        if (s->cells.kind != CULL_CELL_PICTURE) break; /* the first tells */
    }
done:
    return status;
}

static cull_status take_labels(const struct shards *s, const char *name, cull_dataset *into)
{
    cull_status     status = CULL_OK;
    size_t          count = cull_mds_index_of(s->mds)->samples;
    cull_categories met = {0};
    cull_mds_sample sample = {0};

    memset(into->target.data, 0, count * cull_data_target_bytes(into));
    into->count = count;
    if (s->label == NOWHERE) goto done;
    for (size_t i = 0; i < count; i++) {
        TRY(cull_mds_borrow(s->mds, i, &sample));
        status = take_label(s, &sample, i, &met, into);
        cull_mds_give_back(s->mds, &sample);
        TRY(status);
    }
    TRY(settle_labels(name, &met, into));
done:
    cull_categories_clear(&met);
    return status;
}

static cull_status look_through(const cull_data_folder *folder, const cull_data_request *request,
                                uint64_t room, struct shards **out)
{
    cull_status    status = CULL_OK;
    struct shards *s = NULL;

    TRY(cull_base_alloc(1, sizeof *s, "shards", &s));
    TRY(cull_mds_open(folder, room, &s->mds));
    TRY(choose_label(s, request));
    TRY(choose_input(s, request));
    TRY(look_at_all(s, request));
    *out = s;
    s = NULL;
done:
    close_shards(s);
    return status;
}

/* *shards become the rows'. */
static cull_status take_rows(struct shards **shards, const cull_data_request *request,
                             uint64_t most_kept, cull_dataset *into, bool *measured)
{
    static const cull_data_rows_class class = {.read = read_row, .close = close_shards};
    cull_status     status = CULL_OK;
    struct shards  *s = *shards;
    cull_data_rows *rows = NULL;

    TRY(cull_data_cells_settle(&s->cells, request, into));
    if (s->label == NOWHERE) cull_data_labels_leave(request->target, into);
    TRY(cull_data_rows_create(&class, s, NULL, cull_mds_index_of(s->mds)->samples, &rows));
    *shards = NULL;
    TRY(cull_data_hold(into, request->name, rows));
    TRY(take_labels(s, request->name, into));
    TRY(cull_data_keep_rows(into, most_kept, 0, measured));
    if (!cull_data_base(into) && cull_mds_crowded(s->mds) && !into->once)
        TRY(cull_data_remark(
            into,
            "%s: packed shards are unpacked whole for each example that is wanted; cull data "
            "convert makes a folder that is read in any order",
            request->name));
done:
    cull_data_rows_release(rows);
    return status;
}

cull_status cull_data_mds_read(const cull_data_folder *folder, const cull_data_request *request,
                               cull_mds_room room, cull_dataset *into, bool *measured)
{
    cull_status    status = CULL_OK;
    struct shards *s = NULL;

    TRY(look_through(folder, request, room.unpacked, &s));
    TRY(take_rows(&s, request, room.rows, into, measured));
done:
    close_shards(s);
    return status;
}

/* ---- the format ---- */

enum { MOST_LOOKED_AT = 10000, INDEX_LOOK = 4096 };

/* Is there an index, and does it begin as one of shards? Others have files of this name, too. */
static bool has_index(const char *path)
{
    char             file[CULL_DATA_PATH], text[INDEX_LOOK + 1] = "";
    cull_data_folder folder = {.path = path};
    cull_data_source source = {.fd = -1};
    size_t           bytes = 0;

    if (!cull_data_folder_has(&folder, INDEX) ||
        cull_data_folder_open(&folder, INDEX, file, &source) != CULL_OK)
        return false;
    bytes = source.size < INDEX_LOOK ? (size_t)source.size : INDEX_LOOK;
    if (cull_data_source_read(&source, 0, text, bytes) != CULL_OK) bytes = 0;
    cull_data_source_close(&source);
    return bytes && strstr(text, "\"shards\"");
}

/* The folder of a set: one that is called so, capitals or not, and has an index. */
static bool find_folder(const char *path, cull_set_word word, char out[CULL_DATA_PATH])
{
    const struct dirent *file = NULL;
    DIR                 *dir = opendir(path);
    bool                 found = false;

    for (size_t i = 0; dir && !found && i < MOST_LOOKED_AT && (file = readdir(dir)); i++)
        found = cull_data_set_word(file->d_name, strlen(file->d_name)) == word &&
                snprintf(out, CULL_DATA_PATH, "%s/%s", path, file->d_name) < CULL_DATA_PATH &&
                has_index(out);
    if (dir) (void)closedir(dir);
    return found;
}

static bool is_mds(const char *path)
{
    char unused[CULL_DATA_PATH];

    return has_index(path) || find_folder(path, CULL_SET_TRAIN, unused) ||
           find_folder(path, CULL_SET_TEST, unused) || find_folder(path, CULL_SET_VAL, unused);
}

/* Where the shards of the wanted set are. */
static cull_status choose_folder(const cull_data_request *r, cull_dataset *into,
                                 char out[CULL_DATA_PATH])
{
    cull_status status = CULL_OK;
    bool        testing = r->role == CULL_DATA_TEST || into->like;

    if (testing && find_folder(r->name, CULL_SET_TEST, out)) goto done;
    if (testing && find_folder(r->name, CULL_SET_VAL, out)) {
        TRY(cull_data_remark(into, "%s: holds no test set; its validation set is taken", r->name));
        goto done;
    }
    if (r->role == CULL_DATA_TEST && !r->unlabelled)
        TRY(cull_data_say_no_test(r->name, " (test/ or val/ with " INDEX ")"));
    if (!testing && find_folder(r->name, CULL_SET_TRAIN, out)) goto done;
    for (int word = CULL_SET_TRAIN; r->unlabelled && word <= CULL_SET_VAL; word++)
        if (!has_index(r->name) && find_folder(r->name, (cull_set_word)word, out)) goto done;
    if (!has_index(r->name))
        FAIL(CULL_BAD_FILE, "%s: holds no %s set; there is neither " INDEX " nor %s/ with one",
             r->name, testing ? "test" : "training", testing ? "test" : "train");
    if (snprintf(out, CULL_DATA_PATH, "%s", r->name) >= CULL_DATA_PATH)
        FAIL(CULL_IO, "%.100s...: the name is too long", r->name);
done:
    return status;
}

/* The set beside this one, whose examples must be of the same shape. If something is wrong with it,
 * that is told when it is opened. */
static cull_status look_at_other(const cull_data_request *request, bool *colour)
{
    cull_status       status = CULL_OK;
    cull_data_request r = *request;
    char              path[CULL_DATA_PATH];
    cull_data_folder  folder = {.path = path};
    struct shards    *other = NULL;
    cull_dataset     *unused = NULL;

    r.role = r.role == CULL_DATA_TEST ? CULL_DATA_TRAIN : CULL_DATA_TEST;
    TRY(cull_data_create("", &unused));
    status = choose_folder(&r, unused, path);
    if (status == CULL_OK) status = look_through(&folder, &r, most_unpacked, &other);
    if (other) *colour = other->cells.colour;
    if (status != CULL_NO_MEMORY) status = CULL_OK;
done:
    close_shards(other);
    cull_data_close(unused);
    return status;
}

static cull_status read_mds(const cull_data_request *request, cull_dataset *into, bool *measured)
{
    cull_status      status = CULL_OK;
    char             path[CULL_DATA_PATH];
    cull_data_folder folder = {.path = path};
    struct shards   *s = NULL;

    TRY(choose_folder(request, into, path));
    TRY(look_through(&folder, request, most_unpacked, &s));
    if (cull_data_cells_grey(&s->cells, request, into))
        TRY(look_at_other(request, &s->cells.colour));
    TRY(take_rows(&s, request, cull_data_most_kept(), into, measured));
done:
    close_shards(s);
    return status;
}

const cull_data_format cull_data_mds_format = {
    .doc = "folders of MDS shards (" INDEX ")",
    .takes = CULL_DATA_TAKES_LAYOUT | CULL_DATA_TAKES_SIDE | CULL_DATA_TAKES_LABEL,
    .fits = is_mds,
    .read = read_mds};
