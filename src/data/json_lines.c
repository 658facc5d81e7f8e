/*
 * data/json_lines.c - texts as JSON objects, one a line, as docs/formats.md says.
 *
 * Labels are read by the rules of tables: what stands there is the cell.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "data/format.h"
#include "data/json_text.h"
#include "data/text_table.h"

enum { FIRST_ROOM = 1 << 16, MOST_LABELS = 1 << 16, NUMBER = 40 };

static const char *const usual[] = {"label", "class", "target", "y", NULL};

struct lines {
    const cull_data_request *request;
    cull_csv                 at; /* name and line, for the sentences that tables have, too */
    cull_data_stream         stream;
    char                    *window;
    size_t                   from, end, room;
    bool                     ended;
    const char              *text;
    cull_texts               label; /* the fields that are learned */
    cull_text_table          table;
};

/* ---- lines ---- */

static cull_status refill(struct lines *l)
{
    cull_status status = CULL_OK;
    size_t      got = 0;

    memmove(l->window, l->window + l->from, l->end - l->from);
    l->end -= l->from;
    l->from = 0;
    if (l->end == l->room) {
        if (l->room >= CULL_TEXT_MOST)
            FAIL(CULL_BAD_FILE, "%s: line %llu is longer than %d bytes", l->at.name,
                 (unsigned long long)l->at.line + 1, CULL_TEXT_MOST);
        TRY(cull_base_grow(l->room * 2, 1, "JSON lines", &l->window));
        l->room *= 2;
    }
    TRY(cull_data_stream_some(&l->stream, l->window + l->end, l->room - l->end, &got));
    l->end += got;
    l->ended = got == 0;
done:
    return status;
}

