/*
 * backend/cpu/nn_dnnl.c - oneDNN 2 and 3 behind one face (see nn_dnnl.h).
 *
 * Activations are described in the layout they have (NCHW, NHWC, or blocks of 8 or 16 channels),
 * weights are left to the library. Scratch memory is ours, so that every byte is counted.
 */
#include "backend/cpu/nn_dnnl.h"

#include <stdio.h>
#include <string.h>

#include "backend/cpu/nn_reorder.h"
#include "base/alloc.h"

enum { X, W, B, Y, SCRATCH, TENSORS };
struct cull_dnnl {
    cull_dnnl_way    way;
    int              count;
    size_t           bytes; /* of the weights in own order */
    dnnl_engine_t    engine;
    dnnl_stream_t    stream;
    dnnl_primitive_t primitive;
    cull_reorder    *reorder; /* between canonical and own order; NULL when they agree */
    dnnl_memory_t    memory[TENSORS];
    dnnl_exec_arg_t  args[TENSORS];
    void            *scratch;
    char             name[64]; /* a copy: some of the library's lie in its descriptors */
};

/* A convolution as the library is told of it. */
struct shape {
    cull_layout x, w, b, y, canonical;
    int         dims; /* of the weights */
    dnnl_dims_t size;
    bool        bias;
    dnnl_dims_t stride, dilate, pad;
};

static cull_status describe(cull_layout *out, int dims, const dnnl_dims_t size,
                            dnnl_data_type_t type, dnnl_format_tag_t tag)
{
#if DNNL_VERSION_MAJOR >= 3
    return cull_dnnl_check(dnnl_memory_desc_create_with_tag(out, dims, size, type, tag),
                           "a layout");
#else
    return cull_dnnl_check(dnnl_memory_desc_init_by_tag(out, dims, size, type, tag), "a layout");
#endif
}

static void forget(struct shape *shape)
{
    cull_layout_drop(&shape->x);
    cull_layout_drop(&shape->w);
    cull_layout_drop(&shape->b);
    cull_layout_drop(&shape->y);
    cull_layout_drop(&shape->canonical);
}

static cull_status make_descriptor(dnnl_primitive_desc_t *out, cull_dnnl_way way,
                                   dnnl_engine_t engine, const struct shape *s,
                                   dnnl_primitive_desc_t hint, dnnl_primitive_attr_t attr)
{
    cull_layout_ref b = s->bias ? REF(s->b) : NULL;
    dnnl_status_t   status = dnnl_success;
#if DNNL_VERSION_MAJOR >= 3
    if (way == CULL_DNNL_FORWARD || way == CULL_DNNL_INT8)
        status = dnnl_convolution_forward_primitive_desc_create(
            out, engine, dnnl_forward_training, dnnl_convolution_direct, s->x, s->w, b, s->y,
            s->stride, s->dilate, s->pad, s->pad, attr);
    else if (way == CULL_DNNL_DATA)
        status = dnnl_convolution_backward_data_primitive_desc_create(
            out, engine, dnnl_convolution_direct, s->x, s->w, s->y, s->stride, s->dilate, s->pad,
            s->pad, hint, attr);
    else
        status = dnnl_convolution_backward_weights_primitive_desc_create(
            out, engine, dnnl_convolution_direct, s->x, s->w, b, s->y, s->stride, s->dilate, s->pad,
            s->pad, hint, attr);
#else
    dnnl_convolution_desc_t conv;

    if (way == CULL_DNNL_FORWARD || way == CULL_DNNL_INT8)
        status = dnnl_dilated_convolution_forward_desc_init(
            &conv, dnnl_forward_training, dnnl_convolution_direct, &s->x, &s->w, b, &s->y,
            s->stride, s->dilate, s->pad, s->pad);
    else if (way == CULL_DNNL_DATA)
        status = dnnl_dilated_convolution_backward_data_desc_init(&conv, dnnl_convolution_direct,
                                                                  &s->x, &s->w, &s->y, s->stride,
                                                                  s->dilate, s->pad, s->pad);
    else
        status = dnnl_dilated_convolution_backward_weights_desc_init(
            &conv, dnnl_convolution_direct, &s->x, &s->w, b, &s->y, s->stride, s->dilate, s->pad,
            s->pad);
    if (status == dnnl_success) status = dnnl_primitive_desc_create(out, &conv, attr, engine, hint);
#endif
    return cull_dnnl_check(status, "this convolution");
}

