/*
 * compare_measure.c - the cost table: what steps take while as many processes run as will train.
 *
 * Every process goes through the same list, so that each is measured beside the others. They are
 * processes of this program: one that computes may not be the copy of another. The list is a file
 * of recipes, a zero byte behind each, which is their standard input; answers come from their
 * standard output.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compare/compare_parts.h"
#include "train/run_parts.h"

enum { MOST_JOBS = 256, MOST_SENTENCE = 400 };

#define SECONDS 0.7 /* of steps, of each recipe */

/* What a process says of one recipe. */
struct answer {
    cull_status   status;
    cull_measured measured;
    char          why[MOST_SENTENCE], subject[MOST_SENTENCE];
};

static cull_status measure_text(const char *text, cull_measured *out)
{
    char         path[40];
    FILE        *file = tmpfile();
    cull_recipe *recipe = NULL;
    cull_status  status = CULL_OK;

    if (!file || fputs(text, file) < 0 || fflush(file)) {
        status = cull_fail(CULL_IO, "a recipe: %s", strerror(errno));
    } else {
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(file));
        status = cull_recipe_open(path, NULL, 0, &recipe);
    }
    if (status == CULL_OK) status = cull_measure(recipe, SECONDS, out);
    cull_recipe_close(recipe);
    if (file) (void)fclose(file);
    return status;
}

int compare_answer(void)
{
    FILE  *list = fopen("/proc/self/fd/0", "r"); /* from its start: others read it too */
    char  *text = NULL;
    size_t room = 0;
    int    end = list ? END_WELL : END_FAILED;

    while (!end && getdelim(&text, &room, '\0', list) > 0) {
        struct answer a = {0};

        a.status = measure_text(text, &a.measured);
        if (a.status != CULL_OK) {
            (void)snprintf(a.why, sizeof a.why, "%s", cull_last_error());
            (void)snprintf(a.subject, sizeof a.subject, "%s", cull_last_subject());
        }
        if (fwrite(&a, sizeof a, 1, stdout) != 1 || fflush(stdout)) end = END_FAILED;
    }
    free(text);
    if (list) (void)fclose(list);
    return end;
}

static FILE *list_recipes(const cull_comparison *c)
{
    const cull_recipe *recipe = NULL;
    FILE              *list = tmpfile();

    for (size_t i = 0; list && (recipe = cull_comparison_unmeasured(c, i)); i++)
        if (fputs(cull_recipe_text(recipe), list) < 0 || fputc('\0', list) == EOF) break;
    if (!list || (!ferror(list) && fflush(list) == 0)) return list;
    (void)fclose(list);
    return NULL;
}

/* The child becomes one that answers. */
static void become_answerer(FILE *list, int to)
{
    char *const argv[] = {"cull", COMPARE_ANSWER, NULL};

    if (dup2(fileno(list), STDIN_FILENO) >= 0 && dup2(to, STDOUT_FILENO) >= 0)
        (void)execv("/proc/self/exe", argv);
    _exit(END_FAILED);
}

struct crew {
    unsigned count;
    pid_t    pid[MOST_JOBS];
    FILE    *from[MOST_JOBS];
};

static int hire(const cull_comparison *c, struct crew *crew, unsigned jobs)
{
    FILE *list = list_recipes(c);

    for (crew->count = 0; list && crew->count < jobs; crew->count++) {
        int   ends[2] = {-1, -1};
        pid_t pid = -1;

        if (pipe(ends)) break;
        for (int i = 0; i < 2; i++) (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        pid = fork();
        if (pid == 0) become_answerer(list, ends[1]);
        (void)close(ends[1]);
        crew->from[crew->count] = pid < 0 ? NULL : fdopen(ends[0], "r");
        crew->pid[crew->count] = pid;
        if (!crew->from[crew->count]) {
            (void)close(ends[0]); /* which ends the child, if there is one */
            break;
        }
    }
    if (list) (void)fclose(list);
    if (crew->count == jobs) return END_WELL;
    return complain(END_FAILED, "Give fewer --jobs.", "no process to measure in: %s",
                    strerror(errno));
}

static void dismiss(struct crew *crew, bool kill_them)
{
    for (unsigned i = 0; i < crew->count; i++) {
        (void)fclose(crew->from[i]);
        if (kill_them) (void)kill(crew->pid[i], SIGKILL);
        while (waitpid(crew->pid[i], NULL, 0) < 0 && errno == EINTR) continue;
    }
    crew->count = 0;
}

/* Plain output tells once how long it will be silent; more may follow from what is measured. */
static void announce(size_t count, bool quiet)
{
    char time[40];

    if (quiet || isatty(STDERR_FILENO)) return;
    compare_clock(SECONDS * (double)count, time, sizeof time);
    (void)printf("measuring what steps take, for %s or more\n", time);
    (void)fflush(stdout);
}

/* One arm that cannot be does not end the others; want of memory, or of data, ends them all. */
static bool leave_out(cull_comparison *c, size_t i, const struct answer *a)
{
    bool own = a->status == CULL_BAD_OPTION || a->status == CULL_BAD_ARGUMENT ||
               a->status == CULL_UNSUPPORTED || a->status == CULL_NOT_FINITE;

    return own && cull_comparison_leave_out(c, i, a->why) == CULL_OK;
}

static int collect(cull_comparison *c, const struct crew *crew, cull_measured *all, size_t count,
                   bool quiet)
{
    bool shows = !quiet && isatty(STDERR_FILENO);
    char line[200];

    for (size_t i = 0; i < count; i++) {
        const char *strategy =
            cull_recipe_value(cull_comparison_unmeasured(c, i), "select.strategy");

        (void)snprintf(line, sizeof line, "measuring %zu of %zu: %s", i + 1, count, strategy);
        if (shows) draw_line(line);
        for (unsigned k = 0; k < crew->count; k++) {
            struct answer a = {0};

            if (fread(&a, sizeof a, 1, crew->from[k]) != 1)
                return compare_asked_to_end()
                           ? 128 + compare_asked_to_end()
                           : complain(END_FAILED, "Is there memory enough for all --jobs?",
                                      "a measuring process ended early");
            if (a.status != CULL_OK && !leave_out(c, i, &a)) {
                if (shows) draw_line("");
                (void)cull_fail_about(a.status, a.subject, "measuring %s: %s", strategy, a.why);
                return complain_run(a.status);
            }
            all[i * crew->count + k] = a.measured;
        }
    }
    if (shows) draw_line("");
    return END_WELL;
}

int compare_measure(cull_comparison *c, unsigned jobs, bool quiet)
{
    int  end = END_WELL;
    bool first = true;

    while (!end && cull_comparison_unmeasured(c, 0)) {
        size_t         count = 1;
        struct crew    crew = {0};
        cull_measured *all = NULL;

        while (cull_comparison_unmeasured(c, count)) count++;
        all = calloc(count * jobs, sizeof *all);
        if (!all) return complain(END_FAILED, "Give fewer --jobs.", "no memory");
        end = hire(c, &crew, jobs);
        if (!end && first) announce(count, quiet);
        if (!end) end = collect(c, &crew, all, count, quiet);
        first = false;
        dismiss(&crew, end != END_WELL);
        if (!end) end = complain_run(cull_comparison_measured(c, all, count, jobs));
        free(all);
    }
    return end;
}
