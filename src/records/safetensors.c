/* records/safetensors.c - reading strictly, writing plainly. */
#include "records/safetensors.h"

#include <string.h>

#include "base/alloc.h"
#include "records/fields.h"
#include "tensor/tensor.h"

enum { LENGTH = 8, ALIGN = 8, MOST_HEADER = 16 << 20 };

static const struct {
    const char *name;
    cull_dtype  dtype;
} types[] = {{"F32", CULL_F32}, {"F64", CULL_F64}, {"I32", CULL_I32},
             {"I64", CULL_I64}, {"U8", CULL_U8},   {"BF16", CULL_BF16}};
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
                                    const cull_card *card, cull_writer *out)
{
    cull_status status = CULL_OK;
    cull_json   json = {0};
    uint64_t    at = 0, length = 0;

    cull_json_open(&json, NULL, '{');
    cull_json_open(&json, "__metadata__", '{');
    cull_json_text(&json, "format", "pt"); /* shapes and names are as PyTorch's */
    cull_json_text(&json, "model", model);
    if (card) cull_card_put(&json, card);
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

/* The tensors' bytes of a file. */
struct content {
    const char *path, *data;
    uint64_t    size;
};

/* At most `room` numbers, none of them negative. */
static cull_status take_counts(const struct content *c, const json_t *list, size_t room,
                               int64_t *out)
{
    cull_status status = CULL_OK;

    if (json_array_size(list) > room)
        FAIL(CULL_BAD_FILE, "%s: a shape or range of more than %zu numbers", c->path, room);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *count = json_array_get(list, i);
        if (!json_is_integer(count) || json_integer_value(count) < 0)
            FAIL(CULL_BAD_FILE, "%s: a shape or offset that is no whole number", c->path);
        out[i] = json_integer_value(count);
    }
done:
    return status;
}

static cull_status take_name(const struct content *c, const char *name, cull_safetensor *out)
{
    cull_status status = CULL_OK;

    if (strlen(name) >= sizeof out->name)
        FAIL(CULL_BAD_FILE, "%s: a name of more than %zu bytes", c->path, sizeof out->name - 1);
    for (const char *at = name; *at; at++)
        if (*at == '"' || *at == '\\' || (unsigned char)*at < 0x20)
            FAIL(CULL_BAD_FILE, "%s: an escaped name in the header", c->path);
    memcpy(out->name, name, strlen(name));
done:
    return status;
}

/* Type and shape, so that its bytes and strides can be counted. */
static cull_status take_shape(const struct content *c, const char *type, const json_t *shape,
                              cull_safetensor *out)
{
    cull_status  status = CULL_OK;
    cull_tensor *t = &out->tensor;
    int64_t      dense = 1, bytes = 0;
    size_t       known = 0;

    while (known < TYPES && strcmp(types[known].name, type) != 0) known++;
    if (known == TYPES)
        FAIL(CULL_BAD_FILE, "%s: tensors of type '%.8s' are not read", c->path, type);
    t->dtype = types[known].dtype;
    TRY(take_counts(c, shape, CULL_MAX_DIMS, t->shape));
    t->dims = (int)json_array_size(shape);
    for (int d = t->dims - 1; d >= 0; d--) {
        t->stride[d] = dense;
        if (__builtin_mul_overflow(dense, t->shape[d] ? t->shape[d] : 1, &dense) ||
            __builtin_mul_overflow(dense, (int64_t)cull_dtype_size(t->dtype), &bytes))
            FAIL(CULL_BAD_FILE, "%s: %s has an impossible shape", c->path, out->name);
    }
done:
    return status;
}

static cull_status take_entry(const struct content *c, const char *name, const json_t *entry,
                              cull_safetensor *out)
{
    cull_status   status = CULL_OK;
    const char   *type = json_string_value(json_object_get(entry, "dtype"));
    const json_t *shape = json_object_get(entry, "shape");
    const json_t *offsets = json_object_get(entry, "data_offsets");
    int64_t       range[2] = {0};
    uint64_t      bytes = 0;

    TRY(take_name(c, name, out));
    if (!type || !json_is_array(shape) || !json_is_array(offsets))
        FAIL(CULL_BAD_FILE, "%s: %s lacks dtype, shape or data_offsets", c->path, name);
    if (json_object_size(entry) != 3)
        FAIL(CULL_BAD_FILE, "%s: %s has more than dtype, shape and data_offsets", c->path, name);
    TRY(take_shape(c, type, shape, out));
    TRY(take_counts(c, offsets, 2, range));
    if (json_array_size(offsets) != 2)
        FAIL(CULL_BAD_FILE, "%s: data_offsets are two numbers", c->path);
    bytes = bytes_of(&out->tensor);
    if (range[0] > range[1] || (uint64_t)range[1] > c->size ||
        (uint64_t)(range[1] - range[0]) != bytes)
        FAIL(CULL_BAD_FILE, "%s: %s takes %llu bytes, its offsets are %lld and %lld of %llu",
             c->path, name, (unsigned long long)bytes, (long long)range[0], (long long)range[1],
             (unsigned long long)c->size);
    memcpy(&out->tensor.data, &(const void *){c->data + range[0]}, sizeof out->tensor.data);
done:
    return status;
}

