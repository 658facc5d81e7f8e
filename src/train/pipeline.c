/* train/pipeline.c - the thread that scores ahead, and what it is handed and hands back. */
#include "train/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "train/train.h"

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

cull_status cull_pipeline_open(cull_trainer *t, cull_pipeline **out)
{
    cull_status    status = CULL_OK;
    cull_pipeline *p = NULL;

    TRY(cull_base_alloc(1, sizeof *p, "scoring ahead", &p));
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    TRY(cull_backend_open(t->setup->backend, t->setup->threads, &p->backend));
    TRY(cull_nn_params_create(p->backend, t->model, t->params->dtype, &p->params));
    p->plans = (cull_plans){.model = t->model, .params = p->params, .backend = p->backend};
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
        cull_base_free(p->label[i]);
        cull_base_free(p->place[i]);
    }
    cull_signal_room_clear(&p->signals);
    cull_plans_clear(&p->plans);
    cull_nn_params_destroy(p->params);
    cull_backend_close(p->backend);
    cull_base_free(p);
}

/* Room for so many candidates, twice; those held are lost when it grows. */
static cull_status make_room(cull_trainer *t, size_t count)
{
    cull_pipeline *p = t->pipeline;
    cull_status    status = CULL_OK;
    size_t         row = cull_data_row(t->train) * sizeof *p->inputs[0];

    if (count <= p->room) return CULL_OK;
    p->room = 0;
    for (int i = 0; i < 2; i++) {
        cull_base_free_aligned(p->inputs[i]);
        p->inputs[i] = NULL;
        TRY(cull_base_alloc_aligned(count, row, "candidates", &p->inputs[i]));
        TRY(cull_base_grow(count, sizeof *p->label[i], "candidates", &p->label[i]));
        TRY(cull_base_grow(count, sizeof *p->place[i], "candidates", &p->place[i]));
    }
    p->room = count;
done:
    return status;
}

static void copy_batch(const cull_trainer *t, int to, const cull_batch *batch)
{
    cull_pipeline *p = t->pipeline;

    memcpy(p->inputs[to], batch->inputs,
           batch->count * cull_data_row(t->train) * sizeof *p->inputs[to]);
    memcpy(p->label[to], batch->label, batch->count * sizeof *p->label[to]);
    memcpy(p->place[to], batch->place, batch->count * sizeof *p->place[to]);
}

static void view(const cull_pipeline *p, int which, cull_batch *out)
{
    out->inputs = p->inputs[which];
    out->label = p->label[which];
    out->place = p->place[which];
}

/* Were exactly these candidates scored ahead, for this very step? */
static bool is_pending(const cull_trainer *t, size_t count)
{
    const cull_pending *n = &t->pipeline->pending;

    return n->there && n->step == t->progress.step && n->epoch == t->progress.epoch &&
           n->at == t->progress.at && n->count == count && n->signals == t->needs.signals;
}

void cull_pipeline_turn(cull_trainer *t, size_t count)
{
    cull_pending *n = &t->pipeline->pending;

    if (!n->there || is_pending(t, count)) return;
    n->there = t->pipeline->fetched = false;
    cull_scorer_count(t, (size_t)n->count);
}

bool cull_pipeline_has(const cull_trainer *t, size_t count)
{
    return is_pending(t, count) && t->pipeline->loaded;
}

cull_status cull_pipeline_hold(cull_trainer *t, cull_batch *batch)
{
    cull_pipeline *p = t->pipeline;
    cull_status    status = CULL_OK;

    if (cull_pipeline_has(t, batch->count)) {
        p->current = !p->current;
    } else {
        wait_idle(p); /* it may be reading candidates that turned out to be others */
        TRY(make_room(t, batch->count));
        copy_batch(t, p->current, batch);
    }
    p->loaded = false;
    view(p, p->current, batch);
done:
    return status;
}

