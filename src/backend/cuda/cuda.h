/*
 * backend/cuda/cuda.h - what the files of the CUDA backend share, for those in C.
 *
 * Each kind of operation is a C file, which reads its arguments, and a .cu file with the kernels,
 * which C++ compilers read; between them is a header in both languages (kernels' launchers, extern
 * "C", returning what the launch did). Everything of a backend goes to its one stream, so kernels
 * see what those before them wrote. While a step is recorded nothing may be waited for or
 * allocated.
 *
 * The same sources are compiled for the host by the tests, over a small imitation of the runtime
 * (tests/emu/), where their logic is held against `ref` on machines without a GPU.
 */
#ifndef CULL_BACKEND_CUDA_CUDA_H
#define CULL_BACKEND_CUDA_CUDA_H

#include <cuda_runtime_api.h>

#include "backend/layer.h"

enum { CULL_CUDA_HALF = 1 << 20 }; /* bytes of a half of the staging memory: queue.c */

/* What an open device is. */
typedef struct cull_cuda {
    int          number;
    int          processors;  /* of which each runs blocks by itself  */
    size_t       shared_most; /* bytes of shared memory a block may have */
    cudaStream_t stream, own; /* where work goes: its own stream, or one that it follows */
    cudaEvent_t  turned;      /* recorded on the one that it turns away from            */
    bool         recording;
    int          before; /* the thread's device, until it followed a stream */

    /* What goes on beside the stream: begun behind what it has so far, it ends with the join. */
    cudaStream_t side;
    cudaEvent_t  forked, joined; /* the stream's moment; the side's end */
    bool         apart;          /* there is something to be joined     */

    /* And beside both, behind what both have so far, where work goes for a while. */
    cudaStream_t third, main; /* main: where it went before; NULL: it is there */
    cudaEvent_t  ended;       /* the third's end                               */
    bool         turned_aside;

    /* Uploads go through pinned memory, half by half, so that nobody waits for them. */
    char       *stage;
    size_t      staged;  /* bytes of it, from the first half on */
    cudaEvent_t left[2]; /* recorded when a half was filled      */

    /* Of the engine's libraries (library.h); ends before the stream does. */
    void *library;
    void (*library_close)(void *library);
} cull_cuda;

static inline cull_cuda *cull_cuda_of(const cull_backend *backend)
{
    return backend->device;
}

/* The device is this thread's, for all calls of the runtime. */
cull_status cull_cuda_enter(const cull_backend *backend, cull_cuda **out);

/* Which one is the thread's now, to be so again afterwards, where others' calls are between ours.
 */
int cull_cuda_current(const cull_cuda *cuda);
/* It is so again. Not one where nothing was ever done: to name it would take some of its memory,
 * and nobody's arrays lie there. */
void cull_cuda_restore(const cull_cuda *cuda, int before);

/* CULL_OK, or the status and sentence of what went wrong in `call`, of which only the name is told.
 * What a device has lost stays lost: the run ends, and goes on from its last checkpoint. */
cull_status cull_cuda_check(cudaError_t error, const char *call);

/* The side may begin, behind all that the stream was asked for; and the stream goes on behind it.
 */
cull_status cull_cuda_fork(cull_cuda *cuda);
cull_status cull_cuda_join(cull_cuda *cuda);
/* From here on work goes beside both, and with the other where it went before. The join waits. */
cull_status cull_cuda_turn_aside(cull_cuda *cuda);
void        cull_cuda_turn_back(cull_cuda *cuda);

/* In functions with `status` and `done`. */
#define CUDA(call) TRY(cull_cuda_check((call), #call))

/* A failure while something else is being ended, of which nobody can be told. */
#define CUDA_QUIETLY(call) ((void)(call))

extern const cull_queue_class cull_cuda_queue;

/* For operations that keep nothing but the common head. */
cull_status cull_cuda_plain_create(cull_backend *backend, const cull_op_desc *desc, cull_op **out);
void        cull_cuda_plain_destroy(cull_op *op);

/* Operations: one line a file. */
extern const cull_op_class cull_cuda_rank, cull_cuda_keys, cull_cuda_top, cull_cuda_gram,
    cull_cuda_omp, cull_cuda_facility, cull_cuda_gradient, cull_cuda_gain, cull_cuda_refit,
    cull_cuda_augment, cull_cuda_resize, cull_cuda_gather, cull_cuda_gather_all, cull_cuda_kept,
    cull_cuda_update, cull_cuda_summary, cull_cuda_tally, cull_cuda_check_op, cull_cuda_score,
    cull_cuda_chance, cull_cuda_draw, cull_cuda_settle, cull_cuda_record, cull_cuda_recall,
    cull_cuda_sample, cull_cuda_match, cull_cuda_cancel, cull_cuda_widen, cull_cuda_narrow;

#endif
