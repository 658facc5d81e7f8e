/*
 * data/tar_set.c - tar archives as a data set: which files are examples, and rows that are read
 * from where they lie.
 */
#include "data/tar_set.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "data/cells.h"
#include "data/format.h"
#include "data/kept_rows.h"
#include "data/labels.h"
#include "data/tar.h"
#include "data/tar_parts.h"
#include "data/text_labels.h"

enum {
    PREFIX = 1 << 16,     /* holds most headers of pictures */
    MOST_LABEL = 1 << 20, /* of a file that holds one */
    NAME = 600
};

/* What the rows of a set are made from. */
struct archives {
    cull_tar_files    files;
    cull_tar_list     list;
    cull_tar_examples examples;
    cull_cells        cells;
};

static void close_archives(void *self)
{
    struct archives *a = self;

    if (!a) return;
    cull_data_tar_files_clear(&a->files);
    cull_data_tar_clear(&a->list);
    cull_data_tar_parts_clear(&a->examples);
    cull_base_free(a);
}

/* ---- members ---- */

/* The first bytes of a member, at most `most`; released with cull_base_free(). */
static cull_status load(const struct archives *a, size_t member, size_t most, unsigned char **out,
                        size_t *bytes)
{
    cull_status            status = CULL_OK;
    const cull_tar_member *m = &a->list.member[member];
    unsigned char         *data = NULL;

    *bytes = m->size < most ? (size_t)m->size : most;
    if (m->size > CULL_PICTURE_MOST_BYTES)
        FAIL(CULL_BAD_FILE, "%s: %.200s has %llu bytes; an example has at most 2^30",
             a->files.source[m->archive].name, cull_data_tar_name(&a->list, member),
             (unsigned long long)m->size);
    TRY(cull_base_grow(*bytes, 1, "a file of an archive", &data));
    TRY(cull_data_source_read(&a->files.source[m->archive], m->at, data, *bytes));
    *out = data;
    data = NULL;
done:
    cull_base_free(data);
    return status;
}

static void name_member(const struct archives *a, size_t member, char out[NAME])
{
    (void)snprintf(out, NAME, "%s: %s", a->files.source[a->list.member[member].archive].name,
                   cull_data_tar_name(&a->list, member));
}

static cull_cell cell_of(const struct archives *a, size_t member, const char *name,
                         const unsigned char *data, size_t bytes)
{
    bool array = cull_data_tar_is_array(cull_data_tar_name(&a->list, member));

    return (cull_cell){.name = name,
                       .kind = array ? CULL_CELL_NPY : CULL_CELL_PICTURE,
                       .data = data,
                       .bytes = bytes};
}

/* What a member is; where its first bytes do not say, all of it is read. */
static cull_status look_at(struct archives *a, size_t member, const cull_data_request *r)
{
    cull_status    status = CULL_OK;
    bool           array = cull_data_tar_is_array(cull_data_tar_name(&a->list, member));
    size_t         bytes = 0;
    unsigned char *data = NULL;
    char           name[NAME];
    cull_cell      cell = {0};

    name_member(a, member, name);
    TRY(load(a, member, array ? SIZE_MAX : PREFIX, &data, &bytes));
    cell = cell_of(a, member, name, data, bytes);
    status = cull_data_cells_look(&a->cells, &cell, r);
    if (status != CULL_BAD_FILE || bytes == a->list.member[member].size) goto done;
    cull_base_free(data);
    data = NULL;
    TRY(load(a, member, SIZE_MAX, &data, &bytes));
    cell = cell_of(a, member, name, data, bytes);
    TRY(cull_data_cells_look(&a->cells, &cell, r));
done:
    cull_base_free(data);
    return status;
}

static cull_status look_at_all(struct archives *a, const cull_data_request *r)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; i < a->examples.count; i++) {
        size_t member = a->examples.example[i].input;
        bool   array = cull_data_tar_is_array(cull_data_tar_name(&a->list, member));
        if (i && array && a->cells.kind == CULL_CELL_NPY) continue; /* the first told */
        TRY(look_at(a, member, r));
    }
done:
    return status;
}

/* ---- labels ---- */

static cull_status take_text(const struct archives *a, const char *name, size_t i,
                             const unsigned char *data, size_t bytes, cull_categories *met,
                             cull_dataset *into)
{
    cull_status      status = CULL_OK;
    cull_data_source file = cull_data_source_memory(name, data, bytes);
    char             text[CULL_DATA_LABEL];

    if (a->examples.json) {
        TRY(cull_data_json_label(&file, a->examples.key, text));
        data = (const unsigned char *)text;
        bytes = strlen(text);
    }
    TRY(cull_data_text_label(met, name, (const char *)data, bytes, i, into));
done:
    return status;
}

static cull_status take_label(const struct archives *a, size_t i, cull_categories *met,
                              cull_dataset *into)
{
    cull_status             status = CULL_OK;
    const cull_tar_example *e = &a->examples.example[i];
    unsigned char          *data = NULL;
    size_t                  bytes = 0;
    char                    name[NAME];

    name_member(a, a->examples.folders ? e->input : e->label, name);
    if (a->examples.folders) {
        TRY(cull_data_text_label(met, name, e->class_name, e->class_length, i, into));
        goto done;
    }
    if (a->list.member[e->label].size > MOST_LABEL)
        FAIL(CULL_BAD_FILE, "%s: a label of %llu bytes", name,
             (unsigned long long)a->list.member[e->label].size);
    TRY(load(a, e->label, MOST_LABEL, &data, &bytes));
    TRY(take_text(a, name, i, data, bytes, met, into));
done:
    cull_base_free(data);
    return status;
}

