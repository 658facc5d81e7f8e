/* backend/cpu/keys.c - exponential keys -log(u) / weight, the same bits as the reference. */
#include <math.h>

#include "backend/cpu/cpu.h"
#include "base/philox.h"

enum { BLOCK = 1024 };

/* In loops of one thing each: the logarithms go through vectors. */
static void draw_block(void *context, size_t task, unsigned worker)
{
    const cull_op_args *args = context;
    const uint32_t     *place = args->keys.place;
    const double       *weight = args->keys.weight;
    size_t              first = task * BLOCK, end = first + BLOCK;
    double             *out = args->keys.out;

    (void)worker;
    if (end > args->keys.rows) end = args->keys.rows;
    for (size_t i = first; i < end; i++)
        out[i] = cull_philox_uniform(args->keys.key, args->keys.step, place ? place[i] : i);
    for (size_t i = first; i < end; i++) out[i] = -cull_exact_log_plain(out[i], 0);
    for (size_t i = first; weight && i < end; i++)
        out[i] = weight[i] > 0 ? out[i] / weight[i] : INFINITY;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_team_run(op->backend->team, (args->keys.rows + BLOCK - 1) / BLOCK, draw_block,
                  (void *)(uintptr_t)args);
    return CULL_OK;
}

const cull_op_class cull_cpu_keys = {cull_host_create, run, cull_host_destroy};
