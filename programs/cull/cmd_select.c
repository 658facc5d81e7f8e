/* cmd_select.c - cull select: arrays in, a weighted subset out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "flags.h"
#include "select_parts.h"

enum { MOST_FLAGS = 40, MOST_NAME = 256, MOST_FLAG_LIST = 256 };

/* The command line. */
struct arguments {
    const char  *strategy, *keep, *backend, *out, *overlap, *state, *signals;
    const char  *path[INPUTS];
    uint64_t     budget, seed, step, epoch, epochs, steps, pool, batch, threads;
    bool         json, diagnose, list, help, budget_given;
    char         name[MOST_NAME]; /* the strategy with its modifier */
    cull_option *option;          /* [options] */
    size_t       options;
    char        *text; /* what the options point into */
};

/* What a run opens, so that one function closes it. */
struct run {
    inputs         in;
    cull_backend  *backend;
    cull_selector *selector, *other;
    cull_subset    subset, other_subset;
    cull_diagnosis diagnosis;
    bool           plain; /* at this step nothing is to be selected */
};

static void fill_flags(struct arguments *a, flag *f)
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
        {"--strategy", FLAG_TEXT, "NAME", "which strategy; a modifier may follow", &a->strategy, 0},
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
        {"--backend", FLAG_TEXT, "cpu|ref", "fast, or plain loops (cpu)", &a->backend, 0},
        {"-o", FLAG_TEXT, "FILE", "write OUT.npz or OUT.json; '-': standard output", &a->out, 0},
        {"--json", FLAG_SWITCH, NULL, "JSON on standard output", &a->json, 0},
        {"--diagnose", FLAG_SWITCH, NULL, "how good the subset is, too", &a->diagnose, 0},
        {"--overlap", FLAG_TEXT, "NAME", "and how much it shares with this strategy's", &a->overlap,
         0},
        {"--state", FLAG_TEXT, "FILE", "restore the history if the file exists; save it after",
         &a->state, 0},
        {"--list", FLAG_SWITCH, NULL, "every strategy with its options, defaults and bounds",
         &a->list, 0},
        {"--help", FLAG_SWITCH, NULL, "this text", &a->help, 0},
    };

    for (int i = 0; i < 2; i++) *f++ = own[i];
    for (int i = 0; i < INPUTS; i++)
        *f++ = (flag){input_kinds[i].flag, FLAG_TEXT, "FILE", docs[i], &a->path[i], 0};
    for (size_t i = 2; i < sizeof own / sizeof *own; i++) *f++ = own[i];
}

static int help(const flag *flags)
{
    (void)printf("usage: cull select --strategy NAME [stale|remembered] [FLAGS] [key=value ...]\n"
                 "       cull select --list [--strategy NAME] [--json]\n\n"
                 "Chooses a weighted subset of M examples. Arrays are .npy files, or members of\n"
                 "one .npz. Without -o, prints a line 'index place weight' per example.\n"
                 "key=value are the strategy's own options.\n\n");
    print_flags(stdout, flags);
    return end_output(END_WELL);
}

/* key=value words are options; one other word may be the modifier. */
static int take_words(struct arguments *a, const char *const *words, size_t count)
{
    const char *modifier = NULL;
    size_t      bytes = 1;
    char       *next = NULL;

    for (size_t i = 0; i < count; i++) bytes += strlen(words[i]) + 1;
    a->option = calloc(count + 1, sizeof *a->option);
    a->text = next = calloc(bytes, 1);
    if (!a->option || !next) return complain(END_FAILED, "Give fewer options.", "no memory");
    if (a->keep) a->option[a->options++] = (cull_option){"keep", a->keep};
    for (size_t i = 0; i < count; i++) {
        char *equals = NULL;
        memcpy(next, words[i], strlen(words[i]));
        equals = strchr(next, '=');
        if (equals) {
            *equals = '\0';
            a->option[a->options++] = (cull_option){next, equals + 1};
        } else if (modifier) {
            return complain(END_USAGE, "Options are written key=value. See cull select --help.",
                            "'%s' is not understood", words[i]);
        } else {
            modifier = words[i];
        }
        next += strlen(words[i]) + 1;
    }
    if (!a->strategy) return END_WELL;
    if (strlen(a->strategy) + (modifier ? strlen(modifier) : 0) + 2 > sizeof a->name)
        return complain(END_USAGE, "See cull select --list.", "the strategy's name is too long");
    (void)snprintf(a->name, sizeof a->name, "%s%s%s", a->strategy, modifier ? " " : "",
                   modifier ? modifier : "");
    return END_WELL;
}

static bool ends_in(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);

    return a > b && strcmp(text + a - b, end) == 0;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x = {0}, y = {0};

    if (!a || !b) return false;
    if (strcmp(a, b) == 0) return true;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* Nothing that is read may be written over. */
