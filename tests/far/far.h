/* tests/far/far.h - what the files of the tests' own backend share. */
#ifndef CULL_TESTS_FAR_FAR_H
#define CULL_TESTS_FAR_FAR_H

#include <pthread.h>

#include "backend/layer.h"

/* A piece of the mapping that somebody has: the array, and behind it poison to the end. */
struct far_block {
    size_t at, bytes; /* of the array, from the mapping's start */
    size_t end;
};

struct far_memory {
    char             *base;
    size_t            used;  /* from the start to the end of the highest block there ever was */
    struct far_block *block; /* [count] ascending; what lies between them is free             */
    size_t            count, room;
};

/* One thing to be done. It begins an entry of a log, and what it needs lies behind it, without
 * addresses of its own inside: a log can be copied. */
struct far_work {
    size_t bytes; /* with all that belongs to it, a multiple of FAR_STEP */
    cull_status (*run)(struct far_work *work);
};
enum { FAR_STEP = 16 };

struct far_log {
    char  *bytes;
    size_t used, room;
};

struct cull_recording {
    struct far_log log;
};

struct far {
    pthread_mutex_t   lock; /* held from enter to leave */
    struct far_memory memory;
    struct far_log    asked;     /* what nobody has waited for yet             */
    cull_recording   *recording; /* where it goes instead, between record and recorded */
    cull_status       failure;   /* not told yet; until then nothing is done   */
    char              sentence[512];
};

/* The backend's state, for one thread at a time. */
struct far *far_enter(const cull_backend *backend);
void        far_leave(struct far *far);

/* Ends the process where what a test may not do was done. */
void far_insist(bool holds, const char *what);

/* ---- far_memory.c ---- */
cull_status far_memory_open(struct far_memory *memory);
void        far_memory_close(struct far_memory *memory);
cull_status far_memory_take(struct far_memory *memory, size_t bytes, void **out);
void        far_memory_give(struct far_memory *memory, void *data);
/* Does all of this lie in one array? No bytes lie anywhere. */
bool far_memory_holds(const struct far_memory *memory, const void *data, size_t bytes);
/* The pages of some bytes, and of all that is used, may be touched, or not. */
void far_memory_touch(struct far_memory *memory, const void *data, size_t bytes, bool may);
void far_memory_touch_all(struct far_memory *memory, bool may);

/* ---- far_log.c ---- */
/* Room for a thing to be done: `bytes` with the head, filled in by the caller before the next
 * one is asked for. */
cull_status far_ask(struct far *far, cull_status (*run)(struct far_work *work), size_t bytes,
                    void *out);
cull_status far_ask_again(struct far *far, const struct far_log *log);
/* All that was asked for is done, or dropped behind a failure; far_tell tells of that. */
void        far_settle(struct far *far);
cull_status far_tell(struct far *far);

/* ---- far_queue.c, far_ops.c ---- */
extern const cull_queue_class far_queue;
extern atomic_size_t          far_replays; /* so many steps were done as recorded */
extern atomic_size_t       far_crossings; /* so often something came from the host, or went there */
extern const cull_op_class far_op;

/* CULL_BAD_ARGUMENT where an address is not NULL and not in an array of the backend's. */
cull_status far_check_array(const struct far *far, const void *data, const char *where);

#endif
