/* backend/kit.c - arrays and operations of a backend that end together. */
#include "backend/backend.h"
#include "base/alloc.h"

enum { FIRST_ROOM = 8 };

cull_status cull_kit_allocate(cull_kit *kit, size_t count, size_t size, const char *what, void *out)
{
    cull_status status = CULL_OK;
    size_t      room = kit->room ? 2 * kit->room : FIRST_ROOM;

    *(void **)out = NULL;
    if (kit->arrays == kit->room) {
        TRY(cull_base_grow(room, sizeof(void *), what, &kit->array));
        kit->room = room;
    }
    TRY(cull_backend_allocate(kit->backend, count, size, what, out));
    kit->array[kit->arrays++] = *(void **)out;
done:
    return status;
}

static void give_up(cull_kit *kit, void *array)
{
    for (size_t i = 0; i < kit->arrays; i++)
        if (kit->array[i] == array) kit->array[i] = kit->array[--kit->arrays];
    cull_backend_release(kit->backend, array);
}

cull_status cull_kit_grow(cull_kit *kit, size_t count, size_t size, const char *what, size_t *room,
                          void *array)
{
    cull_status status = CULL_OK;

    if (count <= *room) return CULL_OK;
    if (*room) give_up(kit, *(void **)array);
    *room = 0;
    TRY(cull_kit_allocate(kit, count, size, what, array));
    *room = count;
done:
    return status;
}

cull_status cull_kit_ready(cull_kit *kit, cull_op_kind kind, size_t rows)
{
    return cull_op_ready(kit->backend, &(cull_op_desc){.kind = kind, .rows = rows}, &kit->op[kind]);
}

cull_status cull_kit_run_for(cull_kit *kit, const cull_op_desc *desc, const cull_op_args *args)
{
    cull_status status = CULL_OK;

    TRY(cull_op_ready(kit->backend, desc, &kit->op[desc->kind]));
    TRY(cull_op_run(kit->op[desc->kind], args));
done:
    return status;
}

cull_status cull_kit_run(cull_kit *kit, cull_op_kind kind, size_t rows, const cull_op_args *args)
{
    return cull_kit_run_for(kit, &(cull_op_desc){.kind = kind, .rows = rows}, args);
}

void cull_kit_clear(cull_kit *kit)
{
    for (size_t i = 0; i < CULL_OP_KINDS; i++) cull_op_destroy(kit->op[i]);
    for (size_t i = 0; i < kit->arrays; i++) cull_backend_release(kit->backend, kit->array[i]);
    cull_base_free(kit->array);
    *kit = (cull_kit){.backend = kit->backend};
}
