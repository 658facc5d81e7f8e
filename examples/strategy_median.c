/*
 * strategy_median.c - a strategy of one's own, as a shared object: the m examples whose losses
 * lie nearest to the median, neither the easy nor the hopeless.
 *
 *     cc -std=c17 -shared -fPIC -I include examples/strategy_median.c -o median.so
 *     cull_selector_create("./median.so", ...)
 *
 * The median is smoothed over calls, c <- memory c + (1 - memory) median, so the strategy has
 * an option and a history. It links nothing, and calls the library that loads it through
 * self->call.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cull.h"

struct median {
    double   centre; /* smoothed median of the calls so far */
    uint64_t calls;

    struct near *row; /* room of a call */
    size_t       room;
};

struct near {
    double   loss, distance;
    uint32_t row;
};

static const cull_option_spec options[] = {
    {"memory", CULL_OPTION_REAL, "0.5", 0, 0.999, NULL,
     "how much of the median of earlier calls stays"},
    {NULL, CULL_OPTION_INT, NULL, 0, 0, NULL, NULL},
};

static void destroy(cull_self *self)
{
    struct median *s = self->state;
    free(s->row);
}

static int by_loss(const void *a, const void *b)
{
    const struct near *x = a, *y = b;
    return (x->loss > y->loss) - (x->loss < y->loss);
}

static int by_distance(const void *a, const void *b)
{
    const struct near *x = a, *y = b;

    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The frame has checked that losses are there, finite, and float32 or float64. */
static double loss_at(const cull_tensor *loss, size_t i)
{
    if (loss->dtype == CULL_F32)
        return (double)((const float *)loss->data)[(int64_t)i * loss->stride[0]];
    return ((const double *)loss->data)[(int64_t)i * loss->stride[0]];
}

static cull_status make_room(const cull_self *self, size_t count)
{
    struct median *s = self->state;
    struct near   *grown = NULL;

    if (count <= s->room) return CULL_OK;
    grown = realloc(s->row, count * sizeof *grown);
    if (!grown) return self->call->fail(CULL_NO_MEMORY, "median: no memory for %zu losses", count);
    s->row = grown;
    s->room = count;
    return CULL_OK;
}

/* All that can fail comes first, so that a failed call leaves the history as it was. */
static cull_status decide(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out)
{
    struct median *s = self->state;
    size_t         count = signals->count;
    double         memory = s->calls ? self->call->value_real(self->values, "memory") : 0;
    cull_status    status = make_room(self, count);

    if (status == CULL_OK) status = self->call->subset_resize(out, budget);
    if (status != CULL_OK) return status;
    for (size_t i = 0; i < count; i++)
        s->row[i] = (struct near){.loss = loss_at(&signals->loss, i), .row = (uint32_t)i};
    qsort(s->row, count, sizeof *s->row, by_loss);
    s->centre = memory * s->centre +
                (1 - memory) * 0.5 * (s->row[(count - 1) / 2].loss + s->row[count / 2].loss);
    s->calls++;
    for (size_t i = 0; i < count; i++) s->row[i].distance = fabs(s->row[i].loss - s->centre);
    qsort(s->row, count, sizeof *s->row, by_distance);
    for (size_t i = 0; i < budget; i++) out->index[i] = s->row[i].row;
    return CULL_OK;
}

static cull_status save(const cull_self *self, cull_writer *writer)
{
    const struct median *s = self->state;
    cull_status          status = self->call->write(writer, &s->centre, sizeof s->centre);

    return status == CULL_OK ? self->call->write(writer, &s->calls, sizeof s->calls) : status;
}

static cull_status restore(cull_self *self, cull_reader *reader)
{
    struct median *s = self->state;
    cull_status    status = self->call->read(reader, &s->centre, sizeof s->centre);

    if (status == CULL_OK) status = self->call->read(reader, &s->calls, sizeof s->calls);
    if (status == CULL_OK && !isfinite(s->centre))
        status = self->call->fail(CULL_BAD_STATE, "median: the saved centre is not finite");
    return status;
}

extern CULL_API const cull_strategy cull_strategy_plugin;

const cull_strategy cull_strategy_plugin = {
    .abi = CULL_STRATEGY_ABI,
    .name = "median",
    .doc = "the m losses nearest to their smoothed median",
    .runs = CULL_RUNS_STEP,
    .signals = CULL_SIGNAL_LOSS,
    .options = options,
    .state_size = sizeof(struct median),
    .destroy = destroy,
    .decide = decide,
    .save = save,
    .restore = restore,
};
