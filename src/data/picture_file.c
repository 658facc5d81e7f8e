/*
 * data/picture_file.c - what the kinds of pictures share, and the way from a file to an example.
 *
 * How a picture is stored (EXIF's numbers; x and y stored, X and Y as seen, W and H stored):
 *
 *     1  X = x       Y = y            5  X = y       Y = x
 *     2  X = W-1-x   Y = y            6  X = H-1-y   Y = x
 *     3  X = W-1-x   Y = H-1-y        7  X = H-1-y   Y = W-1-x
 *     4  X = x       Y = H-1-y        8  X = y       Y = W-1-x
 *
 * Scaling is the same along both axes, so it is done as stored, on fewer pixels, and what is made
 * is put down turned.
 */
#include "data/picture_file.h"

#include <string.h>

#include "base/alloc.h"
#include "data/scale.h"

enum { MOST_SHRINK = 8, WHITE = 255, SPARE = 2 /* times as many pixels as are made */ };

static const cull_picture_kind *const kinds[] = {&cull_picture_jpeg, &cull_picture_png,
                                                 &cull_picture_webp};

const cull_picture_kind *cull_data_picture_kind(const cull_picture_file *file)
{
    if (file->kind) return file->kind;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i]->begins(file->data, file->size)) return kinds[i];
    return NULL;
}

cull_status cull_data_picture_check(const cull_picture_file *file, size_t width, size_t height)
{
    cull_status status = CULL_OK;

    if (width == 0 || height == 0)
        FAIL(CULL_BAD_FILE, "%s: a picture of %zux%zu pixels", file->name, width, height);
    if (width > CULL_PICTURE_MOST_PIXELS / height)
        FAIL(CULL_BAD_FILE, "%s: claims %zux%zu pixels; at most 2^26 are read", file->name, width,
             height);
done:
    return status;
}

cull_status cull_data_picture_damaged(const cull_picture_file *file, const char *kind,
                                      const char *why)
{
    return cull_fail(CULL_BAD_FILE, "%s: a damaged %s picture (%s)", file->name, kind, why);
}

cull_status cull_data_picture_room(cull_picture *p, size_t channels)
{
    return cull_base_grow(p->height * p->width, channels, "a picture", &p->pixels);
}

void cull_data_picture_flatten(uint8_t *pixels, size_t count, size_t channels)
{
    size_t   colours = channels - 1;
    uint8_t *to = pixels;

    for (size_t i = 0; i < count; i++, pixels += channels, to += colours) {
        unsigned opacity = pixels[colours];
        for (size_t c = 0; c < colours; c++)
            to[c] =
                (uint8_t)((opacity * pixels[c] + (WHITE - opacity) * WHITE + WHITE / 2) / WHITE);
    }
}

cull_status cull_data_picture_look(const cull_picture_file *file, cull_picture_head *out)
{
    const cull_picture_kind *kind = cull_data_picture_kind(file);

    if (!kind && file->size == 0) return cull_fail(CULL_BAD_FILE, "%s: is empty", file->name);
    if (!kind)
        return cull_fail(CULL_BAD_FILE, "%s: neither a JPEG, a PNG nor a WebP picture", file->name);
    return kind->look(file, out);
}

void cull_data_picture_upright(const cull_picture_head *head, size_t *width, size_t *height)
{
    *width = head->turn < 5 ? head->width : head->height;
    *height = head->turn < 5 ? head->height : head->width;
}

/* What of the scaled picture is taken, along one axis as seen: `whole` new pixels are cut down to
 * `count`, and half a pixel goes to the even side. */
static cull_scale_axis cut(size_t from, size_t whole, size_t count)
{
    size_t over = whole - count;

    return (cull_scale_axis){.from = from,
                             .extent = (double)from,
                             .to = whole,
                             .first = over / 2 + (over % 4 == 3),
                             .count = count};
}

