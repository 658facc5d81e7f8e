/* base/path.c - paths joined, and folders made one after the other. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "base/path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

/* "a/b" becomes "a", "/a" becomes "/" and "a" becomes ".". */
static void leave_name(char path[CULL_DATA_PATH])
{
    char *slash = strrchr(path, '/');

    if (slash)
        slash[slash == path] = '\0';
    else
        (void)snprintf(path, CULL_DATA_PATH, ".");
}

static bool same_place(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The folder of a file that is there: of what a link names, as that is written over. */
static bool leave_file(char path[CULL_DATA_PATH])
{
    char real[PATH_MAX];

    if (!realpath(path, real) || snprintf(path, CULL_DATA_PATH, "%s", real) >= CULL_DATA_PATH)
        return false;
    leave_name(path);
    return true;
}

/* Told by what is there, as one folder has many names: from the path, or the first above it that
 * there is, upwards until nothing is above. */
bool cull_base_lies_in(const char *path, const char *folder)
{
    char        part[CULL_DATA_PATH], above[CULL_DATA_PATH];
    struct stat wanted, here, below;

    if (stat(folder, &wanted) || snprintf(part, sizeof part, "%s", path) >= CULL_DATA_PATH)
        return false;
    while (stat(part, &here)) {
        if (strcmp(part, ".") == 0 || strcmp(part, "/") == 0) return false;
        leave_name(part);
    }
    if (same_place(&here, &wanted)) return true;
    if (!S_ISDIR(here.st_mode) && !leave_file(part)) return false;
    for (bool top = false; !top; top = same_place(&here, &below)) {
        if (stat(part, &below)) return false;
        if (same_place(&below, &wanted)) return true;
        if (snprintf(above, sizeof above, "%s/..", part) >= CULL_DATA_PATH) return false;
        memcpy(part, above, sizeof part);
        if (stat(part, &here)) return false;
    }
    return false;
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
