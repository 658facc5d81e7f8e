/* backend/cuda/nn_state.c - libraries, scratch memory, plans and known ways of one device. */
#include "backend/cuda/nn_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/nn_cache.h"
#include "base/alloc.h"

enum { FIRST_ROOM = 32 };

struct known {
    char       *problem;
    cull_nn_way way;
};

struct cull_nn {
    cull_backend *backend;
    cull_library *library;
    cull_plan   **plan;
    size_t        plans, plan_room;
    struct known *known;
    size_t        knowns, known_room;
    char         *told; /* the latest cull_nn_ways() */
    void         *room[CULL_SIDES];
    size_t        bytes[CULL_SIDES];
    cull_nn_cache cache;
    bool          says, compiled;
};

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value && strcmp(value, "1") == 0;
}

/* Plans of what is forgotten may be in use: they stay. */
static void forget(cull_nn *nn)
{
    for (size_t i = 0; i < nn->knowns; i++) cull_base_free(nn->known[i].problem);
    nn->knowns = 0;
}

static void close_state(void *given)
{
    cull_nn *nn = given;

    for (size_t i = 0; i < nn->plans; i++) cull_plan_destroy(nn->plan[i]);
    forget(nn);
    for (int i = 0; i < CULL_SIDES; i++) cull_backend_release(nn->backend, nn->room[i]);
    cull_nn_cache_clear(&nn->cache);
    cull_library_close(nn->library);
    cull_base_free(nn->plan);
    cull_base_free(nn->known);
    cull_base_free(nn->told);
    cull_base_free(nn);
}

static cull_status make_state(cull_backend *backend, cull_nn **out)
{
    cull_status status = CULL_OK;
    cull_nn    *nn = NULL;

    TRY(cull_base_alloc(1, sizeof *nn, "networks on a device", &nn));
    nn->backend = backend;
    nn->says = is_set("CULL_CUDA_SAY");
    nn->compiled = is_set("CULL_CUDA_COMPILED");
    TRY(cull_library_open(backend->ordinal, &nn->library));
    if (nn->library) TRY(cull_nn_cache_open(cull_library_about(nn->library), &nn->cache));
    *out = nn;
    nn = NULL;
done:
    if (nn) close_state(nn);
    return status;
}

cull_status cull_nn_state(cull_backend *backend, cull_nn **out)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;
    cull_nn    *nn = NULL;

    TRY(cull_cuda_enter(backend, &cuda));
    if (!cuda->library) {
        TRY(make_state(backend, &nn));
        cuda->library = nn;
        cuda->library_close = close_state;
    }
    *out = cuda->library;
done:
    return status;
}

cull_library *cull_nn_library(const cull_nn *nn)
{
    return nn->library;
}

bool cull_nn_compiled(const cull_nn *nn)
{
    return nn->compiled;
}

cull_status cull_nn_reserve(cull_nn *nn, cull_nn_side side, size_t bytes)
{
    cull_status status = CULL_OK;
    void       *room = NULL;

    if (bytes <= nn->bytes[side]) return CULL_OK;
    TRY(cull_backend_allocate(nn->backend, bytes, 1, "scratch of convolutions", &room));
    cull_backend_release(nn->backend, nn->room[side]);
    nn->room[side] = room;
    nn->bytes[side] = bytes;
done:
    return status;
}

void *cull_nn_room(const cull_nn *nn, cull_nn_side side)
{
    return nn->room[side];
}

/* ---- plans and ways ---- */

/* Room for one more of `size` bytes. */
static cull_status make_room(size_t count, size_t *room, size_t size, void *array)
{
    cull_status status = CULL_OK;
    size_t      more = *room ? 2 * *room : FIRST_ROOM;

    if (count < *room) return CULL_OK;
    TRY(cull_base_grow(more, size, "plans of convolutions", array));
    *room = more;
done:
    return status;
}

cull_status cull_nn_keep_plan(cull_nn *nn, cull_plan *plan)
{
    cull_status status = CULL_OK;

    if (!plan) return CULL_OK;
    TRY(make_room(nn->plans, &nn->plan_room, sizeof(cull_plan *), &nn->plan));
    nn->plan[nn->plans++] = plan;
    plan = NULL;
done:
    cull_plan_destroy(plan);
    return status;
}

const cull_nn_way *cull_nn_known(const cull_nn *nn, const char *problem)
{
    for (size_t i = 0; i < nn->knowns; i++)
        if (strcmp(nn->known[i].problem, problem) == 0) return &nn->known[i].way;
    return NULL;
}

bool cull_nn_read(const cull_nn *nn, const char *problem, bool timed, cull_nn_way *out)
{
    return cull_nn_cache_recalls(&nn->cache, problem, out) ||
           (timed && cull_nn_cache_find(&nn->cache, problem, out));
}

cull_status cull_nn_ways(cull_backend *backend, const char **text, size_t *bytes)
{
    cull_status status = CULL_OK;
    cull_nn    *nn = NULL;

    TRY(cull_nn_state(backend, &nn));
    TRY(cull_base_grow(nn->knowns * CULL_NN_LINE + 1, 1, "known convolutions", &nn->told));
    *bytes = 0;
    for (size_t i = 0; i < nn->knowns; i++) {
        cull_nn_cache_line(&nn->cache, nn->known[i].problem, &nn->known[i].way, nn->told + *bytes);
        *bytes += strlen(nn->told + *bytes);
    }
    *text = nn->told;
done:
    return status;
}

cull_status cull_nn_recall(cull_backend *backend, const char *text, size_t bytes)
{
    cull_status status = CULL_OK;
    cull_nn    *nn = NULL;

    TRY(cull_nn_state(backend, &nn));
    TRY(cull_nn_cache_recall(&nn->cache, text, bytes));
    forget(nn);
done:
    return status;
}

cull_status cull_nn_learn_way(cull_nn *nn, const char *problem, const cull_nn_way *way)
{
    cull_status status = CULL_OK;
    size_t      length = strlen(problem) + 1;
    char       *copy = NULL;

    TRY(make_room(nn->knowns, &nn->known_room, sizeof *nn->known, &nn->known));
    TRY(cull_base_alloc(length, 1, "a convolution's problem", &copy));
    memcpy(copy, problem, length);
    nn->known[nn->knowns++] = (struct known){copy, *way};
    if (way->seconds > 0) cull_nn_cache_add(&nn->cache, problem, way);
done:
    return status;
}

void cull_nn_say(const cull_nn *nn, const char *format, ...)
{
    va_list args;

    if (!nn->says) return;
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
}
