/*
 * report/picture.c - PNG files as text, and the examples that a run found easiest and hardest.
 *
 * A PNG is a signature and chunks (length, kind, bytes, CRC-32), big-endian: IHDR, one IDAT of
 * zlib data in which every row begins with its filter (0: none), IEND.
 */
#include "report/picture.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/alloc.h"

enum { MOST_SHOWN = 12, CHUNK = 12, HEADER = 13 };

static void put32(uint8_t *at, size_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* A chunk whose `bytes` of content are in place; returns its end. */
static uint8_t *chunk(uint8_t *at, const char *kind, size_t bytes)
{
    put32(at, bytes);
    memcpy(at + 4, kind, 4);
    put32(at + 8 + bytes, crc32(crc32(0, NULL, 0), at + 4, (uInt)(bytes + 4)));
    return at + CHUNK + bytes;
}

static void put_base64(cull_rep_text *text, const uint8_t *data, size_t bytes)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < bytes; i += 3) {
        size_t   have = bytes - i < 3 ? bytes - i : 3;
        uint32_t three = (uint32_t)data[i] << 16 | (have > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                         (have > 2 ? data[i + 2] : 0u);
        char four[4];

        for (int j = 0; j < 4; j++) four[j] = letters[three >> (18 - 6 * j) & 63];
        if (have < 3) four[3] = '=';
        if (have < 2) four[2] = '=';
        cull_rep_bytes(text, four, 4);
    }
}

cull_status cull_rep_png(cull_rep_text *text, const uint8_t *pixels, size_t height, size_t width,
                         size_t channels)
{
    static const uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

    cull_status status = CULL_OK;
    uint8_t    *rows = NULL, *file = NULL, *at = NULL;
    size_t      row = width * channels, raw = height * (row + 1);
    uLongf      packed = compressBound((uLong)raw);

    TRY(cull_base_alloc(raw, 1, "a picture", &rows));
    TRY(cull_base_alloc(sizeof signature + 3 * CHUNK + HEADER + packed, 1, "a picture", &file));
    for (size_t y = 0; y < height; y++) memcpy(rows + y * (row + 1) + 1, pixels + y * row, row);
    memcpy(file, signature, sizeof signature);
    at = file + sizeof signature;
    put32(at + 8, width);
    put32(at + 12, height);
    at[16] = 8;
    at[17] = channels == 3 ? 2 : 0;
    at = chunk(at, "IHDR", HEADER);
    if (compress2(at + 8, &packed, rows, (uLong)raw, Z_BEST_COMPRESSION) != Z_OK)
        FAIL(CULL_NO_MEMORY, "no memory for a picture");
    at = chunk(at, "IDAT", packed);
    at = chunk(at, "IEND", 0);
    cull_rep_put(text, "data:image/png;base64,");
    put_base64(text, file, (size_t)(at - file));
    status = text->status;
done:
    cull_base_free(rows);
    cull_base_free(file);
    return status;
}

struct audit {
    cull_tensor images, label, predicted, loss, kind, corrupted;
    size_t      count, height, width, channels;
};

static double value(const cull_tensor *t, size_t i)
{
    switch (t->dtype) {
    case CULL_F32: return ((const float *)t->data)[i];
    case CULL_F64: return ((const double *)t->data)[i];
    case CULL_I32: return ((const int32_t *)t->data)[i];
    case CULL_I64: return (double)((const int64_t *)t->data)[i];
    case CULL_U8: return ((const uint8_t *)t->data)[i];
    }
    return 0;
}

static cull_status get_column(const char *path, cull_arrays *arrays, const char *name, bool whole,
                              size_t count, cull_tensor *out)
{
    cull_status status = CULL_OK;

    TRY(cull_arrays_get(arrays, name, out));
    if (out->dims != 1 || (size_t)out->shape[0] != count)
        FAIL(CULL_BAD_FILE, "%s: '%s' is no vector of %zu", path, name, count);
    if (whole && (out->dtype == CULL_F32 || out->dtype == CULL_F64))
        FAIL(CULL_BAD_FILE, "%s: '%s' does not hold whole numbers", path, name);
done:
    return status;
}

