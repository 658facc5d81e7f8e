/*
 * backend/cpu/nn_dnnl.c - oneDNN 2 and 3 behind one face (see nn_dnnl.h).
 *
 * Activations are described in the layout they have (NCHW, NHWC, or blocks of 8 or 16 channels),
 * weights are left to the library. Scratch memory is ours, so that every byte is counted.
 */
#include "backend/cpu/nn_dnnl.h"

#include <dnnl.h>
#include <string.h>

#include "base/alloc.h"

/* Of the OpenMP runtime that oneDNN uses; omp.h comes with compilers, not with the library. */
extern void omp_set_num_threads(int threads);
extern int  omp_get_max_threads(void);

enum { X, W, B, Y, SCRATCH, TENSORS };

struct cull_dnnl {
    cull_dnnl_way    way;
    int              count;
    size_t           bytes; /* of the weights in own order */
    dnnl_engine_t    engine;
    dnnl_stream_t    stream;
    dnnl_primitive_t primitive, reorder; /* reorder: NULL when the orders agree */
    dnnl_memory_t    memory[TENSORS], canonical;
    dnnl_exec_arg_t  args[TENSORS];
    void            *scratch;
    const char      *name;
};

#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t       layout;
typedef const_dnnl_memory_desc_t layout_ref;
#define REF(layout) (layout)
#else
typedef dnnl_memory_desc_t        layout;
typedef const dnnl_memory_desc_t *layout_ref;
#define REF(layout) (&(layout))
#endif

/* A convolution as the library is told of it. */
struct shape {
    layout      x, w, b, y, canonical;
    bool        bias;
    dnnl_dims_t stride, dilate, pad;
};

static cull_status check(dnnl_status_t status, const char *what)
{
    if (status == dnnl_success) return CULL_OK;
    if (status == dnnl_out_of_memory) return cull_fail(CULL_NO_MEMORY, "no memory for %s", what);
    return cull_fail(CULL_UNSUPPORTED, "oneDNN refuses %s (status %d)", what, (int)status);
}

static cull_status describe(layout *out, int dims, const dnnl_dims_t size, dnnl_format_tag_t tag)
{
#if DNNL_VERSION_MAJOR >= 3
    return check(dnnl_memory_desc_create_with_tag(out, dims, size, dnnl_f32, tag), "a layout");
#else
    return check(dnnl_memory_desc_init_by_tag(out, dims, size, dnnl_f32, tag), "a layout");
#endif
}

static void forget(struct shape *shape)
{
#if DNNL_VERSION_MAJOR >= 3
    dnnl_memory_desc_destroy(shape->x);
    dnnl_memory_desc_destroy(shape->w);
    dnnl_memory_desc_destroy(shape->b);
    dnnl_memory_desc_destroy(shape->y);
    dnnl_memory_desc_destroy(shape->canonical);
#endif
    *shape = (struct shape){0};
}

static cull_status make_descriptor(dnnl_primitive_desc_t *out, cull_dnnl_way way,
                                   dnnl_engine_t engine, const struct shape *s,
                                   dnnl_primitive_desc_t hint, dnnl_primitive_attr_t attr)
{
    layout_ref    b = s->bias ? REF(s->b) : NULL;
    dnnl_status_t status = dnnl_success;
#if DNNL_VERSION_MAJOR >= 3
    if (way == CULL_DNNL_FORWARD)
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

    if (way == CULL_DNNL_FORWARD)
        status = dnnl_convolution_forward_desc_init(&conv, dnnl_forward_training,
                                                    dnnl_convolution_direct, &s->x, &s->w, b, &s->y,
                                                    s->stride, s->pad, s->pad);
    else if (way == CULL_DNNL_DATA)
        status = dnnl_convolution_backward_data_desc_init(&conv, dnnl_convolution_direct, &s->x,
                                                          &s->w, &s->y, s->stride, s->pad, s->pad);
    else
        status = dnnl_convolution_backward_weights_desc_init(
            &conv, dnnl_convolution_direct, &s->x, &s->w, b, &s->y, s->stride, s->pad, s->pad);
    if (status == dnnl_success) status = dnnl_primitive_desc_create(out, &conv, attr, engine, hint);
#endif
    return check(status, "this convolution");
}

static size_t layout_size(layout_ref l)
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

static cull_status image_layout(layout *out, const cull_image *image, const cull_image *other)
{
    dnnl_dims_t       size = {image->n, image->c, image->h, image->w};
    dnnl_format_tag_t tag = tag_of(image, other);

    if (tag == dnnl_format_tag_undef)
        return cull_fail(CULL_UNSUPPORTED, "no convolution takes blocks of %lld channels",
                         (long long)image->block);
    return describe(out, 4, size, tag);
}

static cull_status make_shape(const cull_layer_desc *d, struct shape *s)
{
    cull_status status = CULL_OK;
    bool        grouped = d->groups > 1;
    dnnl_dims_t plain = {d->y.c, d->x.c, d->kernel[0], d->kernel[1]};
    dnnl_dims_t parts = {d->groups, d->y.c / d->groups, d->x.c / d->groups, d->kernel[0],
                         d->kernel[1]};
    dnnl_dims_t bias = {d->y.c};
    int         dims = grouped ? 5 : 4;

    TRY(image_layout(&s->x, &d->x, &d->y));
    TRY(image_layout(&s->y, &d->y, &d->x));
    TRY(describe(&s->w, dims, grouped ? parts : plain, dnnl_format_tag_any));
    TRY(describe(&s->canonical, dims, grouped ? parts : plain, grouped ? dnnl_abcde : dnnl_abcd));
    TRY(describe(&s->b, 1, bias, dnnl_a));
    s->bias = d->bias;
    for (int i = 0; i < 2; i++) {
        s->stride[i] = d->stride[i];
        s->pad[i] = d->pad[i];
    }
done:
    return status;
}

