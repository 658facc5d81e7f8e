/* select/draw.c - weighted sampling without replacement: exponential keys, then the m smallest. */
#include "select/select.h"

cull_status cull_sel_room(double **data, size_t *room, size_t count)
{
    cull_status status = CULL_OK;

    if (count <= *room) return CULL_OK;
    TRY(cull_base_grow(count, sizeof **data, "scores", data));
    *room = count;
done:
    return status;
}

cull_status cull_sel_draw_run(cull_sel_draw *draw, cull_backend *backend, cull_key key,
                              uint64_t step, const uint32_t *place, const double *weight,
                              size_t rows, size_t m, uint32_t *index)
{
    cull_status  status = CULL_OK;
    cull_op_args keys = {0}, top = {0};

    TRY(cull_sel_room(&draw->key, &draw->room, rows));
    TRY(cull_op_ready(backend, &(cull_op_desc){.kind = CULL_OP_KEYS, .rows = rows}, &draw->keys));
    TRY(cull_op_ready(backend, &(cull_op_desc){.kind = CULL_OP_TOP, .rows = rows}, &draw->top));
    keys.keys.rows = rows;
    keys.keys.key = key;
    keys.keys.step = step;
    keys.keys.place = place;
    keys.keys.weight = weight;
    keys.keys.out = draw->key;
    TRY(cull_op_run(draw->keys, &keys));
    top.top.rows = rows;
    top.top.m = m;
    top.top.x = draw->key;
    top.top.largest = false;
    top.top.index = index;
    TRY(cull_op_run(draw->top, &top));
done:
    return status;
}

void cull_sel_draw_clear(cull_sel_draw *draw)
{
    cull_op_destroy(draw->keys);
    cull_op_destroy(draw->top);
    cull_base_free(draw->key);
    *draw = (cull_sel_draw){0};
}
