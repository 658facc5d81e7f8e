/* fuzz/fuzz_array_folder.c - any bytes as a folder of set.json, inputs and targets: a set whose
 * every number is in bounds, or a sentence. */
#include <stdlib.h>

#include "data/array_folder.h"
#include "fuzz.h"

/* Three files, one behind the other: two bytes say how long each of the first two is. */
struct files {
    const char    *name[3];
    const uint8_t *data[3];
    size_t         bytes[3];
};

static const void *find(const cull_data_folder *folder, const char *name, size_t *bytes)
{
    const struct files *f = folder->self;

    for (size_t i = 0; i < 3; i++)
        if (strcmp(f->name[i], name) == 0) {
            *bytes = f->bytes[i];
            return f->data[i];
        }
    return NULL;
}

static struct files cut(const uint8_t *data, size_t size)
{
    struct files f = {.name = {"set.json", "x.npy", "y.npy"}};
    struct bytes b = {data, size};

    for (size_t i = 0; i < 3; i++) {
        size_t most = i < 2 ? take_below(&b, 1 << 16) : b.left;
        f.data[i] = b.data;
        f.bytes[i] = most < b.left ? most : b.left;
        b.data += f.bytes[i];
        b.left -= f.bytes[i];
    }
    return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct files      f = cut(data, size);
    cull_data_folder  folder = {.path = "fuzz", .find = find, .self = &f};
    cull_data_request request = {.unlabelled = size % 4 == 3};
    cull_dataset     *set = NULL;
    uint64_t          sum = 0;

    if (cull_data_create("fuzz", &set) != CULL_OK) return 0;
    if (cull_data_array_folder_read(&folder, &request, set) != CULL_OK) {
        if (cull_last_error()[0] == '\0') abort();
    } else {
        const uint8_t *rows = cull_data_base(set);
        if (set->count == 0 || set->rows->count != set->count) abort();
        for (size_t i = 0; i < set->count * cull_data_row_bytes(set); i++) sum += rows[i];
        for (size_t i = 0; cull_data_labels(set) && i < set->count; i++)
            if ((size_t)cull_data_labels(set)[i] >= set->classes) abort();
        if (!set->unlabelled && !cull_data_labels(set) && set->target.width != set->classes)
            abort();
        if (set->class_names.count && set->class_names.count != set->classes) abort();
        for (size_t c = 0; c < set->channels; c++)
            if (!(set->deviation[c] > 0)) abort();
        if (sum > 255 * (uint64_t)set->count * cull_data_row_bytes(set)) abort();
    }
    cull_data_close(set);
    return 0;
}
