/* tests/pictures.h - pictures for tests, written by the libraries that read them. */
#ifndef CULL_TESTS_PICTURES_H
#define CULL_TESTS_PICTURES_H

#include <stdio.h>
// clang-format off
#include <jpeglib.h>
// clang-format on
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <webp/encode.h>

#include "data/picture.h"
#include "support.h"

/* A file in memory, freed by drop(). */
struct made {
    unsigned char *data;
    size_t         size;
};

static inline void drop(struct made *m)
{
    free(m->data);
    *m = (struct made){0};
}

static inline cull_picture_file file_of(const struct made *m)
{
    return (cull_picture_file){.name = "made", .data = m->data, .size = m->size};
}

/* ---- PNG ---- */

struct png_form {
    size_t               width, height;
    int                  type, bits; /* PNG_COLOR_TYPE_*; pixels of 16 bits are big-endian */
    bool                 interlaced;
    const png_color     *palette; /* [colours] */
    int                  colours;
    const png_byte      *opacity; /* [opacities] of a palette                              */
    int                  opacities;
    const png_color_16  *clear; /* the colour that is clear                              */
    const unsigned char *exif;
    size_t               exif_size;
};

static inline void png_put(png_structp png, png_bytep data, size_t bytes)
{
    struct made *m = png_get_io_ptr(png);

    m->data = realloc(m->data, m->size + bytes);
    assert_non_null(m->data);
    memcpy(m->data + m->size, data, bytes);
    m->size += bytes;
}

