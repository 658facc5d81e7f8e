/* data/folder.c - files of a folder, opened by their names. */
#include "data/folder.h"

#include <sys/stat.h>

#include "base/path.h"

bool cull_data_folder_has(const cull_data_folder *folder, const char *name)
{
    char        path[CULL_DATA_PATH];
    struct stat info;
    size_t      bytes = 0;

    if (folder->find) return folder->find(folder, name, &bytes) != NULL;
    return cull_base_join(folder->path, name, path) == CULL_OK && stat(path, &info) == 0 &&
           S_ISREG(info.st_mode);
}

cull_status cull_data_folder_open(const cull_data_folder *folder, const char *name,
                                  char path[CULL_DATA_PATH], cull_data_source *out)
{
    cull_status status = CULL_OK;
    const void *data = NULL;
    size_t      bytes = 0;

    TRY(cull_base_join(folder->path, name, path));
    if (!folder->find) {
        TRY(cull_data_source_open(path, out));
        goto done;
    }
    data = folder->find(folder, name, &bytes);
    if (!data) FAIL(CULL_IO, "%s: cannot open: it is not there", path);
    *out = cull_data_source_memory(path, data, bytes);
done:
    return status;
}
