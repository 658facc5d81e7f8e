/*
 * lab/probe/audit.c - every example of a set: loss, class told, confidence in the true class.
 *
 * With p the gradient of the loss w.r.t. the logits, softmax = p + onehot, so that the confidence
 * in class y is 1 + p_y.
 */
#include "lab/probe/audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/probe/probe.h"
#include "tensor/tensor.h"
#include "train/sweep.h"

enum { SHOWN = 24 };

static void clear_work(cull_audit_work *w)
{
    cull_base_free(w->loss);
    cull_base_free(w->confidence);
    cull_base_free(w->predicted);
    cull_base_free(w->order);
    cull_base_free(w->by);
    cull_base_free(w->times);
    cull_trainer_destroy(w->t);
}

static cull_status prepare(cull_audit_work *w, const cull_recipe *recipe,
                           const cull_audit_options *options)
{
    const char *name = options->set ? options->set : "train";
    cull_status status = CULL_OK;

    if (recipe->setup.loss.kind != CULL_LOSS_CROSS_ENTROPY)
        FAIL_OPTION("model.loss", "an audit looks for wrong classes, of cross-entropy alone");
    TRY(cull_trainer_create(&recipe->setup, false, &w->t));
    if (strcmp(name, "train") == 0) w->at = &w->t->sets.train_at;
    if (strcmp(name, "validation") == 0) w->at = &w->t->sets.validation_at;
    if (strcmp(name, "test") == 0) w->at = &w->t->sets.test_at;
    if (w->at) w->set = w->at->set;
    if (!w->set) FAIL_ABOUT(CULL_UNKNOWN_SET, name, "%s: the recipe has no set of this name", name);
    if (options->weights)
        TRY(cull_learner_load(&w->t->learner, options->weights, w->t->sets.train->name));
    else
        TRY(cull_trainer_begin(w->t));
    TRY(cull_base_alloc(w->set->count, sizeof *w->loss, "an audit", &w->loss));
    TRY(cull_base_alloc(w->set->count, sizeof *w->confidence, "an audit", &w->confidence));
    TRY(cull_base_alloc(w->set->count, sizeof *w->predicted, "an audit", &w->predicted));
    TRY(cull_base_alloc(w->set->count, sizeof *w->order, "an audit", &w->order));
done:
    return status;
}

static void take_signals(cull_audit_work *w, const cull_signals *signals, size_t from)
{
    size_t classes = (size_t)signals->p.shape[1];

    for (size_t i = 0; i < signals->count; i++) {
        const float *p = cull_tensor_row(&signals->p, i);
        size_t       label = (size_t)cull_data_labels(w->set)[from + i];
        double       most = -INFINITY;

        for (size_t k = 0; k < classes; k++) most = fmax((double)p[k] + (k == label), most);
        for (size_t k = classes; k-- > 0;) /* the first that is as large */
            if ((double)p[k] + (k == label) >= most - CULL_AS_LARGE_F32)
                w->predicted[from + i] = (int32_t)k;
        w->loss[from + i] = cull_tensor_get(&signals->loss, i);
        w->confidence[from + i] = 1 + (double)p[label];
    }
}

struct sight {
    cull_audit_work *work;
    size_t           at;      /* examples that were looked at */
    cull_sel_load    signals; /* on the host                  */
};

static cull_status see(void *context, const cull_batch *batch)
{
    struct sight *s = context;
    cull_status   status = CULL_OK;
    cull_needs    needs = {.signals = CULL_SIGNAL_LOSS | CULL_SIGNAL_P};
    cull_plan    *plan = NULL;
    cull_signals  signals = {0};

    TRY(cull_learner_plan(&s->work->t->learner, CULL_PLAN_SCORE, batch->count, batch->length,
                          &plan));
    TRY(cull_nn_score(plan, batch, CULL_STATS_RUNNING, needs.signals, &signals));
    TRY(cull_sel_carry(&s->signals, &needs, &signals));
    take_signals(s->work, &signals, s->at);
    s->at += batch->count;
done:
    return status;
}

static cull_status score_all(cull_audit_work *w)
{
    cull_status   status = CULL_OK;
    cull_backend *backend = w->t->backend;
    struct sight  s = {.work = w, .signals = {.home = backend, .work = cull_backend_host(backend)}};
    cull_sweep    sweep = {.resident = w->at,
                           .form = w->t->sets.form,
                           .batch = cull_train_evaluate_batch(w->t->setup, w->t->backend),
                           .workers = w->t->setup->workers};

    TRY(cull_sweep_run(&sweep, see, &s));
done:
    cull_sel_load_clear(&s.signals);
    return status;
}

struct keyed {
    double   key;
    uint32_t place;
};

