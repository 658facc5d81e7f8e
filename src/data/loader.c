/*
 * data/loader.c - a ring of batches between one thread that asks and others that make them.
 *
 * Three counters go round the ring: submitted, claimed, taken; batch k lives in slot k modulo
 * depth, and the `lent` ones before taken are still in use. Only the owner's thread moves submitted
 * and taken; the lock guards all that the workers see.
 */
#include "data/loader.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum {
    MOST_THREADS = 256,
    LEAST_DEPTH = CULL_DATA_LENT + 1,
    MOST_DEPTH = 1024,
    SENTENCE = 256,
    BORDER = 64
};

struct slot {
    void       *inputs;
    char       *target;
    uint32_t   *places;
    void       *stored; /* one example, where each is to be read */
    size_t      count, length;
    uint64_t    epoch;
    bool        augment, ready;
    cull_status status;
    char        sentence[SENTENCE]; /* why it failed, for the thread that takes it */
};

struct cull_loader {
    cull_loader_options options;
    cull_augment_desc   desc;
    struct slot        *slot;
    uint64_t            submitted, claimed, taken;
    size_t              length; /* of the requests to come */
    size_t              lent;   /* batches before taken that are in use */
    pthread_t          *worker;
    unsigned            started;
    pthread_mutex_t     lock;
    pthread_cond_t      work, ready;
    unsigned            busy; /* workers that are making a batch */
    bool                closing;
};

static cull_status fill_slot(const cull_loader *loader, struct slot *slot)
{
    const cull_dataset *set = loader->options.set;
    cull_status         status = CULL_OK;
    size_t              bytes = cull_data_target_bytes(set);

    for (size_t i = 0; i < slot->count; i++) {
        if (slot->places[i] >= set->count)
            FAIL(CULL_BAD_ARGUMENT, "%s: place %u of a pool of %zu", set->name, slot->places[i],
                 set->count);
        memcpy(slot->target + i * bytes, cull_data_target_at(set, slot->places[i]), bytes);
    }
    TRY(cull_data_make(set, &loader->desc, slot->places, slot->count, slot->epoch, slot->augment,
                       slot->length, slot->stored, slot->inputs));
done:
    return status;
}

/* A function of the request and the set alone. */
static void make_batch(const cull_loader *loader, struct slot *slot)
{
    slot->status = fill_slot(loader, slot);
    if (slot->status) (void)snprintf(slot->sentence, SENTENCE, "%s", cull_last_error());
}

static void *worker_main(void *context)
{
    cull_loader *loader = context;

    pthread_mutex_lock(&loader->lock);
    for (;;) {
        struct slot *slot = NULL;
        while (!loader->closing && loader->claimed == loader->submitted)
            pthread_cond_wait(&loader->work, &loader->lock);
        if (loader->closing) break;
        slot = &loader->slot[loader->claimed++ % loader->options.depth];
        loader->busy++;
        pthread_mutex_unlock(&loader->lock);
        make_batch(loader, slot);
        pthread_mutex_lock(&loader->lock);
        slot->ready = true;
        loader->busy--;
        pthread_cond_signal(&loader->ready);
    }
    pthread_mutex_unlock(&loader->lock);
    return NULL;
}

static cull_status check_options(const cull_loader_options *o)
{
    cull_status status = CULL_OK;

    if (!o->set) FAIL(CULL_BAD_ARGUMENT, "a loader without a data set");
    if (o->batch < 1) FAIL(CULL_BAD_ARGUMENT, "a loader of batches of 0");
    if (o->depth < LEAST_DEPTH || o->depth > MOST_DEPTH)
        FAIL(CULL_BAD_ARGUMENT, "a loader of %zu batches; %d to %d are possible", o->depth,
             LEAST_DEPTH, MOST_DEPTH);
    if (o->threads > MOST_THREADS)
        FAIL(CULL_BAD_ARGUMENT, "a loader of %u threads; %d is the most", o->threads, MOST_THREADS);
    TRY(cull_data_augment_check(o->augment, o->form, o->set));
done:
    return status;
}

