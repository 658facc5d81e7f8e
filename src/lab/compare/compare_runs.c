/* lab/compare/compare_runs.c - what runs left in their folders, believed only where it is whole. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "lab/compare/compare.h"

void cull_compared_clear(cull_compared *run)
{
    json_decref(run->joules);
    cull_base_free(run->curve);
    *run = (cull_compared){0};
}

static void fail_run(cull_compared *run, cull_run_status status, const char *why)
{
    run->status = status;
    (void)snprintf(run->why, sizeof run->why, "%s", why);
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool is_share(double value)
{
    return value >= 0 && value <= 1;
}

/* A file of the run, or NULL and the run's status set. */
static cull_status load(const char *folder, const char *name, void **bytes, size_t *size,
                        bool *there)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];

    *there = false;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        FAIL(CULL_IO, "%.100s...: the name is too long", folder);
    if (access(path, F_OK) != 0) goto done;
    status = cull_file_read(path, bytes, size);
    if (status == CULL_IO) { /* what cannot be read is as good as damaged */
        status = CULL_OK;
        goto done;
    }
    *there = status == CULL_OK;
done:
    return status;
}

static void take_outcome(const json_t *run, cull_compared *out)
{
    const json_t *phases = json_object_get(run, "seconds_by_phase");

    out->accuracy = number(run, "test");
    out->best = number(run, "best");
    out->scored = number(run, "scored");
    out->trained = number(run, "trained");
    out->thirds = number(run, "thirds");
    for (int i = 0; i < CULL_PHASES; i++)
        out->seconds[i] = number(phases, cull_phase_name((cull_phase)i));
    if (json_is_object(json_object_get(run, "joules_by_phase")))
        out->joules = json_incref(json_object_get(run, "joules_by_phase"));
    if (!is_share(out->accuracy) || !is_share(out->best) || !(out->scored >= 0) ||
        !(out->trained > 0) || !(out->thirds > 0))
        fail_run(out, CULL_COMPARED_CORRUPT, "run.json lacks its outcome; skipped");
}

static void take_status(const json_t *run, cull_compared *out)
{
    const char *word = json_string_value(json_object_get(run, "status"));
    const char *why = json_string_value(json_object_get(run, "why"));
    const char *init = json_string_value(json_object_get(json_object_get(run, "init"), "hash"));

    if (init) (void)snprintf(out->init, sizeof out->init, "%s", init);
    if (!word)
        fail_run(out, CULL_COMPARED_CORRUPT, "run.json has no status; skipped");
    else if (strcmp(word, "failed") == 0)
        fail_run(out, CULL_COMPARED_FAILED, why ? why : "failed");
    else if (strcmp(word, "finished") != 0)
        out->status = CULL_COMPARED_RUNNING;
    else {
        out->status = CULL_COMPARED_FINISHED;
        take_outcome(run, out);
    }
}

/* other: a set beside the test set was watched. */
static cull_status add_point(cull_compared *out, size_t *room, const json_t *line, bool *other)
{
    cull_status status = CULL_OK;
    const char *kind = json_string_value(json_object_get(line, "kind"));
    const char *set = json_string_value(json_object_get(line, "set"));
    double      accuracy = number(line, "accuracy"), step = number(line, "step");

    if (!kind || strcmp(kind, "evaluate") != 0 || !set) goto done;
    *other = *other || strcmp(set, "test") != 0;
    if (strcmp(set, "test") != 0) goto done;
    if (!is_share(accuracy) || !(step >= 0) || step > 9e15) goto done;
    if (out->points == *room) {
        size_t more = *room ? 2 * *room : 32;
        TRY(cull_base_grow(more, sizeof *out->curve, "a curve", &out->curve));
        *room = more;
    }
    if (out->points && out->curve[out->points - 1].step == (uint64_t)step) out->points--;
    out->curve[out->points++] = (cull_compared_point){(uint64_t)step, accuracy};
done:
    return status;
}

/* The best that a run names is of the set it watched. */
static void find_best(cull_compared *out)
{
    out->best = out->accuracy;
    for (size_t i = 0; i < out->points; i++) out->best = fmax(out->best, out->curve[i].accuracy);
}

