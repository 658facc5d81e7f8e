/*
 * train/bring.c - examples for a step: candidates from the loader, and the rows of a training
 * batch.
 *
 * Candidates that are scored, or all trained, are asked of the loader ahead, on the guess that the
 * next steps take as many; when the guess is wrong, they are asked for again. What is chosen by
 * places alone is made when it is known, and nothing else is.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "train/train.h"

/* Is the forward pass of all candidates asked for? */
static bool loads(const cull_needs *needs)
{
    return needs->action != CULL_SELECT_BATCH || needs->signals & CULL_SIGNAL_FORWARD;
}

/* Candidates that are only scored may be scored without augmentation. */
static bool augments(const cull_train_setup *setup, const cull_needs *needs)
{
    return setup->augments && !(needs->action == CULL_SELECT_BATCH && setup->score.clean);
}

/* A loader for requests of so many. */
static cull_status widen(cull_trainer *t, size_t size)
{
    const cull_train_setup *s = t->setup;
    cull_status             status = CULL_OK;
    cull_loader_options     options = {.set = t->train,
                                       .augment = s->augments ? &s->augment : NULL,
                                       .form = t->form,
                                       .batch = size,
                                       .depth = CULL_TRAIN_DEPTH,
                                       .threads = s->workers};

    if (size <= t->loader_room) return CULL_OK;
    cull_data_loader_destroy(t->loader);
    t->loader = NULL;
    t->loader_room = 0;
    TRY(cull_data_loader_create(&options, &t->loader));
    t->loader_room = size;
    t->ahead = (cull_ahead){0};
done:
    return status;
}

/* Steps from a->to on, as if all had these needs. */
static cull_status fill_loader(cull_trainer *t, const cull_needs *needs)
{
    cull_status     status = CULL_OK;
    cull_ahead     *a = &t->ahead;
    cull_sel_course course = cull_train_course(t);
    size_t          count = 0;

    while (cull_data_loader_room(t->loader) > 0) {
        course.at = a->to;
        if (!cull_sel_course_takes(&course, needs, &count)) break;
        if (count > t->loader_room) break; /* a short batch came first: widened when it is due */
        TRY(cull_data_loader_submit(t->loader, t->walk.place + a->to, count, t->progress.epoch,
                                    a->augment));
        a->to += count;
    }
done:
    return status;
}

cull_status cull_train_take(cull_trainer *t, const cull_sel_step *step, size_t at, cull_batch *out)
{
    cull_status     status = CULL_OK;
    cull_data_batch batch = {0};
    bool            augment = augments(t->setup, &step->needs);
    size_t          size = step->needs.candidates;
    /* Short only at the end of the walk, so there the size asked for tells nothing. */
    bool guessed = t->ahead.from == at && t->ahead.to > at && t->ahead.augment == augment &&
                   (t->ahead.size == size || t->walk.groups);

    TRY(widen(t, step->count));
    if (!guessed) {
        cull_data_loader_drop(t->loader);
        t->ahead = (cull_ahead){at, at, size, augment};
    }
    TRY(fill_loader(t, &step->needs));
    TRY(cull_data_loader_take(t->loader, &batch));
    t->ahead.from += batch.count;
    TRY(fill_loader(t, &step->needs));
    out->inputs = batch.inputs.data;
    out->label = batch.labels;
    out->place = batch.places;
done:
    return status;
}

cull_status cull_train_bring(cull_trainer *t, const cull_sel_step *step)
{
    cull_status status = CULL_OK;
    size_t      at = (size_t)t->progress.at;
    bool        ahead = false, load = loads(&step->needs);

    t->needs = step->needs;
    t->seen = (cull_batch){.count = step->count,
                           .place = t->walk.place + at,
                           .weight = t->walk.weighs ? t->walk.weight + at : NULL,
                           .step = t->progress.step,
                           .epoch = t->progress.epoch,
                           .key = cull_key_make(t->setup->seed, "dropout")};
    t->augmented = augments(t->setup, &step->needs);
    if (t->pipeline) cull_pipeline_turn(t, step->count);
    ahead = t->pipeline && step->needs.action == CULL_SELECT_BATCH && load;
    if (load && !(ahead && cull_pipeline_has(t, step->count)))
        TRY(cull_train_take(t, step, at, &t->seen));
    if (ahead) TRY(cull_pipeline_hold(t, &t->seen));
    cull_meter_lap(&t->meter, CULL_PHASE_LOAD);
done:
    return status;
}

void cull_rows_clear(cull_rows *rows)
{
    cull_base_free_aligned(rows->inputs);
    cull_base_free(rows->label);
    cull_base_free(rows->place);
    *rows = (cull_rows){0};
}

cull_status cull_train_reserve(cull_trainer *t, size_t count)
{
    cull_status status = CULL_OK;
    cull_rows   rows = {.room = count};

    if (count <= t->rows.room) return CULL_OK;
    TRY(cull_base_alloc_aligned(count, cull_data_row(t->train) * sizeof *rows.inputs, "a batch",
                                &rows.inputs));
    TRY(cull_base_alloc(count, sizeof *rows.label, "a batch", &rows.label));
    TRY(cull_base_alloc(count, sizeof *rows.place, "a batch", &rows.place));
    cull_rows_clear(&t->rows);
    t->rows = rows;
    rows = (cull_rows){0};
done:
    cull_rows_clear(&rows);
    return status;
}

struct work {
    cull_trainer *t;
    size_t        from;
    atomic_bool   failed;
};

static cull_status write_row(const struct work *work, size_t i)
{
    cull_trainer           *t = work->t;
    const cull_train_setup *s = t->setup;
    size_t                  width = cull_data_row(t->train);
    float                  *to = t->rows.inputs + i * width;
    uint32_t                row = t->chosen.index[work->from + i];

    if (row == CULL_NO_ROW || !t->seen.inputs || t->augmented != s->augments)
        return cull_data_transform(t->train, s->augments ? &s->augment : NULL, t->form,
                                   t->progress.epoch, &t->rows.place[i], 1, to);
    memcpy(to, (const float *)t->seen.inputs + row * width, width * sizeof *to);
    return CULL_OK;
}

/* Row i of the training batch; which thread makes it does not matter. */
static void make_row(void *context, size_t i, unsigned worker)
{
    struct work *work = context;

    (void)worker;
    if (write_row(work, i)) atomic_store(&work->failed, true);
}

cull_status cull_train_gather(cull_trainer *t, size_t from, size_t to, cull_batch *out)
{
    cull_status status = CULL_OK;
    struct work work = {.t = t, .from = from};

    TRY(cull_train_reserve(t, to - from));
    for (size_t i = 0; i < to - from; i++) {
        t->rows.place[i] = t->chosen.place[from + i];
        t->rows.label[i] = t->train->labels[t->rows.place[i]];
    }
    cull_team_run(t->backend->team, to - from, make_row, &work);
    /* A sentence stays with its thread: what failed there is tried again here. */
    for (size_t i = 0; work.failed && i < to - from; i++) TRY(write_row(&work, i));
    *out = (cull_batch){.count = to - from,
                        .inputs = t->rows.inputs,
                        .label = t->rows.label,
                        .weight = t->chosen.weight + from,
                        .place = t->rows.place,
                        .step = t->progress.step,
                        .epoch = t->progress.epoch,
                        .key = cull_key_make(t->setup->seed, "dropout")};
    cull_meter_lap(&t->meter, CULL_PHASE_LOAD);
done:
    return status;
}