static cull_status allocate_inputs(void *context, size_t bytes, void **out)
{
    (void)context;
    return cull_base_alloc_aligned(bytes, 1, "a loader's batch", out);
}

static void release_inputs(void *context, void *data)
{
    (void)context;
    cull_base_free_aligned(data);
}

static cull_status make_inputs(const cull_loader_options *o, struct slot *slot)
{
    cull_status status = CULL_OK;
    size_t      row = cull_data_row(o->set) * cull_dtype_size(o->form.dtype), bytes = 0;

    if (__builtin_mul_overflow(o->batch, row, &bytes))
        FAIL(CULL_NO_MEMORY, "no memory for a loader's batch: %zu times %zu bytes", o->batch, row);
    TRY(o->memory.allocate(o->memory.context, bytes, &slot->inputs));
    if ((uintptr_t)slot->inputs % BORDER)
        FAIL(CULL_BAD_ARGUMENT, "a loader's memory is not on a border of %d bytes", BORDER);
done:
    return status;
}

static cull_status make_slots(cull_loader *loader)
{
    const cull_loader_options *o = &loader->options;
    cull_status                status = CULL_OK;
    size_t                     target = cull_data_target_bytes(o->set);

    TRY(cull_base_alloc(o->depth, sizeof *loader->slot, "a loader", &loader->slot));
    for (size_t i = 0; i < o->depth; i++) {
        struct slot *slot = &loader->slot[i];
        TRY(make_inputs(o, slot));
        TRY(cull_base_alloc(o->batch, target, "a loader's batch", &slot->target));
        TRY(cull_base_alloc(o->batch, sizeof *slot->places, "a loader's batch", &slot->places));
        if (!cull_data_base(o->set))
            TRY(cull_base_alloc(1, cull_data_row_bytes(o->set), "an example", &slot->stored));
    }
done:
    return status;
}

cull_status cull_data_loader_create(const cull_loader_options *options, cull_loader **out)
{
    cull_status  status = CULL_OK;
    cull_loader *loader = NULL;

    TRY(check_options(options));
    TRY(cull_base_alloc(1, sizeof *loader, "a loader", &loader));
    loader->options = *options;
    if (!options->memory.allocate)
        loader->options.memory =
            (cull_loader_memory){.allocate = allocate_inputs, .release = release_inputs};
    loader->desc = cull_data_describe(options->set, options->augment, options->form);
    pthread_mutex_init(&loader->lock, NULL);
    pthread_cond_init(&loader->work, NULL);
    pthread_cond_init(&loader->ready, NULL);
    TRY(make_slots(loader));
    TRY(cull_base_alloc(options->threads, sizeof *loader->worker, "a loader", &loader->worker));
    for (; loader->started < options->threads; loader->started++)
        if (pthread_create(&loader->worker[loader->started], NULL, worker_main, loader) != 0)
            FAIL(CULL_NO_MEMORY, "the system gives no more threads (the loader has %u)",
                 loader->started);
    *out = loader;
    loader = NULL;
done:
    cull_data_loader_destroy(loader);
    return status;
}

void cull_data_loader_destroy(cull_loader *loader)
{
    if (!loader) return;
    pthread_mutex_lock(&loader->lock);
    loader->closing = true;
    pthread_cond_broadcast(&loader->work);
    pthread_mutex_unlock(&loader->lock);
    for (unsigned i = 0; i < loader->started; i++) pthread_join(loader->worker[i], NULL);
    pthread_cond_destroy(&loader->ready);
    pthread_cond_destroy(&loader->work);
    pthread_mutex_destroy(&loader->lock);
    for (size_t i = 0; loader->slot && i < loader->options.depth; i++) {
        struct slot *slot = &loader->slot[i];
        if (slot->inputs)
            loader->options.memory.release(loader->options.memory.context, slot->inputs);
        cull_base_free(slot->target);
        cull_base_free(slot->places);
        cull_base_free(slot->stored);
    }
    cull_base_free(loader->slot);
    cull_base_free(loader->worker);
    cull_base_free(loader);
}