/* Both axes as seen: [0] down, [1] across. */
static cull_status lay_out(const cull_picture_file *file, const cull_picture_head *head,
                           const cull_picture_frame *f, cull_scale_axis out[2])
{
    cull_status status = CULL_OK;
    size_t      w = 0, h = 0, side = f->width, whole_w = f->width, whole_h = f->height;

    cull_data_picture_upright(head, &w, &h);
    if (!f->scaled && (w != f->width || h != f->height))
        FAIL(CULL_BAD_FILE, "%s: has %zux%zu pixels where %zux%zu are wanted", file->name, w, h,
             f->width, f->height);
    if (f->scaled && f->fit == CULL_FIT_COVER) {
        if (w > h) whole_w = side * w / h;
        if (h > w) whole_h = side * h / w;
    }
    if (f->scaled && f->fit == CULL_FIT_CENTRE) {
        if (w < side || h < side)
            FAIL_ABOUT(CULL_BAD_OPTION, "data.fit",
                       "%s: has %zux%zu pixels, and data.fit=centre takes %zux%zu as they are; "
                       "cover and stretch enlarge",
                       file->name, w, h, side, side);
        whole_w = w;
        whole_h = h;
    }
    out[0] = cut(h, whole_h, f->height);
    out[1] = cut(w, whole_w, f->width);
done:
    return status;
}

/* How far a decoder may shrink and still leave twice the pixels that are made of it. */
static unsigned shrink_of(const cull_picture_kind *kind, const cull_picture_frame *f,
                          const cull_scale_axis axis[2])
{
    unsigned shrink = 1;

    if (!kind->shrinks || f->exact) return 1;
    while (shrink < MOST_SHRINK && axis[0].from / (2 * shrink) >= SPARE * axis[0].to &&
           axis[1].from / (2 * shrink) >= SPARE * axis[1].to)
        shrink *= 2;
    return shrink;
}

/* An axis as seen becomes one as stored. */
static cull_scale_axis as_stored(cull_scale_axis axis, size_t stored, unsigned shrink,
                                 bool reversed)
{
    if (reversed) axis.first = axis.to - axis.count - axis.first;
    axis.extent /= shrink;
    axis.from = stored;
    return axis;
}

static cull_status put_down(const cull_picture *p, unsigned turn, unsigned shrink,
                            const cull_scale_axis axis[2], const cull_picture_frame *f,
                            uint8_t *out)
{
    static const bool x_reversed[] = {[2] = true, [3] = true, [7] = true, [8] = true};
    static const bool y_reversed[] = {[3] = true, [4] = true, [6] = true, [7] = true, [8] = false};
    bool              swapped = turn > 4;
    cull_scale_axis   down = as_stored(axis[swapped], p->height, shrink, y_reversed[turn]);
    cull_scale_axis   across = as_stored(axis[!swapped], p->width, shrink, x_reversed[turn]);
    cull_scale_out    to = {.out = out, .plane = f->height * f->width};
    ptrdiff_t         row = (ptrdiff_t)f->width;

    to.down = swapped ? 1 : row;
    to.across = swapped ? row : 1;
    if (y_reversed[turn]) {
        to.out += ((ptrdiff_t)down.count - 1) * to.down;
        to.down = -to.down;
    }
    if (x_reversed[turn]) {
        to.out += ((ptrdiff_t)across.count - 1) * to.across;
        to.across = -to.across;
    }
    return cull_data_scale(p->pixels, p->channels, &down, &across, &to);
}

cull_status cull_data_picture_make(const cull_picture_file *file, const cull_picture_frame *frame,
                                   uint8_t *out)
{
    cull_status              status = CULL_OK;
    const cull_picture_kind *kind = cull_data_picture_kind(file);
    cull_picture_head        head = {0};
    cull_picture             picture = {0};
    cull_scale_axis          axis[2] = {{0}};
    size_t                   plane = frame->height * frame->width;
    unsigned                 shrink = 1;

    TRY(cull_data_picture_look(file, &head));
    if (!head.grey && frame->channels == 1)
        FAIL(CULL_BAD_FILE, "%s: has colours where a grey picture is wanted", file->name);
    TRY(lay_out(file, &head, frame, axis));
    shrink = shrink_of(kind, frame, axis);
    TRY(kind->read(file, &head, shrink, &picture));
    TRY(put_down(&picture, head.turn, shrink, axis, frame, out));
    if (picture.channels == 1)
        for (size_t c = 1; c < frame->channels; c++) memcpy(out + c * plane, out, plane);
done:
    cull_base_free(picture.pixels);
    return status;
}
