/*
 * data/loader.h - batches made ready by threads while training is busy with earlier ones.
 *
 * Requests are taken in the order in which they were submitted, and what is in a batch is a
 * function of its request alone, so threads change when it is ready and nothing else:
 *
 *     submit k+1, k+2, ...   while there is room
 *     take   k               waits if need be; lent until take k+2
 *
 * A batch's memory is what a network reads, so it is neither written nor handed to another request
 * before the next but one is taken: one batch may be trained while the one after it is looked at.
 * All buffers are allocated by create. One thread submits and takes.
 */
#ifndef CULL_DATA_LOADER_H
#define CULL_DATA_LOADER_H

#include "data/transform.h"

typedef struct cull_loader cull_loader;

enum { CULL_DATA_LENT = 2 }; /* batches that are in use at once */

/* Examples as the loader hands them over. Lent. */
typedef struct cull_data_batch {
    size_t          count;
    cull_tensor     inputs; /* (count, C, H, W) or (count, H, W, C), dense, on a 64-byte border */
    cull_tensor     target; /* (count, width) of the set's type               */
    const int32_t  *labels; /* [count] the same where they are classes, else NULL */
    const uint32_t *places; /* [count] in the pool                            */
    size_t          length; /* tokens of each example; 0: all that are stored */
    uint64_t        epoch;
    bool            augmented;
} cull_data_batch;

/* Where the inputs of batches lie: on a 64-byte border, where this thread and others can write. */
typedef struct cull_loader_memory {
    cull_status (*allocate)(void *context, size_t bytes, void **out);
    void (*release)(void *context, void *data);
    void *context;
} cull_loader_memory;

typedef struct cull_loader_options {
    const cull_dataset      *set;     /* borrowed, outlives the loader                      */
    const cull_data_augment *augment; /* read by create; NULL: requests may not ask for it  */
    cull_data_form           form;
    size_t                   batch;   /* most examples in a request, at least 1             */
    size_t                   depth;   /* batches held, the lent ones among them, 3 .. 1024  */
    unsigned                 threads; /* 0: made by take itself; at most 256                */
    cull_loader_memory       memory;  /* zeros: the library's own                           */
} cull_loader_options;

/* CULL_BAD_ARGUMENT when an option is outside what is said above. */
cull_status cull_data_loader_create(const cull_loader_options *options, cull_loader **out);

/* At any moment; what was not taken is given up. */
void cull_data_loader_destroy(cull_loader *loader);

/* How many requests may be submitted now: depth less those not yet taken and those lent. */
size_t cull_data_loader_room(const cull_loader *loader);

/*
 * Ask for a batch.
 *
 * places    copied; 1 <= count <= batch. May repeat.
 * epoch     what the augmentation's draws are counted by, with the place.
 * augment   false: only normalise.
 *
 * CULL_BAD_ARGUMENT when there is no room, count is out of range or there is no
 * augmentation to ask for. Never waits.
 */
cull_status cull_data_loader_submit(cull_loader *loader, const uint32_t *places, size_t count,
                                    uint64_t epoch, bool augment);

/* Of texts, batches that are asked for from now on have so many tokens an example; 0: all. */
void cull_data_loader_cut(cull_loader *loader, size_t length);

/*
 * The oldest batch that was submitted and not taken; waits until it is ready. It is
 * lent: unwritten until the next but one is taken, whatever is submitted or dropped meanwhile, or
 * until destroy.
 *
 * CULL_BAD_ARGUMENT when nothing was submitted, or, with out->count 0, when that request
 * named a place beyond the set; with out->count 0 also what reading a row says. Batches behind
 * it are not harmed.
 */
cull_status cull_data_loader_take(cull_loader *loader, cull_data_batch *out);

/* Forget all that was submitted and not taken. What is lent stays so. */
void cull_data_loader_drop(cull_loader *loader);

#endif