static bool is_blank(const char *line, size_t length)
{
    size_t i = 0;

    while (i < length && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r')) i++;
    return i == length;
}

/* The next line with something in it; *line NULL: there is none. */
static cull_status next_line(struct lines *l, const char **line, size_t *length)
{
    cull_status status = CULL_OK;
    const char *feed = NULL;

    for (*line = NULL; !*line;) {
        feed = l->end > l->from ? memchr(l->window + l->from, '\n', l->end - l->from) : NULL;
        if (!feed && !l->ended) {
            TRY(refill(l));
            continue;
        }
        if (!feed && l->from == l->end) break;
        *line = l->window + l->from;
        *length = feed ? (size_t)(feed - *line) : l->end - l->from;
        l->from += *length + (feed != NULL);
        l->at.line++;
        if (is_blank(*line, *length)) *line = NULL;
    }
done:
    return status;
}

/* ---- fields ---- */

/* A label as a cell of a table would have it. */
static cull_status cell_of(struct lines *l, const json_t *value, const char *name,
                           char room[NUMBER], cull_csv_field *out)
{
    cull_status status = CULL_OK;
    const char *text = room;

    room[0] = '\0';
    if (json_is_string(value))
        text = json_string_value(value);
    else if (json_is_boolean(value))
        text = json_is_true(value) ? "1" : "0";
    else if (json_is_integer(value))
        (void)snprintf(room, NUMBER, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        (void)snprintf(room, NUMBER, "%.17g", json_real_value(value));
    else if (value && !json_is_null(value))
        FAIL(CULL_BAD_FILE, "%s: line %llu: \"%.40s\" is neither a text nor a number", l->at.name,
             (unsigned long long)l->at.line, name);
    if (json_is_string(value) && strlen(text) != json_string_length(value))
        FAIL(CULL_BAD_FILE, "%s: line %llu: \"%.40s\" holds a zero character", l->at.name,
             (unsigned long long)l->at.line, name);
    *out = (cull_csv_field){.text = text, .length = strlen(text), .quoted = json_is_string(value)};
done:
    return status;
}

static cull_status add_label(struct lines *l, const char *name, size_t length, cull_dataset *into)
{
    cull_status status = CULL_OK;

    TRY(cull_texts_add(&l->label, name, length));
    TRY(cull_texts_add(&into->label_names, name, length));
done:
    return status;
}

/* One of those that are asked for. */
static cull_status ask_for(struct lines *l, const char *name, size_t length, cull_dataset *into)
{
    cull_status status = CULL_OK;
    char        shown[CULL_TEXT_SHOWN];

    if (length == 0) FAIL_OPTION("data.label", "a name between its commas is missing");
    if (strlen(l->text) == length && memcmp(l->text, name, length) == 0)
        FAIL_OPTION("data.label", "\"%s\" of %s holds the texts; name the field to be learned",
                    cull_text_show(name, length, shown), l->at.name);
    for (size_t i = 0; i < l->label.count; i++)
        if (strlen(l->label.text[i]) == length && memcmp(l->label.text[i], name, length) == 0)
            FAIL_OPTION("data.label", "names \"%s\" twice", cull_text_show(name, length, shown));
    TRY(add_label(l, name, length, into));
done:
    return status;
}

/* With commas between, and blanks. */
static cull_status ask_for_all(struct lines *l, const char *names, cull_dataset *into)
{
    cull_status status = CULL_OK;

    for (const char *next = names;; next++) {
        size_t length = 0;

        while (*next == ' ') next++;
        length = strcspn(next, ",");
        while (length && next[length - 1] == ' ') length--;
        TRY(ask_for(l, next, length, into));
        next += strcspn(next, ",");
        if (*next == '\0') break;
    }
done:
    return status;
}

/* By the first line. */
static cull_status find_labels(struct lines *l, const json_t *first, cull_dataset *into)
{
    cull_status              status = CULL_OK;
    const cull_data_request *r = l->request;

    if (into->like && into->like->label_names.count) {
        const cull_texts *names = &into->like->label_names;

        for (size_t i = 0; i < names->count; i++)
            TRY(add_label(l, names->text[i], strlen(names->text[i]), into));
    } else if (r->label) {
        TRY(ask_for_all(l, r->label, into));
    } else {
        for (size_t k = 0; usual[k] && !l->label.count; k++)
            if (json_object_get(first, usual[k]))
                TRY(add_label(l, usual[k], strlen(usual[k]), into));
        if (!l->label.count && !r->unlabelled)
            FAIL_OPTION("data.label",
                        "line %llu of %s has no label, class, target or y; name the field that is "
                        "learned",
                        (unsigned long long)l->at.line, l->at.name);
    }
    if (l->label.count > MOST_LABELS)
        FAIL_OPTION("data.label", "%zu fields; %d are the most", l->label.count, MOST_LABELS);
    if (l->label.count > 1 && r->target == CULL_TARGET_CLASS && !r->unlabelled)
        FAIL_OPTION("data.label",
                    "%zu fields; a class is one, several are learned with "
                    "model.loss=binary-cross-entropy or squared-error",
                    l->label.count);
    TRY(cull_csv_labels_begin(&l->at, r, l->label.count, into, &l->table.labels));
done:
    return status;
}

static cull_status take_object(struct lines *l, const json_t *object)
{
    cull_status      status = CULL_OK;
    cull_text_table *t = &l->table;
    const json_t    *text = json_object_get(object, l->text);
    cull_csv_field   cell = {0};
    char             room[NUMBER];

    if (!json_is_string(text))
        FAIL_OPTION("data.text", "line %llu of %s has no text \"%.40s\"; name the field that does",
                    (unsigned long long)l->at.line, l->at.name, l->text);
    TRY(cull_text_table_room(t));
    for (size_t i = 0; i < t->labels.width; i++) {
        const char *name = l->label.text[i];

        TRY(cell_of(l, json_object_get(object, name), name, room, &cell));
        TRY(cull_csv_labels_take(&l->at, &t->labels, name, &cell, t->rows, i));
    }
    TRY(cull_data_texts_add(&t->maker, json_string_value(text), json_string_length(text)));
    t->rows++;
done:
    return status;
}

static cull_status take_line(struct lines *l, const char *line, size_t length, cull_dataset *into)
{
    cull_status  status = CULL_OK;
    json_error_t error = {0};
    json_t      *object = json_loadb(line, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);

    if (!object && json_error_code(&error) == json_error_out_of_memory)
        FAIL(CULL_NO_MEMORY, "no memory for a JSON object");
    if (!json_is_object(object))
        FAIL(CULL_BAD_FILE, "%s: line %llu is no JSON object%s%s", l->at.name,
             (unsigned long long)l->at.line, object ? "" : ": ", object ? "" : error.text);
    if (l->table.rows == 0) TRY(find_labels(l, object, into));
    TRY(take_object(l, object));
done:
    json_decref(object);
    return status;
}

cull_status cull_data_json_lines_parse(const cull_data_source  *file,
                                       const cull_data_request *request, cull_dataset *into)
{
    cull_status       status = CULL_OK;
    struct lines      l = {.request = request, .at.name = file->name, .room = FIRST_ROOM};
    cull_data_request named = *request;
    const char       *line = NULL;
    size_t            length = 0;

    named.name = file->name;
    l.text = request->text ? request->text : CULL_TEXT_FIELD;
    TRY(cull_data_texts_begin(&named, &l.table.maker));
    TRY(cull_base_grow(l.room, 1, "JSON lines", &l.window));
    TRY(cull_data_stream_open(file, &l.stream));
    TRY(refill(&l));
    if (l.end >= 3 && memcmp(l.window, "\xef\xbb\xbf", 3) == 0) l.from = 3;
    for (;;) {
        TRY(next_line(&l, &line, &length));
        if (!line) break;
        TRY(take_line(&l, line, length, into));
    }
    if (l.table.rows == 0) FAIL(CULL_BAD_FILE, "%s: is empty", l.at.name);
    TRY(cull_text_table_finish(&l.at, &l.table, into));
done:
    cull_data_stream_end(&l.stream);
    cull_text_table_clear(&l.table);
    cull_texts_clear(&l.label);
    cull_base_free(l.window);
    return status;
}

/* ---- the format ---- */

static bool is_json_lines(const char *path)
{
    return cull_data_ends_with(path, ".jsonl") || cull_data_ends_with(path, ".jsonl.gz") ||
           cull_data_ends_with(path, ".ndjson") || cull_data_ends_with(path, ".ndjson.gz");
}

static cull_status read_json_lines(const cull_data_request *request, cull_dataset *into,
                                   bool *measured)
{
    cull_status      status = CULL_OK;
    cull_data_source file = {.fd = -1};

    if (request->role == CULL_DATA_TEST) TRY(cull_data_say_no_test(request->name, ""));
    TRY(cull_data_source_open(request->name, &file));
    TRY(cull_data_json_lines_parse(&file, request, into));
    *measured = true;
done:
    cull_data_source_close(&file);
    return status;
}

const cull_data_format cull_data_json_lines_format = {
    .doc = "paths ending in .jsonl or .ndjson",
    .takes = CULL_DATA_TAKES_LABEL | CULL_DATA_TAKES_TARGET | CULL_DATA_TAKES_TEXT |
             CULL_DATA_TAKES_PIECES,
    .fits = is_json_lines,
    .read = read_json_lines};
