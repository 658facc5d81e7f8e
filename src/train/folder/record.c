/*
 * train/folder/record.c - what a run leaves to read: a line of JSON and some scalars at a time.
 *
 * Fields that hold times have names that begin with "seconds", those that hold energies with
 * "joules"; all others repeat, bit for bit, when the run is repeated or resumed.
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "records/tensorboard.h"
#include "train/train.h"

#define METRICS_FILE "metrics.jsonl"

static double wall_time(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

cull_status cull_record_open(cull_trainer *t)
{
    cull_status   status = CULL_OK;
    unsigned char begin[CULL_TENSORBOARD_RECORD];

    TRY(cull_train_log_open(&t->lines.metrics, t->run.folder, METRICS_FILE, t->progress.metrics));
    TRY(cull_train_log_open(&t->lines.events, t->run.folder, CULL_TENSORBOARD_FILE,
                            t->progress.events));
    if (t->progress.events == 0)
        TRY(cull_train_log_append(&t->lines.events, begin,
                                  cull_tensorboard_begin(wall_time(), begin)));
done:
    return status;
}

cull_status cull_record_sync(cull_trainer *t)
{
    cull_status status = CULL_OK;

    TRY(cull_train_log_sync(&t->lines.metrics));
    TRY(cull_train_log_sync(&t->lines.events));
    t->progress.metrics = t->lines.metrics.at;
    t->progress.events = t->lines.events.at;
done:
    return status;
}

static cull_status scalar(cull_trainer *t, const char *group, const char *name, double value)
{
    char          tag[CULL_TENSORBOARD_TAG];
    unsigned char record[CULL_TENSORBOARD_RECORD];

    (void)snprintf(tag, sizeof tag, "%s/%s", group, name);
    return cull_train_log_append(
        &t->lines.events, record,
        cull_tensorboard_scalar(wall_time(), t->progress.step, tag, value, record));
}

static void begin(cull_trainer *t, const char *kind, double epoch)
{
    cull_json_reset(&t->lines.json);
    cull_json_open(&t->lines.json, NULL, '{');
    cull_json_text(&t->lines.json, "kind", kind);
    cull_json_count(&t->lines.json, "step", t->progress.step);
    cull_json_number(&t->lines.json, "epoch", epoch);
}

static cull_status finish(cull_trainer *t)
{
    cull_status status = CULL_OK;

    cull_json_close(&t->lines.json, '}');
    cull_json_line(&t->lines.json);
    TRY(t->lines.json.status);
    TRY(cull_train_log_append(&t->lines.metrics, t->lines.json.bytes.data,
                              t->lines.json.bytes.size));
done:
    return status;
}

static void put_counts(cull_trainer *t)
{
    cull_json_count(&t->lines.json, "scored", t->books.meter.scored);
    cull_json_count(&t->lines.json, "trained", t->books.meter.trained);
    cull_json_count(&t->lines.json, "thirds", t->books.meter.thirds);
    if (t->setup->score.proxy)
        cull_json_count(&t->lines.json, "proxy_thirds", t->books.meter.proxy);
    cull_json_number(&t->lines.json, "cost", cull_meter_cost(&t->books.meter));
    cull_json_count(&t->lines.json, "subsets", t->books.meter.subsets);
    cull_json_count(&t->lines.json, "subsets_filled", t->books.meter.subsets_filled);
    cull_json_count(&t->lines.json, "subsets_short", t->books.meter.subsets_short);
    cull_json_count(&t->lines.json, "subsets_fallback", t->books.meter.subsets_fallback);
    cull_json_count(&t->lines.json, "filled", t->books.meter.filled);
    cull_json_number(&t->lines.json, "seconds", cull_meter_seconds(&t->books.meter));
}

static void put_by_phase(cull_trainer *t, const char *what, const double *value)
{
    char name[40];

    for (int i = 0; i < CULL_PHASES; i++) {
        (void)snprintf(name, sizeof name, "%s_%s", what, cull_phase_name((cull_phase)i));
        cull_json_number(&t->lines.json, name, value[i]);
    }
}

static void put_phases(cull_trainer *t)
{
    cull_meter_settle(&t->books.meter);
    put_by_phase(t, "seconds", t->books.meter.seconds);
    if (t->books.meter.energy) put_by_phase(t, "joules", t->books.meter.joules);
}

cull_status cull_record_step(cull_trainer *t, size_t met, size_t kept)
{
    cull_status status = CULL_OK;

    begin(t, "step", (double)t->progress.epoch + 1);
    /* A step may train nothing: the selector is still collecting. */
    cull_json_number(&t->lines.json, "loss", kept ? t->books.loss : NAN);
    cull_json_number(&t->lines.json, "rate", t->progress.rate);
    cull_json_count(&t->lines.json, "met", met);
    cull_json_count(&t->lines.json, "kept", kept);
    put_counts(t);
    TRY(finish(t));
    if (kept == 0) goto done;
    TRY(scalar(t, "train", "loss", t->books.loss));
    TRY(scalar(t, "train", "rate", t->progress.rate));
done:
    return status;
}

/* How whole the subsets so far are; nothing where none was chosen. */
static cull_status put_subsets(cull_trainer *t)
{
    cull_status       status = CULL_OK;
    const cull_meter *m = &t->books.meter;

    if (m->subsets == 0) return CULL_OK;
    TRY(scalar(t, "subsets", "chosen", (double)m->subsets));
    TRY(scalar(t, "subsets", "filled", (double)m->subsets_filled));
    TRY(scalar(t, "subsets", "short", (double)m->subsets_short));
    TRY(scalar(t, "subsets", "fallback", (double)m->subsets_fallback));
    TRY(scalar(t, "subsets", "filled_examples", (double)m->filled));
done:
    return status;
}

cull_status cull_record_epoch(cull_trainer *t)
{
    cull_status status = CULL_OK;
    double      seen = (double)t->progress.seen;
    double      loss = t->progress.loss / seen, accuracy = (double)t->progress.correct / seen;

    begin(t, "epoch", (double)t->progress.epoch + 1);
    cull_json_number(&t->lines.json, "loss", loss);
    cull_json_number(&t->lines.json, "accuracy", accuracy);
    cull_json_number(&t->lines.json, "rate", t->progress.rate);
    put_counts(t);
    put_phases(t);
    TRY(finish(t));
    TRY(scalar(t, "epoch", "loss", loss));
    TRY(scalar(t, "epoch", "accuracy", accuracy));
    TRY(put_subsets(t));
done:
    return status;
}

cull_status cull_record_evaluation(cull_trainer *t, const char *set,
                                   const cull_evaluation *evaluation, bool best)
{
    cull_status   status = CULL_OK;
    cull_position position = cull_train_position(t);

    begin(t, "evaluate", cull_position_epochs(&position));
    cull_json_text(&t->lines.json, "set", set);
    cull_json_number(&t->lines.json, "loss", evaluation->loss);
    cull_json_number(&t->lines.json, "accuracy", evaluation->accuracy);
    cull_json_bool(&t->lines.json, "best", best);
    put_counts(t);
    put_phases(t);
    cull_json_number(&t->lines.json, "seconds_evaluation", evaluation->seconds);
    TRY(finish(t));
    TRY(scalar(t, set, "loss", evaluation->loss));
    TRY(scalar(t, set, "accuracy", evaluation->accuracy));
done:
    return status;
}
