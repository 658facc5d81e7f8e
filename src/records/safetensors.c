/* records/safetensors.c - reading strictly, writing plainly. */
#include "records/safetensors.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "records/json.h"
#include "tensor/tensor.h"

enum { LENGTH = 8, ALIGN = 8, MOST_HEADER = 16 << 20 };

static const struct {
    const char *name;
    cull_dtype  dtype;
} types[] = {
    {"F32", CULL_F32}, {"F64", CULL_F64}, {"I32", CULL_I32}, {"I64", CULL_I64}, {"U8", CULL_U8}};
enum { TYPES = sizeof types / sizeof *types };

static uint64_t bytes_of(const cull_tensor *tensor)
{
    uint64_t bytes = cull_dtype_size(tensor->dtype);

    for (int d = 0; d < tensor->dims; d++) bytes *= (uint64_t)tensor->shape[d];
    return bytes;
}

static void put_entry(cull_json *json, const cull_safetensor *entry, uint64_t *at)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].dtype == entry->tensor.dtype) {
            cull_json_open(json, entry->name, '{');
            cull_json_text(json, "dtype", types[i].name);
        }
    cull_json_open(json, "shape", '[');
    for (int d = 0; d < entry->tensor.dims; d++)
        cull_json_count(json, NULL, (uint64_t)entry->tensor.shape[d]);
    cull_json_close(json, ']');
    cull_json_open(json, "data_offsets", '[');
    cull_json_count(json, NULL, *at);
    *at += bytes_of(&entry->tensor);
    cull_json_count(json, NULL, *at);
    cull_json_close(json, ']');
    cull_json_close(json, '}');
}

cull_status cull_safetensors_encode(const cull_safetensor *tensors, size_t count, const char *model,
                                    cull_writer *out)
{
    cull_status status = CULL_OK;
    cull_json   json = {0};
    uint64_t    at = 0, length = 0;

    cull_json_open(&json, NULL, '{');
    cull_json_open(&json, "__metadata__", '{');
    cull_json_text(&json, "format", "pt"); /* shapes and names are as PyTorch's */
    cull_json_text(&json, "model", model);
    cull_json_close(&json, '}');
    for (size_t i = 0; i < count; i++) put_entry(&json, &tensors[i], &at);
    cull_json_close(&json, '}');
    TRY(json.status);
    while (json.bytes.size % ALIGN) TRY(cull_write(&json.bytes, " ", 1));
    length = json.bytes.size;
    TRY(cull_write(out, &length, LENGTH));
    TRY(cull_write(out, json.bytes.data, json.bytes.size));
    for (size_t i = 0; i < count; i++)
        TRY(cull_write(out, tensors[i].tensor.data, (size_t)bytes_of(&tensors[i].tensor)));
done:
    cull_json_clear(&json);
    return status;
}

/* ---- reading ---- */

struct scan {
    const char *path, *at, *end; /* the rest of the header */
    const char *data;            /* the tensors' bytes     */
    uint64_t    size;
};

/* The next character that is no white space; zero at the end. */
static char peek(struct scan *s)
{
    char next = '\0';

    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\r' || *s->at == '\n'))
        s->at++;
    if (s->at < s->end) next = *s->at;
    return next;
}

static cull_status expect(struct scan *s, char wanted)
{
    if (peek(s) != wanted)
        return cull_fail(CULL_BAD_FILE, "%s: header lacks a '%c'", s->path, wanted);
    s->at++;
    return CULL_OK;
}

/* A string into out, or over it when out is NULL. Escapes are passed over only: a name or type
 * that needs one is not read. */
static cull_status read_string(struct scan *s, char *out, size_t room)
{
    cull_status status = CULL_OK;
    size_t      length = 0;

    TRY(expect(s, '"'));
    for (; s->at < s->end && *s->at != '"'; s->at++) {
        if ((unsigned char)*s->at < 0x20)
            FAIL(CULL_BAD_FILE, "%s: a control character in the header", s->path);
        if (*s->at == '\\') {
            if (out) FAIL(CULL_BAD_FILE, "%s: an escaped name in the header", s->path);
            if (++s->at == s->end) break;
        }
        if (out && length + 1 >= room)
            FAIL(CULL_BAD_FILE, "%s: a name of more than %zu bytes", s->path, room - 1);
        if (out) out[length++] = *s->at;
    }
    if (out) out[length] = '\0';
    TRY(expect(s, '"'));
done:
    return status;
}

