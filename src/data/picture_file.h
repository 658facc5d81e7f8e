/*
 * data/picture_file.h - one picture: a compressed file in memory becomes an example.
 *
 *     file -> kind (by its first bytes) -> look: head            nothing of the pixels is touched
 *     file -> make (frame): (channels, height, width) of uint8   read, scaled, turned upright
 *
 * docs/formats.md says what is read and how.
 */
#ifndef CULL_DATA_PICTURE_FILE_H
#define CULL_DATA_PICTURE_FILE_H

#include "base/status.h"

enum {
    CULL_PICTURE_MOST_PIXELS = 1 << 26, /* no header that claims more is believed */
    CULL_PICTURE_MOST_BYTES = 1 << 30   /* of a file                              */
};

typedef struct cull_picture_kind cull_picture_kind;

/* Borrowed bytes; the name begins every sentence about them. */
typedef struct cull_picture_file {
    const char              *name;
    const unsigned char     *data;
    size_t                   size;
    const cull_picture_kind *kind; /* where it is known; NULL: the first bytes tell */
} cull_picture_file;

typedef struct cull_picture_head {
    size_t   width, height; /* as stored, none 0, their product checked               */
    unsigned turn;          /* how it is stored, 1 .. 8 as EXIF numbers orientations  */
    bool     grey;
} cull_picture_head;

/* The pixels as they are stored. */
typedef struct cull_picture {
    uint8_t *pixels; /* (height, width, channels); ended with cull_base_free()  */
    size_t   width, height;
    size_t   channels; /* 1 of a grey one, else 3 */
} cull_picture;

/* jpeg.c, png.c, webp.c, raw_picture.c: each ends in one. */
struct cull_picture_kind {
    const char *name;
    bool (*begins)(const unsigned char *data, size_t size);
    cull_status (*look)(const cull_picture_file *file, cull_picture_head *out);

    /* shrink: 1, 2, 4 or 8; pixels are means of squares of so many where the kind can, and then
     * width and height are divided by it, rounded up. `head` is look's. */
    cull_status (*read)(const cull_picture_file *file, const cull_picture_head *head,
                        unsigned shrink, cull_picture *out);
    bool shrinks;
};

extern const cull_picture_kind cull_picture_jpeg, cull_picture_png, cull_picture_webp;

/* What a picture becomes. */
typedef struct cull_picture_frame {
    size_t        channels; /* 1 is for sets of grey pictures alone                              */
    size_t        height, width;
    bool          scaled; /* else pictures must have this size                                 */
    cull_data_fit fit;    /* where scaled; width and height are the same then                  */
    bool          exact;  /* no decoder shrinks                                                */
} cull_picture_frame;

/* As it is known, or by the first bytes; NULL: none that is read. */
const cull_picture_kind *cull_data_picture_kind(const cull_picture_file *file);

/* CULL_BAD_FILE when it is no picture, its header is damaged or cut short, or claims too much. */
cull_status cull_data_picture_look(const cull_picture_file *file, cull_picture_head *out);

/* Width and height as a person sees them. */
void cull_data_picture_upright(const cull_picture_head *head, size_t *width, size_t *height);

/* Read it all. CULL_BAD_FILE when it is damaged, or is not what the frame wants; CULL_NO_MEMORY. */
cull_status cull_data_picture_make(const cull_picture_file *file, const cull_picture_frame *frame,
                                   uint8_t *out);

/* ---- for the kinds ---- */

/* The size that a header claims. */
cull_status cull_data_picture_check(const cull_picture_file *file, size_t width, size_t height);

/* "NAME: a damaged KIND picture (why)". */
cull_status cull_data_picture_damaged(const cull_picture_file *file, const char *kind,
                                      const char *why);

/* Room for the pixels of a picture whose numbers are set, for `channels` of them. */
cull_status cull_data_picture_room(cull_picture *picture, size_t channels);

/* Lay pixels whose last channel of 2 or 4 is opacity over white, in place: 1 or 3 are left. */
void cull_data_picture_flatten(uint8_t *pixels, size_t count, size_t channels);

/* exif.c: the orientation in a block of EXIF, with or without "Exif\0\0" before it; 1 where it says
 * none. */
unsigned cull_data_exif_turn(const unsigned char *data, size_t size);

#endif
