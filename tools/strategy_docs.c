/*
 * tools/strategy_docs.c - docs/strategies.md, printed from the strategies' own tables.
 *
 *     strategy_docs                 print the page
 *     strategy_docs --names FILE    fail unless FILE names every strategy, as `name`
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cull.h"

static const char *const runs_text[] = {
    [CULL_RUNS_STEP] = "every step, over a batch",
    [CULL_RUNS_EPOCH] = "every epoch, over the pool",
    [CULL_RUNS_PERIOD] = "every `period` epochs, over the pool",
    [CULL_RUNS_ONCE] = "once, over the pool",
};

static const struct {
    unsigned    bit;
    const char *text;
} signal_text[] = {
    {CULL_SIGNAL_LOSS, "loss"},
    {CULL_SIGNAL_H, "H"},
    {CULL_SIGNAL_P, "P"},
    {CULL_SIGNAL_LABEL, "label"},
    {CULL_SIGNAL_IRREDUCIBLE, "irreducible loss"},
    {CULL_SIGNAL_LOGITS, "logits"},
};

static const char opening[] =
    "# The strategies\n\n"
    "Printed from the code by `make docs`; a test fails when this page is stale. "
    "`cull select --list` prints\nthe same at the command line.\n\n"
    "Signals are what a strategy's rule always reads; options may ask for more, and "
    "`cull_selector_needs`\nsays so before each step. H and P are the inputs and the output "
    "gradients of the last linear layer.\nBounds are inclusive.\n";

/* Text for a table's cell, where a bar would end it. */
static void print_cell(const char *text)
{
    for (; text && *text; text++) {
        if (*text == '|') putchar('\\');
        putchar(*text);
    }
}

static void print_bounds(const cull_option_spec *option)
{
    switch (option->type) {
    case CULL_OPTION_BOOL: fputs("true or false", stdout); return;
    case CULL_OPTION_CHOICE: print_cell(option->words); return;
    case CULL_OPTION_TEXT: fputs("text", stdout); return;
    case CULL_OPTION_LIST: fputs("numbers", stdout); return;
    case CULL_OPTION_LAYERS: fputs("layers", stdout); return;
    case CULL_OPTION_INT: printf("%.17g to %.17g", option->low, option->high); break;
    case CULL_OPTION_REAL: printf("%g to %g", option->low, option->high); break;
    }
    if (option->words) {
        fputs(", or ", stdout);
        print_cell(option->words);
    }
}

static void print_signals(unsigned signals)
{
    const char *comma = "";

    for (size_t i = 0; i < sizeof signal_text / sizeof *signal_text; i++)
        if (signals & signal_text[i].bit) {
            printf("%s%s", comma, signal_text[i].text);
            comma = ", ";
        }
    if (!*comma) fputs("none", stdout);
}

static void print_strategy(const cull_strategy *strategy)
{
    const cull_option_spec *option = NULL;
    unsigned                traits = strategy->traits;

    printf("\n## `%s`\n\n%s\n\n", strategy->name, strategy->doc);
    printf("- runs: %s\n- signals: ", runs_text[strategy->runs]);
    print_signals(strategy->signals);
    if (traits & CULL_TAKES_STALE) printf("\n- may be followed by `stale`");
    if (traits & CULL_TAKES_REMEMBERED) printf("\n- may be followed by `remembered`");
    if (traits & CULL_NO_BUDGET) printf("\n- how many are kept follows from the rule");
    if (traits & CULL_HOST_SIGNALS)
        printf("\n- works on the host: signals that lie elsewhere are copied");
    putchar('\n');
    if (!cull_strategy_option_at(strategy, 0)) return;
    printf("\n| option | default | values | what it is |\n|---|---|---|---|\n");
    for (size_t i = 0; (option = cull_strategy_option_at(strategy, i)); i++) {
        printf("| `%s` | ", option->key);
        print_cell(option->fallback);
        fputs(" | ", stdout);
        print_bounds(option);
        fputs(" | ", stdout);
        print_cell(option->doc);
        puts(" |");
    }
}

/* The whole of a small text file, or NULL. */
static char *read_text(const char *path)
{
    enum { MOST = 1 << 20 };
    FILE *file = fopen(path, "rb");
    char *text = file ? calloc(1, MOST + 1) : NULL;

    if (text && fread(text, 1, MOST, file) == 0) {
        free(text);
        text = NULL;
    }
    if (file) fclose(file);
    return text;
}

static int check_names(const char *path)
{
    const cull_strategy *strategy = NULL;
    char                *text = read_text(path);
    int                  missing = 0;

    if (!text) return fprintf(stderr, "%s: cannot read\n", path), 2;
    for (size_t i = 0; (strategy = cull_strategy_at(i)); i++) {
        char name[64];
        snprintf(name, sizeof name, "`%s`", strategy->name);
        if (!strstr(text, name)) {
            fprintf(stderr, "%s: does not name %s\n", path, name);
            missing = 1;
        }
    }
    free(text);
    return missing;
}

int main(int argc, char **argv)
{
    const cull_strategy *strategy = NULL;

    if (argc == 3 && strcmp(argv[1], "--names") == 0) return check_names(argv[2]);
    if (argc != 1) return fprintf(stderr, "usage: strategy_docs [--names FILE]\n"), 2;
    fputs(opening, stdout);
    for (size_t i = 0; (strategy = cull_strategy_at(i)); i++) print_strategy(strategy);
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