static cull_status take_metadata(const struct content *c, json_t *metadata, cull_card *card)
{
    const char *key = NULL;
    json_t     *value = NULL;
    bool        texts = json_is_object(metadata);

    json_object_foreach(metadata, key, value) texts = texts && json_is_string(value);
    if (texts) return cull_card_take(c->path, metadata, card);
    return cull_fail(CULL_BAD_FILE, "%s: __metadata__ is no object of texts", c->path);
}

static cull_status take_header(const struct content *c, json_t *header, cull_safetensors *out)
{
    cull_status status = CULL_OK;
    const char *name = NULL;
    json_t     *entry = NULL;
    size_t      count = json_object_size(header);

    if (json_object_get(header, "__metadata__")) count--;
    if (count > CULL_SAFETENSORS_MOST)
        FAIL(CULL_BAD_FILE, "%s: more than %d tensors", c->path, CULL_SAFETENSORS_MOST);
    TRY(cull_base_alloc(count, sizeof *out->tensor, "a list of tensors", &out->tensor));
    json_object_foreach(header, name, entry)
    {
        if (strcmp(name, "__metadata__") == 0)
            TRY(take_metadata(c, entry, &out->card));
        else
            TRY(take_entry(c, name, entry, &out->tensor[out->count++]));
    }
done:
    return status;
}

/* Tensors neither overlap nor leave bytes unaccounted for: as many bytes as there are, and no
 * byte is counted twice. */
static cull_status check_cover(const struct content *c, const cull_safetensors *all)
{
    uint64_t next = 0;

    while (next < c->size) {
        uint64_t before = next;
        for (size_t i = 0; i < all->count && next == before; i++)
            if ((const char *)all->tensor[i].tensor.data == c->data + next)
                next += bytes_of(&all->tensor[i].tensor);
        if (next == before)
            return cull_fail(CULL_BAD_FILE, "%s: byte %llu of the tensors belongs to none", c->path,
                             (unsigned long long)next);
    }
    return CULL_OK;
}

static cull_status check_total(const struct content *c, const cull_safetensors *all)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < all->count; i++) {
        uint64_t bytes = bytes_of(&all->tensor[i].tensor);
        if (__builtin_add_overflow(sum, bytes, &sum) || sum > c->size)
            return cull_fail(CULL_BAD_FILE, "%s: %s overlaps another tensor", c->path,
                             all->tensor[i].name);
    }
    return CULL_OK;
}

cull_status cull_safetensors_parse(const char *path, const void *data, size_t bytes,
                                   cull_safetensors *out)
{
    cull_status    status = CULL_OK;
    struct content content = {.path = path};
    const char    *text = (const char *)data + LENGTH;
    uint64_t       length = 0;
    json_t        *header = NULL;

    if (bytes < LENGTH) FAIL(CULL_BAD_FILE, "%s: %zu bytes, too short for a header", path, bytes);
    memcpy(&length, data, LENGTH);
    if (length > MOST_HEADER || length > bytes - LENGTH)
        FAIL(CULL_BAD_FILE, "%s: a header of %llu bytes in a file of %zu", path,
             (unsigned long long)length, bytes);
    content.data = text + length;
    content.size = bytes - LENGTH - length;
    TRY(cull_records_parse(path, text, (size_t)length, JSON_ALLOW_NUL, &header));
    TRY(take_header(&content, header, out));
    TRY(check_total(&content, out));
    TRY(check_cover(&content, out));
done:
    json_decref(header);
    if (status != CULL_OK) cull_safetensors_clear(out);
    return status;
}

void cull_safetensors_clear(cull_safetensors *tensors)
{
    cull_base_free(tensors->tensor);
    cull_card_clear(&tensors->card);
    *tensors = (cull_safetensors){0};
}

const cull_safetensor *cull_safetensors_find(const cull_safetensors *tensors, const char *name)
{
    for (size_t i = 0; i < tensors->count; i++)
        if (strcmp(tensors->tensor[i].name, name) == 0) return &tensors->tensor[i];
    return NULL;
}
