/* data/picture_list.c - folders of pictures, gone through by name. */
#include "data/picture_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"
#include "data/dataset.h"

enum { MOST_DEPTH = 16, FIRST_ROOM = 1 << 12 };

enum what { NOWHERE, A_FILE, A_FOLDER, ODD };

static enum what what_is(const char *path)
{
    struct stat info;

    if (stat(path, &info)) return NOWHERE;
    if (S_ISDIR(info.st_mode)) return A_FOLDER;
    return S_ISREG(info.st_mode) ? A_FILE : ODD;
}

/* Names of a folder's own housekeeping: hidden ones, and what one system puts into archives. */
static bool is_passed_over(const char *name)
{
    return name[0] == '.' || strcmp(name, "__MACOSX") == 0;
}

static cull_status names_in(const char *folder, cull_texts *out)
{
    cull_status    status = CULL_OK;
    DIR           *dir = opendir(folder);
    struct dirent *entry = NULL;

    if (!dir) FAIL(CULL_IO, "%s: cannot open the folder: %s", folder, strerror(errno));
    errno = 0;
    while ((entry = readdir(dir)))
        if (!is_passed_over(entry->d_name))
            TRY(cull_texts_add(out, entry->d_name, strlen(entry->d_name)));
    if (errno) FAIL(CULL_IO, "%s: cannot read the folder: %s", folder, strerror(errno));
    cull_texts_sort(out);
done:
    if (dir) (void)closedir(dir);
    return status;
}

/* "a" and "b" are "a/b"; "" and "b" are "b". */
static cull_status below(const char *folder, const char *name, char out[CULL_DATA_PATH])
{
    cull_status status = CULL_OK;

    if (folder[0])
        TRY(cull_base_join(folder, name, out));
    else if (snprintf(out, CULL_DATA_PATH, "%s", name) >= CULL_DATA_PATH)
        FAIL(CULL_IO, "%.100s...: the name is too long", name);
done:
    return status;
}

static cull_status add_file(cull_picture_list *list, const char *path, uint32_t class)
{
    cull_status status = CULL_OK;
    size_t      bytes = strlen(path) + 1, room = list->text_room ? list->text_room : FIRST_ROOM;

    while (room - list->text_size < bytes) room *= 2;
    if (room != list->text_room) TRY(cull_base_grow(room, 1, "the names of pictures", &list->text));
    list->text_room = room;
    if (list->count == list->room) {
        room = list->room ? 2 * list->room : 64;
        TRY(cull_base_grow(room, sizeof *list->entry, "a list of pictures", &list->entry));
        list->room = room;
    }
    memcpy(list->text + list->text_size, path, bytes);
    list->entry[list->count++] = (cull_picture_entry){.path = list->text_size, .class = class};
    list->text_size += bytes;
done:
    return status;
}

/* Every file of a class, however deep. */
static cull_status add_folder(cull_picture_list *list, const char *folder, uint32_t class,
                              int depth)
{
    cull_status status = CULL_OK;
    cull_texts  names = {0};
    char        path[CULL_DATA_PATH], whole[CULL_DATA_PATH];

    if (depth > MOST_DEPTH)
        FAIL(CULL_BAD_FILE, "%s/%s: folders in folders, %d deep; is there a link to itself?",
             list->root, folder, MOST_DEPTH);
    TRY(cull_base_join(list->root, folder, whole));
    TRY(names_in(whole, &names));
    for (size_t i = 0; i < names.count; i++) {
        TRY(below(folder, names.text[i], path));
        TRY(cull_base_join(list->root, path, whole));
        switch (what_is(whole)) {
        case A_FILE: TRY(add_file(list, path, class)); break;
        case A_FOLDER: TRY(add_folder(list, path, class, depth + 1)); break;
        case NOWHERE: FAIL(CULL_BAD_FILE, "%s: a link that leads nowhere; remove it", whole);
        case ODD: FAIL(CULL_BAD_FILE, "%s: neither a file nor a folder; remove it", whole);
        }
    }
done:
    cull_texts_clear(&names);
    return status;
}

