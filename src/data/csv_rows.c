/* data/csv_rows.c - cells as rows of a set. */
#include "data/csv_rows.h"

#include <string.h>

#include "base/alloc.h"

/* What a cell becomes. */
struct feature {
    size_t    slot, channel;
    bool      category;
    uint32_t *order; /* of categories; NULL: as they are numbered */
};

struct table {
    cull_csv_cell  *cells;
    size_t          slots, channels, features;
    struct feature *feature;
};

static cull_status read_row(const cull_data_rows *rows, uint32_t row, void *out)
{
    const struct table  *t = rows->self;
    const cull_csv_cell *cell = t->cells + row * t->slots;
    float               *to = out;

    memset(to, 0, t->channels * sizeof *to);
    for (size_t f = 0; f < t->features; f++) {
        const struct feature *is = &t->feature[f];
        uint32_t              category = cell[is->slot].category;

        if (!is->category)
            to[is->channel] = cell[is->slot].number;
        else if (category != CULL_CSV_NONE)
            to[is->channel + (is->order ? is->order[category] : category)] = 1;
    }
    return CULL_OK;
}

static void close_table(void *self)
{
    struct table *t = self;

    for (size_t f = 0; f < t->features; f++) cull_base_free(t->feature[f].order);
    cull_base_free(t->feature);
    cull_base_free(t->cells);
    cull_base_free(t);
}

static cull_status make_table(cull_csv_column *columns, size_t number, size_t channels,
                              cull_csv_cell **cells, size_t slots, size_t count,
                              cull_data_rows **out)
{
    static const cull_data_rows_class class = {
        .read = read_row, .close = close_table, .ready = true};
    cull_status   status = CULL_OK;
    struct table *t = NULL;

    TRY(cull_base_alloc(1, sizeof *t, "a data set", &t));
    t->slots = slots;
    t->channels = channels;
    TRY(cull_base_alloc(number, sizeof *t->feature, "a data set", &t->feature));
    TRY(cull_data_rows_create(&class, t, NULL, count, out));
    for (size_t c = 0; c < number; c++) {
        if (columns[c].role != CULL_CSV_FEATURE) continue;
        t->feature[t->features++] =
            (struct feature){columns[c].slot, columns[c].channel,
                             columns[c].kind == CULL_CSV_CATEGORY, columns[c].order};
        columns[c].order = NULL;
    }
    t->cells = *cells;
    *cells = NULL;
    t = NULL;
done:
    if (t) close_table(t);
    return status;
}

/* Cells that are no feature's close up. */
static void close_up(const cull_csv_column *columns, size_t number, cull_csv_cell *cells,
                     size_t slots, size_t count)
{
    size_t to = 0;

    for (size_t row = 0; row < count; row++)
        for (size_t c = 0; c < number; c++)
            if (columns[c].role == CULL_CSV_FEATURE)
                cells[to++] = cells[row * slots + columns[c].slot];
}

cull_status cull_csv_rows_create(cull_csv_column *columns, size_t number, size_t channels,
                                 cull_csv_cell **cells, size_t slots, size_t count,
                                 cull_data_rows **out)
{
    static const cull_data_rows_class class = {.close = cull_base_free};
    cull_status status = CULL_OK;
    bool        categories = false;

    for (size_t c = 0; c < number; c++)
        if (columns[c].role == CULL_CSV_FEATURE && columns[c].kind == CULL_CSV_CATEGORY)
            categories = true;
    if (categories) {
        TRY(make_table(columns, number, channels, cells, slots, count, out));
        goto done;
    }
    if (slots > channels) close_up(columns, number, *cells, slots, count);
    TRY(cull_data_rows_create(&class, *cells, *cells, count, out));
    *cells = NULL;
done:
    return status;
}
