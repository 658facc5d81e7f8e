/*
 * data/jpeg.c - JPEG pictures, by libjpeg.
 *
 * libjpeg leaves through a jump where it cannot go on. What has to be ended then lies in one
 * struct, outside of the function that is jumped back into.
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include "base/alloc.h"
#include "data/picture.h"

enum {
    MOST_SCANS = 100, /* ten are usual, and each may cost a whole picture's work */
    EXIF = JPEG_APP0 + 1,
    MOST_MARKER = 0xffff,
    ROWS = 8,
    FULL = 8 /* libjpeg scales by eighths */
};

struct reader {
    struct jpeg_decompress_struct info; /* first, so that a j_common_ptr leads here */
    struct jpeg_error_mgr         errors;
    struct jpeg_source_mgr        source;
    struct jpeg_progress_mgr      progress;
    const cull_picture_file      *file;
    cull_picture_head             head;
    cull_picture                  picture;
    unsigned                      shrink;
    bool                          past_end; /* more bytes were wanted than there are */
    cull_status                   status;
    jmp_buf                       back;
};

static bool jpeg_begins(const unsigned char *data, size_t size)
{
    return size >= 3 && memcmp(data, "\xff\xd8\xff", 3) == 0;
}

/* ---- what libjpeg calls ---- */

static _Noreturn void give_up(struct reader *r, const char *why)
{
    r->status = cull_data_picture_damaged(r->file, "JPEG", why);
    longjmp(r->back, 1);
}

static _Noreturn void on_error(j_common_ptr info)
{
    struct reader *r = (struct reader *)info;
    char           why[JMSG_LENGTH_MAX];

    if (info->err->msg_code == JERR_OUT_OF_MEMORY) {
        r->status = cull_fail(CULL_NO_MEMORY, "%s: no memory for reading it", r->file->name);
        longjmp(r->back, 1);
    }
    info->err->format_message(info, why);
    give_up(r, why);
}

/* Warnings of lost pixels, which libjpeg would make up, end the reading; others are let go. */
static void on_message(j_common_ptr info, int level)
{
    struct reader *r = (struct reader *)info;

    if (level >= 0) return; /* no warning, only chat */
    switch (info->err->msg_code) {
    case JWRN_HIT_MARKER:
        if (r->past_end) give_up(r, "cut short");
        on_error(info);
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC: on_error(info);
    default: break;
    }
}

static void on_print(j_common_ptr info)
{
    (void)info;
}

static void on_nothing(j_decompress_ptr info)
{
    (void)info;
}

/* All bytes were there from the beginning. Behind them comes an end, as a file may lack its own;
 * if pixels are missing too, libjpeg then warns. */
static boolean on_empty(j_decompress_ptr info)
{
    static const JOCTET end[] = {0xff, JPEG_EOI};

    ((struct reader *)info)->past_end = true;
    info->src->next_input_byte = end;
    info->src->bytes_in_buffer = sizeof end;
    return TRUE;
}

static void on_skip(j_decompress_ptr info, long bytes)
{
    if (bytes <= 0) return;
    if ((size_t)bytes > info->src->bytes_in_buffer) give_up((struct reader *)info, "cut short");
    info->src->next_input_byte += bytes;
    info->src->bytes_in_buffer -= (size_t)bytes;
}

static void on_progress(j_common_ptr info)
{
    struct reader *r = (struct reader *)info;

    if (r->info.input_scan_number > MOST_SCANS) give_up(r, "more scans than any camera makes");
}

/* ---- what calls libjpeg ---- */

static void begin(struct reader *r)
{
    r->info.err = jpeg_std_error(&r->errors);
    r->errors.error_exit = on_error;
    r->errors.emit_message = on_message;
    r->errors.output_message = on_print;
    jpeg_create_decompress(&r->info);
    r->source = (struct jpeg_source_mgr){.next_input_byte = r->file->data,
                                         .bytes_in_buffer = r->file->size,
                                         .init_source = on_nothing,
                                         .fill_input_buffer = on_empty,
                                         .skip_input_data = on_skip,
                                         .resync_to_restart = jpeg_resync_to_restart,
                                         .term_source = on_nothing};
    r->info.src = &r->source;
    r->progress.progress_monitor = on_progress;
    r->info.progress = &r->progress;
}

