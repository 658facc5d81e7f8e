/* cmd_select.c - cull select: arrays in, a weighted subset out. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "select/select_arguments.h"
#include "select/select_parts.h"

enum { MOST_FLAG_LIST = 256 };

/* What a run opens, so that one function closes it. */
struct run {
    inputs         in;
    cull_backend  *backend;
    cull_selector *selector, *other;
    cull_subset    subset, other_subset;
    cull_diagnosis diagnosis;
    bool           plain; /* at this step nothing is to be selected */
};

/* Another strategy on the same signals, at the same size where it takes one. */
static int select_other(const select_arguments *a, struct run *r)
{
    cull_needs  needs = {0};
    cull_status status = cull_selector_needs(r->other, a->step, a->epoch, &needs);
    size_t      budget = r->subset.count;

    if (needs.budget == 0 || needs.action == CULL_TRAIN_ALL || budget > r->in.signals.count)
        budget = 0;
    if (status == CULL_OK) status = cull_select(r->other, &r->in.signals, budget, &r->other_subset);
    return complain_status(status);
}

static int diagnose(const select_arguments *a, struct run *r)
{
    int end = a->overlap ? select_other(a, r) : END_WELL;

    if (end) return end;
    return complain_status(cull_diagnose(r->backend, &r->in.signals, &r->subset,
                                         a->overlap ? &r->other_subset : NULL, &r->diagnosis));
}

static int restore(const select_arguments *a, struct run *r)
{
    cull_status status = CULL_OK;
    struct stat info = {0};
    void       *bytes = NULL;
    size_t      size = 0;

    if (!a->state || stat(a->state, &info) != 0) return END_WELL;
    status = cull_file_read(a->state, &bytes, &size);
    if (status == CULL_OK) status = cull_selector_restore(r->selector, bytes, size);
    cull_bytes_release(bytes);
    return complain_status(status);
}

static int save(const select_arguments *a, const struct run *r)
{
    cull_status status = CULL_OK;
    void       *bytes = NULL;
    size_t      size = 0;

    if (!a->state) return END_WELL;
    status = cull_selector_save(r->selector, &bytes, &size);
    if (status == CULL_OK) status = cull_file_write(a->state, bytes, size);
    cull_bytes_release(bytes);
    return complain_status(status);
}

/* Does the strategy itself say how many are kept? */
static bool rule_decides(const char *name)
{
    const cull_strategy *strategy = cull_strategy_of(name);
    return strategy && (strategy->traits & CULL_NO_BUDGET);
}

/* A signal that is needed and was not given is wrong usage, with its flag as the hint. */
static int bad_selection(const select_arguments *a, const struct run *r, cull_status status)
{
    cull_needs needs = {0};
    char       flags[MOST_FLAG_LIST], hint[MOST_FLAG_LIST + 64];
    unsigned   missing = 0;

    if (status != CULL_BAD_ARGUMENT) return select_complain(a->name, status);
    if (a->budget_given && rule_decides(a->name))
        return complain_last(END_USAGE, "Leave --budget out.");
    /* Between two selections over the pool nothing is needed: ask about a later epoch. */
    if (cull_selector_needs(r->selector, a->step, a->epoch, &needs) == CULL_OK &&
        (needs.action == CULL_TRAIN_ALL || needs.action == CULL_KEEP_SUBSET))
        (void)cull_selector_needs(r->selector, a->step, UINT32_MAX, &needs);
    missing = inputs_of(needs.signals, needs.target) & ~inputs_given(&r->in);
    if (!inputs_words(missing, true, flags, sizeof flags))
        return r->in.signals.place || r->in.signals.count >= a->pool
                   ? complain_status(status)
                   : complain_last(END_USAGE, "Give --places FILE.");
    (void)snprintf(hint, sizeof hint, "Give %s, or the arrays in a --signals file.", flags);
    return complain(END_USAGE, hint, "%s: %s", cull_selector_name(r->selector), cull_last_error());
}

/* What the arrays may be, where one strategy is diagnosed or compared with another. */
static int refuse_unread(const select_arguments *a, const cull_setting *setting, struct run *r)
{
    const char *name = cull_selector_name(r->selector);
    cull_needs  reads = {0}, other = {0};
    unsigned    also = 0;
    int         end = complain_status(cull_selector_reads(r->selector, &reads));

    if (a->diagnose || a->overlap) also = CULL_SIGNAL_H | CULL_SIGNAL_P | CULL_SIGNAL_LABEL;
    if (!end && a->overlap)
        end = select_complain(a->overlap,
                              cull_selector_create(a->overlap, NULL, 0, setting, &r->other));
    if (!end && a->overlap) end = complain_status(cull_selector_reads(r->other, &other));
    if (end) return end;
    if (a->observe) return select_check_trained(name, &reads, &r->in, a->observe);
    reads.target |= other.target;
    also |= other.signals;
    end = select_refuse_unread(name, &reads, also, a->path);
    return end ? end : select_refuse_bundle(name, &reads, also, &r->in);
}

