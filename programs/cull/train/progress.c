/* progress.c - how far a run is: a line that is drawn over on a terminal, else one per epoch. */
#include <math.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "train/run_parts.h"

#define REDRAW 0.2 /* seconds */

/* 75 -> "1:15" */
static void clock_text(double seconds, char *out, size_t room)
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

static void draw(progress *p, const cull_run_news *n)
{
    double seconds = n->seconds - p->start, trained = n->trained - p->before;
    double rate = seconds > 0 ? trained / seconds : 0;
    double left = n->step > 0 ? n->seconds / (double)n->step * (double)(n->steps - n->step) : 0;
    char   eta[32], line[200];

    clock_text(left, eta, sizeof eta);
    (void)snprintf(line, sizeof line,
                   "epoch %llu/%llu  step %llu/%llu  loss %.4f  %.0f examples/s  eta %s",
                   (unsigned long long)n->epoch + 1, (unsigned long long)n->epochs,
                   (unsigned long long)n->step, (unsigned long long)n->steps, n->loss, rate, eta);
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
        if (!p->terminal || n->seconds < p->next) return;
        p->next = n->seconds + REDRAW;
        draw(p, n);
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
        (void)printf(", %s accuracy %.2f %%%s", n->watched, 100 * n->accuracy,
                     n->best ? " (best)" : "");
    (void)printf(", %.1f s\n", n->seconds);
    (void)fflush(stdout);
}
