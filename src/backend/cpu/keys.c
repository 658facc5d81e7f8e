/* backend/cpu/keys.c - exponential keys -log(u) / weight, the same bits as the reference. */
#include <math.h>

#include "backend/cpu/cpu.h"

enum { BLOCK = 1024 };

static void draw_block(void *context, size_t task, unsigned worker)
{
    const cull_op_args *args = context;
    size_t              end = (task + 1) * BLOCK;

    (void)worker;
    if (end > args->keys.rows) end = args->keys.rows;
    for (size_t i = task * BLOCK; i < end; i++) {
        uint64_t place = args->keys.place ? args->keys.place[i] : i;
        double   weight = args->keys.weight ? args->keys.weight[i] : 1;
        double   u = cull_key_uniform(args->keys.key, args->keys.step, place);

        args->keys.out[i] = weight > 0 ? -log(u) / weight : INFINITY;
    }
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_team_run(op->backend->team, (args->keys.rows + BLOCK - 1) / BLOCK, draw_block,
                  (void *)(uintptr_t)args);
    return CULL_OK;
}

const cull_op_class cull_cpu_keys = {cull_host_create, run, cull_host_destroy};
