/* backend/ref/ref.c - the reference backend: what is right, however slow. */
#include "backend/ref/ref.h"

const cull_backend_class cull_backend_ref = {
    .name = "ref",
    .queue = &cull_queue_host,
    .op = {[CULL_OP_RANK] = &cull_ref_rank,
           [CULL_OP_KEYS] = &cull_ref_keys,
           [CULL_OP_TOP] = &cull_ref_top,
           [CULL_OP_GRAM] = &cull_ref_gram,
           [CULL_OP_OMP] = &cull_ref_omp,
           [CULL_OP_FACILITY] = &cull_ref_facility,
           [CULL_OP_GRADIENT] = &cull_ref_gradient,
           [CULL_OP_GAIN] = &cull_ref_gain,
           [CULL_OP_REFIT] = &cull_ref_refit,
           [CULL_OP_CHANCE] = &cull_ref_chance,
           CULL_HOST_OPS},
};
