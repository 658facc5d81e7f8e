/* records/files.c - files that may be missing, and lists of sentences. */
#include "records/files.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"

enum { MOST_SENTENCE = 1024, MOST_BYTES = 1 << 30 };

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

    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);
    if (list->count == list->room) {
        size_t room = 2 * list->room + 8;
        TRY(cull_base_grow(room, sizeof *list->text, "a list of problems", &list->text));
        list->room = room;
    }
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
