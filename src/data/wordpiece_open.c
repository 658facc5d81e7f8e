/* data/wordpiece_open.c - tokenizers from the files they are published as. */
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "data/folder.h"
#include "data/format.h"
#include "data/wordpiece_parts.h"

enum { MOST_WORD = 100, MARKS = 5 };

/* What BERT's own vocabularies call the marks; the last may be missing. */
static const char *const names[MARKS] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

static const cull_wordpiece_rules uncased = {
    .clean = true, .chinese = true, .accents = true, .lower = true, .most_word = MOST_WORD};

cull_status cull_wordpiece_room(cull_wordpiece *w, size_t marks, size_t bytes)
{
    cull_status status = CULL_OK;

    TRY(cull_base_alloc(marks, sizeof *w->mark, "a tokenizer", &w->mark));
    TRY(cull_base_alloc(bytes, 1, "a tokenizer", &w->mark_bytes));
done:
    return status;
}

void cull_wordpiece_add(cull_wordpiece *w, const char *text, size_t length, int32_t number)
{
    size_t at = w->marks++;
    char  *own = w->mark_bytes;

    for (size_t i = 0; i < at; i++) own += w->mark[i].length;
    memcpy(own, text, length);
    for (; at > 0 && w->mark[at - 1].length < length; at--) w->mark[at] = w->mark[at - 1];
    w->mark[at] = (cull_wordpiece_mark){own, length, number};
    w->begins[(unsigned char)text[0]] = true;
}

static cull_status add_lines(const char *name, cull_wordpiece *w, size_t bytes)
{
    cull_status       status = CULL_OK;
    const cull_piece *before = NULL;
    int32_t           line = 0;

    for (size_t at = 0; at < bytes; line++) {
        const char *text = w->pieces.bytes + at, *end = memchr(text, '\n', bytes - at);
        size_t      length = end ? (size_t)(end - text) : bytes - at;

        at += length + 1;
        if (length > 0 && text[length - 1] == '\r') length--;
        cull_vocabulary_add(&w->pieces, text, length, line, &before);
        if (before)
            FAIL(CULL_BAD_FILE, "%s: line %d has the piece of line %d again", name, line + 1,
                 before->number + 1);
    }
done:
    return status;
}

/* The marks by their usual names, where they are among the pieces. */
static cull_status add_marks(const char *name, cull_wordpiece *w)
{
    cull_status status = CULL_OK;
    int32_t     number[MARKS];
    size_t      bytes = 0;

    for (size_t m = 0; m < MARKS; m++) bytes += strlen(names[m]);
    TRY(cull_wordpiece_room(w, MARKS, bytes));
    for (size_t m = 0; m < MARKS; m++) {
        number[m] = cull_wordpiece_find(w, names[m]);
        if (number[m] < 0 && m < MARKS - 1)
            FAIL(CULL_BAD_FILE, "%s: no piece is %s: this is no vocabulary of BERT's", name,
                 names[m]);
        if (number[m] >= 0) cull_wordpiece_add(w, names[m], strlen(names[m]), number[m]);
    }
    w->unknown = number[1];
    w->first = number[2];
    w->last = number[3];
done:
    return status;
}

static cull_status parse_lines(const char *name, const void *data, size_t bytes,
                               const cull_wordpiece_rules *rules, cull_wordpiece **out)
{
    cull_status     status = CULL_OK;
    cull_wordpiece *w = NULL;
    size_t          lines = 1;

    for (size_t i = 0; i < bytes; i++) lines += ((const char *)data)[i] == '\n';
    if (lines > CULL_VOCABULARY_MOST)
        FAIL(CULL_BAD_FILE, "%s: %zu lines; %d pieces are the most", name, lines,
             CULL_VOCABULARY_MOST);
    TRY(cull_base_alloc(1, sizeof *w, "a vocabulary", &w));
    w->rules = *rules;
    TRY(cull_vocabulary_room(&w->pieces, lines, bytes));
    if (bytes) memcpy(w->pieces.bytes, data, bytes);
    TRY(add_lines(name, w, bytes));
    TRY(add_marks(name, w));
    *out = w;
    w = NULL;
done:
    cull_wordpiece_close(w);
    return status;
}

cull_status cull_wordpiece_parse(const char *name, const void *data, size_t bytes,
                                 cull_wordpiece **out)
{
    return parse_lines(name, data, bytes, &uncased, out);
}

static cull_status open_lines(const char *path, const cull_wordpiece_rules *rules,
                              cull_wordpiece **out)
{
    cull_status status = CULL_OK;
    void       *data = NULL;
    size_t      bytes = 0;

    TRY(cull_file_read(path, &data, &bytes));
    TRY(parse_lines(path, data, bytes, rules, out));
done:
    cull_bytes_release(data);
    return status;
}

static cull_status open_json(const char *path, cull_wordpiece **out)
{
    cull_status      status = CULL_OK;
    cull_data_source source = {.fd = -1};

    TRY(cull_data_source_open(path, &source));
    TRY(cull_tokenizer_json_parse(&source, out));
done:
    cull_data_source_close(&source);
    return status;
}

/* A model's folder, as it is published: one file says all, or a list of pieces and another how. */
static cull_status open_folder(const char *path, cull_wordpiece **out)
{
    cull_status          status = CULL_OK;
    cull_data_folder     folder = {.path = path};
    cull_data_source     source = {.fd = -1};
    cull_wordpiece_rules rules = uncased;
    char                 file[CULL_DATA_PATH];

    if (cull_data_folder_has(&folder, "tokenizer.json")) {
        TRY(cull_data_folder_open(&folder, "tokenizer.json", file, &source));
        TRY(cull_tokenizer_json_parse(&source, out));
        goto done;
    }
    if (!cull_data_folder_has(&folder, "vocab.txt"))
        FAIL(CULL_BAD_FILE, "%s: holds no tokenizer: neither tokenizer.json nor vocab.txt", path);
    if (cull_data_folder_has(&folder, "tokenizer_config.json")) {
        TRY(cull_data_folder_open(&folder, "tokenizer_config.json", file, &source));
        TRY(cull_tokenizer_config_parse(&source, &rules));
    }
    TRY(cull_base_join(path, "vocab.txt", file));
    TRY(open_lines(file, &rules, out));
done:
    cull_data_source_close(&source);
    return status;
}

cull_status cull_wordpiece_open(const char *path, cull_wordpiece **out)
{
    if (cull_base_is_folder(path)) return open_folder(path, out);
    if (cull_data_ends_with(path, ".json")) return open_json(path, out);
    return open_lines(path, &uncased, out);
}

void cull_wordpiece_close(cull_wordpiece *w)
{
    if (!w) return;
    cull_vocabulary_clear(&w->pieces);
    cull_base_free(w->mark);
    cull_base_free(w->mark_bytes);
    cull_base_free(w);
}
