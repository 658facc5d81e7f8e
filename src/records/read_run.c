/* records/read_run.c - a run's folder: run.json, metrics.jsonl and probe.jsonl. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "records/records.h"

enum { MOST_POINTS = 100000, MOST_PROBES = 1000000 };

/* Seconds of the phase so far, as a field of its own or inside an object. */
static double phase_seconds(const json_t *line, int phase)
{
    char   key[32];
    double value = NAN;

    (void)snprintf(key, sizeof key, "seconds_%s", cull_rep_phase_names[phase]);
    value = cull_rep_field(line, key);
    if (isnan(value))
        value = cull_rep_field(json_object_get(line, "seconds"), cull_rep_phase_names[phase]);
    return value;
}

static cull_status add_point(cull_rep_curve *curve, const cull_rep_point *point)
{
    cull_status status = CULL_OK;

    if (curve->count >= MOST_POINTS) goto done;
    if (curve->count == curve->room) {
        size_t room = 2 * curve->room + 16;
        TRY(cull_base_grow(room, sizeof *curve->point, "a curve", &curve->point));
        curve->room = room;
    }
    curve->point[curve->count++] = *point;
done:
    return status;
}

/* Counts that cannot be are not told. */
static void take_subsets(const json_t *line, cull_rep_metrics *out)
{
    double subsets = cull_rep_field(line, "subsets"), filled = cull_rep_field(line, "filled");
    double of[3] = {cull_rep_field(line, "subsets_filled"), cull_rep_field(line, "subsets_short"),
                    cull_rep_field(line, "subsets_fallback")};

    for (int i = 0; i < 3; i++)
        if (!(of[i] >= 0 && of[i] <= subsets)) return;
    if (!(filled >= 0) || !isfinite(filled) || !isfinite(subsets)) return;
    out->subsets = subsets;
    out->filled = of[0];
    out->brief = of[1];
    out->fallback = of[2];
    out->fillers = filled;
}

static cull_status take_look(const json_t *line, cull_rep_set set, cull_rep_metrics *out)
{
    cull_rep_point point = {.epoch = cull_rep_field(line, "epoch"),
                            .work = cull_rep_field(line, "thirds"),
                            .accuracy = cull_rep_field(line, "accuracy"),
                            .loss = cull_rep_field(line, "loss")};

    take_subsets(line, out);
    if (isnan(point.work)) point.work = 3 * cull_rep_field(line, "cost");
    for (int i = 0; i < CULL_REP_PHASES; i++) {
        double value = phase_seconds(line, i);

        point.seconds += value;
        if (isnan(value)) continue;
        out->seconds[i] = value;
        out->timed = true;
    }
    if (isnan(point.seconds)) point.seconds = cull_rep_field(line, "seconds");
    if (isnan(point.epoch) || (isnan(point.accuracy) && isnan(point.loss))) return CULL_OK;
    return add_point(&out->curve[set], &point);
}

static cull_status take_probe(const json_t *line, cull_rep_metrics *out)
{
    cull_status    status = CULL_OK;
    cull_rep_probe probe = {.keep = cull_rep_field(line, "keep"),
                            .error = cull_rep_field(line, "error"),
                            .win = cull_rep_field(line, "win"),
                            .cosine = cull_rep_field(line, "cosine"),
                            .full = cull_rep_field(line, "full"),
                            .picked = cull_rep_field(line, "kept"),
                            .corrupted = cull_rep_field(line, "corrupted")};
    const json_t  *win = json_object_get(line, "win");

    if (json_is_boolean(win)) probe.win = json_is_true(win);
    (void)snprintf(probe.strategy, sizeof probe.strategy, "%s", cull_rep_word(line, "strategy"));
    if (!probe.strategy[0] || (!isfinite(probe.error) && !isfinite(probe.picked))) goto done;
    if (out->probes >= MOST_PROBES) goto done;
    if (out->probes == out->room) {
        size_t room = 2 * out->room + 64;
        TRY(cull_base_grow(room, sizeof *out->probe, "probes", &out->probe));
        out->room = room;
    }
    out->probe[out->probes++] = probe;
done:
    return status;
}

