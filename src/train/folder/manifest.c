/* train/folder/manifest.c - run.json and corruption.npz: what a run was, for those who read it
 * later. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "train/train.h"

static cull_status join(const cull_trainer *t, const char *name, char out[CULL_DATA_PATH])
{
    int length = snprintf(out, CULL_DATA_PATH, "%s/%s", t->run.folder, name);

    if (length < 0 || length >= CULL_DATA_PATH)
        return cull_fail(CULL_IO, "%s: the name is too long", t->run.folder);
    return CULL_OK;
}

/* The weights it began with. */
static void put_init(cull_json *json, const cull_trainer *t)
{
    char hash[17];

    (void)snprintf(hash, sizeof hash, "%016" PRIx64, t->progress.init_hash);
    cull_json_open(json, "init", '{');
    cull_json_text(json, "file", t->setup->init);
    cull_json_text(json, "hash", hash);
    cull_json_close(json, '}');
}

static void put_machine(cull_json *json, const cull_trainer *t)
{
    struct utsname system = {0};
    long           cores = sysconf(_SC_NPROCESSORS_ONLN);

    cull_json_open(json, "machine", '{');
    if (uname(&system) == 0) {
        cull_json_text(json, "system", system.sysname);
        cull_json_text(json, "release", system.release);
        cull_json_text(json, "processor", system.machine);
    }
    cull_json_count(json, "cores", cores > 0 ? (uint64_t)cores : 1);
    cull_json_text(json, "backend", cull_backend_describe(t->backend));
    cull_json_close(json, '}');
}

static void put_data(cull_json *json, const cull_trainer *t)
{
    const cull_data_record *harm = &t->sets.corruption;

    cull_json_open(json, "data", '{');
    cull_json_text(json, "name", t->sets.train->name);
    cull_json_count(json, "train", t->sets.train->count);
    cull_json_count(json, "validation", t->sets.validation ? t->sets.validation->count : 0);
    cull_json_count(json, "test", t->sets.test->count);
    cull_json_count(json, "classes", t->sets.train->classes);
    cull_json_count(json, "dropped", harm->drops);
    cull_json_count(json, "relabelled", harm->relabels);
    cull_json_count(json, "wrong", harm->wrong);
    cull_json_count(json, "copies", harm->copies);
    cull_json_close(json, '}');
}

static void put_by_phase(cull_json *json, const char *key, const double *value)
{
    cull_json_open(json, key, '{');
    for (int i = 0; i < CULL_PHASES; i++)
        cull_json_number(json, cull_phase_name((cull_phase)i), value[i]);
    cull_json_close(json, '}');
}

static void put_phases(cull_json *json, const cull_trainer *t)
{
    char text[200];

    put_by_phase(json, "seconds_by_phase", t->books.meter.seconds);
    (void)snprintf(text, sizeof text, "not available here: %s", t->books.energy.why);
    if (t->books.meter.energy)
        put_by_phase(json, "joules_by_phase", t->books.meter.joules);
    else
        cull_json_text(json, "joules_by_phase", text);
}

/* What decides which examples are picked besides the rule: never implied. */
static void put_selection(cull_json *json, const cull_trainer *t)
{
    const cull_score_setup *score = &t->setup->score;

    cull_json_text(json, "strategy", cull_selector_name(t->selector));
    cull_json_text(json, "options", cull_selector_options(t->selector));
    cull_json_open(json, "score", '{');
    cull_json_text(json, "pass", score->reuse ? "reuse" : "separate");
    cull_json_text(json, "norm", score->running ? "running" : "batch");
    cull_json_text(json, "precision", score->int8 ? "int8" : "same");
    cull_json_number(json, "scale", score->scale);
    cull_json_bool(json, "augment", !score->clean);
    cull_json_bool(json, "pipelined", score->pipelined);
    cull_json_text(json, "proxy", score->proxy ? score->proxy : "");
    cull_json_close(json, '}');
}

/* How much of the scoring was done while a step was learning, in this sitting. */
static void put_overlap(cull_json *json, const cull_pipeline *p)
{
    cull_json_open(json, "pipeline", '{');
    cull_json_number(json, "seconds_busy", p->seconds_busy);
    cull_json_number(json, "seconds_waited", p->seconds_waited);
    cull_json_number(json, "overlap",
                     p->seconds_busy > 0 ? fmax(0, 1 - p->seconds_waited / p->seconds_busy) : 0);
    cull_json_close(json, '}');
}

