/* base/path.c - paths joined, and folders made one after the other. */
#include "base/path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

cull_status cull_base_join(const char *folder, const char *name, char out[CULL_DATA_PATH])
{
    int length = snprintf(out, CULL_DATA_PATH, "%s/%s", folder, name);

    if (length < 0 || length >= CULL_DATA_PATH)
        return cull_fail(CULL_IO, "%.100s...: the name is too long", folder);
    return CULL_OK;
}

bool cull_base_is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

cull_status cull_base_make_folders(const char *path)
{
    cull_status status = CULL_OK;
    char        part[CULL_DATA_PATH];

    if (snprintf(part, sizeof part, "%s", path) >= CULL_DATA_PATH)
        FAIL(CULL_IO, "%.100s...: the name is too long", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0777) && errno != EEXIST)
            FAIL(CULL_IO, "%s: cannot create: %s", part, strerror(errno));
        *slash = '/';
    }
done:
    return status;
}
