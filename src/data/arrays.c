/* data/arrays.c - the public door to arrays on disk: .npy and .npz alike, read on demand. */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/texts.h"
#include "data/format.h"
#include "data/npy.h"
#include "data/npz.h"
#include "data/reader.h"
#include "data/sink.h"
#include "data/unicode.h"

enum { MOST_SHOWN = 200, MOST_FILES = CULL_DATA_ZIP_MEMBERS, SUFFIX = 4, MOST_LETTER = 0x10ffff };

/* One array: where it is, and, once it was asked for, what it is. */
struct entry {
    char                   *name;
    const cull_data_member *member; /* NULL: the whole file */
    char                   *path;   /* of a file of its own, where a folder is open */
    cull_data_source        source;
    cull_tensor             view;
};

struct cull_arrays {
    char            *path;
    cull_data_source source;
    cull_data_zip    zip;
    struct entry    *entry;
    size_t           count;
};

static cull_status list_members(cull_arrays *a)
{
    cull_status status = CULL_OK;

    TRY(cull_base_alloc(a->zip.count, sizeof *a->entry, "the arrays of a file", &a->entry));
    for (size_t i = 0; i < a->zip.count; i++) {
        const cull_data_member *member = &a->zip.member[i];
        size_t                  length = cull_data_npz_name(member);
        if (length == 0) continue;
        TRY(cull_text_copy(member->name, length, &a->entry[a->count].name));
        a->entry[a->count++].member = member;
    }
done:
    return status;
}

cull_status cull_arrays_open(const char *path, cull_arrays **out)
{
    return cull_data_arrays_open(path, UINT64_MAX, out);
}

cull_status cull_data_arrays_open(const char *path, uint64_t map_from, cull_arrays **out)
{
    cull_status   status = CULL_OK;
    cull_arrays  *a = NULL;
    unsigned char begin[8] = {0};
    size_t        count = sizeof begin;

    TRY(cull_base_alloc(1, sizeof *a, "the arrays of a file", &a));
    a->source.fd = -1;
    TRY(cull_text_copy(path, strlen(path), &a->path));
    TRY(cull_data_source_open(a->path, &a->source));
    if (a->source.size >= map_from) cull_data_source_map(&a->source);
    if (count > a->source.size) count = (size_t)a->source.size;
    TRY(cull_data_source_read(&a->source, 0, begin, count));
    if (cull_data_zip_begins(begin, count)) {
        TRY(cull_data_zip_open(&a->source, &a->zip));
        TRY(list_members(a));
    } else if (cull_data_npy_begins(begin, count)) {
        TRY(cull_base_alloc(1, sizeof *a->entry, "the arrays of a file", &a->entry));
        TRY(cull_text_copy("", 0, &a->entry[0].name));
        a->count = 1;
    } else {
        FAIL(CULL_BAD_FILE, "%s: neither a .npy nor a .npz file", path);
    }
    *out = a;
    a = NULL;
done:
    cull_arrays_close(a);
    return status;
}

/* The names of a folder's .npy files, sorted, so that the order does not depend on the disk. */
static cull_status list_files(const char *path, cull_texts *names)
{
    cull_status          status = CULL_OK;
    DIR                 *folder = opendir(path);
    const struct dirent *file = NULL;

    if (!folder) FAIL(CULL_IO, "%s: cannot open: %s", path, strerror(errno));
    while ((file = readdir(folder))) {
        if (file->d_name[0] == '.' || !cull_data_ends_with(file->d_name, ".npy")) continue;
        if (names->count == MOST_FILES)
            FAIL(CULL_BAD_FILE, "%s: more than %d arrays", path, MOST_FILES);
        TRY(cull_texts_add(names, file->d_name, strlen(file->d_name)));
    }
    cull_texts_sort(names);
done:
    if (folder) (void)closedir(folder);
    return status;
}

