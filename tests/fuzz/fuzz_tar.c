/* fuzz/fuzz_tar.c - any bytes as a tar archive, as a list of files and as a set: what is found lies
 * in the archive, and a set's every number is in bounds, or there is a sentence. */
#include <stdlib.h>

#include "base/alloc.h"
#include "data/reader.h"
#include "data/tar.h"
#include "data/tar_set.h"
#include "fuzz.h"

enum { KEEP = 1 << 16, MOST_SIDE = 16 };

static void check_list(const cull_data_source *source)
{
    cull_tar_list list = {0};

    if (cull_data_tar_list(source, 0, &list) != CULL_OK && cull_last_error()[0] == '\0') abort();
    for (size_t i = 0; i < list.count; i++) {
        const cull_tar_member *m = &list.member[i];
        if (cull_data_tar_name(&list, i)[0] == '\0') abort();
        if (m->at > source->size || m->size > source->size - m->at) abort();
    }
    cull_data_tar_clear(&list);
}

static void check_set(const cull_dataset *set)
{
    if (set->count == 0 || set->rows->count != set->count || set->classes == 0) abort();
    for (size_t i = 0; i < set->count; i++) {
        if ((size_t)cull_data_labels(set)[i] >= set->classes) abort();
        if (cull_data_name_at(set, i)[0] == '\0') abort();
    }
    if (set->class_names.count && set->class_names.count != set->classes) abort();
}

/* The first byte says what is asked for. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned         how = size ? data[0] : 0;
    cull_data_source source =
        cull_data_source_memory("fuzz.tar", data + (size > 0), size - (size > 0));
    cull_data_request request = {.name = "fuzz.tar",
                                 .role = how & 1 ? CULL_DATA_TEST : CULL_DATA_TRAIN,
                                 .side = how & 2 ? MOST_SIDE : 0,
                                 .label = how & 4 ? "id" : NULL,
                                 .unlabelled = (how & 8) != 0};
    cull_tar_files    files = {0};
    cull_dataset     *set = NULL;
    bool              measured = false;

    check_list(&source);
    if (cull_base_alloc(1, sizeof *files.source, "archives", &files.source) != CULL_OK) return 0;
    files.source[0] = source;
    files.count = 1;
    if (cull_data_create("fuzz", &set) == CULL_OK) {
        if (cull_data_tar_read(&files, &request, how & 16 ? KEEP : 0, set, &measured) == CULL_OK)
            check_set(set);
        else if (cull_last_error()[0] == '\0')
            abort();
    }
    cull_data_tar_files_clear(&files);
    cull_data_close(set);
    return 0;
}
