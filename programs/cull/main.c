/* main.c - the program: finds the command and hands it the rest of the line. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare/compare_parts.h"
#include "flags.h"
#include "pages/pages.h"

static const command_entry commands[] = {
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
    {"doctor", "what this build and machine can do, what is not right, and the fix", cmd_doctor,
     false},
    {"help", "this text, or a command's own", cmd_help, false},
    {"version", "the version", cmd_version, false},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

const command_entry *command_at(size_t i)
{
    return i < COMMANDS ? &commands[i] : NULL;
}

static const command_entry *find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static void print_help(FILE *to)
{
    (void)fprintf(to,
                  "cull %s - decide which training examples are worth backpropagating\n\n"
                  "usage: cull COMMAND [ARGUMENTS]\n\ncommands:\n",
                  cull_version());
    for (size_t i = 0; i < COMMANDS; i++)
        (void)fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].doc);
    (void)fputs(
        "\noptions:\n"
        "  --help     this text; cull help COMMAND or cull COMMAND --help for a command's\n"
        "  --version  the version\n\n"
        "To begin: cull doctor, then cull train lenet-fashion.yaml; cull train alone lists\n"
        "the recipes that come with it, cull data list where data sets are to be had.\n",
        to);
}

static int unknown(const char *word)
{
    search s = {.wrong = word};
    char   recipe[256];

    for (size_t i = 0; i < COMMANDS; i++) try_word(&s, commands[i].name);
    (void)snprintf(recipe, sizeof recipe, "train %.200s", word);
    if (ends_in(word, ".yaml")) s.best = recipe;
    return complain_near(&s, "cull ", "cull help", "there is no command '%s'", word);
}

int cmd_help(int argc, char **argv)
{
    static const command self = {
        .name = "help",
        .usage = "usage: cull help [COMMAND]\n\nPrints what there is, or a command's own help.\n\n",
    };
    flag                 flags[] = {{.name = NULL}};
    size_t               count = 0;
    int                  end = take_line(&self, flags, argc, argv, &count);
    const command_entry *asked = NULL;

    if (end != GO_ON) return end;
    if (count == 0) {
        print_help(stdout);
        return end_output(END_WELL);
    }
    asked = find(argv[0]);
    return asked ? asked->run(1, (char *[]){"--help", NULL}) : unknown(argv[0]);
}

int cmd_version(int argc, char **argv)
{
    static const command self = {
        .name = "version",
        .usage = "usage: cull version\n\nPrints the version. cull doctor says more of a build.\n\n",
    };
    flag   flags[] = {{.name = NULL}};
    size_t count = 0;
    int    end = take_line(&self, flags, argc, argv, &count);

    if (end != GO_ON) return end;
    if (count)
        return complain(END_USAGE, "cull version stands alone.", "'%s' is not understood", argv[0]);
    (void)printf("cull %s\n", cull_version());
    return end_output(END_WELL);
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
    const command_entry *asked = NULL;

    /* A reader that goes away is then an error of the write, and gets its sentence. */
    (void)signal(SIGPIPE, SIG_IGN);
    /* Who started us may have ignored the ends of children, and that is inherited. */
    (void)signal(SIGCHLD, SIG_DFL);
    if (argc < 2) {
        print_help(stderr);
        return END_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return cmd_help(0, NULL);
    if (strcmp(argv[1], "--version") == 0) return cmd_version(0, NULL);
    asked = find(argv[1]);
    if (asked) {
        if (asked->trains) wait_passively(argv);
        return asked->run(argc - 2, argv + 2);
    }
    /* Not command_entry: for the program itself, for the build, for shells. */
    if (strcmp(argv[1], COMPARE_ANSWER) == 0) return compare_answer();
    if (strcmp(argv[1], PAGES_WRITE) == 0) return pages_write(argc - 2, argv + 2);
    if (strcmp(argv[1], PAGES_COMPLETE) == 0) return pages_complete(argc - 2, argv + 2);
    return unknown(argv[1]);
}
