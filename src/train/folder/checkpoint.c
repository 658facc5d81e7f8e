/*
 * train/folder/checkpoint.c - checkpoints that are whole or not there, whenever the machine stops.
 *
 *     1. the logs are synced
 *     2. weights-STEP-HASH.safetensors appears (temporary name, sync, rename)
 *     3. state, which names it, takes the place of the old one: the commit
 *     4. weights that the new state does not name go, and what killed writers left
 *
 * A run that keeps no weights has one at its end alone: what became of it, and nothing to go on
 * with.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/path.h"
#include "train/folder/weights.h"
#include "train/train.h"

#define STATE_FILE "state"
#define PREFIX     "weights-"

static bool are_finite(const float *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(numbers[i])) return false;
    return true;
}

/* Weights that cannot be gone on from must not take the place of those that can. */
static cull_status check_finite(const cull_params *params, uint64_t step)
{
    cull_status status = CULL_OK;
    cull_params p = {0};

    TRY(cull_nn_params_borrow(params, &p));
    if (!are_finite(p.value, p.count) || !are_finite(p.running, p.running_count))
        FAIL(CULL_NOT_FINITE, "the weights are no longer finite after step %" PRIu64, step);
done:
    cull_nn_params_drop(params, &p);
    return status;
}

cull_status cull_checkpoint_weights(const char *folder, const cull_learner *learner, uint64_t step,
                                    char name[CULL_STATE_NAME], uint64_t *hash)
{
    cull_status status = CULL_OK;
    cull_writer bytes = {0};
    char        path[CULL_DATA_PATH];

    TRY(check_finite(learner->params, step));
    TRY(cull_weights_encode(learner->model, learner->params, &learner->card, &bytes));
    *hash = cull_base_hash(bytes.data, bytes.size);
    (void)snprintf(name, CULL_STATE_NAME, PREFIX "%" PRIu64 "-%016" PRIx64 ".safetensors", step,
                   *hash);
    TRY(cull_base_join(folder, name, path));
    /* A file of this name was renamed into place whole, with these very bytes. */
    if (access(path, F_OK) != 0) TRY(cull_file_write(path, bytes.data, bytes.size));
done:
    cull_writer_clear(&bytes);
    return status;
}

/* Files that a writer of this run was killed over: ".NAME.PID-N". */
static bool is_remnant(const char *name)
{
    static const char *const files[] = {"." PREFIX,        "." STATE_FILE ".", ".run.json.",
                                        ".recipe.yaml.",   ".model.txt.",      ".corruption.npz.",
                                        ".selection.npz.", ".subset.npz."};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strncmp(name, files[i], strlen(files[i])) == 0) return true;
    return false;
}

/* A file that cannot be removed costs space and nothing else: not a failure. */
static void prune(const char *path, const cull_progress *progress)
{
    DIR                 *folder = opendir(path);
    const struct dirent *entry = NULL;
    char                 file[CULL_DATA_PATH];

    while (folder && (entry = readdir(folder))) {
        bool weights = strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 &&
                       strcmp(entry->d_name, progress->weights) != 0 &&
                       strcmp(entry->d_name, progress->best_weights) != 0;

        if (!weights && !is_remnant(entry->d_name)) continue;
        if (cull_base_join(path, entry->d_name, file) == CULL_OK) (void)unlink(file);
    }
    if (folder) (void)closedir(folder);
}

/* What each part of the trainer saves of itself. */
struct parts {
    cull_writer optim, tally, subset, scorer;
    void       *selector;
    size_t      selector_size;
};

static void clear_parts(struct parts *p)
{
    cull_writer_clear(&p->optim);
    cull_writer_clear(&p->tally);
    cull_writer_clear(&p->subset);
    cull_writer_clear(&p->scorer);
    cull_bytes_release(p->selector);
}

static cull_reader reader_of(const cull_writer *writer)
{
    return (cull_reader){writer->data, writer->size, 0};
}

static cull_status save_parts(const cull_trainer *t, struct parts *p, cull_run_state *state)
{
    cull_status status = CULL_OK;
    const char *ways = "";
    size_t      ways_size = 0;

    TRY(cull_tally_save(&t->books.tally, &p->tally));
    if (t->pool.count) TRY(cull_tally_save_subset(&t->pool, t->pool_epoch, &p->subset));
    if (t->setup->keeps) {
        TRY(cull_optim_save(t->learner.optim, &p->optim));
        TRY(cull_scorer_save(&t->scorer, &p->scorer));
        TRY(cull_selector_save(t->selector, &p->selector, &p->selector_size));
        TRY(cull_layer_ways(t->backend, &ways, &ways_size));
    }
    state->optim = reader_of(&p->optim);
    state->tally = reader_of(&p->tally);
    state->subset = reader_of(&p->subset);
    state->scorer = reader_of(&p->scorer);
    state->selector = (cull_reader){p->selector, p->selector_size, 0};
    state->ways = (cull_reader){(const unsigned char *)ways, ways_size, 0};
done:
    return status;
}

