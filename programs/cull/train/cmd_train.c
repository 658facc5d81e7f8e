/* cmd_train.c - cull train: one run, from a recipe to a trained network. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "train/run_parts.h"

enum { MOST_PATH = 1024 };

/* The signal that asked the run to end; written by the handler alone. */
static volatile sig_atomic_t asked_to_end;

struct arguments {
    const char *out, *recipe;
    bool        resume, either, json;
    uint64_t    descriptor; /* where a failure is told in numbers too; 0: nowhere */
    changes     change;
    char        folder[MOST_PATH], room[MOST_PATH];
};

/* What is told while the run goes on. */
struct talk {
    progress bar;
    json_t  *json; /* the latest outlook; NULL: none */
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
    .usage =
        "usage: cull train RECIPE.yaml [key=value ...] [--out DIR] [--resume]\n"
        "       cull train RUN --resume\n\n"
        "Trains as the recipe says; key=value takes the place of what it says, as in\n"
        "cull train lenet-fashion.yaml train.epochs=2 select.strategy=sb select.keep=0.3. A\n"
        "recipe that is not here is looked for where recipes were installed; cull train alone\n"
        "lists those. Paths in a recipe are relative to its file, those in key=value to the\n"
        "current folder. It begins with what it will do and what that costs.\n\n"
        "The run's folder then holds recipe.yaml (every key), metrics.jsonl, TensorBoard\n"
        "events, run.json and the checkpoint. Ctrl-C (or SIGTERM) ends the run after its\n"
        "step, with a checkpoint; the same command with --resume, or cull train RUN --resume\n"
        "from anywhere, goes on from there, bit for bit, also after a kill. Exit status: 0\n"
        "trained, 1 failed, 2 a wrong recipe or command, 130 and 143 stopped by a signal.\n\n",
    .recipe_keys = true,
    .missing = "no recipe is given",
    .give = "Give the path of one, or the folder of a run with --resume.",
};

