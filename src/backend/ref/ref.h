/* backend/ref/ref.h - the operations as plain loops, one file each. */
#ifndef CULL_BACKEND_REF_REF_H
#define CULL_BACKEND_REF_REF_H

#include "backend/backend.h"

extern const cull_op_class cull_ref_rank, cull_ref_chance, cull_ref_keys, cull_ref_top,
    cull_ref_gram, cull_ref_omp, cull_ref_facility, cull_ref_gradient, cull_ref_gain,
    cull_ref_refit;

#endif