static void read_head(struct reader *r)
{
    static const char exif[] = "Exif\0";

    begin(r);
    jpeg_save_markers(&r->info, EXIF, MOST_MARKER);
    (void)jpeg_read_header(&r->info, TRUE);
    r->head = (cull_picture_head){.width = r->info.image_width,
                                  .height = r->info.image_height,
                                  .turn = 1,
                                  .grey = r->info.num_components == 1};
    if (r->info.num_components == 2 || r->info.num_components > 4)
        give_up(r, "neither grey, nor of three colours, nor of four");
    for (jpeg_saved_marker_ptr m = r->info.marker_list; m; m = m->next)
        if (m->data_length >= sizeof exif && memcmp(m->data, exif, sizeof exif) == 0) {
            r->head.turn = cull_data_exif_turn(m->data, m->data_length);
            break;
        }
    r->status = cull_data_picture_check(r->file, r->head.width, r->head.height);
}

/* Four inks become light: what passes black passes each colour. Adobe stores light, not ink. */
static void mix_inks(uint8_t *pixels, size_t count, bool ink)
{
    const uint8_t *from = pixels;

    for (size_t i = 0; i < count; i++, from += 4, pixels += 3) {
        unsigned black = ink ? 255u - from[3] : from[3];
        for (size_t c = 0; c < 3; c++) {
            unsigned light = ink ? 255u - from[c] : from[c];
            pixels[c] = (uint8_t)((light * black + 127) / 255);
        }
    }
}

static void read_rows(struct reader *r)
{
    cull_picture *p = &r->picture;
    size_t        channels = (size_t)r->info.output_components, row = p->width * channels;

    while (r->info.output_scanline < r->info.output_height) {
        JSAMPROW rows[ROWS];
        size_t   at = r->info.output_scanline, left = p->height - at;
        for (size_t i = 0; i < ROWS && i < left; i++) rows[i] = p->pixels + (at + i) * row;
        (void)jpeg_read_scanlines(&r->info, rows, (JDIMENSION)(left < ROWS ? left : ROWS));
    }
    if (channels == 4) mix_inks(p->pixels, p->height * p->width, !r->info.saw_Adobe_marker);
}

static void read_all(struct reader *r)
{
    cull_picture *p = &r->picture;

    begin(r);
    (void)jpeg_read_header(&r->info, TRUE);
    if (r->info.num_components == 3) r->info.out_color_space = JCS_RGB;
    if (r->info.num_components == 4) r->info.out_color_space = JCS_CMYK;
    r->info.scale_num = FULL / r->shrink;
    r->info.scale_denom = FULL;
    (void)jpeg_start_decompress(&r->info);
    /* Of several scans all are read by now; one that is missing would only blur the picture. */
    if (r->past_end && jpeg_has_multiple_scans(&r->info)) give_up(r, "cut short");
    p->width = r->info.output_width;
    p->height = r->info.output_height;
    p->channels = r->info.num_components == 1 ? 1 : 3;
    r->status = cull_data_picture_room(p, (size_t)r->info.output_components);
    if (r->status == CULL_OK) read_rows(r);
}

static cull_status run(struct reader *r, void (*work)(struct reader *r))
{
    if (setjmp(r->back) == 0) work(r);
    jpeg_destroy_decompress(&r->info);
    return r->status;
}

static cull_status jpeg_look(const cull_picture_file *file, cull_picture_head *out)
{
    cull_status   status = CULL_OK;
    struct reader r = {.file = file};

    TRY(run(&r, read_head));
    *out = r.head;
done:
    return status;
}

static cull_status jpeg_read(const cull_picture_file *file, const cull_picture_head *head,
                             unsigned shrink, cull_picture *out)
{
    cull_status   status = CULL_OK;
    struct reader r = {.file = file, .head = *head, .shrink = shrink};

    TRY(run(&r, read_all));
    *out = r.picture;
    r.picture.pixels = NULL;
done:
    cull_base_free(r.picture.pixels);
    return status;
}

const cull_picture_kind cull_picture_jpeg = {
    .name = "JPEG", .begins = jpeg_begins, .look = jpeg_look, .read = jpeg_read, .shrinks = true};
