/*
 * base/threads.c - the team: helpers spin a short while for the next job, then sleep.
 *
 * A job is published as a ticket, its number and how many of its tasks nobody has claimed;
 * threads claim tasks by lowering it, and the job is over when every claimed task is done.
 * Nobody waits for a helper that claimed nothing: on a machine that is busy with other work
 * a helper may not run at all, and the caller then does everything itself. The short spin
 * keeps back-to-back jobs (one per OMP pick) cheap; the sleep keeps an idle team off a
 * shared machine.
 *
 * One job at a time: whoever calls while another thread's is under way does all of his own
 * himself, which gives the same, as no result depends on who runs a task.
 */
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/alloc.h"

enum { SPINS = 2000, MAX_THREADS = 1024 };

struct start {
    cull_team *team;
    unsigned   worker;
};

struct cull_team {
    unsigned         size; /* with the caller */
    pthread_t       *helper;
    struct start    *start; /* [size] what each helper is told */
    pthread_mutex_t  lock;
    pthread_cond_t   wake, idle;
    atomic_bool      busy;       /* some thread's job has the helpers               */
    _Atomic uint64_t ticket;     /* number of the job << 32 | tasks not yet claimed */
    atomic_size_t    unfinished; /* tasks not yet done                              */
    atomic_bool      closing;
    unsigned         asleep; /* helpers, under the lock              */
    size_t           tasks;  /* these three change only while no job */
    cull_team_task   run;    /* is under way                         */
    void            *context;
    unsigned         started;
};

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static bool claim(cull_team *team, size_t *task)
{
    uint64_t seen = atomic_load_explicit(&team->ticket, memory_order_acquire);

    while ((uint32_t)seen != 0) {
        if (atomic_compare_exchange_weak_explicit(&team->ticket, &seen, seen - 1,
                                                  memory_order_acq_rel, memory_order_acquire)) {
            *task = team->tasks - (uint32_t)seen;
            return true;
        }
    }
    return false;
}

static void work(cull_team *team, unsigned worker)
{
    size_t task = 0;

    while (claim(team, &task)) {
        team->run(team->context, task, worker);
        if (atomic_fetch_sub_explicit(&team->unfinished, 1, memory_order_acq_rel) == 1 && worker) {
            pthread_mutex_lock(&team->lock);
            pthread_cond_signal(&team->idle);
            pthread_mutex_unlock(&team->lock);
        }
    }
}

static bool called(cull_team *team)
{
    return (uint32_t)atomic_load_explicit(&team->ticket, memory_order_acquire) != 0 ||
           atomic_load_explicit(&team->closing, memory_order_acquire);
}

/* False: the team is closing. */
static bool next_job(cull_team *team)
{
    for (int spin = 0; spin < SPINS && !called(team); spin++) relax();
    if (!called(team)) {
        pthread_mutex_lock(&team->lock);
        team->asleep++;
        while (!called(team)) pthread_cond_wait(&team->wake, &team->lock);
        team->asleep--;
        pthread_mutex_unlock(&team->lock);
    }
    return !atomic_load_explicit(&team->closing, memory_order_acquire);
}

static void *helper_main(void *argument)
{
    const struct start *start = argument;

    while (next_job(start->team)) work(start->team, start->worker);
    return NULL;
}

static void publish(cull_team *team, size_t tasks)
{
    uint64_t number = (atomic_load_explicit(&team->ticket, memory_order_relaxed) >> 32) + 1;

    pthread_mutex_lock(&team->lock);
    atomic_store_explicit(&team->ticket, number << 32 | tasks, memory_order_release);
    if (team->asleep) pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->lock);
}

static cull_status start_helper(cull_team *team, unsigned worker)
{
    team->start[worker] = (struct start){team, worker};
    if (pthread_create(&team->helper[worker - 1], NULL, helper_main, &team->start[worker]) != 0)
        return cull_fail(CULL_NO_MEMORY, "the system gives no more threads (have %u)", worker);
    team->started++;
    return CULL_OK;
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
    TRY(cull_base_alloc(threads, sizeof *team->start, "a team of threads", &team->start));
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
    atomic_store_explicit(&team->closing, true, memory_order_release);
    publish(team, 0);
    for (unsigned i = 0; i < team->started; i++) pthread_join(team->helper[i], NULL);
    pthread_cond_destroy(&team->idle);
    pthread_cond_destroy(&team->wake);
    pthread_mutex_destroy(&team->lock);
    cull_base_free(team->start);
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
        if (atomic_load_explicit(&team->unfinished, memory_order_acquire) == 0) return;
        relax();
    }
    pthread_mutex_lock(&team->lock);
    while (atomic_load_explicit(&team->unfinished, memory_order_acquire) != 0)
        pthread_cond_wait(&team->idle, &team->lock);
    pthread_mutex_unlock(&team->lock);
}

void cull_team_run(cull_team *team, size_t tasks, cull_team_task run, void *context)
{
    if (team->size == 1 || tasks <= 1 || tasks > UINT32_MAX ||
        atomic_exchange_explicit(&team->busy, true, memory_order_acquire)) {
        for (size_t task = 0; task < tasks; task++) run(context, task, 0);
        return;
    }
    team->tasks = tasks;
    team->run = run;
    team->context = context;
    atomic_store_explicit(&team->unfinished, tasks, memory_order_relaxed);
    publish(team, tasks);
    work(team, 0);
    wait_for_helpers(team);
    atomic_store_explicit(&team->busy, false, memory_order_release);
}