static cull_status add_class(cull_picture_list *list, const char *set, const char *name)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];

    if (!cull_text_clean(name, strlen(name)))
        FAIL(
            CULL_BAD_FILE,
            "%s: the name of class folder %zu holds a control character or is not UTF-8; rename it",
            list->root, list->classes.count);
    if (list->classes.count == CULL_DATA_MOST_CLASSES)
        FAIL(CULL_BAD_FILE, "%s: more than %d class folders", list->root, CULL_DATA_MOST_CLASSES);
    TRY(below(set, name, path));
    TRY(cull_texts_add(&list->classes, name, strlen(name)));
    TRY(add_folder(list, path, (uint32_t)list->classes.count - 1, 1));
done:
    return status;
}

static cull_status remark(cull_picture_list *list, const char *text)
{
    return cull_texts_add(&list->remarks, text, strlen(text));
}

static const char *noun(const cull_picture_list *list)
{
    return list->of ? list->of : "pictures";
}

static bool is_named(const cull_picture_list *list, const char *path)
{
    return (list->named ? list->named : cull_data_picture_named)(path);
}

/* A folder beside those of the classes whose files have none. */
static cull_status pass_over(cull_picture_list *list, const char *whole)
{
    char text[CULL_DATA_PATH + 128];

    (void)snprintf(text, sizeof text, "%s: %s/ is no class and is not read", whole,
                   list->passed_over);
    return remark(list, text);
}

/* All class folders of a set. */
static cull_status add_set(cull_picture_list *list, const char *set)
{
    cull_status status = CULL_OK;
    cull_texts  names = {0};
    char        whole[CULL_DATA_PATH], path[CULL_DATA_PATH], text[CULL_DATA_PATH + 128];
    size_t      loose = 0;

    if (set[0])
        TRY(cull_base_join(list->root, set, whole));
    else
        (void)snprintf(whole, sizeof whole, "%s", list->root);
    TRY(names_in(whole, &names));
    for (size_t i = 0; i < names.count; i++) {
        TRY(cull_base_join(whole, names.text[i], path));
        if (what_is(path) != A_FOLDER)
            loose += is_named(list, names.text[i]);
        else if (list->passed_over && strcmp(names.text[i], list->passed_over) == 0)
            TRY(pass_over(list, whole));
        else
            TRY(add_class(list, set, names.text[i]));
    }
    if (list->classes.count == 0 && loose > 0)
        FAIL(CULL_BAD_FILE,
             "%s: holds %zu %s and no folders; put those of each class into a folder of its own",
             whole, loose, noun(list));
    if (list->classes.count == 0)
        FAIL(CULL_BAD_FILE, "%s: holds no folders of %s, one for each class", whole, noun(list));
    if (loose > 0) {
        (void)snprintf(text, sizeof text, "%s: %zu %s lie in no class's folder and are left out",
                       whole, loose, noun(list));
        TRY(remark(list, text));
    }
done:
    cull_texts_clear(&names);
    return status;
}

/* ---- which set ---- */

static const char *const training[] = {"train", "training", NULL};
static const char *const testing[] = {"test", "testing", "val", "valid", "validation", NULL};

static cull_status has_folders(const char *folder, bool *out)
{
    cull_status status = CULL_OK;
    cull_texts  names = {0};
    char        path[CULL_DATA_PATH];

    TRY(names_in(folder, &names));
    *out = false;
    for (size_t i = 0; i < names.count && !*out; i++) {
        TRY(cull_base_join(folder, names.text[i], path));
        *out = what_is(path) == A_FOLDER;
    }
done:
    cull_texts_clear(&names);
    return status;
}

/* The first of `wanted` that holds class folders, as it is written here; NULL: none. A class may
 * be called train too: its folder holds pictures. */
static cull_status find_set(const char *root, const cull_texts *names, const char *const *wanted,
                            const char **out)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];
    bool        is_set = false;

    *out = NULL;
    for (; *wanted && !*out; wanted++)
        for (size_t i = 0; i < names->count && !*out; i++) {
            if (strcasecmp(names->text[i], *wanted) != 0) continue;
            TRY(cull_base_join(root, names->text[i], path));
            if (what_is(path) != A_FOLDER) continue;
            TRY(has_folders(path, &is_set));
            if (is_set) *out = names->text[i];
        }