static cull_status take_labels(const struct archives *a, const char *path, cull_dataset *into)
{
    cull_status     status = CULL_OK;
    cull_categories met = {0};

    memset(into->target.data, 0, a->examples.count * cull_data_target_bytes(into));
    into->count = a->examples.count;
    if (into->unlabelled) goto done;
    for (size_t i = 0; i < a->examples.count; i++) TRY(take_label(a, i, &met, into));
    TRY(cull_data_text_labels_settle(&met, path, a->examples.folders, into));
done:
    cull_categories_clear(&met);
    return status;
}

/* ---- rows ---- */

static cull_status read_row(const cull_data_rows *rows, uint32_t row, void *out)
{
    const struct archives *a = rows->self;
    cull_status            status = CULL_OK;
    size_t                 member = a->examples.example[row].input, bytes = 0;
    unsigned char         *data = NULL;
    char                   name[NAME];
    cull_cell              cell = {0};

    name_member(a, member, name);
    TRY(load(a, member, SIZE_MAX, &data, &bytes));
    cell = cell_of(a, member, name, data, bytes);
    TRY(cull_data_cells_make(&a->cells, &cell, out));
done:
    cull_base_free(data);
    return status;
}

static const char *name_row(const cull_data_rows *rows, uint32_t row)
{
    const struct archives *a = rows->self;

    return cull_data_tar_name(&a->list, a->examples.example[row].input);
}

/* Which files are examples, and what each of them is. *files become those of *out, or are still the
 * caller's. */
static cull_status look_through(cull_tar_files *files, const cull_data_request *r,
                                cull_dataset *into, struct archives **out)
{
    cull_status      status = CULL_OK;
    struct archives *a = NULL;

    TRY(cull_base_alloc(1, sizeof *a, "archives", &a));
    a->files = *files;
    *files = (cull_tar_files){0};
    for (size_t i = 0; i < a->files.count; i++)
        TRY(cull_data_tar_list(&a->files.source[i], (uint32_t)i, &a->list));
    TRY(cull_data_tar_parts(&a->list, r, into, &a->examples));
    if (a->examples.count > UINT32_MAX - 1)
        FAIL(CULL_BAD_FILE, "%s: more than 2^32-2 examples", r->name);
    TRY(look_at_all(a, r));
    *out = a;
    a = NULL;
done:
    close_archives(a);
    return status;
}

/* *archives become the rows'. */
static cull_status take_rows(struct archives **archives, const cull_data_request *r, uint64_t most,
                             cull_dataset *into, bool *measured)
{
    static const cull_data_rows_class class = {
        .read = read_row, .close = close_archives, .name = name_row};
    cull_status      status = CULL_OK;
    struct archives *a = *archives;
    cull_data_rows  *rows = NULL;

    TRY(cull_data_cells_settle(&a->cells, r, into));
    if (r->unlabelled) cull_data_labels_leave(r->target, into);
    TRY(cull_data_rows_create(&class, a, NULL, a->examples.count, &rows));
    *archives = NULL;
    TRY(cull_data_hold(into, r->name, rows));
    TRY(take_labels(a, r->name, into));
    TRY(cull_data_keep_rows(into, most, 0, measured));
done:
    cull_data_rows_release(rows);
    return status;
}

cull_status cull_data_tar_read(cull_tar_files *files, const cull_data_request *request,
                               uint64_t most, cull_dataset *into, bool *measured)
{
    cull_status      status = CULL_OK;
    struct archives *a = NULL;

    TRY(look_through(files, request, into, &a));
    TRY(take_rows(&a, request, most, into, measured));
done:
    cull_data_tar_files_clear(files);
    close_archives(a);
    return status;
}

/* ---- the format ---- */

static cull_status look_through_path(const cull_data_request *request, cull_dataset *into,
                                     struct archives **out)
{
    cull_status       status = CULL_OK;
    cull_data_request r = *request;
    cull_tar_files    files = {0};

    TRY(cull_data_tar_files_open(&r, into, &files));
    TRY(look_through(&files, &r, into, out));
done:
    cull_data_tar_files_clear(&files);
    return status;
}

/* The set beside this one, whose examples must be of the same shape. If something is wrong with it,
 * that is told when it is opened. */
static cull_status look_at_other(const cull_data_request *request, bool *colour)
{
    cull_status       status = CULL_OK;
    cull_data_request r = *request;
    struct archives  *other = NULL;
    cull_dataset     *unused = NULL;

    r.role = r.role == CULL_DATA_TEST ? CULL_DATA_TRAIN : CULL_DATA_TEST;
    TRY(cull_data_create("", &unused));
    status = look_through_path(&r, unused, &other);
    if (other) *colour = other->cells.colour;
    if (status != CULL_NO_MEMORY) status = CULL_OK;
done:
    close_archives(other);
    cull_data_close(unused);
    return status;
}

static cull_status read_tar(const cull_data_request *request, cull_dataset *into, bool *measured)
{
    cull_status      status = CULL_OK;
    struct archives *a = NULL;

    TRY(look_through_path(request, into, &a));
    if (cull_data_cells_grey(&a->cells, request, into))
        TRY(look_at_other(request, &a->cells.colour));
    TRY(take_rows(&a, request, cull_data_most_kept(), into, measured));
done:
    close_archives(a);
    return status;
}

const cull_data_format cull_data_tar_format = {
    .doc = "tar archives",
    .takes = CULL_DATA_TAKES_LAYOUT | CULL_DATA_TAKES_SIDE | CULL_DATA_TAKES_LABEL,
    .fits = cull_data_tar_fits,
    .read = read_tar};
