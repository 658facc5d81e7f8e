/* backend/cpu/nn_reorder.c - a reorder for every piece of the outermost dimension (nn_reorder.h).
 */
#include "backend/cpu/nn_reorder.h"

#include <string.h>

#include "base/alloc.h"

enum { LARGE = 1 << 16 }; /* bytes of weights worth sharing out */

struct piece {
    dnnl_stream_t    stream;
    dnnl_primitive_t primitive;
    dnnl_memory_t    from, to;
};

struct cull_reorder {
    size_t       pieces;
    struct piece piece[CULL_DNNL_PIECES];
};

/* `count` of dimension 0, from `first` on; false where the layout does not allow it. */
static bool cut(cull_layout *out, cull_layout_ref whole, const dnnl_dims_t size, int64_t first,
                int64_t count)
{
    dnnl_dims_t part = {0}, at = {first};

    memcpy(part, size, sizeof part);
    part[0] = count;
#if DNNL_VERSION_MAJOR >= 3
    return dnnl_memory_desc_create_submemory(out, whole, part, at) == dnnl_success;
#else
    return dnnl_memory_desc_init_submemory(out, whole, part, at) == dnnl_success;
#endif
}

/* How many of dimension 0 make a piece: large weights are cut where both layouts allow it. */
static int64_t piece_size(cull_layout_ref from, cull_layout_ref to, const dnnl_dims_t size)
{
    cull_layout one = {0}, other = {0};
    int64_t     part = size[0] / CULL_DNNL_PIECES;
    bool        large = dnnl_memory_desc_get_size(from) >= LARGE;
    bool cuts = large && size[0] % CULL_DNNL_PIECES == 0 && cut(&one, from, size, part, part) &&
                cut(&other, to, size, part, part);

    cull_layout_drop(&one);
    cull_layout_drop(&other);
    return cuts ? part : size[0];
}

static cull_status make_piece(dnnl_engine_t engine, cull_layout_ref from, cull_layout_ref to,
                              struct piece *piece)
{
    cull_status           status = CULL_OK;
    dnnl_primitive_desc_t pd = NULL;

    TRY(cull_dnnl_check(dnnl_reorder_primitive_desc_create(&pd, from, engine, to, engine, NULL),
                        "a reorder"));
    TRY(cull_dnnl_check(dnnl_primitive_create(&piece->primitive, pd), "a reorder"));
    TRY(cull_dnnl_check(dnnl_stream_create(&piece->stream, engine, dnnl_stream_default_flags),
                        "a stream"));
    TRY(cull_dnnl_check(dnnl_memory_create(&piece->from, from, engine, DNNL_MEMORY_NONE),
                        "a tensor"));
    TRY(cull_dnnl_check(dnnl_memory_create(&piece->to, to, engine, DNNL_MEMORY_NONE), "a tensor"));
done:
    if (pd) dnnl_primitive_desc_destroy(pd);
    return status;
}

cull_status cull_reorder_create(dnnl_engine_t engine, cull_layout_ref from, cull_layout_ref to,
                                const dnnl_dims_t size, cull_reorder **out)
{
    cull_status   status = CULL_OK;
    cull_reorder *reorder = NULL;
    cull_layout   one = {0}, other = {0};
    int64_t       count = piece_size(from, to, size);

    TRY(cull_base_alloc(1, sizeof *reorder, "a reorder", &reorder));
    for (int64_t first = 0; first < size[0]; first += count) {
        if (!cut(&one, from, size, first, count) || !cut(&other, to, size, first, count))
            FAIL(CULL_UNSUPPORTED, "oneDNN refuses to cut weights");
        TRY(make_piece(engine, REF(one), REF(other), &reorder->piece[reorder->pieces++]));
        cull_layout_drop(&one);
        cull_layout_drop(&other);
    }
    *out = reorder;
    reorder = NULL;
done:
    cull_layout_drop(&one);
    cull_layout_drop(&other);
    cull_reorder_destroy(reorder);
    return status;
}

void cull_reorder_destroy(cull_reorder *reorder)
{
    for (size_t i = 0; reorder && i < reorder->pieces; i++) {
        struct piece *piece = &reorder->piece[i];

        if (piece->from) dnnl_memory_destroy(piece->from);
        if (piece->to) dnnl_memory_destroy(piece->to);
        if (piece->primitive) dnnl_primitive_destroy(piece->primitive);
        if (piece->stream) dnnl_stream_destroy(piece->stream);
    }
    cull_base_free(reorder);
}

size_t cull_reorder_pieces(const cull_reorder *reorder)
{
    return reorder->pieces;
}

cull_status cull_reorder_run(cull_reorder *reorder, size_t piece, const void *from, void *to)
{
    cull_status         status = CULL_OK;
    int                 before = omp_get_max_threads();
    const struct piece *p = &reorder->piece[piece];
    dnnl_exec_arg_t     args[2] = {{DNNL_ARG_FROM, p->from}, {DNNL_ARG_TO, p->to}};

    omp_set_num_threads(1);
    TRY(cull_dnnl_check(dnnl_memory_set_data_handle(p->from, (void *)(uintptr_t)from), "a tensor"));
    TRY(cull_dnnl_check(dnnl_memory_set_data_handle(p->to, to), "a tensor"));
    TRY(cull_dnnl_check(dnnl_primitive_execute(p->primitive, p->stream, 2, args), "a reorder"));
    TRY(cull_dnnl_check(dnnl_stream_wait(p->stream), "to wait"));
done:
    omp_set_num_threads(before);
    return status;
}
