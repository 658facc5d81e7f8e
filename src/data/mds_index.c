/* data/mds_index.c - index.json of MDS shards, read with every promise checked. */
#include "data/mds_index.h"

#include <string.h>

#include "base/alloc.h"
#include "base/texts.h"
#include "data/json_text.h"

enum { VERSION = 2, MOST_NAME = 1024, MOST_ENCODING = 256, MOST_DIGITS = 10 };

/* The code in a cell is the bits, and 0 for unsigned, 1 for signed, 2 for real numbers. */
static const struct {
    const char *name, *descr;
    unsigned    code;
} elements[] = {{"uint8", "<u1", 8},  {"int8", "<i1", 9},     {"uint16", "<u2", 16},
                {"int16", "<i2", 17}, {"float16", "<f2", 18}, {"uint32", "<u4", 32},
                {"int32", "<i4", 33}, {"float32", "<f4", 34}, {"uint64", "<u8", 64},
                {"int64", "<i8", 65}, {"float64", "<f8", 66}, {"int", "<i8", 0}};
enum { ELEMENTS = sizeof elements / sizeof *elements };

static const struct {
    const char   *name;
    cull_mds_kind kind;
} kinds[] = {{"str_int", CULL_MDS_DIGITS}, {"str", CULL_MDS_TEXT},     {"bytes", CULL_MDS_BYTES},
             {"pil", CULL_MDS_RAW},        {"jpeg", CULL_MDS_PICTURE}, {"png", CULL_MDS_PICTURE}};
enum { KINDS = sizeof kinds / sizeof *kinds };

const cull_npy_form *cull_mds_form(unsigned code)
{
    for (size_t i = 0; i < ELEMENTS; i++)
        if (code && elements[i].code == code) return cull_data_npy_form(elements[i].descr, 3);
    return NULL;
}

void cull_mds_index_clear(cull_mds_index *index)
{
    for (size_t i = 0; index->column && i < index->columns; i++) {
        cull_base_free(index->column[i].name);
        cull_base_free(index->column[i].encoding);
    }
    for (size_t i = 0; index->shard && i < index->shards; i++) {
        cull_base_free(index->shard[i].raw);
        cull_base_free(index->shard[i].packed);
    }
    cull_base_free(index->column);
    cull_base_free(index->shard);
    *index = (cull_mds_index){0};
}

/* ---- columns ---- */

static const cull_npy_form *form_named(const char *name, size_t length)
{
    for (size_t i = 0; i < ELEMENTS; i++)
        if (strlen(elements[i].name) == length && memcmp(elements[i].name, name, length) == 0)
            return cull_data_npy_form(elements[i].descr, 3);
    return NULL;
}

/* "ndarray", "ndarray:uint8", "ndarray:uint8:3,32,32"; false for anything else. */
static bool parse_array(const char *text, cull_mds_column *out)
{
    const char *type = text + strlen("ndarray"), *shape = NULL;

    out->kind = CULL_MDS_ARRAY;
    if (*type == '\0') return true;
    if (*type++ != ':') return false;
    shape = strchr(type, ':');
    out->form = form_named(type, shape ? (size_t)(shape - type) : strlen(type));
    if (!out->form) return false;
    while (shape && *shape) {
        int64_t length = 0;
        size_t  digits = strspn(++shape, "0123456789");

        if (digits == 0 || digits > MOST_DIGITS || out->dims == CULL_MAX_DIMS) return false;
        for (size_t i = 0; i < digits; i++) length = 10 * length + (shape[i] - '0');
        if (length == 0) return false;
        out->shape[out->dims++] = length;
        shape += digits;
        if (*shape && *shape != ',') return false;
    }
    return true;
}

/* What cells of an encoding are, and how long they must be; 0: each sample says. */
static cull_status parse_encoding(const char *file, cull_mds_column *c, uint64_t *size)
{
    cull_status status = CULL_OK;

    *size = 0;
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(c->encoding, kinds[i].name) == 0) c->kind = kinds[i].kind;
    if (strncmp(c->encoding, "jpeg:", 5) == 0) c->kind = CULL_MDS_PICTURE; /* and its quality */
    if (strncmp(c->encoding, "ndarray", strlen("ndarray")) == 0) {
        if (!parse_array(c->encoding, c))
            FAIL(CULL_BAD_FILE,
                 "%s: column '%.64s' is encoded as '%.64s', which is no array of 1 to 4 axes", file,
                 c->name, c->encoding);
        if (c->dims) *size = c->form->bytes;
        for (int d = 0; d < c->dims; d++)
            if (__builtin_mul_overflow(*size, (uint64_t)c->shape[d], size) || *size > UINT32_MAX)
                FAIL(CULL_BAD_FILE, "%s: cells of column '%.64s' would be beyond 2^32 bytes", file,
                     c->name);
    } else if (c->kind == CULL_MDS_OTHER) {
        c->form = form_named(c->encoding, strlen(c->encoding));
        if (c->form) c->kind = CULL_MDS_NUMBER;
        if (c->form) *size = c->form->bytes;
    }
done:
    return status;
}

