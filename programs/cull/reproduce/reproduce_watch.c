/*
 * reproduce_watch.c - figures about runs that are looked at as they go: trained, stopped behind
 * each epoch, looked at, and resumed, which leaves the run as it would have been. What is seen
 * becomes points, so that a figure that was interrupted goes on with those it has.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/probe_print.h"
#include "reproduce/reproduce_watch.h"

static void tell(void *context, const cull_run_news *news)
{
    struct watch *w = context;

    progress_tell(&w->bar, news);
    w->epochs = news->epochs;
    if (news->epoch_end) w->due = w->every_epoch && news->epoch < news->epochs;
}

/* Asked after every step, so that a look comes one step behind the end of its epoch. */
static bool stop(void *context)
{
    struct watch *w = context;

    w->ended = must_end(w->r);
    return w->due || w->ended;
}

cull_point watch_point(const char *panel, const char *series, double x, double y)
{
    cull_point p = {.x = x, .y = y, .low = NAN, .high = NAN};

    (void)snprintf(p.panel, sizeof p.panel, "%s", panel);
    (void)snprintf(p.series, sizeof p.series, "%s", series);
    return p;
}

static cull_point spread_point(const char *panel, const char *series, double epoch,
                               const cull_spread *spread)
{
    cull_point p = watch_point(panel, series, epoch, spread->mean);

    p.low = spread->low;
    p.high = spread->high;
    return p;
}

static int look_gradients(struct watch *w)
{
    const cull_reproduction_scale *scale = &w->r->state.scale;

    cull_probe_options options = {
        .weights = w->weights,
        .batches =
            (size_t)(scale->batches ? scale->batches : cull_reproduction_batches(w->r->entry))};
    cull_probe_result result = {0};
    int               end = take_probe(w->r->entry->strategies, w->r->entry->keep, &options);

    if (!end) end = complain_run(cull_probe(w->recipe, &options, &result));
    for (size_t i = 0; !end && i < result.arms; i++) {
        const cull_probe_arm *arm = &result.arm[i];
        char                  name[CULL_POINT_NAME];
        cull_point            point[2];

        (void)printf("epoch %3llu  %-10s keep %-4g to its batch: cosine %.3f, equal signs %.3f\n",
                     (unsigned long long)w->epoch, arm->strategy, arm->keep,
                     arm->batch_cosine[0].mean, arm->batch_sign[0].mean);
        (void)snprintf(name, sizeof name, "%.100s %g", arm->strategy, arm->keep);
        point[0] = spread_point("cosine", name, (double)w->epoch, &arm->batch_cosine[0]);
        point[1] = spread_point("equal signs", name, (double)w->epoch, &arm->batch_sign[0]);
        end = put_points(w->r, point, 2, false);
    }
    cull_probe_clear(&result);
    clear_probe(&options);
    return end;
}

static int look(struct watch *w)
{
    switch (w->r->entry->look) {
    case CULL_LOOK_GRADIENTS: return look_gradients(w);
    case CULL_LOOK_CHANCES: return look_chances(w);
    case CULL_LOOK_LOSSES: return look_losses(w);
    case CULL_LOOK_SELECTIONS: return look_selections(w);
    case CULL_LOOK_CONFIDENCE:
    case CULL_LOOK_ACCURACY: return look_confidence(w);
    case CULL_LOOK_EXAMPLES: return look_examples(w);
    case CULL_LOOK_NOT: break;
    }
    return END_WELL;
}

/* What an interrupted sitting has looked at is kept; weights of then are gone. */
static void say_missed(const struct watch *w)
{
    (void)printf("%s was begun before; earlier epochs than these are not looked at again\n",
                 w->folder);
}

static int complain_watch(cull_status status)
{
    if (status == CULL_DIFFERS)
        return complain_last(END_USAGE, "Scale it as before, or give another --out.");
    return complain_run(status);
}