cull_status cull_data_arrays_folder(const char *path, cull_arrays **out)
{
    cull_status  status = CULL_OK;
    cull_arrays *a = NULL;
    cull_texts   names = {0};
    char         file[CULL_DATA_PATH];

    TRY(cull_base_alloc(1, sizeof *a, "the arrays of a folder", &a));
    a->source.fd = -1;
    TRY(cull_text_copy(path, strlen(path), &a->path));
    TRY(list_files(path, &names));
    TRY(cull_base_alloc(names.count, sizeof *a->entry, "the arrays of a folder", &a->entry));
    for (; a->count < names.count; a->count++) a->entry[a->count].source.fd = -1;
    for (size_t i = 0; i < a->count; i++) {
        struct entry *entry = &a->entry[i];
        TRY(cull_base_join(path, names.text[i], file));
        TRY(cull_text_copy(file, strlen(file), &entry->path));
        TRY(cull_text_copy(names.text[i], strlen(names.text[i]) - SUFFIX, &entry->name));
    }
    *out = a;
    a = NULL;
done:
    cull_texts_clear(&names);
    cull_arrays_close(a);
    return status;
}

static void close_entry(const cull_arrays *arrays, struct entry *entry)
{
    if (!cull_data_source_holds(&arrays->source, entry->view.data) &&
        !cull_data_source_holds(&entry->source, entry->view.data))
        cull_base_free_aligned(entry->view.data);
    if (entry->path) cull_data_source_close(&entry->source);
    cull_base_free(entry->path);
    cull_base_free(entry->name);
}

void cull_arrays_close(cull_arrays *arrays)
{
    if (!arrays) return;
    for (size_t i = 0; i < arrays->count; i++) close_entry(arrays, &arrays->entry[i]);
    cull_base_free(arrays->entry);
    cull_data_zip_close(&arrays->zip);
    cull_data_source_close(&arrays->source);
    cull_base_free(arrays->path);
    cull_base_free(arrays);
}

const char *cull_arrays_name(const cull_arrays *arrays, size_t i)
{
    return i < arrays->count ? arrays->entry[i].name : NULL;
}

static cull_status not_found(const cull_arrays *a, const char *name)
{
    char   shown[MOST_SHOWN] = "nothing";
    size_t at = 0;

    for (size_t i = 0; i < a->count && at < sizeof shown - 1; i++) {
        int put = snprintf(shown + at, sizeof shown - at, "%s%s", i ? ", " : "", a->entry[i].name);
        at += put > 0 ? (size_t)put : 0;
    }
    if (!name)
        return cull_fail(CULL_BAD_ARGUMENT, "%s: %zu arrays where one is wanted: %s", a->path,
                         a->count, shown);
    return cull_fail(CULL_BAD_ARGUMENT, "%s: no array is called '%s'; there is %s", a->path, name,
                     shown);
}

/* A folder's file is opened when it is first wanted. */
static cull_status open_file(struct entry *entry, cull_data_stream *out)
{
    cull_status status = CULL_OK;

    if (!entry->source.name) {
        TRY(cull_data_source_open(entry->path, &entry->source));
        cull_data_source_map(&entry->source);
    }
    *out = cull_data_part(&entry->source, 0, entry->source.size);
done:
    return status;
}

/* As numbers, or the characters of texts. */
static cull_status read_array(const cull_arrays *a, struct entry *entry, bool texts,
                              cull_tensor *out)
{
    cull_status      status = CULL_OK;
    cull_data_stream whole = cull_data_part(&a->source, 0, a->source.size);

    if (entry->path) TRY(open_file(entry, &whole));
    if (entry->member)
        TRY((texts ? cull_data_npz_letters : cull_data_npz_read)(&a->zip, entry->member, out));
    else
        TRY((texts ? cull_data_npy_letters : cull_data_npy_read)(&whole, out));
done:
    return status;
}

cull_status cull_arrays_get(cull_arrays *arrays, const char *name, cull_tensor *out)
{
    cull_status   status = CULL_OK;
    struct entry *entry = NULL;

    *out = (cull_tensor){0};
    if (!name && arrays->count == 1) entry = &arrays->entry[0];
    for (size_t i = 0; name && i < arrays->count; i++)
        if (strcmp(arrays->entry[i].name, name) == 0) entry = &arrays->entry[i];
    if (!entry) TRY(not_found(arrays, name));
    if (!entry->view.data) TRY(read_array(arrays, entry, false, &entry->view));
    *out = entry->view;
done:
    return status;
}