static int ascending(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Places by value, ties to the lower place; a value that is none comes last. */
static cull_status sort_places(const double *value, size_t count, uint32_t *order)
{
    cull_status   status = CULL_OK;
    struct keyed *pair = NULL;

    TRY(cull_base_alloc(count, sizeof *pair, "an audit", &pair));
    for (size_t i = 0; i < count; i++)
        pair[i] = (struct keyed){isnan(value[i]) ? INFINITY : value[i], (uint32_t)i};
    qsort(pair, count, sizeof *pair, ascending);
    for (size_t i = 0; i < count; i++) order[i] = pair[i].place;
done:
    cull_base_free(pair);
    return status;
}

static cull_rate wrong_among(const cull_dataset *set, const uint32_t *places, size_t count)
{
    double wrong = 0;

    for (size_t i = 0; i < count; i++) wrong += (set->marks[places[i]] & CULL_DATA_MARK_LABEL) != 0;
    return cull_probe_rate(wrong, (double)count);
}

/* Leaves the order ascending by loss. */
static cull_status rank(cull_audit_work *w, cull_audit_result *out)
{
    cull_status status = CULL_OK;
    size_t      n = w->set->count, hard = (n + CULL_AUDIT_TENTHS - 1) / CULL_AUDIT_TENTHS;

    out->count = n;
    TRY(sort_places(w->confidence, n, w->order));
    for (size_t i = 0; i < CULL_AUDIT_POINTS; i++)
        out->confidence[i] = w->confidence[w->order[i * (n - 1) / (CULL_AUDIT_POINTS - 1)]];
    for (size_t d = 0; d < CULL_AUDIT_TENTHS; d++) {
        size_t from = d * n / CULL_AUDIT_TENTHS, to = (d + 1) * n / CULL_AUDIT_TENTHS, right = 0;

        for (size_t i = from; i < to; i++)
            right += w->predicted[w->order[i]] == cull_data_labels(w->set)[w->order[i]];
        out->tenth[d] = to > from ? (double)right / (double)(to - from) : NAN;
        out->accuracy += (double)right / (double)n;
    }
    for (size_t i = 0; i < n; i++) out->loss += w->loss[i] / (double)n;
    TRY(sort_places(w->loss, n, w->order));
    out->wrong_hard = wrong_among(w->set, w->order + n - hard, hard);
    out->base = wrong_among(w->set, w->order, n);
done:
    return status;
}

/* By somebody else's word. */
static cull_status sort_by(cull_audit_work *w, const cull_audit_options *options)
{
    cull_status status = CULL_OK;

    if (options->hards != w->set->count)
        FAIL(CULL_BAD_ARGUMENT, "an audit of %zu examples, and %zu are said to be hard or not",
             w->set->count, options->hards);
    TRY(cull_base_alloc(w->set->count, sizeof *w->by, "an audit", &w->by));
    TRY(sort_places(options->hard, w->set->count, w->by));
done:
    return status;
}

/* The run's own counts; any whole type. */
static cull_status read_times(cull_audit_work *w, const char *path)
{
    cull_status  status = CULL_OK;
    cull_arrays *arrays = NULL;
    cull_tensor  count = {0};

    if (w->set != w->t->sets.train)
        FAIL(CULL_BAD_ARGUMENT, "%s: a selection is of the training set", path);
    TRY(cull_arrays_open(path, &arrays));
    TRY(cull_arrays_get(arrays, "count", &count));
    if (count.dims != 1 || (size_t)count.shape[0] != w->set->count)
        FAIL(CULL_BAD_FILE, "%s: 'count' is not of the recipe's %zu training examples", path,
             w->set->count);
    TRY(cull_base_alloc(w->set->count, sizeof *w->times, "an audit", &w->times));
    for (size_t i = 0; i < w->set->count; i++) {
        w->times[i] = cull_tensor_get(&count, i);
        if (!(w->times[i] >= 0 && w->times[i] <= 9007199254740992.))
            FAIL(CULL_BAD_FILE, "%s: example %zu was trained %g times", path, i, w->times[i]);
    }
done:
    cull_arrays_close(arrays);
    return status;
}

static void count_times(const cull_audit_work *w, cull_audit_result *out)
{
    double wrong = 0, all = 0, most = 0;

    for (size_t i = 0; i < w->set->count; i++) {
        most = fmax(most, w->times[i]);
        all += w->times[i];
        if (w->set->marks[i] & CULL_DATA_MARK_LABEL) wrong += w->times[i];
        out->never += w->times[i] == 0;
    }
    out->selected = true;
    out->most = (size_t)most;
    out->width = out->most / CULL_AUDIT_BINS + 1;
    for (size_t i = 0; i < w->set->count; i++) out->times[(size_t)w->times[i] / out->width]++;
    out->wrong_picks = cull_probe_rate(wrong, all);
}

cull_status cull_audit(const cull_recipe *recipe, const cull_audit_options *options,
                       cull_audit_result *out)
{
    cull_status       status = CULL_OK;
    cull_audit_work   w = {0};
    cull_audit_result r = {0};

    TRY(prepare(&w, recipe, options));
    if (options->selection) TRY(read_times(&w, options->selection));
    TRY(score_all(&w));
    TRY(rank(&w, &r));
    if (options->hard) TRY(sort_by(&w, options));
    if (w.times) count_times(&w, &r);
    if (options->path)
        TRY(cull_audit_write(&w, &r, options->examples ? options->examples : SHOWN, options->path));
    *out = r;
done:
    clear_work(&w);
    return status;
}