static void put_outcome(cull_json *json, const cull_trainer *t)
{
    cull_json_text(json, "watched", cull_trainer_watched(t));
    cull_json_count(json, "step", t->progress.step);
    cull_json_count(json, "epoch", t->progress.epoch);
    cull_json_number(json, "accuracy", t->progress.accuracy);
    cull_json_number(json, "best", t->progress.best);
    cull_json_count(json, "best_epoch", t->progress.best_epoch);
    cull_json_number(json, "test", t->progress.test);
    cull_json_count(json, "scored", t->books.meter.scored);
    cull_json_count(json, "trained", t->books.meter.trained);
    cull_json_count(json, "thirds", t->books.meter.thirds);
    if (t->setup->score.proxy) cull_json_count(json, "proxy_thirds", t->books.meter.proxy);
    cull_json_count(json, "subsets", t->books.meter.subsets);
    cull_json_count(json, "subsets_filled", t->books.meter.subsets_filled);
    cull_json_count(json, "subsets_short", t->books.meter.subsets_short);
    cull_json_count(json, "subsets_fallback", t->books.meter.subsets_fallback);
    cull_json_count(json, "filled", t->books.meter.filled);
    cull_json_number(json, "seconds", cull_meter_seconds(&t->books.meter));
    put_phases(json, t);
    if (t->scorer.pipeline) put_overlap(json, t->scorer.pipeline);
    cull_json_text(json, "weights", t->progress.weights);
    cull_json_text(json, "best_weights", t->progress.best_weights);
}

cull_status cull_train_manifest(cull_trainer *t, const char *run_status, const char *why)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH], when[32] = "";
    time_t      now = time(NULL);
    struct tm   parts;
    cull_json   json = {0};

    if (gmtime_r(&now, &parts)) (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts);
    cull_json_open(&json, NULL, '{');
    cull_json_text(&json, "status", run_status);
    if (why) cull_json_text(&json, "why", why);
    cull_json_text(&json, "written", when);
    cull_json_text(&json, "version", cull_version());
    cull_json_count(&json, "seed", t->setup->seed);
    if (t->progress.init_hash) put_init(&json, t);
    put_machine(&json, t);
    put_data(&json, t);
    cull_json_text(&json, "model", t->learner.model->name);
    cull_json_count(&json, "parameters", t->learner.params->count);
    put_selection(&json, t);
    put_outcome(&json, t);
    cull_json_close(&json, '}');
    cull_json_line(&json);
    TRY(json.status);
    TRY(join(t, "run.json", path));
    TRY(cull_file_write(path, json.bytes.data, json.bytes.size));
done:
    cull_json_clear(&json);
    return status;
}

cull_status cull_train_selection(cull_trainer *t, bool missing)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];

    TRY(join(t, "selection.npz", path));
    if (!missing || access(path, F_OK) != 0)
        TRY(cull_tally_write(&t->books.tally, t->sets.train, path));
    if (t->pool.count == 0) goto done;
    TRY(join(t, "subset.npz", path));
    if (!missing || access(path, F_OK) != 0)
        TRY(cull_tally_write_subset(&t->pool, t->pool_epoch, path));
done:
    return status;
}

cull_status cull_train_harm(cull_trainer *t)
{
    const cull_data_record *harm = &t->sets.corruption;
    cull_status             status = CULL_OK;
    int64_t                *dropped = NULL, *relabelled = NULL;
    char                    path[CULL_DATA_PATH];

    if (harm->drops == 0 && harm->relabels == 0) goto done;
    TRY(cull_base_alloc(harm->drops, sizeof *dropped, "a record", &dropped));
    TRY(cull_base_alloc(harm->relabels, 3 * sizeof *relabelled, "a record", &relabelled));
    for (size_t i = 0; i < harm->drops; i++) dropped[i] = harm->dropped[i];
    for (size_t i = 0; i < harm->relabels; i++) {
        relabelled[3 * i] = harm->relabelled[i].origin;
        relabelled[3 * i + 1] = harm->relabelled[i].before;
        relabelled[3 * i + 2] = harm->relabelled[i].after;
    }
    TRY(join(t, "corruption.npz", path));
    TRY(cull_arrays_write(
        path,
        (cull_array[]){{"dropped", cull_vector(dropped, CULL_I64, harm->drops)},
                       {"relabelled", cull_matrix(relabelled, CULL_I64, harm->relabels, 3)}},
        2));
done:
    cull_base_free(dropped);
    cull_base_free(relabelled);
    return status;
}