/* One text of `length` characters, of which the last may be zeros. */
static cull_status add_text(const cull_arrays *a, const char *name, const int32_t *letters,
                            size_t length, cull_texts *out)
{
    cull_status status = CULL_OK;
    char        text[4 * CULL_DATA_NPY_LETTERS];
    size_t      at = 0;

    while (length && letters[length - 1] == 0) length--;
    for (size_t i = 0; i < length; i++) {
        if (letters[i] <= 0 || letters[i] > MOST_LETTER)
            FAIL(CULL_BAD_FILE, "%s: %s holds what is no text", a->path, name);
        at += cull_unicode_put((uint32_t)letters[i], text + at);
    }
    if (at == 0 || !cull_text_clean(text, at))
        FAIL(CULL_BAD_FILE, "%s: text %zu of %s is empty, or holds control characters", a->path,
             out->count, name);
    TRY(cull_texts_add(out, text, at));
done:
    return status;
}

cull_status cull_data_arrays_texts(const cull_arrays *a, const char *name, cull_texts *out)
{
    cull_status status = CULL_OK;
    cull_tensor letters = {0};
    size_t      i = 0;

    while (i < a->count && strcmp(a->entry[i].name, name) != 0) i++;
    if (i == a->count) goto done;
    TRY(read_array(a, &a->entry[i], true, &letters));
    if (letters.shape[0] > CULL_DATA_MOST_CLASSES)
        FAIL(CULL_BAD_FILE, "%s: %s has more than %d texts", a->path, name, CULL_DATA_MOST_CLASSES);
    for (int64_t k = 0; k < letters.shape[0]; k++)
        TRY(add_text(a, name, (const int32_t *)letters.data + k * letters.shape[1],
                     (size_t)letters.shape[1], out));
done:
    if (!cull_data_arrays_mapped(a, &letters)) cull_base_free_aligned(letters.data);
    return status;
}

bool cull_data_arrays_mapped(const cull_arrays *arrays, const cull_tensor *array)
{
    for (size_t i = 0; i < arrays->count; i++)
        if (cull_data_source_holds(&arrays->entry[i].source, array->data)) return true;
    return cull_data_source_holds(&arrays->source, array->data);
}

/* Append to a text that is full at room-1 bytes. */
static void append(char *out, size_t room, const char *format, ...)
{
    size_t  at = strlen(out);
    va_list list;

    va_start(list, format);
    (void)vsnprintf(out + at, room - at, format, list);
    va_end(list);
}

static cull_status look_at(const cull_arrays *a, const struct entry *entry, cull_tensor *out)
{
    cull_status      status = CULL_OK;
    cull_data_source opened = {.fd = -1};
    cull_data_stream whole = cull_data_part(&a->source, 0, a->source.size);

    if (entry->member) return cull_data_npz_look(&a->zip, entry->member, out);
    if (entry->path) {
        TRY(cull_data_source_open(entry->path, &opened));
        whole = cull_data_part(&opened, 0, opened.size);
    }
    TRY(cull_data_npy_look(&whole, out));
done:
    cull_data_source_close(&opened);
    return status;
}

void cull_data_arrays_describe(const cull_arrays *a, char *out, size_t room)
{
    (void)snprintf(out, room, "%s", a->count ? "" : "no arrays");
    for (size_t i = 0; i < a->count && strlen(out) + 1 < room; i++) {
        cull_tensor view = {0};

        append(out, room, "%s%.40s", i ? ", " : "", a->entry[i].name);
        if (look_at(a, &a->entry[i], &view) != CULL_OK) continue; /* its name is something */
        for (int d = 0; d < view.dims; d++)
            append(out, room, "%s%lld", d ? ", " : " (", (long long)view.shape[d]);
        append(out, room, ") %s", cull_dtype_name(view.dtype));
    }
}

cull_status cull_file_write(const char *path, const void *data, size_t bytes)
{
    cull_status    status = CULL_OK;
    cull_data_sink sink = {.fd = -1};

    TRY(cull_data_sink_open(path, &sink));
    TRY(cull_data_sink_write(&sink, data, bytes));
    TRY(cull_data_sink_commit(&sink));
done:
    cull_data_sink_close(&sink);
    return status;
}

cull_status cull_file_read(const char *path, void **data, size_t *bytes)
{
    cull_status      status = CULL_OK;
    cull_data_source source = {.fd = -1};
    void            *block = NULL;

    TRY(cull_data_source_open(path, &source));
    TRY(cull_base_alloc((size_t)source.size, 1, path, &block));
    TRY(cull_data_source_read(&source, 0, block, (size_t)source.size));
    *data = block;
    *bytes = (size_t)source.size;
    block = NULL;
done:
    cull_data_source_close(&source);
    cull_base_free(block);
    return status;
}