static int check_paths(const struct arguments *a)
{
    const char *out = a->out && strcmp(a->out, "-") != 0 ? a->out : NULL;

    if (out && !ends_in(out, ".npz") && !ends_in(out, ".json"))
        return complain(END_USAGE, "Name it .npz or .json, or give - for standard output.",
                        "%s: the output's form is not known", out);
    for (int i = 0; i <= INPUTS; i++) {
        const char *in = i < INPUTS ? a->path[i] : a->signals;
        if (!same_file(in, out) && !same_file(in, a->state)) continue;
        return complain(END_USAGE, "Give another name to what is written.",
                        "%s is an input and would be written over", in);
    }
    if (same_file(out, a->state))
        return complain(END_USAGE, "Give another name to one of them.",
                        "%s is to be both the output and the state", out);
    return END_WELL;
}

static int check_arguments(const struct arguments *a)
{
    int end = END_WELL;

    if (!a->strategy)
        return complain(END_USAGE, "Give --strategy NAME; cull select --list shows them.",
                        "no strategy is given");
    if (a->keep && a->budget_given)
        return complain(END_USAGE, "Leave one of the two out.", "--keep and --budget contradict");
    if (a->budget_given && a->budget == 0)
        return complain(END_USAGE, "Give at least 1, or leave it out.", "--budget is 0");
    if ((a->path[IN_PLACES]) && a->pool == 0)
        return complain(END_USAGE, "Give --pool N, the size of the training set.",
                        "--places are places in a pool of unknown size");
    if (a->threads > 1024)
        return complain(END_USAGE, "Give 1 to 1024, or 0 for one per core.", "--threads is %llu",
                        (unsigned long long)a->threads);
    end = check_paths(a);
    return end;
}

/* Another strategy on the same signals, at the same size where it takes one. */
static int select_other(const struct arguments *a, const cull_setting *setting, struct run *r)
{
    cull_status status = cull_selector_create(a->overlap, NULL, 0, setting, &r->other);
    cull_needs  needs = {0};
    size_t      budget = r->subset.count;

    if (status == CULL_BAD_OPTION) return select_bad_option(a->overlap, NULL, 0);
    if (status == CULL_OK) status = cull_selector_needs(r->other, a->step, a->epoch, &needs);
    if (needs.budget == 0 || needs.action == CULL_TRAIN_ALL || budget > r->in.signals.count)
        budget = 0;
    if (status == CULL_OK) status = cull_select(r->other, &r->in.signals, budget, &r->other_subset);
    return status == CULL_OK ? END_WELL : complain_status(status);
}

static int diagnose(const struct arguments *a, const cull_setting *setting, struct run *r)
{
    cull_status status = CULL_OK;
    int         end = END_WELL;

    if (a->overlap) end = select_other(a, setting, r);
    if (end) return end;
    status = cull_diagnose(r->backend, &r->in.signals, &r->subset,
                           a->overlap ? &r->other_subset : NULL, &r->diagnosis);
    return status == CULL_OK ? END_WELL : complain_status(status);
}

static int restore(const struct arguments *a, struct run *r)
{
    cull_status status = CULL_OK;
    struct stat info = {0};
    void       *bytes = NULL;
    size_t      size = 0;

    if (!a->state || stat(a->state, &info) != 0) return END_WELL;
    status = cull_file_read(a->state, &bytes, &size);
    if (status == CULL_OK) status = cull_selector_restore(r->selector, bytes, size);
    cull_bytes_release(bytes);
    return status == CULL_OK ? END_WELL : complain_status(status);
}

static int save(const struct arguments *a, const struct run *r)
{
    cull_status status = CULL_OK;
    void       *bytes = NULL;
    size_t      size = 0;

    if (!a->state) return END_WELL;
    status = cull_selector_save(r->selector, &bytes, &size);
    if (status == CULL_OK) status = cull_file_write(a->state, bytes, size);
    cull_bytes_release(bytes);
    return status == CULL_OK ? END_WELL : complain_status(status);
}

/* Does the strategy itself say how many are kept? */
static bool rule_decides(const char *name)
{
    char                 word[MOST_NAME];
    const cull_strategy *strategy = NULL;

    (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(name, " +"), name);
    strategy = cull_strategy_find(word);
    return strategy && (strategy->traits & CULL_NO_BUDGET);
}

/* A signal that is needed and was not given is wrong usage, with its flag as the hint. */
static int bad_selection(const struct arguments *a, const struct run *r, cull_status status)
{
    cull_needs needs = {0};
    char       flags[MOST_FLAG_LIST], hint[MOST_FLAG_LIST + 64];

    if (status == CULL_BAD_OPTION) return select_bad_option(a->name, a->option, a->options);
    if (status != CULL_BAD_ARGUMENT) return complain_status(status);
    if (a->budget_given && rule_decides(a->name))
        return complain(END_USAGE, "Leave --budget out.", "%s", cull_last_error());
    /* Between two selections over the pool nothing is needed: ask about a later epoch. */
    if (cull_selector_needs(r->selector, a->step, a->epoch, &needs) == CULL_OK &&
        (needs.action == CULL_TRAIN_ALL || needs.action == CULL_KEEP_SUBSET))
        (void)cull_selector_needs(r->selector, a->step, UINT32_MAX, &needs);
    if (!inputs_missing(&r->in, needs.signals, needs.target, flags, sizeof flags))
        return complain_status(status);
    (void)snprintf(hint, sizeof hint, "Give %s, or the arrays in a --signals file.", flags);
    return complain(END_USAGE, hint, "%s: %s", cull_selector_name(r->selector), cull_last_error());
}

