/*
 * data/write_rows.c - inputs written a block at a time: several threads make the rows of a block,
 * one looks at them and writes them in order.
 */
#include "data/write_rows.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/threads.h"
#include "data/reader.h"
#include "tensor/tensor.h"

enum { BLOCK = 1 << 23, SENTENCE = 512 };

/* Some rows on their way. */
struct block {
    const cull_dataset *set;
    size_t              first, count;
    char               *rows; /* NULL: they lie in the set already */
    pthread_mutex_t     lock;
    size_t              failed; /* the first of the block that could not be made; count: none */
    cull_status         status;
    char                why[SENTENCE];
};

cull_tensor cull_data_inputs_view(const cull_dataset *set)
{
    if (set->height * set->width == 1)
        return cull_matrix(NULL, set->dtype, set->count, set->channels);
    return cull_images(NULL, set->dtype, set->count, set->channels, set->height, set->width);
}

cull_tensor cull_data_targets_view(const cull_dataset *set)
{
    const cull_data_target *t = &set->target;

    if (t->kind == CULL_TARGET_CLASS) return cull_vector(t->data, t->dtype, set->count);
    return cull_matrix(t->data, t->dtype, set->count, t->width);
}

/* The sentence that is kept is the first row's, whichever thread met its own first. */
static void make_row(void *context, size_t task, unsigned worker)
{
    struct block *b = context;
    size_t        bytes = cull_data_row_bytes(b->set);
    char         *to = b->rows + task * bytes;
    const void   *row = NULL;
    cull_status   status = cull_data_row_at(b->set, b->first + task, to, &row);

    (void)worker;
    if (status == CULL_OK) {
        if (row != to) memcpy(to, row, bytes);
        return;
    }
    pthread_mutex_lock(&b->lock);
    if (task < b->failed) {
        b->failed = task;
        b->status = status;
        (void)snprintf(b->why, sizeof b->why, "%s", cull_last_error());
    }
    pthread_mutex_unlock(&b->lock);
}

static bool in_order(const cull_dataset *set)
{
    if (!cull_data_base(set)) return false;
    for (size_t i = 0; i < set->count; i++)
        if (set->origin[i] != i) return false;
    return true;
}

/* Look at the rows of a block, and write them. */
static cull_status pass_on(const struct block *b, const char *rows, const cull_data_way *way)
{
    cull_status status = CULL_OK;
    size_t      bytes = cull_data_row_bytes(b->set), row = cull_data_row(b->set);

    for (size_t i = 0; i < b->count; i++) {
        const void *next = rows + i * bytes;
        if (way->sums) cull_data_add_image(b->set, next, way->sums, way->sums + b->set->channels);
        if (b->set->dtype == CULL_F32)
            TRY(cull_data_check_finite(b->set->name, next, row, b->first + i));
    }
    if (way->crc)
        *way->crc = (uint32_t)crc32_z(*way->crc, (const unsigned char *)rows, b->count * bytes);
    if (way->memory) memcpy(way->memory + b->first * bytes, rows, b->count * bytes);
    if (way->sink) TRY(cull_data_sink_write(way->sink, rows, b->count * bytes));
    if (way->tell && !way->tell(way->context, b->first + b->count))
        FAIL(CULL_STOPPED, "%s: stopped behind example %zu", b->set->name, b->first + b->count);
done:
    return status;
}

static cull_status write_blocks(struct block *b, size_t most, cull_team *team,
                                const cull_data_way *way)
{
    cull_status status = CULL_OK;
    size_t      bytes = cull_data_row_bytes(b->set);

    for (; b->first < b->set->count; b->first += b->count) {
        b->count = b->set->count - b->first < most ? b->set->count - b->first : most;
        b->failed = b->count;
        if (b->rows) {
            cull_team_run(team, b->count, make_row, b);
            if (b->status) FAIL(b->status, "%s", b->why);
            TRY(pass_on(b, b->rows, way));
        } else {
            TRY(pass_on(b, (const char *)cull_data_base(b->set) + b->first * bytes, way));
        }
    }
done:
    return status;
}

cull_status cull_data_write_inputs(const cull_dataset *set, const cull_data_way *way)
{
    cull_status  status = CULL_OK;
    struct block b = {.set = set, .lock = PTHREAD_MUTEX_INITIALIZER};
    cull_team   *team = NULL;
    size_t       bytes = cull_data_row_bytes(set), most = bytes < BLOCK ? BLOCK / bytes : 1;

    if (most > set->count) most = set->count;
    if (!in_order(set)) {
        TRY(cull_team_create(cull_data_base(set) ? 1 : way->threads, &team));
        if (most < cull_team_size(team)) most = cull_team_size(team);
        TRY(cull_base_alloc(most, bytes, "examples on their way", &b.rows));
    }
    TRY(write_blocks(&b, most, team, way));
done:
    cull_team_destroy(team);
    cull_base_free(b.rows);
    return status;
}
