/* select/subset.c - the subset's arrays: growing, sorting, scaling. */
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

cull_status cull_sel_subset_all(cull_subset *subset, size_t count)
{
    cull_status status = CULL_OK;

    TRY(cull_subset_resize(subset, count));
    for (size_t i = 0; i < count; i++) subset->index[i] = (uint32_t)i;
done:
    return status;
}

static bool in_order(const cull_subset *s, size_t a, size_t b)
{
    if (s->group[a] != s->group[b]) return s->group[a] < s->group[b];
    if (s->index[a] != s->index[b]) return s->index[a] < s->index[b];
    return s->place[a] <= s->place[b];
}

static void swap(cull_subset *s, size_t a, size_t b)
{
    uint32_t index = s->index[a], place = s->place[a], group = s->group[a];
    double   weight = s->weight[a];

    s->index[a] = s->index[b];
    s->place[a] = s->place[b];
    s->group[a] = s->group[b];
    s->weight[a] = s->weight[b];
    s->index[b] = index;
    s->place[b] = place;
    s->group[b] = group;
    s->weight[b] = weight;
}

static void sift(cull_subset *s, size_t root, size_t end)
{
    for (size_t child; (child = 2 * root + 1) < end; root = child) {
        if (child + 1 < end && in_order(s, child, child + 1)) child++;
        if (in_order(s, child, root)) return;
        swap(s, root, child);
    }
}

/* Heapsort: in place over four arrays, and most rules hand in sorted rows anyway. */
void cull_sel_subset_sort(cull_subset *subset)
{
    size_t sorted = 1;

    while (sorted < subset->count && in_order(subset, sorted - 1, sorted)) sorted++;
    if (sorted >= subset->count) return;
    for (size_t root = subset->count / 2; root-- > 0;) sift(subset, root, subset->count);
    for (size_t end = subset->count; end-- > 1;) {
        swap(subset, 0, end);
        sift(subset, 0, end);
    }
}

void cull_sel_subset_scale(cull_subset *subset, double sum)
{
    double total = 0;

    for (size_t i = 0; i < subset->count; i++) total += subset->weight[i];
    for (size_t i = 0; i < subset->count; i++) subset->weight[i] *= sum / total;
}
