/* nn/plan_room.c - one block of memory for plans that run in turn. */
#include "nn/plan.h"

cull_status cull_plan_room_take(cull_plan_room *room, size_t bytes, char **out)
{
    cull_status status = CULL_OK;

    room->kit.backend = room->backend;
    if (bytes > room->bytes) {
        TRY(cull_kit_allocate(&room->kit, bytes, 1, "plans' activations", &room->block));
        room->bytes = bytes;
        room->all += bytes;
    }
    *out = room->block;
done:
    return status;
}

void cull_nn_plan_room_clear(cull_plan_room *room)
{
    if (room->backend) cull_kit_clear(&room->kit);
    *room = (cull_plan_room){.backend = room->backend};
}