/* rows: as libpng takes them, `row` bytes each. */
static inline struct made make_png(const struct png_form *f, const unsigned char *rows, size_t row)
{
    struct made m = {0};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop   info = png_create_info_struct(png);
    png_bytep  *each = malloc(f->height * sizeof *each);

    png_set_write_fn(png, &m, png_put, NULL);
    png_set_IHDR(png, info, (png_uint_32)f->width, (png_uint_32)f->height, f->bits, f->type,
                 f->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    if (f->palette) png_set_PLTE(png, info, f->palette, f->colours);
    if (f->opacity || f->clear) png_set_tRNS(png, info, f->opacity, f->opacities, f->clear);
    if (f->exif)
        png_set_eXIf_1(png, info, (png_uint_32)f->exif_size, (png_bytep)(uintptr_t)f->exif);
    for (size_t y = 0; y < f->height; y++) each[y] = (png_bytep)(uintptr_t)(rows + y * row);
    png_set_rows(png, info, each);
    png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    png_destroy_write_struct(&png, &info);
    free(each);
    return m;
}

/* 8 bits, of 1, 2, 3 or 4 channels. */
static inline struct made make_plain_png(const uint8_t *pixels, size_t width, size_t height,
                                         size_t channels)
{
    static const int types[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};

    return make_png(
        &(struct png_form){.width = width, .height = height, .type = types[channels], .bits = 8},
        pixels, width * channels);
}

/* ---- EXIF ---- */

enum { EXIF_BYTES = 6 + 8 + 2 + 2 * 12 + 4 };

/* A directory of two entries, of which the second is the orientation. */
static inline void make_exif(unsigned char out[EXIF_BYTES], unsigned turn, bool big)
{
    static const unsigned char little_end[EXIF_BYTES] = "Exif\0\0II*\0\x08\0\0\0"
                                                        "\x02\0"
                                                        "\x00\x01\x03\0\x01\0\0\0\x05\0\0\0"
                                                        "\x12\x01\x03\0\x01\0\0\0\0\0\0\0";
    static const unsigned char big_end[EXIF_BYTES] = "Exif\0\0MM\0*\0\0\0\x08"
                                                     "\0\x02"
                                                     "\x01\x00\0\x03\0\0\0\x01\0\x05\0\0"
                                                     "\x01\x12\0\x03\0\0\0\x01\0\0\0\0";

    memcpy(out, big ? big_end : little_end, EXIF_BYTES);
    out[6 + 8 + 2 + 12 + 8 + big] = (unsigned char)turn;
}

/* ---- JPEG ---- */

struct jpeg_form {
    size_t        width, height;
    J_COLOR_SPACE from, stored; /* what pixels are, and what the file holds */
    int           quality;
    bool          progressive, halved; /* halved: colours at half the resolution            */
    bool          anonymous;           /* no marker of JFIF or Adobe                        */
    unsigned      turn;                /* 0: no EXIF                                        */
    unsigned      restart;             /* a marker after so many rows of blocks, 0: none    */
};

static inline struct made make_jpeg(const struct jpeg_form *f, const uint8_t *pixels)
{
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr       errors;
    unsigned char              *data = NULL, exif[EXIF_BYTES];
    unsigned long               size = 0;
    size_t channels = f->from == JCS_GRAYSCALE ? 1 : f->from == JCS_CMYK ? 4 : 3;

    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &data, &size);
    info.image_width = (JDIMENSION)f->width;
    info.image_height = (JDIMENSION)f->height;
    info.input_components = (int)channels;
    info.in_color_space = f->from;
    jpeg_set_defaults(&info);
    jpeg_set_colorspace(&info, f->stored);
    jpeg_set_quality(&info, f->quality, TRUE);
    info.restart_in_rows = (int)f->restart;
    for (int c = 0; c < info.num_components; c++)
        info.comp_info[c].h_samp_factor = info.comp_info[c].v_samp_factor =
            f->halved && (c == 0 || c == 3) ? 2 : 1;
    if (f->progressive) jpeg_simple_progression(&info);
    if (f->anonymous) info.write_Adobe_marker = info.write_JFIF_header = FALSE;
    jpeg_start_compress(&info, TRUE);
    if (f->turn) {
        make_exif(exif, f->turn, f->turn % 2);
        jpeg_write_marker(&info, JPEG_APP0 + 1, exif, sizeof exif);
    }
    for (size_t y = 0; y < f->height; y++) {
        JSAMPROW row = (JSAMPROW)(uintptr_t)(pixels + y * f->width * channels);
        (void)jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return (struct made){data, size};
}

/* ---- WebP, without loss ---- */

static inline struct made make_webp(const uint8_t *pixels, size_t width, size_t height,
                                    size_t channels)
{
    uint8_t    *data = NULL;
    struct made m = {0};
    int         stride = (int)(width * channels);

    if (channels == 4)
        m.size = WebPEncodeLosslessRGBA(pixels, (int)width, (int)height, stride, &data);
    else
        m.size = WebPEncodeLosslessRGB(pixels, (int)width, (int)height, stride, &data);
    assert_true(m.size > 0);
    m.data = malloc(m.size);
    memcpy(m.data, data, m.size);
    WebPFree(data);
    return m;
}

/* The same with a chunk of flags before it and one of EXIF behind. */
static inline struct made make_webp_exif(const struct made *plain, size_t width, size_t height,
                                         unsigned turn)
{
    struct made    m = {.size = plain->size + 18 + 8 + EXIF_BYTES};
    unsigned char *d = calloc(1, m.size + 1), exif[EXIF_BYTES];

    make_exif(exif, turn, true);
    memcpy(d, "RIFF", 4);
    for (int i = 0; i < 4; i++) d[4 + i] = (unsigned char)((m.size - 8) >> 8 * i);
    memcpy(d + 8, "WEBPVP8X\x0a\0\0\0\x08", 13);
    for (int i = 0; i < 3; i++) {
        d[24 + i] = (unsigned char)((width - 1) >> 8 * i);
        d[27 + i] = (unsigned char)((height - 1) >> 8 * i);
    }
    memcpy(d + 30, plain->data + 12, plain->size - 12);
    memcpy(d + 18 + plain->size, "EXIF", 4);
    d[18 + plain->size + 4] = EXIF_BYTES;
    memcpy(d + 18 + plain->size + 8, exif, EXIF_BYTES);
    m.data = d;
    return m;
}

#endif
