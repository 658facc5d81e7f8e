/* train/pipeline.c - the thread that scores ahead, and what it is handed and hands back. */
#include "train/pipeline.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "train/learner.h"

static void *work(void *context)
{
    cull_pipeline *p = context;

    pthread_mutex_lock(&p->lock);
    while (!p->closing) {
        double start = 0;

        if (!p->busy) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        pthread_mutex_unlock(&p->lock);
        start = cull_base_seconds();
        p->status = cull_nn_score(p->plan, &p->batch, p->statistics,
                                  CULL_SIGNAL_LOSS | CULL_SIGNAL_H | CULL_SIGNAL_P, &p->seen);
        if (p->status) (void)snprintf(p->sentence, sizeof p->sentence, "%s", cull_last_error());
        pthread_mutex_lock(&p->lock);
        p->seconds_busy += cull_base_seconds() - start;
        p->busy = false;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void wait_idle(cull_pipeline *p)
{
    double start = cull_base_seconds();

    pthread_mutex_lock(&p->lock);
    while (p->busy) pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
    p->seconds_waited += cull_base_seconds() - start;
}

cull_status cull_pipeline_open(const cull_train_setup *setup, const cull_learner *learner,
                               size_t width, cull_pipeline **out)
{
    cull_status    status = CULL_OK;
    cull_pipeline *p = NULL;

    TRY(cull_base_alloc(1, sizeof *p, "scoring ahead", &p));
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    p->setup = setup;
    p->width = width;
    p->target_bytes =
        cull_loss_target(setup->loss.kind, learner->model->classes, learner->params->dtype);
    TRY(cull_backend_open(learner->backend->class->name, setup->threads, &p->backend));
    TRY(cull_nn_params_create(p->backend, learner->model, learner->params->dtype, &p->params));
    p->plans = (cull_plans){.model = learner->model, .params = p->params, .backend = p->backend};
    if (pthread_create(&p->thread, NULL, work, p) != 0)
        FAIL(CULL_NO_MEMORY, "the system gives no thread to score ahead");
    p->started = true;
    *out = p;
    p = NULL;
done:
    cull_pipeline_close(p);
    return status;
}

void cull_pipeline_close(cull_pipeline *p)
{
    if (!p) return;
    if (p->started) {
        pthread_mutex_lock(&p->lock);
        p->closing = true;
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
        pthread_join(p->thread, NULL);
    }
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    for (int i = 0; i < 2; i++) {
        cull_base_free_aligned(p->inputs[i]);
        cull_base_free(p->target[i]);
        cull_base_free(p->place[i]);
    }
    cull_signal_room_clear(&p->signals);
    cull_plans_clear(&p->plans);
    cull_nn_params_destroy(p->params);
    cull_backend_close(p->backend);
    cull_base_free(p);
}

/* Room for so many candidates, twice; those held are lost when it grows. */
static cull_status make_room(cull_pipeline *p, size_t count)
{
    cull_status status = CULL_OK;

    if (count <= p->room) return CULL_OK;
    p->room = 0;
    for (int i = 0; i < 2; i++) {
        cull_base_free_aligned(p->inputs[i]);
        p->inputs[i] = NULL;
        TRY(cull_base_alloc_aligned(count, p->width * sizeof *p->inputs[i], "candidates",
                                    &p->inputs[i]));
        TRY(cull_base_grow(count, p->target_bytes, "candidates", &p->target[i]));
        TRY(cull_base_grow(count, sizeof *p->place[i], "candidates", &p->place[i]));
    }
    p->room = count;
done:
    return status;
}

static void copy_batch(cull_pipeline *p, int to, const cull_batch *batch)
{
    memcpy(p->inputs[to], batch->inputs, batch->count * p->width * sizeof *p->inputs[to]);
    memcpy(p->target[to], batch->target, batch->count * p->target_bytes);
    memcpy(p->place[to], batch->place, batch->count * sizeof *p->place[to]);
}

static void view(const cull_pipeline *p, int which, cull_batch *out)
{
    out->inputs = p->inputs[which];
    out->target = p->target[which];
    out->place = p->place[which];
}

bool cull_pipeline_turn(cull_pipeline *p, const cull_pending *wanted)
{
    p->due = p->pending.there && memcmp(&p->pending, wanted, sizeof *wanted) == 0;
    if (p->pending.there && !p->due) {
        p->wasted += (size_t)p->pending.count;
        p->pending.there = p->fetched = false;
    }
    return p->due && p->loaded;
}

size_t cull_pipeline_wasted(cull_pipeline *p)
{
    size_t wasted = p->wasted;

    p->wasted = 0;
    return wasted;
}

cull_status cull_pipeline_hold(cull_pipeline *p, cull_batch *batch)
{
    cull_status status = CULL_OK;

    if (p->due && p->loaded) {
        p->current = !p->current;
    } else {
        wait_idle(p); /* it may be reading candidates that turned out to be others */
        TRY(make_room(p, batch->count));
        copy_batch(p, p->current, batch);
    }
    p->loaded = false;
    view(p, p->current, batch);
done:
    return status;
}

static cull_status make_signals(cull_pipeline *p)
{
    return cull_signal_room_make(
        p->backend, p->plans.model, p->setup->loss.kind == CULL_LOSS_CROSS_ENTROPY, CULL_F32,
        (unsigned)p->pending.signals, (size_t)p->pending.count, &p->signals);
}

/* What the thread found, copied, so that it can go on. */
static cull_status fetch(cull_pipeline *p)
{
    cull_status status = CULL_OK;

    wait_idle(p);
    if (p->status) FAIL(p->status, "%s", p->sentence);
    TRY(make_signals(p));
    TRY(cull_signal_room_put(&p->signals, p->plan, &p->seen));
    p->fetched = true;
done:
    return status;
}

cull_status cull_pipeline_take(cull_pipeline *p, bool *found, cull_signals *out)
{
    cull_status status = CULL_OK;

    *found = p->due && p->pending.there;
    if (!*found) goto done;
    if (!p->fetched) TRY(fetch(p));
    cull_signal_room_view(&p->signals, out);
    p->pending.there = p->fetched = false;
done:
    return status;
}

bool cull_pipeline_fits(const cull_pipeline *p, size_t count)
{
    return count <= p->room;
}

cull_status cull_pipeline_ahead(cull_pipeline *p, const cull_pending *next, bool running,
                                cull_batch batch, const cull_params *params)
{
    cull_status status = CULL_OK;

    wait_idle(p);
    copy_batch(p, !p->current, &batch);
    view(p, !p->current, &batch);
    TRY(cull_plans_get(&p->plans, cull_score_mode(&p->setup->score), batch.count, 0, p->setup->loss,
                       &p->plan));
    TRY(cull_nn_params_copy(p->params, params));
    p->batch = batch;
    p->statistics = p->setup->score.running || running ? CULL_STATS_RUNNING : CULL_STATS_BATCH;
    p->pending = *next;
    p->fetched = false;
    p->loaded = true;
    pthread_mutex_lock(&p->lock);
    p->busy = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
done:
    return status;
}

cull_status cull_pipeline_save(cull_pipeline *p, cull_writer *out)
{
    cull_status status = CULL_OK;

    TRY(cull_write(out, &p->pending, sizeof p->pending));
    if (!p->pending.there) goto done;
    if (!p->fetched) TRY(fetch(p));
    TRY(cull_signal_room_save(&p->signals, out));
done:
    return status;
}

cull_status cull_pipeline_restore(cull_pipeline *p, size_t pool, cull_reader *in)
{
    cull_status status = CULL_OK;

    TRY(cull_read(in, &p->pending, sizeof p->pending));
    if (!p->pending.there) goto done;
    if (p->pending.count < 1 || p->pending.count > pool || p->pending.signals > 63)
        FAIL(CULL_BAD_STATE, "saved signals of %llu candidates, the pool has %zu",
             (unsigned long long)p->pending.count, pool);
    TRY(make_signals(p));
    TRY(cull_signal_room_restore(&p->signals, in));
    p->fetched = true;
    p->loaded = false;
done:
    return status;
}
