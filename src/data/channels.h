/*
 * data/channels.h - where an array of images has its channels, and images turned.
 *
 *     first    (N, C, H, W), as sets have them
 *     last     (N, H, W, C), as most files have them
 */
#ifndef CULL_DATA_CHANNELS_H
#define CULL_DATA_CHANNELS_H

#include "base/status.h"

/*
 * Tell by the shape: channels are on the axis, 1 or 3, that has 1, 3 or 4 of them, if only one
 * does. First are they also where axes 2 and 3 alone are equal, and axis 3 would be told: an image
 * that is a square then would else be as wide as it has channels, (N, 512, 1, 1) and (N, 64, 4, 4).
 * CULL_LAYOUT_TOLD: the shape does not tell.
 */
cull_data_layout cull_data_channels_tell(const int64_t shape[CULL_MAX_DIMS]);

/* The same, and what is `asked` for goes first. CULL_BAD_OPTION, about data.layout, with both
 * readings, where neither says it. */
cull_status cull_data_channels_find(const char *path, const int64_t shape[CULL_MAX_DIMS],
                                    cull_data_layout asked, cull_data_layout *out);

/* One image, (area, channels) at `from`, as (channels, area) at `to`; they must not overlap.
 * Elements have 1 or 4 bytes. */
void cull_data_channels_turn(const void *from, size_t channels, size_t area, size_t element,
                             void *to);

#endif
