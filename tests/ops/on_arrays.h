/* tests/ops/on_arrays.h - arrays of a test that are lent to a backend, and come back. */
#ifndef CULL_TESTS_OPS_ON_ARRAYS_H
#define CULL_TESTS_OPS_ON_ARRAYS_H

#include "support.h"

#include <string.h>

#include "backend/backend.h"
#include "tensor/tensor.h"

/* What of a case lies on a backend. */
enum { ON_ARRAYS = 128, ON_THINGS = 16 };
struct on {
    cull_backend *backend;
    struct {
        void  *there, *here; /* here: where it goes back to, or NULL */
        size_t bytes;
    } array[ON_ARRAYS];
    size_t                arrays;
    cull_tensor           tensor[ON_THINGS];
    size_t                tensors;
    cull_target           target;
    cull_omp_problem      omp[ON_THINGS];
    cull_facility_problem facility[ON_THINGS];
    cull_gathered         gathered[ON_ARRAYS];
};

/* *pointer, to an array here, becomes that of a copy on the backend. NULL stays. */
static inline cull_status on_move(struct on *on, size_t bytes, void *pointer, bool back)
{
    cull_status status = CULL_OK;
    void       *here = NULL, *there = NULL;

    memcpy(&here, pointer, sizeof here);
    if (!here || cull_backend_on_host(on->backend)) return CULL_OK;
    assert_true(on->arrays < ON_ARRAYS);
    TRY(cull_backend_allocate(on->backend, bytes, 1, "a test", &there));
    on->array[on->arrays].there = there;
    on->array[on->arrays].here = back ? here : NULL;
    on->array[on->arrays++].bytes = bytes;
    TRY(cull_backend_upload(on->backend, there, here, bytes));
    memcpy(pointer, &there, sizeof there);
done:
    return status;
}

/* An array that is read; and one that is written, whose contents come back. */
static inline cull_status on_in(struct on *on, size_t bytes, void *pointer)
{
    return on_move(on, bytes, pointer, false);
}

static inline cull_status on_out(struct on *on, size_t bytes, void *pointer)
{
    return on_move(on, bytes, pointer, true);
}

/* Everything comes back and is released there. */
static inline cull_status on_back(struct on *on, cull_status status)
{
    for (size_t i = 0; i < on->arrays; i++) {
        if (on->array[i].here && status == CULL_OK)
            status = cull_backend_download(on->backend, on->array[i].here, on->array[i].there,
                                           on->array[i].bytes);
        cull_backend_release(on->backend, on->array[i].there);
    }
    on->arrays = 0;
    return status;
}

static inline cull_status on_matrix(struct on *on, cull_tensor *t)
{
    size_t rows = 0, columns = 0;

    if (!t->data) return CULL_OK;
    rows = (size_t)t->shape[0];
    columns = (size_t)t->shape[1];
    return on_in(on, ((rows - 1) * (size_t)t->stride[0] + columns) * cull_dtype_size(t->dtype),
                 &t->data);
}

static inline cull_status on_tensor(struct on *on, const cull_tensor **t)
{
    cull_tensor *copy = on->tensor + on->tensors;

    if (!*t) return CULL_OK;
    assert_true(on->tensors++ < ON_THINGS);
    *copy = **t;
    *t = copy;
    return on_matrix(on, copy);
}

#endif
