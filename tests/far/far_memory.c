/*
 * tests/far/far_memory.c - one mapping, protected, handed out in pieces by first fit.
 *
 * A piece begins on a 64-byte border, which is behind at least 64 bytes of the one before that
 * belong to nobody. Which pieces there are is known on the host's side alone. All that is in no
 * array is poison, as far as there ever was one.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "far.h"

#define MAPPED ((size_t)8 << 30) /* addresses, not memory: pages are had when first touched */
enum { BORDER = 64, POISON = 0xff };

cull_status far_memory_open(struct far_memory *memory)
{
    cull_status status = CULL_OK;
    void *base = mmap(NULL, MAPPED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (base == MAP_FAILED) FAIL(CULL_NO_MEMORY, "no mapping of %zu bytes", MAPPED);
    memory->base = base;
done:
    return status;
}

void far_memory_close(struct far_memory *memory)
{
    if (memory->base) (void)munmap(memory->base, MAPPED);
    cull_base_free(memory->block);
}

void far_memory_touch(struct far_memory *memory, const void *data, size_t bytes, bool may)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t first = (size_t)((const char *)data - memory->base), end = first + bytes;

    first -= first % page;
    end += (page - end % page) % page;
    if (first < end)
        far_insist(mprotect(memory->base + first, end - first,
                            may ? PROT_READ | PROT_WRITE : PROT_NONE) == 0,
                   "a page's protection cannot be changed");
}

void far_memory_touch_all(struct far_memory *memory, bool may)
{
    far_memory_touch(memory, memory->base, memory->used, may);
}

/* The first block that does not end at or before this place. */
static size_t find(const struct far_memory *memory, size_t at)
{
    size_t low = 0, high = memory->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (memory->block[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool far_memory_holds(const struct far_memory *memory, const void *data, size_t bytes)
{
    uintptr_t base = (uintptr_t)memory->base, address = (uintptr_t)data;
    size_t    at = address - base, i = 0;

    if (bytes == 0) return true;
    if (address < base || at >= memory->used) return false;
    i = find(memory, at);
    return i < memory->count && at >= memory->block[i].at &&
           at - memory->block[i].at <= memory->block[i].bytes &&
           bytes <= memory->block[i].bytes - (at - memory->block[i].at);
}

static void insert(struct far_memory *memory, size_t i, struct far_block block)
{
    memmove(memory->block + i + 1, memory->block + i, (memory->count - i) * sizeof *memory->block);
    memory->block[i] = block;
    memory->count++;
    if (memory->used < block.end) memory->used = block.end;
}

cull_status far_memory_take(struct far_memory *memory, size_t bytes, void **out)
{
    cull_status status = CULL_OK;
    size_t      at = 0, i = 0, whole = 0;
    char       *data = NULL;

    if (bytes > MAPPED - 2 * BORDER) FAIL(CULL_NO_MEMORY, "%zu bytes are too many", bytes);
    whole = (bytes + BORDER - 1) / BORDER * BORDER + BORDER;
    while (i < memory->count && memory->block[i].at - at < whole) at = memory->block[i++].end;
    if (MAPPED - at < whole) FAIL(CULL_NO_MEMORY, "no %zu bytes are left", bytes);
    if (memory->count == memory->room) {
        size_t room = 2 * memory->room + 64;

        TRY(cull_base_grow(room, sizeof *memory->block, "arrays", &memory->block));
        memory->room = room;
    }
    insert(memory, i, (struct far_block){at, bytes, at + whole});
    data = memory->base + at;
    far_memory_touch(memory, data, whole, true);
    memset(data, 0, bytes);
    memset(data + bytes, POISON, whole - bytes);
    far_memory_touch(memory, data, whole, false);
    *out = data;
done:
    return status;
}

static bool all_poison(const char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)data[i] != POISON) return false;
    return true;
}

void far_memory_give(struct far_memory *memory, void *data)
{
    size_t           at = (size_t)((char *)data - memory->base), i = find(memory, at);
    struct far_block block = {0};

    far_insist(i < memory->count && memory->block[i].at == at,
               "what is released is no array of this backend");
    block = memory->block[i];
    far_memory_touch(memory, data, block.end - at, true);
    far_insist(all_poison((char *)data + block.bytes, block.end - at - block.bytes),
               "somebody wrote behind the array that is released");
    memset(data, POISON, block.bytes);
    far_memory_touch(memory, data, block.end - at, false);
    memory->count--;
    memmove(memory->block + i, memory->block + i + 1, (memory->count - i) * sizeof *memory->block);
}
