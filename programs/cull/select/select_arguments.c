/* select_arguments.c - the command line of cull select, parsed and checked before anything is read.
 */
#include "select/select_arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "select/select_parts.h"

static void fill_flags(select_arguments *a, flag *f)
{
    static const char *const docs[INPUTS] = {
        [IN_LOSS] = "losses (M), float",
        [IN_H] = "inputs of the last layer (M, D), float",
        [IN_P] = "gradients at the logits (M, C), float",
        [IN_LABELS] = "classes (M), integer",
        [IN_IRREDUCIBLE] = "irreducible losses (M), float",
        [IN_PLACES] = "places in the pool (M), integer; needs --pool",
        [IN_UNSEEN] = "1 where no loss is known (M), integer",
        [IN_TARGET_H] = "validation set: as --h (V, D)",
        [IN_TARGET_P] = "validation set: as --p (V, C)",
        [IN_TARGET_LABELS] = "validation set: as --labels (V)",
        [IN_TARGET_LOGITS] = "validation set: logits (V, C), float",
    };
    const flag own[] = {
        {"--strategy", FLAG_TEXT, "STRATEGY", "which strategy; a modifier may follow", &a->strategy,
         0},
        {"--signals", FLAG_TEXT, "FILE", "one .npz with the arrays below, '_' for '-'", &a->signals,
         0},
        {"--keep", FLAG_TEXT, "R", "share to keep; the same as keep=R", &a->keep, 0},
        {"--budget", FLAG_NUMBER, "M", "how many to keep instead", &a->budget, 0},
        {"--seed", FLAG_NUMBER, "S", "of all randomness (0)", &a->seed, 0},
        {"--step", FLAG_NUMBER, "N", "this step of the run (0)", &a->step, 0},
        {"--epoch", FLAG_NUMBER, "N", "this epoch of the run (0)", &a->epoch, 0},
        {"--epochs", FLAG_NUMBER, "N", "epochs of the run (0: unknown)", &a->epochs, 0},
        {"--steps", FLAG_NUMBER, "N", "steps per epoch (0: from pool and batch)", &a->steps, 0},
        {"--pool", FLAG_NUMBER, "N", "size of the training set (as many as signals)", &a->pool, 0},
        {"--batch", FLAG_NUMBER, "B", "base batch size (0: the pool)", &a->batch, 0},
        {"--threads", FLAG_NUMBER, "T", "threads (0: one per core); never changes the result",
         &a->threads, 0},
        {"--backend", FLAG_TEXT, cull_recipe_option("train.backend")->words,
         "where to compute (cpu)", &a->backend, 0},
        {"-o", FLAG_TEXT, "FILE", "write OUT.npz or OUT.json; '-': standard output", &a->out, 0},
        {"--json", FLAG_SWITCH, NULL, "JSON on standard output", &a->json, 0},
        {"--diagnose", FLAG_SWITCH, NULL, "how good the subset is, too", &a->diagnose, 0},
        {"--overlap", FLAG_TEXT, "STRATEGY", "and how much it shares with this strategy's",
         &a->overlap, 0},
        {"--state", FLAG_TEXT, "FILE", "restore the history if the file exists; save it after",
         &a->state, 0},
        {"--observe", FLAG_TEXT, "FILE",
         "tell it what training saw at this step; nothing is chosen", &a->observe, 0},
        {"--flush", FLAG_SWITCH, NULL, "at the end: what the strategy still holds back", &a->flush,
         0},
        {"--list", FLAG_SWITCH, NULL, "every strategy with its options, defaults and bounds",
         &a->list, 0},
    };

    for (int i = 0; i < 2; i++) *f++ = own[i];
    for (int i = 0; i < INPUTS; i++)
        *f++ = (flag){input_kinds[i].flag, FLAG_TEXT, "FILE", docs[i], &a->path[i], 0};
    for (size_t i = 2; i < sizeof own / sizeof *own; i++) *f++ = own[i];
}

static void print_example(FILE *to)
{
    (void)fprintf(
        to, "\nA run, one command a moment: train.py trains subset.npz and adds the array 'loss'.\n"
            "  run=\"--strategy infobatch --pool 50000 --epochs 30 --state s\"\n"
            "  for epoch in $(seq 0 29); do\n"
            "      cull select $run --epoch $epoch -o subset.npz\n"
            "      python3 train.py subset.npz trained.npz\n"
            "      cull select $run --epoch $epoch --observe trained.npz\n"
            "  done\n");
}

static const command self = {
    .name = "select",
    .usage = "usage: cull select --strategy STRATEGY [stale|remembered] [FLAGS] [key=value ...]\n"
             "       cull select ... --state FILE --observe FILE\n"
             "       cull select ... --state FILE --flush\n"
             "       cull select --list [--strategy STRATEGY] [--json]\n\n"
             "Chooses a weighted subset of M examples. Arrays are .npy files, or members of\n"
             "one .npz. Without -o, prints a line 'index place weight' per example.\n"
             "key=value are the strategy's own options.\n\n",
    .more = print_example,
};

