/*
 * base/threads.c - the team: helpers spin a short while for the next job, then sleep.
 *
 * A job is published by raising `job`; helpers claim tasks from one atomic counter and
 * say when they are out. The short spin keeps back-to-back jobs (one per OMP pick) cheap;
 * the sleep keeps an idle team off a shared machine.
 */
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/alloc.h"

enum { SPINS = 2000, MAX_THREADS = 1024 };

struct cull_team {
    unsigned        size; /* with the caller */
    pthread_t      *helper;
    pthread_mutex_t lock;
    pthread_cond_t  wake, idle;
    atomic_uint     job;    /* number of the current job */
    atomic_uint     active; /* helpers still in it       */
    atomic_size_t   next;   /* next task to claim        */
    size_t          tasks;
    cull_team_task  run;
    void           *context;
    bool            closing;
    unsigned        started;
};

struct start {
    cull_team *team;
    unsigned   worker;
};

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void work(cull_team *team, unsigned worker)
{
    for (;;) {
        size_t task = atomic_fetch_add_explicit(&team->next, 1, memory_order_relaxed);
        if (task >= team->tasks) break;
        team->run(team->context, task, worker);
    }
}

static bool next_job(cull_team *team, unsigned seen)
{
    for (int spin = 0; spin < SPINS; spin++) {
        if (atomic_load_explicit(&team->job, memory_order_acquire) != seen) return !team->closing;
        relax();
    }
    pthread_mutex_lock(&team->lock);
    while (atomic_load(&team->job) == seen) pthread_cond_wait(&team->wake, &team->lock);
    pthread_mutex_unlock(&team->lock);
    return !team->closing;
}

static void *helper_main(void *argument)
{
    struct start start = *(struct start *)argument;
    cull_team   *team = start.team;
    unsigned     seen = 0;

    cull_base_free(argument);
    while (next_job(team, seen)) {
        seen++;
        work(team, start.worker);
        if (atomic_fetch_sub_explicit(&team->active, 1, memory_order_acq_rel) == 1) {
            pthread_mutex_lock(&team->lock);
            pthread_cond_signal(&team->idle);
            pthread_mutex_unlock(&team->lock);
        }
    }
    return NULL;
}

static void publish(cull_team *team)
{
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add_explicit(&team->job, 1, memory_order_release);
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->lock);
}

static cull_status start_helper(cull_team *team, unsigned worker)
{
    cull_status   status = CULL_OK;
    struct start *start = NULL;

    TRY(cull_base_alloc(1, sizeof *start, "a thread", &start));
    *start = (struct start){team, worker};
    if (pthread_create(&team->helper[worker - 1], NULL, helper_main, start) != 0)
        FAIL(CULL_NO_MEMORY, "the system gives no more threads (have %u)", worker);
    start = NULL;
    team->started++;
done:
    cull_base_free(start);
    return status;
}

cull_status cull_team_create(unsigned threads, cull_team **out)
{
    cull_status status = CULL_OK;
    cull_team  *team = NULL;
    long        cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (threads == 0) threads = cores > 0 ? (unsigned)cores : 1;
    if (threads > MAX_THREADS)
        FAIL(CULL_BAD_ARGUMENT, "%u threads asked for, %d is the most", threads, MAX_THREADS);
    TRY(cull_base_alloc(1, sizeof *team, "a team of threads", &team));
    team->size = threads;
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->wake, NULL);
    pthread_cond_init(&team->idle, NULL);
    TRY(cull_base_alloc(threads, sizeof *team->helper, "a team of threads", &team->helper));
    for (unsigned worker = 1; worker < threads; worker++) TRY(start_helper(team, worker));
    *out = team;
    team = NULL;
done:
    cull_team_destroy(team);
    return status;
}

void cull_team_destroy(cull_team *team)
{
    if (!team) return;
    team->closing = true;
    publish(team);
    for (unsigned i = 0; i < team->started; i++) pthread_join(team->helper[i], NULL);
    pthread_cond_destroy(&team->idle);
    pthread_cond_destroy(&team->wake);
    pthread_mutex_destroy(&team->lock);
    cull_base_free(team->helper);
    cull_base_free(team);
}

unsigned cull_team_size(const cull_team *team)
{
    return team->size;
}

static void wait_for_helpers(cull_team *team)
{
    for (int spin = 0; spin < SPINS; spin++) {
        if (atomic_load_explicit(&team->active, memory_order_acquire) == 0) return;
        relax();
    }
    pthread_mutex_lock(&team->lock);
    while (atomic_load(&team->active) != 0) pthread_cond_wait(&team->idle, &team->lock);
    pthread_mutex_unlock(&team->lock);
}

void cull_team_run(cull_team *team, size_t tasks, cull_team_task run, void *context)
{
    if (team->size == 1 || tasks <= 1) {
        for (size_t task = 0; task < tasks; task++) run(context, task, 0);
        return;
    }
    team->tasks = tasks;
    team->run = run;
    team->context = context;
    atomic_store_explicit(&team->next, 0, memory_order_relaxed);
    atomic_store_explicit(&team->active, team->size - 1, memory_order_relaxed);
    publish(team);
    work(team, 0);
    wait_for_helpers(team);
}
