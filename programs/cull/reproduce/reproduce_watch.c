/*
 * reproduce_watch.c - figures about runs that are looked at as they go: trained, stopped behind
 * each epoch, looked at, and resumed, which leaves the run as it would have been.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/probe_print.h"
#include "reproduce/reproduce_parts.h"

enum { EXAMPLES = 5, WATCH_BATCHES = 20 };

/* How often, and how far, an example's chance of being picked moved. */
struct chances {
    size_t  count, looks;
    double *sum, *squares; /* [count] of the chance over the epochs */
};

struct watch {
    const reproduction *r;
    const char         *strategy;
    cull_recipe        *recipe;
    char                folder[MOST_WORD], weights[2 * MOST_WORD], audit[2 * MOST_WORD];
    progress            bar;
    bool                every_epoch, due; /* due: an epoch has ended */
    uint64_t            epoch;
    double              beta;
    struct chances      chances;
};

static void tell(void *context, const cull_run_news *news)
{
    struct watch *w = context;

    progress_tell(&w->bar, news);
    if (news->epoch_end) w->due = w->every_epoch && news->epoch < news->epochs;
}

/* Asked after every step, so that a look comes one step behind the end of its epoch. */
static bool stop(void *context)
{
    return ((struct watch *)context)->due;
}

static int look_gradients(struct watch *w)
{
    cull_probe_options options = {.weights = w->weights,
                                  .batches = w->r->batches ? (size_t)w->r->batches : WATCH_BATCHES};
    cull_probe_result  result = {0};
    int                end = take_probe(w->r->entry->strategies, w->r->entry->keep, &options);

    if (!end) end = complain_run(cull_probe(w->recipe, &options, &result));
    for (size_t i = 0; !end && i < result.arms; i++)
        (void)printf("epoch %3llu  %-10s keep %-4g to its batch: cosine %.3f, equal signs %.3f\n",
                     (unsigned long long)w->epoch, result.arm[i].strategy, result.arm[i].keep,
                     result.arm[i].batch_cosine[0].mean, result.arm[i].batch_sign[0].mean);
    cull_probe_clear(&result);
    clear_probe(&options);
    return end;
}

static int take_ranks(struct watch *w, const cull_tensor *rank)
{
    struct chances *c = &w->chances;
    const double   *value = rank->data;

    if (!c->sum) {
        c->count = (size_t)rank->shape[0];
        c->sum = calloc(c->count, sizeof *c->sum);
        c->squares = calloc(c->count, sizeof *c->squares);
        if (!c->sum || !c->squares) return complain(END_FAILED, "Give --subset.", "no memory");
    }
    c->looks++;
    (void)printf("epoch %3llu  %-18s chance of", (unsigned long long)w->epoch, w->strategy);
    for (size_t i = 0; i < EXAMPLES; i++)
        (void)printf("  %.3f", pow(value[i * c->count / EXAMPLES], w->beta));
    (void)printf("\n");
    for (size_t i = 0; i < c->count; i++) {
        double chance = pow(value[i], w->beta);
        c->sum[i] += chance;
        c->squares[i] += chance * chance;
    }
    return END_WELL;
}

static int look_chances(struct watch *w)
{
    cull_audit_options options = {.weights = w->weights, .path = w->audit};
    cull_audit_result  result = {0};
    cull_arrays       *arrays = NULL;
    cull_tensor        rank = {0};
    int                end = END_WELL;
    cull_status        status = cull_audit(w->recipe, &options, &result);

    if (status == CULL_OK) status = cull_arrays_open(w->audit, &arrays);
    if (status == CULL_OK) status = cull_arrays_get(arrays, "rank", &rank);
    end = status == CULL_OK ? take_ranks(w, &rank) : complain_run(status);
    cull_arrays_close(arrays);
    return end;
}

static int look_confidence(struct watch *w)
{
    cull_audit_options options = {.weights = w->weights, .set = "test", .path = w->audit};
    cull_audit_result  a = {0};
    int                end = complain_run(cull_audit(w->recipe, &options, &a));

    if (end) return end;
    (void)printf(
        "%s: test accuracy %.2f %%\n  confidence in the true class at 10, 20 .. 90 %% of the "
        "test examples:\n   ",
        w->strategy, 100 * a.accuracy);
    for (size_t i = 10; i <= 90; i += 10) (void)printf(" %.3f", a.confidence[i]);
    (void)printf("\n  classified right, by tenths of confidence from low to high:\n   ");
    for (size_t i = 0; i < CULL_AUDIT_TENTHS; i++) (void)printf(" %.3f", a.tenth[i]);
    (void)printf("\n");
    return END_WELL;
}