static size_t layout_size(cull_layout_ref l)
{
    return dnnl_memory_desc_get_size(l);
}

int cull_dnnl_major(void)
{
    return dnnl_version()->major;
}

int64_t cull_dnnl_width(void)
{
    /* every set of instructions with AVX-512 has this one's bits */
    unsigned core = (unsigned)dnnl_cpu_isa_avx512_core;
    unsigned has = (unsigned)dnnl_get_effective_cpu_isa();

    return (has & core) == core ? 16 : 8;
}

/* Without VNNI two products are first added in 16 bits, which saturate: 2 * 255 * 64 < 2^15. */
int cull_dnnl_largest_weight(void)
{
    unsigned wide = (unsigned)dnnl_cpu_isa_avx512_core_vnni,
             narrow = (unsigned)dnnl_cpu_isa_avx2_vnni;
    unsigned has = (unsigned)dnnl_get_effective_cpu_isa();

    return (has & wide) == wide || (has & narrow) == narrow ? 127 : 64;
}

/* ---- what follows is the same for both versions ------------------------------------------ */

/*
 * The library's name for a layout. Some memory has several: one pixel, one channel, or as many
 * channels as a block are the same in more than one layout, and then the other side decides, since
 * the fast implementations want both alike.
 */
static dnnl_format_tag_t tag_of(const cull_image *image, const cull_image *other)
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

static cull_status image_layout(cull_layout *out, const cull_image *image, const cull_image *other)
{
    dnnl_dims_t       size = {image->n, image->c, image->h, image->w};
    dnnl_format_tag_t tag = tag_of(image, other);

    if (tag == dnnl_format_tag_undef)
        return cull_fail(CULL_UNSUPPORTED, "no convolution takes blocks of %lld channels",
                         (long long)image->block);
    return describe(out, 4, size, dnnl_f32, tag);
}

static cull_status image_bytes(cull_layout *out, const cull_image *image, dnnl_data_type_t type)
{
    return describe(out, 4, (dnnl_dims_t){image->n, image->c, image->h, image->w}, type, dnnl_nhwc);
}

static cull_status make_shape(const cull_layer_desc *d, cull_dnnl_way way, struct shape *s)
{
    cull_status      status = CULL_OK;
    bool             grouped = d->groups > 1, bytes = way == CULL_DNNL_INT8;
    dnnl_dims_t      plain = {d->y.c, d->x.c, d->kernel[0], d->kernel[1]};
    dnnl_dims_t      parts = {d->groups, d->y.c / d->groups, d->x.c / d->groups, d->kernel[0],
                              d->kernel[1]};
    dnnl_dims_t      bias = {d->y.c};
    dnnl_data_type_t type = bytes ? dnnl_s8 : dnnl_f32;

    s->dims = grouped ? 5 : 4;
    memcpy(s->size, grouped ? parts : plain, sizeof s->size);
    TRY(bytes ? image_bytes(&s->x, &d->x, dnnl_u8) : image_layout(&s->x, &d->x, &d->y));
    TRY(bytes ? image_bytes(&s->y, &d->y, dnnl_s32) : image_layout(&s->y, &d->y, &d->x));
    TRY(describe(&s->w, s->dims, s->size, type, dnnl_format_tag_any));
    TRY(describe(&s->canonical, s->dims, s->size, type, grouped ? dnnl_abcde : dnnl_abcd));
    TRY(describe(&s->b, 1, bias, dnnl_f32, dnnl_a));
    s->bias = d->bias && !bytes;
    for (int i = 0; i < 2; i++) {
        s->stride[i] = d->stride[i];
        s->dilate[i] = d->dilation[i] - 1; /* oneDNN counts the pixels between */
        s->pad[i] = d->pad[i];
    }
done:
    return status;
}