static cull_status read_count(struct scan *s, uint64_t *out)
{
    cull_status status = CULL_OK;
    const char *from = NULL;

    (void)peek(s);
    from = s->at;
    *out = 0;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
        if (s->at - from >= 18) FAIL(CULL_BAD_FILE, "%s: a number beyond any size", s->path);
        *out = *out * 10 + (uint64_t)(*s->at - '0');
    }
    if (s->at == from || (*from == '0' && s->at - from > 1))
        FAIL(CULL_BAD_FILE, "%s: a shape or offset that is no whole number", s->path);
done:
    return status;
}

/* "[1, 2, 3]" of at most `room` numbers. */
static cull_status read_counts(struct scan *s, uint64_t *out, int room, int *count)
{
    cull_status status = CULL_OK;

    *count = 0;
    TRY(expect(s, '['));
    while (peek(s) != ']') {
        if (*count == room)
            FAIL(CULL_BAD_FILE, "%s: a shape or range of more than %d numbers", s->path, room);
        if (*count > 0) TRY(expect(s, ','));
        TRY(read_count(s, &out[(*count)++]));
    }
    TRY(expect(s, ']'));
done:
    return status;
}

static cull_status skip_metadata(struct scan *s)
{
    cull_status status = CULL_OK;

    TRY(expect(s, '{'));
    for (bool first = true; peek(s) != '}'; first = false) {
        if (!first) TRY(expect(s, ','));
        TRY(read_string(s, NULL, 0));
        TRY(expect(s, ':'));
        TRY(read_string(s, NULL, 0));
    }
    TRY(expect(s, '}'));
done:
    return status;
}

struct entry {
    bool       typed, shaped, placed;
    cull_dtype dtype;
    uint64_t   shape[CULL_MAX_DIMS], range[2];
    int        dims;
};

static cull_status read_field(struct scan *s, struct entry *e)
{
    cull_status status = CULL_OK;
    char        key[16] = "", type[8] = "";
    int         count = 0;
    bool        known = false;

    TRY(read_string(s, key, sizeof key));
    TRY(expect(s, ':'));
    if (strcmp(key, "dtype") == 0 && !e->typed) {
        e->typed = true;
        TRY(read_string(s, type, sizeof type));
        for (size_t i = 0; i < TYPES; i++)
            if (strcmp(types[i].name, type) == 0) {
                e->dtype = types[i].dtype;
                known = true;
            }
        if (!known) FAIL(CULL_BAD_FILE, "%s: tensors of type '%s' are not read", s->path, type);
    } else if (strcmp(key, "shape") == 0 && !e->shaped) {
        e->shaped = true;
        TRY(read_counts(s, e->shape, CULL_MAX_DIMS, &e->dims));
    } else if (strcmp(key, "data_offsets") == 0 && !e->placed) {
        e->placed = true;
        TRY(read_counts(s, e->range, 2, &count));
        if (count != 2) FAIL(CULL_BAD_FILE, "%s: data_offsets are two numbers", s->path);
    } else {
        FAIL(CULL_BAD_FILE, "%s: '%s' is unknown or repeated in a tensor's entry", s->path, key);
    }
done:
    return status;
}

static cull_status make_view(struct scan *s, const struct entry *e, cull_safetensor *out)
{
    cull_status  status = CULL_OK;
    cull_tensor *t = &out->tensor;
    uint64_t     bytes = cull_dtype_size(e->dtype);

    if (!e->typed || !e->shaped || !e->placed)
        FAIL(CULL_BAD_FILE, "%s: %s lacks dtype, shape or data_offsets", s->path, out->name);
    for (int d = 0; d < e->dims; d++)
        if (__builtin_mul_overflow(bytes, e->shape[d], &bytes))
            FAIL(CULL_BAD_FILE, "%s: %s has an impossible shape", s->path, out->name);
    if (e->range[0] > e->range[1] || e->range[1] > s->size || e->range[1] - e->range[0] != bytes)
        FAIL(CULL_BAD_FILE, "%s: %s takes %llu bytes, its offsets are %llu and %llu of %llu",
             s->path, out->name, (unsigned long long)bytes, (unsigned long long)e->range[0],
             (unsigned long long)e->range[1], (unsigned long long)s->size);
    *t = (cull_tensor){.dtype = e->dtype, .dims = e->dims};
    memcpy(&t->data, &(const void *){s->data + e->range[0]}, sizeof t->data);
    for (int d = e->dims - 1; d >= 0; d--) {
        t->shape[d] = (int64_t)e->shape[d];
        t->stride[d] = d + 1 < e->dims ? t->stride[d + 1] * t->shape[d + 1] : 1;
    }
done:
    return status;
}

