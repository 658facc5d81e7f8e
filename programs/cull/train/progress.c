/*
 * progress.c - how far a run is: a line that is drawn over on a terminal; else a line per epoch,
 * and one whenever ten seconds have passed without.
 *
 * Steps, evaluations and the reading of data may each take longer than that, so that a thread of
 * its own speaks where nobody else does.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "train/run_parts.h"

#define REDRAW 0.2 /* seconds */
#define SILENT 10. /* at most so long without a terminal */

void clock_text(double seconds, char *out, size_t room)
{
    unsigned long long all = seconds > 0 && seconds < 1e9 ? (unsigned long long)seconds : 0;

    if (all >= 3600)
        (void)snprintf(out, room, "%llu:%02llu:%02llu", all / 3600, all / 60 % 60, all % 60);
    else
        (void)snprintf(out, room, "%llu:%02llu", all / 60, all % 60);
}

void draw_line(const char *text)
{
    struct winsize size = {0};
    int            room = 0;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0) room = size.ws_col;
    (void)fprintf(stderr, "\r\033[K%.*s", room > 1 ? room - 1 : 200, text);
    (void)fflush(stderr);
}

static double now(void)
{
    struct timespec t = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct timespec at(double seconds)
{
    double whole = floor(seconds);

    return (struct timespec){(time_t)whole, (long)(1e9 * (seconds - whole))};
}

/* ---- the thread ---- */

static void *speak(void *context)
{
    progress *p = context;
    char      time[32];

    (void)pthread_mutex_lock(&p->lock);
    while (!p->over) {
        struct timespec until = at(p->spoke + SILENT);

        (void)pthread_cond_timedwait(&p->ends, &p->lock, &until);
        if (p->over || now() < p->spoke + SILENT) continue;
        p->spoke = now();
        clock_text(p->spoke - p->opened, time, sizeof time);
        (void)fprintf(stderr, "%s, %s so far\n", p->latest, time);
    }
    (void)pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void watch(progress *p)
{
    pthread_condattr_t by;

    if (pthread_condattr_init(&by)) return;
    (void)pthread_condattr_setclock(&by, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->ends, &by);
    p->watched = pthread_create(&p->watcher, NULL, speak, p) == 0;
    (void)pthread_condattr_destroy(&by);
}

static void note(progress *p, const char *text, bool spoken)
{
    if (!p->watched) return;
    (void)pthread_mutex_lock(&p->lock);
    if (text) (void)snprintf(p->latest, sizeof p->latest, "%s", text);
    if (spoken) p->spoke = now();
    (void)pthread_mutex_unlock(&p->lock);
}

void progress_open(progress *p, const char *what)
{
    p->opened = p->spoke = now();
    (void)snprintf(p->latest, sizeof p->latest, "%s", what);
    if (p->quiet) return;
    if (p->terminal) {
        draw_line(what);
        p->shown = true;
    } else {
        watch(p);
    }
}

void progress_close(progress *p)
{
    progress_end(p);
    if (!p->watched) return;
    (void)pthread_mutex_lock(&p->lock);
    p->over = true;
    (void)pthread_cond_signal(&p->ends);
    (void)pthread_mutex_unlock(&p->lock);
    (void)pthread_join(p->watcher, NULL);
    (void)pthread_cond_destroy(&p->ends);
    (void)pthread_mutex_destroy(&p->lock);
    p->watched = false;
}

/* ---- what a run tells ---- */

static void describe(const progress *p, const cull_run_news *n, char *out, size_t room)
{
    double seconds = n->seconds - p->start, trained = n->trained - p->before;
    double rate = seconds > 0 ? trained / seconds : 0;
    double left = n->step > 0 ? n->seconds / (double)n->step * (double)(n->steps - n->step) : 0;
    char   eta[32];

    clock_text(left, eta, sizeof eta);
    (void)snprintf(out, room, "epoch %llu/%llu  step %llu/%llu  loss %.4f  %.0f examples/s  eta %s",
                   (unsigned long long)n->epoch + 1, (unsigned long long)n->epochs,
                   (unsigned long long)n->step, (unsigned long long)n->steps, n->loss, rate, eta);
}

static void tell_step(progress *p, const cull_run_news *n)
{
    char line[MOST_LINE];

    if (!p->terminal && !p->watched) return;
    if (p->terminal && n->seconds < p->next) return;
    describe(p, n, line, sizeof line);
    note(p, line, false);
    if (!p->terminal) return;
    p->next = n->seconds + REDRAW;
    draw_line(line);
    p->shown = true;
}

void progress_end(progress *p)
{
    if (p->shown) (void)fputs("\r\033[K", stderr);
    p->shown = false;
}

void progress_tell(void *context, const cull_run_news *n)
{
    progress *p = context;

    if (!p->begun) {
        p->begun = true;
        p->start = n->seconds;
        p->before = n->trained;
    }
    if (!n->epoch_end) {
        tell_step(p, n);
        return;
    }
    progress_end(p);
    if (p->quiet) return;
    (void)printf("epoch %llu/%llu: ", (unsigned long long)n->epoch, (unsigned long long)n->epochs);
    if (isfinite(n->loss))
        (void)printf("loss %.4f", n->loss);
    else
        (void)printf("nothing trained"); /* a stream is still collecting */
    if (isfinite(n->accuracy))
        (void)printf(", %s %s %.2f %%%s", n->watched, cull_metric_name(n->metric),
                     100 * n->accuracy, n->best ? " (best)" : "");
    (void)printf(", %.1f s\n", n->seconds);
    (void)fflush(stdout);
    note(p, NULL, true);
}
