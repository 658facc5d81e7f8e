/* base/group.c - the group of one process, in which nothing has to meet. */
#include "base/group.h"

#include <string.h>

static cull_status reduce_alone(const cull_group *group, double *values, size_t count)
{
    (void)group, (void)values, (void)count;
    return CULL_OK;
}

static cull_status gather_alone(const cull_group *group, const void *mine, size_t bytes, void *all)
{
    (void)group;
    if (bytes) memcpy(all, mine, bytes);
    return CULL_OK;
}

static cull_status broadcast_alone(const cull_group *group, size_t from, void *data, size_t bytes)
{
    (void)data, (void)bytes;
    if (from >= group->size)
        return cull_fail(CULL_BAD_ARGUMENT, "rank %zu of a group of %zu", from, group->size);
    return CULL_OK;
}

const cull_group cull_group_one = {.size = 1,
                                   .all_reduce = reduce_alone,
                                   .all_gather = gather_alone,
                                   .broadcast = broadcast_alone};