static int say_stopped(const struct arguments *a, const cull_run_result *r)
{
    int number = (int)asked_to_end;

    (void)fprintf(stderr,
                  "cull: stopped after step %llu; the checkpoint is written.\nGo on with: cull "
                  "train",
                  (unsigned long long)r->step);
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

/* Takes the outlook. */
static int say_json(const struct arguments *a, const cull_run_result *r, json_t *outlook)
{
    return print_json(json_pack(
        "{s:s, s:s, s:b, s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:s, s:s, s:s, s:o, s:o, s:o, s:o, "
        "s:o, "
        "s:o, s:o*}",
        "folder", a->folder, "end", end_name(r->end), "resumed", r->resumed, "step",
        (json_int_t)r->step, "epoch", (json_int_t)r->epoch, "parameters", (json_int_t)r->parameters,
        "watched", r->watched, "best_epoch", (json_int_t)r->best_epoch, "scored",
        (json_int_t)r->scored, "trained", (json_int_t)r->trained, "weights", r->weights,
        "best_weights", r->best_weights, "metric", r->metric, r->metric, json_number(r->accuracy),
        "loss", json_number(r->loss), "best", json_number(r->best), "test", json_number(r->test),
        "test_loss", json_number(r->test_loss), "seconds", json_number(r->seconds), "outlook",
        outlook));
}

static int say_result(const struct arguments *a, const cull_run_result *r, json_t *outlook)
{
    const char *name = cull_metric_name(r->metric);

    if (a->json) return say_json(a, r, json_incref(outlook));
    (void)printf("%s after %llu epoch%s: test %s %.2f %%, best %s %s %.2f %% after epoch "
                 "%llu, %.1f s\nrun folder: %s\n",
                 end_name(r->end), (unsigned long long)r->epoch, r->epoch == 1 ? "" : "s", name,
                 100 * r->test, r->watched, name, 100 * r->best, (unsigned long long)r->best_epoch,
                 r->seconds, a->folder);
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

static void tell(void *context, const cull_run_news *news)
{
    progress_tell(&((struct talk *)context)->bar, news);
}

static void foresee(void *context, const cull_run_outlook *outlook)
{
    struct talk *t = context;
    bool         again = t->json != NULL;

    json_decref(t->json);
    t->json = outlook_json(outlook);
    if (t->bar.quiet) return;
    progress_end(&t->bar);
    if (again)
        print_prediction(outlook);
    else
        print_outlook(outlook);
}

static int run(struct arguments *a, const cull_recipe *recipe)
{
    cull_run_result  result = {0};
    struct talk      talk = {.bar = {.terminal = isatty(STDERR_FILENO) != 0, .quiet = a->json}};
    cull_run_options options = {.folder = a->folder,
                                .resume = a->resume || a->either,
                                .tell = tell,
                                .stop = should_stop,
                                .context = &talk,
                                .foresee = foresee,
                                .warn = say_warning};
    cull_status      status = CULL_OK;
    int              end = END_WELL;

    set_signals(take_signal);
    progress_open(&talk.bar, "reading the data");
    status = cull_train(recipe, &options, &result);
    progress_close(&talk.bar);
    if (status != CULL_OK) {
        tell_status(a, status);
        end = complain_run(status);
    } else {
        end = result.end == CULL_RUN_STOPPED ? say_stopped(a, &result)
                                             : say_result(a, &result, talk.json);
    }
    json_decref(talk.json);
    return end;
}

static int train(struct arguments *a)
{
    cull_recipe *recipe = NULL;
    cull_status  status = cull_recipe_open(a->recipe, a->change.option, a->change.count, &recipe);
    int          end = END_WELL;

    if (status != CULL_OK) {
        tell_status(a, status);
        return complain_opening(status, a->recipe);
    }
    end = run(a, recipe);
    cull_recipe_close(recipe);
    return end;
}

/* ---- which recipe, and which folder ---- */

static bool holds(const char *folder, const char *name)
{
    char path[2 * MOST_PATH];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static bool is_run(const char *folder)
{
    return holds(folder, "recipe.yaml") &&
           (holds(folder, "run.json") || holds(folder, "metrics.jsonl") || holds(folder, "state"));
}

/* A run's folder stands for its recipe; and its recipe, where no --out is given, for the folder. */
static int take_folder(struct arguments *a)
{
    static const char own[] = "/recipe.yaml";
    struct stat       info = {0};
    size_t            length = strlen(a->recipe);

    while (length > 1 && a->recipe[length - 1] == '/') length--;
    if (stat(a->recipe, &info) || length + sizeof own > sizeof a->room) return END_WELL;
    (void)snprintf(a->room, sizeof a->room, "%.*s", (int)length, a->recipe);
    if (!S_ISDIR(info.st_mode)) {
        if (length < sizeof own || strcmp(a->room + length + 1 - sizeof own, own) != 0)
            return END_WELL;
        a->room[length + 1 - sizeof own] = '\0';
        if (!a->out && is_run(a->room)) (void)snprintf(a->folder, sizeof a->folder, "%s", a->room);
        return END_WELL;
    }
    if (holds(a->room, "plan.json"))
        return complain(END_USAGE, "cull compare goes on with it, given its --out and --resume.",
                        "%s holds a comparison, not a run", a->room);
    if (!is_run(a->room))
        return complain(END_USAGE, "Give a recipe, a .yaml file, or the folder of a run.",
                        "%s is a folder and holds no run", a->room);
    if (!a->out) (void)snprintf(a->folder, sizeof a->folder, "%s", a->room);
    (void)strcat(a->room, own);
    a->recipe = a->room;
    return END_WELL;
}

/* To begin where one meant to go on would look like work that was lost. */
static int check_resumed(const struct arguments *a)
{
    if (!a->resume || a->either || holds(a->folder, "recipe.yaml") || holds(a->folder, "state") ||
        holds(a->folder, "metrics.jsonl"))
        return END_WELL;
    return complain(END_USAGE,
                    "Leave --resume out to begin a run there, or name its folder: cull train RUN "
                    "--resume.",
                    "%s: there is no run to go on with", a->folder);
}

int cmd_train(int argc, char **argv)
{
    struct arguments a = {0};
    flag             flags[] = {
                    {"--out", FLAG_TEXT, "DIR", "where the run's files go (runs/RECIPE)", &a.out, 0},
                    {"--resume", FLAG_SWITCH, NULL, "go on with the run that is there", &a.resume, 0},
                    {"--resume-or-begin", FLAG_SWITCH, NULL, "the same, or begin one where there is none",
                     &a.either, 0},
                    {"--json", FLAG_SWITCH, NULL, "the result as one JSON object, and no other talk", &a.json,
                     0},
                    {"--status-fd", FLAG_NUMBER, "N",
                     "a failure's number, subject and sentence, a line each, to this descriptor", &a.descriptor,
                     0},
                    {.name = NULL}};
    int end = take_changed(&self, flags, argc, argv, &a.change, &a.recipe);

    if (end != GO_ON) return end;
    end = take_folder(&a);
    if (!end && !a.folder[0]) {
        if (a.recipe != a.room) a.recipe = find_recipe(a.recipe, a.room, sizeof a.room);
        name_folder(a.out, "runs", a.recipe, a.folder, sizeof a.folder);
    }
    if (!end) end = check_resumed(&a);
    if (!end) end = train(&a);
    clear_changes(&a.change);
    return end;
}
