/* train/resize.h - images made smaller, or laid out anew, for the network that scores. */
#ifndef CULL_TRAIN_RESIZE_H
#define CULL_TRAIN_RESIZE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cull_resize {
    size_t channels, height, width, to_height, to_width;
    bool   channels_last, to_channels_last; /* (n, h, w, c); else (n, c, h, w) */
} cull_resize;

/* `count` images, dense; to is not from. Cannot fail, allocates nothing. */
void cull_train_resize(const cull_resize *resize, const float *from, size_t count, float *to);

#endif
