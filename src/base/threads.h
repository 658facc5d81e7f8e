/*
 * base/threads.h - a fixed team of threads that shares out independent tasks.
 *
 * Which thread runs a task is left open; results must not depend on it. So a task works
 * on its own part of the output, in an order that the thread count does not change.
 */
#ifndef CULL_BASE_THREADS_H
#define CULL_BASE_THREADS_H

#include "base/status.h"

typedef struct cull_team cull_team;

/* worker: 0 .. size-1, for scratch memory a thread keeps to itself. */
typedef void (*cull_team_task)(void *context, size_t task, unsigned worker);

/* threads 0: as many as there are cores. The caller of run is one of them. */
cull_status cull_team_create(unsigned threads, cull_team **out);
void        cull_team_destroy(cull_team *team);
unsigned    cull_team_size(const cull_team *team);

/* Run task 0 .. tasks-1 and return when all are done. Several threads may call at once: one of
 * them gets the helpers, the others run their tasks alone, as worker 0 of their own context's
 * scratch memory. Not from inside a task. */
void cull_team_run(cull_team *team, size_t tasks, cull_team_task run, void *context);

#endif
