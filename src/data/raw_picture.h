/* data/raw_picture.h - pictures that are not compressed, as MDS shards keep PIL's. */
#ifndef CULL_DATA_RAW_PICTURE_H
#define CULL_DATA_RAW_PICTURE_H

#include "data/picture_file.h"

/*
 *     uint32 width | uint32 height | uint32 letters of the mode | mode | pixels, row by row
 *
 * Modes L, LA, RGB and RGBA are read; what is not opaque is laid over white. No first bytes tell
 * such a picture: it is a kind of its own, for who knows it is one.
 */
extern const cull_picture_kind cull_picture_raw;

#endif
