/* data/tokens.c - rows of numbers of word pieces. */
#include "data/tokens.h"

#include "base/alloc.h"

size_t cull_data_tokens(const int32_t *row, size_t length)
{
    size_t low = 0, high = length; /* tokens come first, so that the border is looked for */

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (row[middle] >= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static cull_status check_row(const cull_dataset *set, const char *path, const int32_t *row,
                             size_t example)
{
    cull_status status = CULL_OK;
    size_t      length = set->height, count = cull_data_tokens(row, length);

    if (count == 0) FAIL(CULL_BAD_FILE, "%s: example %zu has no token", path, example);
    for (size_t i = 0; i < length; i++)
        if ((row[i] < 0) != (i >= count) || (i < count && (size_t)row[i] >= set->vocabulary))
            FAIL(CULL_BAD_FILE, "%s: token %zu of example %zu is %d, of a vocabulary of %zu", path,
                 i, example, row[i], set->vocabulary);
done:
    return status;
}

/* Rows are read one after another, into a buffer where they do not lie in memory. */
static cull_status each(const cull_dataset *set, const char *path, uint64_t *all, size_t *most)
{
    cull_status status = CULL_OK;
    void       *buffer = NULL;
    const void *row = NULL;

    if (!cull_data_base(set)) TRY(cull_base_alloc(1, cull_data_row_bytes(set), "a text", &buffer));
    for (size_t i = 0; i < set->count; i++) {
        size_t count = 0;

        TRY(cull_data_row_at(set, i, buffer, &row));
        if (path) TRY(check_row(set, path, row, i));
        count = cull_data_tokens(row, set->height);
        *all += count;
        if (count > *most) *most = count;
    }
done:
    cull_base_free(buffer);
    return status;
}

cull_status cull_data_tokens_check(const cull_dataset *set, const char *path)
{
    uint64_t all = 0;
    size_t   most = 0;

    return each(set, path, &all, &most);
}

cull_status cull_data_tokens_count(const cull_dataset *set, uint64_t *all, size_t *most)
{
    *all = 0;
    *most = 0;
    return each(set, NULL, all, most);
}
