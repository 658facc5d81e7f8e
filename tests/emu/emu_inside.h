/* tests/emu/emu_inside.h - what the imitation's files in C share. */
#ifndef CULL_TESTS_EMU_EMU_INSIDE_H
#define CULL_TESTS_EMU_EMU_INSIDE_H

#include <stdbool.h>

#include "emu.h"

enum { EMU_SHARED = 227 * 1024, EMU_SHARED_PLAIN = 48 * 1024 };
enum { EMU_PROCESSORS = 3, EMU_MOST_PROCESSORS = 16 }; /* unless the environment says otherwise */
size_t emu_processors(void);

/* Ends the process where what nobody may do was done. */
void emu_insist(bool holds, const char *what);

/* Every call of the runtime is between the two: one at a time, cudaErrorIllegalAddress when the
 * device is lost, and what it comes to is the last error. */
cudaError_t emu_enter(void);
cudaError_t emu_leave(cudaError_t error);
/* `call`, unless the device is lost. */
#define EMU_CALL(call)                                                                             \
    do {                                                                                           \
        cudaError_t emu_error_ = emu_enter();                                                      \
        return emu_leave(emu_error_ == cudaSuccess ? (call) : emu_error_);                         \
    } while (0)
/* For what must be ended all the same. */
#define EMU_CALL_ALWAYS(call)                                                                      \
    do {                                                                                           \
        cudaError_t emu_error_ = emu_enter(), emu_found_ = (call);                                 \
        return emu_leave(emu_error_ == cudaSuccess ? emu_found_ : emu_error_);                     \
    } while (0)

/* Shared memory that a function's launches may ask for. */
size_t emu_shared_most(const void *function);

/* ---- emu_memory.c ---- */
void emu_memory_open(bool may); /* while things are done */

/* ---- emu_stream.c ---- */
struct emu_list {
    struct emu_work **work;
    size_t            count, room;
};
void emu_list_add(struct emu_list *list, struct emu_work *work);
void emu_list_clear(struct emu_list *list);

struct emu_capture;
struct CUstream_st {
    struct emu_capture *capture; /* what goes to it is taken down there */
    size_t              place;   /* of the capture's streams            */
    int                 priority;
};

/* A thing goes to a stream, and belongs to it: done when somebody waits, or taken down. */
cudaError_t emu_ask(cudaStream_t stream, struct emu_work *work);
void        emu_ask_again(const struct emu_list *list, cudaStream_t stream);
void        emu_settle(void); /* all that was asked for is done */
/* The call waits, or makes or ends memory: may it, now? */
cudaError_t emu_may_wait(void);
/* NULL is a stream too. */
cudaStream_t emu_stream(cudaStream_t stream);

/* ---- emu_graph.c ---- */
enum { EMU_FORKS = 8 };
/* How much of each of a capture's streams somebody has waited for. */
struct emu_clock {
    size_t count[EMU_FORKS];
};
struct CUevent_st {
    bool                recorded, passed, timed;
    double              seconds;
    size_t              at, round; /* outside of captures: which entry of which round, from 1 */
    struct emu_capture *capture;   /* recorded there, at clock */
    size_t              serial;    /* of that capture          */
    struct emu_clock    clock;
};
void        emu_capture_add(cudaStream_t stream, struct emu_work *work);
cudaError_t emu_capture_state(cudaStream_t stream); /* cudaSuccess, or why it is spoiled */
cudaError_t emu_capture_event(cudaEvent_t event, cudaStream_t stream);
cudaError_t emu_capture_wait(cudaStream_t stream, cudaEvent_t event);
bool        emu_event_captured(const struct CUevent_st *event);
void        emu_capture_spoil(struct emu_capture *capture);
/* The capture that forbids this thread to wait, if any. */
struct emu_capture *emu_capture_here(void);
void                emu_capture_leave(cudaStream_t stream);

/* ---- emu_run.c ---- */
void emu_run_kernel(struct emu_work *work);

/* ---- emu_fibre.c ---- */
struct emu_fibre;
struct emu_fibre *emu_fibre_start(void (*run)(void)); /* not running yet */
/* Until one of them goes back here. */
void emu_fibre_go(struct emu_fibre *fibre);
/* Inside of run: to another, or (NULL) back to emu_fibre_go; and the same, last. */
void              emu_fibre_pass(struct emu_fibre *to);
void              emu_fibre_end(struct emu_fibre *to);
struct emu_fibre *emu_fibre_own(void);

#endif
