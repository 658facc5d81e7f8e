/*
 * records/run_lines.c - metrics.jsonl, a line of JSON at a time, and the same for TensorBoard.
 *
 * Fields that hold times have names that begin with "seconds", those that hold energies with
 * "joules"; all others repeat, bit for bit, when the run is repeated or resumed.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "records/fields.h"
#include "records/files.h"
#include "records/run.h"
#include "records/tensorboard.h"

enum { MOST_LOOKS = 100000, MOST_FIELDS = 8 };

// clang-format off
#define F(kind, name)    CULL_FIELD(cull_records_line, #name, kind, name)
#define SOFAR(kind, name) CULL_FIELD(cull_records_line, #name, kind, so_far.name)

static const cull_records_field when[] = {F(COUNT, step), F(NUMBER, epoch)};
static const cull_records_field of_step[] = {
    F(NUMBER, loss), F(NUMBER, rate), F(COUNT, met), F(COUNT, kept),
};
static const cull_records_field of_epoch[] = {F(NUMBER, loss), F(NUMBER, accuracy), F(NUMBER, rate)};
static const cull_records_field of_evaluation[] = {
    F(NUMBER, loss), F(NUMBER, accuracy), F(BOOL, best),
};
static const cull_records_field so_far[] = {
    SOFAR(COUNT, scored), SOFAR(COUNT, trained), SOFAR(COUNT, thirds), SOFAR(COUNT, proxy_thirds),
    SOFAR(COUNT, tokens_scored), SOFAR(COUNT, tokens_trained), SOFAR(COUNT, token_thirds),
    SOFAR(NUMBER, cost), SOFAR(COUNT, subsets), SOFAR(COUNT, subsets_filled),
    SOFAR(COUNT, subsets_short), SOFAR(COUNT, subsets_fallback), SOFAR(COUNT, filled),
    SOFAR(COUNT, updates), SOFAR(NUMBER, seconds),
};
static const cull_records_field by_phase[] = {
    CULL_FIELD(cull_records_line, "seconds", EACH, so_far.seconds_by),
    CULL_FIELD(cull_records_line, "joules", EACH, so_far.joules_by),
};
static const cull_records_field of_looking[] = {F(NUMBER, seconds_evaluation)};
// clang-format on

static const char *const sets[CULL_RECORDS_SETS] = {"train", "validation", "test"};

static const struct {
    const char               *name;
    const cull_records_field *fields;
    size_t                    count;
} events[CULL_RECORDS_EVENTS] = {{"step", CULL_FIELDS(of_step)},
                                 {"epoch", CULL_FIELDS(of_epoch)},
                                 {"evaluate", CULL_FIELDS(of_evaluation)}};

/* ---- writing ---- */