static cull_status add_tensor(cull_dnnl *dnnl, int tensor, int arg, cull_layout_ref l, void *data)
{
    cull_status status = CULL_OK;

    TRY(cull_dnnl_check(dnnl_memory_create(&dnnl->memory[tensor], l, dnnl->engine, data),
                        "a tensor"));
    dnnl->args[dnnl->count++] = (dnnl_exec_arg_t){arg, dnnl->memory[tensor]};
done:
    return status;
}

/* Weights in the primitive's order, and the reorder from (or to) the canonical one. */
static cull_status add_weights(cull_dnnl *dnnl, dnnl_primitive_desc_t pd, const struct shape *s)
{
    cull_status     status = CULL_OK;
    bool            out = dnnl->way == CULL_DNNL_WEIGHTS;
    cull_layout_ref own = dnnl_primitive_desc_query_md(
        pd, out ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);

    dnnl->bytes = layout_size(own);
    if (!dnnl_memory_desc_equal(own, REF(s->canonical)))
        TRY(cull_reorder_create(dnnl->engine, out ? own : REF(s->canonical),
                                out ? REF(s->canonical) : own, s->size, &dnnl->reorder));
    TRY(add_tensor(dnnl, W, out ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, own, DNNL_MEMORY_NONE));
done:
    return status;
}

static cull_status add_tensors(cull_dnnl *dnnl, dnnl_primitive_desc_t pd, const struct shape *s)
{
    cull_status     status = CULL_OK;
    cull_layout_ref scratch = dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    bool            out = dnnl->way == CULL_DNNL_WEIGHTS;
    bool            forward = dnnl->way != CULL_DNNL_DATA && !out;

    TRY(add_tensor(dnnl, X, dnnl->way == CULL_DNNL_DATA ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC,
                   REF(s->x), DNNL_MEMORY_NONE));
    TRY(add_tensor(dnnl, Y, forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, REF(s->y),
                   DNNL_MEMORY_NONE));
    TRY(add_weights(dnnl, pd, s));
    if (s->bias && dnnl->way != CULL_DNNL_DATA)
        TRY(add_tensor(dnnl, B, out ? DNNL_ARG_DIFF_BIAS : DNNL_ARG_BIAS, REF(s->b),
                       DNNL_MEMORY_NONE));
    TRY(cull_base_alloc_aligned(layout_size(scratch), 1, "a convolution", &dnnl->scratch));
    TRY(add_tensor(dnnl, SCRATCH, DNNL_ARG_SCRATCHPAD, scratch, dnnl->scratch));
done:
    return status;
}

static cull_status prepare(cull_dnnl *dnnl, const struct shape *s)
{
    cull_status           status = CULL_OK;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t hint = NULL, pd = NULL;
    const char           *name = NULL;

    TRY(cull_dnnl_check(dnnl_engine_create(&dnnl->engine, dnnl_cpu, 0), "an engine"));
    TRY(cull_dnnl_check(dnnl_stream_create(&dnnl->stream, dnnl->engine, dnnl_stream_default_flags),
                        "a stream"));
    TRY(cull_dnnl_check(dnnl_primitive_attr_create(&attr), "attributes"));
    TRY(cull_dnnl_check(dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user),
                        "attributes"));
    if (dnnl->way == CULL_DNNL_DATA || dnnl->way == CULL_DNNL_WEIGHTS)
        TRY(make_descriptor(&hint, CULL_DNNL_FORWARD, dnnl->engine, s, NULL, attr));
    TRY(make_descriptor(&pd, dnnl->way, dnnl->engine, s, hint, attr));
    TRY(cull_dnnl_check(dnnl_primitive_create(&dnnl->primitive, pd), "this convolution"));
    TRY(cull_dnnl_check(dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name),
                        "a name"));
    (void)snprintf(dnnl->name, sizeof dnnl->name, "%s", name);
    TRY(add_tensors(dnnl, pd, s));
