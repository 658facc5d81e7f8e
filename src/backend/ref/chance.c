/* backend/ref/chance.c - weights that rows are drawn by: percentile ^ beta, or what is trimmed. */
#include "backend/ref/ref.h"
#include "base/exact.h"

static cull_status run(cull_op *op, const cull_op_args *args)
{
    (void)op;
    for (size_t i = 0; i < args->chance.rows; i++) {
        size_t place = args->chance.place ? args->chance.place[i] : i;
        bool   stands = place < args->chance.pool;
        double own = args->chance.percentile ? args->chance.percentile[i]
                     : stands                ? args->chance.standing[place]
                                             : 1;
        double weight = cull_exact_pow(own, args->chance.beta);

        if (!(weight > CULL_CHANCE_LEAST)) weight = CULL_CHANCE_LEAST * own;
        if (args->chance.trim > 0 && stands && !args->chance.fresh[place] &&
            args->chance.standing[place] > 1 - args->chance.trim + 1e-12)
            weight = args->chance.trimmed;
        args->chance.weight[i] = weight;
    }
    return CULL_OK;
}

const cull_op_class cull_ref_chance = {cull_host_create, run, cull_host_destroy};