static cull_status add_tensor(cull_dnnl *dnnl, int tensor, int arg, layout_ref l, void *data)
{
    cull_status status = CULL_OK;

    TRY(check(dnnl_memory_create(&dnnl->memory[tensor], l, dnnl->engine, data), "a tensor"));
    dnnl->args[dnnl->count++] = (dnnl_exec_arg_t){arg, dnnl->memory[tensor]};
done:
    return status;
}

/* Weights in the primitive's order, and the reorder from (or to) the canonical one. */
static cull_status add_weights(cull_dnnl *dnnl, dnnl_primitive_desc_t pd, const struct shape *s)
{
    cull_status           status = CULL_OK;
    dnnl_primitive_desc_t reorder = NULL;
    bool                  out = dnnl->way == CULL_DNNL_WEIGHTS;
    layout_ref            own = dnnl_primitive_desc_query_md(
                   pd, out ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);

    if (!dnnl_memory_desc_equal(own, REF(s->canonical))) {
        TRY(check(dnnl_reorder_primitive_desc_create(&reorder, out ? own : REF(s->canonical),
                                                     dnnl->engine, out ? REF(s->canonical) : own,
                                                     dnnl->engine, NULL),
                  "a reorder"));
        TRY(check(dnnl_primitive_create(&dnnl->reorder, reorder), "a reorder"));
        TRY(check(
            dnnl_memory_create(&dnnl->canonical, REF(s->canonical), dnnl->engine, DNNL_MEMORY_NONE),
            "a tensor"));
    }
    dnnl->bytes = layout_size(own);
    TRY(add_tensor(dnnl, W, out ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, own, DNNL_MEMORY_NONE));
done:
    if (reorder) dnnl_primitive_desc_destroy(reorder);
    return status;
}

static cull_status add_tensors(cull_dnnl *dnnl, dnnl_primitive_desc_t pd, const struct shape *s)
{
    cull_status status = CULL_OK;
    layout_ref  scratch = dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    bool        forward = dnnl->way == CULL_DNNL_FORWARD, out = dnnl->way == CULL_DNNL_WEIGHTS;

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

    TRY(check(dnnl_engine_create(&dnnl->engine, dnnl_cpu, 0), "an engine"));
    TRY(check(dnnl_stream_create(&dnnl->stream, dnnl->engine, dnnl_stream_default_flags),
              "a stream"));
    TRY(check(dnnl_primitive_attr_create(&attr), "attributes"));
    TRY(check(dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user),
              "attributes"));
    if (dnnl->way != CULL_DNNL_FORWARD)
        TRY(make_descriptor(&hint, CULL_DNNL_FORWARD, dnnl->engine, s, NULL, attr));
    TRY(make_descriptor(&pd, dnnl->way, dnnl->engine, s, hint, attr));
    TRY(check(dnnl_primitive_create(&dnnl->primitive, pd), "this convolution"));
    TRY(check(dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &dnnl->name), "a name"));
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
    TRY(make_shape(desc, &shape));
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
    if (dnnl->canonical) dnnl_memory_destroy(dnnl->canonical);
    if (dnnl->reorder) dnnl_primitive_destroy(dnnl->reorder);
    if (dnnl->primitive) dnnl_primitive_destroy(dnnl->primitive);
    if (dnnl->stream) dnnl_stream_destroy(dnnl->stream);
    if (dnnl->engine) dnnl_engine_destroy(dnnl->engine);
    cull_base_free_aligned(dnnl->scratch);
    cull_base_free(dnnl);
}

static cull_status point(dnnl_memory_t memory, const void *data)
{
    return memory ? check(dnnl_memory_set_data_handle(memory, (void *)(uintptr_t)data), "a tensor")
                  : CULL_OK;
}

size_t cull_dnnl_weights(const cull_dnnl *dnnl)
{
    return dnnl->bytes;
}

cull_status cull_dnnl_bring(cull_dnnl *dnnl, void *canonical, void *own)
{
    cull_status     status = CULL_OK;
    int             before = omp_get_max_threads();
    bool            out = dnnl->way == CULL_DNNL_WEIGHTS;
    dnnl_exec_arg_t args[2] = {{DNNL_ARG_FROM, out ? dnnl->memory[W] : dnnl->canonical},
                               {DNNL_ARG_TO, out ? dnnl->canonical : dnnl->memory[W]}};

    if (!dnnl->reorder) {
        memcpy(out ? canonical : own, out ? own : canonical, dnnl->bytes);
        return CULL_OK;
    }
    omp_set_num_threads(1);
    TRY(point(dnnl->canonical, canonical));
    TRY(point(dnnl->memory[W], own));
    TRY(check(dnnl_primitive_execute(dnnl->reorder, dnnl->stream, 2, args), "a reorder"));
    TRY(check(dnnl_stream_wait(dnnl->stream), "to wait"));
done:
    omp_set_num_threads(before);
    return status;
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
    TRY(check(dnnl_primitive_execute(dnnl->primitive, dnnl->stream, dnnl->count, dnnl->args),
              "to run a convolution"));
    TRY(check(dnnl_stream_wait(dnnl->stream), "to wait"));
done:
    omp_set_num_threads(before);
    return status;
}

const char *cull_dnnl_name(const cull_dnnl *dnnl)
{
    return dnnl->name;
}
