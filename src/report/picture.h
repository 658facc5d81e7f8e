/* report/picture.h - small pictures inside the page: examples of audit.npz as PNG data URIs. */
#ifndef CULL_REPORT_PICTURE_H
#define CULL_REPORT_PICTURE_H

#include "report/text.h"

enum { CULL_REP_SIDE = 256 }; /* most pixels a side */

/* "data:image/png;base64,..." of (height, width, channels) bytes; channels 1 (grey) or 3. */
cull_status cull_rep_png(cull_rep_text *text, const uint8_t *pixels, size_t height, size_t width,
                         size_t channels);

/* The easiest and the hardest examples of a run's folder, as HTML; *shown stays false where it
 * has none. */
cull_status cull_rep_pictures(cull_rep_text *text, const char *folder, bool *shown);

#endif
