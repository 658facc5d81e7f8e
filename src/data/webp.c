/* data/webp.c - WebP pictures, by libwebp; animations are refused. */
#include <string.h>
#include <webp/decode.h>

#include "base/alloc.h"
#include "data/picture.h"

enum { HEADER = 12, CHUNK = 8, FLAGS = 20, HAS_EXIF = 8 };

static bool webp_begins(const unsigned char *data, size_t size)
{
    return size >= HEADER && memcmp(data, "RIFF", 4) == 0 && memcmp(data + 8, "WEBP", 4) == 0;
}

static cull_status told(const cull_picture_file *file, VP8StatusCode code)
{
    switch (code) {
    case VP8_STATUS_OK: return CULL_OK;
    case VP8_STATUS_OUT_OF_MEMORY:
        return cull_fail(CULL_NO_MEMORY, "%s: no memory for reading it", file->name);
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA: return cull_data_picture_damaged(file, "WebP", "cut short");
    default: return cull_data_picture_damaged(file, "WebP", "libwebp cannot decode it");
    }
}

static size_t size_at(const unsigned char *at)
{
    return at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
}

/* Chunks: name, size, that many bytes, filled up to an even number. EXIF comes behind the pixels,
 * in files whose first chunk says that it is there. */
static cull_status find_turn(const cull_picture_file *file, unsigned *turn)
{
    const unsigned char *d = file->data;
    size_t               at = HEADER, end = size_at(d + 4) + CHUNK, bytes = 0;

    if (file->size <= FLAGS || memcmp(d + HEADER, "VP8X", 4) != 0 || !(d[FLAGS] & HAS_EXIF))
        return CULL_OK;
    if (end > file->size) return cull_data_picture_damaged(file, "WebP", "cut short");
    for (; at + CHUNK <= end; at += CHUNK + bytes + bytes % 2) {
        bytes = size_at(d + at + 4);
        if (bytes > end - at - CHUNK) break;
        if (memcmp(d + at, "EXIF", 4) != 0) continue;
        *turn = cull_data_exif_turn(d + at + CHUNK, bytes);
        break;
    }
    return CULL_OK;
}

static cull_status webp_look(const cull_picture_file *file, cull_picture_head *out)
{
    cull_status           status = CULL_OK;
    WebPBitstreamFeatures found;

    TRY(told(file, WebPGetFeatures(file->data, file->size, &found)));
    if (found.has_animation)
        FAIL(CULL_BAD_FILE, "%s: a WebP animation; save the one picture of it that is meant",
             file->name);
    *out = (cull_picture_head){
        .width = (size_t)found.width, .height = (size_t)found.height, .turn = 1};
    TRY(cull_data_picture_check(file, out->width, out->height));
    TRY(find_turn(file, &out->turn));
done:
    return status;
}

static cull_status webp_read(const cull_picture_file *file, const cull_picture_head *head,
                             unsigned shrink, cull_picture *out)
{
    cull_status       status = CULL_OK;
    WebPDecoderConfig config;
    cull_picture      p = {.width = head->width, .height = head->height, .channels = 3};
    size_t            channels = 0;

    (void)shrink;
    if (!WebPInitDecoderConfig(&config))
        FAIL(CULL_UNSUPPORTED, "%s: libwebp is of another version than cull was built with",
             file->name);
    TRY(told(file, WebPGetFeatures(file->data, file->size, &config.input)));
    channels = config.input.has_alpha ? 4 : 3;
    TRY(cull_data_picture_room(&p, channels));
    config.output.colorspace = channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = (WebPRGBABuffer){.rgba = p.pixels,
                                            .stride = (int)(p.width * channels),
                                            .size = p.width * p.height * channels};
    TRY(told(file, WebPDecode(file->data, file->size, &config)));
    if (channels == 4) cull_data_picture_flatten(p.pixels, p.width * p.height, channels);
    *out = p;
    p.pixels = NULL;
done:
    cull_base_free(p.pixels);
    return status;
}

const cull_picture_kind cull_picture_webp = {
    .name = "WebP", .begins = webp_begins, .look = webp_look, .read = webp_read};
