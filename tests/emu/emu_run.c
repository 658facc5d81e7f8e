/*
 * tests/emu/emu_run.c - a kernel: its blocks one after the other, or all at once where they meet;
 * the threads of each as fibres that run until they wait.
 *
 * Whoever comes last to where others wait goes on at once and lets them go on. Who waits or ends
 * passes on to the next of the warp that can go on, or of the block. Where nobody can, the block
 * has ended, or waits for other blocks, or waits for ever.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu_inside.h"

enum { WARP = 32, MOST_THREADS = 1024, BEHIND = 64, POISON = 0xff };

/* So many that have to come, so many that have, and how often all did. */
struct meeting {
    size_t      expected, here, turn;
    const char *what;
};

struct warp {
    struct meeting   meeting;
    struct emu_lanes lanes[2]; /* of this turn and of the last, which some have not read yet */
};

struct thread {
    struct emu_fibre *fibre; /* NULL: not begun, or ended */
    struct emu_index  index;
    unsigned          lane;
    bool              ended;
    struct meeting   *waits; /* for its turn to change; NULL: for nothing */
    size_t            turn;
    const char       *what;
};

struct block {
    struct emu_index  index;
    struct meeting    meeting;
    struct emu_agreed agreed[2];
    size_t            alive;
    struct warp       warp[MOST_THREADS / WARP];
    struct thread    *thread;
    unsigned char    *shared;
};

static struct {
    struct emu_kernel *kernel;
    struct block      *block; /* of the thread that runs */
    struct block      *all;   /* where they are alive together */
    struct warp       *warp;
    struct thread     *thread;
    struct meeting     grid;
    size_t             threads; /* of a block */
    bool               down;    /* the last begins */
    size_t             launches;
} now;

static void run_threads(void);

struct emu_index threadIdx, blockIdx, blockDim, gridDim;

size_t emu_launches(void)
{
    return now.launches;
}

/* ---- what cannot go on ---- */

static void say_who_waits(const struct block *block)
{
    size_t told = 0;

    for (size_t i = 0; i < now.threads && told < 8; i++) {
        const struct thread *t = block->thread + i;

        if (i && t->ended == t[-1].ended && t->waits == t[-1].waits && t->what == t[-1].what)
            continue;
        (void)fprintf(stderr, "emu:   from thread %zu on: %s\n", i, t->ended ? "ended" : t->what);
        told++;
    }
}

static _Noreturn void give_up(const struct block *block, const char *what)
{
    (void)fprintf(stderr, "emu: %s, block (%u, %u, %u): %s\n", now.kernel->name, block->index.x,
                  block->index.y, block->index.z, what);
    say_who_waits(block);
    abort();
}

void emu_kernel_insist(int holds, const char *what)
{
    if (holds) return;
    (void)fprintf(stderr, "emu: %s, thread (%u, %u, %u): %s\n", now.kernel->name, threadIdx.x,
                  threadIdx.y, threadIdx.z, what);
    give_up(now.block, "stopped");
}

/* ---- meetings ---- */

static void all_are_here(struct meeting *m)
{
    m->here = 0;
    m->turn++;
    m->what = NULL;
}

/* True for who comes last. */
static bool come(struct meeting *m, const char *what)
{
    if (m->here && m->what != what && strcmp(m->what, what) != 0) {
        (void)fprintf(stderr, "emu: others are at %s, this thread comes to %s\n", m->what, what);
        emu_kernel_insist(0, "threads that must meet are at different places");
    }
    m->what = what;
    if (++m->here < m->expected) return false;
    all_are_here(m);
    return true;
}

static bool can_go_on(const struct thread *t)
{
    return !t->ended && (!t->waits || t->waits->turn != t->turn);
}

/* From `at` on, up or down, round in count threads: the first that can, or NULL. */
static struct thread *find(struct thread *from, size_t count, size_t at)
{
    for (size_t k = 0; k < count; k++) {
        at = now.down ? (at ? at : count) - 1 : at + 1 < count ? at + 1 : 0;
        if (can_go_on(from + at)) return from + at;
    }
    return NULL;
}

/* Behind the thread that runs, the warp's own first. */
static struct thread *find_next(void)
{
    struct thread *all = now.block->thread, *t = NULL;
    size_t         at = (size_t)(now.thread - all), warp = at / WARP * WARP;

