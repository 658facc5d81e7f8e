/* main.c - the program: finds the command and hands it the rest of the line. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare/compare_parts.h"

static const struct {
    const char *name, *doc;
    int (*run)(int argc, char **argv);
    bool trains; /* runs networks */
} commands[] = {
    {"train", "train a network as a recipe says, or go on with a run", cmd_train, true},
    {"compare", "the referee: which strategy pays, at the same cost", cmd_compare, true},
    {"eval", "how well saved weights do on a set", cmd_eval, true},
    {"predict", "what saved weights say of every example of a set", cmd_predict, true},
    {"export", "which examples a run chose, as a list or arrays", cmd_export, false},
    {"select", "choose a weighted subset: arrays in, subset out", cmd_select, false},
    {"data", "list, inspect and convert data sets", cmd_data, false},
    {"bench", "where the time of a training step goes", cmd_bench, true},
    {"reproduce", "a paper's figure or table, with its claim beside ours", cmd_reproduce, true},
    {"probe", "how well the gradients of what strategies pick stand for all", cmd_probe, true},
    {"audit", "every example of a run's set, from easy to hard", cmd_audit, true},
    {"report", "one page about runs or a comparison: verdict, tables, figures", cmd_report, false},
    {"doctor", "what this build and machine can do, with a self-test", cmd_doctor, false},
};

static int help(FILE *to)
{
    (void)fprintf(to,
                  "cull %s - decide which training examples are worth backpropagating\n\n"
                  "usage: cull COMMAND [ARGUMENTS]\n\ncommands:\n",
                  cull_version());
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        (void)fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].doc);
    (void)fputs("\noptions:\n"
                "  --help     this text; cull COMMAND --help for a command's own\n"
                "  --version  the version\n",
                to);
    return END_WELL;
}

static int unknown(const char *word)
{
    search s = {.wrong = word};

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) try_word(&s, commands[i].name);
    return complain_near(&s, "cull ", "cull --help", "there is no command '%s'", word);
}

/* oneDNN's threads spin while they wait, which on a machine with other work makes every step many
 * times slower; they ask the environment once, when the library is loaded. */
static void wait_passively(char **argv)
{
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) return;
    if (setenv("OMP_WAIT_POLICY", "passive", 1) == 0) (void)execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    /* A reader that goes away is then an error of the write, and gets its sentence. */
    (void)signal(SIGPIPE, SIG_IGN);
    /* Who started us may have ignored the ends of children, and that is inherited. */
    (void)signal(SIGCHLD, SIG_DFL);
    if (argc < 2) {
        (void)help(stderr);
        return END_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return end_output(help(stdout));
    if (strcmp(argv[1], "--version") == 0) {
        (void)printf("cull %s\n", cull_version());
        return end_output(END_WELL);
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[1], commands[i].name) != 0) continue;
        if (commands[i].trains) wait_passively(argv);
        return commands[i].run(argc - 2, argv + 2);
    }
    if (strcmp(argv[1], COMPARE_ANSWER) == 0) return compare_answer(); /* for itself: not listed */
    return unknown(argv[1]);
}