static double wall_time(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

cull_status cull_records_logs_open(cull_records_logs *logs, const char *folder,
                                   const cull_yardstick *measure, uint64_t metrics,
                                   uint64_t scalars)
{
    cull_status   status = CULL_OK;
    unsigned char begin[CULL_TENSORBOARD_RECORD];

    logs->measure = measure;
    TRY(cull_records_log_open(&logs->metrics, folder, "metrics.jsonl", metrics));
    TRY(cull_records_log_open(&logs->events, folder, CULL_TENSORBOARD_FILE, scalars));
    if (scalars == 0)
        TRY(cull_records_log_append(&logs->events, begin,
                                    cull_tensorboard_begin(wall_time(), begin)));
done:
    return status;
}

cull_status cull_records_logs_sync(cull_records_logs *logs, uint64_t *metrics, uint64_t *scalars)
{
    cull_status status = CULL_OK;

    TRY(cull_records_log_sync(&logs->metrics));
    TRY(cull_records_log_sync(&logs->events));
    *metrics = logs->metrics.at;
    *scalars = logs->events.at;
done:
    return status;
}

void cull_records_logs_close(cull_records_logs *logs)
{
    cull_records_log_close(&logs->metrics);
    cull_records_log_close(&logs->events);
    cull_json_clear(&logs->json);
}

/* What an event tells. */
static size_t fields_of(cull_records_event event, const cull_yardstick *measure,
                        cull_records_field out[MOST_FIELDS])
{
    cull_records_name(events[event].fields, events[event].count, measure->key, out);
    return events[event].count;
}

static void put_line(cull_json *json, const cull_yardstick *measure, const cull_records_line *line)
{
    cull_records_field fields[MOST_FIELDS];
    size_t             count = fields_of(line->event, measure, fields);

    cull_json_reset(json);
    cull_json_open(json, NULL, '{');
    cull_json_text(json, "kind", events[line->event].name);
    cull_records_put(json, CULL_FIELDS(when), line);
    if (line->event == CULL_RECORDS_EVALUATE) cull_json_text(json, "set", sets[line->set]);
    cull_records_put(json, fields, count, line);
    cull_records_put(json, CULL_FIELDS(so_far), line);
    if (line->event != CULL_RECORDS_STEP) cull_records_put(json, CULL_FIELDS(by_phase), line);
    if (line->event == CULL_RECORDS_EVALUATE) cull_records_put(json, CULL_FIELDS(of_looking), line);
}

static cull_status scalar(cull_records_logs *logs, const cull_records_line *line, const char *group,
                          const char *name, double value)
{
    char          tag[CULL_TENSORBOARD_TAG];
    unsigned char record[CULL_TENSORBOARD_RECORD];

    (void)snprintf(tag, sizeof tag, "%s/%s", group, name);
    return cull_records_log_append(
        &logs->events, record,
        cull_tensorboard_scalar(wall_time(), (uint64_t)line->step, tag, value, record));
}

/* How whole the subsets so far are; nothing where none was chosen. */
static cull_status add_subsets(cull_records_logs *logs, const cull_records_line *line)
{
    cull_status              status = CULL_OK;
    const cull_records_work *work = &line->so_far;

    if (!(work->subsets > 0)) return CULL_OK;
    TRY(scalar(logs, line, "subsets", "chosen", work->subsets));
    TRY(scalar(logs, line, "subsets", "filled", work->subsets_filled));
    TRY(scalar(logs, line, "subsets", "short", work->subsets_short));
    TRY(scalar(logs, line, "subsets", "fallback", work->subsets_fallback));
    TRY(scalar(logs, line, "subsets", "filled_examples", work->filled));
done:
    return status;
}

/* What was done so far; nothing here is a time, so that it repeats. */
static cull_status add_cost(cull_records_logs *logs, const cull_records_line *line)
{
    cull_status              status = CULL_OK;
    const cull_records_work *work = &line->so_far;

    TRY(scalar(logs, line, "cost", "scored", work->scored));
    TRY(scalar(logs, line, "cost", "trained", work->trained));
    TRY(scalar(logs, line, "cost", "counted", work->cost));
done:
    return status;
}

/* A step may train nothing: the selector is still collecting. */
static cull_status add_scalars(cull_records_logs *logs, const cull_records_line *line)
{
    cull_status status = CULL_OK;
    bool        step = line->event == CULL_RECORDS_STEP;
    const char *group = step                                   ? "train"
                        : line->event == CULL_RECORDS_EVALUATE ? sets[line->set]
                                                               : "epoch";

    if (line->met > 0) TRY(scalar(logs, line, group, "kept", line->kept / line->met));
    if (step && !(line->kept > 0)) goto done;
    TRY(scalar(logs, line, group, "loss", line->loss));
    if (step)
        TRY(scalar(logs, line, group, "rate", line->rate));
    else if (!isnan(line->accuracy)) /* an epoch may not know it */
        TRY(scalar(logs, line, group, logs->measure->key, line->accuracy));
    if (line->event != CULL_RECORDS_EPOCH) goto done;
    TRY(add_cost(logs, line));
    TRY(add_subsets(logs, line));
done:
    return status;
}

cull_status cull_records_logs_add(cull_records_logs *logs, const cull_records_line *line)
{
    cull_status status = CULL_OK;

    put_line(&logs->json, logs->measure, line);
    TRY(cull_records_log_line(&logs->metrics, &logs->json));
    TRY(add_scalars(logs, line));
done:
    return status;
}

/* ---- reading ---- */

/* False: it is about something else. */
static bool take_line(const json_t *from, const cull_yardstick *measure, cull_records_line *out)
{
    cull_records_field fields[MOST_FIELDS];
    const char *kind = cull_records_word(from, "kind"), *set = cull_records_word(from, "set");
    int         event = 0, of = 0;

    while (event < CULL_RECORDS_EVENTS && strcmp(kind, events[event].name) != 0) event++;
    while (of < CULL_RECORDS_SETS && strcmp(set, sets[of]) != 0) of++;
    if (event == CULL_RECORDS_EVENTS) return false;
    if (event == CULL_RECORDS_EVALUATE && of == CULL_RECORDS_SETS) return false;
    *out = (cull_records_line){.event = (cull_records_event)event, .accuracy = NAN, .loss = NAN};
    out->set = event == CULL_RECORDS_EVALUATE ? (cull_records_set)of : CULL_RECORDS_TRAIN;
    cull_records_take(from, CULL_FIELDS(when), out);
    cull_records_take(from, fields, fields_of((cull_records_event)event, measure, fields), out);
    cull_records_take(from, CULL_FIELDS(so_far), out);
    cull_records_take(from, CULL_FIELDS(by_phase), out);
    cull_records_take(from, CULL_FIELDS(of_looking), out);
    if (isnan(out->so_far.thirds)) out->so_far.thirds = 3 * out->so_far.cost;
    return true;
}

static bool tells_result(const cull_records_line *look, const cull_yardstick *measure)
{
    if (look->event == CULL_RECORDS_EVALUATE)
        return cull_yardstick_can_be(measure, look->accuracy) && look->step >= 0 &&
               look->step < 9e15;
    return !isnan(look->epoch) && !(isnan(look->accuracy) && isnan(look->loss));
}

/* Counts that cannot be are not told. */
static void remember_work(const cull_records_work *now, cull_records_work *latest)
{
    double of[] = {now->subsets_filled, now->subsets_short, now->subsets_fallback};
    bool   whole = now->filled >= 0;

    for (int i = 0; i < 3; i++) whole = whole && of[i] >= 0 && of[i] <= now->subsets;
    if (whole) {
        latest->subsets = now->subsets;
        latest->subsets_filled = of[0];
        latest->subsets_short = of[1];
        latest->subsets_fallback = of[2];
        latest->filled = now->filled;
    }
    for (int i = 0; i < CULL_PHASES; i++)
        if (!isnan(now->seconds_by[i])) latest->seconds_by[i] = now->seconds_by[i];
}

static cull_status add_look(cull_records_curve *curve, const cull_records_line *look)
{
    cull_status status = CULL_OK;

    if (curve->count && curve->look[curve->count - 1].step == look->step) curve->count--;
    if (curve->count >= MOST_LOOKS) goto done;
    TRY(cull_records_room(curve->count, &curve->room, sizeof *curve->look, "a curve",
                          &curve->look));
    curve->look[curve->count++] = *look;
done:
    return status;
}

/* Whose name the line has a value under. */
static const cull_yardstick *judged_by(const json_t *line)
{
    const cull_yardstick *measure = NULL;

    for (size_t i = 0; (measure = cull_yardstick_at(i)); i++)
        if (json_object_get(line, measure->key)) return measure;
    return &cull_yardstick_accuracy;
}

static cull_status add_line(const json_t *from, size_t number, cull_records_curves *out)
{
    cull_records_line     line = {0};
    const cull_yardstick *measure = judged_by(from);

    if (!take_line(from, measure, &line) || line.event == CULL_RECORDS_STEP) return CULL_OK;
    remember_work(&line.so_far, &out->latest);
    if (tells_result(&line, measure)) return add_look(&out->of[line.set], &line);
    if (line.event == CULL_RECORDS_EVALUATE && !out->broken) {
        out->broken = number;
        out->lacks = true;
    }
    return CULL_OK;
}

cull_status cull_records_curves_decode(const void *data, size_t bytes, cull_records_curves *out)
{
    cull_status        status = CULL_OK;
    cull_records_lines lines = {.at = data, .end = data ? (const char *)data + bytes : NULL};

    *out = (cull_records_curves){0};
    for (int i = 0; i < CULL_PHASES; i++) out->latest.seconds_by[i] = NAN;
    while (cull_records_next(&lines)) {
        if (lines.line) TRY(add_line(lines.line, lines.number, out));
        if (!lines.line && !out->broken) out->broken = lines.number;
    }
    TRY(lines.status);
done:
    cull_records_lines_clear(&lines);
    return status;
}

void cull_records_curves_clear(cull_records_curves *curves)
{
    for (int i = 0; i < CULL_RECORDS_SETS; i++) cull_base_free(curves->of[i].look);
    *curves = (cull_records_curves){0};
}
