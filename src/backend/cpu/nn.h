/*
 * backend/cpu/nn.h - the layer operations on the host, one file each.
 *
 * Convolutions are oneDNN's (nn_dnnl.h), and so are the large products of sequences (nn_product.h);
 * all else is ours: loops of kernels_layer.h over the
 * panels of a tensor, shared out by rows. Where sums over rows are taken, the rows are cut into
 * chunks that depend on their number alone and the chunks are added in order, so that no result
 * depends on the number of threads. Float32 only.
 */
#ifndef CULL_BACKEND_CPU_NN_H
#define CULL_BACKEND_CPU_NN_H

#include <math.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/kernels_layer.h"
#include "backend/cpu/kernels_sequence.h"
#include "backend/layer.h"

extern const cull_layer_class cull_cpu_dense, cull_cpu_conv, cull_cpu_batchnorm, cull_cpu_groupnorm,
    cull_cpu_layernorm, cull_cpu_activate, cull_cpu_pool, cull_cpu_add, cull_cpu_concat,
    cull_cpu_shortcut, cull_cpu_dropout, cull_cpu_loss, cull_cpu_convert, cull_cpu_embed,
    cull_cpu_positions, cull_cpu_attention, cull_cpu_take;

/* nn_dense_many.c: what cull_cpu_dense makes of many rows. */
extern const cull_layer_class cull_cpu_dense_many;

/* A tensor as the loops see it: (rows, blocks, area, block), a panel being (area, block). */
typedef struct cull_cpu_view {
    size_t rows, blocks, area, block, panel, row;
} cull_cpu_view;

/* An image of one pixel is the same memory in every layout; NHWC is the one to vectorise. */
static inline cull_cpu_view cull_cpu_see(const cull_image *image)
{
    size_t area = (size_t)(image->h * image->w), c = (size_t)image->c;
    size_t block = area == 1 ? c : (size_t)image->block;

    return (cull_cpu_view){
        (size_t)image->n, c / block, area, block, area * block, (size_t)cull_image_row(image)};
}

/* Float32, or a sentence why not. Every create begins with it. */
cull_status cull_cpu_layer_check(const cull_layer_desc *desc);

/* A new operation of `size` bytes that holds nothing but its frame, and its end. */
cull_status cull_cpu_layer_new(const cull_layer_desc *desc, size_t size, void *out);
void        cull_cpu_layer_free(cull_layer_op *op);

/* Rows [first, last) of part `task` when `rows` are cut into `parts`. */
static inline void cull_cpu_part(size_t rows, size_t parts, size_t task, size_t *first,
                                 size_t *last)
{
    *first = rows * task / parts;
    *last = rows * (task + 1) / parts;
}

enum { CULL_CPU_CHUNKS = 32 }; /* most parts that sums over rows are cut into */

static inline size_t cull_cpu_chunks(size_t rows)
{
    return rows < CULL_CPU_CHUNKS ? rows : CULL_CPU_CHUNKS;
}

/* Parts for work without sums: few enough to be worth waking a thread for. */
size_t cull_cpu_parts(const cull_backend *backend, size_t rows, size_t row);

static inline const cull_layer_loops *cull_cpu_loops(const cull_layer_op *op)
{
    return cull_cpu_kernels(op->backend)->layer;
}

static inline const cull_sequence_loops *cull_cpu_sequences(const cull_layer_op *op)
{
    return cull_cpu_kernels(op->backend)->sequence;
}

/* How far the parameters of one panel are repeated so that whole vectors can be read. */
static inline size_t cull_cpu_period(size_t block)
{
    size_t period = block;

    while (period % CULL_LAYER_STRIP) period += block;
    return period;
}

/* What a mask of this probability is drawn by: a word that is kept is more than *below. False: all
 * are kept. */
static inline bool cull_cpu_drops(double probability, uint32_t *below)
{
    *below = (uint32_t)((uint64_t)ceil(probability * 0x1p32) - 1);
    return probability > 0;
}

/* nn_move.c: channels [first, first + channels) of `from` become [to_first, ...) of `to`; the
 * strides pick pixels of the larger image. One row. */
typedef struct cull_cpu_move {
    cull_image from, to;
    int64_t    from_first, to_first, channels;
    int64_t    from_stride[2], to_stride[2];
    int64_t    height, width; /* pixels to move */
    bool       accumulate;
} cull_cpu_move;

void cull_cpu_move_row(const cull_cpu_move *move, const float *from, float *to);

#endif