    t = find(all + warp, now.threads - warp < WARP ? now.threads - warp : WARP, at - warp);
    return t ? t : find(all, now.threads, at);
}

static void enter(struct block *block, struct thread *t)
{
    now.block = block;
    now.warp = block->warp + (t - block->thread) / WARP;
    now.thread = t;
    threadIdx = t->index;
    blockIdx = block->index;
}

/* Who goes on behind the thread that runs, entered; NULL: nobody can. */
static struct emu_fibre *next_fibre(void)
{
    struct thread *t = find_next();

    if (!t) return NULL;
    if (!t->fibre) t->fibre = emu_fibre_start(run_threads);
    enter(now.block, t);
    return t->fibre;
}

static void wait_for(struct meeting *m, size_t turn, const char *what)
{
    struct thread *t = now.thread;

    t->waits = m;
    t->turn = turn;
    t->what = what;
    emu_fibre_pass(next_fibre());
    t->waits = NULL;
}

/* One less has to come. */
static void leave(struct meeting *m)
{
    if (--m->expected && m->here == m->expected) all_are_here(m);
}

struct emu_agreed emu_barrier(const char *what, int predicate)
{
    struct block      *b = now.block;
    size_t             turn = b->meeting.turn;
    struct emu_agreed *agreed = &b->agreed[turn % 2];

    if (b->meeting.here == 0) *agreed = (struct emu_agreed){0, 1, 0};
    agreed->any |= predicate != 0;
    agreed->all &= predicate != 0;
    agreed->count += predicate != 0;
    if (!come(&b->meeting, what)) wait_for(&b->meeting, turn, what);
    return *agreed;
}

const struct emu_lanes *emu_exchange(const char *what, unsigned mask, uint64_t value)
{
    struct warp      *w = now.warp;
    size_t            turn = w->meeting.turn;
    struct emu_lanes *lanes = &w->lanes[turn % 2];
    unsigned          lane = now.thread->lane;

    emu_kernel_insist(mask == 0xffffffffu, "a mask other than all lanes");
    if (w->meeting.here == 0) {
        memset(lanes->value, POISON, sizeof lanes->value);
        lanes->present = 0;
    }
    lanes->value[lane] = value;
    lanes->present |= 1u << lane;
    if (!come(&w->meeting, what)) wait_for(&w->meeting, turn, what);
    return lanes;
}

unsigned emu_lane(void)
{
    return now.thread->lane;
}

void emu_meet(void)
{
    size_t turn = now.grid.turn;

    emu_kernel_insist(now.kernel->together, "blocks meet that were not launched together");
    if (!come(&now.grid, "cull_cuda_meet")) wait_for(&now.grid, turn, "cull_cuda_meet");
}

void *emu_asked_shared(void)
{
    return now.block->shared;
}

void *emu_shared_of(unsigned block, void *mine)
{
    size_t at = (size_t)((unsigned char *)mine - now.block->shared);

    emu_kernel_insist(now.kernel->together && block < now.kernel->grid.x && at < now.kernel->shared,
                      "another block's memory that is none");
    emu_kernel_insist(now.all[block].alive > 0, "the memory of a block that has ended");
    return now.all[block].shared + at;
}

/* ---- threads and blocks ---- */

/* A fibre: threads that begin where another has ended need none of their own. */
static void run_threads(void)
{
    for (;;) {
        struct thread *t = NULL;

        now.kernel->call(now.kernel);
        now.thread->ended = true;
        now.block->alive--;
        leave(&now.warp->meeting);
        leave(&now.block->meeting);
        leave(&now.grid);
        t = find_next();
        if (t) enter(now.block, t);
        if (!t || t->fibre) emu_fibre_end(t ? t->fibre : NULL);
        t->fibre = emu_fibre_own();
    }
}

/* Until none of the block's threads can go on; whether any could. */
static bool run_block(struct block *block)
{
    struct thread *t = find(block->thread, now.threads, now.down ? 0 : now.threads - 1);

    if (!t) return false;
    if (!t->fibre) t->fibre = emu_fibre_start(run_threads);
    enter(block, t);
    emu_fibre_go(t->fibre);
    return true;
}

static struct emu_index index_of(size_t i, struct emu_index extent)
{
    return (struct emu_index){(unsigned)(i % extent.x), (unsigned)(i / extent.x % extent.y),
                              (unsigned)(i / extent.x / extent.y)};
}

