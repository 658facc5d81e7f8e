/*
 * base/group.h - several processes that train one network: who one is, and how values meet.
 *
 * A group is a small table of functions with a context, made by whoever connects the processes.
 * Every member makes the same calls in the same order, with the same counts; a call returns when
 * its own values are there. Sums are taken in the order of the ranks, so that they are the same
 * bits on every rank and in every run. One rank, 0, writes files.
 *
 *     all_reduce   values[count] become the sums of all ranks' values
 *     all_gather   all[size * bytes] becomes every rank's `mine`, in the order of the ranks
 *     broadcast    data[bytes] becomes that of rank `from`
 *
 * A call that fails leaves its values undefined, and the group of no more use.
 */
#ifndef CULL_BASE_GROUP_H
#define CULL_BASE_GROUP_H

#include "base/status.h"

typedef struct cull_group cull_group;

struct cull_group {
    size_t rank, size; /* rank < size */
    void  *context;
    cull_status (*all_reduce)(const cull_group *group, double *values, size_t count);
    cull_status (*all_gather)(const cull_group *group, const void *mine, size_t bytes, void *all);
    cull_status (*broadcast)(const cull_group *group, size_t from, void *data, size_t bytes);
};

/* One process alone: what it has is what all have. */
extern const cull_group cull_group_one;

#endif
