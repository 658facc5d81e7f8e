/*
 * backend/cpu/nn_tags.h - oneDNN's names for the layouts of a convolution's two sides.
 *
 * Some memory has several names: one pixel, one channel, or as many channels as a block are the
 * same in more than one layout. oneDNN's fast implementations go by the name, and want both sides
 * alike, so the names are tried one after the other.
 */
#ifndef CULL_BACKEND_CPU_NN_TAGS_H
#define CULL_BACKEND_CPU_NN_TAGS_H

#include <dnnl.h>

#include "backend/layer.h"

typedef struct cull_dnnl_tags {
    dnnl_format_tag_t x, y;
} cull_dnnl_tags;

/* Names that both sides have, the likeliest first: i = 0, 1, ... until false. */
bool cull_dnnl_tags_at(const cull_layer_desc *desc, size_t i, cull_dnnl_tags *out);

#endif
