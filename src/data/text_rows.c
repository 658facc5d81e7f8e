/* data/text_rows.c - texts gathered, cut into word pieces by several threads, and held as rows. */
#include "data/text_rows.h"

#include <string.h>

#include "base/alloc.h"
#include "data/tokens.h"

enum { MOST_WAITING = 4096, MOST_BYTES = 1 << 23, FEW = 64 };

cull_status cull_data_texts_begin(const cull_data_request *request, cull_text_maker *m)
{
    cull_status status = CULL_OK;

    m->name = request->name;
    m->length = request->length ? request->length : CULL_TEXT_LENGTH;
    if (!request->tokenizer)
        FAIL_OPTION("data.tokenizer",
                    "%s holds texts; name the vocabulary that cuts them into pieces: a vocab.txt, "
                    "a tokenizer.json or a model's folder that holds one",
                    request->name);
    if (m->length < CULL_TEXT_LEAST || m->length > CULL_DATA_MOST_SIDE)
        FAIL_OPTION("data.length", "%zu tokens of a text; %d to %d are possible", m->length,
                    CULL_TEXT_LEAST, CULL_DATA_MOST_SIDE);
    TRY(cull_wordpiece_open(request->tokenizer, &m->pieces));
    TRY(cull_base_alloc(MOST_WAITING, sizeof *m->end, "texts", &m->end));
    TRY(cull_base_alloc(MOST_WAITING, sizeof *m->whole, "texts", &m->whole));
done:
    return status;
}

void cull_data_texts_clear(cull_text_maker *m)
{
    cull_wordpiece_close(m->pieces);
    cull_team_destroy(m->team);
    cull_base_free(m->bytes);
    cull_base_free(m->end);
    cull_base_free(m->whole);
    cull_base_free(m->row);
    *m = (cull_text_maker){0};
}

static void encode(void *context, size_t i, unsigned worker)
{
    cull_text_maker *m = context;
    size_t           from = i ? m->end[i - 1] : 0, count = 0;
    int32_t         *row = m->row + (m->count + i) * m->length;

    (void)worker;
    if (cull_wordpiece_encode(m->pieces, m->bytes + from, m->end[i] - from, m->length, row, &count,
                              &m->whole[i]) != CULL_OK) {
        m->whole[i] = 0; /* a text has two at least */
        return;
    }
    while (count < m->length) row[count++] = CULL_TOKEN_NONE;
}

static cull_status make_rows(cull_text_maker *m)
{
    cull_status status = CULL_OK;
    size_t      room = m->rows_room, needed = m->count + m->waiting;

    if (needed > UINT32_MAX - 1) FAIL(CULL_BAD_FILE, "%s: more than 2^32-2 texts", m->name);
    if (room < needed) room = needed > room + room / 2 ? needed : room + room / 2;
    if (room > m->rows_room)
        TRY(cull_base_grow(room, m->length * sizeof *m->row, "the inputs of a data set", &m->row));
    m->rows_room = room;
done:
    return status;
}

/* Cut what waits. */
static cull_status settle(cull_text_maker *m)
{
    cull_status status = CULL_OK;

    TRY(make_rows(m));
    if (!m->team && m->waiting >= FEW) TRY(cull_team_create(0, &m->team));
    if (m->team)
        cull_team_run(m->team, m->waiting, encode, m);
    else
        for (size_t i = 0; i < m->waiting; i++) encode(m, i, 0);
    for (size_t i = 0; i < m->waiting; i++) {
        if (m->whole[i] == 0)
            FAIL(CULL_NO_MEMORY, "no memory for the pieces of a text of %zu bytes",
                 m->end[i] - (i ? m->end[i - 1] : 0));
        m->empty += m->whole[i] == CULL_TEXT_LEAST;
        m->cut += m->whole[i] > m->length;
        if (m->whole[i] > m->longest) m->longest = m->whole[i];
    }
    m->count += m->waiting;
    m->waiting = m->used = 0;
done:
    return status;
}

cull_status cull_data_texts_add(cull_text_maker *m, const char *text, size_t bytes)
{
    cull_status status = CULL_OK;
    size_t      room = m->room ? m->room : MOST_BYTES;

    if (bytes > CULL_TEXT_MOST)
        FAIL(CULL_BAD_FILE, "%s: text %zu has %zu bytes; %d are read", m->name,
             m->count + m->waiting, bytes, CULL_TEXT_MOST);
    while (room - m->used < bytes) room *= 2;
    if (room != m->room) TRY(cull_base_grow(room, 1, "texts", &m->bytes));
    m->room = room;
    if (bytes) memcpy(m->bytes + m->used, text, bytes);
    m->used += bytes;
    m->end[m->waiting++] = m->used;
    if (m->waiting == MOST_WAITING || m->used >= MOST_BYTES) TRY(settle(m));
done:
    return status;
}

/* ---- as the rows of a set ---- */

struct texts {
    int32_t          *row;
    cull_picture_list files;
};

static void close_texts(void *self)
{
    struct texts *t = self;

    if (!t) return;
    cull_base_free(t->row);
    cull_data_picture_list_clear(&t->files);
    cull_base_free(t);
}

static const char *name_of(const cull_data_rows *rows, uint32_t row)
{
    const struct texts *t = rows->self;

    return cull_data_picture_path(&t->files, row);
}

static cull_status tell(const cull_text_maker *m, cull_dataset *into)
{
    cull_status status = CULL_OK;

    if (m->empty)
        TRY(cull_data_remark(into, "%s: %zu of %zu texts have no word in them", m->name, m->empty,
                             m->count));
    if (m->cut)
        TRY(cull_data_remark(into,
                             "%s: %zu of %zu texts have more than %zu tokens, the longest %zu, and "
                             "are cut there (data.length)",
                             m->name, m->cut, m->count, m->length, m->longest));
done:
    return status;
}

cull_status cull_data_texts_end(cull_text_maker *m, cull_picture_list *files, cull_dataset *into)
{
    static const cull_data_rows_class named = {.close = close_texts, .name = name_of},
                                      numbered = {.close = close_texts};
    cull_status     status = CULL_OK;
    struct texts   *texts = NULL;
    cull_data_rows *rows = NULL;

    TRY(settle(m));
    if (m->count == 0) FAIL(CULL_BAD_FILE, "%s: holds no text", m->name);
    TRY(tell(m, into));
    TRY(cull_data_shape(into, m->name, CULL_I32, 1, m->length, 1));
    into->vocabulary = cull_wordpiece_count(m->pieces);
    TRY(cull_base_alloc(1, sizeof *texts, "a data set", &texts));
    TRY(cull_data_rows_create(files ? &named : &numbered, texts, m->row, m->count, &rows));
    texts->row = m->row;
    m->row = NULL;
    m->rows_room = 0;
    if (files) {
        texts->files = *files;
        *files = (cull_picture_list){0};
    }
    texts = NULL;
    TRY(cull_data_hold(into, m->name, rows));
done:
    cull_data_rows_release(rows);
    close_texts(texts);
    return status;
}