static cull_status take_line(const json_t *line, cull_rep_metrics *out)
{
    const char *kind = cull_rep_word(line, "kind"), *set = cull_rep_word(line, "set");

    if (strcmp(kind, "epoch") == 0) return take_look(line, CULL_REP_TRAIN, out);
    if (strcmp(kind, "probe") == 0) return take_probe(line, out);
    if (strcmp(kind, "evaluate") != 0) return CULL_OK;
    if (strcmp(set, "validation") == 0) return take_look(line, CULL_REP_VALIDATION, out);
    if (strcmp(set, "test") == 0) return take_look(line, CULL_REP_TEST, out);
    return CULL_OK;
}

cull_status cull_rep_metrics_decode(const char *name, const void *data, size_t bytes,
                                    cull_rep_metrics *out, cull_rep_problems *problems)
{
    cull_status  status = CULL_OK;
    const char  *at = data, *end = at ? at + bytes : at;
    json_t      *line = NULL;
    json_error_t error = {0};
    size_t       number = 0, broken = 0, first = 0;

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t      length = (size_t)((stop ? stop : end) - at);

        number++;
        line = length ? json_loadb(at, length, 0, &error) : NULL;
        if (!line && length && json_error_code(&error) == json_error_out_of_memory)
            FAIL(CULL_NO_MEMORY, "no memory for %s", name);
        if (line)
            TRY(take_line(line, out));
        else if (length && broken++ == 0)
            first = number;
        json_decref(line);
        line = NULL;
        at += length + (stop != NULL);
    }
    if (broken == 1)
        TRY(cull_rep_problem(problems, "%s: line %zu is no JSON; skipped", name, first));
    if (broken > 1)
        TRY(cull_rep_problem(problems, "%s: %zu lines from line %zu on are no JSON; skipped", name,
                             broken, first));
done:
    json_decref(line);
    return status;
}

void cull_rep_metrics_clear(cull_rep_metrics *metrics)
{
    for (int i = 0; i < CULL_REP_SETS; i++) cull_base_free(metrics->curve[i].point);
    cull_base_free(metrics->probe);
    *metrics = (cull_rep_metrics){0};
}

/* A file that cannot be read is a problem of the page, want of memory one of the caller. */
static cull_status forgive(cull_status status, cull_rep_problems *problems)
{
    char sentence[512];

    if (status == CULL_OK || status == CULL_NO_MEMORY) return status;
    (void)snprintf(sentence, sizeof sentence, "%.500s", cull_last_error());
    return cull_rep_problem(problems, "%s", sentence);
}

static cull_status read_lines(const char *folder, const char *file, bool expected,
                              cull_rep_metrics *out, bool *there, cull_rep_problems *problems)
{
    cull_status status = CULL_OK;
    char        name[CULL_DATA_PATH];
    void       *data = NULL;
    size_t      bytes = 0;

    (void)snprintf(name, sizeof name, "%.900s/%s", folder, file);
    TRY(forgive(cull_rep_file(folder, file, &data, &bytes), problems));
    if (data) {
        *there = true;
        TRY(cull_rep_metrics_decode(name, data, bytes, out, problems));
    } else if (expected) {
        TRY(cull_rep_problem(problems, "%s: is not there; its curve is left out", name));
    }
done:
    cull_bytes_release(data);
    return status;
}

/* run.json, when the caller has not read it. */
static cull_status read_info(const char *folder, json_t **out, cull_rep_problems *problems)
{
    cull_status status = CULL_OK;
    void       *data = NULL;
    size_t      bytes = 0;

    TRY(forgive(cull_rep_file(folder, "run.json", &data, &bytes), problems));
    if (data) *out = json_loadb(data, bytes, 0, NULL);
done:
    cull_bytes_release(data);
    return status;
}

cull_status cull_rep_run_read(const char *folder, const json_t *info, cull_rep_run *run,
                              cull_rep_problems *problems)
{
    cull_status status = CULL_OK;
    json_t     *own = NULL;

    TRY(read_lines(folder, "metrics.jsonl", true, &run->metrics, &run->there, problems));
    TRY(read_lines(folder, "probe.jsonl", false, &run->metrics, &run->there, problems));
    if (!info) TRY(read_info(folder, &own, problems));
    TRY(forgive(cull_rep_audit_read(folder, info ? info : own, &run->audit), problems));
done:
    json_decref(own);
    return status;
}

cull_status cull_rep_probed_read(const char *folder, cull_rep_probed *out,
                                 cull_rep_problems *problems)
{
    cull_status status = CULL_OK;
    bool        there = false;

    out->folder = folder;
    TRY(read_lines(folder, "probe.jsonl", false, &out->metrics, &there, problems));
    if (!out->metrics.probes)
        FAIL(CULL_BAD_FILE, "%.900s/probe.jsonl: no line is about a minibatch", folder);
done:
    return status;
}

