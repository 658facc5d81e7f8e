/* records/log.c - files that grow and can be cut back. */
#include "records/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

cull_status cull_records_log_open(cull_records_log *log, const char *folder, const char *name,
                                  uint64_t keep)
{
    cull_status  status = CULL_OK;
    struct stat  info = {0};
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int          length = snprintf(log->path, sizeof log->path, "%s/%s", folder, name);

    log->at = keep;
    log->fd = -1;
    if (length < 0 || (size_t)length >= sizeof log->path)
        FAIL(CULL_IO, "%s: the name is too long", folder);
    log->fd = open(log->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (log->fd < 0) FAIL(CULL_IO, "%s: cannot create: %s", log->path, strerror(errno));
    if (fcntl(log->fd, F_SETLK, &lock) && (errno == EACCES || errno == EAGAIN))
        FAIL(CULL_IO, "%s: another process is writing it", log->path);
    if (fstat(log->fd, &info)) FAIL(CULL_IO, "%s: %s", log->path, strerror(errno));
    if ((uint64_t)info.st_size < keep)
        FAIL(CULL_BAD_FILE, "%s: %lld bytes, the checkpoint was made at %llu", log->path,
             (long long)info.st_size, (unsigned long long)keep);
    if (ftruncate(log->fd, (off_t)keep) || lseek(log->fd, (off_t)keep, SEEK_SET) < 0)
        FAIL(CULL_IO, "%s: cannot cut to %llu bytes: %s", log->path, (unsigned long long)keep,
             strerror(errno));
done:
    if (status != CULL_OK) cull_records_log_close(log);
    return status;
}

cull_status cull_records_log_append(cull_records_log *log, const void *data, size_t bytes)
{
    cull_status          status = CULL_OK;
    const unsigned char *next = data;

    while (bytes > 0) {
        ssize_t done_now = write(log->fd, next, bytes);
        if (done_now < 0 && errno == EINTR) continue;
        if (done_now < 0) FAIL(CULL_IO, "%s: cannot write: %s", log->path, strerror(errno));
        next += done_now;
        bytes -= (size_t)done_now;
        log->at += (uint64_t)done_now;
    }
done:
    return status;
}

cull_status cull_records_log_line(cull_records_log *log, cull_json *json)
{
    cull_json_close(json, '}');
    cull_json_line(json);
    if (json->status != CULL_OK) return json->status;
    return cull_records_log_append(log, json->bytes.data, json->bytes.size);
}

cull_status cull_records_log_sync(cull_records_log *log)
{
    if (fsync(log->fd))
        return cull_fail(CULL_IO, "%s: cannot write: %s", log->path, strerror(errno));
    return CULL_OK;
}

void cull_records_log_close(cull_records_log *log)
{
    if (log->path[0] && log->fd >= 0) (void)close(log->fd);
    log->fd = -1;
}
