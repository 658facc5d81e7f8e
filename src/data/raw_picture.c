/* data/raw_picture.c - pictures that are not compressed. */
#include "data/raw_picture.h"

#include <string.h>

#include "base/alloc.h"
#include "base/texts.h"

enum { HEAD = 12, MOST_MODE = 16 };

static const char name[] = "raw";

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Bytes of a pixel, and where the pixels are. */
static cull_status find_pixels(const cull_picture_file *file, size_t *each, size_t *at)
{
    static const char *const modes[] = {"", "L", "LA", "RGB", "RGBA"};
    cull_status              status = CULL_OK;
    char                     shown[CULL_TEXT_SHOWN];
    size_t                   length = 0, mode = 1;

    if (file->size < HEAD) TRY(cull_data_picture_damaged(file, name, "it is cut short"));
    length = get32(file->data + 8);
    if (length > MOST_MODE || length > file->size - HEAD)
        TRY(cull_data_picture_damaged(file, name, "its mode is no word"));
    while (mode < 5 &&
           (strlen(modes[mode]) != length || memcmp(modes[mode], file->data + HEAD, length) != 0))
        mode++;
    if (mode == 5)
        FAIL(CULL_BAD_FILE, "%s: pixels of mode '%s'; L, LA, RGB and RGBA are read", file->name,
             cull_text_show((const char *)file->data + HEAD, length, shown));
    *each = mode;
    *at = HEAD + length;
done:
    return status;
}

static cull_status look(const cull_picture_file *file, cull_picture_head *out)
{
    cull_status status = CULL_OK;
    size_t      each = 0, at = 0;

    TRY(find_pixels(file, &each, &at));
    *out = (cull_picture_head){
        .width = get32(file->data), .height = get32(file->data + 4), .turn = 1, .grey = each <= 2};
    TRY(cull_data_picture_check(file, out->width, out->height));
    if (out->width * out->height * each != file->size - at)
        TRY(cull_data_picture_damaged(file, name, "its size is not that of its pixels"));
done:
    return status;
}

static cull_status read_pixels(const cull_picture_file *file, const cull_picture_head *head,
                               unsigned shrink, cull_picture *out)
{
    cull_status status = CULL_OK;
    size_t      each = 0, at = 0;

    (void)shrink;
    TRY(find_pixels(file, &each, &at));
    *out =
        (cull_picture){.width = head->width, .height = head->height, .channels = each <= 2 ? 1 : 3};
    TRY(cull_data_picture_room(out, each));
    memcpy(out->pixels, file->data + at, file->size - at);
    if (each == 2 || each == 4)
        cull_data_picture_flatten(out->pixels, head->width * head->height, each);
done:
    return status;
}

const cull_picture_kind cull_picture_raw = {.name = name, .look = look, .read = read_pixels};