static int look_examples(struct watch *w)
{
    cull_audit_options options = {.weights = w->weights, .path = w->audit};
    cull_audit_result  a = {0};
    cull_arrays       *arrays = NULL;
    cull_tensor        label = {0}, predicted = {0}, loss = {0};
    cull_status        status = cull_audit(w->recipe, &options, &a);

    if (status == CULL_OK) status = cull_arrays_open(w->audit, &arrays);
    if (status == CULL_OK) status = cull_arrays_get(arrays, "label", &label);
    if (status == CULL_OK) status = cull_arrays_get(arrays, "predicted", &predicted);
    if (status == CULL_OK) status = cull_arrays_get(arrays, "loss", &loss);
    for (size_t i = 0; status == CULL_OK && i < (size_t)label.shape[0]; i++) {
        size_t each = (size_t)label.shape[0] / 2;

        if (i % each < EXAMPLES)
            (void)printf("%s  class %d, told as %d, loss %.4f\n", i < each ? "easy" : "hard",
                         ((int32_t *)label.data)[i], ((int32_t *)predicted.data)[i],
                         ((double *)loss.data)[i]);
    }
    if (status == CULL_OK)
        (void)printf("pictures: %s, which cull report %s draws\n", w->audit, w->folder);
    cull_arrays_close(arrays);
    return complain_run(status);
}

static int look(struct watch *w)
{
    unsigned shows = w->r->entry->shows;

    if (shows & CULL_SHOW_GRADIENTS) return look_gradients(w);
    if (shows & CULL_SHOW_CHANCES) return look_chances(w);
    if (shows & CULL_SHOW_CONFIDENCE) return look_confidence(w);
    return look_examples(w);
}

/* Mean over the examples of how far their chance moved between epochs. */
static void sum_up(const struct watch *w)
{
    const struct chances *c = &w->chances;
    double                moved = 0, n = (double)c->looks;

    if (c->looks < 2) {
        (void)printf("%s: one epoch was looked at, which shows no movement\n", w->strategy);
        return;
    }
    for (size_t i = 0; i < c->count; i++)
        moved += sqrt(fmax(0, c->squares[i] / n - c->sum[i] / n * (c->sum[i] / n)));
    if (c->count)
        (void)printf(
            "%s: the chance moves by %.4f (standard deviation over %zu epochs, mean of %zu "
            "examples)\n",
            w->strategy, moved / (double)c->count, c->looks, c->count);
}

/* What an interrupted sitting has looked at is not kept, and weights of then are gone. */
static void say_missed(const struct watch *w)
{
    (void)printf(
        "%s was begun before; earlier epochs than these are not looked at again (for all of "
        "them, remove it or give another --out)\n",
        w->folder);
}

static int complain_watch(cull_status status)
{
    if (status == CULL_DIFFERS)
        return complain_last(END_USAGE, "Scale it as before, or give another --out.");
    return complain_run(status);
}

/* One run, from the beginning or from where it is; looked at each time it stops. */
static int follow(struct watch *w)
{
    cull_run_options options = {
        .folder = w->folder, .resume = true, .tell = tell, .stop = stop, .context = w};
    cull_run_result result = {.end = CULL_RUN_STOPPED};
    int             end = END_WELL;
    bool            first = true;

    while (!end && result.end == CULL_RUN_STOPPED) {
        cull_status status = CULL_OK;

        w->due = false;
        status = cull_train(w->recipe, &options, &result);
        progress_end(&w->bar);
        if (status != CULL_OK) return complain_watch(status);
        if (first && result.resumed && w->every_epoch) say_missed(w);
        first = false;
        w->epoch = result.epoch;
        (void)snprintf(w->weights, sizeof w->weights, "%.1100s/%s", w->folder, result.weights);
        end = look(w);
        (void)fflush(stdout);
    }
    return end;
}

static int watch(const reproduction *r, const char *strategy, size_t number, double beta)
{
    struct watch w = {.r = r,
                      .strategy = strategy,
                      .every_epoch =
                          (r->entry->shows & (CULL_SHOW_GRADIENTS | CULL_SHOW_CHANCES)) != 0,
                      .beta = beta,
                      .bar = {.terminal = isatty(STDERR_FILENO) != 0, .quiet = true}};
    words        more = {0};
    int          end = add_strategy(&more, strategy);

    (void)snprintf(w.folder, sizeof w.folder, "%.1000s/%zu", r->out, number);
    (void)snprintf(w.audit, sizeof w.audit, "%s/audit.npz", w.folder);
    if (!end) end = open_changed(r, &more, &w.recipe);
    if (!end) end = follow(&w);
    if (!end && (r->entry->shows & CULL_SHOW_CHANCES)) sum_up(&w);
    free(w.chances.sum);
    free(w.chances.squares);
    cull_recipe_close(w.recipe);
    clear_words(&more);
    return end;
}

int reproduce_watch(const reproduction *r)
{
    char   strategy[MOST_WORD / 2];
    double beta = 1;
    int    end = END_WELL;

    /* Gradients of all strategies are looked at in one run that trains on everything. */
    bool one = (r->entry->shows & CULL_SHOW_GRADIENTS) != 0;

    for (size_t i = 0; list_part(r->entry->strategies, i, strategy, sizeof strategy); i++)
        beta = fmax(beta, option_of(strategy, "beta", 1));
    for (size_t i = 0; !end && !(one && i) &&
                       list_part(one ? "full" : r->entry->strategies, i, strategy, sizeof strategy);
         i++) {
        if (r->plan)
            (void)printf("would train %s in %s/%zu and look at it\n", strategy, r->out, i);
        else
            end = watch(r, strategy, i, beta);
    }
    return end ? end : end_output(END_WELL);
}
