/*
 * backend/cpu/nn_dnnl.c - oneDNN 2 and 3 behind one face (see nn_dnnl.h).
 *
 * Activations are described in the layout they have (NCHW, NHWC, or blocks of 8 or 16 channels),
 * weights are left to the library. Scratch memory is ours, so that every byte is counted; in builds
 * with sanitizers, which cannot see into code made while running, a zone behind it is looked at
 * after every run.
 */
#include "backend/cpu/nn_dnnl.h"

#include <stdio.h>
#include <string.h>

#include "backend/cpu/nn_reorder.h"
#include "backend/cpu/nn_tags.h"
#include "base/alloc.h"

#ifdef CULL_SANITIZED
enum { GUARD = 1 << 13 }; /* bytes behind the scratchpad that nobody may write */
#else
enum { GUARD = 0 };
#endif
enum { UNTOUCHED = 0xa5 };

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
    unsigned char   *scratch;
    size_t           booked;   /* bytes of it */
    char             name[64]; /* a copy: some of the library's lie in its descriptors */
};

/* A convolution as the library is told of it. */
struct shape {
    cull_layout x, w, b, y, canonical;
    int         dims; /* of the weights */
    dnnl_dims_t size;
    bool        bias;
    dnnl_dims_t stride, dilate, pad;
    const char *avoid; /* part of the name of implementations not to be used, or NULL */
};

static bool is_named(const_dnnl_primitive_desc_t pd, const char *part)
{
    const char *own = NULL;

    return part &&
           dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, (void *)&own) ==
               dnnl_success &&
           strstr(own, part);
}

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

#if DNNL_VERSION_MAJOR < 3
/* The first implementation of a convolution that is not to be avoided. */
static dnnl_status_t first_of(dnnl_primitive_desc_t *out, const dnnl_convolution_desc_t *conv,
                              dnnl_engine_t engine, dnnl_primitive_desc_t hint,
                              dnnl_primitive_attr_t attr, const char *avoid)
{
    dnnl_primitive_desc_iterator_t all = NULL;
    dnnl_status_t status = dnnl_primitive_desc_iterator_create(&all, conv, attr, engine, hint);

    while (status == dnnl_success) {
        *out = dnnl_primitive_desc_iterator_fetch(all);
        if (!*out) status = dnnl_out_of_memory;
        if (!*out || !is_named(*out, avoid)) break;
        dnnl_primitive_desc_destroy(*out);
        *out = NULL;
        status = dnnl_primitive_desc_iterator_next(all);
    }
    if (all) dnnl_primitive_desc_iterator_destroy(all);
    return status;
}
#endif

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
    while (status == dnnl_success && is_named(*out, s->avoid))
        status = dnnl_primitive_desc_next_impl(*out);
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
    if (status == dnnl_success) status = first_of(out, &conv, engine, hint, attr, s->avoid);
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

static cull_status image_layout(cull_layout *out, const cull_image *image, dnnl_format_tag_t tag)
{
    return describe(out, 4, (dnnl_dims_t){image->n, image->c, image->h, image->w}, dnnl_f32, tag);
}

static cull_status image_bytes(cull_layout *out, const cull_image *image, dnnl_data_type_t type)
{
    return describe(out, 4, (dnnl_dims_t){image->n, image->c, image->h, image->w}, type, dnnl_nhwc);
}

/*
 * With vectors of 8, the gradient of 1x1 weights gathers strided pixels into its scratchpad whole
 * vectors at a time: with fewer channels than a vector has, it writes beyond (oneDNN 2.6 books 896
 * bytes and touches up to 1,056 more). With AMX, oneDNN 2.6 computes in 8 bits by tiles that it has
 * not configured, and dies of an illegal instruction.
 */
static const char *avoided(const cull_layer_desc *d, cull_dnnl_way way)
{
    bool strided = d->stride[0] > 1 || d->stride[1] > 1;
    bool single = d->kernel[0] == 1 && d->kernel[1] == 1;

    if (way == CULL_DNNL_INT8 && DNNL_VERSION_MAJOR < 3) return "_amx";
    return way == CULL_DNNL_WEIGHTS && single && strided && d->x.c < 8 ? "jit_1x1:avx2" : NULL;
}

static cull_status make_shape(const cull_layer_desc *d, cull_dnnl_way way,
                              const cull_dnnl_tags *tags, struct shape *s)
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
    TRY(bytes ? image_bytes(&s->x, &d->x, dnnl_u8) : image_layout(&s->x, &d->x, tags->x));
    TRY(bytes ? image_bytes(&s->y, &d->y, dnnl_s32) : image_layout(&s->y, &d->y, tags->y));
    TRY(describe(&s->w, s->dims, s->size, type, dnnl_format_tag_any));
    TRY(describe(&s->canonical, s->dims, s->size, type, grouped ? dnnl_abcde : dnnl_abcd));
    TRY(describe(&s->b, 1, bias, dnnl_f32, dnnl_a));
    s->bias = d->bias && !bytes;
    s->avoid = avoided(d, way);
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
    dnnl->booked = layout_size(scratch);
    TRY(cull_base_alloc_aligned(dnnl->booked + GUARD, 1, "a convolution", &dnnl->scratch));
    for (int i = 0; i < GUARD; i++) dnnl->scratch[dnnl->booked + (size_t)i] = UNTOUCHED;
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

