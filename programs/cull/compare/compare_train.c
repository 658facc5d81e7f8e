/*
 * compare_train.c - the runs of a comparison: processes of this program, some at a time.
 *
 * A run's words go to output.txt in its folder, and why it failed, if it does, comes through a
 * pipe. A run that fails is named and the rest goes on; a signal asks every run to end, which
 * leaves its checkpoint, and starts no other. Where controls are made only when the arms' runs are
 * done, the list is gone through a second time. Where time is limited, a run is begun only if it
 * will be done: by what was predicted, and by how far predictions fell short so far.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compare/compare_parts.h"
#include "train/run_parts.h"

enum { MOST_JOBS = 256, MOST_WORDS = 1024, STATUS = 3 /* the child's descriptor */ };

struct job {
    pid_t            pid;  /* 0: free                                */
    int              from; /* where the run tells why it failed; -1: nowhere */
    double           begun;
    cull_compare_run run;
};

struct yard {
    cull_comparison *comparison;
    struct job       job[MOST_JOBS];
    unsigned         jobs, busy;
    size_t           next, listed, runs, done, failed;
    double           all, passed; /* predicted seconds: of all runs to do, of those done */
    double           begun;
    double until, slow; /* when all must be done, 0: whenever; most seconds a predicted one */
    size_t left;        /* not begun: they would not be done by then */
    bool   again;       /* the list is gone through a second time */
    bool   quiet, terminal, told;
};

/* Of a prediction that nothing is known of yet; and what starting a process may take. */
#define UNKNOWN 1.3
#define SPARE   3.

