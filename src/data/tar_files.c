/* data/tar_files.c - archives found and opened. */
#include "data/tar_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"
#include "data/format.h"

enum {
    MOST_ARCHIVES = 1 << 14,
    MOST_OPEN = 64, /* more are mapped: a process has few descriptors */
    MOST_LOOKED_AT = 10000
};

void cull_data_tar_files_clear(cull_tar_files *files)
{
    for (size_t i = 0; i < files->count; i++) cull_data_source_close(&files->source[i]);
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

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Those of a folder by name. */
static cull_status list_archives(const char *path, cull_data_role role, cull_texts *out)
{
    cull_status          status = CULL_OK;
    DIR                 *folder = opendir(path);
    const struct dirent *file = NULL;
    char                 name[CULL_DATA_PATH];

    if (!folder) FAIL(CULL_IO, "%s: cannot open: %s", path, strerror(errno));
    while ((file = readdir(folder))) {
        bool test = strncmp(file->d_name, "test", 4) == 0 || strncmp(file->d_name, "val", 3) == 0;
        if (file->d_name[0] == '.' || !cull_data_ends_with(file->d_name, ".tar")) continue;
        if (test != (role == CULL_DATA_TEST)) continue;
        if (out->count == MOST_ARCHIVES)
            FAIL(CULL_BAD_FILE, "%s: more than %d archives", path, MOST_ARCHIVES);
        TRY(cull_base_join(path, file->d_name, name));
        TRY(cull_texts_add(out, name, strlen(name)));
    }
    if (out->count) qsort(out->text, out->count, sizeof *out->text, by_name);
done:
    if (folder) (void)closedir(folder);
    return status;
}

static cull_status find_in_folder(cull_data_request *r, const cull_dataset *into, cull_texts *out)
{
    cull_status status = CULL_OK;

    if (into->like || r->role == CULL_DATA_TEST) TRY(list_archives(r->name, CULL_DATA_TEST, out));
    if (out->count == 0 && r->role == CULL_DATA_TEST) TRY(cull_data_no_test(r->name));
    if (out->count == 0) TRY(list_archives(r->name, CULL_DATA_TRAIN, out));
    if (out->count == 0)
        FAIL(CULL_BAD_FILE, "%s: holds no training set, only archives of a test set", r->name);
    r->role = CULL_DATA_TRAIN;
done:
    return status;
}

cull_status cull_data_tar_files_open(cull_data_request *r, const cull_dataset *into,
                                     cull_tar_files *out)
{
    cull_status status = CULL_OK;
    struct stat info;

    if (is_packed(r->name)) TRY(say_packed(r->name));
    if (stat(r->name, &info) == 0 && S_ISDIR(info.st_mode))
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

/* Not all of a folder with millions of other files is gone through for it. */
static bool has_archives(const char *path)
{
    const struct dirent *file = NULL;
    DIR                 *folder = opendir(path);
    bool                 found = false;

    for (size_t i = 0; folder && !found && i < MOST_LOOKED_AT && (file = readdir(folder)); i++)
        found = file->d_name[0] != '.' && cull_data_ends_with(file->d_name, ".tar");
    if (folder) (void)closedir(folder);
    return found;
}

bool cull_data_tar_fits(const char *path)
{
    return cull_data_ends_with(path, ".tar") || is_packed(path) || has_archives(path);
}
