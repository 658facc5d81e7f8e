/* lab/run/chosen.c - which examples a run chose, from what its folder holds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/sized.h"
#include "data/inspect.h"
#include "lab/recipe/recipe.h"
#include "records/run.h"
#include "tensor/tensor.h"

/* An example of the training set, as selection.npz has it. */
struct trained {
    size_t place;
    double count, loss;
};

static int more_first(const void *a, const void *b)
{
    const struct trained *x = a, *y = b;

    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    if (x->loss != y->loss) return x->loss > y->loss ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static int by_place(const void *a, const void *b)
{
    const struct trained *x = a, *y = b;

    return (x->place > y->place) - (x->place < y->place);
}

/* One array of a file, of as many numbers as the others. */
static cull_status get(cull_arrays *arrays, const char *path, const char *name, size_t count,
                       cull_tensor *out)
{
    cull_status status = CULL_OK;

    TRY(cull_arrays_get(arrays, name, out));
    if (out->dims != 1 || (count != SIZE_MAX && (size_t)out->shape[0] != count))
        FAIL(CULL_BAD_FILE, "%s: '%s' is not as a run writes it", path, name);
done:
    return status;
}

static cull_status make(size_t count, cull_chosen *out)
{
    cull_status status = CULL_OK;

    out->count = count;
    TRY(cull_base_alloc(count, sizeof *out->place, "a subset", &out->place));
    TRY(cull_base_alloc(count, sizeof *out->origin, "a subset", &out->origin));
    TRY(cull_base_alloc(count, sizeof *out->weight, "a subset", &out->weight));
done:
    return status;
}

/* A subset of the pool, as it was chosen. */
static cull_status take_subset(const char *path, const cull_tensor *origin, cull_chosen *out)
{
    cull_status  status = CULL_OK;
    cull_arrays *arrays = NULL;
    cull_tensor  place = {0}, weight = {0};

    TRY(cull_arrays_open(path, &arrays));
    TRY(get(arrays, path, "place", SIZE_MAX, &place));
    TRY(get(arrays, path, "weight", (size_t)place.shape[0], &weight));
    TRY(make((size_t)place.shape[0], out));
    for (size_t i = 0; i < out->count; i++) {
        double at = cull_tensor_get(&place, i);
        if (!(at >= 0 && at < (double)origin->shape[0]))
            FAIL(CULL_BAD_FILE, "%s: place %.0f of a training set of %lld", path, at,
                 (long long)origin->shape[0]);
        out->place[i] = (int64_t)at;
        out->origin[i] = (int64_t)cull_tensor_get(origin, (size_t)at);
        out->weight[i] = cull_tensor_get(&weight, i);
    }
done:
    cull_arrays_close(arrays);
    return status;
}

/* What was trained, the most often trained first where only a share is wanted. */
static cull_status take_trained(cull_arrays *arrays, const char *path, double share,
                                const cull_tensor *origin, cull_chosen *out)
{
    cull_status     status = CULL_OK;
    size_t          all = (size_t)origin->shape[0], kept = 0;
    struct trained *list = NULL;
    cull_tensor     count = {0}, weight = {0}, loss = {0};
    double          sum = 0;

    TRY(get(arrays, path, "count", all, &count));
    TRY(get(arrays, path, "weight", all, &weight));
    TRY(get(arrays, path, "loss", all, &loss));
    TRY(cull_base_alloc(all, sizeof *list, "a subset", &list));
    for (size_t i = 0; i < all; i++) {
        double last = cull_tensor_get(&loss, i), times = cull_tensor_get(&count, i);
        if (times > 0) list[kept++] = (struct trained){i, times, isnan(last) ? -INFINITY : last};
    }
    if (share > 0) {
        size_t most = (size_t)fmax(1, floor(share * (double)all + 1e-9 * (double)all));
        qsort(list, kept, sizeof *list, more_first);
        if (kept > most) kept = most;
        qsort(list, kept, sizeof *list, by_place);
    }
    TRY(make(kept, out));
    for (size_t i = 0; i < kept; i++) {
        out->place[i] = (int64_t)list[i].place;
        out->origin[i] = (int64_t)cull_tensor_get(origin, list[i].place);
        out->weight[i] = cull_tensor_get(&weight, list[i].place);
        sum += out->weight[i];
    }
    for (size_t i = 0; i < kept; i++) out->weight[i] *= (double)kept / sum;
done:
    cull_base_free(list);
    return status;
}

static cull_status choose(const char *folder, double share, cull_chosen *out)
{
    cull_status  status = CULL_OK;
    cull_arrays *arrays = NULL;
    cull_tensor  origin = {0};
    char         path[CULL_DATA_PATH], subset[CULL_DATA_PATH];

    TRY(cull_base_join(folder, "selection.npz", path));
    TRY(cull_base_join(folder, "subset.npz", subset));
    if (access(path, F_OK) != 0)
        FAIL_ABOUT(CULL_NOT_FOUND, folder,
                   "%s: no selection.npz: there is no run, or it has not ended", folder);
    TRY(cull_arrays_open(path, &arrays));
    TRY(get(arrays, path, "origin", SIZE_MAX, &origin));
    if (access(subset, F_OK) != 0) {
        TRY(take_trained(arrays, path, share, &origin, out));
        goto done;
    }
    if (share > 0)
        FAIL(CULL_BAD_ARGUMENT, "%s: its subset was chosen as a whole; no share of it is one",
             folder);
    TRY(take_subset(subset, &origin, out));
done:
    cull_arrays_close(arrays);
    return status;
}

/* Names of other examples than those that were trained would look as good. */
static cull_status check_data(const char *folder, const char *print)
{
    cull_status      status = CULL_OK;
    cull_records_run run = {0};
    const char      *differs = NULL;

    TRY(cull_records_run_read(folder, &run));
    if (run.info.data.fingerprint[0])
        differs = cull_data_print_difference(run.info.data.fingerprint, print);
    if (differs)
        FAIL(CULL_DIFFERS, "%s: its training set is no longer what it was: it has %s now", folder,
             differs);
done:
    cull_records_run_clear(&run);
    return status;
}

/* As the source calls them; a source that has only numbers leaves no list. */
static cull_status name_all(const char *folder, cull_chosen *out)
{
    cull_status   status = CULL_OK;
    cull_recipe  *recipe = NULL;
    cull_trainer *t = NULL;
    char          path[CULL_DATA_PATH];

    TRY(cull_base_join(folder, "recipe.yaml", path));
    TRY(cull_recipe_open(path, NULL, 0, &recipe));
    TRY(cull_trainer_create(&recipe->setup, false, &t));
    if (!cull_data_name_at(t->sets.train, 0)) goto done;
    TRY(check_data(folder, t->sets.print[CULL_DATA_TRAIN]));
    TRY(cull_base_alloc(out->count, sizeof *out->name, "names of examples", &out->name));
    for (size_t i = 0; i < out->count; i++) {
        const char *name = NULL;
        if ((size_t)out->place[i] < t->sets.train->count)
            name = cull_data_name_at(t->sets.train, (size_t)out->place[i]);
        if (!name) FAIL(CULL_DIFFERS, "%s: its training set is no longer what it was", folder);
        TRY(cull_base_alloc(strlen(name) + 1, 1, "names of examples", &out->name[i]));
        memcpy(out->name[i], name, strlen(name));
    }
done:
    cull_trainer_destroy(t);
    cull_recipe_close(recipe);
    return status;
}

cull_status cull_run_chosen(const char *folder, double share, bool names, cull_chosen *out)
{
    cull_status status = CULL_OK;
    cull_chosen chosen = {0}, room, *given = out;

    SIZED_RESULT(cull_chosen, out, room);
    if (!(share >= 0 && share <= 1))
        FAIL(CULL_BAD_ARGUMENT, "a share of %g; it lies between 0 and 1", share);
    TRY(choose(folder, share, &chosen));
    if (names) TRY(name_all(folder, &chosen));
    *out = chosen;
    chosen = (cull_chosen){0};
    cull_sized_give(given, out, sizeof *out);
done:
    cull_chosen_clear(&chosen);
    return status;
}

void cull_chosen_clear(cull_chosen *chosen)
{
    cull_chosen c;

    if (cull_sized_read("cull_chosen", chosen, sizeof c, &c) != CULL_OK) return;
    for (size_t i = 0; c.name && i < c.count; i++) cull_base_free(c.name[i]);
    cull_base_free(c.name);
    cull_base_free(c.place);
    cull_base_free(c.origin);
    cull_base_free(c.weight);
    cull_sized_clear(chosen, sizeof c);
}
