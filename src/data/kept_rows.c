/* data/kept_rows.c - a set's rows made once, in memory. */
#include "data/kept_rows.h"

#include <unistd.h>

#include "base/alloc.h"
#include "data/reader.h"
#include "data/write_rows.h"

enum { MEMORY_SHARE = 8 };
#define MOST_MEMORY ((uint64_t)1 << 30)

struct kept {
    cull_data_rows *made_by; /* who knows their names */
    void           *memory;
};

uint64_t cull_data_most_kept(void)
{
    long     pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t most = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / MEMORY_SHARE : 0;

    return most < MOST_MEMORY ? most : MOST_MEMORY;
}

static void close_kept(void *self)
{
    struct kept *k = self;

    if (!k) return;
    cull_data_rows_release(k->made_by);
    cull_base_free(k->memory);
    cull_base_free(k);
}

static const char *name_kept(const cull_data_rows *rows, uint32_t row)
{
    const struct kept *k = rows->self;

    return k->made_by->class->name(k->made_by, row);
}

cull_status cull_data_remark_unkept(cull_dataset *set, const char *path)
{
    double bytes = (double)set->count * (double)cull_data_row_bytes(set);

    if (set->once) return CULL_OK;
    return cull_data_remark(set,
                            "%s: its examples take %.1f GiB once they are decoded, more than is "
                            "kept in memory, and are read anew in every epoch; cull data convert "
                            "writes them once",
                            path, bytes / (double)(1 << 30));
}

static bool tell(void *context, uint64_t done)
{
    const cull_dataset *set = context;

    return set->once->tell(set->once->context, done, set->count);
}

cull_status cull_data_keep_rows(cull_dataset *set, uint64_t most, unsigned threads, bool *measured)
{
    static const cull_data_rows_class plain = {.close = close_kept},
                                      named = {.close = close_kept, .name = name_kept};
    cull_status     status = CULL_OK;
    struct kept    *k = NULL;
    cull_data_rows *rows = NULL;
    uint64_t       *sums = NULL;
    size_t          bytes = cull_data_row_bytes(set);

    if (cull_data_base(set)) goto done;
    if (set->count > most / bytes) {
        TRY(cull_data_remark_unkept(set, set->name));
        goto done;
    }
    TRY(cull_base_alloc(1, sizeof *k, "a data set", &k));
    TRY(cull_base_grow(set->count, bytes, "the inputs of a data set", &k->memory));
    if (set->dtype == CULL_U8)
        TRY(cull_base_alloc(2 * set->channels, sizeof *sums, "measuring a data set", &sums));
    TRY(cull_data_write_inputs(set,
                               &(cull_data_way){.memory = k->memory,
                                                .sums = sums,
                                                .threads = threads,
                                                .tell = set->once && set->once->tell ? tell : NULL,
                                                .context = set}));
    TRY(cull_data_rows_create(set->rows->class->name ? &named : &plain, k, k->memory, set->count,
                              &rows));
    k->made_by = set->rows;
    k = NULL;
    set->rows = rows;
    if (sums) cull_data_settle_images(set, sums, sums + set->channels);
    *measured = sums != NULL;
done:
    cull_base_free(sums);
    close_kept(k);
    return status;
}
