/* data/tar_files.c - archives found and opened. */
#include "data/tar_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "data/format.h"
#include "data/picture_list.h"
#include "data/set_words.h"

enum {
    MOST_ARCHIVES = 1 << 14,
    MOST_OPEN = 64, /* more are mapped: a process has few descriptors */
    MOST_LOOKED_AT = 10000
};

void cull_data_tar_files_clear(cull_tar_files *files)
{
    for (size_t i = 0; files->source && i < files->count; i++)
        cull_data_source_close(&files->source[i]);
    cull_base_free(files->source);
    cull_texts_clear(&files->name);
    *files = (cull_tar_files){0};
}

static cull_status say_packed(const char *path)
{
    return cull_fail(
        CULL_BAD_FILE,
        "%s: is packed as a whole, so that no example can be read by itself; unpack it "
        "to a .tar file",
        path);
}

static bool is_packed(const char *path)
{
    static const char *const endings[] = {".tgz",    ".tar.gz",  ".tar.bz2",
                                          ".tar.xz", ".tar.zst", ".tar.lz4"};

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (cull_data_ends_with(path, endings[i])) return true;
    return false;
}

/* gzip, bzip2, xz and zstd, whatever the name is. */
static bool begins_packed(const cull_data_source *source)
{
    static const char *const magic[] = {"\x1f\x8b", "BZh", "\xfd\x37zXZ", "\x28\xb5\x2f\xfd"};
    unsigned char            head[8] = {0};

    if (source->size < sizeof head || cull_data_source_read(source, 0, head, sizeof head))
        return false;
    for (size_t i = 0; i < sizeof magic / sizeof *magic; i++)
        if (memcmp(head, magic[i], strlen(magic[i])) == 0) return true;
    return false;
}

enum { WORDS = 4 };

/* Paths of a folder's archives by the cull_set_word that is said of them, not sorted yet. */
struct found {
    cull_texts of[WORDS];
};

/* word: what is said of the folder; each archive may say it where that says nothing. */
static cull_status list_archives(const char *path, cull_set_word word, struct found *out)
{
    cull_status          status = CULL_OK;
    DIR                 *folder = opendir(path);
    const struct dirent *file = NULL;
    char                 name[CULL_DATA_PATH];

    if (!folder) FAIL(CULL_IO, "%s: cannot open: %s", path, strerror(errno));
    while ((file = readdir(folder))) {
        cull_set_word said = cull_data_set_word(file->d_name, strlen(file->d_name));
        cull_texts   *of = &out->of[word ? word : cull_data_set_word_in(file->d_name)];
        if (file->d_name[0] == '.') continue;
        TRY(cull_base_join(path, file->d_name, name));
        if (!word && said && cull_base_is_folder(name)) TRY(list_archives(name, said, out));
        if (!cull_data_ends_with(file->d_name, ".tar")) continue;
        if (of->count == MOST_ARCHIVES)
            FAIL(CULL_BAD_FILE, "%s: more than %d archives", path, MOST_ARCHIVES);
        TRY(cull_texts_add(of, name, strlen(name)));
    }
done:
    if (folder) (void)closedir(folder);
    return status;
}

static void clear_found(struct found *found)
{
    for (size_t i = 0; i < WORDS; i++) cull_texts_clear(&found->of[i]);
}

/* What is found of the wanted set; role: that of the archives themselves. */
static cull_status choose_archives(const struct found *found, cull_data_request *r,
                                   cull_dataset *into, const cull_texts **out)
{
    cull_status       status = CULL_OK;
    const cull_texts *of = found->of;
    bool apart = of[CULL_SET_TRAIN].count + of[CULL_SET_TEST].count + of[CULL_SET_VAL].count > 0;
    cull_set_word word = CULL_SET_TRAIN;

    *out = &of[CULL_SET_NEITHER];
    if (!apart) goto done; /* archives may hold both sets */
    if (r->role == CULL_DATA_TEST || into->like)
        word = of[CULL_SET_TEST].count ? CULL_SET_TEST : CULL_SET_VAL;
    if (word == CULL_SET_VAL && of[word].count)
        TRY(cull_data_remark(into, "%s: holds no test set; its validation set is taken", r->name));
    if (word != CULL_SET_TRAIN && !of[word].count && r->role == CULL_DATA_TEST)
        TRY(cull_data_say_no_test(r->name,
                                  " (archives in test/ or with test or val in their names)"));
    if (word != CULL_SET_TRAIN && !of[word].count && of[CULL_SET_TRAIN].count && !r->unlabelled)
        FAIL(CULL_BAD_FILE, "%s: holds archives of a training set and none of a test set", r->name);
    if (of[word].count) *out = &of[word];
    for (size_t i = 0; r->unlabelled && i < WORDS && (*out)->count == 0; i++) *out = &of[i];
    if ((*out)->count == 0)
        FAIL(CULL_BAD_FILE, "%s: holds no training set, only archives of a test set", r->name);
    r->role = CULL_DATA_TRAIN;
done:
    return status;
}

static cull_status find_in_folder(cull_data_request *r, cull_dataset *into, cull_texts *out)
{
    cull_status       status = CULL_OK;
    struct found      found = {0};
    const cull_texts *of = NULL;

    TRY(list_archives(r->name, CULL_SET_NEITHER, &found));
    TRY(choose_archives(&found, r, into, &of));
    TRY(cull_texts_copy(out, of));
    cull_texts_sort(out);
done:
    clear_found(&found);
    return status;
}

cull_status cull_data_tar_files_open(cull_data_request *r, cull_dataset *into, cull_tar_files *out)
{
    cull_status status = CULL_OK;

    if (is_packed(r->name)) TRY(say_packed(r->name));
    if (cull_base_is_folder(r->name))
        TRY(find_in_folder(r, into, &out->name));
    else
        TRY(cull_texts_add(&out->name, r->name, strlen(r->name)));
    TRY(cull_base_alloc(out->name.count, sizeof *out->source, "archives", &out->source));
    for (size_t i = 0; i < out->name.count; i++) {
        TRY(cull_data_source_open(out->name.text[i], &out->source[i]));
        out->count++;
        if (begins_packed(&out->source[i])) TRY(say_packed(out->name.text[i]));
        if (out->name.count > MOST_OPEN) cull_data_source_map(&out->source[i]);
    }
done:
    return status;
}

/* Of a folder with millions of other files not all is gone through for it. alone: neither pictures
 * lie there nor folders but those of archives that are called as sets are. */
static bool holds_archives(const char *path, bool alone)
{
    const struct dirent *file = NULL;
    DIR                 *folder = opendir(path);
    bool                 found = false, other = false;
    char                 name[CULL_DATA_PATH];

    for (size_t i = 0; folder && !other && i < MOST_LOOKED_AT && (file = readdir(folder)); i++) {
        bool is_set = cull_data_set_word(file->d_name, strlen(file->d_name)) != CULL_SET_NEITHER;
        int  length = snprintf(name, sizeof name, "%s/%s", path, file->d_name);
        if (file->d_name[0] == '.' || length >= (int)sizeof name) continue;
        if (alone && cull_base_is_folder(name)) {
            bool holds = is_set && holds_archives(name, false);
            found = found || holds;
            other = !holds;
        }
        other = other || (alone && cull_data_picture_named(name));
        found = found || cull_data_ends_with(file->d_name, ".tar");
    }
    if (folder) (void)closedir(folder);
    return found && !other;
}

bool cull_data_tar_fits(const char *path)
{
    if (cull_base_is_folder(path)) return holds_archives(path, true);
    return cull_data_ends_with(path, ".tar") || is_packed(path);
}
