/*
 * backend/augment.h - from stored examples to what a network reads: normalised, and for training
 * shifted, mirrored and cut out.
 *
 *     crop      the image is padded by `pad` pixels on each side, with 0 (black) or by
 *               reflection (edge not repeated), and a window of its size taken at random
 *     flip      left and right change places with probability 1/2
 *     normalise images (x/255 - mean) / deviation, features (x - mean) / deviation
 *     cutout    a square of side `cutout` around a random pixel, clipped at the borders,
 *               becomes 0, the mean
 *
 * in that order, as the reference implementations do. Tokens are copied as they are, the first so
 * many of each row. Every draw is a function of (key,
 * epoch, place): the pixels do not depend on threads, batches or what came before.
 *
 * Both structs are plain values; what they point at lies where the backend computes. The
 * functions here are the host's, for every backend that computes there.
 */
#ifndef CULL_BACKEND_AUGMENT_H
#define CULL_BACKEND_AUGMENT_H

#include "base/status.h"

enum { CULL_AUGMENT_MOST_SIDE = 4096 }; /* pixels: most of height, width, pad and cutout */

/* What is done to the examples of one set; the same for all of a run. */
typedef struct cull_augment_desc {
    size_t        channels, height, width;
    cull_dtype    from;             /* CULL_U8: images; CULL_F32: features; CULL_I32: tokens */
    cull_dtype    to;               /* CULL_F32, CULL_F64 or CULL_BF16; of tokens CULL_I32   */
    bool          channels_last;    /* out is (H, W, C), else (C, H, W) as the source */
    const double *mean, *deviation; /* [channels] each                                */
    size_t        pad;              /* 0: no crop; with reflect, below height, width  */
    bool          reflect, flip;
    size_t        cutout;     /* 0: none */
    cull_key      move, hole; /* what crops and flips, and cutouts, are drawn with */
} cull_augment_desc;

/* One batch: which examples, where they lie, where they go. */
typedef struct cull_augment_call {
    size_t          count;
    const uint32_t *places;    /* [count] what draws are counted by                           */
    uint64_t        epoch;     /* and this                                                    */
    bool            augmented; /* false: only normalise, as for evaluation                    */
    const void     *raw;       /* rows of (channels, height, width), dense                    */
    const uint32_t *row;       /* a place's row of raw; NULL: the place itself                */
    size_t          length;    /* tokens of each row that are taken; 0: all                   */
    bool            packed;    /* raw holds this call's rows alone, in its order: row is unused */
    void           *out;       /* [count] rows, dense                                         */
} cull_augment_call;

/* Numbers of an example that a call writes. */
static inline size_t cull_augment_numbers(const cull_augment_desc *desc, size_t length)
{
    if (desc->from == CULL_I32 && length) return length;
    return desc->channels * desc->height * desc->width;
}

/* One example, from its stored row to out; of tokens, all of them. Allocates nothing, cannot fail.
 */
void cull_augment_row(const cull_augment_desc *desc, const void *raw, uint32_t place,
                      uint64_t epoch, bool augmented, void *out);

/* Example i of a call: for the loops of host backends, in any order. */
void cull_augment_example(const cull_augment_desc *desc, const cull_augment_call *call, size_t i);

#endif
