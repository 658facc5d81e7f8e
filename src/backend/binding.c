/* backend/binding.c - what bindings ask of a backend: the caller's stream, memory of its own, and a
 * subset's arrays in the types of other libraries. */
#include "backend/backend.h"
#include "base/sized.h"
#include "tensor/tensor.h"

static cull_status check_backend(const cull_backend *backend)
{
    if (backend) return CULL_OK;
    return cull_fail(CULL_BAD_ARGUMENT, "a backend must be given");
}

cull_status cull_backend_follow(cull_backend *backend, void *stream)
{
    cull_status status = CULL_OK;

    TRY(check_backend(backend));
    if (backend->class->queue->follow) TRY(backend->class->queue->follow(backend, stream));
done:
    return status;
}

cull_status cull_backend_leave(cull_backend *backend)
{
    cull_status status = CULL_OK;

    TRY(check_backend(backend));
    if (backend->class->queue->leave) TRY(backend->class->queue->leave(backend));
done:
    return status;
}

cull_status cull_memory_allocate(cull_backend *backend, size_t bytes, void **out)
{
    cull_status status = CULL_OK;

    if (out) *out = NULL;
    TRY(check_backend(backend));
    if (!out) FAIL(CULL_BAD_ARGUMENT, "memory: a place for the array is needed");
    TRY(cull_backend_allocate(backend, bytes, 1, "an array", out));
done:
    return status;
}

void cull_memory_release(cull_backend *backend, void *data)
{
    if (backend) cull_backend_release(backend, data);
}

static cull_status check_move(const cull_backend *backend, const void *to, const void *from,
                              size_t bytes)
{
    cull_status status = CULL_OK;

    TRY(check_backend(backend));
    if (bytes && (!to || !from)) FAIL(CULL_BAD_ARGUMENT, "memory: two arrays are needed");
done:
    return status;
}

cull_status cull_memory_upload(cull_backend *backend, void *to, const void *from, size_t bytes)
{
    cull_status status = CULL_OK;

    TRY(check_move(backend, to, from, bytes));
    TRY(cull_backend_upload(backend, to, from, bytes));
done:
    return status;
}

cull_status cull_memory_download(cull_backend *backend, void *to, const void *from, size_t bytes)
{
    cull_status status = CULL_OK;

    TRY(check_move(backend, to, from, bytes));
    TRY(cull_backend_download(backend, to, from, bytes));
done:
    return status;
}

/* One operation, of those that the backend keeps; NULL is the host's. */
static cull_status run_once(cull_backend *backend, cull_op_kind kind, const cull_op_args *args)
{
    cull_status   status = CULL_OK;
    cull_backend *own = NULL;
    cull_op      *op = NULL;

    if (!backend) TRY(cull_backend_open("ref", 1, &own));
    if (!backend) backend = own;
    op = cull_op_take(backend, kind);
    TRY(cull_op_ready(backend, &(cull_op_desc){.kind = kind}, &op));
    TRY(cull_op_run(op, args));
done:
    if (backend) cull_op_give(backend, op);
    cull_backend_close(own);
    return status;
}

cull_status cull_subset_give(const cull_subset *subset, const cull_subset_arrays *to)
{
    cull_status        status = CULL_OK;
    cull_subset        from;
    cull_subset_arrays room;
    cull_op_args       args = {0};

    if (!subset || !to) FAIL(CULL_BAD_ARGUMENT, "give: a subset and arrays are needed");
    SIZED(cull_subset, subset, from);
    SIZED(cull_subset_arrays, to, room);
    if (to->weight && to->dtype != CULL_F32 && to->dtype != CULL_F64)
        FAIL(CULL_BAD_ARGUMENT, "give: weights are float32 or float64, not %s",
             cull_dtype_name(to->dtype));
    if ((to->index && !subset->index) || (to->place && !subset->place) ||
        (to->group && !subset->group) || (to->weight && !subset->weight))
        FAIL(CULL_BAD_ARGUMENT, "give: an array was asked for that the subset does not have");
    if (subset->count == 0) return CULL_OK;
    args.widen.count = subset->count;
    args.widen.index[0] = to->index ? subset->index : NULL;
    args.widen.index[1] = to->place ? subset->place : NULL;
    args.widen.index[2] = to->group ? subset->group : NULL;
    args.widen.to[0] = to->index;
    args.widen.to[1] = to->place;
    args.widen.to[2] = to->group;
    args.widen.weight = to->weight ? subset->weight : NULL;
    args.widen.to_weight = to->weight;
    args.widen.dtype = to->dtype;
    args.widen.scale = to->scale == 0 ? 1 : to->scale;
    TRY(run_once(subset->backend, CULL_OP_WIDEN, &args));
done:
    return status;
}

cull_status cull_places_take(cull_backend *backend, const cull_tensor *from, uint32_t *to)
{
    cull_status  status = CULL_OK;
    cull_op_args args = {0};
    size_t       rows = 0;

    TRY(check_backend(backend));
    if (!from || !to) FAIL(CULL_BAD_ARGUMENT, "places: integers and a place for them are needed");
    rows = from->shape[0] > 0 ? (size_t)from->shape[0] : 0;
    if (rows == 0) return CULL_OK;
    TRY(cull_tensor_check_on(from, "places", cull_backend_device(backend), 1, rows, true));
    args.narrow.from = *from;
    args.narrow.to = to;
    TRY(run_once(backend, CULL_OP_NARROW, &args));
done:
    return status;
}
