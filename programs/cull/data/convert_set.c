/* convert_set.c - cull data convert: a set anew, with a line that says how far it is. */
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "data/data_parts.h"
#include "train/run_parts.h"

#define REDRAW 0.2 /* seconds, on a terminal */
#define SAY    10. /* seconds, elsewhere     */

/* Set by a signal: what was written is removed, as it is no set. */
static volatile sig_atomic_t asked_to_end;

struct course {
    bool   terminal, shown;
    double start, next;
};

static void take_signal(int number)
{
    asked_to_end = number;
}

static void set_signals(void)
{
    struct sigaction action = {.sa_handler = take_signal, .sa_flags = (int)SA_RESETHAND};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

static double now(void)
{
    struct timespec t = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool tell(void *context, const cull_data_progress *p)
{
    struct course *c = context;
    double         time = now(), seconds = time - c->start;
    char           line[160];

    if (asked_to_end) return false;
    if (time < c->next) return true;
    c->next = time + (c->terminal ? REDRAW : SAY);
    (void)snprintf(line, sizeof line, "%s%s %llu/%llu examples, %.0f %%, %.1f s",
                   p->reading ? "reading " : "", p->role == CULL_DATA_TEST ? "test" : "train",
                   (unsigned long long)p->done, (unsigned long long)p->count,
                   100. * (double)p->done / (double)p->count, seconds);
    if (c->terminal)
        draw_line(line);
    else
        (void)fprintf(stderr, "%s\n", line);
    c->shown = c->terminal;
    return true;
}

static int complain_converting(cull_status status)
{
    if (status == CULL_STOPPED)
        return complain_last(END_FAILED, "What was written is removed again.");
    if (status == CULL_EXISTS)
        return complain_last(END_FAILED, "Nothing was changed; name another with -o.");
    if (status == CULL_IO || status == CULL_NOT_FOUND)
        return complain_last(END_FAILED, "Check both paths, their permissions and the space left.");
    return complain_data(status);
}

int convert_set(const data_arguments *a)
{
    struct course        course = {.terminal = isatty(STDERR_FILENO) != 0, .start = now()};
    cull_data_conversion options = {
        .one_role = a->role != NULL, .tell = tell, .context = &course, .warn = say_warning};
    cull_data_request request = a->request;
    cull_status       status = CULL_OK;

    if (!a->out)
        return complain(END_USAGE, "Name a folder, or a file that ends in .npz, with -o.",
                        "no output is given");
    if (a->role && strcmp(a->role, "test") != 0 && strcmp(a->role, "train") != 0)
        return complain(END_USAGE, "See cull data --help.", "--role is train or test, not '%s'",
                        a->role);
    if (a->role && strcmp(a->role, "test") == 0) request.role = CULL_DATA_TEST;
    course.next = course.start + (course.terminal ? 0 : SAY);
    set_signals();
    status = cull_data_convert(&request, a->out, &options);
    if (course.shown) (void)fputs("\r\033[K", stderr);
    return status == CULL_OK ? END_WELL : complain_converting(status);
}
