/*
 * data/mat.c - reading matrices of numbers from MATLAB's level 5 files, as docs/formats.md says.
 *
 * Written by hand because libmatio reports success, with wrong or unset elements, for packed
 * data that is damaged and for files that are cut short.
 */
#include "data/mat.h"

#include <string.h>

enum {
    HEADER = 128,
    VERSION_AT = 124,
    TAG = 8,
    MOST_ELEMENTS = 64,
    COMPLEX = 0x08,
    OPAQUE = 17 /* from here on, classes that are not laid out as matrices */
};

struct tag {
    int      type;
    uint32_t bytes;
    bool     small; /* the content stands in the tag's second half */
    uint8_t  content[4];
};

static uint32_t word(const unsigned char *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

cull_status cull_data_mat_begin(const cull_data_source *source, cull_data_mat *mat)
{
    cull_status   status = CULL_OK;
    unsigned char version[4] = {0};

    if (source->size < HEADER)
        FAIL(CULL_BAD_FILE, "%s: %llu bytes, too short for a .mat file", source->name,
             (unsigned long long)source->size);
    TRY(cull_data_source_read(source, VERSION_AT, version, sizeof version));
    if (memcmp(version, "\x00\x02IM", 4) == 0)
        FAIL(CULL_BAD_FILE, "%s: a level 7.3 .mat file; save it with -v7 or -v6", source->name);
    if (memcmp(version, "\x00\x01IM", 4) != 0)
        FAIL(CULL_BAD_FILE, "%s: not a little-endian level 5 .mat file", source->name);
    mat->source = source;
    mat->at = HEADER;
done:
    return status;
}

void cull_data_mat_end(cull_data_mat *mat)
{
    cull_data_stream_end(&mat->content);
}

static cull_status read_tag(cull_data_mat *mat, struct tag *out)
{
    cull_status   status = CULL_OK;
    unsigned char bytes[TAG] = {0};
    uint32_t      first = 0;

    TRY(cull_data_stream_read(&mat->content, bytes, TAG));
    first = word(bytes);
    *out = (struct tag){.type = (int)(first & 0xffff), .bytes = first >> 16, .small = true};
    if (out->bytes == 0) {
        out->bytes = word(bytes + 4);
        out->small = false;
    } else if (out->bytes > sizeof out->content) {
        FAIL(CULL_BAD_FILE, "%s: a short element of %u bytes", mat->source->name, out->bytes);
    }
    memcpy(out->content, bytes + 4, sizeof out->content);
done:
    return status;
}

static cull_status skip_padding(cull_data_mat *mat, uint64_t bytes)
{
    unsigned char spare[TAG];

    return cull_data_stream_read(&mat->content, spare, (size_t)(-bytes & (TAG - 1)));
}

/* A whole element of the wanted type, at most `most` bytes of it. */
static cull_status read_element(cull_data_mat *mat, const char *what, int type, void *dst,
                                size_t most, size_t *bytes)
{
    cull_status status = CULL_OK;
    struct tag  tag = {0};

    TRY(read_tag(mat, &tag));
    if (tag.type != type || tag.bytes > most)
        FAIL(CULL_BAD_FILE, "%s: the %s of a matrix are %u bytes of type %d", mat->source->name,
             what, tag.bytes, tag.type);
    *bytes = tag.bytes;
    if (tag.small) {
        memcpy(dst, tag.content, tag.bytes);
        goto done;
    }
    TRY(cull_data_stream_read(&mat->content, dst, tag.bytes));
    TRY(skip_padding(mat, tag.bytes));
done:
    return status;
}

static cull_status read_head(cull_data_mat *mat, cull_data_matrix *out)
{
    cull_status   status = CULL_OK;
    unsigned char bytes[4 * CULL_DATA_MAT_DIMS] = {0};
    size_t        count = 0;
    struct tag    tag = {0};

    TRY(read_element(mat, "flags", CULL_DATA_MI_UINT32, bytes, TAG, &count));
    if (count != TAG) FAIL(CULL_BAD_FILE, "%s: the flags of a matrix are cut", mat->source->name);
    out->kind = bytes[0];
    out->complex = bytes[1] & COMPLEX;
    if (out->kind == 0 || out->kind >= OPAQUE)
        FAIL(CULL_BAD_FILE, "%s: holds an object of class %d", mat->source->name, out->kind);
    TRY(read_element(mat, "dimensions", CULL_DATA_MI_INT32, bytes, sizeof bytes, &count));
    if (count % 4) FAIL(CULL_BAD_FILE, "%s: the dimensions of a matrix", mat->source->name);
    out->dims = (int)(count / 4);
    for (int d = 0; d < out->dims; d++) {
        out->shape[d] = word(bytes + 4 * d);
        if (out->shape[d] > INT32_MAX)
            FAIL(CULL_BAD_FILE, "%s: a dimension is negative", mat->source->name);
    }
    TRY(read_element(mat, "name", CULL_DATA_MI_INT8, out->name, sizeof out->name - 1, &count));
    if (mat->content.left == 0) goto done;
    TRY(read_tag(mat, &tag));
    out->type = tag.type;
    out->bytes = tag.bytes;
    mat->has_small = tag.small;
    mat->small_at = 0;
    mat->small_count = (unsigned char)tag.bytes;
    memcpy(mat->small, tag.content, sizeof mat->small);
done:
    return status;
}

cull_status cull_data_mat_next(cull_data_mat *mat, cull_data_matrix *out, bool *more)
{
    cull_status   status = CULL_OK;
    unsigned char bytes[TAG] = {0};
    uint32_t      type = 0, size = 0;
    const char   *name = mat->source->name;

    *out = (cull_data_matrix){0};
    *more = mat->at < mat->source->size;
    if (!*more) goto done;
    if (++mat->seen > MOST_ELEMENTS)
        FAIL(CULL_BAD_FILE, "%s: more than %d matrices", name, MOST_ELEMENTS);
    TRY(cull_data_source_read(mat->source, mat->at, bytes, TAG));
    mat->at += TAG;
    type = word(bytes);
    size = word(bytes + 4);
    if (type != CULL_DATA_MI_MATRIX && type != CULL_DATA_MI_PACKED)
        FAIL(CULL_BAD_FILE, "%s: an element of type %u; matrices (14, 15) are read", name, type);
    if (size > mat->source->size - mat->at)
        FAIL(CULL_BAD_FILE, "%s: cut short, an element of %u bytes has %llu left", name, size,
             (unsigned long long)(mat->source->size - mat->at));
    cull_data_stream_end(&mat->content);
    mat->content = cull_data_part(mat->source, mat->at, size);
    mat->at += size;
    if (type == CULL_DATA_MI_PACKED) {
        TRY(cull_data_stream_unpack(&mat->content, CULL_DATA_ZLIB));
        TRY(cull_data_stream_read(&mat->content, bytes, TAG));
        mat->content.left = word(bytes + 4);
        if (word(bytes) != CULL_DATA_MI_MATRIX)
            FAIL(CULL_BAD_FILE, "%s: packed, and no matrix", name);
    }
    TRY(read_head(mat, out));
done:
    return status;
}

cull_status cull_data_mat_read(cull_data_mat *mat, void *dst, size_t bytes)
{
    if (!mat->has_small) return cull_data_stream_read(&mat->content, dst, bytes);
    if (bytes > (size_t)(mat->small_count - mat->small_at))
        return cull_fail(CULL_BAD_FILE, "%s: a matrix ends before its parts do", mat->source->name);
    memcpy(dst, mat->small + mat->small_at, bytes);
    mat->small_at = (unsigned char)(mat->small_at + bytes);
    return CULL_OK;
}

cull_status cull_data_mat_finish(cull_data_mat *mat, const cull_data_matrix *matrix)
{
    cull_status status = CULL_OK;

    if (!mat->has_small && mat->content.left) TRY(skip_padding(mat, matrix->bytes));
    if (mat->content.left)
        FAIL(CULL_BAD_FILE, "%s: %llu bytes too many in the matrix '%s'", mat->source->name,
             (unsigned long long)mat->content.left, matrix->name);
    TRY(cull_data_stream_finish(&mat->content));
done:
    return status;
}
