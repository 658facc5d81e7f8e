/*
 * backend/kept.c - rows that are gone back through, gathered from those that were scored.
 *
 *     gather    to[i] = from[index[i]]; gather_all: of many arrays, by the same numbers
 *     kept      loss, target, place and p of row index[i]; dlogits_i = w_i p_i / rows
 */
#include <string.h>

#include "backend/backend.h"
#include "base/alloc.h"

cull_status cull_host_create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    (void)backend;
    (void)desc;
    return cull_base_alloc(1, sizeof **out, "an operation", out);
}

void cull_host_destroy(cull_op *op)
{
    cull_base_free(op);
}

static cull_status take(const cull_gathered *array, const uint32_t *index, size_t rows, size_t held)
{
    size_t bytes = array->bytes;

    for (size_t i = 0; i < rows; i++) {
        if (index[i] >= held)
            return cull_fail(CULL_BAD_ARGUMENT, "row %u of %zu is not there", index[i], held);
        memcpy((char *)array->to + i * bytes, (const char *)array->from + index[i] * bytes, bytes);
    }
    return CULL_OK;
}

static cull_status gather(cull_op *op, const cull_op_args *args)
{
    cull_gathered array = {args->gather.from, args->gather.to, args->gather.bytes};

    (void)op;
    return take(&array, args->gather.index, args->gather.rows, args->gather.held);
}

static cull_status gather_all(cull_op *op, const cull_op_args *args)
{
    cull_status status = CULL_OK;

    (void)op;
    for (size_t i = 0; i < args->gather_all.count; i++)
        TRY(take(&args->gather_all.list[i], args->gather_all.index, args->gather_all.rows,
                 args->gather_all.held));
done:
    return status;
}

#define KEEP_ROW(name, T)                                                                          \
    static void name(double scale, size_t classes, const T *from, T *p, T *gradient)               \
    {                                                                                              \
        for (size_t k = 0; k < classes; k++) {                                                     \
            p[k] = from[k];                                                                        \
            gradient[k] = (T)(scale * (double)from[k]);                                            \
        }                                                                                          \
    }

KEEP_ROW(keep_f32, float)
KEEP_ROW(keep_f64, double)

static cull_status kept(cull_op *op, const cull_op_args *args)
{
    size_t rows = args->kept.rows, classes = args->kept.classes;

    (void)op;
    for (size_t i = 0; i < rows; i++) {
        size_t from = args->kept.index[i], source = from * classes, at = i * classes;
        size_t bytes = args->kept.target_bytes;
        double scale = args->kept.chosen[i] / (double)rows;

        memcpy((char *)args->kept.target + i * bytes,
               (const char *)args->kept.from_target + from * bytes, bytes);
        args->kept.place[i] = args->kept.from_place[from];
        args->kept.loss[i] = args->kept.from_loss[from];
        args->kept.share[i] = args->kept.constants ? 0 : args->kept.chosen[i];
        if (args->kept.dtype == CULL_F32)
            keep_f32(scale, classes, (const float *)args->kept.from_p + source,
                     (float *)args->kept.p + at, (float *)args->kept.gradient + at);
        else
            keep_f64(scale, classes, (const double *)args->kept.from_p + source,
                     (double *)args->kept.p + at, (double *)args->kept.gradient + at);
    }
    return CULL_OK;
}

const cull_op_class cull_host_gather = {cull_host_create, gather, cull_host_destroy};
const cull_op_class cull_host_gather_all = {cull_host_create, gather_all, cull_host_destroy};
const cull_op_class cull_host_kept = {cull_host_create, kept, cull_host_destroy};