done:
    if (attr) dnnl_primitive_attr_destroy(attr);
    if (hint) dnnl_primitive_desc_destroy(hint);
    if (pd) dnnl_primitive_desc_destroy(pd);
    return status;
}

cull_status cull_dnnl_create(const cull_layer_desc *desc, cull_dnnl_way way, cull_dnnl **out)
{
    cull_status  status = CULL_OK;
    cull_dnnl   *dnnl = NULL;
    struct shape shape = {0};
    int          before = omp_get_max_threads();

    omp_set_num_threads(1);
    TRY(cull_base_alloc(1, sizeof *dnnl, "a convolution", &dnnl));
    dnnl->way = way;
    TRY(make_shape(desc, way, &shape));
    TRY(prepare(dnnl, &shape));
    *out = dnnl;
    dnnl = NULL;
done:
    omp_set_num_threads(before);
    forget(&shape);
    cull_dnnl_destroy(dnnl);
    return status;
}

void cull_dnnl_destroy(cull_dnnl *dnnl)
{
    if (!dnnl) return;
    for (int i = 0; i < TENSORS; i++)
        if (dnnl->memory[i]) dnnl_memory_destroy(dnnl->memory[i]);
    cull_reorder_destroy(dnnl->reorder);
    if (dnnl->primitive) dnnl_primitive_destroy(dnnl->primitive);
    if (dnnl->stream) dnnl_stream_destroy(dnnl->stream);
    if (dnnl->engine) dnnl_engine_destroy(dnnl->engine);
    cull_base_free_aligned(dnnl->scratch);
    cull_base_free(dnnl);
}

static cull_status point(dnnl_memory_t memory, const void *data)
{
    return memory ? cull_dnnl_check(dnnl_memory_set_data_handle(memory, (void *)(uintptr_t)data),
                                    "a tensor")
                  : CULL_OK;
}

size_t cull_dnnl_weights(const cull_dnnl *dnnl)
{
    return dnnl->bytes;
}

bool cull_dnnl_alike(const cull_dnnl *a, const cull_dnnl *b)
{
    cull_layout_ref one = NULL, other = NULL;

    return dnnl_memory_get_memory_desc(a->memory[W], &one) == dnnl_success &&
           dnnl_memory_get_memory_desc(b->memory[W], &other) == dnnl_success &&
           dnnl_memory_desc_equal(one, other);
}

size_t cull_dnnl_pieces(const cull_dnnl *dnnl)
{
    return dnnl->reorder ? cull_reorder_pieces(dnnl->reorder) : 1;
}

cull_status cull_dnnl_bring(cull_dnnl *dnnl, size_t piece, void *canonical, void *own)
{
    bool  out = dnnl->way == CULL_DNNL_WEIGHTS;
    void *from = out ? own : canonical, *to = out ? canonical : own;

    if (dnnl->reorder) return cull_reorder_run(dnnl->reorder, piece, from, to);
    memcpy(to, from, dnnl->bytes);
    return CULL_OK;
}

cull_status cull_dnnl_run(cull_dnnl *dnnl, const void *x, void *w, const void *b, const void *y)
{
    cull_status status = CULL_OK;
    int         before = omp_get_max_threads();

    omp_set_num_threads(1);
    TRY(point(dnnl->memory[X], x));
    TRY(point(dnnl->memory[Y], y));
    TRY(point(dnnl->memory[B], b));
    TRY(point(dnnl->memory[W], w));
    TRY(cull_dnnl_check(
        dnnl_primitive_execute(dnnl->primitive, dnnl->stream, dnnl->count, dnnl->args),
        "to run a convolution"));
    TRY(cull_dnnl_check(dnnl_stream_wait(dnnl->stream), "to wait"));
done:
    omp_set_num_threads(before);
    return status;
}

const char *cull_dnnl_name(const cull_dnnl *dnnl)
{
    return dnnl->name;
}
