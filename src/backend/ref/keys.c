/* backend/ref/keys.c - exponential keys: the m smallest are a weighted draw without replacement. */
#include <math.h>

#include "backend/ref/ref.h"
#include "base/exact.h"

static cull_status run(cull_op *op, const cull_op_args *args)
{
    (void)op;
    for (size_t i = 0; i < args->keys.rows; i++) {
        uint64_t place = args->keys.place ? args->keys.place[i] : i;
        double   weight = args->keys.weight ? args->keys.weight[i] : 1;
        double   u = cull_key_uniform(args->keys.key, args->keys.step, place);

        args->keys.out[i] = weight > 0 ? -cull_exact_log(u) / weight : INFINITY;
    }
    return CULL_OK;
}

const cull_op_class cull_ref_keys = {cull_host_create, run, cull_host_destroy};
