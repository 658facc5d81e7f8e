/* backend/cuda/nn_library_none.h - nn_library.h where there are no libraries. */
#ifndef CULL_BACKEND_CUDA_NN_LIBRARY_NONE_H
#define CULL_BACKEND_CUDA_NN_LIBRARY_NONE_H

#include "backend/cuda/nn_library.h"

static inline cull_status cull_library_none(void)
{
    return cull_fail(CULL_UNSUPPORTED, "neither cuDNN nor cuBLASLt is here");
}

#define cull_library_open(device, out) ((void)(device), *(out) = NULL, CULL_OK)
#define cull_library_close(library)    ((void)(library))
#define cull_library_about(library)    ((void)(library), "")
#define cull_library_convs(l, problem, compiled, most, out, count)                                 \
    ((void)(l), (void)(problem), (void)(compiled), (void)(most), (void)(out), *(count) = 0,        \
     cull_library_none())
#define cull_library_products(l, problem, most, out, count)                                        \
    ((void)(l), (void)(problem), (void)(most), (void)(out), *(count) = 0, cull_library_none())
#define cull_library_conv(l, problem, choice, out)                                                 \
    ((void)(l), (void)(problem), (void)(choice), (void)(out), cull_library_none())
#define cull_library_product(l, problem, choice, out)                                              \
    ((void)(l), (void)(problem), (void)(choice), (void)(out), cull_library_none())
#define cull_plan_destroy(plan) ((void)(plan))
#define cull_plan_room(plan)    ((void)(plan), (size_t)0)
#define cull_plan_name(plan)    ((void)(plan), "")
#define cull_plan_conv(plan, stream, x, w, y, room)                                                \
    ((void)(plan), (void)(stream), (void)(x), (void)(w), (void)(y), (void)(room),                  \
     cull_library_none())
#define cull_plan_product(plan, stream, a, b, bias, d, add, room)                                  \
    ((void)(plan), (void)(stream), (void)(a), (void)(b), (void)(bias), (void)(d), (void)(add),     \
     (void)(room), cull_library_none())

#endif