static cull_status open_audit(const char *path, cull_arrays *arrays, struct audit *out)
{
    cull_status  status = CULL_OK;
    cull_tensor *images = &out->images;

    TRY(cull_arrays_get(arrays, "images", images));
    if (images->dtype != CULL_U8 || images->dims != 4)
        FAIL(CULL_BAD_FILE, "%s: 'images' is no uint8 array (n, height, width, channels)", path);
    out->count = (size_t)images->shape[0];
    out->height = (size_t)images->shape[1];
    out->width = (size_t)images->shape[2];
    out->channels = (size_t)images->shape[3];
    if (out->height < 1 || out->height > CULL_REP_SIDE || out->width < 1 ||
        out->width > CULL_REP_SIDE || (out->channels != 1 && out->channels != 3))
        FAIL(CULL_BAD_FILE, "%s: pictures of %zu x %zu x %zu cannot be shown", path, out->height,
             out->width, out->channels);
    TRY(get_column(path, arrays, "label", true, out->count, &out->label));
    TRY(get_column(path, arrays, "predicted", true, out->count, &out->predicted));
    TRY(get_column(path, arrays, "loss", false, out->count, &out->loss));
    TRY(get_column(path, arrays, "kind", true, out->count, &out->kind));
    TRY(get_column(path, arrays, "corrupted", true, out->count, &out->corrupted));
done:
    return status;
}

static cull_status put_picture(cull_rep_text *text, const struct audit *a, size_t i)
{
    cull_status status = CULL_OK;
    size_t      bytes = a->height * a->width * a->channels;
    bool        wrong = value(&a->corrupted, i) != 0;
    bool        missed = value(&a->label, i) != value(&a->predicted, i);

    cull_rep_print(text, "<li%s><img alt=\"class %.0f, taken for %.0f\" width=\"64\" src=\"",
                   wrong ? " class=\"harmed\"" : "", value(&a->label, i), value(&a->predicted, i));
    TRY(cull_rep_png(text, (const uint8_t *)a->images.data + i * bytes, a->height, a->width,
                     a->channels));
    cull_rep_print(text, "\"><span>%.0f%s%.0f%s</span><span>", value(&a->label, i),
                   missed ? " ≠ " : " = ", value(&a->predicted, i),
                   wrong ? " <b>label changed</b>" : "");
    cull_rep_number(text, value(&a->loss, i), value(&a->loss, i) < 0.01 ? 4 : 2);
    cull_rep_put(text, "</span></li>\n");
done:
    return status;
}

static cull_status put_kind(cull_rep_text *text, const struct audit *a, int kind, const char *title)
{
    cull_status status = CULL_OK;
    size_t      shown = 0;

    cull_rep_print(text, "<figure class=\"gallery\"><ul>\n");
    for (size_t i = 0; i < a->count && shown < MOST_SHOWN; i++) {
        if (value(&a->kind, i) != kind) continue;
        TRY(put_picture(text, a, i));
        shown++;
    }
    cull_rep_print(text,
                   "</ul><figcaption>%s: below each, its class, what the network takes it "
                   "for, and its loss.</figcaption></figure>\n",
                   title);
done:
    return status;
}

static bool has(const cull_arrays *arrays, const char *name)
{
    bool named = false;

    for (size_t i = 0; cull_arrays_name(arrays, i) && !named; i++)
        named = strcmp(cull_arrays_name(arrays, i), name) == 0;
    return named;
}

cull_status cull_rep_pictures(cull_rep_text *text, const char *folder, bool *shown)
{
    cull_status  status = CULL_OK;
    char         path[CULL_DATA_PATH];
    struct stat  info = {0};
    cull_arrays *arrays = NULL;
    struct audit audit = {0};
    int          length = snprintf(path, sizeof path, "%s/audit.npz", folder);

    if (length < 0 || (size_t)length >= sizeof path || stat(path, &info)) goto done;
    TRY(cull_arrays_open(path, &arrays));
    if (!has(arrays, "images")) goto done; /* features: nothing to look at */
    TRY(open_audit(path, arrays, &audit));
    TRY(put_kind(text, &audit, 0, "Easiest examples"));
    TRY(put_kind(text, &audit, 1, "Hardest examples"));
    *shown = true;
done:
    cull_arrays_close(arrays);
    return status;
}
