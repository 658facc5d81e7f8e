/*
 * data/png.c - PNG pictures, by libpng: all of its forms become 8 bits a channel, without opacity.
 *
 * libpng leaves through a jump where it cannot go on. What has to be ended then lies in one struct,
 * outside of the function that is jumped back into.
 */
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "data/picture.h"

enum { SIGNATURE = 8, MOST_PIXEL = 8 /* bytes */, SLACK = 1 << 16 };

struct reader {
    png_structp              png;
    png_infop                info;
    const cull_picture_file *file;
    size_t                   at; /* bytes read so far */
    cull_picture_head        head;
    cull_picture             picture;
    bool                     starved; /* an allocation failed */
    cull_status              status;
    jmp_buf                  back;
};

static bool png_begins(const unsigned char *data, size_t size)
{
    return size >= SIGNATURE && memcmp(data, "\x89PNG\r\n\x1a\n", SIGNATURE) == 0;
}

/* ---- what libpng calls ---- */

/* libpng believes what a chunk claims to hold: more than the file has, or than a row takes, is not
 * for anything. */
static png_voidp on_allocate(png_structp png, png_alloc_size_t bytes)
{
    struct reader *r = png_get_mem_ptr(png);
    void          *data = NULL;

    if (bytes > SLACK + r->file->size + MOST_PIXEL * r->head.width) return NULL;
    if (cull_base_grow(bytes, 1, "reading a picture", &data)) r->starved = true;
    return data;
}

static void on_release(png_structp png, png_voidp data)
{
    (void)png;
    cull_base_free(data);
}

static _Noreturn void on_error(png_structp png, png_const_charp why)
{
    struct reader *r = png_get_error_ptr(png);

    r->status = cull_data_picture_damaged(r->file, "PNG", why);
    longjmp(r->back, 1);
}

/* Of the text, the colours or the time beside the pixels, none of which is used. */
static void on_warning(png_structp png, png_const_charp why)
{
    (void)png;
    (void)why;
}

static void on_read(png_structp png, png_bytep out, size_t bytes)
{
    struct reader *r = png_get_io_ptr(png);

    if (bytes > r->file->size - r->at) on_error(png, "cut short");
    memcpy(out, r->file->data + r->at, bytes);
    r->at += bytes;
}

/* ---- what calls libpng ---- */

static void begin(struct reader *r)
{
    png_set_read_fn(r->png, r, on_read);
    png_set_user_limits(r->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* ours are checked below */
    png_read_info(r->png, r->info);
}

static void read_head(struct reader *r)
{
    png_bytep   exif = NULL;
    png_uint_32 bytes = 0;
    int         colours = 0;

    begin(r);
    colours = png_get_color_type(r->png, r->info);
    r->head = (cull_picture_head){.width = png_get_image_width(r->png, r->info),
                                  .height = png_get_image_height(r->png, r->info),
                                  .turn = 1,
                                  .grey = !(colours & PNG_COLOR_MASK_COLOR)};
    if (png_get_eXIf_1(r->png, r->info, &bytes, &exif))
        r->head.turn = cull_data_exif_turn(exif, bytes);
    r->status = cull_data_picture_check(r->file, r->head.width, r->head.height);
}

static void read_rows(struct reader *r, int passes)
{
    cull_picture *p = &r->picture;
    size_t        row = png_get_rowbytes(r->png, r->info);

    for (int pass = 0; pass < passes; pass++)
        for (size_t y = 0; y < p->height; y++) png_read_row(r->png, p->pixels + y * row, NULL);
}

static void read_all(struct reader *r)
{
    cull_picture *p = &r->picture;
    size_t        channels = 0;
    int           passes = 0;

    begin(r);
    png_set_scale_16(r->png);
    png_set_expand(r->png);
    passes = png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);
    channels = png_get_channels(r->png, r->info);
    p->width = r->head.width;
    p->height = r->head.height;
    r->status = cull_data_picture_room(p, channels);
    if (r->status) return;
    read_rows(r, passes);
    p->channels = channels - (channels % 2 == 0);
    if (p->channels != channels)
        cull_data_picture_flatten(p->pixels, p->height * p->width, channels);
}

static cull_status run(struct reader *r, void (*work)(struct reader *r))
{
    r->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, r, on_error, on_warning, r,
                                      on_allocate, on_release);
    if (r->png) r->info = png_create_info_struct(r->png);
    if (!r->info)
        r->status =
            cull_fail(CULL_UNSUPPORTED, "%s: libpng is of another version than cull was built with",
                      r->file->name);
    else if (setjmp(r->back) == 0)
        work(r);
    png_destroy_read_struct(&r->png, &r->info, NULL);
    if (r->starved) return cull_fail(CULL_NO_MEMORY, "%s: no memory for reading it", r->file->name);
    return r->status;
}

static cull_status png_look(const cull_picture_file *file, cull_picture_head *out)
{
    cull_status   status = CULL_OK;
    struct reader r = {.file = file};

    TRY(run(&r, read_head));
    *out = r.head;
done:
    return status;
}

static cull_status png_read(const cull_picture_file *file, const cull_picture_head *head,
                            unsigned shrink, cull_picture *out)
{
    cull_status   status = CULL_OK;
    struct reader r = {.file = file, .head = *head};

    (void)shrink;
    TRY(run(&r, read_all));
    *out = r.picture;
    r.picture.pixels = NULL;
done:
    cull_base_free(r.picture.pixels);
    return status;
}

const cull_picture_kind cull_picture_png = {
    .name = "PNG", .begins = png_begins, .look = png_look, .read = png_read};