static cull_status read_entry(struct scan *s, cull_safetensors *out)
{
    cull_status      status = CULL_OK;
    struct entry     entry = {0};
    cull_safetensor *next = NULL;

    if (out->count == out->room) {
        size_t room = out->room ? out->room * 2 : 32;
        if (room > CULL_SAFETENSORS_MOST)
            FAIL(CULL_BAD_FILE, "%s: more than %d tensors", s->path, CULL_SAFETENSORS_MOST);
        TRY(cull_base_grow(room, sizeof *out->tensor, "a list of tensors", &out->tensor));
        out->room = room;
    }
    next = &out->tensor[out->count];
    *next = (cull_safetensor){0};
    TRY(read_string(s, next->name, sizeof next->name));
    TRY(expect(s, ':'));
    if (strcmp(next->name, "__metadata__") == 0) {
        TRY(skip_metadata(s));
        goto done;
    }
    if (cull_safetensors_find(out, next->name))
        FAIL(CULL_BAD_FILE, "%s: %s is there twice", s->path, next->name);
    TRY(expect(s, '{'));
    for (bool first = true; peek(s) != '}'; first = false) {
        if (!first) TRY(expect(s, ','));
        TRY(read_field(s, &entry));
    }
    TRY(expect(s, '}'));
    TRY(make_view(s, &entry, next));
    out->count++;
done:
    return status;
}

/* Tensors neither overlap nor leave bytes unaccounted for: as many bytes as there are, and no
 * byte is counted twice. */
static cull_status check_cover(const struct scan *s, const cull_safetensors *all)
{
    uint64_t next = 0;

    while (next < s->size) {
        uint64_t before = next;
        for (size_t i = 0; i < all->count && next == before; i++)
            if ((const char *)all->tensor[i].tensor.data == s->data + next)
                next += bytes_of(&all->tensor[i].tensor);
        if (next == before)
            return cull_fail(CULL_BAD_FILE, "%s: byte %llu of the tensors belongs to none", s->path,
                             (unsigned long long)next);
    }
    return CULL_OK;
}

static cull_status check_total(const struct scan *s, const cull_safetensors *all)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < all->count; i++) {
        uint64_t bytes = bytes_of(&all->tensor[i].tensor);
        if (__builtin_add_overflow(sum, bytes, &sum) || sum > s->size)
            return cull_fail(CULL_BAD_FILE, "%s: %s overlaps another tensor", s->path,
                             all->tensor[i].name);
    }
    return CULL_OK;
}

cull_status cull_safetensors_parse(const char *path, const void *data, size_t bytes,
                                   cull_safetensors *out)
{
    cull_status status = CULL_OK;
    struct scan s = {.path = path};
    uint64_t    length = 0;

    if (bytes < LENGTH) FAIL(CULL_BAD_FILE, "%s: %zu bytes, too short for a header", path, bytes);
    memcpy(&length, data, LENGTH);
    if (length > MOST_HEADER || length > bytes - LENGTH)
        FAIL(CULL_BAD_FILE, "%s: a header of %llu bytes in a file of %zu", path,
             (unsigned long long)length, bytes);
    s.at = (const char *)data + LENGTH;
    s.end = s.data = s.at + length;
    s.size = bytes - LENGTH - length;
    TRY(expect(&s, '{'));
    for (bool first = true; peek(&s) != '}'; first = false) {
        if (!first) TRY(expect(&s, ','));
        TRY(read_entry(&s, out));
    }
    TRY(expect(&s, '}'));
    if (peek(&s) != '\0' || s.at != s.end)
        FAIL(CULL_BAD_FILE, "%s: something stands behind the header's object", path);
    TRY(check_total(&s, out));
    TRY(check_cover(&s, out));
done:
    if (status != CULL_OK) cull_safetensors_clear(out);
    return status;
}

void cull_safetensors_clear(cull_safetensors *tensors)
{
    cull_base_free(tensors->tensor);
    *tensors = (cull_safetensors){0};
}

const cull_safetensor *cull_safetensors_find(const cull_safetensors *tensors, const char *name)
{
    for (size_t i = 0; i < tensors->count; i++)
        if (strcmp(tensors->tensor[i].name, name) == 0) return &tensors->tensor[i];
    return NULL;
}