cull_status cull_checkpoint_save(cull_trainer *t)
{
    cull_status    status = CULL_OK;
    cull_run_state state = {0};
    struct parts   parts = {0};
    cull_writer    bytes = {0};
    char           path[CULL_DATA_PATH];

    if (!t->setup->keeps && !t->progress.end) return CULL_OK;
    TRY(cull_books_sync_logs(&t->books, &t->progress));
    if (t->setup->keeps)
        TRY(cull_checkpoint_weights(t->run.folder, &t->learner, t->progress.step,
                                    t->progress.weights, &t->progress.weights_hash));
    TRY(save_parts(t, &parts, &state));
    cull_meter_settle(&t->books.meter);
    state.progress = t->progress;
    state.meter = t->books.meter;
    TRY(cull_run_state_encode(&state, &bytes));
    TRY(cull_base_join(t->run.folder, STATE_FILE, path));
    TRY(cull_file_write(path, bytes.data, bytes.size));
    prune(t->run.folder, &t->progress);
    cull_meter_lap(&t->books.meter, CULL_PHASE_CHECKPOINT);
done:
    clear_parts(&parts);
    cull_writer_clear(&bytes);
    return status;
}

static cull_status load_weights(const char *folder, const cull_progress *progress,
                                cull_learner *learner)
{
    cull_status status = CULL_OK;
    void       *data = NULL;
    size_t      bytes = 0;
    char        path[CULL_DATA_PATH];

    TRY(cull_base_join(folder, progress->weights, path));
    TRY(cull_file_read(path, &data, &bytes));
    if (cull_base_hash(data, bytes) != progress->weights_hash)
        FAIL(CULL_BAD_FILE, "%s: not the weights that were saved", path);
    TRY(cull_weights_decode(path, data, bytes, learner->model, learner->params));
done:
    cull_bytes_release(data);
    return status;
}

/* A run goes on by the ways that it began with. Plans were made before it was known where it is. */
static cull_status recall_ways(cull_trainer *t, const cull_reader *kept)
{
    cull_status status = CULL_OK;
    const char *now = "";
    size_t      size = 0;

    TRY(cull_layer_ways(t->backend, &now, &size));
    if (size == kept->size && memcmp(now, kept->data, size) == 0) return CULL_OK;
    TRY(cull_layer_recall(t->backend, (const char *)kept->data, kept->size));
    cull_plans_drop(&t->learner.plans);
    if (t->scorer.plans) cull_plans_drop(t->scorer.plans);
done:
    return status;
}

static cull_status load_parts(cull_trainer *t, cull_run_state *state)
{
    cull_status status = CULL_OK;

    TRY(cull_tally_restore(&t->books.tally, &state->tally));
    if (state->subset.size)
        TRY(cull_tally_restore_subset(&state->subset, t->sets.train->count, &t->pool,
                                      &t->pool_epoch));
    if (!state->progress.weights[0]) goto done; /* it has ended, and kept nothing to go on with */
    TRY(cull_optim_restore(t->learner.optim, &state->optim));
    TRY(cull_scorer_restore(&t->scorer, &state->scorer));
    TRY(cull_selector_restore(t->selector, state->selector.data, state->selector.size));
    TRY(recall_ways(t, &state->ways));
done:
    return status;
}

cull_status cull_checkpoint_load(cull_trainer *t, bool *found)
{
    cull_status    status = CULL_OK;
    cull_run_state state = {0};
    void          *data = NULL;
    size_t         bytes = 0;
    char           path[CULL_DATA_PATH];

    *found = false;
    TRY(cull_base_join(t->run.folder, STATE_FILE, path));
    if (access(path, F_OK) != 0 && errno == ENOENT) goto done;
    TRY(cull_train_check_data(t));
    TRY(cull_file_read(path, &data, &bytes));
    TRY(cull_run_state_decode(path, data, bytes, &state));
    if (state.progress.epoch > t->expected.epochs || state.progress.at > t->sets.train->count)
        FAIL(CULL_BAD_STATE, "%s: of a longer run", path);
    if (!state.progress.weights[0] && !state.progress.end)
        FAIL(CULL_BAD_STATE, "%s: it names no weights", path);
    if (state.progress.weights[0]) TRY(load_weights(t->run.folder, &state.progress, &t->learner));
    TRY(load_parts(t, &state));
    t->progress = state.progress;
    state.meter.energy = t->books.meter.energy;
    state.meter.backend = t->books.meter.backend;
    t->books.meter = state.meter;
    prune(t->run.folder, &t->progress); /* the run may have been killed between commit and this */
    *found = true;
done:
    cull_bytes_release(data);
    return status;
}