void cull_data_loader_cut(cull_loader *loader, size_t length)
{
    loader->length = length;
}

size_t cull_data_loader_room(const cull_loader *loader)
{
    return loader->options.depth - (size_t)(loader->submitted - loader->taken) - loader->lent;
}

cull_status cull_data_loader_submit(cull_loader *loader, const uint32_t *places, size_t count,
                                    uint64_t epoch, bool augment)
{
    cull_status  status = CULL_OK;
    struct slot *slot = NULL;

    if (cull_data_loader_room(loader) == 0)
        FAIL(CULL_BAD_ARGUMENT, "all %zu batches of the loader are under way or lent",
             loader->options.depth);
    if (count < 1 || count > loader->options.batch)
        FAIL(CULL_BAD_ARGUMENT, "%zu examples asked for in a batch of 1 to %zu", count,
             loader->options.batch);
    if (augment && !loader->options.augment)
        FAIL(CULL_BAD_ARGUMENT, "the loader was made without augmentation");
    slot = &loader->slot[loader->submitted % loader->options.depth];
    memcpy(slot->places, places, count * sizeof *places);
    slot->count = count;
    slot->length = loader->length;
    slot->epoch = epoch;
    slot->augment = augment;
    slot->ready = false;
    pthread_mutex_lock(&loader->lock);
    loader->submitted++;
    pthread_cond_signal(&loader->work);
    pthread_mutex_unlock(&loader->lock);
done:
    return status;
}

static void wait_for(cull_loader *loader, struct slot *slot)
{
    if (loader->options.threads == 0) {
        make_batch(loader, slot);
        return;
    }
    pthread_mutex_lock(&loader->lock);
    while (!slot->ready) pthread_cond_wait(&loader->ready, &loader->lock);
    pthread_mutex_unlock(&loader->lock);
}

static cull_tensor view_of(const cull_loader *loader, const struct slot *slot)
{
    const cull_dataset  *set = loader->options.set;
    const cull_data_form form = loader->options.form;
    size_t               c = set->channels, w = set->width;
    size_t               h = slot->length ? slot->length : set->height;

    if (form.channels_last) return cull_images(slot->inputs, form.dtype, slot->count, h, w, c);
    return cull_images(slot->inputs, form.dtype, slot->count, c, h, w);
}

cull_status cull_data_loader_take(cull_loader *loader, cull_data_batch *out)
{
    cull_status             status = CULL_OK;
    struct slot            *slot = NULL;
    const cull_data_target *target = &loader->options.set->target;

    *out = (cull_data_batch){0};
    if (loader->taken == loader->submitted)
        FAIL(CULL_BAD_ARGUMENT, "no batch was asked for, so none can be taken");
    slot = &loader->slot[loader->taken % loader->options.depth];
    wait_for(loader, slot);
    loader->taken++;
    if (loader->lent < CULL_DATA_LENT) loader->lent++;
    if (slot->status) FAIL(slot->status, "%s", slot->sentence);
    *out = (cull_data_batch){
        .count = slot->count,
        .inputs = view_of(loader, slot),
        .target = cull_matrix(slot->target, target->dtype, slot->count, target->width),
        .labels = target->kind == CULL_TARGET_CLASS ? (const int32_t *)(void *)slot->target : NULL,
        .places = slot->places,
        .length = slot->length,
        .epoch = slot->epoch,
        .augmented = slot->augment};
done:
    return status;
}

/* The counters go back, so that what is lent stays next to what comes. */
void cull_data_loader_drop(cull_loader *loader)
{
    pthread_mutex_lock(&loader->lock);
    loader->claimed = loader->submitted;
    while (loader->busy) pthread_cond_wait(&loader->ready, &loader->lock);
    loader->claimed = loader->submitted = loader->taken;
    pthread_mutex_unlock(&loader->lock);
}