static cull_status make(const cull_layer_desc *desc, cull_dnnl_way way, const cull_dnnl_tags *tags,
                        cull_dnnl **out)
{
    cull_status  status = CULL_OK;
    cull_dnnl   *dnnl = NULL;
    struct shape shape = {0};

    TRY(cull_base_alloc(1, sizeof *dnnl, "a convolution", &dnnl));
    dnnl->way = way;
    TRY(make_shape(desc, way, tags, &shape));
    TRY(prepare(dnnl, &shape));
    *out = dnnl;
    dnnl = NULL;
done:
    forget(&shape);
    cull_dnnl_destroy(dnnl);
    return status;
}

/* Plain loops, which are a hundred times slower than the others. */
static bool is_plain(const cull_dnnl *dnnl)
{
    return strncmp(dnnl->name, "ref", 3) == 0;
}

cull_status cull_dnnl_create(const cull_layer_desc *desc, cull_dnnl_way way, cull_dnnl **out)
{
    cull_status    status = CULL_OK;
    cull_dnnl     *best = NULL;
    cull_dnnl_tags tags = {dnnl_nhwc, dnnl_nhwc};
    int            before = omp_get_max_threads();

    omp_set_num_threads(1);
    if (way != CULL_DNNL_INT8 && !cull_dnnl_tags_at(desc, 0, &tags))
        FAIL(CULL_UNSUPPORTED, "no convolution takes blocks of %lld and %lld channels",
             (long long)desc->x.block, (long long)desc->y.block);
    TRY(make(desc, way, &tags, &best));
    for (size_t i = 1; way != CULL_DNNL_INT8 && is_plain(best) && cull_dnnl_tags_at(desc, i, &tags);
         i++) {
        cull_dnnl *other = NULL;

        TRY(make(desc, way, &tags, &other));
        if (is_plain(other)) {
            cull_dnnl_destroy(other);
        } else {
            cull_dnnl_destroy(best);
            best = other;
        }
    }
    *out = best;
    best = NULL;
done:
    omp_set_num_threads(before);
    cull_dnnl_destroy(best);
    return status;
}

/* Is there an implementation under these names that is not plain loops? */
static bool is_fast(const cull_layer_desc *desc, cull_dnnl_way way, const cull_dnnl_tags *tags)
{
    dnnl_engine_t         engine = NULL;
    dnnl_primitive_desc_t hint = NULL, pd = NULL;
    struct shape          shape = {0};
    const char           *name = "ref";
    bool                  ok = dnnl_engine_create(&engine, dnnl_cpu, 0) == dnnl_success &&
              make_shape(desc, way, tags, &shape) == CULL_OK;

    if (ok && way != CULL_DNNL_FORWARD)
        ok = make_descriptor(&hint, CULL_DNNL_FORWARD, engine, &shape, NULL, NULL) == CULL_OK;
    if (ok && make_descriptor(&pd, way, engine, &shape, hint, NULL) == CULL_OK)
        (void)dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, (void *)&name);
    ok = strncmp(name, "ref", 3) != 0;
    forget(&shape);
    if (hint) dnnl_primitive_desc_destroy(hint);
    if (pd) dnnl_primitive_desc_destroy(pd);
    if (engine) dnnl_engine_destroy(engine);
    return ok;
}

bool cull_dnnl_fast(const cull_layer_desc *desc, cull_dnnl_way way)
{
    cull_dnnl_tags tags;
    int            before = omp_get_max_threads();
    bool           fast = false;

    omp_set_num_threads(1);
    for (size_t i = 0; !fast && cull_dnnl_tags_at(desc, i, &tags); i++)
        fast = is_fast(desc, way, &tags);
    omp_set_num_threads(before);
    return fast;
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

static cull_status check_guard(const cull_dnnl *dnnl)
{
    for (int i = 0; i < GUARD; i++)
        if (dnnl->scratch[dnnl->booked + (size_t)i] != UNTOUCHED)
            return cull_fail(CULL_BAD_STATE, "oneDNN's %s wrote beyond its scratchpad of %zu bytes",
                             dnnl->name, dnnl->booked);
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
    TRY(check_guard(dnnl));
done:
    omp_set_num_threads(before);
    return status;
}

const char *cull_dnnl_name(const cull_dnnl *dnnl)
{
    return dnnl->name;
}
