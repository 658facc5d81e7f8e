/* cmd_train.c - cull train: one run, from a recipe to a trained network. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "train/run_parts.h"

enum { MOST_PATH = 1024 };

/* The signal that asked the run to end; written by the handler alone. */
static volatile sig_atomic_t asked_to_end;

struct arguments {
    const char *out, *recipe;
    bool        resume, json;
    uint64_t    descriptor; /* where a failure is told in numbers too; 0: nowhere */
    changes     change;
    char        folder[MOST_PATH];
};

static void set_signals(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESTART};

    (void)sigfillset(&action.sa_mask); /* the second waits until the first is dealt with */
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

/* Once: a second signal, of either kind, ends the program as it would any other. Loading and
 * evaluating may take a while, in which silence would look like being stuck. */
static void take_signal(int number)
{
    static const char said[] = "\ncull: will end after this step; a second signal ends it now.\n";
    int               before = errno;
    ssize_t           written = 0;

    asked_to_end = number;
    set_signals(SIG_DFL);
    written = write(STDERR_FILENO, said, sizeof said - 1);
    (void)written;
    errno = before;
}

static bool should_stop(void *context)
{
    (void)context;
    return asked_to_end != 0;
}

static const command self = {
    .name = "train",
    .usage = "usage: cull train RECIPE.yaml [key=value ...] [--out DIR] [--resume]\n\n"
             "Trains as the recipe says; key=value takes the place of what it says. The run's\n"
             "folder then holds recipe.yaml (every key), metrics.jsonl, TensorBoard events,\n"
             "run.json and the checkpoint. Ctrl-C (or SIGTERM) ends the run after its step,\n"
             "with a checkpoint; the same command with --resume goes on from there, bit for\n"
             "bit, also after a kill. Exit status: 0 trained, 1 failed, 2 a wrong recipe or\n"
             "command, 130 and 143 stopped by a signal.\n\n",
    .more = print_recipe_keys,
    .missing = "no recipe is given",
    .give = "Give the path of one; recipes/ holds some.",
};

static int say_stopped(const struct arguments *a, const cull_run_result *r)
{
    int number = (int)asked_to_end;

    (void)fprintf(stderr,
                  "cull: stopped after step %llu; the checkpoint is written.\nGo on with: cull "
                  "train",
                  (unsigned long long)r->step);
    print_word(stderr, a->recipe);
    for (size_t i = 0; i < a->change.count; i++) {
        char word[2 * MOST_PATH];
        (void)snprintf(word, sizeof word, "%s=%s", a->change.option[i].key,
                       a->change.option[i].value);
        print_word(stderr, word);
    }
    (void)fputs(" --out", stderr);
    print_word(stderr, a->folder);
    (void)fputs(" --resume\n", stderr);
    return 128 + number;
}

static const char *end_name(cull_run_end end)
{
    switch (end) {
    case CULL_RUN_EPOCHS: return "all epochs trained";
    case CULL_RUN_TARGET: return "target reached";
    case CULL_RUN_BUDGET: return "budget used up";
    case CULL_RUN_STOPPED: return "stopped";
    case CULL_RUN_GOES_ON: break;
    }
    return "unfinished";
}

static int say_json(const struct arguments *a, const cull_run_result *r)
{
    return print_json(json_pack(
        "{s:s, s:s, s:b, s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:s, s:s, s:o, s:o, s:o, s:o, s:o, "
        "s:o}",
        "folder", a->folder, "end", end_name(r->end), "resumed", r->resumed, "step",
        (json_int_t)r->step, "epoch", (json_int_t)r->epoch, "parameters", (json_int_t)r->parameters,
        "watched", r->watched, "best_epoch", (json_int_t)r->best_epoch, "scored",
        (json_int_t)r->scored, "trained", (json_int_t)r->trained, "weights", r->weights,
        "best_weights", r->best_weights, "accuracy", json_number(r->accuracy), "loss",
        json_number(r->loss), "best", json_number(r->best), "test", json_number(r->test),
        "test_loss", json_number(r->test_loss), "seconds", json_number(r->seconds)));
}

static int say_result(const struct arguments *a, const cull_run_result *r)
{
    if (a->json) return say_json(a, r);
    (void)printf(
        "%s after %llu epoch%s: test accuracy %.2f %%, best %s accuracy %.2f %% after epoch "
        "%llu, %.1f s\nrun folder: %s\n",
        end_name(r->end), (unsigned long long)r->epoch, r->epoch == 1 ? "" : "s", 100 * r->test,
        r->watched, 100 * r->best, (unsigned long long)r->best_epoch, r->seconds, a->folder);
    return end_output(END_WELL);
}

/* For whoever started this program: the status as a number, its subject, its sentence; a line
 * each. */
static void tell_status(const struct arguments *a, cull_status status)
{
    if (a->descriptor > 0 && a->descriptor <= INT_MAX)
        (void)dprintf((int)a->descriptor, "%d\n%s\n%s\n", (int)status, cull_last_subject(),
                      cull_last_error());
}

static int train(struct arguments *a)
{
    cull_recipe     *recipe = NULL;
    cull_run_result  result = {0};
    progress         bar = {.terminal = isatty(STDERR_FILENO) != 0, .quiet = a->json};
    cull_run_options options = {.folder = a->folder,
                                .resume = a->resume,
                                .tell = progress_tell,
                                .stop = should_stop,
                                .context = &bar};
    cull_status      status = CULL_OK;
    int              end = END_WELL;

    status = cull_recipe_open(a->recipe, a->change.option, a->change.count, &recipe);
    if (status != CULL_OK) {
        tell_status(a, status);
        return complain_opening(status);
    }
    set_signals(take_signal);
    status = cull_train(recipe, &options, &result);
    progress_end(&bar);
    if (status != CULL_OK) {
        tell_status(a, status);
        end = complain_run(status);
    } else {
        end = result.end == CULL_RUN_STOPPED ? say_stopped(a, &result) : say_result(a, &result);
    }
    cull_recipe_close(recipe);
    return end;
}

int cmd_train(int argc, char **argv)
{
    struct arguments a = {0};
    flag             flags[] = {
                    {"--out", FLAG_TEXT, "DIR", "where the run's files go (runs/RECIPE)", &a.out, 0},
                    {"--resume", FLAG_SWITCH, NULL, "go on with the run that is there", &a.resume, 0},
                    {"--json", FLAG_SWITCH, NULL, "the result as one JSON object", &a.json, 0},
                    {"--status-fd", FLAG_NUMBER, "N",
                     "a failure's number, subject and sentence, a line each, to this descriptor", &a.descriptor,
                     0},
                    {.name = NULL}};
    int end = take_changed(&self, flags, argc, argv, &a.change, &a.recipe);

    if (end != GO_ON) return end;
    name_folder(a.out, "runs", a.recipe, a.folder, sizeof a.folder);
    end = train(&a);
    clear_changes(&a.change);
    return end;
}
