/* fuzz/fuzz_mds.c - any bytes as a folder of MDS shards, plain and packed: a set whose every row
 * can be read or is refused, or a sentence. */
#include <stdlib.h>

#include "base/alloc.h"
#include "data/mds_set.h"
#include "fuzz.h"

enum { FILES = 3, KEEP = 1 << 16, SIDE = 8, MOST_ROW = 1 << 20 };

/* Three files, one behind the other: two bytes say how long each of the first two is. */
struct files {
    const char    *name[FILES];
    const uint8_t *data[FILES];
    size_t         bytes[FILES];
};

static const void *find(const cull_data_folder *folder, const char *name, size_t *bytes)
{
    const struct files *f = folder->self;

    for (size_t i = 0; i < FILES; i++)
        if (strcmp(f->name[i], name) == 0 && f->bytes[i]) {
            *bytes = f->bytes[i];
            return f->data[i];
        }
    return NULL;
}

static struct files cut(struct bytes *b)
{
    struct files f = {.name = {"index.json", "a.mds", "b.mds.zstd"}};

    for (size_t i = 0; i < FILES; i++) {
        size_t most = i + 1 < FILES ? take_below(b, 1 << 16) : b->left;
        f.data[i] = b->data;
        f.bytes[i] = most < b->left ? most : b->left;
        b->data += f.bytes[i];
        b->left -= f.bytes[i];
    }
    return f;
}

static void check_set(const cull_dataset *set)
{
    size_t      bytes = cull_data_row_bytes(set);
    void       *buffer = NULL;
    const void *row = NULL;

    if (set->count == 0 || set->rows->count != set->count || set->classes == 0) abort();
    if (set->class_names.count && set->class_names.count != set->classes) abort();
    for (size_t i = 0; i < set->count; i++)
        if ((size_t)cull_data_labels(set)[i] >= set->classes) abort();
    if (bytes > MOST_ROW || cull_base_alloc(1, bytes, "a row", &buffer) != CULL_OK) return;
    for (size_t i = 0; i < set->count && i < 8; i++)
        if (cull_data_row_at(set, i, buffer, &row) != CULL_OK && cull_last_error()[0] == '\0')
            abort();
    cull_base_free(buffer);
}

/* The first byte says what is asked for. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes      b = {data, size};
    uint8_t           how = 0;
    struct files      f;
    cull_data_folder  folder = {.path = "fuzz", .find = find, .self = &f};
    cull_data_request request = {.name = "fuzz"};
    cull_mds_room     room = {0};
    cull_dataset     *set = NULL;
    bool              measured = false;

    take_bytes(&b, &how, 1);
    f = cut(&b);
    request.side = how & 1 ? SIDE : 0;
    request.unlabelled = (how & 2) != 0;
    request.label = how & 4 ? "z" : NULL;
    room.unpacked = how & 8 ? KEEP : 0;
    room.rows = how & 16 ? KEEP : 0;
    if (cull_data_create("fuzz", &set) != CULL_OK) return 0;
    if (cull_data_mds_read(&folder, &request, room, set, &measured) == CULL_OK)
        check_set(set);
    else if (cull_last_error()[0] == '\0')
        abort();
    cull_data_close(set);
    return 0;
}