/* The selector as its state file has left it. */
static int open_selector(const select_arguments *a, const cull_setting *setting, struct run *r)
{
    int end = END_WELL;

    if (a->budget > r->in.signals.count)
        return complain(END_USAGE, "Give 1 to the number of examples.",
                        "--budget is %llu, there are %zu examples", (unsigned long long)a->budget,
                        r->in.signals.count);
    if (setting->batch > setting->pool)
        return complain(END_USAGE, "Give a smaller --batch, or --pool N.",
                        "--batch is %zu, the pool has %zu examples", setting->batch, setting->pool);
    end = select_complain(a->name, cull_selector_create(a->name, a->change.option, a->change.count,
                                                        setting, &r->selector));
    if (!end) end = refuse_unread(a, setting, r);
    return end ? end : restore(a, r);
}

/* Told, and kept: there is nothing to print. */
static int observe(const select_arguments *a, const cull_setting *setting, struct run *r)
{
    const cull_signals *trained = &r->in.signals;
    cull_status         status = CULL_OK;
    cull_needs          needs = {0};
    int                 end = END_WELL;

    status = cull_selector_needs(r->selector, a->step, a->epoch, &needs);
    if (status == CULL_OK) status = cull_observe(r->selector, trained);
    if (status == CULL_BAD_ARGUMENT && !trained->place && trained->count != setting->pool)
        return complain_last(END_USAGE, "Give --places FILE, or the arrays of a subset with it.");
    end = status == CULL_OK ? save(a, r) : complain_status(status);
    if (!end)
        (void)fprintf(stderr, "%s: %zu trained examples %s\n", cull_selector_name(r->selector),
                      trained->count, needs.observe ? "observed" : "passed over at this step");
    return end;
}

static int flush(const select_arguments *a, struct run *r)
{
    struct stat          info = {0};
    const cull_strategy *strategy = cull_strategy_of(a->name);

    if (strategy && !strategy->flush)
        return complain(END_USAGE, "Leave --flush out.", "%s holds nothing back",
                        cull_selector_name(r->selector));
    if (stat(a->state, &info) != 0)
        return complain(END_FAILED, "Give the --state file that the run has kept.",
                        "%s: there is no history to flush", a->state);
    return complain_status(cull_flush(r->selector, &r->subset));
}

static int decide(const select_arguments *a, struct run *r)
{
    cull_status status = CULL_OK;
    cull_needs  needs = {0};

    if (cull_selector_needs(r->selector, a->step, a->epoch, &needs) == CULL_OK)
        r->plain = needs.action == CULL_TRAIN_ALL;
    status = cull_select(r->selector, &r->in.signals, a->budget, &r->subset);
    if (status != CULL_OK) return bad_selection(a, r, status);
    return a->diagnose || a->overlap ? diagnose(a, r) : END_WELL;
}

/* The result first, the state last: a run that failed to speak can be repeated. */
static int answer(const select_arguments *a, const struct run *r)
{
    const decision d = {r->selector, &r->in.signals,
                        &r->subset,  a->diagnose || a->overlap ? &r->diagnosis : NULL,
                        r->plain,    a->flush};
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

/* There is no such backend: name those there are. */
static int complain_backend(void)
{
    const char *words = strchr(cull_recipe_option("train.backend")->words, '|') + 1, *next = words;
    char        hint[MOST_FLAG_LIST] = "Give";
    size_t      at = strlen(hint);

    for (size_t length = 0; *next && at < sizeof hint; next += length + (next[length] == '|')) {
        length = strcspn(next, "|");
        at += (size_t)snprintf(hint + at, sizeof hint - at, "%s --backend %.*s",
                               next == words ? "" : " or", (int)length, next);
    }
    if (at < sizeof hint) (void)snprintf(hint + at, sizeof hint - at, ".");
    return complain_last(END_USAGE, hint);
}

static int run(const select_arguments *a)
{
    struct run   r = {.in = {.trained = a->observe != NULL}};
    cull_setting setting = {0};
    cull_status  status = CULL_OK;
    int end = inputs_read(&r.in, a->path, a->observe ? a->observe : a->signals, (size_t)a->pool);

    if (!end && r.in.signals.place && a->pool == 0)
        end = complain(END_USAGE, "Give --pool N, the size of the training set.",
                       "the %s file has places in a pool of unknown size",
                       a->observe ? "--observe" : "--signals");
    if (!end) {
        bool chosen = a->backend && strcmp(a->backend, "auto") != 0;

        status = cull_backend_open(chosen ? a->backend : "cpu", (unsigned)a->threads, &r.backend);
        if (status != CULL_OK)
            end = status == CULL_UNSUPPORTED ? complain_backend() : complain_status(status);
    }
    setting = (cull_setting){.pool = a->pool ? a->pool : r.in.signals.count,
                             .batch = a->batch,
                             .epochs = a->epochs,
                             .steps = a->steps,
                             .seed = a->seed,
                             .backend = r.backend};
    r.in.signals.step = a->step;
    r.in.signals.epoch = a->epoch;
    if (!end) end = open_selector(a, &setting, &r);
    if (!end && a->observe) {
        end = observe(a, &setting, &r);
    } else if (!end) {
        end = a->flush ? flush(a, &r) : decide(a, &r);
        if (!end) end = answer(a, &r);
    }
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
    select_arguments a = {0};
    int              end = select_take_arguments(&a, argc, argv);

    if (end == GO_ON) end = a.list ? select_list(a.strategy, a.json) : run(&a);
    clear_changes(&a.change);
    return end;
}
