/*
 * fuzz/fuzz_array_set.c - named arrays as a set, mapped and not: the same set, or a sentence.
 *
 * The input is members of an archive, each a length of its name, a length of its content and both;
 * the archive around them, which fuzz_npz is for, is made here, so that checksums are right.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "data/labels.h"
#include "data/reader.h"
#include "fuzz.h"

enum { MEMBERS = 6, LOCAL = 30, CENTRAL = 46, END = 22, ROOM = 1 << 18 };

struct archive {
    uint8_t bytes[ROOM], directory[MEMBERS * (CENTRAL + 256)];
    size_t  size, listed, members;
};

static void put(uint8_t *to, uint32_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) to[i] = (uint8_t)(value >> 8 * i);
}

/* Fields that a local and a central header share: from the version on, 26 bytes. */
static void put_shared(uint8_t *to, uint32_t crc, uint32_t size, uint32_t name)
{
    memset(to, 0, 26);
    put(to, 20, 2);
    put(to + 8, 0x21, 4); /* 1980-01-01 */
    put(to + 10, crc, 4);
    put(to + 14, size, 4);
    put(to + 18, size, 4);
    put(to + 22, name, 2);
}

static bool add_member(struct archive *a, struct bytes *input)
{
    size_t   name = 1 + take_below(input, 20), size = take_below(input, 1 << 14);
    uint8_t *local = a->bytes + a->size, *central = a->directory + a->listed;
    uint32_t crc = 0;

    if (input->left < name) return false;
    if (size > input->left - name) size = input->left - name;
    crc = (uint32_t)crc32_z(0, input->data + name, size);
    memcpy(local, "PK\3\4", 4);
    put_shared(local + 4, crc, (uint32_t)size, (uint32_t)name + 4);
    memset(central, 0, CENTRAL);
    memcpy(central, "PK\1\2", 4);
    put_shared(central + 6, crc, (uint32_t)size, (uint32_t)name + 4);
    put(central + 42, (uint32_t)a->size, 4);
    for (int i = 0; i < 2; i++) {
        uint8_t *to = i ? central + CENTRAL : local + LOCAL;
        memcpy(to, input->data, name);
        memcpy(to + name, ".npy", 4);
    }
    memcpy(local + LOCAL + name + 4, input->data + name, size);
    a->size += LOCAL + name + 4 + size;
    a->listed += CENTRAL + name + 4;
    a->members++;
    input->data += name + size;
    input->left -= name + size;
    return true;
}

static void finish(struct archive *a)
{
    uint8_t *end = a->bytes + a->size + a->listed;

    memcpy(a->bytes + a->size, a->directory, a->listed);
    memset(end, 0, END);
    memcpy(end, "PK\5\6", 4);
    put(end + 8, (uint32_t)a->members, 2);
    put(end + 10, (uint32_t)a->members, 2);
    put(end + 12, (uint32_t)a->listed, 4);
    put(end + 16, (uint32_t)a->size, 4);
    a->size += a->listed + END;
}

/* A file without a name that is written anew each time; its path. */
static const char *write_file(const struct archive *a)
{
    static int  fd = -1;
    static char path[64];

    if (fd < 0) {
        char name[] = "/tmp/cull_fuzz_XXXXXX";
        fd = mkstemp(name);
        if (fd < 0 || unlink(name)) abort();
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (ftruncate(fd, 0) || pwrite(fd, a->bytes, a->size, 0) != (ssize_t)a->size) abort();
    return path;
}

static cull_status open_set(const cull_data_request *request, uint64_t map_from,
                            const cull_dataset *like, cull_dataset **out)
{
    cull_status   status = CULL_OK;
    cull_dataset *set = NULL;

    TRY(cull_data_create("fuzz", &set));
    set->like = like;
    TRY(cull_data_array_set_read(request, map_from, set));
    TRY(cull_data_measure(set));
    set->like = NULL;
    *out = set;
    set = NULL;
done:
    cull_data_close(set);
    return status;
}

static void compare(const cull_dataset *a, const cull_dataset *b)
{
    size_t bytes = cull_data_row_bytes(a);
    char  *row = malloc(2 * bytes);

    if (!row || a->count != b->count || bytes != cull_data_row_bytes(b)) abort();
    if (a->classes != b->classes || a->channels != b->channels || a->width != b->width) abort();
    if (memcmp(a->target.data, b->target.data, a->count * cull_data_target_bytes(a)) != 0) abort();
    for (size_t i = 0; i < a->count; i++) {
        const void *x = NULL, *y = NULL;
        if (cull_data_row_at(a, i, row, &x) != CULL_OK) abort();
        if (cull_data_row_at(b, i, row + bytes, &y) != CULL_OK) abort();
        if (memcmp(x, y, bytes) != 0) abort();
        for (size_t c = 0; a->dtype == CULL_F32 && c < cull_data_row(a); c++)
            if (!isfinite(((const float *)x)[c])) abort();
        if (cull_data_labels(a) &&
            (cull_data_labels(a)[i] < 0 || (size_t)cull_data_labels(a)[i] >= a->classes))
            abort();
    }
    free(row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct archive archive;
    struct bytes          input = {data, size};
    size_t                how = take_below(&input, 1 << 16);
    cull_data_request     request = {.role = how / 9 % 2 ? CULL_DATA_TEST : CULL_DATA_TRAIN,
                                     .target = (cull_target_kind)(how % 3),
                                     .layout = (cull_data_layout)(how / 3 % 3),
                                     .unlabelled = how / 18 % 4 == 3};
    cull_dataset          train = {.classes = 5, .target.width = 2}, *read = NULL, *mapped = NULL;
    const cull_dataset   *like = how / 72 % 2 ? &train : NULL;
    cull_status           status = CULL_OK;

    archive.size = archive.listed = archive.members = 0;
    while (archive.members < MEMBERS && add_member(&archive, &input)) continue;
    finish(&archive);
    request.name = write_file(&archive);
    status = open_set(&request, UINT64_MAX, like, &read);
    if (status != CULL_OK && (read || cull_last_error()[0] == '\0')) abort();
    if (open_set(&request, 0, like, &mapped) != status) abort();
    if (status == CULL_OK) compare(read, mapped);
    cull_data_close(read);
    cull_data_close(mapped);
    return 0;
}