done:
    return status;
}

/* Folders beside the two sets, which a person may take to be part of them. */
static cull_status tell_of_others(cull_picture_list *list, const cull_texts *names,
                                  const char *train, const char *test)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH], text[2 * CULL_DATA_PATH];

    for (size_t i = 0; i < names->count; i++) {
        TRY(cull_base_join(list->root, names->text[i], path));
        if (names->text[i] == train || names->text[i] == test || what_is(path) != A_FOLDER)
            continue;
        (void)snprintf(text, sizeof text, "%s: %s/ lies beside %s/ and is not read", list->root,
                       names->text[i], train);
        TRY(remark(list, text));
    }
done:
    return status;
}

static cull_status tell_of_validation(cull_picture_list *list, const char *test)
{
    char text[CULL_DATA_PATH + 128];

    (void)snprintf(text, sizeof text, "%s: holds no test set; its validation set, %s/, is taken",
                   list->root, test);
    return remark(list, text);
}

/* Below the root; "": the root itself. */
static cull_status choose_set(cull_picture_list *list, const cull_texts *names,
                              cull_picture_want want, bool nameless, const char **out)
{
    cull_status status = CULL_OK;
    const char *train = NULL, *test = NULL, *root = list->root;

    TRY(find_set(root, names, training, &train));
    TRY(find_set(root, names, testing, &test));
    *out = want == CULL_PICTURES_TRAIN ? train : test;
    if (!*out) *out = "";
    if (nameless) goto done;
    if (want == CULL_PICTURES_TEST && !test)
        FAIL_ABOUT(
            CULL_BAD_FILE, "data.test",
            "%s: holds no test set (test/ or val/%s); name another folder for it by data.test, or "
            "split one off by data.split",
            root, train ? " beside train/" : ", and train/");
    if (want == CULL_PICTURES_ALONE && train && !test)
        FAIL(CULL_BAD_FILE, "%s: holds a training set, %s/, and no test set (test/ or val/)", root,
             train);
    if (want == CULL_PICTURES_TRAIN && test && !train)
        FAIL(CULL_BAD_FILE, "%s: holds %s/ and no train/; put the classes to train on there", root,
             test);
    if (want == CULL_PICTURES_TRAIN && train) TRY(tell_of_others(list, names, train, test));
    if (want != CULL_PICTURES_TRAIN && test && cull_text_small(test[0]) == 'v')
        TRY(tell_of_validation(list, test));
done:
    return status;
}

cull_status cull_data_picture_list_read(const char *folder, cull_picture_want want, bool nameless,
                                        cull_picture_list *list)
{
    cull_status status = CULL_OK;
    cull_texts  names = {0};
    const char *set = NULL;
    size_t      length = strlen(folder);

    while (length > 1 && folder[length - 1] == '/') length--;
    TRY(cull_base_alloc(length + 1, 1, "the name of a folder", &list->root));
    memcpy(list->root, folder, length);
    TRY(names_in(list->root, &names));
    TRY(choose_set(list, &names, want, nameless, &set));
    TRY(nameless ? add_folder(list, set, 0, 1) : add_set(list, set));
done:
    cull_texts_clear(&names);
    return status;
}

void cull_data_picture_list_clear(cull_picture_list *list)
{
    cull_base_free(list->root);
    cull_base_free(list->text);
    cull_base_free(list->entry);
    cull_texts_clear(&list->classes);
    cull_texts_clear(&list->remarks);
    *list = (cull_picture_list){0};
}

const char *cull_data_picture_path(const cull_picture_list *list, size_t i)
{
    return list->text + list->entry[i].path;
}

cull_status cull_data_picture_whole(const cull_picture_list *list, size_t i,
                                    char out[CULL_DATA_PATH])
{
    return cull_base_join(list->root, cull_data_picture_path(list, i), out);
}

bool cull_data_picture_named(const char *path)
{
    static const char *const endings[] = {"jpg",  "jpeg", "jpe", "jfif", "png",  "webp",
                                          "gif",  "bmp",  "tif", "tiff", "heic", "heif",
                                          "avif", "jp2",  "ppm", "pgm"};
    const char              *dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot + 1, endings[i]) == 0) return true;
    return false;
}
