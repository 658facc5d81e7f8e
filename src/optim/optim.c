/* optim/optim.c - an optimizer: which rule runs over which weights at which decay. */
#include "optim/optim.h"

#include "base/alloc.h"
#include "base/bytes.h"

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
    if (options->rule != CULL_OPTIM_SGD) return 2;
    return options->momentum > 0;
}

static size_t chunks_of(size_t count)
{
    return (count + CULL_OPTIM_CHUNK - 1) / CULL_OPTIM_CHUNK;
}

/* The ranges, where the backend reads them. */
static cull_status place_ranges(cull_optim *optim)
{
    cull_status status = CULL_OK;

    TRY(cull_kit_grow(&optim->kit, optim->room, sizeof *optim->range, "an optimizer",
                      &optim->placed_room, &optim->placed));
    TRY(cull_backend_upload(optim->backend, optim->placed, optim->range,
                            optim->ranges * sizeof *optim->range));
done:
    return status;
}

cull_status cull_optim_create(const cull_optim_options *options, cull_dtype dtype, size_t count,
                              cull_backend *backend, cull_optim **out)
{
    static const char what[] = "an optimizer";
    cull_status       status = CULL_OK;
    cull_optim       *optim = NULL;
    cull_kit         *kit = NULL;

    TRY(check(options, dtype));
    TRY(cull_base_alloc(1, sizeof *optim, what, &optim));
    optim->options = *options;
    optim->dtype = dtype;
    optim->count = count;
    optim->backend = optim->kit.backend = backend;
    kit = &optim->kit;
    for (size_t i = 0; i < buffers_of(options); i++)
        TRY(cull_kit_allocate(kit, count, cull_dtype_size(dtype), what, &optim->buffer[i]));
    TRY(cull_kit_allocate(kit, chunks_of(count), sizeof *optim->partial, what, &optim->partial));
    TRY(cull_kit_allocate(kit, 1, sizeof *optim->norm, what, &optim->norm));
    TRY(cull_kit_allocate(kit, 1, sizeof *optim->now, what, &optim->now));
    TRY(cull_kit_ready(kit, CULL_OP_UPDATE, 0));
    optim->room = 8;
    TRY(cull_base_alloc(optim->room, sizeof *optim->range, what, &optim->range));
    optim->range[0] = (cull_optim_range){0, options->weight_decay};
    optim->ranges = 1;
    TRY(place_ranges(optim));
    *out = optim;
    optim = NULL;
done:
    cull_optim_destroy(optim);
    return status;
}

void cull_optim_destroy(cull_optim *optim)
{
    if (!optim) return;
    cull_kit_clear(&optim->kit);
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
    TRY(place_ranges(optim));
done:
    return status;
}

cull_status cull_optim_update(cull_optim *optim, const cull_moment *now, void *value,
                              void *gradient, cull_trouble *trouble)
{
    return cull_optim_update_part(optim, now, value, gradient, trouble, 0, optim->count);
}

cull_status cull_optim_update_part(cull_optim *optim, const cull_moment *now, void *value,
                                   void *gradient, cull_trouble *trouble, size_t from, size_t to)
{
    cull_status  status = CULL_OK;
    void *const *narrow = optim->weights.narrow;
    cull_op_args args = {.update = {.rule = optim->options,
                                    .dtype = optim->dtype,
                                    .count = to,
                                    .from = from,
                                    .value = value,
                                    .gradient = gradient,
                                    .narrow = narrow ? *narrow : NULL,
                                    .buffer = {optim->buffer[0], optim->buffer[1]},
                                    .range = optim->placed,
                                    .ranges = optim->ranges,
                                    .partial = optim->partial,
                                    .norm = optim->norm,
                                    .now = now,
                                    .trouble = trouble}};

    TRY(cull_kit_run(&optim->kit, CULL_OP_UPDATE, 0, &args));
    optim->steps += from == 0;
done:
    return status;
}

cull_status cull_optim_step(cull_optim *optim, double rate, void *value, void *gradient)
{
    cull_status status = CULL_OK;
    cull_moment now = {0};

    cull_optim_moment(optim, rate, &now);
    TRY(cull_backend_upload(optim->backend, optim->now, &now, sizeof now));
    TRY(cull_optim_update(optim, optim->now, value, gradient, NULL));
    /* whether the norm was finite is known when it was waited for */
    if (optim->options.clip > 0) status = cull_backend_wait(optim->backend);
    if (status != CULL_OK) optim->steps--;
done:
    return status;
}

/* Saved buffers are in the host's order, so that any backend goes on with them. */
static cull_status save_buffer(const cull_optim *optim, const void *buffer, size_t bytes,
                               cull_writer *writer)
{
    cull_status               status = CULL_OK;
    const cull_optim_weights *w = &optim->weights;
    void                     *copy = NULL;

    if (!w->download) return cull_backend_save(optim->backend, buffer, bytes, writer);
    TRY(cull_base_alloc(bytes, 1, "a saved state", &copy));
    TRY(w->download(w->context, buffer, copy));
    TRY(cull_write(writer, copy, bytes));
done:
    cull_base_free(copy);
    return status;
}

static cull_status restore_buffer(const cull_optim *optim, void *buffer, size_t bytes,
                                  cull_reader *reader)
{
    cull_status               status = CULL_OK;
    const cull_optim_weights *w = &optim->weights;
    void                     *copy = NULL;

    if (!w->upload) return cull_backend_restore(optim->backend, buffer, bytes, reader);
    TRY(cull_base_alloc(bytes, 1, "a saved state", &copy));
    TRY(cull_read(reader, copy, bytes));
    TRY(w->upload(w->context, buffer, copy));
done:
    cull_base_free(copy);
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
        TRY(save_buffer(optim, optim->buffer[i], optim->count * size, writer));
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
        TRY(restore_buffer(optim, optim->buffer[i], optim->count * size, reader));
    optim->steps = head[3];
done:
    return status;
}
