/* backend/cpu/nn_layout.h - a layout of oneDNN's, whichever version it is; see nn_dnnl.h. */
#ifndef CULL_BACKEND_CPU_NN_LAYOUT_H
#define CULL_BACKEND_CPU_NN_LAYOUT_H

#include <dnnl.h>

#include "base/status.h"

#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t       cull_layout;
typedef const_dnnl_memory_desc_t cull_layout_ref;
#define REF(layout) (layout)
#else
typedef dnnl_memory_desc_t        cull_layout;
typedef const dnnl_memory_desc_t *cull_layout_ref;
#define REF(layout) (&(layout))
#endif

/* Of the OpenMP runtime that oneDNN uses; omp.h comes with compilers, not with the library. */
extern void omp_set_num_threads(int threads);
extern int  omp_get_max_threads(void);

static inline cull_status cull_dnnl_check(dnnl_status_t status, const char *what)
{
    if (status == dnnl_success) return CULL_OK;
    if (status == dnnl_out_of_memory) return cull_fail(CULL_NO_MEMORY, "no memory for %s", what);
    return cull_fail(CULL_UNSUPPORTED, "oneDNN refuses %s (status %d)", what, (int)status);
}

/* Nothing, then, and again nothing: may be called twice. */
static inline void cull_layout_drop(cull_layout *layout)
{
#if DNNL_VERSION_MAJOR >= 3
    dnnl_memory_desc_destroy(*layout);
#endif
    *layout = (cull_layout){0};
}

#endif