static int decide(const struct arguments *a, struct run *r)
{
    cull_setting setting = {.pool = a->pool ? a->pool : r->in.signals.count,
                            .batch = a->batch,
                            .epochs = a->epochs,
                            .steps = a->steps,
                            .seed = a->seed,
                            .backend = r->backend};
    cull_status  status = CULL_OK;
    cull_needs   needs = {0};
    int          end = END_WELL;

    if (a->budget > r->in.signals.count)
        return complain(END_USAGE, "Give 1 to the number of examples.",
                        "--budget is %llu, there are %zu examples", (unsigned long long)a->budget,
                        r->in.signals.count);
    if (setting.batch > setting.pool)
        return complain(END_USAGE, "Give a smaller --batch, or --pool N.",
                        "--batch is %zu, the pool has %zu examples", setting.batch, setting.pool);
    status = cull_selector_create(a->name, a->option, a->options, &setting, &r->selector);
    if (status == CULL_BAD_OPTION) return select_bad_option(a->name, a->option, a->options);
    if (status != CULL_OK) return complain_status(status);
    end = restore(a, r);
    if (end) return end;
    r->in.signals.step = a->step;
    r->in.signals.epoch = a->epoch;
    if (cull_selector_needs(r->selector, a->step, a->epoch, &needs) == CULL_OK)
        r->plain = needs.action == CULL_TRAIN_ALL;
    status = cull_select(r->selector, &r->in.signals, a->budget, &r->subset);
    if (status != CULL_OK) return bad_selection(a, r, status);
    return a->diagnose || a->overlap ? diagnose(a, &setting, r) : END_WELL;
}

/* The result first, the state last: a run that failed to speak can be repeated. */
static int answer(const struct arguments *a, const struct run *r)
{
    const decision d = {r->selector, &r->in.signals, &r->subset,
                        a->diagnose || a->overlap ? &r->diagnosis : NULL, r->plain};
    bool           file = a->out && strcmp(a->out, "-") != 0;
    int            end = END_WELL;

    if (file)
        end =
            ends_in(a->out, ".npz") ? select_write_npz(&d, a->out) : select_write_json(&d, a->out);
    if (!end && a->json) end = select_print_json(&d);
    if (!end && !a->json && !file) end = select_print_text(&d);
    if (!end) end = save(a, r);
    return end;
}

static int run(const struct arguments *a)
{
    struct run  r = {0};
    cull_status status = CULL_OK;
    int         end = inputs_read(&r.in, a->path, a->signals, (size_t)a->pool);

    if (!end && r.in.signals.place && a->pool == 0)
        end = complain(END_USAGE, "Give --pool N, the size of the training set.",
                       "the --signals file has places in a pool of unknown size");
    if (!end) {
        status =
            cull_backend_open(a->backend ? a->backend : "cpu", (unsigned)a->threads, &r.backend);
        if (status == CULL_UNSUPPORTED)
            end = complain(END_USAGE, "Give --backend cpu or --backend ref.", "%s",
                           cull_last_error());
        else if (status != CULL_OK)
            end = complain_status(status);
    }
    if (!end) end = decide(a, &r);
    if (!end) end = answer(a, &r);
    cull_diagnosis_clear(&r.diagnosis);
    cull_subset_clear(&r.subset);
    cull_subset_clear(&r.other_subset);
    cull_selector_destroy(r.selector);
    cull_selector_destroy(r.other);
    cull_backend_close(r.backend);
    inputs_clear(&r.in);
    return end;
}

int cmd_select(int argc, char **argv)
{
    struct arguments a = {0};
    flag             flags[MOST_FLAGS] = {0};
    const char     **words = calloc((size_t)argc + 1, sizeof *words);
    size_t           count = 0;
    int              end = END_WELL;

    if (!words) return complain(END_FAILED, "Give fewer arguments.", "no memory");
    fill_flags(&a, flags);
    end = parse_flags("select", flags, argc, argv, words, &count);
    for (const flag *f = flags; f->name; f++)
        if (f->out == &a.budget) a.budget_given = f->given;
    if (!end && a.help) {
        end = help(flags);
    } else if (!end && a.list) {
        end = select_list(a.strategy, a.json);
    } else if (!end) {
        end = take_words(&a, words, count);
        if (!end) end = check_arguments(&a);
        if (!end) end = run(&a);
    }
    free(a.option);
    free(a.text);
    free((void *)words);
    return end;
}
