/* train/room.c - bytes on a device, by what they are for. */
#include "train/room.h"

#include <stdio.h>

#include "train/train.h"

/* "1.25 GB" */
static const char *text_of(size_t bytes, char out[24])
{
    if (bytes < 1000000000)
        (void)snprintf(out, 24, "%.4g MB", (double)bytes / 1e6);
    else
        (void)snprintf(out, 24, "%.4g GB", (double)bytes / 1e9);
    return out;
}

static size_t of_params(const cull_params *p, const cull_optim *optim)
{
    size_t size = 0, blocks = 2;

    if (!p) return 0;
    size = cull_dtype_size(p->dtype);
    for (int i = 0; optim && i < CULL_OPTIM_BUFFERS; i++) blocks += optim->buffer[i] != NULL;
    return blocks * p->count * size + p->running_count * size +
           (p->narrow ? p->count * cull_dtype_size(CULL_BF16) : 0);
}

cull_status cull_train_measure(const cull_trainer *t, cull_train_room *out)
{
    cull_status        status = CULL_OK;
    cull_backend_facts facts = {0};

    *out = (cull_train_room){0};
    if (cull_backend_on_host(t->backend)) return CULL_OK;
    TRY(cull_backend_look(t->backend, &facts));
    out->free = facts.free;
    out->total = facts.total;
    out->data = t->sets.train_at.bytes + t->sets.validation_at.bytes + t->sets.test_at.bytes;
    out->parameters = of_params(t->learner.params, t->learner.optim) +
                      of_params(t->scorer.params, t->scorer.optim);
    out->plans = cull_plans_bytes(&t->learner.plans) + cull_plans_bytes(&t->scorer.own);
done:
    return status;
}

/* Stored rows and targets; small change is left out. */
static size_t of_set(const cull_dataset *set)
{
    if (!set) return 0;
    return (cull_data_base(set) ? set->rows->count * cull_data_row_bytes(set) : 0) +
           set->count * cull_data_target_bytes(set);
}

cull_status cull_train_check_room(const cull_trainer *t)
{
    cull_status     status = CULL_OK;
    cull_train_room room = {0};
    size_t data = of_set(t->sets.train) + of_set(t->sets.validation) + of_set(t->sets.test);
    char   needed[24], there[24], all[24];

    TRY(cull_train_measure(t, &room));
    if (room.total && data > room.free)
        FAIL_ABOUT(CULL_NO_MEMORY, "data.name",
                   "the data take %s, and %s of the device's %s are free", text_of(data, needed),
                   text_of(room.free, there), text_of(room.total, all));
done:
    return status;
}

cull_status cull_train_blame_room(const cull_trainer *t, cull_status status)
{
    cull_train_room room = {0};
    char            why[512], about[64], part[5][24];

    if (status != CULL_NO_MEMORY || !t->backend || cull_backend_on_host(t->backend)) return status;
    (void)snprintf(why, sizeof why, "%s", cull_last_error());
    (void)snprintf(about, sizeof about, "%s", cull_last_subject());
    if (cull_train_measure(t, &room) != CULL_OK || !room.total || !room.data)
        return cull_fail_about(status, about, "%s", why);
    return cull_fail(status,
                     "%s; there lie %s of data, %s of parameters and optimizer, %s of activations, "
                     "and %s of %s are free",
                     why, text_of(room.data, part[0]), text_of(room.parameters, part[1]),
                     text_of(room.plans, part[2]), text_of(room.free, part[3]),
                     text_of(room.total, part[4]));
}
