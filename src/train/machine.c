/* train/machine.c - choosing a backend, and what it cannot do told before anything runs. */
#include "train/machine.h"

#include <dlfcn.h>
#include <stdio.h>

#define DEVICE "cuda"
#define DRIVER "libcuda.so.1"

static bool chooses(const cull_train_setup *s)
{
    return strcmp(s->backend, "auto") == 0;
}

/* What only the processor does; NULL: nothing. */
static const char *bound(const cull_train_setup *s)
{
    if (s->score.pipelined) return "score.pipelined scores on a thread of the processor";
    if (s->score.int8) return "score.precision=int8 is the processor's";
    return NULL;
}

/* Opening a device's libraries takes long, finding its driver does not. */
static bool has_driver(void)
{
    void *driver = dlopen(DRIVER, RTLD_LAZY | RTLD_LOCAL);

    if (driver) (void)dlclose(driver);
    return driver != NULL;
}

static cull_status open_processor(const cull_train_setup *s, const char *because,
                                  cull_backend **out, char why[CULL_MACHINE_WHY])
{
    (void)snprintf(why, CULL_MACHINE_WHY, "%s", because);
    return cull_backend_open(CULL_MACHINE_PROCESSOR, s->threads, out);
}

cull_status cull_machine_open(const cull_train_setup *s, cull_backend **out,
                              char why[CULL_MACHINE_WHY])
{
    cull_status status = CULL_OK;

    why[0] = '\0';
    if (!chooses(s)) return cull_backend_open(s->backend, s->threads, out);
    if (bound(s)) return open_processor(s, bound(s), out, why);
    if (!has_driver()) return open_processor(s, "there is no driver of a CUDA device", out, why);
    status = cull_backend_open(DEVICE, s->threads, out);
    if (status == CULL_UNSUPPORTED) return open_processor(s, cull_last_error(), out, why);
    if (status == CULL_OK) (void)snprintf(why, CULL_MACHINE_WHY, "it can be used");
    return status;
}

static bool wants_more(const cull_train_setup *s)
{
    return s->arithmetic.values || s->arithmetic.tf32;
}

cull_status cull_machine_check(const cull_train_setup *s, const cull_backend *backend,
                               const char *why)
{
    cull_status status = CULL_OK;
    const char *name = backend->class->name;

    if (s->score.int8 && !cull_layer_int8(backend))
        FAIL_OPTION("score.precision", "backend %s has no int8", name);
    if (cull_layer_mixes(backend)) goto done;
    if (wants_more(s))
        FAIL_OPTION("train.precision", "networks on the %s backend compute in float32 alone%s%s",
                    name, chooses(s) && why[0] ? ", and " : "; train.backend=cuda has more",
                    chooses(s) ? why : "");
    if (s->score.bf16)
        FAIL_OPTION("score.precision", "networks on the %s backend have no bfloat16%s%s", name,
                    chooses(s) && why[0] ? ", and " : "; train.backend=cuda has it",
                    chooses(s) ? why : "");
done:
    return status;
}

cull_arithmetic cull_machine_arithmetic(const cull_train_setup *s, const cull_backend *backend)
{
    return cull_layer_mixes(backend) ? s->arithmetic
                                     : (cull_arithmetic){.repeatable = s->arithmetic.repeatable};
}

size_t cull_train_evaluate_batch(const cull_train_setup *s, const cull_backend *backend)
{
    if (s->evaluate_batch) return s->evaluate_batch;
    return cull_backend_on_host(backend) ? 250 : 1000;
}

/* The first layer that there is no operation for, by its name; NULL: none. */
static const char *missing(const cull_model *model, const cull_backend *backend)
{
    for (int n = 1; n < model->nodes; n++) {
        const cull_node *node = &model->node[n];

        if (!node->class) continue;
        if (!backend->layers || !backend->layers->layer[node->desc.kind]) return node->name;
    }
    return NULL;
}

cull_status cull_machine_fit(const cull_train_setup *s, const cull_model *model,
                             cull_backend **backend, char why[CULL_MACHINE_WHY])
{
    cull_status   status = CULL_OK;
    cull_backend *other = NULL;
    const char   *layer = missing(model, *backend);
    char          because[CULL_MACHINE_WHY];

    if (!chooses(s) || cull_backend_on_host(*backend) || !layer) return CULL_OK;
    (void)snprintf(because, sizeof because, "%s has no operation for layer %s",
                   (*backend)->class->name, layer);
    TRY(open_processor(s, because, &other, why));
    cull_backend_close(*backend);
    *backend = other;
    TRY(cull_machine_check(s, *backend, why));
done:
    return status;
}
