/* optim/optim.c - an optimizer: which rule runs over which weights at which decay. */
#include "optim/optim.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"

struct job {
    const cull_optim *optim;
    double            rate;
    void             *value;
    const void       *gradient;
};

static cull_status check(const cull_optim_options *o, cull_dtype dtype)
{
    cull_status status = CULL_OK;

    if (dtype != CULL_F32 && dtype != CULL_F64)
        FAIL(CULL_BAD_ARGUMENT, "an optimizer of %s", cull_dtype_name(dtype));
    if (!(o->weight_decay >= 0)) FAIL(CULL_BAD_ARGUMENT, "a weight decay of %g", o->weight_decay);
    if (!(o->clip >= 0)) FAIL(CULL_BAD_ARGUMENT, "gradients clipped to %g", o->clip);
    if (o->rule == CULL_OPTIM_SGD) {
        if (!(o->momentum >= 0 && o->momentum < 1))
            FAIL(CULL_BAD_ARGUMENT, "a momentum of %g", o->momentum);
        if (o->nesterov && o->momentum == 0)
            FAIL(CULL_BAD_ARGUMENT, "Nesterov's momentum needs a momentum above 0");
    } else {
        if (!(o->beta1 >= 0 && o->beta1 < 1 && o->beta2 >= 0 && o->beta2 < 1))
            FAIL(CULL_BAD_ARGUMENT, "betas of %g and %g", o->beta1, o->beta2);
        if (!(o->epsilon > 0)) FAIL(CULL_BAD_ARGUMENT, "an epsilon of %g", o->epsilon);
    }
done:
    return status;
}

static size_t buffers_of(const cull_optim_options *options)
{
    if (options->rule == CULL_OPTIM_ADAMW) return 2;
    return options->momentum > 0;
}

static size_t chunks_of(size_t count)
{
    return (count + CULL_OPTIM_CHUNK - 1) / CULL_OPTIM_CHUNK;
}

cull_status cull_optim_create(const cull_optim_options *options, cull_dtype dtype, size_t count,
                              cull_team *team, cull_optim **out)
{
    cull_status status = CULL_OK;
    cull_optim *optim = NULL;

    TRY(check(options, dtype));
    TRY(cull_base_alloc(1, sizeof *optim, "an optimizer", &optim));
    optim->options = *options;
    optim->dtype = dtype;
    optim->count = count;
    optim->team = team;
    for (size_t i = 0; i < buffers_of(options); i++)
        TRY(cull_base_alloc_aligned(count, cull_dtype_size(dtype), "an optimizer",
                                    &optim->buffer[i]));
    TRY(cull_base_alloc(chunks_of(count), sizeof *optim->partial, "an optimizer", &optim->partial));
    optim->room = 8;
    TRY(cull_base_alloc(optim->room, sizeof *optim->range, "an optimizer", &optim->range));
    optim->range[0] = (cull_optim_range){0, options->weight_decay};
    optim->ranges = 1;
    *out = optim;
    optim = NULL;
done:
    cull_optim_destroy(optim);
    return status;
}

void cull_optim_destroy(cull_optim *optim)
{
    if (!optim) return;
    for (size_t i = 0; i < CULL_OPTIM_BUFFERS; i++) cull_base_free_aligned(optim->buffer[i]);
    cull_base_free(optim->partial);
    cull_base_free(optim->range);
    cull_base_free(optim);
}

cull_status cull_optim_exempt(cull_optim *optim, size_t at, size_t count)
{
    cull_status             status = CULL_OK;
    const cull_optim_range *last = &optim->range[optim->ranges - 1];

    if (count == 0) goto done;
    if (at < last->at || count > optim->count || at > optim->count - count)
        FAIL(CULL_BAD_ARGUMENT, "weights %zu to %zu of %zu cannot be exempted now", at, at + count,
             optim->count);
    if (optim->ranges + 2 > optim->room) {
        TRY(cull_base_grow(optim->room * 2, sizeof *optim->range, "an optimizer", &optim->range));
        optim->room *= 2;
        last = &optim->range[optim->ranges - 1];
    }
    if (at == last->at) optim->ranges--; /* nothing lies between the two */
    optim->range[optim->ranges++] = (cull_optim_range){at, 0};
    optim->range[optim->ranges++] = (cull_optim_range){at + count, optim->options.weight_decay};
done:
    return status;
}

/* One chunk: the ranges that meet it, each at its decay. */
static void step_chunk(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;
    const cull_optim *optim = job->optim;
    size_t            from = task * CULL_OPTIM_CHUNK, end = from + CULL_OPTIM_CHUNK;

    (void)worker;
    if (end > optim->count) end = optim->count;
    for (size_t r = 0; r < optim->ranges; r++) {
        size_t begin = optim->range[r].at > from ? optim->range[r].at : from;
        size_t stop =
            r + 1 < optim->ranges && optim->range[r + 1].at < end ? optim->range[r + 1].at : end;
        double decay = optim->range[r].decay;

        if (begin >= stop) continue;
        if (optim->options.rule == CULL_OPTIM_SGD)
            cull_optim_sgd(optim, job->rate, decay, begin, stop, job->value, job->gradient);
        else
            cull_optim_adamw(optim, job->rate, decay, begin, stop, job->value, job->gradient);
    }
}

cull_status cull_optim_step(cull_optim *optim, double rate, void *value, void *gradient)
{
    cull_status status = CULL_OK;
    struct job  job = {optim, rate, value, gradient};

    if (optim->options.clip > 0) {
        optim->norm =
            cull_optim_norm(optim->team, optim->dtype, optim->count, gradient, optim->partial);
        if (!isfinite(optim->norm)) FAIL(CULL_NOT_FINITE, "the gradient is no longer finite");
        cull_optim_clip(optim->team, optim->dtype, optim->count, optim->norm, optim->options.clip,
                        gradient);
    }
    optim->steps++;
    cull_team_run(optim->team, chunks_of(optim->count), step_chunk, &job);
done:
    return status;
}

cull_status cull_optim_save(const cull_optim *optim, cull_writer *writer)
{
    cull_status status = CULL_OK;
    uint64_t    head[4] = {optim->options.rule, buffers_of(&optim->options), optim->count,
                           optim->steps};
    size_t      size = cull_dtype_size(optim->dtype);

    TRY(cull_write(writer, head, sizeof head));
    for (size_t i = 0; i < head[1]; i++)
        TRY(cull_write(writer, optim->buffer[i], optim->count * size));
done:
    return status;
}

cull_status cull_optim_restore(cull_optim *optim, cull_reader *reader)
{
    cull_status status = CULL_OK;
    uint64_t    head[4] = {0};
    size_t      size = cull_dtype_size(optim->dtype), buffers = buffers_of(&optim->options);

    TRY(cull_read(reader, head, sizeof head));
    if (head[0] != (uint64_t)optim->options.rule || head[1] != buffers || head[2] != optim->count)
        FAIL(CULL_BAD_STATE, "saved by another optimizer");
    if (buffers * optim->count * size > reader->size - reader->at)
        FAIL(CULL_BAD_STATE, "saved state lacks the optimizer's buffers");
    for (size_t i = 0; i < buffers; i++)
        TRY(cull_read(reader, optim->buffer[i], optim->count * size));
    optim->steps = head[3];
done:
    return status;
}