static cull_status read_curve(const char *text, size_t size, cull_compared *out)
{
    cull_status status = CULL_OK;
    size_t      room = 0, number_of = 0;
    const char *at = text, *end = text + size;
    bool        other = false;

    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        json_t     *line = NULL;
        char        why[80];

        if (!line_end) line_end = end;
        number_of++;
        line = json_loadb(at, (size_t)(line_end - at), 0, NULL);
        if (!json_is_object(line)) {
            json_decref(line);
            (void)snprintf(why, sizeof why, "metrics.jsonl line %zu is no JSON; skipped",
                           number_of);
            fail_run(out, CULL_COMPARED_CORRUPT, why);
            goto done;
        }
        status = add_point(out, &room, line, &other);
        json_decref(line);
        TRY(status);
        at = line_end + 1;
    }
    if (other) find_best(out);
done:
    return status;
}

cull_status cull_compare_read_run(const char *folder, cull_compared *out)
{
    cull_status status = CULL_OK;
    void       *bytes = NULL, *lines = NULL;
    size_t      size = 0, length = 0;
    bool        there = false;
    json_t     *run = NULL;

    *out = (cull_compared){.accuracy = NAN, .best = NAN};
    TRY(load(folder, "run.json", &bytes, &size, &there));
    if (!there) {
        char path[CULL_DATA_PATH];
        /* A run that was killed before its first words is begun anew by resuming it. */
        (void)snprintf(path, sizeof path, "%.900s/run.json", folder);
        if (access(path, F_OK) == 0)
            fail_run(out, CULL_COMPARED_CORRUPT, "run.json cannot be read; skipped");
        goto done;
    }
    run = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(run)) {
        fail_run(out, CULL_COMPARED_CORRUPT, "run.json is no JSON; skipped");
        goto done;
    }
    take_status(run, out);
    if (out->status != CULL_COMPARED_FINISHED) goto done;
    TRY(load(folder, "metrics.jsonl", &lines, &length, &there));
    if (there)
        TRY(read_curve(lines, length, out));
    else
        fail_run(out, CULL_COMPARED_CORRUPT, "metrics.jsonl is missing; skipped");
done:
    json_decref(run);
    cull_bytes_release(bytes);
    cull_bytes_release(lines);
    return status;
}

bool cull_compare_all_finished(const cull_comparison *c)
{
    for (size_t i = 0; i < c->arms.count; i++)
        for (uint64_t seed = 1; c->arms.arm[i].recipe && seed <= c->seeds; seed++)
            if (cull_compared_at(c, i, seed)->status != CULL_COMPARED_FINISHED) return false;
    return c->settled;
}

/* All begin alike: the file of train.init may have been overwritten since. One that was just begun
 * may not say yet what with. */
static void check_init(const cull_comparison *c, cull_compared *run)
{
    const char *file = c->arms.arm[0].recipe->setup.init;
    char        why[CULL_COMPARE_WHY];

    if (run->status != CULL_COMPARED_FINISHED &&
        (run->status != CULL_COMPARED_RUNNING || !run->init[0]))
        return;
    if (strcmp(run->init, c->init) == 0 || (file && !c->init[0])) return;
    (void)snprintf(why, sizeof why,
                   "it began with %.100s of hash %s, the comparison's had %s; skipped",
                   file ? file : "train.init", run->init[0] ? run->init : "none",
                   c->init[0] ? c->init : "none");
    fail_run(run, CULL_COMPARED_CORRUPT, why);
}

cull_status cull_compare_read_runs(cull_comparison *c)
{
    cull_status status = CULL_OK;

    for (size_t arm = 0; arm < c->arms.count; arm++)
        for (uint64_t seed = 1; seed <= c->seeds; seed++) {
            char name[CULL_ARM_NAME + 64], path[CULL_DATA_PATH];

            if (!c->arms.arm[arm].recipe) continue;
            cull_compared_clear(cull_compared_at(c, arm, seed));
            (void)snprintf(name, sizeof name, "runs/%s/seed-%llu", c->arms.arm[arm].folder,
                           (unsigned long long)seed);
            TRY(cull_compare_path(c, name, path));
            TRY(cull_compare_read_run(path, cull_compared_at(c, arm, seed)));
            check_init(c, cull_compared_at(c, arm, seed));
        }
done:
    return status;
}
