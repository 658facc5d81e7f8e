/* cmd_compare.c - cull compare: strategies against controls of the same cost, and a verdict. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare/compare_parts.h"
#include "train/run_parts.h"

struct arguments {
    const char *recipe, *strategies, *keep, *pass, *out, *margin, *until;
    uint64_t    seeds, jobs, threads;
    bool        plan, anyway, resume, json;
    double      limit; /* by compare_now(); 0: none */
    changes     change;
    char        folder[CULL_DATA_PATH], room[CULL_DATA_PATH];
    char       *command; /* owned */
};

/* The signal that asked for the end; written by the handler alone. */
static volatile sig_atomic_t asked;

static void take_signal(int number)
{
    asked = number;
}

int compare_asked_to_end(void)
{
    return (int)asked;
}

/* Once: a second signal ends the program as it would any other. */
void compare_listen(void)
{
    struct sigaction action = {.sa_handler = take_signal, .sa_flags = (int)SA_RESETHAND};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

static const command self = {
    .name = "compare",
    .usage =
        "usage: cull compare RECIPE.yaml [key=value ...] --strategies STRATEGY,... [--keep "
        "SHARE,...]\n\n"
        "Is a strategy better than uniform choice at the same cost? Runs every strategy at\n"
        "every share to keep, with controls at the same cost: uniform choice of as many,\n"
        "uniform choice with the whole budget, full training shortened, full training\n"
        "stopped early. Then says better, worse, no different, or how many more seeds it\n"
        "would take to know. What steps cost is measured first; docs/compare.md has the rest.\n\n"
        "A strategy is a name that cull select --list prints, with a modifier and options\n"
        "behind it, and how it scores: --strategies 'sb,sb remembered,sb score.precision=int8'.\n"
        "Runs keep no weights, unless train.keep=latest or all asks for them; --until 9m begins\n"
        "only what is done by then, and --resume does the rest another time.\n"
        "What cannot be, or cannot save anything, is named and left out. The same command with\n"
        "--resume goes on with what is there, also with more --seeds, and also after the folder\n"
        "was moved; cull report DIR makes a page of it.\n\n",
    .missing = "no recipe is given",
    .give = "Give the path of one.",
};

static int complain_compare(cull_status status)
{
    static const remedy remedies[] = {
        {CULL_BUSY, END_FAILED, "Wait for it, or give another --out."},
        {CULL_DIFFERS, END_USAGE,
         "Go on with what it was begun with (more --seeds and another --margin are fine), or give "
         "another --out."},
        {CULL_NO_SAVING, END_USAGE, "Give a smaller --keep, --pass reuse, or --anyway to run it."},
        {CULL_BAD_OPTION, END_USAGE, "See cull compare --help, and cull train --help for keys."},
        {CULL_OK, END_FAILED, NULL}};
    int end = complain_by(remedies, status);

    return end ? end : complain_run(status);
}

static int read_margin(const char *text, double *out)
{
    char *end = NULL;

    *out = 0.5;
    if (!text) return END_WELL;
    *out = strtod(text, &end);
    if (end == text || *end || !(*out >= 0) || *out > 100)
        return complain(END_USAGE, "Give points of accuracy (or R², mAP), as --margin 0.5.",
                        "--margin: '%s' is no number from 0 to 100", text);
    return END_WELL;
}

int compare_read_until(const char *text, double *out)
{
    char  *end = NULL;
    double number = text ? strtod(text, &end) : 0, unit = 0;

    *out = 0;
    if (!text) return END_WELL;
    if (strcmp(end, "s") == 0) unit = 1;
    if (strcmp(end, "m") == 0) unit = 60;
    if (strcmp(end, "h") == 0) unit = 3600;
    if (end == text || unit <= 0 || !(number > 0) || number > 1e6)
        return complain(END_USAGE, "Give a time from now on, as --until 9m, 540s or 1.5h.",
                        "--until: '%s' is no length of time", text);
    *out = compare_now() + number * unit;
    return END_WELL;
}

static int say_result(const struct arguments *a, const cull_comparison *c, int end)
{
    if (a->json && cull_comparison_text(c)) {
        (void)fputs(cull_comparison_text(c), stdout);
        return end_output(end);
    }
    if (end > 128) {
        (void)fprintf(stderr, "cull: stopped; every run's checkpoint is written.\n"
                              "Go on with the same command and --resume.\n");
        return end;
    }
    if (cull_comparison_text(c)) {
        int printed = compare_print_result(c);
        (void)printf("comparison: %s\n", a->folder);
        return printed ? printed : end_output(end);
    }
    return end;
}

static int compare(struct arguments *a, cull_comparison *c)
{
    cull_status status = CULL_OK;
    unsigned    jobs = cull_comparison_jobs(c);
    const char *warning = NULL;
    int         end = END_WELL;

    if (!a->plan) {
        status = cull_comparison_folder(c, a->folder, a->resume);
        if (status == CULL_BAD_ARGUMENT) /* it holds something else */
            return complain_last(END_USAGE, "Give another --out.");
        if (status != CULL_OK) return complain_compare(status);
    }
    for (size_t i = 0; (warning = cull_comparison_warning(c, i)); i++) say_warning(NULL, warning);
    compare_listen();
    end = compare_measure(c, jobs, a->json);
    if (end) return end;
    if (a->plan && a->json) {
        (void)fputs(cull_comparison_plan(c), stdout);
        return end_output(END_WELL);
    }
    if (!a->json) end = compare_print_plan(c, a->plan);
    if (end || a->plan) return end;
    status = cull_comparison_begin(c);
    if (status != CULL_OK) return complain_compare(status);
    end = compare_train(c, jobs, a->limit, a->json);
    return say_result(a, c, end);
}

static int prepare(struct arguments *a)
{
    cull_comparison     *c = NULL;
    cull_compare_options options = {0};
    cull_status          status = CULL_OK;
    int                  end = read_margin(a->margin, &options.margin);

    if (!end) end = compare_read_until(a->until, &a->limit);
    if (end) return end;
    if (a->threads == 0) a->threads = 1;
    if (a->jobs > 256) a->jobs = 256;
    options = (cull_compare_options){.recipe = a->recipe,
                                     .changes = a->change.option,
                                     .count = a->change.count,
                                     .strategies = a->strategies,
                                     .keep = a->keep,
                                     .pass = a->pass,
                                     .seeds = a->seeds,
                                     .threads = (unsigned)a->threads,
                                     .jobs = (unsigned)a->jobs,
                                     .margin = options.margin,
                                     .anyway = a->anyway,
                                     .command = a->command};
    status = cull_comparison_create(&options, &c);
    if (status == CULL_IO) return complain_opening(status, a->recipe);
    end = status == CULL_OK ? compare(a, c) : complain_compare(status);
    cull_comparison_destroy(c);
    return end;
}

/* The command as a shell takes it, --resume and --until left out; NULL: no memory. */
static char *repeat_command(int argc, char **argv)
{
    char  *text = NULL;
    size_t size = 0;
    FILE  *to = open_memstream(&text, &size);

    if (!to) return NULL;
    (void)fputs("cull compare", to);
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--until") == 0)
            i++;
        else if (strcmp(argv[i], "--resume") != 0 && strncmp(argv[i], "--until=", 8) != 0)
            print_word(to, argv[i]);
    if (fclose(to) == 0) return text;
    free(text);
    return NULL;
}

/* To begin where one meant to go on would look like work that was lost. */
static int check_resumed(const struct arguments *a)
{
    char path[CULL_DATA_PATH + 16];

    (void)snprintf(path, sizeof path, "%s/plan.json", a->folder);
    if (!a->resume || access(path, F_OK) == 0) return END_WELL;
    return complain(END_USAGE, "Leave --resume out to begin one there, or give its --out.",
                    "%s: there is no comparison to go on with", a->folder);
}

int cmd_compare(int argc, char **argv)
{
    struct arguments a = {.keep = "0.3", .pass = "separate", .seeds = 3};
    flag             flags[] = {
                    {"--strategies", FLAG_TEXT, "STRATEGY,...", "what to compare, commas between",
                     &a.strategies, 0},
                    {"--keep", FLAG_TEXT, "SHARE,...", "shares of the examples to keep (0.3)", &a.keep, 0},
                    {"--pass", FLAG_TEXT, "separate|reuse,...", "how scored examples are trained (separate)",
                     &a.pass, 0},
                    {"--seeds", FLAG_NUMBER, "N", "runs of each, seeds 1 to N (3)", &a.seeds, 0},
                    {"--jobs", FLAG_NUMBER, "J", "runs at once (cores / threads; on a device 1)", &a.jobs, 0},
                    {"--until", FLAG_TEXT, "TIME", "begin only what is done in so long: 9m, 540s, 1.5h",
                     &a.until, 0},
                    {"--threads", FLAG_NUMBER, "T", "threads of a run (1)", &a.threads, 0},
                    {"--margin", FLAG_TEXT, "P", "points that count as no difference (0.5)", &a.margin, 0},
                    {"--out", FLAG_TEXT, "DIR", "where it all goes (compare/RECIPE)", &a.out, 0},
                    {"--plan", FLAG_SWITCH, NULL, "say what would be run, and start nothing", &a.plan, 0},
                    {"--anyway", FLAG_SWITCH, NULL, "also run what cannot save anything", &a.anyway, 0},
                    {"--resume", FLAG_SWITCH, NULL, "go on with the comparison that is there", &a.resume, 0},
                    {"--json", FLAG_SWITCH, NULL, "the plan or the comparison as JSON", &a.json, 0},
                    {.name = NULL}};
    int end = END_WELL;

    a.command = repeat_command(argc, argv);
    if (!a.command) return complain(END_FAILED, "Give fewer arguments.", "no memory");
    end = take_changed(&self, flags, argc, argv, &a.change, &a.recipe);
    if (end == GO_ON && !a.strategies) {
        end = complain(END_USAGE,
                       a.resume ? "Give the command that the comparison was begun with, and "
                                  "--resume; comparison.json there has it as 'command'."
                                : "As --strategies 'random,sb,sb remembered'; see cull select "
                                  "--list.",
                       "no strategy is given");
    } else if (end == GO_ON) {
        a.recipe = find_recipe(a.recipe, a.room, sizeof a.room);
        name_folder(a.out, "compare", a.recipe, a.folder, sizeof a.folder);
        end = check_resumed(&a);
        if (!end) end = prepare(&a);
    }
    clear_changes(&a.change);
    free(a.command);
    return end;
}
