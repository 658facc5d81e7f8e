/* backend/cpu/nn_tags.c - pairs of names for the two sides of a convolution (nn_tags.h). */
#include "backend/cpu/nn_tags.h"

/* The name that suits most, with a look at the other side; undefined where there is none. */
static dnnl_format_tag_t likely(const cull_image *image, const cull_image *other)
{
    int64_t own = image->h * image->w == 1 ? image->c : image->block;
    int64_t like = other->h * other->w == 1 ? own : other->block;
    bool    wide = like == other->c && like != 1 && like != 8 && like != 16; /* NHWC, no doubt */

    if (own == image->c && image->h * image->w == 1 && (like == 8 || like == 16) &&
        image->c % like == 0)
        own = like;
    if (own == image->c && wide) return dnnl_nhwc;
    if (own == 1) return dnnl_nchw;
    if (own == image->c && own != 8 && own != 16) return dnnl_nhwc;
    if (own == image->c && like == other->c && DNNL_VERSION_MAJOR >= 3) return dnnl_nhwc;
    if (own == 8) return dnnl_nChw8c;
    return own == 16 ? dnnl_nChw16c : dnnl_format_tag_undef;
}

/* Is this memory rightly called so? */
static bool fits(const cull_image *image, dnnl_format_tag_t tag)
{
    bool    pixel = image->h * image->w == 1;
    int64_t block = tag == dnnl_nChw16c ? 16 : 8;

    if (tag == dnnl_nchw) return pixel || image->block == 1;
    if (tag == dnnl_nhwc) return pixel || image->block == image->c;
    return image->c % block == 0 && (pixel || image->block == block);
}

/* What oneDNN has fast implementations for. */
static bool is_pair(const cull_dnnl_tags *tags)
{
    return tags->x == tags->y ||
           (tags->x == dnnl_nchw && (tags->y == dnnl_nChw8c || tags->y == dnnl_nChw16c));
}

/*
 * Names that cannot be right come last, not first: to oneDNN's cache two names of the same memory
 * are one, and what it found under the first it hands out under the others, too.
 */
bool cull_dnnl_tags_at(const cull_layer_desc *desc, size_t i, cull_dnnl_tags *out)
{
    static const cull_dnnl_tags pairs[] = {
        {dnnl_nhwc, dnnl_nhwc}, {dnnl_nChw16c, dnnl_nChw16c}, {dnnl_nChw8c, dnnl_nChw8c},
        {dnnl_nchw, dnnl_nchw}, {dnnl_nchw, dnnl_nChw16c},    {dnnl_nchw, dnnl_nChw8c},
    };
    cull_dnnl_tags first = {likely(&desc->x, &desc->y), likely(&desc->y, &desc->x)};
    bool           known = first.x != dnnl_format_tag_undef && first.y != dnnl_format_tag_undef;
    bool           good = known && is_pair(&first);

    *out = first;
    if (good && i-- == 0) return true;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        bool same = good && pairs[k].x == first.x && pairs[k].y == first.y;

        if (same || !fits(&desc->x, pairs[k].x) || !fits(&desc->y, pairs[k].y) || i--) continue;
        *out = pairs[k];
        return true;
    }
    return known && !good && i == 0;
}