static size_t volume(struct emu_index extent)
{
    return (size_t)extent.x * extent.y * extent.z;
}

/* The static shared arrays of all kernels. */
extern unsigned char __start_emu_shared[] __attribute__((weak, visibility("hidden")));
extern unsigned char __stop_emu_shared[] __attribute__((weak, visibility("hidden")));

static void begin_block(struct block *block, size_t number)
{
    size_t bytes = (size_t)(__stop_emu_shared - __start_emu_shared);

    block->index = index_of(number, now.kernel->grid);
    block->meeting = (struct meeting){.expected = now.threads};
    block->alive = now.threads;
    memset(block->shared, POISON, now.kernel->shared + BEHIND);
    /* more would take longer than the kernels */
    if (bytes && (number < 4 || bytes <= 4096)) memset(__start_emu_shared, POISON, bytes);
    for (size_t i = 0; i < now.threads; i++) {
        block->thread[i] =
            (struct thread){.index = index_of(i, now.kernel->block), .lane = (unsigned)(i % WARP)};
        if (i % WARP == 0) block->warp[i / WARP].meeting = (struct meeting){0};
        block->warp[i / WARP].meeting.expected++;
    }
}

static void end_block(const struct block *block)
{
    if (block->alive) give_up(block, "threads wait that nobody comes to");
    for (size_t i = 0; i < BEHIND; i++)
        if (block->shared[now.kernel->shared + i] != POISON)
            give_up(block, "somebody wrote behind the shared memory that was asked for");
}

static void make_block(struct block *block)
{
    block->thread = calloc(now.threads, sizeof *block->thread);
    block->shared = aligned_alloc(64, (now.kernel->shared + BEHIND + 63) / 64 * 64);
    emu_insist(block->thread && block->shared, "no memory");
}

static void drop_block(struct block *block)
{
    free(block->thread);
    free(block->shared);
}

/* ---- kernels ---- */

static void run_apart(size_t count)
{
    static struct block block;

    make_block(&block);
    for (size_t i = 0; i < count; i++) {
        now.grid = (struct meeting){.expected = now.threads + 1};
        begin_block(&block, now.down ? count - 1 - i : i);
        (void)run_block(&block);
        end_block(&block);
    }
    drop_block(&block);
}

static void run_together(size_t count)
{
    static struct block blocks[EMU_MOST_PROCESSORS];
    bool                again = true;

    now.all = blocks;
    now.grid = (struct meeting){.expected = count * now.threads};
    for (size_t i = 0; i < count; i++) {
        make_block(blocks + i);
        begin_block(blocks + i, i);
    }
    while (again) {
        again = false;
        for (size_t i = 0; i < count; i++)
            again |= run_block(blocks + (now.down ? count - 1 - i : i));
    }
    for (size_t i = 0; i < count; i++) {
        end_block(blocks + i);
        drop_block(blocks + i);
    }
}

void emu_run_kernel(struct emu_work *work)
{
    struct emu_kernel *kernel = (struct emu_kernel *)work;
    const char        *order = getenv("CULL_EMU_ORDER");

    now.kernel = kernel;
    now.threads = volume(kernel->block);
    now.down = order ? strcmp(order, "down") == 0 : now.launches % 2 == 1;
    now.launches++;
    blockDim = kernel->block;
    gridDim = kernel->grid;
    if (kernel->together)
        run_together(volume(kernel->grid));
    else
        run_apart(volume(kernel->grid));
}

static cudaError_t check(const struct emu_kernel *k)
{
    size_t blocks = volume(k->grid), threads = volume(k->block);

    if (blocks == 0 || threads == 0 || threads > MOST_THREADS || k->block.z > 64 ||
        k->grid.x > 0x7fffffffu || k->grid.y > 65535 || k->grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (k->shared > emu_shared_most(k->function)) return cudaErrorInvalidValue;
    if (k->together && blocks > emu_processors()) return cudaErrorCooperativeLaunchTooLarge;
    return cudaSuccess;
}

cudaError_t emu_launch(struct emu_kernel *kernel, cudaStream_t stream)
{
    cudaError_t error = emu_enter();

    kernel->work = (struct emu_work){emu_run_kernel, NULL, 0};
    if (error == cudaSuccess) error = check(kernel);
    if (error == cudaSuccess)
        error = emu_ask(stream, &kernel->work);
    else
        free(kernel);
    return emu_leave(error);
}
