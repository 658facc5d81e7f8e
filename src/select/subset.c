/* select/subset.c - the subset's arrays, wherever they lie. */
#include <string.h>

#include "base/sized.h"
#include "select/select.h"

static void drop(const cull_subset *subset, void *array)
{
    if (subset->backend)
        cull_backend_release(subset->backend, array);
    else
        cull_base_free(array);
}

void cull_subset_clear(cull_subset *subset)
{
    cull_subset held;

    if (!subset || cull_sized_read("cull_subset", subset, sizeof held, &held) != CULL_OK) return;
    drop(&held, held.index);
    drop(&held, held.place);
    drop(&held, held.weight);
    drop(&held, held.group);
    drop(&held, held.outcome);
    cull_sized_clear(subset, sizeof held);
}

void cull_sel_subset_aim(cull_subset *subset, cull_backend *backend)
{
    cull_backend *owner = cull_backend_on_host(backend) ? NULL : backend;

    if (subset->backend == owner) return;
    cull_subset_clear(subset);
    subset->backend = owner;
    subset->device = cull_backend_device(backend);
}

/* What was in a backend's array is not kept. */
static cull_status grow(const cull_subset *subset, size_t count, size_t size, void *array)
{
    cull_status status = CULL_OK;
    void       *fresh = NULL;

    if (!subset->backend) return cull_base_grow(count, size, "a subset", array);
    TRY(cull_backend_allocate(subset->backend, count, size, "a subset", &fresh));
    cull_backend_release(subset->backend, *(void **)array);
    *(void **)array = fresh;
done:
    return status;
}

cull_status cull_subset_resize(cull_subset *subset, size_t count)
{
    cull_status status = CULL_OK;
    cull_subset room, *given = subset;
    cull_device device = {0};

    SIZED(cull_subset, subset, room);
    subset->count = 0;
    if (subset->backend) device = cull_backend_device(subset->backend);
    TRY(cull_device_check(subset->device, device, "the subset"));
    if (count > subset->room) {
        TRY(grow(subset, count, sizeof *subset->index, &subset->index));
        TRY(grow(subset, count, sizeof *subset->place, &subset->place));
        TRY(grow(subset, count, sizeof *subset->weight, &subset->weight));
        TRY(grow(subset, count, sizeof *subset->group, &subset->group));
        subset->room = count;
    }
    if (!subset->backend) {
        for (size_t i = 0; i < count; i++) subset->weight[i] = 1;
        if (count) memset(subset->group, 0, count * sizeof *subset->group);
    }
    subset->count = count;
    subset->groups = 0;
    subset->picked = count;
    subset->flags = 0;
done:
    cull_sized_give(given, subset, sizeof *subset);
    return status;
}

cull_status cull_sel_subset_late(cull_subset *subset)
{
    cull_status status = CULL_OK;

    if (!subset->outcome)
        TRY(subset->backend
                ? cull_backend_allocate(subset->backend, 1, sizeof *subset->outcome, "a subset",
                                        &subset->outcome)
                : cull_base_alloc(1, sizeof *subset->outcome, "a subset", &subset->outcome));
    subset->flags = CULL_SUBSET_LATE;
done:
    return status;
}

cull_status cull_sel_subset_outcome(cull_subset *subset)
{
    cull_status  status = CULL_OK;
    cull_outcome outcome = {0};

    if (!(subset->flags & CULL_SUBSET_LATE)) return CULL_OK;
    if (subset->backend)
        TRY(cull_backend_download(subset->backend, &outcome, subset->outcome, sizeof outcome));
    else
        outcome = *subset->outcome;
    subset->count = outcome.count;
    subset->picked = outcome.picked;
    subset->flags = outcome.flags;
done:
    return status;
}