static void decode_phases(cull_rep_single *out)
{
    const json_t *seconds = json_object_get(out->root, "seconds_by_phase");
    const json_t *joules = json_object_get(out->root, "joules_by_phase");

    for (int i = 0; i < CULL_REP_PHASES; i++) {
        out->run.seconds[i] = cull_rep_field(seconds, cull_rep_phase_names[i]);
        out->run.joules[i] = cull_rep_field(joules, cull_rep_phase_names[i]);
    }
}

cull_status cull_rep_single_decode(const char *name, const void *data, size_t bytes,
                                   cull_rep_single *out)
{
    cull_status   status = CULL_OK;
    json_error_t  error = {0};
    const json_t *sizes = NULL;

    out->root = json_loadb(data, bytes, 0, &error);
    if (!out->root && json_error_code(&error) == json_error_out_of_memory)
        FAIL(CULL_NO_MEMORY, "no memory for %s", name);
    if (!out->root)
        FAIL(CULL_BAD_FILE, "%s: line %d is no JSON: %.100s", name, error.line, error.text);
    if (!json_is_object(out->root)) FAIL(CULL_BAD_FILE, "%s: is no JSON object", name);
    sizes = json_object_get(out->root, "data");
    out->machine = json_object_get(out->root, "machine");
    out->model = cull_rep_word(out->root, "model");
    out->strategy = cull_rep_word(out->root, "strategy");
    out->version = cull_rep_word(out->root, "version");
    out->watched = cull_rep_word(out->root, "watched");
    out->data = cull_rep_word(sizes, "name");
    out->train = cull_rep_field(sizes, "train");
    out->validation = cull_rep_field(sizes, "validation");
    out->test_size = cull_rep_field(sizes, "test");
    out->epoch = cull_rep_field(out->root, "epoch");
    out->best_epoch = cull_rep_field(out->root, "best_epoch");
    out->parameters = cull_rep_field(out->root, "parameters");
    out->test = cull_rep_field(out->root, "test");
    out->run.status = cull_rep_word(out->root, "status");
    out->run.why = cull_rep_word(out->root, "why");
    out->run.seed = cull_rep_field(out->root, "seed");
    out->run.accuracy = cull_rep_field(out->root, "accuracy");
    out->run.best = cull_rep_field(out->root, "best");
    out->run.scored = cull_rep_field(out->root, "scored");
    out->run.trained = cull_rep_field(out->root, "trained");
    out->run.thirds = cull_rep_field(out->root, "thirds");
    decode_phases(out);
done:
    return status;
}

/* recipe.yaml, shown as it is. */
static cull_status read_recipe(const char *folder, cull_rep_single *out,
                               cull_rep_problems *problems)
{
    cull_status status = CULL_OK;
    void       *data = NULL;
    size_t      bytes = 0;

    TRY(forgive(cull_rep_file(folder, "recipe.yaml", &data, &bytes), problems));
    if (!data) goto done;
    TRY(cull_base_alloc(bytes + 1, 1, "a recipe", &out->recipe));
    memcpy(out->recipe, data, bytes);
done:
    cull_bytes_release(data);
    return status;
}

cull_status cull_rep_single_read(const char *folder, cull_rep_single *out,
                                 cull_rep_problems *problems)
{
    cull_status status = CULL_OK;
    char        name[CULL_DATA_PATH];
    void       *data = NULL;
    size_t      bytes = 0;

    (void)snprintf(name, sizeof name, "%.900s/run.json", folder);
    TRY(cull_rep_file(folder, "run.json", &data, &bytes));
    if (!data) FAIL(CULL_IO, "%s: is not there", name);
    TRY(cull_rep_single_decode(name, data, bytes, out));
    out->folder = out->run.folder = folder;
    TRY(cull_rep_run_read(folder, out->root, &out->run, problems));
    for (int i = 0; i < CULL_REP_PHASES; i++)
        if (isnan(out->run.seconds[i]) && out->run.metrics.timed)
            out->run.seconds[i] = out->run.metrics.seconds[i];
    TRY(read_recipe(folder, out, problems));
done:
    cull_bytes_release(data);
    return status;
}

void cull_rep_single_clear(cull_rep_single *single)
{
    cull_rep_metrics_clear(&single->run.metrics);
    cull_base_free(single->recipe);
    json_decref(single->root);
    *single = (cull_rep_single){0};
}
