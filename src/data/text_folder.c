/*
 * data/text_folder.c - folders of text files, one for each class, as docs/formats.md says; aclImdb
 * is published so.
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"
#include "data/format.h"
#include "data/labels.h"
#include "data/text_rows.h"

enum { MOST_LOOKED_AT = 1000, SETS_DEEP = 3, MOSTLY = 9 };

static bool is_text(const char *path)
{
    return cull_data_ends_with(path, ".txt");
}

/* Files that are no texts are left out, and told. */
static cull_status leave_out(cull_picture_list *list, cull_dataset *into)
{
    cull_status status = CULL_OK;
    size_t      kept = 0, all = list->count;

    for (size_t i = 0; i < list->count; i++)
        if (is_text(cull_data_picture_path(list, i))) list->entry[kept++] = list->entry[i];
    list->count = kept;
    if (kept == 0) FAIL(CULL_BAD_FILE, "%s: no file below it ends in .txt", list->root);
    if (kept < all)
        TRY(cull_data_remark(into, "%s: %zu files do not end in .txt and are left out", list->root,
                             all - kept));
done:
    return status;
}

static cull_status take_file(const cull_picture_list *list, size_t i, cull_text_maker *m)
{
    cull_status      status = CULL_OK;
    cull_data_source source = {.fd = -1};
    char             path[CULL_DATA_PATH];
    char            *text = NULL;

    TRY(cull_data_picture_whole(list, i, path));
    TRY(cull_data_source_open(path, &source));
    if (source.size > CULL_TEXT_MOST)
        FAIL(CULL_BAD_FILE, "%s: %llu bytes; a text has at most %d", path,
             (unsigned long long)source.size, CULL_TEXT_MOST);
    TRY(cull_base_alloc((size_t)source.size, 1, "a text", &text));
    TRY(cull_data_source_read(&source, 0, text, (size_t)source.size));
    TRY(cull_data_texts_add(m, text, (size_t)source.size));
done:
    cull_base_free(text);
    cull_data_source_close(&source);
    return status;
}

static cull_status take_classes(const cull_picture_list *list, cull_dataset *into)
{
    cull_status status = CULL_OK;

    TRY(cull_texts_copy(&into->class_names, &list->classes));
    into->classes = list->classes.count ? list->classes.count : CULL_DATA_FEWEST_CLASSES;
    if (into->classes < CULL_DATA_FEWEST_CLASSES && !into->like)
        FAIL(CULL_BAD_FILE, "%s: holds one class alone, '%.64s'", list->root,
             list->classes.text[0]);
done:
    return status;
}

static cull_picture_want want_of(const cull_data_request *r, const cull_dataset *into)
{
    if (r->role == CULL_DATA_TEST) return CULL_PICTURES_TEST;
    return into->like ? CULL_PICTURES_ALONE : CULL_PICTURES_TRAIN;
}

static cull_status read_folder(const cull_data_request *r, cull_dataset *into, bool *measured)
{
    cull_status       status = CULL_OK;
    cull_text_maker   m = {0};
    cull_picture_list list = {.of = "texts", .named = is_text, .passed_over = "unsup"};
    uint32_t *class = NULL;

    TRY(cull_data_texts_begin(r, &m));
    TRY(cull_data_picture_list_read(r->name, want_of(r, into), r->unlabelled, &list));
    for (size_t i = 0; i < list.remarks.count; i++)
        TRY(cull_data_remark(into, "%s", list.remarks.text[i]));
    TRY(leave_out(&list, into));
    TRY(take_classes(&list, into));
    TRY(cull_base_alloc(list.count, sizeof *class, "classes", &class));
    for (size_t i = 0; i < list.count; i++) {
        class[i] = list.entry[i].class;
        TRY(take_file(&list, i, &m));
    }
    TRY(cull_data_texts_end(&m, &list, into));
    for (size_t i = 0; i < m.count; i++) cull_data_labels(into)[i] = (int32_t) class[i];
    into->count = m.count;
    *measured = true;
    TRY(cull_data_measure(into));
done:
    cull_base_free(class);
    cull_data_picture_list_clear(&list);
    cull_data_texts_clear(&m);
    return status;
}

/* ---- is it one? ---- */

struct looks {
    size_t left, texts, pictures;
    size_t flat_texts, flat_pictures; /* beside its folders: no examples, where there are others */
};

/* Files in the folders of a folder, and beside them. */
static void look(const char *path, int depth, struct looks *looks)
{
    DIR                 *folder = opendir(path);
    const struct dirent *file = NULL;

    while (folder && looks->left > 0 && (file = readdir(folder))) {
        char        below[CULL_DATA_PATH];
        struct stat info;

        if (file->d_name[0] == '.' || cull_base_join(path, file->d_name, below) != CULL_OK)
            continue;
        if (stat(below, &info) != 0) continue;
        if (S_ISDIR(info.st_mode)) {
            if (depth < SETS_DEEP) look(below, depth + 1, looks);
            continue;
        }
        looks->left--;
        *(depth ? &looks->texts : &looks->flat_texts) += is_text(below);
        *(depth ? &looks->pictures : &looks->flat_pictures) += cull_data_picture_named(below);
    }
    if (folder) (void)closedir(folder);
}

static bool is_folder(const char *path)
{
    struct looks looks = {.left = MOST_LOOKED_AT};

    look(path, 0, &looks);
    if (looks.texts + looks.pictures == 0) return looks.flat_texts > MOSTLY * looks.flat_pictures;
    return looks.texts > MOSTLY * looks.pictures;
}

const cull_data_format cull_data_text_folder_format = {
    .doc = "folders that hold one folder of .txt files for each class",
    .takes = CULL_DATA_TAKES_PIECES,
    .fits = is_folder,
    .read = read_folder};
