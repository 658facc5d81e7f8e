/* data/rows.c - rows in memory, and the counting of who holds rows of any kind. */
#include "data/rows.h"

#include "base/alloc.h"

static const cull_data_rows_class memory = {.close = cull_base_free};

cull_status cull_data_rows_create(const cull_data_rows_class *class, void *self, void *base,
                                  size_t count, cull_data_rows **out)
{
    cull_status     status = CULL_OK;
    cull_data_rows *rows = NULL;

    TRY(cull_base_alloc(1, sizeof *rows, "a data set", &rows));
    rows->class = class;
    rows->self = self;
    rows->base = base;
    rows->count = count;
    atomic_init(&rows->holders, 1);
    *out = rows;
done:
    return status;
}

cull_status cull_data_rows_grow(cull_data_rows **rows, size_t count, size_t bytes)
{
    cull_status status = CULL_OK;

    if (!*rows) TRY(cull_data_rows_create(&memory, NULL, NULL, 0, rows));
    TRY(cull_base_grow(count, bytes, "the inputs of a data set", &(*rows)->self));
    (*rows)->base = (*rows)->self;
    (*rows)->count = count;
done:
    return status;
}

cull_data_rows *cull_data_rows_share(cull_data_rows *rows)
{
    if (rows) atomic_fetch_add(&rows->holders, 1);
    return rows;
}

void cull_data_rows_release(cull_data_rows *rows)
{
    if (!rows || atomic_fetch_sub(&rows->holders, 1) > 1) return;
    rows->class->close(rows->self);
    cull_base_free(rows);
}