/* key=value words are options, --keep the first of them; one other word may be the modifier. */
static int take_words(select_arguments *a, char *const *words, size_t count)
{
    const char *modifier = NULL;
    int         end = take_changes("select", "Options", words, count, &a->change, &modifier);

    if (end) return end;
    if (a->keep) {
        memmove(a->change.option + 1, a->change.option, a->change.count * sizeof(cull_option));
        a->change.option[0] = (cull_option){"keep", a->keep};
        a->change.count++;
    }
    if (!a->strategy) return END_WELL;
    if (strlen(a->strategy) + (modifier ? strlen(modifier) : 0) + 2 > sizeof a->name)
        return complain(END_USAGE, "See cull select --list.", "the strategy's name is too long");
    (void)snprintf(a->name, sizeof a->name, "%s%s%s", a->strategy, modifier ? " " : "",
                   modifier ? modifier : "");
    return END_WELL;
}

/* Nothing that is read may be written over. */
static int check_paths(const select_arguments *a)
{
    const char *out = a->out && strcmp(a->out, "-") != 0 ? a->out : NULL;

    if (out && !ends_in(out, ".npz") && !ends_in(out, ".json"))
        return complain(END_USAGE, "Name it .npz or .json, or give - for standard output.",
                        "%s: the output's form is not known", out);
    for (int i = 0; i < INPUTS + 2; i++) {
        const char *in = i < INPUTS ? a->path[i] : i == INPUTS ? a->signals : a->observe;
        if (!same_file(in, out) && !same_file(in, a->state)) continue;
        return complain(END_USAGE, "Give another name to what is written.",
                        "%s is an input and would be written over", in);
    }
    if (same_file(out, a->state))
        return complain(END_USAGE, "Give another name to one of them.",
                        "%s is to be both the output and the state", out);
    return END_WELL;
}

/* --observe and --flush select nothing: with them go the run, its moment and its state; places
 * with the first, output with the second. */
static int check_together(const select_arguments *a, const flag *flags)
{
    static const char *const both[] = {"--strategy", "--keep",    "--seed", "--step",  "--epoch",
                                       "--epochs",   "--steps",   "--pool", "--batch", "--state",
                                       "--threads",  "--backend", NULL};
    static const char *const own[][4] = {{"--observe", "--places"}, {"--flush", "-o", "--json"}};
    const char              *mode = a->flush ? "--flush" : "--observe";

    if (!a->flush && !a->observe) return END_WELL;
    for (const flag *f = flags; f->name; f++)
        if (f->given && !select_is_word(f->name, both) &&
            !select_is_word(f->name, own[a->flush ? 1 : 0]))
            return complain(END_USAGE, "Leave one of the two out.", "%s does not go with %s",
                            f->name, mode);
    if (!a->state)
        return complain(END_USAGE, "Give --state FILE, the file that select keeps its history in.",
                        "%s without --state has no history to go on", mode);
    if (a->flush && a->pool == 0)
        return complain(END_USAGE, "Give --pool N, the size of the training set.",
                        "--flush has no array that says how large the pool is");
    return END_WELL;
}

/* Does the option `key` stand among those given? */
static bool has_option(const select_arguments *a, const char *key)
{
    for (size_t i = 0; i < a->change.count; i++)
        if (strcmp(a->change.option[i].key, key) == 0) return true;
    return false;
}

static int check_arguments(const select_arguments *a)
{
    if (!a->strategy)
        return complain(END_USAGE, "Give --strategy NAME; cull select --list shows them.",
                        "no strategy is given");
    if (a->budget_given && has_option(a, "keep"))
        return complain(END_USAGE, "Leave one of the two out.", "%s and --budget contradict",
                        a->keep ? "--keep" : "keep=");
    if (a->budget_given && a->budget == 0)
        return complain(END_USAGE, "Give at least 1, or leave it out.", "--budget is 0");
    if ((a->path[IN_PLACES]) && a->pool == 0)
        return complain(END_USAGE, "Give --pool N, the size of the training set.",
                        "--places are places in a pool of unknown size");
    if (a->threads > 1024)
        return complain(END_USAGE, "Give 1 to 1024, or 0 for one per core.", "--threads is %llu",
                        (unsigned long long)a->threads);
    return check_paths(a);
}

int select_take_arguments(select_arguments *a, int argc, char **argv)
{
    size_t count = 0;
    int    end = END_WELL;

    fill_flags(a, a->flags);
    end = take_line(&self, a->flags, argc, argv, &count);
    for (const flag *f = a->flags; f->name; f++)
        if (f->out == &a->budget) a->budget_given = f->given;
    if (end != GO_ON || a->list) return end;
    end = take_words(a, argv, count);
    if (!end) end = check_arguments(a);
    if (!end) end = check_together(a, a->flags);
    return end ? end : GO_ON;
}