double compare_now(void)
{
    struct timespec t = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The child becomes `cull train`; it is told to stop when its parent is gone. */
static void become_train(const cull_compare_run *run, int status, pid_t parent)
{
    char        seed[40], output[CULL_DATA_PATH + 16];
    const char *argv[] = {
        "cull",   "train",       run->recipe, seed, "--out", run->folder, "--resume-or-begin",
        "--json", "--status-fd", "3",         NULL};
    int to = -1;

    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(END_FAILED);
    (void)setpgid(0, 0); /* the terminal's interrupt is the parent's to pass on */
    (void)snprintf(seed, sizeof seed, "train.seed=%llu", (unsigned long long)run->seed);
    (void)snprintf(output, sizeof output, "%s/output.txt", run->folder);
    to = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (to < 0 || dup2(to, STDOUT_FILENO) < 0 || dup2(to, STDERR_FILENO) < 0) _exit(END_FAILED);
    (void)close(to);
    if (status != STATUS && dup2(status, STATUS) < 0) _exit(END_FAILED);
    (void)fcntl(STATUS, F_SETFD, 0); /* of all descriptors, this one stays open */
    (void)execv("/proc/self/exe", (char **)(uintptr_t)argv);
    _exit(END_FAILED);
}

static bool start(struct yard *y, struct job *job)
{
    pid_t parent = getpid(), pid = 0;
    int   ends[2] = {-1, -1};

    if (pipe(ends)) return false;
    for (int i = 0; i < 2; i++) (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    pid = fork();
    if (pid == 0) become_train(&job->run, ends[1], parent);
    (void)close(ends[1]);
    job->from = ends[0];
    job->begun = compare_now();
    job->pid = pid > 0 ? pid : 0;
    if (pid < 0) (void)close(ends[0]);
    y->busy += pid > 0;
    return pid > 0;
}

/* What a run told of its failure: a number, a subject and a sentence, a line each. */
static void last_words(const struct job *job, char out[MOST_WORDS])
{
    FILE *from = fdopen(dup(job->from), "r");
    int   status = CULL_OK;
    char  line[MOST_WORDS] = "";

    (void)snprintf(out, MOST_WORDS, "it left no word");
    if (from && fgets(line, sizeof line, from)) status = (int)strtol(line, NULL, 10);
    for (int i = 0; status != CULL_OK && i < 2; i++)
        if (!fgets(line, sizeof line, from)) status = CULL_OK;
    line[strcspn(line, "\n")] = '\0';
    if (status != CULL_OK) (void)snprintf(out, MOST_WORDS, "%s", line);
    if (from) (void)fclose(from);
}

/* By what was predicted, and by how long it took so far where something is done. What is at work is
 * half done, more or less. */
static void say_left(const struct yard *y, char *out, size_t room)
{
    double half = 0, rate = 1. / y->jobs;

    for (unsigned i = 0; i < y->jobs; i++)
        if (y->job[i].pid) half += y->job[i].run.seconds / 2;
    if (y->passed > 0) rate = (compare_now() - y->begun) / (y->passed + half);
    compare_clock(rate * fmax(0, y->all - y->passed - half), out, room);
}

static void draw(struct yard *y)
{
    char left[40], line[160];

    if (!y->terminal) return;
    say_left(y, left, sizeof left);
    (void)snprintf(line, sizeof line, "%zu of %zu runs done, %u at work, about %s left", y->done,
                   y->runs, y->busy, left);
    draw_line(line);
    y->told = true;
}

static void clear_line(struct yard *y)
{
    if (y->told) (void)fputs("\r\033[K", stderr);
    y->told = false;
}

static void say_failed(struct yard *y, const struct job *job, int how)
{
    char words[MOST_WORDS];

    if (compare_asked_to_end()) return;
    last_words(job, words);
    clear_line(y);
    y->failed++;
    if (WIFSIGNALED(how))
        (void)fprintf(stderr, "cull: %s: ended by signal %d; the other runs go on.\n",
                      job->run.folder, WTERMSIG(how));
    else
        (void)fprintf(stderr, "cull: %s: %s.\nThe other runs go on.\n", job->run.folder, words);
}

static void say_done(const struct yard *y, const struct job *job)
{
    char left[40];

    (void)printf("%zu of %zu: %s seed %llu", y->done, y->runs, job->run.name,
                 (unsigned long long)job->run.seed);
    if (y->done < y->runs) {
        say_left(y, left, sizeof left);
        (void)printf(", about %s left", left);
    }
    (void)putchar('\n');
    (void)fflush(stdout);
}

/* One run has ended: judge anew, so that comparison.json is never behind. */
static int take_back(struct yard *y, pid_t pid, int how)
{
    for (unsigned i = 0; i < y->jobs; i++) {
        struct job *job = &y->job[i];

        if (job->pid != pid) continue;
        job->pid = 0;
        y->busy--;
        if (WIFEXITED(how) && WEXITSTATUS(how) == 0) {
            y->done++;
            y->passed += job->run.seconds;
            if (job->run.seconds > 0)
                y->slow = fmax(y->slow, (compare_now() - job->begun) / job->run.seconds);
            if (!y->quiet && !y->terminal) say_done(y, job);
        } else {
            say_failed(y, job, how);
        }
        (void)close(job->from);
        if (cull_comparison_judge(y->comparison) != CULL_OK) return complain_run(CULL_IO);
    }
    return END_WELL;
}

/* Runs that are finished are left alone, damaged ones too; what failed is tried once. */
static bool is_to_do(const struct yard *y, const cull_compare_run *run)
{
    return strcmp(run->status, "finished") != 0 && strcmp(run->status, "corrupt") != 0 &&
           !(y->again && strcmp(run->status, "failed") == 0);
}

/* Early stopping is read off full training's runs, and takes none. */
static bool is_in_time(const struct yard *y, const cull_compare_run *run)
{
    double slow = y->slow > 0 ? y->slow * 1.1 : UNKNOWN;

    return y->until <= 0 || compare_now() + run->seconds * slow + SPARE < y->until;
}

static int fill(struct yard *y)
{
    for (unsigned i = 0; i < y->jobs && !compare_asked_to_end(); i++) {
        struct job *job = &y->job[i];

        while (job->pid == 0 && y->next < y->listed &&
               cull_comparison_run(y->comparison, y->next, &job->run)) {
            y->next++;
            if (!is_to_do(y, &job->run)) continue;
            if (!is_in_time(y, &job->run)) {
                y->left++;
                continue;
            }
            if (!start(y, job))
                return complain(END_FAILED, "Give fewer --jobs.", "no process for a run: %s",
                                strerror(errno));
        }
    }
    return END_WELL;
}

static void ask_all_to_end(const struct yard *y)
{
    for (unsigned i = 0; i < y->jobs; i++)
        if (y->job[i].pid) (void)kill(y->job[i].pid, SIGTERM);
}

static int work(struct yard *y)
{
    int  end = fill(y), asked = 0;
    bool told = false;

    while (y->busy > 0) {
        int   how = 0;
        pid_t pid = 0;

        if ((compare_asked_to_end() || end) && !told) {
            ask_all_to_end(y);
            told = true;
        }
        pid = waitpid(-1, &how, WNOHANG);
        if (pid == 0 || (pid < 0 && errno == EINTR)) {
            draw(y);
            (void)nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
            continue;
        }
        if (pid < 0) break;
        asked = take_back(y, pid, how);
        if (!end) end = asked;
        if (!end) end = fill(y);
    }
    clear_line(y);
    return end;
}

/* What the plan promises, less what is there. */
static void count_runs(struct yard *y)
{
    cull_compare_outlook plan = {0};
    cull_compare_run     run = {0};

    (void)cull_comparison_outlook(y->comparison, &plan);
    y->runs = plan.runs;
    y->all = plan.seconds * y->jobs;
    y->passed = 0;
    y->done = 0;
    for (y->listed = 0; cull_comparison_run(y->comparison, y->listed, &run); y->listed++)
        if (!is_to_do(y, &run)) {
            y->done++;
            y->all -= run.seconds;
        }
    y->begun = compare_now();
    y->next = 0;
}

static int work_through(struct yard *y)
{
    for (;;) {
        cull_compare_run run = {0};
        size_t           listed = 0;
        int              end = work(y);

        if (!end && cull_comparison_judge(y->comparison) != CULL_OK) end = complain_run(CULL_IO);
        while (cull_comparison_run(y->comparison, listed, &run)) listed++;
        if (end || compare_asked_to_end() || y->left || y->again || listed == y->listed) return end;
        y->again = true;
        count_runs(y);
    }
}

/* What a later visit has to do. */
static void say_left_over(const struct yard *y)
{
    if (y->left && !compare_asked_to_end())
        (void)fprintf(stderr,
                      "cull: %zu of %zu runs are done, and none of the others would be in time.\n"
                      "Go on with the same command and --resume.\n",
                      y->done, y->runs);
}

int compare_train(cull_comparison *c, unsigned jobs, double until, bool quiet)
{
    struct yard *y = calloc(1, sizeof *y);
    int          end = END_WELL;

    if (!y) return complain(END_FAILED, "Give fewer --jobs.", "no memory");
    *y = (struct yard){.comparison = c,
                       .jobs = jobs,
                       .until = until,
                       .quiet = quiet,
                       .terminal = !quiet && isatty(STDERR_FILENO)};
    count_runs(y);
    if (y->done && !quiet) (void)printf("%zu of %zu runs are there already\n", y->done, y->runs);
    end = work_through(y);
    say_left_over(y);
    if (!end && compare_asked_to_end()) end = 128 + compare_asked_to_end();
    if (!end && y->failed) end = END_FAILED;
    free(y);
    return end;
}