/* One run, from the beginning or from where it is; looked at each time it stops behind an epoch. */
static int follow(struct watch *w)
{
    cull_run_options options = {
        .folder = w->folder, .resume = true, .tell = tell, .stop = stop, .context = w};
    cull_run_result result = {.end = CULL_RUN_STOPPED};
    int             end = END_WELL;
    bool            first = true;

    while (!end && result.end == CULL_RUN_STOPPED && !w->ended) {
        cull_status status = CULL_OK;

        w->due = false;
        status = cull_train(w->recipe, &options, &result);
        progress_end(&w->bar);
        if (status != CULL_OK) return complain_watch(status);
        if (first && result.resumed && w->every_epoch) say_missed(w);
        first = false;
        w->epoch = result.epoch;
        w->last = result.end != CULL_RUN_STOPPED;
        if (w->ended && !w->due) break;
        (void)snprintf(w->weights, sizeof w->weights, "%.1100s/%s", w->folder, result.weights);
        end = look(w);
        (void)fflush(stdout);
    }
    return end;
}

static bool looks_every_epoch(cull_reproduction_look look)
{
    return look == CULL_LOOK_GRADIENTS || look == CULL_LOOK_CHANCES || look == CULL_LOOK_LOSSES ||
           look == CULL_LOOK_EXAMPLES;
}

/* The folder of another scale is another, and so is that of another turn: a run that was looked at
 * for other minibatches, or before the points went, is not looked at again, but done again. */
static void watch_folder(const reproduction *r, size_t number, size_t turn, char *out, size_t room)
{
    size_t at = (size_t)snprintf(out, room, "%.900s/run-%zu", r->state.folder, number);

    if (r->state.scale.epochs != 1 || r->state.scale.subset != 1)
        at += (size_t)snprintf(out + at, room - at, "-%.4g-%.4g", r->state.scale.epochs,
                               r->state.scale.subset);
    if (turn > 1) (void)snprintf(out + at, room - at, "-turn-%zu", turn);
}

/* The turn that goes on, or, where the figure begins, a new one; by the folders of the first run.
 */
static size_t find_turn(const reproduction *r)
{
    char   folder[MOST_WORD];
    size_t turn = 1;

    for (watch_folder(r, 0, turn, folder, sizeof folder); access(folder, F_OK) == 0; turn++)
        watch_folder(r, 0, turn + 1, folder, sizeof folder);
    return r->state.begun && turn > 1 ? turn - 1 : turn;
}

static int watch(const reproduction *r, const char *strategy, size_t number, size_t turn,
                 double beta, bool *done)
{
    struct watch w = {.r = r,
                      .strategy = strategy,
                      .every_epoch = looks_every_epoch(r->entry->look),
                      .beta = beta,
                      .bar = {.terminal = isatty(STDERR_FILENO) != 0, .quiet = true}};
    words        more = {0};
    int          end = add_strategy(&more, strategy);

    watch_folder(r, number, turn, w.folder, sizeof w.folder);
    (void)snprintf(w.audit, sizeof w.audit, "%s/audit.npz", w.folder);
    if (!end) end = open_changed(r, &more, &w.recipe);
    if (!end) end = follow(&w);
    *done = *done && !w.ended;
    free(w.before);
    cull_recipe_close(w.recipe);
    clear_words(&more);
    return end;
}

/* Gradients of all strategies are looked at in one run that trains on everything; exponents in one
 * run of the first. */
static bool is_one_run(cull_reproduction_look look)
{
    return look == CULL_LOOK_GRADIENTS || look == CULL_LOOK_SELECTIONS;
}

int reproduce_watch(const reproduction *r, bool *done)
{
    char   strategy[MOST_WORD / 2];
    double beta = 1;
    size_t turn = find_turn(r);
    bool   one = is_one_run(r->entry->look);
    int    end = r->state.begun ? END_WELL : put_points(r, NULL, 0, true);

    *done = true;
    if (r->state.done) return end; /* what was looked at is not counted twice */
    for (size_t i = 0; list_part(r->entry->strategies, i, strategy, sizeof strategy); i++)
        beta = fmax(beta, option_of(strategy, "beta", 1));
    for (size_t i = 0;
         !end && *done && !(one && i) &&
         list_part(r->entry->look == CULL_LOOK_GRADIENTS ? "full" : r->entry->strategies, i,
                   strategy, sizeof strategy);
         i++)
        end = watch(r, strategy, i, turn, beta, done);
    if (end) *done = false;
    return end;
}
