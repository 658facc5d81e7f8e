/* data/source.c - reading files and memory by offset, with every bound checked. */
#include "data/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

enum { FIRST_ROOM = 1 << 16 };

/* A pipe has no length to check promises against, so it becomes memory first. */
static cull_status read_to_end(cull_data_source *source)
{
    cull_status    status = CULL_OK;
    unsigned char *data = NULL;
    size_t         size = 0, room = FIRST_ROOM;

    TRY(cull_base_grow(room, 1, "a file", &data));
    for (;;) {
        ssize_t got = read(source->fd, data + size, room - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) FAIL(CULL_IO, "%s: cannot read: %s", source->name, strerror(errno));
        if (got == 0) break;
        size += (size_t)got;
        if (size < room) continue;
        TRY(cull_base_grow(room * 2, 1, "a file", &data));
        room *= 2;
    }
    (void)close(source->fd);
    source->fd = -1;
    source->memory = data;
    source->owned = data;
    source->size = size;
    data = NULL;
done:
    cull_base_free(data);
    return status;
}

cull_status cull_data_source_open(const char *path, cull_data_source *out)
{
    cull_status      status = CULL_OK;
    cull_data_source source = {.name = path, .fd = -1};
    struct stat      info = {0};

    source.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (source.fd < 0) FAIL(CULL_IO, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(source.fd, &info)) FAIL(CULL_IO, "%s: cannot look at: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode)) FAIL(CULL_IO, "%s: is a folder, not a file", path);
    if (S_ISREG(info.st_mode))
        source.size = (uint64_t)info.st_size;
    else
        TRY(read_to_end(&source));
    *out = source;
    source = (cull_data_source){.fd = -1};
done:
    cull_data_source_close(&source);
    return status;
}

void cull_data_source_close(cull_data_source *source)
{
    if (source->fd >= 0) (void)close(source->fd);
    if (source->map) (void)munmap(source->map, (size_t)source->size);
    cull_base_free(source->owned);
    *source = (cull_data_source){.fd = -1};
}

void cull_data_source_map(cull_data_source *source)
{
    void *map = MAP_FAILED;

    if (source->fd < 0) return;
    map = mmap(NULL, (size_t)source->size, PROT_READ, MAP_PRIVATE, source->fd, 0);
    if (map == MAP_FAILED) return;
    (void)close(source->fd);
    source->fd = -1;
    source->memory = source->map = map;
}

bool cull_data_source_scatter(const cull_data_source *source)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    if (!source->map || pages < 1 || page < 1) return false;
    if (source->size / (uint64_t)page < (uint64_t)pages / 2) return false;
    return posix_madvise(source->map, (size_t)source->size, POSIX_MADV_RANDOM) == 0;
}

void cull_data_source_ahead(const cull_data_source *source, const void *data, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE),
           at = (size_t)((const char *)data - (char *)source->map);
    size_t first = at / page * page;

    (void)posix_madvise((char *)source->map + first, at + bytes - first, POSIX_MADV_WILLNEED);
}

bool cull_data_source_holds(const cull_data_source *source, const void *data)
{
    uintptr_t map = (uintptr_t)source->map, at = (uintptr_t)data;

    return map && at >= map && at - map < source->size;
}

cull_data_source cull_data_source_memory(const char *name, const void *data, size_t bytes)
{
    return (cull_data_source){.name = name, .fd = -1, .memory = data, .size = bytes};
}

cull_status cull_data_source_read(const cull_data_source *source, uint64_t at, void *dst,
                                  size_t bytes)
{
    cull_status    status = CULL_OK;
    unsigned char *next = dst;

    if (at > source->size || bytes > source->size - at)
        FAIL(CULL_BAD_FILE, "%s: %llu bytes, but something is promised at %llu to %llu",
             source->name, (unsigned long long)source->size, (unsigned long long)at,
             (unsigned long long)at + bytes);
    if (source->fd < 0) {
        if (bytes) memcpy(dst, source->memory + at, bytes);
        goto done;
    }
    while (bytes > 0) {
        ssize_t got = pread(source->fd, next, bytes, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) FAIL(CULL_IO, "%s: cannot read: %s", source->name, strerror(errno));
        if (got == 0) FAIL(CULL_IO, "%s: became shorter while it was read", source->name);
        next += got;
        at += (uint64_t)got;
        bytes -= (size_t)got;
    }
done:
    return status;
}