static cull_status take_column(const char *file, const json_t *name, const json_t *encoding,
                               const json_t *size, cull_mds_column *out)
{
    cull_status status = CULL_OK;
    json_int_t  said = json_integer_value(size);
    uint64_t    wanted = 0;

    if (!json_is_string(name) || !json_is_string(encoding) ||
        json_string_length(name) > MOST_NAME || json_string_length(encoding) > MOST_ENCODING)
        FAIL(CULL_BAD_FILE, "%s: a column's name or encoding is no text", file);
    if (!json_is_null(size) && (!json_is_integer(size) || said < 0 || said > UINT32_MAX))
        FAIL(CULL_BAD_FILE, "%s: the size of column '%.64s' is neither null nor a number", file,
             json_string_value(name));
    TRY(cull_text_copy(json_string_value(name), json_string_length(name), &out->name));
    TRY(cull_text_copy(json_string_value(encoding), json_string_length(encoding), &out->encoding));
    TRY(parse_encoding(file, out, &wanted));
    if (out->kind != CULL_MDS_OTHER && (uint64_t)said != wanted)
        FAIL(CULL_BAD_FILE, "%s: column '%.64s' ('%.64s') has cells of %lld bytes, not %llu", file,
             out->name, out->encoding, (long long)said, (unsigned long long)wanted);
    out->size = (uint32_t)said;
done:
    return status;
}

static cull_status take_columns(const char *file, const json_t *shard, cull_mds_index *out)
{
    cull_status   status = CULL_OK;
    const json_t *names = NULL, *encodings = NULL, *sizes = NULL;
    size_t        count = 0;

    TRY(cull_data_json_list(file, shard, "column_names", 1, CULL_MDS_COLUMNS, &names));
    count = json_array_size(names);
    TRY(cull_data_json_list(file, shard, "column_encodings", count, count, &encodings));
    TRY(cull_data_json_list(file, shard, "column_sizes", count, count, &sizes));
    TRY(cull_base_alloc(count, sizeof *out->column, "an index", &out->column));
    out->columns = count;
    for (size_t i = 0; i < count; i++)
        TRY(take_column(file, json_array_get(names, i), json_array_get(encodings, i),
                        json_array_get(sizes, i), &out->column[i]));
done:
    return status;
}

/* ---- shards ---- */

/* A file below the folder, and nowhere else. */
static bool is_below(const char *name)
{
    size_t length = strlen(name);

    if (length == 0 || length > MOST_NAME || name[0] == '/') return false;
    for (const char *part = name; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')) return false;
    return true;
}

static cull_status take_file(const char *file, const json_t *data, char **name, uint64_t *bytes)
{
    cull_status status = CULL_OK;
    const char *text = NULL;

    TRY(cull_data_json_string(file, data, "basename", &text));
    TRY(cull_data_json_count(file, data, "bytes", UINT32_MAX, bytes));
    if (!is_below(text))
        FAIL(CULL_BAD_FILE, "%s: '%.100s' is no file below this folder", file, text);
    TRY(cull_text_copy(text, strlen(text), name));
done:
    return status;
}

static cull_status check_packing(const char *file, const json_t *shard)
{
    const json_t *packing = json_object_get(shard, "compression");
    const char   *name = json_string_value(packing);

    if (!packing || json_is_null(packing)) return CULL_OK;
    if (name && strncmp(name, "zstd", 4) == 0 && (name[4] == '\0' || name[4] == ':'))
        return CULL_OK;
    return cull_fail(CULL_BAD_FILE,
                     "%s: shards are packed with %.32s; plain ones and zstd are read", file,
                     name ? name : "something unknown");
}

static cull_status take_shard(const char *file, const json_t *shard, const json_t *first,
                              cull_mds_index *index, cull_mds_shard *out)
{
    static const char *const same[] = {"column_names", "column_encodings", "column_sizes"};
    cull_status              status = CULL_OK;
    const char              *format = json_string_value(json_object_get(shard, "format"));
    const json_t            *packed = json_object_get(shard, "zip_data");
    uint64_t                 version = 0, samples = 0;

    if (!format || strcmp(format, "mds") != 0)
        FAIL(CULL_BAD_FILE, "%s: a shard's format is '%.32s'; mds is read", file,
             format ? format : "");
    TRY(cull_data_json_count(file, shard, "version", UINT32_MAX, &version));
    if (version != VERSION)
        FAIL(CULL_BAD_FILE, "%s: a shard of version %llu; %d is read", file,
             (unsigned long long)version, VERSION);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (!json_equal(json_object_get(shard, same[i]), json_object_get(first, same[i])))
            FAIL(CULL_BAD_FILE, "%s: shards differ in \"%s\"", file, same[i]);
    TRY(check_packing(file, shard));
    TRY(cull_data_json_count(file, shard, "samples", UINT32_MAX - 1, &samples));
    if (samples > UINT32_MAX - 1 - index->samples)
        FAIL(CULL_BAD_FILE, "%s: more than 2^32-2 samples", file);
    TRY(take_file(file, json_object_get(shard, "raw_data"), &out->raw, &out->raw_bytes));
    if (json_is_object(packed)) TRY(take_file(file, packed, &out->packed, &out->packed_bytes));
    out->samples = (uint32_t)samples;
    out->first = index->samples;
    index->samples += (size_t)samples;
done:
    return status;
}

cull_status cull_mds_index_read(const cull_data_source *source, cull_mds_index *out)
{
    cull_status   status = CULL_OK;
    const char   *file = source->name;
    json_t       *root = NULL;
    const json_t *shards = NULL, *first = NULL;
    size_t        count = 0;

    TRY(cull_data_json_read(source, &root));
    TRY(cull_data_json_list(file, root, "shards", 1, CULL_MDS_SHARDS, &shards));
    count = json_array_size(shards);
    first = json_array_get(shards, 0);
    TRY(take_columns(file, first, out));
    TRY(cull_base_alloc(count, sizeof *out->shard, "an index", &out->shard));
    for (; out->shards < count; out->shards++)
        TRY(take_shard(file, json_array_get(shards, out->shards), first, out,
                       &out->shard[out->shards]));
    if (out->samples == 0) FAIL(CULL_BAD_FILE, "%s: there are no samples", file);
done:
    if (status && out->shard) out->shards = count; /* the last, half-read, is cleared too */
    json_decref(root);
    return status;
}
