/* data/sink.c - writing a file under a temporary name and renaming it when it is whole. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "data/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

enum { MOST_NAMES = 1000 };

/* How much of the path is the folder, its last slash included. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* A link is followed, so that the file it names is replaced and not the link. */
static cull_status resolve_links(cull_data_sink *sink)
{
    cull_status status = CULL_OK;
    char        real[PATH_MAX];
    const char *target = realpath(sink->path, real) ? real : sink->path;

    TRY(cull_base_alloc(strlen(target) + 1, 1, "a file name", &sink->target));
    memcpy(sink->target, target, strlen(target));
done:
    return status;
}

/* Not mkstemp: it makes private files, and the mask that says better cannot be read safely
 * while other threads run. */
static cull_status open_temporary(cull_data_sink *sink)
{
    cull_status status = CULL_OK;
    size_t      folder = folder_length(sink->target), bytes = strlen(sink->target) + 48;

    TRY(cull_base_alloc(bytes, 1, "a file name", &sink->temporary));
    for (unsigned n = 0; sink->fd < 0 && n < MOST_NAMES; n++) {
        (void)snprintf(sink->temporary, bytes, "%.*s.%s.%ld-%u", (int)folder, sink->target,
                       sink->target + folder, (long)getpid(), n);
        sink->fd = open(sink->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (sink->fd < 0 && errno != EEXIST) break;
    }
    if (sink->fd < 0) {
        cull_base_free(sink->temporary);
        sink->temporary = NULL;
        FAIL(CULL_IO, "%s: cannot create: %s", sink->path, strerror(errno));
    }
done:
    return status;
}

cull_status cull_data_sink_open(const char *path, cull_data_sink *out)
{
    cull_status    status = CULL_OK;
    cull_data_sink sink = {.path = path, .fd = -1};
    struct stat    info = {0};
    bool           there = stat(path, &info) == 0;

    if (path[0] == '\0') FAIL(CULL_IO, "cannot write a file without a name");
    if (there && S_ISDIR(info.st_mode)) FAIL(CULL_IO, "%s: is a folder, not a file", path);
    if (there && !S_ISREG(info.st_mode)) {
        sink.fd = open(path, O_WRONLY | O_CLOEXEC);
        if (sink.fd < 0) FAIL(CULL_IO, "%s: cannot open: %s", path, strerror(errno));
    } else {
        TRY(resolve_links(&sink));
        TRY(open_temporary(&sink));
        if (there && fchmod(sink.fd, info.st_mode & 0777))
            FAIL(CULL_IO, "%s: cannot set permissions: %s", path, strerror(errno));
    }
    *out = sink;
    sink = (cull_data_sink){.fd = -1};
done:
    cull_data_sink_close(&sink);
    return status;
}

cull_status cull_data_sink_write(cull_data_sink *sink, const void *data, size_t bytes)
{
    cull_status          status = CULL_OK;
    const unsigned char *next = data;

    while (bytes > 0) {
        ssize_t put = write(sink->fd, next, bytes);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) FAIL(CULL_IO, "%s: cannot write: %s", sink->path, strerror(errno));
        next += put;
        bytes -= (size_t)put;
        sink->at += (uint64_t)put;
    }
done:
    return status;
}

cull_status cull_data_sink_patch(cull_data_sink *sink, uint64_t at, const void *data, size_t bytes)
{
    cull_status          status = CULL_OK;
    const unsigned char *next = data;

    while (bytes > 0) {
        ssize_t put = pwrite(sink->fd, next, bytes, (off_t)at);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) FAIL(CULL_IO, "%s: cannot write: %s", sink->path, strerror(errno));
        next += put;
        at += (uint64_t)put;
        bytes -= (size_t)put;
    }
done:
    return status;
}

/* The rename itself lies in the folder. Some file systems cannot sync one: not a failure. */
static void sync_folder(const char *temporary)
{
    char   name[4096];
    size_t length = folder_length(temporary);
    int    fd = -1;

    if (length >= sizeof name) return;
    memcpy(name, length ? temporary : ".", length ? length : 1);
    name[length ? length : 1] = '\0';
    fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd);
    (void)close(fd);
}

cull_status cull_data_sink_commit(cull_data_sink *sink)
{
    cull_status status = CULL_OK;
    int         fd = sink->fd;

    if (sink->temporary && fsync(fd))
        FAIL(CULL_IO, "%s: cannot write: %s", sink->path, strerror(errno));
    sink->fd = -1;
    if (close(fd)) FAIL(CULL_IO, "%s: cannot write: %s", sink->path, strerror(errno));
    if (sink->temporary) {
        if (rename(sink->temporary, sink->target))
            FAIL(CULL_IO, "%s: cannot rename to: %s", sink->path, strerror(errno));
        sync_folder(sink->temporary);
        cull_base_free(sink->temporary);
        sink->temporary = NULL;
    }
done:
    return status;
}

void cull_data_sink_close(cull_data_sink *sink)
{
    if (sink->path && sink->fd >= 0) (void)close(sink->fd);
    if (sink->temporary) (void)unlink(sink->temporary);
    cull_base_free(sink->temporary);
    cull_base_free(sink->target);
    *sink = (cull_data_sink){.fd = -1};
}
