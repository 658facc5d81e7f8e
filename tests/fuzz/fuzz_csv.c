/*
 * fuzz/fuzz_csv.c - any bytes as a table: a set, or a sentence. A set is read once more as its own
 * test set, by the names it has got, and must be the same.
 */
#include <math.h>
#include <stdlib.h>

#include "data/reader.h"
#include "fuzz.h"

static cull_status parse(const struct bytes *input, const cull_data_request *request,
                         const cull_dataset *like, cull_dataset **out)
{
    cull_data_source file = cull_data_source_memory("fuzz", input->data, input->left);
    cull_status      status = CULL_OK;
    cull_dataset    *set = NULL;

    TRY(cull_data_create("fuzz", &set));
    set->like = like;
    TRY(cull_data_csv_parse(&file, request, set));
    TRY(cull_data_measure(set));
    set->like = NULL;
    *out = set;
    set = NULL;
done:
    cull_data_close(set);
    return status;
}

static void check(const cull_dataset *set, float *row)
{
    if (set->count == 0 || set->feature_names.count != set->channels) abort();
    if (set->class_names.count && set->class_names.count != set->classes) abort();
    for (size_t i = 0; i < set->count; i++) {
        const void *at = NULL;
        if (cull_data_row_at(set, i, row, &at) != CULL_OK) abort();
        for (size_t c = 0; c < set->channels; c++)
            if (!isfinite(((const float *)at)[c])) abort();
        if (cull_data_labels(set) &&
            (cull_data_labels(set)[i] < 0 || (size_t)cull_data_labels(set)[i] >= set->classes))
            abort();
    }
}

/* `row` has room for two. */
static void compare(const cull_dataset *a, const cull_dataset *b, bool all, float *row)
{
    const void *x = NULL, *y = NULL;
    size_t      bytes = cull_data_row_bytes(a);

    if (a->count != b->count || a->channels != b->channels || a->classes < b->classes) abort();
    if (memcmp(a->target.data, b->target.data, a->count * cull_data_target_bytes(a)) != 0) abort();
    for (size_t i = 0; all && i < a->count; i++) {
        if (cull_data_row_at(a, i, row, &x) != CULL_OK) abort();
        if (cull_data_row_at(b, i, row + a->channels, &y) != CULL_OK) abort();
        if (memcmp(x, y, bytes) != 0) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const labels[] = {NULL, "y", "a,b", "y,label"};
    struct bytes             input = {data, size};
    size_t                   how = take_below(&input, 256);
    cull_data_request        request = {.target = (cull_target_kind)(how % 3),
                                        .label = labels[how / 4 % 4],
                                        .unlabelled = how / 16 % 4 == 3,
                                        .missing =
                                     how / 64 % 2 ? CULL_MISSING_MEAN : CULL_MISSING_REFUSED};
    cull_dataset            *set = NULL, *again = NULL;
    float                   *row = NULL;

    if (parse(&input, &request, NULL, &set) != CULL_OK) {
        if (set || cull_last_error()[0] == '\0') abort();
        return 0;
    }
    row = calloc(2 * set->channels, sizeof *row);
    if (!row) abort();
    check(set, row);
    if (parse(&input, &request, set, &again) != CULL_OK) abort();
    /* A mean of what was filled in is rounded otherwise. */
    compare(set, again, request.missing == CULL_MISSING_REFUSED, row);
    free(row);
    cull_data_close(set);
    cull_data_close(again);
    return 0;
}
