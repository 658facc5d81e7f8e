/* tests/emu/emu.h - what tests plan and count, and what the imitation's files share. */
#ifndef CULL_TESTS_EMU_EMU_H
#define CULL_TESTS_EMU_EMU_H

#include "cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- for tests ---- */

/* The nth cudaMalloc from now on (1: the next) and all behind it fail; 0: none. */
void emu_fail_malloc(size_t nth);
/* From the nth call of the runtime on the device is lost: everything says cudaErrorIllegalAddress
 * and nothing is done. 0: it is well again. */
void emu_lose_device(size_t nth);
/* So many so far, in this process. */
size_t emu_calls(void);
size_t emu_mallocs(void);
size_t emu_launches(void); /* of kernels, done   */
size_t emu_replays(void);  /* of graphs, asked for */
size_t emu_waits(void);    /* for what was asked for, where there was something */
/* The largest copy to the host since this was asked last. */
size_t emu_fetched(void);
/* From here on the machine lacks something: "driver", "newer driver", "device" or "code"; NULL:
 * nothing. So it is from the start where CULL_EMU_LACKS says so. As the environment says too:
 * CULL_EMU_PROCESSORS blocks that run at once (3), CULL_EMU_MEMORY bytes of memory (8 GiB), and
 * CULL_EMU_LOSES, the call of the runtime from which on the device is lost (none). */
void emu_lack(const char *what);

/* ---- inside ---- */

/* A thing to be done: at the head of what it needs, from malloc. */
struct emu_work {
    void (*run)(struct emu_work *work);
    void (*ask)(struct emu_work *work); /* when it is asked for; or NULL */
    size_t holders;                     /* lists that it is in           */
};

struct emu_index {
    unsigned x, y, z;
};

/* A kernel and its arguments, which `call` knows. */
struct emu_kernel {
    struct emu_work work;
    const char     *name;
    const void     *function;
    void (*call)(struct emu_kernel *kernel);
    struct emu_index grid, block;
    size_t           shared;
    int              together; /* all blocks are alive at once */
};

/* Takes what came from malloc, also where it fails. */
cudaError_t emu_launch(struct emu_kernel *kernel, cudaStream_t stream);

/* The threads of a kernel (emu_run.c). */
void *emu_asked_shared(void);
/* What is `mine` there, in the shared memory of another block of the grid, all of which are alive.
 */
void *emu_shared_of(unsigned block, void *mine);
void  emu_meet(void);
struct emu_agreed {
    int any, all, count;
};
struct emu_agreed emu_barrier(const char *what, int predicate);
struct emu_lanes {
    uint64_t value[32];
    unsigned present; /* lanes that came */
};
/* What each lane of the warp gave; good until the lane's next exchange. */
const struct emu_lanes *emu_exchange(const char *what, unsigned mask, uint64_t value);
unsigned                emu_lane(void);
/* Ends the process, saying which kernel's thread did this. */
void emu_kernel_insist(int holds, const char *what);

#ifdef __cplusplus
}
#endif

#endif
