/* train/folder/manifest.c - run.json and corruption.npz: what a run was, for those who read it
 * later. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "train/train.h"

const char *cull_train_computes_in(const cull_trainer *t)
{
    cull_arithmetic a = t->learner.params->arithmetic;

    if (a.values == CULL_BF16) return "bfloat16";
    return a.tf32 ? "tf32" : "float32";
}

static void fill_machine(const cull_trainer *t, cull_records_info *out)
{
    cull_train_room room = {0};
    bool            known = cull_train_measure(t, &room) == CULL_OK && room.total;

    out->machine.chosen = t->why;
    out->machine.precision = cull_train_computes_in(t);
    out->machine.planned = known ? (double)(room.data + room.parameters + room.plans) : NAN;
}

static void fill_data(const cull_train_sets *sets, cull_records_info *out)
{
    const cull_data_record *harm = &sets->corruption;

    out->data.name = sets->train->name;
    out->data.train = (double)sets->train->count;
    out->data.validation = sets->validation ? (double)sets->validation->count : 0;
    out->data.test = (double)sets->test->count;
    out->data.classes = (double)sets->train->classes;
    out->data.dropped = (double)harm->drops;
    out->data.relabelled = (double)harm->relabels;
    out->data.wrong = (double)harm->wrong;
    out->data.copies = (double)harm->copies;
    out->data.fingerprint = sets->print[CULL_DATA_TRAIN];
    out->data.test_fingerprint = sets->print[CULL_DATA_TEST];
    for (size_t i = 0; i < sets->warnings.count; i++)
        cull_records_texts_add(&out->warnings, sets->warnings.text[i]);
}

static void fill_selection(const cull_selector *selector, const cull_score_setup *score,
                           cull_records_info *out)
{
    out->strategy = cull_selector_name(selector);
    out->options = cull_selector_options(selector);
    out->score.pass = score->reuse ? "reuse" : "separate";
    out->score.norm = score->running ? "running" : "batch";
    out->score.precision = score->int8 ? "int8" : score->bf16 ? "bf16" : "same";
    out->score.scale = score->scale;
    out->score.augment = !score->clean;
    out->score.pipelined = score->pipelined;
    out->score.proxy = score->proxy ? score->proxy : "";
}

static void fill_outcome(const cull_progress *progress, const cull_books *books,
                         cull_records_info *out)
{
    out->step = (double)progress->step;
    out->epoch = (double)progress->epoch;
    out->accuracy = progress->accuracy;
    out->best = progress->best;
    out->best_epoch = (double)progress->best_epoch;
    out->test = progress->test;
    out->work = cull_meter_work(&books->meter, books->proxied);
    out->weights = progress->weights;
    out->best_weights = progress->best_weights;
}

/* How much of the scoring was done while a step was learning, in this sitting. */
static void fill_overlap(const cull_pipeline *p, cull_records_info *out)
{
    out->pipeline.seconds_busy = p ? p->seconds_busy : NAN;
    out->pipeline.seconds_waited = p ? p->seconds_waited : NAN;
    out->pipeline.overlap = NAN;
    if (!p) return;
    out->pipeline.overlap =
        p->seconds_busy > 0 ? fmax(0, 1 - p->seconds_waited / p->seconds_busy) : 0;
}

cull_status cull_train_manifest(const cull_trainer *t, const char *run_status, const char *why)
{
    struct utsname    system = {0};
    long              cores = sysconf(_SC_NPROCESSORS_ONLN);
    time_t            now = time(NULL);
    struct tm         parts;
    char              when[32] = "", hash[17] = "", no_energy[200] = "";
    cull_records_info info = {.status = run_status,
                              .why = why ? why : "",
                              .written = when,
                              .version = cull_version(),
                              .seed = (double)t->setup->seed,
                              .init = {"", hash},
                              .machine = {.system = system.sysname,
                                          .release = system.release,
                                          .processor = system.machine,
                                          .backend = cull_backend_describe(t->backend),
                                          .cores = cores > 0 ? (double)cores : 1},
                              .model = t->learner.model->name,
                              .parameters = (double)t->learner.params->count,
                              .watched = cull_trainer_watched(t),
                              .metric = cull_train_yardstick(t->setup->loss.kind)->key,
                              .no_energy = no_energy};

    (void)uname(&system);
    if (gmtime_r(&now, &parts)) (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (t->progress.init_hash) {
        info.init.file = t->setup->init;
        (void)snprintf(hash, sizeof hash, "%016" PRIx64, t->progress.init_hash);
    }
    if (!t->books.meter.energy)
        (void)snprintf(no_energy, sizeof no_energy, "not available here: %s", t->books.energy.why);
    fill_machine(t, &info);
    fill_data(&t->sets, &info);
    fill_selection(t->selector, &t->setup->score, &info);
    fill_outcome(&t->progress, &t->books, &info);
    fill_overlap(t->scorer.pipeline, &info);
    return cull_records_info_write(t->run.folder, &info);
}

/* then: as run.json has it; "": nobody wrote it down. */
static cull_status check_print(const char *folder, const char *key, const char *name,
                               const char *then, const char *now)
{
    const char *differs = then[0] ? cull_data_print_difference(then, now) : NULL;

    if (!differs) return CULL_OK;
    return cull_fail_about(CULL_DIFFERS, key,
                           "%s: the data has changed since the run was begun: %s has %s now",
                           folder, name, differs);
}

cull_status cull_train_check_data(const cull_trainer *t)
{
    cull_status            status = CULL_OK;
    const char            *folder = t->run.folder;
    const cull_train_sets *sets = &t->sets;
    cull_records_run       run = {0};

    TRY(cull_records_run_read(folder, &run));
    TRY(check_print(folder, "data.name", sets->train->name, run.info.data.fingerprint,
                    sets->print[CULL_DATA_TRAIN]));
    TRY(check_print(folder, "data.test", sets->test->name, run.info.data.test_fingerprint,
                    sets->print[CULL_DATA_TEST]));
done:
    cull_records_run_clear(&run);
    return status;
}

cull_status cull_train_selection(const cull_trainer *t, bool missing)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];

    TRY(cull_base_join(t->run.folder, "selection.npz", path));
    if (!missing || access(path, F_OK) != 0)
        TRY(cull_tally_write(&t->books.tally, t->sets.train, path));
    if (t->pool.count == 0) goto done;
    TRY(cull_base_join(t->run.folder, "subset.npz", path));
    if (!missing || access(path, F_OK) != 0)
        TRY(cull_tally_write_subset(&t->pool, t->pool_epoch, path));
done:
    return status;
}

cull_status cull_train_harm(const char *folder, const cull_data_record *harm)
{
    cull_status status = CULL_OK;
    int64_t    *dropped = NULL, *relabelled = NULL;
    char        path[CULL_DATA_PATH];

    if (harm->drops == 0 && harm->relabels == 0) goto done;
    TRY(cull_base_alloc(harm->drops, sizeof *dropped, "a record", &dropped));
    TRY(cull_base_alloc(harm->relabels, 3 * sizeof *relabelled, "a record", &relabelled));
    for (size_t i = 0; i < harm->drops; i++) dropped[i] = harm->dropped[i];
    for (size_t i = 0; i < harm->relabels; i++) {
        relabelled[3 * i] = harm->relabelled[i].origin;
        relabelled[3 * i + 1] = harm->relabelled[i].before;
        relabelled[3 * i + 2] = harm->relabelled[i].after;
    }
    TRY(cull_base_join(folder, "corruption.npz", path));
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
