/*
 * report/picture.c - PNG files as text, and the examples that a run found easiest and hardest.
 *
 * A PNG is a signature and chunks (length, kind, bytes, CRC-32), big-endian: IHDR, one IDAT of
 * zlib data in which every row begins with its filter (0: none), IEND.
 */
#include "report/picture.h"

#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "records/audit_file.h"

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

/* Pictures that can be shown. */
static cull_status check_size(const char *folder, const cull_tensor *images)
{
    long long height = images->shape[1], width = images->shape[2], channels = images->shape[3];

    if (height >= 1 && height <= CULL_REP_SIDE && width >= 1 && width <= CULL_REP_SIDE &&
        (channels == 1 || channels == 3))
        return CULL_OK;
    return cull_fail(CULL_BAD_FILE,
                     "%.800s/audit.npz: pictures of %lld x %lld x %lld cannot be shown", folder,
                     height, width, channels);
}

static cull_status put_picture(cull_rep_text *text, const cull_tensor *images,
                               const cull_records_example *e)
{
    cull_status status = CULL_OK;

    cull_rep_print(text, "<li%s><img alt=\"class %.0f, taken for %.0f\" width=\"64\" src=\"",
                   e->corrupted ? " class=\"harmed\"" : "", e->label, e->predicted);
    TRY(cull_rep_png(text, e->pixels, (size_t)images->shape[1], (size_t)images->shape[2],
                     (size_t)images->shape[3]));
    cull_rep_print(text, "\"><span>%.0f%s%.0f%s</span><span>", e->label,
                   e->label != e->predicted ? " ≠ " : " = ", e->predicted,
                   e->corrupted ? " <b>label changed</b>" : "");
    cull_rep_number(text, e->loss, e->loss < 0.01 ? 4 : 2);
    cull_rep_put(text, "</span></li>\n");
done:
    return status;
}

static cull_status put_kind(cull_rep_text *text, const cull_records_audit *a, int kind,
                            const char *title)
{
    cull_status status = CULL_OK;
    size_t      shown = 0;

    cull_rep_print(text, "<figure class=\"gallery\"><ul>\n");
    for (size_t i = 0; i < (size_t)a->images.shape[0] && shown < MOST_SHOWN; i++) {
        cull_records_example example = cull_records_audit_at(a, i);

        if (example.kind != kind) continue;
        TRY(put_picture(text, &a->images, &example));
        shown++;
    }
    cull_rep_print(text,
                   "</ul><figcaption>%s: below each, its class, what the network takes it "
                   "for, and its loss.</figcaption></figure>\n",
                   title);
done:
    return status;
}

cull_status cull_rep_pictures(cull_rep_text *text, const char *folder, bool *shown)
{
    cull_status        status = CULL_OK;
    cull_records_audit audit = {0};

    TRY(cull_records_audit_read(folder, &audit));
    if (!audit.images.data) goto done;
    TRY(check_size(folder, &audit.images));
    TRY(put_kind(text, &audit, 0, "Easiest examples"));
    TRY(put_kind(text, &audit, 1, "Hardest examples"));
    *shown = true;
done:
    cull_records_audit_clear(&audit);
    return status;
}
