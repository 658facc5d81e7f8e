/* records/files.c - files and arrays that may be missing, and lists that grow. */
#include "records/files.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"

enum { MOST_SENTENCE = 1024, MOST_BYTES = 1 << 30 };

cull_status cull_records_room(size_t count, size_t *room, size_t size, const char *what, void *list)
{
    cull_status status = CULL_OK;

    if (count < *room) goto done;
    TRY(cull_base_grow(2 * *room + 16, size, what, list));
    *room = 2 * *room + 16;
done:
    return status;
}

bool cull_records_has_array(const cull_arrays *arrays, const char *name)
{
    for (size_t i = 0; cull_arrays_name(arrays, i); i++)
        if (strcmp(cull_arrays_name(arrays, i), name) == 0) return true;
    return false;
}

cull_status cull_records_file(const char *folder, const char *name, void **data, size_t *bytes)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];
    struct stat info = {0};

    *data = NULL;
    *bytes = 0;
    TRY(cull_base_join(folder, name, path));
    if (stat(path, &info)) {
        if (errno != ENOENT && errno != ENOTDIR) FAIL(CULL_IO, "%s: %s", path, strerror(errno));
        goto done;
    }
    if (!S_ISREG(info.st_mode)) FAIL(CULL_IO, "%s: is no file", path);
    if (info.st_size > MOST_BYTES)
        FAIL(CULL_TOO_LARGE, "%s: %lld bytes, more than is read", path, (long long)info.st_size);
    TRY(cull_file_read(path, data, bytes));
done:
    return status;
}

cull_status cull_records_say(cull_records_list *list, const char *format, ...)
{
    cull_status status = CULL_OK;
    char        words[MOST_SENTENCE];
    char       *copy = NULL;
    va_list     args;

    if (list->most && list->count >= list->most) {
        list->unsaid++;
        return CULL_OK;
    }
    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);
    TRY(cull_records_room(list->count, &list->room, sizeof *list->text, "a list of problems",
                          &list->text));
    TRY(cull_base_alloc(strlen(words) + 1, 1, "a problem", &copy));
    memcpy(copy, words, strlen(words) + 1);
    list->text[list->count++] = copy;
done:
    return status;
}

void cull_records_list_clear(cull_records_list *list)
{
    for (size_t i = 0; i < list->count; i++) cull_base_free(list->text[i]);
    cull_base_free((void *)list->text);
    *list = (cull_records_list){0};
}
