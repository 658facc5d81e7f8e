/* train/books.c - what a run keeps of itself. */
#include "train/books.h"

#include "select/select.h"

void cull_books_open(cull_backend *backend, bool proxied, cull_books *books)
{
    books->proxied = proxied;
    if (!cull_backend_on_host(backend)) books->meter.backend = backend;
    cull_energy_open(CULL_ENERGY_ROOT, CULL_ENERGY_NVML, backend->bus[0] ? backend->bus : NULL,
                     &books->energy);
    if (books->energy.count) books->meter.energy = &books->energy;
}

void cull_books_close(cull_books *books)
{
    cull_backend *backend = books->meter.backend;

    for (int i = 0; backend && i <= CULL_KEEP_SUBSET; i++)
        cull_laps_clear(&books->laps[i], backend);
    if (backend) {
        cull_laps_clear(&books->scores, backend);
        cull_laps_clear(&books->chooses, backend);
        cull_laps_clear(&books->learns, backend);
    }
    cull_tally_clear(&books->tally);
    cull_records_logs_close(&books->logs);
    cull_energy_close(&books->energy);
}

cull_status cull_books_note(cull_books *books, const cull_moment *now, const cull_trained *seen)
{
    cull_status status = CULL_OK;
    size_t      count = seen->signals.count;

    TRY(cull_tally_add(&books->tally, now, &seen->signals, seen->weight));
    books->meter.trained += count;
    books->meter.thirds += seen->thirds * count;
    books->meter.tokens_trained += count * seen->length;
    books->meter.token_thirds += seen->thirds * count * seen->length;
done:
    return status;
}

static cull_status tell(const cull_trouble *trouble, size_t pool)
{
    if (trouble->what == CULL_WRONG_SIGNAL) return cull_sel_trouble_fail(trouble, pool);
    if (trouble->what == CULL_WRONG_GRADIENT)
        return cull_fail(CULL_NOT_FINITE, "the gradient is no longer finite");
    return cull_fail(CULL_NOT_FINITE,
                     "the loss is no longer finite at step %llu, in epoch %llu, first that of "
                     "example %llu",
                     (unsigned long long)trouble->step + 1, (unsigned long long)trouble->epoch + 1,
                     (unsigned long long)trouble->place);
}

cull_status cull_books_settle(cull_books *books, cull_learner *learner, cull_progress *progress)
{
    cull_status  status = CULL_OK;
    cull_trouble trouble = {0};
    cull_outcome outcome[CULL_LEARNER_RING];
    size_t       count = 0;

    TRY(cull_learner_read(learner, &count, outcome, &trouble));
    if (books->meter.unread_laps) TRY(cull_meter_read(&books->meter));
    for (size_t i = 0; i < count; i++) {
        const cull_seen *seen = &learner->read[i];

        books->loss = seen->loss / (double)seen->count;
        progress->seen += seen->count;
        progress->correct += seen->correct;
        progress->loss += books->loss * (double)seen->count;
        if (learner->late[i])
            cull_meter_choose(&books->meter, &(cull_subset){.count = outcome[i].count,
                                                            .picked = outcome[i].picked,
                                                            .flags = outcome[i].flags});
    }
    if (trouble.what) TRY(tell(&trouble, books->tally.pool));
done:
    return status;
}