/* What the thread found, copied, so that it can go on. */
static cull_status fetch(cull_pipeline *p)
{
    cull_status status = CULL_OK;

    wait_idle(p);
    if (p->status) FAIL(p->status, "%s", p->sentence);
    TRY(cull_signal_room_make(p->plans.model, (unsigned)p->pending.signals,
                              (size_t)p->pending.count, &p->signals));
    cull_signal_room_put(&p->signals, p->plan, &p->seen, p->batch.label);
    p->fetched = true;
done:
    return status;
}

cull_status cull_pipeline_take(cull_trainer *t, bool *found)
{
    cull_pipeline *p = t->pipeline;
    cull_status    status = CULL_OK;

    *found = is_pending(t, t->seen.count);
    if (!*found) goto done;
    if (!p->fetched) TRY(fetch(p));
    cull_signal_room_view(&p->signals, &t->signals);
    p->pending.there = p->fetched = false;
    cull_scorer_count(t, t->seen.count);
done:
    return status;
}

/* The selector is asked ahead; where it changes its mind, what was scored is not used. */
cull_status cull_pipeline_ahead(cull_trainer *t)
{
    cull_pipeline  *p = t->pipeline;
    cull_status     status = CULL_OK;
    cull_sel_course course = cull_train_course(t);
    cull_sel_step   step = {0};
    cull_batch      next = {0};

    cull_sel_course_pass(&course, t->seen.count);
    if (!cull_sel_course_peek(&course, &step) || step.needs.action != CULL_SELECT_BATCH ||
        !(step.needs.signals & CULL_SIGNAL_FORWARD) || step.count > p->room)
        goto done;
    next = (cull_batch){.count = step.count, .step = course.step, .epoch = course.epoch};
    TRY(cull_train_take(t, &step, course.at, &next));
    wait_idle(p);
    copy_batch(t, !p->current, &next);
    view(p, !p->current, &next);
    TRY(cull_plans_get(&p->plans, cull_score_mode(&t->setup->score), next.count,
                       t->setup->smoothing, &p->plan));
    TRY(cull_nn_params_copy(p->params, t->params));
    p->batch = next;
    p->statistics =
        t->setup->score.running || step.needs.running ? CULL_STATS_RUNNING : CULL_STATS_BATCH;
    p->pending =
        (cull_pending){1, next.step, next.epoch, course.at, next.count, step.needs.signals};
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
    cull_status             status = CULL_OK;
    const cull_signal_room *s = &p->signals;

    TRY(cull_write(out, &p->pending, sizeof p->pending));
    if (!p->pending.there) goto done;
    if (!p->fetched) TRY(fetch(p));
    TRY(cull_write(out, s->loss, s->count * sizeof *s->loss));
    TRY(cull_write(out, s->label, s->count * sizeof *s->label));
    if (s->h) TRY(cull_write(out, s->h, s->count * s->width * sizeof *s->h));
    if (s->p) TRY(cull_write(out, s->p, s->count * s->classes * sizeof *s->p));
done:
    return status;
}

cull_status cull_pipeline_restore(cull_trainer *t, cull_reader *in)
{
    cull_pipeline    *p = t->pipeline;
    cull_status       status = CULL_OK;
    cull_signal_room *s = &p->signals;

    TRY(cull_read(in, &p->pending, sizeof p->pending));
    if (!p->pending.there) goto done;
    if (p->pending.count < 1 || p->pending.count > t->train->count || p->pending.signals > 63)
        FAIL(CULL_BAD_STATE, "saved signals of %llu candidates, the pool has %zu",
             (unsigned long long)p->pending.count, t->train->count);
    TRY(cull_signal_room_make(p->plans.model, (unsigned)p->pending.signals,
                              (size_t)p->pending.count, s));
    TRY(cull_read(in, s->loss, s->count * sizeof *s->loss));
    TRY(cull_read(in, s->label, s->count * sizeof *s->label));
    if (s->h) TRY(cull_read(in, s->h, s->count * s->width * sizeof *s->h));
    if (s->p) TRY(cull_read(in, s->p, s->count * s->classes * sizeof *s->p));
    p->fetched = true;
    p->loaded = false;
done:
    return status;
}
